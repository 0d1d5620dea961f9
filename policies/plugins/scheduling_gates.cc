#include "policies/plugins/scheduling_gates.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "policies/framework/registry.h"

namespace drasim {

StepResult SchedulingGates::PreEnqueue(const PodContext& pod) {
  StepResult result;
  const std::vector<std::string>& gates = pod.shape->constraints.gates;
  if (gates.empty()) return result;
  result.code = StepCode::kUnresolvable;
  result.message = absl::StrCat("waiting for scheduling gates: [", absl::StrJoin(gates, " "), "]");
  return result;
}

void RegisterSchedulingGates(Registry& registry) {
  registry.AddPlugin("SchedulingGates",
                     [](const PolicyContext&) { return std::make_unique<SchedulingGates>(); });
}

}  // namespace drasim
