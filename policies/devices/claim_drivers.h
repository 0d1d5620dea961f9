// The drivers of classic DRA by their kinds: what each serves, and how one is made.
//
// All of them hand out the GPUs of nodes; they differ in the parameters that they read, in what
// they can cut, and in where they put it. docs/fidelity.md says what each keeps of the real one.
#ifndef DRASIM_POLICIES_DEVICES_CLAIM_DRIVERS_H_
#define DRASIM_POLICIES_DEVICES_CLAIM_DRIVERS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "policies/devices/claim_driver_options.h"
#include "policies/framework/claim_driver.h"

namespace drasim {

// Every kind that MakeClaimDriver knows, in the order of --help: nvidia, example, intel,
// constraints.
absl::Span<const ClaimDriverInfo> ClaimDriverInfos();
// Null for an unknown kind.
const ClaimDriverInfo* FindClaimDriver(absl::string_view kind);

// InvalidArgument for an unknown kind or placement; the message names the known ones.
absl::StatusOr<std::unique_ptr<ClaimDriver>> MakeClaimDriver(ClaimDriverOptions options);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_CLAIM_DRIVERS_H_
