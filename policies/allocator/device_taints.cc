#include "policies/allocator/device_taints.h"

#include <algorithm>

namespace drasim {

bool ToleratesTaint(const proto::kube::DeviceToleration& toleration,
                    const proto::kube::DeviceTaint& taint) {
  if (!toleration.effect().empty() && toleration.effect() != taint.effect()) return false;
  if (!toleration.key().empty() && toleration.key() != taint.key()) return false;
  if (toleration.operator_() == "Exists") return true;
  if (!toleration.operator_().empty() && toleration.operator_() != "Equal") return false;
  return toleration.value() == taint.value();
}

bool TaintsPreventAllocation(const proto::kube::Device& device,
                             const DeviceTolerations& tolerations) {
  return std::any_of(device.taints().begin(), device.taints().end(),
                     [&tolerations](const proto::kube::DeviceTaint& taint) {
                       if (taint.effect() != "NoSchedule" && taint.effect() != "NoExecute")
                         return false;
                       return std::none_of(
                           tolerations.begin(), tolerations.end(),
                           [&taint](const proto::kube::DeviceToleration& toleration) {
                             return ToleratesTaint(toleration, taint);
                           });
                     });
}

}  // namespace drasim
