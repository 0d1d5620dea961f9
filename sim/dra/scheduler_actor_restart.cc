// Attempts that come to nothing: their start is taken back while calls are under way, or the
// scheduler is restarted.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "model/kube/objects.h"
#include "model/time.h"
#include "sim/dra/scheduler_actor.h"

namespace drasim {

// Nobody is to try the pod as long as the attempt goes on.
void SchedulerActor::HoldBack(Attempt* attempt) {
  attempt->undoes = true;
  ++held_back_[attempt->pod].attempts;
}

void SchedulerActor::LetGo(PodId pod) {
  const auto held = held_back_.find(pod);
  if (--held->second.attempts > 0) return;
  const bool turned_away = held->second.turned_away;
  held_back_.erase(held);
  engine_->RecheckPod(pod);
  if (turned_away) engine_->WakePod(pod, /*at_once=*/true);
}

void SchedulerActor::GoDown() {
  if (!std::exchange(down_, true)) engine_->BlockScheduling(true);
}

void SchedulerActor::OnRestart() {
  if (std::exchange(down_, false)) engine_->BlockScheduling(false);
  if (reports_ != nullptr) reports_->OnRestart();
  DynamicResources::Status lost;
  lost.code = DynamicResources::Code::kError;
  lost.reason = DynamicResources::Reason::kCallFailed;
  std::vector<uint64_t> waiting;
  for (const auto& [token, attempt] : cycles_) {
    if (attempt->waits) waiting.push_back(token);
  }
  for (const uint64_t token : waiting) {
    const auto found = cycles_.find(token);
    if (found == cycles_.end()) continue;
    Attempt& attempt = *found->second;
    attempt.report.reset();
    if (attempt.binding) {
      // Upstream finds the pod bound, or tries it anew. Asking once more tells which.
      attempt.sent_again = true;
      const auto reply = client_->Call(BindingOf(attempt), token);
      if (reply.has_value()) OnReply(token, *reply);
      continue;
    }
    attempt.waits = false;
    attempt.lost = true;
    attempt.cycle.step = DynamicResources::Step::kNone;
    attempt.cycle.stage = 0;
    attempt.cycle.next = 0;
    EndStep(token, lost);
  }
  for (const auto& [first, deadline] : gang_deadlines_) {
    client_->ArmTimer(std::max(deadline - client_->now(), SimDuration()), first.value());
  }
  for (const auto& [first, pause] : gang_pauses_) {
    client_->ArmTimer(std::max(pause - client_->now(), SimDuration()), first.value());
  }
  users_.clear();
  for (const Ref<Pod>& pod : client_->cache().of<Pod>().Sorted()) {
    if (!pod->row.valid()) continue;
    if (!IsDone(*pod)) IndexUser(*pod, true);
    if (pods_->UidOf(pod->row) != pod->meta.uid || pod->node.valid()) continue;
    engine_->RecheckPod(pod->row);
    engine_->WakePod(pod->row, /*at_once=*/true);
  }
}

}  // namespace drasim
