// Devices that the claims of a cache hold, kept in the cluster's inventory by the claims' changes.
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/dynamicresources
// (allocateddevices.go), release 1.37.2.
#ifndef DRASIM_POLICIES_DRA_ALLOCATED_DEVICES_H_
#define DRASIM_POLICIES_DRA_ALLOCATED_DEVICES_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/cluster_state.h"
#include "policies/allocator/device_use.h"
#include "policies/dra/claim_ref.h"

namespace drasim {

class AllocatedDevices {
 public:
  // The cluster must outlive it.
  explicit AllocatedDevices(ClusterState* cluster) : cluster_(cluster) {}

  // A claim was added (no `before`), changed, or deleted (no `after`). Only an allocation that
  // comes or goes counts: it does not change. O(results).
  void OnClaim(const ClaimRef& before, const ClaimRef& after);

  // InvalidArgument once a claim held a capacity that is no quantity.
  const absl::Status& status() const { return status_; }
  // The devices of the claims, and of those in flight (InFlightClaims), unless status() is an
  // error. O(devices).
  absl::StatusOr<DeviceUse> Use() const;

  // For checkpoints (sim/dra/api/plane_archive.h). The cluster saves the devices.
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& s) {
    a(s.status_);
  }

 private:
  ClusterState* cluster_;
  absl::Status status_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_ALLOCATED_DEVICES_H_
