// The slices of a whole cluster from time to time, from the records alone.
#ifndef DRASIM_SIM_RECORD_SLICE_SAMPLER_H_
#define DRASIM_SIM_RECORD_SLICE_SAMPLER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/mig_slices.h"
#include "model/record.h"
#include "sim/record/live_state.h"

namespace drasim {

class SliceSampler {
 public:
  // For a variable that is assigned later.
  SliceSampler() = default;
  // `cluster` has the nodes of the run; its pods do not matter. `layouts`: at the beginning; absent
  // if none is static.
  explicit SliceSampler(const ClusterState& cluster,
                        std::optional<LayoutOfGpu> layouts = std::nullopt);

  // O(1); nothing without MIG.
  void OnRecord(const Record& record) { Touch(record.node); }
  // For a caller that has skipped records. O(nodes).
  void TouchAll();
  // The slices of all nodes. `live` has seen the records, and of `cluster` only the nodes' models
  // are read. `layouts`: as they are now. O(residents and devices of the nodes that records have
  // named since the last call).
  const SliceCounts& Sample(const ClusterState& cluster, const LiveState& live,
                            std::optional<LayoutOfGpu> layouts = std::nullopt);
  // The last result of Sample.
  const SliceCounts& counts() const { return counts_; }

 private:
  void Touch(NodeId node);

  std::vector<SliceCounts> by_node_;  // empty without MIG
  SliceCounts counts_;                // their sum
  std::vector<NodeId> touched_;       // named since the last sample, each once
  std::vector<bool> is_touched_;      // by node
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_SLICE_SAMPLER_H_
