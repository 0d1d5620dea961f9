// Metrics as folds over the records. docs/metrics.md has every metric's formula and unit.
#ifndef DRASIM_SIM_RECORD_METRICS_H_
#define DRASIM_SIM_RECORD_METRICS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "model/fragmentation.h"
#include "model/record.h"

namespace drasim {

// The state of the cluster right after one outcome: a pod was bound, dropped or finished, or, where
// Bind takes time, charged (reserved) or uncharged (unreserved).
struct Sample {
  SimTime time;
  int64_t pods_arrived = 0;
  int64_t pods_scheduled = 0;  // bound at least once
  int64_t pods_dropped = 0;
  int64_t pods_finished = 0;
  int64_t attempts_failed = 0;
  int64_t pods_evicted = 0;  // times a pod left its node to run again later
  int64_t pods_failed = 0;
  int64_t pods_deleted = 0;
  int64_t pods_rejected = 0;      // times a node turned a bound pod away
  int64_t pods_given_up = 0;      // rejected pods that their owner did not replace
  int64_t gpu_arrived_milli = 0;  // requested by every pod that arrived
  ClusterTotals totals;
  FragmentationReport fragmentation;
};

class MetricsSink : public RecordSink {
 public:
  using Observer = std::function<void(const Sample&)>;

  // `model` must outlive the sink. Counts every node of `cluster` as it is now. O(nodes).
  MetricsSink(const FragmentationModel* model, const ClusterState& cluster);

  // Called after every outcome, in the order of registration.
  void AddObserver(Observer observer) { observers_.push_back(std::move(observer)); }

  void OnRecord(const Record& record, const ClusterState& cluster) override;

  // The present state; after the run, the final one.
  const Sample& sample() const { return sample_; }
  // Pods dropped or refused at least once, by shape id.
  const std::vector<int64_t>& dropped_by_shape() const { return dropped_by_shape_; }

  void Save(StateWriter& out) const override;
  // The cluster must be loaded already; its nodes are counted again.
  absl::Status Load(StateReader& in) override;

 private:
  bool Count(const Record& record, const ClusterState& cluster);
  void Recount();

  const FragmentationModel* model_;
  const ClusterState* cluster_;
  FragmentationTracker tracker_;
  std::vector<Observer> observers_;
  Sample sample_;
  std::vector<int64_t> dropped_by_shape_;
  std::vector<bool> bound_;  // by pod: at least once
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_METRICS_H_
