#include "sim/core/waiting_line.h"

#include <algorithm>

#include "model/check.h"

namespace drasim {

void WaitingLine::Add(JobId job, JobKey key, uint64_t kind, TenantId tenant, int64_t gpu_milli) {
  DRASIM_CHECK(!Contains(job));
  const auto [it, inserted] =
      index_.try_emplace({kind, tenant.value()}, static_cast<uint32_t>(classes_.size()));
  if (inserted) {
    classes_.emplace_back();
    classes_.back().kind = kind;
    classes_.back().tenant = tenant;
    classes_.back().gpu_milli = gpu_milli;
  }
  if (place_.size() <= job.value()) place_.resize(job.value() + size_t{1});
  place_[job.value()] = {it->second, key};
  classes_[it->second].jobs.insert({key, job});
  ++size_;
}

bool WaitingLine::Remove(JobId job) {
  if (!Contains(job)) return false;
  Place& place = place_[job.value()];
  classes_[place.class_index].jobs.erase({place.key, job});
  place.class_index = kNowhere;
  --size_;
  return true;
}

std::vector<JobId> WaitingLine::Sorted() const {
  std::vector<Entry> all;
  all.reserve(size_);
  for (const Class& c : classes_) all.insert(all.end(), c.jobs.begin(), c.jobs.end());
  std::sort(all.begin(), all.end());
  std::vector<JobId> jobs;
  jobs.reserve(all.size());
  for (const Entry& entry : all) jobs.push_back(entry.job);
  return jobs;
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
    // Also when it is empty: the order of classes decides the order of attempts among equals.
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
      if (job.value() >= (uint32_t{1} << 30)) {
        in.Fail("a waiting job does not exist");
        break;
      }
      Add(job, key, kind, tenant, gpu_milli);
    }
  }
  return in.status();
}

}  // namespace drasim
