// The pods and nodes of a fill, counted for GpuMilliBound.
#ifndef DRASIM_SIM_BENCH_BOUND_INPUT_H_
#define DRASIM_SIM_BENCH_BOUND_INPUT_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/bench/gpu_bound.h"
#include "sim/run/simulation.h"
#include "sim/scenario/run_spec.h"

namespace drasim::bench {

// FailedPrecondition, with the reason, for a scenario in which pods leave (a replay has no single
// best allocation), in which nodes hand out devices, or whose kube-scheduler may ignore resources.
absl::Status CheckBoundable(const RunSpec& spec);

// The pods of the run by kind, and the nodes that each kind may use. All pods count, whether or not
// the run's own policy placed them. REQUIRES: CheckBoundable is OK and the run has ended.
// O(pods + nodes * shapes).
absl::StatusOr<BoundInput> BoundInputOf(const Simulation& sim);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_BOUND_INPUT_H_
