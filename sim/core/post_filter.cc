#include "sim/core/post_filter.h"

#include <algorithm>

#include "model/check.h"

namespace drasim {

PostFilterTrial::PostFilterTrial(const PodContext& pod, const Profile& profile,
                                 SchedulingCycle* cycle, const JobTable& jobs,
                                 ClusterState* cluster, const JobControl* control, Random* offsets)
    : pod_(pod),
      profile_(profile),
      cycle_(cycle),
      jobs_(jobs),
      cluster_(cluster),
      control_(control),
      offsets_(offsets),
      what_if_(cluster) {
  for (FilterPlugin* filter : cycle_->cluster_filters()) filter->BeginTrial();
}

PostFilterTrial::~PostFilterTrial() {
  for (FilterPlugin* filter : cycle_->cluster_filters()) filter->EndTrial();
}

void PostFilterTrial::EndTrial() {
  DRASIM_CHECK(removed_.empty());
  for (FilterPlugin* filter : cycle_->cluster_filters()) {
    filter->EndTrial();
    filter->BeginTrial();
  }
}

absl::Span<const NodeId> PostFilterTrial::candidates() const {
  if (listed_) return candidates_;
  listed_ = true;
  DRASIM_CHECK(removed_.empty());
  cycle_->Look(pod_);
  const std::vector<Profile::FilterEntry>& filters = profile_.filters();
  for (size_t n = 0; n < cluster_->node_count(); ++n) {
    const NodeId node(n);
    const ReasonIndex verdict = cycle_->verdict(pod_.shape_id, node);
    if (verdict == kFits || verdict == kNotThere || !cycle_->IsNamed(node)) continue;
    size_t f = 0;
    while (!filters[f].gives(verdict)) ++f;
    const auto local = static_cast<ReasonIndex>(verdict - filters[f].reason_base);
    if (filters[f].plugin->IsResolvable(pod_, *cluster_, node, local)) candidates_.push_back(node);
  }
  return candidates_;
}

bool PostFilterTrial::Fits(NodeId node) {
  ReasonIndex verdict = kFits;
  const std::vector<Profile::FilterEntry>& filters = profile_.filters();
  for (size_t f = 0; f < filters.size(); ++f) {
    if (cycle_->IsSkipped(f)) continue;
    filters[f].plugin->AskFilter(pod_, *cluster_, absl::MakeConstSpan(&node, 1),
                                 absl::MakeSpan(&verdict, 1));
    if (verdict != kFits) return false;
  }
  for (NodeRestrictionPlugin* plugin : profile_.restrictions()) {
    if (plugin->WhyRestricted(pod_, node) != kFits) return false;
  }
  return true;
}

void PostFilterTrial::Remove(PodId pod) {
  const NodeId node = cluster_->pod_node(pod);
  removed_.push_back({pod, what_if_.Remove(pod)});
  for (FilterPlugin* filter : cycle_->cluster_filters()) {
    filter->OnPodRemoved(pod_, *cluster_, pod, node);
  }
}

void PostFilterTrial::Restore(PodId pod) {
  const auto it = std::find_if(removed_.begin(), removed_.end(),
                               [pod](const Removed& r) { return r.pod == pod; });
  DRASIM_CHECK(it != removed_.end());
  what_if_.Restore(it->removal);
  removed_.erase(it);
  const NodeId node = cluster_->pod_node(pod);
  for (FilterPlugin* filter : cycle_->cluster_filters()) {
    filter->OnPodAdded(pod_, *cluster_, pod, node);
  }
}

}  // namespace drasim
