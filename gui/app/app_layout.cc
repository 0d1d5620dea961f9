#include "gui/app/app_layout.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "gui/app/app.h"
#include "gui/app/commands.h"
#include "gui/app/export_list.h"
#include "gui/app/find_box.h"
#include "gui/app/key_help.h"
#include "gui/app/overlay_window.h"
#include "gui/app/panel.h"
#include "gui/app/plot_draw.h"
#include "gui/app/start_page.h"
#include "gui/app/text_draw.h"
#include "gui/app/timeline_bar.h"
#include "gui/app/widgets.h"
#include "gui/session/comparison_job.h"
#include "gui/session/run_job.h"
#include "gui/session/run_session.h"
#include "gui/view/compare_model.h"
#include "gui/view/palette.h"
#include "gui/view/unit_text.h"

namespace drasim::gui {
namespace {

using view::Rect;

constexpr size_t kNoticesInSight = 3;
constexpr SimDuration kNoticeAge = SimDuration::Seconds(8);
constexpr uint64_t kJobStep = 1000;
// Below these widths, in heights of a line, the header is abbreviated.
constexpr float kFullMenus = 84;
constexpr float kChipInEm = 16;
constexpr float kFindInEm = 20;

bool IsInMenu(const Command& command, Menu menu) { return command.menu == menu; }

void DrawMenuItems(Menu menu, App* app) {
  for (const Command& command : Commands()) {
    if (!IsInMenu(command, menu)) continue;
    const bool enabled = command.enabled == nullptr || command.enabled(*app);
    const bool checked = command.checked != nullptr && command.checked(*app);
    const std::string title(command.title);
    if (ImGui::MenuItem(title.c_str(), KeyText(command.key).c_str(), checked, enabled)) {
      command.run(app);
    }
  }
}

std::string CountText(int64_t count, absl::string_view noun) {
  return absl::StrCat(view::CommaText(count), " ", noun, count == 1 ? "" : "s");
}

// From the longest to the shortest.
std::vector<std::string> FiguresTexts(const RunOverview& run) {
  std::string text = CountText(run.pods, "pod");
  std::vector<std::string> texts = {text};
  const auto longer = [&](const std::string& more) {
    absl::StrAppend(&text, " · ", more);
    texts.push_back(text);
  };
  longer(CountText(run.nodes, "node"));
  longer(CountText(run.gpus, "GPU"));
  // A run in progress has no file yet.
  if (run.file_bytes > 0) {
    longer(view::ValueText(static_cast<double>(run.file_bytes), view::Unit::kBytes));
    longer(run.partial ? "partial" : absl::StrFormat("%016x", run.fingerprint));
  }
  std::reverse(texts.begin(), texts.end());
  return texts;
}

// `job`: of this window, or null. A run with a change has the name and the policy of the original
// run, so the change comes first.
std::string ChipText(const RunOverview& run, const RunJob* job) {
  const std::string name =
      run.policy.empty() ? run.name : absl::StrCat(run.name, " · ", run.policy);
  const bool repeats = job != nullptr && job->spec().scenario_path.empty();
  const std::string changes = repeats ? ChangesText(job->spec()) : "";
  return changes.empty() ? name : absl::StrCat(changes, " · ", name);
}

std::string JobText(absl::string_view letter, const RunJob& job, const JobProgress& progress) {
  std::string name = job.spec().scenario_path;
  if (name.empty()) name = ChangesText(job.spec());
  if (name.empty()) name = "the same scenario";
  std::string text = absl::StrCat(letter, ": ", name);
  if (progress.state == JobState::kStarting) return absl::StrCat(text, " is being read");
  absl::StrAppend(&text, progress.state == JobState::kPaused ? " pauses at " : " runs, ",
                  view::DurationText(SimDuration(progress.time.ns() / 1'000'000 * 1'000'000)));
  if (progress.pods_expected > 0) {
    absl::StrAppend(&text, " · ", view::CommaText(static_cast<int64_t>(progress.pods_arrived)),
                    " of ", CountText(static_cast<int64_t>(progress.pods_expected), "pod"));
  }
  if (!progress.begins.empty()) absl::StrAppend(&text, " · ", progress.begins);
  return text;
}

int KeyOfPanel(ViewKind view) { return static_cast<int>(view) + 1; }

}  // namespace

AppLayout::AppLayout()
    : timeline_(std::make_unique<TimelineBar>()),
      find_(std::make_unique<FindBox>()),
      start_(std::make_unique<StartPage>()),
      exports_(std::make_unique<ExportList>()) {}
AppLayout::~AppLayout() = default;

void AppLayout::Show(Overlay overlay) {
  overlay_ = overlay == overlay_ ? Overlay::kNone : overlay;
  overlay_is_new_ = overlay_ != Overlay::kNone;
}

bool AppLayout::animating() const { return find_->searching() || notices_fade_; }

// --- The window ---

std::unique_ptr<AppView> MakeAppView() { return std::make_unique<AppLayout>(); }

void AppLayout::TakeKeys(App* app) { RunKeys(app); }

void AppLayout::Draw(App* app, SimDuration elapsed) {
  AppState& state = app->state();
  raised_.resize(app->panels().size());
  FollowSelection(*app);
  FollowFocus(*app);
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos(ImVec2(0, 0));
  ImGui::SetNextWindowSize(display);
  const float em = ImGui::GetFontSize();
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, ImVec2(1, 1));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(em * 0.4F, std::round(em * 0.4F)));
  ImGui::PushStyleColor(ImGuiCol_WindowBg, Packed(state.theme().window));
  ImGui::Begin("##drasim", nullptr,
               ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                   ImGuiWindowFlags_MenuBar);
  DrawHeader(app);
  ImGui::PopStyleVar(5);
  ImGui::PopStyleColor();

  const float gap = PanelGap(em);
  float top = em + 2 * std::round(em * 0.4F) + gap;  // the menu bar, with the padding from above
  placed_.clear();
  const bool shows_run = state.error.empty() && (state.a.opened() || state.a.snapshot != nullptr);
  if (shows_run) {
    const Rect bar = {gap, top, std::max(display.x - 2 * gap, 1.0F), TimelineBar::Height()};
    timeline_->Draw(bar, app);
    top = bar.bottom() + gap;
  }
  top = DrawJobs(top, app);
  const float bottom = DrawNotices(app, elapsed);
  const Rect area = {gap, top, display.x - 2 * gap, bottom - gap - top};
  state.wants_tenants = false;
  state.wants_frame = false;
  state.wants_claim.clear();
  if (area.width > 2 * em && area.height > 2 * em) {
    if (shows_run && state.a.snapshot != nullptr) {
      DrawPanels(area, app);
    } else {
      DrawPage(area, app);
    }
  }
  // A click beside a list closes it.
  if (overlay_ != Overlay::kNone && ImGui::IsMouseClicked(0) &&
      ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows)) {
    overlay_ = Overlay::kNone;
  }
  ImGui::End();
  DrawOverlay(app);
}

