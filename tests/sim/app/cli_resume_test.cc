// A run that was killed goes on with --resume and leaves every file, to the byte, as if it had
// never been interrupted.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/claim_change.h"
#include "model/proto/ledger.pb.h"
#include "model/random.h"
#include "sim/record/ledger_claims.h"
#include "sim/record/ledger_frame.h"
#include "sim/record/version.h"
#include "tests/sim/app/cli_fixture.h"
#include "tests/sim/record/ledger_example.h"
#include "tests/testing/data_text.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace cli_resume_test {

using Names = std::vector<std::string>;
// Name -> content of every file that a run leaves; of run.json, which holds wall time, the name.
using Files = std::map<std::string, std::string>;

std::string ManyPods() {
  constexpr int kGpus[] = {0, 1, 1, 2, 4, 8};
  constexpr const char* kClasses[] = {"BE", "BE", "Burstable", "LS"};
  Random random(1, "cli_resume_test");
  std::string text = kPodHeader;
  uint64_t now_s = 0;
  for (int i = 0; i < 1500; ++i) {
    now_s += random.Below(120);
    const int gpus = kGpus[random.Below(6)];
    const uint64_t run_s = 60 + random.Below(60) * random.Below(60);
    absl::StrAppend(&text, "p-", i, ",", 1000 + 4000 * gpus, ",2048,", gpus, ",",
                    gpus == 0                 ? 0
                    : gpus == 1 && i % 2 == 0 ? 500
                                              : 1000,
                    ",,", kClasses[random.Below(4)], ",Running,", now_s, ",", now_s + run_s, ",",
                    now_s, "\n");
  }
  return text;
}

// `workload` of a scenario: pods with claims for one device or two.
std::string PodsWithClaims() {
  Random random(2, "cli_resume_test");
  std::string text = "workload:\n  jobs:\n";
  uint64_t now_s = 0;
  for (int i = 0; i < 80; ++i) {
    now_s += random.Below(40);
    absl::StrAppend(&text, "    - {name: p-", i, ", cpu: \"1\", memory: 1Gi, arrival: ", now_s,
                    "s, run_time: ", 10 + random.Below(60), "s, claims: [{name: gpu, template: ",
                    random.Below(3) == 0 ? "two-gpus" : "one-gpu", "}]}\n");
  }
  return text;
}

class ResumeTest : public CliTest {
 protected:
  ResumeTest() {
    dir_.Write("kubernetes.yaml", TestText("kubernetes.yaml"));
    dir_.Write("srtf.yaml", TestText("srtf.yaml"));
    dir_.Write("priority.yaml", TestText("priority.yaml"));
    dir_.Write("fill.yaml", TestText("fill.yaml"));
    dir_.Write("dra.yaml", TestText("dra.yaml"));
    dir_.Write("structured.yaml", TestText("structured.yaml") + PodsWithClaims());
    dir_.Write("slices.yaml", TestText("slices.yaml"));
    std::string nodes = kNodeHeader;
    for (int i = 0; i < 5; ++i) absl::StrAppend(&nodes, "n-", i, ",96000,393216,8,T4\n");
    dir_.Write("n.csv", nodes);
    dir_.Write("p.csv", ManyPods());
  }

