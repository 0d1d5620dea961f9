// Groups of nodes and the smallest changes that help, beside brute force.
#include "sim/explain/cluster_groups.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/random.h"
#include "sim/explain/cluster_dump.h"
#include "sim/explain/cluster_filters.h"
#include "tests/sim/explain/cluster_rig.h"
#include "tests/testing/soak.h"
#include "tests/testing/temp_dir.h"

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
  EXPECT_EQ(
      SectionOf(ExplainText(dump, "p").text, "Nodes that do not take it"),
      "4 nodes (full-*, e.g. full-2): Insufficient example.com/gpu: wants 4, at most 3 free of "
      "8\n"
      "4 nodes (none-*, e.g. none-0): Insufficient example.com/gpu: wants 4, they have none\n"
      "4 nodes (small-*, e.g. small-0): Insufficient example.com/gpu: wants 4, the largest has "
      "2 in all");
}

// The counts are sorted as texts, as kube-scheduler does it.
TEST(FitErrorTextTest, SortsAsText) {
  DumpNode node;
  std::vector<NodeVerdict> verdicts(12);
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

TEST(RemediesTest, DaemonSetsAndStaticPodsStay) {
  const auto helps = [](absl::string_view meta) {
    return SectionOf(ExplainText(absl::StrCat(NodeYaml("n-1", "cpu: 4, pods: 9"),
                                              RunningYaml("kube-system/u", "n-1", "cpu: 3", meta),
                                              PodYaml("p", Asks("cpu: 2"))),
                                 "p")
                         .text,
                     "What would help");
  };
  EXPECT_EQ(helps(""), "n-1 would take the pod if kube-system/u left (it lacks 1 cpu)");
  EXPECT_EQ(helps("ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d, uid: d}]"),
            "");
  EXPECT_EQ(helps("ownerReferences: [{apiVersion: v1, kind: Node, name: n-1, uid: d}]"), "");
  EXPECT_EQ(helps("annotations: {kubernetes.io/config.mirror: x}"), "");
}

TEST(RemediesTest, TheSmallestThatIsEnoughOfTheLowestPriority) {
  std::string dump =
      absl::StrCat(NodeYaml("n-1", "cpu: 12, pods: 9"), SystemPodYaml(),
                   PodYaml("p", Asks("cpu: 4")), RunningYaml("large", "n-1", "cpu: 6"),
                   RunningYaml("fits", "n-1", "cpu: 4"), RunningYaml("small", "n-1", "cpu: 2"));
  EXPECT_EQ(SectionOf(ExplainText(dump, "p").text, "What would help"),
            "n-1 would take the pod if default/fits left (it lacks 4 cpu)");
  absl::StrAppend(&dump, NodeYaml("n-2", "cpu: 4, pods: 9"),
                  PodYaml("low", absl::StrCat("nodeName: n-2, priority: -1, ", Asks("cpu: 4")),
                          "phase: Running"),
                  NodeYaml("n-3", "cpu: 4, pods: 9", "taints: [{key: t, effect: NoSchedule}]"));
  const std::string text = ExplainText(dump, "p").text;
  EXPECT_EQ(SectionOf(text, "What would help"),
            "n-1 would take the pod if default/fits left (it lacks 4 cpu)\n"
            "n-3 would take the pod if the pod tolerated {t: }");
  EXPECT_EQ(
      SectionOf(text, "Notes"),
      "default/low on n-2 has a lower priority than its 0: kube-scheduler may preempt to make "
      "room");
}

TEST(RemediesTest, ConditionsAndPodsTogether) {
  const std::string dump =
      absl::StrCat(NodeYaml("n-1", "cpu: 4, pods: 9", "unschedulable: true"), SystemPodYaml(),
                   RunningYaml("u", "n-1", "cpu: 3"),
                   RunningYaml("v", "n-1", "cpu: 1", "deletionTimestamp: \"2024-05-01T10:00:00Z\""),
                   PodYaml("p", Asks("cpu: 2")));
  const std::string text = ExplainText(dump, "p").text;
  EXPECT_EQ(SectionOf(text, "What would help"),
            "n-1 would take the pod if default/u left and if the node were uncordoned, besides "
            "default/v, which is being deleted (it lacks 2 cpu)");
  EXPECT_EQ(SectionOf(text, "It waits for"), "a node to be uncordoned");
}

TEST(RemediesTest, PodsThatAreLeavingAreWaitedFor) {
  const std::string dump = absl::StrCat(
      NodeYaml("n-1", "cpu: 4, pods: 9"), SystemPodYaml(), RunningYaml("u", "n-1", "cpu: 2"),
      RunningYaml("v", "n-1", "cpu: 2", "deletionTimestamp: \"2024-05-01T10:00:00Z\""),
      PodYaml("p", Asks("cpu: 2")));
  const std::string text = ExplainText(dump, "p").text;
  EXPECT_EQ(SectionOf(text, "What would help"), "");
  EXPECT_EQ(SectionOf(text, "It waits for"),
            "default/v to be gone, being deleted already: then n-1 takes it\n"
            "pods that hold cpu to end, or nodes to be added");
  EXPECT_EQ(SectionOf(text, "Who holds what it wants"),
            "cpu on n-1: 4 of 4 held, 0 free\n"
            "  2  default/u (Running)\n"
            "  2  default/v (Running, being deleted)");
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

// --- Random clusters beside brute force ---

struct Small {
  int64_t cpu = 0;
  int64_t gpu = 0;
};

bool FitsWithout(const Small& node, const std::vector<Small>& pods, uint32_t gone,
                 const Small& wanted) {
  Small left = node;
  for (size_t i = 0; i < pods.size(); ++i) {
    if ((gone >> i & 1U) != 0) continue;
    left.cpu -= pods[i].cpu;
    left.gpu -= pods[i].gpu;
  }
  // What the pod does not ask for is not looked at, however much others ask for.
  return left.cpu >= wanted.cpu && (wanted.gpu == 0 || left.gpu >= wanted.gpu);
}

TEST(RemediesTest, RandomNodesBesideBruteForce) {
  Random random(7, "explain");
  for (uint64_t round = 0; round < SoakSeeds(300); ++round) {
    const auto below = [&](uint64_t n) { return static_cast<int64_t>(random.Below(n)); };
    const Small node = {1 + below(12), below(9)};
    const Small wanted = {1 + below(6), below(5)};
    std::vector<Small> pods(static_cast<size_t>(below(8)));
    std::string dump = absl::StrCat(
        NodeYaml("n-1", absl::StrCat("pods: 99, cpu: ", node.cpu, ", example.com/gpu: ", node.gpu)),
        PodYaml("p", Asks(absl::StrCat("cpu: ", wanted.cpu, ", example.com/gpu: ", wanted.gpu))));
    for (size_t i = 0; i < pods.size(); ++i) {
      pods[i] = {below(5), below(5)};
      absl::StrAppend(&dump, RunningYaml(absl::StrCat("u-", i), "n-1",
                                         absl::StrCat("cpu: ", pods[i].cpu,
                                                      ", example.com/gpu: ", pods[i].gpu)));
    }
    const TempDir dir;
    dir.Write("dump.yaml", dump);
    const absl::StatusOr<ClusterDump> read = ClusterDump::Read({dir.PathOf("dump.yaml")}, nullptr);
    ASSERT_TRUE(read.ok()) << read.status() << "\n" << dump;
    const DumpPod& pod = *read->FindPod("default/p");
    std::vector<NodeVerdict> verdicts(1);
    verdicts[0].node = &read->nodes()[0];
    verdicts[0].rejections = PodFilters(*read, pod).Check(read->nodes()[0]);
    EXPECT_EQ(verdicts[0].rejections.empty(), FitsWithout(node, pods, 0, wanted)) << dump;
    if (verdicts[0].rejections.empty()) continue;

    int fewest = -1;
    for (uint32_t gone = 0; gone < 1U << pods.size(); ++gone) {
      const int count = __builtin_popcount(gone);
      if (FitsWithout(node, pods, gone, wanted) && (fewest < 0 || count < fewest)) fewest = count;
    }
    const std::vector<Remedy> remedies = FindRemedies(pod, verdicts, false);
    ASSERT_EQ(remedies.empty(), fewest < 0) << dump;
    if (fewest < 0) continue;
    uint32_t gone = 0;
    for (const DumpPod* leaves : remedies[0].leave) {
      gone |= 1U << (leaves->key.back() - '0');
    }
    EXPECT_TRUE(FitsWithout(node, pods, gone, wanted)) << dump;
    for (size_t i = 0; i < pods.size(); ++i) {
      if ((gone >> i & 1U) != 0) {
        EXPECT_FALSE(FitsWithout(node, pods, gone & ~(1U << i), wanted)) << dump;
      }
    }
    if (fewest <= 2) {
      EXPECT_EQ(remedies[0].leave.size(), static_cast<size_t>(fewest)) << dump;
    }
  }
}

}  // namespace explain_cluster_groups_test
}  // namespace drasim