// --- Header ---

void AppLayout::DrawMenus(bool compact, App* app) {
  if (compact && !ImGui::BeginMenu("Menu")) return;
  for (size_t i = 0; i < kMenus; ++i) {
    const auto menu = static_cast<Menu>(i);
    if (!ImGui::BeginMenu(std::string(MenuName(menu)).c_str())) continue;
    DrawMenuItems(menu, app);
    ImGui::EndMenu();
  }
  if (compact) ImGui::EndMenu();
}

void AppLayout::DrawHeader(App* app) {
  AppState& state = app->state();
  if (!ImGui::BeginMenuBar()) return;
  const view::Theme& theme = state.theme();
  const float em = ImGui::GetFontSize();
  const float width = ImGui::GetIO().DisplaySize.x;
  ImDrawList* const draw = ImGui::GetWindowDrawList();
  const float y = ImGui::GetCursorScreenPos().y + ImGui::GetStyle().FramePadding.y;
  DrawTextAt(ImVec2(em * 0.6F, y), theme.text, "drasim", state.fonts.strong, draw);
  ImGui::SetCursorPosX(em * 0.6F + TextWidth("drasim", state.fonts.strong) + em);
  DrawMenus(/*compact=*/width < kFullMenus * em, app);
  float x = ImGui::GetCursorPosX() + em;

  // The figures keep what the chips and the field leave at least.
  const float middle = (kChipInEm * 2 + kFindInEm / 2) * em;
  float right = width - em * 0.6F;
  if (state.a.overview != nullptr) {
    for (const std::string& text : FiguresTexts(*state.a.overview)) {
      const float left = right - TextWidth(text, state.fonts.small);
      if (left - x < middle) continue;
      DrawTextAt(ImVec2(left, y), theme.dim_text, text, state.fonts.small, draw);
      right = left - em;
      break;
    }
  }
  const bool has_a = state.a.opened() || state.a.job != nullptr;
  const bool has_b = state.b.opened() || state.b.job != nullptr;
  const float find_room = std::min(8 * em, (right - x) * 0.3F);
  if (has_a) x = DrawChip("A", 0, &state.a, x, right - find_room, &chips_[0], app);
  if (has_a)
    x = DrawChip("B", 1, has_b ? &state.b : nullptr, x, right - find_room, &chips_[1], app);
  float find_right = std::min(right, x + kFindInEm * em);
  DrawFind(x, find_right, app);
  if (state.comparing() && state.comparison != nullptr) {
    if (const auto result = state.comparison->result()) {
      const std::string text = view::ScenariosLine(result->keys);
      find_right += em;
      DrawTextAt(ImVec2(find_right, y), theme.dim_text,
                 FittingText(text, right - find_right, state.fonts.small), state.fonts.small, draw);
    }
  }
  ImGui::EndMenuBar();
}

