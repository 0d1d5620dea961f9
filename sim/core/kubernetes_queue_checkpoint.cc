// Checkpoints of the scheduling queue.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "model/ids.h"
#include "model/state_io.h"
#include "model/time.h"
#include "sim/core/kubernetes_queue.h"

namespace drasim {
namespace {

// So late that the beginning of its second is still a time.
constexpr int64_t kEarliestExpiryNs =
    std::numeric_limits<int64_t>::min() + SimDuration::Seconds(1).ns();

uint32_t LoadU32(StateReader& in) {
  const uint64_t value = in.U64();
  if (value > std::numeric_limits<uint32_t>::max()) {
    in.Fail(absl::StrCat("the scheduling queue has ", value, " where 32 bits are the limit"));
    return 0;
  }
  return static_cast<uint32_t>(value);
}

}  // namespace

// In order of sequence, so that the bytes do not depend on which slots pods happen to be in.
void KubernetesQueue::Save(StateWriter& out) const {
  out.Section("kubernetes_queue");
  out.U64(next_sequence_);
  out.I64(last_ns_);
  out.U64(nonempty_.size());
  for (const uint32_t bucket_index : nonempty_) {
    out.U64(buckets_[bucket_index].shape.value());
    out.U64(buckets_[bucket_index].rejectors);
  }
  std::vector<std::pair<uint64_t, uint32_t>> order;
  for (uint32_t slot = 0; slot < entries_.size(); ++slot) {
    if (entries_[slot].pod.valid()) order.emplace_back(entries_[slot].sequence, slot);
  }
  std::sort(order.begin(), order.end());
  out.U64(order.size());
  for (const auto& [sequence, slot] : order) {
    const Entry& entry = entries_[slot];
    out.U64(entry.pod.value());
    out.U64(entry.shape.value());
    out.I64(entry.priority);
    out.U64(sequence);
    out.I64(entry.queued_at_ns);
    out.I64(entry.expiry_ns);
    out.U64(entry.attempts);
    out.U64(entry.unschedulable_count);
    out.U64(entry.consecutive_errors);
    out.U64(static_cast<uint64_t>(entry.place));
    if (entry.place == Place::kUnschedulable) out.U64(buckets_[entry.bucket].listed);
  }
}

absl::Status KubernetesQueue::Load(StateReader& in) {
  const auto clear = [this] {
    std::function<bool(PodId)> gate = std::move(gate_);
    *this = KubernetesQueue(sort_, options_);
    gate_ = std::move(gate);
  };
  clear();
  in.Section("kubernetes_queue");
  next_sequence_ = in.U64();
  last_ns_ = in.I64();
  LoadBuckets(in);
  const size_t count = in.Count();
  for (size_t i = 0; i < count && in.status().ok(); ++i) LoadEntry(in);
  for (const Bucket& bucket : buckets_) {
    if (bucket.live == 0) in.Fail("the scheduling queue lists a bucket without pods");
  }
  if (!in.status().ok()) clear();
  return in.status();
}

// The buckets are listed at once, in the order in which the saved queue asked.
void KubernetesQueue::LoadBuckets(StateReader& in) {
  const size_t count = in.Count();
  for (size_t i = 0; i < count; ++i) {
    const ShapeId shape(LoadU32(in));
    const uint64_t rejectors = in.U64();
    if (!in.status().ok()) return;
    const uint32_t bucket_index = BucketOf(kNone, shape, rejectors);
    if (bucket_index != i) return in.Fail("the scheduling queue lists a bucket twice");
    List(bucket_index);
  }
}

void KubernetesQueue::LoadEntry(StateReader& in) {
  Entry entry;
  entry.pod = PodId(LoadU32(in));
  entry.shape = ShapeId(LoadU32(in));
  const int64_t priority = in.I64();
  entry.sequence = in.U64();
  entry.queued_at_ns = in.I64();
  entry.expiry_ns = in.I64();
  entry.attempts = LoadU32(in);
  entry.unschedulable_count = LoadU32(in);
  entry.consecutive_errors = LoadU32(in);
  const uint64_t place = in.U64();
  const bool in_bucket = place == static_cast<uint64_t>(Place::kUnschedulable);
  const uint64_t listed = in_bucket ? in.U64() : 0;
  if (!in.status().ok()) return;
  entry.priority = static_cast<int32_t>(priority);
  if (!entry.pod.valid() || SlotOf(entry.pod) != kNone || entry.priority != priority ||
      place > static_cast<uint64_t>(Place::kGated) || (in_bucket && listed >= nonempty_.size())) {
    return in.Fail("a pod of the scheduling queue has a field out of range, or is there twice");
  }
  const bool follows = entries_.empty() || (entries_.back().sequence < entry.sequence &&
                                            entries_.back().queued_at_ns <= entry.queued_at_ns);
  if (!follows || entry.sequence >= next_sequence_ || entry.queued_at_ns > last_ns_) {
    return in.Fail("a pod of the scheduling queue is out of order");
  }
  const auto target = static_cast<Place>(place);
  const bool backs_off = target == Place::kBackoff || target == Place::kErrorBackoff;
  if (backs_off && entry.expiry_ns < kEarliestExpiryNs) {
    return in.Fail("a pod of the scheduling queue is in backoff without an end");
  }
  const uint32_t slot = NewSlot(entry.pod);
  entries_[slot] = entry;
  // It was asked before it was saved.
  if (target == Place::kActive) PutActive(slot);
  if (target == Place::kGated) EnterGate(slot);
  if (backs_off) EnterBackoff(slot, target);
  if (in_bucket) EnterBucket(slot, nonempty_[static_cast<size_t>(listed)]);
}

}  // namespace drasim
