// The decisions at which two runs part: what each scheduler chose, and what the nodes were worth to
// it.
//
//   PartingRecord a{.path = "old", .record = 17, .pod = "pod-0000003"};
//   PartingRecord b{.path = "new", .record = 17, .pod = "pod-0000003"};
//   const std::array<PartingDecision, 2> decisions = ExplainParting({a, b});
#ifndef DRASIM_SIM_EXPLAIN_PARTING_H_
#define DRASIM_SIM_EXPLAIN_PARTING_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "model/text/json_writer.h"
#include "sim/explain/decision.h"

namespace drasim {

// Candidates of each decision that are written; the nodes chosen by either run come in addition.
inline constexpr size_t kPartingCandidates = 5;

// The record of one ledger at which it parts from the other.
struct PartingRecord {
  std::string path;     // of the ledger, or of the folder it is in
  uint64_t record = 0;  // its number, from 1; 0: the ledger has ended
  std::string pod;      // empty: the record concerns none
};

// The scheduler's decision there, or why it is not known: the record is no attempt to place a pod,
// the inputs are gone, or this build of drasim takes another course than the one that made the
// ledger.
struct PartingDecision {
  PartingRecord where;
  absl::StatusOr<DecisionExplanation> decision;
};

// Simulates both runs again up to those records. Costs one ExplainDecision for each.
std::array<PartingDecision, 2> ExplainParting(const std::array<PartingRecord, 2>& records);

// An object: pod (null if the runs decided about different pods) and sides[], each with ledger,
// pod, placed, node, time_seconds, plugins[], candidates (their number), nodes[] (node, score,
// scores[] beside plugins, verdict) and unknown, which says why the others are null.
void WriteParting(const std::array<PartingDecision, 2>& decisions, JsonWriter* json);

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_PARTING_H_
