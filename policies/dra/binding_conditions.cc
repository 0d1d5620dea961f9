#include "policies/dra/binding_conditions.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/kube/kube_time.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

const kube::AllocatedDeviceStatus* StatusOfDevice(
    const kube::ResourceClaimV1& claim, const kube::DeviceRequestAllocationResult& result) {
  for (const kube::AllocatedDeviceStatus& device : claim.status().devices()) {
    if (device.device() == result.device() && device.driver() == result.driver() &&
        device.pool() == result.pool()) {
      return &device;
    }
  }
  return nullptr;
}

// The condition of that type if it is True; null otherwise.
const kube::Condition* TrueCondition(const kube::AllocatedDeviceStatus& device,
                                     absl::string_view type) {
  for (const kube::Condition& condition : device.conditions()) {
    if (condition.type() == type) return condition.status() == "True" ? &condition : nullptr;
  }
  return nullptr;
}

// As Go's %q quotes a text without characters that cannot be printed, other than these.
std::string GoQuoted(absl::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
      case '\\':
        quoted.append({'\\', c});
        break;
      case '\n':
        quoted.append("\\n");
        break;
      case '\r':
        quoted.append("\\r");
        break;
      case '\t':
        quoted.append("\\t");
        break;
      default:
        quoted.push_back(c);
    }
  }
  quoted.push_back('"');
  return quoted;
}

}  // namespace

ClaimReadiness ReadinessOf(const kube::ResourceClaimV1& claim) {
  const auto pending = [](const std::string& type, const auto& result) -> ClaimReadiness {
    return {BindingReadiness::kPending, "",
            absl::StrCat("condition ", type, " of device ", result.driver(), "/", result.pool(),
                         "/", result.device())};
  };
  if (!claim.status().has_allocation()) return {BindingReadiness::kPending, "", ""};
  for (const auto& result : claim.status().allocation().devices().results()) {
    if (result.binding_conditions().empty()) continue;
    const kube::AllocatedDeviceStatus* const device = StatusOfDevice(claim, result);
    if (device == nullptr) return pending(result.binding_conditions(0), result);
    for (const std::string& type : result.binding_failure_conditions()) {
      const kube::Condition* const failed = TrueCondition(*device, type);
      if (failed == nullptr) continue;
      return {BindingReadiness::kFailed,
              absl::StrCat("reason=", failed->reason(), ", message=", GoQuoted(failed->message())),
              ""};
    }
    for (const std::string& type : result.binding_conditions()) {
      if (TrueCondition(*device, type) == nullptr) return pending(type, result);
    }
  }
  return {};
}

bool HasBindingConditions(const kube::AllocationResultV1& allocation) {
  const auto& results = allocation.devices().results();
  return std::any_of(results.begin(), results.end(),
                     [](const auto& result) { return !result.binding_conditions().empty(); });
}

bool BindingTimedOut(const kube::ResourceClaimV1& claim, int64_t timeout_ns, int64_t now_ns) {
  const kube::AllocationResultV1& allocation = claim.status().allocation();
  const std::string& allocated = allocation.allocation_timestamp();
  if (allocated.empty() || !HasBindingConditions(allocation)) return false;
  return now_ns - KubeTimeNs(allocated) > timeout_ns;
}

}  // namespace drasim
