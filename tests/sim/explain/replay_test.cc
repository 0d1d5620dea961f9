// The story of a pod, told from the ledger of a run: word by word for small runs; from checkpoints
// as from the beginning; of runs that were killed; and what is refused.
#include "sim/explain/replay.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/proto/scenario.pb.h"
#include "model/text/yaml_proto.h"
#include "sim/explain/queue_place.h"
#include "sim/explain/story.h"
#include "sim/explain/story_json.h"
#include "sim/explain/story_text.h"
#include "sim/record/ledger_frame.h"
#include "sim/record/ledger_reader.h"
#include "sim/run/run_outputs.h"
#include "sim/run/simulation.h"
#include "sim/scenario/resolve.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/data_text.h"
#include "tests/testing/run_spec_of.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace explain_replay_test {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Runs the scenario and leaves its files in `dir`.
void RunInto(const std::string& dir, absl::string_view yaml) {
  proto::Scenario scenario;
  ASSERT_EQ(MergeYaml(yaml, "test.yaml", &scenario), absl::OkStatus());
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<Simulation> sim, Simulation::Build(RunSpecOf(scenario)));
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<RunOutputs> outputs, RunOutputs::Attach(sim.get(), dir));
  ASSERT_EQ(sim->Start(), absl::OkStatus());
  ASSERT_EQ(sim->Run(), absl::OkStatus());
  ASSERT_EQ(outputs->Complete(0), absl::OkStatus());
}

constexpr int64_t kNever = -1;

ExplainRequest Request(const std::string& path, const std::string& pod, int64_t at_s = kNever,
                       bool brief = false) {
  ExplainRequest request;
  request.path = path;
  request.pod = pod;
  if (at_s != kNever) request.at = SimTime(at_s * kSecondNs);
  request.brief = brief;
  request.quiet = true;
  return request;
}

// The story, without the line that names the ledger's path; or the error.
std::string Told(const ExplainRequest& request) {
  const absl::StatusOr<Story> story = ExplainRun(request);
  if (!story.ok()) return std::string(story.status().message());
  EXPECT_THAT(story->warnings, IsEmpty());
  std::string text = StoryText(*story);
  const size_t run = text.find("run ");
  if (run != std::string::npos) text.erase(run, text.find('\n', run) - run + 1);
  return text;
}

// ---- Word by word ----

class ExplainKubernetesTest : public ::testing::Test {
 protected:
  ExplainKubernetesTest() { RunInto(dir_.path(), TestText("Scenario: kube-scheduler's queue")); }
  std::string Of(const std::string& pod, int64_t at_s = kNever, bool brief = false) const {
    return Told(Request(dir_.path(), pod, at_s, brief));
  }
  TempDir dir_;
};

TEST_F(ExplainKubernetesTest, ShareThatSleeps) {
  EXPECT_EQ(Of("default/share", 400), TestText("ShareThatSleeps"));
}

TEST_F(ExplainKubernetesTest, GangByItsName) {
  const std::string text = Of("train", 2000);
  EXPECT_EQ(text, Of("train-0", 2000));
  EXPECT_THAT(text, HasSubstr("pod train-0 of job train (3 pods)\n"
                              "wants 2 CPUs, 2 GPUs, each pod; tenant a\n"));
  EXPECT_THAT(text, HasSubstr("  6m  attempt 1 failed: 0/2 nodes are available: 2 Insufficient "
                              "GPU.\n"
                              "    3 pods are to start together; the nodes have room for 0 of "
                              "them\n"));
  EXPECT_THAT(text, HasSubstr("1 node: node(s) were unschedulable (NodeUnschedulable): "
                              "node-000001\n"
                              "      node: cordoned\n"));
  EXPECT_THAT(text, HasSubstr(" as attempt "));
}

