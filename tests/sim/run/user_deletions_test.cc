// Deletions by a user during the run: pods, their owners, claims; and names that nothing has.
#include "sim/scenario/user_deletions.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/job_table.h"
#include "model/kube/objects.h"
#include "sim/dra/classic/control_plane.h"
#include "sim/dra/classic/plane_checks.h"
#include "sim/run/simulation.h"
#include "tests/sim/run/run_texts.h"
#include "tests/testing/data_text.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace user_deletions_test {

using run_texts::BuildText;
using run_texts::ErrorOf;
using run_texts::Finished;
using ::testing::HasSubstr;

constexpr char kNodes[] =
    "mode: replay\n"
    "cluster:\n"
    "  nodes: 2\n"
    "  node: {cpu: \"16\", memory: 64Gi, gpus: 4, gpu_model: T4}\n";

// "Deleted at 10, evicted 0"; what has not ended has no time.
std::string FateOf(const Simulation& sim, absl::string_view pod) {
  for (size_t j = 0; j < sim.jobs().size(); ++j) {
    const JobRow& row = sim.jobs().row(JobId(j));
    if (sim.cluster().pod_name(row.first_pod) != pod) continue;
    std::string text(JobStateName(row.state));
    if (IsEnded(row.state)) absl::StrAppend(&text, " at ", row.ended.ns() / 1'000'000'000);
    return absl::StrCat(text, ", evicted ", row.evictions);
  }
  return "unknown";
}

TEST(UserDeletionsTest, JobsAndPodsInEveryFrontEnd) {
  // The last deletion comes when its pod is gone.
  const std::string& workload = TestText("JobsAndPodsInEveryFrontEnd.workload");
  for (const char* const front_end :
       {"", "front_end: {kind: device-plugin}\n",
        "front_end: {kind: dra-classic, dra: {zero_latency: true}}\n"}) {
    SCOPED_TRACE(front_end);
    const auto sim = Finished(BuildText(absl::StrCat(kNodes, workload, front_end)));
    ASSERT_NE(sim, nullptr);
    EXPECT_EQ(FateOf(*sim, "web-0"), "Deleted at 10, evicted 0");
    EXPECT_EQ(FateOf(*sim, "web-1"), "Deleted at 10, evicted 0");
    EXPECT_EQ(FateOf(*sim, "one"), "Running, evicted 1");
    EXPECT_EQ(FateOf(*sim, "late"), "Running, evicted 0");
    EXPECT_EQ(sim->metrics().sample().pods_deleted, 2);
    EXPECT_EQ(sim->metrics().sample().pods_evicted, 1);
    if (sim->control_plane() == nullptr) continue;
    // Claims that were made for pods go with them: those of `one` and `late` are left.
    EXPECT_EQ(CheckControlPlane(*sim->control_plane(), false), absl::OkStatus());
    const ObjectCache& objects = sim->control_plane()->network().server().objects();
    EXPECT_EQ(objects.of<ResourceClaim>().Sorted().size(), 2u);
    EXPECT_EQ(objects.of<Pod>().Sorted().size(), 2u);
  }
}

TEST(UserDeletionsTest, OwnersOfManifests) {
  const TempDir dir;
  dir.Write("web.yaml", TestText("OwnersOfManifests"));
  const std::string text = absl::StrCat(kNodes, "workload:\n  manifests: [", dir.PathOf("web.yaml"),
                                        "]\n"
                                        "  deletions:\n"
                                        "    - {at: 5s, pod: bare}\n"
                                        "    - {at: 6s, pod: team/web-1}\n");
  const auto sim = Finished(BuildText(text));
  ASSERT_NE(sim, nullptr);
  EXPECT_EQ(FateOf(*sim, "bare"), "Deleted at 5, evicted 0");
  EXPECT_EQ(FateOf(*sim, "team/web-0"), "Running, evicted 0");
  EXPECT_EQ(FateOf(*sim, "team/web-1"), "Running, evicted 1");
  const auto all = Finished(BuildText(absl::StrCat(text, "    - {at: 7s, job: team/web}\n")));
  ASSERT_NE(all, nullptr);
  EXPECT_EQ(FateOf(*all, "team/web-0"), "Deleted at 7, evicted 0");
  EXPECT_EQ(FateOf(*all, "team/web-1"), "Deleted at 7, evicted 1");
  EXPECT_THAT(ErrorOf(absl::StrCat(text, "    - {at: 7s, job: web}\n")),
              HasSubstr("workload.deletions[2].job: found 'web', expected the name of a job, or of "
                        "what makes pods"));
}

TEST(UserDeletionsTest, Claims) {
  const TempDir dir;
  dir.Write("objects.yaml",
            "{apiVersion: resource.k8s.io/v1alpha2, kind: ResourceClaim, metadata: {name: c},\n"
            " spec: {resourceClassName: gpu.nvidia.com}}\n");
  const auto text = [&dir](absl::string_view claim) {
    return absl::StrCat(kNodes, TestLines("Claims"), claim,
                        "}]\n"
                        "front_end: {kind: dra-classic, dra: {zero_latency: true, objects: [",
                        dir.PathOf("objects.yaml"), "]}}\n");
  };
  // The pod that has it runs to its end; then it goes.
  const auto sim = Finished(BuildText(text("default/c")));
  ASSERT_NE(sim, nullptr);
  EXPECT_EQ(FateOf(*sim, "a"), "Succeeded at 60, evicted 0");
  const ObjectCache& objects = sim->control_plane()->network().server().objects();
  EXPECT_EQ(objects.of<ResourceClaim>().Sorted().size(), 1u);  // that of b
  EXPECT_EQ(ErrorOf(text("b-gpu-x")), "");
  EXPECT_THAT(
      ErrorOf(text("a-gpu-x")),
      HasSubstr(
          "workload.deletions[0].claim: found 'a-gpu-x', expected the name of a ResourceClaim, or "
          "one that is made from a template for a pod"));
  EXPECT_THAT(ErrorOf(absl::StrCat(kNodes,
                                   "workload: {jobs: [{name: a, cpu: \"1\"}], deletions: "
                                   "[{at: 1s, claim: c}]}\n")),
              HasSubstr("workload.deletions[0].claim: found 'c', expected none without "
                        "front_end.kind: dra-classic"));
}

TEST(UserDeletionsTest, SaysWhatIsWrong) {
  const auto error = [](absl::string_view deletion) {
    return ErrorOf(absl::StrCat(kNodes,
                                "workload:\n"
                                "  jobs: [{name: trainer, cpu: \"1\", arrival: 5s},\n"
                                "         {name: gang, pods: 2, cpu: \"1\"}]\n"
                                "  deletions: [",
                                deletion, "]\n"));
  };
  EXPECT_EQ(error("{at: 5s, job: trainer}, {at: 5s, pod: trainer}, {at: 0s, pod: gang-1}"), "");
  EXPECT_THAT(error("{at: 5s, job: trainr}"),
              HasSubstr("workload.deletions[0].job: found 'trainr', expected the name of a job, or "
                        "of what makes pods (did you mean 'trainer'?)"));
  EXPECT_THAT(error("{at: 5s, pod: gang}"),
              HasSubstr("workload.deletions[0].pod: found 'gang', expected the name of a pod, such "
                        "as gang-0: the job has 2 pods"));
  for (const char* const pod : {"gang-2", "gang-01", "trainer-0", "gang-"}) {
    EXPECT_THAT(error(absl::StrCat("{at: 5s, pod: ", pod, "}")),
                HasSubstr(absl::StrCat("workload.deletions[0].pod: found '", pod,
                                       "', expected the name of a pod")));
  }
  EXPECT_THAT(error("{at: 4s, job: trainer}"),
              HasSubstr("workload.deletions[0].at: found '4s', expected no time before 'trainer' "
                        "arrives, 5 s"));
  EXPECT_THAT(error("{at: 4s}"), HasSubstr("workload.deletions[0]: found none of pod, job and "
                                           "claim, expected one of them"));
  EXPECT_THAT(error("{at: 4s, pod: gang-0, job: gang}"),
              HasSubstr("workload.deletions[0]: found several of pod, job and claim"));
  EXPECT_THAT(error("{job: gang}"), HasSubstr("workload.deletions[0].at: found none, expected"));
  EXPECT_THAT(ErrorOf("workload: {deletions: [{at: 1s, job: a}]}\n"),
              HasSubstr("workload.deletions: expected none: a fill has no clock"));
}

}  // namespace user_deletions_test
}  // namespace drasim
