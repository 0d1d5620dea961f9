// Defaults of the API server that decide about scheduling (kubernetes/kubernetes
// pkg/apis/core/v1/defaults.go, release 1.34). Output of kubectl has them already; manifests have
// not.
#ifndef DRASIM_MODEL_KUBE_API_DEFAULTS_H_
#define DRASIM_MODEL_KUBE_API_DEFAULTS_H_

#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"

namespace drasim {

// Makes requests of limits that have none, of containers and of the pod as a whole: the pod's
// request is the sum of its containers' where they have one. Ports of the host's network are host
// ports. Idempotent. O(containers x resources).
void SetPodDefaults(proto::kube::PodSpec* spec);

// Fills in a claim's requests: allocationMode ExactCount, count 1 where that mode has none, and the
// operator Equal of tolerations (pkg/apis/resource/v1/defaults.go, release 1.37). Idempotent.
// O(requests).
void SetDeviceClaimDefaults(proto::kube::DeviceClaim* claim);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_API_DEFAULTS_H_
