// kube-scheduler's cycle in a steady cluster: a pod arrives, is scheduled by the default profile
// and adopted, and the pod that has been there for longest leaves. One item is one such pod.
//
// Instructions for 3,000 pods:
//   valgrind --tool=callgrind --toggle-collect='*MeasuredPod*' kube_cycle_bench
//       --benchmark_filter=/spread/5000/
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "model/check.h"
#include "model/cluster_state.h"
#include "model/gpu_model_table.h"
#include "model/shape_table.h"
#include "policies/builtins.h"
#include "policies/framework/profile.h"
#include "policies/framework/registry.h"
#include "sim/core/kube_cycle.h"
#include "sim/core/nominator.h"
#include "sim/scenario/kube_config.h"

namespace drasim {
namespace {

enum PodKind : int64_t { kPlain, kSpread, kSoftSpread, kAntiAffinity };

constexpr int64_t kPods = 3000;
constexpr int64_t kGib = int64_t{1} << 30;

LabelSelector WebPods() {
  LabelSelector selector;
  selector.given = true;
  selector.requirements = {{"app", SelectorOperator::kIn, {"web"}}};
  return selector;
}

PodShape ShapeOf(PodKind kind) {
  PodShape shape;
  shape.request.cpu_milli = 500;
  shape.request.memory_bytes = kGib;
  shape.identity.ns = "default";
  shape.identity.labels = {{"app", "web"}};
  shape.constraints.images = {"registry.example.com/web:v1"};
  if (kind == kSpread || kind == kSoftSpread) {
    SpreadConstraint constraint;
    constraint.hard = kind == kSpread;
    constraint.topology_key = "topology.kubernetes.io/zone";
    constraint.selector = WebPods();
    shape.topology.spread = {std::move(constraint)};
  } else if (kind == kAntiAffinity) {
    AffinityTerm term;
    term.topology_key = "kubernetes.io/hostname";
    term.selector = WebPods();
    term.namespaces = {"default"};
    shape.topology.anti_affinity = {std::move(term)};
  }
  return shape;
}

class SteadyCluster {
 public:
  SteadyCluster(size_t nodes, PodKind kind) : profile_(MakeProfile()) {
    constexpr std::array kZones = {"a", "b", "c"};
    for (size_t i = 0; i < nodes; ++i) {
      NodeSpec node;
      node.name = absl::StrCat("node-", i);
      node.cpu_milli = 32000;
      node.memory_bytes = 128 * kGib;
      node.labels = {{"kubernetes.io/hostname", node.name},
                     {"topology.kubernetes.io/zone", kZones[i % kZones.size()]}};
      node.images = {{{"registry.example.com/base:v1"}, 500 << 20}};
      DRASIM_CHECK(cluster_.AddNode(node).ok());
    }
    shape_ = shapes_.Intern(ShapeOf(kind));
    for (size_t i = 0; i < nodes / 2; ++i) PlaceOne();
    leaves_ = true;
    for (size_t i = 0; i < 2000; ++i) PlaceOne();
  }

  // Not inlined, for profilers that collect between its beginning and its end.
  [[gnu::noinline]] void MeasuredPod() { PlaceOne(); }

 private:
  void PlaceOne() {
    const PodId pod = cluster_.AddPod("web", shape_, /*priority=*/0, SimTime());
    const PodContext context = {shape_, &shapes_.row(shape_), pod, SimTime()};
    const AttemptResult result =
        cycle_.Schedule(&profile_, context, /*wants_message=*/false, /*detail=*/nullptr);
    DRASIM_CHECK(result.outcome == AttemptResult::Outcome::kFound);
    cluster_.Adopt(pod, result.node);
    running_.push_back(pod);
    if (!leaves_) return;
    cluster_.Finish(running_.front());
    running_.pop_front();
  }

  static Profile MakeProfile() {
    Registry registry;
    RegisterBuiltins(registry);
    absl::StatusOr<Profile> profile =
        Profile::MakeKube(registry, DefaultProfileSpec(), PolicyContext());
    DRASIM_CHECK(profile.ok());
    return *std::move(profile);
  }

  GpuModelTable models_;
  ShapeTable shapes_{&models_};
  ClusterState cluster_{&models_, &shapes_};
  Nominator nominator_;
  Profile profile_;
  KubeCycle cycle_{&cluster_, &nominator_, KubeCycleOptions(), /*seed=*/1};
  ShapeId shape_;
  std::deque<PodId> running_;
  bool leaves_ = false;
};

void PlacePods(benchmark::State& state, PodKind kind) {
  SteadyCluster cluster(static_cast<size_t>(state.range(0)), kind);
  for (auto _ : state) cluster.MeasuredPod();
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(PlacePods, plain, kPlain)->Arg(1000)->Arg(5000)->Arg(50000)->Iterations(kPods);
BENCHMARK_CAPTURE(PlacePods, spread, kSpread)->Arg(1000)->Arg(5000)->Arg(50000)->Iterations(kPods);
BENCHMARK_CAPTURE(PlacePods, soft_spread, kSoftSpread)
    ->Arg(1000)
    ->Arg(5000)
    ->Arg(50000)
    ->Iterations(kPods);
BENCHMARK_CAPTURE(PlacePods, anti_affinity, kAntiAffinity)
    ->Arg(1000)
    ->Arg(5000)
    ->Arg(50000)
    ->Iterations(kPods);

}  // namespace
}  // namespace drasim
