// The search by blocks of nodes decides as the search node by node, in clusters of several blocks
// whose nodes and pods come and go.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "model/random.h"
#include "policies/framework/profile.h"
#include "sim/core/kube_cycle.h"
#include "sim/core/nominator.h"
#include "sim/scenario/kube_config.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {
namespace {

constexpr char kHostLabel[] = "kubernetes.io/hostname";
constexpr char kZoneLabel[] = "topology.kubernetes.io/zone";

LabelSelector SelectsApp(const std::string& app) {
  LabelSelector selector;
  selector.given = true;
  selector.requirements = {{"app", SelectorOperator::kIn, {app}}};
  return selector;
}

// Kinds of pods: plain, spread over zones or hosts, away from their like on a host or in a zone,
// and those that would like to be apart, in zones or in zones and on hosts.
PodShape ShapeOfKind(uint64_t kind, int64_t cpu_milli) {
  PodShape shape = TestShape(cpu_milli, 0);
  const std::string app = absl::StrCat("app-", kind);
  shape.identity.ns = "default";
  shape.identity.labels = {{"app", app}};
  if (kind == 1 || kind == 2) {
    SpreadConstraint constraint;
    constraint.topology_key = kind == 1 ? kZoneLabel : kHostLabel;
    constraint.max_skew = static_cast<int32_t>(kind);
    constraint.selector = SelectsApp(app);
    shape.topology.spread = {constraint};
  } else if (kind == 3 || kind == 4) {
    AffinityTerm term;
    term.topology_key = kind == 3 ? kHostLabel : kZoneLabel;
    term.selector = SelectsApp(app);
    term.namespaces = {"default"};
    shape.topology.anti_affinity = {term};
  } else if (kind == 5 || kind == 6) {
    SpreadConstraint constraint;
    constraint.topology_key = kZoneLabel;
    constraint.hard = false;
    constraint.selector = SelectsApp(app);
    shape.topology.spread = {constraint};
    constraint.topology_key = kHostLabel;
    if (kind == 6) shape.topology.spread.push_back(constraint);
  }
  return shape;
}

// With taints, sums of remembered scores alone decide nothing.
NodeSpec RandomZoneNode(size_t i, bool taints, Random& random) {
  NodeSpec node =
      TestNode(absl::StrCat("n", i), static_cast<int64_t>(4000 * (1 + random.Below(4))), 0);
  node.labels = {{kHostLabel, node.name}};
  if (random.Below(10) != 0) {
    node.labels.emplace_back(kZoneLabel, absl::StrCat("z", random.Below(4)));
  }
  if (taints && random.Below(10) == 0) node.taints = {{"dedicated", "", "PreferNoSchedule"}};
  return node;
}

void CompareSearches(uint64_t seed, KubeCycleOptions::Ties ties, bool taints) {
  Random random(seed, "block search");
  ClusterBuilder builder;
  ClusterState& cluster = builder.cluster();
  for (size_t i = 0; i < 200; ++i) builder.AddNode(RandomZoneNode(i, taints, random));
  std::vector<ShapeId> shapes;
  for (uint64_t kind = 0; kind < 7; ++kind) {
    for (const int64_t cpu_milli : {250, 1000}) {
      shapes.push_back(builder.AddShape(ShapeOfKind(kind, cpu_milli)));
    }
  }
  const auto make_profile = [] {
    absl::StatusOr<Profile> profile =
        Profile::MakeKube(TestRegistry(), DefaultProfileSpec(), PolicyContext());
    DRASIM_CHECK(profile.ok());
    return *std::move(profile);
  };
  Profile block_profile = make_profile();
  Profile node_profile = make_profile();
  const Nominator nominator;
  KubeCycleOptions options;
  options.ties = ties;
  KubeCycle by_blocks(&cluster, &nominator, options, seed);
  options.use_cache = false;
  KubeCycle by_nodes(&cluster, &nominator, options, seed);
  std::vector<PodId> running;
  int found = 0;
  for (int step = 0; step < 400; ++step) {
    const PodId pod = cluster.AddPod("p", shapes[random.Below(shapes.size())], 0, SimTime());
    PodContext context = builder.Context(cluster.pod_shape_id(pod));
    context.pod = pod;
    const AttemptResult a = by_blocks.Schedule(&block_profile, context, true, nullptr);
    const AttemptResult b = by_nodes.Schedule(&node_profile, context, true, nullptr);
    ASSERT_EQ(a.outcome, b.outcome) << "step " << step;
    ASSERT_EQ(a.node, b.node) << "step " << step;
    ASSERT_EQ(a.message, b.message) << "step " << step;
    ASSERT_EQ(by_blocks.start(), by_nodes.start()) << "step " << step;
    if (a.outcome == AttemptResult::Outcome::kFound) {
      ++found;
      cluster.Adopt(pod, a.node);
      running.push_back(pod);
    }
    if (running.size() > 150 || (!running.empty() && random.Below(3) == 0)) {
      const size_t i = random.Below(running.size());
      cluster.Finish(running[i]);
      running[i] = running.back();
      running.pop_back();
    }
    if (random.Below(40) != 0) continue;
    const NodeId node(random.Below(cluster.node_count()));
    if (random.Below(3) == 0) {
      builder.AddNode(RandomZoneNode(cluster.node_count(), taints, random));
    } else if (cluster.pods_on(node).empty()) {
      cluster.SetAvailable(node, !cluster.node(node).available);
    } else {
      cluster.SetSchedulable(node, !cluster.node(node).schedulable);
    }
  }
  EXPECT_GT(found, 300);
}

TEST(BlockSearchTest, DecidesAsTheSearchNodeByNode) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    ASSERT_NO_FATAL_FAILURE(
        CompareSearches(seed, KubeCycleOptions::Ties::kFirst, /*taints=*/seed > 5));
  }
  ASSERT_NO_FATAL_FAILURE(CompareSearches(9, KubeCycleOptions::Ties::kRandom, false));
  ASSERT_NO_FATAL_FAILURE(CompareSearches(10, KubeCycleOptions::Ties::kHeapRoot, false));
}

}  // namespace
}  // namespace drasim
