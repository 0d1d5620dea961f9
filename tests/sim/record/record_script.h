// A small cluster that a test drives by hand: each step changes the state as the engine would and
// hands the record to the sinks.
#ifndef DRASIM_TESTS_SIM_RECORD_RECORD_SCRIPT_H_
#define DRASIM_TESTS_SIM_RECORD_RECORD_SCRIPT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/record.h"

namespace drasim {

inline constexpr int64_t kGib = int64_t{1} << 30;

class RecordScript {
 public:
  // Two nodes: node-a with 8 cores and two T4, node-b with 4 cores and one P100.
  RecordScript() : shapes_(&models_), cluster_(&models_, &shapes_) {
    AddNode("node-a", 8000, 2, "T4");
    AddNode("node-b", 4000, 1, "P100");
    summaries_.SetReasons({"Insufficient cpu", "Insufficient GPU"});
  }

  void AddSink(RecordSink* sink) { sinks_.push_back(sink); }
  void At(int64_t ns) { now_ = SimTime(ns); }

  ShapeId Shape(int64_t cpu_milli, int64_t memory_bytes, int32_t gpu_count, int32_t gpu_milli,
                absl::string_view gpu_spec = "") {
    PodShape shape;
    shape.request.cpu_milli = cpu_milli;
    shape.request.memory_bytes = memory_bytes;
    shape.request.gpu_count = gpu_count;
    shape.request.gpu_milli = gpu_milli;
    shape.request.gpu_spec = std::string(gpu_spec);
    return shapes_.Intern(shape);
  }
  ShapeId Shape(const PodShape& shape) { return shapes_.Intern(shape); }

  PodId Arrive(absl::string_view name, ShapeId shape, int32_t priority = 0) {
    const PodId pod = cluster_.AddPod(name, shape, priority, now_);
    Emit(RecordKind::kPodArrived, pod, NodeId(), DeviceSet(), shape.value());
    return pod;
  }
  void Reserve(PodId pod, uint32_t node, DeviceSet devices) {
    cluster_.Assume(pod, NodeId(node), devices);
    Emit(RecordKind::kPodReserved, pod, NodeId(node), devices, 0);
  }
  void Bind(PodId pod, uint32_t node, DeviceSet devices) {
    if (cluster_.pod_phase(pod) == PodPhase::kPending) {
      cluster_.Assume(pod, NodeId(node), devices);
    }
    cluster_.Bind(pod);
    Emit(RecordKind::kPodBound, pod, NodeId(node), devices, 0);
  }
  void Unreserve(PodId pod) {
    const NodeId node = cluster_.pod_node(pod);
    const DeviceSet devices = cluster_.pod_devices(pod);
    cluster_.Forget(pod);
    Emit(RecordKind::kPodUnreserved, pod, node, devices, 0);
  }
  void Fail(PodId pod, const VerdictSummaryTable::Row& why) {
    Emit(RecordKind::kAttemptFailed, pod, NodeId(), DeviceSet(), summaries_.Intern(why).value());
  }
  void Drop(PodId pod) {
    cluster_.Drop(pod);
    Emit(RecordKind::kPodDropped, pod, NodeId(), DeviceSet(), 0);
  }
  void Finish(PodId pod) {
    const NodeId node = cluster_.pod_node(pod);
    const DeviceSet devices = cluster_.pod_devices(pod);
    cluster_.Finish(pod);
    Emit(RecordKind::kPodFinished, pod, node, devices, 0);
  }
  // It waits again, because the other pod needs its place.
  void Preempt(PodId pod, PodId preemptor) {
    const NodeId node = cluster_.pod_node(pod);
    const DeviceSet devices = cluster_.pod_devices(pod);
    cluster_.Evict(pod);
    Emit(RecordKind::kPodEvicted, pod, node, devices,
         static_cast<uint32_t>(EvictionCause::kPreempted), preemptor);
  }
  void End() { Emit(RecordKind::kRunEnded, PodId(), NodeId(), DeviceSet(), 0); }

  const ClusterState& cluster() const { return cluster_; }
  const VerdictSummaryTable& summaries() const { return summaries_; }
  // Everything emitted so far.
  const std::vector<Record>& records() const { return records_; }

 private:
  void AddNode(absl::string_view name, int64_t cpu_milli, int32_t gpus, absl::string_view model) {
    NodeSpec spec;
    spec.name = std::string(name);
    spec.cpu_milli = cpu_milli;
    spec.memory_bytes = 16 * kGib;
    spec.gpu_count = gpus;
    spec.gpu_model = std::string(model);
    spec.labels = {{"pool", std::string(name)}, {"zone", "z1"}};
    if (gpus == 1) spec.taints = {{"gpu", "old", "NoSchedule"}};
    DRASIM_CHECK(cluster_.AddNode(spec).ok());
  }
  void Emit(RecordKind kind, PodId pod, NodeId node, DeviceSet devices, uint32_t detail,
            PodId preemptor = PodId()) {
    Record record;
    record.time = now_;
    record.kind = kind;
    record.pod = pod;
    record.node = node;
    record.devices = devices;
    record.detail = detail;
    record.preemptor = preemptor;
    records_.push_back(record);
    for (RecordSink* sink : sinks_) sink->OnRecord(record, cluster_);
  }

  GpuModelTable models_;
  ShapeTable shapes_;
  ClusterState cluster_;
  VerdictSummaryTable summaries_;
  std::vector<RecordSink*> sinks_;
  std::vector<Record> records_;
  SimTime now_;
};

}  // namespace drasim

#endif  // DRASIM_TESTS_SIM_RECORD_RECORD_SCRIPT_H_
