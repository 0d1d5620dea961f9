// The one clock of all panels: cursor, window of the plots, playing, stepping, bookmarks, and times
// as a user types them.
//
//   Timeline timeline(run_end);
//   timeline.SetSpeed(60);
//   timeline.Play();
//   timeline.Advance(frame_time);            // at every frame
//   ASSIGN_OR_RETURN(const TimeTarget target, ParseTarget("12:30:00", place));
//   timeline.MoveTo(target);
#ifndef DRASIM_GUI_VIEW_TIMELINE_H_
#define DRASIM_GUI_VIEW_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/time.h"

namespace drasim::view {

// A place in the run: an instant or, exactly, the state after a record. Records count from 1; 0 is
// the state before the first.
struct TimeTarget {
  SimTime time;
  std::optional<uint64_t> record = std::nullopt;  // absent: the end of the instant
  bool operator==(const TimeTarget&) const = default;
};

// Times of the records of a run. Answers must not depend on earlier questions.
class RecordClock {
 public:
  virtual ~RecordClock() = default;
  virtual uint64_t records() const = 0;
  // The time of a record; of 0 the start of the run. REQUIRES: record <= records().
  virtual SimTime TimeOf(uint64_t record) const = 0;
  // The last record at or before the time; 0 if there is none.
  virtual uint64_t LastRecordAt(SimTime time) const = 0;
};

// --- Typed times ---

// Surroundings of a typed time.
struct TypedPlace {
  SimTime now;                         // "+10m" counts from here
  SimTime end;                         // of the run
  const RecordClock* clock = nullptr;  // absent: "record 12" is an error
  bool by_record = false;              // the run has no times, so that "3h" is an error
};

// Reads a typed time, with blanks around it and between its parts ignored:
//
//   12:30:00  12:30  3d 12:30:00.250   hours, minutes, seconds; hours may exceed 24
//   3d4h  4h10m13.366s  5000s  250ms   parts in decreasing units: d h m s ms us ns
//   +10m  -1:00                        from the cursor
//   start  end  50%
//   record 1234  #1,234
//
// InvalidArgument says in one sentence what is wrong with the text, OutOfRange where the run ends.
absl::StatusOr<TimeTarget> ParseTarget(absl::string_view text, const TypedPlace& place);

// --- The clock ---

// Behaviour of a zoomed window of time when the cursor leaves it.
enum class WindowMode : uint8_t { kFollow, kStay };

// Targets of a step.
enum class StepUnit : uint8_t { kRecord, kEvent, kAttempt, kDivergence };

// Their places, sorted by time, then record. Whatever is not known is empty.
struct StepPlaces {
  const RecordClock* clock = nullptr;
  absl::Span<const TimeTarget> events;    // of the selected object
  absl::Span<const TimeTarget> attempts;  // of the selected pod
  absl::Span<const TimeTarget> divergences;
};

struct Bookmark {
  TimeTarget at;
  std::string name;
  bool operator==(const Bookmark&) const = default;
};

// Speeds of playing: virtual seconds per second.
inline constexpr int64_t kPlaySpeeds[] = {1,   2,    5,    10,   20,    50,    60,    100,   200,
                                          500, 1000, 2000, 5000, 10000, 20000, 50000, 100000};

class Timeline {
 public:
  // REQUIRES: end >= 0. The window shows everything, the cursor stands at the start.
  explicit Timeline(SimTime end);

  SimTime end() const { return end_; }
  // A live run grows. A window that showed everything still does. REQUIRES: not before end().
  void SetEnd(SimTime end);

  // --- Cursor ---
  const TimeTarget& cursor() const { return cursor_; }
  // Times outside of the run are moved to its ends.
  void MoveTo(const TimeTarget& target);
  // To the next or previous place of that kind. False if there is none.
  bool Step(StepUnit unit, const StepPlaces& places, bool forward);
  // The neighbouring record. False at the end of the run's records.
  bool StepRecord(const RecordClock& clock, bool forward);
  // The next or previous one of some places, sorted as in StepPlaces.
  bool StepAmong(absl::Span<const TimeTarget> places, bool forward);

  // --- Window ---
  SimTime window_begin() const { return begin_; }
  SimTime window_end() const { return window_end_; }
  bool shows_everything() const;
  WindowMode mode() const { return mode_; }
  void SetMode(WindowMode mode);
  // Kept inside the run, and at least kMinWindow long where the run is.
  void SetWindow(SimTime begin, SimTime end);
  // Scales the window's length by per_mille / 1000; the instant `around` keeps its place in it.
  // REQUIRES: per_mille > 0.
  void Zoom(int64_t per_mille, SimTime around);
  // Moves the window by a thousandth of its length, times `per_mille`.
  void Pan(int64_t per_mille);
  void ShowEverything();

  // --- Playing ---
  bool playing() const { return playing_; }
  // At the end of the run, playing begins at its start.
  void Play();
  void Pause() { playing_ = false; }
  int64_t speed() const { return speed_; }
  // Clamped to 1..100,000.
  void SetSpeed(int64_t speed);
  // The next of kPlaySpeeds.
  void Faster();
  void Slower();
  // Moves a playing cursor by `elapsed` of the user's time, and stops at the end of the run.
  // REQUIRES: elapsed >= 0.
  void Advance(SimDuration elapsed);

  // --- Bookmarks ---
  // Sorted by place. A second one at the same place replaces the name of the first.
  absl::Span<const Bookmark> bookmarks() const { return bookmarks_; }
  void AddBookmark(std::string name);  // at the cursor
  // REQUIRES: index < bookmarks().size().
  void RenameBookmark(size_t index, std::string name);
  void RemoveBookmark(size_t index);
  bool StepBookmark(bool forward);

 private:
  void Follow();

  SimTime end_;
  TimeTarget cursor_;
  SimTime begin_;
  SimTime window_end_;
  WindowMode mode_ = WindowMode::kFollow;
  bool playing_ = false;
  int64_t speed_ = 60;
  std::vector<Bookmark> bookmarks_;
};

// Steps of a zoom, for Timeline::Zoom.
inline constexpr int64_t kZoomIn = 800;
inline constexpr int64_t kZoomOut = 1250;

// The shortest window.
inline constexpr SimDuration kMinWindow = SimDuration(1'000'000);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_TIMELINE_H_
