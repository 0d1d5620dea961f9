#include "model/random.h"

#include "model/hash.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

// The increment of splitmix64: 2^64 divided by the golden ratio, made odd.
constexpr uint64_t kGoldenGamma = 0x9e3779b97f4a7c15;

// The output function of splitmix64: a bijection in which every input bit reaches every output bit.
uint64_t SplitMix64Output(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

Random::Random(uint64_t seed, absl::string_view stream_name) {
  // The seed is mixed before the name enters. Users choose seeds 1, 2, 3, and names with one
  // different letter differ in few bits of FNV-1a: a plain xor could make two (seed, name) pairs
  // collide.
  uint64_t counter = SplitMix64Output(seed + kGoldenGamma) ^ Fnv1a(stream_name);
  for (uint64_t& word : state_) {
    counter += kGoldenGamma;
    // The output function is a bijection and the counters differ, so at most one of the four words
    // is zero.
    word = SplitMix64Output(counter);
  }
}

void Random::Save(StateWriter& out) const {
  out.Section("random");
  for (const uint64_t word : state_) out.U64(word);
}

absl::Status Random::Load(StateReader& in) {
  in.Section("random");
  std::array<uint64_t, 4> loaded{};
  uint64_t any_bits = 0;
  for (uint64_t& word : loaded) {
    word = in.U64();
    any_bits |= word;
  }
  if (in.status().ok() && any_bits == 0) in.Fail("the state of a random stream is all zero");
  RETURN_IF_ERROR(in.status());
  state_ = loaded;
  return absl::OkStatus();
}

}  // namespace drasim
