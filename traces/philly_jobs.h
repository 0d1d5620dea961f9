// The jobs of Microsoft's Philly trace, between the JSON text and the arrivals: the rules of
// philly_source.h, without its parser.
#ifndef DRASIM_TRACES_PHILLY_JOBS_H_
#define DRASIM_TRACES_PHILLY_JOBS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/event_source.h"
#include "model/ids.h"
#include "model/shape_table.h"
#include "traces/complaints.h"
#include "traces/csv_splitter.h"
#include "traces/format_source.h"
#include "traces/name_set.h"

namespace drasim {

// "YYYY-MM-DD HH:MM:SS" of Pacific time by the rule of 2017 to seconds from 1970 in UTC. In the
// hour that came twice: the earlier of the two times, or, when that is before `floor_s`, the later.
// False when `text` is no such time, is before 1970 or beyond kMaxTraceNs. (date_time.h knows fixed
// zones only.)
bool ParsePhillyTime(absl::string_view text, int64_t floor_s, int64_t* unix_s);

// A job as the log has it; absent texts were missing or null.
struct PhillyAttempt {
  std::optional<std::string> start;
  std::optional<std::string> end;
  int64_t gpus = 0;
};
struct PhillyJob {
  CsvPosition at;
  std::optional<std::string> name;
  std::optional<std::string> status;
  std::optional<std::string> vc;
  std::optional<std::string> submitted;
  std::vector<PhillyAttempt> attempts;
  // The first value of a wrong type: its field, and "found ..., expected ...".
  std::string wrong_type_field;
  std::string wrong_type;
};

// The path of a field of an attempt.
inline std::string PhillyAttemptField(size_t attempt, absl::string_view field) {
  return absl::StrCat("attempts[", attempt, "].", field);
}

// Turns raw jobs into arrivals.
class PhillyJobMaker {
 public:
  PhillyJobMaker(std::string file, const FormatInput& input, int32_t gpus_per_pod,
                 Complaints* complaints)
      : file_(std::move(file)),
        shapes_(input.shapes),
        time_offset_ns_(input.time_offset_ns),
        gpus_per_pod_(gpus_per_pod),
        complaints_(complaints) {}

  // Adds the job to jobs() unless it is left out or bad.
  void Add(const PhillyJob& raw);
  // Rejects an entry of the list that is no job.
  void RejectEntry(CsvPosition at, absl::string_view what) {
    complaints_->CountRow();
    complaints_->Reject("wrong type", "", absl::StrCat(Place(at), what));
  }
  std::string Place(CsvPosition at) const {
    return absl::StrCat(file_, ":", at.line, ":", at.column, ": ");
  }

  std::vector<JobArrival>& jobs() { return jobs_; }

 private:
  bool Make(const PhillyJob& raw, JobArrival* job);
  bool ReadStatus(const PhillyJob& raw, JobArrival* job);
  bool ReadTimes(const PhillyJob& raw, JobArrival* job);
  bool ReadAttempt(const PhillyJob& raw, size_t i, JobArrival* job);
  bool ReadTime(const PhillyJob& raw, const std::optional<std::string>& text,
                absl::string_view field, int64_t* unix_s);
  bool ChooseGpus(const PhillyJob& raw, int64_t* gpus);
  void Split(int64_t gpus, JobArrival* job);
  ShapeId InternShape(int64_t gpus, bool remainder);
  bool Bad(const PhillyJob& raw, absl::string_view kind, absl::string_view field,
           absl::string_view what);
  bool LeaveOut(const PhillyJob& raw, absl::string_view kind);
  void Warn(const PhillyJob& raw, absl::string_view kind, absl::string_view what);
  std::string Where(const PhillyJob& raw) const;

  const std::string file_;
  ShapeTable* const shapes_;
  const int64_t time_offset_ns_;
  const int64_t gpus_per_pod_;
  Complaints* const complaints_;

  int64_t latest_s_ = 0;       // of the times of the present job that have been read
  int64_t latest_end_s_ = -1;  // of its attempts; below 0: none
  NameSet names_;
  std::vector<JobArrival> jobs_;
};

}  // namespace drasim

#endif  // DRASIM_TRACES_PHILLY_JOBS_H_
