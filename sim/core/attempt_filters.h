// AttemptFilters: the Filter plugins of one scheduling attempt, asked about single nodes in the
// cluster's present state, trials included.
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/runtime/framework.go
// (RunFilterPluginsWithNominatedPods), 1.34.
#ifndef DRASIM_SIM_CORE_ATTEMPT_FILTERS_H_
#define DRASIM_SIM_CORE_ATTEMPT_FILTERS_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "policies/framework/plugin.h"
#include "policies/framework/profile.h"
#include "sim/core/nominator.h"

namespace drasim {

class AttemptFilters {
 public:
  // `skipped`: bits by place in the profile. All must outlive it.
  AttemptFilters(const Profile* profile, ClusterState* cluster, const Nominator* nominator,
                 const PodContext& pod, uint64_t skipped, bool wants_texts);

  // Whether pods are nominated to the node that take their room before this pod: other ones, of at
  // least its priority.
  bool HasNominees(NodeId node) const;
  // Result of Judge where a filter cannot be asked (Profile::unprepared_filters).
  static constexpr ReasonIndex kFailed = std::numeric_limits<ReasonIndex>::max();

  // The reason of the first filter that rejects the node, with nominees and without them; kFits if
  // none does. `why` is set otherwise (its texts, if they are wanted). kFailed: an error, with the
  // text in `why` in any case.
  ReasonIndex Judge(NodeId node, NodeStatus* why) const;
  // Tells of every filter that rejects the node, with nominees or else without them, each once and
  // in the state in which it does. Those with nominees go first, else in order.
  void JudgeAll(NodeId node, absl::FunctionRef<void(const NodeStatus&)> tell) const;
  // The node's status for a reason of the profile, in the state in which the reason was given.
  NodeStatus StatusOf(NodeId node, ReasonIndex reason) const;
  bool IsResolvable(NodeId node, ReasonIndex reason) const;

  // Tells filters of Reach::kCluster, which keep counts since PreFilter.
  void BeginTrial() const;
  void EndTrial() const;
  void OnPodAdded(PodId other, NodeId node) const;
  void OnPodRemoved(PodId other, NodeId node) const;

 private:
  bool IsNominee(PodId other) const;
  bool AddNominee(PodId other, NodeId node) const;
  void AddNominees(NodeId node) const;
  ReasonIndex JudgeOnce(NodeId node) const;
  NodeStatus WhyNot(NodeId node, ReasonIndex verdict) const;
  const Profile::FilterEntry& FilterOf(ReasonIndex reason) const;
  bool IsPrepared(const Profile::FilterEntry& filter) const;

  const Profile* profile_;
  ClusterState* cluster_;
  const Nominator* nominator_;
  const PodContext& pod_;
  bool wants_texts_;
  std::vector<Profile::FilterEntry> asked_;  // those that do not skip, in order
  std::vector<FilterPlugin*> told_;          // those of them that see the cluster
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_ATTEMPT_FILTERS_H_
