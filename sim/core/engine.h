// Engine: pulls arrivals, keeps virtual time, and passes each event to its role.
//
// One way through: source -> event -> decision -> mutation -> record. Two uses of time:
//  * fill: arrivals only, no clock. Every job is tried once, on arrival, and dropped for good if it
//    does not fit.
//  * replay: jobs arrive, wait, run, are interrupted and leave; waiting jobs use the room of those
//    that left. The dispatcher decides the order in which jobs are tried.
//
// Roles, each in its own file pair, from the lowest up:
//   RunContext       clock, pending events, records
//   SchedulingLoop   when the dispatcher attempts to schedule
//   BindingCycle     placed jobs on their way through Reserve to PostBind
//   PodAdmission     admission of bound pods by their nodes
//   JobLifecycle     start, interruption and end of jobs; implements JobControl
//   NodeLifecycle    planned changes of nodes, reports of node agents; implements NodeControl
//   PodSignals       signals from agents whose pods have claims; implements PodControl
//   JobArrivals      jobs from the source
//   StandstillRule   whether waiting jobs can still start
//   EngineCheckpoint saving and loading all of it
//
// Usage:
//   EngineParts parts;  // the caller keeps what it points to
//   parts.cluster = &cluster;
//   parts.source = &trace;
//   parts.make_dispatcher = [&](JobControl* control) { return MakeMyDispatcher(control); };
//   parts.sinks = {&metrics};
//   ...
//   EngineOptions options;
//   options.mode = RunMode::kReplay;
//   Engine engine(std::move(parts), options);
//   RETURN_IF_ERROR(engine.Run());
//   Report(engine.now(), engine.pods_waiting());
#ifndef DRASIM_SIM_CORE_ENGINE_H_
#define DRASIM_SIM_CORE_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "model/ids.h"
#include "model/state_io.h"
#include "model/time.h"
#include "sim/core/dispatcher.h"
#include "sim/core/engine_parts.h"
#include "sim/core/event.h"

namespace drasim {

class Engine {
 public:
  Engine(EngineParts parts, EngineOptions options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Runs until the source is empty and nothing is left to happen (or a stop is asked for). Bad
  // input and failing sinks end it with their status. May be called again after stop_after_events
  // paused it.
  absl::Status Run();
  bool finished() const { return finished_; }
  SimTime now() const;
  uint64_t records() const;
  // Events put into the queue so far, those before a resumed checkpoint included.
  uint64_t events() const;
  const Dispatcher& dispatcher() const;
  // Pods of jobs that hold nothing and may still start.
  uint64_t pods_waiting() const;
  // Jobs that were dropped because no cluster of these nodes could ever hold them, and the first.
  uint64_t never_fitting() const;
  JobId first_never_fitting() const;

  // The whole run between two events: clock, events, queue, source position, cluster, plugins,
  // sinks. Load expects a freshly built engine over the same parts.
  void Save(StateWriter& out) const;
  absl::Status Load(StateReader& in);
  // The same where parts().node_changes has more changes than those of the run that was saved, all
  // of them later than its time.
  absl::Status LoadBranch(StateReader& in);

 private:
  struct Roles;

  // Pushes the first events of the run.
  absl::Status Start();
  // Whether the rest of the run would only repeat the present moment.
  bool IsOver() const;
  absl::Status Handle(const Event& event);
  // Checks and checkpoints after an event.
  absl::Status AfterEvent();
  // Jobs and pods agree: a gang is placed as a whole or not at all.
  absl::Status CheckJobs() const;
  absl::Status CheckSinks() const;

  std::unique_ptr<Roles> roles_;
  bool started_ = false;
  bool finished_ = false;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_ENGINE_H_
