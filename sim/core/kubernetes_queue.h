// kube-scheduler's scheduling queue in virtual time (kubernetes/kubernetes v1.34,
// pkg/scheduler/backend/queue; popping from the backoff queue: KEP-5142).
//
// A pod is in one of six places:
//  * active: to be tried next, in QueueSort order;
//  * in flight: popped, and neither returned nor forgotten yet;
//  * unschedulable: some Filter plugins rejected it (its rejectors), and no event that may help has
//    happened since;
//  * backoff: an event that may help has happened, but its last failure is too recent;
//  * error backoff: its last attempt ended in an error, and too recently;
//  * gated: it would be active, but PreEnqueue (set_gate) keeps it out.
//
// A pod's timestamp (QueuedPod::queued_at) and sequence are set when it is added and each time it
// is returned; moves between places keep them. Its backoff lasts initial_backoff after the first
// failure and twice as long after each further one, up to max_backoff: errors in a row count if the
// last attempt was one, else all rejections. The end of the backoff is cut down to a whole second,
// and a pod backs off until that second is over: a pod that failed at 10.3 s and backs off for one
// second is released at 12 s. With pop_from_backoff off nothing is cut: that pod backs off up to
// and including 11.3 s, and again the timer releases it at 12 s.
//
// Timers: the caller runs FlushBackoff at whole seconds and FlushUnschedulable at multiples of 30
// seconds. It may leave out the ticks at which they would move nothing; NextBackoffTick and
// NextFlushTick tell the next one that moves a pod.
//
// Structure, for speed: pods live in a slab. Unschedulable pods of one shape and one set of
// rejectors share a bucket, oldest first, so that an event asks once per bucket, and the leftovers
// are at the front. Pods in backoff are grouped by the second in which it ends; each group is a
// heap in QueueSort order (quaternary_heap.h). Pods that leave a heap before their turn (Remove,
// Activate) leave a dead key behind, which is skipped or swept later. The order of the plugin
// PrioritySort is built into the keys; any other plugin is asked, which is slower, and Remove and
// Activate then take time linear in the heap that the pod leaves.
//
// Determinism: the results of all functions, and the bytes of Save, depend on the calls so far
// alone.
//
// Times passed in must never decrease (checked). Not thread-safe.
#ifndef DRASIM_SIM_CORE_KUBERNETES_QUEUE_H_
#define DRASIM_SIM_CORE_KUBERNETES_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "model/ids.h"
#include "model/state_io.h"
#include "model/time.h"
#include "policies/framework/plugin.h"
#include "sim/core/quaternary_heap.h"

namespace drasim {

namespace kubernetes_queue_internal {

// A pod's place in PrioritySort's order as one number of 128 bits: priority descending (32 bits),
// sequence ascending (64), slot (32). Timestamps need no bits of their own, since they never
// decrease from one sequence to the next. The default key is vacant, and after all others.
struct HeapKey {
  uint64_t high = std::numeric_limits<uint64_t>::max();
  uint64_t low = std::numeric_limits<uint64_t>::max();

