#include "sim/core/kubernetes_queue.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/time.h"

namespace drasim {
namespace {

using kubernetes_queue_internal::BeforeByKey;
using kubernetes_queue_internal::MakeHeapKey;

constexpr int64_t kFlushPeriodNs = SimDuration::Seconds(30).ns();

// Below this many dead keys or vacated places a sweep is not worth its fixed cost.
constexpr size_t kMinSweep = 64;

// The greatest multiple of `unit_ns` that is not after `ns`.
constexpr int64_t FloorTo(int64_t ns, int64_t unit_ns) {
  const int64_t rest_ns = ns % unit_ns;
  return ns - rest_ns - (rest_ns < 0 ? unit_ns : 0);
}

// The least multiple of `unit_ns` that is not before `ns`.
constexpr int64_t CeilTo(int64_t ns, int64_t unit_ns) { return FloorTo(ns - 1, unit_ns) + unit_ns; }

// The earliest end of a backoff whose second begins within the range of the clock.
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

// The plugin's order of pods, for heaps without dead keys, because a dead key's slot may hold
// another pod.
struct KubernetesQueue::BeforeByPlugin {
  const KubernetesQueue* queue;

  bool operator()(const HeapKey& x, const HeapKey& y) const {
    if (x.vacant() || y.vacant()) return !x.vacant();
    const QueuedPod a = queue->QueuedOf(queue->entries_[x.slot()]);
    const QueuedPod b = queue->QueuedOf(queue->entries_[y.slot()]);
    if (queue->sort_->Less(a, b)) return true;
    if (queue->sort_->Less(b, a)) return false;
    return a.sequence < b.sequence;
  }
};

template <typename Action>
void KubernetesQueue::WithOrder(Action action) const {
  if (by_key_) {
    action(BeforeByKey());
  } else {
    action(BeforeByPlugin{this});
  }
}

KubernetesQueue::KubernetesQueue(const QueueSortPlugin* sort, const KubernetesQueueOptions& options)
    : sort_(sort), options_(options), by_key_(sort->queue_order() == QueueOrder::kByPriority) {
  DRASIM_CHECK_GE(options.initial_backoff.ns(), 0);
  DRASIM_CHECK_GE(options.max_backoff.ns(), 0);
  DRASIM_CHECK_GE(options.unschedulable_flush.ns(), 0);
}

// ---- Time ----

// The order of keys requires that a later sequence never has an earlier timestamp.
void KubernetesQueue::AdvanceTo(SimTime now) {
  DRASIM_CHECK_GE(now.ns(), last_ns_);
  last_ns_ = now.ns();
}

// A backoff is over if its end is before this.
int64_t KubernetesQueue::WindowNs(SimTime now) const {
  return options_.pop_from_backoff ? FloorTo(now.ns(), kSecondNs) : now.ns();
}

// The end of the backoff of a pod whose failure has just been counted.
int64_t KubernetesQueue::ExpiryNs(const Entry& entry) const {
  const int64_t max_ns = options_.max_backoff.ns();
  if (max_ns == 0) return kNeverNs;
  const uint32_t count =
      entry.consecutive_errors > 0 ? entry.consecutive_errors : entry.unschedulable_count;
  DRASIM_CHECK_GT(count, 0u);
  const uint32_t doublings = std::min(count - 1, 63u);
  int64_t backoff_ns = options_.initial_backoff.ns();
  if (backoff_ns > (max_ns >> doublings)) {
    backoff_ns = max_ns;
  } else {
    backoff_ns <<= doublings;
  }
  const int64_t end_ns = entry.queued_at_ns + backoff_ns;
  return options_.pop_from_backoff ? FloorTo(end_ns, kSecondNs) : end_ns;
}

// ---- Pods ----

QueuedPod KubernetesQueue::QueuedOf(const Entry& entry) const {
  QueuedPod pod;
  pod.pod = entry.pod;
  pod.priority = entry.priority;
  pod.queued_at = SimTime(entry.queued_at_ns);
  pod.sequence = entry.sequence;
  return pod;
}

KubernetesQueue::HeapKey KubernetesQueue::KeyOf(uint32_t slot) const {
  const Entry& entry = entries_[slot];
  return MakeHeapKey(entry.priority, entry.sequence, slot);
}

// A pod enters a heap at most once with one sequence, so this tells its key from an older one.
bool KubernetesQueue::IsLive(const HeapKey& key, Place place) const {
  const Entry& entry = entries_[key.slot()];
  return entry.sequence == key.sequence() && entry.place == place;
}

KubernetesQueue::Backoff& KubernetesQueue::BackoffAt(Place place) {
  return place == Place::kErrorBackoff ? error_backoff_ : pod_backoff_;
}

// kNone: the queue does not know the pod.
uint32_t KubernetesQueue::SlotOf(PodId pod) const {
  return pod.value() < slot_of_pod_.size() ? slot_of_pod_[pod.value()] : kNone;
}

uint32_t KubernetesQueue::NewSlot(PodId pod) {
  DRASIM_CHECK(pod.valid());
  DRASIM_CHECK_EQ(SlotOf(pod), kNone);
  uint32_t slot;
  if (free_slots_.empty()) {
    slot = static_cast<uint32_t>(entries_.size());
    entries_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  if (pod.value() >= slot_of_pod_.size()) slot_of_pod_.resize(size_t{pod.value()} + 1, kNone);
  slot_of_pod_[pod.value()] = slot;
  entries_[slot].pod = pod;
  return slot;
}

void KubernetesQueue::FreeSlot(uint32_t slot) {
  slot_of_pod_[entries_[slot].pod.value()] = kNone;
  entries_[slot] = Entry();
  free_slots_.push_back(slot);
}

void KubernetesQueue::Add(PodId pod, ShapeId shape, int32_t priority, SimTime now) {
  AdvanceTo(now);
  const uint32_t slot = NewSlot(pod);
  Entry& entry = entries_[slot];
  entry.shape = shape;
  entry.priority = priority;
  entry.queued_at_ns = now.ns();
  entry.sequence = next_sequence_++;
  EnterActive(slot);
}

QueuedPod KubernetesQueue::Pop(SimTime now) {
  AdvanceTo(now);
  DRASIM_CHECK(CanPop());
  uint32_t slot;
  if (active_ > 0) {
    slot = TakeFirst(active_heap_, Place::kActive);
    --active_;
  } else {
    const auto earliest = pod_backoff_.seconds.end() - 1;
    slot = TakeFirst(earliest->heap, Place::kBackoff);
    --pod_backoff_.live;
    if (--earliest->live == 0) DropSecond(pod_backoff_, earliest);
  }
  Entry& entry = entries_[slot];
  entry.place = Place::kInFlight;
  ++entry.attempts;
  return QueuedOf(entry);
}

uint32_t KubernetesQueue::RecordFailure(PodId pod, ShapeId shape, uint64_t rejectors, SimTime now) {
  AdvanceTo(now);
  const uint32_t slot = SlotOf(pod);
  DRASIM_CHECK_NE(slot, kNone);
  Entry& entry = entries_[slot];
  DRASIM_CHECK(entry.place == Place::kInFlight);
  if (rejectors == 0) {
    ++entry.consecutive_errors;
  } else {
    ++entry.unschedulable_count;
    entry.consecutive_errors = 0;
  }
  entry.shape = shape;
  entry.queued_at_ns = now.ns();
  entry.sequence = next_sequence_++;
  entry.expiry_ns = ExpiryNs(entry);
  return slot;
}

void KubernetesQueue::Return(const QueuedPod& pod, ShapeId shape, uint64_t rejectors,
                             bool moved_since, SimTime now) {
  const uint32_t slot = RecordFailure(pod.pod, shape, rejectors, now);
  if (rejectors == 0) {
    EnterAfterBackoff(slot, Place::kErrorBackoff, WindowNs(now));
  } else if (moved_since) {
    EnterAfterBackoff(slot, Place::kBackoff, WindowNs(now));
  } else {
    EnterBucket(slot, BucketOf(entries_[slot].bucket, shape, rejectors));
  }
}

void KubernetesQueue::ReturnToActive(const QueuedPod& pod, ShapeId shape, uint64_t rejectors,
                                     SimTime now) {
  EnterActive(RecordFailure(pod.pod, shape, rejectors, now));
}

bool KubernetesQueue::Activate(PodId pod, SimTime now) {
  AdvanceTo(now);
  const uint32_t slot = SlotOf(pod);
  if (slot == kNone) return false;
  const Place place = entries_[slot].place;
  if (place == Place::kInFlight || place == Place::kActive) return false;
  Leave(slot);
  EnterActive(slot);
  return true;
}

void KubernetesQueue::Recheck(PodId pod, SimTime now) {
  AdvanceTo(now);
  const uint32_t slot = SlotOf(pod);
  if (slot == kNone || entries_[slot].place != Place::kGated) return;
  Leave(slot);
  EnterActive(slot);
}

bool KubernetesQueue::OnPodEvent(PodId pod, SimTime now) {
  AdvanceTo(now);
  const uint32_t slot = SlotOf(pod);
  if (slot == kNone || entries_[slot].place != Place::kUnschedulable) return false;
  Leave(slot);
  EnterAfterBackoff(slot, Place::kBackoff, WindowNs(now));
  return true;
}

void KubernetesQueue::OnUpdate(PodId pod, ShapeId shape, absl::FunctionRef<bool(uint64_t)> helps,
                               SimTime now) {
  AdvanceTo(now);
  const uint32_t slot = SlotOf(pod);
  if (slot == kNone) return;
  entries_[slot].shape = shape;
  if (entries_[slot].place != Place::kUnschedulable) return;
  const uint64_t rejectors = buckets_[entries_[slot].bucket].rejectors;
  Leave(slot);
  if (helps(rejectors)) return EnterAfterBackoff(slot, Place::kBackoff, WindowNs(now));
  EnterBucket(slot, BucketOf(kNone, shape, rejectors));
  SortIntoBucket(slot);
}

bool KubernetesQueue::Remove(PodId pod) {
  const uint32_t slot = SlotOf(pod);
  if (slot == kNone || entries_[slot].place == Place::kInFlight) return false;
  Leave(slot);
  FreeSlot(slot);
  return true;
}

void KubernetesQueue::Forget(PodId pod) {
  const uint32_t slot = SlotOf(pod);
  if (slot == kNone) return;
  DRASIM_CHECK(entries_[slot].place == Place::kInFlight);
  FreeSlot(slot);
}

KubernetesQueue::Counts KubernetesQueue::CountsOf(PodId pod) const {
  const uint32_t slot = SlotOf(pod);
  DRASIM_CHECK_NE(slot, kNone);
  const Entry& entry = entries_[slot];
  Counts counts;
  counts.attempts = entry.attempts;
  counts.unschedulable = entry.unschedulable_count;
  counts.consecutive_errors = entry.consecutive_errors;
  return counts;
}

// ---- Between places ----

void KubernetesQueue::Push(KeyHeap& heap, uint32_t slot) {
  const HeapKey key = KeyOf(slot);
  ++operations_;
  WithOrder([&heap, &key](auto before) { heap.Push(key, before); });
}

void KubernetesQueue::EnterActive(uint32_t slot) {
  if (gate_ && !gate_(entries_[slot].pod)) {
    EnterGate(slot);
  } else {
    PutActive(slot);
  }
}

void KubernetesQueue::EnterGate(uint32_t slot) {
  entries_[slot].place = Place::kGated;
  ++operations_;
  ++gated_;
}

void KubernetesQueue::PutActive(uint32_t slot) {
  entries_[slot].place = Place::kActive;
  Push(active_heap_, slot);
  ++active_;
}

void KubernetesQueue::EnterBackoff(uint32_t slot, Place place) {
  entries_[slot].place = place;
  Backoff& pods = BackoffAt(place);
  const int64_t start_ns = FloorTo(entries_[slot].expiry_ns, kSecondNs);
  auto second = FindSecond(pods, start_ns);
  if (second == pods.seconds.end() || second->start_ns != start_ns) {
    Second added;
    added.start_ns = start_ns;
    if (!spare_heaps_.empty()) {
      added.heap = std::move(spare_heaps_.back());
      spare_heaps_.pop_back();
    }
    second = pods.seconds.insert(second, std::move(added));
  }
  Push(second->heap, slot);
  ++second->live;
  ++pods.live;
}

void KubernetesQueue::EnterAfterBackoff(uint32_t slot, Place backoff_place, int64_t window_ns) {
  if (entries_[slot].expiry_ns < window_ns) {
    EnterActive(slot);
  } else {
    EnterBackoff(slot, backoff_place);
  }
}

void KubernetesQueue::EnterBucket(uint32_t slot, uint32_t bucket_index) {
  Bucket& bucket = buckets_[bucket_index];
  if (bucket.listed == kNone) List(bucket_index);
  Entry& entry = entries_[slot];
  entry.place = Place::kUnschedulable;
  entry.bucket = bucket_index;
  entry.index = static_cast<uint32_t>(bucket.slots.size());
  bucket.slots.push_back(slot);
  ++bucket.live;
  ++operations_;
  ++unschedulable_;
}

// The last of its bucket goes where its sequence belongs.
void KubernetesQueue::SortIntoBucket(uint32_t slot) {
  Entry& entry = entries_[slot];
  Bucket& bucket = buckets_[entry.bucket];
  for (; entry.index > bucket.first; --entry.index) {
    const uint32_t before = bucket.slots[entry.index - 1];
    if (before != kNone && entries_[before].sequence < entry.sequence) return;
    if (before != kNone) entries_[before].index = entry.index;
    std::swap(bucket.slots[entry.index - 1], bucket.slots[entry.index]);
  }
}

// The pod leaves the queue, as if in flight.
void KubernetesQueue::Leave(uint32_t slot) {
  Entry& entry = entries_[slot];
  const Place place = entry.place;
  entry.place = Place::kInFlight;
  ++operations_;
  switch (place) {
    case Place::kInFlight:
      break;
    case Place::kActive:
      --active_;
      SweepIfWorthwhile(active_heap_, active_, place);
      break;
    case Place::kBackoff:
    case Place::kErrorBackoff:
      LeaveBackoff(entry, place);
      break;
    case Place::kGated:
      --gated_;
      break;
    case Place::kUnschedulable: {
      Bucket& bucket = buckets_[entry.bucket];
      bucket.slots[entry.index] = kNone;
      --bucket.live;
      --unschedulable_;
      TidyUp(bucket);
      break;
    }
  }
}

void KubernetesQueue::LeaveBackoff(const Entry& entry, Place place) {
  Backoff& pods = BackoffAt(place);
  const auto second = FindSecond(pods, FloorTo(entry.expiry_ns, kSecondNs));
  --pods.live;
  if (--second->live == 0) {
    DropSecond(pods, second);
  } else {
    SweepIfWorthwhile(second->heap, second->live, place);
  }
}

// Drops dead keys when they are the majority; at once if the order depends on more than the keys.
void KubernetesQueue::SweepIfWorthwhile(KeyHeap& heap, size_t live, Place place) {
  const size_t allowed = by_key_ ? live + kMinSweep : 0;
  if (heap.size() - live <= allowed) return;
  const auto keep = [this, place](const HeapKey& key) { return IsLive(key, place); };
  WithOrder([&heap, &keep](auto before) { heap.KeepIf(keep, before); });
}

// Takes keys off the heap up to the first live one, and returns its slot. REQUIRES: there is one.
uint32_t KubernetesQueue::TakeFirst(KeyHeap& heap, Place place) {
  for (;;) {
    DRASIM_CHECK(!heap.empty());
    const HeapKey key = heap.top();
    ++operations_;
    WithOrder([&heap](auto before) { heap.Pop(before); });
    if (!IsLive(key, place)) continue;
    // Likely the next to be popped.
    if (!heap.empty()) __builtin_prefetch(&entries_[heap.top().slot()]);
    return key.slot();
  }
}

// ---- Backoff ----

// The second that begins at start_ns, or its insertion point.
std::vector<KubernetesQueue::Second>::iterator KubernetesQueue::FindSecond(Backoff& pods,
                                                                           int64_t start_ns) {
  return std::lower_bound(
      pods.seconds.begin(), pods.seconds.end(), start_ns,
      [](const Second& second, int64_t value_ns) { return second.start_ns > value_ns; });
}

void KubernetesQueue::DropSecond(Backoff& pods, std::vector<Second>::iterator second) {
  second->heap.Clear();
  spare_heaps_.push_back(std::move(second->heap));
  pods.seconds.erase(second);
}

// REQUIRES: now is a whole second.
size_t KubernetesQueue::Release(Place place, SimTime now) {
  Backoff& pods = BackoffAt(place);
  size_t released = 0;
  while (!pods.seconds.empty() && pods.seconds.back().start_ns < now.ns()) {
    const auto earliest = pods.seconds.end() - 1;
    earliest->heap.ForEach([this, place](const HeapKey& key) {
      if (IsLive(key, place)) EnterActive(key.slot());
    });
    released += earliest->live;
    pods.live -= earliest->live;
    DropSecond(pods, earliest);
  }
  return released;
}

size_t KubernetesQueue::FlushBackoff(SimTime now) {
  AdvanceTo(now);
  DRASIM_CHECK_EQ(now.ns() % kSecondNs, 0);
  const size_t released = Release(Place::kBackoff, now);
  return released + Release(Place::kErrorBackoff, now);
}

SimTime KubernetesQueue::NextBackoffTick(SimTime now) const {
  DRASIM_CHECK(NeedsBackoffTimer());
  int64_t start_ns = std::numeric_limits<int64_t>::max();
  for (const Backoff* pods : {&pod_backoff_, &error_backoff_}) {
    if (!pods->seconds.empty()) start_ns = std::min(start_ns, pods->seconds.back().start_ns);
  }
  return SimTime(std::max(start_ns + kSecondNs, CeilTo(now.ns(), kSecondNs)));
}

// ---- Unschedulable ----

// The bucket of a shape and a set of rejectors; `hint` is the likely one.
uint32_t KubernetesQueue::BucketOf(uint32_t hint, ShapeId shape, uint64_t rejectors) {
  if (hint != kNone && buckets_[hint].shape == shape && buckets_[hint].rejectors == rejectors) {
    return hint;
  }
  const auto next = static_cast<uint32_t>(buckets_.size());
  const auto [found, is_new] = bucket_of_.try_emplace(std::make_pair(shape, rejectors), next);
  if (is_new) {
    buckets_.emplace_back();
    buckets_.back().shape = shape;
    buckets_.back().rejectors = rejectors;
  }
  return found->second;
}

void KubernetesQueue::List(uint32_t bucket_index) {
  buckets_[bucket_index].listed = static_cast<uint32_t>(nonempty_.size());
  nonempty_.push_back(bucket_index);
}

// The last of the list takes its place. REQUIRES: the bucket is listed and has no pods.
void KubernetesQueue::Unlist(Bucket& bucket) {
  bucket.slots.clear();
  bucket.first = 0;
  const uint32_t last = nonempty_.back();
  nonempty_[bucket.listed] = last;
  nonempty_.pop_back();
  buckets_[last].listed = bucket.listed;
  bucket.listed = kNone;
}

// Moves the pods before index `end` to their backoff or to active.
void KubernetesQueue::MoveFront(Bucket& bucket, size_t end, int64_t window_ns,
                                absl::FunctionRef<bool(PodId)> skips_backoff) {
  // Far enough for the memory, and few enough for the first-level cache.
  constexpr size_t kAhead = 8;
  for (size_t i = bucket.first; i < end; ++i) {
    if (i + kAhead < end && bucket.slots[i + kAhead] != kNone) {
      __builtin_prefetch(&entries_[bucket.slots[i + kAhead]]);
    }
    const uint32_t slot = bucket.slots[i];
    if (slot == kNone) continue;
    --bucket.live;
    --unschedulable_;
    if (entries_[slot].expiry_ns >= window_ns && skips_backoff(entries_[slot].pod)) {
      EnterActive(slot);
    } else {
      EnterAfterBackoff(slot, Place::kBackoff, window_ns);
    }
  }
  bucket.first = end;
  TidyUp(bucket);
}

// After pods have left: removes an empty bucket from the list, moves `first` to a pod, and limits
// vacant places.
void KubernetesQueue::TidyUp(Bucket& bucket) {
  if (bucket.live == 0) return Unlist(bucket);
  while (bucket.slots[bucket.first] == kNone) ++bucket.first;
  if (bucket.slots.size() - bucket.live > bucket.live + kMinSweep) Compact(bucket);
}

void KubernetesQueue::Compact(Bucket& bucket) {
  size_t kept = 0;
  for (size_t i = bucket.first; i < bucket.slots.size(); ++i) {
    const uint32_t slot = bucket.slots[i];
    if (slot == kNone) continue;
    entries_[slot].index = static_cast<uint32_t>(kept);
    bucket.slots[kept++] = slot;
  }
  bucket.slots.resize(kept);
  bucket.first = 0;
}

size_t KubernetesQueue::OnEvent(absl::FunctionRef<bool(ShapeId, uint64_t)> helps,
                                absl::FunctionRef<bool(PodId)> skips_backoff, SimTime now) {
  AdvanceTo(now);
  const int64_t window_ns = WindowNs(now);
  size_t moved = 0;
  for (size_t i = 0; i < nonempty_.size();) {
    Bucket& bucket = buckets_[nonempty_[i]];
    if (!helps(bucket.shape, bucket.rejectors)) {
      ++i;
      continue;
    }
    moved += bucket.live;
    // Another bucket takes its place in the list.
    MoveFront(bucket, bucket.slots.size(), window_ns, skips_backoff);
  }
  return moved;
}

size_t KubernetesQueue::FlushUnschedulable(SimTime now) {
  AdvanceTo(now);
  const int64_t window_ns = WindowNs(now);
  const size_t before = unschedulable_;
  for (size_t i = 0; i < nonempty_.size();) {
    const uint32_t bucket_index = nonempty_[i];
    Bucket& bucket = buckets_[bucket_index];
    size_t end = bucket.first;
    for (; end < bucket.slots.size(); ++end) {
      const uint32_t slot = bucket.slots[end];
      if (slot == kNone) continue;
      if (now - SimTime(entries_[slot].queued_at_ns) <= options_.unschedulable_flush) break;
    }
    // A timeout is not an event that helps the pod: it backs off.
    MoveFront(bucket, end, window_ns, [](PodId) { return false; });
    if (i < nonempty_.size() && nonempty_[i] == bucket_index) ++i;
  }
  return before - unschedulable_;
}

SimTime KubernetesQueue::NextFlushTick(SimTime now) const {
  DRASIM_CHECK(NeedsFlushTimer());
  int64_t oldest_ns = std::numeric_limits<int64_t>::max();
  for (const uint32_t bucket_index : nonempty_) {
    const Bucket& bucket = buckets_[bucket_index];
    oldest_ns = std::min(oldest_ns, entries_[bucket.slots[bucket.first]].queued_at_ns);
  }
  const int64_t due_ns = oldest_ns + options_.unschedulable_flush.ns();
  return SimTime(
      std::max(FloorTo(due_ns, kFlushPeriodNs) + kFlushPeriodNs, CeilTo(now.ns(), kFlushPeriodNs)));
}

// ---- Checkpoints ----

// In order of sequence, so that the bytes do not depend on the pods' slots.
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

// Lists the buckets at once, in the order of the saved queue's requests.
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
  // PreEnqueue was asked before the save.
  if (target == Place::kActive) PutActive(slot);
  if (target == Place::kGated) EnterGate(slot);
  if (backs_off) EnterBackoff(slot, target);
  if (in_bucket) EnterBucket(slot, nonempty_[static_cast<size_t>(listed)]);
}

}  // namespace drasim
