// Hashes that tie a run to the published FGD experiments: order of arrivals, node ranks,
// placements.
//
// FNV-1a 64 over UTF-8 lines:
//   order      "<pod>\n", in arrival order
//   rank       "<node>\n", by ascending rank
//   placement  "<pod> <rank as %04d>-<node> <devices joined by ->\n", in arrival order; without a
//              placement "<pod> - \n"
#ifndef DRASIM_SIM_RECORD_ORDER_HASHES_H_
#define DRASIM_SIM_RECORD_ORDER_HASHES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "model/cluster_state.h"

namespace drasim {

struct OrderHashes {
  uint64_t order = 0;
  uint64_t rank = 0;
  uint64_t placement = 0;
};

// For a finished run without departures. `ranks[i]` is node i's rank. O(pods + nodes).
OrderHashes ComputeOrderHashes(const ClusterState& cluster, absl::Span<const uint32_t> ranks);

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_ORDER_HASHES_H_
