#include "tests/sim/core/naive_replay.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "model/check.h"
#include "model/event_source.h"
#include "model/job_table.h"
#include "model/pod_shape.h"
#include "model/record.h"
#include "model/time.h"
#include "policies/framework/plugin.h"
#include "sim/core/batch_dispatcher.h"
#include "sim/core/engine.h"
#include "sim/core/interruption.h"
#include "sim/core/kubernetes_queue.h"
#include "sim/core/quotas.h"
#include "tests/sim/core/engine_rig.h"

namespace drasim {

constexpr int64_t kNaiveNever = std::numeric_limits<int64_t>::max();

// Sums that are too large are never.
int64_t NaiveSum(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kNaiveNever : sum;
}

// A future event. Of two at the same moment, the one decided on earlier comes first.
struct NaiveDue {
  int64_t at_ns = kNaiveNever;
  uint64_t order = 0;
};

// A job's place in kube-scheduler's queue.
enum class NaiveSpot { kNowhere, kGated, kActive, kBackoff, kUnschedulable };

struct NaiveJob {
  JobArrival arrival;
  std::vector<PodShape> pods;
  ResourceAmounts request;
  NaiveOutcome out;

  JobState state = JobState::kWaiting;
  size_t attempt = 0;   // of arrival.failed_attempts; behind them, the last one
  int64_t kept_ns = 0;  // work of this attempt that need not be done again
  int64_t overhead_left_ns = 0;
  int64_t waiting_since_ns = 0;
  int64_t started_ns = 0;
  std::vector<size_t> nodes;  // by pod; empty when it holds nothing
  NaiveDue deletion;
  NaiveDue bound;
  NaiveDue finish;
  NaiveDue leave;  // the end of its grace period
  NaiveDue back;   // from the loss of a node
  EvictionCause leave_cause = EvictionCause::kDrained;

  bool in_line = false;  // of a batch scheduler

  NaiveSpot spot = NaiveSpot::kNowhere;
  bool admitted = false;  // counts towards its tenant's quota
  int64_t queued_at_ns = 0;
  uint64_t queued_order = 0;
  int64_t failures = 0;
  int64_t backoff_end_ns = 0;
  uint32_t rejectors = 0;
  size_t rejected_pod = 0;
};

// Adds the request of the pod (sign +1), or gives it back (-1).
void NaiveCharge(const PodShape& pod, int64_t sign, NaiveNode* node);
// Places pods until one finds no place; `nodes` are what is idle then.
std::vector<size_t> NaivePlaceInTurn(const std::vector<PodShape>& pods,
                                     std::vector<NaiveNode>* nodes);
// Resource by resource; what is not asked for is not compared.
bool NaiveWithin(const ResourceAmounts& need, const ResourceAmounts& have);

class NaiveMachine {
 public:
  NaiveMachine(const EngineScenario& scenario, const std::vector<QuotaStep>& quotas);
  std::vector<NaiveOutcome> Run();

 private:
  // --- time ---
  bool Step();  // false: nothing is left to happen
  bool Ready() const;
  void Wake();
  void Dispatch();

  // --- what is where ---
  std::vector<NaiveNode> Idle(const std::vector<size_t>& without) const;
  std::vector<size_t> Place(size_t j, const std::vector<size_t>& without) const;
  bool Fits(size_t j, const std::vector<size_t>& without) const {
    return !Place(j, without).empty();
  }
  ResourceAmounts Free(const std::vector<size_t>& without) const;
  ResourceAmounts Usage(const std::string& tenant) const;
  bool CouldEverFit(size_t j) const;
  bool EverAllowed(size_t j) const;  // by its tenant's quota
  bool IsThere(size_t node) const { return !absent_[node] && failures_[node] == 0; }
  bool IsRunning(size_t j) const { return jobs_[j].state == JobState::kRunning; }
  bool IsStarting(size_t j) const { return jobs_[j].state == JobState::kStarting; }
  bool IsLeaving(size_t j) const { return jobs_[j].leave.at_ns != kNaiveNever; }
  int64_t AttemptNs(size_t j) const;  // all work of the present attempt
  bool HasEnd(size_t j) const;
  NaiveDue After(int64_t delay_ns);

  // --- the life of a job ---
  void Arrive();
  void Enter(size_t j);
  void Start(size_t j, const std::vector<size_t>& nodes);
  void BeginRun(size_t j);
  int64_t EndRun(size_t j);  // the work done in it
  void Finish(size_t j);
  void End(size_t j, JobState state);
  void Delete(size_t j);
  void Evict(size_t j, EvictionCause cause);
  void Interrupt(size_t j, EvictionCause cause);
  void TakeBack(size_t j);
  void Occupy(size_t j);
  void Vacate(size_t j);

  // --- nodes ---
  void ChangeNode();
  void Empty(size_t node, EvictionCause cause);
  void Happened(ClusterEvent event, size_t node);
  void ChangeQuotas();

  // --- batch ---
  using Key = std::tuple<int64_t, int64_t, size_t>;
  using Left = std::pair<int64_t, int64_t>;  // work left; jobs without an end come last
  enum class Outcome { kStarted, kDisplacedOthers, kWaitsForVictims, kFailed };
  Key KeyOf(size_t j) const;
  Left LeftOf(size_t j) const;
  size_t TenantRow(size_t j) const;
  int64_t ShareOf(size_t j) const;
  size_t First(const std::vector<bool>& passed) const;
  std::vector<size_t> SortedLine() const;
  bool QuotaAllows(size_t j) const;
  Outcome TryStart(size_t j);
  bool MayDisplace(size_t waiting, size_t running) const;
  bool FindVictims(size_t j, std::vector<size_t>* victims) const;
  int64_t EstimateNs(size_t j) const;
  // When, and which job; of those of one moment the smaller first.
  std::vector<std::pair<int64_t, size_t>> ExpectedEnds() const;
  void BatchPass();
  void EasyPass(size_t head);
  void ConservativePass();

  // --- kube-scheduler's queue ---
  void Enqueue(size_t j);
  void Admit(const std::string& tenant);
  bool CanPop() const;
  size_t Pop();
  void Attempt();
  void Reject(size_t j);
  bool Helps(const NaiveJob& job, ClusterEvent event, size_t node) const;
  void AfterBackoff(NaiveJob* job) const;
  int64_t NextTick() const;
  void Tick();
  bool AnyAt(NaiveSpot spot) const;

