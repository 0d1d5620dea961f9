// Fills a parsed template; for TextTemplate.
#ifndef DRASIM_SIM_PERF_TEMPLATE_EVAL_H_
#define DRASIM_SIM_PERF_TEMPLATE_EVAL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/perf/template_node.h"

namespace drasim::perf {

// Functions that templates may call.
std::vector<std::string> TemplateFunctionNames();

// Errors as of TextTemplate::Fill.
absl::StatusOr<std::string> FillTemplate(const std::vector<TemplateNode>& nodes,
                                         absl::string_view file, const TemplateInput& input);

}  // namespace drasim::perf

#endif  // DRASIM_SIM_PERF_TEMPLATE_EVAL_H_
