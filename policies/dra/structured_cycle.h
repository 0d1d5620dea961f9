// One pod's way through the scheduler plugin for structured DRA: upstream's CycleState, from
// PreFilter to the end of PreBind or Unreserve.
#ifndef DRASIM_POLICIES_DRA_STRUCTURED_CYCLE_H_
#define DRASIM_POLICIES_DRA_STRUCTURED_CYCLE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"
#include "model/time.h"
#include "policies/allocator/dra_features.h"
#include "policies/dra/claim_port.h"
#include "policies/dra/claim_tasks.h"
#include "policies/dra/claiming_pod.h"
#include "policies/dra/device_search.h"
#include "policies/framework/plugin.h"

namespace drasim {

// framework.Status: a code, and upstream's words (empty: none).
struct ClaimStatus {
  StepCode code = StepCode::kSuccess;
  std::string reason;
  bool ok() const { return code == StepCode::kSuccess; }
  bool operator==(const ClaimStatus&) const = default;
};

struct StructuredOptions {
  // Changes codes and words alone.
  StructuredRelease release = StructuredRelease::k1_37;
  // Gates.
  bool extended_resources = true;
  bool prioritized_list = true;
  bool binding_conditions = true;  // with DRAResourceClaimDeviceStatus
  bool pod_groups = false;         // GenericWorkload
  // Arguments of the plugin.
  int64_t binding_timeout_ns = 600 * kSecondNs;
  int64_t filter_timeout_ns = 10 * kSecondNs;
  // The modelled time of one step of upstream's search. 0: a search never times out. Otherwise the
  // searches must count their steps.
  int64_t search_step_ns = 0;
  // Seed of all that upstream draws at random: the claim that PostFilter frees, the identities of
  // shares and the lengths of pauses. None: the pod's first claim, one identity for all, the
  // shortest pause.
  std::optional<uint64_t> seed;
};

// Name of a synthetic claim that no API server has yet.
inline constexpr char kUnmadeClaimName[] = "<extended-resources>";

// Work on a claim that needs calls.
struct StructuredTask {
  size_t claim = 0;  // its index
  std::unique_ptr<ClaimTask> task;
};

struct StructuredCycle {
  struct Claim {
    ClaimRef claim;            // as cached at PreFilter, then as a call returned it
    AllocationRef allocation;  // the devices that Reserve chose
    // Its devices were chosen for another pod of the group, and `claim` has them already.
    bool is_shared = false;

    // For checkpoints (sim/dra/api/plane_archive.h).
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& s) {
      a(s.claim, s.allocation, s.is_shared);
    }
  };
  // The claim for the resources that DRA serves on a node, not yet made.
  struct SyntheticClaim {
    ClaimRef claim;
    std::vector<proto::kube::ContainerExtendedResourceRequest> mappings;
  };
  // Filter's finds on one node.
  struct NodeFind {
    // In the order of the claims that are not allocated.
    std::vector<AllocationRef> allocations;
    ClaimRef synthetic;  // with the requests of this node; null if the pod needs none
    std::vector<proto::kube::ContainerExtendedResourceRequest> mappings;
    int64_t rank = 0;  // SearchResult::rank

    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& s) {
      a(s.allocations, s.synthetic, s.mappings, s.rank);
    }
  };
  enum class Phase : uint8_t { kNone, kPostFilter, kBind, kCache, kWait, kUnreserve };
  using Task = StructuredTask;

  std::string pod_group;  // set before PreFilter; empty: the pod is for itself
  ClaimingPod pod;
  int64_t started_ns = 0;     // from 1970
  std::vector<Claim> claims;  // in the pod's order; the synthetic one last
  bool has_synthetic = false;
  std::string synthetic_uid;           // at PreFilter
  std::vector<std::string> resources;  // extended ones that the pod requests, ascending
  // By the resources that DRA serves: nodes that serve the same ones share a claim.
  std::map<std::vector<std::string>, SyntheticClaim> synthetic_claims;
  // The synthetic claim, if it is the same on all nodes; null: it may differ.
  ClaimRef synthetic_on_all;
  std::unique_ptr<DeviceSearch> search;   // null: all claims are allocated
  std::map<std::string, NodeFind> finds;  // by node
  std::set<size_t> unavailable;           // claims that kept out a node

  // The calls under way, of structured_writes.h.
  Phase phase = Phase::kNone;
  std::string node;
  std::deque<Task> tasks;
  std::optional<ClaimCall> paused_call;  // due at the end of a pause
  std::vector<Task> written;             // kCache: the one whose claim the cache does not have yet
  int64_t wake_ns = 0;                   // the next look at the cache, or at conditions
  int64_t deadline_ns = 0;               // of the wait for them
  std::string outcome;                   // PostFilter's words

  bool HasUserClaims() const { return claims.size() > (has_synthetic ? 1U : 0U); }
  bool IsSynthetic(size_t index) const { return has_synthetic && index + 1 == claims.size(); }
};

// The state of a step that makes calls: a call to carry out (then Resume with its reply), a time to
// wait for (then Resume without one), or the step's result.
struct ClaimProgress {
  std::optional<ClaimCall> call;
  std::optional<int64_t> wake_ns;
  ClaimStatus status;

  bool done() const { return !call.has_value() && !wake_ns.has_value(); }
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_STRUCTURED_CYCLE_H_
