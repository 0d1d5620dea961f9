// The points of the plugin that make no calls: PreEnqueue to PreScore, and the queueing hints.
#include "sim/dra/dynamic_resources.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "absl/types/span.h"

namespace drasim {
namespace {

using PluginStatus = DynamicResources::Status;
using PluginCode = DynamicResources::Code;
using PluginReason = DynamicResources::Reason;

// Upstream's texts: of failed attempts, which are counted by reason and so name no object, and of
// conditions, where $0 is the object (empty: the same text).
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

// A reason is its row, counted from 1 on.
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

// The nodes that a driver has ruled out for a claim; null: it has said nothing.
const std::vector<NodeId>* RuledOutNodes(const DynamicResources::Cycle& cycle,
                                         const DynamicResources::Cycle::Claim& claim) {
  if (claim.context_entry == DynamicResources::Cycle::kNoEntry) return nullptr;
  return &cycle.context->claims[claim.context_entry].unsuitable;
}

// The claims in the way on one node that deallocation is worth trying for. One of an Immediate
// claim would only be allocated again at once, wherever its driver likes.
void NoteUnavailable(absl::Span<const size_t> in_the_way, bool index_bug,
                     DynamicResources::Cycle* cycle) {
  const auto is_delayed = [cycle](size_t claim) {
    return cycle->claims[claim].claim->spec.mode == AllocationMode::kWaitForFirstConsumer;
  };
  std::vector<size_t>& noted = cycle->unavailable;
  for (size_t position = 0; position < in_the_way.size(); ++position) {
    // Upstream's loop, until 1.29, ran over positions of the list and took them for claims; a hit
    // then noted the whole list.
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
    // Of a former pod of the name, which the garbage collector has not got to yet.
    return {Code::kError, Reason::kCallFailed, pod->meta.name};
  }
  // The other points do nothing for a pod that was rejected here: it has no claims in its state.
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

// Drivers forget nodes that they are no longer asked about. Upstream asks about the feasible ones
// only, so that refused nodes come back as soon as others are asked about: a pod that fits nowhere
// goes round for ever.
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

// The first steps of a shuffle from the front, on the places of the nodes; they are undone
// afterwards, so that the next call finds all places in order. Marks bring what was drawn in order.
std::vector<NodeId> DynamicResources::DrawNodes(absl::Span<const NodeId> nodes) {
  const size_t words = nodes.size() / 64 + 1;
  if (chosen_.size() < words) chosen_.resize(words);
  while (places_.size() < nodes.size()) places_.push_back(static_cast<uint32_t>(places_.size()));
  // Locals stay in registers, which members would not between two writes through a pointer.
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
  // A driver that adds its finalizer, or a new label, changes nothing for the pod.
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
    // An attempt is expensive: better wait for all drivers.
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
