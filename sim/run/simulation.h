// From a scenario to a run: the composition root, the one place that knows every policy and every
// format.
#ifndef DRASIM_SIM_RUN_SIMULATION_H_
#define DRASIM_SIM_RUN_SIMULATION_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/fragmentation.h"
#include "model/run_streams.h"
#include "model/state_io.h"
#include "sim/core/engine.h"
#include "sim/core/placer.h"
#include "sim/record/device_report.h"
#include "sim/record/fingerprint.h"
#include "sim/record/job_report.h"
#include "sim/record/load_table.h"
#include "sim/record/metrics.h"
#include "sim/record/order_hashes.h"
#include "sim/record/time_integrals.h"
#include "sim/run/device_plan.h"
#include "sim/run/dra_plan.h"
#include "sim/run/input_files.h"
#include "sim/scenario/run_spec.h"
#include "sim/scenario/user_deletions.h"
#include "traces/workload.h"

namespace drasim {

// One run of one scenario. Not movable: its parts point at each other. Use from one thread;
// different simulations may run in different threads.
class Simulation {
 public:
  // Reads the inputs and builds the run. On success `spec()` also has the sha256 of each input
  // file.
  static absl::StatusOr<std::unique_ptr<Simulation>> Build(RunSpec spec);

  // Attachments, to be made between Build and Start.
  void AddSink(RecordSink* sink) { extra_sinks_.push_back(sink); }
  void set_on_checkpoint(std::function<absl::Status(const std::string&)> f) {
    on_checkpoint_ = std::move(f);
  }
  // State of what is attached, saved behind all other: who attaches nothing of the kind can load
  // the checkpoint all the same.
  void set_attached_state(std::function<void(StateWriter&)> save,
                          std::function<absl::Status(StateReader&)> load) {
    save_attached_ = std::move(save);
    load_attached_ = std::move(load);
  }
  void set_on_progress(std::function<void(uint64_t)> f) { on_progress_ = std::move(f); }
  void set_stop(const std::atomic<bool>* stop) { stop_ = stop; }
  void set_stop_after_events(uint64_t events) { stop_after_events_ = events; }

  // Makes the engine. `checkpoint`: continue from a state that on_checkpoint was given.
  absl::Status Start(const std::string* checkpoint = nullptr);
  absl::Status Run();
  const JobTable& jobs() const { return jobs_; }
  // After a replay.
  JobReport MakeJobReport() const;
  // Averages over time, of a replay so far.
  WindowIntegrals utilisation() const { return integrals_->Window(); }

  const RunSpec& spec() const { return spec_; }
  const ClusterState& cluster() const { return *cluster_; }
  const SchedulingCycle& cycle() const { return *cycle_; }
  const Engine& engine() const { return *engine_; }
  const MetricsSink& metrics() const { return *metrics_; }
  MetricsSink& metrics() { return *metrics_; }
  const LoadTable& load_table() const { return load_table_; }
  // Null when the run has neither MIG nor anything below the scheduler, and its scenario does not
  // speak of a front end.
  const DeviceReport* device_report() const { return device_report_.get(); }
  const DeviceFrontEnd* front_end() const { return front_end_.get(); }
  // Null without classic DRA.
  const ControlPlane* control_plane() const { return dra_ == nullptr ? nullptr : dra_->plane(); }
  const FragmentationModel& fragmentation() const { return *fragmentation_; }
  const Profile& profile() const { return *profile_; }
  const VerdictSummaryTable& summaries() const { return summaries_; }
  uint64_t fingerprint() const { return fingerprint_->value(); }
  const std::vector<uint32_t>& ranks() const { return ranks_; }
  // Jobs that will arrive; a gang counts once.
  uint64_t pods_expected() const { return workload_.order().size(); }
  // Extended resources that pods ask for and no node will ever report; ascending.
  const std::vector<std::string>& unreported_resources() const { return unreported_resources_; }
  // Things the user should know that are no errors, a line each.
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
  bool RemembersFailures() const;
  std::unique_ptr<Dispatcher> MakeDispatcher(JobControl* host);
  void Integrate(SimTime to);
  absl::Status ReadWorkload();
  absl::Status FindDeletions(const Manifests* manifests);
  absl::Status NoPods(size_t jobs_read) const;
  void WarnAboutServices();
  absl::Status ArrangeWorkload();
  absl::Status AddFailures();
  void WarnAboutEndOfFailures();
  absl::Status MakeSource();
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
  std::unique_ptr<RunStreams> streams_;
  std::vector<uint32_t> ranks_;
  std::unique_ptr<FragmentationModel> fragmentation_;
  std::unique_ptr<Profile> profile_;
  std::unique_ptr<SchedulingCycle> cycle_;
  std::unique_ptr<Placer> placer_;
  std::unique_ptr<TimeIntegrals> integrals_;
  std::unique_ptr<WorkloadSource> source_;
  VerdictSummaryTable summaries_;
  std::unique_ptr<FingerprintSink> fingerprint_;
  std::unique_ptr<MetricsSink> metrics_;
  std::unique_ptr<DeviceFrontEnd> front_end_;
  std::unique_ptr<DeviceReport> device_report_;
  LoadTable load_table_;
  std::unique_ptr<Engine> engine_;
  std::vector<RecordSink*> extra_sinks_;
  std::function<absl::Status(const std::string&)> on_checkpoint_;
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
