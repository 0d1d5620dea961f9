// NVIDIA's ConsumableShares: devices that several claims share, by capacity.
#ifndef DRASIM_POLICIES_DRIVERS_CONSUMABLE_SHARES_H_
#define DRASIM_POLICIES_DRIVERS_CONSUMABLE_SHARES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/proto/resource.pb.h"

namespace drasim {

struct ConsumableShares {
  enum class Mode : uint8_t { kDisabled, kUnlimited, kMemory, kShares };
  Mode mode = Mode::kDisabled;
  int64_t shares = 0;  // with kShares
};

// "" is kDisabled. KeyError of the key `consumable_shares` for anything but disabled, unlimited,
// memory and numbers from 1 on.
absl::StatusOr<ConsumableShares> ParseConsumableShares(absl::string_view text);

// Allows several allocations of the device and gives its capacity `memory`, in steps of 1Mi, a
// request policy: by default none of it (unlimited, shares) or all (memory). With shares the device
// has a capacity of that name, too. A device without memory is shared without limit, as the driver
// has it.
void ApplyConsumableShares(const ConsumableShares& shares, proto::kube::Device* device);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRIVERS_CONSUMABLE_SHARES_H_
