#include "policies/devices/constraints_driver.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "model/device_set.h"
#include "model/mig_product.h"
#include "model/quantity.h"
#include "model/resource_request.h"
#include "model/status_macros.h"
#include "policies/devices/claim_parameters.h"
#include "policies/devices/mig_rules.h"
#include "policies/devices/node_devices.h"

namespace drasim {
namespace {

constexpr int64_t kMostConstrainedDevices = 256;

int64_t NominalBytes(int64_t gib, int64_t mib) {
  return gib > 0 ? gib << 30 : std::max<int64_t>(mib, 0) << 20;
}

int64_t BytesOfGpu(const GpuKind& gpus) {
  if (gpus.table == nullptr) return NominalBytes(0, gpus.memory_mib);
  return NominalBytes(gpus.table->product().memory_nominal_gb, gpus.memory_mib);
}

// Parses "0.25", "250m" or "25%" into thousandths; an error beyond a whole.
absl::StatusOr<int64_t> ReadComputeShare(absl::string_view text) {
  const bool percent = absl::ConsumeSuffix(&text, "%");
  absl::StatusOr<int64_t> milli = ParseMilli(text);
  if (!milli.ok()) return milli;
  if (percent) *milli = *milli / 100 + (*milli % 100 > 0 ? 1 : 0);
  if (*milli > kDeviceMilli) return absl::OutOfRangeError("more than a GPU");
  return milli;
}

}  // namespace

ConstraintsDriver::ConstraintsDriver(const ClaimDriverInfo& info, ClaimDriverOptions options)
    : NodeDeviceDriver(info, MigRule::kBestFit, std::move(options)) {}

absl::Status ConstraintsDriver::ReadRequest(const ClaimToAllocate& claim,
                                            DeviceRequest* request) const {
  const ParameterFields of_class(claim.class_parameters);
  const ParameterFields fields(claim.claim_parameters);
  RETURN_IF_ERROR(fields.CheckGroup(info().api_group));
  RETURN_IF_ERROR(of_class.ReadBool("shareable", &request->shareable));
  int64_t count = 1;
  RETURN_IF_ERROR(fields.ReadInt("count", 1, kMostConstrainedDevices, &count));
  Demand demand;
  request->count = static_cast<int32_t>(count);
  request->wanted = absl::StrCat(count, count == 1 ? " device" : " devices");
  if (const std::string* memory = fields.Find("memory"); memory != nullptr) {
    const absl::StatusOr<int64_t> bytes = ParseUnits(*memory);
    if (!bytes.ok()) return fields.Wrong("memory", "a quantity of bytes like \"5Gi\"");
    demand.memory_bytes = *bytes;
    absl::StrAppend(&request->wanted, " with ", *memory, " of memory");
  }
  if (const std::string* share = fields.Find("computeShare"); share != nullptr) {
    const absl::StatusOr<int64_t> milli = ReadComputeShare(*share);
    if (!milli.ok())
      return fields.Wrong("computeShare", "a part like \"0.25\", \"250m\" or \"25%\"");
    demand.compute_milli = *milli;
    absl::StrAppend(&request->wanted, demand.memory_bytes > 0 ? " and " : " with ", *share,
                    " of the compute");
  }
  for (size_t i = 0; i < kinds().size(); ++i) {
    const GpuKind& gpus = kinds()[i];
    KindRequest& kind = request->kinds[i];
    kind.eligible = DeviceSet::All();
    if (gpus.table != nullptr) AddInstances(gpus, demand, &kind);
    if (BytesOfGpu(gpus) >= demand.memory_bytes) kind.options.push_back({});
    if (!kind.options.empty()) continue;
    kind.lacking = absl::StrCat(request->wanted, " wanted, ",
                                BytesOfGpu(gpus) == 0
                                    ? absl::StrCat("the memory of ", gpus.model, " is not known")
                                    : absl::StrCat("a GPU has ", BytesOfGpu(gpus) >> 20, " MiB"));
  }
  return absl::OkStatus();
}

void ConstraintsDriver::AddInstances(const GpuKind& gpus, const Demand& demand, KindRequest* kind) {
  const MigProduct& product = gpus.table->product();
  // Units, compute slices, profile.
  std::vector<std::tuple<int32_t, int32_t, size_t>> fitting;
  for (size_t p = 0; p < gpus.table->profiles().size(); ++p) {
    const MigProfile& profile = gpus.table->profiles()[p];
    const int64_t bytes = NominalBytes(profile.nominal_gb, profile.memory_mib);
    const bool enough_compute = int64_t{profile.compute_slices} * kDeviceMilli >=
                                demand.compute_milli * product.compute_slices;
    if (!profile.is_plain() || bytes < demand.memory_bytes || !enough_compute) continue;
    fitting.emplace_back(profile.size, profile.compute_slices, p);
  }
  std::sort(fitting.begin(), fitting.end());
  for (const auto& [size, slices, profile] : fitting) {
    DeviceOption option;
    option.use = GpuUse::kInstance;
    option.profile = static_cast<uint8_t>(profile);
    kind->options.push_back(option);
  }
}

}  // namespace drasim
