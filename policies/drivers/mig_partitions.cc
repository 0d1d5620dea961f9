#include "policies/drivers/mig_partitions.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "model/status_macros.h"
#include "policies/drivers/slice_pool.h"

namespace drasim {
namespace {

using proto::kube::Counter;
using proto::kube::Device;

struct MigAmount {
  const char* capacity;
  const char* counter;
  const char* catalogue_key;
  int32_t MigProfile::*amount;
  int64_t factor;
};

constexpr int64_t kMib = int64_t{1} << 20U;
constexpr MigAmount kMigAmounts[] = {
    {"multiprocessors", "multiprocessors", "multiprocessors", &MigProfile::multiprocessors, 1},
    {"copyEngines", "copy-engines", "copy engines", &MigProfile::copy_engines, 1},
    {"decoders", "decoders", "decoders", &MigProfile::decoders, 1},
    {"encoders", "encoders", "encoders", &MigProfile::encoders, 1},
    {"jpegEngines", "jpeg-engines", "JPEG engines", &MigProfile::jpeg_engines, 1},
    {"ofaEngines", "ofa-engines", "OFA engines", &MigProfile::ofa_engines, 1},
    {"memory", "memory", "memory", &MigProfile::memory_mib, kMib},
};

absl::Status CheckKnown(const MigProduct& product, const MigProfile& profile) {
  std::vector<std::string> unknown;
  if (profile.profile_id == kUnknownAmount) unknown.emplace_back("the id");
  for (const MigAmount& amount : kMigAmounts) {
    if (profile.*amount.amount == kUnknownAmount) unknown.emplace_back(amount.catalogue_key);
  }
  if (unknown.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      product.group, ": instances cannot be published, because nothing is known about ",
      absl::StrJoin(unknown, ", "), " of ", profile.name));
}

using CounterMap = google::protobuf::Map<std::string, Counter>;

void AddUnits(int32_t begin, int32_t size, CounterMap* counters) {
  for (int32_t unit = begin; unit < begin + size; ++unit) {
    (*counters)[absl::StrCat("memory-slice-", unit)].set_value("1");
  }
}

Device PartitionAt(const MigProfile& profile, const Device& capacities, int32_t start) {
  Device device = capacities;
  device.set_name(MigDeviceSuffix(profile, start));
  (*device.mutable_attributes())["type"].set_string_value("mig");
  (*device.mutable_attributes())["profile"].set_string_value(profile.name);
  CounterMap* counters = device.add_consumes_counters()->mutable_counters();
  for (const MigAmount& amount : kMigAmounts) {
    (*counters)[amount.counter].set_value(capacities.capacity().at(amount.capacity).value());
  }
  AddUnits(start, profile.size, counters);
  return device;
}

}  // namespace

std::string MigDeviceSuffix(const MigProfile& profile, int32_t start) {
  const std::string name = absl::StrReplaceAll(profile.name, {{".", ""}, {"+", "-"}});
  return absl::StrCat("-mig-", name, "-", profile.profile_id, "-", start);
}

absl::Status SetMigCapacities(const MigProduct& product, const MigProfile& profile,
                              Device* device) {
  RETURN_IF_ERROR(CheckKnown(product, profile));
  for (const MigAmount& amount : kMigAmounts) {
    const int64_t units = int64_t{profile.*amount.amount} * amount.factor;
    (*device->mutable_capacity())[amount.capacity].set_value(BinaryAmount(units));
  }
  return absl::OkStatus();
}

absl::StatusOr<MigPartitions> MigPartitions::Make(const MigProduct& product) {
  MigPartitions made;
  std::array<int64_t, std::size(kMigAmounts)> most{};
  int32_t units = 0;
  for (const MigProfile& profile : product.profiles) {
    Device capacities;
    RETURN_IF_ERROR(SetMigCapacities(product, profile, &capacities));
    for (size_t i = 0; i < most.size(); ++i) {
      most[i] = std::max(most[i], int64_t{profile.*kMigAmounts[i].amount} * kMigAmounts[i].factor);
    }
    units = std::max(units, profile.size);
    for (const int32_t start : profile.starts) {
      made.partitions_.push_back(PartitionAt(profile, capacities, start));
    }
  }
  std::sort(made.partitions_.begin(), made.partitions_.end(),
            [](const Device& a, const Device& b) { return a.name() < b.name(); });
  for (size_t i = 0; i < most.size(); ++i) {
    const std::string amount = BinaryAmount(most[i]);
    (*made.totals_.mutable_counters())[kMigAmounts[i].counter].set_value(amount);
    (*made.whole_.mutable_capacity())[kMigAmounts[i].capacity].set_value(amount);
  }
  AddUnits(0, units, made.totals_.mutable_counters());
  *made.whole_.add_consumes_counters()->mutable_counters() = made.totals_.counters();
  return made;
}

}  // namespace drasim
