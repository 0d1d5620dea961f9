// Profiles that leave out the PreFilter of a plugin that filters, or the PreScore of one that
// scores: upstream's plugins look for what those prepare, and fail the attempt.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "sim/kube/case_file.h"
#include "sim/kube/kube_case.h"
#include "tests/testing/assert_ok.h"

namespace drasim {
namespace unprepared_plugins_test {

constexpr const char* kCase =
    R"({"case": {"id": "c", "family": "f",
  "config": {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
             "percentageOfNodesToScore": 100,
             "profiles": [{"schedulerName": "default-scheduler",
                           "plugins": {"$0": {"disabled": [{"name": "$1"}]}}}]},
  "nodes": [
    {"metadata": {"name": "cordoned", "labels": {"zone": "a"}}, "spec": {"unschedulable": true},
     "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "9"}}},
    {"metadata": {"name": "n1", "labels": {"zone": "a"}},
     "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "9"}}},
    {"metadata": {"name": "n2", "labels": {"zone": "b"}},
     "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "9"}}}],
  "pods": [{"metadata": {"name": "old", "labels": {"app": "web"}},
            "spec": {"nodeName": "n1", "containers": [{"name": "c"}]}}],
  "queue": [{"metadata": {"name": "new", "labels": {"app": "web"}}, "spec": {
    "containers": [{"name": "c", "resources": {"requests": {"cpu": "$2"}}}],
    "topologySpreadConstraints": [{"maxSkew": 9, "topologyKey": "zone", "whenUnsatisfiable": "$3",
                                   "labelSelector": {"matchLabels": {"app": "web"}}}]}}]}})";

proto::kube::KubeAnswer::Attempt AttemptWith(const std::string& point, const std::string& plugin,
                                             const std::string& cpu = "1",
                                             const std::string& spread = "DoNotSchedule") {
  const auto line = ReadKubeCaseLine(absl::Substitute(kCase, point, plugin, cpu, spread),
                                     /*with_answer=*/false);
  EXPECT_TRUE(line.ok()) << line.status();
  if (!line.ok()) return {};
  const auto answer = AnswerKubeCase(line->given);
  EXPECT_TRUE(answer.ok()) << answer.status();
  if (!answer.ok() || answer->attempts_size() != 1) return {};
  return answer->attempts(0);
}

TEST(UnpreparedPluginsTest, AFilterFailsTheAttempt) {
  struct Row {
    std::string plugin;
    std::string text;
  };
  const Row rows[] = {
      {"NodePorts", "reading \"PreFilterNodePorts\" from cycleState: not found"},
      {"NodeResourcesFit",
       "error reading \"PreFilterNodeResourcesFit\" from cycleState: not found"},
      {"VolumeRestrictions", "cannot read \"PreFilterVolumeRestrictions\" from cycleState"},
      {"VolumeBinding", "not found"},
      {"PodTopologySpread",
       "error reading \"PreFilterPodTopologySpread\" from cycleState: not found"},
      {"InterPodAffinity",
       "error reading \"PreFilterInterPodAffinity\" from cycleState: not found"},
      {"DynamicResources", "not found"},
  };
  for (const Row& row : rows) {
    const auto attempt = AttemptWith("preFilter", row.plugin);
    EXPECT_EQ(attempt.outcome(), "error") << row.plugin;
    EXPECT_EQ(attempt.message(),
              absl::StrCat("running \"", row.plugin, "\" filter plugin: ", row.text));
    // The cordoned node was visited and rejected before; n1 ended the search.
    EXPECT_EQ(attempt.next_start(), 1) << row.plugin;
    EXPECT_EQ(attempt.unschedulable_plugins_size(), 0) << row.plugin;
  }
}

TEST(UnpreparedPluginsTest, OthersFilterWithout) {
  for (const char* plugin : {"NodeAffinity", "NodeVolumeLimits", "VolumeZone"}) {
    EXPECT_EQ(AttemptWith("preFilter", plugin).outcome(), "scheduled") << plugin;
  }
}

TEST(UnpreparedPluginsTest, ANodeThatAnEarlierFilterRejectsIsNoError) {
  const auto attempt = AttemptWith("preFilter", "PodTopologySpread", "5");
  EXPECT_EQ(attempt.outcome(), "unschedulable");
  EXPECT_EQ(attempt.infeasible_size(), 2);
  EXPECT_EQ(attempt.next_start(), 0);
}

TEST(UnpreparedPluginsTest, APreemptionThatReachesSuchAFilterFails) {
  std::string text = absl::Substitute(kCase, "preFilter", "InterPodAffinity", "4", "DoNotSchedule");
  const std::string old_pod = R"("nodeName": "n1", "containers": [{"name": "c"}])";
  text.replace(text.find(old_pod), old_pod.size(),
               R"("nodeName": "n1", "priority": -5, "containers": [{"name": "c", )"
               R"("resources": {"requests": {"cpu": "1"}}}])");
  const std::string n2 = R"({"metadata": {"name": "n2", "labels": {"zone": "b"}},)";
  text.replace(text.find(n2), n2.size(),
               R"({"metadata": {"name": "n2", "labels": {"zone": "b"}}, )"
               R"("spec": {"unschedulable": true},)");
  ASSERT_OK_AND_ASSIGN(const KubeCaseLine line, ReadKubeCaseLine(text, /*with_answer=*/false));
  ASSERT_OK_AND_ASSIGN(const proto::kube::KubeAnswer answer, AnswerKubeCase(line.given));
  ASSERT_EQ(answer.attempts_size(), 1);
  EXPECT_EQ(answer.attempts(0).outcome(), "unschedulable");
  EXPECT_EQ(answer.attempts(0).post_filter().code(), "Error");
  EXPECT_EQ(answer.attempts(0).message(),
            "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable. "
            "preemption: running \"InterPodAffinity\" filter plugin: error reading "
            "\"PreFilterInterPodAffinity\" from cycleState: not found");
}

TEST(UnpreparedPluginsTest, AScoreFailsTheAttempt) {
  struct Row {
    std::string plugin;
    std::string text;
  };
  const Row rows[] = {
      {"TaintToleration", "failed to read \"PreScoreTaintToleration\" from cycleState: not found"},
      {"PodTopologySpread",
       "error reading \"PreScorePodTopologySpread\" from cycleState: not found"},
      {"InterPodAffinity",
       "failed to read \"PreScoreInterPodAffinity\" from cycleState: not found"},
  };
  for (const Row& row : rows) {
    const auto attempt = AttemptWith("preScore", row.plugin, "1", "ScheduleAnyway");
    EXPECT_EQ(attempt.outcome(), "error") << row.plugin;
    EXPECT_EQ(attempt.message(), absl::StrCat("running Score plugins: plugin \"", row.plugin,
                                              "\" failed with: ", row.text));
  }
  for (const char* plugin :
       {"NodeAffinity", "NodeResourcesFit", "NodeResourcesBalancedAllocation"}) {
    EXPECT_EQ(AttemptWith("preScore", plugin).outcome(), "scheduled") << plugin;
  }
}

// With one feasible node, nothing is scored.
TEST(UnpreparedPluginsTest, AScoreThatIsNotAskedIsNoError) {
  EXPECT_EQ(AttemptWith("preScore", "TaintToleration", "3900m").outcome(), "error");
  std::string text = absl::Substitute(kCase, "preScore", "TaintToleration", "4", "DoNotSchedule");
  const std::string old_pod = R"("nodeName": "n1", "containers": [{"name": "c"}])";
  text.replace(text.find(old_pod), old_pod.size(),
               R"("nodeName": "n1", "containers": [{"name": "c", )"
               R"("resources": {"requests": {"cpu": "1"}}}])");
  ASSERT_OK_AND_ASSIGN(const KubeCaseLine line, ReadKubeCaseLine(text, /*with_answer=*/false));
  ASSERT_OK_AND_ASSIGN(const proto::kube::KubeAnswer answer, AnswerKubeCase(line.given));
  EXPECT_EQ(answer.attempts(0).chosen(), "n2");
}

}  // namespace unprepared_plugins_test
}  // namespace drasim
