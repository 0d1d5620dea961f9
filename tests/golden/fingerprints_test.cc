// Small scenarios with pinned fingerprints, the same with the cache on and off, with the ledger
// on and off, ten times in a row, and from the scenario.yaml that a run leaves behind.
//
// Reads tests/golden of the source tree, which the compile definition DRASIM_SOURCE_DIR leads to.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/hash.h"
#include "model/proto/scenario.pb.h"
#include "model/record.h"
#include "sim/record/ledger_reader.h"
#include "sim/run/run_outputs.h"
#include "sim/run/simulation.h"
#include "tests/testing/run_spec_of.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace fingerprints_test {

std::string GoldenPath(absl::string_view name) {
  return absl::StrCat(DRASIM_SOURCE_DIR, "/tests/golden/", name);
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

// Scenario name -> fingerprint.
std::map<std::string, std::string> Pins() {
  std::map<std::string, std::string> pins;
  for (const absl::string_view line :
       absl::StrSplit(ReadText(GoldenPath("fingerprints.txt")), '\n')) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    EXPECT_EQ(words.size(), 2u) << line;
    pins[words[0]] = words.back();
  }
  return pins;
}

// A simulation that has been built, but not started.
std::unique_ptr<Simulation> Build(const proto::Scenario& scenario) {
  absl::StatusOr<std::unique_ptr<Simulation>> built = Simulation::Build(RunSpecOf(scenario));
  EXPECT_TRUE(built.ok()) << built.status();
  return *std::move(built);
}

void RunToTheEnd(Simulation* sim) {
  EXPECT_EQ(sim->Start(), absl::OkStatus());
  EXPECT_EQ(sim->Run(), absl::OkStatus());
  EXPECT_TRUE(sim->engine().finished());
}

std::string FingerprintOf(const proto::Scenario& scenario) {
  const std::unique_ptr<Simulation> sim = Build(scenario);
  RunToTheEnd(sim.get());
  return HexHash(sim->fingerprint());
}

class FingerprintPinTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string yaml = ReadText(GoldenPath(absl::StrCat("scenarios/", GetParam(), ".yaml")));
    ASSERT_NE(yaml, "");
    scenario_ = *RunSpecOf(ScenarioOf(yaml)).written;
    ASSERT_EQ(scenario_.name(), GetParam());
    pin_ = Pins()[GetParam()];
  }
  proto::Scenario scenario_;
  std::string pin_;
};

TEST_P(FingerprintPinTest, TenTimesInARow) {
  for (int i = 0; i < 10; ++i) ASSERT_EQ(FingerprintOf(scenario_), pin_) << "run " << i;
}

TEST_P(FingerprintPinTest, WithoutTheCache) {
  scenario_.mutable_scheduler()->set_cache(!scenario_.scheduler().cache());
  EXPECT_EQ(FingerprintOf(scenario_), pin_);
}

TEST_P(FingerprintPinTest, WithTheLedgerOnAndOff) {
  for (const bool ledger : {true, false}) {
    const TempDir dir;
    scenario_.mutable_output()->set_ledger(ledger);
    scenario_.mutable_output()->set_checkpoint_every(100);
    const std::unique_ptr<Simulation> sim = Build(scenario_);
    absl::StatusOr<std::unique_ptr<RunOutputs>> outputs = RunOutputs::Attach(sim.get(), dir.path());
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    RunToTheEnd(sim.get());
    ASSERT_EQ((*outputs)->Complete(0), absl::OkStatus());
    EXPECT_EQ(HexHash(sim->fingerprint()), pin_);
    EXPECT_TRUE(absl::StrContains(dir.Read("summary.json"),
                                  absl::StrCat("\"fingerprint\": \"", pin_, "\"")));
    EXPECT_EQ(dir.Has("ledger"), ledger);
    if (!ledger) continue;
    absl::StatusOr<std::unique_ptr<LedgerReader>> reader = LedgerReader::Open(dir.path());
    ASSERT_TRUE(reader.ok()) << reader.status();
    Record record;
    absl::StatusOr<bool> more = true;
    while (more.ok() && *more) more = (*reader)->Next(&record);
    EXPECT_EQ(more.status(), absl::OkStatus());
    EXPECT_TRUE((*reader)->complete());
    EXPECT_EQ(HexHash((*reader)->fingerprint()), pin_);
    EXPECT_EQ((*reader)->records(), sim->engine().records());
  }
}

TEST_P(FingerprintPinTest, FromTheScenarioThatTheRunLeft) {
  const TempDir dir;
  const std::unique_ptr<Simulation> sim = Build(scenario_);
  absl::StatusOr<std::unique_ptr<RunOutputs>> outputs = RunOutputs::Attach(sim.get(), dir.path());
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  RunToTheEnd(sim.get());
  ASSERT_EQ((*outputs)->Complete(0), absl::OkStatus());
  const std::string written = dir.Read("scenario.yaml");
  EXPECT_EQ(written, ResolvedYaml(*sim));
  const std::unique_ptr<Simulation> again = Build(*RunSpecOf(ScenarioOf(written)).written);
  RunToTheEnd(again.get());
  EXPECT_EQ(HexHash(again->fingerprint()), pin_);
  EXPECT_EQ(ResolvedYaml(*again), written);
  EXPECT_EQ(SummaryJson(*again), dir.Read("summary.json"));
}

// Another seed is another run: the pin is not a constant of the scenario's shape.
TEST_P(FingerprintPinTest, DependsOnTheSeed) {
  scenario_.set_seed(scenario_.seed() + 1);
  EXPECT_NE(FingerprintOf(scenario_), pin_);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, FingerprintPinTest,
                         ::testing::Values("artifact_fill_fgd", "replay_conservative_quota",
                                           "replay_dotprod_bind_latency", "replay_dra_mig",
                                           "replay_easy_node_events", "replay_gpu_packing_backlog",
                                           "replay_random", "replay_srtf_gangs",
                                           "seeded_fill_best_fit", "weighted_fill_gpu_clustering"),
                         [](const ::testing::TestParamInfo<std::string>& tested) {
                           return tested.param;
                         });

TEST(FingerprintPinsTest, EveryScenarioHasAPinAndNothingElseHas) {
  std::vector<std::string> scenarios;
  for (const auto& entry : std::filesystem::directory_iterator(GoldenPath("scenarios"))) {
    scenarios.push_back(entry.path().stem().string());
  }
  std::sort(scenarios.begin(), scenarios.end());
  std::vector<std::string> pinned;
  for (const auto& [name, pin] : Pins()) pinned.push_back(name);
  EXPECT_EQ(scenarios.size(), 16u);
  EXPECT_EQ(pinned, scenarios);
}

}  // namespace fingerprints_test
}  // namespace drasim
