#include "policies/queues/estimates.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/job_table.h"
#include "model/random.h"
#include "tests/policies/queues/queue_rig.h"

namespace drasim {
namespace estimates_test {

JobArrival Estimated(JobArrival arrival, int64_t estimate) {
  arrival.has_estimate = true;
  arrival.estimate = SimDuration(estimate);
  return arrival;
}

TEST(EstimateModelTest, TheOwnersElseTheRunTimeElseUnbounded) {
  QueueRig rig;
  const JobId both = rig.Submit(Estimated(JobAt(0, 100), 250));
  const JobId run_time = rig.Submit(JobAt(0, 100));
  const JobId estimate = rig.Submit(Estimated(ServiceAt(0), 250));
  const JobId neither = rig.Submit(ServiceAt(0));
  const EstimateModel trace(1, 0, /*exact=*/false);
  EXPECT_EQ(trace.Estimate(rig.jobs(), both), SimDuration(250));
  EXPECT_EQ(trace.Estimate(rig.jobs(), run_time), SimDuration(100));
  EXPECT_EQ(trace.Estimate(rig.jobs(), estimate), SimDuration(250));
  EXPECT_EQ(trace.Estimate(rig.jobs(), neither), kUnboundedEstimate);
  const EstimateModel exact(1, 0, /*exact=*/true);
  EXPECT_EQ(exact.Estimate(rig.jobs(), both), SimDuration(100));
  EXPECT_EQ(exact.Estimate(rig.jobs(), run_time), SimDuration(100));
  EXPECT_EQ(exact.Estimate(rig.jobs(), estimate), kUnboundedEstimate);
  EXPECT_EQ(exact.Estimate(rig.jobs(), neither), kUnboundedEstimate);
}

TEST(EstimateModelTest, AnAttemptThatFailsHasItsOwnLength) {
  QueueRig rig;
  JobArrival arrival = JobAt(0, 300);
  arrival.failed_attempts = {SimDuration(40)};
  const JobId job = rig.Submit(arrival);
  const EstimateModel exact(1, 0, /*exact=*/true);
  EXPECT_EQ(AttemptRunTime(rig.jobs(), job), SimDuration(40));
  EXPECT_EQ(exact.Estimate(rig.jobs(), job), SimDuration(40));
  rig.Run(job, 0);
  rig.jobs().Retry(job, SimTime(40));
  EXPECT_EQ(AttemptRunTime(rig.jobs(), job), SimDuration(300));
  EXPECT_EQ(exact.Estimate(rig.jobs(), job), SimDuration(300));
}

TEST(EstimateModelTest, StaysInItsRange) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const SimDuration longest(kUnboundedEstimate.ns() - 1);
  QueueRig rig;
  const JobId huge = rig.Submit(Estimated(ServiceAt(0), kMax));
  const JobId negative = rig.Submit(Estimated(ServiceAt(0), -5));
  const EstimateModel quiet(1, 0, /*exact=*/false);
  EXPECT_EQ(quiet.Estimate(rig.jobs(), huge), longest);
  EXPECT_EQ(quiet.Estimate(rig.jobs(), negative), SimDuration());
  const EstimateModel noisy(1, 300, /*exact=*/false);
  std::vector<JobId> more;
  for (int i = 0; i < 40; ++i) more.push_back(rig.Submit(JobAt(0, 1'000'000'000)));
  size_t at_the_top = 0;
  size_t at_the_bottom = 0;
  for (const JobId job : more) {
    const SimDuration estimate = noisy.Estimate(rig.jobs(), job);
    EXPECT_GE(estimate, SimDuration());
    EXPECT_LE(estimate, longest);
    at_the_top += estimate == longest ? 1u : 0u;
    at_the_bottom += estimate == SimDuration() ? 1u : 0u;
  }
  // Factors of exp(300 z): beyond every bound for nearly all z.
  EXPECT_GT(at_the_top, 8u);
  EXPECT_GT(at_the_bottom, 8u);
}

TEST(EstimateModelTest, NoiseIsLogNormalFromAStreamOfTheJob) {
  QueueRig rig;
  for (int i = 0; i < 20; ++i) rig.Submit(JobAt(0, 1'000'000'000'000 + i));
  const EstimateModel model(7, 0.5, /*exact=*/true);
  const absl::StatusOr<Distribution> normal = Distribution::Normal(0, 1);
  ASSERT_TRUE(normal.ok());
  for (size_t i = 0; i < 20; ++i) {
    Random stream(7, absl::StrCat("estimates/job-", i));
    const double z = normal->Sample(stream);
    const double expected =
        static_cast<double>(1'000'000'000'000 + static_cast<int64_t>(i)) * DetExp(0.5 * z);
    EXPECT_EQ(model.Estimate(rig.jobs(), JobId(i)), SimDuration(static_cast<int64_t>(expected)));
  }
}

TEST(EstimateModelTest, NoiseDoesNotDependOnTheOrderOfAsking) {
  QueueRig rig;
  for (int i = 0; i < 50; ++i) rig.Submit(JobAt(0, 1'000'000'000));
  const EstimateModel forward(3, 1, /*exact=*/false);
  const EstimateModel backward(3, 1, /*exact=*/false);
  std::vector<SimDuration> estimates;
  for (size_t i = 0; i < 50; ++i) estimates.push_back(forward.Estimate(rig.jobs(), JobId(i)));
  for (size_t i = 50; i-- > 0;) {
    EXPECT_EQ(backward.Estimate(rig.jobs(), JobId(i)), estimates[i]);
    EXPECT_EQ(forward.Estimate(rig.jobs(), JobId(i)), estimates[i]);
  }
}

TEST(EstimateModelTest, HalfOfTheNoisyEstimatesAreTooShort) {
  QueueRig rig;
  constexpr size_t kJobs = 2000;
  for (size_t i = 0; i < kJobs; ++i) rig.Submit(JobAt(0, 1'000'000'000));
  const EstimateModel one(1, 0.5, /*exact=*/false);
  const EstimateModel other(2, 0.5, /*exact=*/false);
  size_t too_short = 0;
  size_t same = 0;
  double sum_of_squares = 0;
  for (size_t i = 0; i < kJobs; ++i) {
    const SimDuration estimate = one.Estimate(rig.jobs(), JobId(i));
    if (estimate < SimDuration(1'000'000'000)) ++too_short;
    if (other.Estimate(rig.jobs(), JobId(i)) == estimate) ++same;
    const double exponent = DetLog(estimate.seconds());
    sum_of_squares += exponent * exponent;
  }
  // Within more than four standard deviations.
  EXPECT_GT(too_short, 900u);
  EXPECT_LT(too_short, 1100u);
  EXPECT_LT(same, 3u);
  EXPECT_NEAR(sum_of_squares / static_cast<double>(kJobs), 0.25, 0.035);
}

TEST(EstimateModelDeathTest, NoiseIsNeverNegative) {
  EXPECT_DEATH(EstimateModel(1, -0.5, /*exact=*/false), "CHECK failed");
}

}  // namespace estimates_test
}  // namespace drasim
