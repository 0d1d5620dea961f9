#include "traces/job_split.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/numeric/int128.h"
#include "gtest/gtest.h"
#include "model/random.h"

namespace drasim {
namespace job_split_test {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

PodAmounts Gpus(int64_t count) {
  PodAmounts job;
  job.gpu_count = count;
  job.gpu_milli = 1000;
  return job;
}

PodAmounts Cpus(int64_t milli) {
  PodAmounts job;
  job.cpu_milli = milli;
  return job;
}

TEST(JobSplitTest, WithinTheLimitIsOnePod) {
  EXPECT_EQ(SplitJob(Gpus(1), 8, 0), JobSplit());
  EXPECT_EQ(SplitJob(Gpus(8), 8, 0), JobSplit());
  EXPECT_EQ(SplitJob(Cpus(0), 8, 4), JobSplit());
  EXPECT_EQ(SplitJob(Cpus(4000), 0, 4), JobSplit());
  EXPECT_EQ(JobSplit().pods(), 1);
}

TEST(JobSplitTest, NoLimitSplitsNothing) {
  EXPECT_EQ(SplitJob(Gpus(1000), 0, 0), JobSplit());
  EXPECT_EQ(SplitJob(Cpus(kMax), 0, 0), JobSplit());
}

TEST(JobSplitTest, FullPodsAndARest) {
  const JobSplit even = SplitJob(Gpus(16), 8, 0);
  EXPECT_EQ(even, (JobSplit{2, 8, 0, 16}));
  EXPECT_EQ(even.pods(), 2);
  const JobSplit uneven = SplitJob(Gpus(20), 8, 0);
  EXPECT_EQ(uneven, (JobSplit{2, 8, 4, 20}));
  EXPECT_EQ(uneven.pods(), 3);
  EXPECT_EQ(SplitJob(Gpus(9), 8, 0), (JobSplit{1, 8, 1, 9}));
  EXPECT_EQ(SplitJob(Gpus(3), 1, 0), (JobSplit{3, 1, 0, 3}));
}

TEST(JobSplitTest, CoresCountInMilli) {
  EXPECT_EQ(SplitJob(Cpus(4001), 0, 4), (JobSplit{1, 4000, 1, 4001}));
  EXPECT_EQ(SplitJob(Cpus(9500), 0, 4), (JobSplit{2, 4000, 1500, 9500}));
}

TEST(JobSplitTest, GpusDecideWhereThereAreGpus) {
  PodAmounts job = Gpus(4);
  job.cpu_milli = 1'000'000;
  EXPECT_EQ(SplitJob(job, 8, 2), JobSplit());
  EXPECT_EQ(SplitJob(job, 0, 2), JobSplit());
  EXPECT_EQ(SplitJob(job, 3, 2), (JobSplit{1, 3, 1, 4}));
  job.gpu_count = 0;
  EXPECT_EQ(SplitJob(job, 3, 200), (JobSplit{5, 200'000, 0, 1'000'000}));
}

TEST(JobSplitTest, PartsAreRoundedUp) {
  EXPECT_EQ(PartOf(100, 8, 20), 40);
  EXPECT_EQ(PartOf(100, 8, 24), 34);
  EXPECT_EQ(PartOf(1, 1, 1000), 1);
  EXPECT_EQ(PartOf(0, 3, 7), 0);
  EXPECT_EQ(PartOf(7, 0, 3), 0);
  EXPECT_EQ(PartOf(kMax, kMax, kMax), kMax);
  EXPECT_EQ(PartOf(kMax, kMax - 1, kMax), kMax - 1);
  EXPECT_EQ(PartOf(kMax, 1, 2), kMax / 2 + 1);
}

TEST(JobSplitTest, EachAmountIsSharedOut) {
  PodAmounts job;
  job.cpu_milli = 10'000;
  job.memory_bytes = 1001;
  job.gpu_count = 20;
  job.gpu_milli = 500;
  const PodAmounts full = PartOf(job, 8, 20);
  EXPECT_EQ(full, (PodAmounts{4000, 401, 8, 500}));
  const PodAmounts rest = PartOf(job, 4, 20);
  EXPECT_EQ(rest, (PodAmounts{2000, 201, 4, 500}));
  EXPECT_EQ(PartOf(job, 1, 1), job);
}

// The definition of rounding up: enough, and one less would not be enough.
TEST(JobSplitTest, RandomJobsKeepWhatTheyAskFor) {
  Random random(3, "job_split");
  for (int round = 0; round < 20'000; ++round) {
    const bool by_gpus = random.Below(2) == 0;
    PodAmounts job;
    job.gpu_count = by_gpus ? static_cast<int64_t>(1 + random.Below(200)) : 0;
    job.gpu_milli = by_gpus ? 1000 : 0;
    job.cpu_milli = static_cast<int64_t>(random.Below(500'000));
    job.memory_bytes = static_cast<int64_t>(random.Below(uint64_t{1} << 62));
    const int64_t limit = static_cast<int64_t>(1 + random.Below(20));
    const JobSplit split = SplitJob(job, limit, limit);

    const int64_t amount = by_gpus ? job.gpu_count : job.cpu_milli;
    const int64_t full = by_gpus ? limit : limit * 1000;
    int64_t pods = 0;
    for (int64_t left = std::max<int64_t>(amount, 1); left > 0; left -= full) ++pods;
    ASSERT_EQ(split.pods(), pods);
    const PodAmounts first = PartOf(job, split.full, split.whole);
    const PodAmounts last = PartOf(job, split.rest, split.whole);
    const int64_t first_has = by_gpus ? first.gpu_count : first.cpu_milli;
    const int64_t last_has = by_gpus ? last.gpu_count : last.cpu_milli;
    ASSERT_EQ(split.full_pods * first_has + last_has, amount);
    ASSERT_LE(first_has, full);
    ASSERT_LT(last_has, full);
    if (pods > 1) {
      ASSERT_EQ(first_has, full);
    }
    for (const int64_t part : {split.full, split.rest}) {
      const absl::int128 wanted = absl::int128(job.memory_bytes) * part;
      const absl::int128 got = absl::int128(PartOf(job.memory_bytes, part, split.whole));
      ASSERT_GE(got * split.whole, wanted);
      ASSERT_LT((got - 1) * split.whole, wanted + (wanted == 0 ? 1 : 0));
    }
  }
}

}  // namespace job_split_test
}  // namespace drasim
