// Drivers that count: so many allocations per node, or so many in all for devices that are attached
// by network. Upstream's test driver (test/e2e/dra/test-driver/app/controller.go, release 1.29) and
// the plainest thing that a driver can be.
//
// A claim takes `count` units (parameter "count" of the claim or its class, default 1, at least 1).
// Allocate without a node: the first node in order with room. UnsuitableNodes: a node is unsuitable
// for every claim of the pod if its free units cannot hold all of them together; what one of them
// has there already (its status was never written) counts as free for it.
//
// The data of a handle: "node=<id>,units=<n>", or "node=network,units=<n>". Restore reads that; a
// claim without a readable handle holds nothing. Other parameters are passed over. O(nodes) per
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
  // Nodes that it serves, with their units (upstream's maxAllocations); sorted by node, unique.
  std::vector<std::pair<NodeId, int64_t>> units;
  // False: the devices are attached by network. Then network_units is how many there are, any of
  // `units`' nodes may use them, and an allocation is available on all of those.
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

  // Units of the node (network: of all) that no claim has. For tests and invariants.
  int64_t free_units(NodeId node) const;
  size_t allocated_claims() const { return given_.size(); }

 private:
  struct Given {
    NodeId node;  // invalid: network
    int64_t units = 0;
    bool shareable = false;
    bool operator==(const Given&) const = default;
  };

  // Place of the node in options_.units, or its size.
  size_t PlaceOf(NodeId node) const;
  // Null: it does not serve the node.
  int64_t* FreeOf(NodeId node);
  // Where a claim of so many units goes; the error is that of Allocate.
  absl::StatusOr<NodeId> Choose(int64_t units, NodeId node) const;
  void Take(Uid claim, const Given& given);
  Ref<Allocation> AllocationOf(const Given& given, Name driver) const;
  void Reset();

  CountingDriverOptions options_;
  NodeSet nodes_;  // all of options_.units
  std::vector<int64_t>
      free_;  // by place in options_.units; below zero if restored claims have more
  int64_t network_free_ = 0;
  absl::btree_map<Uid, Given> given_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_COUNTING_DRIVER_H_
