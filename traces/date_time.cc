#include "traces/date_time.h"

#include <cstddef>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/text/shown_text.h"
#include "model/time.h"
#include "traces/decimal.h"

namespace drasim {
namespace {

constexpr int64_t kDaySeconds = 86'400;

constexpr bool IsLeapYear(int64_t year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

// Days from 0000-01-01 to the first day of `year`; the years 0 to `year` - 1 are counted, of which
// every fourth but not every hundredth but every four hundredth is a leap year. REQUIRES: year >=
// 0.
constexpr int64_t DaysBeforeYear(int64_t year) {
  return 365 * year + (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400;
}
constexpr int64_t kDaysBefore1970 = DaysBeforeYear(1970);

// `month` counts from 1.
constexpr int64_t DaysOfMonth(int64_t year, int64_t month) {
  if (month == 2) return IsLeapYear(year) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

// Takes exactly `count` digits off the front.
bool TakeDigits(size_t count, absl::string_view* text, int64_t* value) {
  if (text->size() < count) return false;
  int64_t sum = 0;
  for (size_t i = 0; i < count; ++i) {
    const char c = (*text)[i];
    if (c < '0' || c > '9') return false;
    sum = sum * 10 + (c - '0');
  }
  *value = sum;
  text->remove_prefix(count);
  return true;
}

bool TakeChar(char wanted, absl::string_view* text) {
  if (text->empty() || text->front() != wanted) return false;
  text->remove_prefix(1);
  return true;
}

// A date and time in its parts.
struct Parts {
  int64_t day = 0;          // from 1970-01-01
  int64_t second = 0;       // of the day
  int64_t fraction_ns = 0;  // up to a whole second, because it is rounded up
  int64_t zone_s = 0;
  bool has_time = false;
  bool has_zone = false;
};

DateTimeError TakeDate(absl::string_view* text, Parts* parts) {
  int64_t year = 0;
  int64_t month = 0;
  int64_t day = 0;
  if (!TakeDigits(4, text, &year) || !TakeChar('-', text) || !TakeDigits(2, text, &month) ||
      !TakeChar('-', text) || !TakeDigits(2, text, &day)) {
    return DateTimeError::kNotADateTime;
  }
  if (month < 1 || month > 12 || day < 1 || day > DaysOfMonth(year, month)) {
    return DateTimeError::kNoSuchDay;
  }
  parts->day = DaysBeforeYear(year) - kDaysBefore1970 + day - 1;
  for (int64_t earlier = 1; earlier < month; ++earlier) parts->day += DaysOfMonth(year, earlier);
  return DateTimeError::kNone;
}

// The digits behind the point, at least one.
bool TakeFraction(absl::string_view* text, Parts* parts) {
  int64_t scale_ns = kSecondNs;
  bool finer = false;
  int64_t digit = 0;
  size_t count = 0;
  for (; TakeDigits(1, text, &digit); ++count) {
    if (scale_ns > 1) {
      scale_ns /= 10;
      parts->fraction_ns += digit * scale_ns;
    } else if (digit != 0) {
      finer = true;
    }
  }
  if (finer) ++parts->fraction_ns;
  return count > 0;
}

DateTimeError TakeTime(absl::string_view* text, Parts* parts) {
  int64_t hour = 0;
  int64_t minute = 0;
  int64_t second = 0;
  if (!TakeDigits(2, text, &hour) || !TakeChar(':', text) || !TakeDigits(2, text, &minute) ||
      !TakeChar(':', text) || !TakeDigits(2, text, &second)) {
    return DateTimeError::kNotADateTime;
  }
  if (TakeChar('.', text) && !TakeFraction(text, parts)) return DateTimeError::kNotADateTime;
  if (hour > 23 || minute > 59 || second > 59) return DateTimeError::kNoSuchTime;
  parts->second = (hour * 60 + minute) * 60 + second;
  parts->has_time = true;
  return DateTimeError::kNone;
}

DateTimeError Scan(absl::string_view text, Parts* parts) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  DateTimeError error = TakeDate(&text, parts);
  if (error != DateTimeError::kNone || text.empty()) return error;
  if (!TakeChar('T', &text) && !TakeChar('t', &text) && !TakeChar(' ', &text)) {
    return DateTimeError::kNotADateTime;
  }
  error = TakeTime(&text, parts);
  if (error != DateTimeError::kNone || text.empty()) return error;
  TakeChar(' ', &text);
  if (!ParseZone(text, &parts->zone_s)) return DateTimeError::kBadZone;
  parts->has_zone = true;
  return DateTimeError::kNone;
}

DateTimeError Join(const Parts& parts, int64_t* ns) {
  __extension__ using Wide = __int128;
  const int64_t seconds = parts.day * kDaySeconds + parts.second - parts.zone_s;
  const Wide wide = static_cast<Wide>(seconds) * kSecondNs + parts.fraction_ns;
  if (wide < std::numeric_limits<int64_t>::min() || wide > std::numeric_limits<int64_t>::max()) {
    return DateTimeError::kOutOfRange;
  }
  *ns = static_cast<int64_t>(wide);
  return DateTimeError::kNone;
}

absl::Status Wrong(absl::string_view found, absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("found '", ShownText(found), "', expected ", expected));
}

}  // namespace

absl::string_view ExpectedDateTime(DateTimeError error) {
  switch (error) {
    case DateTimeError::kNone:
    case DateTimeError::kNotADateTime:
      break;
    case DateTimeError::kNoSuchDay:
      return "a day that is in the calendar";
    case DateTimeError::kNoSuchTime:
      return "a time of day from 00:00:00 to 23:59:59";
    case DateTimeError::kBadZone:
      return "a zone such as Z or +08:00 behind the time";
    case DateTimeError::kOutOfRange:
      return "a time from the years 1678 to 2261";
  }
  return "a date and time such as 2017-10-03 05:48:00";
}

bool ParseZone(absl::string_view zone, int64_t* seconds) {
  if (zone.empty() || zone == "Z" || zone == "z" || zone == "UTC") {
    *seconds = 0;
    return true;
  }
  const bool behind = zone.front() == '-';
  if (!TakeChar('-', &zone) && !TakeChar('+', &zone)) return false;
  int64_t hours = 0;
  int64_t minutes = 0;
  if (!TakeDigits(2, &zone, &hours)) return false;
  if (!zone.empty()) {
    TakeChar(':', &zone);
    if (!TakeDigits(2, &zone, &minutes) || !zone.empty()) return false;
  }
  if (hours > 23 || minutes > 59) return false;
  const int64_t ahead = (hours * 60 + minutes) * 60;
  *seconds = behind ? -ahead : ahead;
  return true;
}

DateTimeError ParseDateTime(absl::string_view text, int64_t default_zone_s, int64_t* ns) {
  Parts parts;
  parts.zone_s = default_zone_s;
  const DateTimeError error = Scan(text, &parts);
  return error == DateTimeError::kNone ? Join(parts, ns) : error;
}

absl::StatusOr<int64_t> ParseDateTimeNs(absl::string_view text, absl::string_view default_zone) {
  int64_t zone_s = 0;
  if (!ParseZone(default_zone, &zone_s)) {
    return Wrong(default_zone, "a zone such as Z or +08:00");
  }
  int64_t ns = 0;
  const DateTimeError error = ParseDateTime(text, zone_s, &ns);
  if (error != DateTimeError::kNone) return Wrong(text, ExpectedDateTime(error));
  return ns;
}

absl::StatusOr<int64_t> ParseRfc3339(absl::string_view text) {
  constexpr absl::string_view kExpected =
      "a date and time with its zone such as 2017-10-03T05:48:00Z";
  Parts parts;
  DateTimeError error = Scan(text, &parts);
  if (error == DateTimeError::kNotADateTime) return Wrong(text, kExpected);
  if (error == DateTimeError::kNone && (!parts.has_time || !parts.has_zone)) {
    return Wrong(text, kExpected);
  }
  int64_t ns = 0;
  if (error == DateTimeError::kNone) error = Join(parts, &ns);
  if (error != DateTimeError::kNone) return Wrong(text, ExpectedDateTime(error));
  return ns;
}

std::string FormatRfc3339(int64_t ns) {
  int64_t second = ns / kSecondNs;
  int64_t fraction_ns = ns % kSecondNs;
  if (fraction_ns < 0) {
    fraction_ns += kSecondNs;
    --second;
  }
  int64_t day = second / kDaySeconds;
  second %= kDaySeconds;
  if (second < 0) {
    second += kDaySeconds;
    --day;
  }
  day += kDaysBefore1970;    // from the year 0, hence not negative
  int64_t year = day / 366;  // the year or, as most are shorter, one a little before it
  while (DaysBeforeYear(year + 1) <= day) ++year;
  day -= DaysBeforeYear(year);
  int64_t month = 1;
  for (; day >= DaysOfMonth(year, month); ++month) day -= DaysOfMonth(year, month);
  std::string text = absl::StrCat(
      absl::Dec(year, absl::kZeroPad4), "-", absl::Dec(month, absl::kZeroPad2), "-",
      absl::Dec(day + 1, absl::kZeroPad2), "T", absl::Dec(second / 3600, absl::kZeroPad2), ":",
      absl::Dec(second / 60 % 60, absl::kZeroPad2), ":", absl::Dec(second % 60, absl::kZeroPad2));
  if (fraction_ns != 0) {
    absl::StrAppend(&text, ".", absl::Dec(fraction_ns, absl::kZeroPad9));
    text.erase(text.find_last_not_of('0') + 1);
  }
  text += 'Z';
  return text;
}

}  // namespace drasim
