// The cost of an attempt hardly grows with the cluster.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <limits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "model/pod_topology.h"
#include "policies/framework/profile.h"
#include "sim/core/kube_cycle.h"
#include "sim/core/nominator.h"
#include "sim/scenario/kube_config.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {
namespace {

enum class CostKind : uint8_t { kPlain, kSpread, kSoftSpread, kAntiAffinity };

// CPU seconds of 300 pods that come, are placed, and leave; the least of several rounds, because
// other processes only ever add to it.
double LeastSecondsOfPods(size_t nodes, CostKind kind) {
  ClusterBuilder builder;
  for (size_t i = 0; i < nodes; ++i) {
    NodeSpec node = TestNode(absl::StrCat("n", i), 32000, 0);
    node.labels = {{"kubernetes.io/hostname", node.name},
                   {"topology.kubernetes.io/zone", absl::StrCat("z", i % 3)}};
    builder.AddNode(node);
  }
  PodShape pod = TestShape(500, 0);
  pod.identity.ns = "default";
  pod.identity.labels = {{"app", "web"}};
  LabelSelector web;
  web.given = true;
  web.requirements = {{"app", SelectorOperator::kIn, {"web"}}};
  if (kind == CostKind::kAntiAffinity) {
    AffinityTerm term;
    term.topology_key = "kubernetes.io/hostname";
    term.selector = web;
    term.namespaces = {"default"};
    pod.topology.anti_affinity = {std::move(term)};
  } else if (kind != CostKind::kPlain) {
    SpreadConstraint constraint;
    constraint.topology_key = "topology.kubernetes.io/zone";
    constraint.hard = kind == CostKind::kSpread;
    constraint.selector = web;
    pod.topology.spread = {std::move(constraint)};
  }
  const ShapeId shape = builder.AddShape(pod);
  absl::StatusOr<Profile> profile =
      Profile::MakeKube(TestRegistry(), DefaultProfileSpec(), PolicyContext());
  DRASIM_CHECK(profile.ok());
  const Nominator nominator;
  ClusterState& cluster = builder.cluster();
  KubeCycle cycle(&cluster, &nominator, KubeCycleOptions(), /*seed=*/1);
  double least = std::numeric_limits<double>::max();
  for (int round = 0; round < 12; ++round) {
    const std::clock_t begin = std::clock();
    for (int i = 0; i < 300; ++i) {
      PodContext context = builder.Context(shape);
      context.pod = cluster.AddPod("web", shape, /*priority=*/0, SimTime());
      const AttemptResult result =
          cycle.Schedule(&*profile, context, /*wants_message=*/false, /*detail=*/nullptr);
      DRASIM_CHECK(result.outcome == AttemptResult::Outcome::kFound);
      cluster.Adopt(context.pod, result.node);
      cluster.Finish(context.pod);
    }
    // The first rounds fill the cache.
    if (round < 3) continue;
    const std::clock_t end = std::clock();
    least = std::min(least, static_cast<double>(end - begin) / CLOCKS_PER_SEC);
  }
  return least;
}

// A search ends after 420 nodes of 1,000, and after 2,500 of 50,000.
void ExpectSimilarCost(CostKind kind) {
  EXPECT_LT(LeastSecondsOfPods(50000, kind), 3 * LeastSecondsOfPods(1000, kind));
}

TEST(AttemptCostTest, OfPlainPods) { ExpectSimilarCost(CostKind::kPlain); }
TEST(AttemptCostTest, OfPodsThatMustSpread) { ExpectSimilarCost(CostKind::kSpread); }
TEST(AttemptCostTest, OfPodsThatShouldSpread) { ExpectSimilarCost(CostKind::kSoftSpread); }
TEST(AttemptCostTest, OfPodsThatKeepApart) { ExpectSimilarCost(CostKind::kAntiAffinity); }

}  // namespace
}  // namespace drasim
