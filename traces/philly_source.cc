#include "traces/philly_source.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/device_set.h"
#include "model/status_macros.h"
#include "traces/byte_source.h"
#include "traces/column_reader.h"
#include "traces/csv_splitter.h"
#include "traces/philly_jobs.h"

// clang 14 does not take the <ranges> of libstdc++ 12, which the library would include.
#define JSON_HAS_RANGES 0
#include <nlohmann/json.hpp>

namespace drasim {
namespace {

constexpr absl::string_view kPhillyName = "philly";

// --- JSON ---

// The characters of a byte source, one by one.
class CharStream {
 public:
  explicit CharStream(ByteSource* source) : source_(source), buffer_(kBufferBytes) { Refill(); }
  CharStream(const CharStream&) = delete;
  CharStream& operator=(const CharStream&) = delete;

  // Whether there is no further character. The answer yes is remembered.
  bool AtEnd() {
    asked_behind_end_ = asked_behind_end_ || pos_ == size_;
    return pos_ == size_;
  }
  char Current() const { return buffer_[pos_]; }
  void Advance() {
    last_ = next_;
    if (buffer_[pos_] == '\n') {
      ++next_.line;
      next_.column = 1;
    } else {
      ++next_.column;
    }
    if (++pos_ == size_) Refill();
  }

  // The place of the last character that was passed.
  CsvPosition last() const { return last_; }
  bool asked_behind_end() const { return asked_behind_end_; }
  // Why the characters ended, if not because the source did.
  const absl::Status& status() const { return status_; }

 private:
  static constexpr size_t kBufferBytes = size_t{64} << 10;

  void Refill() {
    pos_ = 0;
    size_ = 0;
    if (!status_.ok()) return;
    absl::StatusOr<size_t> count = source_->Read(buffer_.data(), buffer_.size());
    if (count.ok()) {
      size_ = *count;
    } else {
      status_ = count.status();
    }
  }

  ByteSource* const source_;
  std::vector<char> buffer_;
  size_t pos_ = 0;
  size_t size_ = 0;
  CsvPosition last_;
  CsvPosition next_;
  bool asked_behind_end_ = false;
  absl::Status status_;
};

// The JSON parser's view of a stream. All iterators of a stream are at the same place; a default
// one is the end.
class CharIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  CharIterator() = default;
  explicit CharIterator(CharStream* stream) : stream_(stream) {}

  char operator*() const { return stream_->Current(); }
  CharIterator& operator++() {
    stream_->Advance();
    return *this;
  }
  void operator++(int) { stream_->Advance(); }
  bool operator==(const CharIterator& other) const { return AtEnd() == other.AtEnd(); }
  bool operator!=(const CharIterator& other) const { return !(*this == other); }

 private:
  bool AtEnd() const { return stream_ == nullptr || stream_->AtEnd(); }

  CharStream* stream_ = nullptr;
};

// Builds raw jobs from the events of the JSON parser, one at a time, and hands them on.
class LogHandler final : public nlohmann::json_sax<nlohmann::json> {
 public:
  LogHandler(CharStream* stream, PhillyJobMaker* maker) : stream_(stream), maker_(maker) {}

  // Why the handler has stopped the parser.
  const absl::Status& status() const { return status_; }

  bool null() override { return Scalar("null", Found::kNull, ""); }
  bool boolean(bool value) override { return Scalar(value ? "true" : "false", Found::kOther, ""); }
  bool number_integer(number_integer_t value) override {
    return Scalar(absl::StrCat(value), Found::kOther, "");
  }
  bool number_unsigned(number_unsigned_t value) override {
    return Scalar(absl::StrCat(value), Found::kOther, "");
  }
  bool number_float(number_float_t, const string_t& text) override {
    return Scalar(text, Found::kOther, "");
  }
  bool string(string_t& text) override {
    return Scalar(absl::StrCat("'", ShownText(text), "'"), Found::kText, text);
  }
  // JSON text has no such values.
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return Begin(Found::kObject); }
  bool end_object() override { return End(); }
  bool start_array(std::size_t) override { return Begin(Found::kList); }
  bool end_array() override { return End(); }
  bool key(string_t& text) override {
    if (skipped_ == 0) key_ = text;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    const absl::string_view found =
        stream_->asked_behind_end() ? "the end of the input" : "text that is not JSON";
    status_ = absl::InvalidArgumentError(absl::StrCat(maker_->Place(stream_->last()), "found ",
                                                      found, ", expected a JSON list of jobs"));
    return false;
  }

