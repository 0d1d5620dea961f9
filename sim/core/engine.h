// The engine: pulls arrivals, keeps virtual time, runs the scheduling cycle, carries intents out,
// emits records.
//
// One way through: source -> event -> decision -> mutation -> record. Two ways of using time:
//  * fill: arrivals only, no clock. Every pod is tried once when it arrives and dropped for good if
//  it does not fit.
//  * replay: pods arrive, wait, run and leave; what leaves makes room for what waits.
#ifndef DRASIM_SIM_CORE_ENGINE_H_
#define DRASIM_SIM_CORE_ENGINE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "model/cluster_state.h"
#include "model/event_source.h"
#include "model/record.h"
#include "policies/framework/profile.h"
#include "sim/core/event_queue.h"
#include "sim/core/scheduling_cycle.h"
#include "sim/core/scheduling_queue.h"

namespace drasim {

enum class RunMode : uint8_t { kFill, kReplay };

struct EngineOptions {
  RunMode mode = RunMode::kFill;
  SimDuration attempt_latency;    // virtual time of one scheduling attempt (replay)
  bool check_invariants = false;  // after every event; O(nodes + pods) each
  uint64_t checkpoint_every = 0;  // records between checkpoints; 0: none
  uint64_t stop_after_events =
      0;  // for tests and tools: pause after so many more events; 0: run to the end
};

// Everything the engine works on. All of it outlives the engine.
struct EngineParts {
  ClusterState* cluster = nullptr;
  EventSource* source = nullptr;
  Profile* profile = nullptr;
  SchedulingCycle* cycle = nullptr;
  VerdictSummaryTable* summaries = nullptr;
  std::vector<RecordSink*> sinks;
  // Called with the whole state when a checkpoint is due; empty: no checkpoints.
  std::function<absl::Status(const std::string& state)> on_checkpoint;
  // Called now and then with the number of pods that arrived so far.
  std::function<void(uint64_t)> on_progress;
  // Set from outside (a signal) to end the run early with Cancelled.
  const std::atomic<bool>* stop = nullptr;
  // Further state to save and load with the engine's own (random streams).
  std::function<void(StateWriter&)> save_extra;
  std::function<absl::Status(StateReader&)> load_extra;
};

class Engine {
 public:
  Engine(EngineParts parts, EngineOptions options);

  // Runs until the source is empty and nothing is left to happen (or a stop is asked for). Bad
  // input and failing sinks end it with their status. May be called again after stop_after_events
  // paused it.
  absl::Status Run();
  bool finished() const { return finished_; }
  SimTime now() const { return now_; }
  uint64_t records() const { return records_; }
  uint64_t pods_waiting() const { return queue_.active() + queue_.unschedulable(); }

  // The whole run between two events: clock, events, queue, source position, cluster, plugins,
  // sinks.
  void Save(StateWriter& out) const;
  absl::Status Load(StateReader& in);

 private:
  // A pod on its way through Reserve, Permit, PreBind, Bind and PostBind.
  struct Binding {
    QueuedPod queued;
    NodeId node;
    uint32_t step = 0;            // next entry of steps_
    std::vector<Intent> pending;  // of the step before, not yet carried out
    bool announced = false;       // kPodReserved was emitted
  };
  struct Step {
    ExtensionPoint point;
    Plugin* plugin;
  };

  absl::Status PullArrival();
  absl::Status Handle(const Event& event);
  void Arrive();
  void TrySchedule(const QueuedPod& pod);
  void WakeScheduler();
  void FailAttempt(const QueuedPod& pod, const Plugin* plugin, ReasonIndex reason, uint32_t nodes);
  bool RunPostFilter(const QueuedPod& pod);
  void GiveUpOrWait(const QueuedPod& pod);
  void Advance(uint32_t slot);
  StepResult RunStep(const Step& step, const PodContext& context, NodeId node);
  void RejectBinding(uint32_t slot, const Plugin* plugin, ReasonIndex reason);
  void CompleteBinding(uint32_t slot);
  void Finish(PodId pod);
  PodContext ContextOf(PodId pod) const;
  void Emit(RecordKind kind, PodId pod, NodeId node, uint32_t devices, uint32_t detail);
  absl::Status AfterEvent();
  uint32_t AllocateSlot();

  EngineParts parts_;
  EngineOptions options_;
  EventQueue events_;
  SchedulingQueue queue_;
  std::vector<Plugin*> pre_filters_;
  std::vector<Plugin*> post_filters_;
  std::vector<Step> steps_;
  std::vector<Binding> bindings_;
  std::vector<uint32_t> free_slots_;
  PodArrival next_;                    // the arrival whose event is in the queue
  std::vector<SimDuration> run_time_;  // per pod, replay only
  std::vector<bool> has_run_time_;
  SimTime now_;
  bool started_ = false;
  bool finished_ = false;
  bool attempt_scheduled_ = false;
  absl::Status failure_;  // found while handling an event; ends the run after it
  uint64_t records_ = 0;
  uint64_t next_checkpoint_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_ENGINE_H_
