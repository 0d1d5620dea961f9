// Whole frames of the window without a window: every panel, command and key on tiny runs. Dear
// ImGui's own assertions are on in Debian's library: a call that it does not allow ends the test.
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <ios>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "gui/app/app.h"
#include "gui/app/app_view.h"
#include "gui/app/commands.h"
#include "gui/app/export_list.h"
#include "gui/app/window.h"
#include "gui/session/fragmentation_pass.h"
#include "gui/session/inspection.h"
#include "gui/session/run_job.h"
#include "gui/session/run_overview.h"
#include "gui/session/run_session.h"
#include "gui/view/claim_table.h"
#include "gui/view/pyramid.h"
#include "model/check.h"
#include "tests/gui/app/headless_imgui.h"
#include "tests/testing/temp_dir.h"

namespace drasim::gui {
namespace headless_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr SimDuration kFrameTime = SimDuration::Millis(16);

std::string GoldenScenario(absl::string_view name) {
  return absl::StrCat(DRASIM_SOURCE_DIR, "/tests/golden/scenarios/", name, ".yaml");
}

// The folder of a scenario's run; run once per test binary.
std::string RunOf(absl::string_view name) {
  static const auto* const base = new TempDir;
  std::string folder = base->PathOf(name);
  if (base->Has(absl::StrCat(name, "/ledger"))) return folder;
  RunJobSpec spec;
  spec.scenario_path = GoldenScenario(name);
  spec.out_dir = folder;
  const std::unique_ptr<RunJob> job = RunJob::Start(std::move(spec), nullptr);
  job->Settle();
  EXPECT_EQ(job->progress().status, absl::OkStatus());
  return folder;
}

const std::vector<absl::string_view>& AllRuns() {
  static const auto* const names = new std::vector<absl::string_view>{
      "replay_easy_node_events", "mig_static_repartition", "replay_dra_mig", "seeded_fill_best_fit",
      "device_plugin_time_sliced"};
  return *names;
}

std::string* copied_text = nullptr;

class HeadlessTest : public ::testing::Test {
 protected:
  HeadlessTest() {
    ImGuiIO& io = ImGui::GetIO();
    // As the back end of GLFW has it.
    io.KeyMap[ImGuiKey_LeftArrow] = GLFW_KEY_LEFT;
    io.KeyMap[ImGuiKey_RightArrow] = GLFW_KEY_RIGHT;
    io.KeyMap[ImGuiKey_UpArrow] = GLFW_KEY_UP;
    io.KeyMap[ImGuiKey_DownArrow] = GLFW_KEY_DOWN;
    io.KeyMap[ImGuiKey_Enter] = GLFW_KEY_ENTER;
    io.KeyMap[ImGuiKey_Escape] = GLFW_KEY_ESCAPE;
    io.KeyMap[ImGuiKey_Backspace] = GLFW_KEY_BACKSPACE;
    copied_text = &copied_;
    io.SetClipboardTextFn = [](void*, const char* text) { *copied_text = text; };
  }

  static void Resize(float width, float height) {
    ImGui::GetIO().DisplaySize = ImVec2(width, height);
  }

  // The fonts of the scale, without a renderer that would take their atlas.
  void Dress() {
    AppState& state = app_->state();
    if (dressed_.scale == state.looks.scale && dressed_.theme == state.looks.theme) return;
    dressed_ = state.looks;
    ApplyLooks(state.looks, &state.fonts);
    HeadlessImGui::TakeFonts();
  }

  void Launch(AppOptions options) {
    app_.reset();
    dressed_.scale = 0;
    app_ = std::make_unique<App>(std::move(options));
    Frames(1);
  }
  absl::Status Start(AppOptions options) {
    Launch(std::move(options));
    return app_->Settle();
  }
  absl::Status StartRun(const std::string& a, const std::string& b = "") {
    AppOptions options;
    options.path_a = a;
    options.path_b = b;
    return Start(std::move(options));
  }

  // Draws settled frames. The draw data of the last one is valid until the next.
  const ImDrawData& Frames(int frames = 3) {
    for (int i = 0; i < frames; ++i) {
      Dress();
      ImGui::NewFrame();
      app_->Frame(kFrameTime);
      ImGui::Render();
      // Opening is not waited for here: the tests do that.
    }
    const ImDrawData* data = ImGui::GetDrawData();
    EXPECT_TRUE(data != nullptr && data->Valid);
    return *data;
  }
  const ImDrawData& SettledFrames() {
    for (int i = 0; i < 3; ++i) {
      app_->Settle().IgnoreError();
      Frames(1);
    }
    return Frames(1);
  }

  void Press(const KeyChord& chord) {
    ImGuiIO& io = ImGui::GetIO();
    io.KeyCtrl = chord.ctrl;
    io.KeyShift = chord.shift;
    io.KeyAlt = chord.alt;
    io.KeysDown[chord.key] = true;
    Frames(1);
    io.KeysDown[chord.key] = false;
    io.KeyCtrl = io.KeyShift = io.KeyAlt = false;
    Frames(1);
  }
  void Press(int key) { Press(KeyChord{.key = key}); }
  void Type(absl::string_view text) {
    for (const char c : text) ImGui::GetIO().AddInputCharacter(static_cast<unsigned>(c));
    Frames(2);
  }
  void Click(float x, float y) {
    ImGuiIO& io = ImGui::GetIO();
    io.MousePos = ImVec2(x, y);
    Frames(2);
    io.MouseDown[0] = true;
    Frames(1);
    io.MouseDown[0] = false;
    Frames(1);
    io.MousePos = ImVec2(-1, -1);
  }

