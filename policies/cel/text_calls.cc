#include "policies/cel/text_calls.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "policies/cel/cost.h"
#include "policies/cel/pattern.h"
#include "re2/re2.h"

namespace drasim::cel {
namespace {

constexpr uint64_t kPatternWork = 10'000;  // of compiling a pattern that is no constant

bool IsText(const Value& value) { return value.kind == ValueKind::kString; }
bool IsInt(const Value& value) { return value.kind == ValueKind::kInt; }

uint64_t Characters(const Value& text) { return CharacterCount(text.view()); }

// The byte at which the character of an index begins; the size for the index behind the last.
size_t ByteOf(absl::string_view text, int64_t character) {
  size_t at = 0;
  for (int64_t i = 0; i < character && at < text.size(); ++i) {
    do {
      ++at;
    } while (at < text.size() && (text[at] & '\xc0') == '\x80');
  }
  return at;
}

Value OutOfRange(int64_t index, CallContext* context) {
  return context->heap->Error(absl::StrCat("index out of range: ", index));
}

Value NewText(std::string text, CallContext* context) {
  context->work += text.size();
  return Value::Text(context->heap->Text(std::move(text)));
}

// A list of parts of texts that live as long as the heap.
Value TextList(const std::vector<absl::string_view>& parts, CallContext* context) {
  context->work += parts.size();
  const absl::Span<Value> items = context->heap->Values(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) items[i] = Value::Text(parts[i]);
  return Value::List(items);
}

Value CharacterAt(absl::string_view text, int64_t index, CallContext* context) {
  const int64_t count = static_cast<int64_t>(CharacterCount(text));
  if (index < 0 || index > count) return OutOfRange(index, context);
  const size_t begin = ByteOf(text, index);
  return Value::Text(text.substr(begin, ByteOf(text.substr(begin), 1)));
}

Value Substring(absl::string_view text, absl::Span<const Value> range, CallContext* context) {
  const int64_t count = static_cast<int64_t>(CharacterCount(text));
  const int64_t begin = range[0].number;
  const int64_t end = range.size() > 1 ? range[1].number : count;
  if (begin < 0 || begin > count) return OutOfRange(begin, context);
  if (end < 0 || end > count) return OutOfRange(end, context);
  if (begin > end) {
    return context->heap->Error(
        absl::StrCat("invalid substring range. start: ", begin, ", end: ", end));
  }
  const size_t first = ByteOf(text, begin);
  return Value::Text(text.substr(first, ByteOf(text, end) - first));
}

// indexOf and lastIndexOf, in characters; `from` is where the search begins.
Value Find(absl::string_view text, absl::string_view part, bool last, const Value* from,
           CallContext* context) {
  const int64_t count = static_cast<int64_t>(CharacterCount(text));
  const int64_t offset = from != nullptr ? from->number : last ? count : 0;
  if (part.empty()) return Value::Int(offset);
  if (offset < 0 || (from != nullptr && offset >= count)) return OutOfRange(offset, context);
  const size_t byte = ByteOf(text, offset);
  const size_t found = last ? text.rfind(part, byte) : text.find(part, byte);
  if (found == absl::string_view::npos) return Value::Int(-1);
  return Value::Int(static_cast<int64_t>(CharacterCount(text.substr(0, found))));
}

// The bytes of the character that begins at `at`.
size_t CharacterLength(absl::string_view text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && (text[end] & '\xc0') == '\x80') ++end;
  return end - at;
}

Value Replace(absl::string_view text, absl::string_view old_text, absl::string_view new_text,
              int64_t limit, CallContext* context) {
  if (limit < 0) limit = static_cast<int64_t>(text.size()) + 1;
  const uint64_t most = text.size() + 1 < static_cast<uint64_t>(limit)
                            ? text.size() + 1
                            : static_cast<uint64_t>(limit);
  if (most * new_text.size() > kWorkLimit) {
    const uint64_t found = old_text.empty() ? most : text.size() / old_text.size();
    if (found * new_text.size() > kWorkLimit) return Value::Error(ErrorKind::kLimit, "");
  }
  std::string out;
  size_t at = 0;
  for (int64_t count = 0; count < limit; ++count) {
    size_t found = at;
    if (old_text.empty()) {
      // Around every character, as Go does.
      if (count > 0) {
        if (at >= text.size()) break;
        found = at + CharacterLength(text, at);
      }
    } else {
      found = text.find(old_text, at);
      if (found == absl::string_view::npos) break;
    }
    absl::StrAppend(&out, text.substr(at, found - at), new_text);
    at = found + old_text.size();
  }
  absl::StrAppend(&out, text.substr(at));
  return NewText(std::move(out), context);
}

Value Split(absl::string_view text, absl::string_view separator, int64_t limit,
            CallContext* context) {
  std::vector<absl::string_view> parts;
  if (limit == 0) return TextList(parts, context);
  size_t at = 0;
  while (limit < 0 || static_cast<int64_t>(parts.size()) + 1 < limit) {
    if (separator.empty()) {
      if (at >= text.size()) break;
      const size_t length = CharacterLength(text, at);
      if (at + length >= text.size()) break;
      parts.push_back(text.substr(at, length));
      at += length;
      continue;
    }
    const size_t found = text.find(separator, at);
    if (found == absl::string_view::npos) break;
    parts.push_back(text.substr(at, found - at));
    at = found + separator.size();
  }
  if (!separator.empty() || at < text.size()) parts.push_back(text.substr(at));
  return TextList(parts, context);
}

Value Join(const Value& list, absl::string_view separator, CallContext* context) {
  std::string out;
  for (size_t i = 0; i < list.size; ++i) {
    const Value& item = list.items[i];
    if (!IsText(item)) return Value::NoSuchOverload();
    if (out.size() + item.size + separator.size() > kWorkLimit) {
      return Value::Error(ErrorKind::kLimit, "");
    }
    absl::StrAppend(&out, i > 0 ? separator : "", item.view());
  }
  return NewText(std::move(out), context);
}

absl::string_view Trim(absl::string_view text) {
  // White space beyond ASCII: NEL, no-break space, and those of general punctuation.
  static constexpr absl::string_view kBlanks[] = {"\u0085", "\u00a0", "\u1680", "\u2000", "\u2001",
                                                  "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
                                                  "\u2007", "\u2008", "\u2009", "\u200a", "\u2028",
                                                  "\u2029", "\u202f", "\u205f", "\u3000"};
  for (bool found = true; found;) {
    text = absl::StripAsciiWhitespace(text);
    found = false;
    for (const absl::string_view blank : kBlanks) {
      found = absl::ConsumePrefix(&text, blank) || found;
      found = absl::ConsumeSuffix(&text, blank) || found;
    }
  }
  return text;
}

Value FindAll(absl::string_view text, const re2::RE2& pattern, int64_t limit,
              CallContext* context) {
  std::vector<absl::string_view> found;
  const re2::StringPiece whole(text.data(), text.size());
  size_t at = 0;
  size_t last_end = absl::string_view::npos;
  while (at <= text.size() && (limit < 0 || static_cast<int64_t>(found.size()) < limit)) {
    re2::StringPiece match;
    if (!pattern.Match(whole, at, text.size(), re2::RE2::UNANCHORED, &match, 1)) break;
    const size_t begin = static_cast<size_t>(match.data() - text.data());
    const size_t end = begin + match.size();
    // As in Go, an empty match right behind another match does not count.
    if (!match.empty() || begin != last_end) found.push_back(text.substr(begin, match.size()));
    last_end = end;
    at = match.empty() ? (end < text.size() ? end + CharacterLength(text, end) : end + 1) : end;
  }
  return TextList(found, context);
}

// matches, find and findAll.
Value CallPattern(Function function, absl::Span<const Value> arguments, const re2::RE2* pattern,
                  CallContext* context) {
  const absl::string_view text = arguments[0].view();
  context->cost += ScaleCost(Characters(arguments[0]) + 1, kTraversalFactor) *
                   ScaleCost(Characters(arguments[1]), kRegexFactor);
  std::unique_ptr<const re2::RE2> compiled;
  if (pattern == nullptr) {
    context->work += kPatternWork;
    compiled = CompilePattern(arguments[1].view());
    if (!compiled->ok()) return context->heap->Error(PatternError(*compiled));
    pattern = compiled.get();
  }
  const re2::StringPiece piece(text.data(), text.size());
  if (function == Function::kMatches) return Value::Bool(re2::RE2::PartialMatch(piece, *pattern));
  if (function == Function::kFindAll) {
    return FindAll(text, *pattern, arguments.size() > 2 ? arguments[2].number : -1, context);
  }
  re2::StringPiece match;
  if (!pattern->Match(piece, 0, text.size(), re2::RE2::UNANCHORED, &match, 1)) {
    return Value::Text("");
  }
  return Value::Text(absl::string_view(match.data(), match.size()));
}

// Whether arguments have the kinds of `letters`: s text, i int, l list.
bool Fit(absl::Span<const Value> arguments, absl::string_view letters) {
  if (arguments.size() != letters.size()) return false;
  for (size_t i = 0; i < letters.size(); ++i) {
    const ValueKind wanted = letters[i] == 's'   ? ValueKind::kString
                             : letters[i] == 'i' ? ValueKind::kInt
                                                 : ValueKind::kList;
    if (arguments[i].kind != wanted) return false;
  }
  return true;
}

// With one optional int at the end.
bool FitWithInt(absl::Span<const Value> arguments, absl::string_view letters) {
  if (arguments.size() == letters.size()) return Fit(arguments, letters);
  return !arguments.empty() && IsInt(arguments.back()) &&
         Fit(arguments.subspan(0, arguments.size() - 1), letters);
}

int64_t LimitAt(absl::Span<const Value> arguments, size_t index) {
  return arguments.size() > index ? arguments[index].number : -1;
}

// Go's ToUpper and ToLower leave texts beyond ASCII alone here.
Value ChangeCase(absl::string_view text, bool upper, CallContext* context) {
  return NewText(upper ? absl::AsciiStrToUpper(text) : absl::AsciiStrToLower(text), context);
}

}  // namespace

