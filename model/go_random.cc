#include "model/go_random.h"

#include <iterator>

#include "model/status_macros.h"

namespace drasim {
namespace {

constexpr int64_t kSeedModulus = (int64_t{1} << 31) - 1;
constexpr int64_t kSeedMultiplier = 48271;
constexpr int64_t kSeedInsteadOfZero = 89482311;
constexpr int kDiscardedSeedValues = 20;

// Mixed into every seeded state. The build computes it; go_random_table_main.cc explains it.
constexpr uint64_t kTable[] = {
#include "go_random_table.inc"
};

}  // namespace

void GoRandom::Seed(int64_t seed) {
  static_assert(std::size(kTable) == kLength);
  int64_t z = seed % kSeedModulus;
  if (z < 0) z += kSeedModulus;
  if (z == 0) z = kSeedInsteadOfZero;
  const auto next = [&z] {
    z = kSeedMultiplier * z % kSeedModulus;
    return static_cast<uint64_t>(z);
  };
  for (int i = 0; i < kDiscardedSeedValues; ++i) next();
  for (size_t i = 0; i < kLength; ++i) {
    const uint64_t high = next();
    const uint64_t middle = next();
    const uint64_t low = next();
    vec_[i] = (high << 40) ^ (middle << 20) ^ low ^ kTable[i];
  }
  tap_ = 0;
}

uint64_t GoRandom::Uint64() {
  tap_ = tap_ == 0 ? kLength - 1 : tap_ - 1;
  // tap_ + (kLength - kLag), wrapped: cheaper than a division.
  const size_t feed = tap_ < kLag ? tap_ + (kLength - kLag) : tap_ - kLag;
  vec_[feed] += vec_[tap_];
  return vec_[feed];
}

int32_t GoRandom::Intn(int32_t n) {
  DRASIM_CHECK_GT(n, 0);
  if ((n & (n - 1)) == 0) return Int31() & (n - 1);
  const uint32_t modulus = static_cast<uint32_t>(n);
  // The largest value of the last complete round of remainders.
  const uint32_t last = 0x7fffffffU - 0x80000000U % modulus;
  uint32_t value = static_cast<uint32_t>(Int31());
  while (value > last) value = static_cast<uint32_t>(Int31());
  return static_cast<int32_t>(value % modulus);
}

int32_t GoRandom::ShuffleIndex(uint32_t n) {
  uint64_t product = uint64_t{Uint32()} * n;
  if (static_cast<uint32_t>(product) < n) {
    // 2^32 mod n: smaller low halves belong to an incomplete round.
    const uint32_t threshold = (uint32_t{0} - n) % n;
    while (static_cast<uint32_t>(product) < threshold) product = uint64_t{Uint32()} * n;
  }
  return static_cast<int32_t>(product >> 32);
}

std::vector<int32_t> GoRandom::Perm(int32_t n) {
  DRASIM_CHECK_GE(n, 0);
  std::vector<int32_t> order(static_cast<size_t>(n));
  for (int32_t i = 0; i < n; ++i) {
    const size_t j = static_cast<size_t>(Intn(i + 1));
    order[static_cast<size_t>(i)] = order[j];
    order[j] = i;
  }
  return order;
}

void GoRandom::Save(StateWriter& out) const {
  out.Section("go_random");
  out.U64(tap_);
  for (const uint64_t word : vec_) out.U64(word);
}

absl::Status GoRandom::Load(StateReader& in) {
  in.Section("go_random");
  const uint64_t tap = in.U64();
  if (in.status().ok() && tap >= kLength) in.Fail("the position in a Go random state is over 606");
  std::array<uint64_t, kLength> loaded{};
  for (uint64_t& word : loaded) word = in.U64();
  RETURN_IF_ERROR(in.status());
  tap_ = static_cast<size_t>(tap);
  vec_ = loaded;
  return absl::OkStatus();
}

}  // namespace drasim
