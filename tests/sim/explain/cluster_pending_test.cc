// All pending pods of a dump, equal answers together.
#include "sim/explain/cluster_pending.h"

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "sim/explain/cluster.h"
#include "sim/explain/cluster_dump.h"
#include "sim/explain/cluster_groups.h"
#include "sim/explain/cluster_verdicts.h"
#include "tests/sim/explain/cluster_rig.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace explain_cluster_pending_test {

using explain_rig::Asks;
using explain_rig::NodeYaml;
using explain_rig::PodYaml;
using explain_rig::RunningYaml;

std::string ExplainAll(absl::string_view dump, OutputFormat format) {
  const TempDir dir;
  dir.Write("dump.yaml", dump);
  const absl::StatusOr<std::string> text =
      ExplainCluster({dir.PathOf("dump.yaml")}, "", format, nullptr);
  return text.ok() ? *text : std::string(text.status().message());
}

// Three pods are too large, one is gated, and two fit in spite of different labels.
std::string ManyPods() {
  return absl::StrCat(NodeYaml("n-1", "cpu: 4, pods: 9"), NodeYaml("n-2", "cpu: 8, pods: 9"),
                      RunningYaml("ml/u", "n-1", "cpu: 3"),
                      PodYaml("ml/done", Asks("cpu: 1"), "phase: Succeeded"),
                      PodYaml("fits-1", Asks("cpu: 1"), "phase: Pending", "labels: {a: b}"),
                      PodYaml("large-1", Asks("cpu: 9")), PodYaml("large-2", Asks("cpu: 10")),
                      PodYaml("gated", "containers: [{name: a}], schedulingGates: [{name: g}]"),
                      PodYaml("large-3", Asks("cpu: 9")),
                      PodYaml("fits-2", Asks("cpu: 2"), "phase: Pending", "labels: {a: c}"));
}

TEST(ClusterPendingTest, GroupsEqualAnswers) {
  const std::string text = ExplainAll(ManyPods(), OutputFormat::kText);
  EXPECT_TRUE(absl::StartsWith(
      text,
      "6 of 8 pods are pending, with 3 different answers, each for itself as the cluster stands.\n"
      "\n"
      "3 pods (default/large-1, default/large-2, default/large-3): no node takes it.\n"
      "  0/2 nodes are available: 2 Insufficient cpu.\n"))
      << text;
  EXPECT_TRUE(absl::StrContains(
      text, "2 pods (default/fits-1, default/fits-2): some nodes would take each of them now.\n"))
      << text;
  EXPECT_TRUE(absl::StrContains(text,
                                "1 pod (default/gated): its scheduling gates keep it out of "
                                "kube-scheduler's queue.\n"
                                "  waits for whoever set it to remove the scheduling gate g\n"))
      << text;
}

TEST(ClusterPendingTest, JsonAndCsv) {
  const std::string json = ExplainAll(ManyPods(), OutputFormat::kJson);
  for (const char* part :
       {"\"drasim.explain-cluster-pending/v1\"", "\"pending\": 6", "\"default/large-1\"",
        "\"verdict\": \"unschedulable\"", "\"verdict\": \"gated\""}) {
    EXPECT_TRUE(absl::StrContains(json, part)) << part << "\n" << json;
  }
  const std::string csv = ExplainAll(ManyPods(), OutputFormat::kCsv);
  EXPECT_TRUE(absl::StartsWith(csv,
                               "verdict,pods,examples,message,would_help\n"
                               "unschedulable,3,default/large-1;default/large-2;default/large-3,"))
      << csv;
}

TEST(ClusterPendingTest, NobodyWaits) {
  EXPECT_EQ(ExplainAll(absl::StrCat(NodeYaml("n-1", "pods: 9"), RunningYaml("u", "n-1", "")),
                       OutputFormat::kText),
            "0 of 1 pods are pending.\n");
}

// The short look at each pod and the long one at one of a group agree on kube-scheduler's words.
TEST(ClusterPendingTest, MessagesAreThoseOfTheFullAnswer) {
  const TempDir dir;
  dir.Write("dump.yaml", ManyPods());
  ASSERT_OK_AND_ASSIGN(const ClusterDump dump,
                       ClusterDump::Read({dir.PathOf("dump.yaml")}, nullptr));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<ClusterRules> rules, ClusterRules::Make(dump));
  for (const DumpPod& pod : dump.pods()) {
    if (pod.is_finished() || !pod.spec().node_name().empty()) continue;
    const PodVerdicts verdicts = rules->Judge(pod);
    bool fits = false;
    for (const DumpVerdict& verdict : verdicts.nodes) fits |= verdict.rejections.empty();
    EXPECT_EQ(rules->Message(pod), fits ? "" : FitErrorText(verdicts.nodes, verdicts.obstacle))
        << pod.key;
  }
}

}  // namespace explain_cluster_pending_test
}  // namespace drasim
