// Macros with a target: all, exists, exists_one, map, filter and cel.bind.
#ifndef DRASIM_POLICIES_CEL_MACROS_H_
#define DRASIM_POLICIES_CEL_MACROS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "policies/cel/ast.h"
#include "policies/cel/tree_builder.h"

namespace drasim::cel {

enum class MacroResult : uint8_t { kNoMacro, kExpanded, kError };

// Expands target.name(arguments) into `expanded` if it is a macro. kError, with a message in
// `problem`, for wrong arguments and for macros that are not supported.
MacroResult ExpandMemberMacro(TreeBuilder* build, uint32_t position, NodeId target,
                              absl::string_view name, absl::Span<const NodeId> arguments,
                              NodeId* expanded, std::string* problem);

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_MACROS_H_
