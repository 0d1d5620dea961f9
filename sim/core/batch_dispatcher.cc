#include "sim/core/batch_dispatcher.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "model/device_set.h"
#include "model/status_macros.h"
#include "model/time.h"
#include "sim/core/what_if.h"

namespace drasim {
namespace {

// Idle amounts of the nodes where pods may go.
ResourceAmounts FreeAmounts(const ClusterState& cluster) {
  const ClusterTotals& t = cluster.totals();
  ResourceAmounts free = {t.cpu_milli_capacity - t.cpu_milli_allocated,
                          t.memory_bytes_capacity - t.memory_bytes_allocated,
                          t.gpu_milli_capacity - t.gpu_milli_allocated};
  if (cluster.cordoned_nodes() == 0) return free;
  for (const NodeRow& row : cluster.nodes()) {
    if (!row.available || row.schedulable) continue;
    free.Add({row.cpu_milli_idle, row.memory_bytes_idle, row.gpu_milli_idle}, -1);
  }
  return free;
}

}  // namespace

BatchDispatcher::BatchDispatcher(DispatchParts parts, std::unique_ptr<QueuePolicy> policy,
                                 BatchOptions options)
    : parts_(parts),
      policy_(std::move(policy)),
      options_(std::move(options)),
      tenants_matter_(policy_->per_tenant() || !parts_.quotas->empty()),
      line_({policy_->per_tenant(), options_.backfill == Backfill::kConservative}),
      walk_(&line_, policy_.get(), parts_.jobs, parts_.cluster),
      helios_(parts_.cluster, parts_.jobs) {}

void BatchDispatcher::StandInLine(JobId job) {
  const JobRow& row = parts_.jobs->row(job);
  uint64_t kind = parts_.placer->SignatureOf(job);
  // A request that fails for one priority may displace others for a higher one.
  if (options_.preempt_by_priority) kind |= uint64_t{static_cast<uint32_t>(row.priority)} << 32;
  line_.Add(job, policy_->Key(*parts_.jobs, job), kind, tenants_matter_ ? row.tenant : TenantId(),
            row.request.gpu_milli,
            options_.backfill == Backfill::kConservative ? LengthOf(job) : SimDuration());
}

void BatchDispatcher::Add(JobId job) {
  StandInLine(job);
  changed_ = true;
  if (options_.helios && policy_->preempts()) helios_.Add(job);
}

void BatchDispatcher::Return(JobId job, SummaryId, Comeback) {
  // Not within the same pass, which might never end.
  if (in_pass_) {
    returned_.push_back(job);
  } else {
    Add(job);
  }
}

bool BatchDispatcher::Remove(JobId job) {
  // The head may be gone now, so later jobs may start.
  changed_ = true;
  helios_.Remove(job);
  return line_.Remove(job);
}

void BatchDispatcher::OnEvent(const ClusterChange&) {
  changed_ = true;
  news_in_pass_ |= in_pass_ && !evicting_;
}

void BatchDispatcher::OnEnd(JobId job) {
  policy_->OnEnd(*parts_.jobs, job);
  helios_.OnEnd(job);
  changed_ = true;
}

bool BatchDispatcher::QuotaAllows(JobId job) const {
  if (parts_.quotas->empty()) return true;
  const JobRow& row = parts_.jobs->row(job);
  return parts_.quotas->Allows(parts_.jobs->tenant_name(row.tenant), parts_.control->now(),
                               parts_.jobs->tenant_usage(row.tenant), row.request);
}

BatchDispatcher::Outcome BatchDispatcher::TryStart(JobId job) {
  if (parts_.placer->KnownFailure(job) == nullptr) {
    const auto failure = parts_.placer->Place(job, parts_.control->now());
    if (!failure.has_value()) {
      line_.Remove(job);
      parts_.control->StartPlaced(job);
      return Outcome::kStarted;
    }
    parts_.control->RecordFailure(job, *failure);
  }
  const bool may_preempt = options_.preempt_by_priority || options_.preempt;
  if (!may_preempt || options_.helios || !TryPreempt(job)) return Outcome::kFailed;
  // Also with a grace period: cancelled starts have made room at once.
  const auto failure = parts_.placer->Place(job, parts_.control->now());
  if (failure.has_value()) {
    if (parts_.control->has_grace_period()) return Outcome::kWaitsForVictims;
    // A policy with random choices may place a gang differently than in the trial.
    parts_.control->RecordFailure(job, *failure);
    return Outcome::kFailed;
  }
  line_.Remove(job);
  parts_.control->StartPlaced(job);
  return Outcome::kStarted;
}

bool BatchDispatcher::MayDisplace(JobId waiting, JobId running) const {
  if (parts_.cluster->pod_shape(parts_.jobs->row(waiting).first_pod).constraints.never_preempts)
    return false;
  const JobRow& victim = parts_.jobs->row(running);
  if (!victim.preemptible) return false;
  if (options_.preempt_by_priority) return parts_.jobs->row(waiting).priority > victim.priority;
  return policy_->MayPreempt(*parts_.jobs, waiting, running, parts_.control->now());
}

// Running jobs that may be displaced, the first to go first.
std::vector<JobId> BatchDispatcher::Displaceable(JobId job) const {
  struct Candidate {
    JobKey key;
    int64_t started_ns;
    JobId job;
  };
  std::vector<Candidate> candidates;
  std::vector<JobId> holders = parts_.control->starting();
  const absl::Span<const JobId> all_running = parts_.control->running();
  holders.insert(holders.end(), all_running.begin(), all_running.end());
  for (JobId running : holders) {
    if (parts_.control->IsBeingEvicted(running) || !MayDisplace(job, running)) continue;
    const JobRow& row = parts_.jobs->row(running);
    const JobKey key = options_.preempt_by_priority
                           ? JobKey{row.priority, 0}
                           : policy_->VictimKey(*parts_.jobs, running, parts_.control->now());
    // A job that is just starting counts as the latest.
    const int64_t started_ns =
        row.state == JobState::kStarting ? std::numeric_limits<int64_t>::max() : row.started.ns();
    candidates.push_back({key, started_ns, running});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    if (a.key != b.key) return a.key < b.key;
    if (a.started_ns != b.started_ns) return a.started_ns > b.started_ns;
    return b.job < a.job;
  });
  std::vector<JobId> jobs;
  for (const Candidate& c : candidates) jobs.push_back(c.job);
  return jobs;
}

