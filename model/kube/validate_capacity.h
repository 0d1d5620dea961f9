// Validation of quantities and request policies of resource.k8s.io/v1, for validate_device.h and
// validate_claim.h; rules and texts as there.
#ifndef DRASIM_MODEL_KUBE_VALIDATE_CAPACITY_H_
#define DRASIM_MODEL_KUBE_VALIDATE_CAPACITY_H_

#include <string>

#include "absl/strings/string_view.h"
#include "model/kube/api_check.h"
#include "model/proto/kube.pb.h"

namespace drasim {

// The text must be a quantity of any size and sign. Whether it is one.
bool CheckQuantity(const std::string& path, const std::string& text, ApiCheck* check);

// The text must be a quantity above 0, or with `zero` 0 or above; else the problem is `detail`.
void CheckSign(const std::string& path, const std::string& text, bool zero,
               absl::string_view detail, ApiCheck* check);

// A capacity, whose request policy only devices that are allocated several times may have: a
// default, and either ascending valid values or a range, none of them above the capacity.
void CheckDeviceCapacity(const std::string& path, const proto::kube::DeviceCapacity& capacity,
                         bool shared, ApiCheck* check);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_VALIDATE_CAPACITY_H_