TEST_F(ExplainKubernetesTest, Preemptor) {
  EXPECT_THAT(Of("urgent", 425, true),
              HasSubstr("at 7m5s: waiting\n"
                        "  since 7m, 1 failed attempt; waits for evicted jobs to leave: low-1, "
                        "low-3\n"
                        "  it waits for: 0/2 nodes are available: 2 Insufficient GPU.\n"));
  EXPECT_THAT(Of("urgent"), HasSubstr("  7m30s  attempt 2: placed on node-000001 (GPU 0-3); its "
                                      "start is under way\n"
                                      "  7m32s  bound on node-000001 (GPU 0-3)\n"));
  EXPECT_THAT(Of("low-3"), HasSubstr("  7m30s  evicted from node-000001: preempted for another "
                                     "job\n"));
  EXPECT_THAT(Of("low-3", 440, true), HasSubstr("at 7m20s: running on node-000001"));
}

TEST_F(ExplainKubernetesTest, Quota) {
  EXPECT_THAT(Of("gated2"), HasSubstr("not tried: kept back by its quota: tenant q holds 4 of 5 "
                                      "GPUs, the job wants 2, 1 too many\n"));
  EXPECT_THAT(
      Of("gated2", 545, true),
      HasSubstr("  since 9m, 0 failed attempts; kept back by its quota: tenant q holds 4 of "
                "5 GPUs, the job wants 2, 1 too many\n"
                "  were it tried now: 0/2 nodes are available: 2 Insufficient GPU.\n"));
}

TEST_F(ExplainKubernetesTest, NeverFits) {
  EXPECT_THAT(Of("huge"), HasSubstr(TestText("NeverFits")));
}

TEST_F(ExplainKubernetesTest, BeforeItArrives) {
  EXPECT_EQ(Of("share", 299), "pod share\nat 4m59s: has not arrived; it does at 5m\n");
}

TEST_F(ExplainKubernetesTest, AllPlacesOfTheQueue) {
  // At any moment, a waiting job is found somewhere, and its state is that of the run.
  std::string all;
  for (const char* pod : {"share", "train", "gated2", "low-3", "urgent"}) {
    for (int64_t at = 540; at < 4000; at += 170) {
      ASSERT_OK_AND_ASSIGN(const Story story, ExplainRun(Request(dir_.path(), pod, at, true)));
      if (story.standing.state != JobState::kWaiting) continue;
      EXPECT_NE(story.standing.place.where, QueuePlace::Where::kNowhere) << pod << " at " << at;
      absl::StrAppend(&all, StoryText(story));
    }
  }
  EXPECT_THAT(all, HasSubstr("asleep until"));
  EXPECT_THAT(all, HasSubstr("kept back by its quota"));
}

TEST(ExplainReplayTest, HeadOfLine) {
  TempDir dir;
  RunInto(dir.path(), TestText("Scenario: a line served in order"));
  EXPECT_EQ(Told(Request(dir.path(), "small")), TestText("HeadOfLine"));
  EXPECT_THAT(Told(Request(dir.path(), "later", 240, true)),
              HasSubstr("  since 3m, 0 failed attempts; number 3 of 3 in line, behind wide, small\n"
                        "  head of line: nobody is tried before wide fits\n"
                        "  wide waits for:\n"));
}

TEST(ExplainReplayTest, NodeTurnsItAway) {
  TempDir dir;
  RunInto(dir.path(), TestText("Scenario: NodeTurnsItAway"));
  const std::string away =
      "turned away by node-000000: UnexpectedAdmissionError: Allocate failed: fewer devices are "
      "available than requested; wants 1 nvidia.com/gpu, the node reports 1, held by no pod; the "
      "kubelet may still hold the devices of first, which left it last";
  EXPECT_THAT(Told(Request(dir.path(), "second")),
              HasSubstr(absl::StrCat("  1m  attempt 2: bound on node-000000\n  1m  ", away,
                                     "\n  1m10s  attempt 3: bound on node-000000\n  1m10s  ", away,
                                     "; its owner makes no other pod\n\nat 1m10s: failed at "
                                     "1m10s; it waits for nothing\n")));
  EXPECT_THAT(Told(Request(dir.path(), "second", 65, true)),
              HasSubstr("at 1m5s: waiting\n  since 10s, 1 failed attempt; in no queue: its pods "
                        "have not been made anew yet\n  the nodes have room for it\n"));
}

