#include "model/text/utf8.h"

#include <cstdint>
#include <string>

namespace drasim {

bool DecodeUtf8(absl::string_view text, size_t* position, char32_t* code_point) {
  const size_t start = *position;
  if (start >= text.size()) return false;
  const auto byte_at = [text](size_t index) -> uint32_t {
    return static_cast<unsigned char>(text[index]);
  };
  const uint32_t lead = byte_at(start);
  size_t length = 1;
  uint32_t value = lead;
  uint32_t smallest = 0;  // of this length; less is an overlong form
  if (lead >= 0x80U) {
    if ((lead & 0xE0U) == 0xC0U) {
      length = 2;
      value = lead & 0x1FU;
      smallest = 0x80U;
    } else if ((lead & 0xF0U) == 0xE0U) {
      length = 3;
      value = lead & 0x0FU;
      smallest = 0x800U;
    } else if ((lead & 0xF8U) == 0xF0U) {
      length = 4;
      value = lead & 0x07U;
      smallest = 0x10000U;
    } else {
      return false;
    }
  }
  if (text.size() - start < length) return false;
  for (size_t i = 1; i < length; ++i) {
    const uint32_t next = byte_at(start + i);
    if ((next & 0xC0U) != 0x80U) return false;
    value = (value << 6U) | (next & 0x3FU);
  }
  const bool surrogate = value >= 0xD800U && value <= 0xDFFFU;
  if (value < smallest || value > 0x10FFFFU || surrogate) return false;
  *position = start + length;
  *code_point = static_cast<char32_t>(value);
  return true;
}

bool IsUtf8(absl::string_view text) {
  size_t position = 0;
  char32_t ignored = 0;
  while (position < text.size()) {
    if (!DecodeUtf8(text, &position, &ignored)) return false;
  }
  return true;
}

void AppendUtf8(char32_t code_point, std::string* out) {
  const auto put = [out](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  const auto code = static_cast<uint32_t>(code_point);
  if (code < 0x80U) {
    put(code);
  } else if (code < 0x800U) {
    put(0xC0U | (code >> 6U));
    put(0x80U | (code & 0x3FU));
  } else if (code < 0x10000U) {
    put(0xE0U | (code >> 12U));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  } else {
    put(0xF0U | (code >> 18U));
    put(0x80U | ((code >> 12U) & 0x3FU));
    put(0x80U | ((code >> 6U) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  }
}

}  // namespace drasim
