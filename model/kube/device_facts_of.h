// The part of a device that CEL and constraints see, from its object.
#ifndef DRASIM_MODEL_KUBE_DEVICE_FACTS_OF_H_
#define DRASIM_MODEL_KUBE_DEVICE_FACTS_OF_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/device_columns.h"
#include "model/proto/resource.pb.h"

namespace drasim {

// The facts refer to `driver` and `device`. An attribute with several members has the value of the
// first of them in upstream's order, lists before single values. InvalidArgument for a capacity
// that is no quantity. O(device).
absl::StatusOr<DeviceFacts> DeviceFactsOf(absl::string_view driver,
                                          const proto::kube::Device& device);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_DEVICE_FACTS_OF_H_
