#include "gui/session/comparison_job.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "gui/view/inspect_pod.h"
#include "model/record.h"
#include "model/status_macros.h"
#include "model/time.h"
#include "sim/record/ledger_index.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/ledger_seek.h"

namespace drasim::gui {
namespace {

constexpr uint64_t kRecordsPerCheck = 1024;

// Whether the clock of the run counts records.
bool CountsRecords(const LedgerIndex& index) { return index.end == SimTime(); }

// The record as its run's clock dates it. `number`: how many records there are with this one.
Record OnClock(Record record, uint64_t number, bool counts_records) {
  if (counts_records) record.time = SimTime(static_cast<int64_t>(number));
  return record;
}

// One run, read to its end.
struct ReadRun {
  std::string scenario_yaml;
  bool counts_records = false;
  view::PodTable pods;
  view::RunFigures figures;
};

std::vector<WaitPair> PairWaits(const view::PodTable& a, const view::PodTable& b) {
  const auto groups = [](const view::PodTable& pods) {
    std::vector<size_t> all(pods.rows());
    std::iota(all.begin(), all.end(), size_t{0});
    return view::GroupByWants(pods, all);
  };
  const auto seconds = [](const view::WantsGroup& group) {
    return group.waits.pods > 0 ? group.waits.mean.seconds() : -1;
  };
  std::map<std::string, WaitPair> pairs;
  const auto pair_of = [&pairs](const std::string& wants) {
    return &pairs.try_emplace(wants, WaitPair{wants, -1, -1}).first->second;
  };
  for (const view::WantsGroup& group : groups(a)) pair_of(group.wants)->a_seconds = seconds(group);
  for (const view::WantsGroup& group : groups(b)) pair_of(group.wants)->b_seconds = seconds(group);
  std::vector<WaitPair> waits;
  for (auto& [wants, pair] : pairs) waits.push_back(std::move(pair));
  std::stable_sort(waits.begin(), waits.end(), [](const WaitPair& left, const WaitPair& right) {
    return left.b_seconds > right.b_seconds;
  });
  return waits;
}

}  // namespace

class ComparisonJob::Impl {
 public:
  Impl(std::string path_a, std::string path_b, const view::CompareOptions& options,
       std::function<void()> on_change)
      : path_a_(std::move(path_a)),
        path_b_(std::move(path_b)),
        options_(options),
        on_change_(std::move(on_change)) {
    worker_ = std::thread([this] { Work(); });
  }
  ~Impl() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      cancelled_ = true;
      ++request_;
    }
    changed_.notify_all();
    worker_.join();
  }

  absl::Status status() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return status_;
  }
  double progress() const {
    const uint64_t total = total_.load(std::memory_order_relaxed);
    if (result() != nullptr) return 1;
    if (total == 0) return 0;
    const uint64_t read = std::min(read_.load(std::memory_order_relaxed), total);
    return static_cast<double>(read) / static_cast<double>(total);
  }
  std::shared_ptr<const RunComparison> result() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return result_;
  }
  std::shared_ptr<const Stories> stories() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return stories_;
  }
  void TellStories(const std::string& pod) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      pod_ = pod;
      ++request_;
    }
    changed_.notify_all();
  }
  void Settle() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock,
                  [this] { return !status_.ok() || (result_ != nullptr && told_ == request_); });
  }

 private:
  void Tell() {
    changed_.notify_all();
    if (on_change_) on_change_();
  }
  void Fail(absl::Status status) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      status_ = std::move(status);
    }
    Tell();
  }

  void Work() {
    absl::StatusOr<std::shared_ptr<const RunComparison>> result = Compare();
    if (cancelled_) return;
    if (!result.ok()) return Fail(result.status());
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      result_ = *std::move(result);
    }
    Tell();
    while (true) {
      uint64_t request = 0;
      Stories stories;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return cancelled_ || told_ != request_; });
        if (cancelled_) return;
        request = request_;
        stories.pod = pod_;
      }
      absl::StatusOr<std::vector<view::StoryLine>> a =
          Tell(path_a_, result_->a_pods, stories.pod, request);
      absl::StatusOr<std::vector<view::StoryLine>> b =
          Tell(path_b_, result_->b_pods, stories.pod, request);
      if (request_ != request) continue;
      if (!a.ok()) return Fail(a.status());
      if (!b.ok()) return Fail(b.status());
      stories.a = *std::move(a);
      stories.b = *std::move(b);
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        stories_ = std::make_shared<const Stories>(std::move(stories));
        told_ = request;
      }
      Tell();
    }
  }

  absl::StatusOr<ReadRun> Read(LedgerReader* reader, const LedgerIndex& index) {
    ReadRun run;
    run.scenario_yaml = reader->header().scenario_yaml();
    run.counts_records = CountsRecords(index);
    const ClusterState& cluster = reader->cluster();
    view::PodFold pods;
    std::optional<view::PodFold> by_record;
    if (run.counts_records) by_record.emplace();
    const auto layouts = [&](NodeId node, size_t gpu) { return reader->LayoutOf(node, gpu); };
    view::FigureFold figures(&cluster, layouts);
    SimTime last;
    while (true) {
      Record record;
      ASSIGN_OR_RETURN(const bool more, reader->Next(&record));
      if (!more) break;
      pods.Add(record, cluster);
      const bool arrives = record.kind == RecordKind::kPodArrived;
      if (arrives) pods.SetTenant(record.pod, reader->TenantOf(record.pod));
      figures.Add(record, pods);
      if (by_record.has_value()) {
        by_record->Add(OnClock(record, reader->records(), true), cluster);
        if (arrives) by_record->SetTenant(record.pod, reader->TenantOf(record.pod));
      }
      last = std::max(last, record.time);
      read_.fetch_add(1, std::memory_order_relaxed);
      if (reader->records() % kRecordsPerCheck == 0 && cancelled_) {
        return absl::CancelledError("the comparison was closed");
      }
    }
    run.pods = pods.Table(last, cluster, reader->summaries());
    run.figures = figures.Figures(run.pods);
    if (by_record.has_value()) {
      run.pods = by_record->Table(SimTime(static_cast<int64_t>(reader->records())), cluster,
                                  reader->summaries());
    }
    return run;
  }

  absl::StatusOr<std::shared_ptr<const RunComparison>> Compare() {
    ASSIGN_OR_RETURN(const std::unique_ptr<LedgerReader> reader_a, LedgerReader::Open(path_a_));
    ASSIGN_OR_RETURN(const std::unique_ptr<LedgerReader> reader_b, LedgerReader::Open(path_b_));
    ASSIGN_OR_RETURN(const LedgerIndex index_a, reader_a->ReadIndex());
    ASSIGN_OR_RETURN(const LedgerIndex index_b, reader_b->ReadIndex());
    total_ = index_a.records + index_b.records;
    ASSIGN_OR_RETURN(ReadRun a, Read(reader_a.get(), index_a));
    ASSIGN_OR_RETURN(ReadRun b, Read(reader_b.get(), index_b));
    auto comparison = std::make_shared<RunComparison>();
    comparison->a_pods = std::move(a.pods);
    comparison->b_pods = std::move(b.pods);
    comparison->a_figures = a.figures;
    comparison->b_figures = b.figures;
    view::CompareOptions options = options_;
    for (const LedgerReader* reader : {reader_a.get(), reader_b.get()}) {
      // Under classic DRA every pod fails at first: the negotiation for its claims takes attempts.
      if (view::ScenarioValue(reader->header().scenario_yaml(), "front_end.kind") ==
          "dra-classic") {
        options.answers = false;
      }
    }
    comparison->model = std::make_unique<view::CompareModel>(
        &comparison->a_pods, a.figures, &comparison->b_pods, b.figures, options);
    for (const view::PodDivergence& divergence : comparison->model->divergences()) {
      comparison->divergences.push_back({divergence.time});
    }
    ASSIGN_OR_RETURN(comparison->keys, view::CompareScenarios(a.scenario_yaml, b.scenario_yaml));
    if (!a.counts_records && !b.counts_records) {
      comparison->waits = PairWaits(comparison->a_pods, comparison->b_pods);
    }
    return std::shared_ptr<const RunComparison>(std::move(comparison));
  }

  // The life of the pod in one of the runs. Cancelled when there is a newer request.
  absl::StatusOr<std::vector<view::StoryLine>> Tell(const std::string& path,
                                                    const view::PodTable& pods,
                                                    const std::string& pod, uint64_t request) {
    const std::optional<size_t> row = pods.Find(pod);
    if (!row.has_value()) return std::vector<view::StoryLine>();
    ASSIGN_OR_RETURN(const std::unique_ptr<LedgerSeek> run, LedgerSeek::Open(path));
    const bool counts_records = CountsRecords(run->index());
    const SimTime arrival = pods.row(*row).arrival;
    if (counts_records) {
      RETURN_IF_ERROR(run->ToRecord(static_cast<uint64_t>(arrival.ns()) - 1));
    } else if (arrival > SimTime()) {
      RETURN_IF_ERROR(run->ToTime(SimTime(arrival.ns() - 1)));
    }
    view::PodInspector inspector(pod);
    std::optional<view::PodInspection> life;
    while (!life.has_value()) {
      Record record;
      ASSIGN_OR_RETURN(const bool more, run->Next(&record));
      if (!more) break;
      inspector.Add(OnClock(record, run->record(), counts_records), run->cluster(),
                    run->summaries());
      if (run->record() % kRecordsPerCheck == 0 && request_ != request) {
        return absl::CancelledError("another pod is asked about");
      }
      if (!inspector.found() || !record.pod.valid()) continue;
      if (run->cluster().pod_name(record.pod) != pod || !Ends(record)) continue;
      life = inspector.Inspect(SimTime(), run->cluster());
    }
    if (life.has_value()) return view::TellStory(*life);
    // It lives to the end of the run, or the ledger was written over since.
    if (!inspector.found()) return std::vector<view::StoryLine>();
    return view::TellStory(inspector.Inspect(pods.now(), run->cluster()));
  }

  static bool Ends(const Record& record) {
    switch (record.kind) {
      case RecordKind::kPodFinished:
      case RecordKind::kPodFailed:
      case RecordKind::kPodDeleted:
      case RecordKind::kPodDropped:
        return true;
      case RecordKind::kPodRejected:
        return (record.detail & kGivenUp) != 0;
      default:
        return false;
    }
  }

  const std::string path_a_;
  const std::string path_b_;
  const view::CompareOptions options_;
  const std::function<void()> on_change_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  absl::Status status_;
  std::shared_ptr<const RunComparison> result_;
  std::shared_ptr<const Stories> stories_;
  std::string pod_;    // of the last request
  uint64_t told_ = 0;  // the request that stories_ answers

  std::atomic<uint64_t> request_{0};  // their number
  std::atomic<bool> cancelled_{false};
  std::atomic<uint64_t> read_{0};
  std::atomic<uint64_t> total_{0};
  std::thread worker_;
};

std::unique_ptr<ComparisonJob> ComparisonJob::Start(std::string path_a, std::string path_b,
                                                    const view::CompareOptions& options,
                                                    std::function<void()> on_change) {
  return std::unique_ptr<ComparisonJob>(new ComparisonJob(
      std::make_unique<Impl>(std::move(path_a), std::move(path_b), options, std::move(on_change))));
}
ComparisonJob::ComparisonJob(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ComparisonJob::~ComparisonJob() = default;

absl::Status ComparisonJob::status() const { return impl_->status(); }
double ComparisonJob::progress() const { return impl_->progress(); }
std::shared_ptr<const RunComparison> ComparisonJob::result() const { return impl_->result(); }
void ComparisonJob::TellStories(const std::string& pod) { impl_->TellStories(pod); }
std::shared_ptr<const ComparisonJob::Stories> ComparisonJob::stories() const {
  return impl_->stories();
}
void ComparisonJob::Settle() { impl_->Settle(); }

}  // namespace drasim::gui
