#include "traces/workload.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/key_error.h"
#include "model/number_text.h"
#include "model/status_macros.h"

namespace drasim {

absl::StatusOr<Workload> Workload::Read(EventSource& source, uint64_t limit) {
  Workload workload;
  JobArrival pod;
  while (limit == 0 || workload.rows_.size() < limit) {
    ASSIGN_OR_RETURN(const bool more, source.Next(&pod));
    if (!more) break;
    workload.order_.push_back({static_cast<uint32_t>(workload.rows_.size()), -1});
    workload.rows_.push_back(pod);
    workload.last_arrival_ = std::max(workload.last_arrival_, pod.time);
  }
  return workload;
}

Workload Workload::FromJobs(std::vector<JobArrival> jobs) {
  Workload workload;
  workload.rows_ = std::move(jobs);
  for (size_t i = 0; i < workload.rows_.size(); ++i) {
    workload.order_.push_back({static_cast<uint32_t>(i), -1});
    workload.last_arrival_ = std::max(workload.last_arrival_, workload.rows_[i].time);
  }
  return workload;
}

std::vector<JobArrival> Workload::TakeRows() {
  order_.clear();
  return std::exchange(rows_, {});
}

void Workload::RaiseEstimates() {
  for (JobArrival& job : rows_) {
    if (!job.has_run_time) continue;
    if (job.has_estimate) job.estimate = std::max(job.estimate, job.run_time);
  }
}

void Workload::SortByName() {
  const auto before = [](const JobArrival& a, const JobArrival& b) { return a.name < b.name; };
  // Traces mostly are in order, and rows are large.
  if (std::is_sorted(rows_.begin(), rows_.end(), before)) return;
  std::sort(rows_.begin(), rows_.end(), before);
}

void Workload::Shuffle(RunStreams& streams) {
  std::vector<uint32_t> rows(rows_.size());
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<uint32_t>(i);
  streams.ShuffleArrivals(absl::MakeSpan(rows));
  for (size_t i = 0; i < rows.size(); ++i) order_[i] = {rows[i], -1};
}

void Workload::Tune(double ratio, int64_t gpu_milli_capacity, const ShapeTable& shapes,
                    RunStreams& streams) {
  if (rows_.empty()) return;
  const auto milli_of = [&](const Entry& e) {
    const JobArrival& job = rows_[e.row];
    int64_t milli = shapes.row(job.shape).wanted_gpu_milli() * job.pods;
    for (const PodGroup& group : job.more_pods) {
      milli += shapes.row(group.shape).wanted_gpu_milli() * group.pods;
    }
    return milli;
  };
  int64_t total = 0;
  for (const Entry& e : order_) total += milli_of(e);
  const double target = ratio * static_cast<double>(gpu_milli_capacity);
  if (static_cast<double>(total) < target) {
    // A workload without any GPU demand can never reach the target.
    if (total == 0) return;
    for (int32_t i = 0;; ++i) {
      const auto row = static_cast<uint32_t>(streams.DrawTuning(rows_.size()));
      const PodShape& shape = shapes.row(rows_[row].shape);
      // The artifact tests with the request of one device and adds that of all of them.
      if (static_cast<double>(total + shape.wanted_milli()) > target) return;
      order_.push_back({row, i});
      total += milli_of({row, i});
    }
  }
  while (static_cast<double>(total) > target && !order_.empty()) {
    const auto j = static_cast<std::ptrdiff_t>(streams.DrawTuning(order_.size()));
    total -= milli_of(order_[static_cast<size_t>(j)]);
    order_.erase(order_.begin() + j);
  }
}

absl::Status Workload::CheckTuning(double ratio, int64_t gpu_milli_capacity,
                                   const ShapeTable& shapes) const {
  double total_milli = 0;
  for (const JobArrival& job : rows_) {
    total_milli += static_cast<double>(shapes.row(job.shape).wanted_gpu_milli()) * job.pods;
    for (const PodGroup& group : job.more_pods) {
      total_milli += static_cast<double>(shapes.row(group.shape).wanted_gpu_milli()) * group.pods;
    }
  }
  const double target_milli = ratio * static_cast<double>(gpu_milli_capacity);
  if (!(total_milli > 0) || target_milli <= total_milli) return absl::OkStatus();
  // Clones are drawn evenly among the jobs, so that their mean is that of the jobs.
  const double jobs = static_cast<double>(rows_.size()) * target_milli / total_milli;
  if (jobs <= static_cast<double>(kMaxTunedJobs)) return absl::OkStatus();
  return KeyError(
      "workload.tuning.ratio",
      absl::StrCat("found ", DoubleText(ratio), ", for which ", FixedText(jobs, 0),
                   " jobs are needed, expected one for which ", kMaxTunedJobs, " are enough"));
}

std::vector<int64_t> Workload::CountByShape(size_t shapes) const {
  std::vector<int64_t> counts(shapes);
  for (const JobArrival& job : rows_) {
    counts[job.shape.value()] += job.pods;
    for (const PodGroup& group : job.more_pods) counts[group.shape.value()] += group.pods;
  }
  return counts;
}

std::string Workload::NameOf(const Entry& entry) const {
  const std::string& name = rows_[entry.row].name;
  return entry.clone < 0 ? name : absl::StrCat(name, "-tuned-", entry.clone);
}

absl::Status NoPodsError(absl::string_view why, const std::vector<std::string>& warnings) {
  return absl::InvalidArgumentError(absl::StrCat("the workload has no pods", why,
                                                 warnings.empty() ? "" : "\n",
                                                 absl::StrJoin(warnings, "\n")));
}

absl::StatusOr<bool> WorkloadSource::Next(JobArrival* out) {
  if (next_ == workload_->order().size()) return false;
  const Workload::Entry& entry = workload_->order()[next_++];
  const JobArrival& row = workload_->rows()[entry.row];
  *out = row;
  if (entry.clone >= 0) absl::StrAppend(&out->name, "-tuned-", entry.clone);
  out->time = !keep_times_ ? SimTime() : entry.clone < 0 ? row.time : workload_->last_arrival();
  if (interval_ > SimDuration()) {
    out->time = SimTime(static_cast<int64_t>(next_ - 1) * interval_.ns());
    out->has_run_time = false;
    out->has_deadline = false;
    out->has_deletion = false;
    out->failed_attempts.clear();
  }
  return true;
}

void WorkloadSource::Save(StateWriter& out) const {
  out.Section("workload");
  out.U64(next_);
}

absl::Status WorkloadSource::Load(StateReader& in) {
  in.Section("workload");
  next_ = static_cast<size_t>(in.U64());
  if (next_ > workload_->order().size()) in.Fail("the position lies behind the workload's end");
  return in.status();
}

}  // namespace drasim
