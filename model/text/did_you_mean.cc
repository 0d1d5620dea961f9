#include "model/text/did_you_mean.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace drasim {
namespace {

constexpr size_t kMostEdits = 3;

// Three rows of the usual table suffice: a swap looks back two.
size_t CountEdits(absl::string_view a, absl::string_view b) {
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> above(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  std::iota(above.begin(), above.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = above[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

}  // namespace

std::string Suggest(absl::string_view typed, absl::Span<const std::string> known) {
  const std::string wanted = absl::AsciiStrToLower(typed);
  const std::string* best = nullptr;
  size_t best_edits = kMostEdits + 1;
  for (const std::string& name : known) {
    const size_t longer = std::max(wanted.size(), name.size());
    const size_t shorter = std::min(wanted.size(), name.size());
    // Each missing letter is an edit, so this also bounds the work on an absurdly long typed text.
    if (longer - shorter > kMostEdits) continue;
    const size_t allowed = std::clamp(longer / 3, size_t{1}, kMostEdits);
    const size_t edits = CountEdits(wanted, absl::AsciiStrToLower(name));
    if (edits <= allowed && edits < longer && edits < best_edits) {
      best = &name;
      best_edits = edits;
    }
  }
  return best == nullptr ? std::string() : absl::StrCat(" (did you mean '", *best, "'?)");
}

}  // namespace drasim
