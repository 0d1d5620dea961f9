// A compiled device selector: instructions over registers. compile.h makes it, selector.h runs it.
#ifndef DRASIM_POLICIES_CEL_PROGRAM_H_
#define DRASIM_POLICIES_CEL_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "policies/cel/functions.h"
#include "policies/cel/value.h"

namespace re2 {
class RE2;
}

namespace drasim::cel {

// The limit of both the worst-case cost at admission and the actual cost of an evaluation.
inline constexpr uint64_t kCostLimit = 1'000'000;

enum class Op : uint8_t {
  kConstant,   // dst = constants[x]
  kDevice,     // dst = device
  kDriver,     // dst = device.driver
  kMultiple,   // dst = device.allowMultipleAllocations
  kDomains,    // dst = device.attributes, or device.capacity if x is 1
  kDomain,     // dst = the map of paths[x].domain
  kAttribute,  // dst = the value at paths[x]
  kHasPath,    // dst = whether paths[x] exists
  kSelect,     // dst = a.constants[x]
  kHas,        // dst = has(a.constants[x])
  kOptSelect,  // dst = a.?constants[x]
  kIndex,      // dst = a[b]
  kOptIndex,   // dst = a[?b]
  kList,       // dst = [a, a+1, ...], x of them
  kMap,        // dst = {a: a+1, ...}, x entries
  kCall,       // dst = function(a, a+1, ...), x of them
  kTest,       // dst = function(operand x, constants[y]), of an operand of the device
  kTestInt,    // dst = function(a, constants[y]), of an integer constant
  kCopy,       // dst = a
  kAndFirst,   // if dst is false, to x
  kAndSecond,  // dst = dst && a
  kOrFirst,    // if dst is true, to x
  kOrSecond,   // dst = dst || a
  kBranch,     // if a is false, to x; if it is no bool, dst = error and to y
  kJump,       // to x
  kIterate,    // dst = iterator over a; if a is no range, b = error and to x
  kNext,       // a = next item of iterator dst; at its end, to x
  kBreak,      // if a is false, to x
  kAppend,     // dst = dst + [a], where dst is the growing list of a macro
  kReturn,     // the result is a
};

struct Instruction {
  Op op = Op::kReturn;
  Function function = Function::kNone;
  uint16_t dst = 0;
  uint16_t a = 0;
  uint16_t b = 0;
  uint32_t cost = 0;  // in CEL's units, apart from that of calls
  uint32_t x = 0;
  uint32_t y = 0;
};

// Operands of kTest are paths, or one of these.
inline constexpr uint32_t kDriverOperand = 0xffffffff;
inline constexpr uint32_t kMultipleOperand = 0xfffffffe;

// device.attributes["domain"]["id"], or of capacity.
struct Path {
  absl::string_view domain;
  absl::string_view id;
  bool capacity = false;
};

struct Program {
  std::string source;
  std::vector<Instruction> code;
  std::vector<Value> constants;
  std::vector<Path> paths;
  size_t registers = 0;
  uint64_t worst_cost = 0;
  bool derived_attribute = false;
  bool has_loops = false;  // so that the cost limit may be met
  // A pattern's automaton, for calls whose pattern is constants[i]; null elsewhere.
  std::vector<std::shared_ptr<const re2::RE2>> patterns;
  // Owns the texts of constants and paths.
  std::shared_ptr<Heap> heap;
};

}  // namespace drasim::cel

#endif  // DRASIM_POLICIES_CEL_PROGRAM_H_
