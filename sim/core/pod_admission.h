// Admission by nodes: asks the node agent to let the bound pods of a job in.
#ifndef DRASIM_SIM_CORE_POD_ADMISSION_H_
#define DRASIM_SIM_CORE_POD_ADMISSION_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "model/ids.h"
#include "model/record.h"
#include "model/time.h"
#include "sim/core/node_agent.h"
#include "sim/core/run_context.h"

namespace drasim {

struct JobAdmission {
  bool admitted = true;
  SimDuration start_delay;  // admitted: the longest time until devices are ready for a pod's work
  // Rejected: the job's pods are off their nodes, and recorded so.
  bool given_up = false;        // the owner makes no new pods
  SimDuration recreated_after;  // else: the time until it does
  std::vector<NodeId> vacated;  // the nodes they left
};

class PodAdmission {
 public:
  // `run` must outlive the admission, and has a node agent for Admit.
  explicit PodAdmission(RunContext* run) : run_(run) {}

  // Asks the agent for each pod of the job in turn. When one is rejected, the earlier ones are
  // removed and the later ones are not asked for. Adds to *pods_starting the pods whose work begins
  // only with a later signal of the agent.
  JobAdmission Admit(JobId job, uint32_t* pods_starting);

  // Rejects the waiting job: its pods were bound to `nodes` (one for each pod) where another
  // scheduler's pods have taken the room, so they never hold anything. A gang fails as a whole.
  // Needs no node agent.
  JobAdmission TurnAway(JobId job, absl::Span<const NodeId> nodes, AdmissionFailure failure);

 private:
  // `admitted` pods of the job, those before `pod`, were admitted.
  JobAdmission Reject(JobId job, PodId pod, uint32_t admitted, AdmissionFailure failure);
  // Counts one more rejection of the job: whether its owner makes new pods, and when.
  JobAdmission AnswerOfOwner(JobId job);

  RunContext* run_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_POD_ADMISSION_H_
