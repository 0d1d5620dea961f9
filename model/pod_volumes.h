// PodVolumes: the volumes of a pod that decide about its node (core/v1 Volume).
#ifndef DRASIM_MODEL_POD_VOLUMES_H_
#define DRASIM_MODEL_POD_VOLUMES_H_

#include <vector>

namespace drasim {

struct PodVolume {
  bool operator==(const PodVolume&) const = default;
};

struct PodVolumes {
  std::vector<PodVolume> volumes;  // in the pod's order
  bool operator==(const PodVolumes&) const = default;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_POD_VOLUMES_H_
