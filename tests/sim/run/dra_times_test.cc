// When jobs with claims end, in scenarios where a component, a node or a driver takes its time.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/job_table.h"
#include "sim/run/simulation.h"
#include "sim/scenario/resolve.h"
#include "tests/sim/run/run_texts.h"

namespace drasim {
namespace dra_times_test {

using run_texts::BuildText;
using run_texts::Finished;
using ::testing::ElementsAreArray;

constexpr char kHead[] =
    "mode: replay\n"
    "order: trace\n"
    "scheduler: {policy: consolidate}\n";

struct TimesCase {
  const char* name;
  const char* node_events;
  const char* jobs;
  const char* more;  // of the scenario
  const char* dra;   // more of front_end.dra, where nothing takes time by itself
  std::vector<std::string> ends;
};

const TimesCase kCases[] = {
    // Nothing at all happens for longer than pods that wait for ever are waited for.
    {"LongPreparation",
     "",
     "[{name: a, arrival: 15s, cpu: \"1\", gpus: 1, run_time: 1m}]",
     "",
     "prepare: 20m",
     {"a Succeeded 1275"}},
    {"LongUnpreparation",
     "",
     "[{name: a, arrival: 15s, cpu: \"1\", gpus: 1, run_time: 1m}]",
     "",
     "unprepare: 20m",
     {"a Succeeded 1275"}},
    // 15 s are done when the node fails; from 1230 s on the other 45.
    {"LateRecreation",
     ", events: [{at: 30s, nodes: node-000000, action: fail, duration: 60s}]",
     "[{name: a, arrival: 15s, cpu: \"1\", gpus: 1, run_time: 1m}]",
     "timing: {pod_recreation: 20m}\n",
     "release: \"1.29\"",
     {"a Succeeded 1275"}},
    {"SchedulerIsDown",
     "",
     "[{name: a, arrival: 15s, cpu: \"1\", gpus: 1, run_time: 1m}]",
     "",
     "faults: [{at: 10s, action: restart, component: scheduler, duration: 20m}]",
     {"a Succeeded 1270"}},
    // Two gangs of 2 on 2 GPUs, one each; the first of them gives up at 20 minutes.
    {"LongGangTimeout",
     "",
     "[{name: g, arrival: 1s, cpu: \"1\", gpus: 1, pods: 2, run_time: 60s},\n"
     "         {name: h, arrival: 1s, cpu: \"1\", gpus: 1, pods: 2, run_time: 60s}]",
     "",
     "driver_decision: 'uniform(low=0,high=5)', gang_timeout: 20m",
     {"g Succeeded 1383", "h Succeeded 1476"}},
    // Work ends at 61 s, and the claim is unprepared until 71: a pod that is ending is neither
    // preempted nor drained, and must not be rerun.
    {"PreemptorOfTheEnding",
     "",
     "[{name: v, arrival: 1s, cpu: \"8\", gpus: 1, run_time: 60s},\n"
     "         {name: p, arrival: 65s, cpu: \"8\", run_time: 10m, priority: 10}]",
     "",
     "unprepare: 10s",
     {"v Succeeded 71", "p Succeeded 671"}},
    {"DrainOfTheEnding",
     ", events: [{at: 80s, nodes: node-000000, action: drain, duration: 300s}]",
     "[{name: a, arrival: 10s, cpu: \"1\", gpus: 1, run_time: 1m}]",
     "preemption: {checkpoint_interval: none}\n",
     "unprepare: 40s",
     {"a Succeeded 110"}},
    // The scheduler binds at 88 s, the kubelet is back at 129 s and reports the start at 139 s; 20
    // s
    // of work, and 10 s to say so.
    {"KubeletAndSchedulerRestart",
     "",
     "[{name: a, arrival: 1s, cpu: \"1\", gpus: 1, run_time: 20s}]",
     "",
     "prepare: 5s, scheduler: {write_latency: constant(10)}, kubelets: {write_latency: "
     "constant(10)},\n"
     "        faults: [{at: 18s, action: restart, component: scheduler, duration: 60s},\n"
     "                 {at: 29s, action: restart, component: kubelet, duration: 100s}]",
     {"a Succeeded 169"}},
    // A scheduler that is down preempts nothing: l works until 310 s, and 3,291 s from 370 s on.
    {"SchedulerThatIsDownPreemptsNobody",
     "",
     "[{name: h, arrival: 1s, cpu: \"4\", run_time: 60s, priority: 10},\n"
     "         {name: l, arrival: 1s, cpu: \"4\", run_time: 1h},\n"
     "         {name: p, arrival: 5s, cpu: \"8\", run_time: 60s, priority: 10}]",
     "",
     "faults: [{at: 10s, action: restart, component: scheduler, duration: 5m}]",
     {"h Succeeded 61", "l Succeeded 3661", "p Succeeded 370"}},
};

std::string TextOf(const TimesCase& c) {
  return absl::StrCat(
      kHead, "cluster: {nodes: 1, node: {cpu: \"8\", memory: 32Gi, gpus: 2, gpu_model: ",
      "A100-SXM4-80GB}", c.node_events, "}\nworkload:\n  jobs: ", c.jobs, "\n", c.more,
      "front_end:\n  kind: dra-classic\n  lowering: {rule: whole-gpu, ignore_gpu_model: true}\n",
      // Which gang is served first would depend on the places that the driver keeps.
      "  dra: {drivers: [{kind: nvidia, node_objects: false}], zero_latency: true, ", c.dra, "}\n");
}

class DraTimesTest : public ::testing::TestWithParam<TimesCase> {};

TEST_P(DraTimesTest, JobsEnd) {
  const std::unique_ptr<Simulation> sim = Finished(BuildText(TextOf(GetParam())));
  ASSERT_NE(sim, nullptr);
  std::vector<std::string> ends;
  for (size_t j = 0; j < sim->jobs().size(); ++j) {
    const JobRow& row = sim->jobs().row(JobId(j));
    const bool succeeded = row.state == JobState::kSucceeded;
    const std::string name(sim->cluster().pod_name(row.first_pod));
    ends.push_back(absl::StrCat(name.substr(0, 1), succeeded ? " Succeeded " : " did not end ",
                                row.ended.ns() / 1'000'000'000));
  }
  EXPECT_THAT(ends, ElementsAreArray(GetParam().ends));
}

INSTANTIATE_TEST_SUITE_P(All, DraTimesTest, ::testing::ValuesIn(kCases),
                         [](const ::testing::TestParamInfo<TimesCase>& run) {
                           return std::string(run.param.name);
                         });

// A pod that is still there at the end, its work not begun, has done nothing useful. And a run does
// not wait for ever for a call that takes so long.
TEST(DraUnfinishedTest, PreparationIsNoWork) {
  const TimesCase c = {
      "", "", "[{name: a, arrival: 15s, cpu: \"1\", gpus: 1, run_time: 1m}]", "", "prepare: 300h",
      {}};
  const std::unique_ptr<Simulation> sim = Finished(BuildText(TextOf(c)));
  ASSERT_NE(sim, nullptr);
  EXPECT_EQ(sim->jobs().row(JobId(size_t{0})).state, JobState::kRunning);
  const JobFigures figures = sim->MakeJobReport().figures();
  EXPECT_LT(figures.preemption.held_gpu_hours, 30);
  EXPECT_EQ(figures.preemption.overhead_gpu_hours, figures.preemption.held_gpu_hours);
  EXPECT_EQ(figures.preemption.useful_gpu_hours, 0);
}

}  // namespace dra_times_test
}  // namespace drasim
