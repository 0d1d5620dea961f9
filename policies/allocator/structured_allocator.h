// StructuredAllocator: devices of a node for claims of resource.k8s.io/v1, decision for decision as
// kube-scheduler's allocator library.
//
//   ASSIGN_OR_RETURN(const std::shared_ptr<DeviceCatalog> catalog, DeviceCatalog::Make(slices));
//   const auto pools = std::make_shared<NodePools>(options, catalog);
//   ASSIGN_OR_RETURN(const auto allocator,
//                    StructuredAllocator::Make(pools, verdicts, classes, use));
//   const AllocationAnswer answer = allocator->Allocate(node, claims);
//   if (answer.outcome == AllocationOutcome::kAllocated) Use(answer.results);
//
// One allocator serves all nodes of one pod's scheduling cycle; a catalog, its pools and its
// verdicts serve all cycles until a slice changes. None of them is thread-safe.
//
// Source of the rules: k8s.io/dynamic-resource-allocation/structured, release 0.37.2. The search is
// exhaustive and depth first: claims, requests, alternatives and devices in order, and the first
// solution counts. See docs/dra_structured.md.
#ifndef DRASIM_POLICIES_ALLOCATOR_STRUCTURED_ALLOCATOR_H_
#define DRASIM_POLICIES_ALLOCATOR_STRUCTURED_ALLOCATOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"
#include "policies/allocator/allocation_outcome.h"
#include "policies/allocator/asked_claim.h"
#include "policies/allocator/choice.h"
#include "policies/allocator/device_use.h"
#include "policies/allocator/held_devices.h"
#include "policies/allocator/node_outcomes.h"
#include "policies/allocator/node_pools.h"
#include "policies/allocator/selector_verdicts.h"

namespace drasim {

struct AllocationAnswer {
  AllocationOutcome outcome = AllocationOutcome::kDoesNotFit;
  std::string error;                                     // upstream's words
  std::vector<proto::kube::AllocationResultV1> results;  // kAllocated: one for each claim
  int64_t steps = 0;             // calls of upstream's recursive function; with count_steps
  std::optional<Choice> choice;  // kAllocated by Allocate, with a policy
};

class AllocatorState;
class PlanCache;

class StructuredAllocator {
 public:
  // The classes and the slices of the pools' catalog belong to the caller and outlive the
  // allocator; `use` is copied. `verdicts` are those of the catalog's columns. OutOfRange for a
  // consumed capacity that exceeds 10^24. O(classes + use).
  static absl::StatusOr<std::unique_ptr<StructuredAllocator>> Make(
      std::shared_ptr<NodePools> pools, std::shared_ptr<SelectorVerdicts> verdicts,
      absl::Span<const proto::kube::DeviceClass* const> classes, const DeviceUse& use);
  // The same with devices that are kept up to date elsewhere, and must not change while the
  // allocator lives. O(classes).
  static std::unique_ptr<StructuredAllocator> Make(
      std::shared_ptr<HeldDevices> held, std::shared_ptr<SelectorVerdicts> verdicts,
      absl::Span<const proto::kube::DeviceClass* const> classes);
  // Takes plans from a cache for the same pools, verdicts and classes, which outlives the
  // allocator, and adds those that it lacks. `spec_of` gives spec.devices of the latest claims, by
  // their index; null: the plan is not kept.
  using SpecOf = std::function<std::shared_ptr<const proto::kube::DeviceClaim>(size_t claim)>;
  void SharePlans(PlanCache* plans, SpecOf spec_of);
  ~StructuredAllocator();

  // Devices of `node` for all of the claims, none of which is allocated, or for none. The claims
  // must not change, nor move, while the allocator lives: what follows from them alone is kept.
  // Shares have the id aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa: a caller that needs several gives them
  // others.
  AllocationAnswer Allocate(const proto::kube::Node& node, AskedClaims claims);

  // The same without the results: what a filter needs.
  AllocationAnswer Decide(const proto::kube::Node& node, AskedClaims claims);

  // Decides for all nodes of HeldDevices::SetNodes, as Decide does: what changed since the latest
  // decision for claims that differ in nothing but their names is decided again, the rest is known.
  // Null, for lack of answers to share: without share_answers, or for claims that are refused
  // anywhere. Valid until the next call. O(changed nodes).
  const NodeOutcomes* DecideNodes(AskedClaims claims);

  // Decides for many nodes, views of the allocator's pools: outcomes[i] is that of Decide on
  // nodes[i], which also says why. Nodes in the same state (NodeStates) cost one search, as do
  // claims that differ in nothing but their names.
  // REQUIRES: outcomes has the size of nodes.
  void DecideAll(absl::Span<const NodeView* const> nodes, AskedClaims claims,
                 absl::Span<AllocationOutcome> outcomes);

  // The policy's ranks of nodes on which the claims can be allocated: less is better. Equal nodes
  // share a search, as in DecideAll; `counts` counts them all.
  // REQUIRES: there is a policy; ranks has the size of nodes; Decide gives kAllocated for each.
  void RankAll(absl::Span<const NodeView* const> nodes, AskedClaims claims,
               absl::Span<int64_t> ranks, ChoiceCounts* counts);

 private:
  explicit StructuredAllocator(std::unique_ptr<AllocatorState> state);
  std::unique_ptr<AllocatorState> state_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_STRUCTURED_ALLOCATOR_H_