  uint64_t sequence() const { return (high << 32) | (low >> 32); }
  uint32_t slot() const { return static_cast<uint32_t>(low); }
  bool vacant() const { return slot() == std::numeric_limits<uint32_t>::max(); }
};

inline HeapKey MakeHeapKey(int32_t priority, uint64_t sequence, uint32_t slot) {
  // From 0 for the highest priority to 2^32 - 1 for the lowest.
  const uint32_t rank = static_cast<uint32_t>(priority) ^ 0x7fffffffU;
  HeapKey key;
  key.high = (uint64_t{rank} << 32) | (sequence >> 32);
  key.low = (sequence << 32) | slot;
  return key;
}

// Without branches: which of two siblings is first is a coin toss to a branch predictor.
struct BeforeByKey {
  bool operator()(const HeapKey& x, const HeapKey& y) const {
    const auto lower_high = static_cast<unsigned>(x.high < y.high);
    const auto same_high = static_cast<unsigned>(x.high == y.high);
    const auto lower_low = static_cast<unsigned>(x.low < y.low);
    return (lower_high | (same_high & lower_low)) != 0;
  }
};

}  // namespace kubernetes_queue_internal

struct KubernetesQueueOptions {
  SimDuration initial_backoff = SimDuration::Seconds(1);  // podInitialBackoffSeconds
  SimDuration max_backoff = SimDuration::Seconds(10);     // podMaxBackoffSeconds; 0: no backoff
  // Feature gate SchedulerPopFromBackoffQ: when no pod is active, the first in backoff is popped.
  bool pop_from_backoff = true;
  // podMaxInUnschedulablePodsDuration: how long a pod waits for an event.
  SimDuration unschedulable_flush = SimDuration::Seconds(300);
  // Feature gate SchedulerQueueingHints. Off: a pod is moved by every event for which one of the
  // plugins that rejected it is registered.
  bool queueing_hints = true;
};

class KubernetesQueue {
 public:
  // A pod's history since it was added.
  struct Counts {
    uint32_t attempts = 0;            // times it was popped
    uint32_t unschedulable = 0;       // times it was returned with rejectors
    uint32_t consecutive_errors = 0;  // returns without, since the last one with rejectors
  };

  // `sort` implements QueueSort and must outlive the queue; its order of two pods must not change.
  // Pods that it calls equal are served by sequence. No option may be negative.
  KubernetesQueue(const QueueSortPlugin* sort, const KubernetesQueueOptions& options);

  // Asked whenever a pod would become active (PreEnqueue): false keeps it out until Recheck. Must
  // not call the queue. None: all pods pass.
  void set_gate(std::function<bool(PodId)> gate) { gate_ = std::move(gate); }
  // The gate's answer may have changed: it is asked again if it keeps the pod out. Amortised
  // O(log n).
  void Recheck(PodId pod, SimTime now);

  // A new pod, which goes to active. For a gang, one of its pods stands for all. REQUIRES: the
  // queue does not know the pod. O(log active).
  void Add(PodId pod, ShapeId shape, int32_t priority, SimTime now);

  // Whether there is something to pop.
  bool CanPop() const {
    return active_ > 0 || (options_.pop_from_backoff && pod_backoff_.live > 0);
  }

  // Takes the first active pod, else the first in backoff (earliest end of its backoff, then
  // QueueSort), whether its backoff is over or not. Pods in error backoff are never popped.
  // The pod is in flight afterwards. REQUIRES: CanPop(). Amortised O(log n).
  QueuedPod Pop(SimTime now);

  // The pod's attempt has failed. `rejectors` is the set of plugins that rejected it, as bits; 0 if
  // it failed by an error. `moved_since` says that an event that may help came while the pod was in
  // flight. With rejectors and without such an event the pod becomes unschedulable, else it goes to
  // its backoff, or to active if that is over at once. From now on events are asked about `shape`.
  // REQUIRES: the pod is in flight. O(1), or O(log n) into a heap.
  void Return(const QueuedPod& pod, ShapeId shape, uint64_t rejectors, bool moved_since,
              SimTime now);

  // As Return, but to active without any backoff: for a pod that was activated in flight, or whose
  // only missing event has just happened. The failure counts.
  void ReturnToActive(const QueuedPod& pod, ShapeId shape, uint64_t rejectors, SimTime now);

  // Moves a pod in unschedulable or in either backoff to active (kube-scheduler's Activate). False,
  // and nothing is done, if it is not there. Amortised O(log n) with PrioritySort.
  bool Activate(PodId pod, SimTime now);

  // An event has happened. Moves each unschedulable pod that it helps to its backoff, or to active
  // if that is over; returns their number. `helps` is asked once for each shape and set of
  // rejectors among the unschedulable pods, and must not call the queue. O(buckets with pods +
  // moved log n). `skips_backoff` is asked for each pod that would back off: true brings it to
  // active all the same (kube-scheduler's PendingPlugins).
  size_t OnEvent(absl::FunctionRef<bool(ShapeId, uint64_t)> helps,
                 absl::FunctionRef<bool(PodId)> skips_backoff, SimTime now);
  size_t OnEvent(absl::FunctionRef<bool(ShapeId, uint64_t)> helps, SimTime now) {
    return OnEvent(
        helps, [](PodId) { return false; }, now);
  }

