#include "gui/app/commands.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gui/app/app.h"
#include "gui/app/app_view.h"
#include "gui/app/command_line.h"
#include "gui/view/unit_text.h"

namespace drasim::gui {
namespace {

constexpr float kScaleStep = 0.25F;
constexpr float kLargestScale = 3;
constexpr int64_t kPan = 100;
constexpr float kMapZoom = 1.25F;
constexpr float kMapPan = 0.1F;

// --- Conditions ---

bool IsOpen(const App& app) {
  const RunSlot& a = app.state().a;
  return a.opened() && a.overview != nullptr;
}
bool HasB(const App& app) { return app.state().b.opened() || app.state().b.job != nullptr; }
bool Compares(const App& app) { return app.state().comparing(); }
bool HasPod(const App& app) { return IsOpen(app) && app.state().selected.kind == ObjectKind::kPod; }
bool CanGoBack(const App& app) { return app.state().CanGoBack(); }
bool CanGoForward(const App& app) { return app.state().CanGoForward(); }

RunJob* JobOf(const App& app) {
  for (const RunSlot* slot : {&app.state().a, &app.state().b}) {
    if (slot->job != nullptr && slot->session == nullptr) return slot->job.get();
  }
  return nullptr;
}
bool HasJob(const App& app) { return JobOf(app) != nullptr; }

// --- Actions ---

void CopyText(const std::string& text, absl::string_view what, App* app) {
  ImGui::SetClipboardText(text.c_str());
  app->Notify(absl::StrCat(what, " copied: ", text));
}

bool MapHasKeys(const App& app) { return app.state().focus == ViewKind::kMap; }

void ZoomBy(App* app, bool closer) {
  AppState& state = app->state();
  if (MapHasKeys(*app)) {
    state.map.zoom_by *= closer ? kMapZoom : 1 / kMapZoom;
  } else {
    state.timeline.Zoom(closer ? view::kZoomIn : view::kZoomOut, state.timeline.cursor().time);
  }
}

void PanBy(App* app, bool right) {
  AppState& state = app->state();
  if (MapHasKeys(*app)) {
    state.map.pan_by.x += right ? kMapPan : -kMapPan;
  } else {
    state.timeline.Pan(right ? kPan : -kPan);
  }
}

void Fit(App* app) {
  if (MapHasKeys(*app)) {
    app->state().map.Fit();
  } else {
    app->state().timeline.ShowEverything();
  }
}

void ScaleBy(App* app, float by) {
  Looks& looks = app->state().looks;
  looks.scale = std::clamp(looks.scale + by, 1.0F, kLargestScale);
  app->SaveSettings();
}

void Bookmark(App* app) {
  AppState& state = app->state();
  std::string name = state.a.overview->TimeText(state.timeline.cursor().time);
  if (state.selected.kind != ObjectKind::kNone) absl::StrAppend(&name, " ", state.selected.name);
  state.timeline.AddBookmark(name);
  app->SaveSettings();
  app->Notify(absl::StrCat("Bookmark at ", name));
}

void RemoveBookmark(App* app) {
  view::Timeline& timeline = app->state().timeline;
  for (size_t i = 0; i < timeline.bookmarks().size(); ++i) {
    if (timeline.bookmarks()[i].at != timeline.cursor()) continue;
    timeline.RemoveBookmark(i);
    app->SaveSettings();
    return app->Notify("Bookmark removed");
  }
  app->Notify("No bookmark at this moment");
}

void StepBookmark(App* app, bool forward) {
  AppState& state = app->state();
  if (state.timeline.StepBookmark(forward)) return;
  app->Notify(absl::StrCat("No bookmark ", forward ? "after" : "before", " this moment"));
}

void PlayOrPause(App* app) {
  view::Timeline& timeline = app->state().timeline;
  if (timeline.playing()) {
    timeline.Pause();
  } else {
    timeline.Play();
  }
}

void PauseOrResumeJob(App* app) {
  RunJob* const job = JobOf(*app);
  if (job == nullptr) return;
  if (job->progress().state == JobState::kPaused) {
    job->Resume();
  } else {
    job->Pause();
  }
}

void MoveToEnd(App* app) { app->state().timeline.MoveTo({app->state().timeline.end()}); }

template <ViewKind kView>
void FocusView(App* app) {
  app->state().views.Add(kView);
  app->layout().Focus(kView, app);
}

template <ViewKind kView>
void ToggleView(App* app) {
  AppState& state = app->state();
  if (!state.views.Has(kView)) {
    state.views.Add(kView);
    return;
  }
  state.views.Remove(kView);
  if (state.focus == kView) state.focus.reset();
}

template <ViewKind kView>
bool HasView(const App& app) {
  return app.state().views.Has(kView);
}

template <view::StepUnit kUnit>
void ChooseUnit(App* app) {
  app->state().step_unit = kUnit;
}
template <view::StepUnit kUnit>
bool HasUnit(const App& app) {
  return app.state().step_unit == kUnit;
}

template <int64_t kSeconds>
void ChooseTolerance(App* app) {
  app->state().tolerance = SimDuration::Seconds(kSeconds);
}
template <int64_t kSeconds>
bool HasTolerance(const App& app) {
  return app.state().tolerance == SimDuration::Seconds(kSeconds);
}

template <Overlay kOverlay>
void ShowOverlay(App* app) {
  app->layout().Show(kOverlay);
}

constexpr KeyChord Key(int key) { return {.key = key}; }
constexpr KeyChord Ctrl(int key) { return {.key = key, .ctrl = true}; }
constexpr KeyChord Shift(int key) { return {.key = key, .shift = true}; }
constexpr KeyChord Alt(int key) { return {.key = key, .alt = true}; }

std::vector<Command> FileCommands() {
  return {
      {.id = "open",
       .menu = Menu::kFile,
       .title = "Open a ledger, a folder or a scenario...",
       .key = Ctrl(GLFW_KEY_O),
       .run = ShowOverlay<Overlay::kOpenA>},
      {.id = "open_b",
       .menu = Menu::kFile,
       .title = "Open B to compare...",
       .key = {.key = GLFW_KEY_O, .ctrl = true, .shift = true},
       .enabled = IsOpen,
       .run = ShowOverlay<Overlay::kOpenB>},
      {.id = "run_scenario",
       .menu = Menu::kFile,
       .title = "Run a scenario...",
       .key = Ctrl(GLFW_KEY_N),
       .run = ShowOverlay<Overlay::kOpenA>},
      {.id = "close_b",
       .menu = Menu::kFile,
       .title = "Close B",
       .key = Ctrl(GLFW_KEY_W),
       .enabled = HasB,
       .run = [](App* app) { app->CloseB(); }},
      {.id = "close",
       .menu = Menu::kFile,
       .title = "Close all runs",
       .enabled = IsOpen,
       .run = [](App* app) { app->CloseA(); }},
      {.id = "quit",
       .menu = Menu::kFile,
       .title = "Quit",
       .key = Ctrl(GLFW_KEY_Q),
       .run = [](App* app) { app->Quit(); }},
  };
}

std::vector<Command> RunCommands() {
  return {
      {.id = "play",
       .menu = Menu::kRun,
       .title = "Play or pause",
       .key = Key(GLFW_KEY_SPACE),
       .enabled = IsOpen,
       .run = PlayOrPause},
      {.id = "back",
       .menu = Menu::kRun,
       .title = "Step back",
       .key = Key(GLFW_KEY_LEFT),
       .enabled = IsOpen,
       .run = [](App* app) { app->Step(app->state().step_unit, false); },
       .repeats = true},
      {.id = "forward",
       .menu = Menu::kRun,
       .title = "Step forward",
       .key = Key(GLFW_KEY_RIGHT),
       .enabled = IsOpen,
       .run = [](App* app) { app->Step(app->state().step_unit, true); },
       .repeats = true},
      {.id = "event_back",
       .menu = Menu::kRun,
       .title = "Previous event of the selected object",
       .key = Shift(GLFW_KEY_LEFT),
       .enabled = IsOpen,
       .run = [](App* app) { app->Step(view::StepUnit::kEvent, false); },
       .repeats = true},
      {.id = "event_forward",
       .menu = Menu::kRun,
       .title = "Next event of the selected object",
       .key = Shift(GLFW_KEY_RIGHT),
       .enabled = IsOpen,
       .run = [](App* app) { app->Step(view::StepUnit::kEvent, true); },
       .repeats = true},
      {.id = "bookmark_back",
       .menu = Menu::kRun,
       .title = "Previous bookmark",
       .key = Ctrl(GLFW_KEY_LEFT),
       .enabled = IsOpen,
       .run = [](App* app) { StepBookmark(app, false); }},
      {.id = "bookmark_forward",
       .menu = Menu::kRun,
       .title = "Next bookmark",
       .key = Ctrl(GLFW_KEY_RIGHT),
       .enabled = IsOpen,
       .run = [](App* app) { StepBookmark(app, true); }},
      {.id = "start",
       .menu = Menu::kRun,
       .title = "Go to the start",
       .key = Key(GLFW_KEY_HOME),
       .enabled = IsOpen,
       .run = [](App* app) { app->state().timeline.MoveTo({}); }},
      {.id = "end",
       .menu = Menu::kRun,
       .title = "Go to the end",
       .key = Key(GLFW_KEY_END),
       .enabled = IsOpen,
       .run = MoveToEnd},
      {.id = "go_to",
       .menu = Menu::kRun,
       .title = "Go to a time or record...",
       .key = Key(GLFW_KEY_G),
       .enabled = IsOpen,
       .run = ShowOverlay<Overlay::kGoTo>},
      {.id = "bookmark",
       .menu = Menu::kRun,
       .title = "Set a bookmark here",
       .key = Key(GLFW_KEY_B),
       .enabled = IsOpen,
       .run = Bookmark},
      {.id = "remove_bookmark",
       .menu = Menu::kRun,
       .title = "Remove the bookmark here",
       .enabled = IsOpen,
       .run = RemoveBookmark},
      {.id = "slower",
       .menu = Menu::kRun,
       .title = "Play slower",
       .key = Key(GLFW_KEY_COMMA),
       .run = [](App* app) { app->state().timeline.Slower(); },
       .repeats = true},
      {.id = "faster",
       .menu = Menu::kRun,
       .title = "Play faster",
       .key = Key(GLFW_KEY_PERIOD),
       .run = [](App* app) { app->state().timeline.Faster(); },
       .repeats = true},
      {.id = "step_records",
       .menu = Menu::kRun,
       .title = "Step by record",
       .run = ChooseUnit<view::StepUnit::kRecord>,
       .checked = HasUnit<view::StepUnit::kRecord>},
      {.id = "step_attempts",
       .menu = Menu::kRun,
       .title = "Step by attempt of the selected pod",
       .run = ChooseUnit<view::StepUnit::kAttempt>,
       .checked = HasUnit<view::StepUnit::kAttempt>},
      {.id = "step_events",
       .menu = Menu::kRun,
       .title = "Step by event of the selected object",
       .run = ChooseUnit<view::StepUnit::kEvent>,
       .checked = HasUnit<view::StepUnit::kEvent>},
      {.id = "step_divergences",
       .menu = Menu::kRun,
       .title = "Step by divergence of A and B",
       .run = ChooseUnit<view::StepUnit::kDivergence>,
       .checked = HasUnit<view::StepUnit::kDivergence>},
      {.id = "pause_run",
       .menu = Menu::kRun,
       .title = "Pause or resume the simulation",
       .enabled = HasJob,
       .run = PauseOrResumeJob},
      {.id = "cancel_run",
       .menu = Menu::kRun,
       .title = "Cancel the simulation",
       .enabled = HasJob,
       .run =
           [](App* app) {
             if (RunJob* const job = JobOf(*app)) job->Cancel();
           }},
  };
}

std::vector<Command> ViewCommands() {
  return {
      {.id = "map",
       .menu = Menu::kView,
       .title = "Panel: map",
       .key = Key(GLFW_KEY_1),
       .run = FocusView<ViewKind::kMap>},
      {.id = "plots",
       .menu = Menu::kView,
       .title = "Panel: plots",
       .key = Key(GLFW_KEY_2),
       .run = FocusView<ViewKind::kPlots>},
      {.id = "pods",
       .menu = Menu::kView,
       .title = "Panel: pods",
       .key = Key(GLFW_KEY_3),
       .run = FocusView<ViewKind::kPods>},
      {.id = "nodes",
       .menu = Menu::kView,
       .title = "Panel: nodes",
       .key = Key(GLFW_KEY_4),
       .run = FocusView<ViewKind::kNodes>},
      {.id = "claims",
       .menu = Menu::kView,
       .title = "Panel: claims",
       .key = Key(GLFW_KEY_5),
       .run = FocusView<ViewKind::kClaims>},
      {.id = "tenants",
       .menu = Menu::kView,
       .title = "Panel: tenants",
       .key = Key(GLFW_KEY_6),
       .run = FocusView<ViewKind::kTenants>},
      {.id = "inspect",
       .menu = Menu::kView,
       .title = "Panel: node and inspector",
       .key = Key(GLFW_KEY_7),
       .run = FocusView<ViewKind::kInspect>},
      {.id = "show_map",
       .menu = Menu::kView,
       .title = "Show the map",
       .run = ToggleView<ViewKind::kMap>,
       .checked = HasView<ViewKind::kMap>},
      {.id = "show_plots",
       .menu = Menu::kView,
       .title = "Show plots",
       .run = ToggleView<ViewKind::kPlots>,
       .checked = HasView<ViewKind::kPlots>},
      {.id = "show_pods",
       .menu = Menu::kView,
       .title = "Show pods",
       .run = ToggleView<ViewKind::kPods>,
       .checked = HasView<ViewKind::kPods>},
      {.id = "show_nodes",
       .menu = Menu::kView,
       .title = "Show nodes",
       .run = ToggleView<ViewKind::kNodes>,
       .checked = HasView<ViewKind::kNodes>},
      {.id = "show_claims",
       .menu = Menu::kView,
       .title = "Show claims",
       .run = ToggleView<ViewKind::kClaims>,
       .checked = HasView<ViewKind::kClaims>},
      {.id = "show_tenants",
       .menu = Menu::kView,
       .title = "Show tenants",
       .run = ToggleView<ViewKind::kTenants>,
       .checked = HasView<ViewKind::kTenants>},
      {.id = "show_inspect",
       .menu = Menu::kView,
       .title = "Show node and inspector",
       .run = ToggleView<ViewKind::kInspect>,
       .checked = HasView<ViewKind::kInspect>},
      {.id = "zoom_in",
       .menu = Menu::kView,
       .title = "Zoom in (plots, or the map if it has the keys)",
       .key = Key(GLFW_KEY_W),
       .run = [](App* app) { ZoomBy(app, true); },
       .other_key = Key(GLFW_KEY_KP_ADD),
       .repeats = true},
      {.id = "zoom_out",
       .menu = Menu::kView,
       .title = "Zoom out",
       .key = Key(GLFW_KEY_S),
       .run = [](App* app) { ZoomBy(app, false); },
       .other_key = Key(GLFW_KEY_KP_SUBTRACT),
       .repeats = true},
      {.id = "pan_left",
       .menu = Menu::kView,
       .title = "Pan to the left",
       .key = Key(GLFW_KEY_A),
       .run = [](App* app) { PanBy(app, false); },
       .repeats = true},
      {.id = "pan_right",
       .menu = Menu::kView,
       .title = "Pan to the right",
       .key = Key(GLFW_KEY_D),
       .run = [](App* app) { PanBy(app, true); },
       .repeats = true},
      {.id = "fit",
       .menu = Menu::kView,
       .title = "Show everything",
       .key = Key(GLFW_KEY_F),
       .run = Fit},
      {.id = "follow",
       .menu = Menu::kView,
       .title = "A zoomed window follows the cursor",
       .run =
           [](App* app) {
             view::Timeline& timeline = app->state().timeline;
             timeline.SetMode(timeline.mode() == view::WindowMode::kFollow
                                  ? view::WindowMode::kStay
                                  : view::WindowMode::kFollow);
           },
       .checked =
           [](const App& app) { return app.state().timeline.mode() == view::WindowMode::kFollow; }},
      {.id = "history_back",
       .menu = Menu::kView,
       .title = "Back to the object before",
       .key = Alt(GLFW_KEY_LEFT),
       .enabled = CanGoBack,
       .run = [](App* app) { app->state().GoBack(); }},
      {.id = "history_forward",
       .menu = Menu::kView,
       .title = "Forward to the object after",
       .key = Alt(GLFW_KEY_RIGHT),
       .enabled = CanGoForward,
       .run = [](App* app) { app->state().GoForward(); }},
      {.id = "theme",
       .menu = Menu::kView,
       .title = "Dark or light theme",
       .key = Ctrl(GLFW_KEY_T),
       .run =
           [](App* app) {
             Looks& looks = app->state().looks;
             looks.theme = looks.theme == view::ThemeKind::kDark ? view::ThemeKind::kLight
                                                                 : view::ThemeKind::kDark;
             app->SaveSettings();
           }},
      {.id = "larger",
       .menu = Menu::kView,
       .title = "Larger",
       .key = Ctrl(GLFW_KEY_EQUAL),
       .run = [](App* app) { ScaleBy(app, kScaleStep); },
       .other_key = Ctrl(GLFW_KEY_KP_ADD)},
      {.id = "smaller",
       .menu = Menu::kView,
       .title = "Smaller",
       .key = Ctrl(GLFW_KEY_MINUS),
       .run = [](App* app) { ScaleBy(app, -kScaleStep); },
       .other_key = Ctrl(GLFW_KEY_KP_SUBTRACT)},
  };
}

std::vector<Command> OtherCommands() {
  return {
      {.id = "next_divergence",
       .menu = Menu::kCompare,
       .title = "Next divergence",
       .key = Key(GLFW_KEY_N),
       .enabled = Compares,
       .run = [](App* app) { app->Step(view::StepUnit::kDivergence, true); },
       .repeats = true},
      {.id = "previous_divergence",
       .menu = Menu::kCompare,
       .title = "Previous divergence",
       .key = Key(GLFW_KEY_P),
       .enabled = Compares,
       .run = [](App* app) { app->Step(view::StepUnit::kDivergence, false); },
       .repeats = true},
      {.id = "show_compare",
       .menu = Menu::kCompare,
       .title = "Show the comparison",
       .key = Key(GLFW_KEY_8),
       .enabled = Compares,
       .run = ToggleView<ViewKind::kCompare>,
       .checked = HasView<ViewKind::kCompare>},
      {.id = "tolerance_1s",
       .menu = Menu::kCompare,
       .title = "Starts diverge from 1 s on",
       .run = ChooseTolerance<1>,
       .checked = HasTolerance<1>},
      {.id = "tolerance_60s",
       .menu = Menu::kCompare,
       .title = "Starts diverge from 60 s on",
       .run = ChooseTolerance<60>,
       .checked = HasTolerance<60>},
      {.id = "tolerance_10m",
       .menu = Menu::kCompare,
       .title = "Starts diverge from 10 min on",
       .run = ChooseTolerance<600>,
       .checked = HasTolerance<600>},
      {.id = "export",
       .menu = Menu::kExport,
       .title = "Export this panel or the window...",
       .key = Ctrl(GLFW_KEY_E),
       .run = ShowOverlay<Overlay::kExports>},
      {.id = "copy_command",
       .menu = Menu::kExport,
       .title = "Copy this view as a command line",
       .key = Key(GLFW_KEY_C),
       .run = [](App* app) { CopyText(app->CommandLine(), "Command line", app); }},
      {.id = "explain",
       .menu = Menu::kExport,
       .title = "Explain the selected pod (copies the command)",
       .key = Key(GLFW_KEY_E),
       .enabled = HasPod,
       .run = [](App* app) { CopyText(ExplainCommandLine(app->state()), "Command line", app); }},
      {.id = "report",
       .menu = Menu::kExport,
       .title = "Copy the command of an HTML report",
       .enabled = IsOpen,
       .run = [](App* app) { CopyText(ReportCommandLine(app->state()), "Command line", app); }},
      {.id = "find",
       .menu = Menu::kHelp,
       .title = "Find or do anything",
       .key = Ctrl(GLFW_KEY_P),
       .run = ShowOverlay<Overlay::kFind>},
      {.id = "keys",
       .menu = Menu::kHelp,
       .title = "Keys",
       .key = Key(GLFW_KEY_F1),
       .run = ShowOverlay<Overlay::kKeys>},
  };
}

bool WasPressed(const KeyChord& chord, bool repeats) {
  const ImGuiIO& io = ImGui::GetIO();
  if (chord.key == 0 || io.KeyCtrl != chord.ctrl || io.KeyShift != chord.shift ||
      io.KeyAlt != chord.alt) {
    return false;
  }
  return ImGui::IsKeyPressed(chord.key, repeats);
}

// Chords that a text field leaves alone.
bool WorksWhileTyping(const KeyChord& chord) {
  if (chord.key >= GLFW_KEY_F1 && chord.key <= GLFW_KEY_F25) return true;
  return chord.ctrl && chord.key != GLFW_KEY_LEFT && chord.key != GLFW_KEY_RIGHT;
}

}  // namespace

absl::Span<const Command> Commands() {
  static const auto* const commands = [] {
    auto* const all = new std::vector<Command>;
    for (const auto& part : {FileCommands(), RunCommands(), ViewCommands(), OtherCommands()}) {
      all->insert(all->end(), part.begin(), part.end());
    }
    return all;
  }();
  return *commands;
}

const Command* FindCommand(absl::string_view id) {
  for (const Command& command : Commands()) {
    if (command.id == id) return &command;
  }
  return nullptr;
}

absl::string_view MenuName(Menu menu) {
  switch (menu) {
    case Menu::kFile:
      return "File";
    case Menu::kRun:
      return "Run";
    case Menu::kView:
      return "View";
    case Menu::kCompare:
      return "Compare";
    case Menu::kExport:
      return "Export";
    case Menu::kHelp:
      return "Help";
  }
  return "";
}

std::string KeyText(const KeyChord& chord) {
  if (chord.key == 0) return "";
  std::string text =
      absl::StrCat(chord.ctrl ? "Ctrl+" : "", chord.alt ? "Alt+" : "", chord.shift ? "Shift+" : "");
  struct Name {
    int key;
    absl::string_view name;
  };
  static constexpr std::array<Name, 13> kNames = {{{GLFW_KEY_SPACE, "Space"},
                                                   {GLFW_KEY_LEFT, "Left"},
                                                   {GLFW_KEY_RIGHT, "Right"},
                                                   {GLFW_KEY_UP, "Up"},
                                                   {GLFW_KEY_DOWN, "Down"},
                                                   {GLFW_KEY_HOME, "Home"},
                                                   {GLFW_KEY_END, "End"},
                                                   {GLFW_KEY_ESCAPE, "Escape"},
                                                   {GLFW_KEY_ENTER, "Enter"},
                                                   {GLFW_KEY_KP_ADD, "Keypad +"},
                                                   {GLFW_KEY_KP_SUBTRACT, "Keypad -"},
                                                   {GLFW_KEY_EQUAL, "+"},
                                                   {GLFW_KEY_MINUS, "-"}}};
  for (const Name& name : kNames) {
    if (name.key == chord.key) return absl::StrCat(text, name.name);
  }
  if (chord.key >= GLFW_KEY_F1 && chord.key <= GLFW_KEY_F25) {
    return absl::StrCat(text, "F", chord.key - GLFW_KEY_F1 + 1);
  }
  // The codes of letters, digits and signs are their ASCII codes.
  return text + static_cast<char>(chord.key);
}

void RunCommand(absl::string_view id, App* app) {
  const Command* const command = FindCommand(id);
  if (command == nullptr) return;
  if (command->enabled == nullptr || command->enabled(*app)) command->run(app);
}

void RunKeys(App* app) {
  // A list or form that is open takes the plain keys, as a text field does.
  const bool typing = ImGui::GetIO().WantTextInput || app->layout().overlay() != Overlay::kNone;
  for (const Command& command : Commands()) {
    for (const KeyChord& chord : {command.key, command.other_key}) {
      if (typing && !WorksWhileTyping(chord)) continue;
      if (!WasPressed(chord, command.repeats)) continue;
      if (command.enabled == nullptr || command.enabled(*app)) command.run(app);
      return;
    }
  }
}

}  // namespace drasim::gui
