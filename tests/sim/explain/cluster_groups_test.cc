// Groups of nodes, their patterns, and notes on what is short.
#include "sim/explain/cluster_groups.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/proto/kube.pb.h"
#include "sim/explain/cluster_dump.h"
#include "sim/explain/cluster_verdicts.h"
#include "tests/sim/explain/cluster_rig.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace explain_cluster_groups_test {

using explain_rig::Asks;
using explain_rig::ExplainText;
using explain_rig::NodeYaml;
using explain_rig::PodYaml;
using explain_rig::RejectionOf;
using explain_rig::RunningYaml;
using explain_rig::SectionOf;
using explain_rig::SystemPodYaml;

// Cordoned nodes of these names.
std::string Cordoned(const std::vector<std::string>& names) {
  std::string nodes;
  for (const std::string& name : names) {
    absl::StrAppend(&nodes, NodeYaml(name, "pods: 1", "unschedulable: true"));
  }
  return RejectionOf(absl::StrCat(nodes, PodYaml("p", "containers: [{name: a}]")));
}

TEST(NodesTextTest, NamesAndPatterns) {
  const std::string why = ": node(s) were unschedulable: cordoned";
  EXPECT_EQ(Cordoned({"a-1"}), "1 node (a-1)" + why);
  EXPECT_EQ(Cordoned({"a-3", "b", "a-1"}), "3 nodes (a-1, a-3, b)" + why);
  EXPECT_EQ(Cordoned({"a-3", "a-1", "a-2", "a-10"}), "4 nodes (a-*, e.g. a-3)" + why);
  EXPECT_EQ(Cordoned({"a-1", "a-2", "b-1", "b-2", "c"}), "5 nodes (a-*, b-*, c, e.g. a-1)" + why);
  EXPECT_EQ(Cordoned({"pool-1-x7k", "pool-1-p2z", "pool-2-abc", "pool-2-abd"}),
            "4 nodes (pool-1-*, pool-2-*, e.g. pool-1-x7k)" + why);
  EXPECT_EQ(Cordoned({"g1.example.com", "g2.example.com", "g3.example.com", "g4.example.com"}),
            "4 nodes (g*.example.com, e.g. g1.example.com)" + why);
  EXPECT_EQ(Cordoned({"ip-1-1", "ip-2-1", "ip-3-1", "ip-4-1"}),
            "4 nodes (ip-*, e.g. ip-1-1)" + why);
  EXPECT_EQ(Cordoned({"alpha", "beta", "gamma", "delta"}), "4 nodes (e.g. alpha)" + why);
}

// Nodes without any of a resource, too small ones and full ones do not belong together; the group
// that is nearest to fitting comes first, with its nearest node as the example.
TEST(GroupVerdictsTest, BySimilarShortfalls) {
  std::string dump = absl::StrCat(SystemPodYaml(), PodYaml("p", Asks("example.com/gpu: 4")));
  for (int i = 0; i < 4; ++i) {
    absl::StrAppend(&dump, NodeYaml(absl::StrCat("none-", i), "pods: 9"),
                    NodeYaml(absl::StrCat("small-", i), "pods: 9, example.com/gpu: 2"),
                    NodeYaml(absl::StrCat("full-", i), "pods: 9, example.com/gpu: 8"),
                    RunningYaml(absl::StrCat("ml/a-", i), absl::StrCat("full-", i),
                                absl::StrCat("example.com/gpu: ", i == 2 ? 5 : 6)));
  }
  EXPECT_EQ(SectionOf(ExplainText(dump, "p").text, "Nodes that do not take it"),
            TestLines("BySimilarShortfalls"));
}

TEST(GroupVerdictsTest, TheNearestNodesAreTheExamples) {
  std::vector<proto::kube::Node> objects(5);
  std::vector<DumpNode> nodes(objects.size());
  std::vector<DumpVerdict> verdicts(objects.size());
  static constexpr int64_t kDistances[] = {4, 2, 5, 1, 3};
  for (size_t i = 0; i < nodes.size(); ++i) {
    objects[i].mutable_metadata()->set_name(absl::StrCat("n-", kDistances[i]));
    nodes[i].object = &objects[i];
    verdicts[i].node = &nodes[i];
    verdicts[i].rejections.resize(1);
    verdicts[i].rejections[0].distance = kDistances[i];
  }
  const std::vector<VerdictGroup> groups = GroupVerdicts(verdicts);
  ASSERT_EQ(groups.size(), 1);
  EXPECT_EQ(groups[0].shown.examples, (std::vector<std::string>{"n-1", "n-2", "n-3"}));
}

// The counts are sorted as texts, as kube-scheduler does it.
TEST(FitErrorTextTest, SortsAsText) {
  DumpNode node;
  std::vector<DumpVerdict> verdicts(12);
  for (size_t i = 0; i < verdicts.size(); ++i) {
    verdicts[i].node = &node;
    verdicts[i].rejections.resize(2);
    verdicts[i].rejections[0].reasons = {i < 2 ? "b" : "c"};
    if (i == 0) verdicts[i].rejections[0].reasons.push_back("a");
    verdicts[i].rejections[1].reasons = {"not the first"};
  }
  EXPECT_EQ(FitErrorText(verdicts, ""), "0/12 nodes are available: 1 a, 10 c, 2 b.");
  EXPECT_EQ(FitErrorText(verdicts, "no"), "0/12 nodes are available: no.");
}

TEST(ShortageNotesTest, Fragmentation) {
  const auto notes = [](absl::string_view wanted, absl::string_view more = "") {
    return SectionOf(
        ExplainText(absl::StrCat(
                        NodeYaml("n-1", "cpu: 4, pods: 9"), NodeYaml("n-2", "cpu: 4, pods: 9"),
                        NodeYaml("n-3", "cpu: 64, pods: 9", "unschedulable: true"), SystemPodYaml(),
                        RunningYaml("u", "n-1", "cpu: 2"), RunningYaml("v", "n-2", "cpu: 1"), more,
                        PodYaml("p", Asks(absl::StrCat("cpu: ", wanted)))),
                    "p")
            .text,
        "Notes");
  };
  EXPECT_EQ(notes("4"),
            "fragmentation: 5 cpu are free on the 2 nodes that have some and that the other rules "
            "allow, but no single node has 4");
  EXPECT_EQ(notes("4", RunningYaml("w", "n-2", "cpu: 2")), "");  // 3 together
  EXPECT_EQ(notes("5"),
            "no node that the other rules allow is large enough: the largest has 4 cpu, the pod "
            "wants 5");
}

}  // namespace explain_cluster_groups_test
}  // namespace drasim
