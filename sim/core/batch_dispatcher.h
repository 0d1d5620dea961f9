// A batch scheduler: passes over waiting jobs in the order of a queue policy.
//
// A pass runs at the end of every instant with any event. It takes the policy's first job, places
// it if it fits, and continues with the next. A job that does not fit may displace running ones, if
// the policy permits. If it still does not fit,
//  * head of line on: the pass ends here, or starts jobs that do not delay this one (backfilling);
//  * head of line off: the pass continues with the jobs behind it.
// A job over its tenant's quota is passed over and does not block others.
//
// A failed attempt is recorded once: until the cluster changes, an equal job is not tried again.
#ifndef DRASIM_SIM_CORE_BATCH_DISPATCHER_H_
#define DRASIM_SIM_CORE_BATCH_DISPATCHER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "policies/framework/queue_policy.h"
#include "sim/core/backfill.h"
#include "sim/core/dispatcher.h"
#include "sim/core/helios_pass.h"
#include "sim/core/line_walk.h"
#include "sim/core/waiting_line.h"

namespace drasim {

enum class Backfill : uint8_t {
  kNone,
  kEasy,          // one reservation, for the first job in line (Lifka 1995)
  kConservative,  // a reservation for every job in line (Feitelson and Mu'alem 2001)
};

struct BatchOptions {
  bool head_of_line = true;
  Backfill backfill = Backfill::kNone;
  bool preempt = false;  // ask the policy for the jobs that a job may displace
  // Preempt lower priorities, whatever the queue policy.
  bool preempt_by_priority = false;
  // The preemptive pass of HeliosArtifact's simulator; see helios_pass.h.
  bool helios = false;
  // The run time that backfilling expects of a job, counted from its start.
  std::function<SimDuration(const JobTable&, JobId)> estimate;
};

class BatchDispatcher : public Dispatcher {
 public:
  BatchDispatcher(DispatchParts parts, std::unique_ptr<QueuePolicy> policy, BatchOptions options);

  void Add(JobId job) override;
  void Return(JobId job, SummaryId why, Comeback comeback) override;
  bool Remove(JobId job) override;
  void OnEvent(const ClusterChange&) override;
  void OnQuotaChange() override { changed_ = true; }
  void OnNodeLost(NodeId) override { changed_ = true; }
  void OnEnd(JobId job) override;
  bool Ready() const override {
    return changed_ && !in_pass_ && (line_.size() > 0 || options_.helios);
  }
  void Dispatch() override;
  size_t waiting() const override { return line_.size(); }
  int64_t SmallestNeedMilli() const override;
  void Save(StateWriter& out) const override;
  absl::Status Load(StateReader& in) override;

 private:
  bool QuotaAllows(JobId job) const;
  void StandInLine(JobId job);
  enum class Outcome { kStarted, kWaitsForVictims, kFailed };
  Outcome TryStart(JobId job);
  bool TryPreempt(JobId job);
  bool MayDisplace(JobId waiting, JobId running) const;
  std::vector<JobId> Displaceable(JobId job) const;
  void OrderedPass();
  void EasyPass(JobId head);
  bool FitsCluster(const ResourceAmounts& request) const;
  void ConservativePass();
  void Reserve(JobId job, SimTime now, AvailabilityProfile* profile, EarliestStarts* known);
  // Looks among classes, from *class_index on, for a job behind `position` that could start now by
  // amounts. False when there is none, so that the pass need not look at the rest of the line.
  bool FindStartable(const AvailabilityProfile& profile, SimTime now,
                     const WaitingLine::Entry& position, uint32_t* class_index,
                     WaitingLine::Entry* startable) const;
  void RunHeliosPass();
  std::vector<RunningJob> ExpectedEnds() const;
  SimDuration EstimateOf(JobId job) const { return options_.estimate(*parts_.jobs, job); }
  // The expected time of a run that starts now; does not change while the job waits.
  SimDuration LengthOf(JobId job) const {
    return parts_.jobs->row(job).overhead_left + EstimateOf(job);
  }

  DispatchParts parts_;
  std::unique_ptr<QueuePolicy> policy_;
  BatchOptions options_;
  bool tenants_matter_ = false;
  WaitingLine line_;
  mutable LineWalk walk_;  // of the present pass, or the last; First() remembers where it was
  // By job: 1 + the version of the cluster at which no set of victims was found to make room for
  // it.
  std::vector<uint64_t> preempt_tried_;
  bool in_pass_ = false;
  bool evicting_ = false;        // the pass itself evicts: leaving pods do not count as changes
  bool news_in_pass_ = false;    // a pod left for another reason
  bool evicted_ = false;         // in this pass
  std::vector<JobId> returned_;  // jobs whose start in this pass was rejected
  bool changed_ = false;
  HeliosPass helios_;  // knows jobs only with options_.helios
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_BATCH_DISPATCHER_H_
