// DeviceLog: events below the scheduler, to the byte of device_events.csv.
#include "sim/record/device_log.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/mig_table.h"
#include "model/record.h"
#include "model/state_io.h"
#include "policies/framework/device_allocator.h"
#include "tests/testing/cluster_builder.h"
#include "tests/testing/mig_products.h"

namespace drasim {
namespace device_log_test {

constexpr char kHeader[] = "seconds,event,node,pod,devices,reason,message\n";

// One node with four A100s and some other devices, and one without any; pods as a test has them.
class Script {
 public:
  Script() {
    models_.SetMig(models_.Intern("A100").value(), &table_);
    NodeSpec gpus = TestNode("gpus", 64000, 4, "A100");
    gpus.extended = {{"example.com/nic", 4}, {"nvidia.com/gpu", 4}, {"nvidia.com/mig-3g.40gb", 0}};
    node_ = cluster_.AddNode(gpus).value();
    other_node_ = cluster_.AddNode(TestNode("plain, \"old\"", 64000, 0)).value();
  }

  void AddSink(RecordSink* sink) { sinks_.push_back(sink); }
  void At(int64_t ns) { now_ = SimTime(ns); }

  PodId Arrive(absl::string_view name, const PodShape& shape) {
    const PodId pod = cluster_.AddPod(name, shapes_.Intern(shape), 0, now_);
    Emit(RecordKind::kPodArrived, pod, NodeId(), DeviceSet(), 0);
    return pod;
  }
  void Reserve(PodId pod, DeviceSet devices = {}, const DeviceGrants& grants = {}) {
    cluster_.Assume(pod, node_, devices, grants);
    Emit(RecordKind::kPodReserved, pod, node_, devices, 0);
  }
  void Bind(PodId pod, DeviceSet devices = {}, const DeviceGrants& grants = {}) {
    if (cluster_.pod_phase(pod) == PodPhase::kPending) {
      cluster_.Assume(pod, node_, devices, grants);
    }
    cluster_.Bind(pod);
    Emit(RecordKind::kPodBound, pod, node_, devices, 0);
  }
  void Admit(PodId pod, const DeviceGrants& grants) {
    cluster_.Grant(pod, DevicesOf(grants), grants);
    Emit(RecordKind::kPodAdmitted, pod, node_, DevicesOf(grants), 0);
  }
  // By Finish, Fail, Evict or Delete.
  void Leave(PodId pod, void (ClusterState::*how)(PodId), RecordKind kind, uint32_t detail = 0) {
    const NodeId node = cluster_.pod_node(pod);
    const DeviceSet devices = cluster_.pod_devices(pod);
    (cluster_.*how)(pod);
    Emit(kind, pod, node, devices, detail);
  }
  void Finish(PodId pod) { Leave(pod, &ClusterState::Finish, RecordKind::kPodFinished); }
  void Fail(PodId pod, uint32_t cause) {
    Leave(pod, &ClusterState::Fail, RecordKind::kPodFailed, cause);
  }
  void Evict(PodId pod, EvictionCause cause) {
    Leave(pod, &ClusterState::Evict, RecordKind::kPodEvicted, static_cast<uint32_t>(cause));
  }
  void Delete(PodId pod) { Leave(pod, &ClusterState::Delete, RecordKind::kPodDeleted); }
  void Reject(PodId pod, AdmissionFailure why) {
    Leave(pod, &ClusterState::Evict, RecordKind::kPodRejected, static_cast<uint32_t>(why));
  }
  void RejectForGood(PodId pod, AdmissionFailure why) {
    Leave(pod, &ClusterState::Fail, RecordKind::kPodRejected,
          static_cast<uint32_t>(why) | kGivenUp);
  }
  void Devices(DeviceSet devices, DeviceChangeKind kind) {
    Emit(RecordKind::kDevicesChanged, PodId(), node_, devices, static_cast<uint32_t>(kind));
  }
  void Node(NodeChangeKind kind) {
    Emit(RecordKind::kNodeChanged, PodId(), other_node_, DeviceSet(), static_cast<uint32_t>(kind));
  }
  void Report(size_t column, int64_t amount) {
    cluster_.SetExtendedCapacity(node_, column, amount);
  }