  // The tick of the backoff timer: pods whose backoff is over, by an error or not, become active.
  // Returns their number. REQUIRES: now is a whole second. O(1 + moved log n).
  size_t FlushBackoff(SimTime now);

  // The tick of the timer for leftovers: pods that were returned more than unschedulable_flush ago
  // and still are unschedulable go where an event would move them. Returns their number.
  // O(buckets with pods + moved log n).
  size_t FlushUnschedulable(SimTime now);

  // Whether some pod is in either backoff.
  bool NeedsBackoffTimer() const { return backoff() > 0; }
  // The first whole second, `now` included, at which FlushBackoff would move a pod if nothing else
  // happened. REQUIRES: NeedsBackoffTimer(). O(1).
  SimTime NextBackoffTick(SimTime now) const;

  // Whether some pod is unschedulable.
  bool NeedsFlushTimer() const { return unschedulable_ > 0; }
  // The first multiple of 30 s, `now` included, at which FlushUnschedulable would move a pod if
  // nothing else happened. REQUIRES: NeedsFlushTimer(). O(buckets with pods).
  SimTime NextFlushTick(SimTime now) const;

  // An event helps this pod: it moves as by OnEvent, if it is unschedulable. False,
  // and nothing is done, if it is elsewhere. O(log n).
  bool OnPodEvent(PodId pod, SimTime now);

  // The object of a waiting pod was updated and has this shape now, about which events are asked
  // from now on. An unschedulable pod moves as by OnPodEvent if `helps` says so of its rejectors.
  // O(pods in the bucket).
  void OnUpdate(PodId pod, ShapeId shape, absl::FunctionRef<bool(uint64_t)> helps, SimTime now);

  // The pod was deleted while it waited: the queue forgets it. False, and nothing is done, if
  // it is in flight or unknown. Amortised O(1) with PrioritySort.
  bool Remove(PodId pod);

  // The pod was bound, or deleted in flight: the queue forgets it. Does nothing if the queue
  // did not know it. REQUIRES: it does not wait.
  void Forget(PodId pod);

  // REQUIRES: the queue knows the pod.
  Counts CountsOf(PodId pod) const;

  // Entries put into a part of the queue and taken out of one, dead ones included: moves of work.
  uint64_t operations() const { return operations_; }
  size_t active() const { return active_; }
  size_t backoff() const { return pod_backoff_.live + error_backoff_.live; }
  size_t unschedulable() const { return unschedulable_; }
  size_t gated() const { return gated_; }
  size_t waiting() const { return active() + backoff() + unschedulable() + gated(); }

  // Writes all pods, those in flight too. The sort plugin and the options are the caller's to save.
  // O(n log n).
  void Save(StateWriter& out) const;
  // Replaces the contents by what Save wrote. On bad data the queue is empty.
  absl::Status Load(StateReader& in);

 private:
  using HeapKey = kubernetes_queue_internal::HeapKey;
  using KeyHeap = QuaternaryHeap<HeapKey>;

  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  // The end of a backoff that does not exist: before every time.
  static constexpr int64_t kNeverNs = std::numeric_limits<int64_t>::min();

  // The numbers are part of the checkpoint format.
  enum class Place : uint8_t {
    kInFlight = 0,
    kActive = 1,
    kBackoff = 2,
    kErrorBackoff = 3,
    kUnschedulable = 4,
    kGated = 5,
  };

  // A pod. One cache line.
  struct alignas(64) Entry {
    uint64_t sequence = 0;
    int64_t queued_at_ns = 0;
    int64_t expiry_ns = kNeverNs;  // the end of its backoff
    PodId pod;                     // invalid: the slot is free
    ShapeId shape;
    int32_t priority = 0;
    uint32_t attempts = 0;
    uint32_t unschedulable_count = 0;
    uint32_t consecutive_errors = 0;
    uint32_t bucket = kNone;  // its last bucket among the unschedulable
    uint32_t index = 0;       // in the bucket's slots, while it is there
    Place place = Place::kInFlight;
  };
  static_assert(sizeof(Entry) == 64, "an entry is one cache line");

