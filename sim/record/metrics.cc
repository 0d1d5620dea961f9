#include "sim/record/metrics.h"

namespace drasim {

MetricsSink::MetricsSink(const FragmentationModel* model, const ClusterState& cluster)
    : model_(model), cluster_(&cluster), tracker_(model) {
  Recount();
}

void MetricsSink::Recount() {
  tracker_ = FragmentationTracker(model_);
  for (size_t n = 0; n < cluster_->node_count(); ++n) tracker_.Update(*cluster_, NodeId(n));
  sample_.totals = cluster_->totals();
  sample_.fragmentation = tracker_.Report();
}

// Counts the record. True for an outcome.
bool MetricsSink::Count(const Record& record, const ClusterState& cluster) {
  switch (record.kind) {
    case RecordKind::kPodArrived:
      ++sample_.pods_arrived;
      sample_.gpu_arrived_milli += cluster.pod_shape(record.pod).wanted_gpu_milli();
      return false;
    case RecordKind::kPodBound:
      // An evicted pod may be bound again.
      if (bound_.size() <= record.pod.value()) bound_.resize(cluster.pod_count());
      if (!bound_[record.pod.value()]) ++sample_.pods_scheduled;
      bound_[record.pod.value()] = true;
      return true;
    case RecordKind::kPodFinished:
      ++sample_.pods_finished;
      return true;
    case RecordKind::kPodDropped: {
      ++sample_.pods_dropped;
      const uint32_t shape = cluster.pod_shape_id(record.pod).value();
      if (dropped_by_shape_.size() <= shape) dropped_by_shape_.resize(cluster.shapes().size());
      ++dropped_by_shape_[shape];
      return true;
    }
    case RecordKind::kAttemptFailed:
      ++sample_.attempts_failed;
      return false;
    case RecordKind::kPodEvicted:
      ++sample_.pods_evicted;
      return true;
    case RecordKind::kPodFailed:
      ++sample_.pods_failed;
      if (record.detail == static_cast<uint32_t>(EvictionCause::kTurnedAway)) {
        ++sample_.pods_given_up;
      }
      return true;
    case RecordKind::kPodDeleted:
      ++sample_.pods_deleted;
      return true;
    case RecordKind::kPodRejected:
      ++sample_.pods_rejected;
      if ((record.detail & kGivenUp) != 0) {
        ++sample_.pods_given_up;
        ++sample_.pods_failed;
      }
      return true;
    case RecordKind::kNodeChanged:
    case RecordKind::kPodAdmitted:
    case RecordKind::kPodReserved:
    case RecordKind::kPodUnreserved:
      // The totals change with the charge, so the measure does too.
      return true;
    case RecordKind::kDevicesChanged:
    case RecordKind::kPodStarted:
    case RecordKind::kRunEnded:
      return false;
  }
  return false;
}

void MetricsSink::OnRecord(const Record& record, const ClusterState& cluster) {
  sample_.time = record.time;
  if (!Count(record, cluster)) return;
  if (record.node.valid()) tracker_.Update(cluster, record.node);
  sample_.totals = cluster.totals();
  sample_.fragmentation = tracker_.Report();
  for (const Observer& observer : observers_) observer(sample_);
}

void MetricsSink::Save(StateWriter& out) const {
  out.Section("metrics");
  out.I64(sample_.time.ns());
  for (int64_t v :
       {sample_.pods_arrived, sample_.pods_scheduled, sample_.pods_dropped, sample_.pods_finished,
        sample_.attempts_failed, sample_.gpu_arrived_milli, sample_.pods_evicted,
        sample_.pods_failed, sample_.pods_deleted, sample_.pods_rejected, sample_.pods_given_up}) {
    out.I64(v);
  }
  out.U64(bound_.size());
  for (bool bound : bound_) out.Bool(bound);
  out.Ints(dropped_by_shape_);
}

absl::Status MetricsSink::Load(StateReader& in) {
  in.Section("metrics");
  sample_.time = SimTime(in.I64());
  for (int64_t* v : {&sample_.pods_arrived, &sample_.pods_scheduled, &sample_.pods_dropped,
                     &sample_.pods_finished, &sample_.attempts_failed, &sample_.gpu_arrived_milli,
                     &sample_.pods_evicted, &sample_.pods_failed, &sample_.pods_deleted,
                     &sample_.pods_rejected, &sample_.pods_given_up}) {
    *v = in.I64();
  }
  const size_t pods = in.Count();
  for (size_t i = 0; i < pods && in.status().ok(); ++i) bound_.push_back(in.Bool());
  in.Ints(&dropped_by_shape_);
  Recount();
  return in.status();
}

}  // namespace drasim
