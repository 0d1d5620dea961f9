// Random runs with faults as in random_faults_test.cc, with NVIDIA's driver: whole GPUs, MIG
// instances, and instances cut from a pod's own GPU. By what is written, no device and no slot of
// one is ever in two claims.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/device_grant.h"
#include "model/distributions.h"
#include "model/kube/objects.h"
#include "model/mig_table.h"
#include "model/random.h"
#include "model/time.h"
#include "policies/devices/claim_drivers.h"
#include "sim/dra/classic/control_plane.h"
#include "tests/sim/core/engine_rig.h"
#include "tests/sim/dra/classic/dra_rig.h"
#include "tests/testing/mig_products.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace device_faults_test {

using fault_testing::CallFault;
using fault_testing::FaultRig;
using fault_testing::FaultScenario;

constexpr char kDriver[] = "gpu.resource.nvidia.com";
constexpr char kGroup[] = "gpu.resource.nvidia.com";

struct Wish {
  const char* name;  // of its template, and of its parameters
  const char* kind;
  std::vector<std::pair<std::string, std::string>> fields;
};

std::vector<Wish> Wishes() {
  return {{"one", "GpuClaimParameters", {{"spec.count", "1"}}},
          {"two", "GpuClaimParameters", {{"spec.count", "2"}}},
          {"small", "MigDeviceClaimParameters", {{"spec.profile", "1g.10gb"}}},
          {"middle", "MigDeviceClaimParameters", {{"spec.profile", "3g.40gb"}}},
          // An instance on the pod's own GPU.
          {"inside",
           "MigDeviceClaimParameters",
           {{"spec.profile", "2g.20gb"}, {"spec.gpuClaimName", "card"}}}};
}

ParametersRef RefOf(NamePool& names, const Wish& wish) {
  return {names.Intern(kGroup), names.Intern(wish.kind), Name(), names.Intern(wish.name)};
}

void CreateObjects(AllocationMode mode, ControlPlane& plane) {
  NamePool& names = plane.names();
  ASSERT_EQ(plane.Create(TestClass(names, "gpu.nvidia.com", kDriver)), absl::OkStatus());
  for (const Wish& wish : Wishes()) {
    auto parameters = std::make_shared<ParametersObject>();
    parameters->meta.ns = names.Intern("default");
    parameters->meta.name = names.Intern(wish.name);
    parameters->api_group = names.Intern(kGroup);
    parameters->kind = names.Intern(wish.kind);
    parameters->fields = wish.fields;
    ASSERT_EQ(plane.Create(Ref<ParametersObject>(std::move(parameters))), absl::OkStatus());
    auto made = std::make_shared<ResourceClaimTemplate>(
        *As<ResourceClaimTemplate>(TestTemplate(names, wish.name, "gpu.nvidia.com", mode)));
    made->spec.parameters = RefOf(names, wish);
    ASSERT_EQ(plane.Create(Ref<ResourceClaimTemplate>(std::move(made))), absl::OkStatus());
  }
  auto shared = std::make_shared<ResourceClaim>(
      *As<ResourceClaim>(TestClaim(names, "shared", "gpu.nvidia.com", mode)));
  shared->spec.parameters = RefOf(names, Wishes()[3]);
  ASSERT_EQ(plane.Create(Ref<ResourceClaim>(std::move(shared))), absl::OkStatus());
}

// By the last digit of the pod's name.
std::vector<PodClaim> ClaimsOf(NamePool& names, const std::string& pod) {
  switch (pod.back() - '0') {
    case 0:
    case 1:
      return {FromTemplate(names, "card", "one")};
    case 2:
      return {FromTemplate(names, "card", "two")};
    case 3:
    case 4:
      return {FromTemplate(names, "slice", "small")};
    case 5:
      return {FromTemplate(names, "slice", "small"), FromTemplate(names, "more", "middle")};
    case 6:
      return {FromTemplate(names, "card", "one"), FromTemplate(names, "slice", "inside")};
    case 7:
      return {FromTemplate(names, "card", "one"), FromTemplate(names, "slice", "small")};
    default:
      return {FromClaim(names, "slice", "shared")};
  }
}

