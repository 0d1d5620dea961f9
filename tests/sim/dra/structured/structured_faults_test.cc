// Random clusters, pools, claims and latencies of structured DRA, with faults: components that
// restart in the middle of what they do, lost watches, conflicts, failing preparations, nodes that
// fail, pools that change under load, users who change and delete claims and pods by force.
// Invariants are checked after every event of the engine, once more when all is over, and again
// when users have deleted everything.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "model/time.h"
#include "sim/dra/classic/control_plane.h"
#include "sim/dra/structured/slice_plugin.h"
#include "sim/dra/structured/structured_rules.h"
#include "tests/sim/core/engine_rig.h"
#include "tests/sim/dra/classic/dra_rig.h"
#include "tests/sim/dra/classic/random_planes.h"
#include "tests/sim/dra/classic/stepped_rig.h"
#include "tests/sim/dra/structured/random_slices.h"
#include "tests/sim/dra/structured/random_structured.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace structured_faults_test {

using fault_testing::CallFault;
using fault_testing::FaultRig;
using fault_testing::FaultScenario;
using fault_testing::PlanPluginFaults;
using fault_testing::RandomConnection;
using fault_testing::RandomKind;
using slice_testing::DeviceKind;
using slice_testing::PoolPublisher;
using slice_testing::RandomStructured;
using slice_testing::StructuredScenario;

class StructuredRig : public FaultRig {
 public:
  explicit StructuredRig(const StructuredScenario& s)
      : FaultRig(s), scenario_(s), publisher_(&scenario_, &plane().network()) {
    Nudge();
  }

  // After the teardown the scheduler holds no devices either.
  std::string CheckMemory() {
    const size_t held = rig().cluster().inventory().held().size();
    return held == 0 ? "" : absl::StrCat("the scheduler still holds ", held, " devices");
  }

 private:
  std::string CheckMore() const override {
    slice_testing::TakenDevices taken(&scenario_.slices);
    for (const Ref<ResourceClaim>& claim : objects().of<ResourceClaim>().Sorted()) {
      if (claim->status.allocation == nullptr) continue;
      if (std::string what = taken.Add(*claim, scenario_.counters_hold); !what.empty()) return what;
    }
    return "";
  }

  StructuredScenario scenario_;
  PoolPublisher publisher_;
};

// Right after calls.
std::vector<CallFault> StepFaults(Random& random) {
  const std::vector<std::string> calls = {"",
                                          "GET resourceclaims",
                                          "POST resourceclaims",
                                          "POST pods/binding",
                                          "DELETE resourceclaims",
                                          "PATCH pods/status",
                                          "PUT resourceclaims",
                                          "PUT resourceclaims",
                                          "PUT resourceclaims/status",
                                          "PUT resourceclaims/status"};
  std::vector<CallFault> faults;
  for (uint64_t n = random.Below(2) == 0 ? 0 : random.Below(8); n > 0; --n) {
    CallFault fault;
    const uint64_t action = random.Below(6);
    fault.action = action < 4    ? CallFault::Action::kRestart
                   : action == 4 ? CallFault::Action::kBreakWatch
                                 : CallFault::Action::kLabelClaims;
    fault.call = OneOf(calls, random);
    fault.nth = 1 + random.Below(12);
    if (random.Below(2) == 0) {
      fault.length = SimDuration::Millis(static_cast<int64_t>(random.Below(3000)));
    }
    faults.push_back(fault);
  }
  return faults;
}

// Between two events of the engine.
void FaultBetween(const RandomKind& kind, Random& random, FaultRig& rig) {
  const std::string component = OneOf(rig.Components(), random);
  const SimDuration length = SimDuration::Millis(static_cast<int64_t>(random.Below(5000)));
  switch (random.Below(kind.easy ? 4 : 5)) {
    case 0:
    case 1:
      return rig.Restart(component, length);
    case 2:
      return rig.BreakWatch(component, length);
    case 3:
      return rig.LabelAllClaims();
    default: {
      const auto claims = rig.objects().of<ResourceClaim>().Sorted();
      if (!claims.empty()) rig.DeleteClaim(OneOf(claims, random)->meta.uid);
    }
  }
}

