// The window's numbers in one table: each with the goal that it is to reach. Without a window.
//
//   build/release/bin/gui_bench
//   DRASIM_BENCH_LONG=FOLDER build/release/bin/gui_bench
//
// With DRASIM_BENCH_LONG, ledgers are those of runs of 1,000,000 jobs and of 100,000 pods under
// classic DRA. They are made once, in FOLDER (about 2 GB, some minutes), and the cost of a ledger
// is measured by running 100,000 and 1,000,000 jobs again, with and without. Otherwise shorter runs
// stand in for them, as the second column tells.
//
// Words on the command line choose the rows whose names contain one of them: `gui_bench seek
// frame`. Every measurement is a process of its own, so that none sees the memory or the caches of
// another.

#include <imgui.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "bench/micro/overloaded_run.h"
#include "gui/app/app.h"
#include "gui/app/app_layout.h"
#include "gui/app/view_list.h"
#include "gui/app/window.h"
#include "gui/session/run_overview.h"
#include "gui/session/run_session.h"
#include "gui/session/run_snapshot.h"
#include "gui/view/timeline.h"
#include "gui/view/unit_text.h"
#include "model/check.h"
#include "model/number_text.h"
#include "model/proto/scenario.pb.h"
#include "model/random.h"
#include "model/time.h"
#include "sim/run/run_outputs.h"
#include "sim/run/simulation.h"
#include "sim/scenario/given_scenario.h"
#include "sim/scenario/resolve.h"
#include "tests/gui/app/headless_imgui.h"
#include "tests/gui/view/large_run.h"
#include "tests/testing/thread_cpu.h"

