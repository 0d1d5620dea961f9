#include "sim/core/attempt_filters.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/device_set.h"
#include "model/resource_request.h"

namespace drasim {

AttemptFilters::AttemptFilters(const Profile* profile, ClusterState* cluster,
                               const Nominator* nominator, const PodContext& pod, uint64_t skipped,
                               bool wants_texts)
    : profile_(profile),
      cluster_(cluster),
      nominator_(nominator),
      pod_(pod),
      wants_texts_(wants_texts) {
  const std::vector<Profile::FilterEntry>& filters = profile_->filters();
  for (size_t f = 0; f < filters.size(); ++f) {
    if ((skipped >> f & 1) != 0) continue;
    asked_.push_back(filters[f]);
    if (!IsPrepared(filters[f])) continue;
    if (filters[f].plugin->filter_reach() == Reach::kCluster) told_.push_back(filters[f].plugin);
  }
}

bool AttemptFilters::IsPrepared(const Profile::FilterEntry& filter) const {
  const uint64_t unprepared = profile_->unprepared_filters();
  if (unprepared == 0) return true;
  const std::vector<Profile::FilterEntry>& filters = profile_->filters();
  for (size_t f = 0; f < filters.size(); ++f) {
    if (filters[f].plugin == filter.plugin) return (unprepared >> f & 1) == 0;
  }
  return true;
}

bool AttemptFilters::IsNominee(PodId other) const {
  if (!pod_.pod.valid()) return true;
  return other != pod_.pod && cluster_->pod_priority(other) >= cluster_->pod_priority(pod_.pod);
}

bool AttemptFilters::HasNominees(NodeId node) const {
  for (const PodId other : nominator_->On(node)) {
    if (IsNominee(other)) return true;
  }
  return false;
}

// Adds the nominee to its node. One that needs devices which are not free yet stays away: it could
// hold none of those that are.
bool AttemptFilters::AddNominee(PodId other, NodeId node) const {
  const ResourceRequest& request = cluster_->pod_shape(other).request;
  if (request.gets_devices_from_node()) {
    cluster_->Adopt(other, node);
    return true;
  }
  DeviceSet devices;
  const DeviceSet usable = cluster_->UsableGpus(node, request.model_mask);
  const absl::Span<const int16_t> idle = cluster_->device_milli_idle(node);
  for (size_t i = 0; i < idle.size() && devices.size() < request.gpu_count; ++i) {
    if (usable.Contains(i) && idle[i] >= request.gpu_milli) devices.Add(i);
  }
  if (!cluster_->CanPlace(cluster_->pod_shape_id(other), node, devices)) return false;
  cluster_->Assume(other, node, devices);
  return true;
}

ReasonIndex AttemptFilters::JudgeOnce(NodeId node) const {
  for (const Profile::FilterEntry& filter : asked_) {
    if (!IsPrepared(filter)) return kFailed;
    ReasonIndex verdict = kFits;
    filter.plugin->Filter(pod_, *cluster_, absl::MakeConstSpan(&node, 1),
                          absl::MakeSpan(&verdict, 1));
    if (verdict != kFits) return static_cast<ReasonIndex>(filter.reason_base + verdict);
  }
  return kFits;
}

void AttemptFilters::AddNominees(NodeId node) const {
  for (const PodId other : nominator_->On(node)) {
    // A nominee on its node already is about to lose the nomination.
    if (!IsNominee(other) || cluster_->pod_phase(other) != PodPhase::kPending) continue;
    if (AddNominee(other, node)) OnPodAdded(other, node);
  }
}

NodeStatus AttemptFilters::WhyNot(NodeId node, ReasonIndex verdict) const {
  if (verdict != kFailed) return StatusOf(node, verdict);
  const auto failed =
      std::find_if(asked_.begin(), asked_.end(),
                   [this](const Profile::FilterEntry& filter) { return !IsPrepared(filter); });
  const FilterPlugin* const plugin = failed->plugin;
  return {plugin,
          StepCode::kError,
          {absl::StrCat("running \"", plugin->name(),
                        "\" filter plugin: ", plugin->WithoutPreFilter())},
          node};
}

ReasonIndex AttemptFilters::Judge(NodeId node, NodeStatus* why) const {
  if (HasNominees(node)) {
    cluster_->BeginWhatIf();
    BeginTrial();
    AddNominees(node);
    const ReasonIndex verdict = JudgeOnce(node);
    if (verdict != kFits) *why = WhyNot(node, verdict);
    EndTrial();
    cluster_->Rollback();
    if (verdict != kFits) return verdict;
  }
  const ReasonIndex verdict = JudgeOnce(node);
  if (verdict != kFits) *why = WhyNot(node, verdict);
  return verdict;
}

void AttemptFilters::JudgeAll(NodeId node, absl::FunctionRef<void(const NodeStatus&)> tell) const {
  std::vector<bool> told(asked_.size());
  const auto ask = [&] {
    for (size_t f = 0; f < asked_.size(); ++f) {
      if (told[f] || !IsPrepared(asked_[f])) continue;
      ReasonIndex verdict = kFits;
      asked_[f].plugin->Filter(pod_, *cluster_, absl::MakeConstSpan(&node, 1),
                               absl::MakeSpan(&verdict, 1));
      if (verdict == kFits) continue;
      told[f] = true;
      tell(StatusOf(node, static_cast<ReasonIndex>(asked_[f].reason_base + verdict)));
    }
  };
  if (HasNominees(node)) {
    cluster_->BeginWhatIf();
    BeginTrial();
    AddNominees(node);
    ask();
    EndTrial();
    cluster_->Rollback();
  }
  ask();
}

const Profile::FilterEntry& AttemptFilters::FilterOf(ReasonIndex reason) const {
  const std::vector<Profile::FilterEntry>& filters = profile_->filters();
  size_t f = 0;
  while (!filters[f].gives(reason)) ++f;
  return filters[f];
}

bool AttemptFilters::IsResolvable(NodeId node, ReasonIndex reason) const {
  const Profile::FilterEntry& filter = FilterOf(reason);
  const auto local = static_cast<ReasonIndex>(reason - filter.reason_base);
  return filter.plugin->IsResolvable(pod_, *cluster_, node, local);
}

NodeStatus AttemptFilters::StatusOf(NodeId node, ReasonIndex reason) const {
  const Profile::FilterEntry& filter = FilterOf(reason);
  const auto local = static_cast<ReasonIndex>(reason - filter.reason_base);
  NodeStatus status;
  status.plugin = filter.plugin;
  status.node = node;
  status.code = filter.plugin->IsResolvable(pod_, *cluster_, node, local) ? StepCode::kReject
                                                                          : StepCode::kUnresolvable;
  if (wants_texts_) status.reasons = filter.plugin->ReasonTexts(pod_, *cluster_, node, local);
  return status;
}

void AttemptFilters::BeginTrial() const {
  for (FilterPlugin* filter : told_) filter->BeginTrial();
}

void AttemptFilters::EndTrial() const {
  for (FilterPlugin* filter : told_) filter->EndTrial();
}

void AttemptFilters::OnPodAdded(PodId other, NodeId node) const {
  for (FilterPlugin* filter : told_) filter->OnPodAdded(pod_, *cluster_, other, node);
}

void AttemptFilters::OnPodRemoved(PodId other, NodeId node) const {
  for (FilterPlugin* filter : told_) filter->OnPodRemoved(pod_, *cluster_, other, node);
}

}  // namespace drasim
