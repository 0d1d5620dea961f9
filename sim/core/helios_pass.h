// The preemptive pass of HeliosArtifact's simulator, for comparison with its published tables
// (`compat: helios`): shortest remaining time first.
//
// Not a rule of drasim: it admits by the number of GPUs and finds out only afterwards whether the
// jobs can be placed.
#ifndef DRASIM_SIM_CORE_HELIOS_PASS_H_
#define DRASIM_SIM_CORE_HELIOS_PASS_H_

#include <vector>

#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/job_table.h"
#include "model/state_io.h"
#include "model/time.h"

namespace drasim {

class HeliosPass {
 public:
  // Both must outlive it.
  HeliosPass(const ClusterState* cluster, const JobTable* jobs) : cluster_(cluster), jobs_(jobs) {}

  // The job begins to wait.
  void Add(JobId job);
  // The waiting job is deleted. Does nothing if it does not wait.
  void Remove(JobId job);
  // The waiting job has been placed.
  void Started(JobId job);
  // The job has ended for good. Does nothing if it does not run.
  void OnEnd(JobId job);

  struct Plan {
    std::vector<JobId> displaced;  // running jobs to evict
    std::vector<JobId> admitted;   // waiting jobs to place afterwards
  };
  // O(n log n) in waiting and running jobs.
  Plan Decide(SimTime now) const;

  void Save(StateWriter& out) const;
  void Load(StateReader& in);

 private:
  const ClusterState* cluster_;
  const JobTable* jobs_;
  // In the order in which they began to wait, or to run.
  std::vector<JobId> waiting_;
  std::vector<JobId> running_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_HELIOS_PASS_H_
