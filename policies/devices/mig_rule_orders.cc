#include "policies/devices/mig_rule_orders.h"

#include <algorithm>
#include <array>
#include <bit>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/mig_layout.h"

namespace drasim {
namespace {

constexpr int32_t kSlices = 7;  // of the GPUs in the tables below
constexpr int32_t kUnits = 8;

// ParvaGPU, best start first; -1 ends a row. It also forbids a second 3g beside one at start 4, and
// a 1g beside two 3g; both follow from the geometry, where a 3g takes half of the units.
struct ParvaGpuRow {
  int32_t compute_slices;
  int32_t size;
  std::array<int32_t, 8> starts;
};
constexpr ParvaGpuRow kParvaGpuRows[] = {
    {7, 8, {0, -1}},
    {4, 4, {0, -1}},
    {3, 4, {4, -1}},
    {2, 2, {0, 4, 2, -1}},
    {1, 1, {0, 6, 4, 1, 2, 3, 5, -1}},
};

// nos: instances of 7g, 4g, 3g, 2g and 1g.
constexpr size_t kNosProfiles = 5;
constexpr std::array<int32_t, kNosProfiles> kNosSlices = {7, 4, 3, 2, 1};
constexpr std::array<int, kNosProfiles> kNosGeometries[] = {
    {1, 0, 0, 0, 0}, {0, 1, 0, 1, 1}, {0, 1, 0, 0, 3}, {0, 0, 2, 0, 0},
    {0, 0, 1, 1, 1}, {0, 0, 1, 0, 3}, {0, 0, 1, 2, 0}, {0, 0, 1, 1, 2},
    {0, 0, 0, 3, 1}, {0, 0, 0, 2, 3}, {0, 0, 0, 1, 5}, {0, 0, 0, 0, 7},
};

std::vector<uint8_t> Listed(const MigTable& table, size_t profile) {
  std::vector<uint8_t> order;
  for (uint64_t rest = table.placements_of(profile); rest != 0; rest &= rest - 1) {
    order.push_back(static_cast<uint8_t>(std::countr_zero(rest)));
  }
  return order;
}

std::vector<uint8_t> ByStart(const MigTable& table, size_t profile, bool high_to_low) {
  std::vector<uint8_t> order = Listed(table, profile);
  std::sort(order.begin(), order.end(), [&table, high_to_low](uint8_t a, uint8_t b) {
    const int start_a = table.placements()[a].start;
    const int start_b = table.placements()[b].start;
    return high_to_low ? start_a > start_b : start_a < start_b;
  });
  return order;
}

// The device names for one GPU and profile differ only in the start, at the end.
std::vector<uint8_t> ByDeviceName(const MigTable& table, size_t profile) {
  std::vector<uint8_t> order = Listed(table, profile);
  std::sort(order.begin(), order.end(), [&table](uint8_t a, uint8_t b) {
    return absl::StrCat(int{table.placements()[a].start}) <
           absl::StrCat(int{table.placements()[b].start});
  });
  return order;
}

std::vector<uint8_t> ParvaGpuOrder(const MigTable& table, size_t profile) {
  const MigProfile& wanted = table.profiles()[profile];
  const bool known = table.product().compute_slices == kSlices && table.product().units == kUnits;
  for (const ParvaGpuRow& row : kParvaGpuRows) {
    if (!known || row.compute_slices != wanted.compute_slices || row.size != wanted.size) continue;
    std::vector<uint8_t> order;
    for (const int32_t start : row.starts) {
      if (start < 0) break;
      const int placement = table.FindPlacement(profile, start);
      if (placement >= 0) order.push_back(static_cast<uint8_t>(placement));
    }
    return order;
  }
  return Listed(table, profile);
}

// The profile's column in kNosGeometries; kNosProfiles for a profile unknown to nos.
size_t NosColumn(const MigProfile& profile) {
  const bool double_memory = profile.compute_slices == 1 && profile.size != 1;
  if (!profile.is_plain() || double_memory) return kNosProfiles;
  const auto at = std::find(kNosSlices.begin(), kNosSlices.end(), profile.compute_slices);
  return static_cast<size_t>(at - kNosSlices.begin());
}

}  // namespace

std::vector<uint8_t> RuleOrder(const MigTable& table, MigRule rule, size_t profile) {
  switch (rule) {
    case MigRule::kDriver:
    case MigRule::kNos:
    case MigRule::kMigParted:
      // The last two leave the start to the driver.
      return DriverOrder(table, profile);
    case MigRule::kFirstFit:
    case MigRule::kInstaSlice:
    case MigRule::kRoundRobin:
    case MigRule::kMfiAny:
    case MigRule::kMfiPart:
      return Listed(table, profile);
    case MigRule::kDraDriver:
      return ByDeviceName(table, profile);
    case MigRule::kHami: {
      const int32_t slices = table.profiles()[profile].compute_slices;
      return ByStart(table, profile, slices == 1 || slices == 3);
    }
    case MigRule::kBestFit:
    case MigRule::kWorstFit:
      return ByStart(table, profile, true);
    case MigRule::kParvaGpu:
      return ParvaGpuOrder(table, profile);
  }
  DRASIM_UNREACHABLE("a MIG rule without an order of starts");
}

bool NosAllows(const MigTable& table, uint64_t set) {
  std::array<int, kNosProfiles> counts{};
  for (uint64_t rest = set; rest != 0; rest &= rest - 1) {
    const MigPlacement& placement = table.placements()[static_cast<size_t>(std::countr_zero(rest))];
    const MigProfile& profile = table.profiles()[placement.profile];
    if (table.product().compute_slices != kSlices) {
      if (!profile.is_plain()) return false;
      continue;
    }
    const size_t column = NosColumn(profile);
    if (column == kNosProfiles) return false;
    ++counts[column];
  }
  for (const std::array<int, kNosProfiles>& geometry : kNosGeometries) {
    bool contains = true;
    for (size_t i = 0; i < kNosProfiles; ++i) contains = contains && counts[i] <= geometry[i];
    if (contains) return true;
  }
  return false;
}

}  // namespace drasim
