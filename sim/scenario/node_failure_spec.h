// `cluster.failures`: random failures of nodes and the times of repairs.
//
//   cluster:
//     failures: {mtbf: 30d, mttr: 4h, nodes: "gpu-*", until: 60d}
#ifndef DRASIM_SIM_SCENARIO_NODE_FAILURE_SPEC_H_
#define DRASIM_SIM_SCENARIO_NODE_FAILURE_SPEC_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "model/distributions.h"
#include "model/time.h"

namespace drasim {

namespace proto {
class Scenario;
}

struct NodeFailureSpec {
  Distribution up;    // seconds from one repair to the next failure
  Distribution down;  // seconds of a repair
  std::string nodes;  // a name or a pattern with *; empty: all
  // The latest start of a failure; none: EndWithoutWaiting of the jobs (sim/run/node_failures.h).
  std::optional<SimDuration> until;
};

// None without `cluster.failures`. InvalidArgument, beginning with the scenario key, for invalid
// values.
absl::StatusOr<std::optional<NodeFailureSpec>> MakeNodeFailureSpec(const proto::Scenario& scenario);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_NODE_FAILURE_SPEC_H_
