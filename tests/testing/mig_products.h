// Three GPUs that can be partitioned, in memory, with the amounts that drivers were seen to print.
#ifndef DRASIM_TESTS_TESTING_MIG_PRODUCTS_H_
#define DRASIM_TESTS_TESTING_MIG_PRODUCTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/mig_product.h"
#include "model/mig_table.h"

namespace drasim {

// Engines of a profile: copy, decoders, encoders, JPEG, OFA.
struct TestEngines {
  int32_t copy = 0;
  int32_t decoders = 0;
  int32_t encoders = 0;
  int32_t jpeg = 0;
  int32_t ofa = 0;
};

inline MigProfile TestMigProfile(absl::string_view name, int32_t compute_slices, int32_t size,
                                 std::vector<int32_t> starts, int32_t max_instances) {
  MigProfile profile;
  profile.name = std::string(name);
  profile.compute_slices = compute_slices;
  profile.size = size;
  profile.starts = std::move(starts);
  profile.max_instances = max_instances;
  return profile;
}

// The same with what else a driver prints.
inline MigProfile WithAmounts(MigProfile profile, int32_t profile_id, int32_t nominal_gb,
                              int32_t memory_mib, int32_t multiprocessors,
                              const TestEngines& engines) {
  profile.profile_id = profile_id;
  profile.nominal_gb = nominal_gb;
  profile.memory_mib = memory_mib;
  profile.multiprocessors = multiprocessors;
  profile.copy_engines = engines.copy;
  profile.decoders = engines.decoders;
  profile.encoders = engines.encoders;
  profile.jpeg_engines = engines.jpeg;
  profile.ofa_engines = engines.ofa;
  return profile;
}

// Memory in the GB of the name, and in MiB.
inline MigProduct TestProduct(std::string group, std::vector<std::string> products,
                              std::vector<std::string> pci_ids, std::string architecture,
                              std::string compute_capability, int32_t compute_slices, int32_t units,
                              int32_t nominal_gb, int32_t memory_mib, int32_t multiprocessors) {
  MigProduct gpu;
  gpu.group = std::move(group);
  gpu.products = std::move(products);
  gpu.pci_ids = std::move(pci_ids);
  gpu.architecture = std::move(architecture);
  gpu.compute_capability = std::move(compute_capability);
  gpu.compute_slices = compute_slices;
  gpu.units = units;
  gpu.memory_nominal_gb = nominal_gb;
  gpu.memory_mib = memory_mib;
  gpu.multiprocessors = multiprocessors;
  return gpu;
}

// A100-80GB: seven compute slices, eight units, seven profiles.
inline MigProduct TestA100() {
  MigProduct gpu = TestProduct("A100-80GB", {"A100-SXM4-80GB", "A100-PCIE-80GB"},
                               {"0x20B210DE", "0x20B510DE"}, "ampere", "8.0", 7, 8, 80, 81920, 108);
  const std::vector<int32_t> ones = {0, 1, 2, 3, 4, 5, 6};
  gpu.profiles = {
      WithAmounts(TestMigProfile("1g.10gb", 1, 1, ones, 7), 19, 10, 9728, 14, {1, 0, 0, 0, 0}),
      WithAmounts(TestMigProfile("1g.10gb+me", 1, 1, ones, 1), 20, 10, 9728, 14, {1, 1, 0, 1, 1}),
      WithAmounts(TestMigProfile("1g.20gb", 1, 2, {0, 2, 4, 6}, 4), 15, 20, 19968, 14,
                  {1, 1, 0, 0, 0}),
      WithAmounts(TestMigProfile("2g.20gb", 2, 2, {0, 2, 4}, 3), 14, 20, 19968, 28,
                  {2, 1, 0, 0, 0}),
      WithAmounts(TestMigProfile("3g.40gb", 3, 4, {0, 4}, 2), 9, 40, 40192, 42, {3, 2, 0, 0, 0}),
      WithAmounts(TestMigProfile("4g.40gb", 4, 4, {0}, 1), 5, 40, 40192, 56, {4, 2, 0, 0, 0}),
      WithAmounts(TestMigProfile("7g.80gb", 7, 8, {0}, 1), 0, 80, 80384, 98, {7, 5, 0, 1, 1}),
  };
  // As some drivers round.
  gpu.profiles[4].names = {"3g.39gb"};
  gpu.profiles[6].names = {"7g.79gb"};
  return gpu;
}

// A30: four compute slices, four units, two sizes of "+me".
inline MigProduct TestA30() {
  MigProduct gpu =
      TestProduct("A30", {"A30-PCIE-24GB"}, {"0x20B710DE"}, "ampere", "8.0", 4, 4, 24, 24576, 56);
  const std::vector<int32_t> ones = {0, 1, 2, 3};
  gpu.profiles = {
      WithAmounts(TestMigProfile("1g.6gb", 1, 1, ones, 4), 14, 6, 5952, 14, {1, 1, 0, 0, 0}),
      WithAmounts(TestMigProfile("1g.6gb+me", 1, 1, ones, 1), 21, 6, 5952, 14, {1, 1, 0, 1, 1}),
      WithAmounts(TestMigProfile("2g.12gb", 2, 2, {0, 2}, 2), 5, 12, 11968, 28, {2, 2, 0, 0, 0}),
      WithAmounts(TestMigProfile("2g.12gb+me", 2, 2, {0, 2}, 1), 6, 12, 11968, 28, {2, 2, 0, 1, 1}),
      WithAmounts(TestMigProfile("4g.24gb", 4, 4, {0}, 1), 0, 24, 24000, 56, {4, 4, 0, 1, 1}),
  };
  return gpu;
}

// RTX PRO 6000: four compute slices, twelve units, and media engines that decide.
inline MigProduct TestRtxPro6000() {
  MigProduct gpu = TestProduct("RTX-PRO-6000", {"RTX PRO 6000 Blackwell Server"}, {"0x2BB510DE"},
                               "blackwell", "12.0", 4, 12, 96, 97887, 188);
  const auto one = [](absl::string_view name, int32_t id, int32_t most, TestEngines engines) {
    return WithAmounts(TestMigProfile(name, 1, 3, {0, 3, 6, 9}, most), id, 24, 24192, 46, engines);
  };
  const auto two = [](absl::string_view name, int32_t id, int32_t most, TestEngines engines) {
    return WithAmounts(TestMigProfile(name, 2, 6, {0, 6}, most), id, 48, 48512, 94, engines);
  };
  const auto four = [](absl::string_view name, int32_t id) {
    return WithAmounts(TestMigProfile(name, 4, 12, {0}, 1), id, 96, 97280, 188, {4, 4, 4, 4, 1});
  };
  gpu.profiles = {
      one("1g.24gb", 14, 4, {1, 1, 1, 1, 0}),
      one("1g.24gb+me", 21, 1, {1, 1, 1, 1, 1}),
      one("1g.24gb+gfx", 47, 4, {1, 1, 1, 1, 0}),
      one("1g.24gb+me.all", 65, 1, {1, 4, 4, 4, 1}),
      one("1g.24gb-me", 67, 4, {1, 0, 0, 0, 0}),
      two("2g.48gb", 5, 2, {2, 2, 2, 2, 0}),
      two("2g.48gb+gfx", 35, 2, {2, 2, 2, 2, 0}),
      two("2g.48gb+me.all", 64, 1, {2, 4, 4, 4, 1}),
      two("2g.48gb-me", 66, 2, {2, 0, 0, 0, 0}),
      four("4g.96gb", 0),
      four("4g.96gb+gfx", 32),
  };
  return gpu;
}

// The rules that leave these profiles.
inline MigRules OnlyProfiles(std::vector<std::string> profiles) {
  MigRules rules;
  rules.profiles = std::move(profiles);
  return rules;
}

// The five of A100-80GB that the literature counts, and with the double-memory one.
inline std::vector<std::string> A100Base() {
  return {"1g.10gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"};
}
inline std::vector<std::string> A100Plain() {
  return {"1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"};
}

// A table that must come about.
inline MigTable TestTable(const MigProduct& product, const MigRules& rules = {}) {
  absl::StatusOr<MigTable> table = MigTable::Make(product, rules);
  DRASIM_CHECK(table.ok());
  return *std::move(table);
}

// The state with these instances: profile and start.
inline MigState TestState(const MigTable& table,
                          const std::vector<std::pair<std::string, int32_t>>& instances) {
  MigState state = 0;
  for (const auto& [name, start] : instances) {
    const int profile = table.FindProfile(name);
    DRASIM_CHECK_GE(profile, 0);
    const int placement = table.FindPlacement(static_cast<size_t>(profile), start);
    DRASIM_CHECK_GE(placement, 0);
    DRASIM_CHECK((table.legal(state) >> placement & 1) != 0);
    state = table.Place(state, static_cast<size_t>(placement));
  }
  return state;
}

}  // namespace drasim

#endif  // DRASIM_TESTS_TESTING_MIG_PRODUCTS_H_