// Returns where the next part begins. `slot` null: the offer to open B.
float AppLayout::DrawChip(const char* letter, size_t category, RunSlot* slot, float x, float right,
                          Chip* chip, App* app) {
  const AppState& state = app->state();
  const view::Theme& theme = state.theme();
  const float em = ImGui::GetFontSize();
  std::string text = "+ open B to compare";
  if (slot != nullptr) {
    if (chip->overview != slot->overview) {
      chip->overview = slot->overview;
      chip->text = slot->overview == nullptr ? "" : ChipText(*slot->overview, slot->job.get());
    }
    text = slot->overview != nullptr ? chip->text : slot->opened() ? "is being read" : "runs";
  }
  const float pad = em * 0.6F;
  const float mark = slot == nullptr ? 0 : em * 1.4F;
  const float most = std::min(right - x, kChipInEm * em);
  text = FittingText(text, most - 2 * pad - mark, nullptr);
  if (text.empty() && slot == nullptr) return x;
  const float width = TextWidth(text, nullptr) + 2 * pad + mark;
  const float top = ImGui::GetCursorScreenPos().y + 2;
  const Rect box = {x, top, width, ImGui::GetFrameHeight() - 4};
  ImGui::SetCursorScreenPos(Corner(box));
  const ImVec2 size(std::max(box.width, 1.0F), std::max(box.height, 1.0F));
  const bool clicked = ImGui::InvisibleButton(absl::StrCat("##chip", letter).c_str(), size);
  const bool hovered = ImGui::IsItemHovered();
  ImDrawList* const draw = ImGui::GetWindowDrawList();
  const float text_y = top - 2 + ImGui::GetStyle().FramePadding.y;
  if (slot == nullptr) {
    draw->AddRect(Corner(box), FarCorner(box), Packed(theme.grid), 3);
  } else {
    draw->AddRectFilled(Corner(box), FarCorner(box),
                        Packed(view::Blend(theme.panel, theme.categories[category], 200)), 2);
    draw->AddRectFilled(Corner(box), ImVec2(box.x + 3, box.bottom()),
                        Packed(theme.categories[category]));
    DrawTextAt(ImVec2(x + pad, text_y), theme.text, letter, state.fonts.strong, draw);
  }
  DrawTextAt(ImVec2(x + pad + mark, text_y),
             hovered || slot != nullptr ? theme.text : theme.dim_text, text, nullptr, draw);
  if (hovered && slot != nullptr && slot->session != nullptr) {
    ImGui::SetTooltip("%s", slot->session->path().c_str());
  }
  if (clicked) RunCommand(category == 0 ? "open" : "open_b", app);
  ImGui::SetCursorScreenPos(ImVec2(box.right() + em * 0.5F, top - 2));
  return box.right() + em * 0.5F;
}

