// Conditions that a device must meet before its pod is bound (KEP 5007): a driver sets them in
// status.devices of the claim.
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/dynamicresources, release 1.37.2.
#ifndef DRASIM_POLICIES_DRA_BINDING_CONDITIONS_H_
#define DRASIM_POLICIES_DRA_BINDING_CONDITIONS_H_

#include <cstdint>
#include <string>

#include "model/proto/resource.pb.h"

namespace drasim {

enum class BindingReadiness : uint8_t { kReady, kPending, kFailed };

struct ClaimReadiness {
  BindingReadiness state = BindingReadiness::kReady;
  std::string failure;  // kFailed: 'reason=R, message="M"'
  // kPending: "condition C of device DRIVER/POOL/DEVICE"; empty without an allocation.
  std::string waits_for;
};

// Whether the claim's devices meet all of their conditions. Devices are looked at in order: a
// pending one hides the failure of a later one. A claim without an allocation is pending.
// O(devices x conditions).
ClaimReadiness ReadinessOf(const proto::kube::ResourceClaimV1& claim);

bool HasBindingConditions(const proto::kube::AllocationResultV1& allocation);

// Whether the claim has waited for longer than `timeout_ns` since it was allocated. False for one
// without conditions, or without a timestamp. `now_ns` counts from 1970.
bool BindingTimedOut(const proto::kube::ResourceClaimV1& claim, int64_t timeout_ns, int64_t now_ns);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_BINDING_CONDITIONS_H_
