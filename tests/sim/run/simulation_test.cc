// Whole runs in process: checkpoints resume to the same end, pauses and stops, what the files of a
// scenario leave in it.
#include "sim/run/simulation.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/proto/scenario.pb.h"
#include "model/record.h"
#include "model/saved_state.h"
#include "model/state_io.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/ledger_writer.h"
#include "sim/record/pod_log.h"
#include "sim/run/run_outputs.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/data_text.h"
#include "tests/testing/key_errors.h"
#include "tests/testing/run_spec_of.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace simulation_test {

// Pods that wait, run and leave, with time spent on attempts and on binding, so that a checkpoint
// finds pods in every state.
const std::string& ReplayText() { return TestText("Replay"); }

// Scores normalised over all nodes, devices by lot, the artifact's order and its one stream.
const std::string& FillText() { return TestText("Fill"); }

// A simulation that is ready to start. Failing to build ends the test program: nothing else in the
// test would make sense.
std::unique_ptr<Simulation> Build(const proto::Scenario& scenario) {
  absl::StatusOr<std::unique_ptr<Simulation>> built = Simulation::Build(RunSpecOf(scenario));
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

// Sections with a scenario each. Every decision of "Random" draws from a stream.
constexpr const char* kScenarios[] = {"Replay", "Random", "Fill", "Kube", "ClassicDra"};

// The parameter is an index into kScenarios.
class CheckpointTest : public ::testing::TestWithParam<size_t> {
 protected:
  static proto::Scenario ScenarioUnderTest() {
    return ScenarioOf(TestText(kScenarios[GetParam()]));
  }
};

TEST_P(CheckpointTest, ResumesFromTheLedgerToTheSameEnd) {
  const TempDir dir;
  proto::Scenario scenario = ScenarioUnderTest();
  scenario.mutable_output()->set_checkpoint_every(40);
  std::string expected;
  uint64_t fingerprint = 0;
  {
    const std::unique_ptr<Simulation> sim = Build(scenario);
    ASSERT_OK_AND_ASSIGN(std::unique_ptr<LedgerWriter> writer,
                         LedgerWriter::Create(dir.PathOf("ledger"), ResolvedYaml(*sim),
                                              sim->cluster(), sim->ranks(), sim->summaries()));
    PodLog log;
    sim->AddSink(&log);
    sim->AddSink(writer.get());
    sim->set_on_checkpoint(
        [&writer](const SavedState& state) { return writer->AddCheckpoint(state); });
    ASSERT_EQ(sim->Start(), absl::OkStatus());
    ASSERT_EQ(sim->Run(), absl::OkStatus());
    ASSERT_EQ(writer->Finish(sim->fingerprint()), absl::OkStatus());
    expected = Outcome(*sim, log);
    fingerprint = sim->fingerprint();
  }
  EXPECT_EQ(RunToTheEnd(scenario), expected);  // checkpoints change nothing

  ASSERT_OK_AND_ASSIGN(std::unique_ptr<LedgerReader> reader, LedgerReader::Open(dir.path()));
  ASSERT_OK_AND_ASSIGN(const auto checkpoints, reader->ListCheckpoints());
  ASSERT_GE(checkpoints.size(), 4u);
  const proto::Scenario again = ScenarioOf(reader->header().scenario_yaml());
  for (const LedgerReader::Checkpoint& checkpoint : checkpoints) {
    ASSERT_OK_AND_ASSIGN(const std::string state, reader->ReadCheckpoint(checkpoint));
    const std::unique_ptr<Simulation> sim = Build(again);
    PodLog log;
    sim->AddSink(&log);
    ASSERT_EQ(sim->Start(&state), absl::OkStatus());
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

// The state determines the continuation; it does not matter when it is saved.
TEST_P(CheckpointTest, AStateThatIsLoadedIsSavedAlike) {
  proto::Scenario scenario = ScenarioUnderTest();
  scenario.mutable_output()->set_checkpoint_every(60);
  std::vector<std::string> states;
  const std::unique_ptr<Simulation> sim = Build(scenario);
  PodLog log;
  sim->AddSink(&log);
  StateImage image;
  sim->set_on_checkpoint([&](const SavedState& state) {
    EXPECT_TRUE(image.Apply(state));
    states.push_back(image.Whole().text);
    // Omitted parts have not changed.
    StateWriter whole;
    sim->engine().Save(whole);
    EXPECT_TRUE(whole.bytes() == states.back()) << sim->engine().records();
    return absl::OkStatus();
  });
  ASSERT_EQ(sim->Start(), absl::OkStatus());
  ASSERT_EQ(sim->Run(), absl::OkStatus());
  ASSERT_GE(states.size(), 2u);
  for (const std::string& state : states) {
    const std::unique_ptr<Simulation> loaded = Build(scenario);
    PodLog again;
    loaded->AddSink(&again);
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
  StateImage image;
  sim->set_on_checkpoint([&](const SavedState& saved) {
    EXPECT_TRUE(image.Apply(saved));
    state = image.Whole().text;
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

INSTANTIATE_TEST_SUITE_P(Scenarios, CheckpointTest, ::testing::Values(0, 1, 2, 3, 4),
                         [](const ::testing::TestParamInfo<size_t>& tested) {
                           return std::string(kScenarios[tested.param]);
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
      WithoutCheckedKey(
          Simulation::Build(RunSpecOf(ScenarioOf("cluster: {nodes: 1000, scale: 20000}\n")))
              .status()),
      absl::InvalidArgumentError("cluster.scale: found 20000 for 1000 nodes, expected at most "
                                 "16777216 nodes"));
}

TEST(SimulationTest, ACheckpointOfAnotherClusterIsRefused) {
  proto::Scenario scenario = ScenarioOf(FillText());
  scenario.mutable_output()->set_checkpoint_every(100);
  std::string state;
  const std::unique_ptr<Simulation> sim = Build(scenario);
  StateImage image;
  sim->set_on_checkpoint([&](const SavedState& saved) {
    EXPECT_TRUE(image.Apply(saved));
    state = image.Whole().text;
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
  proto::Scenario scenario = ScenarioOf(FillText());
  scenario.mutable_output()->set_checkpoint_every(50);
  const std::unique_ptr<Simulation> sim = Build(scenario);
  std::vector<uint64_t> records;
  sim->set_on_checkpoint([&](const SavedState&) {
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
  proto::Scenario scenario = ScenarioOf(FillText());
  scenario.mutable_output()->set_checkpoint_every(50);
  const std::unique_ptr<Simulation> sim = Build(scenario);
  sim->set_on_checkpoint([](const SavedState&) { return absl::DataLossError("disk gone"); });
  ASSERT_EQ(sim->Start(), absl::OkStatus());
  EXPECT_EQ(sim->Run(), absl::DataLossError("disk gone"));
  EXPECT_FALSE(sim->engine().finished());

  class BadSink : public RecordSink {
   public:
    void OnRecord(const Record&, const ClusterState&) override {}
    absl::Status status() const override { return absl::ResourceExhaustedError("full"); }
  };
  BadSink bad;
  const std::unique_ptr<Simulation> other = Build(ScenarioOf(FillText()));
  other->AddSink(&bad);
  ASSERT_EQ(other->Start(), absl::OkStatus());
  EXPECT_EQ(other->Run(), absl::ResourceExhaustedError("full"));
}

TEST(SimulationTest, AStopRequestEndsTheRun) {
  const std::atomic<bool> stop{true};
  const std::unique_ptr<Simulation> sim = Build(ScenarioOf(ReplayText()));
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
  // An earlier failure that cannot have changed is not decided again.
  EXPECT_EQ(cached->cycle().work().decisions + cached->cycle().work().attempts_remembered,
            plain->cycle().work().decisions);
  EXPECT_EQ(plain->cycle().work().cache_hits, 0u);
  EXPECT_GT(cached->cycle().work().cache_hits, 0u);
  EXPECT_LT(cached->cycle().work().nodes_scored, plain->cycle().work().nodes_scored / 3);
}

TEST(SimulationTest, EveryEventKeepsTheInvariants) {
  for (const char* const name : kScenarios) {
    proto::Scenario scenario = ScenarioOf(TestText(name));
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
  const std::unique_ptr<Simulation> sim = Build(scenario);
  // sha256sum(1) of the two texts.
  EXPECT_EQ(sim->spec().written->cluster().sha256(),
            "a757373f528a264bd5e7de80a843f23fb3ff10460529b9b3025f88bd63251d4d");
  EXPECT_EQ(sim->spec().written->workload().trace().sha256(),
            "a6d4e02038b60ef5b32d57a68dd324d785441e1a4970f161c4b0bc433cec5aa9");
  EXPECT_EQ(sim->pods_expected(), 1u);
  EXPECT_TRUE(sim->warnings().empty());
  EXPECT_TRUE(Simulation::Build(sim->spec()).ok());
  const RunSpec pinned = sim->spec();
  dir.Write("p.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,100,1,1,501\n");
  EXPECT_EQ(Simulation::Build(pinned).status().code(), absl::StatusCode::kInvalidArgument);
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
  EXPECT_EQ(Simulation::Build(RunSpecOf(scenario)).status(),
            absl::InvalidArgumentError("the workload has no pods"));
  // A unit mistake in every row is not a success either.
  dir.Write("p.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1m,1,0,0\nb,2m,1,0,0\n");
  EXPECT_EQ(Simulation::Build(RunSpecOf(scenario)).status(),
            absl::InvalidArgumentError(absl::StrCat(
                "the workload has no pods\n2 row(s) skipped: not a number; the first: ",
                dir.PathOf("p.csv"),
                ":2:3: cpu_milli: found '1m', expected a plain number of milli-CPU; the mapping's "
                "unit quantity reads such amounts")));
}

// A distinct GPU model in every row neither fills the screen nor costs the square of their number.
TEST(SimulationTest, AWarningAboutManyModelsIsShort) {
  const TempDir dir;
  dir.Write("n.csv", "sn,cpu_milli,memory_mib,gpu,model\nn,1000,1024,1,T4\n");
  std::string pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n";
  for (int i = 0; i < 2012; ++i) absl::StrAppend(&pods, "p", i, ",1,1,1,500,M", i, "\n");
  dir.Write("p.csv", pods);
  proto::Scenario scenario;
  scenario.mutable_cluster()->set_path(dir.PathOf("n.csv"));
  scenario.mutable_workload()->mutable_trace()->set_path(dir.PathOf("p.csv"));
  EXPECT_EQ(Build(scenario)->warnings(),
            std::vector<std::string>{"2012 pod(s) accept a GPU model that no node has: M0, M1, M2, "
                                     "M3, M4, M5, M6, M7, M8, M9 and 2,002 more"});
}

// Three jobs on a node of two GPUs; the last has no end, and runs from 200 s on.
void WriteThreeJobs(const TempDir& dir, proto::Scenario* scenario) {
  dir.Write("n.csv", "sn,cpu_milli,memory_mib,gpu,model\nn,4000,4096,2,T4\n");
  dir.Write("p.csv",
            "name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time,"
            "scheduled_time\n"
            "a,1000,1,1,1000,0,100,0\nb,2000,1,2,1000,0,50,0\nc,1000,1,0,0,200,,\n");
  scenario->mutable_cluster()->set_path(dir.PathOf("n.csv"));
  scenario->mutable_workload()->mutable_trace()->set_path(dir.PathOf("p.csv"));
  scenario->set_mode("replay");
  scenario->mutable_scheduler()->set_queue("fifo");
}

TEST(SimulationTest, RowsWithoutAnEndAreAWarningWithACountAndAKey) {
  const TempDir dir;
  proto::Scenario scenario;
  WriteThreeJobs(dir, &scenario);
  EXPECT_EQ(Build(scenario)->warnings(),
            std::vector<std::string>{
                "1 of 3 jobs (33.3 %) have no run time: they are services, which keep their places "
                "to the end of the run; --set workload.trace.needs=run_time leaves such rows out"});
  // The key that it names does what it says, for a format that is built in.
  scenario.mutable_workload()->mutable_trace()->add_needs("run_time");
  const std::unique_ptr<Simulation> sim = Build(scenario);
  EXPECT_EQ(sim->pods_expected(), 2u);
  EXPECT_EQ(sim->warnings(), std::vector<std::string>{absl::StrCat(
                                 "1 row(s) left out: no run time; the first: ", dir.PathOf("p.csv"),
                                 ":4:1: row: found none, so the row is left out")});
  scenario.mutable_workload()->mutable_trace()->set_needs(0, "end");
  EXPECT_EQ(ResolveScenario(scenario).status().message(),
            "workload.trace.needs: found 'end', expected one of cpu, gpu_count, run_time");
}

// By hand: one GPU for 100 s, then two for 50 s, of two for 200 s.
TEST(SimulationTest, TheTableOfAReplayShowsMeansOverTime) {
  const TempDir dir;
  proto::Scenario scenario;
  WriteThreeJobs(dir, &scenario);
  const std::unique_ptr<Simulation> sim = Build(scenario);
  ASSERT_EQ(sim->Start(), absl::OkStatus());
  ASSERT_EQ(sim->Run(), absl::OkStatus());
  const std::string table = SummaryTable(*sim);
  const std::string& start = TestText("TheTableOfAReplayShowsMeansOverTime.start");
  EXPECT_EQ(table.substr(0, start.size()), start);
  EXPECT_NE(table.find("\nover 2 of 3 jobs: those that succeeded or failed\n"), std::string::npos)
      << table;
}

// The list of nodes that openb publishes beside its table.
TEST(SimulationTest, NodesAreReadFromKubernetesObjects) {
  const TempDir dir;
  const std::string node =
      "apiVersion: v1\nkind: Node\nmetadata:\n  labels:\n"
      "    alibabacloud.com/gpu-card-model: P100\n    zone: a\n  name: n-1\n"
      "status:\n  allocatable: {alibabacloud.com/gpu-count: '2', alibabacloud.com/gpu-milli: "
      "'2000', cpu: 64000m, memory: 262144Mi, pods: '1001', example.com/nic: '3'}\n";
  dir.Write("n.yaml", node);
  NodeListSpec list;
  list.path = dir.PathOf("n.yaml");
  list.format = "openb";
  ASSERT_OK_AND_ASSIGN(const NodeInput input, ReadNodeInput(list));
  ASSERT_EQ(input.nodes.size(), 1u);
  const NodeSpec& read = input.nodes[0];
  EXPECT_EQ(read.name, "n-1");
  EXPECT_EQ(read.cpu_milli, 64000);
  EXPECT_EQ(read.memory_bytes, int64_t{262144} << 20);
  EXPECT_EQ(read.pods, 1001);
  EXPECT_EQ(read.gpu_count, 2);
  EXPECT_EQ(read.gpu_model, "P100");
  EXPECT_EQ(read.extended, (std::vector<std::pair<std::string, int64_t>>{{"example.com/nic", 3}}));
  EXPECT_EQ(read.labels.size(), 2u);

  dir.Write("n.yaml", absl::StrCat(node, "---\n", node));
  EXPECT_EQ(ReadNodeInput(list).status().message(),
            absl::StrCat(dir.PathOf("n.yaml"),
                         ":17:9: metadata.name: found 'n-1', expected a name "
                         "that no earlier node has"));
  dir.Write("n.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
            "spec: {containers: [{name: c, image: i}]}\n");
  EXPECT_EQ(ReadNodeInput(list).status().message(),
            absl::StrCat(dir.PathOf("n.yaml"),
                         ": found no Node among 1 object(s), expected what `kubectl get nodes -o "
                         "yaml` prints, or a table"));
}

TEST(SummaryTest, VirtualSecondsAreExact) {
  const std::unique_ptr<Simulation> sim =
      Build(ScenarioOf("mode: replay\n"
                       "cluster: {nodes: 1, node: {cpu: \"4\", memory: 8Gi}}\n"
                       "workload: {jobs: [{name: a, cpu: \"1\", memory: 1Gi, run_time: 300ms}]}\n"
                       "scheduler: {policy: best-fit}\n"));
  ASSERT_EQ(sim->Start(), absl::OkStatus());
  ASSERT_EQ(sim->Run(), absl::OkStatus());
  EXPECT_NE(SummaryJson(*sim).find("\n  \"virtual_seconds\": 0.3,\n"), std::string::npos);
}

}  // namespace simulation_test
}  // namespace drasim
