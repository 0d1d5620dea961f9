#include "policies/dra/structured_writes.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/kube/kube_time.h"
#include "model/time.h"
#include "policies/dra/binding_conditions.h"
#include "policies/dra/claim_rules.h"
#include "policies/dra/claim_version.h"
#include "policies/dra/drawn_values.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

ClaimProgress Ended(StepCode code, std::string reason) {
  ClaimProgress progress;
  progress.status = {code, std::move(reason)};
  return progress;
}

ClaimCall StatusCall(ClaimVerb verb, ClaimRef claim) {
  ClaimCall call;
  call.verb = verb;
  call.claim = std::move(claim);
  return call;
}

bool IsMade(const ClaimRef& claim) { return claim.name() != kUnmadeClaimName; }

// Whether nobody but the pod uses the claim.
bool MayDeallocate(const kube::ResourceClaimV1& claim, const ClaimingPod& pod) {
  const auto& consumers = claim.status().reserved_for();
  return consumers.empty() || (consumers.size() == 1 && consumers[0].uid() == pod.uid);
}

ClaimRef Deallocated(const ClaimRef& claim) {
  ClaimDraft freed(claim);
  freed.parts().allocation = nullptr;
  freed.status()->clear_reserved_for();
  freed.status()->clear_devices();
  return std::move(freed).Finish();
}

}  // namespace

// --- PostFilter ---

std::vector<size_t> StructuredWrites::DrawnOrder(const StructuredCycle& cycle) const {
  std::vector<size_t> order(cycle.unavailable.begin(), cycle.unavailable.end());
  if (!options_.seed.has_value()) return order;
  const std::string subject = absl::StrCat(cycle.pod.uid, " ", cycle.started_ns);
  std::sort(order.begin(), order.end(), [&](size_t left, size_t right) {
    return DrawnWord(*options_.seed, subject, left) < DrawnWord(*options_.seed, subject, right);
  });
  return order;
}

ClaimProgress StructuredWrites::PostFilter(StructuredCycle* cycle) {
  cycle->phase = StructuredCycle::Phase::kPostFilter;
  cycle->outcome = options_.release >= StructuredRelease::k1_37 ? ""
                   : cycle->claims.empty()                      ? "no new claims to deallocate"
                                                                : "still not schedulable";
  for (const size_t index : DrawnOrder(*cycle)) {
    // Deleted below.
    if (cycle->IsSynthetic(index)) break;
    const ClaimRef& claim = cycle->claims[index].claim;
    if (!MayDeallocate(*claim, cycle->pod)) continue;
    cycle->outcome = "deallocation of ResourceClaim completed";
    cycle->tasks.push_back({index, std::make_unique<SingleCallTask>(
                                       StatusCall(ClaimVerb::kUpdateStatus, Deallocated(claim)))});
    return RunTasks(cycle, nullptr, /*now_ns=*/0);
  }
  if (cycle->has_synthetic && IsMade(cycle->claims.back().claim)) {
    cycle->outcome = "deletion of ResourceClaim completed";
    cycle->tasks.push_back(
        {cycle->claims.size() - 1, std::make_unique<DeleteClaimTask>(cycle->claims.back().claim)});
  }
  return RunTasks(cycle, nullptr, /*now_ns=*/0);
}

// --- PreBind ---

const std::string& StructuredWrites::TimestampOf(int64_t now_ns) const {
  const int64_t second = now_ns / kSecondNs;
  if (second != stamped_second_) stamp_ = KubeTimeText(now_ns);
  stamped_second_ = second;
  return stamp_;
}

ClaimReservation StructuredWrites::ReservationOf(const StructuredCycle& cycle, size_t index,
                                                 int64_t now_ns) const {
  const ClaimingPod& pod = cycle.pod;
  ClaimReservation reservation;
  const StructuredCycle::Claim& entry = cycle.claims[index];
  reservation.allocation = entry.allocation;
  if (entry.is_shared) reservation.allocation = entry.claim.allocation();
  reservation.may_be_written = options_.pod_groups && !cycle.pod_group.empty();
  reservation.is_stale = entry.is_shared;
  reservation.consumer = {pod.name, pod.uid};
  if (options_.binding_conditions) reservation.timestamp = TimestampOf(now_ns);
  if (!cycle.IsSynthetic(index)) return reservation;
  reservation.is_synthetic = true;
  reservation.pod_key = absl::StrCat(pod.ns, "/", pod.name);
  const auto find = cycle.finds.find(cycle.node);
  if (find != cycle.finds.end()) reservation.mappings = find->second.mappings;
  return reservation;
}

