// The flags --baseline OLD.json and --fail-if RULE of `compare` and `bench judge`.
#ifndef DRASIM_SIM_APP_GATE_FLAGS_H_
#define DRASIM_SIM_APP_GATE_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/app/flags.h"
#include "sim/compare/baseline_gate.h"
#include "sim/compare/fail_rule.h"
#include "sim/compare/kept_comparison.h"

namespace drasim {

// Both flags, for a command's list.
std::vector<FlagSpec> GateFlagSpecs();

struct Gate {
  std::string file;  // empty: there is no baseline
  KeptComparison baseline;
  std::vector<FailRule> rules;
};

// The verdicts on the comparison with the baseline.
struct GateResult {
  std::string file;
  std::string version;  // that wrote the baseline
  BaselineComparison comparison;
};

// Everything that can be wrong with the flags: rules without a baseline, malformed rules, and the
// errors of reading OLD.json. To be called before anything runs.
absl::StatusOr<Gate> GateFrom(const ParsedFlags& flags);

// `json`: the command's own document, which is read as the baseline's was. Errors of
// CompareWithBaseline. REQUIRES: !gate.file.empty().
absl::StatusOr<GateResult> ApplyGate(const Gate& gate, const std::string& json);

}  // namespace drasim

#endif  // DRASIM_SIM_APP_GATE_FLAGS_H_
