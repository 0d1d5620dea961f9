// Plugins for the rules about nodes that bind every scheduler.
#ifndef DRASIM_SIM_RUN_RULE_FILTERS_H_
#define DRASIM_SIM_RUN_RULE_FILTERS_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "policies/framework/plugin.h"
#include "policies/framework/registry.h"

namespace drasim {

// Filters of Reach::kNode: cordons, taints, selectors and required node affinity, amounts, host
// ports, GPUs and MIG instances. Whatever they reject, no policy can place there.
absl::StatusOr<std::vector<std::unique_ptr<Plugin>>> MakeRuleFilters(const PolicyContext& context);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_RULE_FILTERS_H_
