// The job-level extension point: in which order jobs wait, and which of them may displace which.
//
// A batch scheduler looks at jobs, not at pods: it goes through those that wait, in an order, and
// starts what fits. The order is one policy; what happens when the first does not fit (all wait,
// others go ahead, backfilling) is a choice of the scenario; where pods go is the profile's
// plugins. Kubernetes' own queue is not one of these: it sorts pods by QueueSort (plugin.h).
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

  // The job's place in line, asked each time it begins to wait (at submission, after a preemption,
  // after a failed attempt) and kept while it waits. Not const: estimates may be drawn.
  virtual JobKey Key(const JobTable& jobs, JobId job) = 0;

  // True: jobs wait in one line per tenant, and the tenant with the smallest TenantKey goes next
  // (ties: the lowest row). TenantKey may depend on what the tenant's jobs hold and on the
  // cluster's capacity alone: it is asked again when one of them has changed.
  virtual bool per_tenant() const { return false; }
  virtual int64_t TenantKey(const JobTable& jobs, const ClusterState& cluster,
                            TenantId tenant) const;

  // True: a waiting job that does not fit may displace running ones.
  virtual bool preempts() const { return false; }
  // Whether `waiting` may displace `running`. Must be false for equals, or two jobs could displace
  // each other for ever.
  virtual bool MayPreempt(const JobTable& jobs, JobId waiting, JobId running, SimTime now) const;
  // Among those it may displace, the smallest goes first (ties: the one that started last).
  virtual JobKey VictimKey(const JobTable& jobs, JobId running, SimTime now) const;

  // Told of every job that ended, for policies that learn.
  virtual void OnEnd(const JobTable& jobs, JobId job);

  // Everything that influences later decisions. A policy without state writes nothing.
  virtual void Save(StateWriter&) const {}
  virtual absl::Status Load(StateReader&) { return absl::OkStatus(); }
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_FRAMEWORK_QUEUE_POLICY_H_
