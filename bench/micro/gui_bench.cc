// What the window costs, without a window. Frames at the size that it is made for: 100,000 GPUs
// with their slots, six plots of 1,000,000 samples, a table of 1,000,000 pods; these states are
// made by hand, so such a frame is all that a frame does but for asking the workers. And the
// workers on ledgers: opening, seeking, playing.

#include <benchmark/benchmark.h>
#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/micro/overloaded_run.h"
#include "bench/micro/run_folder.h"
#include "gui/app/app.h"
#include "gui/app/app_layout.h"
#include "gui/app/view_list.h"
#include "gui/app/window.h"
#include "gui/session/run_overview.h"
#include "gui/session/run_session.h"
#include "gui/session/run_snapshot.h"
#include "gui/view/timeline.h"
#include "model/check.h"
#include "model/proto/scenario.pb.h"
#include "model/random.h"
#include "model/time.h"
#include "tests/gui/view/large_run.h"

namespace drasim::gui {
namespace {

constexpr LargeRunSize kSize;

struct LargeRun {
  std::shared_ptr<const RunOverview> overview = LargeOverview(kSize);
  ManyPods pods{kSize.pods};
  std::shared_ptr<const RunSnapshot> snapshots[2] = {LargeSnapshot(kSize, pods, 0),
                                                     LargeSnapshot(kSize, pods, 1)};
};

const LargeRun& Large() {
  static const auto* const run = new LargeRun;
  return *run;
}

// Dear ImGui without a window.
class Headless {
 public:
  Headless() {
    IMGUI_CHECKVERSION();
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DeltaTime = 1.0F / 60;
    io.DisplaySize = ImVec2(1600, 1000);
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    TakeFonts();
  }
  ~Headless() { ImGui::DestroyContext(); }
  Headless(const Headless&) = delete;
  Headless& operator=(const Headless&) = delete;

  // After a change of the fonts.
  static void TakeFonts() {
    unsigned char* pixels = nullptr;
    int width = 0;
    int height = 0;
    ImGui::GetIO().Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
  }
};

class Window {
 public:
  Window() {
    AppState& state = app_->state();
    ApplyLooks(state.looks, &state.fonts);
    Headless::TakeFonts();
    state.a.overview = Large().overview;
    state.timeline = view::Timeline(state.a.overview->end);
    Show(0);
    for (int i = 0; i < 60; ++i) Frame();
  }
  AppState& state() { return app_->state(); }
  // Moves the cursor to that second, where the run has one of two states.
  void Show(int64_t second) {
    state().timeline.MoveTo({SimTime(second % kSize.samples * kSecondNs)});
    state().a.snapshot = Large().snapshots[second % 2];
  }
  int Frame() {
    ImGui::NewFrame();
    app_->layout().Draw(app_.get(), SimDuration::Millis(16));
    ImGui::Render();
    return ImGui::GetDrawData()->TotalVtxCount;
  }

