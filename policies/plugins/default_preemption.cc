#include "policies/plugins/default_preemption.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/check.h"
#include "model/cluster_state.h"
#include "model/go_sort.h"
#include "model/job_table.h"
#include "model/label_selector.h"
#include "model/status_macros.h"
#include "policies/framework/fit_error.h"
#include "policies/framework/registry.h"

namespace drasim {
namespace {

// The criteria of the choice, in order; smaller is better.
using Cost = std::tuple<int64_t, int32_t, int64_t, size_t, int64_t>;

Cost CostOf(const Candidate& candidate) {
  DRASIM_CHECK(!candidate.victims.empty());
  int64_t sum = 0;
  // Among the victims of the highest priority, the one that started first. Extenders may have
  // reordered the victims.
  const Victim* top = &candidate.victims.front();
  for (const Victim& victim : candidate.victims) {
    sum += int64_t{victim.priority} + (int64_t{1} << 31);
    const bool precedes = victim.priority != top->priority ? victim.priority > top->priority
                                                           : victim.started < top->started;
    if (precedes) top = &victim;
  }
  return {candidate.budget_violations, candidate.victims.front().priority, sum,
          candidate.victims.size(), -top->started.ns()};
}

// Pods that are evicted together: one, or those of a job. Their ids follow each other.
struct Group {
  PodId first_pod;
  uint32_t pods = 1;
  int32_t priority = 0;
  SimTime started;

  PodId pod(uint32_t index) const { return PodId(first_pod.value() + index); }
};

// As upstream, a pod without a start time counts as started now, after all others.
SimTime StartOf(const JobRow& job) {
  return job.state == JobState::kStarting ? SimTime(std::numeric_limits<int64_t>::max())
                                          : job.started;
}

void RemoveGroup(const Group& group, PostFilterHandle& handle) {
  for (uint32_t i = 0; i < group.pods; ++i) handle.Remove(group.pod(i));
}

void RestoreGroup(const Group& group, PostFilterHandle& handle) {
  for (uint32_t i = 0; i < group.pods; ++i) handle.Restore(group.pod(i));
}

bool IsMoreImportant(const Group& a, const Group& b) {
  return a.priority != b.priority ? a.priority > b.priority : a.started < b.started;
}

void SortByImportance(const PostFilterHandle& handle, std::vector<Group>* groups) {
  if (handle.sorts_as_go()) {
    GoSort(groups, IsMoreImportant);
  } else {
    std::stable_sort(groups->begin(), groups->end(), IsMoreImportant);
  }
}

// The job of the pod as a group, if it may be evicted.
bool JobMayGo(PodId pod, int32_t priority, const PostFilterHandle& handle, Group* group) {
  const JobId id = handle.jobs()->job_of(pod);
  const JobRow& job = handle.jobs()->row(id);
  const bool holds = job.state == JobState::kRunning || job.state == JobState::kStarting;
  *group = {job.first_pod, job.pods, job.priority, StartOf(job)};
  return holds && job.preemptible && job.priority < priority && !handle.IsLeaving(id);
}

// The evictable groups with pods on the node for a preemptor of `priority`, the most important
// first; equal ones in the order of the node's pods, or as Go leaves them.
std::vector<Group> PotentialVictims(NodeId node, int32_t priority, const PostFilterHandle& handle) {
  std::vector<Group> found;
  const ClusterState& cluster = handle.cluster();
  for (const PodId pod : cluster.pods_on(node)) {
    Group group{pod, 1, cluster.pod_priority(pod), SimTime()};
    if (handle.jobs() != nullptr) {
      if (!JobMayGo(pod, priority, handle, &group)) continue;
      const auto is_same = [&](const Group& g) { return g.first_pod == group.first_pod; };
      // Several pods of a gang may share the node.
      if (group.pods > 1 && std::any_of(found.begin(), found.end(), is_same)) continue;
    } else {
      if (group.priority >= priority) continue;
      group.started = cluster.pod_start(pod);
    }
    found.push_back(group);
  }
  SortByImportance(handle, &found);
  return found;
}

// A pod's name without its namespace, which some worlds put before it.
absl::string_view BareName(absl::string_view name) { return name.substr(name.rfind('/') + 1); }

// The budgets, as they shrink with each eviction.
class Budgets {
 public:
  explicit Budgets(const ClusterState& cluster) : cluster_(cluster) {
    for (const DisruptionBudget& budget : cluster.objects().budgets) {
      allowed_.push_back(budget.disruptions_allowed);
    }
  }

