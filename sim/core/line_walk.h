// A pass over a waiting line: returns the first job whose class is still open, until none is left.
//
// A class is closed when its first job cannot start; the next class in the order of the policy
// follows. With one line per tenant the tenant with the smallest TenantKey goes first (ties: the
// one that appeared first), and keys are recomputed only where a tenant's holdings have changed.
#ifndef DRASIM_SIM_CORE_LINE_WALK_H_
#define DRASIM_SIM_CORE_LINE_WALK_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "model/cluster_state.h"
#include "model/job_table.h"
#include "model/state_io.h"
#include "policies/framework/queue_policy.h"
#include "sim/core/waiting_line.h"

namespace drasim {

class LineWalk {
 public:
  // All must outlive the walk.
  LineWalk(WaitingLine* line, const QueuePolicy* policy, JobTable* jobs,
           const ClusterState* cluster);

  // Opens all classes. O(classes that were closed), O(tenants) after a change of capacity.
  void Begin();
  // The first job among open classes; invalid if there is none. Amortised O(log classes).
  JobId First(uint32_t* class_index);
  void Close(uint32_t class_index);

  // Saves the closed classes. Load expects the line to be loaded already.
  void Save(StateWriter& out) const;
  void Load(StateReader& in);

 private:
  // The position of the walk in one line.
  struct Position {
    bool moved = false;         // else at the beginning
    WaitingLine::Entry behind;  // everything up to here belongs to closed classes
    bool listed = false;        // in order_
    int64_t key = 0;            // TenantKey
  };

  JobId FirstIn(uint32_t line, uint32_t* class_index);
  // Brings the walk up to date with changes since the last call.
  void Refresh();
  void List(uint32_t line);
  void Unlist(uint32_t line);

  WaitingLine* line_;
  const QueuePolicy* policy_;
  JobTable* jobs_;
  const ClusterState* cluster_;
  bool per_tenant_;
  std::vector<bool> closed_;  // by class
  std::vector<uint32_t> closed_classes_;
  std::vector<Position> positions_;  // by line
  std::vector<uint32_t> moved_;      // lines that are not at their beginning
  std::vector<uint32_t> exhausted_;  // lines that have none but closed classes
  // Tenants with open classes, by key.
  absl::btree_set<std::pair<int64_t, uint32_t>> order_;
  std::vector<TenantId> changed_;  // scratch
  ResourceAmounts capacity_;       // the capacity for which the keys were computed
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_LINE_WALK_H_
