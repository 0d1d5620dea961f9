// The queue of pending events, a priority queue in the order of (time, rank, sequence).
//
// Structure: 16-byte keys beside a slab of payload slots. Keys of the near future are in a
// QuaternaryHeap (quaternary_heap.h), the others lie unsorted in a ladder (event_ladder.h), which
// refills the heap when it has run empty. While there are few events, all of them are near and the
// ladder is idle. More choices:
//
//  * A group of keys that enters the heap has its payloads fetched in one go: their slots are all
//    over memory, and the group's events are popped next.
//  * Pop leaves the root vacant, and a Push that follows drops its key there. Handling an event
//    mostly means pushing its successor, so one repair serves both, and it is short when the
//    successor is due soon.
//  * The payload slot's number is the low part of the sequence. A key therefore needs no third word
//    to find its payload, and a handle no hash table to find its event.
//  * Cancel frees the slot at once; the key stays behind as a tombstone. A slot remembers the
//    sequence of its event, so a key whose slot has another sequence is dead. Traffic without
//    cancellations never looks for tombstones.
//  * A heap that outgrows the first-level cache, because events are pushed before those in the
//    ladder, goes back to the ladder to be cut up.
//
// Determinism: the results of Push, Pop, Cancel and Save depend only on the calls of Push, Pop,
// Cancel and Load so far, never on the contents or the layout of the heap, on calls of Top, or on
// the moment at which tombstones are swept.
//
// Thread rule: one thread at a time. Copies are independent queues in which the same handles are
// valid.
#ifndef DRASIM_SIM_CORE_EVENT_QUEUE_H_
#define DRASIM_SIM_CORE_EVENT_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/state_io.h"
#include "model/time.h"
#include "sim/core/event.h"
#include "sim/core/event_key.h"
#include "sim/core/event_ladder.h"
#include "sim/core/quaternary_heap.h"

namespace drasim {

namespace event_queue_internal {

// The part of an event that does not decide its place. Half a cache line, so that reading one
// touches one line.
struct alignas(32) Slot {
  uint64_t sequence = 0;  // the event's; 0: the slot is free
  uint64_t c = 0;
  uint32_t a = 0;
  uint32_t b = 0;
  EventKind kind = EventKind::kPodArrival;
};
static_assert(sizeof(Slot) == 32, "two slots fill a cache line");

}  // namespace event_queue_internal

class EventQueue {
 public:
  // A sequence is (number of the push << kSlotBits) | slot. With the rank's 4 bits it fills 64
  // bits.
  static constexpr int kSlotBits = 22;
  static constexpr int kPushBits = 38;
  // Limits, checked: live events at one time (about four million), and pushes in the life of a
  // queue (2.7e11).
  static constexpr uint64_t kMaxPending = uint64_t{1} << kSlotBits;
  static constexpr uint64_t kMaxPushes = (uint64_t{1} << kPushBits) - 1;

  // Adds an event and returns its handle, which is also its Event::sequence. Handles are unique,
  // never 0 and grow from push to push, though not by one. The time may lie before events already
  // popped: whether virtual time may step back is the engine's business. Amortised O(log h), and
  // O(1) if the event is not near, where h is the number of near events: at most a few thousand,
  // unless more than that lie at one instant or new events keep coming before all others.
  uint64_t Push(SimTime time, EventRank rank, EventKind kind, uint32_t a, uint32_t b, uint64_t c);

  // Removes the event with this handle. Returns false, and changes nothing, when there is none:
  // already popped, already cancelled, or never handed out. Amortised O(1).
  bool Cancel(uint64_t handle);

  // The first event, which stays. REQUIRES: !empty(). Not const, since it may have to repair or
  // refill the heap; O(1) when nothing was popped or cancelled since the last repair, otherwise
  // like Pop.
  Event Top();

  // Removes and returns the first event. REQUIRES: !empty(). Amortised O(log h), with h as for
  // Push; a single call may be O(n), when the ladder cuts its next rung.
  Event Pop();

  bool empty() const { return live_ == 0; }
  // The number of live events; cancelled ones do not count.
  size_t size() const { return live_; }

  // Keys of cancelled events that still wait to be swept. After each Cancel at most max(size(),
  // 63); no other call adds any, so memory is proportional to the greatest size() so far.
  size_t tombstones() const { return tombstones_; }

  // Writes the live events in key order and the state for handing out the same handles as this
  // queue would. O(n log n).
  void Save(StateWriter& writer) const;

  // Replaces the contents by what Save wrote. Handles from before the Save are valid again, and
  // every later call returns what it would have returned in the saved queue. On bad data the
  // reader's status says why and the queue is empty. O(n).
  void Load(StateReader& reader);

 private:
  using Key = EventKey;  // Its order is rank << 60 | sequence.
  using Slot = event_queue_internal::Slot;

  static constexpr int kRankShift = kSlotBits + kPushBits;
  static constexpr uint64_t kSlotMask = (uint64_t{1} << kSlotBits) - 1;
  static constexpr uint64_t kSequenceMask = (uint64_t{1} << kRankShift) - 1;
  static_assert(kRankShift == 60 && kEventRankCount <= 15,
                "rank 15 is left to the key after all events");

  // Below this many tombstones a sweep is not worth its fixed cost.
  static constexpr size_t kMinSweep = 64;
  // A heap of this many keys just fits a first-level cache of 32 KiB.
  static constexpr size_t kMinHeapLimit = 2048;

  static Key KeyOf(SimTime time, EventRank rank, uint64_t sequence) {
    return Key{time.ns(), (static_cast<uint64_t>(rank) << kRankShift) | sequence};
  }

  const Slot& SlotOf(const Key& key) const { return slots_[key.order & kSlotMask]; }
  bool IsLive(const Key& key) const { return SlotOf(key).sequence == (key.order & kSequenceMask); }
  Event EventOf(const Key& key) const;

  uint32_t AcquireSlot();
  void ReleaseSlot(uint32_t slot);

  void FillRoot(const Key& key);
  void RemoveRoot();
  void EnterGroup();
  void Refill();
  void Spill();
  void Settle();
  void Sweep();
  void LoadEvents(StateReader& reader, size_t count, uint64_t next_push);
  void LoadFreeSlots(StateReader& reader, const std::vector<uint32_t>& free_slots);

  EventLadder ladder_;                 // The keys that are not near.
  std::vector<Key> group_;             // Keys on the way between ladder and heap; else unused.
  QuaternaryHeap<Key> heap_;           // The near keys, the vacant root included.
  std::vector<Slot> slots_;            // Indexed by the low bits of a sequence.
  std::vector<uint32_t> free_slots_;   // A stack: the slot freed last is still in the cache.
  size_t heap_limit_ = kMinHeapLimit;  // A heap of more keys looks for help from the ladder.
  size_t live_ = 0;
  size_t tombstones_ = 0;
  uint64_t next_push_ = 1;
  bool root_vacant_ = false;  // The root was popped and nothing has taken its place yet.
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_EVENT_QUEUE_H_
