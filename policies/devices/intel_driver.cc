#include "policies/devices/intel_driver.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/device_set.h"
#include "model/resource_request.h"
#include "model/status_macros.h"
#include "policies/devices/claim_parameters.h"
#include "policies/devices/node_devices.h"

namespace drasim {
namespace {

// Per node: 10 devices with 64 virtual functions.
constexpr int64_t kMostIntelDevices = 640;
constexpr int64_t kLeastIntelMemory = 8;  // MiB
constexpr int64_t kMostIntelMemory = 1 << 20;

}  // namespace

IntelDriver::IntelDriver(const ClaimDriverInfo& info, ClaimDriverOptions options)
    : NodeDeviceDriver(info, MigRule::kFirstFit, std::move(options)) {}

absl::Status IntelDriver::ReadRequest(const ClaimToAllocate& claim, DeviceRequest* request) const {
  const ParameterFields of_class(claim.class_parameters);
  const ParameterFields fields(claim.claim_parameters);
  for (const ParameterFields* each : {&of_class, &fields}) {
    RETURN_IF_ERROR(each->CheckGroup(info().api_group));
  }
  int64_t count = 1;
  Amounts amounts;
  bool shared = true;
  std::string type = "gpu";
  RETURN_IF_ERROR(fields.ReadInt("count", 1, kMostIntelDevices, &count));
  RETURN_IF_ERROR(
      fields.ReadInt("memory", kLeastIntelMemory, kMostIntelMemory, &amounts.memory_mib));
  RETURN_IF_ERROR(fields.ReadInt("millicores", 1, kDeviceMilli, &amounts.millicores));
  RETURN_IF_ERROR(fields.ReadWord("type", {"gpu", "vf"}, &type));
  RETURN_IF_ERROR(fields.ReadBool("shareable", &request->shareable));
  RETURN_IF_ERROR(of_class.ReadBool("shared", &shared));
  request->count = static_cast<int32_t>(count);
  const bool function = type == "vf";
  const bool part = !function && shared && (amounts.memory_mib > 0 || amounts.millicores > 0);
  request->apart = part;
  request->wanted =
      absl::StrCat(count, function ? " virtual function" : (part ? " part of a GPU" : " GPU"),
                   count == 1 ? "" : "s");
  if (part && count > 1) request->wanted = absl::StrCat("parts of ", count, " GPUs");
  if (amounts.memory_mib > 0) {
    absl::StrAppend(&request->wanted, " with ", amounts.memory_mib, " MiB");
  }
  if (amounts.millicores > 0) {
    absl::StrAppend(&request->wanted, amounts.memory_mib > 0 ? " and " : " with ",
                    amounts.millicores, " millicores");
  }
  for (size_t i = 0; i < kinds().size(); ++i) {
    const GpuKind& gpus = kinds()[i];
    KindRequest& kind = request->kinds[i];
    kind.eligible = DeviceSet::All();
    if (amounts.memory_mib > gpus.memory_mib) {
      kind.lacking = absl::StrCat(request->wanted, " wanted, ",
                                  gpus.memory_mib == 0
                                      ? absl::StrCat("the memory of ", gpus.model, " is not known")
                                      : absl::StrCat("a GPU has ", gpus.memory_mib, " MiB"));
    } else if (function) {
      WantFunction(gpus, amounts, &kind);
    } else if (part) {
      WantPart(gpus, amounts, &kind);
    } else {
      kind.options.push_back({});
    }
  }
  return absl::OkStatus();
}

void IntelDriver::WantPart(const GpuKind& gpus, const Amounts& amounts, KindRequest* kind) {
  int64_t milli = amounts.millicores;
  if (milli == 0) {
    milli = std::max<int64_t>(1, kDeviceMilli * amounts.memory_mib / gpus.memory_mib);
  }
  DeviceOption option;
  option.use = GpuUse::kPart;
  option.milli = static_cast<int16_t>(milli);
  option.memory_mib = static_cast<int32_t>(amounts.memory_mib);
  kind->options.push_back(option);
}

void IntelDriver::WantFunction(const GpuKind& gpus, const Amounts& amounts, KindRequest* kind) {
  DeviceOption option;
  option.use = GpuUse::kFunction;
  for (const int64_t per_gpu : {16, 8, 4, 2, 1}) {
    option.milli = static_cast<int16_t>(kDeviceMilli / per_gpu);
    option.memory_mib = static_cast<int32_t>(gpus.memory_mib / per_gpu);
    if (option.milli >= amounts.millicores && option.memory_mib >= amounts.memory_mib) break;
  }
  kind->options.push_back(option);
}

}  // namespace drasim
