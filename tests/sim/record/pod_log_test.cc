// PodLog: the places and times of each pod's run, and pods.csv to the byte.
#include "sim/record/pod_log.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/mig_table.h"
#include "model/record.h"
#include "model/state_io.h"
#include "policies/framework/device_allocator.h"
#include "tests/sim/record/record_script.h"
#include "tests/testing/cluster_builder.h"
#include "tests/testing/mig_products.h"

namespace drasim {
namespace pod_log_test {

std::string Seconds(int64_t ns) {
  std::string text;
  AppendSeconds(SimTime(ns), &text);
  return text;
}

TEST(AppendSecondsTest, ExactDecimals) {
  EXPECT_EQ(Seconds(0), "0");
  EXPECT_EQ(Seconds(1), "0.000000001");
  EXPECT_EQ(Seconds(10), "0.00000001");
  EXPECT_EQ(Seconds(100'000'000), "0.1");
  EXPECT_EQ(Seconds(999'999'999), "0.999999999");
  EXPECT_EQ(Seconds(1'000'000'000), "1");
  EXPECT_EQ(Seconds(1'500'000'000), "1.5");
  EXPECT_EQ(Seconds(10'050'000'000), "10.05");
  EXPECT_EQ(Seconds(-1'500'000'000), "-1.5");
  EXPECT_EQ(Seconds(-1), "-0.000000001");
  EXPECT_EQ(Seconds(std::numeric_limits<int64_t>::max()), "9223372036.854775807");
}

TEST(AppendSecondsTest, AppendsBehindWhatIsThere) {
  std::string text = "t=";
  AppendSeconds(SimTime(2'000'000'000), &text);
  EXPECT_EQ(text, "t=2");
}

constexpr char kHeader[] =
    "pod,priority,cpu_milli,memory_bytes,gpu_count,gpu_milli,gpu_spec,phase,node,devices,"
    "arrival_seconds,start_seconds,end_seconds,attempts_failed,reason\n";

// One pod in each phase.
void PlayEveryPhase(RecordScript* script) {
  const ShapeId two = script->Shape(1000, kGib, 2, 1000, "T4|P100");
  const ShapeId none = script->Shape(500, 1, 0, 0);
  const ShapeId share = script->Shape(2000, 0, 1, 250);
  const PodId ran = script->Arrive("ran", two, 3);
  script->At(500'000'000);
  script->Bind(ran, 0, DeviceSet::FirstN(2));
  script->At(1'000'000'000);
  const PodId waits = script->Arrive("waits", none, -2);
  script->Fail(waits, {2, {{1, 2}}});
  script->Fail(waits, {2, {{1, 1}, {2, 1}}});
  const PodId dropped = script->Arrive("dropped", share);
  script->Fail(dropped, {2, {{1, 2}}});
  script->Drop(dropped);
  script->At(2'250'000'000);
  script->Finish(ran);
  const PodId runs = script->Arrive("runs", share);
  script->Bind(runs, 1, DeviceSet::Of(0));
  const PodId assumed = script->Arrive("assumed", share);
  script->Reserve(assumed, 0, DeviceSet::Of(1));
  script->End();
}

constexpr char kRows[] =
    "ran,3,1000,1073741824,2,1000,T4|P100,Succeeded,node-a,0-1,0,0.5,2.25,0,\n"
    "waits,-2,500,1,0,0,,Pending,,,1,,,2,\n"
    "dropped,0,2000,0,1,250,,Unschedulable,,,1,,,1,\n"
    "runs,0,2000,0,1,250,,Running,node-b,0,2.25,2.25,,0,\n"
    "assumed,0,2000,0,1,250,,Assumed,,,2.25,,,0,\n";

TEST(PodLogTest, CsvOfEveryPhase) {
  RecordScript script;
  PodLog log;
  script.AddSink(&log);
  PlayEveryPhase(&script);
  EXPECT_EQ(log.CsvHeader(), kHeader);
  std::string csv;
  log.AppendCsv(script.cluster(), 0, script.cluster().pod_count(), &csv);
  EXPECT_EQ(csv, kRows);
}

// Pods that wait show the last attempt; those that were given up show the failure of the pod of
// their gang that was tried right before, or the quota when nothing was tried.
TEST(PodLogTest, WhyPodsNeverRan) {
  RecordScript script;
  PodLog log(/*with_grants=*/false, &script.summaries());
  script.AddSink(&log);
  PlayEveryPhase(&script);
  const ShapeId shape = script.Shape(9000, 1, 0, 0);
  const PodId first = script.Arrive("gang-0", shape);
  const PodId second = script.Arrive("gang-1", shape);
  script.Fail(second, {2, {{1, 2}}});
  script.Drop(first);
  script.Drop(second);
  script.Drop(script.Arrive("quota", shape));
  std::string csv;
  log.AppendCsv(script.cluster(), 0, script.cluster().pod_count(), &csv);
  const std::string cpu = "0/2 nodes are available: 2 Insufficient cpu.";
  EXPECT_EQ(csv,
            absl::StrCat("ran,3,1000,1073741824,2,1000,T4|P100,Succeeded,node-a,0-1,0,0.5,2.25,0,\n"
                         "waits,-2,500,1,0,0,,Pending,,,1,,,2,\"0/2 nodes are available: 1 "
                         "Insufficient GPU, 1 Insufficient cpu.\"\n"
                         "dropped,0,2000,0,1,250,,Unschedulable,,,1,,,1,",
                         cpu,
                         "\nruns,0,2000,0,1,250,,Running,node-b,0,2.25,2.25,,0,\n"
                         "assumed,0,2000,0,1,250,,Assumed,,,2.25,,,0,\n"
                         "gang-0,0,9000,1,0,0,,Unschedulable,,,2.25,,,0,",
                         cpu, "\ngang-1,0,9000,1,0,0,,Unschedulable,,,2.25,,,1,", cpu,
                         "\nquota,0,9000,1,0,0,,Unschedulable,,,2.25,,,0,more than its "
                         "tenant's quota ever allows\n"));
}

TEST(PodLogTest, PiecesMakeTheWhole) {
  RecordScript script;
  PodLog log;
  script.AddSink(&log);
  PlayEveryPhase(&script);
  std::string csv;
  log.AppendCsv(script.cluster(), 0, 2, &csv);
  log.AppendCsv(script.cluster(), 2, 2, &csv);
  log.AppendCsv(script.cluster(), 2, 5, &csv);
  EXPECT_EQ(csv, kRows);
}

TEST(PodLogTest, RowsHoldTheLastPlacement) {
  RecordScript script;
  PodLog log;
  script.AddSink(&log);
  const PodId pod = script.Arrive("pod", script.Shape(1, 1, 1, 100));
  ASSERT_EQ(log.rows().size(), 1u);
  EXPECT_FALSE(log.rows()[0].node.valid());
  script.At(7);
  script.Reserve(pod, 0, DeviceSet::Of(1));
  EXPECT_FALSE(log.rows()[0].node.valid());
  script.Unreserve(pod);
  script.Fail(pod, {2, {}});
  script.At(9);
  script.Bind(pod, 1, DeviceSet::Of(0));
  EXPECT_EQ(log.rows()[0].node, NodeId(1u));
  EXPECT_EQ(log.rows()[0].devices, DeviceSet::Of(0));
  EXPECT_EQ(log.rows()[0].start, SimTime(9));
  EXPECT_EQ(log.failures()[0].attempts, 1);
}

TEST(PodLogTest, NamesAndModelsThatNeedQuotesGetThem) {
  RecordScript script;
  PodLog log;
  script.AddSink(&log);
  script.Arrive("a,b", script.Shape(1, 1, 1, 100, "T4,P100"));
  script.Arrive("say \"hi\"", script.Shape(2, 1, 0, 0));
  std::string csv;
  log.AppendCsv(script.cluster(), 0, 2, &csv);
  EXPECT_EQ(csv,
            "\"a,b\",0,1,1,1,100,\"T4,P100\",Pending,,,0,,,0,\n"
            "\"say \"\"hi\"\"\",0,2,1,0,0,,Pending,,,0,,,0,\n");
}

TEST(PodLogTest, SavesAndLoads) {
  RecordScript script;
  PodLog log;
  script.AddSink(&log);
  PlayEveryPhase(&script);
  StateWriter out;
  log.Save(out);
  PodLog loaded;
  StateReader in(out.bytes());
  ASSERT_EQ(loaded.Load(in), absl::OkStatus());
  EXPECT_TRUE(in.AtEnd());
  std::string csv;
  loaded.AppendCsv(script.cluster(), 0, script.cluster().pod_count(), &csv);
  EXPECT_EQ(csv, kRows);

  for (size_t size = 0; size < out.bytes().size(); ++size) {
    const absl::string_view cut = out.bytes().substr(0, size);
    StateReader cut_in(cut);
    PodLog other;
    EXPECT_EQ(other.Load(cut_in).code(), absl::StatusCode::kDataLoss) << size;
  }
}

// --- Parts of devices ---

// A node with five A100s, of which it, or the scheduler, gives parts to pods.
class PartScript {
 public:
  PartScript() {
    models_.SetMig(models_.Intern("A100").value(), &table_);
    node_ = cluster_.AddNode(TestNode("gpus", 64000, 5, "A100")).value();
  }

  void AddSink(RecordSink* sink) { sinks_.push_back(sink); }
  void At(int64_t ns) { now_ = SimTime(ns); }
  PodId Arrive(absl::string_view name, const PodShape& shape) {
    const PodId pod = cluster_.AddPod(name, shapes_.Intern(shape), 0, now_);
    Emit(RecordKind::kPodArrived, pod, DeviceSet(), 0);
    return pod;
  }
  void Bind(PodId pod, DeviceSet devices = {}, const DeviceGrants& grants = {}) {
    cluster_.Assume(pod, node_, devices, grants);
    cluster_.Bind(pod);
    Emit(RecordKind::kPodBound, pod, devices, 0);
  }
  void Admit(PodId pod, const DeviceGrants& grants) {
    cluster_.Grant(pod, DevicesOf(grants), grants);
    Emit(RecordKind::kPodAdmitted, pod, DevicesOf(grants), 0);
  }
  void Finish(PodId pod) {
    const DeviceSet devices = cluster_.pod_devices(pod);
    cluster_.Finish(pod);
    Emit(RecordKind::kPodFinished, pod, devices, 0);
  }
  void Reject(PodId pod, AdmissionFailure why, bool given_up) {
    if (given_up) {
      cluster_.Fail(pod);
    } else {
      cluster_.Evict(pod);
    }
    Emit(RecordKind::kPodRejected, pod, DeviceSet(),
         static_cast<uint32_t>(why) | (given_up ? kGivenUp : uint32_t{0}));
  }
  DeviceGrant Instance(size_t gpu, const std::string& profile, int32_t start) const {
    const auto p = static_cast<size_t>(table_.FindProfile(profile));
    return InstanceGrant(table_, gpu, static_cast<size_t>(table_.FindPlacement(p, start)));
  }

  const ClusterState& cluster() const { return cluster_; }

 private:
  void Emit(RecordKind kind, PodId pod, DeviceSet devices, uint32_t detail) {
    const NodeId node = kind == RecordKind::kPodArrived ? NodeId() : node_;
    const Record record = {now_, kind, pod, node, devices, detail};
    for (RecordSink* sink : sinks_) sink->OnRecord(record, cluster_);
  }

  const MigTable table_ = TestTable(TestA100());
  GpuModelTable models_;
  ShapeTable shapes_{&models_};
  ClusterState cluster_{&models_, &shapes_};
  NodeId node_;
  std::vector<RecordSink*> sinks_;
  SimTime now_;
};

void PlayParts(PartScript* script) {
  const PodShape from_node = TestShape(1000, 0);
  DeviceGrant half = script->Instance(0, "3g.40gb", 4);
  half.milli = 250;
  const PodId ended = script->Arrive("ended", from_node);
  const PodId refused = script->Arrive("refused", from_node);
  const PodId later = script->Arrive("later", from_node);
  script->At(1'000'000'000);
  script->Bind(ended);
  script->Admit(ended, {half});
  script->Bind(refused);
  script->Reject(refused, AdmissionFailure::kTopologyAffinity, false);
  script->Bind(later);
  script->Reject(later, AdmissionFailure::kTopologyAffinity, false);
  script->At(2'000'000'000);
  script->Finish(ended);
  script->Bind(refused);
  script->Bind(later);
  script->Admit(later, {{1, kNoPlacement, 333}, {1, kNoPlacement, 333}});
  script->At(3'500'000'000);
  script->Reject(refused, AdmissionFailure::kDevicesUnavailable, true);
  PodShape instances = from_node;
  instances.request.mig = {{"1g.10gb", 2}};
  script->Bind(script->Arrive("direct", instances), DeviceSet::Of(2),
               {script->Instance(2, "1g.10gb", 0), script->Instance(2, "1g.10gb", 1)});
  script->Bind(script->Arrive("chosen", TestShape(1000, 1)), DeviceSet::Of(3));
  const PodId whole = script->Arrive("whole", from_node);
  script->Bind(whole);
  script->Admit(whole, {{4, kNoPlacement, 1000}});
  const PodId turned = script->Arrive("turned", from_node);
  script->Bind(turned);
  script->Reject(turned, AdmissionFailure::kDeviceUnhealthy, false);
}

constexpr char kPartRows[] =
    "ended,0,1000,0,0,0,,Succeeded,gpus,0,0,1,2,0,0:3g.40gb@4 (250m),\n"
    "refused,0,1000,0,0,0,,Failed,gpus,,0,2,3.5,0,,UnexpectedAdmissionError\n"
    "later,0,1000,0,0,0,,Running,gpus,1,0,2,,0,1 (333m);1 (333m),TopologyAffinityError\n"
    "direct,0,1000,0,0,0,,Running,gpus,2,3.5,3.5,,0,2:1g.10gb@0;2:1g.10gb@1,\n"
    "chosen,0,1000,0,1,1000,,Running,gpus,3,3.5,3.5,,0,,\n"
    "whole,0,1000,0,0,0,,Running,gpus,4,3.5,3.5,,0,4,\n"
    "turned,0,1000,0,0,0,,Pending,gpus,,3.5,3.5,,0,,UnexpectedAdmissionError\n";

std::string RowsOf(const PodLog& log, const ClusterState& cluster) {
  std::string csv;
  log.AppendCsv(cluster, 0, cluster.pod_count(), &csv);
  return csv;
}

TEST(PodLogPartsTest, OneMoreColumn) {
  PartScript script;
  PodLog log(/*with_grants=*/true);
  PodLog plain;
  script.AddSink(&log);
  script.AddSink(&plain);
  PlayParts(&script);
  std::string header = kHeader;
  header.insert(header.find(",reason"), ",grants");
  EXPECT_EQ(log.CsvHeader(), header);
  EXPECT_EQ(RowsOf(log, script.cluster()), kPartRows);
  // Without them no reason is known either. No field has a comma in it.
  std::string others;
  for (absl::string_view line : absl::StrSplit(kPartRows, '\n', absl::SkipEmpty())) {
    for (int field = 0; field < 2; ++field) line = line.substr(0, line.rfind(','));
    absl::StrAppend(&others, line, ",\n");
  }
  EXPECT_EQ(RowsOf(plain, script.cluster()), others);
}

TEST(PodLogPartsTest, SavesAndLoads) {
  PartScript script;
  PodLog log(/*with_grants=*/true);
  script.AddSink(&log);
  PlayParts(&script);
  StateWriter out;
  log.Save(out);
  PodLog loaded(/*with_grants=*/true);
  StateReader in(out.bytes());
  ASSERT_EQ(loaded.Load(in), absl::OkStatus());
  EXPECT_TRUE(in.AtEnd());
  EXPECT_EQ(RowsOf(loaded, script.cluster()), kPartRows);
  for (size_t size = 0; size < out.bytes().size(); ++size) {
    const absl::string_view cut = out.bytes().substr(0, size);
    StateReader cut_in(cut);
    PodLog other(/*with_grants=*/true);
    EXPECT_EQ(other.Load(cut_in).code(), absl::StatusCode::kDataLoss) << size;
  }
}

TEST(PodLogPartsTest, PartsOutOfRangeAreRefused) {
  const auto load = [](uint64_t device, uint64_t placement, int64_t milli) {
    StateWriter out;
    out.U64(1);
    out.U64(device);
    out.U64(placement);
    out.I64(milli);
    StateReader in(out.bytes());
    (void)LoadGrants(in);
    return in.status().code();
  };
  EXPECT_EQ(load(63, kNoPlacement, 1000), absl::StatusCode::kOk);
  EXPECT_EQ(load(64, kNoPlacement, 1000), absl::StatusCode::kDataLoss);
  EXPECT_EQ(load(0, kNoPlacement + 1, 1000), absl::StatusCode::kDataLoss);
  EXPECT_EQ(load(0, 0, 1001), absl::StatusCode::kDataLoss);
  EXPECT_EQ(load(0, 0, -1), absl::StatusCode::kDataLoss);
}

}  // namespace pod_log_test
}  // namespace drasim
