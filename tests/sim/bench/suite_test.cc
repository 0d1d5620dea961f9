// Suite files: what is read, and that mistakes are placed.
#include "sim/bench/suite.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "model/proto/scenario.pb.h"
#include "sim/bench/bench_cells.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/temp_dir.h"

namespace drasim::bench {
namespace suite_test {

constexpr char kSha[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

constexpr char kSuite[] =
    "version: 3\n"
    "entries:\n"
    "- name: fill-a\n"
    "  scenario: s/fill.yaml\n"
    "  set: [seed=7, scheduler.policy=fgd]\n"
    "  policies: [fgd, random]\n"
    "  queues: [fifo]\n"
    "  seeds: 1,4..6\n"
    "  tier: pr\n"
    "  primary: {metric: mean_jct_seconds, better: lower, margin: 1%}\n"
    "  inputs: [{path: in.csv, sha256: SHA}, {path: /abs.csv, sha256: SHA}]\n"
    "- name: b\n"
    "  tier: smoke\n"
    "  primary: {metric: goodput, better: higher}\n"
    "  cost: true\n"
    "  world: dra-classic:first-fit\n";

std::string Text(absl::string_view from = "", absl::string_view to = "") {
  std::string text = absl::StrReplaceAll(kSuite, {{"SHA", kSha}});
  if (!from.empty()) {
    EXPECT_NE(text.find(std::string(from)), std::string::npos) << from;
    text = absl::StrReplaceAll(text, {{from, to}});
  }
  return text;
}

absl::StatusOr<Suite> Read(const TempDir& dir, const std::string& text) {
  dir.Write("core.yaml", text);
  return ReadSuite(dir.PathOf("core.yaml"));
}

TEST(SuiteTest, ReadsEveryKey) {
  const TempDir dir;
  const absl::StatusOr<Suite> suite = Read(dir, Text());
  ASSERT_EQ(suite.status(), absl::OkStatus());
  EXPECT_EQ(suite->name, "core");
  EXPECT_EQ(suite->version, 3);
  ASSERT_EQ(suite->entries.size(), 2u);
  const SuiteEntry& entry = suite->entries[0];
  EXPECT_EQ(entry.name, "fill-a");
  EXPECT_FALSE(entry.cost);
  EXPECT_TRUE(suite->entries[1].cost);
  EXPECT_EQ(entry.world, "");
  EXPECT_EQ(suite->entries[1].world, "dra-classic:first-fit");
  EXPECT_EQ(entry.scenario, dir.PathOf("s/fill.yaml"));
  EXPECT_EQ(entry.settings, (std::vector<std::string>{"seed=7", "scheduler.policy=fgd"}));
  EXPECT_EQ(entry.policies, (std::vector<std::string>{"fgd", "random"}));
  EXPECT_EQ(entry.queues, std::vector<std::string>{"fifo"});
  EXPECT_EQ(entry.seeds, (std::vector<uint64_t>{1, 4, 5, 6}));
  EXPECT_EQ(entry.tier, Tier::kPr);
  EXPECT_EQ(entry.primary.metric, "mean_jct_seconds");
  EXPECT_FALSE(entry.primary.higher_is_better);
  EXPECT_EQ(entry.primary.margin.Text(), "1%");
  EXPECT_EQ(entry.primary.margin.Of(-200), 2);
  ASSERT_EQ(entry.inputs.size(), 2u);
  EXPECT_EQ(entry.inputs[0].path, dir.PathOf("in.csv"));
  EXPECT_EQ(entry.inputs[1].path, "/abs.csv");
  EXPECT_EQ(entry.inputs[1].sha256, kSha);
  EXPECT_EQ(suite->entries[1].scenario, "");
  EXPECT_TRUE(suite->entries[1].primary.higher_is_better);
  EXPECT_EQ(suite->entries[1].primary.margin.Of(100), 0);
}

struct Mistake {
  const char* from;
  const char* to;
  const char* message;  // behind the file's name
};

TEST(SuiteTest, MistakesHaveTheirPlace) {
  const Mistake mistakes[] = {
      {"version: 3", "version: 0", ":1:10: version: expected a number from 1 on"},
      {"  tier: pr", "  teir: pr", ":9:3: entries.0.teir: unknown key (did you mean 'tier'?)"},
      {"tier: pr", "tier: hourly", ":9:9: entries.0.tier: found 'hourly', expected one of"},
      {"  tier: smoke\n", "", ":12:3: entries.1.tier: found none, expected smoke, pr or nightly"},
      {"name: b", "name: B", ":12:9: entries.1.name: found 'B', expected lower-case letters"},
      {"name: b", "name: fill-a", ":12:9: entries.1.name: found 'fill-a' a second time"},
      {"[seed=7", "[seed", ":5:9: entries.0.set.0: found 'seed', expected KEY=VALUE"},
      {"4..6", "6..4", ":8:10: entries.0.seeds: seeds: found '6..4'"},
      {"4..6", "1", ":8:10: entries.0.seeds: found 1 twice, expected each seed once"},
      {"mean_jct_seconds", "mean_jct_second",
       ":10:21: entries.0.primary.metric: unknown metric 'mean_jct_second' (did you mean"},
      {"better: lower", "better: higher",
       ":10:47: entries.0.primary.better: found higher, expected lower for mean_jct_seconds"},
      {"better: higher", "margin: \"1\"",
       ":14:12: entries.1.primary: found no better, expected higher for goodput"},
      {"1%", "-1%", ":10:62: entries.0.primary.margin: found '-1%', expected a number from 0 on"},
      {"cost: true", "queues: [fifo]",
       ":16:10: entries.1.world: expected neither policies nor queues beside it"},
      {"path: in.csv", "path: \"\"", ":11:19: entries.0.inputs.0.path: found none"},
  };
  for (const Mistake& mistake : mistakes) {
    const TempDir dir;
    const absl::Status status = Read(dir, Text(mistake.from, mistake.to)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << mistake.to;
    absl::string_view message = status.message();
    EXPECT_TRUE(absl::ConsumePrefix(&message, dir.PathOf("core.yaml"))) << message;
    EXPECT_EQ(message.substr(0, absl::string_view(mistake.message).size()), mistake.message)
        << mistake.to << ": " << message;
  }
}

// One cell of the world; the only setting makes the policy or the mode.
absl::StatusOr<std::vector<BenchCell>> CellsOfWorld(const TempDir& dir, absl::string_view world,
                                                    absl::string_view setting) {
  const absl::StatusOr<Suite> suite = Read(
      dir, absl::StrCat("version: 1\nentries:\n- name: w\n  world: ", world, "\n  set: [", setting,
                        ", cluster.gpu_model=A100-SXM4-80GB]\n  tier: smoke\n  primary: {metric: "
                        "wanted_percent, better: higher}\n"));
  EXPECT_EQ(suite.status(), absl::OkStatus());
  if (!suite.ok()) return suite.status();
  return MakeBenchCells(*suite, std::nullopt, Filter());
}

TEST(SuiteTest, AWorldIsThatOfCompare) {
  const TempDir dir;
  ASSERT_OK_AND_ASSIGN(const std::vector<BenchCell> driver,
                       CellsOfWorld(dir, "dra-classic:fragmentation", "scheduler.backfill=easy"));
  ASSERT_EQ(driver.size(), 1u);
  EXPECT_EQ(driver[0].id.Name(), "w/kubernetes/least-allocated/42");
  const proto::FrontEnd& front_end = driver[0].spec.written->front_end();
  EXPECT_EQ(front_end.kind(), "dra-classic");
  EXPECT_EQ(front_end.lowering().rule(), "mig-smallest");
  EXPECT_EQ(front_end.dra().drivers(0).placement(), "mfi-any-weighted");
  // Kube-scheduler has no backfilling.
  EXPECT_EQ(driver[0].spec.written->scheduler().backfill(), "");

  ASSERT_OK_AND_ASSIGN(const std::vector<BenchCell> plugin,
                       CellsOfWorld(dir, "device-plugin", "scheduler.policy=most-allocated"));
  EXPECT_EQ(plugin[0].id.policy, "most-allocated");
  ASSERT_OK_AND_ASSIGN(
      const std::vector<BenchCell> sliced,
      CellsOfWorld(dir, "device-plugin:time-slicing=4", "scheduler.policy=most-allocated"));
  EXPECT_NE(plugin[0].inputs, sliced[0].inputs);
}

TEST(SuiteTest, AnUnknownWorldHasItsPlace) {
  const TempDir dir;
  const absl::Status status = CellsOfWorld(dir, "dra-clasic", "seed=1").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const std::string expected =
      absl::StrCat(dir.PathOf("core.yaml"),
                   ":4:10: entries.0.world: unknown world 'dra-clasic', expected one of direct");
  EXPECT_EQ(status.message().substr(0, expected.size()), expected) << status.message();
}

TEST(SuiteTest, ASuiteHasEntries) {
  const TempDir dir;
  EXPECT_EQ(Read(dir, "version: 1\n").status().message(),
            absl::StrCat(dir.PathOf("core.yaml"), ": entries: expected at least one"));
  EXPECT_EQ(ReadSuite(dir.PathOf("none.yaml")).status().code(), absl::StatusCode::kNotFound);
}

TEST(SuiteTest, MarginsAreReadBack) {
  for (const char* text : {"0", "0.5", "2%", "1e-07"}) {
    const absl::StatusOr<Margin> margin = ParseMargin(text, "m");
    ASSERT_EQ(margin.status(), absl::OkStatus());
    EXPECT_EQ(margin->Text(), text);
  }
  for (const char* text : {"%", "x", "-1", "nan", "inf%", "1 %x"}) {
    EXPECT_FALSE(ParseMargin(text, "m").ok()) << text;
  }
}

}  // namespace suite_test
}  // namespace drasim::bench
