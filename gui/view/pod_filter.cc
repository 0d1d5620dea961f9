#include "gui/view/pod_filter.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gui/view/wait_text.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "model/text/shown_text.h"

namespace drasim::view {
namespace {

constexpr size_t kPodPhases = size_t{kLastPodPhase} + 1;

char FilterLower(char c) { return absl::ascii_tolower(static_cast<unsigned char>(c)); }

bool SameIgnoringCase(absl::string_view text, absl::string_view lower) {
  return text.size() == lower.size() &&
         std::equal(text.begin(), text.end(), lower.begin(),
                    [](char a, char b) { return FilterLower(a) == b; });
}

bool ContainsIgnoringCase(absl::string_view text, absl::string_view lower) {
  return std::search(text.begin(), text.end(), lower.begin(), lower.end(),
                     [](char a, char b) { return FilterLower(a) == b; }) != text.end();
}

// Whether the text, or one of its words, is the value.
bool HasFilterWord(absl::string_view text, absl::string_view lower) {
  if (SameIgnoringCase(text, lower)) return true;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (SameIgnoringCase(text.substr(at, end - at), lower)) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

absl::string_view PodStateName(PodPhase phase) {
  switch (phase) {
    case PodPhase::kPending:
      return "waiting";
    case PodPhase::kAssumed:
      return "starting";
    case PodPhase::kBound:
      return "running";
    case PodPhase::kSucceeded:
      return "succeeded";
    case PodPhase::kDropped:
      return "dropped";
    case PodPhase::kFailed:
      return "failed";
    case PodPhase::kDeleted:
      return "deleted";
  }
  return "";
}

// Reads one text from left to right.
class PodFilterParser {
 public:
  explicit PodFilterParser(absl::string_view text) : text_(text) {}

  absl::StatusOr<PodFilter> Parse() {
    PodFilter filter;
    while (true) {
      while (!AtEnd() && IsBlank(text_[at_])) ++at_;
      if (AtEnd()) return filter;
      RETURN_IF_ERROR(ReadTerm(&filter));
    }
  }

 private:
  using Key = PodFilter::Key;
  using Test = PodFilter::Test;

  struct NamedKey {
    absl::string_view name;
    Key key;
  };
  static constexpr std::array<NamedKey, 8> kKeys = {{{"name", Key::kName},
                                                     {"wants", Key::kWants},
                                                     {"tenant", Key::kTenant},
                                                     {"node", Key::kNode},
                                                     {"state", Key::kState},
                                                     {"verdict", Key::kVerdict},
                                                     {"waits", Key::kWaits},
                                                     {"tries", Key::kTries}}};

  static bool IsBlank(char c) { return absl::ascii_isspace(static_cast<unsigned char>(c)); }
  bool AtEnd() const { return at_ >= text_.size(); }
  bool AtTermsEnd() const { return AtEnd() || IsBlank(text_[at_]); }

  static absl::Status Error(size_t at, absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("column ", at + 1, ": ", what));
  }

  absl::Status ReadTerm(PodFilter* filter) {
    PodFilter::Term term;
    if (text_[at_] == '-') {
      term.negated = true;
      ++at_;
      if (AtTermsEnd()) return Error(at_, "expected a term behind '-'");
    }
    const size_t begin = at_;
    if (text_[at_] != '"') {
      size_t end = at_;
      while (end < text_.size() && !IsBlank(text_[end]) && text_[end] != ':' && text_[end] != '"') {
        ++end;
      }
      if (end < text_.size() && text_[end] == ':') {
        ASSIGN_OR_RETURN(term.key, KeyOf(text_.substr(begin, end - begin), begin));
        at_ = end + 1;
      }
    }
    if (term.key == Key::kAny) {
      PodFilter::Alternative word;
      word.test = Test::kContains;
      ASSIGN_OR_RETURN(word.text, ReadValue(/*is_list=*/false));
      if (word.text.empty()) return Error(begin, "expected a word between the quotes");
      term.alternatives.push_back(std::move(word));
    } else {
      while (true) {
        ASSIGN_OR_RETURN(PodFilter::Alternative alternative, ReadAlternative(term.key));
        term.alternatives.push_back(std::move(alternative));
        if (AtTermsEnd()) break;
        ++at_;  // a comma
      }
    }
    if (!AtTermsEnd()) return Error(at_, "expected a blank behind the closing quote");
    filter->terms_.push_back(std::move(term));
    return absl::OkStatus();
  }

  static absl::StatusOr<Key> KeyOf(absl::string_view name, size_t at) {
    std::vector<std::string> known;
    for (const NamedKey& key : kKeys) {
      if (SameIgnoringCase(name, key.name)) return key.key;
      known.emplace_back(key.name);
    }
    return Error(at, absl::StrCat("unknown key '", ShownText(name), "'", Suggest(name, known),
                                  ", expected one of ", absl::StrJoin(known, ", ")));
  }

  // Up to a blank or, in a list, a comma; or all between two quotes. In lower case.
  absl::StatusOr<std::string> ReadValue(bool is_list) {
    std::string value;
    if (AtEnd() || text_[at_] != '"') {
      while (!AtTermsEnd() && (!is_list || text_[at_] != ',') && text_[at_] != '"') {
        value += FilterLower(text_[at_++]);
      }
      if (!AtEnd() && text_[at_] == '"') {
        return Error(at_, "found a quote inside a word, expected it before the word");
      }
      return value;
    }
    const size_t open = at_++;
    for (; !AtEnd() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
        if (AtEnd() || (text_[at_] != '"' && text_[at_] != '\\')) {
          return Error(at_ - 1, "found a backslash, expected \\\" or \\\\ inside quotes");
        }
      }
      value += FilterLower(text_[at_]);
    }
    if (AtEnd()) return Error(open, "this quote is never closed, expected another one");
    ++at_;
    return value;
  }