  const EngineScenario& s_;
  const std::vector<QuotaStep>& quotas_;
  bool kubernetes_;
  std::vector<NaiveJob> jobs_;
  std::vector<std::string> tenants_ = {""};  // in order of first appearance
  std::vector<bool> absent_;
  std::vector<int> failures_;  // that are not over
  std::vector<int> cordons_;
  // Pods (job, index) of each node: a new one goes last, and the last takes the place of one that
  // leaves.
  std::vector<std::vector<std::pair<size_t, size_t>>> on_node_;
  std::vector<size_t> gated_;
  std::vector<int64_t> quota_times_ns_;
  size_t arrived_ = 0;
  size_t next_change_ = 0;
  size_t next_quota_ = 0;
  int64_t now_ns_ = 0;
  int64_t attempt_at_ns_ = kNaiveNever;  // when the attempt or pass under way takes effect
  bool changed_ = false;                 // something happened since the last pass
  uint64_t order_ = 1;
};

namespace {

constexpr int kMostEvents = 100'000;

bool HasRoom(const NaiveNode& node, const PodShape& pod) {
  return node.pods >= 1 && node.cpu_milli >= pod.request.cpu_milli &&
         node.memory_bytes >= pod.request.memory_bytes && node.gpus >= pod.request.gpu_count;
}

ResourceAmounts RequestOf(const std::vector<PodShape>& pods) {
  ResourceAmounts sum;
  for (const PodShape& pod : pods) {
    sum.Add({pod.request.cpu_milli, pod.request.memory_bytes,
             int64_t{pod.request.gpu_count} * kDeviceMilli},
            1);
  }
  return sum;
}

NaiveNode EmptyNode(const NodeSpec& spec) {
  NaiveNode node;
  node.cpu_milli = spec.cpu_milli;
  node.memory_bytes = spec.memory_bytes;
  node.gpus = spec.gpu_count;
  node.pods = spec.pods;
  return node;
}

}  // namespace

// ---- Placement ----

void NaiveCharge(const PodShape& pod, int64_t sign, NaiveNode* node) {
  node->cpu_milli -= sign * pod.request.cpu_milli;
  node->memory_bytes -= sign * pod.request.memory_bytes;
  node->gpus -= sign * pod.request.gpu_count;
  node->pods -= sign;
}

std::vector<size_t> NaivePlaceInTurn(const std::vector<PodShape>& pods,
                                     std::vector<NaiveNode>* nodes) {
  std::vector<size_t> placed;
  for (const PodShape& pod : pods) {
    size_t best = nodes->size();
    for (size_t n = 0; n < nodes->size(); ++n) {
      const NaiveNode& node = (*nodes)[n];
      if (!node.open || !HasRoom(node, pod)) continue;
      if (best == nodes->size() || node.gpus < (*nodes)[best].gpus) best = n;
    }
    if (best == nodes->size()) break;
    NaiveCharge(pod, +1, &(*nodes)[best]);
    placed.push_back(best);
  }
  return placed;
}

std::vector<size_t> NaivePlace(std::vector<NaiveNode> nodes, const std::vector<PodShape>& pods) {
  std::vector<size_t> placed = NaivePlaceInTurn(pods, &nodes);
  if (placed.size() < pods.size()) placed.clear();
  return placed;
}

std::vector<PodShape> NaivePods(const EngineScenario& scenario, const JobArrival& job) {
  std::vector<PodShape> pods(static_cast<size_t>(job.pods), scenario.shapes[job.shape.value()]);
  for (const PodGroup& group : job.more_pods) {
    pods.insert(pods.end(), static_cast<size_t>(group.pods), scenario.shapes[group.shape.value()]);
  }
  return pods;
}

bool NaiveWithin(const ResourceAmounts& need, const ResourceAmounts& have) {
  return (need.cpu_milli == 0 || need.cpu_milli <= have.cpu_milli) &&
         (need.memory_bytes == 0 || need.memory_bytes <= have.memory_bytes) &&
         (need.gpu_milli == 0 || need.gpu_milli <= have.gpu_milli);
}

bool NaiveQuotaAllows(const std::vector<QuotaStep>& quotas, const std::string& tenant,
                      int64_t now_ns, const ResourceAmounts& held, const ResourceAmounts& more) {
  const QuotaStep* present = nullptr;
  for (const QuotaStep& step : quotas) {
    if (step.tenant == tenant && step.since_ns <= now_ns) present = &step;
  }
  if (present == nullptr) return true;
  const auto ok = [](int64_t have, int64_t add, int64_t most) {
    return add == 0 || most == Quotas::kUnlimited || have + add <= most;
  };
  const ResourceAmounts& most = present->limit;
  return ok(held.cpu_milli, more.cpu_milli, most.cpu_milli) &&
         ok(held.memory_bytes, more.memory_bytes, most.memory_bytes) &&
         ok(held.gpu_milli, more.gpu_milli, most.gpu_milli);
}

NaiveMachine::NaiveMachine(const EngineScenario& scenario, const std::vector<QuotaStep>& quotas)
    : s_(scenario), quotas_(quotas), kubernetes_(scenario.queue == "kubernetes") {
  for (const NodeSpec& node : s_.nodes) {
    absent_.push_back(node.absent);
    failures_.push_back(0);
    cordons_.push_back(node.unschedulable ? 1 : 0);
  }
  on_node_.resize(s_.nodes.size());
  for (const JobArrival& arrival : s_.jobs) {
    NaiveJob job;
    job.arrival = arrival;
    job.pods = NaivePods(s_, arrival);
    job.request = RequestOf(job.pods);
    jobs_.push_back(std::move(job));
  }
  for (const QuotaStep& step : quotas_) {
    if (step.since_ns > 0) quota_times_ns_.push_back(step.since_ns);
  }
  std::sort(quota_times_ns_.begin(), quota_times_ns_.end());
}

std::vector<NaiveNode> NaiveMachine::Idle(const std::vector<size_t>& without) const {
  std::vector<NaiveNode> idle;
  for (size_t n = 0; n < s_.nodes.size(); ++n) {
    idle.push_back(EmptyNode(s_.nodes[n]));
    idle.back().open = IsThere(n) && cordons_[n] == 0;
  }
  for (size_t j = 0; j < jobs_.size(); ++j) {
    if (std::find(without.begin(), without.end(), j) != without.end()) continue;
    for (size_t p = 0; p < jobs_[j].nodes.size(); ++p) {
      NaiveCharge(jobs_[j].pods[p], +1, &idle[jobs_[j].nodes[p]]);
    }
  }
  return idle;
}

std::vector<size_t> NaiveMachine::Place(size_t j, const std::vector<size_t>& without) const {
  return NaivePlace(Idle(without), jobs_[j].pods);
}

// Resources that backfilling may count on: those idle on nodes that take pods.
ResourceAmounts NaiveMachine::Free(const std::vector<size_t>& without) const {
  ResourceAmounts sum;
  for (const NaiveNode& node : Idle(without)) {
    if (node.open) sum.Add({node.cpu_milli, node.memory_bytes, node.gpus * kDeviceMilli}, 1);
  }
  return sum;
}

ResourceAmounts NaiveMachine::Usage(const std::string& tenant) const {
  ResourceAmounts sum;
  for (const NaiveJob& job : jobs_) {
    if (!job.nodes.empty() && job.arrival.tenant == tenant) sum.Add(job.request, 1);
  }
  return sum;
}

// Whether any limit of the tenant, now or later, is large enough for the job alone.
bool NaiveMachine::EverAllowed(size_t j) const {
  const std::string& tenant = jobs_[j].arrival.tenant;
  if (NaiveQuotaAllows(quotas_, tenant, now_ns_, {}, jobs_[j].request)) return true;
  return std::any_of(quotas_.begin(), quotas_.end(), [&](const QuotaStep& step) {
    return step.tenant == tenant && step.since_ns > now_ns_ &&
           NaiveQuotaAllows(quotas_, tenant, step.since_ns, {}, jobs_[j].request);
  });
}

// Each group alone, and all of them by amounts, on empty nodes that are all there.
bool NaiveMachine::CouldEverFit(size_t j) const {
  const NaiveJob& job = jobs_[j];
  std::vector<NaiveNode> nodes;
  ResourceAmounts all;
  for (const NodeSpec& spec : s_.nodes) {
    nodes.push_back(EmptyNode(spec));
    all.Add({spec.cpu_milli, spec.memory_bytes, int64_t{spec.gpu_count} * kDeviceMilli}, 1);
  }
  if (!NaiveWithin(job.request, all)) return false;
  auto begin = job.pods.begin();
  std::vector<int32_t> groups = {job.arrival.pods};
  for (const PodGroup& group : job.arrival.more_pods) groups.push_back(group.pods);
  for (const int32_t pods : groups) {
    const std::vector<PodShape> group(begin, begin + pods);
    if (NaivePlace(nodes, group).empty()) return false;
    begin += pods;
  }
  return true;
}

// ---- Time ----

std::vector<NaiveOutcome> NaiveMachine::Run() {
  int events = 0;
  while (Step()) {
    if (++events > kMostEvents) return {};
  }
  std::vector<NaiveOutcome> outcomes;
  for (NaiveJob& job : jobs_) {
    job.out.state = job.state;
    outcomes.push_back(job.out);
  }
  return outcomes;
}

// Does what comes next. Within an instant: nodes, then what ends, then bindings, arrivals, timers,
// and attempts last.
bool NaiveMachine::Step() {
  struct Next {
    int64_t at_ns = kNaiveNever;
    int rank = 0;
    uint64_t order = 0;
    std::function<void()> act;
  };
  Next next;
  size_t found = 0;
  const auto consider = [&](const NaiveDue& due, int rank, const std::function<void()>& act) {
    if (due.at_ns == kNaiveNever) return;
    ++found;
    const auto key = std::make_tuple(due.at_ns, rank, due.order);
    if (found > 1 && key >= std::make_tuple(next.at_ns, next.rank, next.order)) return;
    next.at_ns = due.at_ns;
    next.rank = rank;
    next.order = due.order;
    next.act = act;
  };
  if (next_change_ < s_.node_changes.size()) {
    const int64_t at_ns = std::max(s_.node_changes[next_change_].at.ns(), now_ns_);
    consider({at_ns, 0}, 0, [this] { ChangeNode(); });
  }
  for (size_t j = 0; j < arrived_; ++j) {
    consider(jobs_[j].deletion, 1, [this, j] { Delete(j); });
    consider(jobs_[j].finish, 1, [this, j] { Finish(j); });
    consider(jobs_[j].leave, 1, [this, j] { Interrupt(j, jobs_[j].leave_cause); });
    consider(jobs_[j].bound, 2, [this, j] { BeginRun(j); });
    consider(jobs_[j].back, 5, [this, j] {
      jobs_[j].back = NaiveDue();
      Enter(j);
    });
  }
  if (arrived_ < jobs_.size()) {
    consider({jobs_[arrived_].arrival.time.ns(), 0}, 4, [this] { Arrive(); });
  }
  if (next_quota_ < quota_times_ns_.size()) {
    consider({quota_times_ns_[next_quota_], 0}, 5, [this] { ChangeQuotas(); });
  }
  consider({attempt_at_ns_, 0}, 6, [this] { Dispatch(); });
  const int64_t tick_ns = NextTick();
  // Attempts that have failed in just this state would fail for ever.
  if (found == 0 && !AnyAt(NaiveSpot::kBackoff)) return false;
  consider({tick_ns, order_}, 5, [this] { Tick(); });
  now_ns_ = next.at_ns;
  next.act();
  Wake();
  return true;
}

bool NaiveMachine::Ready() const {
  if (kubernetes_) return CanPop();
  return changed_ && !SortedLine().empty();
}

void NaiveMachine::Wake() {
  if (attempt_at_ns_ != kNaiveNever || !Ready()) return;
  attempt_at_ns_ = now_ns_ + s_.options.attempt_latency.ns();
}

void NaiveMachine::Dispatch() {
  attempt_at_ns_ = kNaiveNever;
  if (!Ready()) return;
  if (kubernetes_) return Attempt();
  if (s_.batch.backfill == Backfill::kConservative) {
    ConservativePass();
  } else {
    BatchPass();
  }
  changed_ = false;
}

NaiveDue NaiveMachine::After(int64_t delay_ns) { return {NaiveSum(now_ns_, delay_ns), order_++}; }

void NaiveMachine::ChangeQuotas() {
  ++next_quota_;
  changed_ = true;
  for (const std::string& tenant : tenants_) Admit(tenant);
}

// ---- The life of a job ----

int64_t NaiveMachine::AttemptNs(size_t j) const {
  const JobArrival& a = jobs_[j].arrival;
  const size_t attempt = jobs_[j].attempt;
  return (attempt < a.failed_attempts.size() ? a.failed_attempts[attempt] : a.run_time).ns();
}

bool NaiveMachine::HasEnd(size_t j) const {
  const JobArrival& a = jobs_[j].arrival;
  return a.has_run_time || jobs_[j].attempt < a.failed_attempts.size();
}

void NaiveMachine::Arrive() {
  const size_t j = arrived_++;
  NaiveJob& job = jobs_[j];
  job.waiting_since_ns = now_ns_;
  if (TenantRow(j) == tenants_.size()) tenants_.push_back(job.arrival.tenant);
  if (!EverAllowed(j) || !CouldEverFit(j)) {
    job.state = JobState::kDropped;
    return;
  }
  if (job.arrival.has_deletion) {
    job.deletion = After(std::max<int64_t>(job.arrival.deletion.ns() - now_ns_, 0));
  }
  Enter(j);
}

// The job begins to wait.
void NaiveMachine::Enter(size_t j) {
  NaiveJob& job = jobs_[j];
  changed_ = true;
  if (!kubernetes_) {
    job.in_line = true;
  } else if (quotas_.empty() || job.admitted) {
    Enqueue(j);
  } else {
    job.spot = NaiveSpot::kGated;
    gated_.push_back(j);
    Admit(job.arrival.tenant);
  }
}

void NaiveMachine::Occupy(size_t j) {
  for (size_t p = 0; p < jobs_[j].nodes.size(); ++p) on_node_[jobs_[j].nodes[p]].push_back({j, p});
}

void NaiveMachine::Vacate(size_t j) {
  for (size_t p = 0; p < jobs_[j].nodes.size(); ++p) {
    auto& pods = on_node_[jobs_[j].nodes[p]];
    *std::find(pods.begin(), pods.end(), std::make_pair(j, p)) = pods.back();
    pods.pop_back();
  }
  jobs_[j].nodes.clear();
}

void NaiveMachine::Start(size_t j, const std::vector<size_t>& nodes) {
  NaiveJob& job = jobs_[j];
  DRASIM_CHECK_EQ(nodes.size(), job.pods.size());
  job.in_line = false;
  job.spot = NaiveSpot::kNowhere;
  job.state = JobState::kStarting;
  job.nodes = nodes;
  Occupy(j);
  if (s_.bind_latency <= SimDuration()) return BeginRun(j);
  job.bound = After(s_.bind_latency.ns());
}

void NaiveMachine::BeginRun(size_t j) {
  NaiveJob& job = jobs_[j];
  job.bound = NaiveDue();
  job.state = JobState::kRunning;
  job.started_ns = now_ns_;
  job.out.waited_ns += now_ns_ - job.waiting_since_ns;
  job.out.runs.push_back({now_ns_, kForever, job.nodes});
  if (HasEnd(j)) job.finish = After(job.overhead_left_ns + AttemptNs(j) - job.kept_ns);
}

int64_t NaiveMachine::EndRun(size_t j) {
  NaiveJob& job = jobs_[j];
  const int64_t ran_ns = now_ns_ - job.started_ns;
  const int64_t overhead_ns = std::min(ran_ns, job.overhead_left_ns);
  job.out.held_ns += ran_ns;
  job.out.overhead_ns += overhead_ns;
  job.out.runs.back().end_ns = now_ns_;
  job.finish = NaiveDue();
  job.leave = NaiveDue();
  Vacate(j);
  return ran_ns - overhead_ns;
}

void NaiveMachine::Finish(size_t j) {
  NaiveJob& job = jobs_[j];
  const size_t node = job.nodes[0];
  EndRun(j);
  if (job.attempt < job.arrival.failed_attempts.size()) {
    job.out.failed_work_ns += AttemptNs(j);
    ++job.attempt;
    job.kept_ns = 0;
    job.overhead_left_ns = 0;
    job.state = JobState::kWaiting;
    job.waiting_since_ns = now_ns_;
    Enter(j);
  } else {
    End(j, job.arrival.fails ? JobState::kFailed : JobState::kSucceeded);
  }
  Happened(kPodRemoved, node);
}

// For good; it holds nothing any more.
void NaiveMachine::End(size_t j, JobState state) {
  NaiveJob& job = jobs_[j];
  job.state = state;
  job.deletion = NaiveDue();
  job.spot = NaiveSpot::kNowhere;
  job.in_line = false;
  job.admitted = false;
  changed_ = true;
  Admit(job.arrival.tenant);
}

void NaiveMachine::Delete(size_t j) {
  NaiveJob& job = jobs_[j];
  if (IsStarting(j)) TakeBack(j);
  if (IsRunning(j)) {
    const size_t node = job.nodes[0];
    EndRun(j);
    End(j, JobState::kDeleted);
    return Happened(kPodRemoved, node);
  }
  job.out.waited_ns += now_ns_ - job.waiting_since_ns;
  job.back = NaiveDue();
  gated_.erase(std::remove(gated_.begin(), gated_.end(), j), gated_.end());
  End(j, JobState::kDeleted);
}

// A start under way comes to nothing.
void NaiveMachine::TakeBack(size_t j) {
  NaiveJob& job = jobs_[j];
  const size_t node = job.nodes[0];
  job.bound = NaiveDue();
  job.state = JobState::kWaiting;
  Vacate(j);
  Happened(kPodRemoved, node);
}

void NaiveMachine::Evict(size_t j, EvictionCause cause) {
  if (IsStarting(j)) {
    TakeBack(j);
    return Enter(j);
  }
  const int64_t grace_ns = s_.options.interruption.grace_period.ns();
  if (grace_ns <= 0 || cause == EvictionCause::kNodeLost) return Interrupt(j, cause);
  if (IsLeaving(j)) return;
  jobs_[j].leave = After(grace_ns);
  jobs_[j].leave_cause = cause;
}

void NaiveMachine::Interrupt(size_t j, EvictionCause cause) {
  NaiveJob& job = jobs_[j];
  const InterruptionCosts& costs = s_.options.interruption;
  const size_t node = job.nodes[0];
  const int64_t unpaid_ns = std::max<int64_t>(job.overhead_left_ns - (now_ns_ - job.started_ns), 0);
  const int64_t done_ns = EndRun(j);
  const bool lost = cause == EvictionCause::kNodeLost;
  if (lost && !job.arrival.recreated) {
    End(j, JobState::kFailed);
    return Happened(kPodRemoved, node);
  }
  // Up to the last checkpoint of the attempt.
  int64_t kept_ns = job.kept_ns + done_ns;
  const int64_t interval_ns = costs.checkpoint_interval.ns();
  if (interval_ns > 0) kept_ns -= kept_ns % interval_ns;
  if (!costs.keeps_work) kept_ns = 0;
  kept_ns = std::max(kept_ns, job.kept_ns);
  job.out.work_lost_ns += job.kept_ns + done_ns - kept_ns;
  job.kept_ns = kept_ns;
  job.overhead_left_ns = costs.restarts_add_up ? unpaid_ns : 0;
  for (const InterruptionCosts::Restart& restart : costs.restart) {
    if (job.request.gpu_milli > restart.max_gpu_milli) continue;
    job.overhead_left_ns += restart.delay.ns();
    break;
  }
  ++(cause == EvictionCause::kPreempted ? job.out.preemptions : job.out.evictions);
  job.state = JobState::kWaiting;
  job.waiting_since_ns = now_ns_;
  if (lost && s_.options.recreation_delay > SimDuration()) {
    job.back = After(s_.options.recreation_delay.ns());
  } else {
    Enter(j);
  }
  Happened(kPodRemoved, node);
}

// ---- Nodes ----

void NaiveMachine::ChangeNode() {
  using Action = NodeTransition::Action;
  const NodeTransition& change = s_.node_changes[next_change_++];
  const size_t n = change.node.value();
  const bool was_there = IsThere(n);
  const bool was_cordoned = cordons_[n] > 0;
  switch (change.action) {
    case Action::kAdd:
    case Action::kRemove:
      absent_[n] = change.action == Action::kRemove;
      break;
    case Action::kFail:
      ++failures_[n];
      break;
    case Action::kRecover:
      failures_[n] = std::max(failures_[n] - 1, 0);
      break;
    case Action::kCordon:
    case Action::kDrain:
      ++cordons_[n];
      break;
    case Action::kUncordon:
      cordons_[n] = std::max(cordons_[n] - 1, 0);
      break;
    case Action::kDevices:
      DRASIM_UNREACHABLE("the naive machine has no devices that change");
  }
  // Any change of a node is news: it may also mean that a job need not be waited for.
  if (was_there != IsThere(n) || was_cordoned != (cordons_[n] > 0)) changed_ = true;
  if (was_cordoned && cordons_[n] == 0) Happened(kNodeSchedulable, n);
  if (was_there && !IsThere(n)) Empty(n, EvictionCause::kNodeLost);
  if (!was_there && IsThere(n)) Happened(kNodeAdded, n);
  if (change.action == Action::kDrain) Empty(n, EvictionCause::kDrained);
}

void NaiveMachine::Empty(size_t node, EvictionCause cause) {
  std::vector<size_t> found;
  for (const auto& [j, p] : on_node_[node]) {
    if (std::find(found.begin(), found.end(), j) == found.end()) found.push_back(j);
  }
  for (const size_t j : found) Evict(j, cause);
}

// Something that may let waiting jobs fit.
void NaiveMachine::Happened(ClusterEvent event, size_t node) {
  changed_ = true;
  for (NaiveJob& job : jobs_) {
    if (job.spot == NaiveSpot::kUnschedulable && Helps(job, event, node)) AfterBackoff(&job);
  }
}

std::vector<NaiveOutcome> NaiveReplay(const EngineScenario& scenario,
                                      const std::vector<QuotaStep>& quotas) {
  return NaiveMachine(scenario, quotas).Run();
}

// ---- Queues: which waiting job is tried next, the slow way. Passes over all of them in the order
// of a queue policy, with backfilling and preemption; and kube-scheduler's queue. ----

namespace {

constexpr int64_t kFlushPeriodNs = 30 * kSecondNs;
// The assumed run time of a job that may run for ever.
constexpr int64_t kUnboundedNs = int64_t{1} << 61;

// The plugins that rejected a pod, as bits.
constexpr uint32_t kByCordon = 1;     // NodeUnschedulable
constexpr uint32_t kByResources = 2;  // NodeResourcesFit
constexpr uint32_t kByGpus = 4;       // GpuShareFit
constexpr uint32_t kByAnybody = 8;    // there were no nodes, or it is a gang: anything may help

// Times are never negative here.
int64_t FloorTo(int64_t ns, int64_t unit_ns) { return ns - ns % unit_ns; }
int64_t CeilTo(int64_t ns, int64_t unit_ns) { return FloorTo(ns + unit_ns - 1, unit_ns); }

int64_t InBillionths(int64_t held, int64_t capacity) {
  if (held <= 0 || capacity <= 0) return 0;
  const absl::uint128 product =
      absl::uint128(static_cast<uint64_t>(held)) * absl::uint128(uint64_t{1'000'000'000});
  return static_cast<int64_t>(
      absl::Uint128Low64(product / absl::uint128(static_cast<uint64_t>(capacity))));
}

bool HasCpuAndMemory(int64_t cpu_milli, int64_t memory_bytes, const PodShape& pod) {
  return cpu_milli >= pod.request.cpu_milli && memory_bytes >= pod.request.memory_bytes;
}

// The expected free resources over time: those free now, those that come back, and those reserved.
struct Outlook {
  struct Slice {
    int64_t begin_ns;
    int64_t end_ns;
    ResourceAmounts amounts;
    int64_t sign;  // +1: free meanwhile; -1: taken
  };
  ResourceAmounts now;
  std::vector<Slice> slices;

  bool Has(const ResourceAmounts& need, int64_t at_ns) const {
    ResourceAmounts have = now;
    for (const Slice& slice : slices) {
      if (slice.begin_ns <= at_ns && at_ns < slice.end_ns) have.Add(slice.amounts, slice.sign);
    }
    return NaiveWithin(need, have);
  }
  // The first time after `at_ns` at which a slice begins or ends.
  int64_t NextChange(int64_t at_ns) const {
    int64_t next_ns = kNaiveNever;
    for (const Slice& slice : slices) {
      if (slice.begin_ns > at_ns) next_ns = std::min(next_ns, slice.begin_ns);
      if (slice.end_ns > at_ns) next_ns = std::min(next_ns, slice.end_ns);
    }
    return next_ns;
  }
  int64_t EarliestFit(const ResourceAmounts& need, int64_t length_ns, int64_t from_ns) const {
    for (int64_t start_ns = from_ns; start_ns != kNaiveNever; start_ns = NextChange(start_ns)) {
      const int64_t end_ns = NaiveSum(start_ns, length_ns);
      bool fits = Has(need, start_ns);
      for (int64_t t = NextChange(start_ns); fits && t < end_ns; t = NextChange(t)) {
        fits = Has(need, t);
      }
      if (fits) return start_ns;
    }
    return kNaiveNever;
  }
};

}  // namespace

// ---- The order of a batch scheduler ----

NaiveMachine::Key NaiveMachine::KeyOf(size_t j) const {
  const JobArrival& a = jobs_[j].arrival;
  const int64_t submitted_ns = a.time.ns();
  if (s_.queue == "priority") return {-int64_t{a.priority}, submitted_ns, j};
  if (s_.queue == "sjf") {
    return a.has_run_time ? Key(0, AttemptNs(j), j) : Key(1, 0, j);
  }
  if (s_.queue == "srtf") return {LeftOf(j).first, LeftOf(j).second, j};
  if (s_.queue == "edf") {
    return {a.has_deadline ? a.deadline.ns() : std::numeric_limits<int64_t>::max(), submitted_ns,
            j};
  }
  return {submitted_ns, 0, j};
}

// Work and overhead left.
NaiveMachine::Left NaiveMachine::LeftOf(size_t j) const {
  const NaiveJob& job = jobs_[j];
  if (!job.arrival.has_run_time) return {1, 0};
  const int64_t whole_ns = job.overhead_left_ns + AttemptNs(j) - job.kept_ns;
  return {0, IsRunning(j) ? whole_ns - (now_ns_ - job.started_ns) : whole_ns};
}

size_t NaiveMachine::TenantRow(size_t j) const {
  size_t row = 0;
  while (row < tenants_.size() && tenants_[row] != jobs_[j].arrival.tenant) ++row;
  return row;
}

// The dominant share of the job's tenant, in the cluster as it is.
int64_t NaiveMachine::ShareOf(size_t j) const {
  const ResourceAmounts held = Usage(jobs_[j].arrival.tenant);
  ResourceAmounts all;
  for (size_t n = 0; n < s_.nodes.size(); ++n) {
    const NodeSpec& spec = s_.nodes[n];
    if (!IsThere(n)) continue;
    all.Add({spec.cpu_milli, spec.memory_bytes, int64_t{spec.gpu_count} * kDeviceMilli}, 1);
  }
  return std::max({InBillionths(held.cpu_milli, all.cpu_milli),
                   InBillionths(held.memory_bytes, all.memory_bytes),
                   InBillionths(held.gpu_milli, all.gpu_milli)});
}

// The first job in line that was not passed over in this pass; jobs_.size() if there is none.
size_t NaiveMachine::First(const std::vector<bool>& passed) const {
  using Rank = std::tuple<int64_t, size_t, Key>;
  size_t best = jobs_.size();
  Rank best_rank;
  for (size_t j = 0; j < jobs_.size(); ++j) {
    if (!jobs_[j].in_line || passed[j]) continue;
    Rank rank(0, 0, KeyOf(j));
    if (s_.queue == "drf") rank = Rank(ShareOf(j), TenantRow(j), KeyOf(j));
    if (best < jobs_.size() && best_rank < rank) continue;
    best = j;
    best_rank = rank;
  }
  return best;
}

// Backfilling looks at jobs by key and number.
std::vector<size_t> NaiveMachine::SortedLine() const {
  std::vector<size_t> line;
  for (size_t j = 0; j < jobs_.size(); ++j) {
    if (jobs_[j].in_line) line.push_back(j);
  }
  std::sort(line.begin(), line.end(), [this](size_t a, size_t b) { return KeyOf(a) < KeyOf(b); });
  return line;
}

bool NaiveMachine::QuotaAllows(size_t j) const {
  const std::string& tenant = jobs_[j].arrival.tenant;
  return NaiveQuotaAllows(quotas_, tenant, now_ns_, Usage(tenant), jobs_[j].request);
}

// ---- Preemption ----

bool NaiveMachine::MayDisplace(size_t waiting, size_t running) const {
  if (!jobs_[running].arrival.preemptible) return false;
  if (s_.batch.preempt_by_priority) {
    return jobs_[waiting].arrival.priority > jobs_[running].arrival.priority;
  }
  return s_.batch.preempt && s_.queue == "srtf" && LeftOf(waiting) < LeftOf(running);
}

// The jobs to evict: one after the other, the lowest priority or the most work left first, of equal
// ones that which started last (a start under way is the latest), then the later one; until the job
// would fit. Then those are spared, the last first, without which it fits as well. Jobs that are on
// their way out make room, too.
bool NaiveMachine::FindVictims(size_t j, std::vector<size_t>* victims) const {
  struct Candidate {
    Left rank;  // the smaller goes first
    int64_t started_ns;
    size_t job;
  };
  std::vector<size_t> away;
  std::vector<Candidate> candidates;
  for (size_t r = 0; r < jobs_.size(); ++r) {
    if (!IsRunning(r) && !IsStarting(r)) continue;
    if (IsLeaving(r)) {
      away.push_back(r);
    } else if (MayDisplace(j, r)) {
      const Left left = LeftOf(r);
      const Left rank = s_.batch.preempt_by_priority ? Left(jobs_[r].arrival.priority, 0)
                                                     : Left(-left.first, -left.second);
      candidates.push_back({rank, IsStarting(r) ? kNaiveNever : jobs_[r].started_ns, r});
    }
  }
  if (!away.empty() && Fits(j, away)) return true;
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::make_tuple(a.rank, -a.started_ns) != std::make_tuple(b.rank, -b.started_ns)
               ? std::make_tuple(a.rank, -a.started_ns) < std::make_tuple(b.rank, -b.started_ns)
               : a.job > b.job;
  });
  bool found = false;
  for (size_t c = 0; c < candidates.size() && !found; ++c) {
    away.push_back(candidates[c].job);
    victims->push_back(candidates[c].job);
    found = Fits(j, away);
  }
  if (!found) return false;
  for (size_t v = victims->size(); v-- > 0;) {
    std::vector<size_t> fewer = away;
    fewer.erase(std::find(fewer.begin(), fewer.end(), (*victims)[v]));
    if (!Fits(j, fewer)) continue;
    away = fewer;
    victims->erase(victims->begin() + static_cast<std::ptrdiff_t>(v));
  }
  return true;
}

NaiveMachine::Outcome NaiveMachine::TryStart(size_t j) {
  const std::vector<size_t> nodes = Place(j, {});
  if (!nodes.empty()) {
    Start(j, nodes);
    return Outcome::kStarted;
  }
  std::vector<size_t> victims;
  if (!s_.batch.preempt && !s_.batch.preempt_by_priority) return Outcome::kFailed;
  if (!FindVictims(j, &victims)) return Outcome::kFailed;
  for (const size_t victim : victims) Evict(victim, EvictionCause::kPreempted);
  // Unless it is for a grace period the room is there at once.
  const std::vector<size_t> freed = Place(j, {});
  if (freed.empty()) return Outcome::kWaitsForVictims;
  Start(j, freed);
  return Outcome::kDisplacedOthers;
}

// ---- Passes ----

void NaiveMachine::BatchPass() {
  std::vector<bool> passed(jobs_.size(), false);
  for (size_t j = First(passed); j < jobs_.size(); j = First(passed)) {
    if (!QuotaAllows(j)) {
      passed[j] = true;
      continue;
    }
    const Outcome outcome = TryStart(j);
    if (outcome == Outcome::kStarted) continue;
    if (outcome == Outcome::kDisplacedOthers) {
      // There may be more room now than the job needs.
      passed.assign(jobs_.size(), false);
      continue;
    }
    if (s_.batch.head_of_line) {
      if (s_.batch.backfill == Backfill::kEasy && outcome == Outcome::kFailed) EasyPass(j);
      return;
    }
    passed[j] = true;
  }
}

// For a whole attempt: the owner's, else the truth, as far as there is one.
int64_t NaiveMachine::EstimateNs(size_t j) const {
  const JobArrival& a = jobs_[j].arrival;
  if (!a.has_estimate && !a.has_run_time) return kUnboundedNs;
  const int64_t ns = a.has_estimate ? a.estimate.ns() : AttemptNs(j);
  return std::clamp<int64_t>(ns, 0, kUnboundedNs - 1);
}

std::vector<std::pair<int64_t, size_t>> NaiveMachine::ExpectedEnds() const {
  std::vector<std::pair<int64_t, size_t>> ends;
  for (size_t j = 0; j < jobs_.size(); ++j) {
    if (!IsRunning(j) && !IsStarting(j)) continue;
    const int64_t begin_ns = IsStarting(j) ? now_ns_ : jobs_[j].started_ns;
    const int64_t length_ns = jobs_[j].overhead_left_ns + EstimateNs(j);
    ends.push_back({std::max(NaiveSum(begin_ns, length_ns), now_ns_), j});
  }
  const auto rank = [this](const std::pair<int64_t, size_t>& end) {
    const ResourceAmounts& r = jobs_[end.second].request;
    return std::make_tuple(end.first, r.gpu_milli, r.cpu_milli, r.memory_bytes, end.second);
  };
  std::sort(ends.begin(), ends.end(),
            [&rank](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return ends;
}

void NaiveMachine::EasyPass(size_t head) {
  int64_t shadow_ns = kNaiveNever;
  ResourceAmounts extra;
  std::vector<size_t> away;
  for (const auto& [end_ns, job] : ExpectedEnds()) {
    away.push_back(job);
    if (!Fits(head, away)) continue;
    shadow_ns = end_ns;
    extra = Free(away);
    extra.Add(jobs_[head].request, -1);
    break;
  }
  for (const size_t j : SortedLine()) {
    if (j == head || !QuotaAllows(j)) continue;
    const int64_t end_ns = NaiveSum(now_ns_, jobs_[j].overhead_left_ns + EstimateNs(j));
    const bool in_time = end_ns <= shadow_ns;
    if (!in_time && !NaiveWithin(jobs_[j].request, extra)) continue;
    const std::vector<size_t> nodes = Place(j, {});
    if (nodes.empty()) continue;
    Start(j, nodes);
    if (!in_time) extra.Add(jobs_[j].request, -1);
  }
}

// A job that will never have room, as far as can be seen, has no reservation and is in nobody's
// way.
void NaiveMachine::ConservativePass() {
  Outlook outlook;
  outlook.now = Free({});
  for (const auto& [end_ns, job] : ExpectedEnds()) {
    outlook.slices.push_back({std::max(end_ns, now_ns_ + 1), kNaiveNever, jobs_[job].request, +1});
  }
  for (const size_t j : SortedLine()) {
    if (!QuotaAllows(j)) continue;
    const ResourceAmounts request = jobs_[j].request;
    const int64_t length_ns = jobs_[j].overhead_left_ns + EstimateNs(j);
    int64_t start_ns = outlook.EarliestFit(request, length_ns, now_ns_);
    if (start_ns == now_ns_) {
      const std::vector<size_t> nodes = Place(j, {});
      if (nodes.empty()) {
        start_ns = outlook.EarliestFit(request, length_ns, outlook.NextChange(now_ns_));
      } else {
        Start(j, nodes);
      }
    }
    if (start_ns == kNaiveNever) continue;
    outlook.slices.push_back({start_ns, NaiveSum(start_ns, length_ns), request, -1});
  }
}

// ---- kube-scheduler's queue ----

bool NaiveMachine::AnyAt(NaiveSpot spot) const {
  return std::any_of(jobs_.begin(), jobs_.end(),
                     [spot](const NaiveJob& job) { return job.spot == spot; });
}

void NaiveMachine::Enqueue(size_t j) {
  NaiveJob& job = jobs_[j];
  job.spot = NaiveSpot::kActive;
  job.queued_at_ns = now_ns_;
  job.queued_order = order_++;
  job.failures = 0;
}

// Lets those of the tenant in that its quota has room for, in the order in which they came.
void NaiveMachine::Admit(const std::string& tenant) {
  std::vector<size_t> still;
  for (const size_t j : gated_) {
    ResourceAmounts admitted;
    for (const NaiveJob& other : jobs_) {
      if (other.admitted && other.arrival.tenant == tenant) admitted.Add(other.request, 1);
    }
    if (jobs_[j].arrival.tenant == tenant &&
        NaiveQuotaAllows(quotas_, tenant, now_ns_, admitted, jobs_[j].request)) {
      jobs_[j].admitted = true;
      Enqueue(j);
    } else {
      still.push_back(j);
    }
  }
  gated_ = still;
}

bool NaiveMachine::CanPop() const {
  return AnyAt(NaiveSpot::kActive) ||
         (s_.kubernetes.pop_from_backoff && AnyAt(NaiveSpot::kBackoff));
}

// The first active one by priority and age; else the first in backoff by its end, priority and age.
size_t NaiveMachine::Pop() {
  const bool active = AnyAt(NaiveSpot::kActive);
  using Rank = std::tuple<int64_t, int64_t, uint64_t>;
  size_t best = jobs_.size();
  Rank best_rank;
  for (size_t j = 0; j < jobs_.size(); ++j) {
    const NaiveJob& job = jobs_[j];
    if (job.spot != (active ? NaiveSpot::kActive : NaiveSpot::kBackoff)) continue;
    const Rank rank(active ? 0 : job.backoff_end_ns, -int64_t{job.arrival.priority},
                    job.queued_order);
    if (best < jobs_.size() && best_rank < rank) continue;
    best = j;
    best_rank = rank;
  }
  jobs_[best].spot = NaiveSpot::kNowhere;
  return best;
}

void NaiveMachine::Attempt() {
  const size_t j = Pop();
  const std::vector<size_t> nodes = Place(j, {});
  if (nodes.empty()) {
    Reject(j);
  } else {
    Start(j, nodes);
  }
}

// Remembers the plugins that rejected the pod without a place, and the start of the job's backoff.
void NaiveMachine::Reject(size_t j) {
  NaiveJob& job = jobs_[j];
  std::vector<NaiveNode> nodes = Idle({});
  job.rejected_pod = NaivePlaceInTurn(job.pods, &nodes).size();
  const PodShape& pod = job.pods[job.rejected_pod];
  job.rejectors = 0;
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (!IsThere(n)) continue;
    if (cordons_[n] > 0) {
      job.rejectors |= kByCordon;
    } else if (nodes[n].pods < 1 ||
               !HasCpuAndMemory(nodes[n].cpu_milli, nodes[n].memory_bytes, pod)) {
      job.rejectors |= kByResources;
    } else {
      job.rejectors |= kByGpus;
    }
  }
  if (job.rejectors == 0 || job.pods.size() > 1) job.rejectors = kByAnybody;
  job.spot = NaiveSpot::kUnschedulable;
  job.queued_at_ns = now_ns_;
  job.queued_order = order_++;
  ++job.failures;
  const int64_t max_ns = s_.kubernetes.max_backoff.ns();
  int64_t backoff_ns = std::min(s_.kubernetes.initial_backoff.ns(), max_ns);
  for (int64_t i = 1; i < job.failures; ++i) backoff_ns = std::min(2 * backoff_ns, max_ns);
  job.backoff_end_ns = now_ns_ + backoff_ns;
  if (s_.kubernetes.pop_from_backoff) {
    job.backoff_end_ns = FloorTo(job.backoff_end_ns, kSecondNs);
  }
}

// Whether one of those that rejected the job cares about the event.
bool NaiveMachine::Helps(const NaiveJob& job, ClusterEvent event, size_t node) const {
  if ((job.rejectors & (kByAnybody | kByGpus)) != 0) return true;
  if ((job.rejectors & kByCordon) != 0 && event != kPodRemoved) return true;
  if ((job.rejectors & kByResources) == 0) return false;
  const NodeSpec& spec = s_.nodes[node];
  return event == kPodRemoved ||
         HasCpuAndMemory(spec.cpu_milli, spec.memory_bytes, job.pods[job.rejected_pod]);
}

void NaiveMachine::AfterBackoff(NaiveJob* job) const {
  const int64_t now_ns = s_.kubernetes.pop_from_backoff ? FloorTo(now_ns_, kSecondNs) : now_ns_;
  const bool over = s_.kubernetes.max_backoff <= SimDuration() || job->backoff_end_ns < now_ns;
  job->spot = over ? NaiveSpot::kActive : NaiveSpot::kBackoff;
}

// The next whole second, or half minute, at which a pod changes its place in the queue.
int64_t NaiveMachine::NextTick() const {
  int64_t next_ns = kNaiveNever;
  for (const NaiveJob& job : jobs_) {
    if (job.spot == NaiveSpot::kBackoff) {
      const int64_t due_ns = FloorTo(job.backoff_end_ns, kSecondNs) + kSecondNs;
      next_ns = std::min(next_ns, std::max(due_ns, CeilTo(now_ns_, kSecondNs)));
    }
    if (job.spot == NaiveSpot::kUnschedulable) {
      const int64_t end_ns = job.queued_at_ns + s_.kubernetes.unschedulable_flush.ns();
      const int64_t due_ns = FloorTo(end_ns, kFlushPeriodNs) + kFlushPeriodNs;
      next_ns = std::min(next_ns, std::max(due_ns, CeilTo(now_ns_, kFlushPeriodNs)));
    }
  }
  return next_ns;
}

void NaiveMachine::Tick() {
  for (NaiveJob& job : jobs_) {
    if (job.spot == NaiveSpot::kBackoff && now_ns_ % kSecondNs == 0 &&
        job.backoff_end_ns < now_ns_) {
      job.spot = NaiveSpot::kActive;
    } else if (job.spot == NaiveSpot::kUnschedulable && now_ns_ % kFlushPeriodNs == 0 &&
               now_ns_ - job.queued_at_ns > s_.kubernetes.unschedulable_flush.ns()) {
      AfterBackoff(&job);
    }
  }
}

}  // namespace drasim
