// DefaultPreemption (PostFilter): evicts pods of lower priority where that makes room for a pod
// that fits nowhere, as kube-scheduler's plugin of that name decides.
//
// The nodes whose rejection evictions can lift are tried one after the other, from a random one on,
// until enough are found that would take the pod. On each, all pods of lower priority leave; if the
// pod then fits, they are put back, the most important first, as long as it still does. Those that
// stay away are the node's victims. The node whose victims cost least is chosen.
//
// A job lives and dies as a whole: a pod of a gang is evicted with all its fellows, wherever they
// are, and each of them counts.
//
// Not modelled: PodDisruptionBudgets (no eviction ever violates one, so that rule of the choice
// never decides) and extenders. Whether a pod has to
// wait for victims that are already on their way out, and the eviction itself, are the engine's.
// The nominated node is informative: nobody reserves it for the pod.
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

// A node that would take the pod once the victims are gone.
struct Candidate {
  NodeId node;
  // At least one. The most important first: higher priority, then earlier start.
  std::vector<Victim> victims;
};

// How many candidates are enough, of so many nodes that evictions may help: a tenth
// (minCandidateNodesPercentage), but 100 (minCandidateNodesAbsolute) if there are that many.
// REQUIRES: nodes >= 0.
int64_t CandidatesToFind(int64_t nodes);

// The index of the candidate whose victims cost least: the lowest priority of the most important
// one; then the lowest sum of priorities, each counted from the lowest possible one, so that more
// victims cost more; then the fewest; then the latest start of the most important one; then the
// first. REQUIRES: not empty, and every candidate as described there. O(victims).
size_t PickOneNode(absl::Span<const Candidate> candidates);

class DefaultPreemption : public Plugin {
 public:
  absl::string_view name() const override { return "DefaultPreemption"; }
  uint32_t points() const override { return kPostFilter; }
  // Victims of one job follow each other; apart from that the most important comes first.
  // Everything that was tried out is taken back. One draw if there are candidate nodes. O(p log p)
  // time and p + 1 calls of Fits for each node tried, where p is the number of pods on it.
  PostFilterResult PostFilter(const PodContext& pod, PostFilterHandle& handle) override;
  // Most attempts fail where nobody could be displaced anyway.
  bool PostFilterMayHelp(int32_t priority, const JobTable& jobs) const override {
    return jobs.AnyHolderBelow(priority);
  }
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_DEFAULT_PREEMPTION_H_
