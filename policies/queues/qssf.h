// QSSF, quasi-shortest service first: the smallest GPU time first, as predicted from the owner's
// earlier jobs. Source: Hu et al., "Characterization and Prediction of Deep Learning Workloads in
// Large-Scale GPU Datacenters" (Helios), SC 2021: its rolling estimate, without the learned model.
#ifndef DRASIM_POLICIES_QUEUES_QSSF_H_
#define DRASIM_POLICIES_QUEUES_QSSF_H_

#include <cstdint>
#include <map>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "policies/framework/queue_policy.h"

namespace drasim {

// The predicted run time is the mean, rounded down, of the tenant's finished jobs with the same
// number of GPUs; failing these, of the tenant's finished jobs; failing these, of all finished
// jobs; failing these, the owner's estimate, or 0. A job that failed at the end of its work counts
// as finished.
//
// The key is predicted time x GPUs, exactly. A job without GPUs counts as having a thousandth of
// one, so these jobs go ahead, the shortest first. Jobs without a run time come last. The key is
// kept while a job waits: jobs that finish meanwhile affect later arrivals only.
class QssfQueue : public QueuePolicy {
 public:
  absl::string_view name() const override { return "qssf"; }
  // O(log(tenants x GPU counts)), as is OnEnd.
  JobKey Key(const JobTable& jobs, JobId job) override;
  void OnEnd(const JobTable& jobs, JobId job) override;
  void Save(StateWriter& out) const override;
  // On an error (also reported by in.status()) nothing is changed.
  absl::Status Load(StateReader& in) override;

 private:
  struct History {
    uint64_t jobs = 0;
    absl::uint128 total_ns = 0;  // 2^64 ns are no more than 213,503 days

    void Add(const History& more);
    int64_t MeanNs() const;
  };
  using TenantAndGpus = std::pair<TenantId, int64_t>;  // milli-GPU of the whole job

  void Learn(const TenantAndGpus& key, const History& more);
  int64_t PredictNs(const JobRow& row) const;

  std::map<TenantAndGpus, History> by_tenant_and_gpus_;
  // Sums over the former.
  std::map<TenantId, History> by_tenant_;
  History all_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_QUEUES_QSSF_H_
