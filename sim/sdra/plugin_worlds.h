// Generated cases for the scheduler plugin; case_worlds.h names them.
#ifndef DRASIM_SIM_SDRA_PLUGIN_WORLDS_H_
#define DRASIM_SIM_SDRA_PLUGIN_WORLDS_H_

#include <cstdint>

#include "sim/sdra/case_set.h"

namespace drasim {

// The life cycle of pods with a claim each: as many as there are pods are scheduled one after the
// other until the devices are used up; every second one ends, those that failed are tried again,
// one is reserved and given up, a slice is replaced, a node leaves, and the last pods are tried
// again.
CaseSet LifeCycleWorld(int64_t nodes, int64_t devices, int64_t wanted, int64_t pods);

}  // namespace drasim

#endif  // DRASIM_SIM_SDRA_PLUGIN_WORLDS_H_
