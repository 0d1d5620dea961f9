// The answers to a set of cases, reduced to figures and to one digest for each case and field.
#ifndef DRASIM_SIM_SDRA_CASE_ANSWERS_H_
#define DRASIM_SIM_SDRA_CASE_ANSWERS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "policies/allocator/dra_features.h"
#include "sim/sdra/case_set.h"
#include "sim/sdra/case_table.h"

namespace drasim {

struct CaseRunOptions {
  AllocatorVariant variant = AllocatorVariant::kIncubating;
  // As AllocatorOptions::count_steps; has no effect on cases for the plugin and for CEL.
  bool count_steps = false;
  // Number of times that the cases are answered. Allocations of later rounds build no results.
  int64_t rounds = 1;
  // Later rounds of allocator cases compute pools and verdicts again.
  bool cold = false;
};

// A hash of one field of a case's answer, over all of its nodes or steps. Equal answers have equal
// digests on every machine.
struct AnswerDigest {
  int64_t position = 0;  // of the case in its set
  std::string name;      // of the case
  std::string field;     // "devices", "error"
  uint64_t hash = 0;

  bool operator==(const AnswerDigest&) const = default;
};

struct CaseAnswers {
  int64_t cases = 0;
  // Counts of the first round: nodes on which claims get devices, pods that get a node, expressions
  // that match.
  int64_t allocations = 0;
  // Likewise: nodes, steps and expressions that end in an error.
  int64_t errors = 0;
  std::optional<int64_t> steps;  // of the original's search; with count_steps
  // Cases with a stored answer that is not ours; absent if no case has one.
  std::optional<int64_t> mismatches;
  int64_t decisions = 0;  // of all rounds: nodes, steps of plugin cases, expressions
  std::vector<AnswerDigest> digests;
  uint64_t fingerprint = 0;  // over all digests
  CaseTable table;           // the comparison with the stored answers
};

// `on_answer`, if set, gets each answer of the first round as `drasim cases` prints it, in a line.
// InvalidArgument, beginning with the case's name, for a case that cannot be answered; Internal if
// a later round has other outcomes than the first.
absl::StatusOr<CaseAnswers> AnswerCaseSet(
    const CaseSet& cases, const CaseRunOptions& options,
    const std::function<void(const std::string& line)>& on_answer = nullptr);

}  // namespace drasim

#endif  // DRASIM_SIM_SDRA_CASE_ANSWERS_H_
