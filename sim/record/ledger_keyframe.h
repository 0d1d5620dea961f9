// Keyframes: the live state of a run as a frame of the ledger, from which a reader can start.
#ifndef DRASIM_SIM_RECORD_LEDGER_KEYFRAME_H_
#define DRASIM_SIM_RECORD_LEDGER_KEYFRAME_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "model/cluster_state.h"
#include "model/job_table.h"
#include "model/time.h"
#include "sim/record/gpu_layouts.h"
#include "sim/record/live_state.h"
#include "sim/record/pod_owners.h"
#include "sim/record/wire_message.h"

namespace drasim {

struct KeyframeHead {
  uint64_t records = 0;    // before the keyframe
  SimTime time;            // of the last of them
  uint64_t pods = 0;       // that have arrived
  int64_t last_pod = 0;    // named by the records
  uint64_t shapes = 0;     // defined by the blocks
  uint64_t summaries = 0;  // likewise
};

// The payload of a keyframe. `live` has seen all records. The rows of `cluster` are all pods of the
// run; only the attributes with which they arrived are read. Without `jobs`, jobs and tenants are
// unknown; without `layouts`, the run has no static layouts. O(nodes + live pods x log(live pods)).
std::string PackKeyframe(const KeyframeHead& head, const ClusterState& cluster,
                         const LiveState& live, const JobTable* jobs, const LayoutLookup& layouts,
                         WireMessage* scratch);

// Limits on the contents of a keyframe, which comes from an untrusted file.
struct KeyframeBounds {
  uint64_t pods = 0;
  uint64_t summaries = 0;
};

// Loads the live state. `cluster` has its nodes as the header describes them, and no pods; its
// shape table has those of the keyframe. Afterwards its pods are the live ones: row i is pod number
// (*numbers)[i], ascending. `live` is a new state of that cluster, `owners` has no pods, and
// `layouts` are those of the header. DataLoss, without a place in the file, if anything is
// impossible; all outputs are then unspecified.
absl::Status UnpackKeyframe(const std::string& payload, const KeyframeBounds& bounds,
                            KeyframeHead* head, ClusterState* cluster, LiveState* live,
                            PodOwners* owners, GpuLayouts* layouts, std::vector<uint32_t>* numbers);

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_LEDGER_KEYFRAME_H_