 private:
  enum class Found { kNull, kText, kOther, kList, kObject };
  // The innermost structure that the parser is in.
  enum class Level { kFile, kJobs, kJob, kAttempts, kAttempt, kDetails, kDetail, kGpus };
  enum class Want { kAnything, kText, kList, kObject };
  struct Expected {
    Want want = Want::kAnything;
    Level inside = Level::kFile;  // of a list or an object
  };

  Expected ExpectedHere() const;
  bool Begin(Found found);
  bool End();
  bool Scalar(absl::string_view shown, Found found, absl::string_view text);
  void Enter(Level level);
  void Store(bool has, absl::string_view text);
  bool Mismatch(absl::string_view shown, Want want);
  std::string Field() const;

  CharStream* const stream_;
  PhillyJobMaker* const maker_;
  std::vector<Level> levels_ = {Level::kFile};
  int64_t skipped_ = 0;  // depth within a value that is not looked at
  std::string key_;      // of the innermost object that is looked at
  PhillyJob job_;
  absl::Status status_;
};

LogHandler::Expected LogHandler::ExpectedHere() const {
  switch (levels_.back()) {
    case Level::kFile:
      return {Want::kList, Level::kJobs};
    case Level::kJobs:
      return {Want::kObject, Level::kJob};
    case Level::kJob:
      if (key_ == "attempts") return {Want::kList, Level::kAttempts};
      if (key_ == "jobid" || key_ == "status" || key_ == "vc" || key_ == "submitted_time") {
        return {Want::kText, Level::kJob};
      }
      break;
    case Level::kAttempts:
      return {Want::kObject, Level::kAttempt};
    case Level::kAttempt:
      if (key_ == "detail") return {Want::kList, Level::kDetails};
      if (key_ == "start_time" || key_ == "end_time") return {Want::kText, Level::kAttempt};
      break;
    case Level::kDetails:
      return {Want::kObject, Level::kDetail};
    case Level::kDetail:
      if (key_ == "gpus") return {Want::kList, Level::kGpus};
      break;
    case Level::kGpus:
      return {Want::kText, Level::kGpus};
  }
  return {Want::kAnything, Level::kFile};
}

bool LogHandler::Begin(Found found) {
  if (skipped_ > 0) {
    ++skipped_;
    return true;
  }
  const Expected expected = ExpectedHere();
  const bool is_list = found == Found::kList;
  if (expected.want == (is_list ? Want::kList : Want::kObject)) {
    Enter(expected.inside);
    return true;
  }
  ++skipped_;
  if (expected.want == Want::kAnything) return true;
  return Mismatch(is_list ? "a list" : "an object", expected.want);
}

bool LogHandler::End() {
  if (skipped_ > 0) {
    --skipped_;
    return true;
  }
  const Level ended = levels_.back();
  levels_.pop_back();
  if (ended == Level::kJob) maker_->Add(job_);
  return true;
}

bool LogHandler::Scalar(absl::string_view shown, Found found, absl::string_view text) {
  if (skipped_ > 0) return true;
  const Want want = ExpectedHere().want;
  if (want == Want::kAnything) return true;
  const bool in_gpus = levels_.back() == Level::kGpus;
  if (want != Want::kText || found == Found::kOther || (found == Found::kNull && in_gpus)) {
    return Mismatch(shown, want);
  }
  Store(found == Found::kText, text);
  return true;
}

// When a key comes twice in an object, the last one counts.
void LogHandler::Enter(Level level) {
  levels_.push_back(level);
  key_.clear();
  if (level == Level::kJob) {
    job_ = PhillyJob();
    job_.at = stream_->last();
  } else if (level == Level::kAttempts) {
    job_.attempts.clear();
  } else if (level == Level::kAttempt) {
    job_.attempts.emplace_back();
  } else if (level == Level::kDetails) {
    job_.attempts.back().gpus = 0;
  }
}

