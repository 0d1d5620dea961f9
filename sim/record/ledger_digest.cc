#include "sim/record/ledger_digest.h"

#include <algorithm>

#include "absl/types/span.h"
#include "sim/record/ledger_pods.h"

namespace drasim {
namespace {

constexpr size_t kMostFailures = 1024;  // put off at a time
// The rows of waiting pods lie anywhere: they are asked for so many records ahead.
constexpr size_t kPrefetched = 8;

}  // namespace

LedgerDigest::LedgerDigest(const ClusterState& cluster, const VerdictSummaryTable& summaries,
                           const LedgerPace& pace, LayoutOfGpu layouts)
    : pace_(pace), live_(cluster, &summaries), slices_(cluster, layouts) {}

void LedgerDigest::OnRecord(const Record& record, const ClusterState& cluster) {
  if (record.kind == RecordKind::kAttemptFailed) {
    failures_.push_back(record);
    if (failures_.size() == kMostFailures) FoldFailures(cluster);
    return;
  }
  FoldFailures(cluster);
  Fold(record, cluster);
}

void LedgerDigest::FoldFailures(const ClusterState& cluster) {
  const size_t count = failures_.size();
  for (size_t i = 0; i < count; ++i) {
    if (i + 2 * kPrefetched < count) live_.PrefetchPlace(failures_[i + 2 * kPrefetched].pod);
    if (i + kPrefetched < count) live_.PrefetchRow(failures_[i + kPrefetched].pod);
    Fold(failures_[i], cluster);
  }
  failures_.clear();
}

void LedgerDigest::Fold(const Record& record, const ClusterState& cluster) {
  live_.OnRecord(record, cluster);
  series_.OnRecord(record, live_);
  slices_.OnRecord(record);
  if (live_.ended().has_value()) ended_.push_back(*live_.ended());
  ++records_;
  time_ = record.time;
}

void LedgerDigest::EndBlock(const ClusterState& cluster, LayoutOfGpu layouts) {
  FoldFailures(cluster);
  const SliceCounts before = slices_.counts();
  series_.EndBlock(live_, before, slices_.Sample(cluster, live_, layouts));
}

std::string LedgerDigest::PackPods(size_t count, const ClusterState& cluster,
                                   const JobTable* jobs) const {
  return drasim::PackPods(records_, time_, absl::MakeConstSpan(ended_).first(count), cluster, jobs);
}

void LedgerDigest::PassPods(size_t count) {
  ended_.erase(ended_.begin(), ended_.begin() + static_cast<std::ptrdiff_t>(count));
}

bool LedgerDigest::IsKeyframeDue() const {
  const uint64_t live = live_.pods().size() + live_.node_count();
  return records_ - keyframe_records_ >=
         std::max(pace_.records_per_keyframe, pace_.records_per_live_object * live);
}

void LedgerDigest::PassKeyframe(size_t shapes, size_t summaries) {
  keyframe_records_ = records_;
  keyframe_shapes_ = shapes;
  keyframe_summaries_ = summaries;
}

}  // namespace drasim
