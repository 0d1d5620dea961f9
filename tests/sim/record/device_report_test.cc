// Every figure of small clusters, worked out by hand; then random runs against a naive count.
#include "sim/record/device_report.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/mig_table.h"
#include "model/random.h"
#include "policies/framework/device_allocator.h"
#include "tests/testing/cluster_builder.h"
#include "tests/testing/mig_products.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace device_report_test {

// A cluster that a test drives by hand: models first, then nodes, then sinks and pods.
class Rig {
 public:
  Rig() : shapes_(&models_), cluster_(&models_, &shapes_) {}

  const MigTable& AddMigModel(const std::string& name, const MigProduct& product,
                              const MigRules& rules = {}) {
    tables_.push_back(TestTable(product, rules));
    models_.SetMig(models_.Intern(name).value(), &tables_.back());
    return tables_.back();
  }
  NodeId AddNode(const std::string& model, int32_t gpus) {
    return AddNode(TestNode(absl::StrCat("node-", layouts.size()), 64000, gpus, model));
  }
  NodeId AddNode(const NodeSpec& spec) {
    layouts.emplace_back(static_cast<size_t>(spec.gpu_count));
    return cluster_.AddNode(spec).value();
  }
  DeviceReport Report(std::vector<TypicalRequest> typical = {}) const {
    const auto layout = [this](NodeId node, size_t gpu) { return layouts[node.value()][gpu]; };
    return DeviceReport(cluster_, std::move(typical), layout);
  }
  void AddSink(RecordSink* sink) { sinks_.push_back(sink); }
  void At(int64_t ns) { now_ = SimTime(ns); }

  PodId Arrive(const PodShape& shape) {
    const PodId pod = cluster_.AddPod("pod", shapes_.Intern(shape), 0, now_);
    Emit(RecordKind::kPodArrived, pod, NodeId());
    return pod;
  }
  void Reserve(PodId pod, NodeId node, DeviceSet devices) {
    cluster_.Assume(pod, node, devices);
    Emit(RecordKind::kPodReserved, pod, node);
  }
  void Bind(PodId pod, NodeId node, DeviceSet devices = {}, const DeviceGrants& grants = {}) {
    cluster_.Assume(pod, node, devices, grants);
    cluster_.Bind(pod);
    Emit(RecordKind::kPodBound, pod, node);
  }
  void Admit(PodId pod, const DeviceGrants& grants) {
    cluster_.Grant(pod, DevicesOf(grants), grants);
    Emit(RecordKind::kPodAdmitted, pod, cluster_.pod_node(pod));
  }
  // A pod of that shape that its scheduler puts where the grants say.
  PodId Place(const PodShape& shape, NodeId node, const DeviceGrants& grants) {
    const PodId pod = Arrive(shape);
    Bind(pod, node, DevicesOf(grants), grants);
    return pod;
  }
  void Leave(PodId pod, RecordKind kind, uint32_t detail = 0) {
    static const std::map<RecordKind, void (ClusterState::*)(PodId)> kHow = {
        {RecordKind::kPodUnreserved, &ClusterState::Forget},
        {RecordKind::kPodFinished, &ClusterState::Finish},
        {RecordKind::kPodDeleted, &ClusterState::Delete},
        {RecordKind::kPodFailed, &ClusterState::Fail},
        {RecordKind::kPodEvicted, &ClusterState::Evict},
        {RecordKind::kPodRejected, &ClusterState::Evict}};
    const NodeId node = cluster_.pod_node(pod);
    (cluster_.*kHow.find(kind)->second)(pod);
    Emit(kind, pod, node, detail);
  }
  void Finish(PodId pod) { Leave(pod, RecordKind::kPodFinished); }
  void Reject(PodId pod, AdmissionFailure why, uint32_t given_up = 0) {
    Leave(pod, RecordKind::kPodRejected, static_cast<uint32_t>(why) | given_up);
  }
  void SetAvailable(NodeId node, bool available) {
    cluster_.SetAvailable(node, available);
    Emit(RecordKind::kNodeChanged, PodId(), node);
  }
  void DevicesChanged(NodeId node) { Emit(RecordKind::kDevicesChanged, PodId(), node); }

  const ClusterState& cluster() const { return cluster_; }

