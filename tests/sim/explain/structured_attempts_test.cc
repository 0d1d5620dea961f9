// Every failed attempt of runs with structured DRA is explained, with as many nodes as the attempt
// recorded; and what single explanations say of claims in special states.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/record.h"
#include "model/text/yaml_proto.h"
#include "model/time.h"
#include "sim/explain/attempt.h"
#include "sim/explain/device_story_text.h"
#include "sim/run/simulation.h"
#include "sim/scenario/given_scenario.h"
#include "sim/scenario/run_spec.h"
#include "sim/scenario/scenario_paths.h"
#include "tests/sim/explain/attempt_count.h"
#include "tests/sim/run/run_texts.h"
#include "tests/testing/data_text.h"
#include "tests/testing/soak.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace {

using run_texts::BuildText;
using ::testing::IsEmpty;

void ExpectAllExplained(absl::StatusOr<std::unique_ptr<Simulation>> sim, uint64_t at_least) {
  ASSERT_TRUE(sim.ok()) << sim.status();
  const absl::StatusOr<AttemptStats> stats = CountExplainedAttempts(**sim);
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_GE(stats->attempts, at_least);
  EXPECT_EQ(stats->complete, stats->attempts);
  EXPECT_EQ(stats->agreeing, stats->attempts);
  EXPECT_THAT(stats->incomplete, IsEmpty());
}

// A cluster of four nodes with MIG of any size, and jobs that want several kinds of claims.
std::string MixedScenario(const TempDir& dir, int seed, int jobs) {
  dir.Write("claims.yaml", TestText("Claims"));
  constexpr absl::string_view kTemplates[] = {"small", "half",   "whole",   "two-halves",
                                              "same",  "broken", "options", "small"};
  std::string scenario =
      absl::StrCat("mode: replay\norder: trace\nseed: ", seed,
                   "\ncluster: {nodes: 4, node: {cpu: \"8\", memory: 64Gi, gpus: 2, gpu_model: "
                   "A100-SXM4-40GB}}\nscheduler: {policy: least-allocated}\nfront_end:\n  kind: "
                   "dra-structured\n  structured: {slices: [",
                   dir.PathOf("claims.yaml"),
                   "], drivers: [{kind: gpu.nvidia.com, mig: dynamic}]}\nworkload:\n  jobs:\n");
  for (int i = 0; i < jobs; ++i) {
    const int kind = (i * 5 + seed) % 8;
    absl::StrAppend(&scenario, "    - {name: j", i, ", cpu: \"", 1 + i % 3,
                    "\", memory: 1Gi, run_time: ", 40 + (i * 37 + seed * 11) % 400,
                    "s, arrival: ", i * 7, "s, claims: [{name: gpu, template: ", kTemplates[kind],
                    "}]}\n");
  }
  return scenario;
}

TEST(StructuredAttemptsTest, EveryFailureIsExplained) {
  const int seeds = static_cast<int>(SoakSeeds(1, 30));
  for (int seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const TempDir dir;
    ExpectAllExplained(BuildText(MixedScenario(dir, seed, 60)), 60);
  }
}

// Notes explanations of failed attempts, and the claims of pods that lose their place; each once.
class AttemptNotes : public RecordSink {
 public:
  explicit AttemptNotes(const AttemptExplainer* explainer) : explainer_(*explainer) {}

  void OnRecord(const Record& record, const ClusterState& cluster) override {
    const bool failed = record.kind == RecordKind::kAttemptFailed;
    if (!failed && record.kind != RecordKind::kPodUnreserved) return;
    std::vector<std::string> lines = explainer_.ClaimsOf(record.pod);
    if (failed) {
      const AttemptExplanation why =
          explainer_.OfFailure(record.pod, SummaryId(record.detail), record.time);
      EXPECT_TRUE(why.complete());
      lines.insert(lines.begin(), why.summary);
      if (why.devices.has_value()) {
        for (const std::string& line : DeviceStoryLines(*why.devices)) lines.push_back(line);
      }
    }
    std::string text = absl::StrCat(cluster.pod_name(record.pod), "\n");
    for (const std::string& line : lines) absl::StrAppend(&text, "  ", line, "\n");
    if (seen_.insert(text).second) text_ += text;
  }

