// Counting driver: a limit on allocations per node, or on all allocations of network-attached
// devices. Follows upstream's test driver (test/e2e/dra/test-driver/app/controller.go, release
// 1.29), the simplest possible driver.
//
// A claim takes `count` units (parameter "count" of the claim or its class, default 1, at least 1).
// Allocate without a node takes the first node in order with room. UnsuitableNodes: a node is
// unsuitable for every claim of the pod if its free units cannot hold all of them together. Units
// that one of the claims already has there, from an allocation whose status write was lost, count
// as free for it.
//
// The data of a handle: "node=<id>,units=<n>", or "node=network,units=<n>". Restore reads it; a
// claim without a readable handle holds nothing. Other parameters are ignored. O(nodes) per
// allocation without a node, else O(log).
#ifndef DRASIM_POLICIES_DEVICES_COUNTING_DRIVER_H_
#define DRASIM_POLICIES_DEVICES_COUNTING_DRIVER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/node_set.h"
#include "model/kube/objects.h"
#include "model/state_io.h"
#include "model/time.h"
#include "policies/framework/claim_driver.h"

namespace drasim {

struct CountingDriverOptions {
  std::string name = "test-driver.cdi.k8s.io";
  // The nodes to serve with their units (upstream's maxAllocations); sorted by node, unique.
  std::vector<std::pair<NodeId, int64_t>> units;
  // False: the devices are network-attached. Then network_units is their number, all nodes in
  // `units` may use them, and an allocation is available on each of these.
  bool node_local = true;
  int64_t network_units = 0;
  bool shareable =
      false;  // what its allocations say; a parameter "shareable" of the class overrides
  SimDuration prepare;
  SimDuration unprepare;
};

class CountingDriver : public ClaimDriver {
 public:
  explicit CountingDriver(CountingDriverOptions options);

  absl::string_view name() const override { return options_.name; }
  absl::Status CheckParameters(const ClaimToAllocate& claim) const override;
  std::vector<ClaimAllocation> Allocate(absl::Span<const ClaimToAllocate> claims,
                                        NodeId node) override;
  std::vector<std::vector<NodeId>> UnsuitableNodes(
      absl::Span<const ClaimToAllocate> claims, absl::Span<const NodeId> potential) const override;
  absl::Status Deallocate(Uid claim) override;
  void Restore(absl::Span<const Ref<ResourceClaim>> allocated) override;
  SimDuration PrepareTime(const ResourceClaim&) const override { return options_.prepare; }
  SimDuration UnprepareTime(const ResourceClaim&) const override { return options_.unprepare; }
  void Save(StateWriter& out) const override;
  absl::Status Load(StateReader& in) override;

  // Free units of the node (network: of all). For tests and invariants.
  int64_t free_units(NodeId node) const;
  size_t allocated_claims() const { return given_.size(); }

 private:
  struct Given {
    NodeId node;  // invalid: network
    int64_t units = 0;
    bool shareable = false;
    bool operator==(const Given&) const = default;
  };

  // Position of the node in options_.units, or its size.
  size_t PlaceOf(NodeId node) const;
  // Null for a node that it does not serve.
  int64_t* FreeOf(NodeId node);
  // Chooses the node for a claim of `units` units; the error is Allocate's.
  absl::StatusOr<NodeId> Choose(int64_t units, NodeId node) const;
  void Take(Uid claim, const Given& given);
  Ref<Allocation> AllocationOf(const Given& given, Name driver) const;
  void Reset();

  CountingDriverOptions options_;
  NodeSet nodes_;  // all nodes in options_.units
  std::vector<int64_t>
      free_;  // by place in options_.units; below zero if restored claims have more
  int64_t network_free_ = 0;
  absl::btree_map<Uid, Given> given_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_COUNTING_DRIVER_H_
