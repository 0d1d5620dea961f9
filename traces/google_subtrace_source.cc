#include "traces/google_subtrace_source.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/ids.h"
#include "model/pod_shape.h"
#include "model/status_macros.h"
#include "model/time.h"
#include "traces/byte_source.h"
#include "traces/column_reader.h"
#include "traces/csv_splitter.h"
#include "traces/decimal.h"

namespace drasim {
namespace {

constexpr int64_t kMilliPerCore = 1000;
constexpr absl::string_view kSubtrace = "google-subtrace";
// Ahead of the run times: arrival, n_tasks, mean_duration.
constexpr size_t kSubtraceHead = 3;
// One line holds the run times of all tasks of a job.
constexpr size_t kMaxSubtraceLineBytes = size_t{64} << 20;

CsvOptions SubtraceCsv() {
  CsvOptions csv;
  csv.separator = ' ';
  csv.max_row_bytes = kMaxSubtraceLineBytes;
  return csv;
}

class GoogleSubtraceSource final : public TraceFormatSource {
 public:
  GoogleSubtraceSource(std::unique_ptr<ByteSource> bytes, const FormatInput& input)
      : bytes_(std::move(bytes)),
        splitter_(bytes_.get(), SubtraceCsv()),
        time_offset_ns_(input.time_offset_ns),
        complaints_(input.lenient, kLenientAdvice) {
    PodShape shape;
    shape.request.cpu_milli = kMilliPerCore;
    shape_ = input.shapes->Intern(shape);
  }

  absl::StatusOr<bool> Next(JobArrival* out) override;
  void Save(StateWriter& out) const override;
  absl::Status Load(StateReader& in) override;
  std::vector<std::string> Warnings() const override { return complaints_.Lines(); }

 private:
  bool NextLine();
  bool ReadLine();
  bool ReadSeconds(size_t field, absl::string_view name, int64_t* ns);
  bool Reject(absl::string_view kind, absl::string_view column, CsvPosition at,
              absl::string_view what);
  bool RejectField(absl::string_view kind, size_t field, absl::string_view name,
                   absl::string_view expected);

  std::unique_ptr<ByteSource> bytes_;
  CsvSplitter splitter_;
  const int64_t time_offset_ns_;
  Complaints complaints_;
  ShapeId shape_;

