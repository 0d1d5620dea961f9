// Dates and times as text to nanoseconds from 1970-01-01T00:00:00Z, and back: integers only, in the
// Gregorian calendar throughout, without leap seconds (as POSIX time counts).
//
// Grammar: DATE, or DATE TIME ZONE?, with blanks around it ignored.
//   DATE  YYYY-MM-DD; alone it means the midnight with which the day begins
//   TIME  'T', 't' or one space, then HH:MM:SS and perhaps a fraction, '.' and digits
//   ZONE  one space or none, then "Z", "z", "UTC", or a sign and HH:MM, HHMM or HH
// This covers RFC 3339 ("2017-10-03T05:48:00.5Z") and what cluster logs print ("2017-10-03
// 05:48:00", "2020-09-01 00:00:00+08:00").
#ifndef DRASIM_TRACES_DATE_TIME_H_
#define DRASIM_TRACES_DATE_TIME_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace drasim {

enum class DateTimeError {
  kNone,
  kNotADateTime,  // another form
  kNoSuchDay,     // "2017-02-29"
  kNoSuchTime,    // "24:00:00"; leap seconds, too
  kBadZone,       // the rest behind the time is no zone
  kOutOfRange,    // beyond int64: 1677 to 2262
};

// The text that was expected instead: "a zone such as Z or +08:00 behind the time". For every error
// but kNone.
absl::string_view ExpectedDateTime(DateTimeError error);

// The seconds that a zone is ahead of UTC; the empty text is UTC. `*seconds` is set only when the
// result is true.
bool ParseZone(absl::string_view zone, int64_t* seconds);

// A text without a zone has the zone that is `default_zone_s` ahead of UTC. Fractions of a
// nanosecond are rounded up. `*ns` is set only when the result is kNone; it is
// negative for times before 1970. O(length of the text).
DateTimeError ParseDateTime(absl::string_view text, int64_t default_zone_s, int64_t* ns);

// The same with a zone as text, which may be empty. InvalidArgument: "found '...', expected ...".
absl::StatusOr<int64_t> ParseDateTimeNs(absl::string_view text, absl::string_view default_zone);

// A time that RFC 3339 allows, hence with time and zone. InvalidArgument as above.
absl::StatusOr<int64_t> ParseRfc3339(absl::string_view text);

// "2017-10-03T05:48:00Z", with as many decimals as are needed and none that is not.
std::string FormatRfc3339(int64_t ns);

}  // namespace drasim

#endif  // DRASIM_TRACES_DATE_TIME_H_
