#include "sim/core/engine.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/device_set.h"
#include "model/status_macros.h"
#include "sim/core/engine_checkpoint.h"
#include "sim/core/event.h"
#include "sim/core/job_arrivals.h"
#include "sim/core/job_lifecycle.h"
#include "sim/core/node_lifecycle.h"
#include "sim/core/pod_signals.h"
#include "sim/core/run_context.h"
#include "sim/core/scheduling_loop.h"
#include "sim/core/standstill.h"

namespace drasim {
namespace {

constexpr uint64_t kProgressEvery = 1024;
constexpr uint64_t kRecordsPerInstantAndJob = 1000;

}  // namespace

struct Engine::Roles {
  Roles(EngineParts parts, EngineOptions options) : run(std::move(parts), std::move(options)) {}

  RunContext run;
  SchedulingLoop scheduling{&run};
  JobLifecycle jobs{&run, &scheduling};
  NodeLifecycle nodes{&run, &scheduling, &jobs};
  JobArrivals arrivals{&run, &scheduling, &jobs};
  PodSignals signals{&run, &scheduling, &jobs};
  StandstillRule standstill{&run, &scheduling, &jobs, &nodes, &arrivals};
  EngineCheckpoint checkpoint{&run, &scheduling, &jobs, &nodes, &arrivals};
};

Engine::Engine(EngineParts parts, EngineOptions options)
    : roles_(std::make_unique<Roles>(std::move(parts), std::move(options))) {
  RunContext& run = roles_->run;
  roles_->scheduling.SetDispatcher(run.parts().make_dispatcher(&roles_->jobs));
  if (run.agent() != nullptr) {
    run.agent()->Attach(&roles_->nodes);
    run.agent()->AttachClaims(&roles_->signals);
  }
}

Engine::~Engine() = default;

SimTime Engine::now() const { return roles_->run.now(); }
uint64_t Engine::records() const { return roles_->run.records(); }
uint64_t Engine::events() const { return roles_->run.events().pushes(); }
const Dispatcher& Engine::dispatcher() const { return roles_->scheduling.dispatcher(); }
uint64_t Engine::pods_waiting() const { return roles_->jobs.pods_waiting(); }
uint64_t Engine::never_fitting() const { return roles_->arrivals.never_fitting(); }
JobId Engine::first_never_fitting() const { return roles_->arrivals.first_never_fitting(); }

void Engine::Save(StateWriter& out) const { roles_->checkpoint.Save(started_, finished_, out); }

absl::Status Engine::Load(StateReader& in) {
  return roles_->checkpoint.Load(in, &started_, &finished_);
}

absl::Status Engine::LoadBranch(StateReader& in) {
  RETURN_IF_ERROR(Load(in));
  // The pending event is that of the next change as it was. It may be later than the next one now,
  // and finds nothing to do when its change has had an event.
  roles_->nodes.PushNextChange();
  return absl::OkStatus();
}

absl::Status Engine::Start() {
  RunContext& run = roles_->run;
  started_ = true;
  if (run.agent() != nullptr) run.agent()->RunBegins(run.now());
  RETURN_IF_ERROR(roles_->arrivals.Pull());
  roles_->nodes.PushNextChange();
  for (SimTime at : run.parts().quotas->ChangeTimes()) {
    if (at > run.now()) {
      run.events().Push(at, EventRank::kTimer, EventKind::kTimer, 0, kQuotaTimer, 0);
    }
    roles_->standstill.ExpectQuotaChange(at);
  }
  return absl::OkStatus();
}

bool Engine::IsOver() const {
  const SchedulingLoop& scheduling = roles_->scheduling;
  const EventQueue& events = roles_->run.events();
  if (events.empty()) return true;
  // With only a timer left whose jobs have failed in just this state, no later moment differs from
  // this one.
  const NodeAgent* const agent = roles_->run.agent();
  if (events.size() == 1 && scheduling.has_timer() && !scheduling.dispatcher().TimerMayHelp() &&
      !(agent != nullptr && agent->RetryMayHelp())) {
    return true;
  }
  // With no job left, changes of nodes and quotas do not matter either.
  return roles_->run.is_replay() && !roles_->arrivals.due() && roles_->jobs.idle();
}

absl::Status Engine::Run() {
  RunContext& run = roles_->run;
  SchedulingLoop& scheduling = roles_->scheduling;
  if (!started_) RETURN_IF_ERROR(Start());
  uint64_t handled = 0;
  while (!IsOver()) {
    const Event event = run.events().Pop();
    DRASIM_CHECK(event.time >= run.now());
    if (roles_->standstill.Holds(event.time)) break;
    const bool held_back = scheduling.AttemptsSpent();
    if (event.time > run.now()) run.BeginInstant(event.time);
    RETURN_IF_ERROR(Handle(event));
    if (held_back) scheduling.Wake();
    RETURN_IF_ERROR(AfterEvent());
    ++handled;
    if (handled % kProgressEvery == 0) {
      if (run.parts().on_progress) run.parts().on_progress(run.jobs().size());
      RETURN_IF_ERROR(CheckSinks());
    }
    const std::atomic<bool>* stop = run.parts().stop;
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) {
      return absl::CancelledError("stopped by a signal");
    }
    if (handled == run.options().stop_after_events) return absl::OkStatus();
  }
  if (!finished_) {
    finished_ = true;
    roles_->jobs.ChargeRunning();
    run.Emit(RecordKind::kRunEnded, PodId(), NodeId(), DeviceSet(), 0);
  }
  return CheckSinks();
}

