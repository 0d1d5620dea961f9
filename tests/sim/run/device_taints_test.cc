// Taints and binding conditions of devices in whole runs of structured DRA: pods that lose their
// devices, and pods that wait until theirs are bound.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/job_table.h"
#include "sim/dra/api/plane_part.h"
#include "sim/dra/classic/control_plane.h"
#include "sim/run/simulation.h"
#include "tests/sim/run/run_texts.h"
#include "tests/testing/data_text.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace device_taints_test {

using run_texts::BuildText;
using run_texts::ErrorOf;
using run_texts::Finished;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DeviceTaintsTest : public ::testing::Test {
 protected:
  DeviceTaintsTest() { dir_.Write("objects.yaml", TestText("Objects")); }

  // Two nodes with two GPUs of dra-example-driver each; `more` of front_end.structured.
  std::string Scenario(absl::string_view jobs, absl::string_view more,
                       absl::string_view options = "", absl::string_view driver = "") {
    return absl::StrCat("mode: replay\norder: trace\nseed: 1\n", options,
                        "cluster: {nodes: 2, node: {cpu: \"16\", memory: 64Gi}}\n"
                        "scheduler: {policy: least-allocated}\n"
                        "front_end:\n  kind: dra-structured\n  structured:\n    slices: [",
                        dir_.PathOf("objects.yaml"),
                        "]\n    zero_latency: true\n    drivers: [{kind: gpu.example.com, "
                        "devices: 2",
                        driver, "}]\n", more, "workload:\n  jobs:\n", jobs);
  }
  static std::string Job(absl::string_view name, absl::string_view claim,
                         absl::string_view run_time = "10m", absl::string_view arrival = "0s") {
    return absl::StrCat("    - {name: ", name, ", cpu: \"1\", memory: 1Gi, run_time: ", run_time,
                        ", arrival: ", arrival, ", claims: [{name: gpu, ", claim, "}]}\n");
  }
  // "a node-000001 600 evicted 1": node and end, in seconds, and evictions.
  static std::vector<std::string> Ends(const Simulation& sim) {
    std::vector<std::string> ends;
    for (size_t j = 0; j < sim.jobs().size(); ++j) {
      const JobRow& row = sim.jobs().row(JobId(j));
      ends.push_back(absl::StrCat(sim.cluster().pod_name(row.first_pod), " ",
                                  row.state == JobState::kSucceeded ? "done"
                                  : row.state == JobState::kFailed  ? "failed"
                                                                    : "waits",
                                  " ", row.ended.ns() / kSecondNs, " evicted ", row.evictions));
    }
    return ends;
  }
  static uint64_t Figure(const Simulation& sim, absl::string_view key) {
    for (const PlanePart* part : sim.control_plane()->parts()) {
      for (const PlanePart::Figure& figure : part->Figures()) {
        if (figure.key == key) return figure.count;
      }
    }
    return ~uint64_t{0};
  }

  TempDir dir_;
};

// The pods of a tainted node go and run again on the other one; work is kept.
TEST_F(DeviceTaintsTest, EvictedPodsRunElsewhere) {
  const auto sim = Finished(BuildText(
      Scenario(absl::StrCat(Job("a", "template: one-gpu"), Job("b", "template: one-gpu")),
               "    taint_rules:\n"
               "      - {name: broken, at: 100s, pool: node-000000, key: example.com/broken}\n")));
  ASSERT_NE(sim, nullptr);
  EXPECT_THAT(Ends(*sim), ElementsAre("a done 600 evicted 1", "b done 600 evicted 0"));
  EXPECT_EQ(Figure(*sim, "pods_evicted_by_taints"), 1U);
}

// All devices are tainted: the pod comes back when the rule has gone.
TEST_F(DeviceTaintsTest, APodWaitsUntilTheRuleHasGone) {
  const auto sim =
      Finished(BuildText(Scenario(Job("a", "template: one-gpu"),
                                  "    taint_rules:\n"
                                  "      - {name: broken, at: 100s, key: k, effect: NoSchedule}\n"
                                  "      - {name: broken, at: 150s, key: k, effect: NoExecute}\n"
                                  "      - {name: broken, at: 300s, delete: true}\n")));
  ASSERT_NE(sim, nullptr);
  EXPECT_THAT(Ends(*sim), ElementsAre("a done 750 evicted 1"));
}

TEST_F(DeviceTaintsTest, TolerationsPostponeAndPreventEvictions) {
  const auto sim = Finished(BuildText(
      Scenario(absl::StrCat(Job("a", "template: patient"), Job("b", "template: tolerant")),
               "    users: {write_latency: constant(1)}\n"
               "    taint_rules:\n"
               "      - {name: broken, at: 100s, key: example.com/broken}\n"
               "      - {name: broken, at: 500s, delete: true}\n")));
  ASSERT_NE(sim, nullptr);
  // From 400 s on `a` is evicted. Its toleration holds for allocation: its replacement, which a
  // user makes within a second, gets such a device again and has to go at once.
  EXPECT_THAT(Ends(*sim)[1], "b done 601 evicted 0");
  EXPECT_EQ(sim->jobs().row(JobId(0U)).state, JobState::kSucceeded);
  EXPECT_GE(sim->jobs().row(JobId(0U)).evictions, 1);
}

// Evicted pods work on until the end of the grace period.
TEST_F(DeviceTaintsTest, EvictedPodsHaveTheirGracePeriod) {
  const auto sim = Finished(BuildText(
      Scenario(absl::StrCat(Job("a", "template: one-gpu"), Job("b", "template: one-gpu", "110s")),
               "    taint_rules:\n"
               "      - {name: broken, at: 100s, key: k}\n"
               "      - {name: broken, at: 200s, delete: true}\n",
               "preemption: {grace_period: 30s}\n")));
  ASSERT_NE(sim, nullptr);
  EXPECT_THAT(Ends(*sim), ElementsAre("a done 670 evicted 1", "b done 110 evicted 0"));
}

