// Random clusters, claims, latencies and releases, with faults: components that restart in the
// middle of what they do, lost watches, failing preparations, nodes that fail, users who change and
// delete claims and pods by force. Invariants are checked after every event of the engine, once
// more when all is over, and again when users have deleted everything.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "model/time.h"
#include "sim/dra/classic/control_plane.h"
#include "tests/sim/core/engine_rig.h"
#include "tests/sim/dra/classic/dra_rig.h"
#include "tests/sim/dra/classic/random_planes.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace random_faults_test {

using fault_testing::FaultRig;
using fault_testing::FaultScenario;
using fault_testing::kDrivers;
using fault_testing::RandomKind;
using fault_testing::RandomScenario;

// Between two events of the engine.
void RandomFault(const RandomKind& kind, Random& random, FaultRig& rig) {
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

// "release 1.29 strict hints; gpu.example.com 0 2 shareable, nic.example.com network 3; 2 faults".
std::string Describe(const FaultScenario& s) {
  const DraBehaviour& behaviour = s.plane.behaviour;
  std::string text = absl::StrCat("release ", DraReleaseText(behaviour.release),
                                  behaviour.strict_upstream ? " strict" : "",
                                  behaviour.queueing_hints ? " hints" : "", "; ");
  for (const CountingDriverOptions& driver : s.drivers) {
    absl::StrAppend(&text, driver.name);
    if (!driver.node_local) absl::StrAppend(&text, " network ", driver.network_units);
    for (const auto& [node, units] : driver.units) {
      if (driver.node_local) absl::StrAppend(&text, " ", units);
    }
    absl::StrAppend(&text, driver.shareable ? " shareable, " : ", ");
  }
  return absl::StrCat(text, s.faults.size(), " faults after calls");
}

struct Tally {
  std::set<std::string> struck;  // calls that a restart came right after
  uint64_t live_locks = 0;
  uint64_t easy = 0;
};

// With hints, pods can take turns in waking each other by what they reserve and give back, at the
// speed of their calls, for ever (KEP-3063; docs/pathologies.md): such a run is not followed to its
// end. So can pods that are Pending, since 1.29, which skip their backoff without hints.
constexpr int kMostEventsWithHints = 6000;
constexpr int kMostEvents = 100'000;
// Pods that nothing has happened to for so long wait for what will not come.
constexpr SimDuration kHopeless = SimDuration::Seconds(100);

// Empty, or what went wrong.
std::string RunOne(uint64_t seed, Tally* tally) {
  Random random(seed, "random faults");
  RandomKind kind;
  kind.easy = seed % 4 == 1;
  kind.crowd = seed % 100 == 50;
  const FaultScenario scenario = RandomScenario(seed, kind, random);
  FaultRig rig(scenario);
  const bool hints = scenario.plane.behaviour.queueing_hints;
  uint64_t left = random.Below(3) == 0 ? 0 : 1 + random.Below(6);
  std::string problem;
  int events = 0;
  while (!rig.finished() && problem.empty()) {
    if (++events > (hints && !kind.easy ? kMostEventsWithHints : kMostEvents)) break;
    if (!kind.easy && rig.idle() > kHopeless) break;
    problem = rig.Step();
    if (left > 0 && random.Below(40) == 0 && !rig.finished() && problem.empty()) {
      --left;
      RandomFault(kind, random, rig);
    }
  }
  tally->struck.insert(rig.struck().begin(), rig.struck().end());
  tally->easy += kind.easy;
  if (events > kMostEvents && problem.empty()) {
    if (!kind.easy && scenario.plane.behaviour.pending_status()) {
      ++tally->live_locks;
      return "";
    }
    problem = "the run does not end";
  }
  if (problem.empty() && events > kMostEventsWithHints && hints && !kind.easy) {
    ++tally->live_locks;
    return "";
  }
  if (problem.empty() && kind.easy && !rig.Unended().empty()) {
    // From 1.30 on pods whose backoffs end together can take turns for ever in taking each other's
    // node and having each other's claims given back (docs/pathologies.md, number 3).
    const bool turns = scenario.plane.behaviour.release >= DraRelease::k30 &&
                       rig.Unended().size() > 1 &&
                       rig.since_last_write() < SimDuration::Seconds(20);
    if (turns) {
      ++tally->live_locks;
      return "";
    }
    problem = "some pods never end";
  }
  if (problem.empty()) problem = rig.CheckRest();
  if (problem.empty()) problem = rig.CheckTeardown();
  if (problem.empty()) return "";
  return absl::StrCat(problem, " (", Describe(scenario), ")", rig.CallsText());
}

TEST(RandomFaultsTest, InvariantsHoldAndNothingLeaks) {
  // `make soak` asks for more.
  const uint64_t runs = std::min<uint64_t>(SoakSeeds(500), 10'000);
  Tally tally;
  int failures = 0;
  for (uint64_t seed = 1; seed <= runs && failures < 5; ++seed) {
    const std::string problem = RunOne(seed, &tally);
    if (problem.empty()) continue;
    ++failures;
    ADD_FAILURE() << "seed " << seed << ": " << problem;
  }
  EXPECT_EQ(tally.easy, runs / 4);
  EXPECT_LE(tally.live_locks, 2 + runs / 100);
  // In the middle of each step of a driver, and of the others.
  for (const char* call : {"GET pods", "GET parameters", "PUT resourceclaims",
                           "PUT resourceclaims/status", "PUT podschedulingcontexts/status"}) {
    for (const char* driver : kDrivers) {
      EXPECT_EQ(tally.struck.count(absl::StrCat(driver, " ", call)), 1u) << driver << " " << call;
    }
  }
  for (const char* call :
       {"claim-controller POST resourceclaims", "claim-controller PUT resourceclaims/status",
        "claim-controller PATCH pods/status", "claim-controller DELETE resourceclaims",
        "kubelet GET resourceclaims", "kubelet PATCH pods/status", "scheduler POST pods/binding",
        "scheduler PUT resourceclaims/status"}) {
    EXPECT_EQ(tally.struck.count(call), 1u) << call;
  }
}

// The same seed is the same run, faults and all.
TEST(RandomFaultsTest, SeedsAreRepeatable) {
  for (const uint64_t seed : {7u, 50u, 112u}) {
    std::string first;
    for (int turn = 0; turn < 2; ++turn) {
      Random random(seed, "random faults");
      FaultRig rig(RandomScenario(seed, RandomKind(), random));
      const std::string problem = rig.Run(3000);
      EXPECT_TRUE(problem.empty() || !rig.finished()) << problem;
      const std::string calls = rig.CallsText(100'000);
      if (turn == 1) {
        EXPECT_EQ(calls, first) << seed;
      }
      first = calls;
    }
    EXPECT_NE(first, "");
  }
}

}  // namespace random_faults_test
}  // namespace drasim
