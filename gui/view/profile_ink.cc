#include "gui/view/profile_ink.h"

#include <algorithm>
#include <cstddef>

namespace drasim::view {
namespace {

// Names of the map for GPUs that are not partitioned.
constexpr absl::string_view kShareOfGpu = "share of a GPU";
constexpr absl::string_view kWholeGpu = "whole GPU";

// The profile behind one word of a request; empty for other words. `before` is the word before it.
absl::string_view ProfileOfWord(absl::string_view word, absl::string_view before) {
  if (word != "GPU" && word != "GPUs") return word;
  // "GPU", "1 GPU", "2 GPUs" are whole ones; "0.46 GPU", "2 x 0.5 GPU" are shares.
  return before.find('.') == absl::string_view::npos ? kWholeGpu : kShareOfGpu;
}

}  // namespace

std::optional<Ink> ProfileInk(const Theme& theme, absl::Span<const std::string> profiles,
                              absl::string_view text) {
  std::optional<size_t> found;
  if (text == "no GPU") return std::nullopt;
  text = text.substr(0, text.find(','));  // "3g.40gb, 0.25 GPU": a share of an instance
  absl::string_view before;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const absl::string_view word = text.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    const absl::string_view profile = ProfileOfWord(word, before);
    before = word;
    const auto place = std::find(profiles.begin(), profiles.end(), profile);
    if (place == profiles.end()) continue;
    const auto index = static_cast<size_t>(place - profiles.begin());
    found = std::max(found.value_or(index), index);
  }
  if (!found.has_value()) return std::nullopt;
  Ink ink;
  ink.colour = StepColour(theme, *found, profiles.size());
  return ink;
}

}  // namespace drasim::view
