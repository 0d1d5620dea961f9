// Cells whose entry has cases for structured DRA in place of a scenario.
#ifndef DRASIM_SIM_BENCH_CASE_CELLS_H_
#define DRASIM_SIM_BENCH_CASE_CELLS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "sim/bench/suite.h"
#include "sim/sdra/case_answers.h"
#include "sim/sdra/case_set.h"

namespace drasim::bench {

// Reads the file or generates the world. NotFound if there is no such file; InvalidArgument, with
// its place, for a malformed one.
absl::StatusOr<CaseSet> LoadCases(const SuiteCases& cases);

// Loads and answers the cases. Errors of LoadCases and AnswerCaseSet.
absl::StatusOr<CaseAnswers> RunCases(const SuiteCases& cases);

// The name of what decides, in place of a policy: "cel", or the allocator's variant.
std::string DeciderOf(const SuiteCases& cases);

// The cases without the place of their file, as YAML: it identifies them beside the file's bytes.
std::string CasesIdentity(const SuiteCases& cases);

// A suite with this entry alone, as YAML, for `drasim bench cases`. Its paths are absolute.
std::string SuiteOfCases(const SuiteEntry& entry);

// Digests in one line, "CASE=FIELD:DIGEST,FIELD:DIGEST CASE=...": the first 8 digits of each hash.
// Characters of names other than letters, digits, '.', '_' and '-' become '_'.
std::string DigestText(absl::Span<const AnswerDigest> digests);

// The first case, by position, whose digests differ, with its fields, and how many differ:
// "case mig differs in devices, error (and 2 cases more)". Empty if none does.
std::string FirstDifference(absl::string_view base, absl::string_view head);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_CASE_CELLS_H_
