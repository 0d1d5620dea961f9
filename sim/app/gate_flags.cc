#include "sim/app/gate_flags.h"

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "model/status_macros.h"
#include "traces/byte_source.h"

namespace drasim {
namespace {

constexpr size_t kMaxBaselineBytes = 64u << 20;

}  // namespace

std::vector<FlagSpec> GateFlagSpecs() {
  return {{"baseline", "", "OLD.json", "what an earlier run of the command left as JSON"},
          {"fail-if", "", "RULE",
           "METRIC OPERATOR NUMBER[%] on the difference to the baseline; may be repeated"}};
}

absl::StatusOr<Gate> GateFrom(const ParsedFlags& flags) {
  Gate gate;
  gate.file = flags.GetOr("baseline", "");
  for (const std::string& text : flags.All("fail-if")) {
    ASSIGN_OR_RETURN(FailRule rule, ParseFailRule(text));
    gate.rules.push_back(std::move(rule));
  }
  if (gate.file.empty()) {
    if (gate.rules.empty()) return gate;
    return absl::InvalidArgumentError("--fail-if needs --baseline OLD.json");
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(gate.file));
  ASSIGN_OR_RETURN(const std::string text, ReadAll(*source, kMaxBaselineBytes));
  ASSIGN_OR_RETURN(gate.baseline, ParseComparison(text, gate.file));
  return gate;
}

absl::StatusOr<GateResult> ApplyGate(const Gate& gate, const std::string& json) {
  GateResult result{gate.file, gate.baseline.version, {}};
  ASSIGN_OR_RETURN(const KeptComparison current, ParseComparison(json, "this comparison"));
  ASSIGN_OR_RETURN(result.comparison, CompareWithBaseline(gate.baseline, current, gate.rules));
  return result;
}

}  // namespace drasim
