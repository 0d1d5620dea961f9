// Shortest remaining time first as HeliosArtifact's simulator does it, for comparison with its
// published tables (`compat: helios`). Not a rule of ours: it admits by the number of GPUs and
// finds out only afterwards whether they can be placed.

#include <algorithm>
#include <vector>

#include "sim/core/batch_dispatcher.h"

namespace drasim {

void BatchDispatcher::HeliosPass() {
  const SimTime now = parts_.host->now();
  struct Candidate {
    SimDuration remaining;
    JobId job;
    bool running;
  };
  // Waiting jobs first, then running ones; a stable sort keeps that among equals.
  std::vector<Candidate> all;
  for (JobId job : helios_waiting_) all.push_back({parts_.jobs->RemainingAt(job, now), job, false});
  for (JobId job : helios_running_) {
    const JobState state = parts_.jobs->row(job).state;
    if (state != JobState::kRunning && state != JobState::kStarting) continue;
    all.push_back({parts_.jobs->RemainingAt(job, now), job, true});
  }
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.remaining < b.remaining;
  });
  int64_t left = parts_.cluster->totals().gpu_milli_capacity;
  std::vector<JobId> admitted;
  std::vector<JobId> displaced;
  for (const Candidate& c : all) {
    const int64_t need = parts_.jobs->row(c.job).request.gpu_milli;
    if (need <= left) {
      left -= need;
      if (!c.running) admitted.push_back(c.job);
    } else if (c.running) {
      displaced.push_back(c.job);
    }
  }
  evicting_ = true;
  for (JobId job : displaced) parts_.host->Evict(job, EvictionCause::kPreempted);
  evicting_ = false;
  for (JobId job : admitted) {
    const auto failure = parts_.placer->Place(job, now);
    if (failure.has_value()) {
      if (!failure->known) parts_.host->RecordFailure(job, *failure);
      continue;
    }
    line_.Remove(job);
    helios_waiting_.erase(std::find(helios_waiting_.begin(), helios_waiting_.end(), job));
    helios_running_.push_back(job);
    parts_.host->StartPlaced(job);
  }
}

}  // namespace drasim
