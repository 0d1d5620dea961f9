// TaintToleration: figures of upstream's taint_toleration_test.go. tests/policies/scores_test.cc
// has more verdicts.
#include "policies/plugins/taint_toleration.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/node_spec.h"
#include "model/pod_constraints.h"
#include "tests/testing/plugin_rig.h"

namespace drasim {
namespace {

using Taints = std::vector<Taint>;
using Tolerations = std::vector<Toleration>;
using Scores = std::vector<int64_t>;

const char* const kPrefer = "PreferNoSchedule";
const char* const kNoSchedule = "NoSchedule";

PodShape Tolerating(const Tolerations& tolerations) {
  PodShape shape = TestShape(1, 0);
  shape.constraints.tolerations = tolerations;
  return shape;
}

void AddTainted(const std::vector<Taints>& nodes, ClusterBuilder& builder) {
  for (const Taints& taints : nodes) {
    NodeSpec spec = TestNode(absl::StrCat("node-", builder.cluster().node_count()), 1000, 0);
    spec.taints = taints;
    builder.AddNode(spec);
  }
}

Scores FinalScoresOn(const std::vector<Taints>& nodes, const Tolerations& tolerations) {
  ClusterBuilder builder;
  AddTainted(nodes, builder);
  TaintToleration plugin;
  return FinalScores(plugin, builder, Tolerating(tolerations));
}

TEST(TaintTolerationTest, PrefersNodesWithFewerUntoleratedTaints) {
  const Tolerations foo = {{"foo", "bar", kPrefer, false}};
  EXPECT_EQ(FinalScoresOn({{{"foo", "bar", kPrefer}}, {{"foo", "blah", kPrefer}}}, foo),
            (Scores{100, 0}));
  const Tolerations two = {{"cpu-type", "arm64", kPrefer, false},
                           {"disk-type", "ssd", kPrefer, false}};
  const Taint cpu = {"cpu-type", "arm64", kPrefer};
  const Taint disk = {"disk-type", "ssd", kPrefer};
  EXPECT_EQ(FinalScoresOn({{}, {cpu}, {cpu, disk}}, two), (Scores{100, 100, 100}));
  EXPECT_EQ(FinalScoresOn({{}, {cpu}, {cpu, disk}}, foo), (Scores{100, 50, 0}));
  // Six of seven cut to 85, and reversed.
  EXPECT_EQ(FinalScoresOn({Taints(7, disk), Taints(6, disk), {}}, {}), (Scores{0, 15, 100}));
}

TEST(TaintTolerationTest, OnlySoftTaintsAndTheirTolerationsCount) {
  const Taint soft = {"disk-type", "ssd", kPrefer};
  const Taint hard = {"cpu-type", "arm64", kNoSchedule};
  const Taint evicting = {"cpu-type", "arm64", "NoExecute"};
  const std::vector<Taints> nodes = {{}, {hard, evicting}, {soft, {"cpu-type", "arm64", kPrefer}}};
  ClusterBuilder builder;
  AddTainted(nodes, builder);
  TaintToleration plugin;
  const auto raw = [&builder, &plugin](const Tolerations& tolerations) {
    return RawScores(plugin, builder, Tolerating(tolerations));
  };
  EXPECT_EQ(raw({}), (Scores{0, 0, 2}));
  EXPECT_EQ(raw({{"cpu-type", "arm64", kNoSchedule, false}, {"disk-type", "", "NoExecute", true}}),
            (Scores{0, 0, 2}));
  EXPECT_EQ(raw({{"cpu-type", "arm64", "", false}}), (Scores{0, 0, 1}));
  EXPECT_EQ(raw({{"disk-type", "", kPrefer, true}}), (Scores{0, 0, 1}));
  EXPECT_EQ(raw({{"", "", "", true}}), (Scores{0, 0, 0}));
}

TEST(TaintTolerationTest, NamesTheFirstUntoleratedTaint) {
  ClusterBuilder builder;
  AddTainted({{{"soft", "", kPrefer}, {"a", "1", kNoSchedule}, {"b", "", "NoExecute"}}}, builder);
  const TaintToleration plugin;
  const NodeId node(size_t{0});
  const auto text = [&builder, &plugin, node](const Tolerations& tolerations) {
    return FilterTexts(plugin, builder, Tolerating(tolerations), node);
  };
  EXPECT_EQ(text({}), std::vector<std::string>{"node(s) had untolerated taint {a: 1}"});
  EXPECT_EQ(text({{"a", "", "", true}}),
            std::vector<std::string>{"node(s) had untolerated taint {b: }"});
  EXPECT_EQ(text({{"a", "", "", true}, {"b", "", "NoExecute", true}}), std::vector<std::string>{});
  // An empty key is every key, whatever the operator.
  EXPECT_EQ(text({{"", "1", kNoSchedule, false}}),
            std::vector<std::string>{"node(s) had untolerated taint {b: }"});
  EXPECT_EQ(text({{"", "", "NoExecute", false}}),
            std::vector<std::string>{"node(s) had untolerated taint {a: 1}"});
  EXPECT_EQ(text({{"", "1", "", false}, {"", "", "", false}}), std::vector<std::string>{});
}

TEST(TaintTolerationTest, ANodeWakesThePodWhenItsTaintsNoLongerKeepItOff) {
  const Taint a = {"a", "", kNoSchedule};
  const Taint b = {"b", "", "NoExecute"};
  const Taint soft = {"c", "", kPrefer};
  struct Row {
    bool is_new;
    Taints before;
    Taints now;
    bool wakes;
  };
  for (const Row& row :
       {Row{true, {}, {}, true}, Row{true, {}, {soft}, true}, Row{true, {}, {a}, false},
        Row{false, {a}, {soft}, true}, Row{false, {a}, {b}, true}, Row{false, {a, b}, {a}, false},
        Row{false, {b}, {}, false}, Row{false, {soft}, {}, false}}) {
    ClusterBuilder builder;
    AddTainted({row.now}, builder);
    NodeSpec before = TestNode("node-0", 1000, 0);
    before.taints = row.before;
    EXPECT_EQ(Wakes(TaintToleration(), builder, Tolerating({{"b", "", "", true}}),
                    NodeChange(row.is_new ? kNodeAdded : kNodeTaints, NodeId(size_t{0}),
                               row.is_new ? nullptr : &before)),
              row.wakes);
  }
}

TEST(TaintTolerationTest, OnlyItsOwnTolerationsWakeThePod) {
  ClusterBuilder builder;
  const PodShape pod = Tolerating({});
  ClusterChange change{.event = kPodTolerations, .pod = &pod, .is_waiting_pod = true};
  EXPECT_TRUE(Wakes(TaintToleration(), builder, pod, change));
  change.is_waiting_pod = false;
  EXPECT_FALSE(Wakes(TaintToleration(), builder, pod, change));
}

}  // namespace
}  // namespace drasim
