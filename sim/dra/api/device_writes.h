// The API server's own part in changes of structured DRA's objects: times of taints, and the words
// of drivers about allocated devices.
//
// Source: kubernetes/kubernetes pkg/apis/resource/v1/defaults.go and pkg/registry/resource, release
// 1.37.2.
#ifndef DRASIM_SIM_DRA_API_DEVICE_WRITES_H_
#define DRASIM_SIM_DRA_API_DEVICE_WRITES_H_

#include "model/kube/objects.h"
#include "model/time.h"

namespace drasim {

// Sets timeAdded, in whole seconds, where a taint has none; `before` is the stored state, null for
// a new object. A time after `now` counts as `now`: objects of real clusters are younger than the
// run. A taint of a slice that was on the device before keeps its time, as the drivers' library has
// it. So does a rule, whose writer gives none again, unless its effect changes. O(devices).
void StampTaints(const ResourceSliceObject* before, SimTime now, ResourceSliceObject& next);
void StampTaints(const DeviceTaintRuleObject* before, SimTime now, DeviceTaintRuleObject& next);

// Adds the entries of asked.status.devices to those of `to`, or replaces them by driver, pool,
// device and share. False, and nothing changes, if one of the devices is not allocated to `to`.
// O(entries x devices).
bool PutDeviceStatuses(const ResourceClaim& asked, ResourceClaim& to);

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_DEVICE_WRITES_H_