void RandomWork(Random& random, EngineScenario* engine) {
  engine->options.mode = RunMode::kReplay;
  engine->options.check_invariants = true;
  engine->kubernetes = KubernetesQueueOptions();
  engine->kubernetes.pop_from_backoff = false;
  const size_t nodes = 1 + static_cast<size_t>(random.Below(3));
  for (size_t n = 0; n < nodes; ++n) {
    const bool mig = n == 0 || random.Below(4) > 0;
    engine->nodes.push_back(TestNode(absl::StrCat("node-", n), 64'000,
                                     1 + static_cast<int32_t>(random.Below(3)),
                                     mig ? "A100-80GB" : "V100"));
  }
  engine->shapes = {TestShape(1000, 0)};
  const size_t pods = 4 + static_cast<size_t>(random.Below(12));
  int64_t at = 0;
  for (size_t p = 0; p < pods; ++p) {
    at += static_cast<int64_t>(random.Below(3000));
    JobArrival pod;
    pod.name = absl::StrCat("pod-", p);
    pod.shape = ShapeId(size_t{0});
    pod.time = SimTime(at * 1'000'000);
    pod.has_run_time = true;
    pod.run_time = SimDuration::Seconds(static_cast<int64_t>(1 + random.Below(30)));
    pod.has_deletion = random.Below(6) == 0;
    pod.deletion = pod.time + SimDuration::Millis(static_cast<int64_t>(random.Below(20'000)));
    engine->jobs.push_back(pod);
  }
  if (nodes == 1 || random.Below(3) > 0) return;
  NodeTransition fail;
  fail.at = SimTime(static_cast<int64_t>(random.Below(30'000)) * 1'000'000);
  fail.node = NodeId(size_t{1});
  fail.action = NodeTransition::Action::kFail;
  engine->node_changes = {fail};
}

ConnectionOptions RandomConnection(Random& random) {
  const std::vector<std::string> latencies = {"constant(0.003)", "uniform(low=0.001,high=0.04)",
                                              "exponential(mean=0.1)"};
  ConnectionOptions connection;
  connection.read_latency = *Distribution::Parse(OneOf(latencies, random));
  connection.write_latency = *Distribution::Parse(OneOf(latencies, random));
  connection.watch_latency = *Distribution::Parse(OneOf(latencies, random));
  return connection;
}

FaultScenario RandomScenario(uint64_t seed, const MigTable* a100, Random& random) {
  FaultScenario s;
  s.seed = seed;
  RandomWork(random, &s.engine);
  s.engine.models = [a100](GpuModelTable& models) {
    models.SetMig(*models.Intern("A100-80GB"), a100);
  };
  s.plane.behaviour.release = static_cast<DraRelease>(26 + random.Below(6));
  s.plane.behaviour.strict_upstream = random.Below(2) == 0;
  s.plane.behaviour.queueing_hints = random.Below(2) == 0;
  if (random.Below(3) > 0) {
    for (ConnectionOptions* connection : {&s.plane.scheduler, &s.plane.controller_manager,
                                          &s.plane.drivers, &s.plane.kubelets, &s.plane.users}) {
      *connection = RandomConnection(random);
    }
    s.shortest_driver_restart = SimDuration::Seconds(3);
  }
  const std::vector<std::string> placements = {"", "first-fit", "best-fit"};
  const std::string placement = OneOf(placements, random);
  const bool packed = random.Below(2) == 0;
  const bool shareable = random.Below(2) == 0;
  s.more_drivers = [placement, packed, shareable](const ClusterState& cluster) {
    ClaimDriverOptions options;
    options.kind = "nvidia";
    options.cluster = &cluster;
    for (size_t n = 0; n < cluster.node_count(); ++n) options.nodes.push_back(NodeId(n));
    options.placement = placement;
    options.packed = packed;
    options.shareable = shareable;
    options.create_instance = SimDuration::Millis(200);
    options.destroy_instance = SimDuration::Millis(100);
    std::vector<std::unique_ptr<ClaimDriver>> drivers;
    drivers.push_back(*MakeClaimDriver(std::move(options)));
    return drivers;
  };
  // The driver refuses Immediate claims.
  s.objects = [](ControlPlane& plane) {
    CreateObjects(AllocationMode::kWaitForFirstConsumer, plane);
  };
  s.claims = ClaimsOf;
  for (uint64_t n = random.Below(5); n > 0; --n) {
    CallFault fault;
    fault.component = random.Below(3) == 0 ? "" : kDriver;
    fault.nth = 1 + random.Below(40);
    fault.length = SimDuration::Millis(static_cast<int64_t>(random.Below(2000)));
    s.faults.push_back(fault);
  }
  if (random.Below(3) == 0) {
    s.meddler.pause = *Distribution::Parse("exponential(mean=1)");
    s.meddler.deeds = 30;
    s.meddler.deletions_per_mille = random.Below(2) * 150;
  }
  return s;
}

struct Seen {
  size_t whole = 0;
  size_t instances = 0;
  size_t shared_gpus = 0;  // several claims on one GPU
};

// Counts the kinds of allocation that are in use at the moment.
void Note(const FaultRig& rig, Seen* seen) {
  std::vector<std::pair<NodeId, uint8_t>> cut;
  for (const auto& claim : rig.objects().of<ResourceClaim>().Sorted()) {
    if (claim->status.allocation == nullptr) continue;
    for (const DeviceGrant& grant : claim->status.allocation->grants) {
      if (grant.placement == kNoPlacement) {
        ++seen->whole;
        continue;
      }
      ++seen->instances;
      const auto gpu = std::make_pair(claim->status.allocation->node, grant.device);
      seen->shared_gpus += std::find(cut.begin(), cut.end(), gpu) != cut.end();
      cut.push_back(gpu);
    }
  }
}

std::string RunOne(uint64_t seed, const MigTable* a100, Seen* seen) {
  Random random(seed, "device faults");
  const FaultScenario scenario = RandomScenario(seed, a100, random);
  FaultRig rig(scenario);
  std::string problem;
  // Pods that wait for what another pod's half has, and live-locks, are not followed to the end.
  for (int event = 0; event < 4000 && !rig.finished() && problem.empty(); ++event) {
    if (rig.idle() > SimDuration::Seconds(100)) break;
    problem = rig.Step();
    if (event % 16 == 0) Note(rig, seen);
  }
  if (problem.empty()) problem = rig.CheckRest();
  if (problem.empty()) problem = rig.CheckTeardown();
  if (problem.empty()) return "";
  return absl::StrCat(problem, " (release ", DraReleaseText(scenario.plane.behaviour.release), ")",
                      rig.CallsText());
}

TEST(DeviceFaultsTest, NoDeviceIsInTwoClaims) {
  const MigTable a100 = TestTable(TestA100(), OnlyProfiles(A100Base()));
  const uint64_t runs = std::min<uint64_t>(SoakSeeds(60), 2000);
  Seen seen;
  int failures = 0;
  for (uint64_t seed = 1; seed <= runs && failures < 5; ++seed) {
    const std::string problem = RunOne(seed, &a100, &seen);
    if (problem.empty()) continue;
    ++failures;
    ADD_FAILURE() << "seed " << seed << ": " << problem;
  }
  EXPECT_GT(seen.whole, runs);
  EXPECT_GT(seen.instances, runs);
  EXPECT_GT(seen.shared_gpus, runs / 4);
}

}  // namespace device_faults_test
}  // namespace drasim
