// From the text of a device selector to its program.
//
//   ASSIGN_OR_RETURN(const Program program, Compile("device.driver == 'gpu.example.com'", {}));
//   DeviceSelector selector(&program, &columns);          // selector.h
//   selector.Evaluate(rows, verdicts);
#ifndef DRASIM_POLICIES_CEL_COMPILE_H_
#define DRASIM_POLICIES_CEL_COMPILE_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "policies/cel/program.h"

namespace drasim::cel {

// The environment of an expression. The defaults are those of stored expressions, which
// kube-scheduler evaluates: everything exists, whatever the gates say.
struct CompileOptions {
  // The expression is new to the API server: the gates below count.
  bool new_expression = false;
  bool consumable_capacity = true;  // DRAConsumableCapacity: device.allowMultipleAllocations
  bool list_attributes = true;      // DRAListTypeAttributes: includes(), attributes as ranges
  // Derived attributes may also yield int, string, version, and lists of these and of bools.
  bool derived_attribute = false;
};

// The longest expression, in bytes.
inline constexpr size_t kMaxExpressionLength = size_t{10} * 1024;
// Compiles an expression. InvalidArgument says as the API server what is wrong and where:
// "compilation failed: ERROR: <input>:1:8: undefined field 'foo' ...". Functions and forms of CEL
// that drasim lacks are errors that begin with "unsupported:". The estimate of the cost is not
// compared with kCostLimit: only the API server does that.
absl::StatusOr<Program> Compile(absl::string_view expression, const CompileOptions& options);

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_COMPILE_H_