  AppState& state() { return app_->state(); }
  view::Timeline& timeline() { return app_->state().timeline; }

  std::string NoticeTexts() {
    std::string texts;
    for (const Notice& notice : state().notices) absl::StrAppend(&texts, notice.text, "\n");
    return texts;
  }

  // Panels lie within the display, and none over another.
  void ExpectOrder() {
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    const auto placed = app_->layout().placed();
    for (size_t i = 0; i < placed.size(); ++i) {
      const view::Rect& a = placed[i].rect;
      EXPECT_GE(a.x, 0);
      EXPECT_GE(a.y, 0);
      EXPECT_LE(a.right(), display.x);
      EXPECT_LE(a.bottom(), display.y);
      for (size_t j = 0; j < i; ++j) {
        const view::Rect& b = placed[j].rect;
        const bool apart =
            a.right() <= b.x || b.right() <= a.x || a.bottom() <= b.y || b.bottom() <= a.y;
        EXPECT_TRUE(apart) << "panels " << placed[i].panel << " and " << placed[j].panel;
      }
    }
  }

  // Header, timeline, titles and frames lie within the display. Panels have lists of their own,
  // which scroll.
  static void ExpectInside(const ImDrawData& data) {
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    const bool readable = display.x >= 40 * ImGui::GetFontSize();
    constexpr float kSmooth = 3;  // of edges
    for (int n = 0; n < data.CmdListsCount; ++n) {
      const ImDrawList& list = *data.CmdLists[n];
      if (!readable || absl::string_view(list._OwnerName) != "##drasim") continue;
      int outside = 0;
      for (const ImDrawVert& vertex : list.VtxBuffer) {
        outside += vertex.pos.x < -kSmooth || vertex.pos.y < -kSmooth ||
                   vertex.pos.x > display.x + kSmooth || vertex.pos.y > display.y + kSmooth;
      }
      EXPECT_EQ(outside, 0);
    }
  }

  std::set<ViewKind> PlacedViews() {
    std::set<ViewKind> views;
    for (const auto& placed : app_->layout().placed()) {
      views.insert(app_->panels()[placed.panel]->view());
    }
    return views;
  }

  HeadlessImGui imgui_{ImVec2(1600, 1000)};
  std::unique_ptr<App> app_;
  Looks dressed_;
  std::string copied_;
};

// --- Opening ---

TEST_F(HeadlessTest, WithoutARunTheStartPageIsDrawn) {
  ASSERT_EQ(Start({}), absl::OkStatus());
  EXPECT_GT(Frames().TotalVtxCount, 500);
  EXPECT_THAT(app_->layout().placed(), IsEmpty());
  EXPECT_FALSE(app_->animating());
}

TEST_F(HeadlessTest, OpensWhereMostIsAllocated) {
  ASSERT_EQ(StartRun(RunOf("replay_easy_node_events")), absl::OkStatus());
  SettledFrames();
  ASSERT_NE(state().a.overview, nullptr);
  ASSERT_NE(state().a.snapshot, nullptr);
  EXPECT_EQ(timeline().end(), state().a.overview->end);
  const view::Pyramid* const allocated = state().a.overview->Find("gpu_allocated_milli");
  ASSERT_NE(allocated, nullptr);
  const double most = allocated->QuerySamples(0, allocated->size()).max;
  EXPECT_GT(most, 0);
  EXPECT_EQ(allocated->ValueAt(timeline().cursor().time), most);
  EXPECT_EQ(state().a.snapshot->time, timeline().cursor().time);
  EXPECT_FALSE(state().node.empty());
  EXPECT_FALSE(app_->animating());
}

TEST_F(HeadlessTest, AtAndSelectAreApplied) {
  AppOptions options;
  options.path_a = RunOf("replay_easy_node_events");
  options.at = "50%";
  options.select = "node-000002";
  ASSERT_EQ(Start(options), absl::OkStatus());
  EXPECT_EQ(timeline().cursor().time.ns(), timeline().end().ns() / 2);
  EXPECT_EQ(state().selected, (ObjectRef{ObjectKind::kNode, "node-000002"}));
  EXPECT_EQ(state().node, "node-000002");
  const auto& node = state().a.inspections[static_cast<size_t>(ObjectKind::kNode)];
  ASSERT_NE(node, nullptr);
  ASSERT_TRUE(node->node.has_value());
  EXPECT_EQ(node->node->figures.name, "node-000002");
}

TEST_F(HeadlessTest, WrongWishesAreErrorsThatHelp) {
  AppOptions options;
  options.path_a = RunOf("replay_easy_node_events");
  options.at = "later";
  absl::Status status = Start(options);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("--at: "));

  options.at.clear();
  options.select = "node-00002";
  status = Start(options);
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("did you mean 'node-000002'?"));
  Frames();
  EXPECT_THAT(PlacedViews(), Not(IsEmpty())) << "the run is shown none the less";
}

TEST_F(HeadlessTest, MissingAndForeignFilesGiveAPageAndAnError) {
  const TempDir dir;
  absl::Status status = StartRun(dir.PathOf("none"));
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  Frames();
  EXPECT_THAT(state().error, HasSubstr(dir.PathOf("none")));
  EXPECT_THAT(app_->layout().placed(), IsEmpty());

  dir.Write("foreign", "no ledger at all");
  status = StartRun(dir.PathOf("foreign"));
  EXPECT_FALSE(status.ok());
  Frames();
  EXPECT_THAT(state().error, HasSubstr("foreign"));

  dir.Write("bad.yaml", "mode: replai\n");
  status = StartRun(dir.PathOf("bad.yaml"));
  EXPECT_FALSE(status.ok());
  Frames();
  EXPECT_THAT(state().error, HasSubstr("replai"));

  // Another run may be opened from there.
  state().open_as_a.push_back(RunOf("replay_random"));
  Frames(1);
  EXPECT_EQ(app_->Settle(), absl::OkStatus());
  Frames();
  EXPECT_EQ(state().error, "");
  EXPECT_THAT(app_->layout().placed(), Not(IsEmpty()));
}

