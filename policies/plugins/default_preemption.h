// DefaultPreemption (PostFilter): evicts pods of lower priority to make room for a pod that fits
// nowhere, as kube-scheduler's plugin of that name does.
//
// Nodes on which evictions can help are tried in turn, from an offset on, until there are enough
// candidates. On each node, all pods of lower priority are removed. If the pod then fits, they are
// put back as long as it still fits: first those whose eviction would violate a
// PodDisruptionBudget, then the others, the most important first. Pods that cannot be put back are
// the node's victims. The node whose victims cost least is chosen.
//
// In runs with jobs, a gang is evicted as a whole: its pods on all nodes count as victims.
//
// The engine carries out evictions. Not modelled here: extenders.
//
// Source: kubernetes/kubernetes, pkg/scheduler/framework/preemption and
// .../framework/plugins/defaultpreemption (1.34), with sequential trials and the first of equal
// nodes where kube-scheduler leaves both to chance.
#ifndef DRASIM_POLICIES_PLUGINS_DEFAULT_PREEMPTION_H_
#define DRASIM_POLICIES_PLUGINS_DEFAULT_PREEMPTION_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/ids.h"
#include "model/job_table.h"
#include "model/time.h"
#include "policies/framework/plugin.h"
#include "policies/framework/plugin_args.h"

namespace drasim {

struct Victim {
  PodId pod;
  int32_t priority = 0;
  SimTime started;
};

// A node that would take the pod after the victims have left.
struct Candidate {
  NodeId node;
  // At least one. The most important first: higher priority, then earlier start.
  std::vector<Victim> victims;
  int64_t budget_violations = 0;  // victims whose eviction violates a PodDisruptionBudget
};

// The number of candidates to look for among `nodes` nodes on which evictions may help: a share
// (minCandidateNodesPercentage), but at least an absolute number (minCandidateNodesAbsolute) if
// there are as many. REQUIRES: nodes >= 0.
int64_t CandidatesToFind(int64_t nodes, const DefaultPreemptionArgs& args = {});

// The indices of the candidates whose victims cost least, ascending: the fewest violated budgets;
// then the lowest priority of the most important victim; then the lowest sum of priorities, each
// counted from the lowest possible one, so that more victims cost more; then the fewest; then the
// latest start of the most important one. REQUIRES: not empty, and every candidate as described
// there. O(victims).
std::vector<size_t> BestCandidates(absl::Span<const Candidate> candidates);

class DefaultPreemption : public PostFilterPlugin {
 public:
  explicit DefaultPreemption(const DefaultPreemptionArgs& args = {}) : args_(args) {}

  absl::string_view name() const override { return "DefaultPreemption"; }
  // Victims are in order of importance, but those of one job follow each other. Takes all trial
  // changes back. One draw if there are candidate nodes. O(p log p) time and p + 1 calls of Fits
  // per node tried, where p is the number of its pods.
  PostFilterResult PostFilter(const PodContext& pod, PostFilterHandle& handle) override;
  // False if no job of lower priority holds a node.
  bool PostFilterMayHelp(int32_t priority, const JobTable& jobs) const override {
    return jobs.AnyHolderBelow(priority);
  }

 private:
  DefaultPreemptionArgs args_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_DEFAULT_PREEMPTION_H_
