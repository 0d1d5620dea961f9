// The job-level extension point: the order in which jobs wait, and the jobs that they may displace.
//
// A batch scheduler goes through the waiting jobs in an order and starts those that fit. A policy
// defines the order. The scenario chooses what happens when the first job does not fit (all wait,
// others go ahead, backfilling), and the profile's plugins choose the nodes. Kubernetes' own queue
// is not a QueuePolicy: it sorts pods by QueueSort (plugin.h).
//
// A policy is created for one run. It sees jobs and the cluster through const references only.
#ifndef DRASIM_POLICIES_FRAMEWORK_QUEUE_POLICY_H_
#define DRASIM_POLICIES_FRAMEWORK_QUEUE_POLICY_H_

#include <compare>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/job_table.h"
#include "model/state_io.h"
#include "model/time.h"

namespace drasim {

// A place in line: the smaller goes first; equal ones go in order of submission (the job's id).
struct JobKey {
  int64_t first = 0;
  int64_t second = 0;
  auto operator<=>(const JobKey&) const = default;
};

class QueuePolicy {
 public:
  virtual ~QueuePolicy() = default;
  // As users type it: lower case with dashes.
  virtual absl::string_view name() const = 0;

  // The job's place in line. Computed each time the job begins to wait (at submission, after a
  // preemption, after a failed attempt) and kept while it waits. Not const, because estimates may
  // be drawn.
  virtual JobKey Key(const JobTable& jobs, JobId job) = 0;

  // Whether jobs wait in one line per tenant. The tenant with the smallest TenantKey goes next
  // (ties: the lowest row). TenantKey may depend only on what the tenant's jobs hold and on the
  // cluster's capacity: it is computed again when one of them has changed.
  virtual bool per_tenant() const { return false; }
  virtual int64_t TenantKey(const JobTable& jobs, const ClusterState& cluster,
                            TenantId tenant) const;

  // Whether a waiting job that does not fit may displace running jobs.
  virtual bool preempts() const { return false; }
  // True when `waiting` may displace `running`. Must be false for equal jobs, which would otherwise
  // displace each other endlessly.
  virtual bool MayPreempt(const JobTable& jobs, JobId waiting, JobId running, SimTime now) const;
  // The order of victims: the smallest is displaced first (ties: the one that started last).
  virtual JobKey VictimKey(const JobTable& jobs, JobId running, SimTime now) const;

  // Called for every job that ended, for policies that learn from them.
  virtual void OnEnd(const JobTable& jobs, JobId job);

  // The state that influences later decisions; nothing for a policy without any.
  virtual void Save(StateWriter&) const {}
  virtual absl::Status Load(StateReader&) { return absl::OkStatus(); }
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_FRAMEWORK_QUEUE_POLICY_H_
