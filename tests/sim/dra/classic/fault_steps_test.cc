// Faults in the middle of each step, systematically: a run is repeated with a fault right after its
// first call, its second, and so on to its last; or after each of its events, or at each of its
// times. By variant of the negotiation and by release, with calls that take no time and with calls
// that do. `make soak` runs all of them, `make test` every so-many-th.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/kube/objects.h"
#include "model/time.h"
#include "sim/dra/classic/control_plane.h"
#include "tests/sim/core/engine_rig.h"
#include "tests/sim/dra/classic/dra_rig.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace fault_steps_test {

using fault_testing::CallFault;
using fault_testing::FaultRig;
using fault_testing::FaultScenario;
using testing::IsSupersetOf;

constexpr char kGpus[] = "gpu.example.com";
constexpr char kNics[] = "nic.example.com";
constexpr int kMostEvents = 4000;

enum class Variant { kTemplate, kTwoDrivers, kImmediate, kShared, kUnsuitable, kMoves };
constexpr Variant kVariants[] = {Variant::kTemplate, Variant::kTwoDrivers, Variant::kImmediate,
                                 Variant::kShared,   Variant::kUnsuitable, Variant::kMoves};
constexpr const char* kVariantNames[] = {"template", "two drivers", "Immediate",
                                         "shared",   "unsuitable",  "moves"};

struct Setting {
  Variant variant;
  DraRelease release;
  bool slow;  // calls and watches take time
  bool strict;
  bool hints;
};

std::string Describe(const Setting& setting) {
  return absl::StrCat(kVariantNames[static_cast<size_t>(setting.variant)], ", release ",
                      DraReleaseText(setting.release), setting.slow ? ", slow" : "",
                      setting.strict ? ", strict" : "", setting.hints ? ", hints" : "");
}

// All variants and releases, at both speeds; quirks and hints alternate.
std::vector<Setting> Settings() {
  std::vector<Setting> settings;
  int turn = 0;
  for (const Variant variant : kVariants) {
    for (int release = 26; release <= 31; ++release) {
      for (const bool slow : {false, true}) {
        const int kind = turn++ % 4 + release / 28;
        settings.push_back(
            {variant, static_cast<DraRelease>(release), slow, kind % 2 == 0, kind / 2 % 2 == 0});
      }
    }
  }
  return settings;
}

ConnectionOptions Connection(bool slow) {
  ConnectionOptions connection;
  if (!slow) return connection;
  connection.read_latency = *Distribution::Constant(0.003);
  connection.write_latency = *Distribution::Constant(0.007);
  connection.watch_latency = *Distribution::Constant(0.005);
  return connection;
}

// A class and a template of each driver; gpus are asked for with parameters when there are nics.
void CreateObjects(bool two, AllocationMode mode, ControlPlane& plane) {
  NamePool& names = plane.names();
  auto wish = std::make_shared<ParametersObject>();
  wish->meta.ns = names.Intern("default");
  wish->meta.name = names.Intern("one");
  wish->api_group = names.Intern("example.com");
  wish->kind = names.Intern("Wish");
  wish->fields = {{"count", "1"}};
  ASSERT_TRUE(plane.Create(Ref<ParametersObject>(std::move(wish))).ok());
  ASSERT_TRUE(plane.Create(TestClass(names, "gpu", kGpus)).ok());
  ASSERT_TRUE(plane.Create(TestClaim(names, "shared", "gpu", mode)).ok());
  auto gpu = std::make_shared<ResourceClaimTemplate>(
      *As<ResourceClaimTemplate>(TestTemplate(names, "gpu", "gpu", mode)));
  if (two) {
    gpu->spec.parameters = {names.Intern("example.com"), names.Intern("Wish"), Name(),
                            names.Intern("one")};
    ASSERT_TRUE(plane.Create(TestClass(names, "nic", kNics)).ok());
    ASSERT_TRUE(plane.Create(TestTemplate(names, "nic", "nic", mode)).ok());
  }
  ASSERT_TRUE(plane.Create(Ref<ResourceClaimTemplate>(std::move(gpu))).ok());
}

void SetClaims(const Setting& setting, FaultScenario* s) {
  const bool two = setting.variant == Variant::kTwoDrivers;
  const bool shared = setting.variant == Variant::kShared;
  const bool unsuitable = setting.variant == Variant::kUnsuitable;
  for (const char* name : {kGpus, kNics}) {
    if (name == kNics && !two) continue;
    CountingDriverOptions driver;
    driver.name = name;
    driver.units = {{NodeId(size_t{0}), unsuitable ? 0 : 1}, {NodeId(size_t{1}), 1}};
    driver.shareable = shared;
    s->drivers.push_back(driver);
  }
  const AllocationMode mode = setting.variant == Variant::kImmediate
                                  ? AllocationMode::kImmediate
                                  : AllocationMode::kWaitForFirstConsumer;
  s->objects = [two, mode](ControlPlane& plane) { CreateObjects(two, mode, plane); };
  s->claims = [two, shared](NamePool& names, const std::string&) {
    std::vector<PodClaim> claims;
    claims.push_back(shared ? FromClaim(names, "gpu", "shared")
                            : FromTemplate(names, "gpu", "gpu"));
    if (two) claims.push_back(FromTemplate(names, "nic", "nic"));
    return claims;
  };
}

