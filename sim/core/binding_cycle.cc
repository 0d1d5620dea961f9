#include "sim/core/binding_cycle.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "model/device_set.h"
#include "sim/core/extender_binder.h"

namespace drasim {
namespace {

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

bool Succeeds(const StepResult& result) {
  return result.code == StepCode::kSuccess || result.code == StepCode::kSkip;
}

}  // namespace

BindingCycle::BindingCycle(RunContext* run, SchedulingLoop* scheduling, BindingOutcome* outcome)
    : run_(run), scheduling_(scheduling), outcome_(outcome), profiles_(ProfilesOf(run->parts())) {
  for (size_t i = 0; i < profiles_.size(); ++i) {
    const Profile& profile = profiles_.at(i);
    std::vector<Step>* const steps = &steps_.emplace_back();
    AddSteps(profile.reserves(), steps);
    AddSteps(profile.permits(), steps);
    AddSteps(profile.pre_binds(), steps);
    AddSteps(profile.binds(), steps);
    AddSteps(profile.post_binds(), steps);
  }
}

size_t BindingCycle::ProfileOf(JobId job) {
  const PodId pod = run_->jobs().row(job).first_pod;
  return profiles_.IndexOf(run_->cluster().pod_shape_id(pod)).value_or(0);
}

template <typename Point>
void BindingCycle::AddSteps(const std::vector<Point*>& plugins, std::vector<Step>* steps) {
  for (Point* const plugin : plugins) {
    steps->push_back({plugin, plugin, dynamic_cast<NodeRestrictionPlugin*>(plugin) != nullptr,
                      dynamic_cast<ExtenderBinder*>(static_cast<Plugin*>(plugin)) != nullptr});
  }
}

void BindingCycle::Begin(JobId job) {
  const uint32_t slot = AllocateSlot();
  bindings_[slot].job = job;
  bindings_[slot].events_seen = scheduling_->cluster_events();
  bindings_[slot].claim_events_seen = scheduling_->claim_events();
  slot_of_job_[job.value()] = slot;
  if (const SimDuration wait = scheduling_->free_at() - run_->now(); wait > SimDuration()) {
    bindings_[slot].waited = true;
    bindings_[slot].pending.push_back({IntentKind::kWait, wait});
  }
  Advance(slot);
}

uint32_t BindingCycle::AllocateSlot() {
  if (free_slots_.empty()) {
    bindings_.emplace_back();
    return static_cast<uint32_t>(bindings_.size() - 1);
  }
  const uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  bindings_[slot] = Binding();
  return slot;
}

void BindingCycle::Undo(JobId job) { UndoSlot(slot_of_job_[job.value()]); }

bool BindingCycle::Resume(JobId job) {
  const uint32_t slot = slot_of_job_[job.value()];
  if (slot == kNone || !std::exchange(bindings_[slot].waiting, false)) return false;
  Advance(slot);
  return true;
}

bool BindingCycle::NoteWake(JobId job, bool at_once) {
  const uint32_t slot = slot_of_job_[job.value()];
  if (slot == kNone) return false;
  bindings_[slot].woken = true;
  bindings_[slot].woken_at_once |= at_once;
  return true;
}

void BindingCycle::OnIntentDone(uint32_t slot) {
  bindings_[slot].timer = 0;
  Advance(slot);
}

std::vector<JobId> BindingCycle::starting() const {
  std::vector<JobId> jobs;
  if (idle()) return jobs;
  for (size_t slot = 0; slot < bindings_.size(); ++slot) {
    const JobId job = bindings_[slot].job;
    if (job.valid() && slot_of_job_[job.value()] == slot) jobs.push_back(job);
  }
  return jobs;
}

StepResult BindingCycle::CallStep(const Step& step, const PodContext& pod, NodeId node) {
  const ClusterState& cluster = run_->cluster();
  return std::visit(
      Overloaded{[&](ReservePlugin* plugin) { return plugin->Reserve(pod, cluster, node); },
                 [&](PermitPlugin* plugin) { return plugin->Permit(pod, cluster, node); },
                 [&](PreBindPlugin* plugin) { return plugin->PreBind(pod, cluster, node); },
                 [&](BindPlugin* plugin) { return plugin->Bind(pod, cluster, node); },
                 [&](PostBindPlugin* plugin) {
                   plugin->PostBind(pod, cluster, node);
                   return StepResult();
                 }},
      step.point);
}

// Calls one step for every pod. Intents of several pods are carried out side by side, so the job
// waits for the longest. A waiting or pending pod does not hold back the others.
StepResult BindingCycle::RunStep(const Step& step, JobId job) {
  const JobRow& row = run_->jobs().row(job);
  StepResult all;
  all.code = StepCode::kSkip;
  SimDuration longest;
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodContext context = run_->ContextOf(RunContext::PodOf(row, i));
    StepResult result = CallStep(step, context, run_->cluster().pod_node(context.pod));
    if (row.pods == 1) return result;
    if (result.code == StepCode::kSuccess && all.code == StepCode::kSkip) {
      all.code = StepCode::kSuccess;
    }
    if (result.code == StepCode::kWait || result.code == StepCode::kPending) {
      if (all.code != StepCode::kWait) all = std::move(result);
      continue;
    }
    if (!Succeeds(result)) return result;
    SimDuration sum;
    for (const Intent& intent : result.intents) sum = sum + intent.latency;
    longest = std::max(longest, sum);
  }
  if (longest > SimDuration()) all.intents.push_back({IntentKind::kWait, longest});
  return all;
}

