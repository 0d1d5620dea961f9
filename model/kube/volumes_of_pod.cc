#include "model/kube/volumes_of_pod.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

// "vol-1" of "aws://zone/vol-1"; other texts as they are (csi-translation-lib,
// KubernetesVolumeIDToEBSVolumeID).
std::string EbsVolumeId(absl::string_view id) {
  if (!absl::ConsumePrefix(&id, "aws://")) return std::string(id);
  const size_t slash = id.rfind('/');
  return std::string(slash == absl::string_view::npos ? id : id.substr(slash + 1));
}

// The sources that volumes of pods and persistent volumes have in common.
template <typename Message>
VolumeSource SharedSourceOf(const Message& given) {
  using Kind = VolumeSource::Kind;
  VolumeSource source;
  const auto set = [&source](Kind kind, std::string id, bool read_only) {
    source.kind = kind;
    source.id = std::move(id);
    source.read_only = read_only;
  };
  if (given.has_aws_elastic_block_store()) {
    const kube::AwsElasticBlockStore& disk = given.aws_elastic_block_store();
    set(Kind::kAwsEbs, EbsVolumeId(disk.volume_id()), disk.read_only());
  } else if (given.has_gce_persistent_disk()) {
    const kube::GcePersistentDisk& disk = given.gce_persistent_disk();
    set(Kind::kGcePd, disk.pd_name(), disk.read_only());
  } else if (given.has_iscsi()) {
    set(Kind::kIscsi, given.iscsi().iqn(), given.iscsi().read_only());
  } else if (given.has_rbd()) {
    set(Kind::kRbd, given.rbd().image(), given.rbd().read_only());
    source.pool = given.rbd().pool();
    source.monitors.assign(given.rbd().monitors().begin(), given.rbd().monitors().end());
  } else if (given.has_azure_disk()) {
    set(Kind::kAzureDisk, given.azure_disk().disk_uri(), false);
  } else if (given.has_azure_file()) {
    set(Kind::kAzureFile, given.azure_file().share_name(), false);
  } else if (given.has_cinder()) {
    set(Kind::kCinder, given.cinder().volume_id(), false);
  } else if (given.has_portworx_volume()) {
    set(Kind::kPortworx, given.portworx_volume().volume_id(), false);
  } else if (given.has_vsphere_volume()) {
    set(Kind::kVsphere, given.vsphere_volume().volume_path(), false);
  }
  return source;
}

}  // namespace

VolumeSource SourceOf(const kube::Volume& volume) { return SharedSourceOf(volume); }

VolumeSource SourceOf(const kube::PersistentVolumeSpec& spec) {
  VolumeSource source = SharedSourceOf(spec);
  if (spec.has_csi()) {
    source.kind = VolumeSource::Kind::kCsi;
    source.driver = spec.csi().driver();
    source.id = spec.csi().volume_handle();
    source.read_only = spec.csi().read_only();
  } else if (spec.has_local()) {
    source.kind = VolumeSource::Kind::kLocal;
    source.id = spec.local().path();
  }
  return source;
}

PodVolumes VolumesOfPod(const kube::Pod& pod) {
  PodVolumes volumes;
  for (const kube::Volume& given : pod.spec().volumes()) {
    PodVolume volume;
    if (given.has_persistent_volume_claim()) {
      volume.has_claim = true;
      volume.claim = given.persistent_volume_claim().claim_name();
    } else if (given.has_ephemeral()) {
      volume.has_claim = true;
      volume.ephemeral = true;
      volume.claim = absl::StrCat(pod.metadata().name(), "-", given.name());
      volume.pod_name = pod.metadata().name();
      volume.pod_uid = pod.metadata().uid();
    } else {
      volume.source = SourceOf(given);
      if (volume.source.kind == VolumeSource::Kind::kOther) continue;
    }
    volumes.volumes.push_back(std::move(volume));
  }
  return volumes;
}

}  // namespace drasim