  // Whether the eviction of a pod, after all others that were asked about, violates a budget.
  bool Violates(PodId pod) {
    const PodIdentity& identity = cluster_.pod_shape(pod).identity;
    bool violates = false;
    if (allowed_.empty() || identity.labels.empty()) return false;
    const std::string name(BareName(cluster_.pod_name(pod)));
    for (size_t i = 0; i < allowed_.size(); ++i) {
      const DisruptionBudget& budget = cluster_.objects().budgets[i];
      if (budget.ns != identity.ns || budget.selector.selects_all() ||
          !Selects(budget.selector, identity.labels) ||
          std::binary_search(budget.disrupted_pods.begin(), budget.disrupted_pods.end(), name)) {
        continue;
      }
      if (--allowed_[i] < 0) violates = true;
    }
    return violates;
  }

 private:
  const ClusterState& cluster_;
  std::vector<int64_t> allowed_;  // by budget; negative: violated
};

// The trial of one node. `candidate` is meaningful with kSuccess.
struct Trial {
  NodeStatus status;
  Candidate candidate;
};

Trial Reject(NodeId node, StepCode code, std::string text) {
  return {{nullptr, code, {std::move(text)}, node}, {}};
}

// Tries evictions on the node; afterwards all pods are back.
Trial TryNode(NodeId node, int32_t priority, PostFilterHandle& handle) {
  const std::vector<Group> potential = PotentialVictims(node, priority, handle);
  if (potential.empty()) {
    return Reject(node, StepCode::kUnresolvable, "No preemption victims found for incoming pod");
  }
  for (const Group& group : potential) RemoveGroup(group, handle);
  if (!handle.Fits(node)) {
    Trial trial;
    trial.status = handle.WhyNot();
    // An error counts whether or not texts are wanted.
    if (!handle.wants_texts() && trial.status.code != StepCode::kError) {
      trial.status.code = StepCode::kReject;
    }
    for (const Group& group : potential) RestoreGroup(group, handle);
    return trial;
  }
  Budgets budgets(handle.cluster());
  std::vector<Group> violating;
  std::vector<Group> others;
  for (const Group& group : potential) {
    bool violates = false;
    for (uint32_t i = 0; i < group.pods; ++i) violates |= budgets.Violates(group.pod(i));
    (violates ? violating : others).push_back(group);
  }
  std::vector<Group> victims;
  const auto spare = [&](const std::vector<Group>& groups) {
    int64_t lost = 0;
    for (const Group& group : groups) {
      RestoreGroup(group, handle);
      if (handle.Fits(node)) continue;
      RemoveGroup(group, handle);
      victims.push_back(group);
      lost += group.pods;
    }
    return lost;
  };
  Trial trial;
  trial.candidate.node = node;
  trial.candidate.budget_violations = spare(violating);
  spare(others);
  if (!violating.empty() && !others.empty()) SortByImportance(handle, &victims);
  for (const Group& group : victims) {
    RestoreGroup(group, handle);
    for (uint32_t i = 0; i < group.pods; ++i) {
      trial.candidate.victims.push_back({group.pod(i), group.priority, group.started});
    }
  }
  if (victims.empty()) {
    return Reject(node, StepCode::kError,
                  absl::StrCat("expected at least one victim pod on node \"",
                               handle.cluster().node_spec(node).name, "\""));
  }
  trial.status.code = StepCode::kSuccess;
  return trial;
}

// A pod of lower priority leaves the node because of a preemption.
bool AwaitsRoom(NodeId node, int32_t priority, const PostFilterHandle& handle) {
  const ClusterState& cluster = handle.cluster();
  for (const PodId pod : cluster.pods_on(node)) {
    const PodIdentity& identity = cluster.pod_shape(pod).identity;
    const bool leaves = (identity.terminating && identity.preempted) ||
                        (handle.jobs() != nullptr && handle.IsLeaving(handle.jobs()->job_of(pod)));
    if (leaves && cluster.pod_priority(pod) < priority) return true;
  }
  return false;
}

// Why the pod may not preempt; empty: it may.
absl::string_view WhyNotEligible(const PodContext& pod, int32_t priority,
                                 const PostFilterHandle& handle) {
  if (pod.shape->constraints.never_preempts) {
    return "not eligible due to preemptionPolicy=Never.";
  }
  const NodeId nominated = handle.nominated_node();
  if (nominated.valid() && !handle.IsUnresolvable(nominated) &&
      AwaitsRoom(nominated, priority, handle)) {
    return "not eligible due to a terminating pod on the nominated node.";
  }
  return "";
}

// Several errors in one, each once, as upstream's aggregate prints them.
std::string ErrorText(const std::vector<std::string>& errors) {
  return errors.size() == 1 ? errors[0] : absl::StrCat("[", absl::StrJoin(errors, ", "), "]");
}

std::string NothingHelps(const PostFilterHandle& handle, absl::Span<const NodeStatus> rejected) {
  const size_t nodes = handle.cluster().node_order().size();
  FitError error(nodes);
  for (const NodeStatus& status : rejected) {
    for (const std::string& reason : status.reasons) error.Add(reason);
  }
  error.Add("Preemption is not helpful for scheduling",
            static_cast<int64_t>(nodes) - static_cast<int64_t>(rejected.size()));
  return error.Text();
}

std::vector<PreemptionReport::Candidate> Summaries(absl::Span<const Candidate> found) {
  std::vector<PreemptionReport::Candidate> summaries;
  for (const Candidate& candidate : found) {
    PreemptionReport::Candidate& added = summaries.emplace_back();
    added.node = candidate.node;
    added.budget_violations = candidate.budget_violations;
    for (const Victim& victim : candidate.victims) added.victims.push_back(victim.pod);
  }
  return summaries;
}

Victim VictimOf(PodId pod, const PostFilterHandle& handle) {
  const ClusterState& cluster = handle.cluster();
  if (handle.jobs() == nullptr) return {pod, cluster.pod_priority(pod), cluster.pod_start(pod)};
  const JobRow& job = handle.jobs()->row(handle.jobs()->job_of(pod));
  return {pod, job.priority, StartOf(job)};
}

absl::Status AskExtenders(PostFilterHandle& handle, std::vector<Candidate>* found) {
  std::vector<PreemptionReport::Candidate> summaries = Summaries(*found);
  RETURN_IF_ERROR(handle.AskExtenders(&summaries));
  found->clear();
  for (const PreemptionReport::Candidate& summary : summaries) {
    Candidate& candidate = found->emplace_back();
    candidate.node = summary.node;
    candidate.budget_violations = summary.budget_violations;
    for (const PodId pod : summary.victims) candidate.victims.push_back(VictimOf(pod, handle));
  }
  return absl::OkStatus();
}

}  // namespace

int64_t CandidatesToFind(int64_t nodes, const DefaultPreemptionArgs& args) {
  DRASIM_CHECK_GE(nodes, 0);
  const int64_t share = nodes * args.min_candidate_nodes_percentage / 100;
  return std::min(nodes, std::max(share, int64_t{args.min_candidate_nodes_absolute}));
}

std::vector<size_t> BestCandidates(absl::Span<const Candidate> candidates) {
  DRASIM_CHECK(!candidates.empty());
  std::vector<size_t> best = {0};
  Cost best_cost = CostOf(candidates[0]);
  for (size_t i = 1; i < candidates.size(); ++i) {
    const Cost cost = CostOf(candidates[i]);
    if (cost > best_cost) continue;
    if (cost < best_cost) best.clear();
    best.push_back(i);
    best_cost = cost;
  }
  return best;
}

PostFilterResult DefaultPreemption::PostFilter(const PodContext& pod, PostFilterHandle& handle) {
  DRASIM_CHECK(pod.pod.valid());
  PostFilterResult result;
  PreemptionReport* const report = handle.report();
  const int32_t priority = handle.cluster().pod_priority(pod.pod);
  const absl::string_view why_not = WhyNotEligible(pod, priority, handle);
  if (report != nullptr) {
    report->ran = true;
    report->eligible = why_not.empty();
    report->not_eligible = std::string(why_not);
  }
  if (!why_not.empty()) {
    result.keeps_nomination = true;
    if (handle.wants_texts()) result.message = absl::StrCat("preemption: ", why_not);
    return result;
  }
  if (!handle.wants_texts() && handle.jobs() != nullptr &&
      !PostFilterMayHelp(priority, *handle.jobs())) {
    return result;
  }
  const absl::Span<const NodeId> nodes = handle.candidates();
  if (report != nullptr) report->potential.assign(nodes.begin(), nodes.end());
  const uint64_t offset = nodes.empty() ? 0 : handle.Draw(nodes.size());
  const size_t enough =
      handle.tries_all()
          ? nodes.size()
          : static_cast<size_t>(CandidatesToFind(static_cast<int64_t>(nodes.size()), args_));
  std::vector<Candidate> found;      // without a violated budget
  std::vector<Candidate> violating;  // at most `enough`
  std::vector<NodeStatus> rejected;
  std::vector<std::string> errors;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!found.empty() && found.size() + violating.size() >= enough) break;
    Trial trial = TryNode(nodes[(offset + i) % nodes.size()], priority, handle);
    handle.EndTrial();
    if (trial.status.code != StepCode::kSuccess) {
      if (trial.status.code == StepCode::kError) errors.push_back(trial.status.reasons[0]);
      if (handle.wants_texts()) rejected.push_back(std::move(trial.status));
    } else if (trial.candidate.budget_violations == 0) {
      found.push_back(std::move(trial.candidate));
    } else if (violating.size() < enough) {
      violating.push_back(std::move(trial.candidate));
    }
  }
  std::move(violating.begin(), violating.end(), std::back_inserter(found));
  if (found.empty()) {
    if (!errors.empty()) {
      result.code = StepCode::kError;
      result.keeps_nomination = true;
      result.message = absl::StrCat("preemption: ", ErrorText(errors));
    } else if (handle.wants_texts()) {
      result.message = absl::StrCat("preemption: ", NothingHelps(handle, rejected));
    }
    if (report != nullptr) report->rejected = std::move(rejected);
    return result;
  }
  if (report != nullptr) {
    report->rejected = std::move(rejected);
    report->candidates = Summaries(found);
  }
  if (handle.extenders_preempt()) {
    const absl::Status status = AskExtenders(handle, &found);
    if (!status.ok() || found.empty()) {
      result.code = status.ok() ? StepCode::kReject : StepCode::kError;
      result.keeps_nomination = true;
      result.message = absl::StrCat(
          "preemption: ", status.ok() ? "no candidate node for preemption" : status.message());
      return result;
    }
  }
  const std::vector<size_t> best = BestCandidates(found);
  if (report != nullptr) {
    for (const size_t i : best) report->best.push_back(found[i].node);
  }
  const Candidate& chosen = found[best.front()];
  result.code = StepCode::kSuccess;
  result.nominated = chosen.node;
  for (const Victim& victim : chosen.victims) result.victims.push_back(victim.pod);
  for (const PodId other : handle.NominatedOn(chosen.node)) {
    if (handle.cluster().pod_priority(other) < priority) {
      result.cleared_nominations.push_back(other);
    }
  }
  return result;
}

void RegisterDefaultPreemption(Registry& registry) {
  registry.AddPlugin("DefaultPreemption", [](const PolicyContext& context) {
    return std::make_unique<DefaultPreemption>(context.args == nullptr
                                                   ? DefaultPreemptionArgs()
                                                   : ArgsOr<DefaultPreemptionArgs>(*context.args));
  });
}

}  // namespace drasim
