// Claims of gangs that are not complete: pods that have their claims keep them while the others
// wait for theirs, but not for ever.
//
// After a timeout the gang's pods give all their claims back, and the gang pauses, so that gangs
// which hold each other's devices do not wait for ever. Upstream has neither gangs nor this rule.
#ifndef DRASIM_SIM_DRA_GANG_CLAIMS_H_
#define DRASIM_SIM_DRA_GANG_CLAIMS_H_

#include <cstdint>

#include "absl/container/btree_map.h"
#include "model/ids.h"
#include "model/random.h"
#include "model/time.h"
#include "sim/core/node_agent.h"
#include "sim/dra/api_network.h"
#include "sim/dra/dra_release.h"
#include "sim/dra/pod_objects.h"

namespace drasim {

class GangClaims {
 public:
  // `pods` outlives it.
  GangClaims(SimDuration timeout, uint64_t seed, const PodObjects* pods)
      : timeout_(timeout), draws_(seed, "gang pauses"), pods_(pods) {}
  // Before anything else, once. `client`: the scheduler's, whose actor hands its timers on.
  void Start(ApiClient* client, PodControl* engine, const DraBehaviour& behaviour);

  // Whether the pod belongs to a gang and has reserved a claim: it waits at Permit with it.
  bool Keeps(PodId pod) const;
  // Whether the pod's gang has given its claims back and is not to be tried yet.
  bool IsPaused(PodId pod) const;
  // A pod has failed to get what it needs: its gang's timeout runs from the first such pod on.
  void OnFailure(PodId pod);
  // A pod of the gang is bound: the gang is complete.
  void OnBound(PodId pod) { deadlines_.erase(pods_->GangOf(pod).front()); }
  // Whether some gang will give its claims back, which may help. Without gangs that have done so
  // often: alone, they do not keep a run from ending.
  bool AnyTimeoutAhead() const;

  // The token is the gang's first pod.
  void OnTimer(uint64_t token);
  void OnRestart();

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
  absl::btree_map<PodId, uint32_t> give_backs_;  // number
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_GANG_CLAIMS_H_