  std::vector<std::vector<StaticLayout>> layouts;  // by node, by GPU; none enabled at first

 private:
  void Emit(RecordKind kind, PodId pod, NodeId node, uint32_t detail = 0) {
    const Record record = {now_, kind, pod, node, DeviceSet(), detail};
    for (RecordSink* sink : sinks_) sink->OnRecord(record, cluster_);
  }

  std::deque<MigTable> tables_;
  GpuModelTable models_;
  ShapeTable shapes_;
  ClusterState cluster_;
  std::vector<RecordSink*> sinks_;
  SimTime now_;
};

// One node with GPUs that can do all that an A100 can.
struct A100Rig : Rig {
  explicit A100Rig(int32_t gpus)
      : a100(AddMigModel("A100", TestA100())), node(AddNode("A100", gpus)) {}

  const MigTable& a100;
  const NodeId node;
};

// A request for devices by name, worth `nominal_milli`; `demand_milli` 0: the demand is the
// request.
PodShape Asks(int64_t nominal_milli, int32_t demand_milli = 0, int64_t demand_memory_mib = 0) {
  PodShape shape;
  shape.request.nominal_milli = nominal_milli;
  shape.demand.gpus = demand_milli > 0 ? 1 : 0;
  shape.demand.milli = demand_milli;
  shape.demand.memory_mib = demand_memory_mib;
  return shape;
}

DeviceGrant Instance(const MigTable& table, size_t gpu, const std::string& profile, int32_t start) {
  const auto p = static_cast<size_t>(table.FindProfile(profile));
  return InstanceGrant(table, gpu, static_cast<size_t>(table.FindPlacement(p, start)));
}

StaticLayout LaidOut(const MigTable& table,
                     const std::vector<std::pair<std::string, int32_t>>& instances) {
  return {true, TestState(table, instances)};
}

// One of: a profile, whole GPUs, a share; or none.
TypicalRequest Typical(double weight, const std::string& profile, int32_t whole_gpus,
                       int32_t share_milli, int64_t cpu_milli = 1000, int64_t memory_bytes = 0) {
  return {cpu_milli, memory_bytes, profile, whole_gpus, share_milli, weight};
}

// Capacity, held, wanted, waste, shortfall; waste of memory, granted memory; free; geometry,
// layout, other; compute: capacity, stranded.
using Row = std::vector<int64_t>;
Row Fields(const DeviceAmounts& a) {
  return {a.capacity,
          a.held,
          a.wanted,
          a.waste,
          a.shortfall,
          a.waste_memory_mib,
          a.granted_memory_mib,
          a.free,
          a.stranded_geometry,
          a.stranded_layout,
          a.stranded_other,
          a.compute_capacity,
          a.compute_stranded};
}
using Counts = std::vector<std::pair<std::string, int64_t>>;

TEST(DeviceReportTest, AnIdleClusterIsCountedFromTheStart) {
  Rig rig;
  rig.AddMigModel("A100", TestA100());
  rig.AddMigModel("A800", TestA100(), OnlyProfiles({"7g.80gb", "1g.10gb"}));
  rig.AddNode("A100", 2);
  rig.AddNode("A800", 1);
  rig.AddNode("T4", 1);
  NodeSpec spec = TestNode("absent", 64000, 4, "A100");
  spec.absent = true;
  const NodeId absent = rig.AddNode(spec);
  // Nothing is laid out ahead.
  DeviceReport report(rig.cluster(), {}, LayoutLookup());
  EXPECT_EQ(Fields(report.now()), (Row{4000, 0, 0, 0, 0, 0, 0, 4000, 0, 0, 0, 4000, 0}));
  EXPECT_EQ(report.now().slot_fragmentation, 0);
  const Counts more = {{"1g.10gb", 21}, {"1g.10gb+me", 2}, {"1g.20gb", 8}, {"2g.20gb", 6},
                       {"3g.40gb", 4},  {"4g.40gb", 2},    {"7g.80gb", 3}};
  EXPECT_EQ(report.MoreThatFit(), more);

  rig.AddSink(&report);
  rig.SetAvailable(absent, true);
  EXPECT_EQ(Fields(report.now()), (Row{8000, 0, 0, 0, 0, 0, 0, 8000, 0, 0, 0, 8000, 0}));
  rig.SetAvailable(NodeId(0u), false);
  EXPECT_EQ(report.now().capacity, 6000);
  EXPECT_EQ(report.MoreThatFit()[0].second, 35);
}

