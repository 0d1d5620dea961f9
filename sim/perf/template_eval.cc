#include "sim/perf/template_eval.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "model/status_macros.h"
#include "model/text/shown_text.h"

namespace drasim::perf {
namespace {

using Value = TemplateValue;
using Values = std::vector<Value>;

constexpr int64_t kMaxRange = 1'000'000;
constexpr size_t kMaxText = size_t{16} << 20;

absl::Status Wrong(absl::string_view what) { return absl::InvalidArgumentError(what); }

// A whole number, or a text that is one.
absl::StatusOr<int64_t> WholeNumber(const Value& value) {
  if (value.kind == Value::Kind::kInt) return value.number;
  int64_t number = 0;
  if (value.kind == Value::Kind::kText && absl::SimpleAtoi(value.text, &number)) return number;
  if (value.kind == Value::Kind::kText) {
    return Wrong(absl::StrCat("found '", ShownText(value.text), "', expected a whole number"));
  }
  return Wrong(absl::StrCat("found ", value.KindName(), ", expected a whole number"));
}

absl::StatusOr<Value> AddInt(const Values& args) {
  ASSIGN_OR_RETURN(const int64_t a, WholeNumber(args[0]));
  ASSIGN_OR_RETURN(const int64_t b, WholeNumber(args[1]));
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return Wrong("the sum is beyond 64 bits");
  return Value::Int(sum);
}

absl::StatusOr<Value> Divide(const Values& args, bool remainder) {
  ASSIGN_OR_RETURN(const int64_t a, WholeNumber(args[0]));
  ASSIGN_OR_RETURN(const int64_t b, WholeNumber(args[1]));
  if (b == 0) return Wrong("division by zero");
  // The one quotient that overflows; its remainder is 0.
  if (b == -1) {
    if (remainder) return Value::Int(0);
    if (a == std::numeric_limits<int64_t>::min()) return Wrong("the quotient is beyond 64 bits");
  }
  return Value::Int(remainder ? a % b : a / b);
}

absl::StatusOr<Value> ToInt(const Values& args) {
  if (args[0].kind == Value::Kind::kReal) {
    constexpr double kMost = 9.2e18;
    if (args[0].real < -kMost || args[0].real > kMost) return Wrong("the number is beyond 64 bits");
    return Value::Int(static_cast<int64_t>(args[0].real));
  }
  ASSIGN_OR_RETURN(const int64_t number, WholeNumber(args[0]));
  return Value::Int(number);
}

// As Go's `or` (stop_at true) and `and`: the first argument that decides, else the last.
Value FirstThat(const Values& args, bool stop_at) {
  const auto found = std::find_if(args.begin(), args.end(), [stop_at](const Value& value) {
    return value.IsTrue() == stop_at;
  });
  return found == args.end() ? args.back() : *found;
}

// -1, 0 or 1; nothing when the kinds cannot be compared.
std::optional<int> Compare(const Value& a, const Value& b) {
  using Kind = Value::Kind;
  if (a.kind == Kind::kInt && b.kind == Kind::kInt) {
    return a.number < b.number ? -1 : static_cast<int>(a.number > b.number);
  }
  if (a.kind == Kind::kText && b.kind == Kind::kText) {
    const int order = a.text.compare(b.text);
    return order < 0 ? -1 : static_cast<int>(order > 0);
  }
  if (a.kind == Kind::kReal && b.kind == Kind::kReal) {
    return a.real < b.real ? -1 : static_cast<int>(a.real > b.real);
  }
  return std::nullopt;
}

absl::StatusOr<Value> Ordered(const Values& args, const std::function<bool(int)>& holds) {
  const std::optional<int> order = Compare(args[0], args[1]);
  if (order.has_value()) return Value::Bool(holds(*order));
  return Wrong(absl::StrCat("found ", args[0].KindName(), " and ", args[1].KindName(),
                            ", expected two of a kind"));
}

// Whether the first argument equals any of the others.
absl::StatusOr<Value> EqualsAny(const Values& args) {
  for (size_t i = 1; i < args.size(); ++i) {
    if (args[i] == args[0]) return Value::Bool(true);
  }
  return Value::Bool(false);
}

struct Function {
  absl::string_view name;
  size_t least;
  size_t most;
  absl::StatusOr<Value> (*call)(const Values&);
};

constexpr size_t kMany = 100;
constexpr std::array<Function, 15> kFunctions = {{
    {"AddInt", 2, 2, AddInt},
    {"DivideInt", 2, 2, [](const Values& a) { return Divide(a, false); }},
    {"Int", 1, 1, ToInt},
    {"JSON", 1, 1,
     [](const Values& a) -> absl::StatusOr<Value> { return Value::Text(JsonOfValue(a[0])); }},
    {"Mod", 2, 2, [](const Values& a) { return Divide(a, true); }},
    {"and", 1, kMany, [](const Values& a) -> absl::StatusOr<Value> { return FirstThat(a, false); }},
    {"div", 2, 2, [](const Values& a) { return Divide(a, false); }},
    {"eq", 2, kMany, EqualsAny},
    {"ge", 2, 2, [](const Values& a) { return Ordered(a, [](int order) { return order >= 0; }); }},
    {"gt", 2, 2, [](const Values& a) { return Ordered(a, [](int order) { return order > 0; }); }},
    {"le", 2, 2, [](const Values& a) { return Ordered(a, [](int order) { return order <= 0; }); }},
    {"lt", 2, 2, [](const Values& a) { return Ordered(a, [](int order) { return order < 0; }); }},
    {"ne", 2, 2,
     [](const Values& a) -> absl::StatusOr<Value> { return Value::Bool(!(a[0] == a[1])); }},
    {"not", 1, 1,
     [](const Values& a) -> absl::StatusOr<Value> { return Value::Bool(!a[0].IsTrue()); }},
    {"or", 1, kMany, [](const Values& a) -> absl::StatusOr<Value> { return FirstThat(a, true); }},
}};

class Evaluator {
 public:
  Evaluator(absl::string_view file, const TemplateInput& input) : file_(file), input_(input) {}

