#include "policies/plugins/node_volume_limits.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/cluster_objects.h"
#include "model/node_spec.h"
#include "model/pod_volumes.h"
#include "model/volume_objects.h"
#include "policies/framework/registry.h"
#include "policies/plugins/volume_texts.h"

namespace drasim {
namespace {

constexpr ReasonIndex kTooMany = 1;
constexpr ReasonIndex kClaimMissing = 2;

// Attached volumes: driver and handle.
using AttachedVolumes = std::set<std::pair<std::string, std::string>>;

bool CanAttach(const PodVolume& volume) { return volume.has_claim || volume.source.is_in_tree(); }

bool AnyCanAttach(const PodVolumes& volumes) {
  return std::any_of(volumes.volumes.begin(), volumes.volumes.end(), CanAttach);
}

// The first claim of the pod that does not exist; null if there is none.
const PodVolume* MissingClaim(const PodShape& shape, const VolumeObjects& objects) {
  for (const PodVolume& volume : shape.volumes.volumes) {
    if (volume.has_claim && objects.FindClaim(shape.identity.ns, volume.claim) == nullptr) {
      return &volume;
    }
  }
  return nullptr;
}

// Counts the volumes of one node.
class NodeVolumes {
 public:
  NodeVolumes(const VolumeObjects& objects, const CsiNodeObject& node)
      : objects_(objects), node_(node) {}

  // Claims that do not exist do not count, nor volumes without a CSI driver.
  void Add(const PodShape& shape, AttachedVolumes* volumes) const {
    for (const PodVolume& volume : shape.volumes.volumes) {
      if (!volume.has_claim) {
        AddSource(volume.source, volumes);
        continue;
      }
      const VolumeClaimObject* claim = objects_.FindClaim(shape.identity.ns, volume.claim);
      if (claim != nullptr) AddClaim(*claim, volumes);
    }
  }

 private:
  void AddSource(const VolumeSource& source, AttachedVolumes* volumes) const {
    if (source.kind == VolumeSource::Kind::kCsi) {
      Insert(source.driver, source.id, volumes);
    } else if (IsMigrated(&node_, InTreePlugin(source.kind))) {
      Insert(CsiDriverOfInTree(InTreePlugin(source.kind)), source.id, volumes);
    }
  }

  void AddClaim(const VolumeClaimObject& claim, AttachedVolumes* volumes) const {
    const PersistentVolumeObject* volume =
        claim.volume_name.empty() ? nullptr : objects_.FindVolume(claim.volume_name);
    if (volume != nullptr) return AddSource(volume->source, volumes);
    // One that is still to be provisioned, by the class.
    const StorageClassObject* storage_class = objects_.FindClass(claim.storage_class);
    if (storage_class == nullptr) return;
    const absl::string_view driver = CsiDriverOfInTree(storage_class->provisioner);
    if (!driver.empty() && !IsMigrated(&node_, storage_class->provisioner)) return;
    // No handle of a volume looks like that.
    Insert(driver.empty() ? storage_class->provisioner : driver,
           absl::StrCat("unbound claim ", claim.ns, "/", claim.name), volumes);
  }

  static void Insert(absl::string_view driver, absl::string_view handle, AttachedVolumes* volumes) {
    if (driver.empty() || handle.empty()) return;
    volumes->emplace(driver, handle);
  }

