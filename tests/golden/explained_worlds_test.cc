// The comparisons of docs/tour/device_plugin_or_dra.md, run once more: every attempt that fails in
// any of their worlds can be explained.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/proto/scenario.pb.h"
#include "model/text/yaml_proto.h"
#include "sim/app/commands.h"
#include "sim/app/flags.h"
#include "sim/app/scenario_flags.h"
#include "sim/compare/contenders.h"
#include "sim/run/simulation.h"
#include "tests/sim/explain/attempt_count.h"
#include "tests/testing/shared_data.h"
#include "tests/testing/soak.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace explained_worlds_test {

using ::testing::IsEmpty;

constexpr char kFourWorlds[] =
    "device-plugin,device-plugin:static-mig,dra-classic:first-fit,dra-classic:fragmentation";

constexpr char kStructuredWorlds[] =
    "dra-structured,dra-structured:best-fit,dra-structured:mig-fragmentation,"
    "dra-structured:extended";

// Less than the scenario has; 0: all.
struct Cut {
  uint64_t jobs = 0;
  int64_t nodes = 0;
  int64_t pods = 0;
};

ParsedFlags FlagsOf(absl::string_view command_name, const std::vector<std::string>& args) {
  for (const Command& command : Commands()) {
    if (command.name != command_name) continue;
    absl::StatusOr<ParsedFlags> flags = ParseFlags(command.flags, args);
    EXPECT_TRUE(flags.ok()) << flags.status();
    if (flags.ok()) return *std::move(flags);
  }
  ADD_FAILURE() << command_name;
  return {};
}

std::vector<Contender> ContendersOf(const ParsedFlags& flags, const GivenScenario& given) {
  absl::StatusOr<Contenders> made = MakeContenders(ContenderFlagsOf(flags), given, 1.3);
  EXPECT_TRUE(made.ok()) << made.status();
  return made.ok() ? std::move(made->all) : std::vector<Contender>{};
}

// The contenders of `drasim compare scenarios/NAME ARGS`, with the trace if there is one.
std::vector<Contender> ContendersOf(const std::string& name, const std::string& trace,
                                    const std::vector<std::string>& args, const Cut& cut = {}) {
  const std::string path = absl::StrCat(DRASIM_SOURCE_DIR, "/scenarios/", name);
  std::ifstream in(path);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  GivenScenario given;
  EXPECT_EQ(MergeYaml(text, path, &*given.scenario), absl::OkStatus());
  if (!trace.empty()) {
    given.scenario->mutable_workload()->mutable_trace()->set_path(SharedPath(trace));
  }
  if (cut.jobs > 0) given.scenario->mutable_workload()->set_limit(static_cast<int64_t>(cut.jobs));
  if (cut.pods > 0) {
    given.scenario->mutable_workload()->mutable_generated()->set_pods(
        static_cast<int32_t>(cut.pods));
  }
  if (cut.nodes > 0) given.scenario->mutable_cluster()->set_nodes(static_cast<int32_t>(cut.nodes));
  return ContendersOf(FlagsOf("compare", args), given);
}

void ExpectAllExplained(const std::vector<Contender>& contenders, size_t expected) {
  EXPECT_EQ(contenders.size(), expected);
  for (const Contender& contender : contenders) {
    SCOPED_TRACE(contender.values[0]);
    const absl::StatusOr<std::unique_ptr<Simulation>> sim = Simulation::Build(contender.spec);
    ASSERT_TRUE(sim.ok()) << sim.status();
    const absl::StatusOr<AttemptStats> stats = CountExplainedAttempts(**sim);
    ASSERT_TRUE(stats.ok()) << stats.status();
    EXPECT_GT(stats->attempts, 50u);
    EXPECT_EQ(stats->complete, stats->attempts);
    EXPECT_EQ(stats->agreeing, stats->attempts);
    EXPECT_THAT(stats->incomplete, IsEmpty());
    std::cout << contender.values[0] << ": " << stats->attempts << " failed attempts, "
              << stats->distinct << " distinct, " << stats->complete << " explained\n";
  }
}

