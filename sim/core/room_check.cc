#include "sim/core/room_check.h"

#include <utility>

#include "absl/types/span.h"
#include "model/reason_kind.h"

namespace drasim {
namespace {

AdmissionFailure ConflictOf(ReasonKind kind) {
  switch (kind) {
    case ReasonKind::kCpu:
      return AdmissionFailure::kOutOfCpu;
    case ReasonKind::kMemory:
      return AdmissionFailure::kOutOfMemory;
    case ReasonKind::kPodSlots:
      return AdmissionFailure::kOutOfPods;
    case ReasonKind::kHostPorts:
      return AdmissionFailure::kPortsInUse;
    default:
      return AdmissionFailure::kOutOfDevices;
  }
}

ReasonIndex VerdictOf(const FilterPlugin& filter, const PodContext& pod,
                      const ClusterState& cluster, NodeId node) {
  ReasonIndex verdict = kFits;
  filter.Filter(pod, cluster, absl::MakeConstSpan(&node, 1), absl::MakeSpan(&verdict, 1));
  return verdict;
}

// Whether the profile runs the same plugin, and that lets the pod in.
bool Accepts(const Profile& profile, const FilterPlugin& same, const PodContext& pod,
             const ClusterState& cluster, NodeId node) {
  for (const Profile::FilterEntry& entry : profile.filters()) {
    if (entry.plugin->name() != same.name()) continue;
    return VerdictOf(*entry.plugin, pod, cluster, node) == kFits;
  }
  return false;
}

}  // namespace

RoomCheck::RoomCheck(std::vector<std::unique_ptr<Plugin>> filters) : plugins_(std::move(filters)) {
  for (const std::unique_ptr<Plugin>& plugin : plugins_) {
    if (const auto* const filter = dynamic_cast<const FilterPlugin*>(plugin.get())) {
      filters_.push_back(filter);
    }
  }
}

AdmissionFailure RoomCheck::Ask(const PodContext& pod, const Profile& profile,
                                const ClusterState& cluster, NodeId node) const {
  for (const FilterPlugin* const filter : filters_) {
    const ReasonIndex verdict = VerdictOf(*filter, pod, cluster, node);
    if (verdict == kFits) continue;
    const ReasonKind kind = filter->reasons()[verdict - size_t{1}].kind;
    if (kind == ReasonKind::kExtendedResource && Accepts(profile, *filter, pod, cluster, node)) {
      continue;
    }
    return ConflictOf(kind);
  }
  return AdmissionFailure::kNone;
}

}  // namespace drasim