  Test ReadTest() {
    const auto next = [this](char c) {
      if (AtEnd() || text_[at_] != c) return false;
      ++at_;
      return true;
    };
    if (next('~')) return Test::kContains;
    if (next('>')) return next('=') ? Test::kAtLeast : Test::kAbove;
    if (next('<')) return next('=') ? Test::kAtMost : Test::kBelow;
    next('=');
    return Test::kIs;
  }

  absl::StatusOr<PodFilter::Alternative> ReadAlternative(Key key) {
    PodFilter::Alternative result;
    const size_t sign = at_;
    result.test = ReadTest();
    const size_t begin = at_;
    ASSIGN_OR_RETURN(result.text, ReadValue(/*is_list=*/true));
    const bool quoted = begin < text_.size() && text_[begin] == '"';
    if (!AtTermsEnd() && text_[at_] != ',') {
      return Error(at_, "expected a blank or a comma behind the closing quote");
    }
    const bool counts = key == Key::kWaits || key == Key::kTries;
    if (!counts && result.test != Test::kIs && result.test != Test::kContains) {
      return Error(sign, "found a comparison, expected a text: only waits and tries have an order");
    }
    if ((counts || key == Key::kState) && result.test == Test::kContains) {
      return Error(sign, counts ? "found '~', expected one of >, >=, <, <=, = or a value"
                                : "found '~', expected the name of a state");
    }
    if (result.text.empty() && !quoted) {
      return Error(begin, key == Key::kWaits   ? "expected a duration such as 90s, 1h30m or 2d"
                          : key == Key::kTries ? "expected a number of failed attempts"
                                               : "expected a value, or \"\" for an empty one");
    }
    if (key == Key::kWaits) {
      const absl::StatusOr<SimDuration> length = ParseWait(result.text);
      if (!length.ok()) {
        return Error(begin, absl::StrCat("found '", ShownText(result.text), "', ",
                                         length.status().message()));
      }
      result.number = length->ns();
    } else if (key == Key::kTries) {
      if (!absl::SimpleAtoi(result.text, &result.number) || result.number < 0) {
        return Error(begin, absl::StrCat("found '", ShownText(result.text),
                                         "', expected a number of failed attempts"));
      }
    } else if (key == Key::kState) {
      RETURN_IF_ERROR(ReadState(begin, &result));
    }
    return result;
  }

  static absl::Status ReadState(size_t at, PodFilter::Alternative* alternative) {
    std::vector<std::string> known;
    for (size_t p = 0; p < kPodPhases; ++p) {
      known.emplace_back(PodStateName(static_cast<PodPhase>(p)));
      if (known.back() != alternative->text) continue;
      alternative->number = static_cast<int64_t>(p);
      return absl::OkStatus();
    }
    return Error(at, absl::StrCat("unknown state '", ShownText(alternative->text), "'",
                                  Suggest(alternative->text, known), ", expected one of ",
                                  absl::StrJoin(known, ", ")));
  }

  absl::string_view text_;
  size_t at_ = 0;
};

absl::StatusOr<PodFilter> PodFilter::Parse(absl::string_view text) {
  return PodFilterParser(text).Parse();
}

bool PodFilter::asks_for_state() const {
  return std::any_of(terms_.begin(), terms_.end(),
                     [](const Term& term) { return term.key == Key::kState; });
}

bool PodFilter::Holds(const Term& term, const Alternative& wanted, const PodFacts& pod) {
  absl::string_view field;
  int64_t number = 0;
  bool counts = false;
  switch (term.key) {
    case Key::kAny:
      for (const absl::string_view text :
           {pod.name, pod.wants, pod.tenant, pod.node, pod.verdict}) {
        if (ContainsIgnoringCase(text, wanted.text)) return true;
      }
      return false;
    case Key::kName:
      field = pod.name;
      break;
    case Key::kWants:
      if (wanted.test == Test::kIs) return HasFilterWord(pod.wants, wanted.text);
      field = pod.wants;
      break;
    case Key::kTenant:
      field = pod.tenant;
      break;
    case Key::kNode:
      field = pod.node;
      break;
    case Key::kVerdict:
      field = pod.verdict;
      break;
    case Key::kState:
      return static_cast<int64_t>(pod.phase) == wanted.number;
    case Key::kWaits:
      counts = true;
      number = pod.waits.ns();
      break;
    case Key::kTries:
      counts = true;
      number = pod.tries;
      break;
  }
  switch (wanted.test) {
    case Test::kIs:
      return counts ? number == wanted.number : SameIgnoringCase(field, wanted.text);
    case Test::kContains:
      return ContainsIgnoringCase(field, wanted.text);
    case Test::kBelow:
      return number < wanted.number;
    case Test::kAtMost:
      return number <= wanted.number;
    case Test::kAbove:
      return number > wanted.number;
    case Test::kAtLeast:
      return number >= wanted.number;
  }
  return false;
}

bool PodFilter::Matches(const PodFacts& pod) const {
  return std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) {
    const bool any =
        std::any_of(term.alternatives.begin(), term.alternatives.end(),
                    [&](const Alternative& wanted) { return Holds(term, wanted, pod); });
    return any != term.negated;
  });
}

}  // namespace drasim::view