TEST(ExplainReplayTest, ClassicDra) {
  TempDir dir;
  RunInto(dir.path(), TestText("Scenario: ClassicDra"));
  const std::string text = Told(Request(dir.path(), "b", 500));
  EXPECT_THAT(text, HasSubstr("(DynamicResources)\n"
                              "    the API server had, at that moment:\n"
                              "      claim entry 'gpu': "));
  EXPECT_THAT(text, HasSubstr("  when it was last tried, at "));
  EXPECT_THAT(text, HasSubstr(TestLines("ClassicDra")));
  // Holders of the last devices, on every node that the driver refuses.
  constexpr char kHolder[] =
      "claim default/a-[012]-gpu-[a-z0-9]+ \\(GPU [01], reserved for "
      "default/a-[012]\\)";
  EXPECT_THAT(text, ContainsRegex(absl::StrCat(
                        "    who holds the devices there:\n"
                        "      driver gpu.resource.nvidia.com on node-000000: ",
                        kHolder, "; ", kHolder,
                        "\n      driver gpu.resource.nvidia.com on node-000001: ", kHolder, "\n")));
}

// The scheduler goes by its cache: what the API server has is told apart from what it saw.
TEST(StoryTextTest, TellsTheSchedulersViewFromTheServers) {
  Story story;
  story.ledger = "out/ledger";
  story.policy = "fgd";
  story.mode = "replay";
  story.queue = "kubernetes";
  story.front_end = "dra-classic";
  story.pod = story.job = "b";
  story.wants = "claim gpu";
  StoryEvent attempt;
  attempt.kind = StoryEvent::Kind::kAttempt;
  attempt.time = attempt.until = SimTime(60 * kSecondNs);
  attempt.attempt = attempt.last_attempt = 1;
  attempt.why.summary = "0/2 nodes are available: 2 unallocated immediate resourceclaim.";
  Rejection rejection;
  rejection.plugin = "DynamicResources";
  rejection.reason = rejection.state = "unallocated immediate resourceclaim";
  rejection.object = "resource claims";
  rejection.nodes = 2;
  attempt.why.rejections = {rejection};
  attempt.why.claims = {"claim entry 'gpu': ResourceClaim default/c is unallocated (Immediate)"};
  attempt.why.claim_holders = {
      "driver d on node-000000: claim default/x (GPU 0, reserved for default/x)"};
  story.events = {attempt};
  Standing& standing = story.standing;
  standing.time = SimTime(90 * kSecondNs);
  standing.since = SimTime(60 * kSecondNs);
  standing.attempts_failed = 1;
  standing.place.where = QueuePlace::Where::kAsleep;
  standing.last_tried = attempt.time;
  standing.last_seen = attempt.why.summary;
  standing.claims_changed = true;
  standing.claims = {"claim entry 'gpu': ResourceClaim default/c is allocated on node node-000000"};
  AttemptExplanation now;
  now.nodes = now.nodes_by_claims = 2;
  now.claims = standing.claims;
  standing.why = now;
  EXPECT_EQ(StoryText(story), TestText("TellsTheSchedulersViewFromTheServers"));
  const std::string json = StoryJson(story);
  EXPECT_THAT(json, HasSubstr("\"last_tried\": 60,"));
  EXPECT_THAT(json, HasSubstr("\"last_seen\": \"0/2 nodes are available: 2 unallocated"));
  EXPECT_THAT(json, HasSubstr("\"claims_changed_since\": true"));
}

TEST(ExplainReplayTest, Json) {
  TempDir dir;
  RunInto(dir.path(), TestText("Scenario: a line served in order"));
  ASSERT_OK_AND_ASSIGN(const Story story, ExplainRun(Request(dir.path(), "small", 130)));
  const std::string json = StoryJson(story);
  for (const char* part :
       {"\"schema\": \"drasim.explain/v1\"", "\"pod\": \"small\"", "\"event\": \"arrived\"",
        "\"where\": \"in_line\"", "\"head\": \"wide\"", "\"state\": \"Waiting\"",
        "\"room_for_pods\": 1", "\"kind\": \"own_pods\"", "\"ends\": 3600"}) {
    EXPECT_THAT(json, HasSubstr(part));
  }
}

// ---- From checkpoints, and of killed runs ----

