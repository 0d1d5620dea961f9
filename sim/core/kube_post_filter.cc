#include "sim/core/kube_post_filter.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/check.h"

namespace drasim {

absl::Span<const NodeId> KubePostFilter::candidates() const {
  if (std::exchange(listed_, true)) return candidates_;
  DRASIM_CHECK(!in_trial_);
  if (attempt_.all_resolvable) {
    const absl::Span<const NodeId> all = cluster_->node_order();
    candidates_.assign(all.begin(), all.end());
  }
  for (const RejectedNode& rejected : attempt_.rejected) {
    const bool resolvable = rejected.status == 0
                                ? attempt_.filters->IsResolvable(rejected.node, rejected.reason)
                                : attempt_.statuses[rejected.status - 1].code == StepCode::kReject;
    if (resolvable) candidates_.push_back(rejected.node);
  }
  std::sort(candidates_.begin(), candidates_.end());
  return candidates_;
}

bool KubePostFilter::Fits(NodeId node) {
  if (attempt_.filters->Judge(node, &why_not_) != kFits) return false;
  for (NodeRestrictionPlugin* plugin : attempt_.profile->restrictions()) {
    if (plugin->WhyRestricted(*attempt_.pod, node) == kFits) continue;
    why_not_ = {plugin, StepCode::kUnresolvable, {}, node};
    return false;
  }
  return true;
}

void KubePostFilter::Remove(PodId pod) {
  if (!in_trial_) attempt_.filters->BeginTrial();
  in_trial_ = true;
  const NodeId node = cluster_->pod_node(pod);
  removed_.emplace_back(pod, what_if_.Remove(pod));
  attempt_.filters->OnPodRemoved(pod, node);
}

void KubePostFilter::Restore(PodId pod) {
  const auto it = std::find_if(removed_.begin(), removed_.end(),
                               [pod](const auto& removed) { return removed.first == pod; });
  DRASIM_CHECK(it != removed_.end());
  what_if_.Restore(it->second);
  removed_.erase(it);
  attempt_.filters->OnPodAdded(pod, cluster_->pod_node(pod));
}

void KubePostFilter::EndTrial() {
  if (!in_trial_) return;
  in_trial_ = false;
  attempt_.filters->EndTrial();
  what_if_.End();
  removed_.clear();
}

bool KubePostFilter::RanPreFilter(const PreFilterPlugin& plugin) const {
  const std::vector<PreFilterPlugin*>& all = attempt_.profile->pre_filters();
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(attempt_.pre_filters_run);
  return std::find(all.begin(), end, &plugin) != end;
}

bool KubePostFilter::extenders_preempt() const {
  return std::any_of(options_.extenders.begin(), options_.extenders.end(), [this](Extender* e) {
    return e->preempts() && e->IsInterested(attempt_.pod->pod);
  });
}

// Upstream's callExtenders.
absl::Status KubePostFilter::AskExtenders(std::vector<PreemptionReport::Candidate>* candidates) {
  for (Extender* extender : options_.extenders) {
    if (candidates->empty()) break;
    if (!extender->preempts() || !extender->IsInterested(attempt_.pod->pod)) continue;
    ++*options_.extender_waits;
    auto left = extender->Preempt(attempt_.pod->pod, *candidates);
    if (!left.ok()) {
      if (extender->ignorable()) continue;
      return left.status();
    }
    const auto is_empty = [](const PreemptionReport::Candidate& c) { return c.victims.empty(); };
    if (extender->ignorable()) {
      left->erase(std::remove_if(left->begin(), left->end(), is_empty), left->end());
    }
    const auto empty = std::find_if(left->begin(), left->end(), is_empty);
    if (empty != left->end()) {
      return absl::InvalidArgumentError(absl::StrCat("expected at least one victim pod on node \"",
                                                     cluster_->node_spec(empty->node).name, "\""));
    }
    *candidates = *std::move(left);
  }
  return absl::OkStatus();
}

}  // namespace drasim
