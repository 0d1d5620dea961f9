#include "model/text/mig_parted.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/mig_layout.h"
#include "model/mig_product.h"
#include "model/mig_table.h"
#include "model/text/embedded_mig.h"
#include "model/text/mig_catalogue.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace mig_parted_test {

using Instances = std::map<std::string, int32_t>;

constexpr absl::string_view kHead = "version: v1\nmig-configs:\n  c:\n";

// The configuration "c" of these groups, each a line in the form {...}.
MigPartedConfig ConfigOf(const std::vector<std::string>& groups) {
  std::string yaml(kHead);
  for (const std::string& group : groups) absl::StrAppend(&yaml, "    - ", group, "\n");
  absl::StatusOr<std::vector<MigPartedConfig>> configs = ParseMigParted(yaml, "m.yaml");
  if (!configs.ok()) {
    ADD_FAILURE() << configs.status();
    return MigPartedConfig();
  }
  EXPECT_EQ(configs->size(), 1u);
  return (*configs)[0];
}

std::string ErrorOf(absl::string_view yaml) {
  const absl::StatusOr<std::vector<MigPartedConfig>> configs = ParseMigParted(yaml, "m.yaml");
  if (configs.ok()) return "";
  EXPECT_EQ(configs.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(configs.status().message());
}

// The table of a product of the built-in catalogue.
const MigTable& TableOf(const std::string& group) {
  static auto* const tables = new std::map<std::string, MigTable>;
  const auto known = tables->find(group);
  if (known != tables->end()) return known->second;
  const MigProduct* product = FindMigProduct(group);
  EXPECT_NE(product, nullptr) << group;
  absl::StatusOr<MigTable> table = MigTable::Make(*product);
  EXPECT_TRUE(table.ok()) << table.status();
  return tables->emplace(group, *std::move(table)).first->second;
}

Instances InstancesOf(const MigTable& table, MigState state) {
  Instances instances;
  const MigMultiset counts = MultisetOf(table, state);
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) instances[table.profiles()[i].name] = counts[i];
  }
  return instances;
}

int32_t Total(const Instances& instances) {
  int32_t total = 0;
  for (const auto& entry : instances) total += entry.second;
  return total;
}

