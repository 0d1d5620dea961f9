#include "policies/cel/admission.h"

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "model/kube/api_check.h"
#include "policies/cel/compile.h"
#include "policies/cel/program.h"

namespace drasim::cel {
namespace {

namespace kube = ::drasim::proto::kube;

void CheckExpression(const std::string& path, const std::string& expression, bool derived,
                     ApiCheck* check) {
  // Missing or too long ones are problems of the object's other checks.
  if (expression.empty() || expression.size() > kMaxExpressionLength) return;
  CompileOptions options;
  options.derived_attribute = derived;
  const absl::StatusOr<Program> program = Compile(expression, options);
  if (!program.ok()) {
    check->Invalid(path, expression, program.status().message());
  } else if (program->worst_cost > kCostLimit) {
    check->Forbidden(path, "too complex, exceeds cost limit");
  }
}

template <typename Selectors>
void CheckSelectors(const std::string& path, const Selectors& selectors, ApiCheck* check) {
  for (int i = 0; i < selectors.size(); ++i) {
    CheckExpression(KubeField(KubeIndex(path, i), "cel.expression"),
                    selectors.Get(i).cel().expression(), /*derived=*/false, check);
  }
}

template <typename Request>
void CheckExpressionsOf(const std::string& path, const Request& request, ApiCheck* check) {
  CheckSelectors(KubeField(path, "selectors"), request.selectors(), check);
  const std::string derived = KubeField(path, "derivedAttributes");
  for (int i = 0; i < request.derived_attributes_size(); ++i) {
    CheckExpression(KubeField(KubeIndex(derived, i), "expression"),
                    request.derived_attributes(i).expression(), /*derived=*/true, check);
  }
}

void CheckClaimExpressions(const std::string& path, const kube::DeviceClaim& claim,
                           ApiCheck* check) {
  for (int i = 0; i < claim.requests_size(); ++i) {
    const std::string at = KubeIndex(KubeField(path, "requests"), i);
    const kube::DeviceRequest& request = claim.requests(i);
    if (request.has_exactly()) {
      CheckExpressionsOf(KubeField(at, "exactly"), request.exactly(), check);
    }
    for (int j = 0; j < request.first_available_size(); ++j) {
      CheckExpressionsOf(KubeIndex(KubeField(at, "firstAvailable"), j), request.first_available(j),
                         check);
    }
  }
}

}  // namespace

std::vector<KubeProblem> ExpressionProblems(const kube::Object& object) {
  std::vector<KubeProblem> problems;
  ApiCheck check(&problems);
  if (object.has_device_class()) {
    CheckSelectors("spec.selectors", object.device_class().spec().selectors(), &check);
  } else if (object.has_resource_claim_v1()) {
    CheckClaimExpressions("spec.devices", object.resource_claim_v1().spec().devices(), &check);
  } else if (object.has_resource_claim_template_v1()) {
    CheckClaimExpressions("spec.spec.devices",
                          object.resource_claim_template_v1().spec().spec().devices(), &check);
  }
  return problems;
}

}  // namespace drasim::cel
