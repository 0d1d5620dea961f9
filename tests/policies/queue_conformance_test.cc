// The contract that every built-in queue policy keeps, whatever it decides. Parameterised over the
// registry, so that a new registration is covered without a new test.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "model/job_table.h"
#include "model/random.h"
#include "model/run_streams.h"
#include "model/state_io.h"
#include "policies/framework/queue_policy.h"
#include "policies/framework/registry.h"
#include "tests/policies/queues/queue_rig.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {
namespace queue_conformance_test {

constexpr uint64_t kSamples = 8;
constexpr size_t kJobs = 60;
// All jobs were submitted and all runs began before.
constexpr int64_t kNow = 2000;

std::vector<std::string> QueueNames() {
  std::vector<std::string> names;
  for (const QueueEntry& entry : TestRegistry().queues()) names.push_back(entry.name);
  return names;
}

std::string QueueParamName(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// A job with everything that a policy may look at. Lengths and times are few, so that many are
// equal.
JobArrival RandomJob(size_t row, Random& random) {
  const std::vector<std::string> tenants = {"", "a", "b", "c"};
  JobArrival arrival = ServiceAt(static_cast<int64_t>(row / 2));
  arrival.tenant = OneOf(tenants, random);
  arrival.priority = static_cast<int32_t>(random.Below(5)) - 2;
  arrival.pods = static_cast<int32_t>(1 + random.Below(3));
  arrival.has_run_time = random.Below(5) != 0;
  if (arrival.has_run_time) {
    arrival.run_time = SimDuration(static_cast<int64_t>(500 + random.Below(40)));
  }
  arrival.has_estimate = random.Below(2) == 0;
  if (arrival.has_estimate) {
    arrival.estimate = SimDuration(static_cast<int64_t>(1 + random.Below(1000)));
  }
  arrival.has_deadline = random.Below(2) == 0;
  if (arrival.has_deadline) {
    arrival.deadline = SimTime(static_cast<int64_t>(random.Below(3000)));
  }
  arrival.preemptible = random.Below(4) != 0;
  return arrival;
}

// Jobs that wait, run, were interrupted, or have ended.
class Sample {
 public:
  explicit Sample(uint64_t seed) : random_(seed, "queue conformance") {
    for (size_t i = 0; i < 4; ++i) {
      rig_.builder().AddNode(TestNode(absl::StrCat("node-", i), 64'000, 8));
    }
    const std::vector<int32_t> gpus = {0, 1, 2, 8};
    for (size_t i = 0; i < kJobs; ++i) {
      const JobArrival arrival = RandomJob(i, random_);
      Advance(rig_.Submit(arrival, TestShape(1000, OneOf(gpus, random_))));
    }
  }

  // A policy that has been told of all ends.
  std::unique_ptr<QueuePolicy> Make(const std::string& name) const {
    std::unique_ptr<QueuePolicy> policy = MakeNew(name);
    for (const JobId job : ended_) policy->OnEnd(rig_.jobs(), job);
    return policy;
  }
  std::unique_ptr<QueuePolicy> MakeNew(const std::string& name) const {
    QueueContext context;
    context.streams = streams_.get();
    context.seed = 11;
    context.estimate_noise = 0.5;
    context.exact_estimates = false;
    absl::StatusOr<std::unique_ptr<QueuePolicy>> made = TestRegistry().MakeQueue(name, context);
    DRASIM_CHECK(made.ok());
    return *std::move(made);
  }

  const JobTable& jobs() const { return rig_.jobs(); }
  const ClusterState& cluster() const { return rig_.cluster(); }
  const std::vector<JobId>& waiting() const { return waiting_; }
  const std::vector<JobId>& running() const { return running_; }

 private:
  void Advance(JobId job) {
    const auto start = static_cast<int64_t>(100 + random_.Below(40));
    switch (random_.Below(4)) {
      case 0:
        waiting_.push_back(job);
        return;
      case 1:
        // All run times are at least 500.
        rig_.Run(job, kNow - start);
        running_.push_back(job);
        return;
      case 2: {
        rig_.Run(job, start);
        const auto kept = static_cast<int64_t>(random_.Below(60));
        const auto overhead = static_cast<int64_t>(random_.Below(5));
        rig_.jobs().Interrupt(job, SimTime(start + 60), SimDuration(kept), SimDuration(overhead));
        waiting_.push_back(job);
        return;
      }
      default:
        rig_.RunToEnd(
            job, start,
            rig_.jobs().row(job).has_run_time ? JobState::kSucceeded : JobState::kDeleted);
        ended_.push_back(job);
    }
  }

  Random random_;
  QueueRig rig_;
  std::unique_ptr<RunStreams> streams_ = MakeSeededStreams(1);
  std::vector<JobId> waiting_;
  std::vector<JobId> running_;
  std::vector<JobId> ended_;
};

std::vector<JobKey> KeysOf(QueuePolicy& policy, const Sample& sample) {
  std::vector<JobKey> keys;
  for (const JobId job : sample.waiting()) keys.push_back(policy.Key(sample.jobs(), job));
  return keys;
}

std::string SavedBytes(const QueuePolicy& policy) {
  StateWriter out;
  policy.Save(out);
  return out.Release();
}

class QueueConformance : public testing::TestWithParam<std::string> {};

TEST_P(QueueConformance, IsNamedAsRegisteredAndDescribed) {
  const Sample sample(1);
  EXPECT_EQ(sample.MakeNew(GetParam())->name(), GetParam());
  for (const QueueEntry& entry : TestRegistry().queues()) {
    if (entry.name != GetParam()) continue;
    EXPECT_FALSE(entry.description.empty());
    EXPECT_EQ(entry.description.find('\n'), std::string::npos);
  }
  for (const char c : GetParam()) EXPECT_TRUE(c == '-' || (c >= 'a' && c <= 'z')) << c;
}

TEST_P(QueueConformance, KeysDependOnNothingButTheJobsAndTheirPast) {
  for (uint64_t seed = 1; seed <= kSamples; ++seed) {
    const Sample sample(seed);
    const std::unique_ptr<QueuePolicy> policy = sample.Make(GetParam());
    const std::vector<JobKey> keys = KeysOf(*policy, sample);
    EXPECT_EQ(KeysOf(*policy, sample), keys);
    const std::unique_ptr<QueuePolicy> other = sample.Make(GetParam());
    for (size_t i = keys.size(); i-- > 0;) {
      ASSERT_EQ(other->Key(sample.jobs(), sample.waiting()[i]), keys[i]) << "seed " << seed;
    }
  }
}

TEST_P(QueueConformance, KeysTellJobsApart) {
  const Sample sample(1);
  const std::unique_ptr<QueuePolicy> policy = sample.Make(GetParam());
  std::set<JobKey> distinct;
  for (const JobKey& key : KeysOf(*policy, sample)) distinct.insert(key);
  EXPECT_GT(distinct.size(), 5u);
}

TEST_P(QueueConformance, PreemptionIsIrreflexiveAndAsymmetric) {
  size_t allowed = 0;
  for (uint64_t seed = 1; seed <= kSamples; ++seed) {
    const Sample sample(seed);
    const std::unique_ptr<QueuePolicy> policy = sample.Make(GetParam());
    std::vector<JobId> live = sample.waiting();
    live.insert(live.end(), sample.running().begin(), sample.running().end());
    for (const int64_t now : {kNow, kNow + 7, kNow + 300}) {
      for (const JobId a : live) {
        ASSERT_FALSE(policy->MayPreempt(sample.jobs(), a, a, SimTime(now)));
        for (const JobId b : live) {
          const bool forth = policy->MayPreempt(sample.jobs(), a, b, SimTime(now));
          const bool back = policy->MayPreempt(sample.jobs(), b, a, SimTime(now));
          ASSERT_FALSE(forth && back) << "jobs " << a.value() << " and " << b.value();
          allowed += forth ? 1 : 0;
        }
      }
    }
    if (policy->preempts()) {
      EXPECT_GT(allowed, 0u);
    } else {
      EXPECT_EQ(allowed, 0u);
    }
  }
}

TEST_P(QueueConformance, VictimAndTenantKeysAreStable) {
  const Sample sample(2);
  const std::unique_ptr<QueuePolicy> policy = sample.Make(GetParam());
  const std::unique_ptr<QueuePolicy> other = sample.Make(GetParam());
  for (const JobId job : sample.running()) {
    EXPECT_EQ(policy->VictimKey(sample.jobs(), job, SimTime(kNow)),
              other->VictimKey(sample.jobs(), job, SimTime(kNow)));
  }
  for (size_t t = 0; t < sample.jobs().tenant_count(); ++t) {
    const int64_t key = policy->TenantKey(sample.jobs(), sample.cluster(), TenantId(t));
    EXPECT_EQ(other->TenantKey(sample.jobs(), sample.cluster(), TenantId(t)), key);
    if (!policy->per_tenant()) {
      EXPECT_EQ(key, 0);
    }
  }
}

TEST_P(QueueConformance, StateSurvivesSaveAndLoad) {
  for (uint64_t seed = 1; seed <= kSamples; ++seed) {
    const Sample sample(seed);
    const std::unique_ptr<QueuePolicy> policy = sample.Make(GetParam());
    const std::vector<JobKey> keys = KeysOf(*policy, sample);
    const std::string bytes = SavedBytes(*policy);
    const std::unique_ptr<QueuePolicy> loaded = sample.MakeNew(GetParam());
    StateReader in(bytes);
    ASSERT_TRUE(loaded->Load(in).ok()) << in.status();
    EXPECT_TRUE(in.AtEnd());
    EXPECT_EQ(SavedBytes(*loaded), bytes);
    EXPECT_EQ(KeysOf(*loaded, sample), keys);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryQueue, QueueConformance, testing::ValuesIn(QueueNames()),
                         QueueParamName);

TEST(QueueRegistryTest, HasTheBuiltInOrders) {
  EXPECT_EQ(QueueNames(), (std::vector<std::string>{"fifo", "priority", "sjf", "sjf-estimate",
                                                    "qssf", "srtf", "drf", "edf"}));
}

TEST(QueueRegistryTest, TheSamplesHoldJobsInEveryState) {
  const Sample sample(1);
  EXPECT_GT(sample.waiting().size(), 10u);
  EXPECT_GT(sample.running().size(), 5u);
  EXPECT_LT(sample.waiting().size() + sample.running().size(), kJobs);
}

// Defaults of a policy that overrides nothing else.
TEST(QueuePolicyTest, Defaults) {
  class Plain : public QueuePolicy {
   public:
    absl::string_view name() const override { return "plain"; }
    JobKey Key(const JobTable&, JobId) override { return {}; }
  };
  QueueRig rig;
  const JobId job = rig.Submit(JobAt(0, 10));
  Plain plain;
  EXPECT_FALSE(plain.per_tenant());
  EXPECT_FALSE(plain.preempts());
  EXPECT_EQ(plain.TenantKey(rig.jobs(), rig.cluster(), TenantId(size_t{0})), 0);
  EXPECT_FALSE(plain.MayPreempt(rig.jobs(), job, job, SimTime()));
  EXPECT_EQ(plain.VictimKey(rig.jobs(), job, SimTime()), JobKey());
  plain.OnEnd(rig.jobs(), job);
  EXPECT_TRUE(SavedBytes(plain).empty());
}

}  // namespace queue_conformance_test
}  // namespace drasim
