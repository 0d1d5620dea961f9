#include "policies/queues/edf.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "model/job_table.h"
#include "tests/policies/queues/queue_rig.h"

namespace drasim {
namespace edf_test {

JobArrival Until(int64_t submitted, int64_t deadline) {
  JobArrival arrival = JobAt(submitted, 10);
  arrival.has_deadline = true;
  arrival.deadline = SimTime(deadline);
  return arrival;
}

TEST(EdfQueueTest, EarliestDeadlineThenSubmissionAndNoDeadlineLast) {
  QueueRig rig;
  rig.Submit(JobAt(1, 10));
  rig.Submit(Until(2, 900));
  rig.Submit(Until(3, 50));
  rig.Submit(JobAt(4, 10));
  rig.Submit(Until(5, 900));
  // Already missed when it is submitted.
  rig.Submit(Until(60, 40));
  EdfQueue queue;
  EXPECT_EQ(queue.Key(rig.jobs(), JobId(size_t{1})), (JobKey{900, 2}));
  EXPECT_EQ(queue.Key(rig.jobs(), JobId(size_t{3})), (JobKey{INT64_MAX, 4}));
  EXPECT_EQ(Line(queue, rig.jobs()), (std::vector<uint32_t>{5, 2, 1, 4, 0, 3}));
}

}  // namespace edf_test
}  // namespace drasim
