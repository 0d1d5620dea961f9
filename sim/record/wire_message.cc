#include "sim/record/wire_message.h"

#include <cstdint>

namespace drasim {

void WireMessage::AddField(int field, absl::string_view value, StateWriter* out) {
  constexpr uint64_t kLengthDelimited = 2;
  out->U64(static_cast<uint64_t>(field) << 3 | kLengthDelimited);
  out->Str(value);
}

std::string WireMessage::Take() {
  for (size_t field = 0; field < kFields; ++field) {
    StateWriter& column = columns_[field];
    if (column.bytes().empty()) continue;
    AddField(static_cast<int>(field), column.bytes(), &others_);
    column.Clear();
  }
  std::string message(others_.bytes());
  others_.Clear();
  return message;
}

}  // namespace drasim
