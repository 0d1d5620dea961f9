#include "policies/queues/sjf.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "model/job_table.h"
#include "tests/policies/queues/queue_rig.h"

namespace drasim {
namespace sjf_test {

TEST(SjfQueueTest, OrdersByRunTimeWithServicesLast) {
  QueueRig rig;
  rig.Submit(ServiceAt(1));
  rig.Submit(JobAt(2, 300));
  JobArrival modest = JobAt(3, 200);
  modest.has_estimate = true;
  modest.estimate = SimDuration(900);
  rig.Submit(modest);
  rig.Submit(JobAt(4, 200));
  rig.Submit(JobAt(5, 0));
  SjfQueue queue;
  EXPECT_EQ(queue.Key(rig.jobs(), JobId(size_t{2})), (JobKey{0, 200}));
  EXPECT_EQ(Line(queue, rig.jobs()), (std::vector<uint32_t>{4, 2, 3, 1, 0}));
}

TEST(SjfQueueTest, WorkThatIsDoneDoesNotMakeAJobShorter) {
  QueueRig rig;
  const JobId job = rig.Submit(JobAt(1, 300));
  rig.Run(job, 10);
  rig.jobs().Interrupt(job, SimTime(260), SimDuration(250), SimDuration());
  SjfQueue queue;
  EXPECT_EQ(queue.Key(rig.jobs(), job), (JobKey{0, 300}));
}

TEST(SjfQueueTest, AnAttemptThatFailsHasItsOwnLength) {
  QueueRig rig;
  JobArrival arrival = JobAt(1, 300);
  arrival.failed_attempts = {SimDuration(40), SimDuration(70)};
  const JobId job = rig.Submit(arrival);
  SjfQueue queue;
  EXPECT_EQ(queue.Key(rig.jobs(), job), (JobKey{0, 40}));
  rig.Run(job, 10);
  rig.jobs().Retry(job, SimTime(50));
  EXPECT_EQ(queue.Key(rig.jobs(), job), (JobKey{0, 70}));
  rig.Run(job, 60);
  rig.jobs().Retry(job, SimTime(130));
  EXPECT_EQ(queue.Key(rig.jobs(), job), (JobKey{0, 300}));
}

}  // namespace sjf_test
}  // namespace drasim
