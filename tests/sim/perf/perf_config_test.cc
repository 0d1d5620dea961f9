// Configurations: what is read, and that mistakes have their line and column.
#include "sim/perf/perf_config.h"

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "sim/perf/perf_action.h"

namespace drasim::perf {
namespace perf_config_test {

constexpr char kConfig[] =
    "- name: A\n"
    "  defaultPodTemplatePath: t/pod.yaml\n"
    "  featureGates: {X: true, Y: false}\n"
    "  workloadTemplate:\n"
    "  - opcode: createNodes\n"
    "    countParam: $nodes\n"
    "    labelNodePrepareStrategy: {labelKey: zone, labelValues: [a, b]}\n"
    "  - opcode: createPodSets\n"
    "    count: 2\n"
    "    namespacePrefix: ns\n"
    "    createPodsOp: {opcode: createPods, countParam: $pods, countMultiplierParam: $nodes}\n"
    "  - opcode: checkPodScheduled\n"
    "    ScheduledParam: $wanted\n"
    "    DurationParam: $time\n"
    "  - opcode: barrier\n"
    "    stageRequirement: Attempted\n"
    "    labelSelector: {type: unsched}\n"
    "  workloads:\n"
    "  - name: W\n"
    "    labels: [short]\n"
    "    threshold: 12.5\n"
    "    featureGates: {Y: true}\n"
    "    params: {nodes: 3, pods: 4, wanted: false, time: 5s}\n";

std::string Edited(absl::string_view from, absl::string_view to) {
  std::string text = kConfig;
  EXPECT_NE(text.find(std::string(from)), std::string::npos) << from;
  return absl::StrReplaceAll(text, {{from, to}});
}

// The message of the error, of reading or of expanding the first workload.
std::string MistakeOf(absl::string_view text) {
  const absl::StatusOr<PerfConfig> config = ReadPerfConfig(text, "c.yaml");
  if (!config.ok()) return std::string(config.status().message());
  const PerfCase& one = config->cases.front();
  const auto actions = ExpandWorkload(one, one.workloads.front());
  return actions.ok() ? "none" : std::string(actions.status().message());
}

TEST(PerfConfigTest, ReadsAllOfIt) {
  const absl::StatusOr<PerfConfig> config = ReadPerfConfig(kConfig, "c.yaml");
  ASSERT_EQ(config.status(), absl::OkStatus());
  ASSERT_EQ(config->cases.size(), 1u);
  const PerfCase& one = config->cases[0];
  EXPECT_EQ(one.name, "A");
  EXPECT_EQ(one.default_pod_template, "t/pod.yaml");
  ASSERT_EQ(one.steps.size(), 4u);
  EXPECT_EQ(one.steps[0].where, "c.yaml:5:5");
  ASSERT_NE(one.steps[2].Find("scheduledParam"), nullptr) << "whatever the case of letters";
  const PerfWorkload& workload = one.workloads[0];
  EXPECT_EQ(workload.threshold, 12.5);
  EXPECT_EQ(GatesOf(one, workload), (FeatureGates{{"X", true}, {"Y", true}}));
}

TEST(PerfConfigTest, ExpandsParameters) {
  const absl::StatusOr<PerfConfig> config = ReadPerfConfig(kConfig, "c.yaml");
  ASSERT_EQ(config.status(), absl::OkStatus());
  const auto actions = ExpandWorkload(config->cases[0], config->cases[0].workloads[0]);
  ASSERT_EQ(actions.status(), absl::OkStatus());
  ASSERT_EQ(actions->size(), 5u);
  EXPECT_EQ((*actions)[0].count, 3);
  EXPECT_EQ((*actions)[0].label_values.size(), 2u);
  EXPECT_EQ((*actions)[1].ns, "ns-0");
  EXPECT_EQ((*actions)[2].ns, "ns-1");
  EXPECT_EQ((*actions)[2].count, 12);
  EXPECT_EQ((*actions)[2].templates.front(), "t/pod.yaml");
  EXPECT_FALSE((*actions)[3].scheduled);
  EXPECT_EQ((*actions)[3].duration, SimDuration::Seconds(5));
  EXPECT_EQ((*actions)[3].ns, "namespace-2") << "the position of the step";
  EXPECT_TRUE((*actions)[4].attempted);
  EXPECT_EQ((*actions)[4].labels, (Labels{{"type", "unsched"}}));
}

TEST(PerfConfigTest, PlacesMistakes) {
  EXPECT_EQ(MistakeOf(kConfig), "none");
  EXPECT_EQ(MistakeOf(Edited("opcode: barrier", "opcode: barier")),
            "c.yaml:15:13: unknown operation 'barier' (did you mean 'barrier'?)");
  EXPECT_EQ(MistakeOf(Edited("stageRequirement:", "stageRequirment:")),
            "c.yaml:16:5: unknown field 'stageRequirment' of barrier (did you mean "
            "'stageRequirement'?)");
  EXPECT_EQ(MistakeOf(Edited("    count: 2\n", "    count: 2\n    Count: 3\n")),
            "c.yaml:10:5: found 'count' twice");
  EXPECT_EQ(MistakeOf(Edited("    count: 2\n", "    count: -2\n")),
            "c.yaml:9:12: count: found -2, expected a whole number from 0 to 10000000");
  EXPECT_EQ(MistakeOf(Edited("nodes: 3", "nodes: 1000000000000")),
            "c.yaml:6:17: countParam: found 1000000000000, expected a whole number from 0 to "
            "10000000");
  EXPECT_EQ(MistakeOf(Edited("nodes: 3", "node: 3")),
            "c.yaml:6:17: countParam: the workload 'W' has no parameter 'nodes'");
  EXPECT_EQ(MistakeOf(Edited("time: 5s", "time: soon")),
            "c.yaml:14:20: durationParam: found \"soon\", expected a duration such as 10s");
  EXPECT_EQ(MistakeOf(Edited("wanted: false", "wanted: 3")),
            "c.yaml:13:21: scheduledParam: found 3, expected true or false");
  EXPECT_EQ(MistakeOf(Edited("Attempted", "Tried")),
            "c.yaml:15:5: stageRequirement: found 'Tried', expected Scheduled or Attempted");
  EXPECT_EQ(MistakeOf(Edited("    threshold: 12.5", "    threshold: much")),
            "c.yaml:21:16: threshold: found 'much', expected pods a second, a number from 0 on");
  EXPECT_EQ(MistakeOf(Edited("Y: true}\n    params", "Y: 1}\n    params")),
            "c.yaml:22:23: featureGates.Y: expected true or false");
  EXPECT_EQ(MistakeOf("a: 1\n"), "c.yaml:1:1: expected a list of cases, each with a name");
  EXPECT_EQ(MistakeOf("- name: A\n"),
            "c.yaml:1:3: the case has no workloadTemplate, a list of operations");
  EXPECT_EQ(MistakeOf("- name: A\n  workloadTemplate: []\n  workloads: [{name: a}, {name: a}]\n"),
            "c.yaml:3:26: found the workload 'a' twice");
  EXPECT_EQ(MistakeOf(absl::StrCat(kConfig, kConfig)), "c.yaml:24:3: found the case 'A' twice");
}

TEST(PerfConfigTest, NeedsWhatAnOperationCannotDoWithout) {
  const auto mistake = [](absl::string_view step) {
    return MistakeOf(
        absl::StrCat("- name: A\n  workloadTemplate:\n  - ", step, "\n  workloads: [{name: w}]\n"));
  };
  EXPECT_EQ(mistake("{opcode: createNodes}"),
            "c.yaml:3:5: createNodes: count or countParam is missing");
  EXPECT_EQ(mistake("{opcode: createAny}"), "c.yaml:3:5: createAny: templatePath is missing");
  EXPECT_EQ(mistake("{opcode: sleep}"), "c.yaml:3:5: sleep: duration or durationParam is missing");
  EXPECT_EQ(mistake("{opcode: sleep, duration: 3s, durationParam: $d}"),
            "c.yaml:3:50: found duration and durationParam, expected one of them");
  EXPECT_EQ(mistake("{opcode: churn, templatePaths: [a], mode: now}"),
            "c.yaml:3:5: mode: found 'now', expected create or recreate");
  EXPECT_EQ(mistake("{opcode: churn, templatePaths: [a], intervalMilliseconds: 0}"),
            "c.yaml:3:5: churn: intervalMilliseconds above 0 is missing");
  EXPECT_EQ(mistake("{opcode: createPods, count: 1, persistentVolumeTemplatePath: a}"),
            "c.yaml:3:5: createPods: one of persistentVolumeTemplatePath and "
            "persistentVolumeClaimTemplatePath is missing");
  EXPECT_EQ(mistake("{opcode: createPodSets, count: 2, namespacePrefix: a}"),
            "c.yaml:3:5: createPodSets: createPodsOp is missing");
}

}  // namespace perf_config_test
}  // namespace drasim::perf
