#include "sim/record/state_delta.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "model/hash.h"

namespace drasim {
namespace {

constexpr size_t kMinChunk = 256;
constexpr size_t kMaxChunk = 8192;
// A chunk ends where ten bits of the rolling hash are 0: after about 1024 bytes.
constexpr uint64_t kCutMask = uint64_t{0x3ff} << 54;

// A random word for each byte (splitmix64).
constexpr std::array<uint64_t, 256> GearTable() {
  std::array<uint64_t, 256> table{};
  uint64_t seed = 0;
  for (uint64_t& word : table) {
    seed += 0x9e3779b97f4a7c15;
    uint64_t z = seed;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    word = z ^ z >> 31;
  }
  return table;
}
constexpr std::array<uint64_t, 256> kGear = GearTable();

// The number of bytes of the first chunk. REQUIRES: `rest` is not empty.
size_t ChunkBytes(absl::string_view rest) {
  const size_t most = std::min(rest.size(), kMaxChunk);
  uint64_t hash = 0;
  for (size_t i = 0; i < most; ++i) {
    hash = (hash << 1) + kGear[static_cast<unsigned char>(rest[i])];
    if (i + 1 >= kMinChunk && (hash & kCutMask) == 0) return i + 1;
  }
  return most;
}

uint64_t WordAt(const char* bytes, size_t count) {
  uint64_t word = 0;
  for (size_t i = 0; i < count; ++i) {
    word |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return word;
}

}  // namespace

StateChunks::Key StateChunks::KeyOf(absl::string_view chunk) {
  Key key = {MixWord(kFnvOffset, chunk.size()), MixWord(kFnvPrime, chunk.size())};
  const auto mix = [&key](uint64_t word) {
    key.first = MixWord(key.first, word);
    key.second = MixWord(key.second, ~word);
  };
  size_t at = 0;
  for (; at + 8 <= chunk.size(); at += 8) mix(WordAt(chunk.data() + at, 8));
  if (at < chunk.size()) mix(WordAt(chunk.data() + at, chunk.size() - at));
  return key;
}

void StateChunks::Add(const Key& key, const Place& place) {
  places_.try_emplace(key, place);  // the first of equal chunks
  hash_ = MixWord(MixWord(hash_, key.first), key.second);
}

StateChunks::StateChunks(absl::string_view state) {
  for (size_t at = 0; at < state.size();) {
    const size_t bytes = ChunkBytes(state.substr(at));
    Add(KeyOf(state.substr(at, bytes)), {at, bytes});
    at += bytes;
  }
}

StateDelta DiffStates(const StateChunks& before, absl::string_view state, StateChunks* now) {
  StateDelta delta;
  StateChunks chunks;
  uint64_t gap = 0;  // new bytes since the last copy
  for (size_t at = 0; at < state.size();) {
    const absl::string_view chunk = state.substr(at, ChunkBytes(state.substr(at)));
    const StateChunks::Key key = StateChunks::KeyOf(chunk);
    chunks.Add(key, {at, chunk.size()});
    at += chunk.size();
    const auto found = before.places_.find(key);
    if (found == before.places_.end() || found->second.bytes != chunk.size()) {
      delta.fresh.append(chunk.data(), chunk.size());
      gap += chunk.size();
      continue;
    }
    const StateChunks::Place& place = found->second;
    if (gap == 0 && !delta.copies.empty() &&
        delta.copies.back().offset + delta.copies.back().bytes == place.offset) {
      delta.copies.back().bytes += place.bytes;
      continue;
    }
    delta.gaps.push_back(gap);
    delta.copies.push_back(place);
    gap = 0;
  }
  *now = std::move(chunks);
  return delta;
}

bool ApplyDelta(absl::string_view before, const StateDelta& delta, uint64_t bytes,
                std::string* state) {
  if (delta.gaps.size() != delta.copies.size()) return false;
  state->clear();
  absl::string_view fresh = delta.fresh;
  for (size_t i = 0; i < delta.copies.size(); ++i) {
    const StateChunks::Place& copy = delta.copies[i];
    if (delta.gaps[i] > fresh.size() || copy.offset > before.size() ||
        copy.bytes > before.size() - copy.offset ||
        state->size() + delta.gaps[i] + copy.bytes > bytes) {
      return false;
    }
    state->append(fresh.data(), delta.gaps[i]);
    fresh.remove_prefix(delta.gaps[i]);
    state->append(before.data() + copy.offset, copy.bytes);
  }
  if (state->size() + fresh.size() != bytes) return false;
  state->append(fresh.data(), fresh.size());
  return true;
}

}  // namespace drasim
