// Rows of ended pods in the ledger, for tables and filters without a look at the records.
#ifndef DRASIM_SIM_RECORD_LEDGER_PODS_H_
#define DRASIM_SIM_RECORD_LEDGER_PODS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/job_table.h"
#include "model/record.h"
#include "model/time.h"
#include "sim/record/live_state.h"
#include "sim/record/wire_message.h"

namespace drasim {

struct EndedPodRow : PodHistory {
  uint64_t number = 0;  // place in the order of arrival
  std::string name;
  uint32_t shape = 0;
  int32_t priority = 0;
  JobId job;           // invalid if unknown
  std::string tenant;  // of the job; may be empty
  SimTime arrival;
  SimTime end;
  RecordKind end_kind = RecordKind::kPodFinished;  // of the record that ended it
  bool operator==(const EndedPodRow&) const = default;
};

// The payload of a frame that stands after `records` records, the last of them at `time`. `pods`
// are rows of `cluster`, and at least one. Without `jobs`, jobs and tenants are unknown.
std::string PackPods(uint64_t records, SimTime time, absl::Span<const EndedPod> pods,
                     const ClusterState& cluster, const JobTable* jobs, WireMessage* scratch);

// Adds the rows of a frame. False if the payload is unreadable, names a node beyond `nodes`, or
// tells of a pod's life in an impossible order; shapes and summaries stay unchecked, because a
// reader may not have them yet.
bool UnpackPods(const std::string& payload, size_t nodes, std::vector<EndedPodRow>* rows);

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_LEDGER_PODS_H_
