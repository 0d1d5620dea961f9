#include "policies/cel/call_context.h"

namespace drasim::cel {

uint64_t SizeForCost(const Value& value, const CallContext& context) {
  switch (value.kind) {
    case ValueKind::kString:
      return CharacterCount(value.view());
    case ValueKind::kBytes:
    case ValueKind::kList:
    case ValueKind::kMap:
      return value.size;
    case ValueKind::kDomains:
    case ValueKind::kIds:
      return context.row->Keys(value, context.heap).size;
    case ValueKind::kDevice:
      return 4;
    default:
      return 1;
  }
}

}  // namespace drasim::cel
