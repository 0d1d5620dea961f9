// What one simulation event is, and which of two events comes first.
//
// Events are totally ordered by the key (time, rank, sequence). Time is virtual nanoseconds. Rank
// says what comes first within one instant. Sequence is unique and grows with every push, so events
// of equal time and rank keep the order in which they were pushed, on every compiler and machine.
#ifndef DRASIM_SIM_CORE_EVENT_H_
#define DRASIM_SIM_CORE_EVENT_H_

#include <cstdint>
#include <type_traits>

#include "model/time.h"

namespace drasim {

// The order of things within one instant, first to last. The numbers are part of the checkpoint
// format and of every fingerprint: adding a rank in the middle changes the results of runs in which
// events coincide.
enum class EventRank : uint8_t {
  // Capacity appears or disappears. First, so that everything else in the instant sees the cluster
  // as it now is: a node that fails takes its pods with it, and nobody binds to it any more.
  kNodeChange = 0,
  // A pod ends. Before arrivals and attempts, because what leaves makes room: a pod that fits into
  // the freed devices must not be turned away at the very instant in which they become free.
  kDeparture = 1,
  // An API write or another intent of a component is completed (a binding, a claim's status).
  // Before deliveries, because a watch can only deliver what has been written.
  kIntentDone = 2,
  // A component is told of changes. After all that changes the truth by itself and before anything
  // that acts on it: with a latency of zero, a view is then never older than the instant.
  kWatchDelivery = 3,
  // Pods are created. Before attempts, so that pods of one instant compete by the order of the
  // scheduling queue (priority first), not by the order of the trace's rows.
  kArrival = 4,
  // A backoff ends, or the periodic flush of waiting pods runs. After arrivals, so that the set of
  // pods in a flush does not depend on how timers and arrivals happened to be pushed; before
  // attempts, so that a pod whose wait ends now is a candidate now.
  kTimer = 5,
  // A scheduling attempt. After everything that can change its verdict in this instant.
  kScheduling = 6,
  // Metric samples and checkpoints. They observe, so they see the instant's outcome and not a state
  // half way through it.
  kSample = 7,
  // The run's horizon. Last, so that whatever happens at the horizon still counts, its sample
  // included.
  kEndOfRun = 8,
};

// What happens. The queue never interprets it; the engine dispatches on it.
enum class EventKind : uint8_t {
  // A job of the trace is submitted, and its pods are created.
  kPodArrival = 0,
  // The present attempt of a running job has run for its duration.
  kPodFinish = 1,
  // An intent carried out in virtual time has ended, successfully or not.
  kIntentDone = 2,
  // Changes reach a component through its watch.
  kWatchDelivery = 3,
  // A timer that was set earlier goes off: a backoff, a flush, a metric sample, a checkpoint. The
  // rank tells waking (kTimer) from observing (kSample).
  kTimer = 4,
  // The scheduler takes the next pod from its queue.
  kScheduleNext = 5,
  // A node is added or removed, or its capacity, labels, taints or health change.
  kNodeChange = 6,
  // The run's horizon is reached.
  kEndOfRun = 7,
  // A job's owner deletes it.
  kDeletion = 8,
  // The grace period of an evicted job is over.
  kEvictionDone = 9,
};

inline constexpr uint64_t kEventRankCount = static_cast<uint64_t>(EventRank::kEndOfRun) + 1;
inline constexpr uint64_t kEventKindCount = static_cast<uint64_t>(EventKind::kEvictionDone) + 1;

// One event: its key, its kind and three payload words. The words belong to whoever pushed the
// event (ids of pods and nodes, an attempt number, an index into a side table); the queue only
// carries them.
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