NodeTransition At(SimTime at, size_t node, NodeTransition::Action action) {
  NodeTransition change;
  change.at = at;
  change.node = NodeId(node);
  change.action = action;
  return change;
}

JobArrival TestPod(const char* name, int64_t at_seconds, int64_t run_seconds) {
  JobArrival pod;
  pod.name = name;
  pod.shape = ShapeId(size_t{0});
  pod.time = SimTime(at_seconds * 1'000'000'000);
  pod.has_run_time = true;
  pod.run_time = SimDuration::Seconds(run_seconds);
  return pod;
}

// Two pods on two nodes; the second comes while the first is at work.
FaultScenario Make(const Setting& setting) {
  FaultScenario s;
  s.engine.options.mode = RunMode::kReplay;
  s.engine.identity_ranks = true;
  s.engine.policy = "consolidate";
  s.engine.kubernetes = KubernetesQueueOptions();
  s.engine.kubernetes.pop_from_backoff = false;
  s.engine.nodes = {TestNode("node-a", 8000, 0), TestNode("node-b", 8000, 0)};
  s.engine.shapes = {TestShape(1000, 0)};
  s.engine.jobs = {TestPod("first", 0, 5), TestPod("second", 1, 3)};
  for (ConnectionOptions* connection : {&s.plane.scheduler, &s.plane.controller_manager,
                                        &s.plane.drivers, &s.plane.kubelets, &s.plane.users}) {
    *connection = Connection(setting.slow);
  }
  if (setting.slow) {
    s.shortest_restart = SimDuration::Millis(10);
    s.shortest_driver_restart = SimDuration::Millis(10);
  }
  s.plane.behaviour.release = setting.release;
  s.plane.behaviour.strict_upstream = setting.strict;
  s.plane.behaviour.queueing_hints = setting.hints;
  SetClaims(setting, &s);
  if (setting.variant == Variant::kMoves) {
    // The node of the first pod breaks.
    s.engine.node_changes = {At(SimTime(2'000'000'000), 0, NodeTransition::Action::kFail)};
  }
  return s;
}

// Empty, or what went wrong. `ends`: every pod has to come to its end.
std::string RunToEnd(FaultRig& rig, bool ends) {
  std::string problem = rig.Run(kMostEvents);
  if (problem.empty() && ends && !rig.Unended().empty()) {
    problem = absl::StrCat(rig.Unended().size(), " pods never end");
  }
  if (problem.empty()) problem = rig.CheckRest();
  if (problem.empty()) problem = rig.CheckTeardown();
  return problem.empty() ? "" : problem + rig.CallsText();
}

// The times at which something happens in a run without faults, and shortly after.
std::vector<SimTime> Times(const Setting& setting) {
  FaultRig plain(Make(setting));
  std::vector<SimTime> times;
  while (!plain.finished()) {
    plain.Step();
    const SimTime now = plain.rig().engine().now();
    if (!times.empty() && times.back() >= now) continue;
    times.push_back(now);
    if (setting.slow) times.push_back(now + SimDuration::Millis(1));
  }
  return times;
}

class FaultStepsTest : public testing::Test {
 protected:
  // Whether the next of many runs is to be made: all in a soak.
  bool Take(uint64_t one_of) {
    const uint64_t stride = std::max<uint64_t>(1, one_of / SoakSeeds(1));
    return next_++ % stride == 0;
  }
  // Notes a failure; false when there have been enough of them.
  bool Note(const Setting& setting, const std::string& fault, const std::string& problem) {
    ++runs_;
    if (problem.empty()) return true;
    ADD_FAILURE() << Describe(setting) << ", " << fault << ": " << problem;
    return ++failures_ < 5;
  }
  // One run with one fault right after its so-many-th call.
  bool TryCall(const Setting& setting, CallFault::Action action, uint64_t call) {
    FaultScenario s = Make(setting);
    CallFault fault;
    fault.action = action;
    fault.nth = call;
    fault.length = SimDuration::Millis(call % 2 == 0 ? 0 : 700);
    s.faults = {fault};
    FaultRig rig(std::move(s));
    const std::string problem = RunToEnd(rig, true);
    struck_.insert(rig.struck().begin(), rig.struck().end());
    return Note(setting, absl::StrCat("action ", static_cast<int>(action), " after call ", call),
                problem);
  }

  std::set<std::string> struck_;  // calls that a restart came right after
  int runs_ = 0;

 private:
  uint64_t next_ = 0;
  int failures_ = 0;
};

// Components restart, lose their watches, or are in conflict with a user who labels all claims.
TEST_F(FaultStepsTest, AfterEachCall) {
  for (const Setting& setting : Settings()) {
    FaultRig plain(Make(setting));
    if (!Note(setting, "no fault", RunToEnd(plain, true))) return;
    for (const CallFault::Action action :
         {CallFault::Action::kRestart, CallFault::Action::kBreakWatch,
          CallFault::Action::kLabelClaims}) {
      // Restarts in the reference release are never left out.
      const bool all = setting.release == DraRelease::k29 && action == CallFault::Action::kRestart;
      for (size_t call = 1; call <= plain.messages().size(); ++call) {
        if (!all && !Take(61)) continue;
        if (!TryCall(setting, action, call)) return;
      }
    }
  }
  std::set<std::string> wanted = {"claim-controller POST resourceclaims",
                                  "claim-controller PATCH pods/status",
                                  "claim-controller PUT resourceclaims/status",
                                  "claim-controller DELETE resourceclaims",
                                  "garbage-collector DELETE resourceclaims",
                                  "kubelet GET resourceclaims",
                                  "kubelet PATCH pods/status",
                                  "scheduler POST podschedulingcontexts",
                                  "scheduler PUT podschedulingcontexts",
                                  "scheduler PUT resourceclaims/status",
                                  "scheduler POST pods/binding",
                                  "scheduler DELETE podschedulingcontexts",
                                  "gpu.example.com GET parameters"};
  for (const char* driver : {kGpus, kNics}) {
    for (const char* call : {"GET pods", "PUT resourceclaims", "PUT resourceclaims/status",
                             "PUT podschedulingcontexts/status"}) {
      wanted.insert(absl::StrCat(driver, " ", call));
    }
  }
  EXPECT_THAT(struck_, IsSupersetOf(wanted));
  EXPECT_GT(runs_, 400);
}

TEST_F(FaultStepsTest, ComponentsRestartAfterEachEvent) {
  for (const Setting& setting : Settings()) {
    FaultRig plain(Make(setting));
    int events = 0;
    for (; !plain.finished(); ++events) plain.Step();
    for (const std::string& component : plain.Components()) {
      for (int at = 1; at < events; ++at) {
        if (!Take(149)) continue;
        FaultRig rig(Make(setting));
        rig.Run(at);
        if (rig.finished()) continue;
        rig.Restart(component, SimDuration::Millis(at % 3 * 300));
        const std::string problem = RunToEnd(rig, true);
        if (!Note(setting, absl::StrCat(component, " after event ", at), problem)) return;
      }
    }
  }
  EXPECT_GT(runs_, 100);
}

// Also while a pod is being bound to them.
TEST_F(FaultStepsTest, NodesFailAtEachTime) {
  for (const Setting& setting : Settings()) {
    for (const SimTime at : Times(setting)) {
      for (size_t node = 0; node < 2; ++node) {
        if (!Take(97)) continue;
        FaultScenario s = Make(setting);
        s.engine.node_changes = {
            At(at, node, NodeTransition::Action::kFail),
            At(at + SimDuration::Seconds(30), node, NodeTransition::Action::kRecover)};
        // Pathology 7: the node that comes back is the only feasible one, and is selected beside an
        // older list of potential nodes, though its driver has nothing there.
        const bool may_stick = setting.variant == Variant::kUnsuitable &&
                               !s.plane.behaviour.replaces_potential_nodes();
        FaultRig rig(std::move(s));
        const std::string problem = RunToEnd(rig, !may_stick);
        if (!Note(setting, absl::StrCat("node ", node, " at ", at.ns() / 1000, " us"), problem)) {
          return;
        }
      }
    }
  }
  EXPECT_GT(runs_, 50);
}

// By force.
TEST_F(FaultStepsTest, OwnersDeletePodsAtEachTime) {
  for (const Setting& setting : Settings()) {
    for (const SimTime at : Times(setting)) {
      for (size_t pod = 0; pod < 2; ++pod) {
        if (!Take(97)) continue;
        FaultScenario s = Make(setting);
        s.engine.jobs[pod].has_deletion = true;
        s.engine.jobs[pod].deletion = at;
        FaultRig rig(std::move(s));
        const std::string problem = RunToEnd(rig, true);
        if (!Note(setting, absl::StrCat("pod ", pod, " at ", at.ns() / 1000, " us"), problem)) {
          return;
        }
      }
    }
  }
  EXPECT_GT(runs_, 50);
}

// By force. A pod whose claim is on its way out may wait for ever (KEP-3063).
TEST_F(FaultStepsTest, UsersDeleteClaimsAfterEachEvent) {
  for (const Setting& setting : Settings()) {
    for (size_t which = 0; which < 3; ++which) {
      for (int at = 1; at < kMostEvents; ++at) {
        if (at > 1 && !Take(79)) continue;
        FaultRig rig(Make(setting));
        rig.Run(at);
        if (rig.finished()) break;
        const auto claims = rig.objects().of<ResourceClaim>().Sorted();
        if (which >= claims.size()) continue;
        rig.DeleteClaim(claims[which]->meta.uid);
        const std::string problem = RunToEnd(rig, false);
        if (!Note(setting, absl::StrCat("claim ", which, " after event ", at), problem)) return;
      }
    }
  }
  EXPECT_GT(runs_, 100);
}

}  // namespace fault_steps_test
}  // namespace drasim