void LogHandler::Store(bool has, absl::string_view text) {
  std::optional<std::string> value;
  if (has) value = std::string(text);
  if (levels_.back() == Level::kGpus) {
    ++job_.attempts.back().gpus;
  } else if (key_ == "start_time") {
    job_.attempts.back().start = std::move(value);
  } else if (key_ == "end_time") {
    job_.attempts.back().end = std::move(value);
  } else if (key_ == "jobid") {
    job_.name = std::move(value);
  } else if (key_ == "status") {
    job_.status = std::move(value);
  } else if (key_ == "vc") {
    job_.vc = std::move(value);
  } else {
    job_.submitted = std::move(value);
  }
}

// A value of a wrong type spoils the job that it is part of.
bool LogHandler::Mismatch(absl::string_view shown, Want want) {
  const absl::string_view wanted = want == Want::kList     ? "a list"
                                   : want == Want::kObject ? "an object"
                                                           : "a text";
  const std::string what = absl::StrCat("found ", shown, ", expected ", wanted);
  const Level level = levels_.back();
  if (level == Level::kFile) {
    status_ =
        absl::InvalidArgumentError(absl::StrCat(maker_->Place(stream_->last()), what, " of jobs"));
  } else if (level == Level::kJobs) {
    maker_->RejectEntry(stream_->last(), what);
  } else if (job_.wrong_type.empty()) {
    job_.wrong_type_field = Field();
    job_.wrong_type = what;
  }
  return status_.ok();
}

// The path from the job to the value at hand.
std::string LogHandler::Field() const {
  const Level level = levels_.back();
  if (level == Level::kJob) return key_;
  if (level == Level::kAttempts) return absl::StrCat("attempts[", job_.attempts.size(), "]");
  const size_t attempt = job_.attempts.size() - 1;
  if (level == Level::kAttempt) return PhillyAttemptField(attempt, key_);
  return PhillyAttemptField(attempt, level == Level::kDetails ? "detail[]" : "detail[].gpus");
}

// --- The source ---

class PhillySource final : public ListedSource {
 public:
  PhillySource(std::unique_ptr<ByteSource> bytes, const FormatInput& input)
      : ListedSource(input.lenient),
        bytes_(std::move(bytes)),
        maker_(bytes_->name(), input, input.gpus_per_pod.value_or(kPhillyGpusPerPod),
               &complaints()) {}

 private:
  absl::Status ReadInput() override;
  size_t JobCount() const override { return jobs_.size(); }
  void GetJob(size_t place, JobArrival* out) const override { *out = jobs_[place]; }

  std::unique_ptr<ByteSource> bytes_;
  PhillyJobMaker maker_;
  std::vector<JobArrival> jobs_;  // in order of arrival
};

absl::Status PhillySource::ReadInput() {
  CharStream stream(bytes_.get());
  LogHandler handler(&stream, &maker_);
  const bool parsed = nlohmann::json::sax_parse(CharIterator(&stream), CharIterator(), &handler);
  // If the bytes break off, the text is incomplete, too; the first is the reason.
  const absl::Status& damage = stream.status().ok() ? handler.status() : stream.status();
  RETURN_IF_ERROR(complaints().Error(damage));
  DRASIM_CHECK(parsed);
  jobs_ = std::move(maker_.jobs());
  std::stable_sort(jobs_.begin(), jobs_.end(),
                   [](const JobArrival& a, const JobArrival& b) { return a.time < b.time; });
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<TraceFormatSource>> OpenPhilly(const FormatInput& input) {
  const int32_t gpus_per_pod = input.gpus_per_pod.value_or(kPhillyGpusPerPod);
  if (gpus_per_pod < 0 || gpus_per_pod > kMaxDevicesPerNode) {
    return absl::InvalidArgumentError(
        absl::StrCat("gpus_per_pod: found ", gpus_per_pod, ", expected 0 to ", kMaxDevicesPerNode));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> bytes, OpenByteSource(input.path));
  return std::make_unique<PhillySource>(std::move(bytes), input);
}

}  // namespace

SpecialFormat PhillyFormat() {
  SpecialFormat format;
  format.name = std::string(kPhillyName);
  format.description = "Microsoft's Philly trace of 2017: cluster_job_log, as published (JSON)";
  format.open = OpenPhilly;
  return format;
}

}  // namespace drasim
