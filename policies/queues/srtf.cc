#include "policies/queues/srtf.h"

#include <memory>

#include "policies/framework/registry.h"

namespace drasim {
namespace {

// Smaller for less work left.
JobKey WorkLeft(const JobTable& jobs, JobId job, SimTime now) {
  if (!jobs.row(job).has_run_time) return {1, 0};
  return {0, jobs.RemainingAt(job, now).ns()};
}

}  // namespace

JobKey SrtfQueue::Key(const JobTable& jobs, JobId job) {
  // While a job waits nothing of its work is done, so any time of the wait will do.
  return WorkLeft(jobs, job, jobs.row(job).waiting_since);
}

bool SrtfQueue::MayPreempt(const JobTable& jobs, JobId waiting, JobId running, SimTime now) const {
  if (!jobs.row(running).preemptible) return false;
  return WorkLeft(jobs, waiting, now) < WorkLeft(jobs, running, now);
}

JobKey SrtfQueue::VictimKey(const JobTable& jobs, JobId running, SimTime now) const {
  const JobKey left = WorkLeft(jobs, running, now);
  return {-left.first, -left.second};
}

void RegisterSrtfQueue(Registry& registry) {
  registry.AddQueue({"srtf", "shortest remaining time first, with preemption",
                     [](const QueueContext&) { return std::make_unique<SrtfQueue>(); }});
}

}  // namespace drasim
