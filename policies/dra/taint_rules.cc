#include "policies/dra/taint_rules.h"

namespace drasim {

namespace kube = ::drasim::proto::kube;

void AppendTaintsOfRules(absl::Span<const kube::DeviceTaintRule> rules,
                         kube::ResourceSlice* slice) {
  for (const kube::DeviceTaintRule& rule : rules) {
    if (!rule.spec().has_device_selector()) continue;
    const kube::DeviceTaintSelector& selector = rule.spec().device_selector();
    if (selector.has_driver() && selector.driver() != slice->spec().driver()) continue;
    if (selector.has_pool() && selector.pool() != slice->spec().pool().name()) continue;
    for (kube::Device& device : *slice->mutable_spec()->mutable_devices()) {
      if (selector.has_device() && selector.device() != device.name()) continue;
      *device.add_taints() = rule.spec().taint();
    }
  }
}

}  // namespace drasim