  Files FilesIn(const std::string& out) const {
    Files files;
    for (const std::string& name : dir_.List(out)) {
      files[name] = name == "run.json" ? "" : dir_.Read(absl::StrCat(out, "/", name));
    }
    return files;
  }
  void ExpectFiles(const std::string& out, const Files& expected) const {
    const Files found = FilesIn(out);
    Names names;
    for (const auto& [name, bytes] : expected) names.push_back(name);
    EXPECT_EQ(dir_.List(out), names);
    for (const auto& [name, bytes] : found) {
      const auto it = expected.find(name);
      EXPECT_TRUE(it != expected.end() && it->second == bytes) << out << "/" << name;
    }
  }
  // A folder as a killed run leaves it.
  void Leave(const std::string& out, absl::string_view ledger, absl::string_view timeseries) const {
    std::filesystem::create_directory(dir_.PathOf(out));
    dir_.Write(absl::StrCat(out, "/ledger.partial"), ledger);
    dir_.Write(absl::StrCat(out, "/timeseries.csv.tmp"), timeseries);
  }
  ProcessResult Resume(const std::string& out) const {
    return Run({"run", "--resume", "--out", out});
  }
  // Starts the command, and sends it the signal once the ledger in `out` has `bytes` bytes.
  ProcessResult Interrupt(const Names& args, const std::string& out, size_t bytes,
                          int number) const {
    Process process(DRASIM_BINARY, args, dir_.path());
    const std::string ledger = dir_.PathOf(absl::StrCat(out, "/ledger.partial"));
    while (process.Running()) {
      std::error_code error;
      const uintmax_t size = std::filesystem::file_size(ledger, error);
      if (!error && size >= bytes) {
        process.Signal(number);
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return process.Wait();
  }
};

std::vector<LedgerFrame> CheckpointsOf(absl::string_view ledger) {
  std::vector<LedgerFrame> checkpoints;
  for (const LedgerFrame& frame : FramesOf(ledger)) {
    if (frame.type == 3) checkpoints.push_back(frame);
  }
  return checkpoints;
}

// The note of a resumption of a ledger that ends at `cut`.
std::string NoteFor(const std::string& out, const std::vector<LedgerFrame>& checkpoints,
                    size_t cut) {
  proto::LedgerCheckpoint last;
  for (const LedgerFrame& frame : checkpoints) {
    if (frame.end <= cut) {
      EXPECT_TRUE(last.ParseFromString(frame.payload));
    }
  }
  if (last.records() == 0) {
    return absl::StrCat("drasim: ", out, " has no checkpoint yet; the run begins anew\n");
  }
  return absl::StrCat("drasim: ", out, " goes on behind record ", last.records(), "\n");
}

// The parameter is a scenario's file without its ending.
class ResumeScenarioTest : public ResumeTest, public ::testing::WithParamInterface<std::string> {
 protected:
  std::string Scenario() const { return absl::StrCat(GetParam(), ".yaml"); }
};

TEST_P(ResumeScenarioTest, FromWhereverTheLedgerEnds) {
  const std::string table = Succeed({"run", Scenario(), "--out", "whole"});
  const Files whole = FilesIn("whole");
  if (GetParam() != "fill") {
    EXPECT_NE(JsonAt(whole.at("summary.json"), "pods.evicted"), "0");
    EXPECT_NE(whole.at("jobs.csv"), "");
  }
  const std::string& ledger = whole.at("ledger");
  const std::vector<LedgerFrame> frames = FramesOf(ledger);
  const std::vector<LedgerFrame> checkpoints = CheckpointsOf(ledger);
  ASSERT_GE(checkpoints.size(), 5u);
  const LedgerFrame& last = checkpoints.back();
  std::vector<size_t> cuts = {frames[0].end,
                              checkpoints[0].end - 1,
                              checkpoints[0].end,
                              checkpoints[1].end + 20,
                              (last.begin + last.end) / 2,
                              last.end,
                              frames.back().end,
                              ledger.size() - 1};
  // Nothing can be resumed without a whole header.
  for (size_t i = 1; i < 6; ++i) {
    cuts.push_back(std::max(frames[0].end, ledger.size() * i / 6 + i));
  }
  for (const size_t cut : cuts) {
    const std::string out = absl::StrCat("cut", cut);
    // The rows reach farther than the checkpoint, and the last one is torn.
    Leave(out, absl::string_view(ledger).substr(0, cut),
          absl::StrCat(whole.at("timeseries.csv"), "12,3"));
    const ProcessResult resumed = Resume(out);
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    EXPECT_EQ(resumed.out, table);
    EXPECT_TRUE(absl::StrContains(resumed.err, NoteFor(out, checkpoints, cut))) << resumed.err;
    ExpectFiles(out, whole);
    std::filesystem::remove_all(dir_.PathOf(out));
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, ResumeScenarioTest,
                         ::testing::Values("kubernetes", "srtf", "priority", "fill", "dra",
                                           "structured"),
                         [](const ::testing::TestParamInfo<std::string>& tested) {
                           return tested.param;
                         });

class ResumeKilledTest : public ResumeScenarioTest {};

TEST_P(ResumeKilledTest, KilledTwiceAtVariousMoments) {
  const std::string table = Succeed({"run", Scenario(), "--out", "whole"});
  const Files whole = FilesIn("whole");
  const std::string& ledger = whole.at("ledger");
  const size_t header_bytes = FramesOf(ledger)[0].end;
  constexpr size_t kPercents[] = {0, 15, 40, 70, 95};
  size_t killed = 0;
  for (const size_t percent : kPercents) {
    const std::string out = absl::StrCat("killed", percent);
    const size_t bytes = std::max(header_bytes, ledger.size() * percent / 100);
    ProcessResult result = Interrupt({"run", Scenario(), "--out", out}, out, bytes, SIGKILL);
    if (result.signal == SIGKILL) {
      ++killed;
      result =
          Interrupt({"run", "--resume", "--out", out}, out, bytes + ledger.size() / 4, SIGKILL);
    }
    if (result.signal == SIGKILL) result = Resume(out);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, table);
    ExpectFiles(out, whole);
  }
  EXPECT_GE(killed, 1u);
}

TEST_P(ResumeKilledTest, AfterCtrlC) {
  Succeed({"run", Scenario(), "--out", "whole"});
  const Files whole = FilesIn("whole");
  const size_t bytes = whole.at("ledger").size() / 5;
  const ProcessResult stopped =
      Interrupt({"run", Scenario(), "--out", "stopped"}, "stopped", bytes, SIGINT);
  if (stopped.exit_code == 1) {
    EXPECT_EQ(stopped.err,
              "drasim: error: stopped by a signal; `drasim run --resume --out stopped` goes on "
              "with it\n");
    EXPECT_EQ(dir_.List("stopped"), (Names{"ledger.partial", "timeseries.csv.tmp"}));
    const ProcessResult resumed = Run({"run", "--resume", "--out", "stopped", "--format", "json"});
    EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
    EXPECT_EQ(resumed.out, whole.at("summary.json"));
  }
  ExpectFiles("stopped", whole);
}

// Every other run is killed once more after it was resumed.
class DraKilledTest : public ResumeScenarioTest {
 protected:
  // Checkpoints, and how many of them find a claim for which a call is under way, in the scheduler,
  // its driver or a kubelet.
  static std::pair<size_t, size_t> CheckpointsMidway(absl::string_view ledger) {
    std::vector<LoggedClaimChange> changes;
    for (const LedgerFrame& frame : FramesOf(ledger)) {
      if (frame.type != static_cast<int>(FrameType::kClaims)) continue;
      EXPECT_TRUE(UnpackClaims(frame.payload, 2, &changes));
    }
    std::set<uint64_t> midway;
    size_t next = 0;
    size_t found = 0;
    const std::vector<LedgerFrame> checkpoints = CheckpointsOf(ledger);
    for (const LedgerFrame& frame : checkpoints) {
      proto::LedgerCheckpoint checkpoint;
      EXPECT_TRUE(checkpoint.ParseFromString(frame.payload));
      for (; next < changes.size() && changes[next].records <= checkpoint.records(); ++next) {
        const ClaimChange& change = changes[next].change;
        if (change.kind == ClaimChangeKind::kDriverAsked ||
            change.kind == ClaimChangeKind::kNodeSelected ||
            change.kind == ClaimChangeKind::kAllocated ||
            change.kind == ClaimChangeKind::kReserved) {
          midway.insert(change.claim);
        } else {
          midway.erase(change.claim);
        }
      }
      found += !midway.empty();
    }
    return {checkpoints.size(), found};
  }
};

TEST_P(DraKilledTest, AtRandomInstants) {
  Succeed({"run", Scenario(), "--out", "whole"});
  const Files whole = FilesIn("whole");
  const auto [checkpoints, midway] = CheckpointsMidway(whole.at("ledger"));
  EXPECT_GE(midway * 2, checkpoints);
  const size_t ledger_bytes = whole.at("ledger").size();
  const size_t header_bytes = FramesOf(whole.at("ledger"))[0].end;
  Random random(3, absl::StrCat("cli_resume_test/", GetParam()));
  // `make soak` asks for 50 of each.
  const uint64_t runs = SoakSeeds(4, 50);
  uint64_t killed = 0;
  for (uint64_t i = 0; i < runs; ++i) {
    const std::string out = absl::StrCat("random", i);
    const size_t first = header_bytes + random.Below(ledger_bytes - header_bytes);
    ProcessResult result = Interrupt({"run", Scenario(), "--out", out}, out, first, SIGKILL);
    killed += result.signal == SIGKILL;
    if (result.signal == SIGKILL && i % 2 == 1) {
      const size_t second = first + random.Below(ledger_bytes - first);
      result = Interrupt({"run", "--resume", "--out", out}, out, second, SIGKILL);
    }
    if (result.signal == SIGKILL) result = Resume(out);
    ASSERT_EQ(result.exit_code, 0) << "killed at byte " << first << ": " << result.err;
    ExpectFiles(out, whole);
    std::filesystem::remove_all(dir_.PathOf(out));
  }
  EXPECT_GE(killed, runs / 2);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, DraKilledTest, ::testing::Values("dra", "structured"),
                         [](const ::testing::TestParamInfo<std::string>& tested) {
                           return tested.param;
                         });

INSTANTIATE_TEST_SUITE_P(Scenarios, ResumeKilledTest,
                         ::testing::Values("kubernetes", "srtf", "dra", "structured"),
                         [](const ::testing::TestParamInfo<std::string>& tested) {
                           return tested.param;
                         });

// A killed process may have given some of the last files their final names, the ledger among them.
TEST_F(ResumeTest, KilledWhileItGaveTheFilesTheirNames) {
  Succeed({"run", "srtf.yaml", "--out", "whole"});
  const Files whole = FilesIn("whole");
  const auto path = [this](const char* name) { return dir_.PathOf(name); };
  for (const char* out : {"a", "b"}) std::filesystem::copy(path("whole"), path(out));
  std::filesystem::rename(path("a/ledger"), path("a/ledger.partial"));
  for (const char* name : {"a/run.json", "a/by_load.csv", "a/summary.json", "b/summary.json"}) {
    std::filesystem::remove(path(name));
  }
  dir_.Write("a/by_load.csv.tmp", "half");
  dir_.Write("b/summary.json.tmp", "half");
  for (const char* out : {"a", "b"}) {
    const ProcessResult resumed = Resume(out);
    EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
    ExpectFiles(out, whole);
  }
}

// --- bad usage and bad input, over three pods ----------------------------------------------------

class ResumeRefusedTest : public ResumeTest {
 protected:
  ResumeRefusedTest() {
    Succeed(Args({"--out", "whole"}));
    whole_ = FilesIn("whole");
    ledger_ = whole_["ledger"];
    timeseries_ = whole_["timeseries.csv"];
    Leave("cut", CutLedger(), timeseries_);
  }
  static Names Args(const Names& more) {
    Names args = absl::StrSplit(
        "run --nodes nodes.csv --pods pods.csv --set output.checkpoint_every=2 --order trace "
        "--policy best-fit",
        ' ');
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }
  // All three checkpoints, without the end.
  absl::string_view CutLedger() const {
    return absl::string_view(ledger_).substr(0, CheckpointsOf(ledger_).back().end);
  }
  void ExpectUntouched() const {
    EXPECT_EQ(dir_.List("cut"), (Names{"ledger.partial", "timeseries.csv.tmp"}));
    EXPECT_TRUE(dir_.Read("cut/ledger.partial") == CutLedger());
    EXPECT_EQ(dir_.Read("cut/timeseries.csv.tmp"), timeseries_);
  }
  void ExpectBadLedger(absl::string_view bytes, absl::string_view message) const {
    dir_.Write("cut/ledger.partial", bytes);
    ExpectRefused({"run", "--resume", "--out", "cut"},
                  absl::StrCat("cut/ledger.partial: ", message));
    EXPECT_TRUE(dir_.Read("cut/ledger.partial") == bytes);
  }

  Files whole_;
  std::string ledger_;
  std::string timeseries_;
};

TEST_F(ResumeRefusedTest, NothingToResume) {
  ExpectRefused({"run", "--resume"},
                "--resume needs --out DIR, the folder of the run to go on with");
  ExpectRefused({"run", "--resume", "--out", "none"},
                "nothing to resume: none/ledger.partial is not there; with its scenario beside "
                "--resume, the run begins anew");
  EXPECT_FALSE(dir_.Has("none"));
  ExpectRefused({"run", "--resume", "--out", "whole"},
                "nothing to resume: whole/ledger is complete");
  ExpectFiles("whole", whole_);
  ExpectRefused({"run", "--resume", "--ledger=off", "--out", "cut"},
                "--resume: a run with --ledger=off leaves no checkpoints to go on from");
  Succeed(Args({"--ledger=off", "--out", "off"}));
  ExpectRefused({"run", "--resume", "--out", "off"},
                "nothing to resume: off/ledger.partial is not there; with its scenario beside "
                "--resume, the run begins anew");
  ExpectUntouched();
}

// One command line for the first try and for all that follow.
TEST_F(ResumeRefusedTest, BeginsAnewBeforeThereIsALedger) {
  const ProcessResult first = Run(Args({"--resume", "--out", "new"}));
  EXPECT_EQ(first.exit_code, 0);
  EXPECT_EQ(first.err, "drasim: new has no ledger yet; the run begins anew\n");
  ExpectFiles("new", whole_);

  // Killed while it read its inputs, into the folder of an older run that was killed, too.
  Leave("early", CutLedger().substr(0, 200), "");
  dir_.Write("early/scenario.partial.yaml", whole_["scenario.yaml"]);
  const ProcessResult early = Resume("early");
  EXPECT_EQ(early.exit_code, 0);
  EXPECT_EQ(early.err, "drasim: early has no checkpoint yet; the run begins anew\n");
  ExpectFiles("early", whole_);
}

// The files of an older run stay until those of the new one are whole.
TEST_F(ResumeRefusedTest, AnOlderResultDoesNotHideTheRunThatWasKilled) {
  Succeed({"run", "fill.yaml", "--out", "both"});
  dir_.Write("both/ledger.partial", CutLedger());
  dir_.Write("both/timeseries.csv.tmp", timeseries_);
  const ProcessResult resumed = Resume("both");
  EXPECT_EQ(resumed.exit_code, 0);
  EXPECT_EQ(resumed.err, "drasim: both goes on behind record 6\n");
  ExpectFiles("both", whole_);
}

TEST_F(ResumeRefusedTest, AnotherScenario) {
  const auto refused = [this](const Names& more, absl::string_view message) {
    Names args = Args({"--resume", "--out", "cut"});
    args.insert(args.end(), more.begin(), more.end());
    ExpectRefused(args, absl::StrCat("--resume: ", message));
    ExpectUntouched();
  };
  refused({"--seed", "43"}, "seed: found 43, but the run began with 42");
  refused({"--policy", "fgd"},
          "scheduler.policy: found \"fgd\", but the run began with \"best-fit\"");
  refused({"--limit", "2"}, "workload.limit: found 2, but the run began with nothing");
  refused({"--set", "scheduler.score.0.name=FGD"},
          "scheduler.score.0.name: found \"FGD\", but the run began with nothing");
  refused({"--set", "workload.trace.tables.b=x"},
          absl::StrCat("workload.trace.tables.b: found \"", dir_.PathOf("x"),
                       "\", but the run began with nothing"));
  ExpectRefused({"run", "--resume", "--out", "cut", "--seed", "42"},
                "--resume: cluster.format: found nothing, but the run began with \"openb\"");
  ExpectUntouched();
  // The same scenario may be given.
  EXPECT_EQ(Succeed(Args({"--resume", "--out", "cut"})), Succeed(Args({})));
  ExpectFiles("cut", whole_);
}

TEST_F(ResumeRefusedTest, AnotherVersion) {
  const LedgerFrame first = FramesOf(ledger_)[0];
  proto::LedgerHeader header;
  ASSERT_TRUE(header.ParseFromString(first.payload));
  EXPECT_EQ(header.drasim_version(), std::string(kDrasimVersion));
  header.set_drasim_version("0.0.9");
  ExpectBadLedger(
      absl::StrCat("DRASIMLG", MakeFrame(FrameType::kHeader, header.SerializeAsString()),
                   CutLedger().substr(first.end)),
      absl::StrCat("a run of drasim 0.0.9, which drasim ", kDrasimVersion,
                   " cannot go on with; begin it anew"));
}

TEST_F(ResumeRefusedTest, DamagedLedgers) {
  const auto damaged = [this](const LedgerFrame& frame) {
    // Not at the end, where it would be a torn frame.
    std::string bytes = ledger_.substr(0, ledger_.size() - 1);
    bytes[frame.end - 2] = static_cast<char>(bytes[frame.end - 2] ^ 1);
    ExpectBadLedger(bytes, absl::StrCat("damaged at byte ", frame.begin,
                                        ": a frame's checksum does not match"));
  };
  damaged(CheckpointsOf(ledger_).back());
  damaged(FramesOf(ledger_)[1]);  // the first block
  const char* const cut_header =
      "has no readable header, so that nothing is known of the run; begin it anew";
  ExpectBadLedger("", cut_header);
  ExpectBadLedger("DRASI", cut_header);
  ExpectBadLedger(absl::string_view(ledger_).substr(0, FramesOf(ledger_)[0].end - 1), cut_header);
  ExpectBadLedger("something else altogether",
                  "not a drasim ledger; `drasim run --out DIR` writes one");
}

TEST_F(ResumeRefusedTest, WithoutItsTimeseries) {
  dir_.Write("cut/timeseries.csv.tmp",
             absl::string_view(timeseries_).substr(0, timeseries_.size() - 1));
  const ProcessResult shorter = Resume("cut");
  EXPECT_EQ(shorter.exit_code, 1);
  EXPECT_EQ(shorter.err, absl::StrCat("drasim: cut goes on behind record 6\ndrasim: error: "
                                      "cut/timeseries.csv.tmp: found ",
                                      timeseries_.size() - 1, " bytes, expected at least ",
                                      timeseries_.size(), "\n"));
  EXPECT_TRUE(dir_.Read("cut/ledger.partial") == CutLedger());
  std::filesystem::remove(dir_.PathOf("cut/timeseries.csv.tmp"));
  const ProcessResult missing = Resume("cut");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_EQ(missing.err,
            "drasim: cut goes on behind record 6\ndrasim: error: cut/timeseries.csv.tmp: cannot "
            "open the file to go on with it: No such file or directory\n");
  EXPECT_EQ(dir_.List("cut"), Names{"ledger.partial"});
  EXPECT_TRUE(dir_.Read("cut/ledger.partial") == CutLedger());
  // Put back, all is well.
  dir_.Write("cut/timeseries.csv.tmp", timeseries_);
  EXPECT_EQ(Resume("cut").exit_code, 0);
  ExpectFiles("cut", whole_);
}

// The ledger names its inputs absolutely.
TEST_F(ResumeRefusedTest, NotInAnotherWorkingFolder) {
  const ProcessResult result =
      Process(DRASIM_BINARY, {"run", "--resume", "--out", "."}, dir_.PathOf("cut")).Wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  ExpectFiles("cut", whole_);
}

TEST_F(ResumeRefusedTest, OtherInput) {
  dir_.Write("pods.csv", absl::StrCat(kPodHeader, "p-0,12000,16384,1,460,,LS,Running,5,1000,7\n"));
  const ProcessResult changed = Resume("cut");
  EXPECT_EQ(changed.exit_code, 2);
  EXPECT_TRUE(absl::StartsWith(
      changed.err,
      absl::StrCat("drasim: error: ", dir_.PathOf("pods.csv"),
                   ": workload.trace.sha256 expects a file with SHA-256 "
                   "056c35ad5be1ea094ea25ef9ef0928c05eab09bbf16d725195da6edcea73b669, found ")))
      << changed.err;
  ExpectUntouched();

  const ProcessResult piped = Run({"run", "--nodes", "nodes.csv", "--pods", "-", "--out", "piped"},
                                  absl::StrCat(kPodHeader, kPodRows));
  ASSERT_EQ(piped.exit_code, 0) << piped.err;
  std::filesystem::remove(dir_.PathOf("piped/summary.json"));
  ExpectRefused({"run", "--resume", "--out", "piped"},
                "--resume: workload.trace.path is standard input, which cannot be read a second "
                "time");
}

}  // namespace cli_resume_test
}  // namespace drasim
