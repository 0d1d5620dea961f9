// Taints of devices and the tolerations of requests (KEP 5055).
#ifndef DRASIM_POLICIES_ALLOCATOR_DEVICE_TAINTS_H_
#define DRASIM_POLICIES_ALLOCATOR_DEVICE_TAINTS_H_

#include "model/proto/resource.pb.h"

namespace drasim {

using DeviceTolerations = google::protobuf::RepeatedPtrField<proto::kube::DeviceToleration>;

// An empty key or effect tolerates every key or effect. The operator is Exists, or Equal (also
// empty), which compares the values; any other tolerates nothing.
bool ToleratesTaint(const proto::kube::DeviceToleration& toleration,
                    const proto::kube::DeviceTaint& taint);

// Whether a taint with the effect NoSchedule or NoExecute is left without a toleration.
bool TaintsPreventAllocation(const proto::kube::Device& device,
                             const DeviceTolerations& tolerations);

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_DEVICE_TAINTS_H_
