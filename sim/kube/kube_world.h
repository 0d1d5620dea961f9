// KubeWorld: a cluster of Kubernetes objects and kube-scheduler's profiles, without a clock. It
// answers what one attempt for a pod decides, and which change of the cluster wakes which pod.
//
//   ASSIGN_OR_RETURN(auto world, KubeWorld::Make(config));
//   RETURN_IF_ERROR(world->AddNode(node));
//   RETURN_IF_ERROR(world->AddPod(bound).status());
//   ASSIGN_OR_RETURN(const PodId pod, world->AddPod(pending));
//   const KubeAttempt attempt = world->Attempt(pod);
//
// It holds the state and the plugins of the simulator (ClusterState, Profile, KubeCycle); what it
// adds are objects with names, and the pool of the pods that wait for an event.
#ifndef DRASIM_SIM_KUBE_KUBE_WORLD_H_
#define DRASIM_SIM_KUBE_KUBE_WORLD_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/gpu_model_table.h"
#include "model/proto/kube.pb.h"
#include "model/shape_table.h"
#include "policies/framework/profile.h"
#include "policies/framework/registry.h"
#include "sim/core/kube_cycle.h"
#include "sim/core/nominator.h"
#include "sim/extender/extender_channel.h"
#include "sim/extender/http_extender.h"
#include "sim/scenario/kube_config.h"

namespace drasim {

// "namespace/name".
std::string PodKey(const proto::kube::ObjectMeta& meta);

struct KubeAttempt {
  enum class Outcome : uint8_t {
    kScheduled,
    kUnschedulable,
    kGated,    // a PreEnqueue plugin holds the pod
    kIgnored,  // no profile of that scheduler name
    kDeleting,
    kError,
    kReserveFailed,
  };
  Outcome outcome = Outcome::kUnschedulable;
  bool ran_cycle = false;  // `detail` is filled
  AttemptDetail detail;
  NodeId chosen;                       // kScheduled
  std::string message;                 // upstream's words for a failure
  std::vector<std::string> rejectors;  // names of plugins, sorted
  PostFilterResult post_filter;
  // The pod's nominated node after a failed attempt; empty: none. The node may not exist.
  std::string nominated;
};

class KubeWorld {
 public:
  // InvalidArgument where kube-scheduler would refuse to build the profiles. The configuration's
  // extenders are asked through `channel`, which must outlive the world; null: over HTTP.
  static absl::StatusOr<std::unique_ptr<KubeWorld>> Make(const KubeConfig& config,
                                                         ExtenderChannel* channel = nullptr);
  KubeWorld(const KubeWorld&) = delete;
  KubeWorld& operator=(const KubeWorld&) = delete;
  ~KubeWorld();

  // --- objects ---
  // A second node of one name replaces the first. Amounts of CPU and memory beyond 2^52 count as
  // that many. InvalidArgument for impossible objects, such as a node without a name.
  absl::Status AddNode(const proto::kube::Node& node);
  // A bound pod (spec.nodeName of a node that is there) is charged to its node, others are pending.
  // The pod has been admitted (model/kube/admission.h). A second pod of one name replaces the
  // first.
  absl::StatusOr<PodId> AddPod(const proto::kube::Pod& pod);
  // A pending pod, whatever its spec.nodeName.
  absl::StatusOr<PodId> AddPending(const proto::kube::Pod& pod);
  void SetObjects(ClusterObjects objects) { cluster_.SetObjects(std::move(objects)); }

  const ClusterState& cluster() const { return cluster_; }
  const Profile* profile(absl::string_view scheduler_name) const;
  const std::vector<Profile>& profiles() const { return profiles_; }
  const std::string& node_name(NodeId node) const { return cluster_.node_spec(node).name; }
  // Invalid for an unknown key.
  PodId FindPod(absl::string_view key) const;

  // --- attempts ---
  // Whether an attempt for the pod would still make sense: it waits, and neither gates nor a
  // missing profile keep it from the queue.
  bool IsPending(PodId pod) const;
  // Whether a PreEnqueue plugin would hold the pod.
  bool IsGated(PodId pod);
  // Registers status.nominatedNodeName, as the queue does when a pod enters it; gated pods have
  // none.
  void NominateAsGiven(PodId pod);
  // One scheduling cycle. A pod that fits is placed on the first of the best nodes and starts at
  // `start`; the victims of a preemption leave at once; a pod that fails goes to the pool.
  KubeAttempt Attempt(PodId pod, SimTime start);

