#include "traces/workload.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace drasim {

absl::StatusOr<Workload> Workload::Read(EventSource& source, uint64_t limit) {
  Workload workload;
  PodArrival pod;
  while (limit == 0 || workload.rows_.size() < limit) {
    absl::StatusOr<bool> more = source.Next(&pod);
    if (!more.ok()) return more.status();
    if (!*more) break;
    workload.order_.push_back({static_cast<uint32_t>(workload.rows_.size()), -1});
    workload.rows_.push_back(pod);
    workload.last_arrival_ = std::max(workload.last_arrival_, pod.time);
  }
  return workload;
}

void Workload::SortByName() {
  std::sort(rows_.begin(), rows_.end(),
            [](const PodArrival& a, const PodArrival& b) { return a.name < b.name; });
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
  const auto shape_of = [&](const Entry& e) -> const PodShape& {
    return shapes.row(rows_[e.row].shape);
  };
  int64_t total = 0;
  for (const Entry& e : order_) total += shape_of(e).total_gpu_milli();
  const double target = ratio * static_cast<double>(gpu_milli_capacity);
  if (static_cast<double>(total) < target) {
    // A workload without any GPU demand can never reach the target.
    if (total == 0) return;
    for (int32_t i = 0;; ++i) {
      const auto row = static_cast<uint32_t>(streams.DrawTuning(rows_.size()));
      const PodShape& shape = shapes.row(rows_[row].shape);
      // The artifact tests with the request of one device and adds that of all of them.
      if (static_cast<double>(total + shape.gpu_milli) > target) return;
      order_.push_back({row, i});
      total += shape.total_gpu_milli();
    }
  }
  while (static_cast<double>(total) > target && !order_.empty()) {
    const auto j = static_cast<std::ptrdiff_t>(streams.DrawTuning(order_.size()));
    total -= shape_of(order_[static_cast<size_t>(j)]).total_gpu_milli();
    order_.erase(order_.begin() + j);
  }
}

std::vector<int64_t> Workload::CountByShape(size_t shapes) const {
  std::vector<int64_t> counts(shapes);
  for (const PodArrival& pod : rows_) ++counts[pod.shape.value()];
  return counts;
}

std::string Workload::NameOf(const Entry& entry) const {
  const std::string& name = rows_[entry.row].name;
  return entry.clone < 0 ? name : absl::StrCat(name, "-tuned-", entry.clone);
}

absl::StatusOr<bool> WorkloadSource::Next(PodArrival* out) {
  if (next_ == workload_->order().size()) return false;
  const Workload::Entry& entry = workload_->order()[next_++];
  const PodArrival& row = workload_->rows()[entry.row];
  out->name.assign(row.name);
  if (entry.clone >= 0) absl::StrAppend(&out->name, "-tuned-", entry.clone);
  out->shape = row.shape;
  out->priority = row.priority;
  out->time = !keep_times_ ? SimTime() : entry.clone < 0 ? row.time : workload_->last_arrival();
  out->has_run_time = row.has_run_time;
  out->run_time = row.run_time;
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
