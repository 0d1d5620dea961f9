#include "sim/core/standstill.h"

namespace drasim {
namespace {

constexpr uint32_t kRoundsInVain = 3;
// An agent may be busy without end, with calls that always fail for example.
constexpr SimDuration kLongestBusy = SimDuration::Seconds(90'000);

}  // namespace

bool StandstillRule::NothingWillHappen(SimTime next) {
  if (!run_->never_rests()) {
    return run_->events().size() + 1 == scheduling_->pending_events() && TriedInVain(kRoundsInVain);
  }
  if (arrivals_->due() || !jobs_->bindings().idle() || !nodes_->changes_are_over() ||
      next <= run_->parts().last_deletion) {
    return false;
  }
  // A pod that is bound and whose work never begins counts as one that waits, and a service that
  // nobody deletes changes nothing any more.
  if (jobs_->AnyEnds()) return false;
  // Still due: evictions and recreations; quotas that change; calls of the agent; jobs that have
  // not been tried since the last change, because attempts take their time.
  const bool due = last_quota_change_ >= next || jobs_->AnyBetweenRuns() ||
                   (!scheduling_->blocked() && !TriedInVain(1));
  const bool busy =
      next - run_->progress().last_progress() <= kLongestBusy && run_->agent()->IsBusy();
  if (due || busy) last_busy_ = next;
  return next - last_busy_ > kStandstill;
}

}  // namespace drasim
