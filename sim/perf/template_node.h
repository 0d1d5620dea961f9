// A parsed template, and what it is filled with. TextTemplate is the class to use.
#ifndef DRASIM_SIM_PERF_TEMPLATE_NODE_H_
#define DRASIM_SIM_PERF_TEMPLATE_NODE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/perf/template_lexer.h"
#include "sim/perf/template_value.h"

namespace drasim::perf {

struct TemplateInput {
  int64_t index = 0;
  int64_t count = 0;
  std::vector<std::pair<std::string, TemplateValue>> params;
};

// `head arg arg ... | head arg ... | ...`
struct TemplatePipeline;

// An operand: a token or a pipeline in parentheses.
struct TemplateOperand {
  TemplateToken token;
  std::shared_ptr<const TemplatePipeline> inner;  // in parentheses; else null
};

struct TemplatePipeline {
  size_t line = 0;
  std::vector<std::string> targets;  // variables that are set
  bool declares = false;             // := rather than =
  std::vector<std::vector<TemplateOperand>> commands;
};

struct TemplateNode {
  enum class Kind : uint8_t { kText, kPrint, kIf, kRange };
  Kind kind = Kind::kText;
  size_t line = 0;
  std::string text;
  TemplatePipeline pipeline;
  std::vector<TemplateNode> then;
  std::vector<TemplateNode> otherwise;
};

}  // namespace drasim::perf

#endif  // DRASIM_SIM_PERF_TEMPLATE_NODE_H_
