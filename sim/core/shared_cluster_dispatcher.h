// SharedClusterDispatcher: several kube-schedulers that share one cluster, each with a queue,
// profiles and a view of its own.
//
// A scheduler makes one attempt at a time. It decides on the cluster as it is when the attempt
// begins, and its pod is bound when the decision latency is over. Its view lacks the pods that
// other schedulers have bound meanwhile; if they have taken the room, the node turns the pod away
// (room_check.h), which is a conflict. At one instant attempts end before others begin, and those
// of schedulers named earlier before those named later.
#ifndef DRASIM_SIM_CORE_SHARED_CLUSTER_DISPATCHER_H_
#define DRASIM_SIM_CORE_SHARED_CLUSTER_DISPATCHER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "model/cluster_state.h"
#include "model/job_table.h"
#include "model/state_io.h"
#include "sim/core/dispatcher.h"
#include "sim/core/kubernetes_dispatcher.h"
#include "sim/core/profiles.h"

namespace drasim {

class SharedClusterDispatcher : public Dispatcher {
 public:
  // `scheduler_of` has the number of the scheduler for each profile. Pods without a profile stay
  // with the first scheduler, which never tries them. Cluster and jobs must outlive it.
  SharedClusterDispatcher(std::vector<std::unique_ptr<KubernetesDispatcher>> schedulers,
                          std::vector<size_t> scheduler_of, Profiles profiles,
                          const ClusterState* cluster, const JobTable* jobs);

  void Add(JobId job) override { Of(job).Add(job); }
  void Return(JobId job, SummaryId why, Comeback comeback) override {
    Of(job).Return(job, why, comeback);
  }
  bool Remove(JobId job) override { return Of(job).Remove(job); }
  void OnEvent(const ClusterChange& change) override;
  void OnQuotaChange() override;
  void OnEnd(JobId job) override { Of(job).OnEnd(job); }
  void Recheck(JobId job) override { Of(job).Recheck(job); }
  void Wake(JobId job, bool at_once) override { Of(job).Wake(job, at_once); }
  bool Ready() const override;
  // Begins an attempt of each scheduler that is ready.
  void Dispatch() override;
  std::optional<SimTime> NextTimer() override;
  void OnTimer() override;
  bool TimerMayHelp() const override;
  size_t waiting() const override;
  size_t in_line() const override;
  int64_t SmallestNeedMilli() const override;
  void Save(StateWriter& out) const override;
  absl::Status Load(StateReader& in) override;

  size_t size() const { return schedulers_.size(); }
  const KubernetesDispatcher& scheduler(size_t i) const { return *schedulers_[i]; }

 private:
  KubernetesDispatcher& Of(JobId job);

  std::vector<std::unique_ptr<KubernetesDispatcher>> schedulers_;
  std::vector<size_t> scheduler_of_;  // by profile
  Profiles profiles_;
  const ClusterState* cluster_;
  const JobTable* jobs_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_SHARED_CLUSTER_DISPATCHER_H_
