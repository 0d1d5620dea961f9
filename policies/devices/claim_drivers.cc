#include "policies/devices/claim_drivers.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "policies/devices/constraints_driver.h"
#include "policies/devices/example_driver.h"
#include "policies/devices/intel_driver.h"
#include "policies/devices/mig_rule_list.h"
#include "policies/devices/nvidia_driver.h"

namespace drasim {
namespace {

constexpr ClaimDriverInfo kClaimDrivers[] = {
    {"nvidia", "gpu.resource.nvidia.com", "gpu.nvidia.com", "gpu.resource.nvidia.com",
     "NVIDIA's classic driver: GPUs by selector, MIG instances by profile",
     "immediate allocation is not supported"},
    {"example", "gpu.resource.example.com", "gpu.example.com", "gpu.resource.example.com",
     "the example driver: so many GPUs", nullptr},
    {"intel", "gpu.resource.intel.com", "gpu.intel.com", "gpu.resource.intel.com",
     "Intel's classic driver: parts of GPUs by memory and millicores, virtual functions", nullptr},
    {"constraints", "constraints.drasim.dev", "constraints.drasim.dev", "constraints.drasim.dev",
     "the smallest MIG instance or GPU with enough memory and compute", nullptr},
};

}  // namespace

absl::Span<const ClaimDriverInfo> ClaimDriverInfos() { return kClaimDrivers; }

const ClaimDriverInfo* FindClaimDriver(absl::string_view kind) {
  for (const ClaimDriverInfo& info : kClaimDrivers) {
    if (kind == info.kind) return &info;
  }
  return nullptr;
}

absl::StatusOr<std::unique_ptr<ClaimDriver>> MakeClaimDriver(ClaimDriverOptions options) {
  const ClaimDriverInfo* info = FindClaimDriver(options.kind);
  if (info == nullptr) {
    std::string known;
    for (const ClaimDriverInfo& each : kClaimDrivers) {
      absl::StrAppend(&known, known.empty() ? "" : ", ", each.kind);
    }
    return absl::InvalidArgumentError(
        absl::StrCat("kind: expected one of ", known, ", not \"", options.kind, "\""));
  }
  if (!options.placement.empty() && FindMigPlacement(options.placement) == nullptr) {
    std::string known;
    for (const MigRuleInfo& each : MigRuleInfos()) {
      absl::StrAppend(&known, known.empty() ? "" : ", ",
                      absl::StripPrefix(absl::string_view(each.name), "mig-"));
    }
    return absl::InvalidArgumentError(
        absl::StrCat("placement: expected one of ", known, ", not \"", options.placement, "\""));
  }
  const absl::string_view kind = info->kind;
  if (kind == "nvidia") return std::make_unique<NvidiaDriver>(*info, std::move(options));
  if (kind == "example") return std::make_unique<ExampleDriver>(*info, std::move(options));
  if (kind == "intel") return std::make_unique<IntelDriver>(*info, std::move(options));
  return std::make_unique<ConstraintsDriver>(*info, std::move(options));
}

}  // namespace drasim
