#include "model/text/mig_catalogue.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/mig_layout.h"
#include "model/mig_product.h"
#include "model/mig_table.h"
#include "model/text/embedded_mig.h"
#include "model/text/yaml_tree.h"
#include "tests/model/mig_counter_model.h"
#include "tests/testing/data_text.h"
#include "tests/testing/shared_data.h"

namespace drasim {
namespace mig_catalogue_test {

const MigProfile* FindProfile(const MigProduct& product, absl::string_view name) {
  for (const MigProfile& profile : product.profiles) {
    if (profile.name == name) return &profile;
  }
  return nullptr;
}

// --- The built-in catalogue ---

TEST(MigCatalogueTest, IsValid) {
  const absl::StatusOr<std::vector<MigProduct>> products =
      ParseMigCatalogue(EmbeddedMigCatalogue(), "built-in");
  EXPECT_TRUE(products.ok()) << products.status();
}

TEST(MigCatalogueTest, HasAllGroupsInOrder) {
  std::vector<std::string> groups;
  size_t profiles = 0;
  for (const MigProduct& product : MigCatalogue()) {
    groups.push_back(product.group);
    profiles += product.profiles.size();
  }
  const std::vector<std::string> expected = {
      "A100-40GB", "A100-80GB",  "H100-80GB-SXM", "H100-80GB-PCIe", "H100-94GB", "GH200-96GB",
      "H20-96GB",  "H200-141GB", "GH200-144GB",   "B200",           "GB200",     "B300",
      "GB300",     "A30",        "RTX-PRO-6000",  "RTX-PRO-5000"};
  EXPECT_EQ(groups, expected);
  EXPECT_EQ(profiles, 114u);
}

// The placements that `nvidia-smi mig -lgipp` prints for an A100, and the profile ids.
TEST(MigCatalogueTest, PlacementsOfAnA100) {
  const MigProduct& a100 = MigCatalogue()[0];
  EXPECT_EQ(a100.compute_slices, 7);
  EXPECT_EQ(a100.units, 8);
  struct Row {
    const char* name;
    int32_t id;
    std::vector<int32_t> starts;
    int32_t size;
    int32_t max_instances;
  };
  const Row kRows[] = {
      {"1g.5gb", 19, {0, 1, 2, 3, 4, 5, 6}, 1, 7},
      {"1g.5gb+me", 20, {0, 1, 2, 3, 4, 5, 6}, 1, 1},
      {"1g.10gb", 15, {0, 2, 4, 6}, 2, 4},
      {"2g.10gb", 14, {0, 2, 4}, 2, 3},
      {"3g.20gb", 9, {0, 4}, 4, 2},
      {"4g.20gb", 5, {0}, 4, 1},
      {"7g.40gb", 0, {0}, 8, 1},
  };
  ASSERT_EQ(a100.profiles.size(), std::size(kRows));
  for (size_t i = 0; i < std::size(kRows); ++i) {
    const MigProfile& profile = a100.profiles[i];
    EXPECT_EQ(profile.name, kRows[i].name);
    EXPECT_EQ(profile.profile_id, kRows[i].id) << profile.name;
    EXPECT_EQ(profile.starts, kRows[i].starts) << profile.name;
    EXPECT_EQ(profile.size, kRows[i].size) << profile.name;
    EXPECT_EQ(profile.max_instances, kRows[i].max_instances) << profile.name;
  }
}

TEST(MigCatalogueTest, AmountsAndDoubts) {
  const MigProduct* h100 = FindMigProduct("H100-80GB-SXM");
  ASSERT_NE(h100, nullptr);
  const MigProfile* three = FindProfile(*h100, "3g.40gb");
  ASSERT_NE(three, nullptr);
  EXPECT_EQ(three->memory_mib, 40448);
  EXPECT_EQ(three->multiprocessors, 60);  // not three times those of a 1g
  EXPECT_EQ(three->copy_engines, 3);
  EXPECT_EQ(three->decoders, 3);
  EXPECT_EQ(three->encoders, 0);
  EXPECT_EQ(three->jpeg_engines, 3);
  EXPECT_EQ(three->ofa_engines, 0);
  EXPECT_TRUE(three->uncertain.empty());
  EXPECT_FALSE(h100->sources.empty());

  const MigProduct* gb300 = FindMigProduct("GB300");
  ASSERT_NE(gb300, nullptr);
  EXPECT_EQ(gb300->memory_mib, kUnknownAmount);
  const MigProfile* seven = FindProfile(*gb300, "7g.278gb");
  ASSERT_NE(seven, nullptr);
  EXPECT_EQ(seven->memory_mib, kUnknownAmount);
  EXPECT_EQ(seven->decoders, kUnknownAmount);
  EXPECT_EQ(seven->encoders, 0);
  EXPECT_EQ(seven->names, std::vector<std::string>{"7g.251gb"});
  EXPECT_FALSE(seven->uncertain.empty());
}

// The maximum number of instances follows from the placements, by taking the earliest end each
// time. Only the media extension limits further: there is one OFA.
TEST(MigCatalogueTest, MaxInstancesFollowFromPlacements) {
  for (const MigProduct& product : MigCatalogue()) {
    int32_t largest = 0;
    for (const MigProfile& profile : product.profiles) {
      const std::set<int32_t> starts(profile.starts.begin(), profile.starts.end());
      int32_t fitting = 0;
      int32_t free_from = 0;
      for (const int32_t start : starts) {
        if (start < free_from) continue;
        ++fitting;
        free_from = start + profile.size;
      }
      EXPECT_LE(free_from, product.units) << product.group << " " << profile.name;
      if (absl::StrContains(profile.name, "+me")) fitting = 1;
      EXPECT_EQ(profile.max_instances, fitting) << product.group << " " << profile.name;
      EXPECT_LE(profile.max_instances * profile.compute_slices, product.compute_slices);
      largest = std::max(largest, profile.compute_slices);
    }
    EXPECT_EQ(largest, product.compute_slices) << product.group;
  }
}

// --- Names ---

TEST(MigCatalogueTest, FindsProductsByTheirNames) {
  for (const auto& [name, group] : TestRows<2>("FindsProductsByTheirNames")) {
    const MigProduct* product = FindMigProduct(name);
    EXPECT_EQ(product == nullptr ? "" : product->group, group) << name;
  }
}

TEST(MigCatalogueTest, EveryNameFindsItsOwnProduct) {
  for (const MigProduct& product : MigCatalogue()) {
    EXPECT_EQ(FindMigProduct(product.group), &product) << product.group;
    for (const std::string& name : product.products) {
      EXPECT_EQ(FindMigProduct(name), &product) << name;
    }
  }
}

TEST(MigCatalogueTest, UnknownNamesGetTheNearest) {
  constexpr absl::string_view kAll =
      "A100-40GB, A100-80GB, H100-80GB-SXM, H100-80GB-PCIe, H100-94GB, GH200-96GB, H20-96GB, "
      "H200-141GB, GH200-144GB, B200, GB200, B300, GB300, A30, RTX-PRO-6000, RTX-PRO-5000";
  const auto expect = [&](absl::string_view name, absl::string_view hint) {
    const absl::Status status = UnknownMigProduct(name);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(),
              absl::StrCat("GPU product: found '", name, "', expected one of ", kAll, hint));
  };
  expect("A100", " (did you mean 'A100-40GB' or 'A100-80GB'?)");
  expect("NVIDIA RTX PRO", " (did you mean 'RTX-PRO-6000' or 'RTX-PRO-5000'?)");
  expect("A100-60GB", " (did you mean 'A100-40GB'?)");
  expect("NVIDIA A100 SXM 80GB", " (did you mean 'A100-SXM4-80GB'?)");
  expect("Tesla-V100", "");
  expect("", "");
}

TEST(MigCatalogueTest, PciIds) {
  EXPECT_TRUE(IsPciId("0x20B010DE"));
  EXPECT_TRUE(IsPciId("0x20b010de"));
  EXPECT_FALSE(IsPciId("20B010DE"));
  EXPECT_FALSE(IsPciId("0x20B0"));
  EXPECT_FALSE(IsPciId("0x20B010DEF"));
  EXPECT_FALSE(IsPciId("0x20B010DG"));
  EXPECT_FALSE(IsPciId(""));
}

// --- Reading other catalogues ---

const std::string& SmallText() { return TestText("Small"); }

// The error of SmallText() with one text replaced by another; empty when there is none.
std::string ErrorWith(absl::string_view from, absl::string_view to) {
  const std::string yaml = absl::StrReplaceAll(SmallText(), {{from, to}});
  EXPECT_NE(yaml, SmallText()) << from;
  const absl::StatusOr<std::vector<MigProduct>> products = ParseMigCatalogue(yaml, "c.yaml");
  if (products.ok()) return "";
  EXPECT_EQ(products.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(products.status().message());
}

// Rows: a text of SmallText(), its replacement, and the error without the file's name.
void ExpectErrors(absl::string_view section) {
  for (const auto& [from, to, error] : TestRows<3>(section)) {
    EXPECT_EQ(ErrorWith(from, to), absl::StrCat("c.yaml:", error));
  }
}

TEST(MigCatalogueTest, ReadsACatalogue) {
  const absl::StatusOr<std::vector<MigProduct>> products = ParseMigCatalogue(SmallText(), "c.yaml");
  ASSERT_TRUE(products.ok()) << products.status();
  ASSERT_EQ(products->size(), 2u);
  const MigProduct& first = (*products)[0];
  EXPECT_EQ(first.group, "T1");
  EXPECT_EQ(first.products, std::vector<std::string>{"T-One"});
  EXPECT_EQ(first.pci_ids, std::vector<std::string>{"0x000110DE"});
  EXPECT_EQ(first.architecture, "test");
  EXPECT_EQ(first.compute_capability, "1.0");
  EXPECT_EQ(first.compute_slices, 2);
  EXPECT_EQ(first.units, 2);
  EXPECT_EQ(first.memory_nominal_gb, 10);
  EXPECT_EQ(first.memory_mib, kUnknownAmount);
  EXPECT_EQ(first.certainty, "high");
  EXPECT_EQ(first.sources, std::vector<std::string>{"made for tests"});
  ASSERT_EQ(first.profiles.size(), 2u);
  EXPECT_EQ(first.profiles[0].memory_mib, 100);
  EXPECT_EQ(first.profiles[0].copy_engines, 1);
  EXPECT_EQ(first.profiles[0].decoders, kUnknownAmount);
  EXPECT_EQ(first.profiles[1].names, std::vector<std::string>{"2g.9gb"});
  EXPECT_EQ(first.profiles[1].size, 2);
  EXPECT_EQ(first.profiles[1].profile_id, 0);
  EXPECT_EQ((*products)[1].profiles[0].name, "1g.7gb");
}

TEST(MigCatalogueTest, ExplainsWhatIsWrongWithGeometries) {
  ExpectErrors("ExplainsWhatIsWrongWithGeometries");
}

TEST(MigCatalogueTest, ExplainsWhatIsWrongWithProducts) {
  ExpectErrors("ExplainsWhatIsWrongWithProducts");
  EXPECT_EQ(ParseMigCatalogue("", "c.yaml").status().message(),
            "c.yaml: products: found nothing, expected at least one product");
}

TEST(MigCatalogueTest, ExplainsWhatIsWrongWithProfiles) {
  ExpectErrors("ExplainsWhatIsWrongWithProfiles");
}

// --- Against the collected facts ---

const YamlNode* ValueOf(const YamlNode& mapping, absl::string_view key) {
  for (size_t i = 0; i + 1 < mapping.children.size(); i += 2) {
    if (mapping.children[i]->text == key) return mapping.children[i + 1];
  }
  ADD_FAILURE() << "no key " << key;
  return nullptr;
}

std::string TextOf(const YamlNode& mapping, absl::string_view key) {
  const YamlNode* value = ValueOf(mapping, key);
  return value == nullptr ? "" : value->text;
}

int32_t AmountOf(const YamlNode& mapping, absl::string_view key) {
  const YamlNode* value = ValueOf(mapping, key);
  if (value == nullptr || value->kind == YamlNode::Kind::kNull) return kUnknownAmount;
  int32_t amount = 0;
  EXPECT_TRUE(absl::SimpleAtoi(value->text, &amount)) << key << ": " << value->text;
  return amount;
}

std::vector<std::string> ItemsOf(const YamlNode& mapping, absl::string_view key) {
  std::vector<std::string> items;
  const YamlNode* value = ValueOf(mapping, key);
  if (value == nullptr) return items;
  for (const YamlNode* item : value->children) items.push_back(item->text);
  return items;
}

bool HasKey(const YamlNode& mapping, absl::string_view key) {
  for (size_t i = 0; i + 1 < mapping.children.size(); i += 2) {
    if (mapping.children[i]->text == key) return true;
  }
  return false;
}

void ExpectSameProfile(const MigProfile& profile, const YamlNode& fact) {
  EXPECT_EQ(profile.name, TextOf(fact, "name"));
  EXPECT_EQ(profile.profile_id, AmountOf(fact, "profile_id"));
  EXPECT_EQ(profile.nvml_enum, AmountOf(fact, "nvml_enum"));
  EXPECT_EQ(profile.compute_slices, AmountOf(fact, "compute_slices"));
  EXPECT_EQ(profile.size, AmountOf(fact, "size"));
  std::vector<std::string> starts;
  for (const int32_t start : profile.starts) starts.push_back(absl::StrCat(start));
  EXPECT_EQ(starts, ItemsOf(fact, "starts"));
  EXPECT_EQ(profile.max_instances, AmountOf(fact, "max_instances"));
  EXPECT_EQ(profile.nominal_gb, AmountOf(fact, "nominal_gb"));
  EXPECT_EQ(profile.memory_mib, AmountOf(fact, "memory_mib"));
  EXPECT_EQ(profile.multiprocessors, AmountOf(fact, "sm"));
  EXPECT_EQ(profile.copy_engines, AmountOf(fact, "copy_engines"));
  EXPECT_EQ(profile.decoders, AmountOf(fact, "nvdec"));
  EXPECT_EQ(profile.encoders, AmountOf(fact, "nvenc"));
  EXPECT_EQ(profile.jpeg_engines, AmountOf(fact, "nvjpg"));
  EXPECT_EQ(profile.ofa_engines, AmountOf(fact, "ofa"));
  EXPECT_EQ(!profile.uncertain.empty(), HasKey(fact, "uncertain"));
}

void ExpectSameProduct(const MigProduct& product, const YamlNode& fact) {
  EXPECT_EQ(product.pci_ids, ItemsOf(fact, "pci_device_ids"));
  EXPECT_EQ(product.architecture, TextOf(fact, "architecture"));
  EXPECT_EQ(product.compute_capability, TextOf(fact, "compute_capability"));
  EXPECT_EQ(product.compute_slices, AmountOf(fact, "compute_slices"));
  EXPECT_EQ(product.units, AmountOf(fact, "placement_units"));
  EXPECT_EQ(product.memory_nominal_gb, AmountOf(fact, "memory_nominal_gb"));
  EXPECT_EQ(product.memory_mib, AmountOf(fact, "memory_total_mib"));
  EXPECT_EQ(product.multiprocessors, AmountOf(fact, "full_gpu_sm"));
  EXPECT_EQ(product.sources.size(), ItemsOf(fact, "sources").size());
  const YamlNode* profiles = ValueOf(fact, "gpu_instance_profiles");
  ASSERT_NE(profiles, nullptr);
  ASSERT_EQ(product.profiles.size(), profiles->children.size());
  for (size_t i = 0; i < product.profiles.size(); ++i) {
    SCOPED_TRACE(product.profiles[i].name);
    ExpectSameProfile(product.profiles[i], *profiles->children[i]);
  }
}

TEST(MigCatalogueTest, AgreesWithTheFacts) {
  DRASIM_NEEDS_SHARED_DATA("facts/mig.yaml");
  std::ifstream file(SharedPath("facts/mig.yaml"), std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const absl::StatusOr<YamlTree> tree = YamlTree::Parse(text, "facts/mig.yaml");
  ASSERT_TRUE(tree.ok()) << tree.status();
  ASSERT_NE(tree->root(), nullptr);
  const YamlNode* products = ValueOf(*tree->root(), "products");
  ASSERT_NE(products, nullptr);
  ASSERT_EQ(products->children.size(), 2 * MigCatalogue().size());
  for (size_t i = 0; i < MigCatalogue().size(); ++i) {
    SCOPED_TRACE(MigCatalogue()[i].group);
    EXPECT_EQ(MigCatalogue()[i].group, products->children[2 * i]->text);
    ExpectSameProduct(MigCatalogue()[i], *products->children[2 * i + 1]);
  }
}

// Counts the sets that the counters admit, and those of them that are no states. Counters only
// grow, so what is refused is refused with anything added.
void WalkAdmitted(const MigTable& table, const MigCounterModel& counters, uint64_t set, size_t next,
                  size_t* admitted, size_t* illegal) {
  ++*admitted;
  if (table.Find(set) == kNoMigState) ++*illegal;
  for (size_t p = next; p < table.placements().size(); ++p) {
    const uint64_t more = set | uint64_t{1} << p;
    if (counters.Admits(more)) WalkAdmitted(table, counters, more, p + 1, admitted, illegal);
  }
}

TEST(MigCatalogueTest, CountersAdmitExactlyTheLegalSets) {
  for (const char* name : {"A100-40GB", "A100-80GB", "H100-80GB-SXM", "H100-80GB-PCIe", "H100-94GB",
                           "GH200-96GB", "H200-141GB", "A30"}) {
    const MigProduct* const product = FindMigProduct(name);
    ASSERT_NE(product, nullptr) << name;
    const absl::StatusOr<MigTable> table = MigTable::Make(*product);
    ASSERT_TRUE(table.ok()) << table.status();
    size_t admitted = 0;
    size_t illegal = 0;
    WalkAdmitted(*table, MigCounterModel(*table), 0, 0, &admitted, &illegal);
    EXPECT_EQ(illegal, 0u) << name;
    EXPECT_EQ(admitted, table->states()) << name;
  }
}

}  // namespace mig_catalogue_test
}  // namespace drasim
