#include "sim/dra/api/scheduler_reports.h"

#include <memory>
#include <utility>

namespace drasim {

void SchedulerReports::Failed(const Pod& pod, const FailedAttempt& attempt) {
  events_->Record(EventRecorder::Reason::kFailedScheduling, pod);
  if (pod.unschedulable == attempt.why && pod.nominated == attempt.nominated) return;
  auto next = std::make_shared<Pod>(pod);
  next->unschedulable = attempt.why;
  next->nominated = attempt.nominated;
  const uint64_t token = next_token_++;
  const auto reply = client_->Call(PatchRequest(StatusPart::kScheduling, std::move(next)), token);
  if (reply.has_value() || attempt.binding) return;
  waited_for_.insert(token);
  engine_->BlockScheduling(true);
}

void SchedulerReports::OnReply(uint64_t token) {
  if (waited_for_.erase(token) > 0) engine_->BlockScheduling(false);
}

void SchedulerReports::OnRestart() {
  for (size_t i = waited_for_.size(); i > 0; --i) engine_->BlockScheduling(false);
  waited_for_.clear();
}

}  // namespace drasim
