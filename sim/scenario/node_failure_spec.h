// `cluster.failures`: how often nodes break at random, and how long repairs take.
//
//   cluster:
//     failures: {mtbf: 30d, mttr: 4h, nodes: "gpu-*", until: 60d}
#ifndef DRASIM_SIM_SCENARIO_NODE_FAILURE_SPEC_H_
#define DRASIM_SIM_SCENARIO_NODE_FAILURE_SPEC_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "model/distributions.h"
#include "model/proto/scenario.pb.h"
#include "model/time.h"

namespace drasim {

struct NodeFailureSpec {
  Distribution up;    // seconds from one repair to the next failure
  Distribution down;  // seconds of a repair
  std::string nodes;  // a node's name, or a pattern with *; empty: all
  // No failure begins later; none: until the last job would end if none ever waited.
  std::optional<SimDuration> until;
};

// None without `cluster.failures`. InvalidArgument, beginning with the scenario key, for what
// makes no sense by itself.
absl::StatusOr<std::optional<NodeFailureSpec>> MakeNodeFailureSpec(const proto::Scenario& scenario);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_NODE_FAILURE_SPEC_H_