  absl::Status Run(const std::vector<TemplateNode>& nodes) {
    const size_t scope = variables_.size();
    for (const TemplateNode& node : nodes) RETURN_IF_ERROR(RunNode(node));
    Leave(scope);
    return absl::OkStatus();
  }

  std::string Take() { return std::move(text_); }

 private:
  absl::Status RunNode(const TemplateNode& node) {
    switch (node.kind) {
      case TemplateNode::Kind::kText:
        return Append(node.line, node.text);
      case TemplateNode::Kind::kPrint: {
        ASSIGN_OR_RETURN(const Value value, ValueOf(node.pipeline));
        if (!node.pipeline.targets.empty()) {
          return Set(node.pipeline, node.pipeline.targets.front(), value);
        }
        if (value.kind == Value::Kind::kMissing) {
          return TemplateError(file_, node.line,
                               absl::StrCat("the step gives no parameter '", missing_, "'"));
        }
        return Append(node.line, PrintedValue(value));
      }
      case TemplateNode::Kind::kIf: {
        const size_t scope = variables_.size();
        ASSIGN_OR_RETURN(const Value value, ValueOf(node.pipeline));
        if (!node.pipeline.targets.empty()) {
          RETURN_IF_ERROR(Set(node.pipeline, node.pipeline.targets.front(), value));
        }
        RETURN_IF_ERROR(Run(value.IsTrue() ? node.then : node.otherwise));
        Leave(scope);
        return absl::OkStatus();
      }
      case TemplateNode::Kind::kRange:
        return RunRange(node);
    }
    return absl::OkStatus();
  }

  // Forgets the variables of a block, which began with so many.
  void Leave(size_t scope) {
    variables_.erase(variables_.begin() + static_cast<std::ptrdiff_t>(scope), variables_.end());
  }

  absl::Status Append(size_t line, absl::string_view text) {
    if (text.size() > kMaxText - text_.size()) {
      return TemplateError(file_, line, "the object is longer than 16 MiB");
    }
    absl::StrAppend(&text_, text);
    return absl::OkStatus();
  }

  absl::Status RunRange(const TemplateNode& node) {
    ASSIGN_OR_RETURN(const Value over, ValueOf(node.pipeline));
    int64_t rounds = 0;
    if (over.kind == Value::Kind::kInt) {
      rounds = std::max<int64_t>(over.number, 0);
    } else if (over.kind == Value::Kind::kList) {
      rounds = static_cast<int64_t>(over.items.size());
    } else if (over.IsTrue()) {
      return TemplateError(
          file_, node.line,
          absl::StrCat("range over ", over.KindName(), ", expected a list or a whole number"));
    }
    if (rounds == 0) return Run(node.otherwise);
    if (rounds > kMaxRange - rounds_) {
      return TemplateError(
          file_, node.line,
          absl::StrCat("range over ", rounds, ", expected at most ", kMaxRange, " rounds in all"));
    }
    rounds_ += rounds;
    const std::optional<Value> outer = dot_;
    const size_t scope = variables_.size();
    const std::vector<std::string>& targets = node.pipeline.targets;
    for (int64_t i = 0; i < rounds; ++i) {
      const bool is_list = over.kind == Value::Kind::kList;
      dot_ = is_list ? over.items[static_cast<size_t>(i)] : Value::Int(i);
      if (targets.size() == 2) RETURN_IF_ERROR(Set(node.pipeline, targets[0], Value::Int(i)));
      if (!targets.empty()) RETURN_IF_ERROR(Set(node.pipeline, targets.back(), *dot_));
      RETURN_IF_ERROR(Run(node.then));
      if (node.pipeline.declares) Leave(scope);
    }
    dot_ = outer;
    return absl::OkStatus();
  }

  absl::Status Set(const TemplatePipeline& pipeline, const std::string& name, const Value& value) {
    if (pipeline.declares) {
      variables_.emplace_back(name, value);
      return absl::OkStatus();
    }
    for (auto known = variables_.rbegin(); known != variables_.rend(); ++known) {
      if (known->first != name) continue;
      known->second = value;
      return absl::OkStatus();
    }
    return TemplateError(file_, pipeline.line, absl::StrCat("unknown variable '$", name, "'"));
  }

