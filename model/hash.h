// Hashes with equal results on every machine and in every run. Not hardened against chosen inputs.
#ifndef DRASIM_MODEL_HASH_H_
#define DRASIM_MODEL_HASH_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace drasim {

inline constexpr uint64_t kFnvOffset = 14695981039346656037ull;
inline constexpr uint64_t kFnvPrime = 1099511628211ull;

// FNV-1a over bytes, continuing from `hash`.
constexpr uint64_t Fnv1a(absl::string_view bytes, uint64_t hash = kFnvOffset) {
  for (char c : bytes) {
    hash ^= static_cast<unsigned char>(c);
    hash *= kFnvPrime;
  }
  return hash;
}

// One step of a word-wise running hash: multiplies, then folds the high half into the low half.
inline uint64_t MixWord(uint64_t hash, uint64_t word) {
  __extension__ using Wide = unsigned __int128;
  const Wide product =
      static_cast<Wide>(hash ^ word ^ 0x9e3779b97f4a7c15ull) * 0xd6e8feb86659fd93ull;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64) ^
         (hash << 1 | hash >> 63);
}

// 16 lower-case hex digits.
std::string HexHash(uint64_t hash);

}  // namespace drasim

#endif  // DRASIM_MODEL_HASH_H_