constexpr const char* kQueues[] = {
    "scheduler: {policy: best-fit}\ntiming: {bind: 2s}\n",
    "scheduler: {policy: random, queue: kubernetes}\n",
    "scheduler: {policy: fgd, queue: srtf}\npreemption: {grace_period: 30s}\n",
    "scheduler: {policy: fgd, queue: drf, backfill: easy}\n",
    "scheduler: {policy: fgd, queue: sjf, backfill: conservative}\n",
    "scheduler: {policy: fgd, queue: loss}\n",
    "scheduler: {queue: kubernetes}\nfront_end: {kind: dra-classic, lowering: {rule: whole-gpu}}\n",
};

class ExplainCheckpointTest : public ::testing::TestWithParam<size_t> {};

TEST_P(ExplainCheckpointTest, TellsTheSameFromEverywhere) {
  TempDir often;
  TempDir never;
  const std::string yaml = absl::StrCat(TestText("Scenario: a busy cluster"), kQueues[GetParam()]);
  RunInto(often.path(), absl::StrCat(yaml, "output: {checkpoint_every: 100}\n"));
  RunInto(never.path(), absl::StrCat(yaml, "output: {checkpoint_every: 0}\n"));
  size_t waiting = 0;
  for (int job = 20; job < 250; job += 37) {
    const std::string pod = absl::StrFormat("job-%07d", job);
    ASSERT_OK_AND_ASSIGN(const Story whole, ExplainRun(Request(often.path(), pod)));
    std::vector<SimTime> times = {whole.standing.time};
    for (size_t i = 0; i < whole.events.size() && i < 4; ++i) {
      times.push_back(whole.events[i].until);
    }
    for (const SimTime at : times) {
      ExplainRequest request = Request(often.path(), pod);
      request.at = at;
      const std::string told = Told(request);
      request.brief = true;
      const std::string brief = Told(request);
      request.path = never.path();
      EXPECT_EQ(brief, Told(request));
      request.brief = false;
      EXPECT_EQ(told, Told(request));
      // The end of the whole story is what is told in brief.
      const size_t standing = brief.find("\nat ");
      ASSERT_NE(standing, std::string::npos) << brief;
      EXPECT_TRUE(absl::EndsWith(told, brief.substr(standing))) << told << "\n" << brief;
      waiting += absl::StrContains(brief, ": waiting\n") ? 1u : 0u;
    }
  }
  // Without a queue no pod waits.
  EXPECT_EQ(waiting > 0,
            absl::string_view(kQueues[GetParam()]).find("loss") == absl::string_view::npos);
}

INSTANTIATE_TEST_SUITE_P(All, ExplainCheckpointTest,
                         ::testing::Range(size_t{0}, std::size(kQueues)));

TEST(ExplainReplayTest, KilledRun) {
  TempDir dir;
  RunInto(dir.path(), absl::StrCat(TestText("Scenario: a busy cluster"), kQueues[0],
                                   "output: {checkpoint_every: 100}\n"));
  const std::string whole = Told(Request(dir.path(), "job-0000040"));
  const std::string bytes = dir.Read("ledger");
  for (const size_t part : {bytes.size() / 2, bytes.size() - 20}) {
    dir.Write("ledger.partial", absl::string_view(bytes).substr(0, part));
    ASSERT_OK_AND_ASSIGN(const Story story,
                         ExplainRun(Request(dir.PathOf("ledger.partial"), "job-0000040")));
    EXPECT_TRUE(story.partial);
    EXPECT_THAT(StoryText(story), HasSubstr("; it did not end, this is as far as it is recorded"));
    EXPECT_LE(story.events.size(), ExplainRun(Request(dir.path(), "job-0000040"))->events.size());
  }
  EXPECT_THAT(whole, HasSubstr("arrived"));
}

