#include "gui/session/decision_job.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_split.h"
#include "sim/explain/story_text.h"

namespace drasim::gui {
namespace {

PodDecision WithLines(DecisionExplanation decision) {
  PodDecision result;
  if (decision.why.has_value()) {
    result.lines.push_back(decision.why->summary);
    for (std::string& line :
         std::vector<std::string>(absl::StrSplit(AttemptText(*decision.why), '\n'))) {
      if (!line.empty()) result.lines.push_back(std::move(line));
    }
  } else {
    result.lines = decision.claims;
  }
  result.decision = std::move(decision);
  return result;
}

}  // namespace

class DecisionJob::Impl {
 public:
  Impl(std::string path, std::string pod, std::optional<SimTime> at,
       std::function<void()> on_change)
      : on_change_(std::move(on_change)) {
    request_.path = std::move(path);
    request_.pod = std::move(pod);
    request_.at = at;
    request_.stop = &stop_;
    request_.on_progress = [this](double share) {
      share_.store(share, std::memory_order_relaxed);
      if (on_change_) on_change_();
    };
    worker_ = std::thread([this] { Work(); });
  }
  ~Impl() {
    Cancel();
    worker_.join();
  }

  absl::Status status() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return status_;
  }
  double progress() const { return share_.load(std::memory_order_relaxed); }
  std::shared_ptr<const PodDecision> result() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return result_;
  }
  void Cancel() { stop_ = true; }
  void Settle() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return over_; });
  }

 private:
  void Work() {
    absl::StatusOr<DecisionExplanation> decision = ExplainDecision(request_);
    const absl::Status status = decision.status();
    std::shared_ptr<const PodDecision> result;
    if (decision.ok()) {
      result = std::make_shared<const PodDecision>(WithLines(*std::move(decision)));
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      status_ = status;
      result_ = std::move(result);
      over_ = true;
    }
    share_ = 1;
    changed_.notify_all();
    if (on_change_) on_change_();
  }

  const std::function<void()> on_change_;
  DecisionRequest request_;
  std::atomic<bool> stop_{false};
  std::atomic<double> share_{0};

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  absl::Status status_;
  std::shared_ptr<const PodDecision> result_;
  bool over_ = false;
  std::thread worker_;
};

std::unique_ptr<DecisionJob> DecisionJob::Start(std::string ledger_path, std::string pod,
                                                std::optional<SimTime> at,
                                                std::function<void()> on_change) {
  return std::unique_ptr<DecisionJob>(new DecisionJob(
      std::make_unique<Impl>(std::move(ledger_path), std::move(pod), at, std::move(on_change))));
}
DecisionJob::DecisionJob(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DecisionJob::~DecisionJob() = default;

absl::Status DecisionJob::status() const { return impl_->status(); }
double DecisionJob::progress() const { return impl_->progress(); }
std::shared_ptr<const PodDecision> DecisionJob::result() const { return impl_->result(); }
void DecisionJob::Cancel() { impl_->Cancel(); }
void DecisionJob::Settle() { impl_->Settle(); }

}  // namespace drasim::gui
