#include "sim/record/ledger_digest.h"

#include <algorithm>

#include "absl/types/span.h"
#include "sim/record/ledger_pods.h"

namespace drasim {
LedgerDigest::LedgerDigest(const ClusterState& cluster, const VerdictSummaryTable& summaries,
                           const LedgerPace& pace, LayoutOfGpu layouts)
    : pace_(pace), live_(cluster, &summaries), slices_(cluster, layouts) {}

bool LedgerDigest::CountFailure(const Record& record) {
  if (!record.pod.valid() || record.pod.value() >= failures_.size()) return false;
  Failures& failures = failures_[record.pod.value()];
  if (failures.last == SummaryId::kInvalid ||
      !live_.CountFailure(record, SummaryId(failures.last))) {
    return false;
  }
  ++failures.unseen;
  failures.last = record.detail;
  series_.OnRepeatedFailure(record, live_);
  ++records_;
  time_ = record.time;
  return true;
}

void LedgerDigest::AddFailures(PodId pod) {
  if (pod.value() >= failures_.size()) return;
  Failures& failures = failures_[pod.value()];
  if (failures.unseen > 0) live_.AddFailures(pod, failures.unseen, SummaryId(failures.last));
  failures.unseen = 0;
}

const LiveState& LedgerDigest::live() {
  for (const LivePod& pod : live_.pods()) AddFailures(pod.pod);
  return live_;
}

void LedgerDigest::OnRecord(const Record& record, const ClusterState& cluster) {
  const bool failed = record.kind == RecordKind::kAttemptFailed;
  if (failed && CountFailure(record)) return;
  if (record.pod.valid()) AddFailures(record.pod);
  Fold(record, cluster);
  if (!record.pod.valid()) return;
  if (failures_.size() <= record.pod.value()) failures_.resize(record.pod.value() + size_t{1});
  failures_[record.pod.value()].last =
      failed && live_.Find(record.pod) != nullptr ? record.detail : SummaryId::kInvalid;
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
  const SliceCounts before = slices_.counts();
  series_.EndBlock(live_, before, slices_.Sample(cluster, live_, layouts));
}

std::string LedgerDigest::PackPods(size_t count, const ClusterState& cluster, const JobTable* jobs,
                                   WireMessage* scratch) const {
  return drasim::PackPods(records_, time_, absl::MakeConstSpan(ended_).first(count), cluster, jobs,
                          scratch);
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
