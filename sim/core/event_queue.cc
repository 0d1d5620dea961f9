#include "sim/core/event_queue.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "model/check.h"

namespace drasim {

Event EventQueue::EventOf(const Key& key) const {
  const Slot& slot = SlotOf(key);
  Event event;
  event.time = SimTime(key.time_ns);
  event.sequence = key.order & kSequenceMask;
  event.c = slot.c;
  event.a = slot.a;
  event.b = slot.b;
  event.rank = static_cast<EventRank>(key.order >> kRankShift);
  event.kind = slot.kind;
  return event;
}

uint32_t EventQueue::AcquireSlot() {
  if (!free_slots_.empty()) {
    const uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
  }
  DRASIM_CHECK_LT(slots_.size(), kMaxPending);
  slots_.emplace_back();
  return static_cast<uint32_t>(slots_.size() - 1);
}

void EventQueue::ReleaseSlot(uint32_t slot) {
  slots_[slot].sequence = 0;
  free_slots_.push_back(slot);
}

// The next event to be popped is either this key or the smallest child of the root. The latter's
// payload was written long ago and is likely out of the cache, so it is fetched while the heap is
// being repaired.
void EventQueue::FillRoot(const Key& key) {
  if (const Key* second = heap_.Second(EarlierKey()); second != nullptr) {
    __builtin_prefetch(&SlotOf(*second));
  }
  heap_.ReplaceTop(key, EarlierKey());
}

// The root is vacant or dead: the last key takes its place.
void EventQueue::RemoveRoot() {
  const Key last = heap_.TakeLast();
  root_vacant_ = false;
  if (!heap_.empty()) FillRoot(last);
}

// Makes group_'s keys the heap.
void EventQueue::EnterGroup() {
  // Further payloads would be out of the cache again before their use.
  constexpr size_t kMaxPrefetch = 512;
  if (group_.size() <= kMaxPrefetch) {
    for (const Key& key : group_) __builtin_prefetch(&SlotOf(key));
  }
  heap_.Assign(group_, EarlierKey());
  // Twice the size, so that at least half of the keys of a spilled heap are new since the last
  // spill and pay for it.
  heap_limit_ = std::max(kMinHeapLimit, 2 * group_.size());
}

// REQUIRES: the heap is empty, the ladder is not.
void EventQueue::Refill() {
  ladder_.TakeNext(&group_);
  EnterGroup();
}

// The heap has outgrown its limit: all its keys go through the ladder, and the earliest come back.
// REQUIRES: the root is not vacant.
void EventQueue::Spill() {
  const size_t count = heap_.size();
  if (!ladder_.CanRegroup(heap_.top().time_ns, count)) {
    heap_limit_ = 2 * count;
    return;
  }
  group_.clear();
  heap_.ForEach([this](const Key& key) { group_.push_back(key); });
  ladder_.Regroup(&group_);
  EnterGroup();
}

// Puts the first live event at the root. REQUIRES: live_ > 0.
void EventQueue::Settle() {
  if (root_vacant_) RemoveRoot();
  for (;;) {
    if (heap_.empty()) [[unlikely]] {
      Refill();
    }
    if (tombstones_ == 0 || IsLive(heap_.top())) return;
    --tombstones_;
    RemoveRoot();
  }
}

// Drops all tombstones, in close to linear time.
void EventQueue::Sweep() {
  const auto is_live = [this](const Key& key) { return IsLive(key); };
  heap_.KeepIf(is_live, EarlierKey());  // a vacant root is not live
  ladder_.KeepIf(is_live);
  tombstones_ = 0;
  root_vacant_ = false;
  DRASIM_CHECK_EQ(heap_.size() + ladder_.size(), live_);
}

uint64_t EventQueue::Push(SimTime time, EventRank rank, EventKind kind, uint32_t a, uint32_t b,
                          uint64_t c) {
  DRASIM_CHECK_LE(next_push_, kMaxPushes);
  const uint32_t slot_index = AcquireSlot();
  const uint64_t sequence = (next_push_ << kSlotBits) | slot_index;
  ++next_push_;
  Slot& slot = slots_[slot_index];
  slot.sequence = sequence;
  slot.c = c;
  slot.a = a;
  slot.b = b;
  slot.kind = kind;
  ++live_;
  const Key key = KeyOf(time, rank, sequence);
  if (!ladder_.IsNear(key.time_ns)) {
    ladder_.Push(key);
  } else if (root_vacant_) {
    root_vacant_ = false;
    FillRoot(key);
  } else {
    heap_.Push(key, EarlierKey());
    if (heap_.size() > heap_limit_) [[unlikely]] {
      Spill();
    }
  }
  return sequence;
}

bool EventQueue::Cancel(uint64_t handle) {
  const uint64_t slot = handle & kSlotMask;
  if (handle == 0 || slot >= slots_.size() || slots_[slot].sequence != handle) return false;
  ReleaseSlot(static_cast<uint32_t>(slot));
  --live_;
  ++tombstones_;
  if (tombstones_ >= kMinSweep && tombstones_ > live_) Sweep();
  return true;
}

Event EventQueue::Top() {
  DRASIM_CHECK(!empty());
  Settle();
  return EventOf(heap_.top());
}

Event EventQueue::Pop() {
  DRASIM_CHECK(!empty());
  Settle();
  const Key root = heap_.top();
  const Event event = EventOf(root);
  ReleaseSlot(static_cast<uint32_t>(root.order & kSlotMask));
  --live_;
  root_vacant_ = true;
  return event;
}

void EventQueue::Save(StateWriter& writer) const {
  std::vector<Key> keys;
  keys.reserve(live_);
  const auto collect = [this, &keys](const Key& key) {
    if (IsLive(key)) keys.push_back(key);  // a vacant root is not live
  };
  heap_.ForEach(collect);
  ladder_.ForEach(collect);
  DRASIM_CHECK_EQ(keys.size(), live_);
  std::sort(keys.begin(), keys.end(), EarlierKey());

  writer.Section("event_queue");
  writer.U64(next_push_);
  // The order of the free slots determines later handles, and other parts save handles. Without it
  // a resumed run would write different checkpoints than an uninterrupted one.
  writer.Ints(free_slots_);
  writer.U64(keys.size());
  for (const Key& key : keys) {
    const Event event = EventOf(key);
    writer.I64(event.time.ns());
    writer.U64(static_cast<uint64_t>(event.rank));
    writer.U64(event.sequence);
    writer.U64(static_cast<uint64_t>(event.kind));
    writer.U64(event.a);
    writer.U64(event.b);
    writer.U64(event.c);
  }
}

void EventQueue::Load(StateReader& reader) {
  *this = EventQueue();
  reader.Section("event_queue");
  const uint64_t next_push = reader.U64();
  std::vector<uint32_t> free_slots;
  reader.Ints(&free_slots);
  const size_t count = reader.Count();
  if (reader.status().ok() && (next_push == 0 || next_push > kMaxPushes + 1)) {
    reader.Fail(absl::StrCat("the event queue's next push number ", next_push, " is out of range"));
  }
  if (reader.status().ok() && count + free_slots.size() > kMaxPending) {
    reader.Fail(absl::StrCat("the event queue has ", count + free_slots.size(),
                             " slots, more than the limit of ", kMaxPending));
  }
  if (reader.status().ok()) {
    slots_.resize(count + free_slots.size());
    next_push_ = next_push;
    LoadEvents(reader, count, next_push);
    LoadFreeSlots(reader, free_slots);
  }
  if (!reader.status().ok()) {
    *this = EventQueue();
  } else if (heap_.size() > heap_limit_) {
    Spill();
  }
}

// Keys in ascending order are already a heap, so each is simply put behind the one before.
void EventQueue::LoadEvents(StateReader& reader, size_t count, uint64_t next_push) {
  constexpr uint64_t kMaxWord = std::numeric_limits<uint32_t>::max();
  Key previous;
  for (size_t i = 0; i < count; ++i) {
    const SimTime time(reader.I64());
    const uint64_t rank = reader.U64();
    const uint64_t sequence = reader.U64();
    const uint64_t kind = reader.U64();
    const uint64_t a = reader.U64();
    const uint64_t b = reader.U64();
    const uint64_t c = reader.U64();
    if (!reader.status().ok()) return;
    if (rank >= kEventRankCount || kind >= kEventKindCount || a > kMaxWord || b > kMaxWord) {
      return reader.Fail(absl::StrCat("pending event ", i, " has a field out of range"));
    }
    const uint64_t push = sequence >> kSlotBits;
    const uint64_t slot_index = sequence & kSlotMask;
    if (push == 0 || push >= next_push) {
      return reader.Fail(absl::StrCat("pending event ", i, " has a sequence never handed out"));
    }
    if (slot_index >= slots_.size() || slots_[slot_index].sequence != 0) {
      return reader.Fail(absl::StrCat("pending event ", i, " has no slot of its own"));
    }
    const Key key = KeyOf(time, static_cast<EventRank>(rank), sequence);
    if (i > 0 && !EarlierKey()(previous, key)) {
      return reader.Fail(absl::StrCat("pending event ", i, " is out of order"));
    }
    previous = key;
    Slot& slot = slots_[slot_index];
    slot.sequence = sequence;
    slot.c = c;
    slot.a = static_cast<uint32_t>(a);
    slot.b = static_cast<uint32_t>(b);
    slot.kind = static_cast<EventKind>(kind);
    ++live_;
    heap_.Push(key, EarlierKey());
  }
}

// Each slot is either in use or listed once as free. The counts add up by construction, so it
// suffices that no listed slot is in use or listed before.
void EventQueue::LoadFreeSlots(StateReader& reader, const std::vector<uint32_t>& free_slots) {
  if (!reader.status().ok()) return;
  std::vector<bool> listed(slots_.size(), false);
  for (const uint32_t slot : free_slots) {
    if (slot >= slots_.size() || slots_[slot].sequence != 0 || listed[slot]) {
      return reader.Fail(absl::StrCat("the event queue's free slot ", slot, " is not free"));
    }
    listed[slot] = true;
  }
  free_slots_ = free_slots;
}

}  // namespace drasim
