// Whole runs in process: checkpoints resume to the same end, pauses and stops, what the files of a
// scenario leave in it.
#include "sim/app/simulation.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/proto/scenario.pb.h"
#include "model/record.h"
#include "model/state_io.h"
#include "model/text/yaml_proto.h"
#include "sim/app/run_outputs.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/ledger_writer.h"
#include "sim/record/pod_log.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace simulation_test {

// Pods that wait, run and leave, with time spent on attempts and on binding, so that a checkpoint
// finds pods in every state.
constexpr char kReplay[] = R"(
mode: replay
order: trace
seed: 9
cluster: {nodes: 8}
workload:
  generated:
    pods: 150
    interarrival: exponential(mean=5)
    run_time: lognormal(median=400,sigma=1)
scheduler: {policy: best-fit}
timing: {bind: 2s, schedule: 500ms}
)";

// Every decision draws from a stream.
constexpr char kRandom[] = R"(
mode: replay
order: trace
seed: 10
cluster: {nodes: 8}
workload:
  generated:
    pods: 120
    sampling: independent
    interarrival: uniform(low=0,high=4)
    run_time: weibull(scale=300,shape=1.5)
scheduler: {policy: random}
)";

// Scores normalised over all nodes, devices by lot, the artifact's order and its one stream.
constexpr char kFill[] = R"(
mode: fill
order: artifact
seed: 11
cluster: {nodes: 12}
workload: {generated: {pods: 90}, tuning: {ratio: 1.2}}
scheduler:
  policy: fgd
  score: [{name: FGD, weight: 3}, {name: BestFit}]
  device_chooser: random
)";

proto::Scenario ScenarioOf(absl::string_view yaml) {
  proto::Scenario scenario;
  EXPECT_EQ(MergeYaml(yaml, "test.yaml", &scenario), absl::OkStatus());
  EXPECT_EQ(ResolveScenario(&scenario), absl::OkStatus());
  return scenario;
}

// A simulation that is ready to start. Failing to build ends the test program: nothing else in the
// test would make sense.
std::unique_ptr<Simulation> Build(const proto::Scenario& scenario) {
  absl::StatusOr<std::unique_ptr<Simulation>> built = Simulation::Build(scenario);
  EXPECT_TRUE(built.ok()) << built.status();
  return *std::move(built);
}

// Everything that a run comes to, as text.
std::string Outcome(const Simulation& sim, const PodLog& log) {
  EXPECT_TRUE(sim.engine().finished());
  EXPECT_EQ(sim.cluster().CheckInvariants(), absl::OkStatus());
  std::string text = SummaryJson(sim);
  log.AppendCsv(sim.cluster(), 0, sim.cluster().pod_count(), &text);
  return absl::StrCat(text, sim.load_table().ToCsv(), sim.engine().records());
}

std::string RunToTheEnd(const proto::Scenario& scenario) {
  const std::unique_ptr<Simulation> sim = Build(scenario);
  PodLog log;
  sim->AddSink(&log);
  EXPECT_EQ(sim->Start(), absl::OkStatus());
  EXPECT_EQ(sim->Run(), absl::OkStatus());
  return Outcome(*sim, log);
}

struct NamedScenario {
  const char* name;
  const char* yaml;
};
constexpr NamedScenario kScenarios[] = {{"Replay", kReplay}, {"Random", kRandom}, {"Fill", kFill}};

// The parameter is an index into kScenarios.
class CheckpointTest : public ::testing::TestWithParam<size_t> {
 protected:
  static proto::Scenario ScenarioUnderTest() { return ScenarioOf(kScenarios[GetParam()].yaml); }
};

