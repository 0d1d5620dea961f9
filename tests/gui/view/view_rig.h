// Two nodes of two A100-80GB each that a test drives by hand, and the views that follow.
#ifndef DRASIM_TESTS_GUI_VIEW_VIEW_RIG_H_
#define DRASIM_TESTS_GUI_VIEW_VIEW_RIG_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gui/view/pod_table.h"
#include "gui/view/run_figures.h"
#include "model/check.h"
#include "model/cluster_state.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/gpu_model_table.h"
#include "model/ids.h"
#include "model/mig_table.h"
#include "model/pod_shape.h"
#include "model/record.h"
#include "model/shape_table.h"
#include "model/time.h"
#include "tests/testing/mig_products.h"

namespace drasim {

class ViewRig {
 public:
  using Visitor = std::function<void(const Record&)>;

  ViewRig() : table_(TestTable(TestA100())), shapes_(&models_), cluster_(&models_, &shapes_) {
    models_.SetMig(models_.Intern("A100").value(), &table_);
    for (const char* name : {"node-a", "node-b"}) {
      NodeSpec spec;
      spec.name = name;
      spec.cpu_milli = 8000;
      spec.memory_bytes = int64_t{16} << 30;
      spec.gpu_count = 2;
      spec.gpu_model = "A100";
      DRASIM_CHECK(cluster_.AddNode(spec).ok());
    }
    summaries_.SetReasons({"Insufficient cpu", "no free placement"});
    figures_ = std::make_unique<view::FigureFold>(&cluster_);
  }

  void At(int64_t seconds) { now_ = SimTime(seconds * kSecondNs); }
  SimTime now() const { return now_; }
  void Follow(Visitor visitor) { visitors_.push_back(std::move(visitor)); }

  static PodShape Mig(absl::string_view profile) {
    PodShape shape;
    shape.request.cpu_milli = 1000;
    shape.request.mig = {{std::string(profile), 1}};
    shape.request.nominal_milli = 125;
    return shape;
  }
  static PodShape Gpus(int32_t count, int32_t milli = kDeviceMilli) {
    PodShape shape;
    shape.request.cpu_milli = 1000;
    shape.request.gpu_count = count;
    shape.request.gpu_milli = milli;
    return shape;
  }

  PodId Arrive(absl::string_view name, const PodShape& shape) {
    const ShapeId id = shapes_.Intern(shape);
    const PodId pod = cluster_.AddPod(name, id, 0, now_);
    Emit(RecordKind::kPodArrived, pod, NodeId(), id.value());
    return pod;
  }
  // A MIG pod's instance at its start.
  DeviceGrants Instance(absl::string_view profile, uint8_t device, int32_t start) const {
    const int index = table_.FindProfile(profile);
    DRASIM_CHECK(index >= 0);
    const int placement = table_.FindPlacement(static_cast<size_t>(index), start);
    DRASIM_CHECK(placement >= 0);
    const int32_t size = table_.profiles()[static_cast<size_t>(index)].size;
    DeviceGrants grants;
    grants.push_back(
        {device, static_cast<uint8_t>(placement), MilliOfUnits(size, table_.product().units)});
    return grants;
  }
  void Reserve(PodId pod, uint32_t node, DeviceSet devices, const DeviceGrants& grants = {}) {
    cluster_.Assume(pod, NodeId(node), devices, grants);
    Emit(RecordKind::kPodReserved, pod, NodeId(node), 0);
  }
  void Bind(PodId pod, uint32_t node, DeviceSet devices, const DeviceGrants& grants = {}) {
    if (cluster_.pod_phase(pod) == PodPhase::kPending) {
      cluster_.Assume(pod, NodeId(node), devices, grants);
    }
    cluster_.Bind(pod);
    Emit(RecordKind::kPodBound, pod, NodeId(node), 0);
  }
  void Fail(PodId pod, uint32_t cpu_nodes, uint32_t placement_nodes) {
    VerdictSummaryTable::Row row;
    row.nodes = 2;
    if (cpu_nodes > 0) row.rejected.emplace_back(uint8_t{1}, cpu_nodes);
    if (placement_nodes > 0) row.rejected.emplace_back(uint8_t{2}, placement_nodes);
    Emit(RecordKind::kAttemptFailed, pod, NodeId(), summaries_.Intern(row).value());
  }
  void Unreserve(PodId pod) {
    const NodeId node = cluster_.pod_node(pod);
    cluster_.Forget(pod);
    Emit(RecordKind::kPodUnreserved, pod, node, 0);
  }
  void Evict(PodId pod, EvictionCause cause) {
    const NodeId node = cluster_.pod_node(pod);
    cluster_.Evict(pod);
    Emit(RecordKind::kPodEvicted, pod, node, static_cast<uint32_t>(cause));
  }
  void Finish(PodId pod) {
    const NodeId node = cluster_.pod_node(pod);
    cluster_.Finish(pod);
    Emit(RecordKind::kPodFinished, pod, node, 0);
  }
  void TurnAway(PodId pod, AdmissionFailure failure, bool given_up) {
    const NodeId node = cluster_.pod_node(pod);
    if (given_up) {
      cluster_.Fail(pod);
    } else {
      cluster_.Evict(pod);
    }
    Emit(RecordKind::kPodRejected, pod, node,
         static_cast<uint32_t>(failure) | (given_up ? kGivenUp : 0));
  }
  void Drop(PodId pod) {
    cluster_.Drop(pod);
    Emit(RecordKind::kPodDropped, pod, NodeId(), 0);
  }
  void Cordon(uint32_t node) {
    cluster_.SetSchedulable(NodeId(node), false);
    Emit(RecordKind::kNodeChanged, PodId(), NodeId(node),
         static_cast<uint32_t>(NodeChangeKind::kCordoned));
  }