// Looks like a field, and opens the list in which names are typed.
void AppLayout::DrawFind(float x, float right, App* app) {
  const AppState& state = app->state();
  const float em = ImGui::GetFontSize();
  if (right - x < 4 * em) return;
  const float top = ImGui::GetCursorScreenPos().y + 2;
  const Rect box = {x, top, right - x, ImGui::GetFrameHeight() - 4};
  ImGui::SetCursorScreenPos(Corner(box));
  if (ImGui::InvisibleButton("##findfield", ImVec2(box.width, std::max(box.height, 1.0F)))) {
    RunCommand("find", app);
  }
  ImDrawList* const draw = ImGui::GetWindowDrawList();
  draw->AddRectFilled(Corner(box), FarCorner(box), Packed(state.theme().panel), 3);
  draw->AddRect(Corner(box), FarCorner(box), Packed(state.theme().grid), 3);
  const float text_y = top - 2 + ImGui::GetStyle().FramePadding.y;
  const float key = TextWidth("Ctrl+P", state.fonts.small);
  const float room = box.width - key - 2 * em;
  absl::string_view hint = "Find a pod, node, claim, or do ...";
  if (TextWidth(hint, nullptr) > room) hint = "Find ...";
  DrawTextAt(ImVec2(x + em * 0.6F, text_y), state.theme().dim_text,
             FittingText(hint, room, nullptr), nullptr, draw);
  DrawTextAt(ImVec2(right - key - em * 0.5F, text_y), state.theme().dim_text, "Ctrl+P",
             state.fonts.small, draw);
}

// --- Runs in progress, notices ---

// Returns where the rest begins.
float AppLayout::DrawJobs(float top, App* app) {
  AppState& state = app->state();
  const float em = ImGui::GetFontSize();
  const float gap = PanelGap(em);
  const float width = ImGui::GetIO().DisplaySize.x - 2 * gap;
  ImDrawList* const draw = ImGui::GetWindowDrawList();
  for (const bool as_b : {false, true}) {
    RunSlot& slot = as_b ? state.b : state.a;
    if (slot.job == nullptr || slot.session != nullptr) continue;
    const JobProgress progress = slot.job->progress();
    const Rect row = {gap, top, width, std::round(1.9F * em)};
    draw->AddRectFilled(Corner(row), FarCorner(row), Packed(state.theme().panel));
    if (progress.pods_expected > 0) {
      const double share = std::min(1.0, static_cast<double>(progress.pods_arrived) /
                                             static_cast<double>(progress.pods_expected));
      draw->AddRectFilled(
          Corner(row), ImVec2(row.x + row.width * static_cast<float>(share), row.bottom()),
          Packed(view::Blend(state.theme().panel, state.theme().categories[as_b ? 1 : 0], 350)));
    }
    ImGui::PushID(as_b ? "job b" : "job a");
    const float buttons = 17 * em;
    const std::string text = FittingText(JobText(as_b ? "B" : "A", *slot.job, progress),
                                         row.width - buttons - em, nullptr);
    DrawTextAt(ImVec2(row.x + em / 2, row.y + (row.height - em) / 2), state.theme().text, text,
               nullptr, draw);
    ImGui::SetCursorScreenPos(ImVec2(std::max(row.x, row.right() - buttons),
                                     row.y + (row.height - ImGui::GetFrameHeight()) / 2));
    const bool paused = progress.state == JobState::kPaused;
    if (ImGui::Button(paused ? "Resume" : "Pause")) {
      if (paused) {
        slot.job->Resume();
      } else {
        slot.job->Pause();
      }
    }
    ImGui::SameLine();
    if (ImGui::Button("Step")) {
      if (!paused) slot.job->Pause();
      slot.job->Step(kJobStep);
    }
    ImGui::SameLine();
    if (ImGui::Button("Cancel")) slot.job->Cancel();
    ImGui::PopID();
    top = row.bottom() + gap;
  }
  return top;
}

