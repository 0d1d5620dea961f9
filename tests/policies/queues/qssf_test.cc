#include "policies/queues/qssf.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/job_table.h"
#include "model/pod_shape.h"
#include "model/state_io.h"
#include "tests/policies/queues/queue_rig.h"

namespace drasim {
namespace qssf_test {

JobArrival Of(const std::string& tenant, int64_t run_time) {
  JobArrival arrival = JobAt(0, run_time);
  arrival.tenant = tenant;
  return arrival;
}

// A job of the tenant that ended.
void Learn(QueueRig& rig, QssfQueue& queue, const std::string& tenant, int32_t gpus,
           int64_t run_time) {
  const JobId job = rig.Submit(Of(tenant, run_time), TestShape(1000, gpus));
  rig.RunToEnd(job, 10);
  queue.OnEnd(rig.jobs(), job);
}

// The key of a new job with a run time that the policy must not read.
JobKey KeyOf(QueueRig& rig, QssfQueue& queue, const std::string& tenant, const PodShape& shape) {
  return queue.Key(rig.jobs(), rig.Submit(Of(tenant, 77'777), shape));
}

TEST(QssfQueueTest, WithoutAPastTheEstimateOrNothing) {
  QueueRig rig;
  QssfQueue queue;
  EXPECT_EQ(KeyOf(rig, queue, "a", TestShape(1000, 2)), (JobKey{0, 0}));
  JobArrival estimated = Of("a", 100);
  estimated.has_estimate = true;
  estimated.estimate = SimDuration(30);
  EXPECT_EQ(queue.Key(rig.jobs(), rig.Submit(estimated, TestShape(1000, 2))),
            (JobKey{0, 30 * 2000}));
}

TEST(QssfQueueTest, PredictsFromTheNearestPast) {
  QueueRig rig;
  QssfQueue queue;
  Learn(rig, queue, "a", 1, 100);
  Learn(rig, queue, "a", 1, 201);
  // The same tenant and GPUs: 301 / 2, rounded down.
  EXPECT_EQ(KeyOf(rig, queue, "a", TestShape(1000, 1)), (JobKey{0, 150 * 1000}));
  // The same tenant.
  EXPECT_EQ(KeyOf(rig, queue, "a", TestShape(1000, 4)), (JobKey{0, 150 * 4000}));
  Learn(rig, queue, "a", 4, 1000);
  EXPECT_EQ(KeyOf(rig, queue, "a", TestShape(1000, 4)), (JobKey{0, 1000 * 4000}));
  EXPECT_EQ(KeyOf(rig, queue, "a", TestShape(1000, 1)), (JobKey{0, 150 * 1000}));
  // 1301 / 3.
  EXPECT_EQ(KeyOf(rig, queue, "a", TestShape(1000, 2)), (JobKey{0, 433 * 2000}));
  // All tenants, once before and once after 10 more: 1311 / 4.
  EXPECT_EQ(KeyOf(rig, queue, "c", TestShape(1000, 2)), (JobKey{0, 433 * 2000}));
  Learn(rig, queue, "b", 2, 10);
  EXPECT_EQ(KeyOf(rig, queue, "c", TestShape(1000, 2)), (JobKey{0, 327 * 2000}));
  EXPECT_EQ(KeyOf(rig, queue, "b", TestShape(1000, 1)), (JobKey{0, 10 * 1000}));
}

TEST(QssfQueueTest, CountsTheGpusOfTheWholeJobAndShares) {
  QueueRig rig;
  QssfQueue queue;
  Learn(rig, queue, "a", 1, 100);
  EXPECT_EQ(KeyOf(rig, queue, "a", TestShape(1000, 1, 250)), (JobKey{0, 100 * 250}));
  // A job without GPUs counts as a thousandth of one.
  EXPECT_EQ(KeyOf(rig, queue, "a", TestShape(1000, 0)), (JobKey{0, 100}));
  JobArrival gang = Of("a", 5);
  gang.pods = 3;
  EXPECT_EQ(queue.Key(rig.jobs(), rig.Submit(gang, TestShape(1000, 8))), (JobKey{0, 100 * 24'000}));
}

TEST(QssfQueueTest, LargeProductsKeepTheirOrder) {
  QueueRig rig;
  QssfQueue queue;
  JobArrival long_job = Of("a", 1);
  long_job.has_estimate = true;
  long_job.estimate = SimDuration(int64_t{1} << 62);
  // 2^62 * 8000 = 4000 * 2^63.
  const JobKey whole = queue.Key(rig.jobs(), rig.Submit(long_job, TestShape(1000, 8)));
  EXPECT_EQ(whole, (JobKey{4000, 0}));
  long_job.estimate = SimDuration((int64_t{1} << 62) + 3);
  const JobKey more = queue.Key(rig.jobs(), rig.Submit(long_job, TestShape(1000, 8)));
  EXPECT_EQ(more, (JobKey{4000, 24'000}));
  EXPECT_LT(whole, more);
}

TEST(QssfQueueTest, SumsDoNotOverflow) {
  QueueRig rig;
  QssfQueue queue;
  const int64_t length = int64_t{1} << 61;
  for (int i = 0; i < 20; ++i) Learn(rig, queue, "a", 1, length);
  const JobKey key = KeyOf(rig, queue, "a", TestShape(1000, 4));
  // 2^61 * 4000 = 1000 * 2^63.
  EXPECT_EQ(key, (JobKey{1000, 0}));
}

TEST(QssfQueueTest, LearnsOnlyFromJobsThatDidTheirWork) {
  QueueRig rig;
  QssfQueue queue;
  // A service that was deleted, a job that was deleted, one that never ran, one lost with its node.
  const JobId service = rig.Submit(ServiceAt(0), TestShape(1000, 1));
  rig.RunToEnd(service, 10, JobState::kDeleted);
  const JobId deleted = rig.Submit(Of("", 100), TestShape(1000, 1));
  rig.Run(deleted, 10);
  rig.jobs().End(deleted, JobState::kDeleted, SimTime(50));
  const JobId dropped = rig.Submit(Of("", 100), TestShape(1000, 1));
  rig.jobs().End(dropped, JobState::kDropped, SimTime(50));
  const JobId lost = rig.Submit(Of("", 100), TestShape(1000, 1));
  rig.Run(lost, 10);
  rig.jobs().End(lost, JobState::kFailed, SimTime(50));
  for (const JobId job : {service, deleted, dropped, lost}) queue.OnEnd(rig.jobs(), job);
  EXPECT_EQ(KeyOf(rig, queue, "", TestShape(1000, 1)), (JobKey{0, 0}));
  // A job that fails at its end has run as long as any other.
  JobArrival failing = Of("", 60);
  failing.fails = true;
  const JobId failed = rig.Submit(failing, TestShape(1000, 1));
  rig.RunToEnd(failed, 10, JobState::kFailed);
  queue.OnEnd(rig.jobs(), failed);
  EXPECT_EQ(KeyOf(rig, queue, "", TestShape(1000, 1)), (JobKey{0, 60'000}));
}

TEST(QssfQueueTest, ServicesComeLast) {
  QueueRig rig;
  QssfQueue queue;
  rig.Submit(ServiceAt(0), TestShape(1000, 1));
  JobArrival long_job = Of("a", 1);
  long_job.has_estimate = true;
  long_job.estimate = SimDuration(int64_t{1} << 62);
  rig.Submit(long_job, TestShape(1000, 8));
  rig.Submit(Of("a", 9), TestShape(1000, 1));
  EXPECT_EQ(Line(queue, rig.jobs()), (std::vector<uint32_t>{2, 1, 0}));
}

TEST(QssfQueueTest, SaveAndLoad) {
  QueueRig rig;
  QssfQueue queue;
  Learn(rig, queue, "a", 1, 100);
  Learn(rig, queue, "a", 2, 301);
  Learn(rig, queue, "b", 1, int64_t{1} << 61);
  StateWriter out;
  queue.Save(out);
  const std::string bytes = out.Release();
  QssfQueue loaded;
  Learn(rig, loaded, "z", 1, 5);
  StateReader in(bytes);
  ASSERT_TRUE(loaded.Load(in).ok()) << in.status();
  EXPECT_TRUE(in.AtEnd());
  for (const char* const tenant : {"a", "b", "c", "z"}) {
    for (const int32_t gpus : {0, 1, 2, 3}) {
      EXPECT_EQ(KeyOf(rig, loaded, tenant, TestShape(1000, gpus)),
                KeyOf(rig, queue, tenant, TestShape(1000, gpus)))
          << tenant << " " << gpus;
    }
  }
  // Damage is found, and changes nothing.
  QssfQueue fresh;
  for (size_t size = 0; size < bytes.size(); ++size) {
    StateReader cut(absl::string_view(bytes).substr(0, size));
    EXPECT_FALSE(fresh.Load(cut).ok()) << size;
  }
  EXPECT_EQ(KeyOf(rig, fresh, "a", TestShape(1000, 1)), (JobKey{0, 0}));
}

TEST(QssfQueueTest, RefusesAnImpossiblePast) {
  for (const bool no_jobs : {true, false}) {
    StateWriter out;
    out.Section("qssf");
    out.U64(1);
    out.U64(0);
    out.I64(1000);
    out.U64(no_jobs ? 0 : 1);
    // One job that ran for 2^64 ns.
    out.U64(1);
    out.U64(0);
    StateReader in(out.bytes());
    QssfQueue queue;
    EXPECT_FALSE(queue.Load(in).ok());
  }
}

}  // namespace qssf_test
}  // namespace drasim