// Pods of a cluster's dump that have no owner are not replaced.
TEST_F(DeviceTaintsTest, ABarePodIsGone) {
  dir_.Write("dump.yaml", TestText("Dump"));
  const auto sim = Finished(BuildText(
      absl::StrCat("mode: replay\norder: trace\ncluster: {manifests: [", dir_.PathOf("dump.yaml"),
                   "]}\nscheduler: {policy: least-allocated}\n"
                   "front_end:\n  kind: dra-structured\n  structured:\n    zero_latency: true\n"
                   "    taint_rules:\n      - {name: broken, at: 100s, key: k}\n")));
  ASSERT_NE(sim, nullptr);
  EXPECT_THAT(Ends(*sim), ElementsAre("pod0 failed 100 evicted 0"));
}

TEST_F(DeviceTaintsTest, AllPodsOfAClaimGo) {
  const auto sim = Finished(BuildText(
      Scenario(absl::StrCat(Job("a", "claim: shared"), Job("b", "claim: shared", "10m", "5s")),
               "    taint_rules:\n"
               "      - {name: broken, at: 100s, key: k}\n"
               "      - {name: broken, at: 200s, delete: true}\n")));
  ASSERT_NE(sim, nullptr);
  EXPECT_THAT(Ends(*sim), ElementsAre("a done 700 evicted 1", "b done 705 evicted 1"));
}

// --- Binding conditions ---

TEST_F(DeviceTaintsTest, APodWaitsUntilItsDeviceIsBound) {
  const auto sim = Finished(BuildText(Scenario(Job("a", "template: one-gpu"), "", "",
                                               ", binding_conditions: true, binding_delay: 12s")));
  ASSERT_NE(sim, nullptr);
  // The scheduler looks every 5 s.
  EXPECT_THAT(Ends(*sim), ElementsAre("a done 615 evicted 0"));
  EXPECT_EQ(Figure(*sim, "allocations_bound"), 1U);
}

// The claim is deallocated in the next attempt, and allocated in the one after that.
TEST_F(DeviceTaintsTest, ADeviceThatFailsToBindIsGivenUp) {
  const auto sim = Finished(
      BuildText(Scenario(Job("a", "template: one-gpu"), "", "",
                         ", binding_conditions: true, binding_delay: 2s, binding_failures: 1")));
  ASSERT_NE(sim, nullptr);
  EXPECT_EQ(Figure(*sim, "allocations_failed_to_bind"), 1U);
  EXPECT_EQ(Figure(*sim, "allocations_bound"), 1U);
  EXPECT_EQ(sim->jobs().row(JobId(0U)).state, JobState::kSucceeded);
  EXPECT_EQ(sim->jobs().row(JobId(0U)).attempts_failed, 2U);
}

TEST_F(DeviceTaintsTest, ADeviceThatIsNeverBoundTimesOut) {
  const auto sim = Finished(BuildText(Scenario(Job("a", "template: one-gpu"), "", "",
                                               ", binding_conditions: true, binding_timeouts: 1")));
  ASSERT_NE(sim, nullptr);
  EXPECT_EQ(sim->jobs().row(JobId(0U)).state, JobState::kSucceeded);
  EXPECT_GE(sim->jobs().row(JobId(0U)).first_start, SimTime() + SimDuration::Seconds(600));
  EXPECT_LT(sim->jobs().row(JobId(0U)).first_start, SimTime() + SimDuration::Seconds(700));
}

// --- What the scenario may not say ---

TEST_F(DeviceTaintsTest, MistakesAreExplained) {
  const auto mistake = [this](absl::string_view rules, absl::string_view driver = "") {
    return ErrorOf(Scenario(Job("a", "template: one-gpu"),
                            rules.empty() ? "" : absl::StrCat("    taint_rules: [", rules, "]\n"),
                            "", driver));
  };
  EXPECT_THAT(mistake("{at: 1s, key: k}"), HasSubstr("front_end.structured.taint_rules.0.name"));
  EXPECT_THAT(mistake("{name: r, at: soon, key: k}"), HasSubstr("taint_rules.0.at"));
  EXPECT_THAT(mistake("{name: r}"), HasSubstr("taint_rules.0.key"));
  EXPECT_THAT(mistake("{name: r, key: k, effect: NoRun}"), HasSubstr("taint_rules.0.effect"));
  EXPECT_THAT(mistake("{name: r, key: k, delete: true}"),
              HasSubstr("taint_rules.0.key: found 'k', expected none with delete: true"));
  EXPECT_THAT(mistake("{name: r, delete: true}"),
              HasSubstr("taint_rules.0.name: found 'r', expected a DeviceTaintRule that exists"));
  EXPECT_THAT(ErrorOf(Scenario(Job("a", "template: one-gpu"),
                               "    release: \"1.36\"\n    taint_rules: [{name: r, key: k}]\n")),
              HasSubstr("taint_rules: expected none, for the gates DRADeviceTaints and "
                        "DRADeviceTaintRules are not both on in release 1.36"));
  EXPECT_THAT(mistake("", ", binding_conditions: true, binding_delay: soon"),
              HasSubstr("front_end.structured.drivers.0.binding_delay"));
  EXPECT_THAT(mistake("", ", binding_conditions: true, binding_failures_per_mille: 1001"),
              HasSubstr("binding_failures_per_mille: found 1001, expected 0 to 1000"));
  EXPECT_THAT(mistake("", ", binding_failures: 1"), HasSubstr("binding_conditions: true"));
}

}  // namespace device_taints_test
}  // namespace drasim