TEST(ExplainedWorldsTest, OpenbOnA100) {
  ExpectAllExplained(ContendersOf("openb_worlds.yaml", "", {"--worlds", kFourWorlds}), 4);
}

// A quarter of the nodes, and as many pods less; all of them in `make soak`, half a minute for each
// world.
TEST(ExplainedWorldsTest, StructuredOpenbOnA100) {
  Cut cut;
  cut.nodes = static_cast<int64_t>(SoakSeeds(26, 100));
  ExpectAllExplained(ContendersOf("openb_worlds.yaml", "", {"--worlds", kStructuredWorlds}, cut),
                     4);
}

TEST(ExplainedWorldsTest, PhillyGangs) {
  DRASIM_NEEDS_SHARED_DATA("traces/MANIFEST.csv");
  ExpectAllExplained(ContendersOf("philly_worlds.yaml", "traces/philly/muri_trace1_vc7f04ca.csv",
                                  {"--worlds", kFourWorlds}),
                     4);
}

TEST(ExplainedWorldsTest, StructuredPhillyGangs) {
  DRASIM_NEEDS_SHARED_DATA("traces/MANIFEST.csv");
  // All of the scenario's jobs in `make soak`.
  const uint64_t jobs = SoakSeeds(130);
  ExpectAllExplained(ContendersOf("philly_worlds.yaml", "traces/philly/muri_trace1_vc7f04ca.csv",
                                  {"--worlds", kStructuredWorlds}, {.jobs = jobs}),
                     4);
}

// `pods` of 1,500 on a sixth of the nodes; more of them in `make soak`.
void ExpectMigMixExplained(absl::string_view worlds, int64_t pods) {
  Cut cut;
  cut.pods = pods;
  cut.nodes = static_cast<int64_t>(SoakSeeds(2, 12));
  ExpectAllExplained(
      ContendersOf("mig_mix_worlds.yaml", "", {"--worlds", std::string(worlds)}, cut), 4);
}

// Behind classic DRA 150 pods on two nodes fail 700,000 times.
TEST(ExplainedWorldsTest, MigMix) {
  ExpectMigMixExplained(kFourWorlds, static_cast<int64_t>(SoakSeeds(60, 150)));
}

// A minute for each world in `make soak`.
TEST(ExplainedWorldsTest, StructuredMigMix) {
  ExpectMigMixExplained(kStructuredWorlds, static_cast<int64_t>(SoakSeeds(150, 1500)));
}

// The dump that a run behind the device plugin leaves, with bound pods and with waiting ones.
TEST(ExplainedWorldsTest, StructuredDump) {
  TempDir dir;
  dir.Write("full.yaml",
            "mode: replay\norder: seeded\ncluster: {nodes: 20, gpu_model: A100-SXM4-80GB}\n"
            "workload: {generated: {pods: 180}, stream_interval: 10s}\npreemption: {mode: none}\n"
            "scheduler: {policy: least-allocated}\nfront_end: {kind: device-plugin, lowering: "
            "{rule: whole-gpu, ignore_gpu_model: true}}\n");
  const std::string dump = dir.PathOf("after");
  ASSERT_EQ(RunCommand(FlagsOf("run", {dir.PathOf("full.yaml"), "--objects-out", dump, "--quiet"})),
            absl::OkStatus());
  const ParsedFlags flags =
      FlagsOf("compare", {"--snapshot", dump, "--mode", "replay", "--worlds", kStructuredWorlds});
  const absl::StatusOr<GivenScenario> given = ScenarioFromFlags(flags);
  ASSERT_EQ(given.status(), absl::OkStatus());
  ExpectAllExplained(ContendersOf(flags, *given), 4);
}

TEST(ExplainedWorldsTest, ImmediateAgainstWaitForFirstConsumer) {
  DRASIM_NEEDS_SHARED_DATA("traces/MANIFEST.csv");
  // All of its 8,152 jobs in `make soak`: millions of attempts.
  const uint64_t jobs = SoakSeeds(2500);
  ExpectAllExplained(ContendersOf("immediate_pin.yaml",
                                  "traces/openb/openb_pod_list_default.csv.gz", {}, {.jobs = jobs}),
                     2);
}

}  // namespace explained_worlds_test
}  // namespace drasim