// A checkpoint that does not suit this program is not used.
TEST(ExplainReplayTest, CheckpointThatCannotBeUsed) {
  TempDir dir;
  RunInto(dir.path(), absl::StrCat(TestText("Scenario: a busy cluster"), kQueues[0],
                                   "output: {checkpoint_every: 100}\n"));
  const std::string told = Told(Request(dir.path(), "job-0000150"));
  ASSERT_OK_AND_ASSIGN(auto reader, LedgerReader::Open(dir.path()));
  ASSERT_OK_AND_ASSIGN(const auto checkpoints, reader->ListCheckpoints());
  ASSERT_GT(checkpoints.size(), 1u);
  // Whole frames, but of something else.
  std::string bytes = dir.Read("ledger");
  for (const LedgerReader::Checkpoint& checkpoint : checkpoints) {
    const auto length = static_cast<size_t>(ReadLittleEndian(bytes.substr(checkpoint.offset, 4)));
    const std::string frame = MakeFrame(FrameType::kCheckpoint, std::string(length, 'x'));
    bytes.replace(checkpoint.offset, frame.size(), frame);
  }
  dir.Write("ledger", bytes);
  ASSERT_OK_AND_ASSIGN(const Story story, ExplainRun(Request(dir.path(), "job-0000150")));
  EXPECT_THAT(story.warnings,
              ElementsAre(AllOf(HasSubstr("cannot be used"),
                                HasSubstr("the run is simulated from its beginning"))));
  const std::string text = StoryText(story);
  EXPECT_TRUE(absl::EndsWith(told, text.substr(text.find("\n\n")))) << text;
}

// ---- Refused input ----

