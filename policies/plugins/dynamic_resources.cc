#include "policies/plugins/dynamic_resources.h"

#include <memory>

#include "policies/framework/registry.h"

namespace drasim {

StepResult DynamicResourcesWithoutClaims::PreFilter(const PodContext&, const ClusterState&) {
  StepResult result;
  result.code = StepCode::kSkip;
  return result;
}

PostFilterResult DynamicResourcesWithoutClaims::PostFilter(const PodContext&,
                                                           PostFilterHandle& handle) {
  PostFilterResult result;
  result.keeps_nomination = true;
  if (handle.RanPreFilter(*this)) {
    result.message = "no new claims to deallocate";
  } else {
    result.code = StepCode::kError;
    result.message = "not found";
  }
  return result;
}

void RegisterDynamicResources(Registry& registry) {
  registry.AddPlugin("DynamicResources", [](const PolicyContext&) {
    return std::make_unique<DynamicResourcesWithoutClaims>();
  });
}

}  // namespace drasim