void StructuredWrites::AddBindTask(StructuredCycle* cycle, size_t from, int64_t now_ns) const {
  for (size_t i = from; i < cycle->claims.size(); ++i) {
    const StructuredCycle::Claim& entry = cycle->claims[i];
    if (entry.claim.IsReservedFor(cycle->pod.uid)) continue;
    ClaimRef claim = entry.claim;
    if (cycle->IsSynthetic(i) && !IsMade(claim)) {
      // The node's device plugins serve the resources.
      if (entry.allocation == nullptr) continue;
      auto made = std::make_shared<kube::ResourceClaimV1>(*cycle->finds.at(cycle->node).synthetic);
      made->mutable_metadata()->clear_name();
      made->mutable_metadata()->clear_uid();
      made->clear_status();
      claim = std::move(made);
    }
    cycle->tasks.push_back(
        {i, std::make_unique<BindClaimTask>(std::move(claim), ReservationOf(*cycle, i, now_ns))});
    return;
  }
}

ClaimProgress StructuredWrites::PreBind(StructuredCycle* cycle, const std::string& node,
                                        int64_t now_ns) {
  cycle->phase = StructuredCycle::Phase::kBind;
  cycle->node = node;
  AddBindTask(cycle, 0, now_ns);
  return RunTasks(cycle, nullptr, now_ns);
}

void StructuredWrites::EndBindTask(StructuredCycle* cycle, size_t index, const ClaimTask& task) {
  StructuredCycle::Claim& entry = cycle->claims[index];
  // Upstream keeps a claim whose writes failed as it was before them; a synthetic one that was made
  // must be known, for it is to be deleted.
  const bool made = cycle->IsSynthetic(index) && !task.claim().uid().empty();
  const std::string in_flight =
      cycle->IsSynthetic(index) ? cycle->synthetic_uid : entry.claim.uid();
  if (task.status().ok() || made) {
    entry.claim = task.claim();
    cache_->Assume(task.claim());
  }
  if (entry.allocation == nullptr && !entry.is_shared) return;
  if (task.status().ok()) {
    in_flight_->Remove(in_flight);
  } else if (!made) {  // until Unreserve has deleted the claim, which may be written
    in_flight_->Leave(in_flight, cycle->pod.uid);
  }
}

bool StructuredWrites::IsAheadOfCache(const StructuredCycle& cycle,
                                      const StructuredCycle::Task& task) const {
  if (!cycle.IsSynthetic(task.claim) || !task.task->status().ok()) return false;
  const ClaimRef& claim = task.task->claim();
  return claim.is_allocated() && cache_->FindClaim(claim.ns(), claim.name()) == nullptr;
}

ClaimProgress StructuredWrites::PollCache(StructuredCycle* cycle, int64_t now_ns) {
  if (IsAheadOfCache(*cycle, cycle->written.front()) && now_ns < cycle->deadline_ns) {
    cycle->wake_ns += kCachePollNs;
    ClaimProgress progress;
    progress.wake_ns = std::min(cycle->wake_ns, cycle->deadline_ns);
    return progress;
  }
  const StructuredCycle::Task written = std::move(cycle->written.front());
  cycle->written.clear();
  cycle->phase = StructuredCycle::Phase::kBind;
  EndBindTask(cycle, written.claim, *written.task);
  AddBindTask(cycle, written.claim + 1, now_ns);
  return RunTasks(cycle, nullptr, now_ns);
}

ClaimProgress StructuredWrites::Poll(StructuredCycle* cycle, int64_t now_ns) {
  cycle->phase = StructuredCycle::Phase::kWait;
  const bool is_old = options_.release < StructuredRelease::k1_37;
  if (now_ns >= cycle->deadline_ns) {
    return Ended(StepCode::kError, is_old ? "device binding timeout"
                                          : "device binding timeout: context deadline exceeded");
  }
  bool all_ready = true;
  for (StructuredCycle::Claim& entry : cycle->claims) {
    const ClaimRef claim = cache_->FindClaim(entry.claim.ns(), entry.claim.name());
    if (claim == nullptr) {
      return Ended(StepCode::kError,
                   absl::StrCat("could not find ResourceClaim \"", ClaimKey(entry.claim), "\""));
    }
    entry.claim = claim;
    const ClaimReadiness readiness = ReadinessOf(*claim);
    const absl::string_view name = claim.name();
    if (readiness.state == BindingReadiness::kFailed) {
      return Ended(
          StepCode::kError,
          is_old ? absl::StrCat("claim ", name, " binding failed: ", readiness.failure)
                 : absl::StrCat("device binding failed: claim=", name, ", ", readiness.failure));
    }
    if (readiness.state == BindingReadiness::kReady) continue;
    if (BindingTimedOut(*claim, options_.binding_timeout_ns, now_ns)) {
      return Ended(StepCode::kError, is_old ? absl::StrCat("claim ", name, " binding timeout")
                                            : absl::StrCat("device binding timeout: claim=", name));
    }
    all_ready = false;
    break;
  }
  if (all_ready) return Ended(StepCode::kSuccess, "");
  cycle->wake_ns += kPollNs;
  ClaimProgress progress;
  progress.wake_ns = std::min(cycle->wake_ns, cycle->deadline_ns);
  return progress;
}

// --- Unreserve ---

