#include "policies/framework/fit_error.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace drasim {

void FitError::Add(absl::string_view reason, int64_t nodes) {
  if (nodes <= 0) return;
  const auto found = counts_.find(reason);
  if (found != counts_.end()) {
    found->second += nodes;
  } else {
    counts_.emplace(reason, nodes);
  }
}

std::string FitError::Text() const {
  std::string text = absl::StrCat("0/", nodes_, " nodes are available:");
  if (!pre_filter_.empty()) return absl::StrCat(text, " ", pre_filter_, ".");
  std::vector<std::string> entries;
  for (const auto& [reason, count] : counts_) entries.push_back(absl::StrCat(count, " ", reason));
  if (entries.empty()) return text;
  std::sort(entries.begin(), entries.end());
  return absl::StrCat(text, " ", absl::StrJoin(entries, ", "), ".");
}

}  // namespace drasim