  const VolumeObjects& objects_;
  const CsiNodeObject& node_;
};

// The smallest limit of the node's drivers; nothing without any.
std::optional<int64_t> LeastLimit(const CsiNodeObject& node) {
  std::optional<int64_t> least;
  for (const CsiNodeObject::Driver& driver : node.drivers) {
    if (driver.limit.has_value() && (!least.has_value() || *driver.limit < *least))
      least = driver.limit;
  }
  return least;
}

// The most volumes that the node may have with the pod: those that pods share count for each of
// them, whatever they turn out to be. Looks nothing up.
int64_t MostVolumes(const PodShape& shape, const ClusterState& cluster, NodeId id,
                    const CsiNodeObject& node) {
  size_t most = shape.volumes.volumes.size();
  for (const PodId other : cluster.pods_on(id)) {
    most += cluster.pod_shape(other).volumes.volumes.size();
  }
  for (const VolumeAttachmentObject& attachment : cluster.objects().volumes.attachments) {
    if (attachment.node == node.name) ++most;
  }
  return static_cast<int64_t>(most);
}

// Whether the node would have more volumes of some driver than it can attach.
bool ExceedsLimit(const PodShape& shape, const ClusterState& cluster, NodeId id,
                  const CsiNodeObject& node) {
  const std::optional<int64_t> least = LeastLimit(node);
  if (!least.has_value() || MostVolumes(shape, cluster, id, node) <= *least) return false;
  const VolumeObjects& objects = cluster.objects().volumes;
  const NodeVolumes counter(objects, node);
  AttachedVolumes added;
  counter.Add(shape, &added);
  if (added.empty()) return false;
  AttachedVolumes attached;
  for (const PodId other : cluster.pods_on(id)) counter.Add(cluster.pod_shape(other), &attached);
  for (const VolumeAttachmentObject& attachment : objects.attachments) {
    if (attachment.node != node.name || attachment.attacher.empty()) continue;
    const PersistentVolumeObject* volume = objects.FindVolume(attachment.volume);
    if (volume == nullptr || volume->source.kind != VolumeSource::Kind::kCsi) continue;
    attached.emplace(volume->source.driver, volume->source.id);
  }
  for (const CsiNodeObject::Driver& driver : node.drivers) {
    if (!driver.limit.has_value()) continue;
    const auto of_driver = [&driver](const auto& volume) { return volume.first == driver.name; };
    const int64_t now = std::count_if(attached.begin(), attached.end(), of_driver);
    const int64_t more = std::count_if(added.begin(), added.end(), [&](const auto& volume) {
      return of_driver(volume) && !attached.contains(volume);
    });
    if (more > 0 && now + more > *driver.limit) return true;
  }
  return false;
}

}  // namespace

std::vector<Reason> NodeVolumeLimits::reasons() const {
  return {{ReasonKind::kVolume, "node(s) exceed max volume count"},
          {ReasonKind::kVolume, "persistentvolumeclaim not found"}};
}

bool NodeVolumeLimits::MayHelp(const ClusterChange& change, const PodContext&,
                               const ClusterState&) const {
  if (change.event != kPodRemoved || change.pod == nullptr) return true;
  return change.of_bound_pod() && AnyCanAttach(change.pod->volumes);
}

StepResult NodeVolumeLimits::PreFilter(const PodContext& pod, const ClusterState&) {
  StepResult result;
  if (!AnyCanAttach(pod.shape->volumes)) result.code = StepCode::kSkip;
  return result;
}

void NodeVolumeLimits::Filter(const PodContext& pod, const ClusterState& cluster,
                              absl::Span<const NodeId> nodes,
                              absl::Span<ReasonIndex> verdicts) const {
  if (!AnyCanAttach(pod.shape->volumes)) return;
  const VolumeObjects& objects = cluster.objects().volumes;
  const bool missing = MissingClaim(*pod.shape, objects) != nullptr;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] != kFits) continue;
    if (missing) {
      verdicts[i] = kClaimMissing;
      continue;
    }
    const CsiNodeObject* node = objects.FindCsiNode(cluster.node_spec(nodes[i]).name);
    if (node != nullptr && ExceedsLimit(*pod.shape, cluster, nodes[i], *node)) {
      verdicts[i] = kTooMany;
    }
  }
}

bool NodeVolumeLimits::IsResolvable(const PodContext&, const ClusterState&, NodeId,
                                    ReasonIndex local) const {
  return local == kTooMany;
}

std::vector<std::string> NodeVolumeLimits::ReasonTexts(const PodContext& pod,
                                                       const ClusterState& cluster, NodeId node,
                                                       ReasonIndex local) const {
  const PodVolume* missing = MissingClaim(*pod.shape, cluster.objects().volumes);
  if (local != kClaimMissing || missing == nullptr) {
    return FilterPlugin::ReasonTexts(pod, cluster, node, local);
  }
  return {absl::StrCat("looking up PVC ", pod.shape->identity.ns, "/", missing->claim, ": ",
                       ClaimNotFound(missing->claim))};
}

void RegisterNodeVolumeLimits(Registry& registry) {
  registry.AddPlugin("NodeVolumeLimits",
                     [](const PolicyContext&) { return std::make_unique<NodeVolumeLimits>(); });
}

}  // namespace drasim