namespace drasim::gui {
namespace {

constexpr double kMebibyte = 1024.0 * 1024;
const ImVec2 kDisplay(1600, 1000);

// --- Measuring ---

// Runs the measurement in a child process, so that its memory is gone afterwards; returns its
// figures, or nothing if the child fails.
std::optional<std::vector<double>> InChild(const std::function<std::vector<double>()>& measure) {
  int ends[2];
  DRASIM_CHECK(pipe(ends) == 0);
  std::fflush(stdout);
  const pid_t child = fork();
  DRASIM_CHECK(child >= 0);
  if (child == 0) {
    close(ends[0]);
    const std::vector<double> found = measure();
    const auto bytes = static_cast<ssize_t>(found.size() * sizeof(double));
    _exit(write(ends[1], found.data(), static_cast<size_t>(bytes)) == bytes ? 0 : 1);
  }
  close(ends[1]);
  std::vector<double> found;
  double value = 0;
  while (read(ends[0], &value, sizeof(value)) == static_cast<ssize_t>(sizeof(value))) {
    found.push_back(value);
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return found;
}

// CPU time of all threads, in seconds.
double ProcessCpu() {
  std::timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double UserSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec) * 1e-6;
}

// The most that was ever resident.
double PeakMebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// --- Runs ---

void RunInto(const std::string& folder, const RunSpec& spec) {
  std::filesystem::create_directories(folder);
  auto sim = *Simulation::Build(spec);
  auto outputs = *RunOutputs::Attach(sim.get(), folder);
  DRASIM_CHECK(sim->Start().ok());
  DRASIM_CHECK(sim->Run().ok());
  DRASIM_CHECK(outputs->Complete(0).ok());
}

RunSpec Resolved(const proto::Scenario& scenario) {
  absl::StatusOr<RunSpec> spec = ResolveScenario(scenario);
  DRASIM_CHECK(spec.ok());
  return *std::move(spec);
}

// A month of that many jobs on a cluster of 10,000 nodes, or as much smaller as the jobs are fewer.
RunSpec Month(int64_t jobs, bool with_ledger) {
  absl::StatusOr<GivenScenario> given =
      ReadGiven(absl::StrCat(DRASIM_SOURCE_DIR, "/scenarios/replay_month_10k.yaml"));
  DRASIM_CHECK(given.ok());
  proto::Scenario& scenario = *given->scenario;
  const int64_t whole = scenario.workload().generated().pods();
  scenario.mutable_cluster()->set_nodes(
      static_cast<int32_t>(scenario.cluster().nodes() * jobs / whole));
  scenario.mutable_workload()->mutable_generated()->set_pods(static_cast<int32_t>(jobs));
  scenario.mutable_output()->set_ledger(with_ledger);
  absl::StatusOr<RunSpec> spec = ResolveGiven(*given);
  DRASIM_CHECK(spec.ok());
  return *std::move(spec);
}

// Jobs on 512 GPUs of which many wait: a thousand records each.
RunSpec Overload(int64_t jobs, bool with_ledger) {
  proto::Scenario scenario =
      OverloadedRun(jobs, "kubernetes", [](int64_t, Random&, proto::InlineJob*) {});
  scenario.mutable_output()->set_ledger(with_ledger);
  return Resolved(scenario);
}

// A cluster whose MIG instances are cut by drivers, under a steady load.
RunSpec ClassicDra(int32_t pods) {
  proto::Scenario scenario;
  scenario.set_mode("replay");
  scenario.mutable_cluster()->set_nodes(24);
  proto::NodeTemplate* node = scenario.mutable_cluster()->mutable_node();
  node->set_cpu("96");
  node->set_memory("1Ti");
  node->set_gpus(8);
  node->set_gpu_model("H100-SXM5-80GB");
  proto::Generated* jobs = scenario.mutable_workload()->mutable_generated();
  jobs->set_pods(pods);
  jobs->set_interarrival("exponential(mean=15)");
  jobs->set_run_time("lognormal(median=3300,sigma=0.8)");
  // Small ones are wanted most: the cluster stays below its capacity.
  int weight = 0;
  for (const char* profile : {"7g.80gb", "3g.40gb", "2g.20gb", "1g.10gb"}) {
    proto::MigShare* mig = jobs->add_mig();
    mig->set_profile(profile);
    mig->set_weight(++weight);
  }
  scenario.mutable_scheduler()->set_queue("kubernetes");
  scenario.mutable_front_end()->set_kind("dra-classic");
  scenario.mutable_front_end()->mutable_lowering()->set_rule("none");
  scenario.mutable_preemption()->set_mode("none");
  return Resolved(scenario);
}

// --- Ledgers in the window ---

AppOptions Opened(const std::string& path) {
  AppOptions options;
  options.path_a = path;
  // An inspector would go on reading behind what is measured.
  for (const ViewKind view : {ViewKind::kMap, ViewKind::kPlots, ViewKind::kPods}) {
    options.views.Add(view);
  }
  return options;
}

void DrawFrame(App* app) {
  ImGui::NewFrame();
  app->Frame(SimDuration::Millis(16));
  ImGui::Render();
}

// To the first picture: the series, the ended pods, and the state of the fullest moment. The CPU of
// the workers counts.
std::vector<double> Opening(const std::string& path) {
  const HeadlessImGui imgui(kDisplay);
  const double begin = ProcessCpu();
  App app(Opened(path));
  while (app.state().a.overview == nullptr || app.state().a.snapshot == nullptr) {
    DrawFrame(&app);
    DRASIM_CHECK(app.state().error.empty());
    usleep(1000);
  }
  DrawFrame(&app);
  return {ProcessCpu() - begin, static_cast<double>(app.state().a.overview->records)};
}

// With all tables and plots, after everything that is read in the background.
std::vector<double> Memory(const std::string& path) {
  const HeadlessImGui imgui(kDisplay);
  AppOptions options = Opened(path);
  for (const ViewKind view : {ViewKind::kNodes, ViewKind::kClaims, ViewKind::kTenants}) {
    options.views.Add(view);
  }
  App app(std::move(options));
  DRASIM_CHECK(app.Settle().ok());
  for (int i = 0; i < 10; ++i) DrawFrame(&app);
  return {PeakMebibytes()};
}

std::vector<double> Seeking(const std::string& path) {
  constexpr int kSeeks = 500;
  const std::unique_ptr<RunSession> run = RunSession::Open(path);
  run->Settle();
  DRASIM_CHECK(run->status().ok());
  Random random(2, "seek");
  std::vector<double> taken;
  for (int i = 0; i < kSeeks; ++i) {
    SnapshotRequest request;
    request.at.record = random.Below(run->overview()->records);
    request.at.time = run->clock()->TimeOf(*request.at.record);
    const double begin = ProcessCpu();
    run->Seek(request);
    run->Settle();
    taken.push_back(ProcessCpu() - begin);
  }
  std::sort(taken.begin(), taken.end());
  return {taken[taken.size() * 99 / 100], taken[taken.size() / 2]};
}

// The worker's seek and snapshot, and the frame that shows it.
std::vector<double> Playing(const std::string& path) {
  constexpr uint64_t kRecords = 10'000;
  constexpr int kFrames = 100;
  constexpr int kRepeats = 3;
  const HeadlessImGui imgui(kDisplay);
  App app(Opened(path));
  ApplyLooks(app.state().looks, &app.state().fonts);
  HeadlessImGui::TakeFonts();
  DRASIM_CHECK(app.Settle().ok());
  const uint64_t all = app.state().a.overview->records;
  const view::RecordClock& clock = *app.state().a.session->clock();
  uint64_t record = all / 3;
  const auto play = [&] {
    record = record + kRecords < all ? record + kRecords : 0;
    app.state().timeline.MoveTo({clock.TimeOf(record), record});
    DrawFrame(&app);
    app.state().a.session->Settle();
  };
  for (int i = 0; i < 10; ++i) play();
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRepeats; ++i) {
    const double begin = ProcessCpu();
    for (int f = 0; f < kFrames; ++f) play();
    least = std::min(least, (ProcessCpu() - begin) / kFrames);
  }
  return {least};
}

// --- The cost of a ledger ---

// User time of the run without its inputs.
double CostOf(const RunSpec& spec) {
  const std::string folder =
      (std::filesystem::temp_directory_path() / absl::StrCat("drasim_gui_bench_", getpid()))
          .string();
  std::filesystem::create_directories(folder);
  auto sim = *Simulation::Build(spec);
  auto outputs = *RunOutputs::Attach(sim.get(), folder);
  const double begin = UserSeconds();
  DRASIM_CHECK(sim->Start().ok());
  DRASIM_CHECK(sim->Run().ok());
  DRASIM_CHECK(outputs->Complete(0).ok());
  const double cost = UserSeconds() - begin;
  std::filesystem::remove_all(folder);
  return cost;
}

// The least of some repeats with a ledger, over the least without, less one.
std::optional<double> ExtraTime(int repeats, const std::function<RunSpec(bool)>& spec_of) {
  double least[2] = {};
  for (int i = 0; i < repeats; ++i) {
    for (const bool with_ledger : {false, true}) {
      const auto cost = InChild([&] { return std::vector<double>{CostOf(spec_of(with_ledger))}; });
      if (!cost.has_value() || cost->empty()) return std::nullopt;
      double& known = least[with_ledger ? 1 : 0];
      known = i == 0 ? cost->front() : std::min(known, cost->front());
    }
  }
  return least[1] / least[0] - 1;
}

// --- Frames at the size that the window is made for ---

// 100,000 GPUs with their slots, six plots of 1,000,000 samples, a table of 1,000,000 pods. These
// states are made by hand, so a frame is all that it is but for asking the workers.
std::vector<double> Frames(bool moves) {
  constexpr LargeRunSize kSize;
  constexpr int kRepeats = 10;
  constexpr int kFrames = 50;
  const HeadlessImGui imgui(kDisplay);
  App app{AppOptions()};
  AppState& state = app.state();
  ApplyLooks(state.looks, &state.fonts);
  HeadlessImGui::TakeFonts();
  const ManyPods pods(kSize.pods);
  state.a.overview = LargeOverview(kSize);
  state.timeline = view::Timeline(state.a.overview->end);
  const std::shared_ptr<const RunSnapshot> snapshots[2] = {LargeSnapshot(kSize, pods, 0),
                                                           LargeSnapshot(kSize, pods, 1)};
  int64_t second = kSize.samples / 2;
  const auto frame = [&](bool moved) {
    if (moved) {
      ++second;
      state.timeline.MoveTo({SimTime(second * kSecondNs)});
      state.a.snapshot = snapshots[second % 2];
    }
    ImGui::NewFrame();
    app.layout().Draw(&app, SimDuration::Millis(16));
    ImGui::Render();
  };
  frame(true);
  for (int i = 0; i < 60; ++i) frame(false);
  const double cost = LeastCpuSeconds(kRepeats, [&] {
    for (int i = 0; i < kFrames; ++i) frame(moves);
  });
  return {cost / kFrames};
}

// --- The table ---

constexpr char kLedgerRow[] = "ledger, extra user time";

// The words that choose rows; none: all.
std::vector<std::string>& Chosen() {
  static auto* const words = new std::vector<std::string>;
  return *words;
}
bool IsChosen(absl::string_view what) {
  return Chosen().empty() || std::any_of(Chosen().begin(), Chosen().end(), [&](const auto& word) {
           return absl::StrContains(what, word);
         });
}

std::string MillisText(double seconds) { return absl::StrCat(FixedText(seconds * 1e3, 2), " ms"); }
std::string PercentText(double share) { return absl::StrCat(FixedText(share * 100, 1), " %"); }

void PrintRow(absl::string_view what, absl::string_view of, absl::string_view measured,
              absl::string_view goal) {
  std::printf("%-52s  %-34s  %16s  %s\n", std::string(what).c_str(), std::string(of).c_str(),
              std::string(measured).c_str(), std::string(goal).c_str());
  std::fflush(stdout);
}

template <typename Text>
void MeasureRow(absl::string_view what, absl::string_view of, absl::string_view goal,
                const std::function<std::vector<double>()>& measure, Text text) {
  if (!IsChosen(what)) return;
  const std::optional<std::vector<double>> found = InChild(measure);
  PrintRow(what, of, found.has_value() && !found->empty() ? text(*found) : "failed", goal);
}

// The folder of a run; made now unless it is there.
std::string RunFolder(const std::string& base, const std::string& name,
                      const std::function<RunSpec()>& spec) {
  std::string folder = absl::StrCat(base, "/", name);
  if (std::filesystem::exists(absl::StrCat(folder, "/ledger"))) return folder;
  std::fprintf(stderr, "making the run %s\n", folder.c_str());
  const auto made = InChild([&] {
    RunInto(folder, spec());
    return std::vector<double>{1};
  });
  DRASIM_CHECK(made.has_value());
  return folder;
}

void PrintTable() {
  const char* const given = std::getenv("DRASIM_BENCH_LONG");
  const bool is_long = given != nullptr && *given != '\0';
  const std::string base =
      is_long ? given : (std::filesystem::temp_directory_path() / "drasim_gui_bench").string();
  const std::string jobs =
      is_long ? RunFolder(base, "jobs_1000000", [] { return Month(1'000'000, true); })
              : RunFolder(base, "jobs_20000", [] { return Overload(20'000, true); });
  const std::string dra = is_long
                              ? RunFolder(base, "dra_100000", [] { return ClassicDra(100'000); })
                              : RunFolder(base, "dra_6000", [] { return ClassicDra(6'000); });
  const std::string of_jobs = is_long ? "1,000,000 jobs" : "20,000 jobs, 20 million records";
  const std::string of_dra = is_long ? "100,000 pods" : "6,000 pods";
  PrintRow("what", "of", "measured", "goal");
  const auto seconds = [](const std::vector<double>& found) {
    return absl::StrCat(FixedText(found[0], 3), " s CPU");
  };
  const auto millis = [](const std::vector<double>& found) { return MillisText(found[0]); };
  MeasureRow(
      "open the 1,000,000-job ledger to the first picture", of_jobs, "1 s",
      [&] { return Opening(jobs); }, seconds);
  MeasureRow(
      "seek to a random instant there, p99", of_jobs, "50 ms, aim 30",
      [&] { return Seeking(jobs); }, millis);
  MeasureRow(
      "the same, DRA run of 100,000 pods", of_dra, "50 ms", [&] { return Seeking(dra); }, millis);
  MeasureRow(
      "memory there, plots and tables open", of_jobs, "400 MB", [&] { return Memory(jobs); },
      [](const std::vector<double>& found) {
        return absl::StrCat(FixedText(found[0] * kMebibyte / 1e6, 0), " MB");
      });
  const auto ledger_row = [](const std::string& of, int repeats,
                             const std::function<RunSpec(bool)>& spec) {
    if (!IsChosen(kLedgerRow)) return;
    const std::optional<double> extra = ExtraTime(repeats, spec);
    PrintRow(kLedgerRow, of, extra.has_value() ? PercentText(*extra) : "failed", "15 %");
  };
  if (is_long) {
    ledger_row("100,000 jobs", 3, [](bool ledger) { return Month(100'000, ledger); });
    ledger_row("1,000,000 jobs", 1, [](bool ledger) { return Month(1'000'000, ledger); });
  } else {
    ledger_row("20,000 jobs on 200 nodes", 3, [](bool ledger) { return Month(20'000, ledger); });
  }
  const std::string by_hand = "made by hand, at full size";
  MeasureRow(
      "frame, 100,000 GPUs, six plots, 1,000,000 rows", by_hand, "2 ms CPU",
      [] { return Frames(/*moves=*/true); }, millis);
  MeasureRow(
      "frame in which nothing changed", by_hand, "0.5 ms", [] { return Frames(/*moves=*/false); },
      millis);
  MeasureRow(
      "playing at 10,000 records a frame", of_jobs, "4 ms", [&] { return Playing(jobs); }, millis);
  if (!is_long) std::filesystem::remove_all(base);
}

}  // namespace

void PrintTableOf(std::vector<std::string> words) {
  Chosen() = std::move(words);
  PrintTable();
}

}  // namespace drasim::gui

// Options are those of other benchmarks and mean nothing here.
int main(int argc, char** argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    if (!absl::StartsWith(argv[i], "--")) words.emplace_back(argv[i]);
  }
  drasim::gui::PrintTableOf(std::move(words));
  return 0;
}