  absl::StatusOr<Value> ValueOf(const TemplatePipeline& pipeline) {
    std::optional<Value> piped;
    for (const std::vector<TemplateOperand>& command : pipeline.commands) {
      const TemplateOperand& head = command.front();
      const bool constant =
          head.token.text == "nil" || head.token.text == "true" || head.token.text == "false";
      if (head.inner == nullptr && head.token.kind == TemplateToken::Kind::kWord && !constant) {
        ASSIGN_OR_RETURN(piped, Call(pipeline.line, command, piped));
        continue;
      }
      if (command.size() > 1 || piped.has_value()) {
        return TemplateError(file_, pipeline.line,
                             "found arguments of a value, expected a function");
      }
      ASSIGN_OR_RETURN(piped, OperandOf(pipeline.line, head));
    }
    return *std::move(piped);
  }

  absl::StatusOr<Value> Call(size_t line, const std::vector<TemplateOperand>& command,
                             const std::optional<Value>& piped) {
    const std::string& name = command.front().token.text;
    Values args;
    for (const TemplateOperand& operand : absl::MakeConstSpan(command).subspan(1)) {
      ASSIGN_OR_RETURN(Value value, OperandOf(line, operand));
      args.push_back(std::move(value));
    }
    if (piped.has_value()) args.push_back(*piped);
    const auto* const function =
        std::find_if(kFunctions.begin(), kFunctions.end(),
                     [&name](const Function& known) { return known.name == name; });
    if (args.size() < function->least || args.size() > function->most) {
      return TemplateError(
          file_, line,
          absl::StrCat(name, ": found ", args.size(), " arguments, expected ", function->least,
                       function->most == kMany ? " or more" : ""));
    }
    absl::StatusOr<Value> result = function->call(args);
    if (result.ok()) return result;
    return TemplateError(file_, line, absl::StrCat(name, ": ", result.status().message()));
  }

  absl::StatusOr<Value> OperandOf(size_t line, const TemplateOperand& operand) {
    using Kind = TemplateToken::Kind;
    if (operand.inner != nullptr) return ValueOf(*operand.inner);
    const TemplateToken& token = operand.token;
    switch (token.kind) {
      case Kind::kInt:
        return Value::Int(token.number);
      case Kind::kReal: {
        Value value;
        value.kind = Value::Kind::kReal;
        value.real = token.real;
        return value;
      }
      case Kind::kText:
        return Value::Text(token.text);
      case Kind::kWord:
        return WordValue(line, token.text);
      case Kind::kDot:
        if (dot_.has_value()) return *dot_;
        return TemplateError(file_, line, "found '.', expected a field such as .Index");
      case Kind::kField:
        return FieldValue(line, token.text);
      case Kind::kVariable:
        for (auto known = variables_.rbegin(); known != variables_.rend(); ++known) {
          if (known->first == token.text) return known->second;
        }
        return TemplateError(file_, line, absl::StrCat("unknown variable '$", token.text, "'"));
      default:
        return TemplateError(file_, line, "unexpected sign in the action");
    }
  }

  absl::StatusOr<Value> WordValue(size_t line, const std::string& word) const {
    if (word == "nil") return Value();
    if (word == "true" || word == "false") return Value::Bool(word == "true");
    // A function without arguments; none takes that few.
    return TemplateError(file_, line,
                         absl::StrCat(word, ": found 0 arguments, expected 1 or more"));
  }

  // Inside a range, fields are those of the item.
  absl::StatusOr<Value> FieldValue(size_t line, const std::string& name) {
    missing_ = name;
    if (dot_.has_value()) {
      if (dot_->kind != Value::Kind::kMap) {
        return TemplateError(file_, line,
                             absl::StrCat("found .", name, " of ", dot_->KindName(),
                                          ", expected '.' or a variable inside range"));
      }
      const Value* const field = dot_->Find(name);
      return field == nullptr ? Value::Missing() : *field;
    }
    if (name == "Index") return Value::Int(input_.index);
    if (name == "Count") return Value::Int(input_.count);
    for (const auto& [key, value] : input_.params) {
      if (key == name) return value;
    }
    return Value::Missing();
  }

  absl::string_view file_;
  const TemplateInput& input_;
  std::vector<std::pair<std::string, Value>> variables_;
  std::optional<Value> dot_;  // inside a range
  int64_t rounds_ = 0;        // of all ranges
  std::string missing_;       // the last field that was looked up
  std::string text_;
};

}  // namespace

std::vector<std::string> TemplateFunctionNames() {
  std::vector<std::string> names;
  for (const Function& function : kFunctions) names.emplace_back(function.name);
  return names;
}

absl::StatusOr<std::string> FillTemplate(const std::vector<TemplateNode>& nodes,
                                         absl::string_view file, const TemplateInput& input) {
  Evaluator evaluator(file, input);
  RETURN_IF_ERROR(evaluator.Run(nodes));
  return evaluator.Take();
}

}  // namespace drasim::perf
