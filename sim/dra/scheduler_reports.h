// Kube-scheduler's reports on its attempts, for people who wait for a pod: the condition
// PodScheduled=False in the pod's status, and events.
//
// A failed attempt (pkg/scheduler/schedule_one.go, handleSchedulingFailure) records an event
// FailedScheduling and PATCHes the pod's status, unless the message and the nominated node are
// those in the scheduler's cache already. The PATCH takes of the rate limit of the scheduler's
// client; until 1.33 the scheduling thread waits for its reply, unless the attempt failed in the
// binding cycle. A binding records an event Scheduled.
#ifndef DRASIM_SIM_DRA_SCHEDULER_REPORTS_H_
#define DRASIM_SIM_DRA_SCHEDULER_REPORTS_H_

#include <cstdint>

#include "absl/container/btree_set.h"
#include "model/kube/objects.h"
#include "sim/core/node_agent.h"
#include "sim/dra/api_network.h"
#include "sim/dra/event_recorder.h"

namespace drasim {

class SchedulerReports {
 public:
  // All outlive it. `client`: the scheduler's, whose actor hands replies to tokens of this class
  // on.
  SchedulerReports(ApiClient* client, PodControl* engine, EventRecorder* events)
      : client_(client), engine_(engine), events_(events) {}

  void Failed(const Pod& pod, const FailedAttempt& attempt);
  void Scheduled(const Pod& pod) { events_->Record(EventRecorder::Reason::kScheduled, pod); }

  // Whether a token of the scheduler's client is one of this class.
  static bool Owns(uint64_t token) { return (token & kTokens) != 0; }
  void OnReply(uint64_t token);
  // The scheduler has been restarted: replies under way never come.
  void OnRestart();
  const EventRecorder& events() const { return *events_; }

 private:
  static constexpr uint64_t kTokens = uint64_t{1} << 63;

  ApiClient* client_;
  PodControl* engine_;
  EventRecorder* events_;
  uint64_t next_token_ = kTokens;
  absl::btree_set<uint64_t> waited_for_;  // PATCHes for which the scheduling thread waits
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_SCHEDULER_REPORTS_H_
