// The bound of a scenario beside what every policy reaches in it.
#include "sim/bench/bound_input.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "policies/framework/registry.h"
#include "sim/bench/gpu_bound.h"
#include "sim/run/simulation.h"
#include "sim/scenario/scheduler_spec.h"
#include "tests/testing/data_text.h"
#include "tests/testing/run_spec_of.h"
#include "tests/testing/temp_dir.h"

namespace drasim::bench {
namespace {

struct Reached {
  int64_t milli = 0;
  int64_t bound = 0;
  BoundInput input;
};

Reached ReachedBy(const std::string& policy, const std::string& scenario) {
  const RunSpec spec = SpecOf({scenario, absl::StrCat("scheduler: {policy: ", policy, "}")});
  EXPECT_EQ(CheckBoundable(spec), absl::OkStatus());
  absl::StatusOr<std::unique_ptr<Simulation>> sim = Simulation::Build(spec);
  EXPECT_EQ(sim.status(), absl::OkStatus());
  EXPECT_EQ((*sim)->Start(), absl::OkStatus());
  EXPECT_EQ((*sim)->Run(), absl::OkStatus());
  const absl::StatusOr<BoundInput> input = BoundInputOf(**sim);
  EXPECT_EQ(input.status(), absl::OkStatus());
  return {(*sim)->cluster().totals().gpu_milli_allocated, GpuMilliBound(*input), *input};
}

void ExpectBoundHolds(const std::string& scenario, PolicyEntry::Kind kind) {
  int64_t bound = -1;
  int64_t best = 0;
  for (const PolicyEntry& policy : BuiltinRegistry().policies()) {
    if (policy.kind != kind) continue;
    const Reached reached = ReachedBy(policy.name, scenario);
    EXPECT_LE(reached.milli, reached.bound) << policy.name;
    if (bound < 0) bound = reached.bound;
    EXPECT_EQ(reached.bound, bound) << policy.name << ": what there is to place is the same";
    best = std::max(best, reached.milli);
  }
  EXPECT_GT(best, bound * 8 / 10) << "a bound far from everything says little";
}

TEST(BoundInputTest, HoldsForEveryPolicyOfSharing) {
  ExpectBoundHolds(TestText("Sharing"), PolicyEntry::Kind::kGpuSharing);
}

TEST(BoundInputTest, HoldsForEveryPolicyOfMig) {
  ExpectBoundHolds(TestText("Mig"), PolicyEntry::Kind::kMig);
}

// A pool's nodes take its pods alone, and labels of single nodes tell none apart.
TEST(BoundInputTest, CountsWhatSelectorsAndTaintsAllow) {
  const TempDir dir;
  dir.Write("nodes.yaml", TestText("Pools.nodes"));
  const Reached reached = ReachedBy(
      "best-fit",
      absl::StrCat(TestText("Pools"), "cluster: {path: ", dir.PathOf("nodes.yaml"), "}\n"));
  EXPECT_EQ(reached.input.nodes.size(), 2u);
  EXPECT_EQ(reached.input.pods.size(), 2u);
  EXPECT_EQ(reached.bound, 2000 + 1000);  // of four for the pool, and one for all
  EXPECT_EQ(reached.milli, reached.bound);
}

TEST(BoundInputTest, RefusesWhatHasNoSingleBest) {
  EXPECT_EQ(CheckBoundable(SpecOf({"mode: replay"})).message(), "pods leave in a replay");
  EXPECT_EQ(CheckBoundable(SpecOf({"mode: fill\nfront_end: {kind: device-plugin}"})).message(),
            "nodes hand out devices");
}

}  // namespace
}  // namespace drasim::bench