TEST(DeviceReportTest, InstancesThatAreMadeForPods) {
  A100Rig rig(2);
  DeviceReport report = rig.Report();
  rig.AddSink(&report);
  // Unit 7 goes with unit 6 alone. 1 of 7 compute slices for a tenth of a GPU.
  const PodId one =
      rig.Place(Asks(125, 100, 8000), rig.node, {Instance(rig.a100, 0, "1g.10gb", 6)});
  EXPECT_EQ(Fields(report.now()),
            (Row{2000, 125, 100, 42, 0, 1728, 9728, 1875, 125, 0, 0, 2000, 0}));
  // Beside a 3g all units can be used, but of four compute slices only three. Half a GPU was asked
  // for and 428 milli of its compute are there; how much memory it wants is not known.
  rig.Place(Asks(500), rig.node, {Instance(rig.a100, 1, "3g.40gb", 0)});
  EXPECT_EQ(Fields(report.now()),
            (Row{2000, 625, 600, 42, 72, 1728, 9728, 1375, 125, 0, 0, 2000, 142}));
  const Counts more = {{"1g.10gb", 9}, {"1g.10gb+me", 2}, {"1g.20gb", 5}, {"2g.20gb", 4},
                       {"3g.40gb", 2}, {"4g.40gb", 1},    {"7g.80gb", 0}};
  EXPECT_EQ(report.MoreThatFit(), more);
  rig.Finish(one);
  EXPECT_EQ(Fields(report.now()), (Row{2000, 500, 500, 0, 72, 0, 0, 1500, 0, 0, 0, 2000, 142}));
}

TEST(DeviceReportTest, WholeGpusAndShares) {
  A100Rig rig(2);
  const NodeId t4 = rig.AddNode("T4", 1);
  DeviceReport report = rig.Report();
  rig.AddSink(&report);
  PodShape shape = TestShape(0, 1);
  shape.demand.gpus = 1;
  shape.demand.milli = 400;
  shape.demand.memory_mib = 60000;
  rig.Bind(rig.Arrive(shape), rig.node, DeviceSet::Of(0));
  EXPECT_EQ(Fields(report.now()),
            (Row{3000, 1000, 400, 600, 0, 21920, 81920, 2000, 0, 0, 0, 3000, 0}));
  // The memory of a GPU without MIG is not known.
  rig.Bind(rig.Arrive(shape), t4, DeviceSet::Of(0));
  // 24576 MiB are less than it wants: no waste, and none that would make up for another's.
  shape = TestShape(0, 1, 300);
  shape.demand.memory_mib = 30000;
  const PodId share = rig.Arrive(shape);
  rig.Reserve(share, rig.node, DeviceSet::Of(1));
  EXPECT_EQ(Fields(report.now()),
            (Row{3000, 2300, 1100, 1200, 0, 21920, 106496, 700, 0, 0, 0, 3000, 0}));
  for (const auto& [name, count] : report.MoreThatFit()) EXPECT_EQ(count, 0) << name;
  rig.Leave(share, RecordKind::kPodUnreserved);
  EXPECT_EQ(report.now().held, 2000);
}

TEST(DeviceReportTest, MemoryThatNoListingShowsIsTakenFromTheName) {
  Rig rig;
  MigProduct product = TestA100();
  product.memory_mib = kUnknownAmount;
  product.profiles[0].memory_mib = kUnknownAmount;
  const MigTable& table = rig.AddMigModel("A100", product);
  rig.Place(Asks(125, 0, 10000), rig.AddNode("A100", 1), {Instance(table, 0, "1g.10gb", 0)});
  EXPECT_EQ(rig.Report().now().granted_memory_mib, 10240);
  rig.Place(Asks(1000, 0, 1920), rig.AddNode("A100", 1), {{0, kNoPlacement, 1000}});
  EXPECT_EQ(rig.Report().now().granted_memory_mib, 10240 + 81920);
  EXPECT_EQ(rig.Report().now().waste_memory_mib, 240 + 80000);
}

