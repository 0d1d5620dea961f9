#include "policies/queues/priority.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "model/job_table.h"
#include "tests/policies/queues/queue_rig.h"

namespace drasim {
namespace priority_test {

JobArrival WithPriority(int64_t submitted, int32_t priority) {
  JobArrival arrival = ServiceAt(submitted);
  arrival.priority = priority;
  return arrival;
}

TEST(PriorityOrderTest, HigherPriorityThenSubmission) {
  QueueRig rig;
  rig.Submit(WithPriority(1, 0));
  rig.Submit(WithPriority(2, 5));
  rig.Submit(WithPriority(3, -5));
  rig.Submit(WithPriority(4, 5));
  rig.Submit(WithPriority(4, 5));
  PriorityOrder queue;
  EXPECT_EQ(queue.Key(rig.jobs(), JobId(size_t{2})), (JobKey{5, 3}));
  EXPECT_EQ(Line(queue, rig.jobs()), (std::vector<uint32_t>{1, 3, 4, 0, 2}));
}

TEST(PriorityOrderTest, KnowsTheExtremes) {
  QueueRig rig;
  rig.Submit(WithPriority(1, std::numeric_limits<int32_t>::min()));
  rig.Submit(WithPriority(2, std::numeric_limits<int32_t>::max()));
  rig.Submit(WithPriority(3, 0));
  PriorityOrder queue;
  EXPECT_EQ(queue.Key(rig.jobs(), JobId(size_t{0})), (JobKey{2147483648, 1}));
  EXPECT_EQ(Line(queue, rig.jobs()), (std::vector<uint32_t>{1, 2, 0}));
}

}  // namespace priority_test
}  // namespace drasim
