// Differences between the states of two checkpoints, so that one need not repeat the other.
//
// A state is cut into chunks where its bytes say so (content-defined chunking): rows that moved but
// did not change, such as those of jobs that have ended, form the same chunks in both states.
//
//   StateChunks chunks(before);                       // kept instead of the state itself
//   const StateDelta delta = DiffStates(chunks, now, &chunks);
//   std::string again;
//   ApplyDelta(before, delta, now.size(), &again);    // again == now
#ifndef DRASIM_SIM_RECORD_STATE_DELTA_H_
#define DRASIM_SIM_RECORD_STATE_DELTA_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace drasim {

struct StateDelta;

// The chunks of a state by content. Equal states have equal chunks on every machine.
class StateChunks {
 public:
  StateChunks() = default;
  explicit StateChunks(absl::string_view state);

  struct Place {
    uint64_t offset = 0;
    uint64_t bytes = 0;
  };
  // A hash of the whole state.
  uint64_t hash() const { return hash_; }

 private:
  friend StateDelta DiffStates(const StateChunks&, absl::string_view, StateChunks*);
  // 128 bits, so that different chunks never meet in practice; readers check the whole state.
  using Key = std::pair<uint64_t, uint64_t>;
  static Key KeyOf(absl::string_view chunk);
  void Add(const Key& key, const Place& place);

  absl::flat_hash_map<Key, Place> places_;
  uint64_t hash_ = 0;
};

// A state as new bytes and copies from the state before: `gaps[i]` new bytes stand in front of
// copy i, and the other new bytes behind the last copy.
struct StateDelta {
  std::vector<uint64_t> gaps;
  std::vector<StateChunks::Place> copies;  // in the state before
  std::string fresh;                       // the new bytes
};

// The delta from the state of `before` to `state`, whose chunks `now` gets; both may be the same
// object. O(bytes).
StateDelta DiffStates(const StateChunks& before, absl::string_view state, StateChunks* now);

// Rebuilds the state of `bytes` bytes. False if the delta does not fit `before`, or gives another
// number of bytes.
bool ApplyDelta(absl::string_view before, const StateDelta& delta, uint64_t bytes,
                std::string* state);

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_STATE_DELTA_H_
