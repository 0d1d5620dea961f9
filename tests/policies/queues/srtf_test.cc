#include "policies/queues/srtf.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "model/job_table.h"
#include "tests/policies/queues/queue_rig.h"

namespace drasim {
namespace srtf_test {

TEST(SrtfQueueTest, OrdersByTheWorkLeftWithTheOverheadOfTheRestart) {
  QueueRig rig;
  const JobId interrupted = rig.Submit(JobAt(1, 100));
  rig.Submit(JobAt(2, 56));
  rig.Submit(JobAt(3, 58));
  rig.Submit(ServiceAt(4));
  SrtfQueue queue;
  EXPECT_EQ(queue.Key(rig.jobs(), interrupted), (JobKey{0, 100}));
  EXPECT_EQ(Line(queue, rig.jobs()), (std::vector<uint32_t>{1, 2, 0, 3}));
  rig.Run(interrupted, 10);
  rig.jobs().Interrupt(interrupted, SimTime(70), SimDuration(50), SimDuration(7));
  // 100 - 50 + 7.
  EXPECT_EQ(queue.Key(rig.jobs(), interrupted), (JobKey{0, 57}));
  EXPECT_EQ(Line(queue, rig.jobs()), (std::vector<uint32_t>{1, 0, 2, 3}));
}

TEST(SrtfQueueTest, DisplacesJobsWithStrictlyMoreLeft) {
  QueueRig rig;
  SrtfQueue queue;
  const JobId running = rig.Submit(JobAt(0, 100));
  rig.Run(running, 0);
  const JobId waiting = rig.Submit(JobAt(0, 60));
  EXPECT_TRUE(queue.preempts());
  // The running job has 61, 60 and 59 left.
  EXPECT_TRUE(queue.MayPreempt(rig.jobs(), waiting, running, SimTime(39)));
  EXPECT_FALSE(queue.MayPreempt(rig.jobs(), waiting, running, SimTime(40)));
  EXPECT_FALSE(queue.MayPreempt(rig.jobs(), waiting, running, SimTime(41)));
}

TEST(SrtfQueueTest, ServicesAreDisplacedByAllJobsAndDisplaceNone) {
  QueueRig rig;
  SrtfQueue queue;
  const JobId service = rig.Submit(ServiceAt(0));
  rig.Run(service, 0);
  const JobId waiting_service = rig.Submit(ServiceAt(0));
  const JobId job = rig.Submit(JobAt(0, int64_t{1} << 60));
  EXPECT_TRUE(queue.MayPreempt(rig.jobs(), job, service, SimTime(5)));
  EXPECT_FALSE(queue.MayPreempt(rig.jobs(), waiting_service, service, SimTime(5)));
  rig.Run(job, 5);
  EXPECT_FALSE(queue.MayPreempt(rig.jobs(), waiting_service, job, SimTime(6)));
}

TEST(SrtfQueueTest, JobsThatAreNotPreemptibleGoOn) {
  QueueRig rig;
  SrtfQueue queue;
  JobArrival protected_job = JobAt(0, 1000);
  protected_job.preemptible = false;
  const JobId running = rig.Submit(protected_job);
  rig.Run(running, 0);
  const JobId waiting = rig.Submit(JobAt(0, 1));
  EXPECT_FALSE(queue.MayPreempt(rig.jobs(), waiting, running, SimTime(1)));
}

TEST(SrtfQueueTest, TheOneWithMostLeftIsDisplacedFirst) {
  QueueRig rig;
  SrtfQueue queue;
  const JobId early = rig.Submit(JobAt(0, 100));
  const JobId late = rig.Submit(JobAt(0, 80));
  const JobId service = rig.Submit(ServiceAt(0));
  rig.Run(early, 0);
  rig.Run(service, 0);
  rig.Run(late, 30);
  // At 40: 60 left of the early one, 70 of the late one.
  const JobKey early_key = queue.VictimKey(rig.jobs(), early, SimTime(40));
  const JobKey late_key = queue.VictimKey(rig.jobs(), late, SimTime(40));
  const JobKey service_key = queue.VictimKey(rig.jobs(), service, SimTime(40));
  EXPECT_EQ(early_key, (JobKey{0, -60}));
  EXPECT_EQ(late_key, (JobKey{0, -70}));
  EXPECT_LT(late_key, early_key);
  EXPECT_LT(service_key, late_key);
}

}  // namespace srtf_test
}  // namespace drasim
