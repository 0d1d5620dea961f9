#include "sim/core/decided_dispatcher.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/number_text.h"
#include "model/pod_constraints.h"

namespace drasim {

DecidedDispatcher::DecidedDispatcher(DispatchParts parts, std::shared_ptr<const DecisionList> list,
                                     DecisionRules rules, bool fill)
    : parts_(parts),
      list_(std::move(list)),
      placement_(std::move(rules), parts.cluster),
      fill_(fill),
      reached_(list_->decisions.size()) {
  for (size_t i = 0; i < list_->decisions.size(); ++i) by_pod_[decision(i).pod].push_back(i);
}

void DecidedDispatcher::Add(JobId job) {
  waiting_.insert(job);
  needs_.insert(parts_.jobs->row(job).request.gpu_milli);
  changed_ = true;
  next_ = job;
  Plan(job, /*came=*/false);
}

void DecidedDispatcher::OnSettled(JobId job) {
  Plan(job, /*came=*/true);
  if (fill_) FollowFill();
}

bool DecidedDispatcher::Remove(JobId job) {
  if (waiting_.erase(job) == 0) return false;
  needs_.erase(needs_.find(parts_.jobs->row(job).request.gpu_milli));
  return true;
}

void DecidedDispatcher::Plan(JobId job, bool came) {
  if (planned_.size() <= job.value()) planned_.resize(job.value() + 1);
  if (planned_[job.value()]) return;
  planned_[job.value()] = true;
  const JobRow& row = parts_.jobs->row(job);
  std::vector<std::vector<size_t>> placed(row.pods);
  std::vector<std::vector<size_t>> evictions(row.pods);
  for (uint32_t i = 0; i < row.pods; ++i) {
    const auto found = by_pod_.find(parts_.cluster->pod_name(PodId(row.first_pod.value() + i)));
    if (found == by_pod_.end()) continue;
    for (const size_t index : found->second) {
      reached_[index] = true;
      (decision(index).node.empty() ? evictions : placed)[i].push_back(index);
    }
  }
  if (came) LeaveOutKnown(row.first_pod, evictions[0], &placed[0]);
  PlanEvictions(job, evictions);
  PlanStarts(job, placed);
}

// The k-th placements of a job's pods are its k-th start.
void DecidedDispatcher::PlanStarts(JobId job, const std::vector<std::vector<size_t>>& placed) {
  const JobRow& row = parts_.jobs->row(job);
  size_t most = 0;
  for (const std::vector<size_t>& of_pod : placed) most = std::max(most, of_pod.size());
  for (size_t k = 0; k < most; ++k) {
    Step step;
    step.job = job;
    for (const std::vector<size_t>& of_pod : placed) {
      if (k < of_pod.size()) step.decisions.push_back(of_pod[k]);
    }
    for (const size_t index : step.decisions) {
      step.at = std::max(step.at, decision(index).at);
      step.order = std::max(step.order, index);
    }
    if (step.decisions.size() < row.pods) {
      step.why = absl::StrCat("only ", step.decisions.size(), " of the ", row.pods,
                              " pods of its job are placed; a gang starts as a whole");
      Refuse(step);
      continue;
    }
    // A time that was cut off may seem to lie ahead of the arrival.
    const SimTime now = parts_.control->now();
    if (!fill_ && step.at < now && step.at + list_->resolution < now) {
      step.why = absl::StrCat("it is placed before it arrives, at ",
                              DoubleText(static_cast<double>(now.ns()) / 1e9), " s");
      Refuse(step);
      continue;
    }
    if (fill_ && k > 0) {
      step.why = "it is placed twice";
      Refuse(step);
      continue;
    }
    steps_.insert(std::move(step));
  }
}

// Leaves out the decision that put a pod where it was when it came: the first about it, if it has
// the same node. Such a pod is a job of its own.
void DecidedDispatcher::LeaveOutKnown(PodId pod, const std::vector<size_t>& evictions,
                                      std::vector<size_t>* placed) {
  const NodeId node = parts_.cluster->pod_node(pod);
  if (placed->empty() || !node.valid()) return;
  const size_t first = placed->front();
  if (parts_.cluster->node_spec(node).name != decision(first).node ||
      (!evictions.empty() && evictions.front() < first)) {
    return;
  }
  placed->erase(placed->begin());
  ++known_;
}

// Evictions of a gang's pods at one time are one.
void DecidedDispatcher::PlanEvictions(JobId job, const std::vector<std::vector<size_t>>& by_pod) {
  std::set<int64_t> times;
  for (const std::vector<size_t>& of_pod : by_pod) {
    for (const size_t index : of_pod) {
      if (!times.insert(decision(index).at.ns()).second) continue;
      steps_.insert({decision(index).at, index, job, {index}, ""});
    }
  }
}

bool DecidedDispatcher::Ready() const {
  if (fill_) return false;  // the engine tries each job as it adds it
  if (!due_.empty() && changed_) return true;
  return !steps_.empty() && steps_.begin()->at <= parts_.control->now();
}

void DecidedDispatcher::Dispatch() {
  if (fill_) return DispatchFill();
  const SimTime now = parts_.control->now();
  while (!steps_.empty() && steps_.begin()->at <= now) {
    due_.push_back(std::move(steps_.extract(steps_.begin()).value()));
  }
  changed_ = false;
  // One at a time: what ends at once makes room for the next.
  for (size_t i = 0; i < due_.size();) {
    if (now > due_[i].at + list_->resolution && !due_[i].why.empty()) {
      Refuse(due_[i]);
      due_.erase(due_.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    // Out of the list, because the engine may call back.
    Step step = std::move(due_[i]);
    due_.erase(due_.begin() + static_cast<std::ptrdiff_t>(i));
    if (Take(&step)) {
      changed_ = true;
      return;
    }
    due_.insert(due_.begin() + static_cast<std::ptrdiff_t>(i), std::move(step));
    ++i;
  }
}

void DecidedDispatcher::DispatchFill() {
  const JobId job = next_;
  FollowFill();
  if (waiting_.count(job) == 0) return;
  Remove(job);
  parts_.control->Drop(job);
}

void DecidedDispatcher::FollowFill() {
  for (auto it = steps_.begin(); it != steps_.end();) {
    Step step = std::move(steps_.extract(it++).value());
    const bool evicts = decision(step.decisions.front()).node.empty();
    if (evicts) step.why = "nothing leaves its node in a fill";
    if (evicts || !Start(&step)) Refuse(step);
  }
}

bool DecidedDispatcher::Take(Step* step) {
  return decision(step->decisions.front()).node.empty() ? Evict(step) : Start(step);
}

bool DecidedDispatcher::Evict(Step* step) {
  const JobState state = parts_.jobs->row(step->job).state;
  const bool holds = state == JobState::kRunning || state == JobState::kStarting;
  if (holds && !parts_.control->IsBeingEvicted(step->job)) {
    parts_.control->Evict(step->job, EvictionCause::kPreempted, JobId());
    return true;
  }
  step->why = "it is evicted, but holds nothing";
  return decision(step->decisions.front()).may_be_over;
}

bool DecidedDispatcher::Start(Step* step) {
  const JobRow& row = parts_.jobs->row(step->job);
  if (waiting_.count(step->job) == 0) {
    step->why = WhyNotWaiting(step->job);
    return false;
  }
  const SimTime now = parts_.control->now();
  if (!parts_.quotas->Allows(parts_.jobs->tenant_name(row.tenant), now,
                             parts_.jobs->tenant_usage(row.tenant), row.request)) {
    step->why = absl::StrCat("it is beyond the quota of tenant '",
                             parts_.jobs->tenant_name(row.tenant), "'");
    return false;
  }
  parts_.cluster->BeginWhatIf();
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodId pod(row.first_pod.value() + i);
    std::optional<std::string> why =
        placement_.Assume(pod, now, decision(step->decisions[i]), &parts_.profile->allocator());
    if (!why.has_value()) continue;
    parts_.cluster->Rollback();
    step->why = *std::move(why);
    return false;
  }
  parts_.cluster->KeepWhatIf();
  Remove(step->job);
  followed_ += row.pods;
  parts_.control->StartPlaced(step->job);
  return true;
}

std::string DecidedDispatcher::WhyNotWaiting(JobId job) const {
  const JobRow& row = parts_.jobs->row(job);
  if (row.state == JobState::kRunning || row.state == JobState::kStarting) {
    const NodeId node = parts_.cluster->pod_node(row.first_pod);
    return absl::StrCat("it is placed twice: it is on node '", parts_.cluster->node_spec(node).name,
                        "' already");
  }
  if (row.state == JobState::kWaiting) return "its pods are yet to be created anew";
  return "it is placed after its end";
}

void DecidedDispatcher::Refuse(const Step& step) {
  for (const size_t index : step.decisions) Note(index, step.why);
}

std::optional<SimTime> DecidedDispatcher::NextTimer() {
  if (steps_.empty() || steps_.begin()->at <= parts_.control->now()) return std::nullopt;
  return steps_.begin()->at;
}

int64_t DecidedDispatcher::SmallestNeedMilli() const {
  return needs_.empty() ? 0 : *needs_.begin();
}

std::vector<DecisionProblem> DecidedDispatcher::Problems() const {
  std::vector<DecisionProblem> problems = problems_;
  const auto add = [&problems](const Step& step) {
    const std::string why = step.why.empty() ? "it is later than the end of the run" : step.why;
    for (const size_t index : step.decisions) problems.push_back({index, why});
  };
  for (const Step& step : due_) add(step);
  for (const Step& step : steps_) {
    if (!decision(step.decisions.front()).may_be_over) add(step);
  }
  // Pods that never came here.
  absl::flat_hash_map<absl::string_view, PodId> pods;
  for (size_t p = 0; p < parts_.cluster->pod_count(); ++p) {
    pods.try_emplace(parts_.cluster->pod_name(PodId(p)), PodId(p));
  }
  for (size_t i = 0; i < reached_.size(); ++i) {
    if (reached_[i]) continue;
    const auto found = pods.find(decision(i).pod);
    if (found == pods.end()) {
      problems.push_back({i, "unknown pod"});
      continue;
    }
    const PodId pod = found->second;
    const PodHold hold = parts_.cluster->pod_shape(pod).constraints.hold;
    if (hold != PodHold::kNone) {
      problems.push_back({i, absl::StrCat("it must not be scheduled: ", PodHoldReason(hold))});
    } else if (parts_.cluster->pod_phase(pod) == PodPhase::kDropped) {
      problems.push_back({i, "no node, or its tenant's quota, could ever hold its job"});
    } else if (parts_.cluster->pod_phase(pod) == PodPhase::kPending) {
      problems.push_back({i, "it never waits for a scheduler"});
    }
  }
  std::sort(
      problems.begin(), problems.end(),
      [](const DecisionProblem& a, const DecisionProblem& b) { return a.decision < b.decision; });
  return problems;
}

void DecidedDispatcher::Save(StateWriter& out) const { out.Section("decided"); }

absl::Status DecidedDispatcher::Load(StateReader& in) {
  in.Fail("a run that follows decisions leaves no checkpoints");
  return in.status();
}

}  // namespace drasim
