// The innards of naive_replay.h: one machine, whose clock and life of jobs are in naive_replay.cc
// and whose ways of queueing are in naive_queues.cc.
#ifndef DRASIM_TESTS_SIM_CORE_NAIVE_MACHINE_H_
#define DRASIM_TESTS_SIM_CORE_NAIVE_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/event_source.h"
#include "model/job_table.h"
#include "model/pod_shape.h"
#include "model/record.h"
#include "policies/framework/plugin.h"
#include "tests/sim/core/engine_rig.h"
#include "tests/sim/core/naive_replay.h"

namespace drasim {

inline constexpr int64_t kNaiveNever = std::numeric_limits<int64_t>::max();

// Sums that are too large are never.
inline int64_t NaiveSum(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kNaiveNever : sum;
}

// Something that is going to happen. Of two at the same moment the one decided on earlier is first.
struct NaiveDue {
  int64_t at_ns = kNaiveNever;
  uint64_t order = 0;
};

// Where a job is for kube-scheduler's queue.
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

}  // namespace drasim

#endif  // DRASIM_TESTS_SIM_CORE_NAIVE_MACHINE_H_
