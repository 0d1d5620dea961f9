#include "sim/control/device_kubelet.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/device_set.h"
#include "model/mig_table.h"
#include "model/random.h"
#include "tests/testing/cluster_builder.h"
#include "tests/testing/mig_products.h"

namespace drasim {
namespace device_kubelet_test {

using Extended = std::vector<std::pair<std::string, int64_t>>;

constexpr char kGpu[] = "nvidia.com/gpu";
constexpr char kShared[] = "nvidia.com/gpu.shared";
constexpr char kSmall[] = "nvidia.com/mig-1g.10gb";
constexpr char kLarge[] = "nvidia.com/mig-3g.40gb";
constexpr char kNic[] = "example.com/nic";
constexpr char kFpga[] = "example.com/fpga";
constexpr TopologyPolicy kNone = TopologyPolicy::kNone;
constexpr TopologyPolicy kBest = TopologyPolicy::kBestEffort;
constexpr TopologyPolicy kRestricted = TopologyPolicy::kRestricted;
constexpr TopologyPolicy kSingle = TopologyPolicy::kSingleNumaNode;

// As Text prints them.
constexpr char kUnavailable[] = "failure 1";
constexpr char kUnregistered[] = "failure 2";
constexpr char kUnhealthy[] = "failure 3";
constexpr char kRefused[] = "failure 4";
constexpr char kAffinity[] = "failure 5";

SimTime At(int64_t seconds) { return SimTime() + SimDuration::Seconds(seconds); }
const MigTable& A100() {
  static const MigTable* const table = new MigTable(TestTable(TestA100()));
  return *table;
}
uint8_t Instance(absl::string_view profile, int32_t start) {
  const auto index = static_cast<size_t>(A100().FindProfile(profile));
  return static_cast<uint8_t>(A100().FindPlacement(index, start));
}

PluginDevice Dev(size_t gpu, uint8_t placement = kNoPlacement, int32_t replicas = 1,
                 int32_t numa_node = -1) {
  return {static_cast<uint8_t>(gpu), placement, replicas, /*healthy=*/true, numa_node};
}
PluginResource Res(absl::string_view name, std::vector<PluginDevice> devices, bool shared = false) {
  return {std::string(name), std::move(devices), shared};
}

// One GPU per entry, on that NUMA node; shared if there are replicas.
PluginResource Gpus(const std::vector<int32_t>& numa_nodes, int32_t replicas = 1) {
  PluginResource gpus = Res(replicas > 1 ? kShared : kGpu, {}, replicas > 1);
  for (const int32_t node : numa_nodes) {
    gpus.devices.push_back(Dev(gpus.devices.size(), kNoPlacement, replicas, node));
  }
  return gpus;
}

DeviceSpec Other(absl::string_view resource, int32_t numa_node, int64_t reprogramming = 0) {
  const SimDuration delay = SimDuration::Seconds(reprogramming);
  return {"other", "", numa_node, "", -1, "", std::string(resource), delay};
}

KubeletDevices MakeNode(std::vector<PluginResource> resources,
                        std::vector<DeviceSpec> others = {}) {
  KubeletDevices node;
  node.mig_tables.assign(4, &A100());
  node.resources = std::move(resources);
  node.others = std::move(others);
  return node;
}
PodShape Asks(Extended extended, int64_t cpu_milli = 100, absl::string_view function = "") {
  PodShape shape = TestShape(cpu_milli, 0);
  std::sort(extended.begin(), extended.end());
  shape.request.extended = std::move(extended);
  shape.device_plugin.function = std::string(function);
  return shape;
}

// Containers that ask for `amount` GPUs (or of another resource), and a pod of them.
using Containers = std::vector<ContainerRequest>;
ContainerRequest Main(int64_t amount, absl::string_view name = kGpu) {
  return {/*init=*/false, /*restartable=*/false, {{std::string(name), amount}}};
}
ContainerRequest Init(int64_t amount, absl::string_view name = kGpu) {
  return {/*init=*/true, /*restartable=*/false, {{std::string(name), amount}}};
}
ContainerRequest Sidecar(int64_t amount) {
  return {/*init=*/true, /*restartable=*/true, {{kGpu, amount}}};
}
PodShape By(Containers containers, int64_t cpu_milli = 100) {
  PodShape shape = TestShape(cpu_milli, 0);
  shape.device_plugin.containers = std::move(containers);
  return shape;
}

// "0 1"; for other than whole GPUs "0@3:125 1:250" (placement, milli); the delay as "none +3s".
std::string Text(const Admission& admission) {
  std::string text;
  DeviceSet devices;
  for (const DeviceGrant& grant : admission.grants) {
    devices.Add(grant.device);
    absl::StrAppend(&text, text.empty() ? "" : " ", grant.device);
    if (grant.placement != kNoPlacement) absl::StrAppend(&text, "@", grant.placement);
    if (grant.milli != 1000) absl::StrAppend(&text, ":", grant.milli);
  }
  EXPECT_EQ(admission.devices, devices);
  if (text.empty()) text = "none";
  const auto delay = static_cast<int>(admission.start_delay.seconds());
  if (delay > 0) absl::StrAppend(&text, " +", delay, "s");
  if (admission.failure == AdmissionFailure::kNone) return text;
  EXPECT_EQ(text, "none");
  return absl::StrCat("failure ", static_cast<uint32_t>(admission.failure));
}

std::string SaveOf(const DeviceKubelet& kubelets) {
  StateWriter out;
  kubelets.Save(out);
  return out.Release();
}

KubeletOptions WithPolicy(TopologyPolicy policy, bool own_cores = false) {
  KubeletOptions options;
  options.topology_policy = policy;
  options.cpu_manager_static = own_cores;
  return options;
}

// One node of 8 cores, and its kubelet.
class TestBed {
 public:
  explicit TestBed(const KubeletDevices& node, KubeletOptions options = {})
      : id_(builder_.AddNode(TestNode("node", 8000, 0))),
        kubelets_(&builder_.cluster(), options, {node}) {}

