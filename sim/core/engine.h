// The engine: pulls arrivals, keeps virtual time, starts and ends jobs, carries intents out, emits
// records.
//
// One way through: source -> event -> decision -> mutation -> record. Two ways of using time:
//  * fill: arrivals only, no clock. Every job is tried once when it arrives and dropped for good if
//  it does not fit.
//  * replay: jobs arrive, wait, run, are interrupted and leave; what leaves makes room for what
//  waits. In which order they are tried is the dispatcher's business.
#ifndef DRASIM_SIM_CORE_ENGINE_H_
#define DRASIM_SIM_CORE_ENGINE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/event_source.h"
#include "model/job_table.h"
#include "model/record.h"
#include "policies/framework/profile.h"
#include "sim/core/dispatcher.h"
#include "sim/core/event_queue.h"
#include "sim/core/interruption.h"
#include "sim/core/node_agent.h"
#include "sim/core/placer.h"
#include "sim/core/scheduling_cycle.h"

namespace drasim {

enum class RunMode : uint8_t { kFill, kReplay };

// Something that happens to a node.
struct NodeTransition {
  enum class Action : uint8_t {
    kAdd,       // it is part of the cluster from now on
    kRemove,    // it is gone; its pods are lost
    kFail,      // it is broken; its pods are lost
    kRecover,   // one failure is over; others may last
    kCordon,    // no new pods
    kUncordon,  // one cordon, or drain, is over
    kDrain,     // cordoned, and its pods are evicted
    kDevices,   // see `devices`
  };
  SimTime at;
  NodeId node;
  Action action = Action::kAdd;
  DeviceTransition devices;
};

// Who creates a pod anew that its node has turned away.
struct OwnerOptions {
  enum class Kind : uint8_t {
    kJob,         // after a backoff that doubles, and not for ever
    kReplicaSet,  // a tenth of a second later, for ever
    kNone,        // nobody
  };
  Kind kind = Kind::kJob;
  uint32_t backoff_limit = 6;  // as batch/v1 Job: failures that are made good
  SimDuration backoff = SimDuration(10'000'000'000);
  SimDuration max_backoff = SimDuration(360'000'000'000);
};

struct EngineOptions {
  RunMode mode = RunMode::kFill;
  SimDuration attempt_latency;   // virtual time of one scheduling attempt or pass (replay)
  SimDuration release_delay;     // a job holds its nodes so long after its work is done
  SimDuration recreation_delay;  // from the loss of a node to the new pods of its jobs
  InterruptionCosts interruption;
  // Of a MIG instance that a pod is given by the scheduler: until its work begins, and after its
  // end until the slots are free.
  SimDuration instance_creation;
  SimDuration instance_destruction;
  OwnerOptions owner;
  bool check_invariants = false;  // after every event; O(nodes + pods) each
  uint64_t checkpoint_every = 0;  // records between checkpoints, at least; 0: none
  // Records at one instant of a replay, beyond which the run fails: time does not move. Each job
  // that has arrived allows for a thousand more.
  uint64_t max_records_per_instant = 10'000'000;
  uint64_t stop_after_events =
      0;  // for tests and tools: pause after so many more events; 0: run to the end
};

// A user deletes something of a job.
struct JobDeletion {
  SimTime at;
  bool owner = false;  // the job itself, with its pods; else its pods, which the job makes anew
  bool operator==(const JobDeletion&) const = default;
};

// Everything the engine works on. All of it outlives the engine.
struct EngineParts {
  ClusterState* cluster = nullptr;
  JobTable* jobs = nullptr;
  EventSource* source = nullptr;
  Profile* profile = nullptr;
  SchedulingCycle* cycle = nullptr;
  Placer* placer = nullptr;
  VerdictSummaryTable* summaries = nullptr;
  const Quotas* quotas = nullptr;
  NodeAgent* node_agent = nullptr;  // null: bound pods run on the devices the scheduler chose
  std::vector<NodeTransition> node_changes;  // in order of time
  // By the name of the job; one whose job has not arrived by then happens as it arrives.
  absl::flat_hash_map<std::string, std::vector<JobDeletion>> deletions;
  SimTime last_deletion;  // of anything: standstill is not looked for before
  // Makes the dispatcher, which is handed the engine as its host.
  std::function<std::unique_ptr<Dispatcher>(DispatchHost*)> make_dispatcher;
  std::vector<RecordSink*> sinks;
  // Called before the clock moves: nothing changed between `from` and `to`.
  std::function<void(SimTime from, SimTime to)> on_interval;
  // Called with the whole state when a checkpoint is due; empty: no checkpoints.
  std::function<absl::Status(const std::string& state)> on_checkpoint;
  // Called now and then with the number of jobs that arrived so far.
  std::function<void(uint64_t)> on_progress;
  // Set from outside (a signal) to end the run early with Cancelled.
  const std::atomic<bool>* stop = nullptr;
  // Further state to save and load with the engine's own (random streams).
  std::function<void(StateWriter&)> save_extra;
  std::function<absl::Status(StateReader&)> load_extra;
};

class Engine : private DispatchHost, private NodeHost, private ClaimHost {
 public:
  Engine(EngineParts parts, EngineOptions options);

  // Runs until the source is empty and nothing is left to happen (or a stop is asked for). Bad
  // input and failing sinks end it with their status. May be called again after stop_after_events
  // paused it.
  absl::Status Run();
  bool finished() const { return finished_; }
  SimTime now() const override { return now_; }
  uint64_t records() const { return records_; }
  const Dispatcher& dispatcher() const { return *dispatcher_; }
  // Pods of jobs that hold nothing and may still start.
  uint64_t pods_waiting() const { return pods_waiting_; }
  // Jobs that were dropped because no cluster of these nodes could ever hold them, and the first.
  uint64_t never_fitting() const { return never_fitting_; }
  JobId first_never_fitting() const { return first_never_fitting_; }

  // The whole run between two events: clock, events, queue, source position, cluster, plugins,
  // sinks.
  void Save(StateWriter& out) const;
  absl::Status Load(StateReader& in);

 private:
  // A job on its way through Reserve, Permit, PreBind, Bind and PostBind. The pods of a gang go
  // through each step together; the next step begins when the slowest is done.
  struct Binding {
    JobId job;
    uint32_t step = 0;            // next entry of steps_
    std::vector<Intent> pending;  // of the step before, not yet carried out
    bool announced = false;       // kPodReserved was emitted
    bool waiting = false;         // the present step was answered with kWait
    bool woken = false;           // something happened meanwhile that helps just this pod
    bool woken_at_once = false;   // and it need not back off
    uint64_t events_seen = 0;     // cluster_events_ when it began
    uint64_t claim_events_seen = 0;
    uint64_t timer = 0;  // handle of the event it waits for; 0: none
  };
  struct Step {
    ExtensionPoint point;
    Plugin* plugin;
  };
  // What the engine keeps per job beside JobTable.
  struct JobHandles {
    uint64_t finish = 0;  // event handles; 0: none
    uint64_t deletion = 0;
    uint64_t eviction = 0;  // the end of its grace period, or of its recreation delay
    uint32_t binding = kNone;
    uint32_t running_slot = kNone;  // place in running_
    uint32_t pods_starting = 0;     // bound, but their work has not begun
    uint32_t pods_ending = 0;       // their work is done, but they are not off their nodes
    uint64_t retry_round = 0;       // the last of retry_round_ in which it failed
  };
  static constexpr uint32_t kNone = ~uint32_t{0};
  // Failed attempts per waiting job at one instant without progress. A job that claims keep waiting
  // may rightly fail once for each other job.
  static constexpr uint64_t kFailuresPerInstant = 1000;
  // Reason of a deletion: word b of a kDeletion event.
  enum DeletionKind : uint32_t { kByTrace = 0, kOwnerByUser = 1, kPodsByUser = 2 };
  // Which timer went off: word b of a kTimer event.
  enum TimerKind : uint32_t {
    kDispatcherTimer = 0,
    kQuotaTimer = 1,
    kRecreationTimer = 2,
    kNodeAgentTimer = 3
  };

  // DispatchHost
  void StartPlaced(JobId job) override;
  void RecordFailure(JobId job, const Placer::Failure& failure) override;
  void EndFailedAttempt(const Placer::Failure& failure, NodeId nominated) override;
  void Drop(JobId job) override;
  void Evict(JobId job, EvictionCause cause) override;
  bool IsBeingEvicted(JobId job) const override { return handles_[job.value()].eviction != 0; }
  bool has_grace_period() const override {
    return options_.interruption.grace_period > SimDuration();
  }
  absl::Span<const JobId> running() const override { return running_; }
  std::vector<JobId> starting() const override;

  // NodeHost
  const JobTable& jobs() const override { return *parts_.jobs; }
  void ArmNodeTimer(SimTime at, uint64_t token) override;
  void RecordDevices(NodeId node, uint32_t devices, DeviceChangeKind kind) override;
  void PublishAllocatable(NodeId node, absl::Span<const int64_t> amounts) override;
  void EvictHolders(NodeId node, uint32_t gpus) override;

  // ClaimHost
  void ResumeStep(PodId pod) override;
  void BlockScheduling(bool block) override;
  void RecheckPod(PodId pod) override;
  void WakePod(PodId pod, bool at_once) override;
  void ClaimsChanged() override;
  void PodStarted(PodId pod) override;
  void NoteProgress() override { Progress(); }
  void GiveDevices(PodId pod, uint32_t devices, absl::Span<const DeviceGrant> grants) override;
  void PodEnded(PodId pod) override;

  absl::Status PullArrival();
  absl::Status Handle(const Event& event);
  void Arrive();
  // Whether a pod of the job is kept pending whatever happens.
  bool IsHeld(const JobRow& row) const;
  void ScheduleDeletions(JobId job);
  // now + d; beyond the clock the run fails after this event.
  SimTime After(SimDuration d);
  // Nothing can happen to any job any more.
  bool NothingLeft() const;
  // Only the dispatcher's timer and its next attempt are due.
  bool OnlyAttemptsLeft() const {
    return events_.size() == size_t{timer_ != 0} + size_t{attempt_scheduled_};
  }
  // Nothing but failed attempts and the rounds of controllers has happened for so long, by the time
  // of the next event, that nothing else will.
  bool AtStandstill(SimTime next);
  // Bookkeeping of AtStandstill, once per failed attempt.
  void CountRetry(JobId job);
  // Whether every job in line has failed since the last progress, that many times over.
  bool TriedInVain(uint32_t rounds);
  // Whether so many attempts have failed at this instant that time has to move before the next.
  bool AttemptsSpent() const {
    return failed_at_instant_ > kFailuresPerInstant &&
           failed_at_instant_ > kFailuresPerInstant * (1 + dispatcher_->waiting());
  }
  // Something other than a failed attempt has happened.
  void Progress();
  // The clock moves on.
  void BeginInstant(SimTime time);
  void RunScheduler();
  void WakeScheduler();
  void WakeTimer();
  void Wait(JobId job);

  void Advance(uint32_t slot);
  StepResult RunStep(const Step& step, JobId job);
  StepResult CallStep(const Step& step, const PodContext& pod, NodeId node);
  void Announce(uint32_t slot);
  void RejectBinding(uint32_t slot, const Plugin* plugin, const StepResult& result);
  // Takes the charge of a start under way back.
  void UndoBinding(uint32_t slot);
  void CompleteBinding(uint32_t slot);
  uint32_t AllocateSlot();
  int64_t InstancesOf(JobId job) const;
  // Asks the nodes to let the bound pods of the job in. False when one was turned away: the job
  // then waits again, or has failed.
  bool Admit(JobId job);
  void TurnAway(JobId job, PodId pod, uint32_t admitted, AdmissionFailure failure);
  // The owner makes new pods for the job after that time.
  void Recreate(JobId job, SimDuration delay);

  // The job's pods do their work from now on.
  void BeginWork(JobId job);
  // It is done: pods leave their nodes, some perhaps later.
  void EndWork(JobId job);
  void Finish(JobId job);
  void Delete(JobId job);
  // By a user: after the grace period, if it runs; nothing once it has ended.
  void DeleteOwner(JobId job);
  void DeletePods(JobId job);
  void Interrupt(JobId job, EvictionCause cause);
  void EvictionDone(JobId job, EvictionCause cause);
  void StopRunning(JobId job);
  // If its work has not begun, all the time so far was none. Before it stops.
  void ChargeStart(JobId job);
  void ReleasePods(JobId job, RecordKind kind, uint32_t detail);
  void Cancel(uint64_t* handle);
  void Notify(ClusterEvent event, NodeId node);
  void ChangeNode(const NodeTransition& change);
  void EmptyNode(NodeId node, EvictionCause cause);
  void UpdateNode(NodeId node);
  void PushNodeChange();

  PodContext ContextOf(PodId pod) const;
  PodId PodOf(const JobRow& row, uint32_t i) const { return PodId(row.first_pod.value() + i); }
  void Emit(RecordKind kind, PodId pod, NodeId node, uint32_t devices, uint32_t detail);
  absl::Status AfterEvent();
  absl::Status CheckJobs() const;
  void SaveBindings(StateWriter& out) const;
  void LoadBindings(StateReader& in);

  EngineParts parts_;
  EngineOptions options_;
  EventQueue events_;
  std::unique_ptr<Dispatcher> dispatcher_;
  std::vector<Step> steps_;
  std::vector<Binding> bindings_;
  std::vector<uint32_t> free_slots_;
  JobArrival next_;  // the arrival whose event is in the queue
  std::vector<JobHandles> handles_;
  std::vector<JobId> running_;
  uint64_t pods_waiting_ = 0;
  uint64_t cluster_events_ = 0;
  uint64_t claim_events_ = 0;  // of them: kClaimChanged and kNodeAdded
  uint32_t scheduling_blocked_ = 0;
  SimTime last_progress_;  // the last record but those of attempts
  // Rounds of attempts since then: in each, every job in line has failed once.
  uint64_t retry_round_ = 1;        // the present one; never used twice
  uint64_t jobs_in_round_ = 0;      // that have failed in it
  uint32_t rounds_in_vain_ = 0;     // that are over
  uint64_t failed_at_instant_ = 0;  // attempts, since the clock moved or anything else happened
  uint64_t records_before_instant_ = 0;
  // Not saved: runs in which they matter leave no checkpoints.
  SimTime last_busy_;  // when the agent was found busy without any progress
  SimTime last_quota_change_;
  size_t next_node_change_ = 0;
  // Why a node is out: absent, so many failures that last, so many cordons.
  struct NodeTroubles {
    bool absent = false;
    uint32_t failures = 0;
    uint32_t cordons = 0;
  };
  std::vector<NodeTroubles> troubles_;
  bool arrival_due_ = false;
  SimTime now_;
  SimTime timer_at_;
  uint64_t timer_ = 0;  // handle of the dispatcher's timer; 0: none
  bool started_ = false;
  bool finished_ = false;
  bool attempt_scheduled_ = false;
  absl::Status failure_;  // found while handling an event; ends the run after it
  uint64_t records_ = 0;
  uint64_t next_checkpoint_ = 0;
  uint64_t never_fitting_ = 0;
  JobId first_never_fitting_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_ENGINE_H_