TEST(DeviceReportTest, ReplicasAndPodsThatWaitForDevices) {
  A100Rig rig(1);
  const NodeId t4 = rig.AddNode("T4", 1);
  rig.layouts[0][0] = LaidOut(rig.a100, {{"1g.10gb", 0}, {"3g.40gb", 4}});
  DeviceReport report = rig.Report();
  rig.AddSink(&report);
  const Row idle = {2000, 0, 0, 0, 0, 0, 0, 2000, 0, 375, 0, 2000, 428};
  EXPECT_EQ(Fields(report.now()), idle);
  const PodId first = rig.Arrive(Asks(200, 0, 20000));
  rig.Bind(first, rig.node);
  EXPECT_EQ(Fields(report.now()), idle);  // nothing has been given to it
  // Half of a 3g: 250 of 500 milli, 214 of 428 of compute, 20096 of 40192 MiB.
  DeviceGrant half = Instance(rig.a100, 0, "3g.40gb", 4);
  half.milli = 250;
  rig.Admit(first, {half});
  EXPECT_EQ(Fields(report.now()),
            (Row{2000, 250, 200, 14, 0, 96, 20096, 1750, 0, 375, 0, 2000, 428}));
  EXPECT_EQ(report.MoreThatFit()[0], Counts::value_type("1g.10gb", 1));
  EXPECT_EQ(report.MoreThatFit()[4], Counts::value_type("3g.40gb", 0));
  const PodId second = rig.Arrive(Asks(200, 0, 20000));
  rig.Bind(second, rig.node);
  rig.Admit(second, {half});
  // Two of three replicas of a whole GPU.
  const PodId third = rig.Arrive(Asks(700));
  rig.Bind(third, t4);
  rig.Admit(third, {{0, kNoPlacement, 333}, {0, kNoPlacement, 333}});
  EXPECT_EQ(Fields(report.now()),
            (Row{2000, 1166, 1100, 28, 34, 192, 40192, 834, 0, 375, 0, 2000, 428}));
  for (PodId pod : {first, second, third}) rig.Finish(pod);
  EXPECT_EQ(Fields(report.now()), idle);
}

TEST(DeviceReportTest, GpusThatAreLaidOutAhead) {
  A100Rig rig(3);
  const StaticLayout full = LaidOut(rig.a100, {{"4g.40gb", 0}, {"3g.40gb", 4}});
  rig.layouts[0] = {LaidOut(rig.a100, {{"1g.10gb", 6}}), LaidOut(rig.a100, {}), full};
  DeviceReport report = rig.Report({Typical(0.5, "1g.10gb", 0, 0), Typical(0.5, "", 0, 1)});
  rig.AddSink(&report);
  EXPECT_EQ(report.now().slot_fragmentation, 0.5 * 2000 + 0.5 * 3000);  // no share on any of them
  // Around the 1g, six units could have been instances, and one not; without any instance, all.
  EXPECT_EQ(Fields(report.now()), (Row{3000, 0, 0, 0, 0, 0, 0, 3000, 125, 1750, 0, 3000, 1857}));
  const Counts more = {{"1g.10gb", 1}, {"1g.10gb+me", 0}, {"1g.20gb", 0}, {"2g.20gb", 0},
                       {"3g.40gb", 1}, {"4g.40gb", 1},    {"7g.80gb", 0}};
  EXPECT_EQ(report.MoreThatFit(), more);

  const PodId pod = rig.Arrive(Asks(125, 142));
  rig.Bind(pod, rig.node);
  rig.Admit(pod, {Instance(rig.a100, 0, "1g.10gb", 6)});
  EXPECT_EQ(Fields(report.now()),
            (Row{3000, 125, 142, 0, 0, 0, 0, 2875, 125, 1750, 0, 3000, 1857}));
  EXPECT_EQ(report.MoreThatFit()[0].second, 0);
  EXPECT_EQ(report.now().slot_fragmentation, 2875);
  // Layouts are asked for when the node's devices change.
  rig.layouts[0][1] = full;
  EXPECT_EQ(report.now().stranded_layout, 1750);
  rig.DevicesChanged(rig.node);
  EXPECT_EQ(Fields(report.now()), (Row{3000, 125, 142, 0, 0, 0, 0, 2875, 125, 750, 0, 3000, 857}));
  // An instance that its layout no longer has keeps the GPU from everything.
  rig.layouts[0][0] = full;
  rig.DevicesChanged(rig.node);
  EXPECT_EQ(Fields(report.now()), (Row{3000, 125, 142, 0, 0, 0, 0, 2875, 0, 0, 0, 3000, 0}));
  EXPECT_EQ(report.MoreThatFit()[4], Counts::value_type("3g.40gb", 2));
  rig.Finish(pod);
  EXPECT_EQ(report.MoreThatFit()[4], Counts::value_type("3g.40gb", 3));
}