absl::Status Engine::Handle(const Event& event) {
  SchedulingLoop& scheduling = roles_->scheduling;
  switch (event.kind) {
    case EventKind::kPodArrival:
      return roles_->arrivals.OnArrival();
    case EventKind::kPodFinish:
    case EventKind::kIntentDone:
    case EventKind::kDeletion:
    case EventKind::kEvictionDone:
      roles_->jobs.OnEvent(event);
      return absl::OkStatus();
    case EventKind::kTimer:
      if (event.b == kDispatcherTimer) {
        scheduling.OnTimer();
      } else if (event.b == kQuotaTimer) {
        scheduling.dispatcher().OnQuotaChange();
      } else if (event.b == kNodeAgentTimer) {
        roles_->run.agent()->OnTimer(event.c, roles_->run.now());
      } else {
        roles_->jobs.OnEvent(event);
      }
      scheduling.Wake();
      return absl::OkStatus();
    case EventKind::kScheduleNext:
      scheduling.OnAttempt();
      return absl::OkStatus();
    case EventKind::kNodeChange:
      roles_->nodes.OnChange();
      return absl::OkStatus();
  }
  DRASIM_UNREACHABLE("an event of a kind that does not exist");
}

absl::Status Engine::AfterEvent() {
  RunContext& run = roles_->run;
  if (!run.failure().ok()) return run.failure();
  const uint64_t at_instant = run.records_at_instant();
  const uint64_t allowed = run.options().max_records_per_instant;
  if (run.is_replay() && at_instant > allowed &&
      at_instant - allowed > kRecordsPerInstantAndJob * run.jobs().size()) {
    return absl::AbortedError(absl::StrCat(
        "time stands still: ", at_instant, " records at ", run.now().ns(),
        " ns and no end; attempts, restarts or evictions that take no time repeat each other for "
        "ever"
        " (give them some: timing.schedule, preemption.grace_period, scheduler.kubernetes"
        ".initial_backoff, latencies of front_end.dra or front_end.structured)"));
  }
  if (run.options().check_invariants) {
    RETURN_IF_ERROR(run.cluster().CheckInvariants());
    RETURN_IF_ERROR(run.jobs().CheckInvariants());
    RETURN_IF_ERROR(CheckJobs());
  }
  if (!run.checkpoint_is_due()) return absl::OkStatus();
  return roles_->checkpoint.Pass(started_, finished_);
}

absl::Status Engine::CheckJobs() const {
  const RunContext& run = roles_->run;
  const ClusterState& cluster = run.cluster();
  for (size_t j = 0; j < run.jobs().size(); ++j) {
    const JobRow& row = run.jobs().row(JobId(j));
    const PodPhase first = cluster.pod_phase(row.first_pod);
    for (uint32_t i = 0; i < row.pods; ++i) {
      const PodId pod = RunContext::PodOf(row, i);
      const PodPhase phase = cluster.pod_phase(pod);
      const bool agree = phase == first &&
                         (row.state == JobState::kRunning) == (phase == PodPhase::kBound) &&
                         (row.state == JobState::kStarting) == (phase == PodPhase::kAssumed) &&
                         (row.state == JobState::kWaiting) == (phase == PodPhase::kPending);
      if (agree) continue;
      return absl::InternalError(absl::StrCat("pod '", cluster.pod_name(pod),
                                              "' is not where its job (", JobStateName(row.state),
                                              ") should have it"));
    }
  }
  return absl::OkStatus();
}

absl::Status Engine::CheckSinks() const {
  for (const RecordSink* sink : roles_->run.parts().sinks) RETURN_IF_ERROR(sink->status());
  return absl::OkStatus();
}

}  // namespace drasim
