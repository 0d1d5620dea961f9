// SchedulerReports: kube-scheduler's reports on its attempts, for users who wait for a pod: events,
// and the condition PodScheduled=False in the pod's status.
//
// A failed attempt (pkg/scheduler/schedule_one.go, handleSchedulingFailure) records an event
// FailedScheduling and PATCHes the pod's status, unless the scheduler's cache already has the same
// message and nominated node. The PATCH counts against the rate limit of the scheduler's client.
// Until 1.33 the scheduling thread waits for its reply, unless the attempt failed in the binding
// cycle. A binding records an event Scheduled.
#ifndef DRASIM_SIM_DRA_API_SCHEDULER_REPORTS_H_
#define DRASIM_SIM_DRA_API_SCHEDULER_REPORTS_H_

#include <cstdint>

#include "absl/container/btree_set.h"
#include "model/kube/objects.h"
#include "sim/core/node_agent.h"
#include "sim/dra/api/api_network.h"
#include "sim/dra/api/event_recorder.h"

namespace drasim {

class SchedulerReports {
 public:
  // All must outlive it. `client`: the scheduler's, whose actor forwards replies to tokens of this
  // class.
  SchedulerReports(ApiClient* client, PodControl* engine, EventRecorder* events)
      : client_(client), engine_(engine), events_(events) {}

  void Failed(const Pod& pod, const FailedAttempt& attempt);
  void Scheduled(const Pod& pod) { events_->Record(EventRecorder::Reason::kScheduled, pod); }

  // True when a token of the scheduler's client belongs to this class.
  static bool Owns(uint64_t token) { return (token & kTokens) != 0; }
  void OnReply(uint64_t token);
  // The scheduler has restarted: outstanding replies never arrive.
  void OnRestart();
  const EventRecorder& events() const { return *events_; }

  // For checkpoints (plane_archive.h).
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& r) {
    a(r.next_token_, r.waited_for_);
  }

 private:
  static constexpr uint64_t kTokens = uint64_t{1} << 63;

  ApiClient* client_;
  PodControl* engine_;
  EventRecorder* events_;
  uint64_t next_token_ = kTokens;
  absl::btree_set<uint64_t> waited_for_;  // PATCHes that block the scheduling thread
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_SCHEDULER_REPORTS_H_
