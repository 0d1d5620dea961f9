// The points of the plugin that call the API server: each a chain of calls that is kept in its
// cycle. With a reply there at once a chain goes on at once; otherwise Resume goes on with it.
//
// Nothing here is put into the scheduler's cache: upstream writes it for structured parameters
// only. A cycle knows the replies to its own writes, the next one what the watches have told. So a
// claim written a moment ago may be met again in its old version, and be refused with a conflict.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "model/check.h"
#include "sim/dra/dynamic_resources.h"

namespace drasim {
namespace {

using StepCycle = DynamicResources::Cycle;
using CallStepStatus = DynamicResources::Status;
using CallStepCode = DynamicResources::Code;
using CallStepReason = DynamicResources::Reason;

CallStepStatus FailedCall(const ApiReply& reply, Name object) {
  switch (reply.code) {
    case ApiCode::kConflict:
    case ApiCode::kAlreadyExists:
      return {CallStepCode::kError, CallStepReason::kConflict, object};
    case ApiCode::kInvalid:
      return {CallStepCode::kError, CallStepReason::kInvalid, object};
    case ApiCode::kOk:
    case ApiCode::kNotFound:
      break;
  }
  return {CallStepCode::kError, CallStepReason::kCallFailed, object};
}

bool HasUnpublished(const StepCycle& cycle) { return cycle.selects || cycle.has_potential; }

// The context as it is to be.
ApiRequest WriteContextRequest(const StepCycle& cycle, Verb verb) {
  auto context = std::make_shared<PodSchedulingContext>();
  if (cycle.context == nullptr) {
    context->meta.ns = cycle.pod->meta.ns;
    context->meta.name = cycle.pod->meta.name;
    context->meta.owner = cycle.pod_uid;
  } else {
    *context = *cycle.context;
  }
  if (cycle.selects) context->selected = cycle.selected;
  if (cycle.has_potential) context->potential = cycle.potential;
  if (verb == Verb::kApply) {
    // Only the scheduler writes these fields: they hold even if it is another object by now.
    context->meta.uid = 0;
  }
  ApiRequest request;
  request.verb = verb;
  request.kind = ObjectKind::kPodSchedulingContext;
  request.object = Ref<PodSchedulingContext>(std::move(context));
  return request;
}

ApiRequest WriteClaimRequest(std::shared_ptr<ResourceClaim> claim) {
  ApiRequest request;
  request.verb = Verb::kUpdateStatus;
  request.kind = ObjectKind::kResourceClaim;
  request.object = Ref<ResourceClaim>(std::move(claim));
  return request;
}

ApiRequest ReadClaimRequest(const ResourceClaim& claim) {
  ApiRequest request;
  request.verb = Verb::kGet;
  request.kind = ObjectKind::kResourceClaim;
  request.ns = claim.meta.ns;
  request.name = claim.meta.name;
  return request;
}

// That the cycle's pod is, or is no longer, a consumer of the claim, and nothing else.
ApiRequest PatchReservationRequest(const StepCycle& cycle, const ResourceClaim& claim, Name pods,
                                   bool reserve) {
  auto patch = std::make_shared<ResourceClaim>();
  patch->meta.ns = claim.meta.ns;
  patch->meta.name = claim.meta.name;
  patch->meta.uid = claim.meta.uid;
  patch->status.reserved_for.push_back({pods, cycle.pod->meta.name, cycle.pod_uid});
  ApiRequest request;
  request.verb = Verb::kPatchStatus;
  request.part = reserve ? StatusPart::kAddConsumers : StatusPart::kDropConsumers;
  request.kind = ObjectKind::kResourceClaim;
  request.object = Ref<ResourceClaim>(std::move(patch));
  return request;
}

// The claim with, or without, the cycle's pod as a consumer.
ApiRequest ReservationRequest(const StepCycle& cycle, const ResourceClaim& claim, Name pods,
                              bool reserve) {
  auto changed = std::make_shared<ResourceClaim>(claim);
  auto& consumers = changed->status.reserved_for;
  if (reserve) {
    consumers.push_back({pods, cycle.pod->meta.name, cycle.pod_uid});
  } else {
    const auto is_pod = [&cycle](const Consumer& c) { return c.uid == cycle.pod_uid; };
    consumers.erase(std::remove_if(consumers.begin(), consumers.end(), is_pod), consumers.end());
  }
  return WriteClaimRequest(std::move(changed));
}

}  // namespace

DynamicResources::Status DynamicResources::PostFilter(Cycle* cycle) {
  return Begin(cycle, Step::kPostFilter, NodeId());
}
DynamicResources::Status DynamicResources::Reserve(Cycle* cycle, NodeId node) {
  return Begin(cycle, Step::kReserve, node);
}
DynamicResources::Status DynamicResources::Unreserve(Cycle* cycle, NodeId node) {
  return Begin(cycle, Step::kUnreserve, node);
}
DynamicResources::Status DynamicResources::PreBind(Cycle* cycle, NodeId node) {
  return Begin(cycle, Step::kPreBind, node);
}
DynamicResources::Status DynamicResources::PostBind(Cycle* cycle) {
  return Begin(cycle, Step::kPostBind, cycle->node);
}

DynamicResources::Status DynamicResources::Begin(Cycle* cycle, Step step, NodeId node) {
  DRASIM_CHECK(cycle->step == Step::kNone);
  cycle->step = step;
  cycle->stage = kBegin;
  cycle->next = 0;
  cycle->node = node;
  cycle->result = Status();
  return Continue(cycle, nullptr);
}

DynamicResources::Status DynamicResources::Resume(Cycle* cycle, const ApiReply& reply) {
  DRASIM_CHECK(cycle->step != Step::kNone);
  return Continue(cycle, &reply);
}

DynamicResources::Status DynamicResources::Continue(Cycle* cycle, const ApiReply* reply) {
  Status status;
  switch (cycle->step) {
    case Step::kPostFilter:
      status = ContinuePostFilter(cycle, reply);
      break;
    case Step::kReserve:
      status = ContinueReserve(cycle, reply);
      break;
    case Step::kUnreserve:
      status = ContinueUnreserve(cycle, reply);
      break;
    case Step::kPreBind:
      status = ContinuePreBind(cycle, reply);
      break;
    case Step::kPostBind:
      status = ContinuePostBind(cycle, reply);
      break;
    case Step::kNone:
      DRASIM_UNREACHABLE("no step is under way");
  }
  if (status.code != Code::kWaiting) {
    cycle->step = Step::kNone;
    cycle->stage = kBegin;
    cycle->next = 0;
    cycle->result = Status();
  }
  return status;
}

const ApiReply* DynamicResources::Send(const Cycle& cycle, ApiRequest request,
                                       absl::optional<ApiReply>* here) {
  *here = client_->Call(std::move(request), cycle.token);
  return here->has_value() ? &**here : nullptr;
}

DynamicResources::Status DynamicResources::WaitsFor(Reason reason) const {
  return {behaviour_.pending_status() ? Code::kPending : Code::kUnschedulable, reason, Name()};
}

DynamicResources::Status DynamicResources::Publish(Cycle* cycle, const ApiReply* reply) {
  absl::optional<ApiReply> here;
  if (cycle->stage != kWriteContext && cycle->stage != kApplyContext) {
    if (!HasUnpublished(*cycle)) return Status();
    cycle->stage = kWriteContext;
    const Verb verb = cycle->context == nullptr ? Verb::kCreate : Verb::kUpdate;
    reply = Send(*cycle, WriteContextRequest(*cycle, verb), &here);
    if (reply == nullptr) return {Code::kWaiting, Reason::kNone, Name()};
  }
  if (cycle->stage == kWriteContext && reply->code == ApiCode::kConflict &&
      behaviour_.apply_on_conflict()) {
    // Most often a driver has written the status meanwhile.
    cycle->stage = kApplyContext;
    reply = Send(*cycle, WriteContextRequest(*cycle, Verb::kApply), &here);
    if (reply == nullptr) return {Code::kWaiting, Reason::kNone, Name()};
  }
  cycle->stage = kBegin;
  if (!reply->ok()) return FailedCall(*reply, cycle->pod->meta.name);
  cycle->selects = false;
  cycle->has_potential = false;
  cycle->potential.clear();
  return Status();
}

DynamicResources::Status DynamicResources::ContinuePostFilter(Cycle* cycle, const ApiReply* reply) {
  if (cycle->stage == kBegin) {
    std::vector<size_t> candidates;
    for (const size_t claim : cycle->unavailable) {
      const auto& reserved_for = cycle->claims[claim].claim->status.reserved_for;
      if (reserved_for.empty() ||
          (reserved_for.size() == 1 && reserved_for.front().uid == cycle->pod_uid)) {
        candidates.push_back(claim);
      }
    }
    if (candidates.empty()) return {Code::kUnschedulable, Reason::kStillNotSchedulable, Name()};
    size_t chosen = 0;
    if (candidates.size() > 1) {
      chosen = static_cast<size_t>(choices_.Below(candidates.size()));
      ++draws_;
    }
    cycle->next = candidates[chosen];
    // Else the driver might see the selected node after deallocation, and allocate for it again.
    if (behaviour_.clears_selected_node() && cycle->context != nullptr &&
        cycle->context->selected.valid()) {
      cycle->selects = true;
      cycle->selected = NodeId();
    }
  }
  const ResourceClaim& claim = *cycle->claims[cycle->next].claim;
  absl::optional<ApiReply> here;
  if (cycle->stage != kWriteClaim) {
    if (const Status status = Publish(cycle, reply); status.code != Code::kSuccess) return status;
    auto changed = std::make_shared<ResourceClaim>(claim);
    changed->status.deallocation_requested = true;
    changed->status.reserved_for.clear();
    cycle->stage = kWriteClaim;
    reply = Send(*cycle, WriteClaimRequest(std::move(changed)), &here);
    if (reply == nullptr) return {Code::kWaiting, Reason::kNone, Name()};
  }
  if (!reply->ok()) return FailedCall(*reply, claim.meta.name);
  const Code code =
      behaviour_.preempts_after_deallocation() ? Code::kUnschedulable : Code::kSuccess;
  return {code, Reason::kDeallocating, claim.meta.name};
}

DynamicResources::Status DynamicResources::ChangeReservations(Cycle* cycle, bool reserve,
                                                              const ApiReply* reply) {
  for (; cycle->next < cycle->claims.size(); ++cycle->next) {
    const ResourceClaim& claim = *cycle->claims[cycle->next].claim;
    if (reply == nullptr) {
      if (claim.status.allocation == nullptr) continue;
      if (IsReservedFor(claim, cycle->pod_uid) == reserve) continue;
    }
    const Status status = ChangeReservation(cycle, reserve, reply);
    if (status.code == Code::kWaiting) return status;
    // Without its reservation the pod must not run. One that is left behind only keeps the claim in
    // use until the pod, or the claim controller, comes to it again.
    if (reserve && !status.ok()) return status;
    reply = nullptr;
  }
  cycle->stage = kBegin;
  return Status();
}

DynamicResources::Status DynamicResources::ChangeReservation(Cycle* cycle, bool reserve,
                                                             const ApiReply* reply) {
  Ref<ResourceClaim>& claim = cycle->claims[cycle->next].claim;
  const Uid uid = claim->meta.uid;
  const Name name = claim->meta.name;
  const bool patches =
      behaviour_.writes_in_pre_bind() && (!reserve || behaviour_.release == DraRelease::k30);
  for (absl::optional<ApiReply> here;;) {
    if (reply != nullptr && cycle->stage == kWriteClaim) {
      if (reply->ok()) {
        // For Unreserve, which would not know of the reservation otherwise.
        if (!reserve || behaviour_.unreserves_own()) claim = As<ResourceClaim>(reply->object);
        return Status();
      }
      const bool repeats = behaviour_.writes_in_pre_bind() && !patches;
      if (reply->code != ApiCode::kConflict || !repeats) return FailedCall(*reply, name);
      cycle->stage = kReadClaim;
      reply = Send(*cycle, ReadClaimRequest(*claim), &here);
      if (reply == nullptr) return {Code::kWaiting, Reason::kNone, Name()};
    }
    if (reply != nullptr) {
      if (!reply->ok()) return FailedCall(*reply, name);
      const Ref<ResourceClaim> fresh = As<ResourceClaim>(reply->object);
      if (fresh->meta.uid != uid || fresh->meta.deleting) {
        return {Code::kError, Reason::kConflict, name};
      }
      claim = fresh;
      if (IsReservedFor(*claim, cycle->pod_uid)) return Status();
    }
    cycle->stage = kWriteClaim;
    reply = Send(*cycle,
                 patches ? PatchReservationRequest(*cycle, *claim, pods_, reserve)
                         : ReservationRequest(*cycle, *claim, pods_, reserve),
                 &here);
    if (reply == nullptr) return {Code::kWaiting, Reason::kNone, Name()};
  }
}

DynamicResources::Status DynamicResources::Decide(Cycle* cycle) const {
  size_t pending = 0;
  size_t informed = 0;
  for (const Cycle::Claim& claim : cycle->claims) {
    if (claim.claim->status.allocation != nullptr) continue;
    ++pending;
    if (claim.context_entry != Cycle::kNoEntry) ++informed;
  }
  if (pending == 0) return Status();
  const PodSchedulingContext* context = cycle->context.get();
  const auto is_potential = [this, context](NodeId node) {
    const std::vector<NodeId>& potential = context->potential;
    return behaviour_.replaces_potential_nodes()
               ? std::binary_search(potential.begin(), potential.end(), node)
               : !potential.empty();
  };
  if (!cycle->pre_scored && (context == nullptr || !is_potential(cycle->node))) {
    // The only feasible node: the drivers must be asked about it, or it is chosen for ever. That is
    // what happens until 1.28 where an earlier cycle has left a list without it.
    cycle->has_potential = true;
    cycle->potential = {cycle->node};
    KeepRefused(cycle);
  }
  // With one pending claim it does no harm to select before the driver has said anything.
  if ((pending == 1 || informed == pending) &&
      (context == nullptr || context->selected != cycle->node)) {
    cycle->selects = true;
    cycle->selected = cycle->node;
    return WaitsFor(Reason::kWaitsForAllocation);
  }
  return WaitsFor(Reason::kWaitsForInformation);
}

DynamicResources::Status DynamicResources::ContinueReserve(Cycle* cycle, const ApiReply* reply) {
  if (behaviour_.writes_in_pre_bind()) {
    const Status status = Decide(cycle);
    return HasUnpublished(*cycle) ? Status() : status;
  }
  // Upstream reserves what is allocated, and only then finds that the pod has to wait for the rest.
  // The reservation wakes the pod, whose next cycle gives it back, which wakes the pod again.
  const bool reserves_first = behaviour_.strict_upstream;
  if (cycle->stage == kBegin && !reserves_first) cycle->result = Decide(cycle);
  if (cycle->result.ok() && (cycle->stage == kBegin || cycle->stage == kWriteClaim)) {
    const Status status = ChangeReservations(cycle, true, reply);
    if (status.code != Code::kSuccess) return status;
    if (reserves_first) cycle->result = Decide(cycle);
    if (cycle->result.ok()) return cycle->result;
    reply = nullptr;
  }
  const Status status = Publish(cycle, reply);
  return status.code == Code::kSuccess ? cycle->result : status;
}

DynamicResources::Status DynamicResources::ContinueUnreserve(Cycle* cycle, const ApiReply* reply) {
  if (cycle->stage != kWriteClaim && cycle->stage != kReadClaim) {
    if (behaviour_.writes_in_pre_bind()) {
      // What the cycle has found out helps the drivers even if the pod failed for another reason.
      // An error is no reason to keep the reservations.
      const Status status = Publish(cycle, reply);
      if (status.code == Code::kWaiting) return status;
    }
    reply = nullptr;
  }
  return ChangeReservations(cycle, false, reply);
}

DynamicResources::Status DynamicResources::ContinuePreBind(Cycle* cycle, const ApiReply* reply) {
  if (!behaviour_.writes_in_pre_bind()) return Status();
  if (cycle->stage == kBegin && HasUnpublished(*cycle)) {
    cycle->result =
        WaitsFor(cycle->selects ? Reason::kWaitsForAllocation : Reason::kWaitsForInformation);
  }
  if (!cycle->result.ok()) {
    const Status status = Publish(cycle, reply);
    return status.code == Code::kSuccess ? cycle->result : status;
  }
  return ChangeReservations(cycle, true, reply);
}

DynamicResources::Status DynamicResources::ContinuePostBind(Cycle* cycle, const ApiReply* reply) {
  if (cycle->claims.empty() || reply != nullptr) return Status();
  // Whether or not the cache has it: it may have been created a moment ago. If this fails, the
  // garbage collector deletes it together with the pod.
  ApiRequest request;
  request.verb = Verb::kDelete;
  request.kind = ObjectKind::kPodSchedulingContext;
  request.ns = cycle->pod->meta.ns;
  request.name = cycle->pod->meta.name;
  absl::optional<ApiReply> here;
  if (Send(*cycle, std::move(request), &here) == nullptr) {
    return {Code::kWaiting, Reason::kNone, Name()};
  }
  return Status();
}

}  // namespace drasim
