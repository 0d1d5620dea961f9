// A set of names that tells whether a name was there before: exact, and small for names that end in
// numbers.
//
// Trace names are mostly a few prefixes with numbers behind them ("openb-pod-0001"). Such a name is
// packed without loss into 64 bits: number of its prefix (16), count of its last digits (4), value
// of these (44). That takes 9 bytes per slot of a hash set, 10 to 20 bytes a name, and needs
// neither the names nor a second look on equal hashes. All other names are kept whole.
#ifndef DRASIM_TRACES_NAME_SET_H_
#define DRASIM_TRACES_NAME_SET_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace drasim {

// Not thread-safe.
class NameSet {
 public:
  // Adds `name`; false when it is there already. O(length of the name).
  bool Insert(absl::string_view name);
  size_t size() const { return numbered_.size() + others_.size(); }

 private:
  static constexpr size_t kMaxDigits = 13;  // 10^13 < 2^44
  static constexpr size_t kMaxPrefixes = size_t{1} << 16;

  // Sets `*id` to the number of a prefix, which is added if new. False when there are too many of
  // them; a prefix refused once is refused for ever, so that each name belongs to one of the two
  // sets only.
  bool FindPrefix(absl::string_view prefix, uint64_t* id);

  absl::flat_hash_set<uint64_t> numbered_;
  absl::flat_hash_map<std::string, uint64_t> prefixes_;
  std::string last_prefix_;
  uint64_t last_prefix_id_ = 0;
  bool has_last_prefix_ = false;
  absl::flat_hash_set<std::string> others_;
};

}  // namespace drasim

#endif  // DRASIM_TRACES_NAME_SET_H_
