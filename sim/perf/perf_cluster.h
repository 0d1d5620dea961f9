// A cluster under kube-scheduler in virtual time, whose objects an outside hand makes, changes and
// deletes while it runs.
//
//   ASSIGN_OR_RETURN(auto cluster, PerfCluster::Make(spec, gates));
//   RETURN_IF_ERROR(cluster->AddNode(node));
//   const JobId pod = cluster->AddPod(object);
//   while (cluster->NextEvent().has_value()) RETURN_IF_ERROR(cluster->HandleEvent());
//   Print(cluster->IsBound(pod));
//
// Scheduling is the simulator's own: queue, hints, search, preemption, binding (SchedulingLoop,
// KubernetesDispatcher, KubeCycle, JobLifecycle). What differs from a run of a scenario is who acts
// on the objects: nobody recreates pods, and no kubelet ends those that are deleted. So a bound pod
// with a grace period, and any pod with finalizers, stays where it is and is terminating.
//
// With SchedulerGates::dra, DynamicResources follows the rules of structured DRA (PerfClaims).
#ifndef DRASIM_SIM_PERF_PERF_CLUSTER_H_
#define DRASIM_SIM_PERF_PERF_CLUSTER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/cluster_objects.h"
#include "model/cluster_state.h"
#include "model/gpu_model_table.h"
#include "model/ids.h"
#include "model/job_table.h"
#include "model/node_spec.h"
#include "model/pod_shape.h"
#include "model/proto/kube.pb.h"
#include "model/record.h"
#include "model/shape_table.h"
#include "model/time.h"
#include "policies/framework/profile.h"
#include "policies/framework/registry.h"
#include "sim/core/job_lifecycle.h"
#include "sim/core/kube_cycle.h"
#include "sim/core/kubernetes_dispatcher.h"
#include "sim/core/nominator.h"
#include "sim/core/placer.h"
#include "sim/core/pod_signals.h"
#include "sim/core/profiles.h"
#include "sim/core/quotas.h"
#include "sim/core/run_context.h"
#include "sim/core/scheduling_cycle.h"
#include "sim/core/scheduling_loop.h"
#include "sim/perf/perf_claims.h"
#include "sim/record/fingerprint.h"
#include "sim/record/start_report.h"
#include "sim/run/work_steps.h"
#include "sim/scenario/run_spec.h"

namespace drasim::perf {

// Feature gates with an effect here.
struct SchedulerGates {
  bool queueing_hints = true;
  // Structured DRA is there, with these gates of its own; none: pods have no claims.
  std::optional<DraGates> dra;
};

class PerfCluster {
 public:
  // Uses only scheduler, seed and latencies of the specification. InvalidArgument where
  // kube-scheduler would refuse the configuration, or with several schedulers or extenders.
  static absl::StatusOr<std::unique_ptr<PerfCluster>> Make(const RunSpec& spec,
                                                           const SchedulerGates& gates);
  PerfCluster(const PerfCluster&) = delete;
  PerfCluster& operator=(const PerfCluster&) = delete;
  ~PerfCluster();

  // --- objects ---
  // AlreadyExists for a second node of that name, InvalidArgument for what no cluster has,
  // Unimplemented for more extended resources than a ClusterState counts.
  absl::Status AddNode(std::shared_ptr<const proto::kube::Node> node);
  // NotFound for an unknown node.
  absl::Status UpdateNode(std::shared_ptr<const proto::kube::Node> node);
  // Its pods are lost. NotFound for an unknown node.
  absl::Status DeleteNode(absl::string_view name);
  // A new pod, which waits. AlreadyExists for a second pod of that namespace and name. REQUIRES: it
  // has passed admission.
  absl::StatusOr<JobId> AddPod(const proto::kube::Pod& pod);
  // Another pod like the last one of AddPod, but for its name.
  absl::StatusOr<JobId> AddAnother(absl::string_view ns, absl::string_view name);
  // `only_requests`: all else stays (the subresource resize). NotFound for an unknown pod.
  absl::Status UpdatePod(const proto::kube::Pod& pod, bool only_requests);
  // Nothing if it is gone. `preempted`: by the scheduler.
  void DeletePod(JobId pod, bool preempted = false);
  // Without a grace period: only finalizers keep it.
  void DeletePodNow(JobId pod);
  // Replaces the objects beside nodes and pods. `volumes`: some of those for volumes changed.
  void SetObjects(ClusterObjects objects, bool volumes);

  // --- structured DRA. REQUIRES: SchedulerGates::dra ---
  // A DeviceClass, ResourceSlice, ResourceClaim, ResourceClaimTemplate or DeviceTaintRule.
  // AlreadyExists for a second claim of a name.
  absl::Status AddDraObject(const proto::kube::Object& object);
  // A driver with that many devices on each node whose name matches (sim/scenario/name_pattern.h).
  void AddDriver(const std::string& driver, const std::string& nodes, int64_t devices);
  // As PerfClaims.
  absl::Status AllocateClaims(const std::string& ns);
  bool SetCondition(const std::string& ns, const std::string& type, const std::string& status);
  // Null without structured DRA.
  const PerfClaims* claims() const { return claims_.get(); }

