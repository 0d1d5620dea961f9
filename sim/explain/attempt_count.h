// Counts the failed attempts of a run that can be explained: a check that explanations are complete
// and agree with the run.
#ifndef DRASIM_SIM_EXPLAIN_ATTEMPT_COUNT_H_
#define DRASIM_SIM_EXPLAIN_ATTEMPT_COUNT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/run/simulation.h"

namespace drasim {

struct AttemptStats {
  uint64_t attempts = 0;
  uint64_t complete = 0;  // name a resource or object, and a shortfall or state, for all nodes
  uint64_t agreeing = 0;  // have exactly the counts that the attempt recorded
  uint64_t distinct = 0;  // explanations that were computed
  std::vector<std::string> incomplete;  // the first few that are not complete or do not agree
  bool operator==(const AttemptStats&) const = default;
};

// Runs the simulation, which has been built but not started, and explains every failed attempt as
// it happens. Costs a look at all nodes per distinct (shape, failure, state).
absl::StatusOr<AttemptStats> CountExplainedAttempts(Simulation& sim);

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_ATTEMPT_COUNT_H_
