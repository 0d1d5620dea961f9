// The suggestion behind "unknown key", "unknown flag" and the like.
#ifndef DRASIM_MODEL_TEXT_DID_YOU_MEAN_H_
#define DRASIM_MODEL_TEXT_DID_YOU_MEAN_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace drasim {

// " (did you mean 'x'?)", with its leading space, for the name in `known` that is closest to
// `typed`; "" when none is close enough. Made to be appended to an error message.
//
// Closeness is the number of edits (insert, delete or replace one byte, swap two neighbours),
// letter case ignored. A name may be a third of the longer name's length away, at least 1 and at
// most 3 edits, and something of it must be left. The first of equally close names wins. Cost:
// names times the square of the name's length.
std::string Suggest(absl::string_view typed, absl::Span<const std::string> known);

}  // namespace drasim

#endif  // DRASIM_MODEL_TEXT_DID_YOU_MEAN_H_
