// PodObjects: the run's pods as API server objects, and the user that creates and deletes them.
//
// A pod recreated after a loss gets a new object, "<name>-r<n>". Ended pods are deleted after a
// delay, like a Job's with ttlSecondsAfterFinished, so a long run does not keep all of them.
#ifndef DRASIM_SIM_DRA_API_POD_OBJECTS_H_
#define DRASIM_SIM_DRA_API_POD_OBJECTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "model/pod_shape.h"
#include "model/time.h"
#include "sim/dra/api/api_network.h"
#include "sim/dra/api/network_clock.h"

namespace drasim {

class PodObjects : public Actor {
 public:
  // The entries of pod.spec.resourceClaims of a pod of the run.
  using ClaimsOf = std::function<std::vector<PodClaim>(const PodShape& shape, PodId pod)>;

  // Pod::containers of a pod of the run.
  using ContainersOf =
      std::function<SharedMessage<proto::kube::PodSpec>(const PodShape& shape, PodId pod)>;

  // All must outlive it. `finished_ttl`: delay before an ended pod is deleted.
  PodObjects(const ClusterState* cluster, const ApiServer* server, NetworkClock* clock,
             ClaimsOf claims_of, SimDuration finished_ttl);
  // Without it, no pod has containers.
  void set_containers_of(ContainersOf containers_of) { containers_of_ = std::move(containers_of); }
  // Call once, before anything else. `client`: the user's.
  void Start(ApiClient* client) { client_ = client; }

  // The uid of the pod's present object; 0: unknown so far, or deleted.
  Uid UidOf(PodId pod) const;
  // The server's present object; null: none.
  Ref<Pod> ObjectOf(PodId pod) const { return server_->objects().pod(UidOf(pod)); }
  bool IsPresent(const Pod& object) const { return UidOf(object.row) == object.meta.uid; }
  // A pod with a higher number has had no object yet.
  size_t size() const { return pods_.size(); }
  // The pods of the same gang, including this one.
  std::vector<PodId> GangOf(PodId pod) const;

  // The job starts to wait: creates an object for each of its pods.
  void CreatePods(JobId job);
  // The object with this uid has been bound, but the engine has cancelled the pod's start. Like a
  // pod lost after binding, it is deleted and replaced by a new object.
  void BoundInVain(PodId pod, Uid uid);
  // The pod's work has ended; its kubelet will report it. Returns the object's uid.
  Uid BeginEnd(PodId pod);
  // The kubelet has reported the end. True when the engine waits for it.
  bool FinishEnd(const Pod& object);
  // The pod has left its node: deletes its object now, or finished_ttl later if it has ended.
  void Release(PodId pod);
  // Deletes the pod's object, now or as soon as it is known.
  void DeletePod(PodId pod);
  // The change of an object has been committed. True if a component has deleted a pod's present
  // object, which its kubelet will stop: TakeStopped has it.
  bool OnCommit(const WatchEvent& event);
  // Pods whose objects were deleted so since the last call, and that have no other object.
  std::vector<PodId> TakeStopped();
  // A user deletes the claim; no effect without a claim of this uid.
  void DeleteClaim(Uid uid);

  // Actor
  void OnWatch(const WatchEvent&) override {}
  void OnReply(uint64_t token, const ApiReply& reply) override;
  void OnTimer(uint64_t token) override;

  // For checkpoints (plane_archive.h).
  template <typename Archive, typename Self>
  static void Fields(Archive& archive, Self& self);

 private:
  struct PodState {
    Uid uid = 0;  // of the present object; 0: none
    uint32_t incarnation = 0;
    bool ending = false;    // BeginEnd
    bool ended = false;     // FinishEnd
    bool unwanted = false;  // delete it as soon as it is known
    bool stopped = false;   // a component has deleted the present object
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& s) {
      a(s.uid, s.incarnation, s.ending, s.ended, s.unwanted, s.stopped);
    }
  };

  void CreatePod(PodId pod);
  void DeleteObject(Uid uid);

  const ClusterState* cluster_;
  const ApiServer* server_;
  NetworkClock* clock_;
  ClaimsOf claims_of_;
  ContainersOf containers_of_;
  SimDuration finished_ttl_;
  ApiClient* client_ = nullptr;
  std::vector<PodState> pods_;  // by PodId
  std::vector<PodId> stopped_;  // since TakeStopped
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_POD_OBJECTS_H_
