// The allocator as the scheduler plugin sees it: one search serves all nodes of one pod's attempt.
#ifndef DRASIM_POLICIES_DRA_DEVICE_SEARCH_H_
#define DRASIM_POLICIES_DRA_DEVICE_SEARCH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/ids.h"
#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"
#include "policies/allocator/node_outcomes.h"
#include "policies/dra/claim_port.h"

namespace drasim {

enum class SearchOutcome : uint8_t {
  kFound,
  kDoesNotFit,
  kNodeRejected,  // an error that concerns this node alone
  kError,         // an error that ends the attempt
};

struct SearchResult {
  SearchOutcome outcome = SearchOutcome::kDoesNotFit;
  std::string message;                                       // of the errors
  std::vector<proto::kube::AllocationResultV1> allocations;  // kFound: one for each claim
  int64_t steps = 0;  // calls of upstream's recursive search, if they are counted
  int64_t rank = 0;   // of the node, by the policy of the allocator: less is better
};

class DeviceSearch {
 public:
  virtual ~DeviceSearch() = default;
  // Devices of the node for all of the claims, none of which is allocated.
  virtual SearchResult Allocate(const proto::kube::Node& node,
                                absl::Span<const ClaimRef> claims) = 0;
  // Whether Allocate finds devices, for all nodes of the cluster by number; null if that is known
  // of no node before it is searched. Valid until the next call.
  virtual const NodeOutcomes* DecideNodes(absl::Span<const ClaimRef> /*claims*/) { return nullptr; }
  // The ranks that Allocate would give, of nodes that fit by DecideNodes. REQUIRES: the allocator
  // has a policy; ranks has the size of nodes.
  virtual void RankNodes(absl::Span<const ClaimRef> /*claims*/, absl::Span<const NodeId> /*nodes*/,
                         absl::Span<int64_t> /*ranks*/) {}
};

// Makes the search of an attempt, in which the devices are taken that claims hold at each call, be
// they written or in flight. An error ends the attempt.
using DeviceSearchMaker = std::function<absl::StatusOr<std::unique_ptr<DeviceSearch>>()>;

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_DEVICE_SEARCH_H_
