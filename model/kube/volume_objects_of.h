// Storage objects of Kubernetes as the model's values.
#ifndef DRASIM_MODEL_KUBE_VOLUME_OBJECTS_OF_H_
#define DRASIM_MODEL_KUBE_VOLUME_OBJECTS_OF_H_

#include "model/proto/kube.pb.h"
#include "model/volume_objects.h"

namespace drasim {

// Each adds one object at the end of its list.
// VolumeObjects::Sort must be called after the last one. Amounts that are no quantities, which
// ReadKubeObjects refuses, count as absent. O(size of the object).
void AddVolumeObject(const proto::kube::PersistentVolume& given, VolumeObjects* objects);
void AddVolumeObject(const proto::kube::PersistentVolumeClaim& given, VolumeObjects* objects);
void AddVolumeObject(const proto::kube::StorageClass& given, VolumeObjects* objects);
void AddVolumeObject(const proto::kube::CsiNode& given, VolumeObjects* objects);
void AddVolumeObject(const proto::kube::CsiDriver& given, VolumeObjects* objects);
void AddVolumeObject(const proto::kube::CsiStorageCapacity& given, VolumeObjects* objects);
void AddVolumeObject(const proto::kube::VolumeAttachment& given, VolumeObjects* objects);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_VOLUME_OBJECTS_OF_H_
