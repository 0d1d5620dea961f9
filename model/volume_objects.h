// VolumeObjects: the storage objects of a cluster that decide about nodes: PersistentVolumes and
// their claims, StorageClasses, CSINodes, CSIDrivers, CSIStorageCapacities, VolumeAttachments.
#ifndef DRASIM_MODEL_VOLUME_OBJECTS_H_
#define DRASIM_MODEL_VOLUME_OBJECTS_H_

namespace drasim {

struct VolumeObjects {
  bool operator==(const VolumeObjects&) const = default;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_VOLUME_OBJECTS_H_