void BindingCycle::Announce(uint32_t slot) {
  if (std::exchange(bindings_[slot].announced, true)) return;
  const JobRow& row = run_->jobs().row(bindings_[slot].job);
  const ClusterState& cluster = run_->cluster();
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodId pod = RunContext::PodOf(row, i);
    run_->Emit(RecordKind::kPodReserved, pod, cluster.pod_node(pod), cluster.pod_devices(pod), 0);
  }
}

void BindingCycle::Advance(uint32_t slot) {
  const JobId job = bindings_[slot].job;
  const std::vector<Step>& steps = steps_[ProfileOf(job)];
  while (true) {
    Binding& binding = bindings_[slot];
    if (!binding.pending.empty()) {
      const Intent intent = binding.pending.front();
      binding.pending.erase(binding.pending.begin());
      if (intent.latency > SimDuration()) {
        // Decisions of an attempt in progress are not visible. If they were announced, attempts
        // that extenders make fail at the end would count as progress.
        if (binding.step > 0) Announce(slot);
        binding.timer = run_->events().Push(run_->After(intent.latency), EventRank::kIntentDone,
                                            EventKind::kIntentDone, slot, 0, 0);
        return;
      }
      continue;
    }
    if (binding.step == steps.size()) return Complete(slot);
    StepResult result = RunStep(steps[binding.step], job);
    if (result.code == StepCode::kWait) {
      bindings_[slot].waiting = true;
      return Announce(slot);
    }
    if (!Succeeds(result)) return Reject(slot, result);
    const bool bound = steps[binding.step].replaces_binds && result.code == StepCode::kSuccess;
    ++binding.step;
    while (bound && binding.step < steps.size() &&
           std::holds_alternative<BindPlugin*>(steps[binding.step].point)) {
      ++binding.step;
    }
    binding.pending = std::move(result.intents);
  }
}

void BindingCycle::UndoSlot(uint32_t slot) {
  const Binding binding = bindings_[slot];
  ClusterState& cluster = run_->cluster();
  const JobRow& row = run_->jobs().row(binding.job);
  uint64_t timer = binding.timer;
  run_->Cancel(&timer);
  // Unreserve goes through every plugin that has Reserve, in reverse, as upstream does.
  const std::vector<Step>& steps = steps_[ProfileOf(binding.job)];
  for (size_t s = steps.size(); s-- > 0;) {
    ReservePlugin* const* const plugin = std::get_if<ReservePlugin*>(&steps[s].point);
    if (plugin == nullptr) continue;
    for (uint32_t i = 0; i < row.pods; ++i) {
      const PodContext context = run_->ContextOf(RunContext::PodOf(row, i));
      (*plugin)->Unreserve(context, cluster, cluster.pod_node(context.pod));
    }
  }
  free_slots_.push_back(slot);
  slot_of_job_[binding.job.value()] = kNone;
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodId pod = RunContext::PodOf(row, i);
    const NodeId node = cluster.pod_node(pod);
    const DeviceSet devices = cluster.pod_devices(pod);
    cluster.Forget(pod);
    if (!binding.announced && !binding.waited) continue;
    if (binding.announced) run_->Emit(RecordKind::kPodUnreserved, pod, node, devices, 0);
    // Others may have failed because of the charge; upstream broadcasts a deleted assigned pod
    // here.
    ClusterChange change;
    change.event = kPodRemoved;
    change.node = node;
    change.pod = &cluster.pod_shape(pod);
    change.pod_id = pod;
    scheduling_->Notify(change);
  }
}

void BindingCycle::Reject(uint32_t slot, const StepResult& result) {
  const Binding binding = bindings_[slot];
  const size_t profile = ProfileOf(binding.job);
  const Step& step = steps_[profile][binding.step];
  // Compared before Undo: as in upstream, a job is not woken by its own release.
  Comeback comeback = scheduling_->cluster_events() != binding.events_seen ? Comeback::kAfterBackoff
                                                                           : Comeback::kOnEvent;
  if (step.replaces_binds) comeback = Comeback::kError;
  if (step.restricts) {
    const bool moved = binding.woken || scheduling_->claim_events() != binding.claim_events_seen;
    comeback = result.code == StepCode::kError ? Comeback::kError
               : binding.woken_at_once         ? Comeback::kAtOnce
               : moved                         ? Comeback::kAfterBackoff
                                               : Comeback::kOnEvent;
  }
  UndoSlot(slot);
  VerdictSummaryTable::Row why;
  why.nodes = static_cast<uint32_t>(run_->cluster().available_nodes());
  const ReasonIndex index =
      profiles_.CommonReason(profile, profiles_.at(profile).ReasonOf(step.plugin, result.reason));
  if (index != kFits) why.rejected.emplace_back(index, 1);
  Placer::Failure failure;
  failure.pod = run_->jobs().row(binding.job).first_pod;
  failure.why = run_->parts().summaries->Intern(why);
  outcome_->Rejected(binding.job, failure, comeback);
  if (run_->agent() == nullptr) return;
  const bool in_scheduling_cycle = std::holds_alternative<ReservePlugin*>(step.point) ||
                                   std::holds_alternative<PermitPlugin*>(step.point);
  run_->agent()->AttemptFailed({failure.pod, failure.why, NodeId(), !in_scheduling_cycle},
                               run_->now());
}

void BindingCycle::Complete(uint32_t slot) {
  const JobId job = bindings_[slot].job;
  const JobRow& row = run_->jobs().row(job);
  ClusterState& cluster = run_->cluster();
  free_slots_.push_back(slot);
  slot_of_job_[job.value()] = kNone;
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodId pod = RunContext::PodOf(row, i);
    cluster.Bind(pod);
    run_->Emit(RecordKind::kPodBound, pod, cluster.pod_node(pod), cluster.pod_devices(pod), 0);
  }
  outcome_->Bound(job);
}

}  // namespace drasim
