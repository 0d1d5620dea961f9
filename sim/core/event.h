// One simulation event, and the order of two events.
//
// Events are totally ordered by the key (time, rank, sequence). Time is virtual nanoseconds. Rank
// orders events of one instant. Sequence is unique and grows with every push, so events of equal
// time and rank keep the order in which they were pushed, on every compiler and machine.
#ifndef DRASIM_SIM_CORE_EVENT_H_
#define DRASIM_SIM_CORE_EVENT_H_

#include <cstdint>
#include <type_traits>

#include "model/time.h"

namespace drasim {

// The order of events within one instant, first to last. The numbers are part of the checkpoint
// format and of every fingerprint: adding a rank in the middle changes the results of runs in which
// events coincide. 3 and 7 are free.
enum class EventRank : uint8_t {
  // Capacity appears or disappears. First, so that everything else in the instant sees the present
  // cluster: a failing node takes its pods with it, and no further pod is bound to it.
  kNodeChange = 0,
  // A pod ends. Before arrivals and attempts, because its end makes room: a pod that fits into the
  // freed devices must not be rejected at the very instant in which they become free.
  kDeparture = 1,
  // An API write or another intent of a component is completed (a binding, a claim's status).
  kIntentDone = 2,
  // Pods are created. Before attempts, so that pods of one instant compete by the order of the
  // scheduling queue (priority first), not by the order of the trace's rows.
  kArrival = 4,
  // A backoff ends, or the periodic flush of waiting pods runs. After arrivals, so that the set of
  // pods in a flush does not depend on how timers and arrivals happened to be pushed; before
  // attempts, so that a pod whose wait ends now is a candidate now.
  kTimer = 5,
  // A scheduling attempt. After everything that can change its verdict in this instant.
  kScheduling = 6,
};

// The kind of an event. The queue never interprets it; the engine dispatches on it. The numbers are
// part of the checkpoint format; 3 and 7 are free.
enum class EventKind : uint8_t {
  // A job of the trace is submitted, and its pods are created.
  kPodArrival = 0,
  // The present attempt of a running job has run for its duration.
  kPodFinish = 1,
  // An intent carried out in virtual time has ended, successfully or not.
  kIntentDone = 2,
  // A timer that was set earlier goes off: a backoff, a flush, a change of quotas.
  kTimer = 4,
  // The scheduler takes the next pod from its queue.
  kScheduleNext = 5,
  // A node is added or removed, or its capacity, labels, taints or health change.
  kNodeChange = 6,
  // A job's owner deletes it.
  kDeletion = 8,
  // The grace period of an evicted job is over.
  kEvictionDone = 9,
};

inline constexpr uint64_t kEventRankCount = static_cast<uint64_t>(EventRank::kScheduling) + 1;
inline constexpr uint64_t kEventKindCount = static_cast<uint64_t>(EventKind::kEvictionDone) + 1;

// One event: its key, its kind and three payload words. The code that pushes the event gives the
// words their meaning (ids of pods and nodes, an index into a side table); the queue only carries
// them.
struct Event {
  SimTime time;
  uint64_t sequence = 0;  // Assigned by the queue; also the handle that cancels the event.
  uint64_t c = 0;
  uint32_t a = 0;
  uint32_t b = 0;
  EventRank rank = EventRank::kNodeChange;
  EventKind kind = EventKind::kPodArrival;
};

static_assert(std::is_trivially_copyable_v<Event>, "events are moved as plain bytes");
static_assert(sizeof(Event) <= 40, "an event is five machine words");

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_EVENT_H_