  // Unschedulable pods with the same shape and rejectors. Buckets are never dropped.
  struct Bucket {
    ShapeId shape;
    uint64_t rejectors = 0;
    std::vector<uint32_t> slots;  // in order of sequence; kNone where a pod has left
    size_t first = 0;             // index of the first pod, if any
    size_t live = 0;              // pods
    uint32_t listed = kNone;      // index in nonempty_
  };

  // Pods whose backoff ends in one second.
  struct Second {
    int64_t start_ns = 0;
    size_t live = 0;  // never 0 between calls
    KeyHeap heap;
  };
  struct Backoff {
    std::vector<Second> seconds;  // the latest first
    size_t live = 0;
  };

  struct BeforeByPlugin;

  // Calls action(before) with the order of heap keys.
  template <typename Action>
  void WithOrder(Action action) const;

  void AdvanceTo(SimTime now);
  int64_t WindowNs(SimTime now) const;
  int64_t ExpiryNs(const Entry& entry) const;
  QueuedPod QueuedOf(const Entry& entry) const;
  HeapKey KeyOf(uint32_t slot) const;
  bool IsLive(const HeapKey& key, Place place) const;
  Backoff& BackoffAt(Place place);

  uint32_t SlotOf(PodId pod) const;
  uint32_t NewSlot(PodId pod);
  void FreeSlot(uint32_t slot);
  uint32_t RecordFailure(PodId pod, ShapeId shape, uint64_t rejectors, SimTime now);

  void Push(KeyHeap& heap, uint32_t slot);
  // Unless the gate keeps it out.
  void EnterActive(uint32_t slot);
  void EnterGate(uint32_t slot);
  void PutActive(uint32_t slot);
  void EnterBackoff(uint32_t slot, Place place);
  void EnterAfterBackoff(uint32_t slot, Place backoff_place, int64_t window_ns);
  void EnterBucket(uint32_t slot, uint32_t bucket_index);
  void SortIntoBucket(uint32_t slot);
  void Leave(uint32_t slot);
  void LeaveBackoff(const Entry& entry, Place place);
  void SweepIfWorthwhile(KeyHeap& heap, size_t live, Place place);
  uint32_t TakeFirst(KeyHeap& heap, Place place);

  std::vector<Second>::iterator FindSecond(Backoff& pods, int64_t start_ns);
  void DropSecond(Backoff& pods, std::vector<Second>::iterator second);
  size_t Release(Place place, SimTime now);

  uint32_t BucketOf(uint32_t hint, ShapeId shape, uint64_t rejectors);
  void List(uint32_t bucket_index);
  void Unlist(Bucket& bucket);
  void MoveFront(Bucket& bucket, size_t end, int64_t window_ns,
                 absl::FunctionRef<bool(PodId)> skips_backoff);
  void TidyUp(Bucket& bucket);
  void Compact(Bucket& bucket);

  void LoadBuckets(StateReader& in);
  void LoadEntry(StateReader& in);

  const QueueSortPlugin* sort_;
  KubernetesQueueOptions options_;
  bool by_key_;  // the keys alone give the order
  uint64_t next_sequence_ = 0;
  int64_t last_ns_ = kNeverNs;  // the latest time heard of

  std::vector<Entry> entries_;         // by slot
  std::vector<uint32_t> free_slots_;   // a stack: the slot freed last is still in the cache
  std::vector<uint32_t> slot_of_pod_;  // by PodId; kNone: unknown

  std::function<bool(PodId)> gate_;
  size_t gated_ = 0;
  size_t active_ = 0;
  KeyHeap active_heap_;
  Backoff pod_backoff_;
  Backoff error_backoff_;
  std::vector<KeyHeap> spare_heaps_;  // empty, for their memory

  size_t unschedulable_ = 0;
  uint64_t operations_ = 0;
  std::vector<Bucket> buckets_;
  std::vector<uint32_t> nonempty_;  // buckets with pods, in the order in which events ask
  absl::flat_hash_map<std::pair<ShapeId, uint64_t>, uint32_t> bucket_of_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_KUBERNETES_QUEUE_H_