// Returns the upper edge of the notices: the lower edge of the parts above.
float AppLayout::DrawNotices(App* app, SimDuration elapsed) {
  AppState& state = app->state();
  std::vector<Notice>& notices = state.notices;
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  if (notices.size() != notices_seen_) notices_age_ = SimDuration();
  notices_age_ = notices_age_ + elapsed;
  if (notices_age_ > kNoticeAge) {
    notices.erase(std::remove_if(notices.begin(), notices.end(),
                                 [](const Notice& notice) { return !notice.error; }),
                  notices.end());
  }
  if (overlay_ == Overlay::kNone && EscapePressed()) notices.clear();
  notices_seen_ = notices.size();
  notices_fade_ = std::any_of(notices.begin(), notices.end(),
                              [](const Notice& notice) { return !notice.error; });
  const float em = ImGui::GetFontSize();
  const float gap = PanelGap(em);
  const float height = std::round(1.7F * em);
  ImDrawList* const draw = ImGui::GetWindowDrawList();
  float bottom = display.y;
  std::optional<size_t> closed;
  for (size_t n = 0; n < std::min(notices.size(), kNoticesInSight); ++n) {
    const size_t i = notices.size() - 1 - n;
    const Rect row = {gap, bottom - gap - height, std::max(display.x - 2 * gap, 1.0F), height};
    const view::Theme& theme = state.theme();
    const Rgb tint = notices[i].error ? theme.stranded : theme.categories[0];
    draw->AddRectFilled(Corner(row), FarCorner(row), Packed(view::Blend(theme.panel, tint, 250)));
    draw->AddRectFilled(Corner(row), ImVec2(row.x + 3, row.bottom()), Packed(tint));
    const float text_y = row.y + (height - em) / 2;
    const std::string label = notices[i].error ? "Error: " : "";
    const std::string text =
        FittingText(absl::StrCat(label, notices[i].text), row.width - 5 * em, nullptr);
    DrawTextAt(ImVec2(row.x + em * 0.7F, text_y), theme.text, text, nullptr, draw);
    DrawTextAt(ImVec2(row.right() - 1.5F * em, text_y), theme.dim_text, "x", nullptr, draw);
    ImGui::SetCursorScreenPos(Corner(row));
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::InvisibleButton("##notice", ImVec2(row.width, row.height))) closed = i;
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", notices[i].text.c_str());
    ImGui::PopID();
    bottom = row.y;
  }
  if (closed.has_value()) {
    notices.erase(notices.begin() + static_cast<std::ptrdiff_t>(*closed));
  }
  return bottom;
}

// --- Panels ---

void AppLayout::Raise(size_t panel) {
  raised_.resize(std::max(raised_.size(), panel + 1));
  raised_[panel] = ++raises_;
}

void AppLayout::FollowSelection(const App& app) {
  if (app.state().selected == followed_) return;
  followed_ = app.state().selected;
  if (followed_.kind == ObjectKind::kNone) return;
  for (size_t i = app.panels().size(); i-- > 0;) {
    if (app.panels()[i]->view() == ViewKind::kInspect) return Raise(i);
  }
}

void AppLayout::FollowFocus(const App& app) {
  const AppState& state = app.state();
  if (!state.focus.has_value() || !state.views.Has(*state.focus)) {
    focused_.reset();
    return;
  }
  if (focused_.has_value() && app.panels()[*focused_]->view() == *state.focus) return;
  focused_.reset();
  for (size_t i = 0; i < app.panels().size() && !focused_.has_value(); ++i) {
    if (app.panels()[i]->view() == *state.focus) focused_ = i;
  }
}

void AppLayout::Focus(ViewKind view, App* app) {
  std::vector<size_t> panels;
  for (size_t i = 0; i < app->panels().size(); ++i) {
    if (app->panels()[i]->view() == view) panels.push_back(i);
  }
  if (panels.empty()) return;
  size_t next = 0;
  if (app->state().focus == view && focused_.has_value()) {
    const auto here = std::find(panels.begin(), panels.end(), *focused_);
    if (here != panels.end()) {
      next = (static_cast<size_t>(here - panels.begin()) + 1) % panels.size();
    }
  }
  app->state().focus = view;
  focused_ = panels[next];
  Raise(panels[next]);
}