// Evicts the fewest jobs, in the order of Displaceable, that make room for the job. False when not
// even all of them suffice. With a grace period the room becomes free later.
bool BatchDispatcher::TryPreempt(JobId job) {
  ClusterState& cluster = *parts_.cluster;
  if (preempt_tried_.size() <= job.value()) preempt_tried_.resize(parts_.jobs->size());
  if (preempt_tried_[job.value()] == cluster.version() + 1) return false;
  const uint64_t version = cluster.version();
  const auto fits = [&] { return parts_.placer->WouldFit(job, parts_.control->now()); };
  const JobRow& row = parts_.jobs->row(job);
  std::vector<JobId> victims;
  std::vector<size_t> removals;  // by victim, its number in the what-if
  bool found = false;
  WhatIf what_if(&cluster);
  // Jobs in eviction make room as well.
  bool any_leaving = false;
  for (JobId running : parts_.control->running()) {
    if (!parts_.control->IsBeingEvicted(running)) continue;
    what_if.RemoveJob(parts_.jobs->row(running));
    any_leaving = true;
  }
  found = any_leaving && fits();
  if (!found) {
    const std::vector<JobId> displaceable = Displaceable(job);
    ResourceAmounts at_most = FreeAmounts(cluster);
    for (JobId victim : displaceable) at_most.Add(parts_.jobs->row(victim).request, 1);
    const bool enough = FitsWithin(row.request, at_most);
    for (JobId victim : displaceable) {
      if (!enough) break;
      removals.push_back(what_if.RemoveJob(parts_.jobs->row(victim)));
      victims.push_back(victim);
      if (!FitsWithin(row.request, FreeAmounts(cluster)) || !fits()) continue;
      found = true;
      break;
    }
    // Reprieve, the last victim first: some evictions may be unnecessary.
    for (size_t i = victims.size(); found && i-- > 0;) {
      const JobRow& victim = parts_.jobs->row(victims[i]);
      what_if.RestoreJob(victim, removals[i]);
      if (fits()) {
        victims.erase(victims.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        what_if.RemoveJob(victim);
      }
    }
  }
  what_if.End();
  if (!found) {
    // Further jobs may begin to leave without a new version.
    if (!any_leaving) preempt_tried_[job.value()] = version + 1;
    return false;
  }
  evicted_ |= !victims.empty();
  evicting_ = true;
  for (JobId victim : victims) parts_.control->Evict(victim, EvictionCause::kPreempted, job);
  evicting_ = false;
  return true;
}

void BatchDispatcher::Dispatch() {
  in_pass_ = true;
  news_in_pass_ = false;
  if (options_.helios && policy_->preempts()) {
    RunHeliosPass();
  } else if (options_.backfill == Backfill::kConservative) {
    ConservativePass();
  } else {
    OrderedPass();
  }
  in_pass_ = false;
  // The job of a rejected pod has left room that the pass may not have seen.
  changed_ = news_in_pass_;
  for (JobId job : returned_) StandInLine(job);
  returned_.clear();
}

void BatchDispatcher::OrderedPass() {
  walk_.Begin();
  while (true) {
    uint32_t c = 0;
    const JobId job = walk_.First(&c);
    if (!job.valid()) break;
    if (!QuotaAllows(job)) {
      walk_.Close(c);
      continue;
    }
    evicted_ = false;
    const Outcome outcome = TryStart(job);
    if (outcome == Outcome::kStarted) {
      // Departed victims may have left room for others that had failed before.
      if (evicted_) walk_.Begin();
      continue;
    }
    if (options_.head_of_line) {
      if (options_.backfill == Backfill::kEasy && outcome == Outcome::kFailed) EasyPass(job);
      break;
    }
    walk_.Close(c);
  }
}

std::vector<RunningJob> BatchDispatcher::ExpectedEnds() const {
  std::vector<RunningJob> ends;
  const SimTime now = parts_.control->now();
  for (JobId job : parts_.control->running()) {
    const JobRow& row = parts_.jobs->row(job);
    ends.push_back({std::max(AddSaturating(row.started, row.overhead_left + EstimateOf(job)), now),
                    row.request, job});
  }
  for (JobId job : parts_.control->starting()) {
    const JobRow& row = parts_.jobs->row(job);
    ends.push_back({AddSaturating(now, row.overhead_left + EstimateOf(job)), row.request, job});
  }
  std::sort(ends.begin(), ends.end());
  return ends;
}

// Starts jobs behind the head that end before its reserved start, or fit beside its reservation.
void BatchDispatcher::EasyPass(JobId head) {
  ClusterState& cluster = *parts_.cluster;
  const SimTime now = parts_.control->now();
  const ResourceAmounts need = parts_.jobs->row(head).request;
  SimTime shadow = SimTime(std::numeric_limits<int64_t>::max());
  ResourceAmounts extra;
  const ResourceAmounts idle = FreeAmounts(cluster);
  // The cluster is full, so no job behind the head could start anyway.
  if (idle.gpu_milli == 0 && idle.cpu_milli == 0) return;
  WhatIf what_if(&cluster);
  for (const RunningJob& running : ExpectedEnds()) {
    what_if.RemoveJob(parts_.jobs->row(running.job));
    const ResourceAmounts free = FreeAmounts(cluster);
    if (!FitsWithin(need, free)) continue;
    if (!parts_.placer->WouldFit(head, now)) continue;
    shadow = running.expected_end;
    extra = free;
    extra.Add(need, -1);
    break;
  }
  what_if.End();
  LineMerge line(&line_);
  WaitingLine::Entry entry;
  uint32_t c = 0;
  while (line.Next(&entry, &c)) {
    const JobId job = entry.job;
    const JobRow& row = parts_.jobs->row(job);
    if (!FitsWithin(row.request, FreeAmounts(cluster))) {
      // No more will be free in this pass.
      line.LeaveOutClass();
      continue;
    }
    if (job == head) continue;
    const bool in_time = AddSaturating(now, LengthOf(job)) <= shadow;
    if ((!in_time && !FitsWithin(row.request, extra)) || !QuotaAllows(job)) continue;
    if (parts_.placer->KnownFailure(job) != nullptr) continue;
    const ResourceAmounts request = row.request;
    const auto failure = parts_.placer->Place(job, now);
    if (failure.has_value()) {
      parts_.control->RecordFailure(job, *failure);
      continue;
    }
    line_.Remove(job);
    parts_.control->StartPlaced(job);
    if (!in_time) extra.Add(request, -1);
  }
}

bool BatchDispatcher::FitsCluster(const ResourceAmounts& request) const {
  ResourceAmounts all = FreeAmounts(*parts_.cluster);
  const ClusterTotals& t = parts_.cluster->totals();
  all.Add({t.cpu_milli_allocated, t.memory_bytes_allocated, t.gpu_milli_allocated}, 1);
  return FitsWithin(request, all);
}

bool BatchDispatcher::FindStartable(const AvailabilityProfile& profile, SimTime now,
                                    const WaitingLine::Entry& position, uint32_t* class_index,
                                    WaitingLine::Entry* startable) const {
  const std::vector<WaitingLine::Class>& classes = line_.classes();
  for (; *class_index < classes.size(); ++*class_index) {
    const WaitingLine::Class& c = classes[*class_index];
    if (c.jobs.empty() || *c.jobs.rbegin() <= position) continue;
    const ResourceAmounts& request = parts_.jobs->row(c.jobs.begin()->job).request;
    const SimDuration longest = profile.FreeFor(request, now);
    for (const auto& [length, entry] : c.by_length) {
      if (length > longest) break;
      if (entry <= position) continue;
      *startable = entry;
      return true;
    }
  }
  return false;
}

// Gives every job in line a reservation, and starts those whose reservation begins now.
// Reservations last for this pass only, so the pass ends where no later job could start now.
void BatchDispatcher::ConservativePass() {
  const SimTime now = parts_.control->now();
  AvailabilityProfile profile(now, FreeAmounts(*parts_.cluster));
  std::vector<RunningJob> ends = ExpectedEnds();
  // A job past its expected end may end at any moment, but its room is not free yet.
  for (RunningJob& running : ends) {
    running.expected_end = std::max(running.expected_end, now + SimDuration(1));
  }
  profile.Release(ends);
  // A job that may be able to start. Profiles only lose free amounts, so classes before its own
  // stay without a start.
  uint32_t startable_class = 0;
  WaitingLine::Entry startable;
  startable.key.first = std::numeric_limits<int64_t>::min();
  WaitingLine::Entry entry = startable;
  bool any = FindStartable(profile, now, entry, &startable_class, &startable);
  absl::flat_hash_map<uint32_t, EarliestStarts> known;  // by class
  LineMerge line(&line_);
  uint32_t c = 0;
  while (any && line.Next(&entry, &c)) {
    const JobId job = entry.job;
    const bool was_startable = entry == startable;
    Reserve(job, now, &profile, &known[c]);
    if (was_startable ||
        profile.FreeFor(parts_.jobs->row(startable.job).request, now) < LengthOf(startable.job)) {
      any = FindStartable(profile, now, entry, &startable_class, &startable);
    }
  }
}

// Starts the job now, or reserves its amounts in the profile from its future start.
void BatchDispatcher::Reserve(JobId job, SimTime now, AvailabilityProfile* profile,
                              EarliestStarts* known) {
  const ResourceAmounts request = parts_.jobs->row(job).request;
  // While nodes are missing there may be no possible start.
  if (!QuotaAllows(job) || !FitsCluster(request)) return;
  const SimDuration length = LengthOf(job);
  SimTime start = profile->EarliestFit(request, length, known->Bound(length, now));
  known->Learn(length, start);
  if (start == now) {
    bool started = false;
    if (parts_.placer->KnownFailure(job) == nullptr) {
      const auto failure = parts_.placer->Place(job, now);
      started = !failure.has_value();
      if (!started) parts_.control->RecordFailure(job, *failure);
    }
    if (started) {
      line_.Remove(job);
      parts_.control->StartPlaced(job);
    } else {
      // Enough in amounts, but not on the right nodes: at the next change at the earliest.
      const SimTime next = profile->NextChange(now);
      if (next == now) return;
      start = profile->EarliestFit(request, length, next);
    }
  }
  profile->Reserve(start, length, request);
}

void BatchDispatcher::RunHeliosPass() {
  const SimTime now = parts_.control->now();
  const HeliosPass::Plan plan = helios_.Decide(now);
  evicting_ = true;
  const JobId preemptor = plan.admitted.size() == 1 ? plan.admitted[0] : JobId();
  for (JobId job : plan.displaced) {
    parts_.control->Evict(job, EvictionCause::kPreempted, preemptor);
  }
  evicting_ = false;
  for (JobId job : plan.admitted) {
    const auto failure = parts_.placer->Place(job, now);
    if (failure.has_value()) {
      if (!failure->known) parts_.control->RecordFailure(job, *failure);
      continue;
    }
    line_.Remove(job);
    helios_.Started(job);
    parts_.control->StartPlaced(job);
  }
}

int64_t BatchDispatcher::SmallestNeedMilli() const {
  if (!options_.head_of_line) return line_.SmallestNeedMilli();
  uint32_t c = 0;
  const JobId head = walk_.First(&c);
  return head.valid() ? parts_.jobs->row(head).request.gpu_milli : 0;
}

void BatchDispatcher::Save(StateWriter& out) const {
  out.Section("batch");
  line_.Save(out);
  out.Bool(changed_);
  walk_.Save(out);
  out.Ints(preempt_tried_);
  helios_.Save(out);
  policy_->Save(out);
}

absl::Status BatchDispatcher::Load(StateReader& in) {
  in.Section("batch");
  RETURN_IF_ERROR(line_.Load(in));
  changed_ = in.Bool();
  walk_.Load(in);
  in.Ints(&preempt_tried_);
  helios_.Load(in);
  RETURN_IF_ERROR(policy_->Load(in));
  return in.status();
}

}  // namespace drasim
