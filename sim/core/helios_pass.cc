#include "sim/core/helios_pass.h"

#include <algorithm>
#include <cstdint>

namespace drasim {

void HeliosPass::Add(JobId job) {
  std::erase(running_, job);
  waiting_.push_back(job);
}

void HeliosPass::Remove(JobId job) { std::erase(waiting_, job); }

void HeliosPass::Started(JobId job) {
  waiting_.erase(std::find(waiting_.begin(), waiting_.end(), job));
  running_.push_back(job);
}

void HeliosPass::OnEnd(JobId job) { std::erase(running_, job); }

HeliosPass::Plan HeliosPass::Decide(SimTime now) const {
  struct Candidate {
    SimDuration remaining;
    JobId job;
    bool running;
  };
  // Waiting jobs first, then running ones; a stable sort keeps this order among equals.
  std::vector<Candidate> all;
  for (JobId job : waiting_) all.push_back({jobs_->RemainingAt(job, now), job, false});
  for (JobId job : running_) {
    const JobState state = jobs_->row(job).state;
    if (state != JobState::kRunning && state != JobState::kStarting) continue;
    all.push_back({jobs_->RemainingAt(job, now), job, true});
  }
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.remaining < b.remaining;
  });
  int64_t left = cluster_->totals().gpu_milli_capacity;
  Plan plan;
  for (const Candidate& c : all) {
    const int64_t need = jobs_->row(c.job).request.gpu_milli;
    if (need <= left) {
      left -= need;
      if (!c.running) plan.admitted.push_back(c.job);
    } else if (c.running) {
      plan.displaced.push_back(c.job);
    }
  }
  return plan;
}

void HeliosPass::Save(StateWriter& out) const {
  for (const std::vector<JobId>* jobs : {&waiting_, &running_}) {
    out.U64(jobs->size());
    for (JobId job : *jobs) out.U64(job.value());
  }
}

void HeliosPass::Load(StateReader& in) {
  for (std::vector<JobId>* jobs : {&waiting_, &running_}) {
    const size_t n = in.Count();
    for (size_t i = 0; i < n && in.status().ok(); ++i) {
      jobs->push_back(JobId(static_cast<size_t>(in.U64())));
    }
  }
}

}  // namespace drasim
