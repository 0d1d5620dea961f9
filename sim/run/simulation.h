// From a scenario to a run: the composition root, the only place that joins formats, policies and
// engine.
//
//   ASSIGN_OR_RETURN(RunSpec spec, ResolveScenario(scenario));
//   ASSIGN_OR_RETURN(std::unique_ptr<Simulation> sim, Simulation::Build(std::move(spec)));
//   MySink sink;  // a RecordSink (model/record.h)
//   sim->AddSink(&sink);
//   RETURN_IF_ERROR(sim->Start());
//   RETURN_IF_ERROR(sim->Run());
//   Print(sim->fingerprint(), sim->metrics().sample().pods_scheduled);
#ifndef DRASIM_SIM_RUN_SIMULATION_H_
#define DRASIM_SIM_RUN_SIMULATION_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/fragmentation.h"
#include "model/run_streams.h"
#include "model/saved_state.h"
#include "model/state_io.h"
#include "policies/framework/profile_spec.h"
#include "sim/control/mixed_agent.h"
#include "sim/core/decided_dispatcher.h"
#include "sim/core/engine.h"
#include "sim/core/kube_cycle.h"
#include "sim/core/nominator.h"
#include "sim/core/placer.h"
#include "sim/core/profiles.h"
#include "sim/core/room_check.h"
#include "sim/core/shared_cluster_dispatcher.h"
#include "sim/core/work_counters.h"
#include "sim/record/device_report.h"
#include "sim/record/fingerprint.h"
#include "sim/record/gpu_layouts.h"
#include "sim/record/job_report.h"
#include "sim/record/load_table.h"
#include "sim/record/metrics.h"
#include "sim/record/order_hashes.h"
#include "sim/record/time_integrals.h"
#include "sim/run/device_plan.h"
#include "sim/run/dra_plan.h"
#include "sim/run/given_objects.h"
#include "sim/run/input_files.h"
#include "sim/run/run_extenders.h"
#include "sim/run/standing_pods.h"
#include "sim/scenario/kube_config.h"
#include "sim/scenario/run_spec.h"
#include "sim/scenario/user_deletions.h"
#include "traces/workload.h"

namespace drasim {

// One run of one scenario. Not movable, because its parts point to each other. Not thread-safe;
// different simulations may run in different threads.
class Simulation {
 public:
  // Reads the inputs and builds the run. `spec()` then has the sha256 of each input file.
  static absl::StatusOr<std::unique_ptr<Simulation>> Build(RunSpec spec);

  // Attachments, between Build and Start.
  void AddSink(RecordSink* sink) { extra_sinks_.push_back(sink); }
  void set_on_checkpoint(std::function<absl::Status(const SavedState&)> f) {
    on_checkpoint_ = std::move(f);
  }
  // State of attachments. Checkpoints have it at their end, so a run without attachments can load
  // them, too.
  void set_attached_state(std::function<void(StateWriter&)> save,
                          std::function<absl::Status(StateReader&)> load) {
    save_attached_ = std::move(save);
    load_attached_ = std::move(load);
  }
  void set_on_progress(std::function<void(uint64_t)> f) { on_progress_ = std::move(f); }
  void set_stop(const std::atomic<bool>* stop) { stop_ = stop; }
  // SchedulingCycle::set_trace. KubeCycle is not traced.
  void set_trace(SchedulingCycle::Trace* trace) { cycle_->set_trace(trace); }
  void set_stop_after_events(uint64_t events) { stop_after_events_ = events; }
  // Null without scheduler extenders. A run with some needs a channel to them.
  RunExtenders* extenders() { return extenders_.get(); }

  // Makes the engine. `checkpoint`: the StateImage of states passed to
  // on_checkpoint, from which the run continues.
  absl::Status Start(const std::string* checkpoint = nullptr);
  // The same from a checkpoint of a run without some of this one's node events, all of which are
  // later (Engine::LoadBranch).
  absl::Status StartBranch(const std::string& checkpoint);
  absl::Status Run();
  const JobTable& jobs() const { return jobs_; }
  // REQUIRES: a replay that has ended.
  JobReport MakeJobReport() const;
  // Time averages of a replay so far.
  WindowIntegrals utilisation() const { return integrals_->Window(); }

