#include "traces/philly_jobs.h"

#include <algorithm>

#include "model/time.h"
#include "traces/column_reader.h"
#include "traces/date_time.h"
#include "traces/job_split.h"

namespace drasim {
namespace {

constexpr int64_t kSecondsPerHour = 3600;
// Local times at which summer time began and ended, in seconds from 1970-01-01 00:00.
constexpr int64_t kSummerBegin = 1'489'284'000;  // 2017-03-12 02:00:00
constexpr int64_t kSummerEnd = 1'509'847'200;    // 2017-11-05 02:00:00

// An absent text is shown as nothing between the quotes.
std::string QuotedOr(const std::optional<std::string>& text) {
  return absl::StrCat("'", text.has_value() ? ShownText(*text) : "", "'");
}

bool IsMissing(const std::optional<std::string>& time) {
  return !time.has_value() || time->empty() || *time == "None";
}

}  // namespace

bool ParsePhillyTime(absl::string_view text, int64_t floor_s, int64_t* unix_s) {
  // Shorter than a time with a zone or with decimals.
  constexpr absl::string_view kExample = "2017-10-03 05:48:00";
  int64_t wall_ns = 0;
  if (text.size() != kExample.size() ||
      ParseDateTime(text, /*default_zone_s=*/0, &wall_ns) != DateTimeError::kNone || wall_ns < 0 ||
      wall_ns > kMaxTraceNs) {
    return false;
  }
  const int64_t wall_s = wall_ns / kSecondNs;
  const bool summer = wall_s >= kSummerBegin && wall_s < kSummerEnd;
  *unix_s = wall_s + (summer ? 7 : 8) * kSecondsPerHour;
  const bool came_twice = summer && wall_s >= kSummerEnd - kSecondsPerHour;
  if (came_twice && *unix_s < floor_s) *unix_s += kSecondsPerHour;
  return true;
}

void PhillyJobMaker::Add(const PhillyJob& raw) {
  complaints_->CountRow();
  JobArrival job;
  if (Make(raw, &job)) jobs_.push_back(std::move(job));
}

// False when there is no job: it is bad or left out, and has been counted.
bool PhillyJobMaker::Make(const PhillyJob& raw, JobArrival* job) {
  if (!raw.wrong_type.empty()) {
    return Bad(raw, "wrong type", raw.wrong_type_field, raw.wrong_type);
  }
  if (!raw.name.has_value() || raw.name->empty()) {
    return Bad(raw, "missing value", "jobid", "found '', expected a text that is not empty");
  }
  job->name = *raw.name;
  job->tenant = raw.vc.value_or("");
  int64_t gpus = 0;
  if (!ReadStatus(raw, job) || !ReadTimes(raw, job) || !ChooseGpus(raw, &gpus)) return false;
  if (!names_.Insert(job->name)) {
    return Bad(
        raw, "duplicate name", "jobid",
        absl::StrCat("found ", QuotedOr(raw.name), ", expected a name that no earlier job has"));
  }
  Split(gpus, job);
  return true;
}

bool PhillyJobMaker::ReadStatus(const PhillyJob& raw, JobArrival* job) {
  job->fails = raw.status == "Failed";
  if (job->fails || raw.status == "Pass" || raw.status == "Killed") return true;
  return Bad(
      raw, "unknown status", "status",
      absl::StrCat("found ", QuotedOr(raw.status), ", expected one of Pass, Killed, Failed"));
}

bool PhillyJobMaker::ReadTimes(const PhillyJob& raw, JobArrival* job) {
  latest_s_ = 0;
  latest_end_s_ = -1;
  int64_t submitted_s = 0;
  if (!ReadTime(raw, raw.submitted, "submitted_time", &submitted_s)) return false;
  int64_t submitted_ns = 0;
  if (!ShiftTime(submitted_s * kSecondNs, time_offset_ns_, &submitted_ns)) {
    return Bad(raw, "time out of range", "submitted_time",
               absl::StrCat("found ", QuotedOr(raw.submitted),
                            ", expected a time that the offset leaves between 0 and 126 years"));
  }
  job->time = SimTime(submitted_ns);
  for (size_t i = 0; i < raw.attempts.size(); ++i) {
    if (!ReadAttempt(raw, i, job)) return false;
  }
  if (raw.attempts.empty()) {
    return LeaveOut(raw, "left out: never started, so its GPUs are unknown");
  }
  return true;
}

// One attempt, the last of which gives the run time.
bool PhillyJobMaker::ReadAttempt(const PhillyJob& raw, size_t i, JobArrival* job) {
  const PhillyAttempt& attempt = raw.attempts[i];
  const bool has_start = !IsMissing(attempt.start);
  const bool has_end = !IsMissing(attempt.end);
  const bool is_last = i + 1 == raw.attempts.size();
  const std::string start_field = PhillyAttemptField(i, "start_time");
  const std::string end_field = PhillyAttemptField(i, "end_time");
  int64_t start_s = 0;
  int64_t end_s = 0;
  if (has_start && !ReadTime(raw, attempt.start, start_field, &start_s)) return false;
  if (has_end && !ReadTime(raw, attempt.end, end_field, &end_s)) return false;
  if (has_start && start_s < latest_end_s_) {
    return Bad(raw, "attempts overlap", start_field,
               absl::StrCat("found ", QuotedOr(attempt.start),
                            ", expected a time not before the end of an earlier attempt"));
  }
  if (has_start && has_end && end_s < start_s) {
    return Bad(raw, "end before start", end_field,
               absl::StrCat("found ", QuotedOr(attempt.end), ", expected a time not before ",
                            start_field));
  }
  if (has_end) latest_end_s_ = std::max(latest_end_s_, end_s);
  if (has_start && has_end) {
    const SimDuration length = SimDuration::Seconds(end_s - start_s);
    job->has_run_time = is_last;
    if (is_last) {
      job->run_time = length;
    } else {
      job->failed_attempts.push_back(length);
    }
    return true;
  }
  if (!is_last) {
    Warn(raw, "earlier attempt without both times, left out", has_start ? end_field : start_field);
  } else if (has_end) {
    return LeaveOut(raw, "left out: its last attempt has an end but no start");
  }
  return true;
}

bool PhillyJobMaker::ReadTime(const PhillyJob& raw, const std::optional<std::string>& text,
                              absl::string_view field, int64_t* unix_s) {
  if (!text.has_value() || !ParsePhillyTime(*text, latest_s_, unix_s)) {
    return Bad(
        raw, "not a time", field,
        absl::StrCat("found ", QuotedOr(text), ", expected a time such as '2017-10-03 05:48:00'"));
  }
  latest_s_ = std::max(latest_s_, *unix_s);
  return true;
}

bool PhillyJobMaker::ChooseGpus(const PhillyJob& raw, int64_t* gpus) {
  bool differ = false;
  for (const PhillyAttempt& attempt : raw.attempts) {
    if (attempt.gpus == 0) continue;
    differ = differ || (*gpus != 0 && *gpus != attempt.gpus);
    *gpus = attempt.gpus;
  }
  if (*gpus == 0) return LeaveOut(raw, "left out: none of its attempts has GPUs");
  if (*gpus > kMaxPodsPerJob) {
    return Bad(raw, "too many pods", "attempts",
               absl::StrCat("found ", *gpus, " GPUs, expected at most ", kMaxPodsPerJob));
  }
  if (differ) {
    Warn(raw, "attempts with different numbers of GPUs", absl::StrCat("read as ", *gpus));
  }
  return true;
}

void PhillyJobMaker::Split(int64_t gpus, JobArrival* job) {
  PodAmounts amounts;
  amounts.gpu_count = gpus;
  const JobSplit split = SplitJob(amounts, gpus_per_pod_, /*cores_per_pod=*/0);
  job->pods = static_cast<int32_t>(split.full_pods);
  job->shape = InternShape(PartOf(gpus, split.full, split.whole), /*remainder=*/false);
  if (split.rest == 0) return;
  PodGroup last;
  last.shape = InternShape(PartOf(gpus, split.rest, split.whole), /*remainder=*/true);
  job->more_pods.push_back(last);
}

ShapeId PhillyJobMaker::InternShape(int64_t gpus, bool remainder) {
  PodShape shape;
  shape.request.gpu_count = static_cast<int32_t>(gpus);
  shape.request.gpu_milli = kDeviceMilli;
  shape.gang_remainder = remainder;
  return shapes_->Intern(shape);
}

// Always false. A field of an attempt counts as the same column in all attempts.
bool PhillyJobMaker::Bad(const PhillyJob& raw, absl::string_view kind, absl::string_view field,
                         absl::string_view what) {
  complaints_->Reject(kind, field.substr(field.rfind('.') + 1),
                      absl::StrCat(Where(raw), ": ", field, ": ", what));
  return false;
}

// Always false.
bool PhillyJobMaker::LeaveOut(const PhillyJob& raw, absl::string_view kind) {
  complaints_->Warn(kind, Where(raw));
  return false;
}

void PhillyJobMaker::Warn(const PhillyJob& raw, absl::string_view kind, absl::string_view what) {
  complaints_->Warn(kind, absl::StrCat(Where(raw), ": ", what));
}

std::string PhillyJobMaker::Where(const PhillyJob& raw) const {
  return absl::StrCat(Place(raw.at), "job ", QuotedOr(raw.name));
}

}  // namespace drasim
