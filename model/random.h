// Random: named, independent, reproducible streams of random numbers.
//
// Every consumer owns one Random, seeded from the run's seed and a name ("arrivals", "node
// failures"), so a new consumer or an additional draw in one part never shifts the numbers of
// another. The numbers are the same on every compiler and platform; the tests pin them.
//
// Usage:
//
//   Random arrivals(seed, "arrivals");
//   const uint64_t node = arrivals.Below(nodes);  // 0..nodes-1
//
// Generator: xoshiro256** (Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators",
// 2021), period 2^256 - 1. Seeding: splitmix64 over the mixed seed and the FNV-1a hash of the name.
// Not for cryptography.
#ifndef DRASIM_MODEL_RANDOM_H_
#define DRASIM_MODEL_RANDOM_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/check.h"
#include "model/state_io.h"

namespace drasim {

// A value type of 32 bytes: a copy continues with the same numbers as the original. Not
// thread-safe. All draws are O(1) and allocate nothing.
class Random {
 public:
  // Any seed and any name (the empty one too) give a good stream.
  Random(uint64_t seed, absl::string_view stream_name);

  // 64 uniform bits.
  uint64_t U64() {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform in 0..n-1, without bias. REQUIRES: n > 0. Usually one draw; more only on a rejection,
  // whose probability is below n / 2^64 (Lemire, "Fast Random Integer Generation in an Interval",
  // 2019).
  uint64_t Below(uint64_t n) {
    DRASIM_CHECK_GT(n, uint64_t{0});
    absl::uint128 product = absl::uint128(U64()) * n;
    if (absl::Uint128Low64(product) < n) [[unlikely]] {
      // 2^64 mod n: the low halves below it belong to an incomplete last round of remainders.
      const uint64_t threshold = (uint64_t{0} - n) % n;
      while (absl::Uint128Low64(product) < threshold) product = absl::uint128(U64()) * n;
    }
    return absl::Uint128High64(product);
  }

  // Uniform in [0, 1): a multiple of 2^-53. One draw.
  double Unit() { return static_cast<double>(U64() >> 11) * 0x1.0p-53; }

  // True with probability numerator / denominator, exactly. REQUIRES: denominator > 0, numerator <=
  // denominator. Draws even when the answer is certain, so that a changed probability does not
  // shift later numbers.
  bool Bernoulli(uint64_t numerator, uint64_t denominator) {
    DRASIM_CHECK_LE(numerator, denominator);
    return Below(denominator) < numerator;
  }

  // Permutes `items` so that every order is equally likely (Fisher-Yates, from the back). O(items).
  // For a vector: Shuffle(absl::MakeSpan(vector)).
  template <typename T>
  void Shuffle(absl::Span<T> items) {
    using std::swap;
    for (size_t i = items.size(); i > 1; --i) {
      swap(items[i - 1], items[static_cast<size_t>(Below(i))]);
    }
  }

  void Save(StateWriter& out) const;
  // On an error (also reported by in.status()) the stream is unchanged.
  absl::Status Load(StateReader& in);

 private:
  std::array<uint64_t, 4> state_{};  // never all zero: zero is the generator's only fixed point
};

}  // namespace drasim

#endif  // DRASIM_MODEL_RANDOM_H_