std::vector<size_t> AppLayout::PanelsOf(Room room, const App& app) const {
  std::vector<size_t> found;
  size_t inspectors = 0;
  // In a comparison, figures and divergences stand beside the plots, the rest below them.
  size_t comparing = 0;
  const AppState& state = app.state();
  const bool below_plots =
      state.views.Has(ViewKind::kPlots) && state.comparing() && state.views.Has(ViewKind::kCompare);
  for (size_t i = 0; i < app.panels().size(); ++i) {
    const ViewKind view = app.panels()[i]->view();
    bool fits = false;
    switch (view) {
      case ViewKind::kMap:
        fits = room == Room::kMap;
        break;
      case ViewKind::kPlots:
        fits = room == Room::kPlots;
        break;
      case ViewKind::kPods:
      case ViewKind::kNodes:
      case ViewKind::kClaims:
      case ViewKind::kTenants:
        fits = room == Room::kTables && state.views.Has(view);
        break;
      case ViewKind::kInspect:
        // The list has the node's slots before the inspector.
        fits = room == (inspectors == 0 ? Room::kNode : Room::kInspector);
        ++inspectors;
        break;
      case ViewKind::kCompare:
        fits = room == (below_plots && comparing > 1 ? Room::kPlots : Room::kCompare);
        ++comparing;
        break;
    }
    if (fits) found.push_back(i);
  }
  return found;
}

void AppLayout::DrawPanels(const Rect& area, App* app) {
  PlacesRequest request;
  request.area = area;
  for (const std::unique_ptr<Panel>& panel : app->panels()) {
    if (app->state().views.Has(panel->view())) request.views.Add(panel->view());
  }
  request.comparing = app->state().comparing();
  request.em = ImGui::GetFontSize();
  request.splitters = app->settings().splitters;
  const PanelPlaces places = PlacePanels(request);
  for (const PlacedRoom& room : places.rooms) DrawRoom(room, request, app);
  for (const PlacedSplitter& splitter : places.splitters) DrawSplitter(splitter, app);
}

void AppLayout::DrawRoom(const PlacedRoom& room, const PlacesRequest& request, App* app) {
  // A tab may hold several panels above each other, as the comparison does.
  std::vector<std::vector<size_t>> tabs;
  for (const Room part : room.rooms) {
    const std::vector<size_t> panels = PanelsOf(part, *app);
    if (panels.empty()) continue;
    if (part == Room::kCompare || part == Room::kPlots) {
      tabs.push_back(panels);
    } else {
      for (const size_t panel : panels) tabs.push_back({panel});
    }
  }
  if (tabs.empty()) return;
  const auto raised = [&](const std::vector<size_t>& tab) {
    uint64_t when = 0;
    for (const size_t panel : tab) when = std::max(when, raised_[panel]);
    return when;
  };
  const std::vector<size_t>& front =
      *std::max_element(tabs.begin(), tabs.end(),
                        [&](const auto& a, const auto& b) { return raised(a) < raised(b); });
  std::vector<size_t> titles;
  for (const std::vector<size_t>& tab : tabs) titles.push_back(tab.front());
  const bool plots = app->panels()[front.front()]->view() == ViewKind::kPlots;
  const Splitter id = plots ? Splitter::kComparePlots : Splitter::kCompareStack;
  const std::vector<Rect> parts =
      StackPanels(room.rect, front.size(), request.splitters[static_cast<size_t>(id)], request.em);
  DrawPanel(front.front(), titles, parts.front(), app);
  for (size_t i = 1; i < front.size(); ++i) DrawPanel(front[i], {front[i]}, parts[i], app);
  if (parts.size() != 2) return;
  PlacedSplitter between;
  between.splitter = id;
  between.grip = {parts[0].x, parts[0].bottom(), parts[0].width, parts[1].y - parts[0].bottom()};
  between.begin = room.rect.y;
  between.length = room.rect.height;
  DrawSplitter(between, app);
}