  const std::string& text() const { return text_; }

 private:
  const AttemptExplainer& explainer_;
  std::set<std::string> seen_;
  std::string text_;
};

// The explanations of all failed attempts of a run.
void ExpectNotes(const std::string& scenario, const std::string& texts) {
  absl::StatusOr<std::unique_ptr<Simulation>> built = BuildText(scenario);
  ASSERT_TRUE(built.ok()) << built.status();
  Simulation& sim = **built;
  const AttemptExplainer explainer(&sim.cluster(), &sim.jobs(), &sim.summaries(), sim.profiles(),
                                   ClaimHooksOf(sim));
  AttemptNotes notes(&explainer);
  sim.AddSink(&notes);
  ASSERT_EQ(sim.Start(), absl::OkStatus());
  ASSERT_EQ(sim.Run(), absl::OkStatus());
  EXPECT_EQ(notes.text(), texts);
}

TEST(StructuredAttemptsTest, ClaimsInSpecialStates) {
  const TempDir dir;
  dir.Write("claims.yaml", TestText("SpecialClaims"));
  ExpectNotes(
      absl::StrCat(TestText("SpecialScenario"), "    slices: [", dir.PathOf("claims.yaml"), "]\n"),
      TestText("SpecialTexts"));
}

// Pods without claims, whose extended resource a class serves on two nodes, and a device plugin on
// the third.
TEST(StructuredAttemptsTest, ExtendedResources) {
  ExpectNotes(TestText("ExtendedScenario"), TestText("ExtendedTexts"));
  ExpectAllExplained(BuildText(TestText("ExtendedScenario")), 1);
}

// The devices are held by a claim that the scheduler is about to make.
TEST(StructuredAttemptsTest, ExtendedResourcesInFlight) {
  ExpectNotes(TestText("InFlightScenario"), TestText("InFlightTexts"));
}

// Pods of a dump that hold GPUs, and others that wait for them; what one of a device plugin has
// asked for becomes a claim (KEP 5004).
TEST(StructuredAttemptsTest, PodsOfADump) {
  const TempDir dir;
  dir.Write("dump.yaml", TestText("Dump"));
  for (const char* as : {"claims", "extended-resources"}) {
    SCOPED_TRACE(as);
    ExpectAllExplained(
        BuildText(absl::StrCat("mode: replay\norder: trace\ncluster: {manifests: [",
                               dir.PathOf("dump.yaml"),
                               "]}\nscheduler: {policy: least-allocated}\nfront_end: {kind: "
                               "dra-structured, lowering: {as: ",
                               as, "}}\n")),
        1);
  }
}

// The demonstrations with claims of structured DRA.
TEST(StructuredAttemptsTest, EveryFailureOfTheDemonstrations) {
  size_t scenarios = 0;
  for (const char* name : {"cel_mistake", "prioritised_list", "mig_by_partition", "shared_gpu",
                           "changing_pool", "extended-resource"}) {
    SCOPED_TRACE(name);
    const std::string path =
        absl::StrCat(DRASIM_SOURCE_DIR, "/scenarios/demos/structured/", name, ".yaml");
    GivenScenario given;
    given.file = path;
    std::ifstream in(path);
    given.text.assign((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    ASSERT_EQ(MergeYaml(given.text, path, &*given.scenario), absl::OkStatus());
    AnchorPaths(path, &*given.scenario);
    absl::StatusOr<RunSpec> spec = ResolveGiven(given);
    ASSERT_TRUE(spec.ok()) << spec.status();
    ExpectAllExplained(Simulation::Build(*std::move(spec)), 1);
    ++scenarios;
  }
  EXPECT_EQ(scenarios, 6u);
}

}  // namespace
}  // namespace drasim