  int64_t line_ = 0;  // whose tasks are being served
  int64_t arrival_ns_ = 0;
  std::vector<int64_t> run_ns_;
  size_t next_ = 0;  // of run_ns_
  bool ended_ = false;
  absl::Status status_;  // the error that ended the source
};

absl::StatusOr<bool> GoogleSubtraceSource::Next(JobArrival* out) {
  if (!ended_ && next_ == run_ns_.size()) ended_ = !NextLine();
  RETURN_IF_ERROR(status_);
  if (ended_) return false;
  *out = JobArrival();
  out->name = absl::StrCat("job-", line_, "-", next_);
  out->shape = shape_;
  out->time = SimTime(arrival_ns_);
  out->has_run_time = true;
  out->run_time = SimDuration(run_ns_[next_]);
  ++next_;
  return true;
}

// Goes to the next good line. False at the end, or on an error that status_ has. Lines behind a bad
// one are read for the report alone.
bool GoogleSubtraceSource::NextLine() {
  for (;;) {
    switch (splitter_.Next()) {
      case CsvSplitter::Result::kRow:
        complaints_.CountRow();
        if (ReadLine() && !complaints_.has_bad_rows()) return true;
        break;
      case CsvSplitter::Result::kEnd:
        status_ = complaints_.Error();
        return false;
      case CsvSplitter::Result::kBadRow:
        complaints_.CountRow();
        Reject(splitter_.error().kind, "row", splitter_.error().at,
               absl::StrCat("row: ", splitter_.error().what));
        break;
      case CsvSplitter::Result::kFailed:
        status_ = complaints_.Error(splitter_.status());
        return false;
    }
  }
}

// False when the line is bad: it has been rejected then, and nothing has changed.
bool GoogleSubtraceSource::ReadLine() {
  if (splitter_.size() <= kSubtraceHead) {
    return Reject("too few fields", "row", splitter_.end_position(),
                  absl::StrCat("row: found ", splitter_.size(), " fields, expected at least ",
                               kSubtraceHead + 1));
  }
  int64_t arrival_ns = 0;
  int64_t mean_ns = 0;
  int64_t tasks = 0;
  if (!ReadSeconds(0, "arrival", &arrival_ns)) return false;
  if (!ShiftTime(arrival_ns, time_offset_ns_, &arrival_ns)) {
    return RejectField("time out of range", 0, "arrival",
                       "a time that the offset leaves between 0 and 126 years");
  }
  if (arrival_ns < arrival_ns_) {
    return RejectField("arrival out of order", 0, "arrival",
                       absl::StrCat("a time not before that of line ", line_));
  }
  if (ParseWhole(splitter_.field(1), &tasks) != DecimalError::kNone || tasks < 1) {
    return RejectField("not a number", 1, "n_tasks", "a whole number of at least 1");
  }
  if (!ReadSeconds(2, "mean_duration", &mean_ns)) return false;
  const size_t count = splitter_.size() - kSubtraceHead;
  if (static_cast<uint64_t>(tasks) != count) {
    return RejectField("wrong number of tasks", 1, "n_tasks",
                       absl::StrCat(count, ", the number of run times in the line"));
  }
  std::vector<int64_t> run_ns(count);
  for (size_t i = 0; i < count; ++i) {
    if (!ReadSeconds(kSubtraceHead + i, absl::StrCat("d", i + 1), &run_ns[i])) return false;
  }
  line_ = splitter_.line();
  arrival_ns_ = arrival_ns;
  run_ns_ = std::move(run_ns);
  next_ = 0;
  return true;
}

bool GoogleSubtraceSource::ReadSeconds(size_t field, absl::string_view name, int64_t* ns) {
  const DecimalError error = ParseNearest(splitter_.field(field), kSecondNs, ns);
  if (error == DecimalError::kNone && *ns <= kMaxTraceNs) return true;
  return RejectField("not a number", field, name,
                     "a plain number of seconds that is neither negative nor above 126 years");
}

// The run times count as one column.
bool GoogleSubtraceSource::RejectField(absl::string_view kind, size_t field, absl::string_view name,
                                       absl::string_view expected) {
  return Reject(
      kind, field < kSubtraceHead ? name : "d", splitter_.position(field),
      absl::StrCat(name, ": found '", ShownText(splitter_.field(field)), "', expected ", expected));
}

// Always false.
bool GoogleSubtraceSource::Reject(absl::string_view kind, absl::string_view column, CsvPosition at,
                                  absl::string_view what) {
  complaints_.Reject(kind, column,
                     absl::StrCat(bytes_->name(), ":", at.line, ":", at.column, ": ", what));
  return false;
}

void GoogleSubtraceSource::Save(StateWriter& out) const {
  out.Section(kSubtrace);
  out.I64(line_);
  out.I64(arrival_ns_);
  out.U64(run_ns_.size());
  out.U64(next_);
  out.Bool(ended_);
}

absl::Status GoogleSubtraceSource::Load(StateReader& in) {
  DRASIM_CHECK_EQ(line_, 0);
  in.Section(kSubtrace);
  const int64_t line = in.I64();
  const int64_t arrival_ns = in.I64();
  const uint64_t tasks = in.U64();
  const uint64_t next = in.U64();
  const bool ended = in.Bool();
  RETURN_IF_ERROR(in.status());
  bool more = true;
  while (more && line_ < line) more = NextLine();
  const bool same = line_ == line && arrival_ns_ == arrival_ns && run_ns_.size() == tasks &&
                    next <= tasks && (!ended || !NextLine());
  RETURN_IF_ERROR(status_);
  if (!same) {
    return absl::DataLossError(
        "the checkpoint was made from another trace: its place is not to be found in this one");
  }
  next_ = static_cast<size_t>(next);
  ended_ = ended;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<TraceFormatSource>> OpenSubtrace(const FormatInput& input) {
  RETURN_IF_ERROR(RefuseGpusPerPod(input, kSubtrace));
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> bytes, OpenByteSource(input.path));
  return std::make_unique<GoogleSubtraceSource>(std::move(bytes), input);
}

}  // namespace

SpecialFormat GoogleSubtraceFormat() {
  SpecialFormat format;
  format.name = std::string(kSubtrace);
  format.description =
      "Task run times of Google's cells, as the simulators of Sparrow, Eagle and Megha read them";
  format.open = OpenSubtrace;
  return format;
}

}  // namespace drasim