void AppLayout::DrawTitles(size_t panel, const std::vector<size_t>& tabs, const Rect& bar,
                           App* app) {
  const AppState& state = app->state();
  const view::Theme& theme = state.theme();
  const float em = ImGui::GetFontSize();
  ImDrawList* const draw = ImGui::GetWindowDrawList();
  const ImFont* const small = state.fonts.small;
  const float y = bar.y + (bar.height - em) / 2;
  const float small_y = bar.y + (bar.height - FontHeight(small)) / 2;
  const std::string key = absl::StrCat(KeyOfPanel(app->panels()[panel]->view()));
  const float key_x = bar.right() - em * 0.6F - TextWidth(key, small);
  DrawTextAt(ImVec2(key_x, small_y), theme.dim_text, key, small, draw);
  float x = bar.x + em * 0.5F;
  // Tabs share the line evenly where their titles do not fit.
  const float room = std::max(key_x - em - x, 0.0F);
  float wanted = 0;
  for (const size_t tab : tabs) {
    wanted += TextWidth(app->panels()[tab]->title(), state.fonts.strong) + em;
  }
  const auto count = static_cast<float>(tabs.size());
  const float most = wanted <= room + em ? room : room / count - em;
  for (const size_t tab : tabs) {
    const bool front = tab == panel;
    const ImFont* const font = front ? state.fonts.strong : nullptr;
    const std::string title = FittingText(app->panels()[tab]->title(), std::max(most, 0.0F), font);
    const float width = TextWidth(title, font);
    if (title.empty()) continue;
    if (tabs.size() > 1) {
      ImGui::SetCursorScreenPos(ImVec2(x, bar.y));
      ImGui::PushID(static_cast<int>(tab));
      if (ImGui::InvisibleButton("##tab", ImVec2(std::max(width, 1.0F), bar.height))) {
        Raise(tab);
        app->state().focus = app->panels()[tab]->view();
        focused_ = tab;
      }
      if (front) {
        draw->AddRectFilled(ImVec2(x, bar.bottom() - 2), ImVec2(x + width, bar.bottom()),
                            Packed(theme.categories[0]));
      }
      const bool hovered = ImGui::IsItemHovered();
      ImGui::PopID();
      DrawTextAt(ImVec2(x, y), front || hovered ? theme.text : theme.dim_text, title, font, draw);
    } else {
      DrawTextAt(ImVec2(x, y), theme.text, title, font, draw);
    }
    x += width + em;
  }
  const std::string subtitle =
      FittingText(app->panels()[panel]->Subtitle(state), std::max(key_x - em - x, 0.0F), small);
  DrawTextAt(ImVec2(x, small_y), theme.dim_text, subtitle, small, draw);
}

void AppLayout::DrawPanel(size_t panel, const std::vector<size_t>& tabs, const Rect& rect,
                          App* app) {
  AppState& state = app->state();
  const view::Theme& theme = state.theme();
  const float em = ImGui::GetFontSize();
  ImDrawList* const draw = ImGui::GetWindowDrawList();
  if (rect.width < em || rect.height < 2 * em) return;
  placed_.push_back({panel, rect});
  const Rect bar = {rect.x, rect.y, rect.width, std::round(em * 1.5F)};
  draw->AddRectFilled(Corner(rect), FarCorner(rect), Packed(theme.panel));
  draw->AddRectFilled(Corner(bar), FarCorner(bar),
                      Packed(view::Blend(theme.panel, theme.grid, 500)));
  if (ImGui::IsMouseClicked(0) && overlay_ == Overlay::kNone &&
      ImGui::IsMouseHoveringRect(Corner(rect), FarCorner(rect), false) &&
      ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows)) {
    state.focus = app->panels()[panel]->view();
    focused_ = panel;
  }
  DrawTitles(panel, tabs, bar, app);
  const float pad = std::round(em * 0.4F);
  ImGui::SetCursorScreenPos(ImVec2(rect.x + pad, bar.bottom() + pad));
  const ImVec2 size(std::max(rect.width - 2 * pad, 1.0F),
                    std::max(rect.bottom() - bar.bottom() - 2 * pad, 1.0F));
  const bool focused = focused_ == panel && overlay_ == Overlay::kNone;
  ImGui::PushID(static_cast<int>(panel));
  ImGui::BeginChild("##panel", size);
  app->panels()[panel]->Draw(&state, focused);
  ImGui::EndChild();
  ImGui::PopID();
  draw->AddRect(Corner(rect), FarCorner(rect),
                Packed(focused_ == panel ? theme.categories[0] : theme.grid), 0, 0,
                focused_ == panel ? 2.0F : 1.0F);
}

