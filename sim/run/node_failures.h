// Draws the failures and repairs of `cluster.failures`.
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

// The limit on failures of a run.
inline constexpr int64_t kMaxNodeFailures = 5'000'000;

// The end of the last job if no job ever waited: the default for NodeFailureSpec::until. Services
// count with their arrival. At most 100 years. O(jobs).
SimTime EndWithoutWaiting(absl::Span<const JobArrival> jobs);

// Failures and repairs of all nodes in order of time; ties by node. From time zero on, each node
// alternates between working and being repaired. No failure begins after `until`; every failure is
// repaired. Each node has a random stream of its own: "cluster/failures/NAME". InvalidArgument when
// no node matches and for more than kMaxNodeFailures. O(n log n) in the failures.
absl::StatusOr<std::vector<NodeTransition>> MakeNodeFailures(const NodeFailureSpec& spec,
                                                             uint64_t seed,
                                                             const ClusterState& cluster,
                                                             SimTime until);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_NODE_FAILURES_H_
