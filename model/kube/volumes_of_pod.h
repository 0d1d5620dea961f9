// The volumes of a Kubernetes pod as the model's values.
#ifndef DRASIM_MODEL_KUBE_VOLUMES_OF_POD_H_
#define DRASIM_MODEL_KUBE_VOLUMES_OF_POD_H_

#include "model/pod_volumes.h"
#include "model/proto/kube.pb.h"

namespace drasim {

// Volumes that no rule looks at, such as emptyDir and inline CSI volumes, are left out. Generic
// ephemeral volumes carry the pod's name and UID. O(volumes).
PodVolumes VolumesOfPod(const proto::kube::Pod& pod);

// The source of a pod's volume, or of a PersistentVolume.
VolumeSource SourceOf(const proto::kube::Volume& volume);
VolumeSource SourceOf(const proto::kube::PersistentVolumeSpec& spec);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_VOLUMES_OF_POD_H_