  DeviceGrant Instance(size_t gpu, const std::string& profile, int32_t start) const {
    const auto p = static_cast<size_t>(table_.FindProfile(profile));
    return InstanceGrant(table_, gpu, static_cast<size_t>(table_.FindPlacement(p, start)));
  }

 private:
  void Emit(RecordKind kind, PodId pod, NodeId node, DeviceSet devices, uint32_t detail) {
    const Record record = {now_, kind, pod, node, devices, detail};
    for (RecordSink* sink : sinks_) sink->OnRecord(record, cluster_);
  }

  const MigTable table_ = TestTable(TestA100());
  GpuModelTable models_;
  ShapeTable shapes_{&models_};
  ClusterState cluster_{&models_, &shapes_};
  NodeId node_;
  NodeId other_node_;
  std::vector<RecordSink*> sinks_;
  SimTime now_;
};

DeviceGrant Whole(uint8_t gpu) { return {gpu, kNoPlacement, 1000}; }

// A pod that asks its node for so much of one resource.
PodShape Asks(int64_t amount, const std::string& resource = "nvidia.com/gpu") {
  PodShape shape = TestShape(1000, 0);
  shape.request.extended = {{resource, amount}};
  return shape;
}

TEST(DeviceLogTest, PodsWithDevicesOfTheirNode) {
  Script script;
  DeviceLog log;
  EXPECT_EQ(log.csv(), kHeader);
  script.AddSink(&log);
  script.At(1'500'000'000);
  const PodId train = script.Arrive("train", Asks(2));
  script.Reserve(train);
  script.Bind(train);
  script.Admit(train, {Whole(0), Whole(2)});
  const PodId part = script.Arrive("part", Asks(1));
  script.Bind(part);
  DeviceGrant quarter = script.Instance(1, "3g.40gb", 4);
  quarter.milli = 125;
  script.Admit(part, {script.Instance(1, "2g.20gb", 0), quarter});
  const PodId shares = script.Arrive("shares", Asks(1));
  script.Bind(shares);
  script.Admit(shares, {{3, kNoPlacement, 250}, {3, kNoPlacement, 250}});
  script.At(2'000'000'000);
  script.Finish(train);
  script.Evict(part, EvictionCause::kRepartitioned);
  script.Delete(shares);
  EXPECT_EQ(log.csv(), absl::StrCat(kHeader,
                                    "1.5,PodBound,gpus,train,,,\n"
                                    "1.5,PodAdmitted,gpus,train,0;2,,\n"
                                    "1.5,PodBound,gpus,part,,,\n"
                                    "1.5,PodAdmitted,gpus,part,1:2g.20gb@0;1:3g.40gb@4 (125m),,\n"
                                    "1.5,PodBound,gpus,shares,,,\n"
                                    "1.5,PodAdmitted,gpus,shares,3 (250m);3 (250m),,\n"
                                    "2,PodFinished,gpus,train,0;2,,\n"
                                    "2,PodEvicted,gpus,part,1:2g.20gb@0;1:3g.40gb@4 (125m),"
                                    "repartitioned,\n"
                                    "2,PodDeleted,gpus,shares,3 (250m);3 (250m),,\n"));
}

TEST(DeviceLogTest, PodsThatAreTurnedAway) {
  Script script;
  DeviceLog log;
  script.AddSink(&log);
  const PodId pod = script.Arrive("say \"hi\", pod", Asks(1));
  script.Bind(pod);
  script.Reject(pod, AdmissionFailure::kDevicesUnavailable);
  script.At(10'000'000'000);
  script.Bind(pod);
  script.RejectForGood(pod, AdmissionFailure::kTopologyAffinity);
  // In a gang, the pods beside the one that was turned away go, too.
  const PodId first = script.Arrive("gang-0", Asks(1));
  const PodId second = script.Arrive("gang-1", Asks(1));
  script.Bind(first);
  script.Bind(second);
  script.Admit(first, {Whole(0)});
  script.Evict(first, EvictionCause::kTurnedAway);
  script.Reject(second, AdmissionFailure::kAllocateFailed);
  const std::string name = "\"say \"\"hi\"\", pod\"";
  EXPECT_EQ(log.csv(), absl::StrCat(kHeader, "0,PodBound,gpus,", name, ",,,\n",
                                    "0,PodRejected,gpus,", name, ",,UnexpectedAdmissionError,",
                                    AdmissionMessage(AdmissionFailure::kDevicesUnavailable),
                                    "\n10,PodBound,gpus,", name, ",,,\n", "10,PodRejected,gpus,",
                                    name, ",,TopologyAffinityError,",
                                    AdmissionMessage(AdmissionFailure::kTopologyAffinity),
                                    "; given up\n"
                                    "10,PodBound,gpus,gang-0,,,\n"
                                    "10,PodBound,gpus,gang-1,,,\n"
                                    "10,PodAdmitted,gpus,gang-0,0,,\n"
                                    "10,PodEvicted,gpus,gang-0,0,turned away,\n"
                                    "10,PodRejected,gpus,gang-1,,UnexpectedAdmissionError,",
                                    AdmissionMessage(AdmissionFailure::kAllocateFailed), "\n"));
}

TEST(DeviceLogTest, PodsWhoseDevicesTheSchedulerChooses) {
  Script script;
  DeviceLog log;
  script.AddSink(&log);
  // Nothing that would concern a node.
  const PodId plain = script.Arrive("plain", TestShape(1000, 0));
  const PodId gpu = script.Arrive("gpu", TestShape(1000, 1));
  script.Bind(plain);
  script.Bind(gpu, DeviceSet::Of(0));
  script.Finish(plain);
  script.Fail(gpu, 0);
  EXPECT_EQ(log.csv(), kHeader);
  // MIG instances are reported whichever part chose them, and so are GPUs beside what the node
  // gives.
  PodShape instances = TestShape(1000, 0);
  instances.request.mig = {{"1g.10gb", 2}};
  const PodId mig = script.Arrive("mig", instances);
  script.Reserve(mig, DeviceSet::Of(0),
                 {script.Instance(0, "1g.10gb", 0), script.Instance(0, "1g.10gb", 6)});
  script.Bind(mig, DeviceSet::Of(0));
  PodShape beside = Asks(1, "example.com/nic");
  beside.request.gpu_count = 2;
  beside.request.gpu_milli = 460;
  const PodId nic = script.Arrive("nic", beside);
  script.Bind(nic, DeviceSet::FromBits(0b110));
  script.At(5);
  script.Fail(mig, static_cast<uint32_t>(EvictionCause::kNodeLost));
  script.Fail(nic, 0);
  // A pod that never ran.
  script.Delete(script.Arrive("waits", Asks(1)));
  EXPECT_EQ(log.csv(),
            absl::StrCat(kHeader,
                         "0,PodBound,gpus,mig,0:1g.10gb@0;0:1g.10gb@6,,\n"
                         "0,PodBound,gpus,nic,1 (460m);2 (460m),,\n"
                         "0.000000005,PodFailed,gpus,mig,0:1g.10gb@0;0:1g.10gb@6,node lost,\n"
                         "0.000000005,PodFailed,gpus,nic,1 (460m);2 (460m),,\n"));
}

TEST(DeviceLogTest, ChangesOfDevicesAndNodes) {
  using Kind = DeviceChangeKind;
  Script script;
  DeviceLog log;
  script.AddSink(&log);
  script.Devices(DeviceSet::FromBits(0b101), Kind::kUnhealthy);
  script.Report(1, 2);
  script.Devices(DeviceSet(), Kind::kAllocatable);
  script.Devices(DeviceSet::FromBits(0b101), Kind::kHealthy);
  script.Devices(DeviceSet(), Kind::kPluginGone);
  script.Report(1, 0);
  script.Devices(DeviceSet(), Kind::kAllocatable);
  script.Devices(DeviceSet(), Kind::kPluginBack);
  script.Devices(DeviceSet::Of(1), Kind::kLayoutBegun);
  script.Devices(DeviceSet::Of(1), Kind::kLayoutChanged);
  script.Report(1, 3);
  script.Report(2, 2);
  script.Devices(DeviceSet(), Kind::kAllocatable);
  for (const NodeChangeKind kind : {NodeChangeKind::kCordoned, NodeChangeKind::kUncordoned,
                                    NodeChangeKind::kUnavailable, NodeChangeKind::kAvailable}) {
    script.Node(kind);
  }
  EXPECT_EQ(log.csv(), absl::StrCat(kHeader,
                                    "0,DevicesChanged,gpus,,0;2,unhealthy,\n"
                                    "0,DevicesChanged,gpus,,,allocatable,nvidia.com/gpu=2\n"
                                    "0,DevicesChanged,gpus,,0;2,healthy,\n"
                                    "0,DevicesChanged,gpus,,,plugin gone,\n"
                                    "0,DevicesChanged,gpus,,,allocatable,\n"
                                    "0,DevicesChanged,gpus,,,plugin back,\n"
                                    "0,DevicesChanged,gpus,,1,layout begun,\n"
                                    "0,DevicesChanged,gpus,,1,layout changed,\n"
                                    "0,DevicesChanged,gpus,,,allocatable,"
                                    "nvidia.com/gpu=3 nvidia.com/mig-3g.40gb=2\n"
                                    "0,NodeChanged,\"plain, \"\"old\"\"\",,,cordoned,\n"
                                    "0,NodeChanged,\"plain, \"\"old\"\"\",,,uncordoned,\n"
                                    "0,NodeChanged,\"plain, \"\"old\"\"\",,,unavailable,\n"
                                    "0,NodeChanged,\"plain, \"\"old\"\"\",,,available,\n"));
}

TEST(DeviceLogTest, CausesHaveNames) {
  const std::pair<EvictionCause, const char*> causes[] = {
      {EvictionCause::kPreempted, "preempted"},
      {EvictionCause::kNodeLost, "node lost"},
      {EvictionCause::kDrained, "drained"},
      {EvictionCause::kAttemptFailed, "attempt failed"},
      {EvictionCause::kRepartitioned, "repartitioned"},
      {EvictionCause::kTurnedAway, "turned away"},
      {EvictionCause::kDeleted, "deleted"},
      {EvictionCause::kTainted, "tainted"}};
  for (const auto& [cause, name] : causes) {
    Script script;
    DeviceLog log;
    script.AddSink(&log);
    const PodId pod = script.Arrive("pod", Asks(1));
    script.Bind(pod);
    script.Evict(pod, cause);
    EXPECT_TRUE(absl::EndsWith(log.csv(), absl::StrCat("\n0,PodEvicted,gpus,pod,,", name, ",\n")))
        << log.csv();
  }
}

TEST(DeviceLogTest, GoesOnFromACheckpoint) {
  Script script;
  DeviceLog log;
  script.AddSink(&log);
  const PodId whole = script.Arrive("whole", Asks(1));
  const PodId part = script.Arrive("part", Asks(1));
  const PodId early = script.Arrive("early", Asks(1));
  for (const PodId pod : {whole, part, early}) script.Bind(pod);
  script.Admit(whole, {Whole(2)});
  script.Admit(part, {script.Instance(0, "4g.40gb", 0)});
  script.Admit(early, {Whole(3)});
  script.Finish(early);
  StateWriter out;
  log.Save(out);
  DeviceLog loaded;
  StateReader in(out.bytes());
  ASSERT_EQ(loaded.Load(in), absl::OkStatus());
  EXPECT_TRUE(in.AtEnd());
  EXPECT_EQ(loaded.csv(), log.csv());
  // Devices that pods held before the checkpoint are known behind it.
  script.AddSink(&loaded);
  script.Finish(part);
  script.Bind(script.Arrive("late", Asks(1)));
  script.Evict(whole, EvictionCause::kDrained);
  EXPECT_EQ(loaded.csv(), log.csv());
  EXPECT_TRUE(absl::EndsWith(loaded.csv(),
                             "0,PodFinished,gpus,part,0:4g.40gb@0,,\n"
                             "0,PodBound,gpus,late,,,\n"
                             "0,PodEvicted,gpus,whole,2,drained,\n"))
      << loaded.csv();

  for (size_t size = 0; size < out.bytes().size(); ++size) {
    const absl::string_view cut = out.bytes().substr(0, size);
    StateReader cut_in(cut);
    DeviceLog other;
    EXPECT_EQ(other.Load(cut_in).code(), absl::StatusCode::kDataLoss) << size;
  }
}

}  // namespace device_log_test
}  // namespace drasim