TEST(DeviceReportTest, WhatANodeThatIsFullOtherwiseCannotGive) {
  // The smallest cpu and the smallest memory of those that want a GPU.
  const std::vector<TypicalRequest> typical = {Typical(0.5, "", 1, 0, 4000, 8 * kTestGib),
                                               Typical(0.25, "1g.10gb", 0, 0, 2000, 16 * kTestGib),
                                               Typical(0.25, "", 0, 0, 100, kTestGib)};
  struct Case {
    int64_t cpu_milli;
    int64_t memory_bytes;
    int pods_more;  // that ask for nothing; two slots are left
    bool any_gpu;   // in the workload
    bool blocked;
  };
  for (const Case& c : {Case{8000, 56 * kTestGib, 1, true, false}, Case{8001, 0, 0, true, true},
                        Case{0, 56 * kTestGib + 1, 0, true, true}, Case{0, 0, 2, true, true},
                        Case{10000, 64 * kTestGib, 0, false, false}, Case{0, 0, 2, false, true}}) {
    SCOPED_TRACE(absl::StrCat(c.cpu_milli, " ", c.memory_bytes, " ", c.pods_more, c.any_gpu));
    Rig rig;
    const MigTable& a100 = rig.AddMigModel("A100", TestA100());
    NodeSpec spec = TestNode("node", 10000, 2, "A100");
    spec.memory_bytes = 64 * kTestGib;
    spec.pods = 3;
    const NodeId node = rig.AddNode(spec);
    PodShape shape = TestShape(c.cpu_milli, 0);
    shape.request.memory_bytes = c.memory_bytes;
    rig.Place(shape, node, {Instance(a100, 0, "1g.10gb", 6)});
    for (int p = 0; p < c.pods_more; ++p) rig.Bind(rig.Arrive(PodShape()), node);
    const DeviceAmounts amounts =
        rig.Report(c.any_gpu ? typical : std::vector<TypicalRequest>{typical[2]}).now();
    // Blocked, six of seven compute slices on one GPU and all on the other are of no use.
    EXPECT_EQ(amounts.stranded_other, c.blocked ? 1750 : 0);
    EXPECT_EQ(amounts.stranded(), c.blocked ? amounts.free : 125);
    EXPECT_EQ(amounts.compute_stranded, c.blocked ? 1857 : 0);
  }
}

TEST(DeviceReportTest, SlotFragmentation) {
  A100Rig rig(4);
  DeviceReport report = rig.Report({Typical(0.5, "2g.20gb", 0, 0), Typical(0.25, "", 2, 0),
                                    Typical(0.125, "", 0, 500), Typical(0.125, "", 0, 0)});
  rig.AddSink(&report);
  EXPECT_EQ(report.now().slot_fragmentation, 0.125 * 4000);
  for (int32_t at : {0, 2, 4}) {
    rig.Place(Asks(125), rig.node, {Instance(rig.a100, 0, "1g.10gb", at)});
  }
  rig.Place(Asks(125), rig.node, {Instance(rig.a100, 1, "1g.10gb", 6)});
  const PodId share = rig.Arrive(TestShape(0, 1, 600));
  rig.Bind(share, rig.node, DeviceSet::Of(2));
  // Free are 625, 875, 400 and 1000. A 2g fits on the second and fourth; two whole GPUs nowhere; a
  // share on the fourth.
  EXPECT_EQ(report.now().slot_fragmentation,
            0.5 * 1025 + 0.25 * 2900 + 0.125 * 1900 + 0.125 * 2900);
  rig.Finish(share);
  EXPECT_EQ(report.now().slot_fragmentation, 0.5 * 625 + 0.25 * 1500 + 0.125 * 1500 + 0.125 * 3500);
  rig.Bind(rig.Arrive(TestShape(63001, 0)), rig.node);
  EXPECT_EQ(report.now().slot_fragmentation, 3500);
}

