// Texts of users as messages show them: bounded in length, printable, and bounded in number.
//
// Input comes from outside and may hold anything: a header of 100,000 columns, a name of a
// megabyte, binary bytes. A message stays readable all the same:
//
//   absl::StrCat("unknown models: ", ListText(models))   // "H100, B200, T4 and 99,997 more"
#ifndef DRASIM_MODEL_TEXT_SHOWN_TEXT_H_
#define DRASIM_MODEL_TEXT_SHOWN_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace drasim {

// `text` for use between quotes: control characters, quotes and bytes that are not UTF-8 are
// escaped ("\x00"), and what lies behind the first `max_bytes` bytes is "...". O(max_bytes).
std::string ShownText(absl::string_view text, size_t max_bytes = 60);

// The first `shown` of `names`, each as ShownText shows it, and how many more there are: "a, b, c
// and 12 more". O(shown).
std::string ListText(const std::vector<std::string>& names, size_t shown = 10);

// With a comma between groups of three digits: "99,997". REQUIRES: not negative.
std::string GroupedDigits(int64_t number);

}  // namespace drasim

#endif  // DRASIM_MODEL_TEXT_SHOWN_TEXT_H_
