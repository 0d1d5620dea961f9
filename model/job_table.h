// JobTable: the jobs of a run, their requests, states and costs so far.
//
// A job is one pod, or a gang of pods that start together or not at all and end together.
// ClusterState tracks space: the pods on each node. JobTable tracks time: submission, remaining
// work, waits.
//
// Work is measured in nanoseconds of running. An interrupted job keeps the work up to its last
// checkpoint, loses the rest, and pays an overhead at its next start. Once the job has succeeded,
//   sum over runs of (end - start) = run_time + failed attempts + lost + overhead
//
// Usage, in the engine:
//
//   const JobId job = jobs.Add(arrival, first_pod, shapes);
//   jobs.Start(job);                           // its pods are assumed, its tenant is charged
//   jobs.Run(job, now);                        // its pods are bound, its wait is over
//   jobs.End(job, JobState::kSucceeded, end);  // after RemainingAt(job, now)
//
// Contract: only the engine mutates; policies and sinks read. Not thread-safe. References from
// row() stay valid until the next Add.
#ifndef DRASIM_MODEL_JOB_TABLE_H_
#define DRASIM_MODEL_JOB_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/event_source.h"
#include "model/ids.h"
#include "model/shape_table.h"
#include "model/state_io.h"
#include "model/time.h"

namespace drasim {

enum class JobState : uint8_t {
  kWaiting = 0,    // holds nothing
  kStarting = 1,   // its pods are charged to nodes, their Bind is in progress
  kRunning = 2,    //
  kSucceeded = 3,  // this and the following states: ended, holds nothing
  kFailed = 4,
  kDeleted = 5,  // by its owner, before or during its run
  kDropped = 6,  // given up: it cannot be placed in this run
};
inline constexpr bool IsEnded(JobState state) { return state >= JobState::kSucceeded; }
absl::string_view JobStateName(JobState state);

// Amounts of the resources in which shares and quotas are counted.
struct ResourceAmounts {
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  int64_t gpu_milli = 0;

  bool operator==(const ResourceAmounts&) const = default;
  void Add(const ResourceAmounts& other, int64_t sign);
};

struct JobRow {
  PodId first_pod;  // its pods have consecutive ids
  uint32_t pods = 1;
  TenantId tenant;  // always valid; jobs without a tenant share the one named ""
  int32_t priority = 0;
  JobState state = JobState::kWaiting;
  bool has_run_time = false;
  bool has_estimate = false;
  bool has_deadline = false;
  bool has_deletion = false;
  bool preemptible = true;
  bool recreated = true;
  bool fails = false;
  bool started_once = false;
  uint32_t attempts_failed = 0;  // scheduling attempts that found no place

  SimTime submitted;
  SimTime waiting_since;  // start of the present wait: submission, preemption or failure
  SimTime first_start;    // meaningful when started_once
  SimTime started;        // of the present or last run
  SimTime ended;          // meaningful when it has ended
  SimDuration run_time;   // work of the last attempt; failed_attempts() has the earlier ones
  SimDuration estimate;
  SimTime deadline;
  SimTime deletion;

  SimDuration remaining;      // work left in the present attempt
  SimDuration overhead_left;  // due at the next start, before work continues
  SimDuration waited;         // sum of all finished waits
  SimDuration work_lost;      // done and to be repeated
  SimDuration overhead;       // spent on restarts
  SimDuration held;           // sum of all ended runs, overhead and lost work included
  SimDuration failed_work;    // in attempts that failed
  uint32_t preemptions = 0;
  uint32_t evictions = 0;           // loss of its node, or a drain
  uint32_t admission_failures = 0;  // rejections of its pods at admission
  uint32_t runs = 0;   // starts so far; distinguishes the events of one run from those of another
  uint32_t retry = 0;  // index of the next failed attempt
  uint32_t retries_begin = 0;  // the first of its failed attempts in the table's list
  uint32_t retries = 0;

  ResourceAmounts request;  // of all pods together
};

class JobTable {
 public:
  // Adds an arriving job with its pods' ids. `shapes` gives the amounts. O(1) amortised.
  JobId Add(const JobArrival& arrival, PodId first_pod, const ShapeTable& shapes);