  const ClusterState& cluster() const { return cluster_; }
  const VerdictSummaryTable& summaries() const { return summaries_; }
  view::PodFold& pods() { return pods_; }
  view::PodTable Table() const { return pods_.Table(now_, cluster_, summaries_); }
  view::RunFigures Figures() const { return figures_->Figures(Table()); }

 private:
  void Emit(RecordKind kind, PodId pod, NodeId node, uint32_t detail) {
    Record record;
    record.time = now_;
    record.kind = kind;
    record.pod = pod;
    record.node = node;
    record.detail = detail;
    pods_.Add(record, cluster_);
    figures_->Add(record, pods_);
    for (const Visitor& visitor : visitors_) visitor(record);
  }

  MigTable table_;
  GpuModelTable models_;
  ShapeTable shapes_;
  ClusterState cluster_;
  VerdictSummaryTable summaries_;
  view::PodFold pods_;
  std::unique_ptr<view::FigureFold> figures_;
  std::vector<Visitor> visitors_;
  SimTime now_;
};

// Three pods: `a` finishes, `b` waits after an eviction, `c` was turned away and tries again.
inline void PlayThreePods(ViewRig* rig) {
  const PodId a = rig->Arrive("a", ViewRig::Gpus(1));
  rig->pods().SetTenant(a, "red");
  rig->Bind(a, 0, DeviceSet::Of(0));
  rig->At(10);
  const PodId b = rig->Arrive("b", ViewRig::Mig("7g.80gb"));
  rig->pods().SetTenant(b, "blue");
  rig->Fail(b, 0, 2);
  rig->At(20);
  rig->Reserve(b, 1, DeviceSet::Of(0), rig->Instance("7g.80gb", 0, 0));
  rig->At(25);
  rig->Bind(b, 1, DeviceSet::Of(0));
  rig->At(40);
  rig->Evict(b, EvictionCause::kDrained);
  const PodId c = rig->Arrive("c", ViewRig::Gpus(1));
  rig->Bind(c, 0, DeviceSet::Of(1));
  rig->TurnAway(c, AdmissionFailure::kDeviceUnhealthy, false);
  rig->Finish(a);
  rig->At(100);
}

}  // namespace drasim

#endif  // DRASIM_TESTS_GUI_VIEW_VIEW_RIG_H_
