#include "model/kube/list_pieces.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace drasim {
namespace {

constexpr size_t kPieceBytes = size_t{4} << 20;

// The line at `at`, with its line break.
absl::string_view LineAt(absl::string_view text, size_t at) {
  const size_t end = text.find('\n', at);
  return text.substr(at, end == absl::string_view::npos ? end : end + 1 - at);
}

}  // namespace

KubeListPieces::KubeListPieces(absl::string_view text) : text_(text), tail_(text.size()) {
  if (text.size() <= kPieceBytes) return;
  json_ = absl::StartsWith(text, "{");
  json_ ? FindJsonItems() : FindYamlItems();
}

bool KubeListPieces::Next(std::string* piece) {
  if (next_ == starts_.size()) {
    if (!starts_.empty() || whole_taken_) return false;
    whole_taken_ = true;
    *piece = std::string(text_);
    return true;
  }
  const size_t first = next_++;
  while (next_ < starts_.size() && starts_[next_].at - starts_[first].at < kPieceBytes) ++next_;
  const size_t begin = starts_[first].at;
  const size_t end = next_ < starts_.size() ? starts_[next_].at : tail_;
  absl::string_view items = text_.substr(begin, end - begin);
  if (json_) {
    items = absl::StripTrailingAsciiWhitespace(items);
    if (absl::EndsWith(items, ",")) items.remove_suffix(1);
  }
  *piece =
      absl::StrCat(std::string(starts_[first].lines - head_lines_, '\n'),
                   text_.substr(0, starts_[0].at), items, json_ ? "\n" : "", text_.substr(tail_));
  return true;
}

// Items begin with "- " in the first column, between "items:" and the next key.
void KubeListPieces::FindYamlItems() {
  std::vector<Start> starts;
  size_t lines = 0;
  bool in_items = false;
  bool after = false;
  size_t tail = text_.size();
  for (size_t at = 0; at < text_.size(); ++lines) {
    const absl::string_view line = LineAt(text_, at);
    if (absl::StartsWith(line, "---") && lines > 0) return;  // several documents
    if (absl::StripTrailingAsciiWhitespace(line) == "items:") {
      if (in_items || after) return;
      in_items = true;
    } else if (absl::StartsWith(line, "- ")) {
      if (!in_items) return;
      starts.push_back({at, lines});
    } else if (in_items && !starts.empty() &&
               absl::ascii_isalpha(static_cast<unsigned char>(line[0]))) {
      in_items = false;
      after = true;
      tail = at;
    }
    at += line.size();
  }
  if (starts.empty()) return;
  head_lines_ = starts[0].lines;
  tail_ = tail;
  starts_ = std::move(starts);
}

// With an indent of four, as kubectl has it. A text in JSON holds no line break, so that a line is
// what it looks like.
void KubeListPieces::FindJsonItems() {
  std::vector<Start> starts;
  size_t lines = 0;
  bool in_items = false;
  size_t tail = 0;
  bool closed = false;
  for (size_t at = 0; at < text_.size(); ++lines) {
    const absl::string_view line = LineAt(text_, at);
    const absl::string_view content = absl::StripTrailingAsciiWhitespace(line);
    if (content == "    \"items\": [") {
      if (in_items || tail > 0) return;
      in_items = true;
    } else if (in_items && content == "        {") {
      starts.push_back({at, lines});
    } else if (in_items && (content == "    ]" || content == "    ],")) {
      in_items = false;
      tail = at;
    } else if (tail > 0 && !closed && content == "}") {
      closed = true;
    } else {
      const bool more_than_the_list = tail > 0 && closed && !content.empty();
      const bool another_layout =
          in_items && (starts.empty() || content.size() < 9 ||
                       (content[8] != ' ' && content != "        }," && content != "        }"));
      if (more_than_the_list || another_layout) return;
    }
    at += line.size();
  }
  if (starts.empty() || !closed) return;
  head_lines_ = starts[0].lines;
  tail_ = tail;
  starts_ = std::move(starts);
}

}  // namespace drasim
