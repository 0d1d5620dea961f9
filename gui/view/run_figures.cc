#include "gui/view/run_figures.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "model/ids.h"

namespace drasim::view {
namespace {

double Quotient(absl::uint128 part, absl::uint128 whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

absl::uint128 LevelTime(int64_t level, uint64_t ns) {
  return absl::uint128(static_cast<uint64_t>(std::max<int64_t>(level, 0))) * ns;
}

}  // namespace

FigureFold::FigureFold(const ClusterState* cluster, std::optional<LayoutOfGpu> layouts)
    : cluster_(cluster), layouts_(layouts) {
  allocated_milli_ = cluster->totals().gpu_milli_allocated;
  capacity_milli_ = cluster->totals().gpu_milli_capacity;
  for (size_t n = 0; n < cluster->node_count(); ++n) {
    by_node_.push_back(SlicesOf(*cluster, NodeId(n), layouts_));
    slices_.Add(by_node_.back(), +1);
  }
}

double FigureFold::allocated_percent() const {
  const ClusterTotals& totals = cluster_->totals();
  if (totals.gpu_milli_capacity <= 0) return 0;
  return 100 * static_cast<double>(totals.gpu_milli_allocated) /
         static_cast<double>(totals.gpu_milli_capacity);
}

void FigureFold::Advance(SimTime time) {
  // A damaged ledger may go back in time; such a step has no length.
  if (time <= time_) return;
  // Levels of the record before: the cluster has the state after this one.
  const auto ns = static_cast<uint64_t>(time.ns()) - static_cast<uint64_t>(time_.ns());
  held_sum_ += LevelTime(slices_.held, ns);
  stranded_sum_ += LevelTime(slices_.stranded, ns);
  slices_sum_ += LevelTime(slices_.slices, ns);
  waiting_sum_ += LevelTime(waiting_, ns);
  allocated_sum_ += LevelTime(allocated_milli_, ns);
  capacity_sum_ += LevelTime(capacity_milli_, ns);
  time_ = time;
}

void FigureFold::Add(const Record& record, const PodFold& pods) {
  Advance(record.time);
  if (record.node.valid()) {
    SliceCounts& node = by_node_[record.node.value()];
    slices_.Add(node, -1);
    node = SlicesOf(*cluster_, record.node, layouts_);
    slices_.Add(node, +1);
  }
  allocated_milli_ = cluster_->totals().gpu_milli_allocated;
  capacity_milli_ = cluster_->totals().gpu_milli_capacity;
  waiting_ = pods.waiting();
  most_waiting_ = std::max(most_waiting_, waiting_);
  peak_percent_ = std::max(peak_percent_, allocated_percent());
}

RunFigures FigureFold::Figures(const PodTable& pods) const {
  RunFigures figures;
  figures.end = time_;
  figures.pods = static_cast<int64_t>(pods.rows());
  std::vector<SimDuration> waits;
  for (size_t p = 0; p < pods.rows(); ++p) {
    const PodRow& pod = pods.row(p);
    figures.started += pod.started ? 1 : 0;
    figures.finished += pod.phase == PodPhase::kSucceeded ? 1 : 0;
    figures.dropped += pod.phase == PodPhase::kDropped ? 1 : 0;
    figures.waiting += pod.phase == PodPhase::kPending || pod.phase == PodPhase::kAssumed ? 1 : 0;
    figures.attempts_failed += pod.attempts_failed;
    figures.evictions += pod.times_evicted;
    const std::optional<SimDuration> wait = pods.FirstWaitOf(p);
    if (wait.has_value()) waits.push_back(*wait);
  }
  figures.waits = WaitFiguresOf(&waits);
  figures.most_waiting = most_waiting_;
  figures.has_gpus = capacity_sum_ > 0 || cluster_->totals().gpu_milli_capacity > 0;
  figures.allocated_percent_mean = 100 * Quotient(allocated_sum_, capacity_sum_);
  figures.allocated_percent_peak = peak_percent_;
  figures.allocated_percent_end = allocated_percent();
  figures.has_slices = slices_.slices > 0;
  figures.held_percent_mean = 100 * Quotient(held_sum_, slices_sum_);
  figures.stranded_percent_mean = 100 * Quotient(stranded_sum_, slices_sum_);
  figures.waiting_mean =
      time_.ns() > 0 ? Quotient(waiting_sum_, absl::uint128(static_cast<uint64_t>(time_.ns()))) : 0;
  return figures;
}

}  // namespace drasim::view
