// Consumable capacity: what a request takes of a device's capacities, and whether it may.
//
// Source: k8s.io/dynamic-resource-allocation/structured/internal/incubating, release 0.37.2.
// Arithmetic is upstream's: whole units in int64, or thousandths when the range of a policy asks
// for them and the gate allows it; never floating point. Releases before 1.37 round up with sums
// that wrap around.
#ifndef DRASIM_POLICIES_ALLOCATOR_CAPACITY_POLICY_H_
#define DRASIM_POLICIES_ALLOCATOR_CAPACITY_POLICY_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/proto/resource.pb.h"
#include "model/quantity.h"
#include "policies/allocator/release_rules.h"

namespace drasim {

struct CapacityRange {
  std::optional<Quantity> min;
  std::optional<Quantity> max;
  std::optional<Quantity> step;
};

struct CapacityPolicy {
  std::optional<Quantity> default_value;
  std::vector<Quantity> valid_values;
  std::optional<CapacityRange> range;
};

struct DeviceCapacityLimit {
  std::string name;  // as written
  Quantity value;
  absl::int128 nanos = 0;  // of the value
  std::optional<CapacityPolicy> policy;
};

// In order of their names.
using DeviceCapacities = std::vector<DeviceCapacityLimit>;

// Requested amounts, by name as written.
using CapacityRequest = std::map<std::string, Quantity>;

// The capacities of a device. InvalidArgument for amounts that are no quantities, or exceed 10^24.
absl::StatusOr<DeviceCapacities> ReadDeviceCapacities(const proto::kube::Device& device);

absl::StatusOr<CapacityRequest> ReadCapacityRequest(
    const proto::kube::CapacityRequirements& requirements);

struct CapacityDemand {
  enum class Verdict {
    kEnough,  // as far as the device's own size goes
    kSkip,    // this device cannot serve the request
    kError,   // the request cannot be represented: ends the attempt
  };
  Verdict verdict = Verdict::kEnough;
  std::string error;                // upstream's words
  std::vector<Quantity> amounts;    // kEnough: by capacity
  std::vector<absl::int128> nanos;  // the same in billionths
};

// The amounts that `request` takes, of all capacities and not only of those asked for.
// `milli`: the gate DRAFractionalCapacityRange.
CapacityDemand DemandOf(const CapacityRequest& request, const DeviceCapacities& capacities,
                        bool milli, const ReleaseRules& rules = {});

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_CAPACITY_POLICY_H_
