#include "sim/core/post_filter.h"

#include <algorithm>

#include "model/check.h"

namespace drasim {

PostFilterTrial::PostFilterTrial(const PodContext& pod, const Profile& profile,
                                 absl::Span<Plugin* const> restricting, SchedulingCycle* cycle,
                                 const JobTable& jobs, ClusterState* cluster,
                                 const JobControl* control, Random* offsets)
    : pod_(pod),
      profile_(profile),
      restricting_(restricting),
      cycle_(cycle),
      jobs_(jobs),
      cluster_(cluster),
      control_(control),
      offsets_(offsets),
      what_if_(cluster) {}

absl::Span<const NodeId> PostFilterTrial::candidates() const {
  if (listed_) return candidates_;
  listed_ = true;
  DRASIM_CHECK(removed_.empty());
  cycle_->Look(pod_);
  const std::vector<Profile::FilterEntry>& filters = profile_.filters();
  for (size_t n = 0; n < cluster_->node_count(); ++n) {
    const NodeId node(n);
    const ReasonIndex verdict = cycle_->verdict(pod_.shape_id, node);
    if (verdict == kFits || verdict == kNotThere) continue;
    // The filter whose reasons the verdict falls among: the last that begins below it.
    size_t f = filters.size() - 1;
    while (f > 0 && filters[f].reason_base >= verdict) --f;
    const auto local = static_cast<ReasonIndex>(verdict - filters[f].reason_base);
    if (filters[f].plugin->IsResolvable(pod_, *cluster_, node, local)) candidates_.push_back(node);
  }
  return candidates_;
}

bool PostFilterTrial::Fits(NodeId node) {
  ReasonIndex verdict = kFits;
  for (const Profile::FilterEntry& filter : profile_.filters()) {
    filter.plugin->Filter(pod_, *cluster_, absl::MakeConstSpan(&node, 1),
                          absl::MakeSpan(&verdict, 1));
    if (verdict != kFits) return false;
  }
  for (Plugin* plugin : restricting_) {
    if (plugin->WhyRestricted(pod_, node) != kFits) return false;
  }
  return true;
}

void PostFilterTrial::Remove(PodId pod) { removed_.push_back({pod, what_if_.Remove(pod)}); }

void PostFilterTrial::Restore(PodId pod) {
  const auto it = std::find_if(removed_.begin(), removed_.end(),
                               [pod](const Removed& r) { return r.pod == pod; });
  DRASIM_CHECK(it != removed_.end());
  what_if_.Restore(it->removal);
  removed_.erase(it);
}

}  // namespace drasim
