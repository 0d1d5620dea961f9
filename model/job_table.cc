#include "model/job_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "model/check.h"

namespace drasim {
namespace {

void SaveAmounts(const ResourceAmounts& a, StateWriter& out) {
  out.I64(a.cpu_milli);
  out.I64(a.memory_bytes);
  out.I64(a.gpu_milli);
}

ResourceAmounts LoadAmounts(StateReader& in) {
  ResourceAmounts a;
  a.cpu_milli = in.I64();
  a.memory_bytes = in.I64();
  a.gpu_milli = in.I64();
  return a;
}

ResourceAmounts RequestOf(const ResourceRequest& request, int64_t pods) {
  return {request.cpu_milli * pods, request.memory_bytes * pods, request.total_gpu_milli() * pods};
}

void SaveRow(const JobRow& r, StateWriter& out) {
  for (uint64_t v : {uint64_t{r.pods}, uint64_t{r.tenant.value()}, static_cast<uint64_t>(r.state),
                     uint64_t{r.preemptions}, uint64_t{r.evictions}, uint64_t{r.admission_failures},
                     uint64_t{r.attempts_failed}, uint64_t{r.runs}, uint64_t{r.retry},
                     uint64_t{r.retries_begin}, uint64_t{r.retries}}) {
    out.U64(v);
  }
  out.I64(r.priority);
  for (bool flag : {r.has_run_time, r.has_estimate, r.has_deadline, r.has_deletion, r.preemptible,
                    r.recreated, r.fails, r.started_once}) {
    out.Bool(flag);
  }
  for (SimTime t :
       {r.submitted, r.waiting_since, r.first_start, r.started, r.ended, r.deadline, r.deletion}) {
    out.I64(t.ns());
  }
  for (SimDuration d : {r.run_time, r.estimate, r.remaining, r.overhead_left, r.waited, r.work_lost,
                        r.overhead, r.failed_work, r.held}) {
    out.I64(d.ns());
  }
  SaveAmounts(r.request, out);
}

}  // namespace

absl::string_view JobStateName(JobState state) {
  static constexpr absl::string_view kNames[] = {"Waiting", "Starting", "Running", "Succeeded",
                                                 "Failed",  "Deleted",  "Dropped"};
  return kNames[static_cast<size_t>(state)];
}

void ResourceAmounts::Add(const ResourceAmounts& other, int64_t sign) {
  cpu_milli += sign * other.cpu_milli;
  memory_bytes += sign * other.memory_bytes;
  gpu_milli += sign * other.gpu_milli;
}

JobId JobTable::Add(const JobArrival& arrival, PodId first_pod, const ShapeTable& shapes) {
  const JobId id(rows_.size());
  JobRow row;
  row.first_pod = first_pod;
  row.pods = static_cast<uint32_t>(arrival.pods);
  row.request = RequestOf(shapes.row(arrival.shape).request, arrival.pods);
  for (const PodGroup& group : arrival.more_pods) {
    row.pods += static_cast<uint32_t>(group.pods);
    row.request.Add(RequestOf(shapes.row(group.shape).request, group.pods), 1);
  }
  row.tenant = InternTenant(arrival.tenant);
  row.priority = arrival.priority;
  row.has_run_time = arrival.has_run_time;
  row.has_estimate = arrival.has_estimate;
  row.has_deadline = arrival.has_deadline;
  row.has_deletion = arrival.has_deletion;
  row.preemptible = arrival.preemptible;
  row.recreated = arrival.recreated;
  row.fails = arrival.fails;
  row.submitted = arrival.time;
  row.waiting_since = arrival.time;
  row.run_time = arrival.run_time;
  row.estimate = arrival.estimate;
  row.deadline = arrival.deadline;
  row.deletion = arrival.deletion;
  row.retries_begin = static_cast<uint32_t>(attempts_.size());
  row.retries = static_cast<uint32_t>(arrival.failed_attempts.size());
  attempts_.insert(attempts_.end(), arrival.failed_attempts.begin(), arrival.failed_attempts.end());
  row.remaining = row.retries > 0 ? arrival.failed_attempts[0] : row.run_time;
  DRASIM_CHECK_EQ(pod_job_.size(), size_t{first_pod.value()});
  pod_job_.insert(pod_job_.end(), row.pods, id);
  rows_.push_back(row);
  ++waiting_jobs_;
  waiting_request_.Add(row.request, 1);
  return id;
}

absl::Span<const SimDuration> JobTable::failed_attempts(JobId id) const {
  const JobRow& r = row(id);
  return absl::MakeConstSpan(attempts_).subspan(r.retries_begin, r.retries);
}

TenantId JobTable::FindTenant(absl::string_view name) const {
  const auto it = tenant_index_.find(name);
  return it == tenant_index_.end() ? TenantId() : TenantId(it->second);
}

TenantId JobTable::InternTenant(absl::string_view name) {
  const auto [it, inserted] =
      tenant_index_.try_emplace(name, static_cast<uint32_t>(tenant_names_.size()));
  if (inserted) {
    tenant_names_.emplace_back(name);
    tenant_usage_.emplace_back();
  }
  return TenantId(it->second);
}

void JobTable::StopWaiting(const JobRow& row) {
  --waiting_jobs_;
  waiting_request_.Add(row.request, -1);
}

void JobTable::BeginWaiting(JobRow& row, SimTime now) {
  row.state = JobState::kWaiting;
  row.waiting_since = now;
  ++waiting_jobs_;
  waiting_request_.Add(row.request, 1);
}

void JobTable::Hold(const JobRow& row, int sign) {
  tenant_usage_[row.tenant.value()].Add(row.request, sign);
  if (usage_changed_.size() <= row.tenant.value()) usage_changed_.resize(tenant_names_.size());
  if (!usage_changed_[row.tenant.value()]) {
    usage_changed_[row.tenant.value()] = true;
    usage_changes_.push_back(row.tenant);
  }
  const auto it = holder_priorities_.try_emplace(row.priority, 0).first;
  it->second = sign > 0 ? it->second + 1 : it->second - 1;
  if (it->second == 0) holder_priorities_.erase(it);
}

void JobTable::TakeUsageChanges(std::vector<TenantId>* out) {
  out->clear();
  out->swap(usage_changes_);
  for (const TenantId tenant : *out) usage_changed_[tenant.value()] = false;
}

void JobTable::Start(JobId id) {
  JobRow& r = mutable_row(id);
  DRASIM_CHECK(r.state == JobState::kWaiting);
  r.state = JobState::kStarting;
  Hold(r, 1);
  StopWaiting(r);
}

void JobTable::CancelStart(JobId id) {
  JobRow& r = mutable_row(id);
  DRASIM_CHECK(r.state == JobState::kStarting);
  Hold(r, -1);
  BeginWaiting(r, r.waiting_since);
}

void JobTable::Run(JobId id, SimTime now) {
  JobRow& r = mutable_row(id);
  DRASIM_CHECK(r.state == JobState::kStarting);
  r.state = JobState::kRunning;
  r.started = now;
  if (!r.started_once) r.first_start = now;
  r.started_once = true;
  r.waited = r.waited + (now - r.waiting_since);
  ++r.runs;
  ++running_jobs_;
}

SimDuration JobTable::WorkDone(JobId id, SimTime now) const {
  const JobRow& r = row(id);
  DRASIM_CHECK(r.state == JobState::kRunning);
  const SimDuration done = std::max((now - r.started) - r.overhead_left, SimDuration());
  return HasLength(id) ? std::min(done, r.remaining) : done;
}

SimDuration JobTable::RemainingAt(JobId id, SimTime now) const {
  const JobRow& r = row(id);
  const SimDuration whole = r.overhead_left + r.remaining;
  return r.state == JobState::kRunning ? whole - (now - r.started) : whole;
}

// Closes the run that began at row.started: releases its resources and books its time.
void JobTable::Leave(JobRow& r, SimTime now) {
  Hold(r, -1);
  --running_jobs_;
  const SimDuration ran = now - r.started;
  const SimDuration spent = std::min(ran, r.overhead_left);
  r.overhead = r.overhead + spent;
  r.overhead_left = r.overhead_left - spent;
  r.held = r.held + ran;
}

void JobTable::Interrupt(JobId id, SimTime now, SimDuration kept, SimDuration overhead) {
  JobRow& r = mutable_row(id);
  const SimDuration done = WorkDone(id, now);
  DRASIM_CHECK(kept >= SimDuration() && kept <= done);
  Leave(r, now);
  if (HasLength(id)) r.remaining = r.remaining - kept;
  r.work_lost = r.work_lost + (done - kept);
  // The unfinished rest of an interrupted restart is not charged twice.
  r.overhead_left = overhead;
  BeginWaiting(r, now);
}

void JobTable::Retry(JobId id, SimTime now) {
  JobRow& r = mutable_row(id);
  DRASIM_CHECK(r.state == JobState::kRunning);
  DRASIM_CHECK_LT(r.retry, r.retries);
  // Work kept from earlier, interrupted runs of the attempt is lost with it.
  r.failed_work = r.failed_work + (failed_attempts(id)[r.retry] - r.remaining) + WorkDone(id, now);
  Leave(r, now);
  ++r.retry;
  r.remaining = r.retry < r.retries ? failed_attempts(id)[r.retry] : r.run_time;
  r.overhead_left = SimDuration();
  BeginWaiting(r, now);
}

void JobTable::End(JobId id, JobState state, SimTime now) {
  JobRow& r = mutable_row(id);
  DRASIM_CHECK(!IsEnded(r.state) && IsEnded(state));
  switch (r.state) {
    case JobState::kWaiting:
      r.waited = r.waited + (now - r.waiting_since);
      StopWaiting(r);
      break;
    case JobState::kStarting:
      Hold(r, -1);
      r.waited = r.waited + (now - r.waiting_since);
      break;
    default: {
      const SimDuration done = WorkDone(id, now);
      Leave(r, now);
      r.remaining = r.remaining - std::min(done, r.remaining);
      break;
    }
  }
  r.state = state;
  r.ended = now;
}

absl::Status JobTable::CheckInvariants() const {
  std::vector<ResourceAmounts> usage(tenant_names_.size());
  ResourceAmounts waiting;
  size_t waiting_jobs = 0;
  size_t running_jobs = 0;
  for (const JobRow& r : rows_) {
    const bool holds = r.state == JobState::kStarting || r.state == JobState::kRunning;
    if (holds) usage[r.tenant.value()].Add(r.request, 1);
    if (r.state == JobState::kRunning) ++running_jobs;
    if (r.state != JobState::kWaiting) continue;
    ++waiting_jobs;
    waiting.Add(r.request, 1);
  }
  for (size_t t = 0; t < usage.size(); ++t) {
    if (usage[t] == tenant_usage_[t]) continue;
    return absl::InternalError(
        absl::StrCat("tenant '", tenant_names_[t], "': usage differs from what its jobs hold"));
  }
  if (waiting_jobs != waiting_jobs_ || running_jobs != running_jobs_ ||
      !(waiting == waiting_request_)) {
    return absl::InternalError("the sums over waiting or running jobs differ from the jobs");
  }
  return absl::OkStatus();
}

void JobTable::Save(StateWriter& out) const {
  out.Section("jobs");
  out.U64(tenant_names_.size());
  for (const std::string& name : tenant_names_) out.Str(name);
  out.U64(attempts_.size());
  for (SimDuration d : attempts_) out.I64(d.ns());
  out.Rows(RowKind::kJob, rows_.size(), [&](size_t i) { SaveRow(rows_[i], out); });
}

absl::Status JobTable::Load(StateReader& in) {
  in.Section("jobs");
  *this = JobTable();
  const size_t tenants = in.Count();
  for (size_t i = 0; i < tenants && in.status().ok(); ++i) InternTenant(in.Str());
  const size_t attempts = in.Count();
  for (size_t i = 0; i < attempts && in.status().ok(); ++i)
    attempts_.push_back(SimDuration(in.I64()));
  const size_t jobs = in.Count();
  for (size_t i = 0; i < jobs && in.status().ok(); ++i) LoadRow(in);
  return in.status();
}

void JobTable::LoadRow(StateReader& in) {
  JobRow r;
  r.first_pod = PodId(pod_job_.size());
  r.pods = static_cast<uint32_t>(in.U64());
  r.tenant = TenantId(static_cast<size_t>(in.U64()));
  const uint64_t state = in.U64();
  for (uint32_t* v : {&r.preemptions, &r.evictions, &r.admission_failures, &r.attempts_failed,
                      &r.runs, &r.retry, &r.retries_begin, &r.retries}) {
    *v = static_cast<uint32_t>(in.U64());
  }
  r.priority = static_cast<int32_t>(in.I64());
  for (bool* flag : {&r.has_run_time, &r.has_estimate, &r.has_deadline, &r.has_deletion,
                     &r.preemptible, &r.recreated, &r.fails, &r.started_once}) {
    *flag = in.Bool();
  }
  for (SimTime* t : {&r.submitted, &r.waiting_since, &r.first_start, &r.started, &r.ended,
                     &r.deadline, &r.deletion}) {
    *t = SimTime(in.I64());
  }
  for (SimDuration* d : {&r.run_time, &r.estimate, &r.remaining, &r.overhead_left, &r.waited,
                         &r.work_lost, &r.overhead, &r.failed_work, &r.held}) {
    *d = SimDuration(in.I64());
  }
  r.request = LoadAmounts(in);
  if (!in.status().ok()) return;
  if (r.pods == 0 || r.pods > (uint32_t{1} << 24) || r.tenant.value() >= tenant_names_.size() ||
      state > static_cast<uint64_t>(JobState::kDropped) ||
      uint64_t{r.retries_begin} + r.retries > attempts_.size() || r.retry > r.retries) {
    in.Fail("a job names a tenant, state or attempt that does not exist");
    return;
  }
  r.state = static_cast<JobState>(state);
  const JobId id(rows_.size());
  pod_job_.insert(pod_job_.end(), r.pods, id);
  rows_.push_back(r);
  if (r.state == JobState::kWaiting) {
    ++waiting_jobs_;
    waiting_request_.Add(r.request, 1);
  }
  if (r.state == JobState::kRunning) ++running_jobs_;
  if (r.state == JobState::kRunning || r.state == JobState::kStarting) {
    Hold(r, 1);
  }
}

}  // namespace drasim
