// The life of jobs after their arrival: waiting, starting, running, interrupted, ended.
//
// Carries out what dispatchers decide (JobControl), accounts for work done, lost and still to do,
// and releases pods. All pods of a job share its state.
#ifndef DRASIM_SIM_CORE_JOB_LIFECYCLE_H_
#define DRASIM_SIM_CORE_JOB_LIFECYCLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "model/device_set.h"
#include "model/ids.h"
#include "model/job_table.h"
#include "model/record.h"
#include "sim/core/binding_cycle.h"
#include "sim/core/dispatcher.h"
#include "sim/core/event.h"
#include "sim/core/pod_admission.h"
#include "sim/core/run_context.h"
#include "sim/core/scheduling_loop.h"

namespace drasim {

class JobLifecycle : public JobControl, private BindingOutcome {
 public:
  // Both must outlive it.
  JobLifecycle(RunContext* run, SchedulingLoop* scheduling);

  // JobControl
  SimTime now() const override { return run_->now(); }
  void StartPlaced(JobId job) override;
  void AttemptWaited(SimDuration wait) override { scheduling_->Occupy(wait); }
  void RecordFailure(JobId job, const Placer::Failure& failure) override;
  void EndFailedAttempt(const Placer::Failure& failure, NodeId nominated) override;
  void TurnAway(JobId job, absl::Span<const NodeId> nodes, AdmissionFailure failure) override;
  void Drop(JobId job) override;
  void Evict(JobId job, EvictionCause cause, JobId preemptor) override;
  bool IsBeingEvicted(JobId job) const override { return handles_[job.value()].eviction != 0; }
  bool has_grace_period() const override {
    return run_->options().interruption.grace_period > SimDuration();
  }
  absl::Span<const JobId> running() const override { return running_; }
  std::vector<JobId> starting() const override { return bindings_.starting(); }

  // The job has just arrived, as the last of the JobTable; its pods wait from now on.
  void AddJob(JobId job);
  // Starts the waiting job of one pod on the node, without the scheduler: it was there before the
  // run. It takes these devices or, when they are not what it needs or not free, the first that
  // are. False, and nothing changes, when the node has no room for it.
  bool StartOn(JobId job, NodeId node, DeviceSet wanted);
  // Pushes the deletions of the job that the trace and users have planned.
  void ScheduleDeletions(JobId job, const std::string& name);
  // Evicts every job with a pod on the node, or with one that holds (a part of) one of these GPUs.
  void EvictFrom(NodeId node, EvictionCause cause);
  void EvictHolders(NodeId node, DeviceSet gpus);

  // An event that this class or its BindingCycle pushed is due: kPodFinish, kIntentDone, kDeletion,
  // kEvictionDone or a recreation timer.
  void OnEvent(const Event& event);
  // The node agent reports that the work of a bound pod has begun, or that a pod has left.
  void PodStarted(PodId pod);
  void PodEnded(PodId pod);
  // A controller has deleted the pod for the taints of its devices. Its job leaves as it does when
  // a user deletes its pods; without an owner it has failed.
  void EvictTainted(PodId pod);
  // A user deletes the job: after the grace period if it runs; nothing once it has ended.
  void DeleteOwner(JobId job);
  // The run is over: time that running jobs have spent without work to do counts as overhead.
  void ChargeRunning();

  BindingCycle& bindings() { return bindings_; }
  const BindingCycle& bindings() const { return bindings_; }
  // Pods of jobs that hold nothing and may still start.
  uint64_t pods_waiting() const { return pods_waiting_; }
  // No job waits, starts or runs.
  bool idle() const { return pods_waiting_ == 0 && running_.empty() && bindings_.idle(); }
  // Some running job has an end: its work is finite, or its deletion is planned. O(running).
  bool AnyEnds() const;
  // Some job is in its grace period, or its pods are yet to be recreated. O(jobs).
  bool AnyBetweenRuns() const;

 private:
  friend class EngineCheckpoint;

  // Per job, in addition to JobTable.
  struct JobHandles {
    uint64_t finish = 0;  // event handles; 0: none
    uint64_t deletion = 0;
    uint64_t eviction = 0;          // the end of its grace period, or of its recreation delay
    uint32_t running_slot = kNone;  // place in running_
    uint32_t pods_starting = 0;     // bound, but their work has not begun
    uint32_t pods_ending = 0;       // their work is done, but they are not off their nodes
    bool operator==(const JobHandles&) const = default;
  };
  static constexpr uint32_t kNone = ~uint32_t{0};
  // Word b of a kDeletion event.
  enum DeletionKind : uint32_t { kByTrace = 0, kOwnerByUser = 1, kPodsByUser = 2 };

  // BindingOutcome
  void Bound(JobId job) override;
  void Rejected(JobId job, const Placer::Failure& failure, Comeback comeback) override;

  // Whether the nodes let the job's pods in. If not, it waits for new pods or has failed.
  bool Admit(JobId job);
  // The job begins to wait again.
  void Wait(JobId job);
  // Its owner creates new pods after the delay.
  void Recreate(JobId job, SimDuration delay);
  // Cancels a start in progress.
  void UndoStart(JobId job);

  void OnFinish(JobId job);
  void OnDeletion(const Event& event);
  void OnEvictionDone(JobId job, EvictionCause cause, PodId preemptor);
  void OnRecreated(JobId job);
  // The job's pods work from now on.
  void BeginWork(JobId job);
  // The last pod has left its node after the end of its work.
  void Finish(JobId job);
  void Delete(JobId job);
  // Somebody deletes its pods. Pods that never ran are replaced at once and queue as new pods do.
  void DeletePods(JobId job, EvictionCause cause);
  void Interrupt(JobId job, EvictionCause cause, PodId preemptor);
  // Forgets what belongs to the present run of the job.
  void StopRunning(JobId job);
  // If work has not begun, all the time since the job was bound was overhead. Before StopRunning.
  void ChargeStart(JobId job);
  // Takes every pod of the job off its node, with a record of the kind.
  void ReleasePods(JobId job, RecordKind kind, uint32_t detail, PodId preemptor = PodId());
  // The job has ended for good.
  void End(JobId job, JobState state);
  // Pods of the job have left these nodes.
  void NotifyVacated(JobId job, const std::vector<NodeId>& nodes);
  // Evicts every job with a pod on the node for which `leaves` is true.
  void EvictIf(NodeId node, EvictionCause cause, absl::FunctionRef<bool(PodId)> leaves);
  // MIG instances that are created for the pod of the job that gets most of them; the driver
  // creates them one after the other.
  int64_t InstancesOf(JobId job) const;

  RunContext* run_;
  SchedulingLoop* scheduling_;
  BindingCycle bindings_;
  PodAdmission admission_;
  std::vector<JobHandles> handles_;
  std::vector<JobId> running_;
  uint64_t pods_waiting_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_JOB_LIFECYCLE_H_
