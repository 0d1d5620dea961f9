// One attempt to place a pod, in full: what every node was worth to the scheduler, plugin by
// plugin, or why it refused the node. The run is simulated again up to the attempt.
//
//   DecisionRequest request;
//   request.path = "out";  // the run's folder
//   request.pod = "pod-0002132";
//   request.at = SimTime(15'013 * kSecondNs);
//   ASSIGN_OR_RETURN(const DecisionExplanation decision, ExplainDecision(request));
//   decision.nodes[0].node;  // the best one
#ifndef DRASIM_SIM_EXPLAIN_DECISION_H_
#define DRASIM_SIM_EXPLAIN_DECISION_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/time.h"
#include "sim/explain/attempt.h"

namespace drasim {

struct DecisionRequest {
  std::string path;  // of the ledger, or of the folder it is in
  std::string pod;   // its name; of several the first
  // The last attempt up to then is explained; absent: the last one of all.
  std::optional<SimTime> at;
  uint64_t last_record = 0;  // nor an attempt after the record of that number, from 1; 0: any
  const std::atomic<bool>* stop = nullptr;            // set by another thread to cancel
  std::function<void(double)> on_progress = nullptr;  // the finished share, 0..1
};

// A node at the moment of the decision.
struct DecisionNode {
  std::string node;
  bool candidate = false;  // the scheduler could choose it
  bool chosen = false;
  int64_t total = 0;            // of `scores`
  std::vector<int64_t> scores;  // beside DecisionExplanation::plugins, weighted; see there
  std::string verdict;          // of others: "Insufficient cpu"; "not part of the cluster"
};

struct DecisionExplanation {
  SimTime time;
  uint64_t record = 0;  // number of the attempt's record, from 1
  std::string pod;
  bool placed = false;
  std::string node;  // the chosen one, if placed
  // The plugins that score, with their weights: "FGD", "NodeResourcesFit x2". The only candidate
  // may have no scores.
  std::vector<std::string> plugins;
  // Candidates first, the best ahead, ties in the order that decides between them; then the others
  // by node. Empty if the attempt failed before any look at nodes.
  std::vector<DecisionNode> nodes;
  size_t candidates = 0;
  std::optional<AttemptExplanation> why;  // of a failed attempt, with the words of drivers
  std::vector<std::string> claims;        // state of the pod's claims after the decision
  std::vector<std::string> warnings;
};

// Errors are those of ExplainRun (replay.h); also NotFound if the pod was not tried up to then, and
// Cancelled. The records of a fill have no times, so there `at` counts records, a nanosecond each.
// Costs the run from the checkpoint before the attempt, and the records from the pod's arrival on.
absl::StatusOr<DecisionExplanation> ExplainDecision(const DecisionRequest& request);

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_DECISION_H_