  size_t size() const { return rows_.size(); }
  const JobRow& row(JobId id) const { return rows_[id.value()]; }
  // For the engine alone.
  JobRow& mutable_row(JobId id) { return rows_[id.value()]; }
  // Run times of the attempts that fail before the last one.
  absl::Span<const SimDuration> failed_attempts(JobId id) const;

  // --- sums over jobs ---
  size_t waiting_jobs() const { return waiting_jobs_; }
  size_t running_jobs() const { return running_jobs_; }
  const ResourceAmounts& waiting_request() const { return waiting_request_; }
  // True when a starting or running job has a lower priority. O(1).
  bool AnyHolderBelow(int32_t priority) const {
    return !holder_priorities_.empty() && holder_priorities_.begin()->first < priority;
  }

  // The job of a pod.
  JobId job_of(PodId pod) const { return pod_job_[pod.value()]; }

  // --- tenants: row 0 is "", the others in order of first appearance ---
  size_t tenant_count() const { return tenant_names_.size(); }
  const std::string& tenant_name(TenantId id) const { return tenant_names_[id.value()]; }
  TenantId FindTenant(absl::string_view name) const;  // invalid if no job has it yet
  TenantId InternTenant(absl::string_view name);
  // Resources of the tenant's starting and running jobs.
  const ResourceAmounts& tenant_usage(TenantId id) const { return tenant_usage_[id.value()]; }

  // Moves the tenants whose usage changed since the last call into `out`, each once.
  void TakeUsageChanges(std::vector<TenantId>* out);

  // --- transitions; each CHECKs that the job is in the state on the left of its arrow ---
  void Start(JobId id);             // kWaiting -> kStarting: the tenant is charged
  void CancelStart(JobId id);       // kStarting -> kWaiting: the start leaves no trace
  void Run(JobId id, SimTime now);  // kStarting -> kRunning: the wait ends
  // kRunning -> kWaiting. The job keeps `kept` of this run's work and loses the rest; its next
  // start costs `overhead`. REQUIRES: kept <= work done.
  void Interrupt(JobId id, SimTime now, SimDuration kept, SimDuration overhead);
  // kRunning -> kWaiting: the attempt failed, and the next one starts without progress.
  void Retry(JobId id, SimTime now);
  void End(JobId id, JobState state, SimTime now);  // any state that has not ended -> an ended one

  // True when the present attempt ends on its own; false for a service's last attempt.
  bool HasLength(JobId id) const {
    const JobRow& r = row(id);
    return r.has_run_time || r.retry < r.retries;
  }
  // Work done in the present run up to `now`, excluding overhead. REQUIRES: kRunning.
  SimDuration WorkDone(JobId id, SimTime now) const;
  // Work left as of `now`, including overhead; the sort key of shortest-remaining-time-first.
  SimDuration RemainingAt(JobId id, SimTime now) const;

  // Recomputes the tenants' usage and compares. The Internal error names the first difference.
  absl::Status CheckInvariants() const;
  void Save(StateWriter& out) const;
  absl::Status Load(StateReader& in);

 private:
  void Leave(JobRow& row, SimTime now);
  void StopWaiting(const JobRow& row);
  // Adds (sign +1) or removes (-1) the job's request from its tenant's usage.
  void Hold(const JobRow& row, int sign);
  void BeginWaiting(JobRow& row, SimTime now);
  void LoadRow(StateReader& in);

  std::vector<JobRow> rows_;
  std::vector<JobId> pod_job_;
  std::vector<SimDuration> attempts_;  // of all jobs, concatenated
  size_t waiting_jobs_ = 0;
  size_t running_jobs_ = 0;
  ResourceAmounts waiting_request_;
  // Priority -> number of starting and running jobs.
  absl::btree_map<int32_t, size_t> holder_priorities_;
  std::vector<std::string> tenant_names_ = {""};
  std::vector<ResourceAmounts> tenant_usage_ = {ResourceAmounts()};
  absl::flat_hash_map<std::string, uint32_t> tenant_index_ = {{"", 0}};
  // Not saved: after a load every reader looks at all tenants.
  std::vector<bool> usage_changed_;  // by tenant
  std::vector<TenantId> usage_changes_;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_JOB_TABLE_H_
