#include "sim/run/rule_filters.h"

#include <utility>

#include "absl/strings/string_view.h"
#include "model/status_macros.h"
#include "sim/scenario/scheduler_spec.h"

namespace drasim {

absl::StatusOr<std::vector<std::unique_ptr<Plugin>>> MakeRuleFilters(const PolicyContext& context) {
  std::vector<absl::string_view> names = {"NodeUnschedulable", "TaintToleration",  "NodeAffinity",
                                          "NodePorts",         "NodeResourcesFit", "GpuShareFit",
                                          "GroupLimit"};
  if (context.mig) names.push_back("MigFit");
  std::vector<std::unique_ptr<Plugin>> filters;
  for (const absl::string_view name : names) {
    ASSIGN_OR_RETURN(std::unique_ptr<Plugin> plugin, BuiltinRegistry().MakePlugin(name, context));
    filters.push_back(std::move(plugin));
  }
  return filters;
}

}  // namespace drasim