 private:
  Headless imgui_;
  std::unique_ptr<App> app_ = std::make_unique<App>(AppOptions());
};

// The cursor moves at every frame, and the workers' answer is there by the next one.
void BM_FrameOfAMovedCursor(benchmark::State& state) {
  Window window;
  int64_t second = kSize.samples / 2;
  int vertices = 0;
  for (auto _ : state) {
    window.Show(++second);
    vertices = window.Frame();
  }
  state.counters["vertices"] = vertices;
}
BENCHMARK(BM_FrameOfAMovedCursor)->Unit(benchmark::kMicrosecond);

void BM_FrameWithoutAChange(benchmark::State& state) {
  Window window;
  int vertices = 0;
  for (auto _ : state) vertices = window.Frame();
  state.counters["vertices"] = vertices;
}
BENCHMARK(BM_FrameWithoutAChange)->Unit(benchmark::kMicrosecond);

// --- Ledgers ---

// 20,000 jobs, of which many wait, on 512 GPUs: 20 million records; or the run in the folder that
// DRASIM_BENCH_RUN names, such as one of 1,000,000 jobs.
const std::string& LongRun() {
  static const char* const given = std::getenv("DRASIM_BENCH_RUN");
  if (given != nullptr) {
    static const auto* const path = new std::string(given);
    return *path;
  }
  static const RunFolder run(
      "drasim_gui_bench",
      OverloadedRun(20'000, "kubernetes", [](int64_t, Random&, proto::InlineJob*) {}));
  return run.dir();
}

// A day on a cluster whose MIG instances are cut by drivers.
const std::string& DraRun() {
  static const RunFolder run("drasim_gui_bench_dra", [] {
    proto::Scenario scenario;
    scenario.set_mode("replay");
    scenario.mutable_cluster()->set_nodes(24);
    proto::NodeTemplate* node = scenario.mutable_cluster()->mutable_node();
    node->set_cpu("96");
    node->set_memory("1Ti");
    node->set_gpus(8);
    node->set_gpu_model("H100-SXM5-80GB");
    proto::Generated* jobs = scenario.mutable_workload()->mutable_generated();
    jobs->set_pods(6'000);
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
    return scenario;
  }());
  return run.dir();
}

// To the first picture: the series, the ended pods, and the state of the fullest moment. The CPU of
// the worker counts.
void BM_OpenLedgerToTheFirstPicture(benchmark::State& state) {
  (void)LongRun();
  Headless window;
  uint64_t records = 0;
  for (auto _ : state) {
    AppOptions options;
    options.path_a = LongRun();
    // An inspector would go on reading behind the first picture.
    for (const ViewKind view : {ViewKind::kMap, ViewKind::kPlots, ViewKind::kPods}) {
      options.views.Add(view);
    }
    App app(std::move(options));
    DRASIM_CHECK(app.Settle().ok());
    ImGui::NewFrame();
    app.Frame(SimDuration::Millis(16));
    ImGui::Render();
    records = app.state().a.overview->records;
  }
  state.counters["records"] = static_cast<double>(records);
}
BENCHMARK(BM_OpenLedgerToTheFirstPicture)->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

void SeekAtRandom(benchmark::State& state, const std::string& path) {
  const std::unique_ptr<RunSession> run = RunSession::Open(path);
  run->Settle();
  DRASIM_CHECK(run->status().ok());
  Random random(2, "seek");
  std::vector<double> milliseconds;
  for (auto _ : state) {
    SnapshotRequest request;
    request.at.record = random.Below(run->overview()->records);
    request.at.time = run->clock()->TimeOf(*request.at.record);
    const auto begin = std::chrono::steady_clock::now();
    run->Seek(request);
    run->Settle();
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - begin;
    milliseconds.push_back(taken.count());
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  state.counters["p99_ms"] = milliseconds[milliseconds.size() * 99 / 100];
  state.counters["records"] = static_cast<double>(run->overview()->records);
}
void BM_SeekToARandomInstant(benchmark::State& state) { SeekAtRandom(state, LongRun()); }
BENCHMARK(BM_SeekToARandomInstant)->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);
void BM_SeekToARandomInstantOfADraRun(benchmark::State& state) { SeekAtRandom(state, DraRun()); }
BENCHMARK(BM_SeekToARandomInstantOfADraRun)->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

// The worker's seek and snapshot, and the frame that shows it.
void BM_PlayTenThousandRecordsAFrame(benchmark::State& state) {
  constexpr uint64_t kRecords = 10'000;
  Headless window;
  AppOptions options;
  options.path_a = LongRun();
  App app(std::move(options));
  ApplyLooks(app.state().looks, &app.state().fonts);
  window.TakeFonts();
  DRASIM_CHECK(app.Settle().ok());
  const uint64_t all = app.state().a.overview->records;
  const view::RecordClock& clock = *app.state().a.session->clock();
  uint64_t record = all / 2;
  for (auto _ : state) {
    record = record + kRecords < all ? record + kRecords : 0;
    view::TimeTarget at;
    at.record = record;
    at.time = clock.TimeOf(record);
    app.state().timeline.MoveTo(at);
    ImGui::NewFrame();
    app.Frame(SimDuration::Millis(16));
    ImGui::Render();
    app.state().a.session->Settle();
  }
}
BENCHMARK(BM_PlayTenThousandRecordsAFrame)->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace drasim::gui
