// Dispatcher of a run that follows a list of decisions: each job starts where and when the list
// says, and nothing else starts. Judges schedulers outside of drasim.
//
// A decision that the cluster cannot follow is not carried out: its job keeps waiting (in a fill it
// is dropped), and problems() says why. Within an instant, or within DecisionList::resolution, the
// order of decisions is not binding: one that does not fit yet is tried again after every change.
//
// A gang starts as a whole: with the last of its pods' decisions, and only if all pods have one.
#ifndef DRASIM_SIM_CORE_DECIDED_DISPATCHER_H_
#define DRASIM_SIM_CORE_DECIDED_DISPATCHER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "sim/core/decided_placement.h"
#include "sim/core/decision_list.h"
#include "sim/core/decision_rules.h"
#include "sim/core/dispatcher.h"

namespace drasim {

class DecidedDispatcher : public Dispatcher {
 public:
  // In a `fill`, times do not matter: a job is placed when it arrives, or dropped.
  DecidedDispatcher(DispatchParts parts, std::shared_ptr<const DecisionList> list,
                    DecisionRules rules, bool fill);

  // After the run: everything that could not be followed, in the order of the list. O(decisions +
  // pods).
  std::vector<DecisionProblem> Problems() const;
  // Decisions to place a pod that were followed.
  size_t followed() const { return followed_; }
  // Decisions that tell no more than the place of a pod that came with its node. They are neither
  // followed nor problems.
  size_t known() const { return known_; }

  void Add(JobId job) override;
  void OnSettled(JobId job) override;
  void Return(JobId job, SummaryId, Comeback) override { Add(job); }
  bool Remove(JobId job) override;
  void OnEvent(const ClusterChange&) override { changed_ = true; }
  void OnQuotaChange() override { changed_ = true; }
  void OnEnd(JobId) override { changed_ = true; }
  bool Ready() const override;
  void Dispatch() override;
  std::optional<SimTime> NextTimer() override;
  // Timers are due ahead of attempts, which Dispatch answers.
  void OnTimer() override {}
  bool TimerMayHelp() const override { return true; }
  size_t waiting() const override { return waiting_.size(); }
  int64_t SmallestNeedMilli() const override;
  void Save(StateWriter& out) const override;
  // Always fails: runs that follow decisions leave no checkpoints.
  absl::Status Load(StateReader& in) override;

 private:
  // The start or the eviction of a job.
  struct Step {
    SimTime at;
    size_t order = 0;  // index of the last decision that it takes
    JobId job;
    std::vector<size_t> decisions;  // by pod of the job; of an eviction the first alone
    std::string why;                // of the last attempt
  };
  struct ByTime {
    bool operator()(const Step& a, const Step& b) const {
      return a.at != b.at ? a.at < b.at : a.order < b.order;
    }
  };

  // Once per job. `came`: it came with its node.
  void Plan(JobId job, bool came);
  void LeaveOutKnown(PodId pod, const std::vector<size_t>& evictions, std::vector<size_t>* placed);
  void PlanStarts(JobId job, const std::vector<std::vector<size_t>>& placed);
  void PlanEvictions(JobId job, const std::vector<std::vector<size_t>>& by_pod);
  void DispatchFill();
  void FollowFill();
  // False, and why, if the step cannot be taken now.
  bool Take(Step* step);
  bool Evict(Step* step);
  bool Start(Step* step);
  std::string WhyNotWaiting(JobId job) const;
  void Refuse(const Step& step);
  void Note(size_t decision, std::string what) { problems_.push_back({decision, std::move(what)}); }
  const PodDecision& decision(size_t i) const { return list_->decisions[i]; }

  DispatchParts parts_;
  std::shared_ptr<const DecisionList> list_;
  DecidedPlacement placement_;
  bool fill_;
  absl::flat_hash_map<absl::string_view, std::vector<size_t>> by_pod_;  // looked up only
  std::vector<bool> planned_;                                           // by job
  std::vector<bool> reached_;                                           // by decision
  std::set<Step, ByTime> steps_;                                        // to come
  std::vector<Step> due_;                                               // in order of time
  std::set<JobId> waiting_;
  std::multiset<int64_t> needs_;  // GPU milli of the waiting jobs
  std::vector<DecisionProblem> problems_;
  size_t followed_ = 0;
  size_t known_ = 0;
  bool changed_ = false;
  JobId next_;  // of a fill
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_DECIDED_DISPATCHER_H_