void AppLayout::DrawSplitter(const PlacedSplitter& splitter, App* app) {
  if (splitter.grip.width <= 0 || splitter.grip.height <= 0) return;
  ImGui::SetCursorScreenPos(Corner(splitter.grip));
  ImGui::PushID(static_cast<int>(splitter.splitter));
  ImGui::InvisibleButton("##splitter", ImVec2(splitter.grip.width, splitter.grip.height));
  const bool active = ImGui::IsItemActive();
  if (active || ImGui::IsItemHovered()) {
    ImGui::SetMouseCursor(splitter.upright ? ImGuiMouseCursor_ResizeEW : ImGuiMouseCursor_ResizeNS);
    ImGui::GetWindowDrawList()->AddRectFilled(Corner(splitter.grip), FarCorner(splitter.grip),
                                              Packed(app->state().theme().categories[0], 120));
  }
  float& share = app->settings().splitters[static_cast<size_t>(splitter.splitter)];
  if (active && splitter.length > 0) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const float at = splitter.upright ? mouse.x : mouse.y;
    share = std::clamp((at - splitter.begin) / splitter.length, 0.0F, 1.0F);
  }
  if (ImGui::IsItemDeactivated()) app->SaveSettings();
  ImGui::PopID();
}

// The start page, an error, or the progress of reading.
void AppLayout::DrawPage(const Rect& area, App* app) {
  AppState& state = app->state();
  const float em = ImGui::GetFontSize();
  const float width = std::min(area.width, 68 * em);
  ImGui::SetCursorScreenPos(ImVec2(area.x + (area.width - width) / 2, area.y + em / 2));
  ImGui::BeginChild("##page", ImVec2(width, area.height - em / 2));
  if (!state.error.empty()) {
    StrongText("This cannot be opened", state);
    WrappedText(state.error);
    ImGui::Dummy(ImVec2(0, em));
  }
  if (state.error.empty() && state.a.session != nullptr) {
    WrappedText(absl::StrCat("Reading ", state.a.session->path(), ": ",
                             static_cast<int>(state.a.session->progress() * 100), " %"));
  } else if (state.error.empty() && state.a.job != nullptr) {
    WrappedDimText("The run begins.", state);
  } else {
    start_->Draw(/*as_b=*/false, app);
  }
  ImGui::EndChild();
}

void AppLayout::DrawOverlay(App* app) {
  if (overlay_ != Overlay::kFind) find_->Forget();
  if (overlay_ == Overlay::kNone) return;
  const bool is_new = std::exchange(overlay_is_new_, false);
  const Overlay shown = overlay_;
  if (!is_new && EscapePressed()) {
    overlay_ = Overlay::kNone;
    return;
  }
  bool stays = true;
  switch (shown) {
    case Overlay::kNone:
      return;
    case Overlay::kFind:
      stays = find_->Draw(is_new, app);
      break;
    case Overlay::kGoTo:
      stays = timeline_->DrawGoTo(is_new, app);
      break;
    case Overlay::kOpenA:
    case Overlay::kOpenB: {
      const float em = ImGui::GetFontSize();
      BeginOverlay("##open", 66 * em, 36 * em, is_new);
      stays = start_->Draw(/*as_b=*/shown == Overlay::kOpenB, app);
      ImGui::End();
      break;
    }
    case Overlay::kExports:
      stays = exports_->Draw(is_new, app);
      break;
    case Overlay::kKeys:
      DrawKeyHelp(is_new, app);
      break;
  }
  // It may have opened another one.
  if (!stays && overlay_ == shown) overlay_ = Overlay::kNone;
}

}  // namespace drasim::gui
