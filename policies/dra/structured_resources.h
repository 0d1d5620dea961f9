// The scheduler plugin DynamicResources for structured DRA: its decisions, without a clock and
// without an API server. The caller has a cycle for each attempt and calls the points in the
// framework's order; those that write are in structured_writes.h.
//
//   StructuredCycle cycle;
//   ClaimStatus status = plugin.PreFilter(pod, now_ns, &cycle);
//   if (status.ok()) status = plugin.Filter(&cycle, node);
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/dynamicresources, release 1.37.2.
#ifndef DRASIM_POLICIES_DRA_STRUCTURED_RESOURCES_H_
#define DRASIM_POLICIES_DRA_STRUCTURED_RESOURCES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/types/span.h"
#include "model/ids.h"
#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"
#include "policies/dra/claim_port.h"
#include "policies/dra/claiming_pod.h"
#include "policies/dra/device_search.h"
#include "policies/dra/extended_resources.h"
#include "policies/dra/in_flight_claims.h"
#include "policies/dra/structured_cycle.h"

namespace drasim {

class StructuredResources {
 public:
  // The cache, the classes and the claims in flight must outlive the plugin.
  StructuredResources(const ClaimCache* cache, const ResourceClasses* classes,
                      InFlightClaims* in_flight, DeviceSearchMaker make_search,
                      const StructuredOptions& options);

  // The amount that a node reports of a resource; absent: it does not report it.
  using NodeAmounts =
      std::function<std::optional<int64_t>(const proto::kube::Node&, const std::string& resource)>;
  // Without it, nodes' status.allocatable is read.
  void set_node_amounts(NodeAmounts amounts) { node_amounts_ = std::move(amounts); }
  // Whether any node reports some of a resource. Without it, every node may.
  using OfferedAnywhere = std::function<bool(const std::string& resource)>;
  void set_offered_anywhere(OfferedAnywhere offered) { offered_anywhere_ = std::move(offered); }

  // kSuccess, or kUnresolvable while a claim of the pod is missing. O(claims).
  ClaimStatus PreEnqueue(const ClaimingPod& pod) const;

  // Fills `*cycle`, which must be new but for the pod's group. kSkip when the pod needs no devices.
  // `now_ns` counts from 1970. O(all claims).
  ClaimStatus PreFilter(const ClaimingPod& pod, int64_t now_ns, StructuredCycle* cycle) const;
  // kError ends the attempt for all nodes.
  ClaimStatus Filter(StructuredCycle* cycle, const proto::kube::Node& node) const;
  // Filter for all nodes of the cluster, by number, at the cost of what changed; null if nodes must
  // be asked one by one: claims that are allocated judge nodes, as do extended resources that some
  // node reports or no class serves; a search may time out, or a node ends the attempt. Nothing is
  // found yet: Filter finds the devices of the node that is chosen. Valid until the next call.
  const NodeOutcomes* FilterAll(const StructuredCycle& cycle) const;
  // Ranks of nodes that fit by FilterAll, with a policy (DeviceSearch::RankNodes).
  void RankAll(const StructuredCycle& cycle, absl::Span<const NodeId> nodes,
               absl::Span<int64_t> ranks) const;
  // For nodes that passed. 0 without the gate DRAPrioritizedList, and before 1.35.
  int64_t Score(const StructuredCycle& cycle, const std::string& node) const;
  // SearchResult::rank of a node that passed; 0 if nothing was searched for.
  static int64_t Rank(const StructuredCycle& cycle, const std::string& node);
  // Keeps the devices found on the node from other pods, in memory.
  ClaimStatus Reserve(StructuredCycle* cycle, const std::string& node);

 private:
  // The claim for the pod's extended resources: one left from an earlier attempt, or one without
  // requests; null if no class serves them. Fills cycle->resources.
  ClaimRef FindSyntheticClaim(const ClaimingPod& pod, StructuredCycle* cycle) const;
  ClaimStatus CheckClaim(const StructuredCycle& cycle, size_t index) const;
  ClaimStatus CheckRequests(const ClaimRef& claim) const;
  ClaimStatus CheckClass(const std::string& class_name, const std::string& request) const;

  // The synthetic claim with the requests for these resources.
  const StructuredCycle::SyntheticClaim& ClaimFor(const std::vector<std::string>& resources,
                                                  StructuredCycle* cycle) const;
  // Whether every node must serve all of the pod's extended resources by DRA, with a new claim.
  bool AllNodesAlike(const StructuredCycle& cycle) const;
  // The claims of a pod for which FilterAll has an answer.
  static std::vector<ClaimRef> ClaimsOnAll(const StructuredCycle& cycle);
  // Fills `*find` with the requests that the node must serve by DRA.
  ClaimStatus FilterResources(StructuredCycle* cycle, const proto::kube::Node& node,
                              StructuredCycle::NodeFind* find) const;
  bool IsAvailable(const StructuredCycle& cycle, const ClaimRef& claim,
                   const proto::kube::Node& node) const;
  ClaimStatus Search(StructuredCycle* cycle, const proto::kube::Node& node,
                     StructuredCycle::NodeFind* find) const;

  const ClaimCache* cache_;
  const ResourceClasses* classes_;
  InFlightClaims* in_flight_;
  DeviceSearchMaker make_search_;
  StructuredOptions options_;
  NodeAmounts node_amounts_;
  OfferedAnywhere offered_anywhere_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_STRUCTURED_RESOURCES_H_
