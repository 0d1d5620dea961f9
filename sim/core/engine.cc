#include "sim/core/engine.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "model/check.h"

namespace drasim {
namespace {

constexpr uint64_t kProgressEvery = 1024;

const Plugin* QueueSortOf(const Profile& profile) {
  const std::vector<Plugin*> sorts = profile.plugins_at(kQueueSort);
  DRASIM_CHECK_EQ(sorts.size(), 1u);
  return sorts[0];
}

}  // namespace

Engine::Engine(EngineParts parts, EngineOptions options)
    : parts_(std::move(parts)), options_(options), queue_(QueueSortOf(*parts_.profile)) {
  for (ExtensionPoint point : {kReserve, kPermit, kPreBind, kBind, kPostBind}) {
    for (Plugin* plugin : parts_.profile->plugins_at(point)) steps_.push_back({point, plugin});
  }
  pre_filters_ = parts_.profile->plugins_at(kPreFilter);
  post_filters_ = parts_.profile->plugins_at(kPostFilter);
  next_checkpoint_ = options_.checkpoint_every;
}

PodContext Engine::ContextOf(PodId pod) const {
  return {parts_.cluster->pod_shape_id(pod), &parts_.cluster->pod_shape(pod), pod, now_};
}

void Engine::Emit(RecordKind kind, PodId pod, NodeId node, uint32_t devices, uint32_t detail) {
  Record record;
  record.time = now_;
  record.kind = kind;
  record.pod = pod;
  record.node = node;
  record.devices = devices;
  record.detail = detail;
  ++records_;
  for (RecordSink* sink : parts_.sinks) sink->OnRecord(record, *parts_.cluster);
}

absl::Status Engine::Run() {
  if (!started_) {
    started_ = true;
    if (absl::Status s = PullArrival(); !s.ok()) return s;
  }
  uint64_t handled = 0;
  while (!events_.empty()) {
    const Event event = events_.Pop();
    DRASIM_CHECK(event.time >= now_);
    now_ = event.time;
    if (absl::Status s = Handle(event); !s.ok()) return s;
    if (absl::Status s = AfterEvent(); !s.ok()) return s;
    ++handled;
    if (handled % kProgressEvery == 0) {
      if (parts_.on_progress) parts_.on_progress(parts_.cluster->pod_count());
      for (RecordSink* sink : parts_.sinks) {
        if (absl::Status s = sink->status(); !s.ok()) return s;
      }
    }
    if (parts_.stop != nullptr && parts_.stop->load(std::memory_order_relaxed)) {
      return absl::CancelledError("stopped by a signal");
    }
    if (handled == options_.stop_after_events) return absl::OkStatus();
  }
  if (!finished_) {
    finished_ = true;
    Emit(RecordKind::kRunEnded, PodId(), NodeId(), 0, 0);
  }
  for (RecordSink* sink : parts_.sinks) {
    if (absl::Status s = sink->status(); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status Engine::AfterEvent() {
  if (!failure_.ok()) return failure_;
  if (options_.check_invariants) {
    if (absl::Status s = parts_.cluster->CheckInvariants(); !s.ok()) return s;
  }
  if (next_checkpoint_ == 0 || records_ < next_checkpoint_ || !parts_.on_checkpoint)
    return absl::OkStatus();
  while (next_checkpoint_ <= records_) next_checkpoint_ += options_.checkpoint_every;
  StateWriter out;
  Save(out);
  return parts_.on_checkpoint(out.bytes());
}

absl::Status Engine::PullArrival() {
  absl::StatusOr<bool> more = parts_.source->Next(&next_);
  if (!more.ok()) return more.status();
  if (!*more) return absl::OkStatus();
  // Without a clock everything happens at time zero, in the source's order.
  const SimTime at = options_.mode == RunMode::kFill ? now_ : next_.time;
  if (at < now_) {
    return absl::InvalidArgumentError(absl::StrCat("pod '", next_.name, "' arrives at ", at.ns(),
                                                   " ns, before the one ahead of it at ", now_.ns(),
                                                   " ns"));
  }
  events_.Push(at, EventRank::kArrival, EventKind::kPodArrival, 0, 0, 0);
  return absl::OkStatus();
}

absl::Status Engine::Handle(const Event& event) {
  switch (event.kind) {
    case EventKind::kPodArrival:
      Arrive();
      return PullArrival();
    case EventKind::kPodFinish:
      Finish(PodId(event.a));
      return absl::OkStatus();
    case EventKind::kIntentDone:
      Advance(event.a);
      return absl::OkStatus();
    case EventKind::kTimer: {
      const PodId pod(event.a);
      queue_.Add(pod, parts_.cluster->pod_priority(pod), now_);
      WakeScheduler();
      return absl::OkStatus();
    }
    case EventKind::kScheduleNext:
      attempt_scheduled_ = false;
      if (queue_.active() > 0) TrySchedule(queue_.Pop());
      WakeScheduler();
      return absl::OkStatus();
    default:
      DRASIM_UNREACHABLE("an event of a kind that nobody pushes");
  }
  return absl::OkStatus();
}

void Engine::Arrive() {
  const PodId pod = parts_.cluster->AddPod(next_.name, next_.shape, next_.priority, now_);
  if (options_.mode == RunMode::kReplay) {
    run_time_.push_back(next_.run_time);
    has_run_time_.push_back(next_.has_run_time);
  }
  Emit(RecordKind::kPodArrived, pod, NodeId(), 0, next_.shape.value());
  queue_.Add(pod, next_.priority, now_);
  if (options_.mode == RunMode::kFill) {
    TrySchedule(queue_.Pop());
  } else {
    WakeScheduler();
  }
}

void Engine::WakeScheduler() {
  if (attempt_scheduled_ || queue_.active() == 0) return;
  attempt_scheduled_ = true;
  events_.Push(now_ + options_.attempt_latency, EventRank::kScheduling, EventKind::kScheduleNext, 0,
               0, 0);
}

void Engine::TrySchedule(const QueuedPod& queued) {
  const PodId pod = queued.pod;
  const PodContext context = ContextOf(pod);
  for (Plugin* plugin : pre_filters_) {
    const StepResult result = plugin->PreFilter(context, *parts_.cluster);
    if (result.code != StepCode::kSuccess) {
      return FailAttempt(queued, plugin, result.reason,
                         static_cast<uint32_t>(parts_.cluster->node_count()));
    }
  }
  const Decision decision = parts_.cycle->Decide(context);
  if (!decision.node.valid()) {
    const SummaryId why = parts_.summaries->Intern(parts_.cycle->Rejections(context.shape_id));
    Emit(RecordKind::kAttemptFailed, pod, NodeId(), 0, why.value());
    if (options_.mode == RunMode::kReplay && RunPostFilter(queued)) return;
    return GiveUpOrWait(queued);
  }
  parts_.cluster->Assume(pod, decision.node, decision.devices);
  const uint32_t slot = AllocateSlot();
  Binding& binding = bindings_[slot];
  binding.queued = queued;
  binding.node = decision.node;
  Advance(slot);
}

// One plugin's verdict, given for `nodes` nodes at once.
void Engine::FailAttempt(const QueuedPod& queued, const Plugin* plugin, ReasonIndex reason,
                         uint32_t nodes) {
  VerdictSummaryTable::Row why;
  why.nodes = static_cast<uint32_t>(parts_.cluster->node_count());
  const ReasonIndex index = parts_.profile->ReasonOf(plugin, reason);
  if (index != kFits) why.rejected.emplace_back(index, nodes);
  const SummaryId summary = parts_.summaries->Intern(why);
  Emit(RecordKind::kAttemptFailed, queued.pod, NodeId(), 0, summary.value());
  GiveUpOrWait(queued);
}

// True when a plugin did something for the pod, which then comes back by a timer.
bool Engine::RunPostFilter(const QueuedPod& queued) {
  for (Plugin* plugin : post_filters_) {
    const StepResult result = plugin->PostFilter(ContextOf(queued.pod), *parts_.cluster);
    if (result.code != StepCode::kSuccess) continue;
    SimDuration latency;
    for (const Intent& intent : result.intents) latency = latency + intent.latency;
    events_.Push(now_ + latency, EventRank::kTimer, EventKind::kTimer, queued.pod.value(), 0, 0);
    return true;
  }
  return false;
}

void Engine::GiveUpOrWait(const QueuedPod& queued) {
  if (options_.mode == RunMode::kReplay) {
    // kube-scheduler refreshes the timestamp when a pod comes back, so it queues behind its equals.
    QueuedPod again = queued;
    again.queued_at = now_;
    queue_.AddUnschedulable(again);
    return;
  }
  parts_.cluster->Drop(queued.pod);
  Emit(RecordKind::kPodDropped, queued.pod, NodeId(), 0, 0);
}

uint32_t Engine::AllocateSlot() {
  if (free_slots_.empty()) {
    bindings_.emplace_back();
    return static_cast<uint32_t>(bindings_.size() - 1);
  }
  const uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  bindings_[slot] = Binding();
  return slot;
}

StepResult Engine::RunStep(const Step& step, const PodContext& context, NodeId node) {
  const ClusterState& cluster = *parts_.cluster;
  switch (step.point) {
    case kReserve:
      return step.plugin->Reserve(context, cluster, node);
    case kPermit:
      return step.plugin->Permit(context, cluster, node);
    case kPreBind:
      return step.plugin->PreBind(context, cluster, node);
    case kBind:
      return step.plugin->Bind(context, cluster, node);
    default:
      step.plugin->PostBind(context, cluster, node);
      return {};
  }
}

// Carries out what is pending, then calls the next steps until one asks for time, rejects, or all
// are done.
void Engine::Advance(uint32_t slot) {
  const PodContext context = ContextOf(bindings_[slot].queued.pod);
  while (true) {
    Binding& binding = bindings_[slot];
    if (!binding.pending.empty()) {
      const Intent intent = binding.pending.front();
      binding.pending.erase(binding.pending.begin());
      if (intent.latency > SimDuration()) {
        if (!std::exchange(binding.announced, true)) {
          Emit(RecordKind::kPodReserved, context.pod, binding.node,
               parts_.cluster->pod_devices(context.pod), 0);
        }
        events_.Push(now_ + intent.latency, EventRank::kIntentDone, EventKind::kIntentDone, slot, 0,
                     0);
        return;
      }
      continue;
    }
    if (binding.step == steps_.size()) return CompleteBinding(slot);
    StepResult result = RunStep(steps_[binding.step], context, binding.node);
    if (result.code != StepCode::kSuccess) {
      return RejectBinding(slot, steps_[binding.step].plugin, result.reason);
    }
    ++binding.step;
    binding.pending = std::move(result.intents);
  }
}

void Engine::RejectBinding(uint32_t slot, const Plugin* plugin, ReasonIndex reason) {
  const Binding& binding = bindings_[slot];
  const QueuedPod queued = binding.queued;
  const PodContext context = ContextOf(queued.pod);
  // Unreserve goes through every plugin that has Reserve, in reverse, as upstream does.
  for (size_t i = steps_.size(); i-- > 0;) {
    if (steps_[i].point == kReserve)
      steps_[i].plugin->Unreserve(context, *parts_.cluster, binding.node);
  }
  const bool announced = binding.announced;
  const NodeId node = binding.node;
  const uint32_t devices = parts_.cluster->pod_devices(queued.pod);
  free_slots_.push_back(slot);
  parts_.cluster->Forget(queued.pod);
  if (announced) {
    Emit(RecordKind::kPodUnreserved, queued.pod, node, devices, 0);
    // Others may have failed because of the charge; upstream broadcasts a deleted assigned pod
    // here.
    queue_.MoveAllToActive();
    WakeScheduler();
  }
  FailAttempt(queued, plugin, reason, 1);
}

void Engine::CompleteBinding(uint32_t slot) {
  const PodId pod = bindings_[slot].queued.pod;
  const NodeId node = bindings_[slot].node;
  free_slots_.push_back(slot);
  parts_.cluster->Bind(pod);
  Emit(RecordKind::kPodBound, pod, node, parts_.cluster->pod_devices(pod), 0);
  if (options_.mode != RunMode::kReplay || !has_run_time_[pod.value()]) return;
  int64_t end_ns = 0;
  if (__builtin_add_overflow(now_.ns(), run_time_[pod.value()].ns(), &end_ns)) {
    failure_ = absl::InvalidArgumentError(absl::StrCat("pod '", parts_.cluster->pod_name(pod),
                                                       "' ends later than the clock can count"));
    return;
  }
  events_.Push(SimTime(end_ns), EventRank::kDeparture, EventKind::kPodFinish, pod.value(), 0, 0);
}

void Engine::Finish(PodId pod) {
  const NodeId node = parts_.cluster->pod_node(pod);
  const uint32_t devices = parts_.cluster->pod_devices(pod);
  parts_.cluster->Finish(pod);
  Emit(RecordKind::kPodFinished, pod, node, devices, 0);
  queue_.MoveAllToActive();
  WakeScheduler();
}

void Engine::Save(StateWriter& out) const {
  out.Section("engine");
  out.I64(now_.ns());
  out.Bool(started_);
  out.Bool(finished_);
  out.Bool(attempt_scheduled_);
  out.U64(records_);
  out.U64(next_checkpoint_);
  out.Str(next_.name);
  out.U64(next_.shape.value());
  out.I64(next_.priority);
  out.I64(next_.time.ns());
  out.Bool(next_.has_run_time);
  out.I64(next_.run_time.ns());
  out.U64(run_time_.size());
  for (size_t i = 0; i < run_time_.size(); ++i) {
    out.Bool(has_run_time_[i]);
    out.I64(run_time_[i].ns());
  }
  out.U64(bindings_.size());
  for (const Binding& b : bindings_) {
    out.U64(b.queued.pod.value());
    out.I64(b.queued.priority);
    out.I64(b.queued.queued_at.ns());
    out.U64(b.queued.sequence);
    out.U64(b.node.value());
    out.U64(b.step);
    out.Bool(b.announced);
    out.U64(b.pending.size());
    for (const Intent& i : b.pending) {
      out.U64(static_cast<uint64_t>(i.kind));
      out.I64(i.latency.ns());
    }
  }
  out.Ints(free_slots_);
  events_.Save(out);
  queue_.Save(out);
  parts_.source->Save(out);
  parts_.cluster->Save(out);
  parts_.cycle->Save(out);
  parts_.profile->Save(out);
  parts_.summaries->Save(out);
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
  next_.name = in.Str();
  next_.shape = ShapeId(static_cast<size_t>(in.U64()));
  next_.priority = static_cast<int32_t>(in.I64());
  next_.time = SimTime(in.I64());
  next_.has_run_time = in.Bool();
  next_.run_time = SimDuration(in.I64());
  const size_t pods = in.Count();
  for (size_t i = 0; i < pods; ++i) {
    has_run_time_.push_back(in.Bool());
    run_time_.push_back(SimDuration(in.I64()));
  }
  const size_t bindings = in.Count();
  for (size_t i = 0; i < bindings && in.status().ok(); ++i) {
    Binding b;
    b.queued.pod = PodId(static_cast<size_t>(in.U64()));
    b.queued.priority = static_cast<int32_t>(in.I64());
    b.queued.queued_at = SimTime(in.I64());
    b.queued.sequence = in.U64();
    b.node = NodeId(static_cast<size_t>(in.U64()));
    b.step = static_cast<uint32_t>(in.U64());
    b.announced = in.Bool();
    const size_t intents = in.Count();
    for (size_t j = 0; j < intents; ++j) {
      const auto kind = static_cast<IntentKind>(in.U64());
      b.pending.push_back({kind, SimDuration(in.I64())});
    }
    bindings_.push_back(std::move(b));
  }
  in.Ints(&free_slots_);
  const auto load = [&in](auto* part) -> absl::Status {
    return in.status().ok() ? part->Load(in) : in.status();
  };
  events_.Load(in);
  if (absl::Status s = load(&queue_); !s.ok()) return s;
  if (absl::Status s = load(parts_.source); !s.ok()) return s;
  if (absl::Status s = load(parts_.cluster); !s.ok()) return s;
  if (absl::Status s = load(parts_.cycle); !s.ok()) return s;
  if (absl::Status s = load(parts_.profile); !s.ok()) return s;
  if (absl::Status s = load(parts_.summaries); !s.ok()) return s;
  for (RecordSink* sink : parts_.sinks) {
    if (absl::Status s = load(sink); !s.ok()) return s;
  }
  if (parts_.load_extra) {
    if (absl::Status s = parts_.load_extra(in); !s.ok()) return s;
  }
  return in.status();
}

}  // namespace drasim
