// KubePostFilter: the cluster on which PostFilter plugins try removals after an attempt of
// KubeCycle that found no node.
#ifndef DRASIM_SIM_CORE_KUBE_POST_FILTER_H_
#define DRASIM_SIM_CORE_KUBE_POST_FILTER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/job_table.h"
#include "model/random.h"
#include "policies/framework/plugin.h"
#include "policies/framework/profile.h"
#include "sim/core/attempt_filters.h"
#include "sim/core/extender.h"
#include "sim/core/job_control.h"
#include "sim/core/nominator.h"
#include "sim/core/what_if.h"

namespace drasim {

// A node with a status of its own.
struct RejectedNode {
  NodeId node;
  ReasonIndex reason = kFits;  // of the profile
  // 1 + the place of its status in a list, where the reason alone does not say it; 0: it does.
  uint32_t status = 0;
};

// The attempt so far. Pointers and spans outlive the handle.
struct FailedSearch {
  const PodContext* pod = nullptr;
  const Profile* profile = nullptr;
  const AttemptFilters* filters = nullptr;
  absl::Span<const RejectedNode> rejected;
  absl::Span<const NodeStatus> statuses;
  bool all_resolvable = false;  // PreFilter rejected the pod, but evictions may help on every node
  size_t pre_filters_run = 0;   // number of the profile's PreFilter plugins that ran
  bool wants_texts = false;
  PreemptionReport* report = nullptr;
};

struct PostFilterOptions {
  const JobTable* jobs = nullptr;       // null: every pod is for itself
  const JobControl* control = nullptr;  // beside `jobs`
  Random* offsets = nullptr;            // null: all draws are 0
  bool tries_all = false;
  absl::Span<Extender* const> extenders;
  int64_t* extender_waits = nullptr;  // beside `extenders`; counts answers that were waited for
};

// Lives for one attempt. All pods are back when it is destroyed.
class KubePostFilter : public PostFilterHandle {
 public:
  KubePostFilter(FailedSearch attempt, const PostFilterOptions& options, const Nominator* nominator,
                 ClusterState* cluster)
      : attempt_(attempt),
        options_(options),
        nominator_(nominator),
        cluster_(cluster),
        what_if_(cluster) {}
  ~KubePostFilter() override { EndTrial(); }
  KubePostFilter(const KubePostFilter&) = delete;
  KubePostFilter& operator=(const KubePostFilter&) = delete;

  const ClusterState& cluster() const override { return *cluster_; }
  const JobTable* jobs() const override { return options_.jobs; }
  // In order of addition. The first call looks at all rejected nodes, and must come before the
  // first Remove.
  absl::Span<const NodeId> candidates() const override;
  bool Fits(NodeId node) override;
  void Remove(PodId pod) override;
  void Restore(PodId pod) override;
  void EndTrial() override;
  bool RanPreFilter(const PreFilterPlugin& plugin) const override;
  bool IsLeaving(JobId job) const override {
    return options_.control != nullptr && options_.control->IsBeingEvicted(job);
  }
  uint64_t Draw(uint64_t n) override {
    return options_.offsets == nullptr ? 0 : options_.offsets->Below(n);
  }
  NodeId nominated_node() const override { return nominator_->NodeOf(attempt_.pod->pod); }
  bool IsUnresolvable(NodeId node) const override {
    const absl::Span<const NodeId> resolvable = candidates();
    return !std::binary_search(resolvable.begin(), resolvable.end(), node);
  }
  absl::Span<const PodId> NominatedOn(NodeId node) const override { return nominator_->On(node); }
  bool tries_all() const override { return options_.tries_all; }
  bool sorts_as_go() const override { return true; }
  bool wants_texts() const override { return attempt_.wants_texts; }
  NodeStatus WhyNot() const override { return why_not_; }
  bool extenders_preempt() const override;
  absl::Status AskExtenders(std::vector<PreemptionReport::Candidate>* candidates) override;
  PreemptionReport* report() override { return attempt_.report; }

 private:
  const FailedSearch attempt_;
  const PostFilterOptions options_;
  const Nominator* nominator_;
  ClusterState* cluster_;
  WhatIf what_if_;
  mutable bool listed_ = false;
  mutable std::vector<NodeId> candidates_;
  bool in_trial_ = false;
  std::vector<std::pair<PodId, size_t>> removed_;  // and their numbers in the what-if
  NodeStatus why_not_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_KUBE_POST_FILTER_H_
