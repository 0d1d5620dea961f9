// DecisionList: the placements that some scheduler made, for a run that follows them instead of
// deciding by itself (DecidedDispatcher).
#ifndef DRASIM_SIM_CORE_DECISION_LIST_H_
#define DRASIM_SIM_CORE_DECISION_LIST_H_

#include <cstddef>
#include <string>
#include <vector>

#include "model/device_set.h"
#include "model/time.h"

namespace drasim {

// A MIG instance that a pod gets. Profiles go by name, because the numbers of a table depend on the
// cluster that it belongs to.
struct DecidedInstance {
  size_t gpu = 0;       // index on the node
  std::string profile;  // "1g.5gb"
  int start = 0;        // first memory slice
};

// One pod is placed on a node, or taken off it.
struct PodDecision {
  std::string pod;
  std::string node;                        // empty: the pod is evicted for the sake of others
  SimTime at;                              // without meaning in a fill
  DeviceSet devices;                       // GPUs of the node; empty: the device chooser's
  std::vector<DecidedInstance> instances;  // empty: those that the chooser makes on `devices`
  // An eviction of a pod that holds nothing any more is no mistake: what ended its run, such as the
  // loss of its node, repeats itself without a decision.
  bool may_be_over = false;
  size_t line = 0;  // of the file, from 1; 0: not from lines
};

struct DecisionList {
  std::string origin;  // the file, for messages
  // In order of time; decisions of one instant are in the order in which they were made, as far as
  // that is known.
  std::vector<PodDecision> decisions;
  // Times are cut off to multiples of this, so each decision may be that much later.
  SimDuration resolution;
};

// A decision that the cluster could not follow.
struct DecisionProblem {
  size_t decision = 0;  // index into DecisionList::decisions
  std::string what;     // "node 'a': Insufficient cpu"
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_DECISION_LIST_H_