  PodId Pod(const PodShape& shape) {
    return builder_.cluster().AddPod(absl::StrCat("pod-", pods_++), builder_.AddShape(shape), 0,
                                     SimTime());
  }
  std::string Admit(PodId pod, SimTime now) { return Text(kubelets_.Admit(pod, id_, now)); }
  std::string Admit(const PodShape& shape, int64_t seconds = 0) {
    return Admit(Pod(shape), At(seconds));
  }
  std::string Admit(Extended extended, int64_t seconds = 0) {
    return Admit(Asks(std::move(extended)), seconds);
  }
  // A pod each.
  std::string Each(absl::string_view name, const std::vector<int64_t>& amounts) {
    std::vector<std::string> texts;
    for (const int64_t n : amounts) texts.push_back(Admit(Extended{{std::string(name), n}}));
    return absl::StrJoin(texts, ", ");
  }
  void Remove(uint32_t pod, int64_t seconds = 0) {
    kubelets_.Removed(PodId(pod), id_, At(seconds));
  }
  void RemoveLast() { Remove(pods_ - 1); }
  void SetHealthy(uint32_t gpu, bool healthy) { kubelets_.SetHealthy(id_, gpu, healthy); }
  void SetRegistered(bool registered) { kubelets_.SetRegistered(id_, registered); }
  void SetResources(std::vector<PluginResource> resources) {
    kubelets_.SetResources(id_, std::move(resources));
  }
  bool InUse(uint32_t gpu, SimTime now = SimTime()) { return kubelets_.InUse(id_, gpu, now); }
  Extended Allocatable() { return kubelets_.Allocatable(id_); }
  DeviceKubelet& kubelets() { return kubelets_; }
  NodeId id() const { return id_; }

