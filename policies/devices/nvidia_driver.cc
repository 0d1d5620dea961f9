#include "policies/devices/nvidia_driver.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "model/device_set.h"
#include "model/status_macros.h"
#include "policies/devices/gpu_selector.h"
#include "policies/devices/mig_rules.h"
#include "policies/devices/node_devices.h"

namespace drasim {
namespace {

// Per claim; no node has as many.
constexpr int64_t kMostGpusOfClaim = 1'000'000;

// The settings as the driver's plugin receives them, flat; "" for none.
absl::Status ReadGpuSharing(const ParameterFields& fields, std::string* out) {
  std::string word;
  RETURN_IF_ERROR(fields.ReadWord("sharing.strategy", {"TimeSlicing", "MPS"}, &word));
  for (const char* path :
       {"sharing.timeSlicingConfig.timeSlice", "sharing.timeSlicingConfig.interval"}) {
    RETURN_IF_ERROR(fields.ReadWord(path, {"Default", "Short", "Medium", "Long"}, &word));
  }
  for (const auto& [path, text] : fields.all()) {
    absl::string_view rest = path;
    if (!absl::ConsumePrefix(&rest, "sharing.")) continue;
    absl::StrAppend(out, out->empty() ? "{" : ",", JsonQuoted(rest), ":", JsonQuoted(text));
  }
  if (!out->empty()) out->push_back('}');
  return absl::OkStatus();
}

std::string LackedProfile(const GpuKind& gpus, absl::string_view wanted) {
  return absl::StrCat(wanted, " wanted, ", gpus.model.empty() ? "the GPU" : gpus.model, " has no ",
                      gpus.table == nullptr ? "MIG" : "such profile");
}

}  // namespace

NvidiaDriver::NvidiaDriver(const ClaimDriverInfo& info, ClaimDriverOptions options)
    : NodeDeviceDriver(info, MigRule::kDraDriver, std::move(options)) {}

absl::Status NvidiaDriver::ReadRequest(const ClaimToAllocate& claim, DeviceRequest* request) const {
  const ParameterFields of_class(claim.class_parameters);
  const ParameterFields fields(claim.claim_parameters);
  for (const ParameterFields* each : {&of_class, &fields}) {
    RETURN_IF_ERROR(each->CheckGroup(info().api_group));
  }
  // The first is NVIDIA's spelling.
  for (const char* path : {"sharable", "shareable"}) {
    RETURN_IF_ERROR(of_class.ReadBool(path, &request->shareable));
  }
  const absl::string_view kind = fields.kind();
  if (kind == "MigDeviceClaimParameters") return ReadMigClaim(fields, request);
  if (kind == "ComputeInstanceClaimParameters") return ReadComputeClaim(fields, request);
  if (!kind.empty() && kind != "GpuClaimParameters") {
    return absl::InvalidArgumentError(
        absl::StrCat("parameters \"", claim.claim_parameters->meta.name.text(),
                     "\": expected kind GpuClaimParameters, MigDeviceClaimParameters or "
                     "ComputeInstanceClaimParameters, not ",
                     kind));
  }
  return ReadGpuClaim(fields, request);
}

absl::Status NvidiaDriver::ReadGpuClaim(const ParameterFields& fields,
                                        DeviceRequest* request) const {
  int64_t count = 1;
  RETURN_IF_ERROR(fields.ReadInt("count", 1, kMostGpusOfClaim, &count));
  RETURN_IF_ERROR(ReadGpuSharing(fields, &request->sharing));
  ASSIGN_OR_RETURN(const GpuSelector selector, GpuSelector::Read(fields));
  request->count = static_cast<int32_t>(count);
  request->any_gpu = selector.empty();
  request->wanted = absl::StrCat(count, count == 1 ? " GPU" : " GPUs");
  for (size_t i = 0; i < kinds().size(); ++i) {
    request->kinds[i].eligible = selector.DevicesOf(kinds()[i]);
    request->kinds[i].options.push_back({});
  }
  return absl::OkStatus();
}

absl::Status NvidiaDriver::ReadMigClaim(const ParameterFields& fields,
                                        DeviceRequest* request) const {
  RETURN_IF_ERROR(ReadGpuSharing(fields, &request->sharing));
  const std::string* profile = fields.Find("profile");
  if (profile == nullptr || profile->empty()) return fields.Wrong("profile", "a MIG profile");
  const std::string* tie = fields.Find("gpuClaimName");
  if (tie != nullptr) request->tie = *tie;
  request->wanted = absl::StrCat("MIG ", *profile);
  DeviceOption option;
  option.use = request->tie.empty() ? GpuUse::kInstance : GpuUse::kInside;
  for (size_t i = 0; i < kinds().size(); ++i) {
    const GpuKind& gpus = kinds()[i];
    KindRequest& kind = request->kinds[i];
    const int found = gpus.table == nullptr ? -1 : gpus.table->FindProfile(*profile);
    if (found < 0) {
      kind.lacking = LackedProfile(gpus, request->wanted);
      continue;
    }
    kind.eligible = DeviceSet::All();
    option.profile = static_cast<uint8_t>(found);
    kind.options.push_back(option);
  }
  return absl::OkStatus();
}

absl::Status NvidiaDriver::ReadComputeClaim(const ParameterFields& fields,
                                            DeviceRequest* request) const {
  const std::string* profile = fields.Find("profile");
  const std::string* tie = fields.Find("migDeviceClaimName");
  if (profile == nullptr || profile->empty()) return fields.Wrong("profile", "a profile");
  if (tie == nullptr || tie->empty()) {
    return fields.Wrong("migDeviceClaimName", "the name of a claim");
  }
  request->tie = *tie;
  request->wanted = absl::StrCat("compute instance ", *profile);
  // "1c.3g.20gb": slices, then the instance's profile; either may be missing.
  absl::string_view instance = *profile;
  DeviceOption option;
  option.use = GpuUse::kCompute;
  const absl::string_view head = instance.substr(0, instance.find('.'));
  int32_t slices = 0;
  if (absl::EndsWith(head, "c")) {
    if (!absl::SimpleAtoi(head.substr(0, head.size() - 1), &slices) || slices < 1 || slices > 7) {
      return fields.Wrong("profile", "a profile like \"1c.3g.20gb\"");
    }
    instance.remove_prefix(head.size());
    absl::ConsumePrefix(&instance, ".");
  }
  option.slices = static_cast<uint8_t>(slices);
  for (size_t i = 0; i < kinds().size(); ++i) {
    const GpuKind& gpus = kinds()[i];
    KindRequest& kind = request->kinds[i];
    const int found =
        gpus.table == nullptr || instance.empty() ? -1 : gpus.table->FindProfile(instance);
    if (gpus.table == nullptr || (found < 0 && !instance.empty())) {
      kind.lacking = LackedProfile(gpus, request->wanted);
      continue;
    }
    kind.eligible = DeviceSet::All();
    option.profile = found < 0 ? kAnyProfile : static_cast<uint8_t>(found);
    kind.options.push_back(option);
  }
  return absl::OkStatus();
}

}  // namespace drasim
