#include "sim/core/waiting_line.h"

#include <algorithm>
#include <utility>

#include "model/check.h"

namespace drasim {

void WaitingLine::Add(JobId job, JobKey key, uint64_t kind, TenantId tenant, int64_t gpu_milli,
                      SimDuration length) {
  DRASIM_CHECK(!Contains(job));
  const auto [it, inserted] =
      index_.try_emplace({kind, tenant.value()}, static_cast<uint32_t>(classes_.size()));
  if (inserted) {
    classes_.emplace_back();
    classes_.back().kind = kind;
    classes_.back().tenant = tenant;
    classes_.back().gpu_milli = gpu_milli;
  }
  const uint32_t class_index = it->second;
  Class& c = classes_[class_index];
  const size_t line = LineOf(c);
  if (heads_.size() <= line) {
    heads_.resize(line + 1);
    is_touched_.resize(line + 1);
  }
  if (place_.size() <= job.value()) place_.resize(job.value() + size_t{1});
  place_[job.value()] = {class_index, key, length};
  const Entry entry = {key, job};
  if (c.jobs.empty()) {
    CountNeed(c.gpu_milli, +1);
    heads_[line].insert({entry, class_index});
  } else if (entry < *c.jobs.begin()) {
    heads_[line].erase({*c.jobs.begin(), class_index});
    heads_[line].insert({entry, class_index});
  }
  c.jobs.insert(entry);
  if (options_.keep_lengths) c.by_length.insert({length, entry});
  ++size_;
  ++operations_;
  Touch(line);
}

bool WaitingLine::Remove(JobId job) {
  if (!Contains(job)) return false;
  Place& place = place_[job.value()];
  Class& c = classes_[place.class_index];
  const size_t line = LineOf(c);
  const Entry entry = {place.key, job};
  const bool was_head = *c.jobs.begin() == entry;
  c.jobs.erase(entry);
  if (options_.keep_lengths) c.by_length.erase({place.length, entry});
  if (was_head) {
    heads_[line].erase({entry, place.class_index});
    if (c.jobs.empty()) {
      CountNeed(c.gpu_milli, -1);
    } else {
      heads_[line].insert({*c.jobs.begin(), place.class_index});
    }
    if (heads_[line].empty()) Touch(line);
  }
  place.class_index = kNowhere;
  --size_;
  ++operations_;
  return true;
}

void WaitingLine::CountNeed(int64_t gpu_milli, int sign) {
  if (gpu_milli == 0) return;
  size_t& count = needs_[gpu_milli];
  count = sign > 0 ? count + 1 : count - 1;
  if (count == 0) needs_.erase(gpu_milli);
}

void WaitingLine::Touch(size_t line) {
  if (is_touched_[line]) return;
  is_touched_[line] = true;
  touched_.push_back(static_cast<uint32_t>(line));
}

std::vector<uint32_t> WaitingLine::TakeTouched() {
  for (uint32_t line : touched_) is_touched_[line] = false;
  return std::exchange(touched_, {});
}

void WaitingLine::Save(StateWriter& out) const {
  out.Section("line");
  out.U64(classes_.size());
  for (const Class& c : classes_) {
    out.U64(c.kind);
    out.U64(uint64_t{c.tenant.value()});
    out.I64(c.gpu_milli);
    out.U64(c.jobs.size());
    for (const Entry& entry : c.jobs) {
      out.I64(entry.key.first);
      out.I64(entry.key.second);
      out.U64(entry.job.value());
      out.I64(place_[entry.job.value()].length.ns());
    }
  }
}

absl::Status WaitingLine::Load(StateReader& in) {
  in.Section("line");
  const size_t classes = in.Count();
  for (size_t i = 0; i < classes && in.status().ok(); ++i) {
    const uint64_t kind = in.U64();
    const TenantId tenant(static_cast<uint32_t>(in.U64()));
    const int64_t gpu_milli = in.I64();
    // Empty classes too: the order of classes decides the order of attempts among equals.
    index_.try_emplace({kind, tenant.value()}, static_cast<uint32_t>(classes_.size()));
    classes_.emplace_back();
    classes_.back().kind = kind;
    classes_.back().tenant = tenant;
    classes_.back().gpu_milli = gpu_milli;
    const size_t jobs = in.Count();
    for (size_t j = 0; j < jobs && in.status().ok(); ++j) {
      JobKey key;
      key.first = in.I64();
      key.second = in.I64();
      const JobId job(static_cast<size_t>(in.U64()));
      const SimDuration length(in.I64());
      if (job.value() >= (uint32_t{1} << 30) ||
          (options_.per_tenant && tenant.value() >= (uint32_t{1} << 30))) {
        in.Fail("a waiting job does not exist");
        break;
      }
      Add(job, key, kind, tenant, gpu_milli, length);
    }
  }
  return in.status();
}

LineMerge::LineMerge(const WaitingLine* line) : line_(line) {
  const std::vector<WaitingLine::Class>& classes = line->classes();
  for (size_t c = 0; c < classes.size(); ++c) {
    if (classes[c].jobs.empty()) continue;
    heap_.push_back({*classes[c].jobs.begin(), static_cast<uint32_t>(c)});
  }
  std::make_heap(heap_.begin(), heap_.end(), Later());
}

bool LineMerge::Next(WaitingLine::Entry* entry, uint32_t* class_index) {
  if (has_last_ && !last_is_left_out_) {
    const WaitingLine::Jobs& jobs = line_->classes()[last_.class_index].jobs;
    const auto next = jobs.upper_bound(last_.entry);
    if (next != jobs.end()) {
      heap_.push_back({*next, last_.class_index});
      std::push_heap(heap_.begin(), heap_.end(), Later());
    }
  }
  last_is_left_out_ = false;
  has_last_ = !heap_.empty();
  if (!has_last_) return false;
  std::pop_heap(heap_.begin(), heap_.end(), Later());
  last_ = heap_.back();
  heap_.pop_back();
  *entry = last_.entry;
  *class_index = last_.class_index;
  return true;
}

}  // namespace drasim
