// The plan of one Helios pass: shortest remaining time first, by the number of GPUs alone.
#include "sim/core/helios_pass.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/event_source.h"
#include "model/job_table.h"
#include "model/state_io.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {
namespace helios_pass_test {

using Jobs = std::vector<JobId>;

class HeliosPassTest : public testing::Test {
 protected:
  HeliosPassTest() {
    builder_.AddNode(TestNode("n", 64000, 4));
    shape_ = builder_.AddShape(TestShape(1000, 1));
  }
  // A job of one pod for each GPU, which waits.
  JobId AddJob(int64_t run_ns, int32_t gpus) {
    JobArrival arrival;
    arrival.name = absl::StrCat("job", jobs_.size());
    arrival.shape = shape_;
    arrival.pods = gpus;
    arrival.has_run_time = true;
    arrival.run_time = SimDuration(run_ns);
    const JobId job = jobs_.Add(arrival, PodId(next_pod_), builder_.shapes());
    next_pod_ += static_cast<size_t>(gpus);
    pass_.Add(job);
    return job;
  }
  void Run(JobId job) {
    pass_.Started(job);
    jobs_.Start(job);
    jobs_.Run(job, SimTime());
  }

  ClusterBuilder builder_;
  ShapeId shape_;
  JobTable jobs_;
  size_t next_pod_ = 0;
  HeliosPass pass_{&builder_.cluster(), &jobs_};
};

TEST_F(HeliosPassTest, ShortestWaitingJobsAreAdmittedWhileGpusLast) {
  const JobId slow = AddJob(300, 1);
  const JobId wide = AddJob(200, 4);  // passed over
  const JobId fast = AddJob(100, 2);
  const HeliosPass::Plan plan = pass_.Decide(SimTime());
  EXPECT_EQ(plan.admitted, (Jobs{fast, slow}));
  EXPECT_TRUE(plan.displaced.empty());
  pass_.Remove(fast);
  EXPECT_EQ(pass_.Decide(SimTime()).admitted, (Jobs{wide}));
}

TEST_F(HeliosPassTest, LongerRunningJobsAreDisplacedByRemainingTime) {
  const JobId running = AddJob(300, 3);
  Run(running);
  const JobId waiting = AddJob(200, 2);
  HeliosPass::Plan plan = pass_.Decide(SimTime(50));  // 250 left
  EXPECT_EQ(plan.admitted, (Jobs{waiting}));
  EXPECT_EQ(plan.displaced, (Jobs{running}));
  plan = pass_.Decide(SimTime(150));  // 150 left
  EXPECT_TRUE(plan.admitted.empty());
  EXPECT_TRUE(plan.displaced.empty());
  // Among equals waiting jobs are first.
  plan = pass_.Decide(SimTime(100));
  EXPECT_EQ(plan.displaced, (Jobs{running}));
}

TEST_F(HeliosPassTest, JobsThatHaveEndedCountNoMore) {
  const JobId running = AddJob(100, 3);
  Run(running);
  const JobId waiting = AddJob(200, 2);
  EXPECT_TRUE(pass_.Decide(SimTime()).admitted.empty());
  pass_.OnEnd(running);
  EXPECT_EQ(pass_.Decide(SimTime()).admitted, (Jobs{waiting}));
}

TEST_F(HeliosPassTest, LoadedPassesDecideTheSame) {
  Run(AddJob(300, 3));
  AddJob(200, 2);
  AddJob(200, 1);
  StateWriter out;
  pass_.Save(out);
  const std::string bytes = out.Release();
  StateReader in(bytes);
  HeliosPass loaded(&builder_.cluster(), &jobs_);
  loaded.Load(in);
  ASSERT_TRUE(in.status().ok());
  const HeliosPass::Plan plan = loaded.Decide(SimTime());
  EXPECT_EQ(plan.admitted, pass_.Decide(SimTime()).admitted);
  EXPECT_EQ(plan.displaced, pass_.Decide(SimTime()).displaced);
  EXPECT_EQ(plan.admitted.size(), 2u);
  EXPECT_EQ(plan.displaced.size(), 1u);
}

}  // namespace helios_pass_test
}  // namespace drasim