std::string LayOutError(const MigPartedConfig& config, const std::vector<const MigTable*>& gpus) {
  const absl::StatusOr<NodeMigLayout> layout = LayOutNode(config, gpus);
  if (layout.ok()) return "";
  EXPECT_EQ(layout.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(layout.status().message());
}

// --- Reading ---

TEST(MigPartedTest, ReadsAFile) {
  ASSERT_OK_AND_ASSIGN(const std::vector<MigPartedConfig> configs,
                       ParseMigParted(TestText("ReadsAFile"), "m.yaml"));
  ASSERT_EQ(configs.size(), 2u);
  const MigPartedConfig& off = configs[0];
  EXPECT_EQ(off.name, "off");
  ASSERT_EQ(off.groups.size(), 1u);
  EXPECT_TRUE(off.groups[0].all_devices);
  EXPECT_FALSE(off.groups[0].mig_enabled);
  EXPECT_TRUE(off.groups[0].device_filter.empty());
  EXPECT_TRUE(off.groups[0].mig_devices.empty());
  EXPECT_EQ(off.groups[0].where, "m.yaml:4:7");

  const MigPartedConfig& mixed = configs[1];
  EXPECT_EQ(mixed.name, "mixed");
  ASSERT_EQ(mixed.groups.size(), 2u);
  const MigPartedGroup& some = mixed.groups[0];
  EXPECT_FALSE(some.all_devices);
  EXPECT_EQ(some.devices, (std::vector<int32_t>{3, 1}));
  EXPECT_EQ(some.device_filter, std::vector<std::string>{"0x20B210DE"});
  EXPECT_TRUE(some.mig_enabled);
  const std::vector<std::pair<std::string, int32_t>> wanted = {
      {"3g.40gb", 1}, {"1g.10gb+me", 1}, {"1g.10gb", 2}};
  EXPECT_EQ(some.mig_devices, wanted);
  EXPECT_EQ(some.where, "m.yaml:7:7");
  EXPECT_EQ(mixed.groups[1].device_filter, (std::vector<std::string>{"0x20B710DE", "0x20b010de"}));
  EXPECT_TRUE(mixed.groups[1].all_devices);
  EXPECT_EQ(mixed.groups[1].where, "m.yaml:14:7");
}

TEST(MigPartedTest, ExplainsWhatIsWrongWithAFile) {
  for (const auto& [yaml, error] : TestRows<2>("ExplainsWhatIsWrongWithAFile")) {
    EXPECT_EQ(ErrorOf(yaml), absl::StrCat("m.yaml:", error));
  }
  EXPECT_EQ(ErrorOf("version: v1\nmig-configs: {}\n"), "");
  EXPECT_TRUE(absl::StartsWith(ErrorOf("version: {\n"), "m.yaml:"));
}

TEST(MigPartedTest, ExplainsWhatIsWrongWithAGroup) {
  for (const auto& [group, error] : TestRows<2>("ExplainsWhatIsWrongWithAGroup")) {
    EXPECT_EQ(ErrorOf(absl::StrCat(kHead, "    - ", group, "\n")), absl::StrCat("m.yaml:", error));
  }
}

TEST(MigPartedTest, GroupsThatMatchTheSameGpuAreRefused) {
  const auto error = [](absl::string_view first, absl::string_view second) {
    return ErrorOf(absl::StrCat(kHead, "    - {", first, ", mig-enabled: true}\n    - {", second,
                                ", mig-enabled: false}\n"));
  };
  EXPECT_EQ(error("devices: [0, 1]", "devices: [2, 1]"),
            "m.yaml:5:17: mig-configs.c.1.devices: found device 1 in the groups of line 4 and of "
            "line 5, expected each GPU in one group only");
  EXPECT_EQ(error("devices: all", "devices: all"),
            "m.yaml:5:17: mig-configs.c.1.devices: found all devices in the groups of line 4 and "
            "of line 5, expected each GPU in one group only");
  EXPECT_EQ(error("devices: all", "devices: [3]"),
            "m.yaml:5:17: mig-configs.c.1.devices: found device 3 in the groups of line 4 and of "
            "line 5, expected each GPU in one group only");
  constexpr absl::string_view kA100 = "devices: all, device-filter: \"0x20B010DE\"";
  const auto overlap = [](absl::string_view message) {
    return absl::StrContains(message, "expected each GPU in one group only");
  };
  EXPECT_TRUE(overlap(error(kA100, kA100)));
  EXPECT_TRUE(overlap(error(kA100, "devices: [2], device-filter: [0x20B110DE, 0x20b010de]")));
  EXPECT_TRUE(overlap(error(kA100, "devices: [2]")));
  EXPECT_TRUE(overlap(error("devices: [2]", kA100)));
  EXPECT_EQ(error("devices: [0, 1]", "devices: [2, 3]"), "");
  EXPECT_EQ(error(kA100, "devices: all, device-filter: [0x20B710DE]"), "");
}

// --- Laying out ---

TEST(MigPartedTest, CutsTheGpusThatGroupsName) {
  const MigTable& a100 = TableOf("A100-40GB");
  const MigPartedConfig config =
      ConfigOf({"{devices: [0, 3], mig-enabled: true, mig-devices: {3g.20gb: 2}}",
                "{devices: [2], mig-enabled: true}"});
  const std::vector<const MigTable*> gpus(4, &a100);
  ASSERT_OK_AND_ASSIGN(const NodeMigLayout layout, LayOutNode(config, gpus));
  EXPECT_EQ(layout.mig_enabled, (std::vector<bool>{true, false, true, true}));
  ASSERT_EQ(layout.states.size(), 4u);
  const Instances two = {{"3g.20gb", 2}};
  EXPECT_EQ(InstancesOf(a100, layout.states[0]), two);
  EXPECT_EQ(layout.states[1], 0);
  EXPECT_EQ(layout.states[2], 0);
  EXPECT_EQ(layout.states[3], layout.states[0]);
  EXPECT_EQ(layout.created, 4);
  EXPECT_EQ(layout.destroyed, 0);
}

TEST(MigPartedTest, FiltersChooseByProduct) {
  const MigTable& a100 = TableOf("A100-40GB");
  const MigTable& h100 = TableOf("H100-80GB-SXM");
  const MigPartedConfig config =
      ConfigOf({"{device-filter: [0x20b010de], devices: all, mig-enabled: true, "
                "mig-devices: {1g.10gb: 4}}",
                "{device-filter: 0x233010DE, devices: [3], mig-enabled: true, "
                "mig-devices: {1g.10gb: 7}}"});
  ASSERT_OK_AND_ASSIGN(
      const NodeMigLayout layout,
      LayOutNode(config, std::vector<const MigTable*>{&h100, &a100, nullptr, &h100}));
  EXPECT_EQ(layout.mig_enabled, (std::vector<bool>{false, true, false, true}));
  const Instances four = {{"1g.10gb", 4}};
  const Instances seven = {{"1g.10gb", 7}};
  EXPECT_EQ(InstancesOf(a100, layout.states[1]), four);
  EXPECT_EQ(InstancesOf(h100, layout.states[3]), seven);
}

TEST(MigPartedTest, NamesOfOtherDriversCount) {
  const MigTable& a100 = TableOf("A100-80GB");
  const MigPartedConfig config =
      ConfigOf({"{devices: all, mig-enabled: true, mig-devices: {3g.39gb: 1, 3G.40GB: 1}}"});
  ASSERT_OK_AND_ASSIGN(const NodeMigLayout layout,
                       LayOutNode(config, std::vector<const MigTable*>{&a100}));
  const Instances two = {{"3g.40gb", 2}};
  EXPECT_EQ(InstancesOf(a100, layout.states[0]), two);
}

// There is room for the 3g at 4 only, and the first order of creation puts a 1g there.
TEST(MigPartedTest, CountsWhatTheSearchCreates) {
  const MigTable& a100 = TableOf("A100-40GB");
  const MigPartedConfig config = ConfigOf(
      {"{devices: all, mig-enabled: true, mig-devices: {3g.20gb: 1, 2g.10gb: 1, 1g.5gb: 2}}"});
  const absl::StatusOr<NodeMigLayout> one = LayOutNode(config, std::vector<const MigTable*>{&a100});
  const absl::StatusOr<NodeMigLayout> three =
      LayOutNode(config, std::vector<const MigTable*>(3, &a100));
  ASSERT_TRUE(one.ok()) << one.status();
  ASSERT_TRUE(three.ok()) << three.status();
  const PermutationSearch search = ApplyByPermutations(a100, MultisetOf(a100, one->states[0]));
  EXPECT_EQ(one->created, search.created);
  EXPECT_EQ(one->destroyed, search.destroyed);
  EXPECT_GT(one->destroyed, 0);
  EXPECT_EQ(one->created - one->destroyed, 4);
  EXPECT_EQ(three->created, 3 * one->created);
  EXPECT_EQ(three->destroyed, 3 * one->destroyed);
}

TEST(MigPartedTest, NodesWithoutMig) {
  const MigPartedConfig off = ConfigOf({"{devices: all, mig-enabled: false}"});
  ASSERT_OK_AND_ASSIGN(const NodeMigLayout none, LayOutNode(off, {}));
  EXPECT_TRUE(none.states.empty());
  ASSERT_OK_AND_ASSIGN(const NodeMigLayout plain,
                       LayOutNode(off, std::vector<const MigTable*>{nullptr, nullptr}));
  EXPECT_EQ(plain.mig_enabled, (std::vector<bool>{false, false}));
  EXPECT_EQ(
      LayOutError(ConfigOf({"{devices: [1], mig-enabled: true}"}), {&TableOf("A30"), nullptr}),
      "m.yaml:4:7: mig-configs.c.0.mig-enabled: found 'true' for GPU 1, expected false, "
      "because this GPU has no MIG");
}

TEST(MigPartedTest, DevicesThatTheNodeLacks) {
  EXPECT_EQ(LayOutError(ConfigOf({"{devices: [0], mig-enabled: false}",
                                  "{devices: [1, 4], mig-enabled: false}"}),
                        std::vector<const MigTable*>(4, nullptr)),
            "m.yaml:5:7: mig-configs.c.1.devices: found '4', expected the number of one of the "
            "node's 4 GPUs, from 0");
}

TEST(MigPartedTest, ProfilesThatTheProductLacks) {
  const MigTable& a30 = TableOf("A30");
  const auto error = [](const MigTable& table, absl::string_view profile) {
    return LayOutError(ConfigOf({absl::StrCat("{devices: all, mig-enabled: true, mig-devices: {",
                                              profile, ": 1}}")}),
                       {&table});
  };
  constexpr absl::string_view kBegin =
      "m.yaml:4:7: mig-configs.c.0.mig-devices: GPU 0 (A30): found '";
  constexpr absl::string_view kKnown =
      "', expected one of 1g.6gb, 1g.6gb+me, 2g.12gb, 2g.12gb+me, 4g.24gb";
  EXPECT_EQ(error(a30, "1g.10gb"), absl::StrCat(kBegin, "1g.10gb", kKnown,
                                                " (did you mean '1g.6gb'?); it is a profile of "
                                                "A100-40GB"));
  EXPECT_EQ(error(a30, "3g.126gb"), absl::StrCat(kBegin, "3g.126gb", kKnown,
                                                 " (did you mean '2g.12gb'?); it is a profile of "
                                                 "GB300"));
  EXPECT_EQ(error(a30, "1g.6g"),
            absl::StrCat(kBegin, "1g.6g", kKnown, " (did you mean '1g.6gb'?)"));
  EXPECT_EQ(error(a30, "whole"), absl::StrCat(kBegin, "whole", kKnown));

  MigRules rules;
  rules.profiles = {"1g.6gb", "2g.12gb"};
  ASSERT_OK_AND_ASSIGN(const MigTable few, MigTable::Make(*FindMigProduct("A30"), rules));
  EXPECT_EQ(error(few, "4g.24gb"),
            absl::StrCat(kBegin, "4g.24gb",
                         "', expected one of 1g.6gb, 2g.12gb, which are those of the product that "
                         "are allowed"));
}

TEST(MigPartedTest, InstancesThatDoNotFit) {
  const MigTable& a100 = TableOf("A100-40GB");
  const auto error = [&a100](absl::string_view instances) {
    return LayOutError(ConfigOf({absl::StrCat("{devices: [1], mig-enabled: true, mig-devices: {",
                                              instances, "}}")}),
                       {&a100, &a100});
  };
  constexpr absl::string_view kBegin =
      "m.yaml:4:7: mig-configs.c.0.mig-devices: GPU 1 (A100-40GB): found '";
  const std::string three = error("4g.20gb: 1, 3g.20gb: 2");
  EXPECT_TRUE(absl::StartsWith(
      three,
      absl::StrCat(kBegin, "4g.20gb: 1, 3g.20gb: 2', expected instances that fit together: ")))
      << three;
  EXPECT_TRUE(absl::StrContains(three, "no room for 3g.20gb")) << three;
  // Too many instances to list one by one.
  const std::string many = error("1g.5gb: 2000000000");
  EXPECT_TRUE(absl::StrContains(many, "no room for 1g.5gb")) << many;
  // A layout is there: the 3g at 4 and the 1g below it. But the driver puts the first three 1g
  // above.
  EXPECT_EQ(error("3g.20gb: 1, 1g.5gb: 4"),
            absl::StrCat(kBegin,
                         "3g.20gb: 1, 1g.5gb: 4', expected instances that some order of creation "
                         "brings about: they would fit, but not where the driver puts them"));
}

// --- The built-in configurations ---

const std::vector<MigPartedConfig>& BuiltIn() {
  static const auto* const configs = [] {
    absl::StatusOr<std::vector<MigPartedConfig>> parsed =
        ParseMigParted(EmbeddedMigPartedConfig(), "built-in");
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    return parsed.ok() ? new std::vector<MigPartedConfig>(*std::move(parsed))
                       : new std::vector<MigPartedConfig>;
  }();
  return *configs;
}

const MigPartedConfig* FindBuiltIn(absl::string_view name) {
  for (const MigPartedConfig& config : BuiltIn()) {
    if (config.name == name) return &config;
  }
  return nullptr;
}

// Whether a group with a filter means GPUs of the product; both write ids alike.
bool IsMeant(const MigPartedGroup& group, const MigProduct& product) {
  if (group.device_filter.empty()) return true;
  return std::any_of(product.pci_ids.begin(), product.pci_ids.end(), [&](const std::string& id) {
    return std::find(group.device_filter.begin(), group.device_filter.end(), id) !=
           group.device_filter.end();
  });
}

bool HasProfile(const MigProduct& product, absl::string_view name) {
  return std::any_of(product.profiles.begin(), product.profiles.end(),
                     [name](const MigProfile& profile) { return profile.name == name; });
}

TEST(MigPartedTest, BalancedLayouts) {
  const MigPartedConfig* balanced = FindBuiltIn("all-balanced");
  ASSERT_NE(balanced, nullptr);
  struct Row {
    const char* group;
    Instances instances;
  };
  const Row kRows[] = {
      {"A100-40GB", {{"1g.5gb", 2}, {"2g.10gb", 1}, {"3g.20gb", 1}}},
      {"A100-80GB", {{"1g.10gb", 2}, {"2g.20gb", 1}, {"3g.40gb", 1}}},
      {"H100-80GB-SXM", {{"1g.10gb", 2}, {"2g.20gb", 1}, {"3g.40gb", 1}}},
      {"H100-80GB-PCIe", {{"1g.10gb", 2}, {"2g.20gb", 1}, {"3g.40gb", 1}}},
      {"H100-94GB", {{"1g.12gb", 2}, {"2g.24gb", 1}, {"3g.47gb", 1}}},
      {"H20-96GB", {{"1g.12gb", 2}, {"2g.24gb", 1}, {"3g.48gb", 1}}},
      {"H200-141GB", {{"1g.18gb", 2}, {"2g.35gb", 1}, {"3g.71gb", 1}}},
      {"GB200", {{"1g.23gb", 2}, {"2g.47gb", 1}, {"3g.93gb", 1}}},
      {"A30", {{"1g.6gb", 2}, {"2g.12gb", 1}}},
      {"RTX-PRO-6000", {{"1g.24gb", 2}, {"2g.48gb", 1}}},
  };
  for (const Row& row : kRows) {
    const MigTable& table = TableOf(row.group);
    const absl::StatusOr<NodeMigLayout> layout =
        LayOutNode(*balanced, std::vector<const MigTable*>(2, &table));
    ASSERT_TRUE(layout.ok()) << row.group << ": " << layout.status();
    EXPECT_EQ(layout->mig_enabled, (std::vector<bool>{true, true})) << row.group;
    EXPECT_EQ(InstancesOf(table, layout->states[1]), row.instances) << row.group;
  }
}

TEST(MigPartedTest, EveryBuiltInConfigurationLaysOutOnEveryProductThatItMeans) {
  std::set<std::string> used;
  for (const MigPartedConfig& config : BuiltIn()) {
    for (const MigProduct& product : MigCatalogue()) {
      const bool meant = std::any_of(
          config.groups.begin(), config.groups.end(), [&product](const MigPartedGroup& group) {
            return IsMeant(group, product) &&
                   std::all_of(
                       group.mig_devices.begin(), group.mig_devices.end(),
                       [&product](const auto& entry) { return HasProfile(product, entry.first); });
          });
      if (!meant) continue;
      used.insert(config.name);
      const MigTable& table = TableOf(product.group);
      const absl::StatusOr<NodeMigLayout> layout =
          LayOutNode(config, std::vector<const MigTable*>{&table});
      ASSERT_TRUE(layout.ok()) << product.group << ": " << layout.status();
      Instances wanted;
      bool enabled = false;
      for (const MigPartedGroup& group : config.groups) {
        if (!IsMeant(group, product)) continue;
        enabled = group.mig_enabled;
        wanted.insert(group.mig_devices.begin(), group.mig_devices.end());
      }
      EXPECT_EQ(layout->mig_enabled[0], enabled) << config.name << " on " << product.group;
      EXPECT_EQ(InstancesOf(table, layout->states[0]), wanted)
          << config.name << " on " << product.group;
      EXPECT_EQ(layout->created - layout->destroyed, Total(wanted));
    }
  }
  EXPECT_EQ(used.size(), BuiltIn().size()) << "a configuration that suits no product";
}

// all-PROFILE fills the GPU, for every profile of every product whose PCI ids are known.
TEST(MigPartedTest, EveryProfileHasItsConfiguration) {
  for (const MigProduct& product : MigCatalogue()) {
    if (product.pci_ids.empty()) continue;
    for (const MigProfile& profile : product.profiles) {
      const std::string name =
          absl::StrCat("all-", absl::StrReplaceAll(profile.name, {{"+", "."}}));
      const MigPartedConfig* config = FindBuiltIn(name);
      ASSERT_NE(config, nullptr) << name;
      const MigTable& table = TableOf(product.group);
      const absl::StatusOr<NodeMigLayout> layout =
          LayOutNode(*config, std::vector<const MigTable*>{&table});
      ASSERT_TRUE(layout.ok()) << product.group << ": " << layout.status();
      const Instances full = {{profile.name, profile.max_instances}};
      EXPECT_EQ(InstancesOf(table, layout->states[0]), full) << name << " on " << product.group;
    }
  }
}

}  // namespace mig_parted_test
}  // namespace drasim
