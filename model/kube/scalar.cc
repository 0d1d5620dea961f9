#include "model/kube/scalar.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "model/check.h"

namespace drasim {
namespace {

bool IsOneOfWords(absl::string_view word, absl::string_view list) {
  for (size_t at = list.find(word); at != absl::string_view::npos; at = list.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || list[at - 1] == ' ') && (end == list.size() || list[end] == ' ')) return true;
  }
  return false;
}

// Takes `min` to `max` digits off the front. False, with `*text` undefined, when there are fewer.
bool TakeDigits(absl::string_view* text, size_t min, size_t max, int* value) {
  size_t count = 0;
  *value = 0;
  while (count < max && count < text->size() &&
         absl::ascii_isdigit(static_cast<unsigned char>((*text)[count]))) {
    *value = *value * 10 + ((*text)[count] - '0');
    ++count;
  }
  text->remove_prefix(count);
  return count >= min;
}

bool IsDate(int year, int month, int day) {
  static constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month < 1 || month > 12 || day < 1) return false;
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return day <= kDays[month - 1] + (month == 2 && leap ? 1 : 0);
}

bool TakeDate(absl::string_view* text, size_t shortest) {
  int year = 0;
  int month = 0;
  int day = 0;
  return TakeDigits(text, 4, 4, &year) && absl::ConsumePrefix(text, "-") &&
         TakeDigits(text, shortest, 2, &month) && absl::ConsumePrefix(text, "-") &&
         TakeDigits(text, shortest, 2, &day) && IsDate(year, month, day);
}

// Hours, minutes, seconds and a fraction.
bool TakeClock(absl::string_view* text, size_t shortest) {
  int hour = 0;
  int minute = 0;
  int second = 0;
  const bool parts = TakeDigits(text, shortest, 2, &hour) && absl::ConsumePrefix(text, ":") &&
                     TakeDigits(text, shortest, 2, &minute) && absl::ConsumePrefix(text, ":") &&
                     TakeDigits(text, shortest, 2, &second);
  if (!parts || hour > 23 || minute > 59 || second > 59) return false;
  if (!absl::ConsumePrefix(text, ".")) return true;
  int ignored = 0;
  if (!TakeDigits(text, 1, 1, &ignored)) return false;
  while (TakeDigits(text, 1, 1, &ignored)) {
  }
  return true;
}

bool TakeZone(absl::string_view* text) {
  if (absl::ConsumePrefix(text, "Z")) return true;
  int hours = 0;
  int minutes = 0;
  return (absl::ConsumePrefix(text, "+") || absl::ConsumePrefix(text, "-")) &&
         TakeDigits(text, 2, 2, &hours) && absl::ConsumePrefix(text, ":") &&
         TakeDigits(text, 2, 2, &minutes) && hours < 24 && minutes < 60;
}

// The forms that goyaml.v2 takes for a timestamp; parts of one digit will do.
bool IsYamlTimestamp(absl::string_view text) {
  if (!TakeDate(&text, 1)) return false;
  if (text.empty()) return true;
  if (absl::ConsumePrefix(&text, "T") || absl::ConsumePrefix(&text, "t")) {
    return TakeClock(&text, 1) && TakeZone(&text) && text.empty();
  }
  return absl::ConsumePrefix(&text, " ") && TakeClock(&text, 1) && text.empty();
}

int DigitValue(char c) {
  const char lower = absl::ascii_tolower(static_cast<unsigned char>(c));
  if (lower >= '0' && lower <= '9') return lower - '0';
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 16;
}

// An integer of any base, the prefix of which says so: 0x, 0o or 0, 0b, or none. Digits beyond 64
// bits count as a number, too, but have no value: the word stands for them.
bool ParseGoInteger(absl::string_view word, std::string* decimal) {
  absl::string_view rest = word;
  const bool negative = absl::ConsumePrefix(&rest, "-");
  if (!negative) absl::ConsumePrefix(&rest, "+");
  uint64_t base = 10;
  if (rest.size() > 1 && rest[0] == '0') {
    const char letter = absl::ascii_tolower(static_cast<unsigned char>(rest[1]));
    base = letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
    rest.remove_prefix(letter == 'x' || letter == 'b' || letter == 'o' ? 2 : 1);
  }
  if (rest.empty()) return false;
  uint64_t value = 0;
  bool fits = true;
  for (const char c : rest) {
    const auto digit = static_cast<uint64_t>(DigitValue(c));
    if (digit >= base) return false;
    fits = fits && value <= (UINT64_MAX - digit) / base;
    value = value * base + digit;
  }
  constexpr uint64_t kLowest = uint64_t{1} << 63U;
  if (!fits || (negative && value > kLowest)) {
    *decimal = std::string(word);
  } else {
    *decimal = absl::StrCat(negative && value > 0 ? "-" : "", value);
  }
  return true;
}

