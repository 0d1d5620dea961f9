#include "sim/core/extender_binder.h"

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace drasim {

StepResult ExtenderBinder::Bind(const PodContext& pod, const ClusterState&, NodeId node) {
  StepResult result;
  int64_t waits = 0;
  const absl::StatusOr<bool> bound = BindByExtenders(extenders_, pod.pod, node, &waits);
  if (!bound.ok()) {
    result.code = StepCode::kError;
    result.message = std::string(bound.status().message());
    return result;
  }
  if (!*bound) result.code = StepCode::kSkip;
  if (waits > 0 && latency_ > SimDuration()) {
    result.intents.push_back({IntentKind::kApiWrite, SimDuration(latency_.ns() * waits)});
  }
  return result;
}

}  // namespace drasim