TEST(DeviceReportTest, AveragesOverTime) {
  A100Rig rig(2);
  DeviceReport report = rig.Report({Typical(1, "", 1, 0)});
  rig.AddSink(&report);
  EXPECT_EQ(Fields(report.Mean(SimTime(1000))), Fields(report.now()));
  rig.At(100);
  const PodId first = rig.Place(Asks(125), rig.node, {Instance(rig.a100, 0, "1g.10gb", 6)});
  EXPECT_EQ(Fields(report.Mean(SimTime(100))), Fields(report.now()));
  EXPECT_EQ(report.Mean(SimTime(100)).slot_fragmentation, 875);
  rig.At(300);
  rig.Finish(first);
  rig.At(500);
  rig.Bind(rig.Arrive(TestShape(0, 1)), rig.node, DeviceSet::Of(1));
  // 125 milli for 200 ns, nothing for 200, a GPU for 400; rounded.
  EXPECT_EQ(Fields(report.Mean(SimTime(900))),
            (Row{2000, 531, 531, 4, 0, 0, 0, 1469, 31, 0, 0, 2000, 0}));
  EXPECT_EQ(report.Mean(SimTime(900)).slot_fragmentation, 218.75);
  EXPECT_EQ(report.Mean(SimTime(700)).held, 375);
  EXPECT_EQ(report.Mean(SimTime(700)).free, 1625);
}

TEST(DeviceReportTest, AcceptedIsWhatWasLetIn) {
  Rig rig;
  const NodeId node = rig.AddNode("T4", 8);
  DeviceReport report = rig.Report();
  rig.AddSink(&report);
  const PodId direct = rig.Arrive(TestShape(0, 1, 500));
  const PodId plugin = rig.Arrive(Asks(1000));
  rig.Leave(rig.Arrive(Asks(20)), RecordKind::kPodDeleted);
  EXPECT_EQ(report.arrived_milli(), 1520);
  // Once, however often it runs.
  rig.Bind(direct, node, DeviceSet::Of(0));
  rig.Leave(direct, RecordKind::kPodEvicted);
  rig.Bind(direct, node, DeviceSet::Of(0));
  EXPECT_EQ(report.accepted_milli(), 500);
  // Turned away, let in, and turned away in a later life.
  const DeviceGrants whole = {{1, kNoPlacement, 1000}};
  rig.Bind(plugin, node);
  rig.Reject(plugin, AdmissionFailure::kDevicesUnavailable);
  EXPECT_EQ(report.accepted_milli(), 500);
  rig.Bind(plugin, node);
  rig.Admit(plugin, whole);
  EXPECT_EQ(report.accepted_milli(), 1500);
  rig.Leave(plugin, RecordKind::kPodEvicted);
  rig.Bind(plugin, node);
  rig.Reject(plugin, AdmissionFailure::kTopologyAffinity, kGivenUp);
  EXPECT_EQ(report.accepted_milli(), 1500);
  // A gang of which one pod is turned away.
  const auto turned_away = static_cast<uint32_t>(EvictionCause::kTurnedAway);
  std::vector<PodId> gang;
  for (int i = 0; i < 3; ++i) gang.push_back(rig.Arrive(Asks(1000)));
  for (PodId pod : gang) rig.Bind(pod, node);
  rig.Admit(gang[0], whole);
  rig.Leave(gang[0], RecordKind::kPodEvicted, turned_away);
  rig.Reject(gang[1], AdmissionFailure::kDevicesUnavailable, kGivenUp);
  rig.Leave(gang[2], RecordKind::kPodFailed, turned_away);
  EXPECT_EQ(report.accepted_milli(), 1500);
  rig.Bind(gang[0], node);
  rig.Leave(gang[0], RecordKind::kPodDeleted);
  EXPECT_EQ(report.accepted_milli(), 2500);
  // After a checkpoint it is still known that `plugin` has run.
  StateWriter out;
  report.Save(out);
  DeviceReport loaded = rig.Report();
  StateReader in(out.bytes());
  ASSERT_EQ(loaded.Load(in), absl::OkStatus());
  rig.AddSink(&loaded);
  rig.Bind(plugin, node);
  rig.Reject(plugin, AdmissionFailure::kDevicesUnavailable);
  for (const DeviceReport* one : {&report, &loaded}) {
    EXPECT_EQ(one->accepted_milli(), 2500);
    EXPECT_EQ(one->arrived_milli(), 4520);
    EXPECT_EQ(one->admission_failures(AdmissionFailure::kDevicesUnavailable), 3);
    EXPECT_EQ(one->admission_failures(AdmissionFailure::kTopologyAffinity), 1);
    EXPECT_EQ(one->admission_failures(), 4);
  }
}

