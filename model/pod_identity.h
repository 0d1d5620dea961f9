// PodIdentity: what selectors of other objects see of a pod.
#ifndef DRASIM_MODEL_POD_IDENTITY_H_
#define DRASIM_MODEL_POD_IDENTITY_H_

#include <string>

#include "model/label_selector.h"

namespace drasim {

struct PodIdentity {
  std::string ns;  // "default"; empty: a pod of a trace, which no selector sees
  Labels labels;
  // The controller owner, for the default constraints of PodTopologySpread; empty: none.
  std::string owner_kind;  // "ReplicaSet"
  std::string owner_name;
  std::string scheduler_name;  // spec.schedulerName; empty: a pod that names none
  bool terminating = false;    // metadata.deletionTimestamp is set
  // Also by a preemption: condition DisruptionTarget with reason PreemptionByScheduler.
  bool preempted = false;
  bool operator==(const PodIdentity&) const = default;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_POD_IDENTITY_H_
