// Taints that DeviceTaintRules add to devices (KEP 5055).
//
// Source: k8s.io/dynamic-resource-allocation/resourceslice/tracker, release 1.37.2.
#ifndef DRASIM_POLICIES_DRA_TAINT_RULES_H_
#define DRASIM_POLICIES_DRA_TAINT_RULES_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/proto/resource.pb.h"

namespace drasim {

// Appends each rule's taint, in the order of the rules, to the devices of `*slice` that its
// selector means: driver, pool and device must match where they are given. A rule without a
// selector means none. O(rules x devices).
void AppendTaintsOfRules(absl::Span<const proto::kube::DeviceTaintRule> rules,
                         proto::kube::ResourceSlice* slice);

// Whether the selector of the rule means the device. O(1).
bool RuleMeansDevice(const proto::kube::DeviceTaintRule& rule, absl::string_view driver,
                     absl::string_view pool, absl::string_view device);
// Whether it may mean devices of the pool.
bool RuleMeansPool(const proto::kube::DeviceTaintRule& rule, absl::string_view driver,
                   absl::string_view pool);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_TAINT_RULES_H_