  const RunSpec& spec() const { return spec_; }
  const ClusterState& cluster() const { return *cluster_; }
  const SchedulingCycle& cycle() const { return *cycle_; }
  // The search of a run under kube-scheduler; null: cycle() decides.
  const KubeCycle* kube_cycle() const { return kube_cycle_.get(); }
  // The work of all schedulers.
  WorkCounters work() const;
  const Engine& engine() const { return *engine_; }
  const MetricsSink& metrics() const { return *metrics_; }
  MetricsSink& metrics() { return *metrics_; }
  const LoadTable& load_table() const { return load_table_; }
  // Null for a run without MIG and without a node agent whose scenario lacks the key front_end.
  const DeviceReport* device_report() const { return device_report_.get(); }
  const DeviceFrontEnd* front_end() const { return front_end_.get(); }
  // Under kube-scheduler: the pods that wait for room on a node that preemption chose.
  const Nominator& nominator() const { return nominator_; }
  // Placer::MessageNow; empty, too, for pods with claims, whose negotiation takes several attempts.
  // REQUIRES: the run has ended.
  std::string MessageNow(JobId job);
  // The objects of manifests, those of the cluster first; none without RunSpec::KeepObjects.
  std::vector<const GivenObjects*> given_objects() const;
  // The static MIG layouts of all GPUs as they are at the call; none in a run without a device
  // plugin and MIG. The simulation outlives it.
  LayoutLookup Layouts() const;
  // Null without classic DRA.
  const ControlPlane* control_plane() const { return dra_ == nullptr ? nullptr : dra_->plane(); }
  const FragmentationModel& fragmentation() const { return *fragmentation_; }
  // The schedulers that share the cluster; null: there is only one.
  const SharedClusterDispatcher* schedulers() const { return shared_; }
  bool has_other_schedulers() const { return !others_.empty(); }
  // The dispatcher of a run with RunSpec::decisions; else null.
  const DecidedDispatcher* decided() const { return decided_; }
  // The first profile, and all.
  const Profile& profile() const { return *profile_; }
  const Profiles& profiles() const { return *profiles_; }
  const VerdictSummaryTable& summaries() const { return summaries_; }
  uint64_t fingerprint() const { return fingerprint_->value(); }
  const std::vector<uint32_t>& ranks() const { return ranks_; }
  // The number of jobs, arrived or not; a gang counts once.
  uint64_t pods_expected() const { return standing_.size() + workload_.order().size(); }
  // Extended resources that pods request, no node will ever report and no DeviceClass serves;
  // ascending.
  const std::vector<std::string>& unreported_resources() const { return unreported_resources_; }
  // Warnings for the user, one line each.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  explicit Simulation(RunSpec spec) : spec_(std::move(spec)) {}
  absl::Status ReadCluster();
  absl::Status LowerWorkload();
  absl::Status CheckClaims(const std::vector<JobArrival>& jobs) const;
  void MakeDeviceReport();
  absl::Status BuildCluster();
  void CountWantedResources(std::vector<NodeSpec>* nodes);
  void AddTraceTransitions();
  void AddClusterObjects();
  bool RemembersFailures() const;
  std::unique_ptr<Dispatcher> MakeDispatcher(JobControl* control);
  absl::Status MakeEngine();
  void Integrate(SimTime to);
  absl::Status ReadWorkload();
  absl::Status FindDeletions(const Manifests* manifests);
  absl::Status NoPods(size_t jobs_read) const;
  void WarnAboutServices();
  absl::Status ArrangeWorkload();
  absl::Status AddFailures();
  void WarnAboutEndOfFailures();
  absl::Status MakeSource();
  absl::Status ReadKubeScheduler();
  absl::Status KeepKubeConfig(const std::string& key, size_t scheduler, KubeConfig config);
  absl::Status MakeOtherSchedulers(const PolicyContext& context);
  std::unique_ptr<Dispatcher> ShareCluster(DispatchParts parts);
  std::vector<KubeCycle*> KubeCycles() const;
  void HoldPodsOfOtherSchedulers(std::vector<JobArrival>* jobs);
  absl::StatusOr<Profile> MakeKubeProfile(const ProfileSpec& spec,
                                          const PolicyContext& context) const;
  absl::Status MakeProfiles(const PolicyContext& context);
  absl::Status MakeProfile();
  void WarnAboutUnknownModels();

