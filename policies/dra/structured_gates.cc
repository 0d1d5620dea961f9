#include "policies/dra/structured_gates.h"

#include <set>

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "model/status_macros.h"
#include "policies/allocator/dra_features.h"

namespace drasim {

absl::Status SetDraGates(const std::map<std::string, bool>& gates, AllocatorOptions* allocator,
                         StructuredOptions* plugin, bool* taint_rules) {
  const std::set<std::string> plugin_gates = {"DRADeviceBindingConditions", "DRADeviceTaintRules",
                                              "DRAExtendedResource", "DRAResourceClaimDeviceStatus",
                                              "DRASchedulerFilterTimeout"};
  const auto is_on = [&](const char* gate, bool by_default) {
    const auto found = gates.find(gate);
    return found == gates.end() ? by_default : found->second;
  };
  const bool since_36 = allocator->release >= StructuredRelease::k1_36;
  const bool since_37 = allocator->release >= StructuredRelease::k1_37;
  plugin->release = allocator->release;
  plugin->extended_resources = is_on("DRAExtendedResource", since_36);
  plugin->prioritized_list = is_on("DRAPrioritizedList", true);
  plugin->binding_conditions =
      is_on("DRADeviceBindingConditions", since_36) && is_on("DRAResourceClaimDeviceStatus", true);
  *taint_rules = is_on("DRADeviceTaints", since_36) && is_on("DRADeviceTaintRules", since_37);
  if (!is_on("DRASchedulerFilterTimeout", true)) plugin->filter_timeout_ns = 0;
  allocator->features.device_binding_and_status = plugin->binding_conditions;
  for (const auto& [gate, on] : gates) {
    if (plugin_gates.count(gate) > 0) continue;
    absl::string_view feature = gate;
    absl::ConsumePrefix(&feature, "DRA");
    RETURN_IF_ERROR(SetDraFeature(feature, on, &allocator->features));
  }
  allocator->variant = PickAllocatorVariant(allocator->features, allocator->release);
  return absl::OkStatus();
}

}  // namespace drasim
