#include "gui/view/find_model.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"

namespace drasim::view {
namespace {

char Lower(char c) { return absl::ascii_tolower(static_cast<unsigned char>(c)); }

bool IsWordChar(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); }

bool BeginsAt(absl::string_view query, absl::string_view text, size_t at) {
  if (text.size() - at < query.size()) return false;
  for (size_t i = 0; i < query.size(); ++i) {
    if (Lower(text[at + i]) != Lower(query[i])) return false;
  }
  return true;
}

enum class Place : uint8_t { kNowhere, kInside, kAtWord, kAtStart };

// The best place of `query` in `text`.
Place PlaceOf(absl::string_view query, absl::string_view text) {
  Place best = Place::kNowhere;
  for (size_t at = 0; at + query.size() <= text.size(); ++at) {
    if (!BeginsAt(query, text, at)) continue;
    if (at == 0) return Place::kAtStart;
    if (!IsWordChar(text[at - 1])) return Place::kAtWord;
    best = Place::kInside;
  }
  return best;
}

bool HasAllWords(absl::string_view query, absl::string_view text) {
  while (!query.empty()) {
    const size_t end = std::min(query.find(' '), query.size());
    const absl::string_view word = query.substr(0, end);
    if (!word.empty() && PlaceOf(word, text) == Place::kNowhere) return false;
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return true;
}

bool HasLettersInOrder(absl::string_view query, absl::string_view text) {
  size_t next = 0;
  for (const char c : query) {
    if (c == ' ') continue;
    while (next < text.size() && Lower(text[next]) != Lower(c)) ++next;
    if (next == text.size()) return false;
    ++next;
  }
  return true;
}

// Larger than any length that counts.
constexpr int64_t kClass = 10'000;
constexpr int64_t kAllWords = 2;

// The score of a text for a query; none without a match. REQUIRES: the query is not empty and has
// no blanks at its ends.
std::optional<int64_t> ScoreOf(absl::string_view query, absl::string_view text, bool loose) {
  const auto length = static_cast<int64_t>(std::min<size_t>(text.size(), kClass - 1));
  const Place place = PlaceOf(query, text);
  if (place == Place::kAtStart && text.size() == query.size()) return 6 * kClass;
  if (place == Place::kAtStart) return 6 * kClass - length;
  if (place == Place::kAtWord) return 5 * kClass - length;
  if (place == Place::kInside) return 4 * kClass - length;
  if (HasAllWords(query, text)) return (kAllWords + 1) * kClass - length;
  if (loose && HasLettersInOrder(query, text)) return kAllWords * kClass - length;
  return std::nullopt;
}

bool IsBetter(const FindHit& a, const FindHit& b) {
  if (a.score != b.score) return a.score > b.score;
  return a.source != b.source ? a.source < b.source : a.index < b.index;
}

}  // namespace

std::optional<int64_t> FindScore(absl::string_view query, absl::string_view text) {
  query = absl::StripAsciiWhitespace(query);
  if (query.empty()) return std::nullopt;
  return ScoreOf(query, text, /*loose=*/true);
}

void FindModel::SetSources(std::vector<FindSource> sources) {
  sources_ = std::move(sources);
  Restart();
}

void FindModel::SetQuery(absl::string_view query) {
  query = absl::StripAsciiWhitespace(query);
  if (query == query_) return;
  query_ = std::string(query);
  Restart();
}

void FindModel::Restart() {
  hits_.clear();
  index_ = 0;
  source_ = query_.empty() ? sources_.size() : 0;
}

bool FindModel::Scan(size_t budget) {
  while (!complete() && budget > 0) {
    const FindSource& source = sources_[source_];
    if (index_ >= source.count) {
      ++source_;
      index_ = 0;
      continue;
    }
    FindHit hit;
    hit.source = source_;
    hit.index = index_;
    if (const auto score = ScoreOf(query_, source.text(index_), source.loose)) {
      hit.score = *score;
      Add(hit);
    }
    ++index_;
    --budget;
  }
  return !complete();
}

void FindModel::Add(const FindHit& hit) {
  if (hits_.size() == kFindHits && !IsBetter(hit, hits_.back())) return;
  hits_.insert(std::upper_bound(hits_.begin(), hits_.end(), hit, IsBetter), hit);
  if (hits_.size() > kFindHits) hits_.pop_back();
}

}  // namespace drasim::view
