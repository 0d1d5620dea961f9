#include "gui/view/timeline.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "gui/view/unit_text.h"
#include "model/check.h"
#include "model/status_macros.h"

namespace drasim::view {
namespace {

constexpr char kTimeExamples[] =
    "write 12:30:00, 3d4h, 5000s, +10m, 50%, start, end or record 1234";

absl::Status BadTime(absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("\"", text, "\" ", why));
}

struct TimeUnit {
  const char* name;
  int64_t ns;
};

constexpr std::array<TimeUnit, 7> kTimeUnits = {{{"d", 86'400 * kSecondNs},
                                                 {"h", 3'600 * kSecondNs},
                                                 {"m", 60 * kSecondNs},
                                                 {"s", kSecondNs},
                                                 {"ms", 1'000'000},
                                                 {"us", 1'000},
                                                 {"ns", 1}}};

// A decimal number as nanoseconds, exact; false if it is none or too large. Digits below the
// nanosecond are dropped.
bool ScaleDecimal(absl::string_view digits, int64_t unit_ns, int64_t* ns) {
  const size_t point = digits.find('.');
  const absl::string_view whole = digits.substr(0, point);
  absl::string_view fraction =
      point == absl::string_view::npos ? absl::string_view() : digits.substr(point + 1);
  if (whole.empty() || (point != absl::string_view::npos && fraction.empty())) return false;
  const auto all_digits = [](absl::string_view part) {
    return std::all_of(part.begin(), part.end(),
                       [](char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); });
  };
  if (!all_digits(whole) || !all_digits(fraction) || whole.size() > 18) return false;
  fraction = fraction.substr(0, 15);
  int64_t whole_units = 0;
  int64_t parts = 0;
  if (!absl::SimpleAtoi(whole, &whole_units)) return false;
  if (!fraction.empty() && !absl::SimpleAtoi(fraction, &parts)) return false;
  int64_t scale = 1;
  for (size_t i = 0; i < fraction.size(); ++i) scale *= 10;
  const absl::int128 total =
      absl::int128(whole_units) * unit_ns + absl::int128(parts) * unit_ns / scale;
  if (total > std::numeric_limits<int64_t>::max()) return false;
  *ns = static_cast<int64_t>(total);
  return true;
}

bool AddNs(int64_t more, int64_t* sum) {
  if (more > std::numeric_limits<int64_t>::max() - *sum) return false;
  *sum += more;
  return true;
}

// "12:30", "12:30:00", "12:30:00.250".
absl::StatusOr<int64_t> ParseColons(absl::string_view text) {
  std::array<absl::string_view, 3> parts;
  size_t count = 0;
  absl::string_view rest = text;
  while (true) {
    if (count == parts.size()) return BadTime(text, "has more than hours, minutes and seconds");
    const size_t colon = rest.find(':');
    parts[count++] = rest.substr(0, colon);
    if (colon == absl::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  static constexpr std::array<int64_t, 3> kUnits = {3'600 * kSecondNs, 60 * kSecondNs, kSecondNs};
  int64_t sum = 0;
  for (size_t i = 0; i < count; ++i) {
    const bool may_have_fraction = i == 2;
    int64_t ns = 0;
    const bool whole = !absl::StrContains(parts[i], '.');
    if ((!whole && !may_have_fraction) || !ScaleDecimal(parts[i], kUnits[i], &ns) ||
        !AddNs(ns, &sum)) {
      return BadTime(text, "is no time of the form hours:minutes:seconds");
    }
    if (i > 0 && ns >= 60 * kUnits[i]) {
      return BadTime(text, i == 1 ? "has more than 59 minutes" : "has more than 59 seconds");
    }
  }
  return sum;
}

// "3d4h", "4h10m13.366s", "3d12:30:00".
absl::StatusOr<int64_t> ParseLength(absl::string_view text) {
  if (text.empty()) return absl::InvalidArgumentError(absl::StrCat("no time: ", kTimeExamples));
  int64_t sum = 0;
  size_t next_unit = 0;  // units must get smaller
  absl::string_view rest = text;
  while (!rest.empty()) {
    size_t digits = 0;
    while (digits < rest.size() &&
           (absl::ascii_isdigit(static_cast<unsigned char>(rest[digits])) || rest[digits] == '.')) {
      ++digits;
    }
    if (digits == 0) return BadTime(text, absl::StrCat("is no time; ", kTimeExamples));
    if (digits < rest.size() && rest[digits] == ':') {
      // Only days may stand before hours.
      if (next_unit > 1) return BadTime(text, "has hours and minutes twice");
      ASSIGN_OR_RETURN(const int64_t ns, ParseColons(rest));
      if (!AddNs(ns, &sum)) return BadTime(text, "is longer than 292 years");
      return sum;
    }
    size_t letters = digits;
    while (letters < rest.size() &&
           absl::ascii_isalpha(static_cast<unsigned char>(rest[letters]))) {
      ++letters;
    }
    const absl::string_view number = rest.substr(0, digits);
    const absl::string_view name = rest.substr(digits, letters - digits);
    if (name.empty()) {
      return BadTime(text, absl::StrCat("has no unit after ", number, "; write ", number,
                                        "s for "
                                        "seconds, or record ",
                                        number));
    }
    size_t unit = 0;
    while (unit < kTimeUnits.size() && name != kTimeUnits[unit].name) ++unit;
    if (unit == kTimeUnits.size() && (name == "min" || name == "day" || name == "days")) {
      unit = name == "min" ? 2 : 0;
    }
    if (unit == kTimeUnits.size()) {
      return BadTime(text, absl::StrCat("has the unknown unit \"", name,
                                        "\"; units are d, h, m, s, ms, us, ns"));
    }
    if (unit < next_unit) {
      return BadTime(text, absl::StrCat("has ", name, " after a smaller or equal unit"));
    }
    next_unit = unit + 1;
    int64_t ns = 0;
    if (!ScaleDecimal(number, kTimeUnits[unit].ns, &ns)) {
      // 18 digits are more than any time has.
      const bool number_like = std::count(number.begin(), number.end(), '.') <= 1 &&
                               number.front() != '.' && number.back() != '.';
      return number_like ? BadTime(text, "is longer than 292 years")
                         : BadTime(text, absl::StrCat("has no number in ", number));
    }
    if (!AddNs(ns, &sum)) return BadTime(text, "is longer than 292 years");
    rest.remove_prefix(letters);
  }
  return sum;
}

absl::StatusOr<TimeTarget> ParseRecord(absl::string_view text, absl::string_view number,
                                       const TypedPlace& place) {
  const std::string digits = absl::StrReplaceAll(number, {{",", ""}});
  const bool is_number = !digits.empty() && std::all_of(digits.begin(), digits.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c));
  });
  if (!is_number) return BadTime(text, "names no record; write record 1234");
  if (place.clock == nullptr) return BadTime(text, "needs a run whose records are numbered");
  uint64_t record = 0;
  const uint64_t records = place.clock->records();
  if (!absl::SimpleAtoi(digits, &record) || record > records) {
    return absl::OutOfRangeError(absl::StrCat("there is no record ", number, "; the last one is ",
                                              CommaText(static_cast<int64_t>(records))));
  }
  TimeTarget target;
  target.time = place.clock->TimeOf(record);
  target.record = record;
  return target;
}

bool IsBefore(const TimeTarget& a, const TimeTarget& b) {
  if (a.time != b.time) return a.time < b.time;
  // Without a record, the end of the instant is meant.
  constexpr uint64_t kLast = std::numeric_limits<uint64_t>::max();
  return a.record.value_or(kLast) < b.record.value_or(kLast);
}

// length * per_mille / 1000 without overflow, at most the largest number.
int64_t Scaled(int64_t length, int64_t per_mille) {
  const absl::int128 product = absl::int128(length) * per_mille / 1000;
  const absl::int128 most = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::clamp(product, -most, most));
}

// a + b, kept within 0 and `end`.
SimTime ShiftedWithin(SimTime a, int64_t b, SimTime end) {
  const absl::int128 sum = absl::int128(a.ns()) + b;
  return SimTime(static_cast<int64_t>(std::clamp(sum, absl::int128(0), absl::int128(end.ns()))));
}

}  // namespace

absl::StatusOr<TimeTarget> ParseTarget(absl::string_view text, const TypedPlace& place) {
  std::string lower = absl::AsciiStrToLower(absl::StripAsciiWhitespace(text));
  absl::string_view rest = lower;
  if (absl::ConsumePrefix(&rest, "record") || absl::ConsumePrefix(&rest, "#")) {
    return ParseRecord(text, absl::StripAsciiWhitespace(rest), place);
  }
  // "3d 4h" is "3d4h".
  lower = absl::StrReplaceAll(lower, {{" ", ""}, {"\t", ""}});
  rest = lower;
  if (rest.empty()) return absl::InvalidArgumentError(absl::StrCat("no time: ", kTimeExamples));
  TimeTarget target;
  if (rest == "start") return target;
  if (rest == "end") {
    target.time = place.end;
    return target;
  }
  if (absl::ConsumeSuffix(&rest, "%")) {
    // In thousandths of a per cent: as a number of "seconds", scaled.
    int64_t milli = 0;
    if (!ScaleDecimal(rest, 1000, &milli)) return BadTime(text, "has no number before %");
    if (milli > 100'000) return absl::OutOfRangeError("more than 100 % lies behind the run's end");
    target.time = SimTime(static_cast<int64_t>(absl::int128(place.end.ns()) * milli / 100'000));
    return target;
  }
  const bool later = absl::ConsumePrefix(&rest, "+");
  const bool earlier = !later && absl::ConsumePrefix(&rest, "-");
  ASSIGN_OR_RETURN(const int64_t ns, ParseLength(rest));
  if (place.by_record) {
    return BadTime(text, "is a time, and a fill has none; write 50%, start, end or record 1234");
  }
  absl::int128 time = ns;
  if (later) time = absl::int128(place.now.ns()) + ns;
  if (earlier) time = absl::int128(place.now.ns()) - ns;
  if (time < 0) {
    return absl::OutOfRangeError(absl::StrCat(DurationText(SimDuration(ns)), " before ",
                                              TimeText(place.now), " lies before the run's start"));
  }
  if (time > place.end.ns()) {
    return absl::OutOfRangeError(
        absl::StrCat("\"", text, "\" lies behind the run's end at ", TimeText(place.end)));
  }
  target.time = SimTime(static_cast<int64_t>(time));
  return target;
}

// --- The clock ---

Timeline::Timeline(SimTime end) : end_(end), window_end_(end) { DRASIM_CHECK(end >= SimTime()); }

void Timeline::SetEnd(SimTime end) {
  DRASIM_CHECK(end >= end_);
  const bool everything = shows_everything();
  end_ = end;
  if (everything) ShowEverything();
}

void Timeline::MoveTo(const TimeTarget& target) {
  cursor_ = target;
  if (target.time < SimTime() || target.time > end_) {
    cursor_.time = std::clamp(target.time, SimTime(), end_);
    cursor_.record.reset();
  }
  Follow();
}

bool Timeline::Step(StepUnit unit, const StepPlaces& places, bool forward) {
  switch (unit) {
    case StepUnit::kRecord:
      return places.clock != nullptr && StepRecord(*places.clock, forward);
    case StepUnit::kEvent:
      return StepAmong(places.events, forward);
    case StepUnit::kAttempt:
      return StepAmong(places.attempts, forward);
    case StepUnit::kDivergence:
      return StepAmong(places.divergences, forward);
  }
  return false;
}

bool Timeline::StepRecord(const RecordClock& clock, bool forward) {
  const uint64_t here =
      cursor_.record.has_value() ? *cursor_.record : clock.LastRecordAt(cursor_.time);
  if (forward ? here >= clock.records() : here == 0) return false;
  TimeTarget target;
  target.record = forward ? here + 1 : here - 1;
  target.time = clock.TimeOf(*target.record);
  // Between two records, the step back goes to the earlier of them.
  if (!forward && !cursor_.record.has_value() && clock.TimeOf(here) < cursor_.time) {
    target.record = here;
    target.time = clock.TimeOf(here);
  }
  MoveTo(target);
  return true;
}

bool Timeline::StepAmong(absl::Span<const TimeTarget> places, bool forward) {
  if (forward) {
    const auto next = std::upper_bound(places.begin(), places.end(), cursor_, IsBefore);
    if (next == places.end()) return false;
    MoveTo(*next);
    return true;
  }
  const auto here = std::lower_bound(places.begin(), places.end(), cursor_, IsBefore);
  if (here == places.begin()) return false;
  MoveTo(*std::prev(here));
  return true;
}

bool Timeline::shows_everything() const { return begin_ == SimTime() && window_end_ == end_; }

void Timeline::SetMode(WindowMode mode) {
  mode_ = mode;
  Follow();
}

void Timeline::SetWindow(SimTime begin, SimTime end) {
  const int64_t least = std::min(kMinWindow.ns(), end_.ns());
  begin_ = std::clamp(begin, SimTime(), end_);
  window_end_ = std::clamp(end, begin_, end_);
  if ((window_end_ - begin_).ns() >= least) return;
  window_end_ = ShiftedWithin(begin_, least, end_);
  begin_ = ShiftedWithin(window_end_, -least, end_);
}

void Timeline::Zoom(int64_t per_mille, SimTime around) {
  DRASIM_CHECK(per_mille > 0);
  const SimTime fixed = std::clamp(around, begin_, window_end_);
  const int64_t before = Scaled((fixed - begin_).ns(), per_mille);
  const int64_t after = Scaled((window_end_ - fixed).ns(), per_mille);
  SetWindow(ShiftedWithin(fixed, -before, end_), ShiftedWithin(fixed, after, end_));
}

void Timeline::Pan(int64_t per_mille) {
  const SimDuration length = window_end_ - begin_;
  const SimTime last_begin(end_.ns() - length.ns());
  begin_ = ShiftedWithin(begin_, Scaled(length.ns(), per_mille), last_begin);
  window_end_ = begin_ + length;
}

void Timeline::ShowEverything() {
  begin_ = SimTime();
  window_end_ = end_;
}

void Timeline::Follow() {
  if (mode_ == WindowMode::kStay) return;
  if (cursor_.time >= begin_ && cursor_.time <= window_end_) return;
  // The cursor enters at a quarter, so that most of the window shows what comes.
  const int64_t length = (window_end_ - begin_).ns();
  const SimTime last_begin(end_.ns() - length);
  begin_ = ShiftedWithin(cursor_.time, -length / 4, last_begin);
  window_end_ = SimTime(begin_.ns() + length);
}

void Timeline::Play() {
  if (cursor_.time >= end_) MoveTo(TimeTarget());
  playing_ = true;
}

void Timeline::SetSpeed(int64_t speed) {
  speed_ = std::clamp(speed, kPlaySpeeds[0], std::end(kPlaySpeeds)[-1]);
}

void Timeline::Faster() {
  const auto* const next = std::upper_bound(std::begin(kPlaySpeeds), std::end(kPlaySpeeds), speed_);
  if (next != std::end(kPlaySpeeds)) speed_ = *next;
}

void Timeline::Slower() {
  const auto* const here = std::lower_bound(std::begin(kPlaySpeeds), std::end(kPlaySpeeds), speed_);
  if (here != std::begin(kPlaySpeeds)) speed_ = *std::prev(here);
}

void Timeline::Advance(SimDuration elapsed) {
  DRASIM_CHECK(elapsed >= SimDuration());
  if (!playing_ || elapsed == SimDuration()) return;
  TimeTarget target;
  target.time = ShiftedWithin(cursor_.time, Scaled(elapsed.ns(), 1000 * speed_), end_);
  MoveTo(target);
  if (cursor_.time >= end_) playing_ = false;
}

void Timeline::AddBookmark(std::string name) {
  Bookmark bookmark;
  bookmark.at = cursor_;
  bookmark.name = std::move(name);
  const auto place =
      std::lower_bound(bookmarks_.begin(), bookmarks_.end(), bookmark,
                       [](const Bookmark& a, const Bookmark& b) { return IsBefore(a.at, b.at); });
  if (place != bookmarks_.end() && place->at == bookmark.at) {
    place->name = std::move(bookmark.name);
  } else {
    bookmarks_.insert(place, std::move(bookmark));
  }
}

void Timeline::RenameBookmark(size_t index, std::string name) {
  DRASIM_CHECK_LT(index, bookmarks_.size());
  bookmarks_[index].name = std::move(name);
}

void Timeline::RemoveBookmark(size_t index) {
  DRASIM_CHECK_LT(index, bookmarks_.size());
  bookmarks_.erase(bookmarks_.begin() + static_cast<std::ptrdiff_t>(index));
}

bool Timeline::StepBookmark(bool forward) {
  std::vector<TimeTarget> places;
  for (const Bookmark& bookmark : bookmarks_) places.push_back(bookmark.at);
  return StepAmong(places, forward);
}

}  // namespace drasim::view