TEST_P(CheckpointTest, ResumesFromTheLedgerToTheSameEnd) {
  const TempDir dir;
  proto::Scenario scenario = ScenarioUnderTest();
  scenario.mutable_output()->set_checkpoint_every(40);
  std::string expected;
  uint64_t fingerprint = 0;
  {
    const std::unique_ptr<Simulation> sim = Build(scenario);
    absl::StatusOr<std::unique_ptr<LedgerWriter>> writer = LedgerWriter::Create(
        dir.PathOf("ledger"), ResolvedYaml(*sim), sim->cluster(), sim->ranks(), sim->summaries());
    ASSERT_TRUE(writer.ok()) << writer.status();
    PodLog log;
    sim->AddSink(&log);
    sim->AddSink(writer->get());
    sim->set_on_checkpoint(
        [&writer](const std::string& state) { return (*writer)->AddCheckpoint(state); });
    ASSERT_EQ(sim->Start(), absl::OkStatus());
    ASSERT_EQ(sim->Run(), absl::OkStatus());
    ASSERT_EQ((*writer)->Finish(sim->fingerprint()), absl::OkStatus());
    expected = Outcome(*sim, log);
    fingerprint = sim->fingerprint();
  }
  EXPECT_EQ(RunToTheEnd(scenario), expected);  // checkpoints change nothing

  absl::StatusOr<std::unique_ptr<LedgerReader>> reader = LedgerReader::Open(dir.path());
  ASSERT_TRUE(reader.ok()) << reader.status();
  const auto checkpoints = (*reader)->ListCheckpoints();
  ASSERT_TRUE(checkpoints.ok()) << checkpoints.status();
  ASSERT_GE(checkpoints->size(), 4u);
  const proto::Scenario again = ScenarioOf((*reader)->header().scenario_yaml());
  for (const LedgerReader::Checkpoint& checkpoint : *checkpoints) {
    const absl::StatusOr<std::string> state = (*reader)->ReadCheckpoint(checkpoint);
    ASSERT_TRUE(state.ok()) << state.status();
    const std::unique_ptr<Simulation> sim = Build(again);
    PodLog log;
    sim->AddSink(&log);
    ASSERT_EQ(sim->Start(&*state), absl::OkStatus());
    EXPECT_EQ(sim->engine().records(), checkpoint.records);
    EXPECT_FALSE(sim->engine().finished());
    ASSERT_EQ(sim->Run(), absl::OkStatus());
    EXPECT_EQ(sim->fingerprint(), fingerprint) << checkpoint.records;
    EXPECT_EQ(Outcome(*sim, log), expected) << checkpoint.records;
  }
}

TEST_P(CheckpointTest, PausesChangeNothing) {
  const proto::Scenario scenario = ScenarioUnderTest();
  const std::string expected = RunToTheEnd(scenario);
  const std::unique_ptr<Simulation> sim = Build(scenario);
  PodLog log;
  sim->AddSink(&log);
  sim->set_stop_after_events(7);
  ASSERT_EQ(sim->Start(), absl::OkStatus());
  size_t pauses = 0;
  while (!sim->engine().finished()) {
    ASSERT_EQ(sim->Run(), absl::OkStatus());
    ++pauses;
  }
  EXPECT_GE(pauses, 10u);
  EXPECT_EQ(Outcome(*sim, log), expected);
}

// The state says what comes next; who asks for it when does not matter.
TEST_P(CheckpointTest, AStateThatIsLoadedIsSavedAlike) {
  proto::Scenario scenario = ScenarioUnderTest();
  scenario.mutable_output()->set_checkpoint_every(60);
  std::vector<std::string> states;
  const std::unique_ptr<Simulation> sim = Build(scenario);
  sim->set_on_checkpoint([&states](const std::string& state) {
    states.push_back(state);
    return absl::OkStatus();
  });
  ASSERT_EQ(sim->Start(), absl::OkStatus());
  ASSERT_EQ(sim->Run(), absl::OkStatus());
  ASSERT_GE(states.size(), 2u);
  for (const std::string& state : states) {
    const std::unique_ptr<Simulation> loaded = Build(scenario);
    ASSERT_EQ(loaded->Start(&state), absl::OkStatus());
    StateWriter out;
    loaded->engine().Save(out);
    EXPECT_TRUE(out.bytes() == state);
  }
}