int64_t Sum(const MigTable& table, uint64_t set, int32_t MigProfile::*amount) {
  int64_t sum = 0;
  for (size_t p = 0; p < table.profiles().size(); ++p) {
    sum += int64_t{std::popcount(set & table.placements_of(p))} * (table.profiles()[p].*amount);
  }
  return sum;
}

// Counts the free units and those stranded by geometry and layouts, from all legal sets of
// instances. REQUIRES: instances are held whole.
DeviceAmounts Naive(const Rig& rig) {
  const ClusterState& cluster = rig.cluster();
  DeviceAmounts sums;
  for (size_t n = 0; n < rig.layouts.size(); ++n) {
    const MigTable* const table = cluster.mig_table(NodeId(n));
    if (!cluster.node(NodeId(n)).available) continue;
    for (size_t d = 0; d < rig.layouts[n].size(); ++d) {
      const int64_t idle = cluster.device_milli_idle(NodeId(n))[d];
      const uint64_t held = table == nullptr ? 0 : table->set(cluster.device_mig(NodeId(n))[d]);
      if (table == nullptr || (held == 0 && idle < 1000)) {
        sums.free += idle;
        continue;
      }
      const bool laid_out = rig.layouts[n][d].enabled;
      const uint64_t there = laid_out ? table->set(rig.layouts[n][d].state) : held;
      int64_t more_units = 0;
      int64_t more_slices = 0;
      for (size_t s = 0; s < table->states(); ++s) {
        const uint64_t added = table->set(static_cast<MigState>(s)) ^ there;
        if ((added & there) != 0) continue;  // it lacks an instance that is there
        more_units = std::max(more_units, Sum(*table, added, &MigProfile::size));
        more_slices = std::max(more_slices, Sum(*table, added, &MigProfile::compute_slices));
      }
      const int64_t units = table->product().units;
      const int64_t out = units - Sum(*table, there, &MigProfile::size);
      sums.free += 1000 * (units - Sum(*table, held, &MigProfile::size)) / units;
      sums.stranded_geometry += 1000 * (out - more_units) / units;
      sums.stranded_layout += laid_out ? 1000 * more_units / units : 0;
      const int64_t slices = table->product().compute_slices;
      const int64_t used = Sum(*table, there, &MigProfile::compute_slices);
      sums.compute_stranded += 1000 * (slices - used - (laid_out ? 0 : more_slices)) / slices;
    }
  }
  return sums;
}

// Gives a random part of a random GPU to a new pod, if it can have it.
void TryRandomPod(Rig& rig, NodeId node, bool by_node, Random& random, std::vector<PodId>* pods) {
  const ClusterState& cluster = rig.cluster();
  const MigTable* const table = cluster.mig_table(node);
  const auto gpu = static_cast<size_t>(random.Below(cluster.node(node).gpu_count));
  const StaticLayout& layout = rig.layouts[node.value()][gpu];
  const int16_t milli = random.Below(2) > 0 ? 1000 : 333;
  DeviceGrants part = {{static_cast<uint8_t>(gpu), kNoPlacement, milli}};
  if (table != nullptr && (layout.enabled || random.Below(4) > 0)) {
    const auto placement = static_cast<size_t>(random.Below(table->placements().size()));
    if (layout.enabled && (table->set(layout.state) >> placement & 1) == 0) return;
    part[0] = InstanceGrant(*table, gpu, placement);
  }
  PodShape shape = Asks(part[0].milli, static_cast<int32_t>(random.Below(1000)));
  shape.demand.memory_mib = static_cast<int64_t>(random.Below(50000));
  const PodId pod = rig.Arrive(shape);
  if (!cluster.CanPlace(cluster.pod_shape_id(pod), node, DevicesOf(part), part)) return;
  rig.Bind(pod, node, by_node ? DeviceSet() : DevicesOf(part), by_node ? DeviceGrants() : part);
  if (by_node) rig.Admit(pod, part);
  pods->push_back(pod);
}

