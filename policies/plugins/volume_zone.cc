#include "policies/plugins/volume_zone.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/cluster_objects.h"
#include "model/label_selector.h"
#include "model/node_spec.h"
#include "model/pod_volumes.h"
#include "model/volume_objects.h"
#include "policies/framework/registry.h"
#include "policies/plugins/volume_texts.h"

namespace drasim {
namespace {

constexpr ReasonIndex kConflict = 1;
constexpr ReasonIndex kUnusableClaim = 2;

struct TopologyKey {
  absl::string_view key;
  absl::string_view successor;
};
constexpr TopologyKey kTopologyKeys[] = {
    {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
    {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
    {"topology.kubernetes.io/zone", "topology.kubernetes.io/zone"},
    {"topology.kubernetes.io/region", "topology.kubernetes.io/region"},
};

// The zones of "a__b"; none if one of them is empty.
std::vector<std::string> ZonesOf(absl::string_view label) {
  std::vector<std::string> zones;
  for (const absl::string_view part : absl::StrSplit(label, "__")) {
    zones.emplace_back(absl::StripAsciiWhitespace(part));
    if (zones.back().empty()) return {};
  }
  return zones;
}

// Why the pod's unbound claim keeps it from every node; empty: it is bound when the pod is placed.
std::string ProblemOfUnbound(const VolumeClaimObject& claim, const VolumeObjects& objects) {
  if (claim.storage_class.empty()) {
    return "PersistentVolumeClaim had no pv name and storageClass name";
  }
  const StorageClassObject* storage_class = objects.FindClass(claim.storage_class);
  if (storage_class == nullptr) return StorageClassNotFound(claim.storage_class);
  switch (storage_class->binding_mode) {
    case StorageClassObject::BindingMode::kUnset:
      return absl::StrCat("VolumeBindingMode not set for StorageClass \"", claim.storage_class,
                          "\"");
    case StorageClassObject::BindingMode::kImmediate:
      return "PersistentVolume had no name";
    case StorageClassObject::BindingMode::kWaitForFirstConsumer:
      break;
  }
  return {};
}

}  // namespace

std::vector<Reason> VolumeZone::reasons() const {
  return {{ReasonKind::kVolume, "node(s) had no available volume zone"},
          {ReasonKind::kVolume, "a volume of the pod has no zone yet"}};
}

StepResult VolumeZone::PreFilter(const PodContext& pod, const ClusterState& cluster) {
  topologies_.clear();
  const auto refuse = [](std::string message) {
    StepResult refused;
    refused.code = StepCode::kUnresolvable;
    refused.reason = kUnusableClaim;
    refused.message = std::move(message);
    return refused;
  };
  const VolumeObjects& objects = cluster.objects().volumes;
  for (const PodVolume& used : pod.shape->volumes.volumes) {
    if (!used.has_claim || used.ephemeral) continue;
    if (used.claim.empty()) return refuse("PersistentVolumeClaim had no name");
    const VolumeClaimObject* claim = objects.FindClaim(pod.shape->identity.ns, used.claim);
    if (claim == nullptr) return refuse(ClaimNotFound(used.claim));
    if (claim->volume_name.empty()) {
      std::string problem = ProblemOfUnbound(*claim, objects);
      if (!problem.empty()) return refuse(std::move(problem));
      continue;
    }
    const PersistentVolumeObject* volume = objects.FindVolume(claim->volume_name);
    if (volume == nullptr) return refuse(VolumeNotFound(claim->volume_name));
    for (const TopologyKey& key : kTopologyKeys) {
      const std::string* label = LabelOf(volume->labels, std::string(key.key));
      if (label == nullptr) continue;
      std::vector<std::string> zones = ZonesOf(*label);
      if (zones.empty()) continue;
      topologies_.push_back({std::string(key.key), std::string(key.successor), std::move(zones)});
    }
  }
  StepResult result;
  if (topologies_.empty()) result.code = StepCode::kSkip;
  return result;
}

void VolumeZone::Filter(const PodContext&, const ClusterState& cluster,
                        absl::Span<const NodeId> nodes, absl::Span<ReasonIndex> verdicts) const {
  static const auto* const kKeys = [] {
    auto* keys = new std::vector<std::string>;
    for (const TopologyKey& key : kTopologyKeys) keys->emplace_back(key.key);
    return keys;
  }();
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] != kFits) continue;
    const NodeSpec& node = cluster.node_spec(nodes[i]);
    // A node without any of the labels is in a cluster of one zone.
    if (std::none_of(kKeys->begin(), kKeys->end(), [&node](const std::string& key) {
          return LabelOf(node.labels, key) != nullptr;
        })) {
      continue;
    }
    for (const Topology& topology : topologies_) {
      const std::string* label = LabelOf(node.labels, topology.key);
      if (label == nullptr) label = LabelOf(node.labels, topology.other_key);
      if (label != nullptr && std::find(topology.values.begin(), topology.values.end(), *label) !=
                                  topology.values.end()) {
        continue;
      }
      verdicts[i] = kConflict;
      break;
    }
  }
}

void RegisterVolumeZone(Registry& registry) {
  registry.AddPlugin("VolumeZone",
                     [](const PolicyContext&) { return std::make_unique<VolumeZone>(); });
}

}  // namespace drasim
