// Claims whose devices are chosen but not written yet: upstream's pending allocations. Their
// devices are held in the cluster's inventory, and other pods that want such a claim wait. Pods of
// one group share it.
#ifndef DRASIM_POLICIES_DRA_IN_FLIGHT_CLAIMS_H_
#define DRASIM_POLICIES_DRA_IN_FLIGHT_CLAIMS_H_

#include <functional>
#include <map>
#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "model/cluster_state.h"
#include "policies/dra/claim_port.h"

namespace drasim {

class InFlightClaims {
 public:
  // The cluster must outlive it.
  explicit InFlightClaims(ClusterState* cluster) : cluster_(*cluster) {}

  // `claim` has an allocation, which an allocator made, and its finalizer. `group` is that of the
  // pod, or empty.
  void Add(const ClaimRef& claim, absl::string_view pod_uid, absl::string_view group);
  // One more pod of the group uses the claim. Requires FindShared.
  void Join(absl::string_view uid, absl::string_view pod_uid) {
    flights_.find(uid)->second.pods.insert(std::string(pod_uid));
  }
  // A pod gives the claim up; it is forgotten with its last pod.
  void Leave(absl::string_view uid, absl::string_view pod_uid);
  // The claim is written.
  void Remove(absl::string_view uid);
  // Forgets all claims, and gives their devices back.
  void Clear();

  bool Has(absl::string_view uid) const { return flights_.find(uid) != flights_.end(); }
  // The claim with its devices, if they were chosen for a pod of that group; else null.
  ClaimRef FindShared(absl::string_view uid, absl::string_view group) const {
    const auto found = flights_.find(uid);
    if (found == flights_.end() || group.empty() || found->second.group != group) return nullptr;
    return found->second.claim;
  }

  // For checkpoints (sim/dra/api/plane_archive.h). The cluster saves the devices.
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& s) {
    a(s.flights_);
  }

 private:
  struct Flight {
    ClaimRef claim;
    std::string group;
    std::set<std::string> pods;  // by UID
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& f) {
      a(f.claim, f.group, f.pods);
    }
  };
  ClusterState& cluster_;
  std::map<std::string, Flight, std::less<>> flights_;  // by UID
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_IN_FLIGHT_CLAIMS_H_
