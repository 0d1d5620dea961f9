// Structured claims in the terms of a ledger: their classes, and the devices of their allocations
// with what the ResourceSlices say about them.
#ifndef DRASIM_MODEL_KUBE_CLAIM_DEVICES_OF_H_
#define DRASIM_MODEL_KUBE_CLAIM_DEVICES_OF_H_

#include <set>
#include <string>

#include "model/claim_change.h"

namespace drasim {

namespace proto::kube {
class Device;
class DeviceAttribute;
class DeviceClaim;
class DeviceRequestAllocationResult;
}  // namespace proto::kube

// The classes of all requests, alternatives included, ascending.
std::set<std::string> ClassesOfClaim(const proto::kube::DeviceClaim& claim);

// "1g.5gb", "7", "true"; a list as "a, b".
std::string AttributeText(const proto::kube::DeviceAttribute& attribute);

// `device` is the one that the result names, as slice `slice` publishes it. Null: nobody does. The
// facts are in order of their kinds and names.
ClaimDevice DescribeClaimDevice(const proto::kube::DeviceRequestAllocationResult& result,
                                const std::string& slice, const proto::kube::Device* device);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_CLAIM_DEVICES_OF_H_
