// Generated cases for the allocator and for CEL; case_worlds.h names them.
#ifndef DRASIM_SIM_SDRA_ALLOCATOR_WORLDS_H_
#define DRASIM_SIM_SDRA_ALLOCATOR_WORLDS_H_

#include <cstdint>

#include "sim/sdra/case_set.h"

namespace drasim {

// Nodes with as many devices of one model, four of them to a NUMA node. A claim wants some of them;
// on each node the first ones fit.
CaseSet GpuWorld(int64_t nodes, int64_t devices, int64_t wanted);
// The same, and the devices must be of one NUMA node.
CaseSet SameNumaWorld(int64_t nodes, int64_t devices, int64_t wanted);
// One node; a selector holds for its last device alone.
CaseSet LastMatchesWorld(int64_t devices);
// One node; the second request of the claim has no candidate, so that every set of devices for the
// first fails.
CaseSet NextImpossibleWorld(int64_t devices, int64_t wanted);
// One node; the claim wants one device more than there are.
CaseSet OneTooManyWorld(int64_t devices);
// One node; six requests, each with a selector of another kind that holds for one device alone.
CaseSet SelectorWorld(int64_t devices);

// Use of nodes with eight A100 and all their MIG partitions.
enum class MigUse : uint8_t {
  kNone,             // a claim wants 2g.10gb
  kAllButLastSmall,  // all 1g.5gb but the last GPU's last, which a claim wants
  kAllSmall,         // all 1g.5gb; a claim wants 3g.20gb
};
CaseSet MigWorld(int64_t nodes, MigUse use);

// Expressions of all kinds, with and without errors, each on as many devices.
CaseSet CelWorld(int64_t devices);

}  // namespace drasim

#endif  // DRASIM_SIM_SDRA_ALLOCATOR_WORLDS_H_
