// A what-if: takes pods off their nodes to see what would fit then, and leaves no trace.
//
//   WhatIf what_if(&cluster);
//   const size_t removal = what_if.Remove(victim);
//   if (placer.WouldFit(job, now)) ...       // with the room that the victim leaves
//   what_if.Restore(removal);                // the victim is back where it was
//
// For code that decides: it asks the scheduler's own filters, on the real cluster. Explanations ask
// "when would it fit" for many nodes and times on a cluster that they must not change; they compute
// with amounts instead (sim/explain/node_room.h).
#ifndef DRASIM_SIM_CORE_WHAT_IF_H_
#define DRASIM_SIM_CORE_WHAT_IF_H_

#include <cstddef>
#include <vector>

#include "model/cluster_state.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/ids.h"
#include "model/job_table.h"

namespace drasim {

class WhatIf {
 public:
  // O(1) and without an allocation until the first Remove. What-ifs nest; each ends before the one
  // around it.
  explicit WhatIf(ClusterState* cluster) : cluster_(cluster) {}
  ~WhatIf() { End(); }
  WhatIf(const WhatIf&) = delete;
  WhatIf& operator=(const WhatIf&) = delete;

  // Takes an assumed or bound pod off its node. Returns the number of this removal for Restore.
  size_t Remove(PodId pod);
  // Undoes the removal. REQUIRES: the pod holds nothing, and its place is free (CHECKed).
  void Restore(size_t removal);

  // The same for all pods of a job; the number is that of the first.
  size_t RemoveJob(const JobRow& row);
  void RestoreJob(const JobRow& row, size_t first_removal);

  // Brings the cluster back to its state before the what-if, whatever happened to it since. The
  // destructor does the same.
  void End();

 private:
  struct Removed {
    PodId pod;
    NodeId node;
    DeviceSet devices;
    DeviceGrants grants;
    bool bound;  // else assumed
  };

  ClusterState* cluster_;
  bool open_ = false;
  std::vector<Removed> removed_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_WHAT_IF_H_
