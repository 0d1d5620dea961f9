#include "policies/queues/sjf_estimate.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "model/job_table.h"
#include "policies/queues/estimates.h"
#include "tests/policies/queues/queue_rig.h"

namespace drasim {
namespace sjf_estimate_test {

JobArrival Estimated(JobArrival arrival, int64_t estimate) {
  arrival.has_estimate = true;
  arrival.estimate = SimDuration(estimate);
  return arrival;
}

void SubmitSome(QueueRig& rig) {
  rig.Submit(ServiceAt(1));
  rig.Submit(Estimated(JobAt(2, 100), 500));
  rig.Submit(JobAt(3, 400));
  rig.Submit(Estimated(JobAt(4, 300), 20));
  rig.Submit(Estimated(ServiceAt(5), 450));
}

TEST(SjfEstimateQueueTest, OrdersByTheOwnersEstimate) {
  QueueRig rig;
  SubmitSome(rig);
  SjfEstimateQueue queue(EstimateModel(1, 0, /*exact=*/false));
  EXPECT_EQ(queue.Key(rig.jobs(), JobId(size_t{1})), (JobKey{500, 0}));
  EXPECT_EQ(Line(queue, rig.jobs()), (std::vector<uint32_t>{3, 2, 4, 1, 0}));
}

TEST(SjfEstimateQueueTest, WithExactEstimatesItIsShortestJobFirst) {
  QueueRig rig;
  SubmitSome(rig);
  SjfEstimateQueue queue(EstimateModel(1, 0, /*exact=*/true));
  EXPECT_EQ(Line(queue, rig.jobs()), (std::vector<uint32_t>{1, 3, 2, 0, 4}));
}

TEST(SjfEstimateQueueTest, KeysAreNoisyEstimates) {
  QueueRig rig;
  for (int i = 0; i < 10; ++i) rig.Submit(JobAt(i, 1'000'000'000));
  const EstimateModel model(5, 0.7, /*exact=*/false);
  SjfEstimateQueue queue(model);
  for (size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(queue.Key(rig.jobs(), JobId(i)).first, model.Estimate(rig.jobs(), JobId(i)).ns());
  }
}

}  // namespace sjf_estimate_test
}  // namespace drasim
