#include "sim/core/engine_checkpoint.h"

#include <algorithm>
#include <utility>

#include "model/saved_state.h"
#include "model/status_macros.h"

namespace drasim {

void EngineCheckpoint::SaveArrival(const JobArrival& a, StateWriter& out) {
  out.Str(a.name);
  out.U64(a.shape.value());
  out.I64(a.pods);
  out.U64(a.more_pods.size());
  for (const PodGroup& group : a.more_pods) {
    out.U64(group.shape.value());
    out.I64(group.pods);
  }
  out.Str(a.tenant);
  out.I64(a.priority);
  for (bool flag : {a.has_run_time, a.has_estimate, a.has_deadline, a.has_deletion, a.preemptible,
                    a.recreated, a.fails}) {
    out.Bool(flag);
  }
  for (int64_t ns :
       {a.time.ns(), a.run_time.ns(), a.estimate.ns(), a.deadline.ns(), a.deletion.ns()}) {
    out.I64(ns);
  }
  out.U64(a.failed_attempts.size());
  for (SimDuration d : a.failed_attempts) out.I64(d.ns());
}

JobArrival EngineCheckpoint::LoadArrival(StateReader& in) {
  JobArrival a;
  a.name = in.Str();
  a.shape = ShapeId(static_cast<size_t>(in.U64()));
  a.pods = static_cast<int32_t>(in.I64());
  const size_t groups = in.Count();
  for (size_t i = 0; i < groups && in.status().ok(); ++i) {
    const ShapeId shape(static_cast<size_t>(in.U64()));
    a.more_pods.push_back({shape, static_cast<int32_t>(in.I64())});
  }
  a.tenant = in.Str();
  a.priority = static_cast<int32_t>(in.I64());
  for (bool* flag : {&a.has_run_time, &a.has_estimate, &a.has_deadline, &a.has_deletion,
                     &a.preemptible, &a.recreated, &a.fails}) {
    *flag = in.Bool();
  }
  a.time = SimTime(in.I64());
  a.run_time = SimDuration(in.I64());
  a.estimate = SimDuration(in.I64());
  a.deadline = SimTime(in.I64());
  a.deletion = SimTime(in.I64());
  const size_t attempts = in.Count();
  for (size_t i = 0; i < attempts && in.status().ok(); ++i) {
    a.failed_attempts.push_back(SimDuration(in.I64()));
  }
  return a;
}

void EngineCheckpoint::SaveBindings(StateWriter& out) const {
  const BindingCycle& cycle = jobs_->bindings_;
  out.U64(cycle.bindings_.size());
  for (const BindingCycle::Binding& b : cycle.bindings_) {
    out.U64(b.job.value());
    out.U64(b.step);
    out.Bool(b.announced);
    out.Bool(b.waiting);
    out.Bool(b.woken);
    out.Bool(b.woken_at_once);
    out.U64(b.events_seen);
    out.U64(b.claim_events_seen);
    out.U64(b.timer);
    out.U64(b.pending.size());
    for (const Intent& i : b.pending) {
      out.U64(static_cast<uint64_t>(i.kind));
      out.I64(i.latency.ns());
    }
  }
  out.Ints(cycle.free_slots_);
}

void EngineCheckpoint::LoadBindings(StateReader& in) {
  BindingCycle& cycle = jobs_->bindings_;
  const size_t bindings = in.Count();
  for (size_t i = 0; i < bindings && in.status().ok(); ++i) {
    BindingCycle::Binding b;
    b.job = JobId(static_cast<size_t>(in.U64()));
    b.step = static_cast<uint32_t>(in.U64());
    b.announced = in.Bool();
    b.waiting = in.Bool();
    b.woken = in.Bool();
    b.woken_at_once = in.Bool();
    b.events_seen = in.U64();
    b.claim_events_seen = in.U64();
    b.timer = in.U64();
    const size_t intents = in.Count();
    for (size_t j = 0; j < intents && in.status().ok(); ++j) {
      const auto kind = static_cast<IntentKind>(in.U64());
      b.pending.push_back({kind, SimDuration(in.I64())});
    }
    cycle.bindings_.push_back(std::move(b));
  }
  in.Ints(&cycle.free_slots_);
}

void EngineCheckpoint::Save(bool started, bool finished, StateWriter& out) const {
  const ProgressWatch& progress = run_->progress();
  const EngineParts& parts = run_->parts();
  out.Section("engine");
  out.I64(run_->now_.ns());
  out.Bool(started);
  out.Bool(finished);
  out.Bool(scheduling_->attempt_scheduled_);
  out.U64(run_->records_);
  out.U64(run_->next_checkpoint_);
  out.U64(run_->checkpoints_);
  out.U64(scheduling_->cluster_events_);
  out.U64(scheduling_->claim_events_);
  out.U64(scheduling_->blocked_);
  out.I64(progress.last_progress_.ns());
  out.U64(progress.retry_round_);
  out.U64(progress.jobs_in_round_);
  out.U64(progress.rounds_in_vain_);
  out.U64(progress.failed_at_instant_);
  out.U64(run_->records_before_instant_);
  out.U64(nodes_->next_change_);
  out.U64(jobs_->pods_waiting_);
  out.Bool(arrivals_->due_);
  out.U64(nodes_->troubles_.size());
  for (const NodeLifecycle::NodeTroubles& t : nodes_->troubles_) {
    out.Bool(t.absent);
    out.U64(t.failures);
    out.U64(t.cordons);
  }
  out.I64(scheduling_->timer_at_.ns());
  out.U64(scheduling_->timer_);
  out.U64(arrivals_->never_fitting_);
  out.U64(arrivals_->first_never_fitting_.value());
  SaveArrival(arrivals_->next_, out);
  out.Rows(RowKind::kJob, jobs_->handles_.size(), [&](size_t j) {
    const JobLifecycle::JobHandles& h = jobs_->handles_[j];
    out.U64(h.finish);
    out.U64(h.deletion);
    out.U64(h.eviction);
    out.U64(uint64_t{jobs_->bindings_.slot_of_job_[j]} + 1);
    out.U64(uint64_t{h.running_slot} + 1);
    out.U64(h.pods_starting);
    out.U64(h.pods_ending);
    out.U64(progress.round_of_job_[j]);
  });
  out.U64(jobs_->running_.size());
  for (JobId job : jobs_->running_) out.U64(job.value());
  SaveBindings(out);
  run_->events_.Save(out);
  parts.source->Save(out);
  parts.cluster->Save(out);
  parts.jobs->Save(out);
  parts.placer->Save(out);
  scheduling_->dispatcher().Save(out);
  parts.cycle->Save(out);
  const Profiles profiles = ProfilesOf(parts);
  for (size_t i = 0; i < profiles.size(); ++i) profiles.at(i).Save(out);
  parts.summaries->Save(out);
  if (parts.node_agent != nullptr) parts.node_agent->Save(out);
  for (const RecordSink* sink : parts.sinks) sink->Save(out);
  if (parts.save_extra) parts.save_extra(out);
}

absl::Status EngineCheckpoint::Load(StateReader& in, bool* started, bool* finished) {
  ProgressWatch& progress = run_->progress();
  in.Section("engine");
  run_->now_ = SimTime(in.I64());
  *started = in.Bool();
  *finished = in.Bool();
  scheduling_->attempt_scheduled_ = in.Bool();
  run_->records_ = in.U64();
  run_->next_checkpoint_ = in.U64();
  run_->checkpoints_ = in.U64();
  scheduling_->cluster_events_ = in.U64();
  scheduling_->claim_events_ = in.U64();
  scheduling_->blocked_ = static_cast<uint32_t>(in.U64());
  progress.last_progress_ = SimTime(in.I64());
  progress.retry_round_ = in.U64();
  progress.jobs_in_round_ = in.U64();
  progress.rounds_in_vain_ = static_cast<uint32_t>(in.U64());
  progress.failed_at_instant_ = in.U64();
  run_->records_before_instant_ = in.U64();
  nodes_->next_change_ = static_cast<size_t>(in.U64());
  jobs_->pods_waiting_ = in.U64();
  arrivals_->due_ = in.Bool();
  if (in.U64() != nodes_->troubles_.size()) {
    in.Fail("the number of nodes differs from the scenario's");
  }
  for (NodeLifecycle::NodeTroubles& t : nodes_->troubles_) {
    t.absent = in.Bool();
    t.failures = static_cast<uint32_t>(in.U64());
    t.cordons = static_cast<uint32_t>(in.U64());
  }
  scheduling_->timer_at_ = SimTime(in.I64());
  scheduling_->timer_ = in.U64();
  arrivals_->never_fitting_ = in.U64();
  arrivals_->first_never_fitting_ = JobId(static_cast<size_t>(in.U64()));
  arrivals_->next_ = LoadArrival(in);
  LoadJobs(in);
  LoadBindings(in);
  if (nodes_->next_change_ > run_->parts().node_changes.size()) {
    in.Fail("more node events have happened than the scenario has");
  }
  RETURN_IF_ERROR(LoadParts(in));
  for (size_t j = 0; j < run_->jobs().size(); ++j) open_jobs_.push_back(JobId(j));
  ForgetEndedJobs();
  return absl::OkStatus();
}

RowPicks EngineCheckpoint::PicksOfOpenJobs() {
  const JobTable& jobs = run_->jobs();
  RowPicks picks;
  for (; jobs_saved_ < jobs.size(); ++jobs_saved_) open_jobs_.push_back(JobId(jobs_saved_));
  for (const JobId job : open_jobs_) {
    const JobRow& row = jobs.row(job);
    picks[static_cast<size_t>(RowKind::kJob)].push_back(job.value());
    for (uint32_t i = 0; i < row.pods; ++i) {
      picks[static_cast<size_t>(RowKind::kPod)].push_back(row.first_pod.value() + i);
    }
  }
  return picks;
}

void EngineCheckpoint::ForgetEndedJobs() {
  const JobTable& jobs = run_->jobs();
  jobs_saved_ = jobs.size();
  const auto ended = [&](JobId job) {
    const JobRow& row = jobs.row(job);
    if (!IsEnded(row.state) || jobs_->handles_[job.value()] != JobLifecycle::JobHandles()) {
      return false;
    }
    for (uint32_t i = 0; i < row.pods; ++i) {
      const PodPhase phase = run_->cluster().pod_phase(RunContext::PodOf(row, i));
      if (phase <= PodPhase::kBound) return false;
    }
    return true;
  };
  open_jobs_.erase(std::remove_if(open_jobs_.begin(), open_jobs_.end(), ended), open_jobs_.end());
}

absl::Status EngineCheckpoint::Pass(bool started, bool finished) {
  run_->PassCheckpoint();
  RowPicks picks = PicksOfOpenJobs();
  ForgetEndedJobs();
  StateWriter out(&picks);
  out.Reserve(state_bytes_ + state_bytes_ / 4);
  Save(started, finished, out);
  state_bytes_ = out.bytes().size();
  return run_->parts().on_checkpoint(TakeState(std::move(picks), &out));
}

void EngineCheckpoint::LoadJobs(StateReader& in) {
  const size_t jobs = in.Count();
  for (size_t i = 0; i < jobs && in.status().ok(); ++i) {
    JobLifecycle::JobHandles h;
    h.finish = in.U64();
    h.deletion = in.U64();
    h.eviction = in.U64();
    jobs_->bindings_.slot_of_job_.push_back(static_cast<uint32_t>(in.U64() - 1));
    h.running_slot = static_cast<uint32_t>(in.U64() - 1);
    h.pods_starting = static_cast<uint32_t>(in.U64());
    h.pods_ending = static_cast<uint32_t>(in.U64());
    run_->progress().round_of_job_.push_back(in.U64());
    jobs_->handles_.push_back(h);
  }
  const size_t running = in.Count();
  for (size_t i = 0; i < running && in.status().ok(); ++i) {
    jobs_->running_.push_back(JobId(static_cast<size_t>(in.U64())));
    if (jobs_->running_.back().value() >= jobs) in.Fail("a running job does not exist");
  }
}

absl::Status EngineCheckpoint::LoadParts(StateReader& in) {
  const EngineParts& parts = run_->parts();
  const auto load = [&in](auto* part) -> absl::Status {
    return in.status().ok() ? part->Load(in) : in.status();
  };
  if (in.status().ok()) run_->events_.Load(in);
  RETURN_IF_ERROR(load(parts.source));
  RETURN_IF_ERROR(load(parts.cluster));
  RETURN_IF_ERROR(load(parts.jobs));
  RETURN_IF_ERROR(load(parts.placer));
  RETURN_IF_ERROR(load(&scheduling_->dispatcher()));
  RETURN_IF_ERROR(load(parts.cycle));
  const Profiles profiles = ProfilesOf(parts);
  for (size_t i = 0; i < profiles.size(); ++i) RETURN_IF_ERROR(load(&profiles.at(i)));
  RETURN_IF_ERROR(load(parts.summaries));
  if (parts.node_agent != nullptr) RETURN_IF_ERROR(load(parts.node_agent));
  for (RecordSink* sink : parts.sinks) RETURN_IF_ERROR(load(sink));
  if (parts.load_extra) RETURN_IF_ERROR(parts.load_extra(in));
  return in.status();
}

}  // namespace drasim
