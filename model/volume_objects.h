// VolumeObjects: the storage objects of a cluster that decide about nodes: PersistentVolumes and
// their claims, StorageClasses, CSINodes, CSIDrivers, CSIStorageCapacities, VolumeAttachments.
//
// Amounts are bytes. Lists are sorted by name (claims by namespace and name) where they are said to
// be; lookups by name rely on it: O(log n), null for an unknown name.
#ifndef DRASIM_MODEL_VOLUME_OBJECTS_H_
#define DRASIM_MODEL_VOLUME_OBJECTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/label_selector.h"
#include "model/pod_constraints.h"
#include "model/pod_volumes.h"

namespace drasim {

enum class AccessMode : uint8_t {
  kReadWriteOnce,
  kReadOnlyMany,
  kReadWriteMany,
  kReadWriteOncePod
};

// A reference to a claim; an empty name: none.
struct ClaimReference {
  std::string ns;
  std::string name;
  std::string uid;
  bool operator==(const ClaimReference&) const = default;
};

struct PersistentVolumeObject {
  std::string name;
  Labels labels;
  bool deleting = false;   // metadata.deletionTimestamp is set
  bool available = false;  // status.phase: Available
  int64_t capacity = 0;
  std::vector<AccessMode> access_modes;
  std::string storage_class;  // of the beta annotation, else of the specification
  bool block = false;         // volumeMode: Block
  std::string attributes_class;
  ClaimReference claim;
  bool has_node_terms = false;       // nodeAffinity.required is there
  std::vector<NodeTerm> node_terms;  // any of them
  VolumeSource source;
  bool operator==(const PersistentVolumeObject&) const = default;
};

struct VolumeClaimObject {
  std::string ns;
  std::string name;
  std::string uid;
  std::string controller_uid;  // of the owner with controller: true; empty: none
  bool deleting = false;
  bool lost = false;            // status.phase: Lost
  std::string volume_name;      // empty: not bound
  bool bind_completed = false;  // annotation pv.kubernetes.io/bind-completed
  std::string selected_node;    // annotation volume.kubernetes.io/selected-node
  bool has_selected_node = false;
  std::string storage_class;  // of the beta annotation, else of the specification; empty: none
  std::optional<int64_t> request;
  std::vector<AccessMode> access_modes;
  LabelSelector selector;
  bool block = false;
  std::string attributes_class;

  bool is_bound() const { return !volume_name.empty() && bind_completed; }
  bool operator==(const VolumeClaimObject&) const = default;
};

struct StorageClassObject {
  enum class BindingMode : uint8_t {
    kUnset,  // the API server sets kImmediate
    kImmediate,
    kWaitForFirstConsumer,
  };
  using TopologyTerm =
      std::vector<std::pair<std::string, std::vector<std::string>>>;  // key, values

  std::string name;
  std::string provisioner;
  BindingMode binding_mode = BindingMode::kUnset;
  std::vector<TopologyTerm> allowed_topologies;  // any of them; none: everywhere
  bool operator==(const StorageClassObject&) const = default;
};

struct CsiNodeObject {
  struct Driver {
    std::string name;
    std::optional<int32_t> limit;  // allocatable.count
    bool operator==(const Driver&) const = default;
  };
  std::string name;  // the node's
  std::vector<Driver> drivers;
  // Annotation storage.alpha.kubernetes.io/migrated-plugins.
  std::vector<std::string> migrated_plugins;
  bool operator==(const CsiNodeObject&) const = default;
};

struct CsiDriverObject {
  std::string name;
  bool storage_capacity = false;
  bool operator==(const CsiDriverObject&) const = default;
};

struct StorageCapacityObject {
  std::string storage_class;
  LabelSelector node_topology;   // absent: no node
  std::optional<int64_t> limit;  // maximumVolumeSize, else capacity
  bool operator==(const StorageCapacityObject&) const = default;
};

struct VolumeAttachmentObject {
  std::string attacher;
  std::string node;
  std::string volume;  // the PersistentVolume's name; empty: another source
  bool operator==(const VolumeAttachmentObject&) const = default;
};

struct VolumeObjects {
  std::vector<PersistentVolumeObject> volumes;  // sorted
  std::vector<VolumeClaimObject> claims;        // sorted
  std::vector<StorageClassObject> classes;      // sorted
  std::vector<CsiNodeObject> csi_nodes;         // sorted
  std::vector<CsiDriverObject> csi_drivers;     // sorted
  std::vector<StorageCapacityObject> capacities;
  std::vector<VolumeAttachmentObject> attachments;

  const PersistentVolumeObject* FindVolume(absl::string_view name) const;
  const VolumeClaimObject* FindClaim(absl::string_view ns, absl::string_view name) const;
  const StorageClassObject* FindClass(absl::string_view name) const;
  const CsiNodeObject* FindCsiNode(absl::string_view node) const;
  const CsiDriverObject* FindCsiDriver(absl::string_view name) const;
  // Brings the lists into their order. O(n log n).
  void Sort();

  bool operator==(const VolumeObjects&) const = default;
};

// "kubernetes.io/aws-ebs": the provisioner of an in-tree plugin; empty for other kinds of sources.
absl::string_view InTreePlugin(VolumeSource::Kind kind);
// "ebs.csi.aws.com": the CSI driver that has taken an in-tree plugin over; empty for another name.
absl::string_view CsiDriverOfInTree(absl::string_view plugin);
// Whether the node's CSI driver serves the volumes of the in-tree plugin. `node` may be null.
bool IsMigrated(const CsiNodeObject* node, absl::string_view plugin);

}  // namespace drasim

#endif  // DRASIM_MODEL_VOLUME_OBJECTS_H_