 private:
  ClusterBuilder builder_;
  NodeId id_;
  DeviceKubelet kubelets_;
  uint32_t pods_ = 0;  // their ids count from 0
};

TEST(KubeletsTest, GivesFreeGpusAndTakesThemBack) {
  TestBed bed(MakeNode({Gpus({-1, -1, -1, -1})}));
  EXPECT_EQ(bed.Admit({{kGpu, 2}, {"example.com/counted-only", 1000}}), "0 1");
  EXPECT_EQ(bed.Each(kGpu, {1, 2, 1}), "2, failure 1, 3");
  bed.Remove(0);
  EXPECT_EQ(bed.Each(kGpu, {2, 1}), "0 1, failure 1");
  EXPECT_EQ(bed.Admit(Extended{}), "none");
}

TEST(KubeletsTest, NothingStaysAfterAFailure) {
  TestBed bed(MakeNode({Gpus({-1, -1})}, {Other(kNic, -1)}));
  const std::string before = SaveOf(bed.kubelets());
  EXPECT_EQ(bed.Admit({{kNic, 1}, {kGpu, 3}}), kUnavailable);
  EXPECT_EQ(bed.Admit(By({Main(2), Main(2, kNic)})), kUnavailable);
  EXPECT_EQ(SaveOf(bed.kubelets()), before);
  EXPECT_EQ(bed.Admit({{kNic, 1}, {kGpu, 2}}), "0 1");
}

TEST(KubeletsTest, TellsUnhealthyFromUnavailable) {
  TestBed bed(MakeNode({Gpus({-1, -1, -1}), Res("a", {Dev(3, kNoPlacement, 4)}, true)}));
  bed.SetHealthy(0, false);
  EXPECT_EQ(bed.Allocatable(), (Extended{{"a", 4}, {kGpu, 2}}));
  EXPECT_FALSE(bed.kubelets().resources(bed.id())[0].devices[0].healthy);
  EXPECT_EQ(bed.Each(kGpu, {3, 4, 1}), "failure 3, failure 1, 1");
  EXPECT_EQ(bed.Each(kGpu, {3, 2}), "failure 1, failure 3");
  bed.SetHealthy(0, true);
  EXPECT_EQ(bed.Admit({{kGpu, 2}}), "0 2");
  EXPECT_EQ(bed.Allocatable(), (Extended{{"a", 4}, {kGpu, 3}}));
  bed.SetHealthy(0, false);
  EXPECT_EQ(bed.Admit({{kGpu, 1}}), kUnavailable);  // in use, so that it helps nobody
}

TEST(KubeletsTest, FailsWhatIsNotRegistered) {
  TestBed bed(MakeNode({Gpus({-1, -1})}, {Other(kNic, -1)}));
  bed.SetRegistered(false);
  EXPECT_EQ(bed.Allocatable(), (Extended{{kGpu, 0}}));
  EXPECT_EQ(bed.Admit({{kGpu, 9}}), kUnregistered);
  EXPECT_EQ(bed.Admit({{kNic, 1}}), "none");  // another plugin's
  bed.SetRegistered(true);
  EXPECT_EQ(bed.Admit({{kGpu, 1}}), "0");
  // A resource that the plugin no longer has is not merely counted.
  bed.SetRegistered(false);
  bed.SetResources({Gpus({-1, -1}, 2)});
  EXPECT_EQ(bed.Admit({{kGpu, 1}}), kUnregistered);
  EXPECT_EQ(bed.Admit({{kShared, 1}}), "1:500");
}

TEST(KubeletsTest, PluginMayRefuseMoreThanOneReplica) {
  KubeletOptions options;
  options.fail_requests_greater_than_one = true;
  const KubeletDevices node = MakeNode({Gpus({-1, -1}, 2), Res("b", {Dev(2), Dev(3)})});
  TestBed bed(node, options);
  EXPECT_EQ(bed.Admit({{kShared, 2}}), kRefused);
  EXPECT_EQ(bed.Admit({{kShared, 5}}), kUnavailable);  // the plugin is not even asked
  EXPECT_EQ(bed.Admit({{kShared, 1}}), "0:500");
  EXPECT_EQ(bed.Admit(By({Main(1, kShared), Main(1, kShared)})), "0:500 1:500");
  EXPECT_EQ(bed.Admit({{"b", 2}}), "2 3");
  EXPECT_EQ(TestBed(node).Admit({{kShared, 2}}), "0:500 1:500");
}

TEST(KubeletsTest, InitContainersHandOnWhenTheyEnd) {
  const KubeletDevices node = MakeNode({Gpus({-1, -1, -1})});
  EXPECT_EQ(TestBed(node).Admit(By({Init(3), Main(2), Main(1)})), "0 1 2");
  EXPECT_EQ(TestBed(node).Admit(By({Init(1), Init(2), Main(3)})), "0 1 2");
  EXPECT_EQ(TestBed(node).Admit(By({Main(3), Init(2)})), "0 1 2");  // wherever they stand
  EXPECT_EQ(TestBed(node).Admit(By({Init(2), Main(2), Main(2)})), kUnavailable);  // side by side
  // Devices that only an init container had stay with the pod.
  TestBed bed(node);
  EXPECT_EQ(bed.Admit(By({Init(2), Main(1)})), "0 1");
  EXPECT_EQ(bed.Admit({{kGpu, 2}}), kUnavailable);
  // A replica that is reused is there once.
  EXPECT_EQ(TestBed(MakeNode({Gpus({-1, -1}, 4)})).Admit(By({Init(2, kShared), Main(3, kShared)})),
            "0:250 0:250 1:250");
  // Sidecars keep theirs.
  EXPECT_EQ(TestBed(node).Admit(By({Sidecar(1), Main(2)})), "0 1 2");
  EXPECT_EQ(TestBed(node).Admit(By({Sidecar(1), Main(3)})), kUnavailable);
  EXPECT_EQ(TestBed(node).Admit(By({Init(2), Sidecar(1), Main(2)})), "0 1 2");
  EXPECT_EQ(TestBed(node).Admit(By({Init(2), Sidecar(2), Main(2)})), kUnavailable);
}

TEST(KubeletsTest, WholeGpusThatAreClose) {
  KubeletDevices node = MakeNode({Gpus({0, 0, 0, 0})});
  for (const int32_t pcie_switch : {0, 1, 1, 0}) {
    node.gpus.emplace_back();
    node.gpus.back().pcie_root = "root";
    node.gpus.back().pcie_switch = pcie_switch;
  }
  TestBed bed(node);
  EXPECT_EQ(bed.Each(kGpu, {2, 1}), "0 3, 1");
  bed.Remove(0);
  EXPECT_EQ(bed.Admit({{kGpu, 2}}), "0 3");  // not 0 and 2
  // Around what the init container leaves.
  EXPECT_EQ(TestBed(node).Admit(By({Init(1), Main(2)})), "0 3");
}

TEST(KubeletsTest, SharesOfInstancesAndReplicas) {
  const uint8_t small = Instance("1g.10gb", 0);
  const uint8_t large = Instance("3g.40gb", 4);
  TestBed bed(MakeNode({Res(kSmall, {Dev(0, small)}), Res(kLarge, {Dev(0, large, 3)}, true),
                        Res(kShared, {Dev(1, kNoPlacement, 3)}, true)}));
  EXPECT_EQ(bed.Admit({{kSmall, 1}, {kLarge, 2}, {kShared, 1}}),
            absl::StrCat("0@", small, ":125 0@", large, ":166 0@", large, ":166 1:333"));
}

TEST(KubeletsTest, SpreadsOrPacksReplicas) {
  KubeletOptions packed;
  packed.packed = true;
  const KubeletDevices node = MakeNode({Gpus({-1, -1}, 3)});
  EXPECT_EQ(TestBed(node).Each(kShared, {1, 1, 1, 1}), "0:333, 1:333, 0:333, 1:333");
  EXPECT_EQ(TestBed(node, packed).Each(kShared, {1, 1, 1, 1}), "0:333, 0:333, 0:333, 1:333");
  EXPECT_EQ(TestBed(node).Each(kShared, {3}), "0:333 0:333 1:333");
  EXPECT_EQ(TestBed(node, packed).Each(kShared, {4}), "0:333 0:333 0:333 1:333");
}

// GPUs 0 and 1, the first NIC, and 4 of 8 cores on NUMA node 0; the rest on 1.
KubeletDevices TwoSockets() {
  return MakeNode({Gpus({0, 0, 1, 1})}, {Other(kNic, 0), Other(kNic, 1)});
}

TEST(KubeletsTopologyTest, AlignsGpusWithNics) {
  for (const TopologyPolicy policy : {kNone, kBest, kRestricted, kSingle}) {
    const bool lenient = policy == kNone || policy == kBest;
    TestBed bed(TwoSockets(), WithPolicy(policy));
    EXPECT_EQ(bed.Admit({{kNic, 1}}), "none");  // the first one
    EXPECT_EQ(bed.Admit({{kGpu, 1}, {kNic, 1}}), policy == kNone ? "0" : "2");
    bed.RemoveLast();
    // GPUs are left on NUMA node 0 only, a NIC on 1 only.
    bed.SetHealthy(2, false);
    bed.SetHealthy(3, false);
    EXPECT_EQ(bed.Admit({{kGpu, 1}, {kNic, 1}}), lenient ? "0" : kAffinity);
  }
}

TEST(KubeletsTopologyTest, PrefersTheNarrowest) {
  // GPUs 0 and 2 are in use in the end, so that one is free on either NUMA node.
  const auto one_each = [](TopologyPolicy policy, int64_t amount) {
    TestBed bed(TwoSockets(), WithPolicy(policy));
    EXPECT_EQ(bed.Each(kGpu, {1, 2}), "0, 2 3");  // not 1 and 2
    bed.RemoveLast();
    bed.SetHealthy(1, false);
    EXPECT_EQ(bed.Each(kGpu, {1}), "2");
    bed.SetHealthy(1, true);
    return bed.Admit({{kGpu, amount}});
  };
  EXPECT_EQ(one_each(kSingle, 2), kAffinity);
  EXPECT_EQ(one_each(kRestricted, 2), kAffinity);
  EXPECT_EQ(one_each(kBest, 2), "1 3");
  // Too few at all give no hint, so that a strict policy speaks first.
  EXPECT_EQ(one_each(kSingle, 9), kAffinity);
  EXPECT_EQ(one_each(kBest, 9), kUnavailable);
  // Three GPUs are nowhere on one NUMA node, so that two are as good as it gets.
  EXPECT_EQ(TestBed(TwoSockets(), WithPolicy(kSingle)).Admit({{kGpu, 3}}), kAffinity);
  EXPECT_EQ(TestBed(TwoSockets(), WithPolicy(kRestricted)).Admit({{kGpu, 3}}), "0 1 2");
}

TEST(KubeletsTopologyTest, WholeCoresCount) {
  const auto after_three_cores = [](bool own_cores, int64_t cpu_milli) {
    TestBed bed(TwoSockets(), WithPolicy(kSingle, own_cores));
    EXPECT_EQ(bed.Admit(Asks({}, 3000)), "none");
    return bed.Admit(Asks({{kGpu, 1}}, cpu_milli));
  };
  EXPECT_EQ(after_three_cores(true, 1000), "0");
  EXPECT_EQ(after_three_cores(true, 2000), "2");
  EXPECT_EQ(after_three_cores(true, 2500), "0");  // shares the cores that nobody owns
  EXPECT_EQ(after_three_cores(true, 5000), kAffinity);
  EXPECT_EQ(after_three_cores(false, 2000), "0");
  TestBed bed(TwoSockets(), WithPolicy(kSingle, true));
  EXPECT_EQ(bed.Admit(Asks({}, 3000)), "none");
  bed.RemoveLast();  // the cores come back with it
  EXPECT_EQ(bed.Admit(Asks({{kGpu, 1}}, 4000)), "0");
  EXPECT_EQ(bed.Admit(Asks({{kGpu, 2}, {kNic, 2}}, 4000)), kAffinity);  // and so takes none
  EXPECT_EQ(bed.Admit(Asks({{kGpu, 2}}, 4000)), "2 3");
  // They belong to the first ordinary container; the GPU of the second one may be anywhere.
  TestBed containers(TwoSockets(), WithPolicy(kSingle, true));
  EXPECT_EQ(containers.Admit(Asks({}, 1000)), "none");
  EXPECT_EQ(containers.Admit(By({Init(1, kNic), Main(1), Main(1)}, 4000)), "0 2");
}

TEST(KubeletsTopologyTest, ScopePodLooksAtAllContainers) {
  const KubeletOptions by_container = WithPolicy(kSingle);
  KubeletOptions by_pod = by_container;
  by_pod.topology_scope_pod = true;
  // Two containers fit where their sum does not.
  const KubeletDevices apart = MakeNode({Gpus({0, 1})});
  EXPECT_EQ(TestBed(apart, by_container).Admit(By({Main(1), Main(1)})), "0 1");
  EXPECT_EQ(TestBed(apart, by_pod).Admit(By({Main(1), Main(1)})), kAffinity);
  // The GPU that an init container leaves on NUMA node 0 binds the container after it.
  EXPECT_EQ(TestBed(MakeNode({Gpus({0, 1, 1})}), by_container).Admit(By({Init(1), Main(2)})),
            kAffinity);
  // One GPU is left on NUMA node 0, two on 1.
  const auto outcome = [&by_pod](Containers containers) {
    TestBed bed(TwoSockets(), by_pod);
    EXPECT_EQ(bed.Admit({{kGpu, 1}}), "0");
    return bed.Admit(By(std::move(containers)));
  };
  EXPECT_EQ(outcome({Main(1), Main(1)}), "2 3");
  // An init container that ends is not added to the others, a sidecar is.
  EXPECT_EQ(outcome({Init(2), Main(2)}), "2 3");
  EXPECT_EQ(outcome({Sidecar(1), Init(1), Main(1)}), "2 3");
  EXPECT_EQ(outcome({Sidecar(1), Init(2)}), kAffinity);
}

TEST(KubeletsTopologyTest, DevicesWithoutNumaNodeComeLast) {
  TestBed bed(MakeNode({Gpus({-1, 1, 0, 0})}, {Other(kNic, 1)}), WithPolicy(kBest));
  EXPECT_EQ(bed.Admit({{kNic, 1}, {kGpu, 1}}), "1");
  bed.RemoveLast();
  EXPECT_EQ(bed.Each(kGpu, {3, 1}), "1 2 3, 0");
}

TEST(KubeletsTest, ReleasesAfterAWhile) {
  KubeletOptions options;
  options.device_release = SimDuration::Seconds(5);
  TestBed bed(MakeNode({Gpus({-1, -1})}), options);
  const PodId pod = bed.Pod(Asks({{kGpu, 1}}));
  EXPECT_EQ(bed.Admit(pod, At(1)), "0");
  bed.Remove(0, 10);
  EXPECT_EQ(bed.Admit(pod, At(11)), "1");  // the same pod comes back
  bed.Remove(0, 14);                       // which does not put off the first release
  const SimTime before = At(15) + SimDuration(-1);
  EXPECT_TRUE(bed.InUse(0, before));
  EXPECT_EQ(bed.Admit(pod, before), kUnavailable);
  EXPECT_TRUE(!bed.InUse(0, At(15)) && bed.InUse(1, At(15)));
  EXPECT_EQ(bed.Admit(pod, At(15)), "0");
  EXPECT_TRUE(bed.InUse(0, At(19)) && !bed.InUse(1, At(19)));
}

TEST(KubeletsTest, RunningPodsKeepTheirDevices) {
  const uint8_t left = Instance("3g.40gb", 0);
  const uint8_t small = Instance("1g.10gb", 5);
  TestBed bed(MakeNode({Res(kLarge, {Dev(0, left), Dev(0, Instance("3g.40gb", 4))})}));
  EXPECT_EQ(bed.Admit({{kLarge, 1}}), absl::StrCat("0@", left, ":500"));
  bed.SetHealthy(0, false);
  bed.SetRegistered(false);
  // The other half is partitioned again.
  bed.SetResources({Res(kSmall, {Dev(0, small)}), Res(kLarge, {Dev(0, left)})});
  EXPECT_EQ(bed.Admit({{kLarge, 1}}), kUnavailable);
  EXPECT_EQ(bed.Admit({{kSmall, 1}}), absl::StrCat("0@", small, ":125"));
  bed.Remove(0);
  EXPECT_EQ(bed.Admit({{kLarge, 1}}), absl::StrCat("0@", left, ":500"));
}

TEST(KubeletsTest, WhatIsNoLongerThereBlocksItsGpu) {
  const uint8_t left = Instance("3g.40gb", 0);
  TestBed bed(MakeNode({Gpus({-1, -1})}));
  EXPECT_EQ(bed.Admit({{kGpu, 1}}), "0");
  bed.SetResources({Res(kLarge, {Dev(0, left), Dev(1, left)})});
  EXPECT_TRUE(bed.InUse(0));
  EXPECT_EQ(bed.Each(kLarge, {2, 1}), absl::StrCat("failure 1, 1@", left, ":500"));
  bed.RemoveLast();
  bed.SetResources({Gpus({-1, -1})});  // its device comes back
  EXPECT_EQ(bed.Admit({{kGpu, 2}}), kUnavailable);
  bed.SetResources({Res(kLarge, {Dev(0, left)})});
  bed.Remove(0);
  EXPECT_FALSE(bed.InUse(0));
  EXPECT_EQ(bed.Admit({{kLarge, 1}}), absl::StrCat("0@", left, ":500"));
}

TEST(KubeletsTest, ANewNumberOfReplicasGivesNothingTwice) {
  TestBed bed(MakeNode({Gpus({-1}, 4)}));
  EXPECT_EQ(bed.Admit({{kShared, 3}}), "0:250 0:250 0:250");
  bed.SetResources({Gpus({-1}, 2)});
  EXPECT_EQ(bed.Admit({{kShared, 1}}), kUnavailable);  // three of four are two of two
  bed.SetResources({Gpus({-1}, 4)});
  EXPECT_EQ(bed.Each(kShared, {1, 1}), "0:250, failure 1");
}

TEST(KubeletsTest, ReprogramsDevices) {
  TestBed bed(MakeNode({}, {Other(kFpga, -1, 3), Other(kNic, -1), Other(kFpga, -1, 4)}));
  const auto run = [&bed](absl::string_view function, int64_t amount) {
    const std::string text = bed.Admit(Asks({{kFpga, amount}, {kNic, 1}}, 100, function));
    bed.RemoveLast();
    return text;
  };
  EXPECT_EQ(run("", 1), "none");
  EXPECT_EQ(run("sort", 1), "none +3s");  // the first one
  EXPECT_EQ(run("sort", 2), "none +4s");  // both
  EXPECT_EQ(run("hash", 1), "none +3s");  // the first one again
  EXPECT_EQ(run("sort", 1), "none");      // the second one
  // A pod that is turned away has not touched them.
  EXPECT_EQ(bed.Admit(Asks({{kFpga, 2}, {kNic, 2}}, 100, "hash")), kUnavailable);
  EXPECT_EQ(run("sort", 1), "none");
  EXPECT_EQ(run("grep", 2), "none +4s");  // side by side
}

TEST(KubeletsTest, GoesOnFromWholeCheckpointsOnly) {
  KubeletOptions options = WithPolicy(kBest, /*own_cores=*/true);
  options.device_release = SimDuration::Seconds(5);
  KubeletDevices node = TwoSockets();
  node.others.push_back(Other(kFpga, 0, 3));
  TestBed original(node, options);
  TestBed copy(node, options);
  EXPECT_EQ(original.Admit(Asks({{kFpga, 1}, {kGpu, 1}}, 2000, "sort")), "0 +3s");
  EXPECT_EQ(original.Admit({{kGpu, 1}}), "1");
  // The first pod is about to be released; the second one's GPU is no longer advertised whole.
  original.Remove(0, 10);
  original.SetResources(
      {Res(kShared, {Dev(0, kNoPlacement, 2, 0), Dev(3, kNoPlacement, 2, 1)}, true),
       Res(kSmall, {Dev(1, Instance("1g.10gb", 0))})});
  original.SetHealthy(3, false);
  const std::string bytes = SaveOf(original.kubelets());
  StateReader in(bytes);
  ASSERT_TRUE(copy.kubelets().Load(in).ok() && in.AtEnd());
  EXPECT_EQ(SaveOf(copy.kubelets()), bytes);
  for (int i = 0; i < 2; ++i) copy.Pod(Asks({}));  // whose ids are taken
  for (TestBed* bed : {&original, &copy}) {
    EXPECT_TRUE(bed->InUse(0, At(14)) && bed->InUse(1, At(14)));
    EXPECT_EQ(bed->Admit({{kGpu, 1}}, 14), kUnregistered);
    EXPECT_EQ(bed->Admit({{kShared, 1}}, 14), kUnhealthy);
    EXPECT_EQ(bed->Admit({{kSmall, 1}}, 14), kUnavailable);
    EXPECT_EQ(bed->Admit(Asks({{kShared, 1}}, 4000), 15), "0:500");
    EXPECT_EQ(bed->Admit(Asks({{kFpga, 1}}, 100, "sort"), 15), "none");
  }
  EXPECT_EQ(SaveOf(copy.kubelets()), SaveOf(original.kubelets()));
  for (size_t n = 0; n < bytes.size(); ++n) {
    StateReader cut_off(absl::string_view(bytes).substr(0, n));
    EXPECT_FALSE(TestBed(node, options).kubelets().Load(cut_off).ok()) << n;
  }
  StateReader again(bytes);
  EXPECT_FALSE(TestBed(TwoSockets(), options).kubelets().Load(again).ok());  // it has no FPGA
}

// --- random walks against book-keeping unit by unit ---

struct Unit {
  PluginDevice device;  // with its health
  SimTime free_at = SimTime();
  PodId pod = PodId();
};

// Admits a random pod. Containers take turns with what ended init containers leave.
void AdmitAndCompare(const std::string& name, SimTime now, Random& random, TestBed& bed,
                     std::vector<Unit>& units) {
  int64_t free[2] = {0, 0};  // unhealthy, healthy
  for (const Unit& u : units) free[u.device.healthy ? 1 : 0] += u.free_at <= now ? 1 : 0;
  const bool sidecar = random.Below(2) == 0;
  Containers containers;
  int64_t needed = 0;
  int64_t reusable = 0;
  AdmissionFailure expected = AdmissionFailure::kNone;
  for (const bool init : {true, true, false, false}) {
    const auto amount = static_cast<int64_t>(random.Below(3));
    const bool keeps = !init || (sidecar && containers.empty());
    containers.push_back({init, init && keeps, {{name, amount}}});
    const int64_t reused = std::min(reusable, amount);
    needed += amount - reused;
    reusable += keeps ? -reused : amount - reused;
    if (expected != AdmissionFailure::kNone || needed <= free[1]) continue;
    expected = needed <= free[0] + free[1] ? AdmissionFailure::kDeviceUnhealthy
                                           : AdmissionFailure::kDevicesUnavailable;
  }
  const PodId pod = bed.Pod(By(containers));
  const Admission admission = bed.kubelets().Admit(pod, bed.id(), now);
  ASSERT_EQ(admission.failure, expected);
  if (expected != AdmissionFailure::kNone) needed = 0;
  ASSERT_EQ(admission.grants.size(), static_cast<size_t>(needed));
  for (const DeviceGrant& grant : admission.grants) {
    const auto unit = std::find_if(units.begin(), units.end(), [&grant, now](const Unit& u) {
      return u.device.gpu == grant.device && u.device.placement == grant.placement &&
             u.device.healthy && u.free_at <= now;
    });
    ASSERT_TRUE(unit != units.end());
    *unit = {unit->device, SimTime(INT64_MAX), pod};
  }
}

void Walk(const PluginResource& resource, KubeletOptions options, uint64_t seed) {
  options.device_release = SimDuration::Seconds(2);
  TestBed bed(MakeNode({resource}), options);
  std::vector<Unit> units;
  for (const PluginDevice& device : resource.devices) {
    units.insert(units.end(), static_cast<size_t>(device.replicas), Unit{device});
  }
  Random random(seed, "walk");
  for (int64_t step = 0; step < 600 && !testing::Test::HasFatalFailure(); ++step) {
    const SimTime now = At(step / 2);
    const uint64_t action = random.Below(10);
    if (action < 5) {
      AdmitAndCompare(resource.name, now, random, bed, units);
    } else if (action < 8) {
      const PodId pod = OneOf(units, random).pod;
      bed.kubelets().Removed(pod, bed.id(), now);
      for (Unit& u : units) {
        if (u.pod == pod) u.free_at = std::min(u.free_at, now + options.device_release);
      }
    } else if (action == 8) {
      const auto gpu = static_cast<uint32_t>(random.Below(4));
      const bool healthy = random.Below(3) != 0;
      bed.SetHealthy(gpu, healthy);
      for (Unit& u : units) u.device.healthy = u.device.gpu == gpu ? healthy : u.device.healthy;
    } else {
      // A plugin that comes back with the same devices, or a checkpoint, changes nothing.
      bed.SetResources(bed.kubelets().resources(bed.id()));
      const std::string bytes = SaveOf(bed.kubelets());
      StateReader in(bytes);
      ASSERT_TRUE(bed.kubelets().Load(in).ok());
    }
  }
}

TEST(KubeletsTest, AgreesWithBookKeepingByUnit) {
  const uint8_t left = Instance("1g.10gb", 0);
  const uint8_t right = Instance("1g.10gb", 5);
  const PluginResource instances = Res(
      kSmall, {Dev(0, left, 1, 0), Dev(0, right, 2, 0), Dev(1, left, 3, -1), Dev(2, right, 2, 1)},
      /*shared=*/true);
  for (const PluginResource& resource :
       {Gpus({0, 0, 1, 1}), Gpus({0, -1, 1, 1}), Gpus({0, 0, 1, 1}, 3), instances}) {
    for (uint64_t seed = 0; seed < 8; ++seed) {
      KubeletOptions options = WithPolicy(seed % 2 == 0 ? kNone : kBest);
      options.packed = seed % 4 < 2;
      Walk(resource, options, seed);
    }
  }
}

}  // namespace device_kubelet_test
}  // namespace drasim