// [+-] digits . digits, one of the digits at least, and an exponent.
bool IsYamlFloat(absl::string_view word) {
  if (!absl::ConsumePrefix(&word, "-")) absl::ConsumePrefix(&word, "+");
  const auto take_all = [&word] {
    size_t count = 0;
    int ignored = 0;
    while (TakeDigits(&word, 1, 1, &ignored)) ++count;
    return count;
  };
  size_t digits = take_all();
  if (absl::ConsumePrefix(&word, ".")) digits += take_all();
  if (digits == 0) return false;
  if (absl::ConsumePrefix(&word, "e") || absl::ConsumePrefix(&word, "E")) {
    if (!absl::ConsumePrefix(&word, "-")) absl::ConsumePrefix(&word, "+");
    if (take_all() == 0) return false;
  }
  return word.empty();
}

// Base 60, as in 12:30: a text to kubectl, but other readers would take it for a number.
bool IsBase60(absl::string_view word) {
  if (!absl::ConsumePrefix(&word, "-")) absl::ConsumePrefix(&word, "+");
  int ignored = 0;
  if (!TakeDigits(&word, 1, 1, &ignored)) return false;
  const auto take_all = [&word] {
    while (!word.empty() &&
           (absl::ascii_isdigit(static_cast<unsigned char>(word[0])) || word[0] == '_')) {
      word.remove_prefix(1);
    }
  };
  take_all();
  size_t parts = 0;
  while (absl::ConsumePrefix(&word, ":")) {
    int value = 0;
    if (!TakeDigits(&word, 1, 2, &value) || value > 59) return false;
    ++parts;
  }
  if (absl::ConsumePrefix(&word, ".")) take_all();
  return parts > 0 && word.empty();
}

KubeWord ResolveNumber(absl::string_view word) {
  const std::string plain = absl::StrReplaceAll(word, {{"_", ""}});
  KubeWord resolved;
  if (ParseGoInteger(plain, &resolved.text)) {
    resolved.kind = KubeWordKind::kInteger;
    return resolved;
  }
  double value = 0;
  if (IsYamlFloat(plain) && absl::SimpleAtod(plain, &value) && std::isfinite(value)) {
    resolved.kind = KubeWordKind::kFloat;
    resolved.text = GoNumber(value);
    return resolved;
  }
  resolved.text = std::string(word);
  return resolved;
}

}  // namespace

KubeWord ResolveKubeWord(absl::string_view word) {
  const auto is = [](KubeWordKind kind, absl::string_view text) {
    KubeWord resolved;
    resolved.kind = kind;
    resolved.text = std::string(text);
    return resolved;
  };
  if (absl::StrContains(word, " ")) {
    return is(IsYamlTimestamp(word) ? KubeWordKind::kTimestamp : KubeWordKind::kText, word);
  }
  if (word.empty() || IsOneOfWords(word, "~ null Null NULL")) return is(KubeWordKind::kNull, word);
  if (IsOneOfWords(word, "y Y yes Yes YES true True TRUE on On ON")) {
    return is(KubeWordKind::kBoolean, "true");
  }
  if (IsOneOfWords(word, "n N no No NO false False FALSE off Off OFF")) {
    return is(KubeWordKind::kBoolean, "false");
  }
  if (IsOneOfWords(word, ".nan .NaN .NAN .inf .Inf .INF +.inf +.Inf +.INF -.inf -.Inf -.INF")) {
    return is(KubeWordKind::kFloat, word);
  }
  const char first = word[0];
  const bool digit = absl::ascii_isdigit(static_cast<unsigned char>(first));
  if (digit && IsYamlTimestamp(word)) return is(KubeWordKind::kTimestamp, word);
  if (digit || first == '+' || first == '-' || first == '.') return ResolveNumber(word);
  return is(KubeWordKind::kText, word);
}

bool IsKubeText(absl::string_view text) {
  return ResolveKubeWord(text).kind == KubeWordKind::kText && !IsBase60(text);
}

std::string GoNumber(double value) {
  DRASIM_CHECK(std::isfinite(value));
  const double size = std::abs(value);
  const bool exponent = size != 0 && (size < 1e-6 || size >= 1e21);
  char buffer[400];
  const std::to_chars_result result =
      std::to_chars(buffer, buffer + sizeof(buffer), value,
                    exponent ? std::chars_format::scientific : std::chars_format::fixed);
  DRASIM_CHECK(result.ec == std::errc());
  std::string text(buffer, result.ptr);
  const size_t zero = text.find("e-0");  // "1e-07", where Go writes 1e-7
  if (exponent && zero != std::string::npos) text.erase(zero + 2, 1);
  return text;
}

bool IsRfc3339(absl::string_view text) {
  return TakeDate(&text, 2) && absl::ConsumePrefix(&text, "T") && TakeClock(&text, 2) &&
         TakeZone(&text) && text.empty();
}

}  // namespace drasim
