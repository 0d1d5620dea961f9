// Pods with volumes and storage objects, for tests of the volume plugins.
#ifndef DRASIM_TESTS_TESTING_VOLUME_RIG_H_
#define DRASIM_TESTS_TESTING_VOLUME_RIG_H_

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "model/cluster_objects.h"
#include "model/node_spec.h"
#include "model/pod_volumes.h"
#include "model/volume_objects.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {

inline constexpr char kHostnameLabel[] = "kubernetes.io/hostname";

// A node whose hostname label is its name.
inline NodeSpec HostNode(const std::string& name, const std::string& zone = "") {
  NodeSpec node = TestNode(name, 64'000, 0);
  node.labels.emplace_back(kHostnameLabel, name);
  if (!zone.empty()) node.labels.emplace_back("topology.kubernetes.io/zone", zone);
  return node;
}

inline PodShape PodInDefault() {
  PodShape shape = TestShape(1, 0);
  shape.identity.ns = "default";
  return shape;
}

inline PodShape PodWithClaims(std::initializer_list<const char*> claims) {
  PodShape shape = PodInDefault();
  for (const char* claim : claims) {
    PodVolume volume;
    volume.has_claim = true;
    volume.claim = claim;
    shape.volumes.volumes.push_back(volume);
  }
  return shape;
}

inline PodShape PodWithSource(const VolumeSource& source) {
  PodShape shape = PodInDefault();
  PodVolume volume;
  volume.source = source;
  shape.volumes.volumes.push_back(volume);
  return shape;
}

// A claim in the namespace `default` with the class "std", 5 GiB; bound when `volume` is not empty.
inline VolumeClaimObject TestClaim(const std::string& name, const std::string& volume = "") {
  VolumeClaimObject claim;
  claim.ns = "default";
  claim.name = name;
  claim.uid = "uid-" + name;
  claim.storage_class = "std";
  claim.request = 5 * kTestGib;
  claim.access_modes = {AccessMode::kReadWriteOnce};
  claim.volume_name = volume;
  claim.bind_completed = !volume.empty();
  return claim;
}

// A volume of the driver csi.x and the class "std"; reachable from `hosts` only, unless there are
// none.
inline PersistentVolumeObject TestVolume(const std::string& name, int64_t gib = 10,
                                         const std::vector<std::string>& hosts = {}) {
  PersistentVolumeObject volume;
  volume.name = name;
  volume.available = true;
  volume.capacity = gib * kTestGib;
  volume.access_modes = {AccessMode::kReadWriteOnce};
  volume.storage_class = "std";
  volume.source.kind = VolumeSource::Kind::kCsi;
  volume.source.driver = "csi.x";
  volume.source.id = name;
  if (!hosts.empty()) {
    volume.has_node_terms = true;
    NodeRequirement requirement;
    requirement.key = kHostnameLabel;
    requirement.values = hosts;
    volume.node_terms.push_back({{requirement}, ""});
  }
  return volume;
}

inline StorageClassObject TestClass(
    const std::string& name, const std::string& provisioner,
    StorageClassObject::BindingMode mode = StorageClassObject::BindingMode::kWaitForFirstConsumer) {
  StorageClassObject storage_class;
  storage_class.name = name;
  storage_class.provisioner = provisioner;
  storage_class.binding_mode = mode;
  return storage_class;
}

inline void SetVolumes(ClusterBuilder& builder, VolumeObjects volumes) {
  volumes.Sort();
  ClusterObjects objects;
  objects.volumes = std::move(volumes);
  builder.cluster().SetObjects(std::move(objects));
}

}  // namespace drasim

#endif  // DRASIM_TESTS_TESTING_VOLUME_RIG_H_
