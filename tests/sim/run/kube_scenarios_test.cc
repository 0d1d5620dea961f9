// scenarios/kube/budgets.yaml and nominated.yaml: when and where each pod starts, and what
// would happen without the budget and without the pod that takes the nominee's room.
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/job_table.h"
#include "model/proto/scenario.pb.h"
#include "sim/run/simulation.h"
#include "sim/scenario/given_scenario.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/run_spec_of.h"
#include "tests/testing/temp_dir.h"
#include "traces/byte_source.h"

namespace drasim {
namespace kube_scenarios_test {

using ::testing::ElementsAre;

std::string ScenarioPath(absl::string_view name) {
  return absl::StrCat(DRASIM_SOURCE_DIR, "/scenarios/kube/", name);
}

std::string TextOf(const std::string& path) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenByteSource(path);
  EXPECT_EQ(source.status(), absl::OkStatus());
  return source.ok() ? *ReadAll(**source, size_t{1} << 20) : "";
}

// "JOB: start of its last stay in seconds, preemptions" of each job, in the order of arrival.
std::vector<std::string> Course(const proto::Scenario& scenario) {
  std::vector<std::string> course;
  absl::StatusOr<std::unique_ptr<Simulation>> sim = Simulation::Build(RunSpecOf(scenario));
  EXPECT_EQ(sim.status(), absl::OkStatus());
  if (!sim.ok()) return course;
  EXPECT_EQ((*sim)->Start(), absl::OkStatus());
  EXPECT_EQ((*sim)->Run(), absl::OkStatus());
  EXPECT_EQ((*sim)->cluster().CheckInvariants(), absl::OkStatus());
  const JobTable& jobs = (*sim)->jobs();
  for (size_t i = 0; i < jobs.size(); ++i) {
    const JobRow& row = jobs.row(JobId(i));
    course.push_back(absl::StrCat((*sim)->cluster().pod_name(row.first_pod), ": ",
                                  (row.started - SimTime()).ns() / 1'000'000'000, " s, ",
                                  row.preemptions));
  }
  return course;
}

TEST(KubeScenariosTest, ABudgetTurnsThePreemption) {
  ASSERT_OK_AND_ASSIGN(GivenScenario given, ReadGiven(ScenarioPath("budgets.yaml")));
  EXPECT_THAT(Course(*given.scenario),
              ElementsAre("shop/db-0: 0 s, 0", "shop/db-1: 0 s, 0", "shop/batch-0: 660 s, 1",
                          "shop/batch-1: 660 s, 1", "shop/batch-2: 660 s, 1", "urgent: 60 s, 0"));

  const std::string cluster = TextOf(ScenarioPath("budgets.manifest.yaml"));
  const auto with_budget = [&](absl::string_view allowed, absl::string_view app) {
    const TempDir dir;
    dir.Write(
        "c.yaml",
        absl::StrReplaceAll(
            cluster, {{"disruptionsAllowed: 0", absl::StrCat("disruptionsAllowed: ", allowed)},
                      {"matchLabels: {app: db}", absl::StrCat("matchLabels: {app: ", app, "}")}}));
    proto::Scenario scenario = *given.scenario;
    scenario.mutable_cluster()->set_manifests(0, dir.PathOf("c.yaml"));
    return Course(scenario);
  };
  // Two victims are fewer than three.
  const std::vector<std::string> database_leaves = {"shop/db-0: 660 s, 1",  "shop/db-1: 660 s, 1",
                                                    "shop/batch-0: 0 s, 0", "shop/batch-1: 0 s, 0",
                                                    "shop/batch-2: 0 s, 0", "urgent: 60 s, 0"};
  EXPECT_EQ(with_budget("0", "nobody"), database_leaves);
  EXPECT_EQ(with_budget("2", "db"), database_leaves);
  // One of the two is one too many.
  EXPECT_EQ(with_budget("1", "db"), Course(*given.scenario));
}

TEST(KubeScenariosTest, ANominationHoldsTheRoomAgainstTheSamePriority) {
  ASSERT_OK_AND_ASSIGN(GivenScenario given, ReadGiven(ScenarioPath("nominated.yaml")));
  EXPECT_THAT(Course(*given.scenario),
              ElementsAre("batch: 750 s, 1", "urgent: 150 s, 0", "late: 90 s, 0", "peer: 90 s, 0",
                          "vip: 75 s, 0"));
  proto::Scenario without_vip = *given.scenario;
  without_vip.mutable_workload()->mutable_jobs()->RemoveLast();
  EXPECT_THAT(Course(without_vip), ElementsAre("batch: 750 s, 1", "urgent: 90 s, 0",
                                               "late: 690 s, 0", "peer: 690 s, 0"));
}

}  // namespace kube_scenarios_test
}  // namespace drasim
