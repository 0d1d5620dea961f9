#include "policies/devices/example_driver.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/device_set.h"
#include "model/status_macros.h"
#include "policies/devices/claim_parameters.h"

namespace drasim {

ExampleDriver::ExampleDriver(const ClaimDriverInfo& info, ClaimDriverOptions options)
    : NodeDeviceDriver(info, MigRule::kFirstFit, std::move(options)) {}

absl::Status ExampleDriver::ReadRequest(const ClaimToAllocate& claim,
                                        DeviceRequest* request) const {
  const ParameterFields fields(claim.claim_parameters);
  int64_t count = 1;
  RETURN_IF_ERROR(fields.CheckGroup(info().api_group));
  RETURN_IF_ERROR(fields.ReadInt("count", 1, 1'000'000, &count));
  request->count = static_cast<int32_t>(count);
  request->wanted = absl::StrCat(count, count == 1 ? " GPU" : " GPUs");
  for (KindRequest& kind : request->kinds) {
    kind.eligible = DeviceSet::All();
    kind.options.push_back({});
  }
  return absl::OkStatus();
}

}  // namespace drasim
