// The jobs of a run: what each asked for, where it stands, and what it has cost so far.
//
// A job is one pod, or a gang of pods that start together or not at all and end together. Pods hold
// the nodes (ClusterState); a job holds the time: when it was submitted, how much work is left, how
// long it has waited.
//
// Work is counted in nanoseconds of running. A job that is interrupted keeps the work up to its
// last checkpoint, loses the rest, and pays an overhead when it starts again:
//   sum over runs of (end - start) = run_time + failed attempts + lost + overhead
// once it has succeeded.
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
#include "model/pod_shape.h"
#include "model/state_io.h"
#include "model/time.h"

namespace drasim {

enum class JobState : uint8_t {
  kWaiting = 0,    // holds nothing
  kStarting = 1,   // its pods are charged to nodes, their Bind is under way
  kRunning = 2,    //
  kSucceeded = 3,  // this and what follows: ended, holds nothing
  kFailed = 4,
  kDeleted = 5,  // by its owner, before or while it ran
  kDropped = 6,  // given up: it cannot be placed in this run
};
inline constexpr bool IsEnded(JobState state) { return state >= JobState::kSucceeded; }
absl::string_view JobStateName(JobState state);

// Amounts of the resources that shares and quotas are counted in.
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
  SimTime waiting_since;  // begin of the present wait: submission, preemption or failure
  SimTime first_start;    // meaningful when started_once
  SimTime started;        // of the present or last run
  SimTime ended;          // meaningful when it has ended
  SimDuration run_time;   // of work, of the last attempt; failed_attempts() has the others
  SimDuration estimate;
  SimTime deadline;
  SimTime deletion;

  SimDuration remaining;      // work left of the present attempt
  SimDuration overhead_left;  // to be spent at the next start, before work goes on
  SimDuration waited;         // sum of all finished waits
  SimDuration work_lost;      // work that was done and must be done again
  SimDuration overhead;       // spent on restarts
  SimDuration held;           // sum of all ended runs, whatever they were spent on
  SimDuration failed_work;    // in attempts that failed
  uint32_t preemptions = 0;
  uint32_t evictions = 0;           // lost with a node, or drained from it
  uint32_t admission_failures = 0;  // times a node turned one of its pods away
  uint32_t runs = 0;           // starts so far; tells the events of one run from those of another
  uint32_t retry = 0;          // next of failed_attempts()
  uint32_t retries_begin = 0;  // of the table's attempts
  uint32_t retries = 0;

  ResourceAmounts request;  // of all pods together
};

class JobTable {
 public:
  // A job that arrives, with its pods' ids. `shapes` gives the amounts. O(1) amortised.
  JobId Add(const JobArrival& arrival, PodId first_pod, const ShapeTable& shapes);

  size_t size() const { return rows_.size(); }
  const JobRow& row(JobId id) const { return rows_[id.value()]; }
  // For the engine alone.
  JobRow& mutable_row(JobId id) { return rows_[id.value()]; }
  // The run times of the attempts that fail before the last.
  absl::Span<const SimDuration> failed_attempts(JobId id) const;

  // --- sums over jobs ---
  size_t waiting_jobs() const { return waiting_jobs_; }
  size_t running_jobs() const { return running_jobs_; }
  const ResourceAmounts& waiting_request() const { return waiting_request_; }
  // Whether any starting or running job has a lower priority. O(1).
  bool AnyHolderBelow(int32_t priority) const {
    return !holder_priorities_.empty() && holder_priorities_.begin()->first < priority;
  }

  // The job a pod belongs to.
  JobId job_of(PodId pod) const { return pod_job_[pod.value()]; }

  // --- tenants: row 0 is "", the others in order of first appearance ---
  size_t tenant_count() const { return tenant_names_.size(); }
  const std::string& tenant_name(TenantId id) const { return tenant_names_[id.value()]; }
  TenantId FindTenant(absl::string_view name) const;  // invalid if no job has it so far
  TenantId InternTenant(absl::string_view name);
  // What the tenant's starting and running jobs hold.
  const ResourceAmounts& tenant_usage(TenantId id) const { return tenant_usage_[id.value()]; }

  // Moves the tenants whose usage has changed since the last call into `out`, each once.
  void TakeUsageChanges(std::vector<TenantId>* out);

  // --- transitions; each CHECKs that the job is in the state the name implies ---
  void Start(JobId id);             // kWaiting -> kStarting: the tenant is charged
  void CancelStart(JobId id);       // kStarting -> kWaiting: as if nothing had happened
  void Run(JobId id, SimTime now);  // kStarting -> kRunning: the wait ends
  // kRunning -> kWaiting. `kept` of the work done in this run is kept, the rest is lost; `overhead`
  // is what the next start costs. REQUIRES: kept <= work done.
  void Interrupt(JobId id, SimTime now, SimDuration kept, SimDuration overhead);
  // kRunning -> kWaiting: the attempt failed; the next one begins from nothing.
  void Retry(JobId id, SimTime now);
  void End(JobId id, JobState state, SimTime now);  // any state that has not ended -> an ended one

  // Whether the present attempt ends by itself; a service's last attempt does not.
  bool HasLength(JobId id) const {
    const JobRow& r = row(id);
    return r.has_run_time || r.retry < r.retries;
  }
  // How long a run that starts now takes: the overhead and the work left.
  // REQUIRES: HasLength.
  SimDuration NextRunLength(JobId id) const;
  // Work done in the present run up to `now`, without the overhead. REQUIRES: kRunning.
  SimDuration WorkDone(JobId id, SimTime now) const;
  // Work left, overhead included, as of `now`; what shortest-remaining-time-first sorts by.
  SimDuration RemainingAt(JobId id, SimTime now) const;

  // Recomputes what tenants hold and compares. Internal error that names the first difference.
  absl::Status CheckInvariants() const;
  void Save(StateWriter& out) const;
  absl::Status Load(StateReader& in);

 private:
  void Leave(JobRow& row, SimTime now);
  void StopWaiting(const JobRow& row);
  // The job begins (sign +1) or ends (-1) to hold what it asks for.
  void Hold(const JobRow& row, int sign);
  void BeginWaiting(JobRow& row, SimTime now);
  void LoadRow(StateReader& in);

  std::vector<JobRow> rows_;
  std::vector<JobId> pod_job_;
  std::vector<SimDuration> attempts_;  // of all jobs, one after the other
  size_t waiting_jobs_ = 0;
  size_t running_jobs_ = 0;
  ResourceAmounts waiting_request_;
  absl::btree_map<int32_t, size_t> holder_priorities_;  // of starting and running jobs -> how many
  std::vector<std::string> tenant_names_ = {""};
  std::vector<ResourceAmounts> tenant_usage_ = {ResourceAmounts()};
  absl::flat_hash_map<std::string, uint32_t> tenant_index_ = {{"", 0}};
  // Not saved: who looks at usage looks at all of it after a load.
  std::vector<bool> usage_changed_;  // by tenant
  std::vector<TenantId> usage_changes_;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_JOB_TABLE_H_
