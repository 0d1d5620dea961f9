#include "sim/dra/classic/dynamic_resources.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "absl/types/span.h"
#include "model/check.h"

namespace drasim {
namespace {

using PluginStatus = DynamicResources::Status;
using PluginCode = DynamicResources::Code;
using PluginReason = DynamicResources::Reason;

// Upstream's texts for failed attempts and for conditions. The former are counted by reason, so
// they name no object; in the latter, $0 is the object (empty: the same text).
struct ClaimReasonRow {
  PluginReason reason;
  ReasonKind kind;
  absl::string_view counted;
  absl::string_view told;
};

constexpr ClaimReasonRow kClaimReasons[] = {
    {PluginReason::kClaimMissing, ReasonKind::kNegotiationStep, "resourceclaim not found",
     "resourceclaim \"$0\" not found"},
    {PluginReason::kClaimBeingDeleted, ReasonKind::kClaim, "resourceclaim is being deleted",
     "resourceclaim \"$0\" is being deleted"},
    {PluginReason::kClaimOfAnotherPod, ReasonKind::kNegotiationStep,
     "resourceclaim was not created for the pod",
     "ResourceClaim $0 was not created for pod (pod is not owner)"},
    {PluginReason::kUnallocatedImmediate, ReasonKind::kWaitsForDriver,
     "unallocated immediate resourceclaim", ""},
    {PluginReason::kMustBeReallocated, ReasonKind::kNegotiationStep,
     "resourceclaim must be reallocated", ""},
    {PluginReason::kClaimInUse, ReasonKind::kClaim, "resourceclaim in use", ""},
    {PluginReason::kClassMissing, ReasonKind::kClaim, "resource class not found",
     "resource class $0 does not exist"},
    {PluginReason::kClassExcludesNode, ReasonKind::kClaim, "excluded by resource class node filter",
     ""},
    {PluginReason::kNodeUnsuitable, ReasonKind::kClaim,
     "resourceclaim cannot be allocated for the node (unsuitable)", ""},
    {PluginReason::kNotAvailableOnNode, ReasonKind::kClaim,
     "resourceclaim not available on the node", ""},
    {PluginReason::kDeallocating, ReasonKind::kNegotiationStep,
     "deallocation of ResourceClaim completed", ""},
    {PluginReason::kStillNotSchedulable, ReasonKind::kClaim, "still not schedulable", ""},
    {PluginReason::kWaitsForAllocation, ReasonKind::kWaitsForDriver,
     "waiting for resource driver to allocate resource", ""},
    {PluginReason::kWaitsForInformation, ReasonKind::kWaitsForDriver,
     "waiting for resource driver to provide information", ""},
    {PluginReason::kConflict, ReasonKind::kStaleObject, "the object has been modified",
     "the object \"$0\" has been modified or exists already"},
    {PluginReason::kInvalid, ReasonKind::kClaim, "the write was refused as invalid",
     "the change of \"$0\" is not valid"},
    {PluginReason::kCallFailed, ReasonKind::kStaleObject, "a call to the API server failed",
     "could not use the object \"$0\""},
};

// A reason is its row number, from 1.
constexpr bool RowsAreInOrder() {
  for (size_t i = 0; i < std::size(kClaimReasons); ++i) {
    if (static_cast<size_t>(kClaimReasons[i].reason) != i + 1) return false;
  }
  return std::size(kClaimReasons) == static_cast<size_t>(PluginReason::kCallFailed);
}
static_assert(RowsAreInOrder());

PluginStatus RejectedPod(PluginReason reason, Name object) {
  return {PluginCode::kUnresolvable, reason, object};
}

bool InSortedNodes(const std::vector<NodeId>& nodes, NodeId node) {
  return std::binary_search(nodes.begin(), nodes.end(), node);
}

NodeSet CommonNodes(const NodeSet& a, const NodeSet& b) {
  if (a.everywhere()) return b;
  if (b.everywhere()) return a;
  std::vector<NodeId> common;
  std::set_intersection(a.nodes().begin(), a.nodes().end(), b.nodes().begin(), b.nodes().end(),
                        std::back_inserter(common));
  return NodeSet::Of(std::move(common));
}

// Index of the entry in the context's status, or kNoEntry.
size_t ContextEntry(const PodSchedulingContext* context, Name entry) {
  if (context == nullptr) return DynamicResources::Cycle::kNoEntry;
  for (size_t i = 0; i < context->claims.size(); ++i) {
    if (context->claims[i].entry == entry) return i;
  }
  return DynamicResources::Cycle::kNoEntry;
}

bool IsPendingDelayed(const ResourceClaim& claim) {
  return claim.spec.mode == AllocationMode::kWaitForFirstConsumer &&
         claim.status.allocation == nullptr;
}

// The nodes that a driver has excluded for a claim; null: no statement so far.
const std::vector<NodeId>* RuledOutNodes(const DynamicResources::Cycle& cycle,
                                         const DynamicResources::Cycle::Claim& claim) {
  if (claim.context_entry == DynamicResources::Cycle::kNoEntry) return nullptr;
  return &cycle.context->claims[claim.context_entry].unsuitable;
}

// Notes the claims in the way on one node that are worth deallocating. An Immediate claim would
// only be allocated again at once, on a node of its driver's choice.
void NoteUnavailable(absl::Span<const size_t> in_the_way, bool index_bug,
                     DynamicResources::Cycle* cycle) {
  const auto is_delayed = [cycle](size_t claim) {
    return cycle->claims[claim].claim->spec.mode == AllocationMode::kWaitForFirstConsumer;
  };
  std::vector<size_t>& noted = cycle->unavailable;
  for (size_t position = 0; position < in_the_way.size(); ++position) {
    // Until 1.29 upstream's loop took positions in the list for claims, and a hit noted the whole
    // list.
    if (index_bug && is_delayed(position)) {
      noted.insert(noted.end(), in_the_way.begin(), in_the_way.end());
      break;
    }
    if (!index_bug && is_delayed(in_the_way[position])) noted.push_back(in_the_way[position]);
  }
  std::sort(noted.begin(), noted.end());
  noted.erase(std::unique(noted.begin(), noted.end()), noted.end());
}

}  // namespace

DynamicResources::DynamicResources(ApiClient* client, const DraBehaviour& behaviour, uint64_t seed)
    : client_(client),
      behaviour_(behaviour),
      choices_(seed, "dynamic resources"),
      pods_(client->names().Intern("pods")) {}

Name DynamicResources::ClaimNameOf(const Pod& pod, const PodClaim& entry) const {
  return NameOfClaim(pod, entry, behaviour_, client_->names()).value_or(Name());
}

DynamicResources::Status DynamicResources::FindClaims(const Pod& pod, FoundClaims* claims) const {
  for (const PodClaim& entry : pod.claims) {
    const Name name = ClaimNameOf(pod, entry);
    if (name.empty()) return RejectedPod(Reason::kClaimMissing, Name());
    const Ref<ResourceClaim>& claim = client_->cache().claim(pod.meta.ns, name);
    if (claim == nullptr) return RejectedPod(Reason::kClaimMissing, name);
    if (claim->meta.deleting) return RejectedPod(Reason::kClaimBeingDeleted, name);
    if (entry.claim.empty() && claim->meta.owner != pod.meta.uid) {
      return RejectedPod(Reason::kClaimOfAnotherPod, name);
    }
    if (claims != nullptr) claims->push_back(&claim);
  }
  return Status();
}

DynamicResources::Status DynamicResources::PreEnqueue(const Pod& pod) const {
  return behaviour_.pre_enqueue() ? FindClaims(pod, nullptr) : Status();
}

DynamicResources::Status DynamicResources::CheckClaim(const Pod& pod, Cycle::Claim* claim) const {
  const ResourceClaim& object = *claim->claim;
  const bool allocated = object.status.allocation != nullptr;
  const Name name = object.meta.name;
  if (!allocated && object.spec.mode == AllocationMode::kImmediate) {
    return RejectedPod(Reason::kUnallocatedImmediate, name);
  }
  if (object.status.deallocation_requested) {
    return RejectedPod(Reason::kMustBeReallocated, name);
  }
  if (allocated) {
    if (!CanBeReserved(object) && !IsReservedFor(object, pod.meta.uid)) {
      return RejectedPod(Reason::kClaimInUse, name);
    }
    claim->available = object.status.allocation->available_on;
    return Status();
  }
  const Ref<ResourceClass>& found =
      client_->cache().of<ResourceClass>().Find(Name(), object.spec.class_name);
  if (found == nullptr) return RejectedPod(Reason::kClassMissing, object.spec.class_name);
  claim->available = found->suitable_nodes;
  return Status();
}

DynamicResources::Status DynamicResources::PreFilter(const Ref<Pod>& pod, Cycle* cycle) const {
  const uint64_t token = cycle->token;
  *cycle = Cycle();
  cycle->token = token;
  cycle->pod = pod;
  cycle->pod_uid = pod->meta.uid;
  FoundClaims found;
  if (const Status status = FindClaims(*pod, &found); !status.ok()) return status;
  if (found.empty()) return {Code::kSkip, Reason::kNone, Name()};

  Ref<PodSchedulingContext> context = client_->cache().context(pod->meta.ns, pod->meta.name);
  if (context != nullptr && context->meta.owner != pod->meta.uid) {
    // It belongs to an earlier pod of the name, and awaits the garbage collector.
    return {Code::kError, Reason::kCallFailed, pod->meta.name};
  }
  // The other points ignore a pod rejected here, because its state has no claims.
  std::vector<Cycle::Claim> claims(found.size());
  for (size_t i = 0; i < found.size(); ++i) {
    claims[i].entry = pod->claims[i].entry;
    claims[i].claim = *found[i];
    claims[i].context_entry = ContextEntry(context.get(), claims[i].entry);
    if (const Status status = CheckClaim(*pod, &claims[i]); !status.ok()) return status;
  }
  cycle->claims = std::move(claims);
  cycle->context = std::move(context);
  return Status();
}

DynamicResources::Status DynamicResources::Filter(Cycle* cycle, NodeId node) const {
  std::vector<size_t> in_the_way;
  for (size_t i = 0; i < cycle->claims.size(); ++i) {
    const Cycle::Claim& claim = cycle->claims[i];
    if (claim.claim->status.allocation != nullptr) {
      if (!claim.available.Contains(node)) in_the_way.push_back(i);
      continue;
    }
    if (!claim.available.Contains(node)) {
      return RejectedPod(Reason::kClassExcludesNode, claim.claim->spec.class_name);
    }
    const std::vector<NodeId>* unsuitable = RuledOutNodes(*cycle, claim);
    if (unsuitable != nullptr && InSortedNodes(*unsuitable, node)) {
      return RejectedPod(Reason::kNodeUnsuitable, claim.claim->meta.name);
    }
  }
  if (in_the_way.empty()) return Status();
  NoteUnavailable(in_the_way, behaviour_.filter_index_bug(), cycle);
  return RejectedPod(Reason::kNotAvailableOnNode,
                     cycle->claims[in_the_way.front()].claim->meta.name);
}

DynamicResources::Restriction DynamicResources::RestrictionOf(const Cycle& cycle) const {
  Restriction restriction;
  std::vector<NodeId>& excluded = restriction.excluded;
  for (const Cycle::Claim& claim : cycle.claims) {
    restriction.allowed = CommonNodes(restriction.allowed, claim.available);
    const std::vector<NodeId>* unsuitable = RuledOutNodes(cycle, claim);
    if (unsuitable == nullptr || claim.claim->status.allocation != nullptr) continue;
    excluded.insert(excluded.end(), unsuitable->begin(), unsuitable->end());
  }
  std::sort(excluded.begin(), excluded.end());
  excluded.erase(std::unique(excluded.begin(), excluded.end()), excluded.end());
  return restriction;
}

void DynamicResources::PreScore(Cycle* cycle, absl::Span<const NodeId> feasible) {
  cycle->pre_scored = true;
  const bool pending =
      std::any_of(cycle->claims.begin(), cycle->claims.end(),
                  [](const Cycle::Claim& c) { return c.claim->status.allocation == nullptr; });
  if (!pending) return;
  const bool all_published = cycle->context != nullptr &&
                             std::all_of(feasible.begin(), feasible.end(), [cycle](NodeId node) {
                               return InSortedNodes(cycle->context->potential, node);
                             });
  if (all_published) return;
  cycle->has_potential = true;
  if (feasible.size() > kMaxNodesInContext) {
    cycle->potential = DrawNodes(feasible);
  } else {
    cycle->potential.assign(feasible.begin(), feasible.end());
  }
  KeepRefused(cycle);
}

// Drivers forget nodes that they are no longer asked about. Upstream asks only about feasible
// nodes, so rejected nodes return as soon as others are asked about, and a pod that fits nowhere
// circles indefinitely.
void DynamicResources::KeepRefused(Cycle* cycle) const {
  if (behaviour_.strict_upstream || cycle->context == nullptr) return;
  std::vector<NodeId>& potential = cycle->potential;
  const size_t feasible = potential.size();
  for (NodeId node : cycle->context->potential) {
    if (potential.size() == kMaxNodesInContext) break;
    const bool refused =
        std::any_of(cycle->context->claims.begin(), cycle->context->claims.end(),
                    [node](const auto& claim) { return InSortedNodes(claim.unsuitable, node); });
    const bool there = std::binary_search(
        potential.begin(), potential.begin() + static_cast<std::ptrdiff_t>(feasible), node);
    if (refused && !there) potential.push_back(node);
  }
  std::sort(potential.begin(), potential.end());
}

// The first steps of a shuffle from the front, on the positions of the nodes. They are undone
// afterwards, so that the next call finds all positions in order. Marks restore the order of the
// drawn nodes.
std::vector<NodeId> DynamicResources::DrawNodes(absl::Span<const NodeId> nodes) {
  const size_t words = nodes.size() / 64 + 1;
  if (chosen_.size() < words) chosen_.resize(words);
  while (places_.size() < nodes.size()) places_.push_back(static_cast<uint32_t>(places_.size()));
  // Locals stay in registers; members would not, between two writes through a pointer.
  Random choices = choices_;
  uint32_t* const places = places_.data();
  uint64_t* const chosen = chosen_.data();
  std::array<uint32_t, kMaxNodesInContext> others;
  for (size_t i = 0; i < kMaxNodesInContext; ++i) {
    others[i] = static_cast<uint32_t>(i + choices.Below(nodes.size() - i));
    const uint32_t drawn = std::exchange(places[others[i]], places[i]);
    places[i] = drawn;
    chosen[drawn / 64] |= uint64_t{1} << drawn % 64;
  }
  choices_ = choices;
  draws_ += kMaxNodesInContext;
  for (size_t i = kMaxNodesInContext; i-- > 0;) std::swap(places[i], places[others[i]]);
  std::vector<NodeId> drawn(kMaxNodesInContext);
  NodeId* next = drawn.data();
  for (size_t word = 0; word < words; ++word) {
    for (uint64_t marks = std::exchange(chosen[word], 0); marks != 0; marks &= marks - 1) {
      *next++ = nodes[word * 64 + static_cast<size_t>(std::countr_zero(marks))];
    }
  }
  return drawn;
}

DynamicResources::Hint DynamicResources::AfterClaimChange(const Pod& pod,
                                                          const ResourceClaim* before,
                                                          const ResourceClaim* after) const {
  if (after == nullptr) return Hint::kSkip;
  FoundClaims claims;
  if (!FindClaims(pod, &claims).ok()) return Hint::kSkip;
  const bool used = std::any_of(
      claims.begin(), claims.end(),
      [after](const Ref<ResourceClaim>* claim) { return (*claim)->meta.uid == after->meta.uid; });
  if (!used) return Hint::kSkip;
  // An added finalizer or label changes nothing for the pod.
  if (before != nullptr && before->status == after->status) return Hint::kSkip;
  return ImmediateHint();
}

DynamicResources::Hint DynamicResources::AfterContextChange(
    const Pod& pod, const PodSchedulingContext* before, const PodSchedulingContext* after) const {
  // Deleted by the plugin itself, when the pod was bound.
  if (after == nullptr) return Hint::kSkip;
  if (after->meta.name != pod.meta.name || after->meta.ns != pod.meta.ns) return Hint::kSkip;
  FoundClaims claims;
  if (!FindClaims(pod, &claims).ok()) return Hint::kSkip;
  for (size_t i = 0; i < claims.size(); ++i) {
    // An attempt is expensive: wait for all drivers.
    if (IsPendingDelayed(**claims[i]) &&
        ContextEntry(after, pod.claims[i].entry) == Cycle::kNoEntry) {
      return Hint::kSkip;
    }
  }
  if (before == nullptr || before->claims.size() < after->claims.size()) return ImmediateHint();
  if (after->selected.valid()) {
    for (const PodSchedulingContext::ClaimNodes& claim : after->claims) {
      if (InSortedNodes(claim.unsuitable, after->selected)) return ImmediateHint();
    }
  }
  const bool same_spec =
      before->selected == after->selected && before->potential == after->potential;
  if (!same_spec && before->claims == after->claims) return Hint::kSkip;  // its own write
  return Hint::kQueue;
}

DynamicResources::Hint DynamicResources::ImmediateHint() const {
  return behaviour_.release == DraRelease::k28 ? Hint::kQueueImmediately : Hint::kQueue;
}

// --- Points that call the API server ---
//
// Each is a chain of calls with its state in the cycle. An immediate reply continues the chain at
// once; otherwise Resume continues it.
//
// Nothing here enters the scheduler's cache: upstream does that for structured parameters only. A
// cycle knows the replies to its own writes, the next cycle only what the watches have reported. It
// may therefore find a claim's old version right after a write, and be rejected with a conflict.

namespace {

PluginStatus FailedCall(const ApiReply& reply, Name object) {
  switch (reply.code) {
    case ApiCode::kConflict:
    case ApiCode::kAlreadyExists:
      return {PluginCode::kError, PluginReason::kConflict, object};
    case ApiCode::kInvalid:
      return {PluginCode::kError, PluginReason::kInvalid, object};
    case ApiCode::kOk:
    case ApiCode::kNotFound:
      break;
  }
  return {PluginCode::kError, PluginReason::kCallFailed, object};
}

bool HasUnpublished(const DynamicResources::Cycle& cycle) {
  return cycle.selects || cycle.has_potential;
}

// The write of the cycle's context.
ApiRequest WriteContextRequest(const DynamicResources::Cycle& cycle, Verb verb) {
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
    // Only the scheduler writes these fields: they apply even if the object is a new one by now.
    context->meta.uid = 0;
  }
  return WriteRequest(verb, std::move(context));
}

// Adds the cycle's pod to the consumers of the claim, or removes it.
ApiRequest PatchReservationRequest(const DynamicResources::Cycle& cycle, const ResourceClaim& claim,
                                   Name pods, bool reserve) {
  auto patch = std::make_shared<ResourceClaim>();
  patch->meta.ns = claim.meta.ns;
  patch->meta.name = claim.meta.name;
  patch->meta.uid = claim.meta.uid;
  patch->status.reserved_for.push_back({pods, cycle.pod->meta.name, cycle.pod_uid});
  return PatchRequest(reserve ? StatusPart::kAddConsumers : StatusPart::kDropConsumers,
                      std::move(patch));
}

// The claim with, or without, the cycle's pod as a consumer.
ApiRequest ReservationRequest(const DynamicResources::Cycle& cycle, const ResourceClaim& claim,
                              Name pods, bool reserve) {
  auto changed = std::make_shared<ResourceClaim>(claim);
  auto& consumers = changed->status.reserved_for;
  if (reserve) {
    consumers.push_back({pods, cycle.pod->meta.name, cycle.pod_uid});
  } else {
    const auto is_pod = [&cycle](const Consumer& c) { return c.uid == cycle.pod_uid; };
    consumers.erase(std::remove_if(consumers.begin(), consumers.end(), is_pod), consumers.end());
  }
  return WriteRequest(Verb::kUpdateStatus, std::move(changed));
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
                                       std::optional<ApiReply>* here) {
  *here = client_->Call(std::move(request), cycle.token);
  return here->has_value() ? &**here : nullptr;
}

DynamicResources::Status DynamicResources::WaitsFor(Reason reason) const {
  return {behaviour_.pending_status() ? Code::kPending : Code::kUnschedulable, reason, Name()};
}

DynamicResources::Status DynamicResources::Publish(Cycle* cycle, const ApiReply* reply) {
  std::optional<ApiReply> here;
  if (cycle->stage != kWriteContext && cycle->stage != kApplyContext) {
    if (!HasUnpublished(*cycle)) return Status();
    cycle->stage = kWriteContext;
    const Verb verb = cycle->context == nullptr ? Verb::kCreate : Verb::kUpdate;
    reply = Send(*cycle, WriteContextRequest(*cycle, verb), &here);
    if (reply == nullptr) return {Code::kWaiting, Reason::kNone, Name()};
  }
  if (cycle->stage == kWriteContext && reply->code == ApiCode::kConflict &&
      behaviour_.apply_on_conflict()) {
    // Usually a driver has written the status in the meantime.
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
    // Otherwise the driver could see the selected node after deallocation, and allocate for it
    // again.
    if (behaviour_.clears_selected_node() && cycle->context != nullptr &&
        cycle->context->selected.valid()) {
      cycle->selects = true;
      cycle->selected = NodeId();
    }
  }
  const ResourceClaim& claim = *cycle->claims[cycle->next].claim;
  std::optional<ApiReply> here;
  if (cycle->stage != kWriteClaim) {
    if (const Status status = Publish(cycle, reply); status.code != Code::kSuccess) return status;
    auto changed = std::make_shared<ResourceClaim>(claim);
    changed->status.deallocation_requested = true;
    changed->status.reserved_for.clear();
    cycle->stage = kWriteClaim;
    reply = Send(*cycle, WriteRequest(Verb::kUpdateStatus, std::move(changed)), &here);
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
    // Without its reservation the pod must not run. A leftover reservation only keeps the claim in
    // use until the pod or the claim controller handles it again.
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
  for (std::optional<ApiReply> here;;) {
    if (reply != nullptr && cycle->stage == kWriteClaim) {
      if (reply->ok()) {
        // For Unreserve, which would not know of the reservation otherwise.
        if (!reserve || behaviour_.unreserves_own()) claim = As<ResourceClaim>(reply->object);
        return Status();
      }
      const bool repeats = behaviour_.writes_in_pre_bind() && !patches;
      if (reply->code != ApiCode::kConflict || !repeats) return FailedCall(*reply, name);
      cycle->stage = kReadClaim;
      reply = Send(
          *cycle,
          NamedRequest(Verb::kGet, ObjectKind::kResourceClaim, claim->meta.ns, claim->meta.name),
          &here);
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
    // The only feasible node: unless the drivers are asked about it, it is chosen again and again.
    // Until 1.28 that happens when an earlier cycle has left a list without it.
    cycle->has_potential = true;
    cycle->potential = {cycle->node};
    KeepRefused(cycle);
  }
  // With one pending claim it is safe to select before the driver's answer.
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
  // Upstream first reserves the allocated claims, and then finds that the pod waits for the others.
  // The reservation wakes the pod, whose next cycle releases it, which wakes the pod again.
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
      // The cycle's findings help the drivers even if the pod failed for another reason. An error
      // does not justify keeping the reservations.
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
  // Whether cached or not: it may be new. If this fails, the garbage collector deletes it together
  // with the pod.
  const ObjectMeta& meta = cycle->pod->meta;
  std::optional<ApiReply> here;
  if (Send(*cycle,
           NamedRequest(Verb::kDelete, ObjectKind::kPodSchedulingContext, meta.ns, meta.name),
           &here) == nullptr) {
    return {Code::kWaiting, Reason::kNone, Name()};
  }
  return Status();
}

// --- Reasons ---

std::vector<drasim::Reason> DynamicResources::Reasons() {
  std::vector<drasim::Reason> reasons;
  for (const ClaimReasonRow& row : kClaimReasons) reasons.push_back({row.kind, row.counted});
  return reasons;
}

std::string StatusText(const DynamicResources::Status& status) {
  if (status.reason == PluginReason::kNone) return "";
  const absl::string_view object = status.object.text();
  if (status.reason == PluginReason::kClaimMissing && object.empty()) {
    return "ResourceClaim not created yet";
  }
  const ClaimReasonRow& row = kClaimReasons[static_cast<size_t>(status.reason) - 1];
  return row.told.empty() ? std::string(row.counted) : absl::Substitute(row.told, object);
}

}  // namespace drasim
