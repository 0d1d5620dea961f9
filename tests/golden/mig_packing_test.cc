// The experiment "accepted workloads" from its scenario file, against what an independent program
// got: acceptance by count, mean of 50 seeds.
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/proto/scenario.pb.h"
#include "model/text/yaml_proto.h"
#include "sim/app/flags.h"
#include "sim/compare/cell.h"
#include "sim/compare/contenders.h"
#include "sim/compare/parallel.h"

namespace drasim {
namespace mig_packing_test {

struct Published {
  const char* setting;
  const char* mix;
  const char* policy;
  double acceptance;
};
constexpr Published kPublished[] = {
    {"filling", "uniform", "mig-mfi-any", .980},
    {"filling", "uniform", "mig-mfi-part", .967},
    {"filling", "uniform", "mig-best-fit", .983},
    {"filling", "uniform", "mig-first-fit", .983},
    {"filling", "uniform", "mig-round-robin", .809},
    {"filling", "uniform", "mig-worst-fit", .902},
    {"filling", "skew-small", "mig-mfi-any", .958},
    {"filling", "skew-small", "mig-mfi-part", .935},
    {"filling", "skew-small", "mig-best-fit", .966},
    {"filling", "skew-small", "mig-first-fit", .966},
    {"filling", "skew-small", "mig-round-robin", .891},
    {"filling", "skew-small", "mig-worst-fit", .932},
    {"coming and going", "uniform", "mig-mfi-any", .967},
    {"coming and going", "uniform", "mig-mfi-part", .948},
    {"coming and going", "uniform", "mig-best-fit", .966},
    {"coming and going", "uniform", "mig-first-fit", .950},
    {"coming and going", "uniform", "mig-round-robin", .910},
    {"coming and going", "uniform", "mig-worst-fit", .879},
    {"coming and going", "skew-small", "mig-mfi-any", .969},
    {"coming and going", "skew-small", "mig-mfi-part", .958},
    {"coming and going", "skew-small", "mig-best-fit", .973},
    {"coming and going", "skew-small", "mig-first-fit", .964},
    {"coming and going", "skew-small", "mig-round-robin", .932},
    {"coming and going", "skew-small", "mig-worst-fit", .900},
};
constexpr double kTolerance = 0.01;

TEST(MigPackingTest, EveryPublishedCellIsMet) {
  std::ifstream file(absl::StrCat(DRASIM_SOURCE_DIR, "/scenarios/mig_packing.yaml"));
  GivenScenario given;
  given.text = std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  ASSERT_FALSE(given.text.empty());
  ASSERT_EQ(MergeYaml(given.text, "mig_packing.yaml", &*given.scenario), absl::OkStatus());
  const absl::StatusOr<Contenders> contenders =
      MakeContenders(ContenderFlags(), given, /*fill_ratio=*/std::nullopt);
  ASSERT_TRUE(contenders.ok()) << contenders.status();
  ASSERT_EQ(contenders->seeds.size(), 50u);
  std::map<std::string, const Contender*> by_name;
  for (const Contender& c : contenders->all) {
    by_name[absl::StrCat(c.values[0], "/", c.values[1], "/", c.spec.scheduler.profile.policy)] = &c;
  }
  EXPECT_EQ(by_name.size(), 2u * 4 * 6);
  for (const Published& cell : kPublished) {
    const std::string name = absl::StrCat(cell.setting, "/", cell.mix, "/", cell.policy);
    ASSERT_EQ(by_name.count(name), 1u) << name;
    std::vector<double> acceptance(contenders->seeds.size());
    const absl::Status ran = ForEachInParallel(
        acceptance.size(), 2,
        [&](size_t i) -> absl::Status {
          absl::StatusOr<CellResult> result =
              RunCell(by_name.at(name)->WithSeed(contenders->seeds[i]));
          if (!result.ok()) return result.status();
          acceptance[i] = result->devices.acceptance_by_count;
          return absl::OkStatus();
        },
        [](size_t) {});
    ASSERT_EQ(ran, absl::OkStatus()) << name;
    double sum = 0;
    for (double a : acceptance) sum += a;
    EXPECT_NEAR(sum / static_cast<double>(acceptance.size()), cell.acceptance, kTolerance) << name;
  }
}

}  // namespace mig_packing_test
}  // namespace drasim
