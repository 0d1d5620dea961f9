#include "policies/dra/taint_rules.h"

namespace drasim {

namespace kube = ::drasim::proto::kube;

void AppendTaintsOfRules(absl::Span<const kube::DeviceTaintRule> rules,
                         kube::ResourceSlice* slice) {
  for (const kube::DeviceTaintRule& rule : rules) {
    if (!RuleMeansPool(rule, slice->spec().driver(), slice->spec().pool().name())) continue;
    const kube::DeviceTaintSelector& selector = rule.spec().device_selector();
    for (kube::Device& device : *slice->mutable_spec()->mutable_devices()) {
      if (selector.has_device() && selector.device() != device.name()) continue;
      *device.add_taints() = rule.spec().taint();
    }
  }
}

bool RuleMeansPool(const kube::DeviceTaintRule& rule, absl::string_view driver,
                   absl::string_view pool) {
  if (!rule.spec().has_device_selector()) return false;
  const kube::DeviceTaintSelector& selector = rule.spec().device_selector();
  if (selector.has_driver() && selector.driver() != driver) return false;
  return !selector.has_pool() || selector.pool() == pool;
}

bool RuleMeansDevice(const kube::DeviceTaintRule& rule, absl::string_view driver,
                     absl::string_view pool, absl::string_view device) {
  if (!RuleMeansPool(rule, driver, pool)) return false;
  const kube::DeviceTaintSelector& selector = rule.spec().device_selector();
  return !selector.has_device() || selector.device() == device;
}

}  // namespace drasim
