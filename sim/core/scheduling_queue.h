// Pods that wait for the scheduler: the active queue in QueueSort order, and the pods that did not
// fit.
//
// A pod that did not fit sleeps until something happens that may let it fit (kube-scheduler's
// unschedulable pods); then all sleepers return to the active queue and compete in QueueSort order
// again.
#ifndef DRASIM_SIM_CORE_SCHEDULING_QUEUE_H_
#define DRASIM_SIM_CORE_SCHEDULING_QUEUE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "model/state_io.h"
#include "policies/framework/plugin.h"

namespace drasim {

// Not thread-safe. Owned by the engine.
class SchedulingQueue {
 public:
  // `sort` implements QueueSort and must outlive the queue.
  explicit SchedulingQueue(const Plugin* sort) : sort_(sort) {}

  void Add(PodId pod, int32_t priority, SimTime now);  // O(log active)
  QueuedPod Pop();                                     // requires active() > 0; O(log active)
  void AddUnschedulable(const QueuedPod& pod) { unschedulable_.push_back(pod); }
  // Everything that did not fit is active again. O(unschedulable log active).
  void MoveAllToActive();

  size_t active() const { return active_.size(); }
  size_t unschedulable() const { return unschedulable_.size(); }

  void Save(StateWriter& out) const;
  absl::Status Load(StateReader& in);

 private:
  void Push(const QueuedPod& pod);

  const Plugin* sort_;
  std::vector<QueuedPod> active_;  // heap: the first to go at the front
  std::vector<QueuedPod> unschedulable_;
  uint64_t next_sequence_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_SCHEDULING_QUEUE_H_
