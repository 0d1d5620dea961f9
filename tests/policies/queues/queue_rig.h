// Jobs in their states, for tests of queue policies. Times and lengths are in nanoseconds.
#ifndef DRASIM_TESTS_POLICIES_QUEUES_QUEUE_RIG_H_
#define DRASIM_TESTS_POLICIES_QUEUES_QUEUE_RIG_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/event_source.h"
#include "model/job_table.h"
#include "model/pod_shape.h"
#include "policies/framework/queue_policy.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {

// A job without a run time, to be changed as needed.
inline JobArrival ServiceAt(int64_t submitted) {
  JobArrival arrival;
  arrival.time = SimTime(submitted);
  return arrival;
}

inline JobArrival JobAt(int64_t submitted, int64_t run_time) {
  JobArrival arrival = ServiceAt(submitted);
  arrival.has_run_time = true;
  arrival.run_time = SimDuration(run_time);
  return arrival;
}

class QueueRig {
 public:
  // Adds a job whose pods have the given shape.
  JobId Submit(JobArrival arrival, const PodShape& shape = TestShape(1000, 0)) {
    arrival.name = absl::StrCat("job-", jobs_.size());
    arrival.shape = builder_.AddShape(shape);
    const JobId job = jobs_.Add(arrival, PodId(pods_), builder_.shapes());
    pods_ += jobs_.row(job).pods;
    return job;
  }

  // The waiting job runs from `now` on.
  void Run(JobId job, int64_t now) {
    jobs_.Start(job);
    jobs_.Run(job, SimTime(now));
  }

  // The waiting job runs from `now` to the end of its work; one without an end for a nanosecond.
  void RunToEnd(JobId job, int64_t now, JobState state = JobState::kSucceeded) {
    const SimDuration length =
        jobs_.row(job).has_run_time ? jobs_.RemainingAt(job, SimTime(now)) : SimDuration(1);
    Run(job, now);
    jobs_.End(job, state, SimTime(now) + length);
  }

  JobTable& jobs() { return jobs_; }
  const JobTable& jobs() const { return jobs_; }
  ClusterBuilder& builder() { return builder_; }
  const ClusterState& cluster() const { return builder_.cluster(); }

 private:
  ClusterBuilder builder_;
  JobTable jobs_;
  size_t pods_ = 0;
};

// The waiting jobs in their order, by the number of their row.
inline std::vector<uint32_t> Line(QueuePolicy& policy, const JobTable& jobs) {
  std::vector<std::pair<JobKey, uint32_t>> keyed;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const JobId job(i);
    if (jobs.row(job).state == JobState::kWaiting) {
      keyed.emplace_back(policy.Key(jobs, job), job.value());
    }
  }
  std::sort(keyed.begin(), keyed.end());
  std::vector<uint32_t> line;
  for (const auto& [key, row] : keyed) line.push_back(row);
  return line;
}

}  // namespace drasim

#endif  // DRASIM_TESTS_POLICIES_QUEUES_QUEUE_RIG_H_