TEST(ExplainReplayTest, BadInput) {
  TempDir dir;
  RunInto(dir.path(), TestText("Scenario: a line served in order"));
  const auto error = [&dir](const std::string& pod, int64_t at_s) {
    const absl::StatusOr<Story> story = ExplainRun(Request(dir.path(), pod, at_s));
    EXPECT_FALSE(story.ok());
    return absl::StrCat(absl::StatusCodeToString(story.status().code()), ": ",
                        story.status().message());
  };
  EXPECT_EQ(error("smal", kNever),
            absl::StrCat("NOT_FOUND: --pod: no pod of ", dir.path(),
                         "/ledger is called 'smal' (did you mean 'small'?)"));
  EXPECT_EQ(
      error("nothing-like-it", kNever),
      absl::StrCat("NOT_FOUND: --pod: no pod of ", dir.path(),
                   "/ledger is called 'nothing-like-it'; there are 5, such as holder, wide-0, "
                   "wide-1"));
  EXPECT_EQ(error("small", 100'000),
            "INVALID_ARGUMENT: --at: found 27h46m40s, expected a time up to 1h20m, the end of the "
            "run");
  TempDir empty;
  EXPECT_EQ(ExplainRun(Request(empty.path(), "small")).status(),
            absl::NotFoundError(absl::StrCat(
                empty.path(),
                ": has no ledger; a run leaves one in its folder unless it is told not to")));
  EXPECT_EQ(
      ExplainRun(Request(dir.PathOf("pods.csv"), "small")).status(),
      absl::InvalidArgumentError(absl::StrCat(
          dir.PathOf("pods.csv"), ": not a drasim ledger; `drasim run --out DIR` writes one")));
}

// A pod is found in its own namespace only; jobs without one are in "default".
TEST(ExplainReplayTest, NamespacesAreToldApart) {
  TempDir dir;
  dir.Write("pods.yaml",
            "{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: team}, spec: "
            "{containers: [{name: a, resources: {requests: {cpu: 1}}}]}}\n"
            "---\n{apiVersion: v1, kind: Pod, metadata: {name: api}, spec: "
            "{containers: [{name: a, resources: {requests: {cpu: 1}}}]}}\n");
  TempDir out;
  RunInto(out.path(), absl::StrCat("mode: replay\ncluster: {nodes: 1, node: {cpu: \"4\", memory: "
                                   "8Gi}}\nworkload: {manifests: [",
                                   dir.PathOf("pods.yaml"), "]}\n"));
  const auto first_line = [&out](const std::string& pod) {
    const std::string told = Told(Request(out.path(), pod, kNever, true));
    return told.substr(0, told.find('\n'));
  };
  const auto none = [&out](const std::string& pod, const std::string& hint) {
    return absl::StrCat("--pod: no pod of ", out.path(), "/ledger is called '", pod, "'", hint);
  };
  EXPECT_EQ(first_line("team/web"), "pod team/web");
  EXPECT_EQ(first_line("api"), "pod api");
  EXPECT_EQ(first_line("default/api"), "pod api");
  EXPECT_EQ(first_line("team/api"), none("team/api", " (there is 'default/api')"));
  EXPECT_EQ(first_line("other/web"), none("other/web", " (there is 'team/web')"));
  EXPECT_EQ(first_line("web"), none("web", " (there is 'team/web')"));
  EXPECT_EQ(first_line("default/web"), none("default/web", " (there is 'team/web')"));
}

// Each pod is told by the plugins of its own profile.
TEST(ExplainReplayTest, SeveralProfiles) {
  const TempDir dir;
  dir.Write("two.yaml",
            "apiVersion: kubescheduler.config.k8s.io/v1\n"
            "kind: KubeSchedulerConfiguration\n"
            "profiles:\n"
            "- schedulerName: default-scheduler\n"
            "- schedulerName: bold\n"
            "  plugins: {multiPoint: {disabled: [{name: NodeUnschedulable}, {name: "
            "TaintToleration}]}}\n");
  const TempDir run;
  RunInto(run.path(),
          absl::StrCat("mode: replay\norder: trace\n"
                       "cluster:\n  nodes: 1\n  node: {cpu: \"4\", memory: 8Gi, taints: [{key: "
                       "gpu, effect: NoSchedule}]}\n"
                       "workload:\n  jobs:\n"
                       "  - {name: shy, cpu: \"1\", memory: 1Gi}\n"
                       "  - {name: big, cpu: \"3\", memory: 1Gi, scheduler_name: bold}\n"
                       "  - {name: late, cpu: \"3\", memory: 1Gi, scheduler_name: bold, arrival: "
                       "1s}\n"
                       "scheduler: {kube_config: ",
                       dir.PathOf("two.yaml"), "}\n"));
  EXPECT_THAT(Told(Request(run.path(), "shy")),
              HasSubstr("untolerated taint(s) (TaintToleration)"));
  EXPECT_THAT(Told(Request(run.path(), "late")),
              AllOf(HasSubstr("Insufficient cpu (NodeResourcesFit)"),
                    HasSubstr("wants 3 CPUs, lacks 2"), ::testing::Not(HasSubstr("taint"))));
}

TEST(ExplainReplayTest, ReplicasAreNoGang) {
  TempDir dir;
  RunInto(dir.path(), TestText("Scenario: kube-scheduler's queue"));
  EXPECT_EQ(Told(Request(dir.path(), "low")),
            absl::StrCat("--pod: no pod or gang of ", dir.path(),
                         "/ledger is called 'low' (did you mean 'low-0'?)"));
}

TEST(ExplainReplayTest, InputThatIsGone) {
  TempDir dir;
  dir.Write("nodes.csv", "sn,cpu_milli,memory_mib,gpu,model\nn-0,64000,262144,2,P100\n");
  dir.Write("pods.csv",
            "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
            "deletion_time,scheduled_time\n"
            "p-0,12000,16384,1,460,,LS,Running,5,1000,7\n"
            "p-1,12000,16384,4,1000,,LS,Running,6,1000,7\n");
  TempDir out;
  RunInto(out.path(), absl::StrCat("mode: replay\ncluster: {path: ", dir.PathOf("nodes.csv"),
                                   "}\nworkload: {trace: {path: ", dir.PathOf("pods.csv"), "}}\n"));
  EXPECT_THAT(Told(Request(out.path(), "p-1")), HasSubstr("wants 4 GPUs, lacks 3"));
  std::filesystem::remove(dir.PathOf("pods.csv"));
  const absl::Status gone = ExplainRun(Request(out.path(), "p-1")).status();
  EXPECT_EQ(gone.code(), absl::StatusCode::kNotFound) << gone;
  EXPECT_THAT(std::string(gone.message()), HasSubstr(dir.PathOf("pods.csv")));
  EXPECT_THAT(std::string(gone.message()), HasSubstr("explain simulates the run again"));
}

// Claims have no say in what no node could ever hold.
TEST(ExplainNeverTest, PodWithClaims) {
  TempDir dir;
  RunInto(dir.path(), TestText("Scenario: PodWithClaims"));
  EXPECT_THAT(Told(Request(dir.path(), "default/big")), HasSubstr(TestText("PodWithClaims")));
}

}  // namespace explain_replay_test
}  // namespace drasim
