// The pods of a run as objects of the API server, and the user who creates and deletes them there.
//
// A pod that is created again after it was lost gets a new object, "<name>-r<n>". Pods that have
// ended are deleted some time later, as a Job's ttlSecondsAfterFinished does, so that a long run
// does not keep them all.
#ifndef DRASIM_SIM_DRA_POD_OBJECTS_H_
#define DRASIM_SIM_DRA_POD_OBJECTS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "model/pod_shape.h"
#include "model/time.h"
#include "sim/dra/api_network.h"
#include "sim/dra/network_clock.h"

namespace drasim {

class PodObjects : public Actor {
 public:
  // The entries of pod.spec.resourceClaims of a pod of the run.
  using ClaimsOf = std::function<std::vector<PodClaim>(const PodShape& shape, PodId pod)>;

  // All outlive it. `finished_ttl`: until pods that have ended are deleted.
  PodObjects(const ClusterState* cluster, const ApiServer* server, NetworkClock* clock,
             ClaimsOf claims_of, SimDuration finished_ttl);
  // Before anything else, once. `client`: the user's.
  void Start(ApiClient* client) { client_ = client; }

  // The uid of the pod's present object; 0: none is known yet, or it is gone.
  Uid UidOf(PodId pod) const;
  // The present object, as the server has it; null: none.
  Ref<Pod> ObjectOf(PodId pod) const { return server_->objects().pod(UidOf(pod)); }
  bool IsPresent(const Pod& object) const { return UidOf(object.row) == object.meta.uid; }
  // The pods that are placed all together or not at all, this one among them.
  std::vector<PodId> GangOf(PodId pod) const;

  // The job's pods come to wait: creates an object for each.
  void CreatePods(JobId job);
  // The object of that uid has been bound, but the engine has taken the pod's start back. As any
  // pod that was bound and lost, it is deleted, and another object takes its place.
  void BoundInVain(PodId pod, Uid uid);
  // The pod's work has ended, and is to be reported by its kubelet. Returns the object's uid.
  Uid BeginEnd(PodId pod);
  // The kubelet has reported the end. Whether the engine waits for it.
  bool FinishEnd(const Pod& object);
  // The pod is off its node: its object is deleted now, or finished_ttl later if it has ended.
  void Release(PodId pod);
  // Deletes the pod's object, now or as soon as it is known.
  void DeletePod(PodId pod);
  // A user deletes the claim; nothing if there is none of that uid.
  void DeleteClaim(Uid uid);

  // Actor
  void OnWatch(const WatchEvent&) override {}
  void OnReply(uint64_t token, const ApiReply& reply) override;
  void OnTimer(uint64_t token) override;

 private:
  struct PodState {
    Uid uid = 0;  // of the object at present; 0: none
    uint32_t incarnation = 0;
    bool ending = false;    // BeginEnd
    bool ended = false;     // FinishEnd
    bool unwanted = false;  // to be deleted as soon as it is known
  };

  void CreatePod(PodId pod);
  void DeleteObject(Uid uid);

  const ClusterState* cluster_;
  const ApiServer* server_;
  NetworkClock* clock_;
  ClaimsOf claims_of_;
  SimDuration finished_ttl_;
  ApiClient* client_ = nullptr;
  std::vector<PodState> pods_;  // by PodId
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_POD_OBJECTS_H_
