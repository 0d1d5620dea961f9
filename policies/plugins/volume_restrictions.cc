#include "policies/plugins/volume_restrictions.h"

#include <algorithm>
#include <memory>
#include <set>

#include "model/cluster_objects.h"
#include "model/pod_volumes.h"
#include "model/volume_objects.h"
#include "policies/framework/registry.h"
#include "policies/plugins/volume_texts.h"

namespace drasim {
namespace {

constexpr ReasonIndex kDiskConflict = 1;
constexpr ReasonIndex kClaimInUse = 2;
constexpr ReasonIndex kVolumeClaimMissing = 3;

bool MayConflict(const VolumeSource& source) {
  return source.kind == VolumeSource::Kind::kGcePd || source.kind == VolumeSource::Kind::kAwsEbs ||
         source.kind == VolumeSource::Kind::kRbd || source.kind == VolumeSource::Kind::kIscsi;
}

bool SourcesConflict(const VolumeSource& a, const VolumeSource& b) {
  if (a.kind != b.kind || !MayConflict(a) || a.id != b.id) return false;
  if (a.kind == VolumeSource::Kind::kAwsEbs) return true;
  if (a.read_only && b.read_only) return false;
  if (a.kind != VolumeSource::Kind::kRbd) return true;
  return a.pool == b.pool &&
         std::any_of(a.monitors.begin(), a.monitors.end(), [&b](const std::string& monitor) {
           return std::find(b.monitors.begin(), b.monitors.end(), monitor) != b.monitors.end();
         });
}

bool VolumesConflict(const PodVolumes& a, const PodVolumes& b) {
  for (const PodVolume& volume : a.volumes) {
    for (const PodVolume& other : b.volumes) {
      if (SourcesConflict(volume.source, other.source)) return true;
    }
  }
  return false;
}

// A claim that the pod names itself: generic ephemeral volumes have one each.
bool NamesClaim(const PodVolume& volume) { return volume.has_claim && !volume.ephemeral; }

}  // namespace

std::vector<Reason> VolumeRestrictions::reasons() const {
  return {{ReasonKind::kVolume, "node(s) had no available disk"},
          {ReasonKind::kVolume,
           "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
           "already in-use by another pod"},
          {ReasonKind::kVolume, "persistentvolumeclaim not found"}};
}

bool VolumeRestrictions::MayHelp(const ClusterChange& change, const PodContext& pod,
                                 const ClusterState&) const {
  if (change.event != kPodRemoved || change.pod == nullptr) return true;
  if (change.pod->identity.ns != pod.shape->identity.ns) return false;
  if (VolumesConflict(pod.shape->volumes, change.pod->volumes)) return true;
  for (const PodVolume& volume : pod.shape->volumes.volumes) {
    for (const PodVolume& other : change.pod->volumes.volumes) {
      if (NamesClaim(volume) && NamesClaim(other) && volume.claim == other.claim) return true;
    }
  }
  return false;
}

StepResult VolumeRestrictions::PreFilter(const PodContext& pod, const ClusterState& cluster) {
  exclusive_.clear();
  users_ = 0;
  trials_.clear();
  StepResult result;
  const std::string& ns = pod.shape->identity.ns;
  bool has_disks = false;
  for (const PodVolume& volume : pod.shape->volumes.volumes) {
    has_disks = has_disks || MayConflict(volume.source);
    if (!NamesClaim(volume)) continue;
    const VolumeClaimObject* claim = cluster.objects().volumes.FindClaim(ns, volume.claim);
    if (claim == nullptr) {
      result.code = StepCode::kUnresolvable;
      result.reason = kVolumeClaimMissing;
      result.message = ClaimNotFound(volume.claim);
      return result;
    }
    if (std::find(claim->access_modes.begin(), claim->access_modes.end(),
                  AccessMode::kReadWriteOncePod) != claim->access_modes.end()) {
      exclusive_.push_back(claim->name);
    }
  }
  std::sort(exclusive_.begin(), exclusive_.end());
  exclusive_.erase(std::unique(exclusive_.begin(), exclusive_.end()), exclusive_.end());
  if (!exclusive_.empty()) {
    // A claim in use counts once, however many pods use it; trials count each use.
    std::set<std::string> used;
    for (const NodeId node : cluster.node_order()) {
      for (const PodId other : cluster.pods_on(node)) {
        const PodShape& shape = cluster.pod_shape(other);
        if (shape.identity.ns != ns) continue;
        for (const PodVolume& volume : shape.volumes.volumes) {
          if (NamesClaim(volume) &&
              std::binary_search(exclusive_.begin(), exclusive_.end(), volume.claim)) {
            used.insert(volume.claim);
          }
        }
      }
    }
    users_ = static_cast<int64_t>(used.size());
  }
  if (!has_disks && users_ == 0) result.code = StepCode::kSkip;
  return result;
}

void VolumeRestrictions::Filter(const PodContext& pod, const ClusterState& cluster,
                                absl::Span<const NodeId> nodes,
                                absl::Span<ReasonIndex> verdicts) const {
  const PodVolumes& volumes = pod.shape->volumes;
  const bool has_disks =
      std::any_of(volumes.volumes.begin(), volumes.volumes.end(),
                  [](const PodVolume& volume) { return MayConflict(volume.source); });
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] != kFits) continue;
    const absl::Span<const PodId> residents = cluster.pods_on(nodes[i]);
    if (has_disks && std::any_of(residents.begin(), residents.end(), [&](PodId other) {
          return VolumesConflict(volumes, cluster.pod_shape(other).volumes);
        })) {
      verdicts[i] = kDiskConflict;
    } else if (users_ > 0) {
      verdicts[i] = kClaimInUse;
    }
  }
}

bool VolumeRestrictions::IsResolvable(const PodContext&, const ClusterState&, NodeId,
                                      ReasonIndex local) const {
  return local != kVolumeClaimMissing;
}

void VolumeRestrictions::EndTrial() {
  users_ = trials_.back();
  trials_.pop_back();
}

void VolumeRestrictions::OnPodAdded(const PodContext&, const ClusterState& cluster, PodId other,
                                    NodeId) {
  users_ += UsesOf(cluster, other);
}

void VolumeRestrictions::OnPodRemoved(const PodContext&, const ClusterState& cluster, PodId other,
                                      NodeId) {
  users_ -= UsesOf(cluster, other);
}

// Uses of the pod's claims by the names alone: upstream does not compare namespaces here.
int64_t VolumeRestrictions::UsesOf(const ClusterState& cluster, PodId other) const {
  if (exclusive_.empty()) return 0;
  const std::vector<PodVolume>& volumes = cluster.pod_shape(other).volumes.volumes;
  return std::count_if(volumes.begin(), volumes.end(), [this](const PodVolume& volume) {
    return NamesClaim(volume) &&
           std::binary_search(exclusive_.begin(), exclusive_.end(), volume.claim);
  });
}

void RegisterVolumeRestrictions(Registry& registry) {
  registry.AddPlugin("VolumeRestrictions",
                     [](const PolicyContext&) { return std::make_unique<VolumeRestrictions>(); });
}

}  // namespace drasim