  RunSpec spec_;
  DevicePlan devices_{&spec_};
  std::unique_ptr<DraPlan> dra_;  // null without classic DRA
  GpuModelTable models_;
  std::unique_ptr<ShapeTable> shapes_ = std::make_unique<ShapeTable>(&models_);
  std::unique_ptr<ClusterState> cluster_ = std::make_unique<ClusterState>(&models_, shapes_.get());
  NodeInput node_input_;
  std::vector<NodeTransition> node_transitions_;
  SimTime failures_until_;  // with cluster.failures
  UserDeletions deletions_;
  Quotas quotas_;
  JobTable jobs_;
  int64_t origin_ns_ = 0;  // the run's time zero in the trace's own time
  Workload workload_;
  StandingPods standing_;  // the pods of cluster.manifests
  // Objects of workload.manifests that plugins read.
  std::vector<std::shared_ptr<const proto::kube::Object>> context_;
  std::shared_ptr<const GivenObjects> workload_objects_;
  std::unique_ptr<RunStreams> streams_;
  std::vector<uint32_t> ranks_;
  std::unique_ptr<FragmentationModel> fragmentation_;
  std::unique_ptr<Profile> profile_;
  std::vector<std::unique_ptr<Profile>> more_profiles_;  // of a run under kube-scheduler
  std::optional<Profiles> profiles_;                     // set by MakeProfile
  std::unique_ptr<SchedulingCycle> cycle_;
  // Under kube-scheduler: all profiles, those of the first scheduler first.
  std::vector<ProfileSpec> kube_profiles_;
  std::vector<size_t> scheduler_of_profile_;
  // Another scheduler of the cluster.
  struct OtherScheduler {
    KubernetesQueueOptions queue;
    SimDuration latency;
    Nominator nominator;
    std::unique_ptr<KubeCycle> cycle;
  };
  std::vector<std::unique_ptr<OtherScheduler>> others_;
  std::unique_ptr<RoomCheck> room_;                        // with others
  const SharedClusterDispatcher* shared_ = nullptr;        // the engine's dispatcher, with others
  const DecidedDispatcher* decided_ = nullptr;             // likewise, with decisions
  std::vector<std::unique_ptr<Plugin>> decision_filters_;  // until the engine is made
  Nominator nominator_;
  std::unique_ptr<RunExtenders> extenders_;  // null without any
  std::unique_ptr<KubeCycle> kube_cycle_;
  std::unique_ptr<Placer> placer_;
  std::unique_ptr<TimeIntegrals> integrals_;
  std::unique_ptr<WorkloadSource> source_;
  std::unique_ptr<EventSource> whole_source_;  // with the standing pods; null without any
  VerdictSummaryTable summaries_;
  std::unique_ptr<FingerprintSink> fingerprint_;
  std::unique_ptr<MetricsSink> metrics_;
  std::unique_ptr<DeviceFrontEnd> front_end_;
  std::unique_ptr<MixedAgent> mixed_agent_;  // of front_end_ and DRA's control plane
  std::unique_ptr<DeviceReport> device_report_;
  LoadTable load_table_;
  std::unique_ptr<Engine> engine_;
  std::vector<RecordSink*> extra_sinks_;
  std::function<absl::Status(const SavedState&)> on_checkpoint_;
  std::function<void(StateWriter&)> save_attached_;
  std::function<absl::Status(StateReader&)> load_attached_;
  std::function<void(uint64_t)> on_progress_;
  const std::atomic<bool>* stop_ = nullptr;
  uint64_t stop_after_events_ = 0;
  std::vector<std::string> warnings_;
  std::vector<std::string> unreported_resources_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_SIMULATION_H_
