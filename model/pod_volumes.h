// PodVolumes: the volumes of a pod that decide about its node (core/v1 Volume).
#ifndef DRASIM_MODEL_POD_VOLUMES_H_
#define DRASIM_MODEL_POD_VOLUMES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace drasim {

// VolumeSource: the storage of a volume, as far as Kubernetes itself knows its kind. Pods and
// persistent volumes share the kinds; those that no rule tells apart are kOther.
struct VolumeSource {
  enum class Kind : uint8_t {
    kOther,
    kCsi,
    kLocal,
    kIscsi,
    kRbd,
    // Plugins of Kubernetes that CSI drivers have taken over ("in-tree").
    kAwsEbs,
    kGcePd,
    kAzureDisk,
    kAzureFile,
    kCinder,
    kPortworx,
    kVsphere,
  };
  Kind kind = Kind::kOther;
  std::string driver;  // of kCsi
  // The identity of the storage: a CSI volume handle, a volume's ID, a disk's name, an IQN, an
  // image.
  std::string id;
  std::string pool;                   // of kRbd
  std::vector<std::string> monitors;  // of kRbd
  bool read_only = false;             // where VolumeRestrictions asks

  bool is_in_tree() const { return kind >= Kind::kAwsEbs; }
  bool operator==(const VolumeSource&) const = default;
};

// A volume by a claim, or one whose source may conflict with other pods or counts against a limit.
struct PodVolume {
  // persistentVolumeClaim.claimName, or the name that a generic ephemeral volume's claim has:
  // "POD-VOLUME". Meaningful with `has_claim`.
  std::string claim;
  bool has_claim = false;
  // For a generic ephemeral volume: the pod that must own the claim.
  bool ephemeral = false;
  std::string pod_name;
  std::string pod_uid;
  VolumeSource source;  // without a claim
  bool operator==(const PodVolume&) const = default;
};

struct PodVolumes {
  std::vector<PodVolume> volumes;  // in the pod's order
  bool operator==(const PodVolumes&) const = default;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_POD_VOLUMES_H_