  // Whether some node takes the pod as things stand, or why not. Nothing changes. By the first
  // profile, whatever the pod's scheduler; gates are not asked.
  AttemptResult Try(PodId pod);
  // The same of every node and plugin (KubeCycle::Survey).
  FilterSurvey Survey(PodId pod, absl::FunctionRef<void(const NodeStatus&)> tell);

  // --- changes ---
  // Each delivers what changed and returns the pods of the pool that it wakes, in order of their
  // keys; they are in the pool no longer.
  std::vector<PodId> OnNodeAdded(const proto::kube::Node& node);
  std::vector<PodId> OnNodeUpdated(const proto::kube::Node& node);
  std::vector<PodId> OnNodeDeleted(const std::string& name);
  std::vector<PodId> OnPodAdded(const proto::kube::Pod& pod);
  std::vector<PodId> OnPodUpdated(const proto::kube::Pod& pod);
  // REQUIRES: FindPod(key) is valid and bound.
  std::vector<PodId> OnPodDeleted(absl::string_view key);

 private:
  struct PodObject {
    std::string key;
    std::string nominated_node;    // as given, until the pod is nominated again
    bool bound_elsewhere = false;  // to a node that is not there
    bool waits = false;            // neither placed nor gone
    bool counts = true;            // false: its profile ignores it
  };
  // A pod that waits for an event.
  struct Sleeper {
    Profile* profile = nullptr;
    uint64_t rejectors = 0;  // bits of Profile::RequeueIndex
    const Plugin* gated_by = nullptr;
    bool by_extender = false;  // any event helps
  };
  class Objects;

  explicit KubeWorld(const KubeConfig& config);
  absl::Status BuildProfiles(const KubeConfig& config);
  absl::Status BuildExtenders(const KubeConfig& config, ExtenderChannel* channel);
  void KeepObject(PodId pod, const proto::kube::Pod& given);
  absl::StatusOr<PodId> Add(const proto::kube::Pod& pod);
  PodContext ContextOf(PodId pod) const;
  Profile* ProfileOf(PodId pod);
  // The PreEnqueue plugin that holds the pod, with its answer; null: none.
  const Plugin* HeldBy(Profile* profile, PodId pod, std::string* message);
  void Place(PodId pod, NodeId node, SimTime start, Profile* profile, KubeAttempt* attempt);
  void TakeBack(PodId pod, NodeId node, Profile* profile);
  void Fail(PodId pod, Profile* profile, AttemptResult&& result, KubeAttempt* attempt);
  void RunPreemption(PodId pod, KubeAttempt* attempt);
  void Remove(PodId pod);

  // The pods of the pool that the change helps.
  std::vector<PodId> Wake(const ClusterChange& change);
  std::vector<PodId> WakeAll(const std::vector<ClusterChange>& changes);
  bool Helps(const ClusterChange& change, PodId pod, const Sleeper& sleeper) const;
  // Whether the queue lets the pod's plugins know of the change at all.
  bool IsTold(const ClusterChange& change, PodId pod, const Sleeper& sleeper) const;
  // Whether a plugin of any profile registered for such changes.
  bool IsOfInterest(const ClusterChange& change) const;

  GpuModelTable models_;
  ShapeTable shapes_{&models_};
  ClusterState cluster_{&models_, &shapes_};
  Registry registry_;
  std::vector<Profile> profiles_;
  Nominator nominator_;
  std::unique_ptr<KubeCycle> cycle_;
  std::unique_ptr<ExtenderChannel> own_channel_;
  std::unique_ptr<Objects> objects_;
  std::vector<std::unique_ptr<HttpExtender>> extenders_;
  std::map<PodId, proto::kube::Pod> pod_objects_;  // only where there are extenders
  std::vector<PodObject> pods_;                    // by PodId
  std::map<std::string, PodId, std::less<>> pod_by_key_;
  struct NodeObject {
    proto::kube::Node node;
    NodeId id;
  };
  std::map<std::string, NodeObject, std::less<>> nodes_;  // deleted ones stay, as they can return
  std::map<PodId, Sleeper> pool_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_KUBE_KUBE_WORLD_H_
