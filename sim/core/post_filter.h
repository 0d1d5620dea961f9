// The cluster on which PostFilter plugins try removals, for a pod that found no node.
#ifndef DRASIM_SIM_CORE_POST_FILTER_H_
#define DRASIM_SIM_CORE_POST_FILTER_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/job_table.h"
#include "model/random.h"
#include "policies/framework/profile.h"
#include "sim/core/dispatcher.h"
#include "sim/core/scheduling_cycle.h"
#include "sim/core/what_if.h"

namespace drasim {

// Lives for one PostFilter call. Pods that were removed and not restored are back when it is
// destroyed.
class PostFilterTrial : public PostFilterHandle {
 public:
  // No node fits the pod in the present state. All must outlive the trial. O(1), without an
  // allocation: most calls of PostFilter end before they look at a node.
  PostFilterTrial(const PodContext& pod, const Profile& profile, SchedulingCycle* cycle,
                  const JobTable& jobs, ClusterState* cluster, const JobControl* control,
                  Random* offsets);
  ~PostFilterTrial() override;
  PostFilterTrial(const PostFilterTrial&) = delete;
  PostFilterTrial& operator=(const PostFilterTrial&) = delete;

  const ClusterState& cluster() const override { return *cluster_; }
  const JobTable* jobs() const override { return &jobs_; }
  // The first call looks at all nodes, and must come before the first Remove.
  absl::Span<const NodeId> candidates() const override;
  bool Fits(NodeId node) override;
  void Remove(PodId pod) override;
  void Restore(PodId pod) override;
  void EndTrial() override;
  bool IsLeaving(JobId job) const override { return control_->IsBeingEvicted(job); }
  uint64_t Draw(uint64_t n) override { return offsets_->Below(n); }

 private:
  struct Removed {
    PodId pod;
    size_t removal;  // its number in the what-if
  };

  const PodContext& pod_;
  const Profile& profile_;
  SchedulingCycle* cycle_;
  const JobTable& jobs_;
  ClusterState* cluster_;
  const JobControl* control_;
  Random* offsets_;
  WhatIf what_if_;
  mutable bool listed_ = false;
  mutable std::vector<NodeId> candidates_;
  std::vector<Removed> removed_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_POST_FILTER_H_
