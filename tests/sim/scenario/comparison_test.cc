// The lists of a comparison: seeds, policies, queues; and the worlds of its axes.
#include "sim/scenario/comparison.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/proto/scenario.pb.h"
#include "tests/testing/key_errors.h"
#include "tests/testing/run_spec_of.h"

namespace drasim {
namespace comparison_test {

using Names = std::vector<std::string>;

TEST(ParseSeedsTest, NumbersAndRanges) {
  using Seeds = std::vector<uint64_t>;
  EXPECT_EQ(*ParseSeeds("42"), (Seeds{42}));
  EXPECT_EQ(*ParseSeeds("42..45"), (Seeds{42, 43, 44, 45}));
  EXPECT_EQ(*ParseSeeds("7..7"), (Seeds{7}));
  EXPECT_EQ(*ParseSeeds("3,1,7..9,1"), (Seeds{3, 1, 7, 8, 9, 1}));
  EXPECT_EQ(*ParseSeeds("0"), (Seeds{0}));
  EXPECT_EQ(ParseSeeds("1..100000")->size(), 100000u);
  constexpr uint64_t kLast = 18446744073709551615u;
  EXPECT_EQ(*ParseSeeds("18446744073709551614..18446744073709551615"), (Seeds{kLast - 1, kLast}));
}

TEST(ParseSeedsTest, ExplainsWhatIsWrong) {
  for (const char* text :
       {"", "x", "1..", "..3", "1..2..3", "1,,2", "-1", "1.5", "18446744073709551616", "1;2"}) {
    EXPECT_EQ(ParseSeeds(text).status(),
              absl::InvalidArgumentError(
                  absl::StrCat("seeds: found '", text,
                               "', expected numbers and ranges such as 42 or 42..51 or 1,2,7..9")))
        << text;
  }
}

// The limit is one on all of them, not on each range.
TEST(ParseSeedsTest, NoMoreThanAHundredThousandInAll) {
  for (const char* text : {"1..60000,1..60000", "1..100001", "1..100000000"}) {
    EXPECT_EQ(ParseSeeds(text).status(),
              absl::InvalidArgumentError(
                  absl::StrCat("seeds: found '", text, "', expected at most 100000 seeds")));
  }
}

TEST(ParseSeedsTest, TheSmallerNumberComesFirst) {
  EXPECT_EQ(ParseSeeds("1,51..42").status(),
            absl::InvalidArgumentError(
                "seeds: found '51..42', expected the smaller number first: 42..51"));
}

TEST(ParsePoliciesTest, ListsAndAll) {
  const Names all = {"random",   "dotprod", "gpu-clustering", "gpu-packing",
                     "best-fit", "fgd",     "consolidate"};
  EXPECT_EQ(*ParsePolicies(""), all);
  EXPECT_EQ(*ParsePolicies("all"), all);
  EXPECT_EQ(*ParsePolicies("fgd,random"), (Names{"fgd", "random"}));
  EXPECT_EQ(WithoutCheckedKey(ParsePolicies("fgd,bestfit").status()),
            absl::InvalidArgumentError(
                "--policies: unknown policy 'bestfit' (did you mean 'best-fit'?)"));
  EXPECT_EQ(WithoutCheckedKey(ParsePolicies("fgd,random,fgd").status()),
            absl::InvalidArgumentError("--policies: 'fgd' is there twice"));
  EXPECT_EQ(WithoutCheckedKey(ParsePolicies("fgd,").status()),
            absl::InvalidArgumentError("--policies: unknown policy ''"));
}

TEST(ParseQueuesTest, ListsAndAll) {
  EXPECT_EQ(*ParseQueues("all"), QueueNames());
  EXPECT_EQ(QueueNames().back(), "kubernetes");
  EXPECT_EQ(*ParseQueues("srtf,loss"), (Names{"srtf", "loss"}));
  EXPECT_EQ(WithoutCheckedKey(ParseQueues("fifo,fifi").status()),
            absl::InvalidArgumentError("--queues: unknown queue 'fifi' (did you mean 'fifo'?)"));
  EXPECT_EQ(WithoutCheckedKey(ParseQueues("fifo,fifo").status()),
            absl::InvalidArgumentError("--queues: 'fifo' is there twice"));
}

TEST(AxisWorldTest, TheLastAxisTurnsFastest) {
  const proto::Scenario scenario = ScenarioOf(
      "comparison:\n"
      "  axes:\n"
      "    - {name: x, values: [{name: a, set: [seed.x=1]}, {name: b}]}\n"
      "    - {name: y, values: [{name: c}, {name: d, set: [workload.limit=3]}, {name: e}]}\n");
  const proto::Comparison& comparison = scenario.comparison();
  EXPECT_EQ(CountWorlds(comparison), 6u);
  const absl::StatusOr<AxisWorld> world = MakeAxisWorld(proto::Scenario(), comparison, 4);
  ASSERT_EQ(world.status(), absl::OkStatus());
  EXPECT_EQ(world->values, (Names{"b", "d"}));
  EXPECT_EQ(world->scenario->workload().limit(), 3);
  ASSERT_EQ(world->settings.size(), 1u);
  EXPECT_EQ(world->settings[0].first, "workload.limit");
  EXPECT_EQ(world->settings[0].second, "comparison.axes.y.d");
  EXPECT_FALSE(MakeAxisWorld(proto::Scenario(), comparison, 0).ok());  // no such key
}

TEST(KindOfPoliciesTest, ComesFromTheFrontEnd) {
  EXPECT_EQ(KindOfPolicies(ScenarioOf("front_end: {kind: dra-classic}\n")),
            PolicyEntry::Kind::kKubernetes);
  EXPECT_EQ(KindOfPolicies(ScenarioOf("front_end: {lowering: {rule: mig-smallest}}\n")),
            PolicyEntry::Kind::kMig);
  EXPECT_EQ(KindOfPolicies(proto::Scenario()), PolicyEntry::Kind::kGpuSharing);
}

}  // namespace comparison_test
}  // namespace drasim
