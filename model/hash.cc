#include "model/hash.h"

namespace drasim {

std::string HexHash(uint64_t hash) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (int i = 15; i >= 0; --i) {
    text[static_cast<size_t>(i)] = kDigits[hash & 15];
    hash >>= 4;
  }
  return text;
}

}  // namespace drasim
