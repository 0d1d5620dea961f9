#include "gui/view/fragmentation_series.h"

#include <algorithm>
#include <limits>

#include "model/ids.h"

namespace drasim::view {
namespace {

constexpr int64_t kSamples = 2000;

}  // namespace

FragmentationSeries::FragmentationSeries(const FragmentationModel* model,
                                         const ClusterState& cluster, SimTime end)
    : tracker_(model),
      end_(end),
      step_(std::max<int64_t>(1, end.ns() / kSamples)),
      changed_(cluster.node_count(), true) {
  for (size_t n = 0; n < cluster.node_count(); ++n) stale_.push_back(n);
}

void FragmentationSeries::Add(const Record& record, SimTime now, const ClusterState& cluster) {
  if (record.node.valid() && !changed_[record.node.value()]) {
    changed_[record.node.value()] = true;
    stale_.push_back(record.node.value());
  }
  if (now.ns() < next_) return;
  next_ = now.ns() > std::numeric_limits<int64_t>::max() - step_ ? now.ns() : now.ns() + step_;
  for (const size_t n : stale_) {
    tracker_.Update(cluster, NodeId(n));
    changed_[n] = false;
  }
  stale_.clear();
  series_.Add(now, tracker_.Report().ratio_percent());
}

}  // namespace drasim::view