  // --- pods ---
  size_t pod_count() const { return jobs_.size(); }
  bool IsBound(JobId pod) const { return pods_[pod.value()].bound; }
  SimTime BoundAt(JobId pod) const { return pods_[pod.value()].bound_at; }
  // Deleted, or being so.
  bool IsGone(JobId pod) const { return pods_[pod.value()].gone; }
  // The scheduler has tried it, or keeps it back by a gate.
  bool IsAttempted(JobId pod) const;
  const PodShape& ShapeOf(JobId pod) const;
  ShapeId ShapeIdOf(JobId pod) const { return cluster_.pod_shape_id(PodOf(pod)); }
  absl::string_view NameOf(JobId pod) const { return cluster_.pod_name(PodOf(pod)); }
  // Why it waits, in kube-scheduler's words. Changes nothing.
  std::string MessageOf(JobId pod);

  // --- waiting for pods ---
  // Begins to wait until the pods are bound (or, with `attempted`, tried) or gone; a wait in
  // progress ends. O(pods).
  void WaitFor(const std::vector<JobId>& pods, bool attempted);
  // The number of pods that are still waited for. O(1).
  size_t open() const { return open_; }
  // The pods that are still waited for, in the order given. O(pods).
  std::vector<JobId> OpenPods() const;

  // --- time ---
  SimTime now() const { return run_->now(); }
  // The time of the next event of its own; nothing if nothing will happen.
  std::optional<SimTime> NextEvent() const;
  absl::Status HandleEvent();
  // REQUIRES: now() <= time, and no event of its own before it.
  void AdvanceTo(SimTime time);

  // --- results ---
  // The run is over.
  void Finish();
  const ClusterState& cluster() const { return cluster_; }
  const StartReport& starts() const { return *starts_; }
  uint64_t fingerprint() const { return fingerprint_->value(); }
  uint64_t records() const { return run_->records(); }
  WorkSteps work() const;
  size_t pods_bound() const { return bound_; }

 private:
  class Control;
  class Watcher;

  struct PodEntry {
    bool stays = false;      // when it is deleted while it is bound
    bool finalized = false;  // it has finalizers: it stays in any case
    bool gone = false;
    bool bound = false;
    bool attempted = false;
    bool waited_for = false;
    SimTime bound_at;
  };

  explicit PerfCluster(const RunSpec& spec);
  absl::Status BuildClaims(const RunSpec& spec, const DraGates& gates);
  absl::Status BuildProfiles(const RunSpec& spec);
  // As the node's object says, with a column for each resource that claims serve.
  NodeSpec SpecFor(const proto::kube::Node& node) const;
  void DeliverClaims();
  void BuildRoles(const RunSpec& spec, const SchedulerGates& gates);
  PodId PodOf(JobId job) const { return jobs_.row(job).first_pod; }
  // The pod waits for what WaitFor waits for no longer.
  void Close(JobId pod);
  bool IsClosed(JobId pod) const;
  void OnRecord(const Record& record);
  // Tells the queue of pods that were bound since the last call.
  void TellOfBoundPods();
  // A pod has left the API server.
  void ForgetPod(JobId pod);
  void NotifyOfPod(JobId pod, const PodShape& before, const PodShape& after);

  RunSpec spec_;
  GpuModelTable models_;
  ShapeTable shapes_{&models_};
  ClusterState cluster_{&models_, &shapes_};
  JobTable jobs_;
  std::unique_ptr<PerfClaims> claims_;
  Quotas quotas_;
  Registry registry_;
  std::vector<std::unique_ptr<Profile>> profiles_;
  std::optional<Profiles> all_profiles_;
  VerdictSummaryTable summaries_;
  Nominator nominator_;
  std::unique_ptr<KubeCycle> cycle_;
  std::unique_ptr<SchedulingCycle> counters_;  // the other search: only its counters are of use
  std::unique_ptr<Placer> placer_;
  std::unique_ptr<FingerprintSink> fingerprint_;
  std::unique_ptr<StartReport> starts_;
  std::unique_ptr<Watcher> watcher_;
  std::unique_ptr<RunContext> run_;
  std::unique_ptr<SchedulingLoop> scheduling_;
  std::unique_ptr<JobLifecycle> lifecycle_;
  std::unique_ptr<Control> control_;
  std::unique_ptr<PodSignals> signals_;
  KubernetesDispatcher* dispatcher_ = nullptr;

  std::vector<PodEntry> pods_;  // by JobId
  absl::flat_hash_map<std::string, JobId> pod_by_name_;
  struct NodeEntry {
    std::shared_ptr<const proto::kube::Node> object;
    NodeId id;
    bool present = false;  // deleted nodes stay, as they can return
  };
  std::map<std::string, NodeEntry, std::less<>> nodes_;
  std::set<std::string> extended_;  // resources of all nodes so far
  ShapeId last_shape_;
  int32_t last_priority_ = 0;
  proto::kube::Pod last_pod_;  // with structured DRA
  PodEntry last_entry_;
  std::vector<JobId> waited_for_;
  std::vector<JobId> newly_bound_;
  std::vector<JobId> newly_lost_;  // with their nodes
  size_t bound_ = 0;
  bool waits_for_attempts_ = false;
  size_t open_ = 0;
};

}  // namespace drasim::perf

#endif  // DRASIM_SIM_PERF_PERF_CLUSTER_H_
