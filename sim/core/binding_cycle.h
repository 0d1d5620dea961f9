// The binding cycle: placed jobs on their way through Reserve, Permit, PreBind, Bind and PostBind.
//
// The pods of a gang go through each step together; the next step begins when the slowest is done.
// The intents that a step returns take virtual time. A step may also answer kWait; Resume then
// calls it again.
#ifndef DRASIM_SIM_CORE_BINDING_CYCLE_H_
#define DRASIM_SIM_CORE_BINDING_CYCLE_H_

#include <cstdint>
#include <variant>
#include <vector>

#include "model/ids.h"
#include "policies/framework/plugin.h"
#include "sim/core/dispatcher.h"
#include "sim/core/placer.h"
#include "sim/core/profiles.h"
#include "sim/core/run_context.h"
#include "sim/core/scheduling_loop.h"

namespace drasim {

// Receives the outcome of each binding cycle.
class BindingOutcome {
 public:
  virtual ~BindingOutcome() = default;
  // All steps have succeeded, and the job's pods are bound.
  virtual void Bound(JobId job) = 0;
  // A step has failed. The job's pods hold nothing any more.
  virtual void Rejected(JobId job, const Placer::Failure& failure, Comeback comeback) = 0;
};

class BindingCycle {
 public:
  // All must outlive the cycle.
  BindingCycle(RunContext* run, SchedulingLoop* scheduling, BindingOutcome* outcome);

  // A job has arrived; jobs are numbered in this order.
  void AddJob() { slot_of_job_.push_back(kNone); }
  // The job's pods are assumed on their nodes: begins with the first step.
  void Begin(JobId job);
  // Cancels a start in progress: Unreserve, then the pods leave their nodes. Does not report the
  // outcome. REQUIRES: the job's start is in progress.
  void Undo(JobId job);
  // Calls the step that returned kWait again. False, without effect, if the job does not wait in a
  // step.
  bool Resume(JobId job);
  // Notes an event that may help only this job, should its start be rejected; with `at_once` it
  // need not back off then. False, without effect, if its start is not in progress.
  bool NoteWake(JobId job, bool at_once);
  // Handles the event at an intent's end; `slot` is its word a.
  void OnIntentDone(uint32_t slot);

  // True when no start is in progress.
  bool idle() const { return free_slots_.size() == bindings_.size(); }
  // Jobs with a start in progress. O(starts in progress).
  std::vector<JobId> starting() const;

 private:
  friend class EngineCheckpoint;

  struct Binding {
    JobId job;
    uint32_t step = 0;            // the next one of its profile
    std::vector<Intent> pending;  // intents of the step before, not yet carried out
    bool announced = false;       // kPodReserved was emitted
    bool waiting = false;         // the present step was answered with kWait
    bool woken = false;           // NoteWake was called
    bool woken_at_once = false;   // and the job need not back off
    uint64_t events_seen = 0;     // SchedulingLoop::cluster_events() when it began
    uint64_t claim_events_seen = 0;
    uint64_t timer = 0;  // handle of the event it waits for; 0: none
  };
  struct Step {
    std::variant<ReservePlugin*, PermitPlugin*, PreBindPlugin*, BindPlugin*, PostBindPlugin*> point;
    const Plugin* plugin;  // the same
    bool restricts;        // single pods to nodes: a NodeRestrictionPlugin
  };
  static constexpr uint32_t kNone = ~uint32_t{0};

  template <typename Point>
  static void AddSteps(const std::vector<Point*>& plugins, std::vector<Step>* steps);
  // The place of the job's profile. A gang goes by its first pod.
  size_t ProfileOf(JobId job);
  uint32_t AllocateSlot();
  // Carries out pending intents, then calls the next steps until one takes time or fails, or all
  // are done.
  void Advance(uint32_t slot);
  StepResult RunStep(const Step& step, JobId job);
  StepResult CallStep(const Step& step, const PodContext& pod, NodeId node);
  // Records that the job's pods hold something, which others can see from now on.
  void Announce(uint32_t slot);
  void Reject(uint32_t slot, const StepResult& result);
  void UndoSlot(uint32_t slot);
  void Complete(uint32_t slot);

  RunContext* run_;
  SchedulingLoop* scheduling_;
  BindingOutcome* outcome_;
  Profiles profiles_;
  std::vector<std::vector<Step>> steps_;  // by profile
  std::vector<Binding> bindings_;         // by slot
  std::vector<uint32_t> free_slots_;
  std::vector<uint32_t> slot_of_job_;  // kNone: no start in progress
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_BINDING_CYCLE_H_
