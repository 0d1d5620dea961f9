#include "policies/cel/compile.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "model/status_macros.h"
#include "policies/cel/ast.h"
#include "policies/cel/checker.h"
#include "policies/cel/code_generator.h"
#include "policies/cel/cost.h"
#include "policies/cel/parser.h"
#include "policies/cel/source_error.h"

namespace drasim::cel {
namespace {

// Whether an expression of type `type` may be a selector, or a derived attribute.
bool IsResult(const TypeTable& types, TypeId type, const CompileOptions& options) {
  const bool any = options.new_expression && !options.list_attributes;
  const TypeKind kind = types.Kind(type);
  if (kind == TypeKind::kBool || kind == (any ? TypeKind::kAny : TypeKind::kDyn) ||
      kind == TypeKind::kVariable) {
    return true;
  }
  if (!options.derived_attribute) return false;
  const TypeKind item = kind == TypeKind::kList ? types.Kind(types.At(type).first) : kind;
  return item == TypeKind::kInt || item == TypeKind::kString || item == TypeKind::kSemver ||
         item == TypeKind::kBool || item == TypeKind::kDyn;
}

absl::Status CompilationError(absl::string_view source, std::vector<SourceError> errors) {
  return absl::InvalidArgumentError(
      absl::StrCat("compilation failed: ", SourceErrorText(source, std::move(errors))));
}

}  // namespace

absl::StatusOr<Program> Compile(absl::string_view expression, const CompileOptions& options) {
  if (expression.size() > kMaxExpressionLength) {
    return absl::InvalidArgumentError(absl::StrCat("an expression of ", expression.size(),
                                                   " bytes; at most ", kMaxExpressionLength,
                                                   " are allowed"));
  }
  Program program;
  program.heap = std::make_shared<Heap>();
  program.source = std::string(expression);
  // Constants point into the tree's texts, so these live in the program's heap.
  Ast ast;
  ast.source = program.heap->Text(std::string(expression));
  SourceError mistake;
  if (!Parse(&ast, program.heap.get(), &mistake)) return CompilationError(expression, {mistake});
  DeviceDeclaration device;
  if (options.new_expression) {
    device.multiple_allocations = options.consumable_capacity;
    device.list_attributes = options.list_attributes;
  }
  CheckedAst checked;
  std::vector<SourceError> mistakes = Check(device, &ast, &checked);
  if (!mistakes.empty()) return CompilationError(expression, std::move(mistakes));
  const TypeId type = ast.nodes[ast.root].type;
  if (!IsResult(checked.types, type, options)) {
    return absl::InvalidArgumentError(
        absl::StrCat("must evaluate to bool or the unknown type, not ", checked.types.Text(type)));
  }
  RETURN_IF_ERROR(Generate(ast, checked, &program));
  program.worst_cost = WorstCaseCost(ast, checked);
  program.derived_attribute = options.derived_attribute;
  return program;
}

}  // namespace drasim::cel
