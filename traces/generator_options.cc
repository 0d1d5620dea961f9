#include "traces/generator_options.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "model/key_error.h"

namespace drasim {

absl::Status RefusedOption(absl::string_view key, absl::string_view found,
                           absl::string_view expected) {
  return KeyError(absl::StrCat("workload.generated.", key),
                  absl::StrCat("found ", found, ", expected ", expected));
}

size_t NumberDigits(int64_t count, size_t low) {
  return std::max(low, absl::StrCat(std::max<int64_t>(count, 1) - 1).size());
}

std::string NumberedName(absl::string_view prefix, int64_t number, size_t digits) {
  const std::string text = absl::StrCat(number);
  return absl::StrCat(prefix, std::string(digits - text.size(), '0'), text);
}

size_t DrawIndex(const std::vector<uint64_t>& sums, Random* stream) {
  const uint64_t draw = stream->Below(sums.back());
  return static_cast<size_t>(std::upper_bound(sums.begin(), sums.end(), draw) - sums.begin());
}

}  // namespace drasim
