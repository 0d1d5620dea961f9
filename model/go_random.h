// GoRandom: the global generator of Go's math/rand, bit for bit, for runs that must repeat the
// choices of a Go program.
//
// The published results of FGD (Weng et al., "Beware of Fragmentation", ATC 2023) depend on the
// order of Go's draws: arrival order, cloned pods and node ranks all come from one stream.
// Everything else uses Random.
//
// Generator: the additive lagged Fibonacci sequence y(n) = y(n-607) + y(n-273) mod 2^64. The
// methods have Go's names and follow Go's functions for a seeded source, whose results Go 1 keeps
// fixed. Each states its number of raw draws, because compatibility depends on it.
#ifndef DRASIM_MODEL_GO_RANDOM_H_
#define DRASIM_MODEL_GO_RANDOM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "model/check.h"
#include "model/state_io.h"

namespace drasim {

// A value type of about 5 kB: a copy continues with the same numbers as the original. Not
// thread-safe.
class GoRandom {
 public:
  explicit GoRandom(int64_t seed) { Seed(seed); }

  // Restarts the sequence as rand.Seed does. Seeds that are equal modulo 2^31 - 1 give the same
  // sequence.
  void Seed(int64_t seed);

  // The raw draw, the source of every other method.
  uint64_t Uint64();

  // Uniform in 0..2^63-1; one draw. Int is the same on a 64-bit Go.
  int64_t Int63() { return static_cast<int64_t>(Uint64() & 0x7fffffffffffffffU); }
  int64_t Int() { return Int63(); }
  // Uniform in 0..2^31-1; one draw.
  int32_t Int31() { return static_cast<int32_t>(Int63() >> 32); }
  // Uniform in 0..2^32-1; one draw.
  uint32_t Uint32() { return static_cast<uint32_t>(Int63() >> 31); }
  // Uniform in [0, 1): a multiple of 2^-53; one draw.
  double Float64() { return static_cast<double>(Uint64() & ((uint64_t{1} << 53) - 1)) * 0x1.0p-53; }

  // Uniform in 0..n-1. REQUIRES: n > 0. One draw, also for n = 1, and one more per rejection.
  int32_t Intn(int32_t n);

  // Calls swap_items(i, j), both int32_t with 0 <= j <= i, for i = n-1 down to 1. REQUIRES: n >= 0.
  // One draw per call and one more per rejection. Go picks j in another way here than in Intn.
  template <typename Swap>
  void Shuffle(int32_t n, Swap swap_items) {
    DRASIM_CHECK_GE(n, 0);
    for (int32_t i = n - 1; i > 0; --i) swap_items(i, ShuffleIndex(static_cast<uint32_t>(i) + 1));
  }

  // A permutation of 0..n-1. REQUIRES: n >= 0. n calls of Intn.
  std::vector<int32_t> Perm(int32_t n);

  void Save(StateWriter& out) const;
  // On an error (also reported by in.status()) the generator is unchanged.
  absl::Status Load(StateReader& in);

 private:
  static constexpr size_t kLength = 607;
  static constexpr size_t kLag = 273;

  // Uniform in 0..n-1 by the high half of a 32 x 32 bit product. REQUIRES: 0 < n <= 2^31.
  int32_t ShuffleIndex(uint32_t n);

  // The latest 607 values, written downwards: position feed, always kLength - kLag ahead of tap_
  // (mod kLength), holds the oldest one.
  std::array<uint64_t, kLength> vec_{};
  size_t tap_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_GO_RANDOM_H_
