#include "traces/date_time.h"

#include <cstdint>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/random.h"
#include "model/time.h"

namespace drasim {
namespace date_time_test {

// 2017-10-03 05:48:00 UTC.
constexpr int64_t kNsOf2017 = 1'507'009'680 * kSecondNs;

std::string Text(const absl::StatusOr<int64_t>& ns) {
  if (ns.ok()) return absl::StrCat(*ns);
  EXPECT_EQ(ns.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(ns.status().message());
}

// Nanoseconds, or the error.
std::string Parsed(absl::string_view text, absl::string_view zone = "") {
  return Text(ParseDateTimeNs(text, zone));
}

std::string Ns(int64_t ns) { return absl::StrCat(ns); }

TEST(DateTimeTest, TheUsualForms) {
  for (absl::string_view text :
       {"2017-10-03 05:48:00", "2017-10-03T05:48:00", "2017-10-03t05:48:00", "2017-10-03T05:48:00Z",
        "2017-10-03 05:48:00z", "2017-10-03 05:48:00 UTC", "2017-10-03 05:48:00+00:00",
        "2017-10-03 05:48:00-00:00", "2017-10-03 05:48:00.000Z", "  2017-10-03 05:48:00\t",
        "2017-10-03 13:48:00+08:00", "2017-10-03 13:48:00 +0800", "2017-10-03T13:48:00+08",
        "2017-10-02T22:18:00-07:30"}) {
    EXPECT_EQ(Parsed(text), Ns(kNsOf2017)) << text;
  }
}

TEST(DateTimeTest, ADateAloneIsItsMidnight) {
  EXPECT_EQ(Parsed("2017-10-03"), Ns(1'506'988'800 * kSecondNs));
  EXPECT_EQ(Parsed("2017-10-03", "+08:00"), Ns((1'506'988'800 - 8 * 3600) * kSecondNs));
  EXPECT_EQ(Parsed("1970-01-01"), "0");
}

TEST(DateTimeTest, TheDefaultZoneIsForTextsWithoutOne) {
  EXPECT_EQ(Parsed("2017-10-03 13:48:00", "+08:00"), Ns(kNsOf2017));
  EXPECT_EQ(Parsed("2017-10-02 22:48:00", "-07:00"), Ns(kNsOf2017));
  EXPECT_EQ(Parsed("2017-10-03 05:48:00Z", "+08:00"), Ns(kNsOf2017));
  EXPECT_EQ(Parsed("2017-10-03 06:48:00+01:00", "-07:00"), Ns(kNsOf2017));
  EXPECT_EQ(Parsed("2017-10-03 05:48:00", "PST"),
            "found 'PST', expected a zone such as Z or +08:00");
}

TEST(DateTimeTest, Zones) {
  const auto zone = [](absl::string_view text) {
    int64_t seconds = 77;
    return ParseZone(text, &seconds) ? seconds : int64_t{-1};
  };
  EXPECT_EQ(zone(""), 0);
  EXPECT_EQ(zone("Z"), 0);
  EXPECT_EQ(zone("UTC"), 0);
  EXPECT_EQ(zone("+05:45"), 20700);
  EXPECT_EQ(zone("-0330"), -12600);
  EXPECT_EQ(zone("+23:59"), 86340);
  EXPECT_EQ(zone("-12"), -43200);
  for (absl::string_view bad : {"+", "8", "08:00", "+8", "+8:00", "+24:00", "+08:60", "+08:0",
                                "+08:000", "+08 00", "Z0", "EST", "++08"}) {
    EXPECT_EQ(zone(bad), -1) << bad;
  }
}

TEST(DateTimeTest, FractionsAreExactAndRoundUpBeyondNanoseconds) {
  EXPECT_EQ(Parsed("1970-01-01 00:00:00.5"), "500000000");
  EXPECT_EQ(Parsed("1970-01-01 00:00:01.000000001"), "1000000001");
  EXPECT_EQ(Parsed("1970-01-01 00:00:00.1234567890000"), "123456789");
  EXPECT_EQ(Parsed("1970-01-01 00:00:00.12345678900001"), "123456790");
  EXPECT_EQ(Parsed("1970-01-01 00:00:00.9999999999Z"), "1000000000");
  EXPECT_EQ(Parsed("1969-12-31 23:59:59.75"), "-250000000");
}

TEST(DateTimeTest, TheCalendar) {
  EXPECT_EQ(Parsed("1969-12-31 23:59:59"), "-1000000000");
  EXPECT_EQ(Parsed("2000-02-29"), Ns(951'782'400 * kSecondNs));
  EXPECT_EQ(Parsed("1900-03-01"), Ns(-2'203'891'200 * kSecondNs));
  EXPECT_EQ(Parsed("2100-03-01"), Ns(4'107'542'400 * kSecondNs));
  for (absl::string_view text :
       {"2017-02-29", "1900-02-29", "2100-02-29 00:00:00", "2017-04-31", "2017-06-31", "2017-09-31",
        "2017-11-31", "2017-01-32", "2017-13-01", "2017-00-01", "2017-01-00", "0000-00-00"}) {
    EXPECT_EQ(Parsed(text),
              absl::StrCat("found '", text, "', expected a day that is in the calendar"));
  }
}

// Day by day, with a calendar that is told only the lengths of the months.
TEST(DateTimeTest, EveryDayOfTheRange) {
  constexpr int kLengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  int year = 1677;
  int month = 9;
  int day = 22;
  // The range in days around 1970-01-01: all whole days that fit int64 nanoseconds.
  for (int64_t number = -106'751; number <= 106'751; ++number) {
    const std::string text =
        absl::StrCat(absl::Dec(year, absl::kZeroPad4), "-", absl::Dec(month, absl::kZeroPad2), "-",
                     absl::Dec(day, absl::kZeroPad2));
    ASSERT_EQ(Parsed(text), Ns(number * kDayNs)) << text;
    ASSERT_EQ(FormatRfc3339(number * kDayNs), absl::StrCat(text, "T00:00:00Z"));
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    const int length = kLengths[month - 1] + (leap && month == 2 ? 1 : 0);
    if (++day <= length) continue;
    day = 1;
    if (++month <= 12) continue;
    month = 1;
    ++year;
  }
  EXPECT_EQ(absl::StrCat(year, " ", month, " ", day), "2262 4 12");
}

TEST(DateTimeTest, TheEndsOfTheRange) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(FormatRfc3339(kMin), "1677-09-21T00:12:43.145224192Z");
  EXPECT_EQ(FormatRfc3339(kMax), "2262-04-11T23:47:16.854775807Z");
  EXPECT_EQ(Parsed("1677-09-21T00:12:43.145224192Z"), Ns(kMin));
  EXPECT_EQ(Parsed("2262-04-11T23:47:16.854775807Z"), Ns(kMax));
  for (absl::string_view text :
       {"1677-09-21T00:12:43.145224191Z", "1677-09-21", "2262-04-11T23:47:16.854775808Z",
        "2262-04-11T23:47:16.8547758071Z", "2262-04-12", "0000-01-01", "9999-12-31"}) {
    EXPECT_EQ(Parsed(text),
              absl::StrCat("found '", text, "', expected a time from the years 1678 to 2261"));
  }
}

TEST(DateTimeTest, OtherTextsAreExplained) {
  for (absl::string_view text :
       {"", "   ", "now", "1507009680", "17-10-03 05:48:00", "2017/10/03 05:48:00", "2017-1-3",
        "20171003", "2017-10-03 05:48", "2017-10-03 5:48:00", "2017-10-03T", "2017-10-03  05:48:00",
        "2017-10-03_05:48:00", "2017-10-03 05:48:00.", "2017-10-03 05:48:00.Z", "+2017-10-03",
        "2017-10-0\xD9\xA3"}) {
    const std::string message = Parsed(text);
    constexpr absl::string_view kEnd = "', expected a date and time such as 2017-10-03 05:48:00";
    ASSERT_GT(message.size(), kEnd.size()) << text;
    EXPECT_EQ(message.substr(message.size() - kEnd.size()), std::string(kEnd)) << text;
  }
  for (absl::string_view text :
       {"2017-10-03 24:00:00", "2017-10-03 05:60:00", "2016-12-31 23:59:60Z"}) {
    EXPECT_EQ(Parsed(text),
              absl::StrCat("found '", text, "', expected a time of day from 00:00:00 to 23:59:59"));
  }
  for (absl::string_view text :
       {"2017-10-03 05:48:00 PST", "2017-10-03 05:48:00x", "2017-10-03 05:48:00,5",
        "2017-10-03 05:48:00+25:00", "2017-10-03 05:48:00  Z"}) {
    EXPECT_EQ(Parsed(text), absl::StrCat("found '", text,
                                         "', expected a zone such as Z or +08:00 behind the time"));
  }
  EXPECT_EQ(Parsed("2017\x01"),
            "found '2017\\x01', expected a date and time such as 2017-10-03 05:48:00");
}

TEST(DateTimeTest, Rfc3339NeedsATimeAndAZone) {
  EXPECT_EQ(Text(ParseRfc3339("2017-10-03T05:48:00Z")), Ns(kNsOf2017));
  EXPECT_EQ(Text(ParseRfc3339("2017-10-03T13:48:00.25+08:00")), Ns(kNsOf2017 + 250'000'000));
  for (absl::string_view text : {"2017-10-03T05:48:00", "2017-10-03", "tomorrow", ""}) {
    EXPECT_EQ(Text(ParseRfc3339(text)),
              absl::StrCat("found '", text,
                           "', expected a date and time with its zone such as "
                           "2017-10-03T05:48:00Z"));
  }
  EXPECT_EQ(Text(ParseRfc3339("2017-11-31T05:48:00Z")),
            "found '2017-11-31T05:48:00Z', expected a day that is in the calendar");
  EXPECT_EQ(Text(ParseRfc3339("2017-11-30T25:48:00Z")),
            "found '2017-11-30T25:48:00Z', expected a time of day from 00:00:00 to 23:59:59");
  EXPECT_EQ(Text(ParseRfc3339("2300-01-01T00:00:00Z")),
            "found '2300-01-01T00:00:00Z', expected a time from the years 1678 to 2261");
}

TEST(DateTimeTest, FormatsAsShortAsIsExact) {
  EXPECT_EQ(FormatRfc3339(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(FormatRfc3339(kNsOf2017), "2017-10-03T05:48:00Z");
  EXPECT_EQ(FormatRfc3339(kNsOf2017 + 500'000'000), "2017-10-03T05:48:00.5Z");
  EXPECT_EQ(FormatRfc3339(kNsOf2017 + 10), "2017-10-03T05:48:00.00000001Z");
  EXPECT_EQ(FormatRfc3339(-1), "1969-12-31T23:59:59.999999999Z");
  EXPECT_EQ(FormatRfc3339(-kDayNs), "1969-12-31T00:00:00Z");
}

TEST(DateTimeTest, RandomTimesSurviveTextAndBack) {
  Random random(5, "date_time");
  for (int round = 0; round < 20'000; ++round) {
    // Up to 2^62 either way, with as many zeros behind as chance has it.
    int64_t ns = static_cast<int64_t>(random.Below(uint64_t{1} << 62));
    if (random.Below(2) == 0) ns -= ns % kSecondNs;
    if (random.Below(2) == 0) ns = -ns;
    const std::string text = FormatRfc3339(ns);
    EXPECT_EQ(Text(ParseRfc3339(text)), Ns(ns)) << text;
  }
}

}  // namespace date_time_test
}  // namespace drasim
