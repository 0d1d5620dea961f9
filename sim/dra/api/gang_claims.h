// GangClaims: a timeout for incomplete gangs. Pods with claims keep them while the rest of their
// gang waits for theirs, but only for a limited time.
//
// After the timeout the gang's pods release all their claims, and the gang pauses. Gangs that hold
// each other's devices would otherwise wait indefinitely. Upstream has neither gangs nor this rule.
#ifndef DRASIM_SIM_DRA_API_GANG_CLAIMS_H_
#define DRASIM_SIM_DRA_API_GANG_CLAIMS_H_

#include <cstdint>

#include "absl/container/btree_map.h"
#include "model/ids.h"
#include "model/random.h"
#include "model/time.h"
#include "sim/core/node_agent.h"
#include "sim/dra/api/api_network.h"
#include "sim/dra/api/dra_release.h"
#include "sim/dra/api/pod_objects.h"

namespace drasim {

class GangClaims {
 public:
  // `pods` must outlive it.
  GangClaims(SimDuration timeout, uint64_t seed, const PodObjects* pods)
      : timeout_(timeout), draws_(seed, "gang pauses"), pods_(pods) {}
  // Call once, before anything else. `client`: the scheduler's, whose actor forwards its timers.
  void Start(ApiClient* client, PodControl* engine, const DraBehaviour& behaviour);

  // True when the pod belongs to a gang and has reserved a claim: it waits with it at Permit.
  bool Keeps(PodId pod) const;
  // True while the pod's gang pauses after it has released its claims.
  bool IsPaused(PodId pod) const;
  // A pod lacks a resource: its gang's timeout starts with the first such pod.
  void OnFailure(PodId pod);
  // A pod of the gang is bound: the gang is complete.
  void OnBound(PodId pod) { deadlines_.erase(pods_->GangOf(pod).front()); }
  // True when a gang is due to release claims, which may help. Excludes gangs that have done so
  // often, because these alone must not keep a run from ending.
  bool AnyTimeoutAhead() const;

  // The token is the gang's first pod.
  void OnTimer(uint64_t token);
  void OnRestart();

  // For checkpoints (plane_archive.h).
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& g) {
    a(g.draws_, g.deadlines_, g.pauses_, g.give_backs_);
  }

 private:
  void GiveBack(PodId pod);

  SimDuration timeout_;
  Random draws_;
  const PodObjects* pods_;
  ApiClient* client_ = nullptr;
  PodControl* engine_ = nullptr;
  ClaimNames names_;
  // By the gang's first pod.
  absl::btree_map<PodId, SimTime> deadlines_;
  absl::btree_map<PodId, SimTime> pauses_;       // no attempt before
  absl::btree_map<PodId, uint32_t> give_backs_;  // times of release
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_GANG_CLAIMS_H_