ClaimProgress StructuredWrites::Unreserve(StructuredCycle* cycle) {
  cycle->phase = StructuredCycle::Phase::kUnreserve;
  cycle->tasks.clear();
  cycle->paused_call.reset();
  cycle->written.clear();
  const std::string& uid = cycle->pod.uid;
  for (size_t i = 0; i < cycle->claims.size(); ++i) {
    const ClaimRef& claim = cycle->claims[i].claim;
    if (cycle->IsSynthetic(i)) {
      if (!IsMade(claim)) {
        in_flight_->Leave(cycle->synthetic_uid, uid);
        continue;
      }
      cycle->tasks.push_back({i, std::make_unique<DeleteClaimTask>(claim)});
      continue;
    }
    if (cycle->claims[i].allocation != nullptr || cycle->claims[i].is_shared) {
      in_flight_->Leave(claim.uid(), uid);
    }
    if (!claim.is_allocated() || !claim.IsReservedFor(uid)) continue;
    ClaimCall call = StatusCall(ClaimVerb::kRemoveReservation, claim);
    call.consumer_uid = uid;
    cycle->tasks.push_back({i, std::make_unique<SingleCallTask>(std::move(call))});
  }
  return RunTasks(cycle, nullptr, /*now_ns=*/0);
}

// --- Calls ---

ClaimProgress StructuredWrites::RunTasks(StructuredCycle* cycle, const ClaimReply* reply,
                                         int64_t now_ns) {
  while (!cycle->tasks.empty()) {
    StructuredCycle::Task& front = cycle->tasks.front();
    std::optional<ClaimCall> call = front.task->Next(reply);
    if (call.has_value()) {
      ClaimProgress progress;
      if (!front.task->pauses()) {
        progress.call = std::move(call);
        return progress;
      }
      cycle->paused_call = std::move(call);
      progress.wake_ns = now_ns + kRetryPauseNs;
      if (options_.seed.has_value()) {
        const uint64_t drawn =
            DrawnWord(*options_.seed, cycle->pod.uid, static_cast<uint64_t>(now_ns));
        *progress.wake_ns += static_cast<int64_t>(drawn % (kRetryPauseNs / 10));
      }
      return progress;
    }
    reply = nullptr;
    StructuredCycle::Task ended = std::move(front);
    cycle->tasks.pop_front();
    if (cycle->phase == StructuredCycle::Phase::kBind && IsAheadOfCache(*cycle, ended)) {
      cycle->phase = StructuredCycle::Phase::kCache;
      cycle->written.push_back(std::move(ended));
      cycle->wake_ns = now_ns;
      cycle->deadline_ns = now_ns + kCacheTimeoutNs;
      // The first look comes after all that is delivered now.
      ClaimProgress progress;
      progress.wake_ns = now_ns;
      return progress;
    }
    const absl::Status& status = ended.task->status();
    if (cycle->phase == StructuredCycle::Phase::kBind) EndBindTask(cycle, ended.claim, *ended.task);
    if (!status.ok() && cycle->phase != StructuredCycle::Phase::kUnreserve) {
      return Ended(StepCode::kError, std::string(status.message()));
    }
    if (cycle->phase == StructuredCycle::Phase::kBind) AddBindTask(cycle, ended.claim + 1, now_ns);
  }
  return AfterTasks(cycle, now_ns);
}

ClaimProgress StructuredWrites::AfterTasks(StructuredCycle* cycle, int64_t now_ns) {
  if (cycle->phase == StructuredCycle::Phase::kPostFilter) {
    return Ended(StepCode::kReject, cycle->outcome);
  }
  if (cycle->phase == StructuredCycle::Phase::kUnreserve && cycle->has_synthetic) {
    in_flight_->Leave(cycle->synthetic_uid, cycle->pod.uid);
  }
  if (cycle->phase != StructuredCycle::Phase::kBind) return Ended(StepCode::kSuccess, "");
  const bool waits = options_.binding_conditions &&
                     std::any_of(cycle->claims.begin(), cycle->claims.end(), [](const auto& entry) {
                       const AllocationRef allocation = entry.claim.allocation();
                       return allocation != nullptr && HasBindingConditions(*allocation);
                     });
  if (!waits) return Ended(StepCode::kSuccess, "");
  cycle->wake_ns = now_ns;
  cycle->deadline_ns = now_ns + options_.binding_timeout_ns;
  return Poll(cycle, now_ns);
}

ClaimProgress StructuredWrites::Resume(StructuredCycle* cycle, const ClaimReply* reply,
                                       int64_t now_ns) {
  if (cycle->paused_call.has_value()) {
    ClaimProgress progress;
    progress.call = std::move(cycle->paused_call);
    cycle->paused_call.reset();
    return progress;
  }
  if (cycle->phase == StructuredCycle::Phase::kCache) return PollCache(cycle, now_ns);
  if (cycle->phase == StructuredCycle::Phase::kWait) return Poll(cycle, now_ns);
  return RunTasks(cycle, reply, now_ns);
}

}  // namespace drasim
