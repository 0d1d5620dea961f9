// Random clusters, claims, latencies and releases, with faults: components that restart in the
// middle of what they do, lost watches, failing preparations, nodes that fail, claims that a user
// deletes. What must hold is looked at after every event of the engine, and once more when all is
// over.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "sim/dra/control_plane.h"
#include "tests/sim/core/engine_rig.h"
#include "tests/sim/dra/dra_rig.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace random_faults_test {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSecond = 1000 * kMs;
constexpr const char* kDrivers[] = {"gpu.example.com", "nic.example.com"};

absl::optional<Distribution> RandomLatency(Random& random) {
  const std::vector<std::string> texts = {"", "", "constant(0.004)", "uniform(low=0.001,high=0.05)",
                                          "exponential(mean=0.2)"};
  const std::string& text = OneOf(texts, random);
  if (text.empty()) return absl::nullopt;
  return *Distribution::Parse(text);
}

ConnectionOptions RandomConnection(Random& random) {
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

void RandomPlane(Random& random, ControlPlaneOptions* plane) {
  plane->behaviour.release = static_cast<DraRelease>(26 + random.Below(5));
  plane->behaviour.strict_upstream = random.Below(2) == 0;
  plane->behaviour.queueing_hints = random.Below(2) == 0;
  if (random.Below(3) > 0) {
    for (ConnectionOptions* connection : {&plane->scheduler, &plane->controller_manager,
                                          &plane->drivers, &plane->kubelets, &plane->users}) {
      *connection = RandomConnection(random);
    }
  }
  plane->claim_controller.workers = 1 + static_cast<int>(random.Below(10));
  plane->driver_controller.workers = 1 + static_cast<int>(random.Below(10));
  plane->driver_controller.decision_latency = RandomLatency(random);
  plane->kubelet.grpc_latency = RandomLatency(random);
  if (random.Below(3) == 0) plane->kubelet.failures_per_mille = 200;
  plane->seed = random.Below(1000);
}

DraScenario RandomScenario(Random& random) {
  DraScenario s;
  s.engine.options.mode = RunMode::kReplay;
  s.engine.options.check_invariants = true;
  s.engine.kubernetes = KubernetesQueueOptions();
  s.engine.kubernetes.pop_from_backoff = false;  // these releases do not
  const size_t nodes = 1 + static_cast<size_t>(random.Below(4));
  for (size_t n = 0; n < nodes; ++n) {
    s.engine.nodes.push_back(TestNode(absl::StrCat("node-", n), 4000, 0));
  }
  s.engine.shapes = {TestShape(1000, 0), TestShape(2500, 0)};
  const size_t pods = 1 + static_cast<size_t>(random.Below(10));
  int64_t at = 0;
  for (size_t p = 0; p < pods; ++p) {
    at += static_cast<int64_t>(random.Below(10)) * kSecond / 2;
    const auto shape = static_cast<size_t>(random.Below(2));
    const auto run = static_cast<int64_t>(1 + random.Below(40)) * kSecond;
    s.engine.pods.push_back({absl::StrCat("pod-", p), shape, at, run, 0});
  }
  if (nodes > 1 && random.Below(3) == 0) {
    NodeTransition fail;
    fail.at = SimTime(static_cast<int64_t>(random.Below(40)) * kSecond);
    fail.node = NodeId(size_t{0});
    fail.action = NodeTransition::Action::kFail;
    s.engine.node_changes = {fail};
  }
  RandomPlane(random, &s.plane);
  const size_t drivers = 1 + static_cast<size_t>(random.Below(2));
  for (size_t d = 0; d < drivers; ++d) {
    CountingDriverOptions options;
    options.name = kDrivers[d];
    for (size_t n = 0; n < nodes; ++n) {
      options.units.emplace_back(NodeId(n), static_cast<int64_t>(random.Below(4)));
    }
    options.shareable = random.Below(3) == 0;
    options.node_local = random.Below(4) > 0;
    options.network_units = static_cast<int64_t>(random.Below(4));
    s.drivers.push_back(options);
  }
  const bool immediate = random.Below(4) == 0;
  s.objects = [drivers, immediate](ControlPlane& plane) {
    NamePool& names = plane.names();
    const AllocationMode mode =
        immediate ? AllocationMode::kImmediate : AllocationMode::kWaitForFirstConsumer;
    for (size_t d = 0; d < drivers; ++d) {
      const std::string name = absl::StrCat("class-", d);
      ASSERT_EQ(plane.Create(TestClass(names, name, kDrivers[d])), absl::OkStatus());
      ASSERT_EQ(plane.Create(TestTemplate(names, absl::StrCat("template-", d), name, mode)),
                absl::OkStatus());
      ASSERT_EQ(plane.Create(TestClaim(names, absl::StrCat("shared-", d), name, mode)),
                absl::OkStatus());
    }
  };
  const uint64_t sharers = random.Below(4);
  s.claims = [drivers, sharers](NamePool& names, const std::string& pod) {
    std::vector<PodClaim> claims;
    for (size_t d = 0; d < drivers; ++d) {
      const bool shares = (pod.back() - '0' + static_cast<int>(d)) % 4 < static_cast<int>(sharers);
      const std::string entry = absl::StrCat("entry-", d);
      claims.push_back(shares ? FromClaim(names, entry, absl::StrCat("shared-", d))
                              : FromTemplate(names, entry, absl::StrCat("template-", d)));
    }
    return claims;
  };
  return s;
}

void RandomFault(Random& random, size_t drivers, ControlPlane& plane) {
  std::vector<std::string> components = {"scheduler", "claim-controller", "garbage-collector",
                                         "kubelet"};
  for (size_t d = 0; d < drivers; ++d) components.push_back(kDrivers[d]);
  const std::string& component = OneOf(components, random);
  const SimDuration length = SimDuration::Millis(static_cast<int64_t>(random.Below(5000)));
  switch (random.Below(4)) {
    case 0:
    case 1:
      // The kubelet and the scheduler of the engine keep what they know; only watches get lost.
      if (component != "scheduler" && component != "kubelet") {
        return plane.RestartComponent(component, length);
      }
      return plane.BreakWatchOf(component, length);
    case 2:
      return plane.BreakWatchOf(component, length);
    default: {
      const auto claims = plane.network().server().objects().of<ResourceClaim>().Sorted();
      if (!claims.empty()) plane.DeleteClaim(OneOf(claims, random)->meta.uid);
    }
  }
}

// Every claim takes one unit. By what the drivers have written, none has given out more than there
// is. Empty, or of which there is too much.
std::string Overcommitted(const std::vector<CountingDriverOptions>& drivers,
                          const ControlPlane& plane) {
  const auto claims = plane.network().server().objects().of<ResourceClaim>().Sorted();
  for (const CountingDriverOptions& driver : drivers) {
    int64_t in_all = 0;
    std::vector<int64_t> on_node(driver.units.size());
    for (const Ref<ResourceClaim>& claim : claims) {
      if (claim->status.allocation == nullptr || claim->status.driver.text() != driver.name)
        continue;
      // The library frees devices first and says so afterwards (KEP-3063's order).
      const bool released = claim->status.deallocation_requested || claim->meta.deleting;
      if (released && claim->status.reserved_for.empty()) continue;
      ++in_all;
      if (driver.node_local) ++on_node[claim->status.allocation->node.value()];
    }
    for (size_t n = 0; n < on_node.size() && driver.node_local; ++n) {
      if (on_node[n] > driver.units[n].second) return absl::StrCat(driver.name, " on node ", n);
    }
    if (!driver.node_local && in_all > driver.network_units) return driver.name;
  }
  return "";
}

// Empty, or what went wrong.
std::string RunOne(uint64_t seed) {
  Random random(seed, "random faults");
  DraScenario s = RandomScenario(random);
  const uint64_t faults = random.Below(3) == 0 ? 0 : 1 + random.Below(6);
  const std::vector<CountingDriverOptions> options = s.drivers;
  const size_t drivers = options.size();
  s.engine.options.stop_after_events = 1;
  DraRig rig(std::move(s));
  uint64_t left = faults;
  for (int event = 0; event < 20'000; ++event) {
    if (absl::Status status = rig.rig().engine().Run(); !status.ok()) {
      return std::string(status.message());
    }
    if (absl::Status status = rig.plane().CheckInvariants(false); !status.ok()) {
      return std::string(status.message());
    }
    if (const std::string what = Overcommitted(options, rig.plane()); !what.empty()) {
      return absl::StrCat("more claims than units: ", what);
    }
    if (rig.rig().engine().finished()) break;
    if (left > 0 && random.Below(40) == 0) {
      --left;
      RandomFault(random, drivers, rig.plane());
    }
  }
  if (!rig.rig().engine().finished()) {
    const Lines records = rig.rig().RecordLines();
    const Lines calls = rig.Calls(true);
    return absl::StrCat("the run does not end: at ", rig.rig().engine().now().seconds(), " s, ",
                        records.size(), " records, the last '", records.back(), "', ", calls.size(),
                        " calls, the last '", calls.back(), "'");
  }
  rig.plane().Settle(SimDuration::Seconds(400));
  return std::string(rig.plane().CheckInvariants(true).message());
}

TEST(RandomFaultsTest, InvariantsHoldAndNothingLeaks) {
  const uint64_t runs = SoakSeeds(500);
  int failures = 0;
  for (uint64_t seed = 1; seed <= runs && failures < 5; ++seed) {
    const std::string problem = RunOne(seed);
    if (problem.empty()) continue;
    ++failures;
    ADD_FAILURE() << "seed " << seed << ": " << problem;
  }
}

}  // namespace random_faults_test
}  // namespace drasim
