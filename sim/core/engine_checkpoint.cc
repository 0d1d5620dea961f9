// Saving and loading the whole run between two events.

#include <utility>

#include "sim/core/engine.h"

namespace drasim {
namespace {

void SaveArrival(const JobArrival& a, StateWriter& out) {
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

JobArrival LoadArrival(StateReader& in) {
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

}  // namespace

void Engine::SaveBindings(StateWriter& out) const {
  out.U64(bindings_.size());
  for (const Binding& b : bindings_) {
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
  out.Ints(free_slots_);
}

void Engine::LoadBindings(StateReader& in) {
  const size_t bindings = in.Count();
  for (size_t i = 0; i < bindings && in.status().ok(); ++i) {
    Binding b;
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
    bindings_.push_back(std::move(b));
  }
  in.Ints(&free_slots_);
}

void Engine::Save(StateWriter& out) const {
  out.Section("engine");
  out.I64(now_.ns());
  out.Bool(started_);
  out.Bool(finished_);
  out.Bool(attempt_scheduled_);
  out.U64(records_);
  out.U64(next_checkpoint_);
  out.U64(cluster_events_);
  out.U64(claim_events_);
  out.U64(scheduling_blocked_);
  out.I64(last_progress_.ns());
  out.U64(retry_round_);
  out.U64(jobs_in_round_);
  out.U64(rounds_in_vain_);
  out.U64(failed_at_instant_);
  out.U64(records_before_instant_);
  out.U64(next_node_change_);
  out.U64(pods_waiting_);
  out.Bool(arrival_due_);
  out.U64(troubles_.size());
  for (const NodeTroubles& t : troubles_) {
    out.Bool(t.absent);
    out.U64(t.failures);
    out.U64(t.cordons);
  }
  out.I64(timer_at_.ns());
  out.U64(timer_);
  out.U64(never_fitting_);
  out.U64(first_never_fitting_.value());
  SaveArrival(next_, out);
  out.U64(handles_.size());
  for (const JobHandles& h : handles_) {
    out.U64(h.finish);
    out.U64(h.deletion);
    out.U64(h.eviction);
    out.U64(uint64_t{h.binding} + 1);
    out.U64(uint64_t{h.running_slot} + 1);
    out.U64(h.pods_starting);
    out.U64(h.pods_ending);
    out.U64(h.retry_round);
  }
  out.U64(running_.size());
  for (JobId job : running_) out.U64(job.value());
  SaveBindings(out);
  events_.Save(out);
  parts_.source->Save(out);
  parts_.cluster->Save(out);
  parts_.jobs->Save(out);
  parts_.placer->Save(out);
  dispatcher_->Save(out);
  parts_.cycle->Save(out);
  parts_.profile->Save(out);
  parts_.summaries->Save(out);
  if (parts_.node_agent != nullptr) parts_.node_agent->Save(out);
  for (const RecordSink* sink : parts_.sinks) sink->Save(out);
  if (parts_.save_extra) parts_.save_extra(out);
}

absl::Status Engine::Load(StateReader& in) {
  in.Section("engine");
  now_ = SimTime(in.I64());
  started_ = in.Bool();
  finished_ = in.Bool();
  attempt_scheduled_ = in.Bool();
  records_ = in.U64();
  next_checkpoint_ = in.U64();
  cluster_events_ = in.U64();
  claim_events_ = in.U64();
  scheduling_blocked_ = static_cast<uint32_t>(in.U64());
  last_progress_ = SimTime(in.I64());
  retry_round_ = in.U64();
  jobs_in_round_ = in.U64();
  rounds_in_vain_ = static_cast<uint32_t>(in.U64());
  failed_at_instant_ = in.U64();
  records_before_instant_ = in.U64();
  next_node_change_ = static_cast<size_t>(in.U64());
  pods_waiting_ = in.U64();
  arrival_due_ = in.Bool();
  if (in.U64() != troubles_.size()) in.Fail("the number of nodes differs from the scenario's");
  for (NodeTroubles& t : troubles_) {
    t.absent = in.Bool();
    t.failures = static_cast<uint32_t>(in.U64());
    t.cordons = static_cast<uint32_t>(in.U64());
  }
  timer_at_ = SimTime(in.I64());
  timer_ = in.U64();
  never_fitting_ = in.U64();
  first_never_fitting_ = JobId(static_cast<size_t>(in.U64()));
  next_ = LoadArrival(in);
  const size_t jobs = in.Count();
  for (size_t i = 0; i < jobs && in.status().ok(); ++i) {
    JobHandles h;
    h.finish = in.U64();
    h.deletion = in.U64();
    h.eviction = in.U64();
    h.binding = static_cast<uint32_t>(in.U64() - 1);
    h.running_slot = static_cast<uint32_t>(in.U64() - 1);
    h.pods_starting = static_cast<uint32_t>(in.U64());
    h.pods_ending = static_cast<uint32_t>(in.U64());
    h.retry_round = in.U64();
    handles_.push_back(h);
  }
  const size_t running = in.Count();
  for (size_t i = 0; i < running && in.status().ok(); ++i) {
    running_.push_back(JobId(static_cast<size_t>(in.U64())));
    if (running_.back().value() >= jobs) in.Fail("a running job does not exist");
  }
  LoadBindings(in);
  if (next_node_change_ > parts_.node_changes.size()) {
    in.Fail("more node events have happened than the scenario has");
  }
  const auto load = [&in](auto* part) -> absl::Status {
    return in.status().ok() ? part->Load(in) : in.status();
  };
  if (in.status().ok()) events_.Load(in);
  if (absl::Status s = load(parts_.source); !s.ok()) return s;
  if (absl::Status s = load(parts_.cluster); !s.ok()) return s;
  if (absl::Status s = load(parts_.jobs); !s.ok()) return s;
  if (absl::Status s = load(parts_.placer); !s.ok()) return s;
  if (absl::Status s = load(dispatcher_.get()); !s.ok()) return s;
  if (absl::Status s = load(parts_.cycle); !s.ok()) return s;
  if (absl::Status s = load(parts_.profile); !s.ok()) return s;
  if (absl::Status s = load(parts_.summaries); !s.ok()) return s;
  if (parts_.node_agent != nullptr) {
    if (absl::Status s = load(parts_.node_agent); !s.ok()) return s;
  }
  for (RecordSink* sink : parts_.sinks) {
    if (absl::Status s = load(sink); !s.ok()) return s;
  }
  if (parts_.load_extra) {
    if (absl::Status s = parts_.load_extra(in); !s.ok()) return s;
  }
  return in.status();
}

}  // namespace drasim
