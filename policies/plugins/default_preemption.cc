#include "policies/plugins/default_preemption.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>

#include "model/check.h"
#include "model/cluster_state.h"
#include "model/job_table.h"
#include "policies/framework/registry.h"

namespace drasim {
namespace {

constexpr int64_t kMinCandidateNodesPercentage = 10;
constexpr int64_t kMinCandidateNodesAbsolute = 100;

// The criteria of the choice, in order; smaller is better.
using Cost = std::tuple<int32_t, int64_t, size_t, int64_t>;

Cost CostOf(const Candidate& candidate) {
  DRASIM_CHECK(!candidate.victims.empty());
  int64_t sum = 0;
  for (const Victim& victim : candidate.victims) {
    sum += int64_t{victim.priority} + (int64_t{1} << 31);
  }
  // Among the victims of the highest priority, the one that started first.
  const Victim& top = candidate.victims.front();
  return {top.priority, sum, candidate.victims.size(), -top.started.ns()};
}

PodId PodOf(const JobRow& job, uint32_t index) { return PodId(job.first_pod.value() + index); }

// As upstream, a pod without a start time counts as started now, after all others.
SimTime StartOf(const JobRow& job) {
  return job.state == JobState::kStarting ? SimTime(std::numeric_limits<int64_t>::max())
                                          : job.started;
}

void RemoveJob(const JobRow& job, PostFilterHandle& handle) {
  for (uint32_t i = 0; i < job.pods; ++i) handle.Remove(PodOf(job, i));
}

void RestoreJob(const JobRow& job, PostFilterHandle& handle) {
  for (uint32_t i = 0; i < job.pods; ++i) handle.Restore(PodOf(job, i));
}

// The evictable jobs with pods on the node for a preemptor of `priority`, the most important first;
// equal ones in the order of the node's pods.
std::vector<JobId> PotentialVictims(NodeId node, int32_t priority, const PostFilterHandle& handle) {
  const JobTable& jobs = handle.jobs();
  std::vector<JobId> found;
  for (const PodId pod : handle.cluster().pods_on(node)) {
    const JobId id = jobs.job_of(pod);
    const JobRow& job = jobs.row(id);
    const bool holds = job.state == JobState::kRunning || job.state == JobState::kStarting;
    if (!holds || !job.preemptible || job.priority >= priority || handle.IsLeaving(id)) continue;
    // Several pods of a gang may share the node.
    if (job.pods > 1 && std::find(found.begin(), found.end(), id) != found.end()) continue;
    found.push_back(id);
  }
  std::stable_sort(found.begin(), found.end(), [&jobs](JobId a, JobId b) {
    const JobRow& x = jobs.row(a);
    const JobRow& y = jobs.row(b);
    if (x.priority != y.priority) return x.priority > y.priority;
    return StartOf(x) < StartOf(y);
  });
  return found;
}

// The victims whose eviction makes the pod fit the node; none when evictions cannot help.
std::vector<Victim> VictimsOn(NodeId node, int32_t priority, PostFilterHandle& handle) {
  const JobTable& jobs = handle.jobs();
  const std::vector<JobId> potential = PotentialVictims(node, priority, handle);
  std::vector<Victim> victims;
  if (potential.empty()) return victims;
  for (const JobId id : potential) RemoveJob(jobs.row(id), handle);
  const bool fits_without_all = handle.Fits(node);
  for (const JobId id : potential) {
    const JobRow& job = jobs.row(id);
    RestoreJob(job, handle);
    if (!fits_without_all || handle.Fits(node)) continue;
    RemoveJob(job, handle);
    for (uint32_t i = 0; i < job.pods; ++i) {
      victims.push_back({PodOf(job, i), job.priority, StartOf(job)});
    }
  }
  // Restores the node before the next one is tried.
  for (const Victim& victim : victims) handle.Restore(victim.pod);
  return victims;
}

}  // namespace

int64_t CandidatesToFind(int64_t nodes) {
  DRASIM_CHECK_GE(nodes, 0);
  const int64_t share = nodes * kMinCandidateNodesPercentage / 100;
  return std::min(nodes, std::max(share, kMinCandidateNodesAbsolute));
}

size_t PickOneNode(absl::Span<const Candidate> candidates) {
  DRASIM_CHECK(!candidates.empty());
  size_t best = 0;
  Cost best_cost = CostOf(candidates[0]);
  for (size_t i = 1; i < candidates.size(); ++i) {
    const Cost cost = CostOf(candidates[i]);
    if (cost >= best_cost) continue;
    best = i;
    best_cost = cost;
  }
  return best;
}

PostFilterResult DefaultPreemption::PostFilter(const PodContext& pod, PostFilterHandle& handle) {
  DRASIM_CHECK(pod.pod.valid());
  PostFilterResult result;
  if (pod.shape->constraints.never_preempts) return result;
  const int32_t priority = handle.cluster().pod_priority(pod.pod);
  if (!PostFilterMayHelp(priority, handle.jobs())) return result;
  const absl::Span<const NodeId> nodes = handle.candidates();
  if (nodes.empty()) return result;
  const uint64_t offset = handle.Draw(nodes.size());
  const auto enough = static_cast<size_t>(CandidatesToFind(static_cast<int64_t>(nodes.size())));
  std::vector<Candidate> found;
  for (size_t i = 0; i < nodes.size() && found.size() < enough; ++i) {
    const NodeId node = nodes[(offset + i) % nodes.size()];
    std::vector<Victim> victims = VictimsOn(node, priority, handle);
    if (!victims.empty()) found.push_back({node, std::move(victims)});
  }
  if (found.empty()) return result;
  const Candidate& chosen = found[PickOneNode(found)];
  result.code = StepCode::kSuccess;
  result.nominated = chosen.node;
  for (const Victim& victim : chosen.victims) result.victims.push_back(victim.pod);
  return result;
}

void RegisterDefaultPreemption(Registry& registry) {
  registry.AddPlugin("DefaultPreemption",
                     [](const PolicyContext&) { return std::make_unique<DefaultPreemption>(); });
}

}  // namespace drasim
