#include "model/volume_objects.h"

#include <algorithm>
#include <tuple>

namespace drasim {
namespace {

template <typename Object>
const Object* FindByName(const std::vector<Object>& objects, absl::string_view name) {
  const auto found = std::lower_bound(
      objects.begin(), objects.end(), name,
      [](const Object& object, absl::string_view key) { return object.name < key; });
  return found != objects.end() && found->name == name ? &*found : nullptr;
}

template <typename Object>
void SortByName(std::vector<Object>* objects) {
  std::stable_sort(objects->begin(), objects->end(),
                   [](const Object& a, const Object& b) { return a.name < b.name; });
}

struct InTreeDriver {
  VolumeSource::Kind kind;
  absl::string_view plugin;
  absl::string_view driver;
  bool moved;  // the scheduler counts and places volumes as those of the driver
};

// k8s.io/csi-translation-lib; nodevolumelimits/utils.go.
constexpr InTreeDriver kInTree[] = {
    {VolumeSource::Kind::kAwsEbs, "kubernetes.io/aws-ebs", "ebs.csi.aws.com", true},
    {VolumeSource::Kind::kGcePd, "kubernetes.io/gce-pd", "pd.csi.storage.gke.io", true},
    {VolumeSource::Kind::kAzureDisk, "kubernetes.io/azure-disk", "disk.csi.azure.com", true},
    {VolumeSource::Kind::kAzureFile, "kubernetes.io/azure-file", "file.csi.azure.com", false},
    {VolumeSource::Kind::kCinder, "kubernetes.io/cinder", "cinder.csi.openstack.org", true},
    {VolumeSource::Kind::kPortworx, "kubernetes.io/portworx-volume", "pxd.portworx.com", true},
    {VolumeSource::Kind::kVsphere, "kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", false},
};

}  // namespace

const PersistentVolumeObject* VolumeObjects::FindVolume(absl::string_view name) const {
  return FindByName(volumes, name);
}

const VolumeClaimObject* VolumeObjects::FindClaim(absl::string_view ns,
                                                  absl::string_view name) const {
  const auto key = std::tie(ns, name);
  const auto found = std::lower_bound(
      claims.begin(), claims.end(), key, [](const VolumeClaimObject& claim, const auto& wanted) {
        return std::tuple<absl::string_view, absl::string_view>(claim.ns, claim.name) < wanted;
      });
  return found != claims.end() && found->ns == ns && found->name == name ? &*found : nullptr;
}

const StorageClassObject* VolumeObjects::FindClass(absl::string_view name) const {
  return FindByName(classes, name);
}

const CsiNodeObject* VolumeObjects::FindCsiNode(absl::string_view node) const {
  return FindByName(csi_nodes, node);
}

const CsiDriverObject* VolumeObjects::FindCsiDriver(absl::string_view name) const {
  return FindByName(csi_drivers, name);
}

void VolumeObjects::Sort() {
  SortByName(&volumes);
  SortByName(&classes);
  SortByName(&csi_nodes);
  SortByName(&csi_drivers);
  std::stable_sort(claims.begin(), claims.end(),
                   [](const VolumeClaimObject& a, const VolumeClaimObject& b) {
                     return std::tie(a.ns, a.name) < std::tie(b.ns, b.name);
                   });
}

absl::string_view InTreePlugin(VolumeSource::Kind kind) {
  for (const InTreeDriver& in_tree : kInTree) {
    if (in_tree.kind == kind) return in_tree.plugin;
  }
  return {};
}

absl::string_view CsiDriverOfInTree(absl::string_view plugin) {
  for (const InTreeDriver& in_tree : kInTree) {
    if (in_tree.plugin == plugin) return in_tree.driver;
  }
  return {};
}

bool IsMigrated(const CsiNodeObject* node, absl::string_view plugin) {
  if (node == nullptr) return false;
  const bool moved = std::any_of(
      std::begin(kInTree), std::end(kInTree),
      [plugin](const InTreeDriver& in_tree) { return in_tree.plugin == plugin && in_tree.moved; });
  return moved && std::find(node->migrated_plugins.begin(), node->migrated_plugins.end(), plugin) !=
                      node->migrated_plugins.end();
}

}  // namespace drasim
