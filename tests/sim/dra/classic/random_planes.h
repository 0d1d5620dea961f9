// Random clusters, drivers, claims, latencies and releases for tests of classic DRA.
#ifndef DRASIM_TESTS_SIM_DRA_CLASSIC_RANDOM_PLANES_H_
#define DRASIM_TESTS_SIM_DRA_CLASSIC_RANDOM_PLANES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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
#include "policies/devices/counting_driver.h"
#include "sim/dra/classic/control_plane.h"
#include "tests/sim/core/engine_rig.h"
#include "tests/sim/dra/classic/dra_rig.h"

namespace drasim::fault_testing {

inline constexpr int64_t kMs = 1'000'000;
inline constexpr const char* kDrivers[] = {"gpu.example.com", "nic.example.com"};

// The kind of scenario to draw.
struct RandomKind {
  // Every pod has to come to its end: some node has what any one pod wants, the pod's claims are
  // its own and tied to no node before it is, and no user takes them away. With two drivers there
  // is one node, and enough for all: else pods may keep half of what they want from each other, or
  // get the halves on two nodes for ever.
  bool easy = false;
  // More pods than may reserve a claim, all with one.
  bool crowd = false;
};

inline std::optional<Distribution> RandomLatency(Random& random) {
  const std::vector<std::string> texts = {"", "", "constant(0.004)", "uniform(low=0.001,high=0.05)",
                                          "exponential(mean=0.2)"};
  const std::string& text = OneOf(texts, random);
  if (text.empty()) return std::nullopt;
  return *Distribution::Parse(text);
}

inline ConnectionOptions RandomConnection(Random& random) {
  ConnectionOptions connection;
  if (random.Below(4) == 0) {
    connection.qps = 5;
    connection.burst = 1 + static_cast<int64_t>(random.Below(10));
  }
  connection.read_latency = RandomLatency(random);
  connection.write_latency = RandomLatency(random);
  connection.watch_latency = RandomLatency(random);
  return connection;
}

inline void RandomPlane(const RandomKind& kind, Random& random, FaultScenario* s) {
  ControlPlaneOptions& plane = s->plane;
  plane.behaviour.release = static_cast<DraRelease>(26 + random.Below(6));
  plane.behaviour.strict_upstream = random.Below(2) == 0;
  plane.behaviour.queueing_hints = random.Below(2) == 0;
  if (kind.easy) {
    // Before, a pod can be stuck on a node that its driver was never asked about.
    if (plane.behaviour.release < DraRelease::k29) plane.behaviour.release = DraRelease::k29;
  }
  if (random.Below(3) > 0) {
    for (ConnectionOptions* connection : {&plane.scheduler, &plane.controller_manager,
                                          &plane.drivers, &plane.kubelets, &plane.users}) {
      *connection = RandomConnection(random);
    }
  }
  // Longer than any write takes.
  if (plane.drivers.write_latency.has_value()) {
    s->shortest_driver_restart = SimDuration::Seconds(4);
  }
  plane.claim_controller.workers = 1 + static_cast<int>(random.Below(10));
  plane.driver_controller.workers = 1 + static_cast<int>(random.Below(10));
  plane.driver_controller.decision_latency = RandomLatency(random);
  plane.kubelet.grpc_latency = RandomLatency(random);
  if (random.Below(3) == 0) plane.kubelet.failures_per_mille = 200;
  plane.seed = random.Below(1000);
}

// Pods, some of which their owner deletes, and nodes, one of which may fail and come back.
inline void RandomWork(const RandomKind& kind, Random& random, EngineScenario* engine) {
  engine->options.mode = RunMode::kReplay;
  engine->kubernetes = KubernetesQueueOptions();
  engine->kubernetes.pop_from_backoff = false;  // these releases do not
  const size_t nodes = 1 + static_cast<size_t>(random.Below(4));
  for (size_t n = 0; n < nodes; ++n) {
    engine->nodes.push_back(TestNode(absl::StrCat("node-", n), 4000, 0));
  }
  engine->shapes = {TestShape(1000, 0), TestShape(2500, 0), TestShape(100, 0)};
  const size_t pods = (kind.crowd ? 34 : 1) + static_cast<size_t>(random.Below(kind.crowd ? 4 : 9));
  int64_t at = 0;
  for (size_t p = 0; p < pods; ++p) {
    if (!kind.crowd) at += static_cast<int64_t>(random.Below(10)) * 500 * kMs;
    JobArrival pod;
    pod.name = absl::StrCat("pod-", p);
    pod.shape = ShapeId(kind.crowd ? size_t{2} : static_cast<size_t>(random.Below(2)));
    pod.time = SimTime(at);
    pod.has_run_time = true;
    pod.run_time = SimDuration::Seconds(static_cast<int64_t>(1 + random.Below(40)));
    pod.has_deletion = random.Below(6) == 0;
    pod.deletion = SimTime(at + static_cast<int64_t>(random.Below(20'000)) * kMs);
    // Gangs can keep what they have from each other until they time out.
    if (!kind.easy && !kind.crowd && random.Below(6) == 0) pod.pods = 2;
    engine->jobs.push_back(pod);
  }
  if (nodes == 1 || random.Below(3) > 0) return;
  NodeTransition change;
  change.at = SimTime(static_cast<int64_t>(random.Below(40'000)) * kMs);
  change.node = NodeId(size_t{0});
  change.action = NodeTransition::Action::kFail;
  engine->node_changes.push_back(change);
  change.at = change.at + SimDuration::Millis(static_cast<int64_t>(random.Below(20'000)));
  change.action = NodeTransition::Action::kRecover;
  if (random.Below(2) == 0 || kind.easy) engine->node_changes.push_back(change);
}

// A driver with its class, a template and a claim for everybody.
struct Offer {
  std::string driver;
  AllocationMode mode = AllocationMode::kWaitForFirstConsumer;
  bool parameters = false;  // a claim takes two units
};

inline ObjectRef WithParameters(NamePool& names, ObjectRef object) {
  const ParametersRef ref = {names.Intern("example.com"), names.Intern("Wish"), Name(),
                             names.Intern("two")};
  if (const auto claim = As<ResourceClaim>(object)) {
    auto next = std::make_shared<ResourceClaim>(*claim);
    next->spec.parameters = ref;
    return Ref<ResourceClaim>(std::move(next));
  }
  auto next = std::make_shared<ResourceClaimTemplate>(*As<ResourceClaimTemplate>(object));
  next->spec.parameters = ref;
  return Ref<ResourceClaimTemplate>(std::move(next));
}

inline void CreateObjects(const std::vector<Offer>& offers, ControlPlane& plane) {
  NamePool& names = plane.names();
  auto wish = std::make_shared<ParametersObject>();
  wish->meta.ns = names.Intern("default");
  wish->meta.name = names.Intern("two");
  wish->api_group = names.Intern("example.com");
  wish->kind = names.Intern("Wish");
  wish->fields = {{"count", "2"}};
  ASSERT_EQ(plane.Create(Ref<ParametersObject>(std::move(wish))), absl::OkStatus());
  for (size_t d = 0; d < offers.size(); ++d) {
    const Offer& offer = offers[d];
    const std::string name = absl::StrCat("class-", d);
    ASSERT_EQ(plane.Create(TestClass(names, name, offer.driver)), absl::OkStatus());
    for (const ObjectRef& object :
         {TestTemplate(names, absl::StrCat("template-", d), name, offer.mode),
          TestClaim(names, absl::StrCat("shared-", d), name, offer.mode)}) {
      const ObjectRef wanted = offer.parameters ? WithParameters(names, object) : object;
      ASSERT_EQ(plane.Create(wanted), absl::OkStatus());
    }
  }
}

inline CountingDriverOptions RandomDriver(const RandomKind& kind, size_t drivers, size_t nodes,
                                          Random& random) {
  CountingDriverOptions options;
  const uint64_t fewest = kind.easy && drivers > 1 ? 20 : kind.easy || kind.crowd ? 2 : 0;
  for (size_t n = 0; n < nodes; ++n) {
    options.units.emplace_back(NodeId(n), static_cast<int64_t>(fewest + random.Below(4)));
  }
  options.shareable = random.Below(3) == 0 || kind.crowd;
  options.node_local = random.Below(4) > 0;
  options.network_units = static_cast<int64_t>(fewest + random.Below(4));
  options.prepare = SimDuration::Millis(static_cast<int64_t>(random.Below(2) * 700));
  options.unprepare = SimDuration::Millis(static_cast<int64_t>(random.Below(2) * 300));
  return options;
}

inline void RandomDrivers(const RandomKind& kind, Random& random, FaultScenario* s) {
  size_t drivers = 1 + static_cast<size_t>(random.Below(2));
  if (kind.easy && s->engine.nodes.size() > 1) drivers = 1;
  std::vector<Offer> offers;
  for (size_t d = 0; d < drivers; ++d) {
    CountingDriverOptions options = RandomDriver(kind, drivers, s->engine.nodes.size(), random);
    options.name = kDrivers[d];
    s->drivers.push_back(options);
    Offer offer;
    offer.driver = kDrivers[d];
    if (random.Below(4) == 0 && !kind.easy) offer.mode = AllocationMode::kImmediate;
    offer.parameters = random.Below(4) == 0;
    offers.push_back(offer);
  }
  s->objects = [offers](ControlPlane& plane) { CreateObjects(offers, plane); };
  // The number of pods in four that share a claim.
  const int sharers = kind.easy ? 0 : kind.crowd ? 4 : static_cast<int>(random.Below(4));
  s->claims = [drivers, sharers](NamePool& names, const std::string& pod) {
    std::vector<PodClaim> claims;
    for (size_t d = 0; d < drivers; ++d) {
      const bool shares = (pod.back() - '0' + static_cast<int>(d)) % 4 < sharers;
      const std::string entry = absl::StrCat("entry-", d);
      claims.push_back(shares ? FromClaim(names, entry, absl::StrCat("shared-", d))
                              : FromTemplate(names, entry, absl::StrCat("template-", d)));
    }
    return claims;
  };
}

// Right after calls.
inline std::vector<CallFault> RandomCallFaults(Random& random) {
  const std::vector<std::string> calls = {"",
                                          "GET pods",
                                          "GET resourceclaims",
                                          "GET parameters",
                                          "POST resourceclaims",
                                          "POST pods/binding",
                                          "DELETE resourceclaims",
                                          "PATCH pods/status",
                                          "PUT resourceclaims",
                                          "PUT resourceclaims",
                                          "PUT resourceclaims/status",
                                          "PUT resourceclaims/status",
                                          "PUT podschedulingcontexts/status"};
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

inline FaultScenario RandomScenario(uint64_t seed, const RandomKind& kind, Random& random) {
  FaultScenario s;
  s.seed = seed;
  RandomWork(kind, random, &s.engine);
  // The engine's own, which cost more than all the rest.
  s.engine.options.check_invariants = seed % 8 == 0;
  RandomPlane(kind, random, &s);
  RandomDrivers(kind, random, &s);
  s.faults = RandomCallFaults(random);
  if (random.Below(3) == 0) {
    s.meddler.pause = *Distribution::Parse("exponential(mean=1)");
    s.meddler.deeds = 40;
    s.meddler.deletions_per_mille = kind.easy ? 0 : random.Below(2) * 150;
    s.meddler.connection = RandomConnection(random);
  }
  return s;
}

}  // namespace drasim::fault_testing

#endif  // DRASIM_TESTS_SIM_DRA_CLASSIC_RANDOM_PLANES_H_
