#include "sim/core/scheduling_loop.h"

#include <algorithm>
#include <optional>

#include "model/check.h"

namespace drasim {

void SchedulingLoop::Wake() {
  if (!attempt_scheduled_ && blocked_ == 0 && !AttemptsSpent() && dispatcher_->Ready()) {
    attempt_scheduled_ = true;
    const SimDuration wait = std::max(free_at_ - run_->now(), SimDuration());
    run_->events().Push(run_->After(wait + run_->options().attempt_latency), EventRank::kScheduling,
                        EventKind::kScheduleNext, 0, 0, 0);
  }
  WakeTimer();
}

void SchedulingLoop::WakeTimer() {
  const std::optional<SimTime> due = dispatcher_->NextTimer();
  if (timer_ != 0 && due.has_value() && timer_at_ == *due) return;
  run_->Cancel(&timer_);
  if (!due.has_value()) return;
  timer_at_ = std::max(*due, run_->now());
  timer_ =
      run_->events().Push(timer_at_, EventRank::kTimer, EventKind::kTimer, 0, kDispatcherTimer, 0);
}

void SchedulingLoop::OnAttempt() {
  attempt_scheduled_ = false;
  const EngineOptions& options = run_->options();
  const bool one_by_one = options.attempt_latency > SimDuration() ||
                          options.stop_after_events != 0 || options.check_invariants;
  while (dispatcher_->Ready() && blocked_ == 0 && !AttemptsSpent()) {
    dispatcher_->Dispatch();
    if (one_by_one || !run_->failure().ok() || free_at_ > run_->now()) break;
    if (run_->checkpoint_is_due()) break;
    WakeTimer();
    if (run_->events().empty()) continue;
    const Event next = run_->events().Top();
    if (next.time == run_->now() && next.rank < EventRank::kScheduling) break;
  }
  Wake();
}

void SchedulingLoop::OnTimer() {
  timer_ = 0;
  dispatcher_->OnTimer();
}

void SchedulingLoop::Notify(const ClusterChange& change) {
  ++cluster_events_;
  if (change.event == kClaimChanged || change.event == kNodeAdded) ++claim_events_;
  dispatcher_->OnEvent(change);
}

void SchedulingLoop::Block(bool block) {
  DRASIM_CHECK(block || blocked_ > 0);
  blocked_ += block ? 1 : -1u;
  Wake();
}

}  // namespace drasim
