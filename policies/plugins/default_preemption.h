// DefaultPreemption (PostFilter): evicts pods of lower priority to make room for a pod that fits
// nowhere, as kube-scheduler's plugin of that name does.
//
// Nodes on which evictions can help are tried in turn, starting from a random one, until there are
// enough candidates. On each node, all pods of lower priority are removed. If the pod then fits,
// they are put back, the most important first, as long as it still fits. Pods that cannot be put
// back are the node's victims. The node whose victims cost least is chosen.
//
// A gang is evicted as a whole: its pods on all nodes count as victims.
//
// Not modelled: PodDisruptionBudgets (no eviction violates one, so that rule never decides) and
// extenders. The engine carries out evictions, and decides whether a pod waits for victims that are
// already leaving. The nominated node is not reserved for the pod.
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
};

// The number of candidates to look for among `nodes` nodes on which evictions may help: a tenth
// (minCandidateNodesPercentage), but at least 100 (minCandidateNodesAbsolute) if there are as many.
// REQUIRES: nodes >= 0.
int64_t CandidatesToFind(int64_t nodes);

// The index of the candidate whose victims cost least: the lowest priority of the most important
// one; then the lowest sum of priorities, each counted from the lowest possible one, so that more
// victims cost more; then the fewest; then the latest start of the most important one; then the
// first. REQUIRES: not empty, and every candidate as described there. O(victims).
size_t PickOneNode(absl::Span<const Candidate> candidates);

class DefaultPreemption : public PostFilterPlugin {
 public:
  absl::string_view name() const override { return "DefaultPreemption"; }
  // Victims are in order of importance, but those of one job follow each other. Takes all trial
  // changes back. One draw if there are candidate nodes. O(p log p) time and p + 1 calls of Fits
  // per node tried, where p is the number of its pods.
  PostFilterResult PostFilter(const PodContext& pod, PostFilterHandle& handle) override;
  // False if no job of lower priority holds a node.
  bool PostFilterMayHelp(int32_t priority, const JobTable& jobs) const override {
    return jobs.AnyHolderBelow(priority);
  }
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_DEFAULT_PREEMPTION_H_
