// Messages of drasim-gui when it cannot open something: each names the file, the place and the
// remedy, has exit code 1 or 2, and stands in the window, too.
#include <imgui.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "gui/app/app.h"
#include "gui/session/run_job.h"
#include "model/proto/ledger.pb.h"
#include "model/time.h"
#include "sim/app/exit_codes.h"
#include "sim/record/ledger_frame.h"
#include "tests/testing/temp_dir.h"

namespace drasim::gui {
namespace messages_test {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr char kScenario[] = R"(mode: replay
order: trace
cluster:
  nodes: 2
  node: {cpu: "16", memory: 64Gi, gpus: 2, gpu_model: T4}
workload:
  jobs:
    - {name: small, cpu: "2", gpus: 1, run_time: 1h}
    - {name: wide, cpu: "4", gpus: 2, run_time: 10m, arrival: 2s}
scheduler: {policy: best-fit}
)";
constexpr char kWriteOne[] = "; `drasim run --out DIR` writes one";
constexpr char kCopyAgain[] = "; copy the file again or repeat its run";

std::string* drawn_text = nullptr;

class MessagesTest : public ::testing::Test {
 protected:
  MessagesTest() {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DeltaTime = 1.0F / 60;
    io.DisplaySize = ImVec2(1600, 1000);
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    unsigned char* pixels = nullptr;
    int width = 0;
    int height = 0;
    io.Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
    for (int key = 0; key < ImGuiKey_COUNT; ++key) io.KeyMap[key] = key;
    io.MousePos = ImVec2(-1, -1);
    drawn_text = &drawn_;
    io.SetClipboardTextFn = [](void*, const char* text) { *drawn_text = text; };
    EXPECT_EQ(setenv("XDG_CACHE_HOME", dir_.path().c_str(), 1), 0);
  }
  ~MessagesTest() override {
    unsetenv("XDG_CACHE_HOME");
    ImGui::DestroyContext();
  }

  std::string Write(absl::string_view name, absl::string_view bytes) const {
    dir_.Write(name, bytes);
    return dir_.PathOf(name);
  }

  // The ledger of a tiny run.
  std::string Ledger() const {
    RunJobSpec spec;
    spec.scenario_path = Write("tiny.yaml", kScenario);
    spec.out_dir = dir_.PathOf("run");
    const std::unique_ptr<RunJob> job = RunJob::Start(std::move(spec), nullptr);
    job->Settle();
    EXPECT_EQ(job->progress().status, absl::OkStatus());
    return dir_.Read("run/ledger");
  }

  static std::string LedgerOfFormat(uint32_t version) {
    proto::LedgerHeader header;
    header.set_version(version);
    return absl::StrCat(kLedgerMagic, MakeFrame(FrameType::kHeader, header.SerializeAsString()));
  }

  // The error of opening a path, after it was looked for on the window's page.
  absl::Status OpenPage(const std::string& path) {
    AppOptions options;
    options.path_a = path;
    App app(std::move(options));
    absl::Status status = app.Settle();
    EXPECT_EQ(app.state().error, status.message()) << path;
    ImGui::NewFrame();
    ImGui::LogToClipboard();
    app.Frame(SimDuration());
    ImGui::LogFinish();
    ImGui::Render();
    EXPECT_TRUE(absl::StrContains(drawn_, status.message())) << status << "\n" << drawn_;
    return status;
  }

  void ExpectMistake(const std::string& path, absl::string_view message) {
    const absl::Status status = OpenPage(path);
    EXPECT_EQ(status.message(), message);
    EXPECT_EQ(ExitCodeOf(status), kExitUsage) << status;
  }

