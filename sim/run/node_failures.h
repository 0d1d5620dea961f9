// `cluster.failures`, carried out: failures and repairs of nodes at random times.
#ifndef DRASIM_SIM_RUN_NODE_FAILURES_H_
#define DRASIM_SIM_RUN_NODE_FAILURES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/event_source.h"
#include "model/time.h"
#include "sim/core/engine.h"
#include "sim/scenario/node_failure_spec.h"

namespace drasim {

// A run with more is refused.
inline constexpr int64_t kMaxNodeFailures = 5'000'000;

// When the last of these jobs would end if none ever waited: how long nodes fail when the scenario
// does not say. Services count with their arrival. At most 100 years. O(jobs).
SimTime EndWithoutWaiting(absl::Span<const JobArrival> jobs);

// Failures and repairs of all nodes in order of time; ties by node. Each node works for a while,
// breaks, is repaired, and so on from time zero; no failure begins after `until`, but every node is
// repaired. Each node draws from a stream of its own, named after it: "cluster/failures/NAME".
// InvalidArgument when no node
// matches and for more than kMaxNodeFailures. O(n log n) in the failures.
absl::StatusOr<std::vector<NodeTransition>> MakeNodeFailures(const NodeFailureSpec& spec,
                                                             uint64_t seed,
                                                             const ClusterState& cluster,
                                                             SimTime until);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_NODE_FAILURES_H_