TEST_P(CheckpointTest, ACutStateIsRefused) {
  proto::Scenario scenario = ScenarioUnderTest();
  scenario.mutable_output()->set_checkpoint_every(100);
  std::string state;
  const std::unique_ptr<Simulation> sim = Build(scenario);
  sim->set_on_checkpoint([&state](const std::string& bytes) {
    state = bytes;
    return absl::OkStatus();
  });
  ASSERT_EQ(sim->Start(), absl::OkStatus());
  ASSERT_EQ(sim->Run(), absl::OkStatus());
  ASSERT_FALSE(state.empty());
  const size_t step = std::max<size_t>(1, state.size() / 60);
  for (size_t size = 0; size < state.size(); size += step) {
    const std::string cut = state.substr(0, size);
    EXPECT_EQ(Build(scenario)->Start(&cut).code(), absl::StatusCode::kDataLoss) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, CheckpointTest, ::testing::Values(0, 1, 2),
                         [](const ::testing::TestParamInfo<size_t>& tested) {
                           return std::string(kScenarios[tested.param].name);
                         });

// cluster.scale repeats the nodes in order, or cuts the list.
TEST(SimulationTest, TheClusterCanBeScaled) {
  const auto names = [](absl::string_view scale) {
    const std::unique_ptr<Simulation> sim = Build(ScenarioOf(absl::StrCat(
        "order: trace\ncluster:\n  nodes: 3\n  node: {cpu: '1', memory: 1Gi}\n  scale: ", scale,
        "\nworkload: {jobs: [{name: a, cpu: '1'}]}\n")));
    std::vector<std::string> found;
    for (size_t n = 0; n < sim->cluster().node_count(); ++n) {
      found.push_back(sim->cluster().node_spec(NodeId(n)).name);
    }
    return found;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names("1"), (Names{"node-000000", "node-000001", "node-000002"}));
  EXPECT_EQ(names("1.2"), (Names{"node-000000", "node-000001", "node-000002", "node-000000-2"}));
  EXPECT_EQ(names("2.4"), (Names{"node-000000", "node-000001", "node-000002", "node-000000-2",
                                 "node-000001-2", "node-000002-2", "node-000000-3"}));
  EXPECT_EQ(names("0.5"), (Names{"node-000000", "node-000001"}));
  EXPECT_EQ(names("0.01"), Names{"node-000000"});
  EXPECT_EQ(
      Simulation::Build(ScenarioOf("cluster: {nodes: 1000, scale: 20000}\n")).status(),
      absl::InvalidArgumentError("cluster.scale: found 20000 for 1000 nodes, expected at most "
                                 "16777216 nodes"));
}

TEST(SimulationTest, ACheckpointOfAnotherClusterIsRefused) {
  proto::Scenario scenario = ScenarioOf(kFill);
  scenario.mutable_output()->set_checkpoint_every(100);
  std::string state;
  const std::unique_ptr<Simulation> sim = Build(scenario);
  sim->set_on_checkpoint([&state](const std::string& bytes) {
    state = bytes;
    return absl::OkStatus();
  });
  ASSERT_EQ(sim->Start(), absl::OkStatus());
  ASSERT_EQ(sim->Run(), absl::OkStatus());
  ASSERT_FALSE(state.empty());
  scenario.mutable_cluster()->set_nodes(13);
  const absl::Status refused = Build(scenario)->Start(&state);
  EXPECT_EQ(refused.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(refused.message().find("the number of nodes differs from the scenario's"),
            absl::string_view::npos)
      << refused;
}

TEST(SimulationTest, CheckpointsComeAfterSoManyRecords) {
  proto::Scenario scenario = ScenarioOf(kFill);
  scenario.mutable_output()->set_checkpoint_every(50);
  const std::unique_ptr<Simulation> sim = Build(scenario);
  std::vector<uint64_t> records;
  sim->set_on_checkpoint([&](const std::string&) {
    records.push_back(sim->engine().records());
    return absl::OkStatus();
  });
  ASSERT_EQ(sim->Start(), absl::OkStatus());
  ASSERT_EQ(sim->Run(), absl::OkStatus());
  ASSERT_FALSE(records.empty());
  for (size_t i = 0; i < records.size(); ++i) {
    // At the first event's end at or behind each multiple; an event has few records.
    EXPECT_GE(records[i], 50 * (i + 1));
    EXPECT_LT(records[i], 50 * (i + 1) + 4);
  }
}

TEST(SimulationTest, AFailingCheckpointOrSinkEndsTheRun) {
  proto::Scenario scenario = ScenarioOf(kFill);
  scenario.mutable_output()->set_checkpoint_every(50);
  const std::unique_ptr<Simulation> sim = Build(scenario);
  sim->set_on_checkpoint([](const std::string&) { return absl::DataLossError("disk gone"); });
  ASSERT_EQ(sim->Start(), absl::OkStatus());
  EXPECT_EQ(sim->Run(), absl::DataLossError("disk gone"));
  EXPECT_FALSE(sim->engine().finished());

  class BadSink : public RecordSink {
   public:
    void OnRecord(const Record&, const ClusterState&) override {}
    absl::Status status() const override { return absl::ResourceExhaustedError("full"); }
  };
  BadSink bad;
  const std::unique_ptr<Simulation> other = Build(ScenarioOf(kFill));
  other->AddSink(&bad);
  ASSERT_EQ(other->Start(), absl::OkStatus());
  EXPECT_EQ(other->Run(), absl::ResourceExhaustedError("full"));
}

TEST(SimulationTest, AStopRequestEndsTheRun) {
  const std::atomic<bool> stop{true};
  const std::unique_ptr<Simulation> sim = Build(ScenarioOf(kReplay));
  sim->set_stop(&stop);
  ASSERT_EQ(sim->Start(), absl::OkStatus());
  EXPECT_EQ(sim->Run(), absl::CancelledError("stopped by a signal"));
  EXPECT_FALSE(sim->engine().finished());
  EXPECT_LT(sim->engine().records(), 4u);  // after one event
}

TEST(SimulationTest, TheCacheSavesWorkAndChangesNothing) {
  proto::Scenario scenario = ScenarioOf(
      "cluster: {nodes: 200}\nworkload: {generated: {pods: 1500}, tuning: {ratio: 1.3}}\n");
  const std::unique_ptr<Simulation> cached = Build(scenario);
  ASSERT_EQ(cached->Start(), absl::OkStatus());
  ASSERT_EQ(cached->Run(), absl::OkStatus());
  scenario.mutable_scheduler()->set_cache(false);
  const std::unique_ptr<Simulation> plain = Build(scenario);
  ASSERT_EQ(plain->Start(), absl::OkStatus());
  ASSERT_EQ(plain->Run(), absl::OkStatus());
  EXPECT_EQ(cached->fingerprint(), plain->fingerprint());
  EXPECT_EQ(SummaryJson(*cached), SummaryJson(*plain));
  // What failed before and cannot have changed is not decided again.
  EXPECT_EQ(cached->cycle().work().decisions + cached->cycle().work().attempts_remembered,
            plain->cycle().work().decisions);
  EXPECT_EQ(plain->cycle().work().cache_hits, 0u);
  EXPECT_GT(cached->cycle().work().cache_hits, 0u);
  EXPECT_LT(cached->cycle().work().nodes_scored, plain->cycle().work().nodes_scored / 3);
}

TEST(SimulationTest, EveryEventKeepsTheInvariants) {
  for (const NamedScenario& named : kScenarios) {
    proto::Scenario scenario = ScenarioOf(named.yaml);
    const std::string expected = RunToTheEnd(scenario);
    scenario.mutable_output()->set_check_invariants(true);
    EXPECT_EQ(RunToTheEnd(scenario), expected);
  }
}

TEST(SimulationTest, InputFilesArePinnedByTheirHash) {
  const TempDir dir;
  dir.Write("n.csv", "sn,cpu_milli,memory_mib,gpu,model\nn,1000,1024,1,T4\n");
  dir.Write("p.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,100,1,1,500\n");
  proto::Scenario scenario;
  scenario.mutable_cluster()->set_path(dir.PathOf("n.csv"));
  scenario.mutable_workload()->mutable_trace()->set_path(dir.PathOf("p.csv"));
  ASSERT_EQ(ResolveScenario(&scenario), absl::OkStatus());
  const std::unique_ptr<Simulation> sim = Build(scenario);
  // sha256sum(1) of the two texts.
  EXPECT_EQ(sim->scenario().cluster().sha256(),
            "a757373f528a264bd5e7de80a843f23fb3ff10460529b9b3025f88bd63251d4d");
  EXPECT_EQ(sim->scenario().workload().trace().sha256(),
            "a6d4e02038b60ef5b32d57a68dd324d785441e1a4970f161c4b0bc433cec5aa9");
  EXPECT_EQ(sim->pods_expected(), 1u);
  EXPECT_TRUE(sim->warnings().empty());
  EXPECT_TRUE(Simulation::Build(sim->scenario()).ok());
  proto::Scenario changed = sim->scenario();
  dir.Write("p.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,100,1,1,501\n");
  EXPECT_EQ(Simulation::Build(changed).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(SimulationTest, WarnsOfWhatTheUserShouldKnow) {
  const TempDir dir;
  dir.Write("n.csv", "sn,cpu_milli,memory_mib,gpu,model\nn,1000,1024,1,T4\n");
  dir.Write("p.csv",
            "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\na,1,1,1,500,H100|T4\n"
            "b,1,1,1,500,H100\nc,-1,1,0,0,\nd,1,1,0,0,B200\n");
  proto::Scenario scenario;
  scenario.mutable_cluster()->set_path(dir.PathOf("n.csv"));
  scenario.mutable_workload()->mutable_trace()->set_path(dir.PathOf("p.csv"));
  scenario.mutable_workload()->mutable_trace()->set_lenient(true);
  ASSERT_EQ(ResolveScenario(&scenario), absl::OkStatus());
  const std::unique_ptr<Simulation> sim = Build(scenario);
  EXPECT_EQ(sim->warnings(),
            (std::vector<std::string>{
                absl::StrCat("1 row(s) skipped: negative number; the first: ", dir.PathOf("p.csv"),
                             ":4:3: cpu_milli: found '-1', expected a plain number of milli-CPU "
                             "that is not negative"),
                "2 pod(s) accept a GPU model that no node has: H100"}));
  // Pods beyond the limit are not read.
  scenario.mutable_workload()->set_limit(1);
  EXPECT_EQ(Build(scenario)->warnings(),
            std::vector<std::string>{"1 pod(s) accept a GPU model that no node has: H100"});
  scenario.mutable_workload()->clear_limit();
  dir.Write("p.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n");
  EXPECT_EQ(Build(scenario)->warnings(), std::vector<std::string>{"the workload has no pods"});
}

}  // namespace simulation_test
}  // namespace drasim
