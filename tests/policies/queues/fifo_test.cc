#include "policies/queues/fifo.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "model/job_table.h"
#include "tests/policies/queues/queue_rig.h"

namespace drasim {
namespace fifo_test {

TEST(FifoQueueTest, OrdersBySubmission) {
  QueueRig rig;
  rig.Submit(JobAt(5, 100));
  rig.Submit(JobAt(5, 1));
  JobArrival urgent = JobAt(7, 1);
  urgent.priority = 9;
  rig.Submit(urgent);
  FifoQueue queue;
  EXPECT_EQ(queue.Key(rig.jobs(), JobId(size_t{2})), (JobKey{7, 0}));
  EXPECT_EQ(Line(queue, rig.jobs()), (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_FALSE(queue.per_tenant());
  EXPECT_FALSE(queue.preempts());
}

TEST(FifoQueueTest, AnInterruptedJobKeepsItsPlace) {
  QueueRig rig;
  const JobId first = rig.Submit(JobAt(5, 100));
  rig.Submit(JobAt(6, 100));
  FifoQueue queue;
  const JobKey before = queue.Key(rig.jobs(), first);
  rig.Run(first, 10);
  rig.jobs().Interrupt(first, SimTime(60), SimDuration(20), SimDuration(3));
  EXPECT_EQ(queue.Key(rig.jobs(), first), before);
  EXPECT_EQ(Line(queue, rig.jobs()), (std::vector<uint32_t>{0, 1}));
}

}  // namespace fifo_test
}  // namespace drasim