TEST_F(HeadlessTest, AMissingBLeavesAInSight) {
  const TempDir dir;
  const absl::Status status = StartRun(RunOf("replay_random"), dir.PathOf("none"));
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  Frames();
  EXPECT_TRUE(state().a.opened());
  EXPECT_FALSE(state().b.opened());
  EXPECT_THAT(NoticeTexts(), HasSubstr("none"));
  EXPECT_THAT(app_->layout().placed(), Not(IsEmpty()));
}

TEST_F(HeadlessTest, APartialLedgerIsShown) {
  const TempDir dir;
  const TempDir run;
  std::string bytes;
  {
    std::ifstream file(absl::StrCat(RunOf("replay_random"), "/ledger"), std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  ASSERT_GT(bytes.size(), 1000u);
  dir.Write("ledger", bytes.substr(0, bytes.size() * 9 / 10));
  ASSERT_EQ(StartRun(dir.path()), absl::OkStatus());
  SettledFrames();
  ASSERT_NE(state().a.overview, nullptr);
  EXPECT_TRUE(state().a.overview->partial);
  EXPECT_THAT(app_->layout().placed(), Not(IsEmpty()));
}

TEST_F(HeadlessTest, AScenarioIsRunAndOpened) {
  const absl::Status status = StartRun(GoldenScenario("replay_random"));
  ASSERT_EQ(status, absl::OkStatus());
  SettledFrames();
  ASSERT_TRUE(state().a.opened());
  ASSERT_NE(state().a.overview, nullptr);
  EXPECT_FALSE(state().a.overview->partial);
  EXPECT_EQ(app_->settings().recent.front(), GoldenScenario("replay_random"));
}

// Events that are read in the background reach the window, too.
TEST_F(HeadlessTest, EventsComeAfterTheRest) {
  AppOptions options;
  options.path_a = RunOf("replay_easy_node_events");
  Launch(std::move(options));
  while (state().a.overview == nullptr) Frames(1);
  state().a.session->Settle();
  Frames(1);
  EXPECT_EQ(state().a.overview, state().a.session->overview());
  EXPECT_FALSE(state().a.overview->events.empty());
  EXPECT_NE(state().a.overview->Find(FragmentationPass::kName), nullptr);
}

TEST_F(HeadlessTest, ARunInProgressHasPlots) {
  RunJobSpec spec;
  spec.scenario_path = GoldenScenario("replay_easy_node_events");
  spec.paused = true;
  Launch(AppOptions());
  state().run_as_a = std::move(spec);
  Frames(2);
  ASSERT_NE(state().a.job, nullptr);
  const auto run_to = [&](uint64_t records) {
    state().a.job->Step(records - state().a.job->progress().records);
    while (state().a.overview == nullptr || state().a.overview->records < records) Frames(1);
  };
  run_to(300);
  const std::shared_ptr<const RunOverview> early = state().a.overview;
  Frames(3);
  EXPECT_FALSE(state().a.opened());
  EXPECT_EQ(state().a.snapshot->record, 300u);
  const view::Pyramid* const allocated = early->Find("gpu_allocated_milli");
  ASSERT_NE(allocated, nullptr);
  EXPECT_GT(allocated->QuerySamples(0, allocated->size()).max, 0);
  EXPECT_EQ(timeline().end(), early->end);
  EXPECT_EQ(timeline().cursor().time, early->end);
  EXPECT_TRUE(PlacedViews().contains(ViewKind::kPlots));
  for (const auto& panel : app_->panels()) {
    if (panel->view() == ViewKind::kPlots) {
      EXPECT_FALSE(panel->Exports(state()).empty());
    }
  }
  run_to(600);
  EXPECT_GT(state().a.overview->end, early->end);
  Frames(2);
  EXPECT_EQ(timeline().end(), state().a.overview->end);
  // Commands that need a ledger wait for it.
  for (const char* id : {"forward", "go_to", "bookmark", "open_b"}) {
    EXPECT_FALSE(FindCommand(id)->enabled(*app_)) << id;
  }
  state().a.job->Resume();
  ASSERT_EQ(app_->Settle(), absl::OkStatus());
  Frames(2);
  ASSERT_TRUE(state().a.opened());
  EXPECT_FALSE(state().a.overview->partial);
}

// --- Layout ---

class EveryRunTest : public HeadlessTest,
                     public ::testing::WithParamInterface<absl::string_view> {};

INSTANTIATE_TEST_SUITE_P(Runs, EveryRunTest, ::testing::ValuesIn(AllRuns()),
                         [](const auto& run) { return std::string(run.param); });

TEST_P(EveryRunTest, EveryPanelFitsEveryDisplay) {
  AppOptions options;
  options.path_a = RunOf(GetParam());
  for (int view = 0; view < kViewKinds; ++view) options.views.Add(static_cast<ViewKind>(view));
  ASSERT_EQ(Start(options), absl::OkStatus());
  struct Display {
    float width;
    float height;
    float scale;
  };
  for (const Display& display :
       {Display{1600, 1000, 1}, Display{1280, 720, 1}, Display{300, 200, 1}, Display{1600, 1000, 2},
        Display{1280, 720, 2}, Display{3200, 2000, 3}}) {
    SCOPED_TRACE(testing::Message()
                 << display.width << " x " << display.height << ", scale " << display.scale);
    Resize(display.width, display.height);
    state().looks.scale = display.scale;
    SettledFrames();
    // Each panel is in front once; node and inspector take turns.
    std::set<ViewKind> seen;
    for (const int view : {0, 1, 2, 3, 4, 5, 6, 6}) {
      app_->layout().Focus(static_cast<ViewKind>(view), app_.get());
      ExpectInside(Frames(2));
      ExpectOrder();
      for (const ViewKind placed : PlacedViews()) seen.insert(placed);
    }
    const size_t all = kViewKinds - 1;  // there is nothing to compare
    EXPECT_EQ(seen.size(), display.width >= 1000 ? all : seen.size());
  }
}

TEST_F(HeadlessTest, AnySizeWillDo) {
  ASSERT_EQ(StartRun(RunOf("replay_dra_mig")), absl::OkStatus());
  SettledFrames();
  for (const float width : {1.0F, 50.0F, 200.0F, 700.0F, 5000.0F}) {
    for (const float height : {1.0F, 60.0F, 150.0F, 400.0F, 5000.0F}) {
      SCOPED_TRACE(testing::Message() << width << " x " << height);
      Resize(width, height);
      Frames(2);
    }
  }
}

TEST_F(HeadlessTest, AbsentViewsLeaveTheirRoom) {
  ASSERT_EQ(StartRun(RunOf("replay_random")), absl::OkStatus());
  SettledFrames();
  const auto area_of = [&](ViewKind view) {
    float area = 0;
    for (const auto& placed : app_->layout().placed()) {
      if (app_->panels()[placed.panel]->view() != view) continue;
      area += placed.rect.width * placed.rect.height;
    }
    return area;
  };
  const float with_others = area_of(ViewKind::kMap);
  RunCommand("show_plots", app_.get());
  RunCommand("show_pods", app_.get());
  RunCommand("show_inspect", app_.get());
  Frames();
  EXPECT_THAT(PlacedViews(), UnorderedElementsAre(ViewKind::kMap));
  EXPECT_GT(area_of(ViewKind::kMap), 3 * with_others);
  RunCommand("show_map", app_.get());
  Frames();
  EXPECT_THAT(app_->layout().placed(), IsEmpty());
}

TEST_F(HeadlessTest, ASplitterIsDraggedAndKept) {
  const TempDir folder;
  AppOptions options;
  options.path_a = RunOf("replay_random");
  options.settings_folder = folder.path();
  ASSERT_EQ(Start(options), absl::OkStatus());
  SettledFrames();
  const auto left_of_plots = [&] {
    for (const auto& placed : app_->layout().placed()) {
      if (app_->panels()[placed.panel]->view() == ViewKind::kPlots) return placed.rect;
    }
    ADD_FAILURE() << "no plots";
    return view::Rect();
  };
  const view::Rect before = left_of_plots();
  ImGuiIO& io = ImGui::GetIO();
  io.MousePos = ImVec2(before.x - 2, before.y + before.height / 2);
  Frames(2);
  io.MouseDown[0] = true;
  Frames(1);
  io.MousePos.x -= 150;
  Frames(2);
  io.MouseDown[0] = false;
  Frames(2);
  EXPECT_NEAR(left_of_plots().x, before.x - 150, 4);
  EXPECT_THAT(folder.Read("gui-settings"), HasSubstr("splitter upper "));
  const float kept = left_of_plots().x;
  ASSERT_EQ(Start(options), absl::OkStatus());
  SettledFrames();
  EXPECT_NEAR(left_of_plots().x, kept, 1);
  EXPECT_THAT(app_->settings().recent, ElementsAre(RunOf("replay_random")));
}

// --- Commands and keys ---

TEST(CommandsTest, IdsAndKeysAreUnique) {
  std::set<absl::string_view> ids;
  std::set<std::tuple<int, bool, bool, bool>> keys;
  for (const Command& command : Commands()) {
    EXPECT_TRUE(ids.insert(command.id).second) << command.id;
    EXPECT_NE(command.run, nullptr) << command.id;
    EXPECT_FALSE(command.title.empty()) << command.id;
    for (const KeyChord& chord : {command.key, command.other_key}) {
      if (chord.key == 0) continue;
      EXPECT_TRUE(keys.insert({chord.key, chord.ctrl, chord.shift, chord.alt}).second)
          << command.id << " " << KeyText(chord);
      EXPECT_FALSE(KeyText(chord).empty());
    }
    EXPECT_EQ(FindCommand(command.id), &command);
  }
  EXPECT_EQ(FindCommand("no such command"), nullptr);
}

TEST(CommandsTest, KeysHaveNames) {
  EXPECT_EQ(KeyText(FindCommand("play")->key), "Space");
  EXPECT_EQ(KeyText(FindCommand("find")->key), "Ctrl+P");
  EXPECT_EQ(KeyText(FindCommand("keys")->key), "F1");
  EXPECT_EQ(KeyText(FindCommand("event_back")->key), "Shift+Left");
  EXPECT_EQ(KeyText(FindCommand("history_back")->key), "Alt+Left");
  EXPECT_EQ(KeyText(FindCommand("map")->key), "1");
  EXPECT_EQ(KeyText(FindCommand("report")->key), "");
}

// In every state, each command and each key leaves a window that can be drawn.
TEST_F(HeadlessTest, EveryCommandAndKeyWorksInEveryState) {
  for (const int runs : {0, 1, 2}) {
    const auto open = [&] {
      const std::string a = runs > 0 ? RunOf("replay_random") : "";
      const std::string b = runs > 1 ? RunOf("replay_dotprod_bind_latency") : "";
      EXPECT_EQ(StartRun(a, b), absl::OkStatus());
      Frames(1);
    };
    open();
    for (const Command& command : Commands()) {
      if (command.id == "quit") continue;
      SCOPED_TRACE(testing::Message() << command.id << " with " << runs << " runs");
      RunCommand(command.id, app_.get());
      Frames(2);
      Press(GLFW_KEY_ESCAPE);
      EXPECT_EQ(app_->layout().overlay(), Overlay::kNone);
      if (command.key.key != 0) Press(command.key);
      ExpectInside(Frames(2));
      Press(GLFW_KEY_ESCAPE);
      if (state().a.opened() != (runs > 0) || state().b.opened() != (runs > 1)) open();
    }
  }
  EXPECT_FALSE(app_->wants_quit());
  Press({.key = GLFW_KEY_Q, .ctrl = true});
  EXPECT_TRUE(app_->wants_quit());
}

TEST_F(HeadlessTest, KeysMoveTheClock) {
  ASSERT_EQ(StartRun(RunOf("replay_easy_node_events")), absl::OkStatus());
  SettledFrames();
  Press(GLFW_KEY_HOME);
  EXPECT_EQ(timeline().cursor().time, SimTime());
  // The start is the end of its instant.
  const uint64_t next = state().a.session->clock()->LastRecordAt(SimTime()) + 1;
  Press(GLFW_KEY_RIGHT);
  EXPECT_EQ(timeline().cursor().record, std::optional<uint64_t>(next));
  Press(GLFW_KEY_RIGHT);
  Press(GLFW_KEY_LEFT);
  EXPECT_EQ(timeline().cursor().record, std::optional<uint64_t>(next));
  Press({.key = GLFW_KEY_RIGHT, .shift = true});
  ASSERT_THAT(state().a.overview->events, Not(IsEmpty()));
  EXPECT_EQ(timeline().cursor().time, state().a.overview->events.front().at.time);
  Press(GLFW_KEY_B);
  ASSERT_EQ(timeline().bookmarks().size(), 1u);
  Press(GLFW_KEY_END);
  EXPECT_EQ(timeline().cursor().time, timeline().end());
  Press({.key = GLFW_KEY_LEFT, .ctrl = true});
  EXPECT_EQ(timeline().cursor(), timeline().bookmarks().front().at);
  Press({.key = GLFW_KEY_LEFT, .ctrl = true});
  EXPECT_THAT(NoticeTexts(), HasSubstr("No bookmark before"));
  RunCommand("remove_bookmark", app_.get());
  EXPECT_TRUE(timeline().bookmarks().empty());
  RunCommand("remove_bookmark", app_.get());
  EXPECT_THAT(NoticeTexts(), HasSubstr("No bookmark at this moment"));
  const SimTime before = timeline().cursor().time;
  Press(GLFW_KEY_SPACE);
  EXPECT_TRUE(timeline().playing());
  EXPECT_TRUE(app_->animating());
  Frames(10);
  EXPECT_GT(timeline().cursor().time, before);
  Press(GLFW_KEY_SPACE);
  EXPECT_FALSE(timeline().playing());
}

TEST_F(HeadlessTest, AFillIsPlayedByRecords) {
  ASSERT_EQ(StartRun(RunOf("seeded_fill_best_fit")), absl::OkStatus());
  SettledFrames();
  ASSERT_TRUE(state().a.overview->by_record);
  Press(GLFW_KEY_HOME);
  timeline().SetSpeed(1);
  Press(GLFW_KEY_SPACE);
  // Ten records a second at 1x, so a second of frames is far from the end.
  Frames(60);
  EXPECT_GE(timeline().cursor().time.ns(), 8);
  EXPECT_LE(timeline().cursor().time.ns(), 12);
  EXPECT_TRUE(timeline().playing());
}

TEST_F(HeadlessTest, AttemptsBeyondTheCursorAreFound) {
  AppOptions options;
  options.path_a = RunOf("replay_gpu_packing_backlog");
  ASSERT_EQ(Start(options), absl::OkStatus());
  SettledFrames();
  // The pod with the most attempts.
  timeline().MoveTo({timeline().end()});
  SettledFrames();
  const view::PodTable& pods = state().a.snapshot->pods;
  size_t most = 0;
  for (size_t i = 1; i < pods.rows(); ++i) {
    if (pods.row(i).attempts_failed > pods.row(most).attempts_failed) most = i;
  }
  ASSERT_GT(pods.row(most).attempts_failed, 0u);
  const SimTime arrival = pods.row(most).arrival;
  state().Select({ObjectKind::kPod, std::string(pods.name(most))});
  timeline().MoveTo({SimTime()});
  SettledFrames();
  RunCommand("step_attempts", app_.get());
  std::vector<SimTime> places;
  for (int i = 0; i < 3; ++i) {
    Press(GLFW_KEY_RIGHT);
    SettledFrames();
    places.push_back(timeline().cursor().time);
  }
  EXPECT_GE(places[0], arrival);
  EXPECT_LT(places[0], places[1]);
  // The inspector shows the moment of the cursor again, not the end.
  const auto& shown = state().a.inspections[static_cast<size_t>(ObjectKind::kPod)];
  ASSERT_NE(shown, nullptr);
  EXPECT_EQ(shown->request.at.time, timeline().cursor().time);
}

TEST_F(HeadlessTest, PodsAndClaimsBringTheirNode) {
  ASSERT_EQ(StartRun(RunOf("replay_dra_mig")), absl::OkStatus());
  SettledFrames();
  const std::string first = state().node;
  ASSERT_FALSE(first.empty());
  const RunSnapshot& run = *state().a.snapshot;
  const auto on_another_node = [&](size_t pod) {
    return run.pods.row(pod).phase == PodPhase::kBound && run.pods.node(pod) != first;
  };
  size_t pod = 0;
  while (pod < run.pods.rows() && !on_another_node(pod)) ++pod;
  ASSERT_LT(pod, run.pods.rows());
  const ObjectRef selected = {ObjectKind::kPod, std::string(run.pods.name(pod))};
  const std::string node(run.pods.node(pod));
  state().Select(selected);
  SettledFrames();
  EXPECT_EQ(state().node, node);
  const auto& slots = state().a.inspections[static_cast<size_t>(ObjectKind::kNode)];
  ASSERT_NE(slots, nullptr);
  EXPECT_EQ(slots->request.object.name, node);
  // Another node may be looked at; the pod brings its own when it is selected again.
  state().Select({ObjectKind::kNode, first});
  SettledFrames();
  EXPECT_EQ(state().node, first);
  state().Select(selected);
  SettledFrames();
  EXPECT_EQ(state().node, node);
  // A claim that is allocated.
  const view::ClaimTable& claims = state().a.snapshot->claims;
  size_t claim = 0;
  while (claim < claims.rows() &&
         (claims.row(claim).node.empty() || claims.row(claim).node == node)) {
    ++claim;
  }
  ASSERT_LT(claim, claims.rows());
  const std::string of_claim = claims.row(claim).node;
  state().Select({ObjectKind::kClaim, claims.row(claim).name});
  SettledFrames();
  EXPECT_EQ(state().node, of_claim);
}

TEST_F(HeadlessTest, TheFocusedPanelGetsTheKeys) {
  ASSERT_EQ(StartRun(RunOf("mig_static_repartition")), absl::OkStatus());
  SettledFrames();
  Press(GLFW_KEY_2);
  EXPECT_EQ(state().focus, ViewKind::kPlots);
  Press(GLFW_KEY_W);
  EXPECT_FALSE(timeline().shows_everything());
  Press(GLFW_KEY_F);
  EXPECT_TRUE(timeline().shows_everything());
  Press(GLFW_KEY_1);
  EXPECT_EQ(state().focus, ViewKind::kMap);
  Press(GLFW_KEY_W);
  EXPECT_TRUE(timeline().shows_everything());
  EXPECT_GT(state().map.zoom, 1);
  Press(GLFW_KEY_F);
  EXPECT_EQ(state().map.zoom, 1);
  Press(GLFW_KEY_4);
  EXPECT_TRUE(state().views.Has(ViewKind::kNodes));
  EXPECT_TRUE(PlacedViews().contains(ViewKind::kNodes));
  // Node and inspector share a key.
  Press(GLFW_KEY_7);
  const std::optional<size_t> first = app_->layout().focused_panel();
  Press(GLFW_KEY_7);
  EXPECT_NE(app_->layout().focused_panel(), first);
  Press(GLFW_KEY_7);
  EXPECT_EQ(app_->layout().focused_panel(), first);
}

TEST_F(HeadlessTest, TheThemeAndScaleChangeAndTheHistoryGoesBack) {
  ASSERT_EQ(StartRun(RunOf("replay_random")), absl::OkStatus());
  SettledFrames();
  Press({.key = GLFW_KEY_T, .ctrl = true});
  EXPECT_EQ(state().looks.theme, view::ThemeKind::kLight);
  Press({.key = GLFW_KEY_EQUAL, .ctrl = true});
  EXPECT_EQ(state().looks.scale, 1.25F);
  for (int i = 0; i < 20; ++i) Press({.key = GLFW_KEY_MINUS, .ctrl = true});
  EXPECT_EQ(state().looks.scale, 1);
  state().Select({ObjectKind::kNode, "node-000000"});
  state().Select({ObjectKind::kNode, "node-000001"});
  Frames();
  Press({.key = GLFW_KEY_LEFT, .alt = true});
  EXPECT_EQ(state().selected.name, "node-000000");
  EXPECT_EQ(state().node, "node-000000");
  Press({.key = GLFW_KEY_RIGHT, .alt = true});
  EXPECT_EQ(state().selected.name, "node-000001");
}

// --- Lists and forms ---

TEST_F(HeadlessTest, ATypedTimeIsGoneToAndErrorsStay) {
  ASSERT_EQ(StartRun(RunOf("replay_random")), absl::OkStatus());
  SettledFrames();
  Press(GLFW_KEY_G);
  EXPECT_EQ(app_->layout().overlay(), Overlay::kGoTo);
  Frames(2);
  const SimTime before = timeline().cursor().time;
  Type("never");
  Press(GLFW_KEY_ENTER);
  EXPECT_EQ(app_->layout().overlay(), Overlay::kGoTo);
  EXPECT_EQ(timeline().cursor().time, before);
  Press(GLFW_KEY_ESCAPE);
  Press(GLFW_KEY_G);
  Frames(2);
  Type("25%");
  EXPECT_FALSE(timeline().playing());
  Press(GLFW_KEY_ENTER);
  EXPECT_EQ(app_->layout().overlay(), Overlay::kNone);
  EXPECT_EQ(timeline().cursor().time.ns(), timeline().end().ns() / 4);
}

TEST_F(HeadlessTest, FindsObjectsAndDoesCommands) {
  ASSERT_EQ(StartRun(RunOf("replay_random")), absl::OkStatus());
  SettledFrames();
  const std::string pod(state().a.snapshot->pods.name(3));
  Press({.key = GLFW_KEY_P, .ctrl = true});
  Frames(2);
  Type(pod);
  Press(GLFW_KEY_ENTER);
  EXPECT_EQ(state().selected, (ObjectRef{ObjectKind::kPod, pod}));
  EXPECT_EQ(app_->layout().overlay(), Overlay::kNone);

  Press({.key = GLFW_KEY_P, .ctrl = true});
  Frames(2);
  Type("light theme");
  Press(GLFW_KEY_ENTER);
  EXPECT_EQ(state().looks.theme, view::ThemeKind::kLight);

  // A command that opens another list.
  Press({.key = GLFW_KEY_P, .ctrl = true});
  Frames(2);
  Type("keys");
  Press(GLFW_KEY_ENTER);
  EXPECT_EQ(app_->layout().overlay(), Overlay::kKeys);
  Press(GLFW_KEY_ESCAPE);
}

TEST_F(HeadlessTest, AScenarioKeyIsChangedAndRunAsB) {
  ASSERT_EQ(StartRun(RunOf("replay_random")), absl::OkStatus());
  SettledFrames();
  Press({.key = GLFW_KEY_P, .ctrl = true});
  Frames(2);
  Type("seed");
  Press(GLFW_KEY_ENTER);
  ASSERT_EQ(app_->layout().overlay(), Overlay::kFind) << "the form of the value";
  Frames(3);
  Type("1");
  Press(GLFW_KEY_ENTER);
  EXPECT_EQ(app_->layout().overlay(), Overlay::kNone);
  ASSERT_EQ(app_->Settle(), absl::OkStatus());
  SettledFrames();
  ASSERT_TRUE(state().comparing());
  EXPECT_NE(state().a.overview->fingerprint, state().b.overview->fingerprint);
  EXPECT_TRUE(state().views.Has(ViewKind::kCompare));
}

TEST_F(HeadlessTest, TypingTakesPlainKeysFromCommands) {
  ASSERT_EQ(StartRun(RunOf("replay_random")), absl::OkStatus());
  SettledFrames();
  Press({.key = GLFW_KEY_P, .ctrl = true});
  Frames(2);
  Press(GLFW_KEY_SPACE);
  EXPECT_FALSE(timeline().playing());
  Press({.key = GLFW_KEY_P, .ctrl = true});
  EXPECT_EQ(app_->layout().overlay(), Overlay::kNone) << "again closes it";
  Press(GLFW_KEY_SPACE);
  EXPECT_TRUE(timeline().playing());
}

TEST_F(HeadlessTest, ExportsPanelsAndTheWindow) {
  const TempDir dir;
  {
    std::ifstream file(absl::StrCat(RunOf("replay_random"), "/ledger"), std::ios::binary);
    dir.Write("ledger",
              std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()));
  }
  ASSERT_EQ(StartRun(dir.path()), absl::OkStatus());
  SettledFrames();
  Press(GLFW_KEY_3);
  SettledFrames();
  const std::optional<size_t> pods = app_->layout().focused_panel();
  ASSERT_TRUE(pods.has_value());
  const std::vector<PanelExport> files = app_->panels()[*pods]->Exports(state());
  ASSERT_THAT(files, Not(IsEmpty()));
  for (int i = 0; i < 2; ++i) {
    Press({.key = GLFW_KEY_E, .ctrl = true});
    EXPECT_EQ(app_->layout().overlay(), Overlay::kExports);
    Press(GLFW_KEY_ENTER);
    EXPECT_EQ(app_->layout().overlay(), Overlay::kNone);
  }
  EXPECT_EQ(dir.Read(files[0].name), files[0].content);
  EXPECT_THAT(NoticeTexts(), HasSubstr(dir.PathOf(files[0].name)));
  EXPECT_EQ(dir.List("").size(), 3u) << "a second export gets a name of its own";

  // The picture is taken of a frame without the list.
  Press({.key = GLFW_KEY_E, .ctrl = true});
  for (size_t i = 0; i < files.size(); ++i) Press(GLFW_KEY_DOWN);
  ImGui::GetIO().KeysDown[GLFW_KEY_ENTER] = true;
  Frames(1);
  ImGui::GetIO().KeysDown[GLFW_KEY_ENTER] = false;
  EXPECT_EQ(app_->TakePictureWish(), std::nullopt);
  EXPECT_TRUE(app_->animating());
  Frames(1);
  EXPECT_EQ(app_->TakePictureWish(), (PictureWish{dir.PathOf("window.png"), std::nullopt}));
  EXPECT_EQ(app_->TakePictureWish(), std::nullopt);

  // Behind it stands a picture of the panel.
  Press({.key = GLFW_KEY_E, .ctrl = true});
  for (size_t i = 0; i < files.size() + 1; ++i) Press(GLFW_KEY_DOWN);
  ImGui::GetIO().KeysDown[GLFW_KEY_ENTER] = true;
  Frames(1);
  ImGui::GetIO().KeysDown[GLFW_KEY_ENTER] = false;
  Frames(1);
  const std::optional<PictureWish> wish = app_->TakePictureWish();
  ASSERT_TRUE(wish.has_value());
  EXPECT_EQ(wish->path, dir.PathOf("pods.png"));
  std::optional<view::Rect> rect;
  for (const AppView::PlacedPanel& placed : app_->layout().placed()) {
    if (placed.panel == *pods) rect = placed.rect;
  }
  EXPECT_EQ(wish->part, rect);
}

TEST(FreePathTest, NumbersComeBeforeTheEnding) {
  const TempDir dir;
  EXPECT_EQ(FreePath(dir.path(), "pods.csv"), dir.PathOf("pods.csv"));
  dir.Write("pods.csv", "");
  EXPECT_EQ(FreePath(dir.path(), "pods.csv"), dir.PathOf("pods-2.csv"));
  dir.Write("pods-2.csv", "");
  EXPECT_EQ(FreePath(dir.path(), "pods.csv"), dir.PathOf("pods-3.csv"));
  dir.Write("plain", "");
  EXPECT_EQ(FreePath(dir.path(), "plain"), dir.PathOf("plain-2"));
}

TEST_F(HeadlessTest, CommandLinesAreCopied) {
  ASSERT_EQ(StartRun(RunOf("replay_random")), absl::OkStatus());
  SettledFrames();
  const std::string pod(state().a.snapshot->pods.name(0));
  state().Select({ObjectKind::kPod, pod});
  timeline().MoveTo({SimTime(60'000'000'000)});
  Frames();
  Press(GLFW_KEY_C);
  EXPECT_EQ(copied_, absl::StrCat("drasim-gui --at 1m --view map,plots,pods,inspect --select ", pod,
                                  " ", RunOf("replay_random")));
  Press(GLFW_KEY_E);
  EXPECT_EQ(copied_,
            absl::StrCat("drasim explain ", RunOf("replay_random"), " --pod ", pod, " --at 1m"));
  RunCommand("report", app_.get());
  EXPECT_THAT(copied_, HasSubstr("--out report.html --at 1m"));
}

TEST_F(HeadlessTest, NoticesGoAndErrorsStay) {
  ASSERT_EQ(Start({}), absl::OkStatus());
  app_->Notify("done");
  app_->Notify("done");
  app_->Notify("failed", /*error=*/true);
  Frames();
  EXPECT_EQ(state().notices.size(), 2u) << "the same twice is one notice";
  Frames(static_cast<int>(9 * kSecondNs / kFrameTime.ns()));
  ASSERT_EQ(state().notices.size(), 1u);
  EXPECT_EQ(state().notices.front().text, "failed");
  Click(400, 990);
  EXPECT_THAT(state().notices, IsEmpty());
  app_->Notify("failed", /*error=*/true);
  Frames();
  Press(GLFW_KEY_ESCAPE);
  EXPECT_THAT(state().notices, IsEmpty());
}

// --- The timeline ---

TEST_F(HeadlessTest, DraggingTheScrubberSeeks) {
  ASSERT_EQ(StartRun(RunOf("replay_easy_node_events")), absl::OkStatus());
  SettledFrames();
  ImGuiIO& io = ImGui::GetIO();
  io.MousePos = ImVec2(900, 80);
  Frames(2);
  io.MouseDown[0] = true;
  Frames(1);
  const SimTime pressed = timeline().cursor().time;
  EXPECT_GT(pressed, SimTime());
  EXPECT_LT(pressed, timeline().end());
  io.MousePos.x = 1100;
  Frames(1);
  EXPECT_GT(timeline().cursor().time, pressed);
  io.MousePos.x = 5000;
  Frames(1);
  EXPECT_EQ(timeline().cursor().time, timeline().end());
  io.MouseDown[0] = false;
  Frames(1);
  io.MousePos = ImVec2(900, 80);
  io.MouseWheel = 1;
  Frames(2);
  EXPECT_FALSE(timeline().shows_everything());
}

// --- Two runs ---

TEST_F(HeadlessTest, TwoRunsShareTheClock) {
  ASSERT_EQ(StartRun(RunOf("replay_random"), RunOf("replay_dotprod_bind_latency")),
            absl::OkStatus());
  SettledFrames();
  ASSERT_TRUE(state().comparing());
  ASSERT_NE(state().comparison, nullptr);
  ASSERT_NE(state().comparison->result(), nullptr);
  EXPECT_EQ(timeline().end(), std::max(state().a.overview->end, state().b.overview->end));
  timeline().MoveTo({SimTime(timeline().end().ns() / 3)});
  SettledFrames();
  EXPECT_EQ(state().a.snapshot->request.at.time,
            std::min(timeline().cursor().time, state().a.overview->end));
  EXPECT_EQ(state().b.snapshot->request.at.time,
            std::min(timeline().cursor().time, state().b.overview->end));
  const auto& divergences = state().comparison->result()->divergences;
  ASSERT_THAT(divergences, Not(IsEmpty()));
  timeline().MoveTo({SimTime()});
  const auto next = std::find_if(divergences.begin(), divergences.end(),
                                 [](const view::TimeTarget& at) { return at.time > SimTime(); });
  ASSERT_NE(next, divergences.end());
  Press(GLFW_KEY_N);
  EXPECT_EQ(timeline().cursor().time, next->time);
  EXPECT_EQ(state().selected.kind, ObjectKind::kPod);
  Press(GLFW_KEY_P);
  EXPECT_LE(timeline().cursor().time, next->time);
  ExpectOrder();

  const SimTime at = timeline().cursor().time;
  Press({.key = GLFW_KEY_W, .ctrl = true});
  SettledFrames();
  EXPECT_FALSE(state().comparing());
  EXPECT_FALSE(state().views.Has(ViewKind::kCompare));
  EXPECT_EQ(timeline().end(), state().a.overview->end);
  EXPECT_EQ(timeline().cursor().time, std::min(at, timeline().end()));
}

}  // namespace headless_test
}  // namespace drasim::gui