  TempDir dir_;
  std::string drawn_;
};

TEST_F(MessagesTest, NothingThere) {
  const std::string none = dir_.PathOf("none");
  ExpectMistake(
      none, absl::StrCat(none, ": cannot open the ledger: No such file or directory", kWriteOne));
  // A folder without a ledger: the one with the files of this test.
  ExpectMistake(dir_.path(),
                absl::StrCat(dir_.PathOf("ledger"),
                             ": cannot open the ledger: No such file or directory", kWriteOne));
}

TEST_F(MessagesTest, ForeignFiles) {
  for (const absl::string_view bytes : {"", "DRASIM", "a picture, perhaps, or a list of pods"}) {
    const std::string path = Write("foreign", bytes);
    ExpectMistake(path, absl::StrCat(path, ": not a drasim ledger", kWriteOne));
  }
}

TEST_F(MessagesTest, OlderAndNewerLedgers) {
  const std::string older = Write("older", LedgerOfFormat(3));
  ExpectMistake(older, absl::StrCat(older, ": ledger format 3; this drasim reads format ",
                                    kLedgerVersion, ": repeat the run with it"));
  const std::string newer = Write("newer", LedgerOfFormat(kLedgerVersion + 1));
  ExpectMistake(
      newer, absl::StrCat(newer, ": ledger format ", kLedgerVersion + 1,
                          "; this drasim reads format ", kLedgerVersion, ": use a newer drasim"));
}

TEST_F(MessagesTest, DamagedLedgers) {
  const std::string bytes = Ledger();
  const size_t header = kLedgerMagic.size();
  const size_t block =
      header + kFrameHeaderBytes + ReadLittleEndian(absl::string_view(bytes).substr(header, 4));
  ASSERT_LT(block, bytes.size());
  for (const size_t frame : {header, block}) {
    std::string damaged = bytes;
    damaged[frame + kFrameHeaderBytes + 3] ^= 1;
    const std::string path = Write("damaged", damaged);
    ExpectMistake(path, absl::StrCat(path, ": damaged at byte ", frame,
                                     ": a frame's checksum does not match", kCopyAgain));
  }
}

TEST_F(MessagesTest, TruncatedLedgers) {
  const std::string bytes = Ledger();
  const std::string path = Write("cut", absl::string_view(bytes).substr(0, 40));
  ExpectMistake(path, absl::StrCat(path, ": damaged at byte 8: no readable header", kCopyAgain));
  // Behind the header there is something to see.
  AppOptions options;
  options.path_a = Write("cut", absl::string_view(bytes).substr(0, bytes.size() - 40));
  App app(std::move(options));
  EXPECT_EQ(app.Settle(), absl::OkStatus());
  ASSERT_NE(app.state().a.overview, nullptr);
  EXPECT_TRUE(app.state().a.overview->partial);
}

TEST_F(MessagesTest, ScenariosWithErrors) {
  const std::string gone = dir_.PathOf("gone.yaml");
  ExpectMistake(gone, absl::StrCat(gone, ": there is no such file"));
  ExpectMistake("embedded:two_node",
                OpenPage("embedded:two_node").message());  // the same twice
  EXPECT_THAT(std::string(OpenPage("embedded:two_node").message()),
              HasSubstr("found no embedded scenario 'two_node', expected one of "));
  std::string path = Write("bad.yaml", "mode: replay\ncluster:\n  noodles: 3\n");
  ExpectMistake(path, absl::StrCat(path,
                                   ":3:3: cluster.noodles: unknown key (did you mean "
                                   "'nodes'?)"));
  path = Write("bad.yaml", "mode: [\n");
  ExpectMistake(path, absl::StrCat(path, ":2:1: not valid YAML: expected ',' or ']'"));
  path = Write("bad.yaml", "mode: replay\nworkload: {generated: {pods: ten}}\n");
  EXPECT_TRUE(absl::StartsWith(
      OpenPage(path).message(),
      absl::StrCat(path, ":2:30: workload.generated.pods: found 'ten', expected a whole number")));
}

TEST_F(MessagesTest, InputsWithErrors) {
  const std::string pods = dir_.PathOf("pods.csv");
  const std::string path =
      Write("traced.yaml",
            absl::StrCat("mode: replay\ncluster: {nodes: 2}\nworkload: {trace: {format: openb, "
                         "path: ",
                         pods, "}}\n"));
  ExpectMistake(path, absl::StrCat(pods, ": there is no such file"));
  dir_.Write("pods.csv",
             "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
             "deletion_time,scheduled_time\np0,1000,oops,1,1000,,LS,Running,0,500,0\n");
  ExpectMistake(path, absl::StrCat(pods,
                                   ":2:9: memory_mib: found 'oops', expected a plain number "
                                   "of MiB"));
}

// The run is shown up to there, with the error below it.
TEST_F(MessagesTest, ARunThatFailsHalfWay) {
  AppOptions options;
  options.path_a = Write("long.yaml",
                         "mode: replay\nworkload: {generated: {pods: 3000}}\ncluster: {nodes: 20}\n"
                         "output: {max_ledger: 60k}\n");
  App app(std::move(options));
  const absl::Status status = app.Settle();
  EXPECT_EQ(ExitCodeOf(status), kExitFailed) << status;
  EXPECT_THAT(std::string(status.message()),
              ContainsRegex("ledger.partial: the ledger would exceed output.max_ledger \\(60000 "
                            "bytes\\) at record [0-9]+, .*; raise that key$"));
  ASSERT_FALSE(app.state().notices.empty());
  EXPECT_TRUE(app.state().notices.back().error);
  EXPECT_EQ(app.state().notices.back().text, status.message());
  ASSERT_NE(app.state().a.overview, nullptr);
  EXPECT_TRUE(app.state().a.overview->partial);
  EXPECT_GT(app.state().a.overview->records, 0u);
}

// The same in B, which leaves A in sight.
TEST_F(MessagesTest, TheSecondRunHasItsLetter) {
  Ledger();
  AppOptions options;
  options.path_a = dir_.PathOf("run");
  options.path_b = Write("foreign", "a list of pods");
  App app(std::move(options));
  const absl::Status status = app.Settle();
  EXPECT_EQ(status.message(),
            absl::StrCat(dir_.PathOf("foreign"), ": not a drasim ledger", kWriteOne));
  EXPECT_EQ(ExitCodeOf(status), kExitUsage);
  EXPECT_EQ(app.state().error, "");
  ASSERT_FALSE(app.state().notices.empty());
  EXPECT_EQ(app.state().notices.back().text, absl::StrCat("B: ", status.message()));
}

}  // namespace messages_test
}  // namespace drasim::gui