void RandomStep(Rig& rig, bool laid_out, Random& random, std::vector<PodId>* pods) {
  const NodeId node(static_cast<size_t>(random.Below(3)));
  const uint64_t what = random.Below(8);
  if (what > 3) {
    TryRandomPod(rig, node, laid_out, random, pods);
  } else if (what > 0 && !pods->empty()) {
    std::swap((*pods)[static_cast<size_t>(random.Below(pods->size()))], pods->back());
    rig.Finish(pods->back());
    pods->pop_back();
  } else if (rig.cluster().pods_on(node).empty()) {
    const MigTable* const table = rig.cluster().mig_table(node);
    for (StaticLayout& layout : rig.layouts[node.value()]) {
      layout.enabled = laid_out && table != nullptr && random.Below(4) > 0;
      if (layout.enabled) layout.state = static_cast<MigState>(random.Below(table->states()));
    }
    rig.SetAvailable(node, random.Below(4) > 0);
    rig.DevicesChanged(node);
  }
}

void ExpectSame(const DeviceAmounts& a, const DeviceAmounts& b) {
  EXPECT_EQ(Fields(a), Fields(b));
  EXPECT_EQ(a.slot_fragmentation, b.slot_fragmentation);
}

TEST(DeviceReportTest, RandomRunsAgreeWithCountsFromScratch) {
  // Thirds are not exact.
  const std::vector<TypicalRequest> typical = {
      Typical(1.0 / 3, "2g.20gb", 0, 0, 0), Typical(1.0 / 3, "2g.12gb", 0, 0, 0),
      Typical(1.0 / 6, "", 2, 0, 0), Typical(1.0 / 6, "", 0, 500, 0)};
  for (uint64_t seed = 0; seed < SoakSeeds(4); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed, "device report");
    Rig rig;
    rig.AddMigModel("A100", TestA100(), OnlyProfiles(A100Base()));
    rig.AddMigModel("A30", TestA30());
    for (const char* model : {"A100", "A30", "T4"}) rig.AddNode(model, 3);
    DeviceReport report = rig.Report(typical);
    DeviceReport loaded = rig.Report(typical);
    rig.AddSink(&report);
    std::vector<PodId> pods;
    for (int step = 0; step < 200 && !HasFailure(); ++step) {
      rig.At(step * 1000);
      RandomStep(rig, seed % 2 == 1, random, &pods);
      const DeviceAmounts naive = Naive(rig);
      const DeviceAmounts& now = report.now();
      EXPECT_EQ((Row{now.free, now.capacity - now.held, now.stranded_geometry, now.stranded_layout,
                     now.compute_stranded}),
                (Row{naive.free, naive.free, naive.stranded_geometry, naive.stranded_layout,
                     naive.compute_stranded}));
      ExpectSame(now, rig.Report(typical).now());
      if (step != 100) continue;
      StateWriter out;
      report.Save(out);
      for (size_t size = 0; size < out.bytes().size(); ++size) {
        const absl::string_view cut = out.bytes().substr(0, size);
        StateReader cut_in(cut);
        DeviceReport other = rig.Report(typical);
        EXPECT_EQ(other.Load(cut_in).code(), absl::StatusCode::kDataLoss) << size;
      }
      StateReader in(out.bytes());
      ASSERT_EQ(loaded.Load(in), absl::OkStatus());
      EXPECT_TRUE(in.AtEnd());
      rig.AddSink(&loaded);
    }
    ExpectSame(report.now(), loaded.now());
    ExpectSame(report.Mean(SimTime(300000)), loaded.Mean(SimTime(300000)));
  }
}

}  // namespace device_report_test
}  // namespace drasim
