// The smallest changes that help, also beside brute force.
#include "sim/explain/cluster_remedies.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/random.h"
#include "sim/explain/cluster_dump.h"
#include "sim/explain/cluster_verdicts.h"
#include "tests/sim/explain/cluster_rig.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/soak.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace explain_cluster_remedies_test {

using explain_rig::Asks;
using explain_rig::ExplainText;
using explain_rig::NodeYaml;
using explain_rig::PodYaml;
using explain_rig::RunningYaml;
using explain_rig::SectionOf;
using explain_rig::SystemPodYaml;

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
  // Resources that the pod does not request are ignored, however much others request.
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
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<ClusterRules> rules, ClusterRules::Make(*read));
    const std::vector<DumpVerdict> verdicts = rules->Judge(pod).nodes;
    ASSERT_EQ(verdicts.size(), 1);
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

}  // namespace explain_cluster_remedies_test
}  // namespace drasim
