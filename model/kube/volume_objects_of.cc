#include "model/kube/volume_objects_of.h"

#include <google/protobuf/map.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_split.h"
#include "model/kube/rules.h"
#include "model/kube/selectors_of.h"
#include "model/kube/volumes_of_pod.h"
#include "model/quantity.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

constexpr char kBetaClassAnnotation[] = "volume.beta.kubernetes.io/storage-class";
constexpr char kBindCompletedAnnotation[] = "pv.kubernetes.io/bind-completed";
constexpr char kSelectedNodeAnnotation[] = "volume.kubernetes.io/selected-node";
constexpr char kMigratedPluginsAnnotation[] = "storage.alpha.kubernetes.io/migrated-plugins";

std::optional<int64_t> BytesOf(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const absl::StatusOr<Quantity> amount = Quantity::Parse(text);
  return amount.ok() ? std::optional(amount->Value()) : std::nullopt;
}

std::optional<int64_t> StorageOf(const KubeTexts& amounts) {
  const auto found = amounts.find("storage");
  return found == amounts.end() ? std::nullopt : BytesOf(found->second);
}

std::vector<AccessMode> AccessModesOf(
    const google::protobuf::RepeatedPtrField<std::string>& given) {
  std::vector<AccessMode> modes;
  for (const std::string& mode : given) {
    if (mode == "ReadWriteOnce") modes.push_back(AccessMode::kReadWriteOnce);
    if (mode == "ReadOnlyMany") modes.push_back(AccessMode::kReadOnlyMany);
    if (mode == "ReadWriteMany") modes.push_back(AccessMode::kReadWriteMany);
    if (mode == "ReadWriteOncePod") modes.push_back(AccessMode::kReadWriteOncePod);
  }
  return modes;
}

std::string ClassOf(const kube::ObjectMeta& meta, const std::string& of_spec) {
  const auto beta = meta.annotations().find(kBetaClassAnnotation);
  return beta == meta.annotations().end() ? of_spec : beta->second;
}

}  // namespace

void AddVolumeObject(const kube::PersistentVolume& given, VolumeObjects* objects) {
  const kube::PersistentVolumeSpec& spec = given.spec();
  PersistentVolumeObject& volume = objects->volumes.emplace_back();
  volume.name = given.metadata().name();
  volume.labels = SortedTexts(given.metadata().labels());
  volume.deleting = !given.metadata().deletion_timestamp().empty();
  volume.available = given.status().phase() == "Available";
  volume.capacity = StorageOf(spec.capacity()).value_or(0);
  volume.access_modes = AccessModesOf(spec.access_modes());
  volume.storage_class = ClassOf(given.metadata(), spec.storage_class_name());
  volume.block = spec.volume_mode() == "Block";
  volume.attributes_class = spec.volume_attributes_class_name();
  volume.claim = {spec.claim_ref().namespace_(), spec.claim_ref().name(), spec.claim_ref().uid()};
  volume.has_node_terms = spec.node_affinity().has_required();
  volume.node_terms = RequiredNodeTermsOf(spec.node_affinity().required());
  volume.source = SourceOf(spec);
}

void AddVolumeObject(const kube::PersistentVolumeClaim& given, VolumeObjects* objects) {
  const kube::ObjectMeta& meta = given.metadata();
  const kube::PersistentVolumeClaimSpec& spec = given.spec();
  VolumeClaimObject& claim = objects->claims.emplace_back();
  claim.ns = meta.namespace_().empty() ? "default" : meta.namespace_();
  claim.name = meta.name();
  claim.uid = meta.uid();
  for (const kube::OwnerReference& owner : meta.owner_references()) {
    if (owner.controller()) claim.controller_uid = owner.uid();
  }
  claim.deleting = !meta.deletion_timestamp().empty();
  claim.lost = given.status().phase() == "Lost";
  claim.volume_name = spec.volume_name();
  claim.bind_completed = meta.annotations().contains(kBindCompletedAnnotation);
  const auto selected = meta.annotations().find(kSelectedNodeAnnotation);
  claim.has_selected_node = selected != meta.annotations().end();
  if (claim.has_selected_node) claim.selected_node = selected->second;
  claim.storage_class = ClassOf(meta, spec.storage_class_name());
  claim.request = StorageOf(spec.resources().requests());
  claim.access_modes = AccessModesOf(spec.access_modes());
  if (spec.has_selector()) claim.selector = SelectorOf(spec.selector());
  claim.block = spec.volume_mode() == "Block";
  claim.attributes_class = spec.volume_attributes_class_name();
}

void AddVolumeObject(const kube::StorageClass& given, VolumeObjects* objects) {
  using BindingMode = StorageClassObject::BindingMode;
  StorageClassObject& storage_class = objects->classes.emplace_back();
  storage_class.name = given.metadata().name();
  storage_class.provisioner = given.provisioner();
  if (given.volume_binding_mode() == "WaitForFirstConsumer") {
    storage_class.binding_mode = BindingMode::kWaitForFirstConsumer;
  } else if (!given.volume_binding_mode().empty()) {
    storage_class.binding_mode = BindingMode::kImmediate;
  }
  for (const kube::TopologySelectorTerm& term : given.allowed_topologies()) {
    StorageClassObject::TopologyTerm& added = storage_class.allowed_topologies.emplace_back();
    for (const kube::TopologySelectorRequirement& requirement : term.match_label_expressions()) {
      added.emplace_back(requirement.key(), std::vector<std::string>(requirement.values().begin(),
                                                                     requirement.values().end()));
    }
  }
}

void AddVolumeObject(const kube::CsiNode& given, VolumeObjects* objects) {
  CsiNodeObject& node = objects->csi_nodes.emplace_back();
  node.name = given.metadata().name();
  for (const kube::CsiNodeDriver& driver : given.spec().drivers()) {
    CsiNodeObject::Driver& added = node.drivers.emplace_back();
    added.name = driver.name();
    if (driver.allocatable().has_count()) added.limit = driver.allocatable().count();
  }
  const auto& annotations = given.metadata().annotations();
  if (const auto plugins = annotations.find(kMigratedPluginsAnnotation);
      plugins != annotations.end()) {
    node.migrated_plugins = absl::StrSplit(plugins->second, ',');
  }
}

void AddVolumeObject(const kube::CsiDriver& given, VolumeObjects* objects) {
  objects->csi_drivers.push_back({given.metadata().name(), given.spec().storage_capacity()});
}

void AddVolumeObject(const kube::CsiStorageCapacity& given, VolumeObjects* objects) {
  StorageCapacityObject& capacity = objects->capacities.emplace_back();
  capacity.storage_class = given.storage_class_name();
  if (given.has_node_topology()) capacity.node_topology = SelectorOf(given.node_topology());
  capacity.limit = BytesOf(given.maximum_volume_size());
  if (!capacity.limit.has_value()) capacity.limit = BytesOf(given.capacity());
}

void AddVolumeObject(const kube::VolumeAttachment& given, VolumeObjects* objects) {
  objects->attachments.push_back({given.spec().attacher(), given.spec().node_name(),
                                  given.spec().source().persistent_volume_name()});
}

}  // namespace drasim
