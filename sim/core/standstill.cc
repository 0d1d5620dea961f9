#include "sim/core/standstill.h"

namespace drasim {
namespace {

constexpr uint32_t kRoundsInVain = 3;
// An agent may be busy endlessly, for example with calls that always fail.
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
  // A bound pod whose work never begins counts as waiting, and a service that nobody deletes causes
  // no further changes.
  if (jobs_->AnyEnds()) return false;
  // Still due: evictions and recreations; changes of quotas; the agent's calls; jobs not tried
  // since the last change, because attempts take time.
  const bool due = last_quota_change_ >= next || jobs_->AnyBetweenRuns() ||
                   (!scheduling_->blocked() && !TriedInVain(1));
  const bool busy =
      next - run_->progress().last_progress() <= kLongestBusy && run_->agent()->IsBusy();
  if (due || busy) last_busy_ = next;
  return next - last_busy_ > kStandstill;
}

}  // namespace drasim