void RandomFaults(const RandomKind& kind, Random& random, StructuredScenario* s) {
  s->faults = StepFaults(random);
  if (random.Below(2) == 0) {
    PlanPluginFaults(slice_testing::DriverNames(s->slices), s->engine.nodes.size(), random, s);
  }
  if (random.Below(3) == 0) {
    s->meddler.pause = *Distribution::Parse("exponential(mean=1)");
    s->meddler.deeds = 40;
    s->meddler.deletions_per_mille = kind.easy ? 0 : random.Below(2) * 150;
    s->meddler.connection = RandomConnection(random);
  }
}

struct RunTally {
  std::set<std::string> struck;
  uint64_t easy = 0;
  uint64_t changing = 0;
  uint64_t pods = 0;
  uint64_t unended = 0;
  std::set<DeviceKind> kinds;
};

constexpr int kMostEvents = 60'000;
// Pods that nothing has happened to for so long wait for what will not come.
constexpr SimDuration kHopeless = SimDuration::Seconds(100);

// Empty, or what is wrong.
std::string RunOne(uint64_t seed, RunTally* tally) {
  Random random(seed, "structured faults");
  RandomKind kind;
  kind.easy = seed % 4 == 1;
  kind.crowd = seed % 100 == 50;
  StructuredScenario scenario = RandomStructured(seed, kind, random);
  RandomFaults(kind, random, &scenario);
  StructuredRig rig(scenario);
  uint64_t left = random.Below(3) == 0 ? 0 : 1 + random.Below(6);
  std::string problem;
  int events = 0;
  while (!rig.finished() && problem.empty() && ++events <= kMostEvents) {
    if (!kind.easy && rig.idle() > kHopeless) break;
    problem = rig.Step();
    if (left > 0 && random.Below(40) == 0 && !rig.finished() && problem.empty()) {
      --left;
      FaultBetween(kind, random, rig);
    }
  }
  tally->struck.insert(rig.struck().begin(), rig.struck().end());
  tally->easy += kind.easy;
  tally->changing += !scenario.changes.empty();
  tally->pods += rig.rig().jobs().size();
  tally->unended += rig.Unended().size();
  for (const auto& driver : scenario.slices.drivers) tally->kinds.insert(driver.kind);
  if (problem.empty() && events > kMostEvents) problem = "the run does not end";
  if (problem.empty() && kind.easy && !rig.Unended().empty()) problem = "some pods never end";
  if (problem.empty()) problem = rig.CheckRest();
  if (problem.empty()) problem = rig.CheckTeardown();
  if (problem.empty()) problem = rig.CheckMemory();
  if (problem.empty()) return "";
  return absl::StrCat(problem, rig.CallsText());
}

TEST(StructuredFaultsTest, InvariantsHoldAndNothingLeaks) {
  // `make soak` asks for more.
  const uint64_t runs = SoakSeeds(500, 10'000);
  RunTally tally;
  int failures = 0;
  for (uint64_t seed = 1; seed <= runs && failures < 5; ++seed) {
    const std::string problem = RunOne(seed, &tally);
    if (problem.empty()) continue;
    ++failures;
    ADD_FAILURE() << "seed " << seed << ": " << problem;
  }
  EXPECT_EQ(tally.easy, runs / 4);
  EXPECT_GT(tally.changing, runs / 2);
  EXPECT_EQ(tally.kinds.size(), 4U);
  // Most pods get what they want.
  EXPECT_LT(tally.unended, tally.pods / 3) << tally.pods;
  for (const char* call :
       {"claim-controller POST resourceclaims", "claim-controller PUT resourceclaims",
        "claim-controller PUT resourceclaims/status", "claim-controller PATCH pods/status",
        "claim-controller DELETE resourceclaims", "kubelet GET resourceclaims",
        "kubelet PATCH pods/status", "scheduler PUT resourceclaims",
        "scheduler PUT resourceclaims/status", "scheduler POST pods/binding"}) {
    EXPECT_EQ(tally.struck.count(call), 1U) << call;
  }
}

}  // namespace structured_faults_test
}  // namespace drasim
