// Devices that the claims of a cache hold, kept up to date by the claims' changes.
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/dynamicresources
// (allocateddevices.go), release 1.37.2. As upstream, dedicated devices are a set: of two claims
// that hold one device, the first to be deallocated frees it. Shares are counted.
#ifndef DRASIM_POLICIES_DRA_ALLOCATED_DEVICES_H_
#define DRASIM_POLICIES_DRA_ALLOCATED_DEVICES_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/proto/resource.pb.h"
#include "model/quantity.h"
#include "policies/allocator/device_use.h"
#include "policies/dra/in_flight_claims.h"

namespace drasim {

class AllocatedDevices {
 public:
  // A claim was added (no `before`), changed, or deleted (no `after`). Only an allocation that
  // comes or goes counts: it does not change. O(results).
  void OnClaim(const proto::kube::ResourceClaimV1* before,
               const proto::kube::ResourceClaimV1* after);

  // The devices of the claims, and of those in flight. InvalidArgument once a claim held a capacity
  // that is no quantity. O(devices).
  absl::StatusOr<DeviceUse> Use(const InFlightClaims& in_flight) const;

 private:
  void Take(const DeviceUse& use);
  void GiveBack(const DeviceUse& use);

  std::set<DeviceId> dedicated_;
  std::map<DeviceId, int64_t> shares_;
  std::map<DeviceId, std::map<std::string, Quantity>> consumed_;  // nothing that is zero
  absl::Status status_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_ALLOCATED_DEVICES_H_
