// SchedulingLoop: decides when the dispatcher attempts to schedule, and passes changes on to it.
//
// Attempts run as the last thing of an instant, or `attempt_latency` after something became ready.
#ifndef DRASIM_SIM_CORE_SCHEDULING_LOOP_H_
#define DRASIM_SIM_CORE_SCHEDULING_LOOP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "model/ids.h"
#include "model/time.h"
#include "policies/framework/plugin.h"
#include "sim/core/dispatcher.h"
#include "sim/core/run_context.h"

namespace drasim {

class SchedulingLoop {
 public:
  explicit SchedulingLoop(RunContext* run) : run_(run) {}

  // Before anything else, once.
  void SetDispatcher(std::unique_ptr<Dispatcher> dispatcher) {
    dispatcher_ = std::move(dispatcher);
  }
  Dispatcher& dispatcher() { return *dispatcher_; }
  const Dispatcher& dispatcher() const { return *dispatcher_; }

  // Something may have become ready: pushes the events of the next attempt and of the dispatcher's
  // timer if they are needed.
  void Wake();
  // The event of the next attempt is due. Attempts that take no time follow each other without an
  // event for each as long as nothing else is due first: the order is the same, and it is much
  // faster.
  void OnAttempt();
  // The dispatcher's timer is due.
  void OnTimer();
  // Tells the dispatcher about a change of the cluster.
  void Notify(const ClusterChange& change);
  // The attempt in progress waits for `wait`, beside attempt_latency: the next one begins
  // afterwards. To be called before anything that the attempt decides is carried out.
  void Occupy(SimDuration wait) { free_at_ = run_->After(wait); }
  // The end of such a wait.
  SimTime free_at() const { return free_at_; }
  // Nests: no attempt begins until every Block(true) has its Block(false).
  void Block(bool block);

  bool blocked() const { return blocked_ != 0; }
  bool has_timer() const { return timer_ != 0; }
  // Pending events of this class: the next attempt and the dispatcher's timer.
  size_t pending_events() const { return size_t{timer_ != 0} + size_t{attempt_scheduled_}; }
  // Too many attempts have failed at this instant: none is made before the clock moves.
  bool AttemptsSpent() const {
    return run_->progress().AttemptsSpent([this] { return dispatcher_->waiting(); });
  }

  // Numbers of calls of Notify: all, and those that may help a pod that waits for claims
  // (kClaimChanged and kNodeAdded).
  uint64_t cluster_events() const { return cluster_events_; }
  uint64_t claim_events() const { return claim_events_; }

 private:
  friend class EngineCheckpoint;

  void WakeTimer();

  RunContext* run_;
  std::unique_ptr<Dispatcher> dispatcher_;
  bool attempt_scheduled_ = false;
  uint64_t timer_ = 0;  // handle of the dispatcher's timer; 0: none
  SimTime timer_at_;
  SimTime free_at_;
  uint32_t blocked_ = 0;
  uint64_t cluster_events_ = 0;
  uint64_t claim_events_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_SCHEDULING_LOOP_H_