Value CallTextFunction(Function function, absl::Span<const Value> arguments,
                       const re2::RE2* pattern, CallContext* context) {
  const auto charge = [&](double factor) {
    context->cost += ScaleCost(Characters(arguments[0]), factor);
  };
  switch (function) {
    case Function::kContains:
      if (!Fit(arguments, "ss")) break;
      context->cost += ScaleCost(Characters(arguments[0]), kTraversalFactor) *
                       ScaleCost(Characters(arguments[1]), kTraversalFactor);
      return Value::Bool(absl::StrContains(arguments[0].view(), arguments[1].view()));
    case Function::kStartsWith:
      if (!Fit(arguments, "ss")) break;
      charge(kTraversalFactor);
      return Value::Bool(absl::StartsWith(arguments[0].view(), arguments[1].view()));
    case Function::kEndsWith:
      if (!Fit(arguments, "ss")) break;
      charge(kTraversalFactor);
      return Value::Bool(absl::EndsWith(arguments[0].view(), arguments[1].view()));
    case Function::kMatches:
    case Function::kFind:
      if (!Fit(arguments, "ss")) break;
      return CallPattern(function, arguments, pattern, context);
    case Function::kFindAll:
      if (!FitWithInt(arguments, "ss")) break;
      return CallPattern(function, arguments, pattern, context);
    case Function::kCharAt:
      if (!Fit(arguments, "si")) break;
      context->cost += 1;
      return CharacterAt(arguments[0].view(), arguments[1].number, context);
    case Function::kLowerAscii:
    case Function::kUpperAscii:
      if (!Fit(arguments, "s")) break;
      charge(kTraversalFactor);
      return ChangeCase(arguments[0].view(), function == Function::kUpperAscii, context);
    case Function::kTrim:
      if (!Fit(arguments, "s")) break;
      charge(kTraversalFactor);
      return Value::Text(Trim(arguments[0].view()));
    case Function::kReplace:
      if (!FitWithInt(arguments, "sss")) break;
      charge(2 * kTraversalFactor);
      return Replace(arguments[0].view(), arguments[1].view(), arguments[2].view(),
                     LimitAt(arguments, 3), context);
    case Function::kSplit:
      if (!FitWithInt(arguments, "ss")) break;
      charge(2 * kTraversalFactor);
      return Split(arguments[0].view(), arguments[1].view(), LimitAt(arguments, 2), context);
    case Function::kSubstring:
      if (!FitWithInt(arguments, "si")) break;
      charge(kTraversalFactor);
      return Substring(arguments[0].view(), arguments.subspan(1), context);
    case Function::kIndexOf:
    case Function::kLastIndexOf: {
      if (!FitWithInt(arguments, "ss")) break;
      // Upstream counts bytes and rounds down here.
      context->cost += arguments[0].size / 10;
      const Value* from = arguments.size() > 2 ? &arguments[2] : nullptr;
      return Find(arguments[0].view(), arguments[1].view(), function == Function::kLastIndexOf,
                  from, context);
    }
    case Function::kJoin: {
      if (!Fit(arguments, "l") && !Fit(arguments, "ls")) break;
      const absl::string_view separator =
          arguments.size() > 1 ? arguments[1].view() : absl::string_view();
      const Value joined = Join(arguments[0], separator, context);
      if (!joined.IsError()) context->cost += ScaleCost(Characters(joined), 2 * kTraversalFactor);
      return joined;
    }
    default:
      break;
  }
  return Value::NoSuchOverload();
}

}  // namespace drasim::cel
