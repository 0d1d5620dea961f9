#include "gui/app/find_box.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gui/app/app.h"
#include "gui/app/app_view.h"
#include "gui/app/commands.h"
#include "gui/app/overlay_window.h"
#include "gui/app/text_draw.h"
#include "gui/app/widgets.h"
#include "gui/session/run_job.h"
#include "gui/view/unit_text.h"

namespace drasim::gui {
namespace {

// Names looked at in a frame: a fraction of a millisecond.
constexpr size_t kNamesPerFrame = 10'000;
constexpr float kBoxWidthInEm = 48;

absl::string_view PodStateText(const view::PodTable& pods, size_t pod) {
  return view::PodStateName(pods.row(pod).phase);
}

}  // namespace

void FindBox::Take(const App& app) {
  snapshot_ = app.state().a.snapshot;
  // The keys of a run in progress can be changed when it is over.
  const auto& overview = app.state().a.opened() ? app.state().a.overview : nullptr;
  if (overview_ != overview) {
    overview_ = overview;
    keys_.clear();
    if (overview_ != nullptr) keys_ = view::ScenarioKeys(overview_->scenario_outline);
  }
  const absl::Span<const Command> commands = Commands();
  std::vector<view::FindSource> sources(kPods + 1);
  sources[kCommands] = {commands.size(), [commands](size_t i) { return commands[i].title; }, true};
  sources[kKeys] = {keys_.size(), [this](size_t i) -> absl::string_view { return keys_[i].key; },
                    true};
  if (snapshot_ != nullptr) {
    const RunSnapshot* const run = snapshot_.get();
    sources[kNodes] = {run->nodes.rows(),
                       [run](size_t i) -> absl::string_view { return run->nodes.row(i).name; }};
    sources[kTenants] = {run->pods.tenants().size(),
                         [run](size_t i) -> absl::string_view { return run->pods.tenants()[i]; }};
    sources[kClaims] = {run->claims.rows(),
                        [run](size_t i) -> absl::string_view { return run->claims.row(i).name; }};
    sources[kPods] = {run->pods.rows(), [run](size_t i) { return run->pods.name(i); }};
  }
  find_.SetSources(std::move(sources));
}

void FindBox::Forget() {
  if (snapshot_ == nullptr) return;
  find_.SetSources({});
  snapshot_.reset();
  searching_ = false;
}

bool FindBox::Draw(bool is_new, App* app) {
  const float em = ImGui::GetFontSize();
  if (is_new) {
    typed_.clear();
    key_.clear();
    chosen_ = 0;
    find_.SetQuery("");
    Take(*app);
  }
  BeginOverlay("##find", kBoxWidthInEm * em, 0, is_new);
  bool stays = true;
  if (!key_.empty()) {
    stays = DrawKeyForm(app);
    ImGui::End();
    searching_ = false;
    return stays;
  }
  if (is_new) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(-1);
  ImGui::InputTextWithHint("##query", "Find a pod, node, claim, tenant or scenario key, or do ...",
                           &typed_);
  if (typed_ != find_.query()) {
    find_.SetQuery(typed_);
    chosen_ = 0;
  }
  find_.Scan(kNamesPerFrame);
  searching_ = !find_.complete();
  const size_t hits = find_.hits().size();
  if (hits > 0) {
    const size_t before = chosen_;
    if (ImGui::IsKeyPressed(GLFW_KEY_DOWN)) chosen_ = (chosen_ + 1) % hits;
    if (ImGui::IsKeyPressed(GLFW_KEY_UP)) chosen_ = (chosen_ + hits - 1) % hits;
    chosen_ = std::min(chosen_, hits - 1);
    follows_ = chosen_ != before;
    if (EnterPressed()) stays = !Do(find_.hits()[chosen_], app);
  }
  if (stays && key_.empty()) DrawHits(app);
  if (hits == 0 && !find_.query().empty()) {
    DimText(find_.complete() ? "Nothing has such a name." : "Searching ...", app->state());
  }
  ImGui::End();
  return stays;
}

void FindBox::DrawHits(App* app) {
  const AppState& state = app->state();
  const float em = ImGui::GetFontSize();
  const float line = ImGui::GetTextLineHeightWithSpacing();
  const float most = ImGui::GetIO().DisplaySize.y * 0.5F;
  const size_t count = find_.hits().size();
  if (count == 0) return;
  ImGui::BeginChild("##hits", ImVec2(0, std::min(most, static_cast<float>(count) * line + 4)));
  const float width = ImGui::GetContentRegionAvail().x;
  std::optional<view::FindHit> clicked;
  for (size_t i = 0; i < count; ++i) {
    const view::FindHit& hit = find_.hits()[i];
    ImGui::PushID(static_cast<int>(i));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (ImGui::Selectable("##hit", i == chosen_)) clicked = hit;
    if (i == chosen_ && follows_) ImGui::SetScrollHereY();
    ImDrawList* const draw = ImGui::GetWindowDrawList();
    const std::string name = FittingText(NameOf(hit), width * 0.6F, nullptr);
    DrawTextAt(at, state.theme().text, name, nullptr, draw);
    const float left = width - TextWidth(name, nullptr) - 2 * em;
    const std::string detail = FittingText(DetailOf(hit), left, state.fonts.small);
    DrawTextAt(ImVec2(at.x + width - TextWidth(detail, state.fonts.small) - em / 2, at.y),
               state.theme().dim_text, detail, state.fonts.small, draw);
    ImGui::PopID();
  }
  ImGui::EndChild();
  follows_ = false;
  if (clicked.has_value() && Do(*clicked, app)) app->layout().Show(Overlay::kNone);
}

std::string FindBox::NameOf(const view::FindHit& hit) const {
  switch (hit.source) {
    case kCommands:
      return std::string(Commands()[hit.index].title);
    case kNodes:
      return snapshot_->nodes.row(hit.index).name;
    case kTenants:
      return snapshot_->pods.tenants()[hit.index];
    case kClaims:
      return snapshot_->claims.row(hit.index).name;
    case kKeys:
      return keys_[hit.index].key;
    default:
      return std::string(snapshot_->pods.name(hit.index));
  }
}

std::string FindBox::DetailOf(const view::FindHit& hit) const {
  switch (hit.source) {
    case kCommands:
      return KeyText(Commands()[hit.index].key);
    case kNodes:
      return absl::StrCat("node ", snapshot_->nodes.row(hit.index).model);
    case kTenants:
      return "tenant";
    case kClaims:
      return absl::StrCat("claim of ", snapshot_->claims.row(hit.index).pod);
    case kKeys:
      return absl::StrCat("scenario: ", keys_[hit.index].value.empty() ? keys_[hit.index].fallback
                                                                       : keys_[hit.index].value);
    default:
      return absl::StrCat("pod ", snapshot_->pods.wants(hit.index), ", ",
                          PodStateText(snapshot_->pods, hit.index));
  }
}

bool FindBox::Do(const view::FindHit& hit, App* app) {
  AppState& state = app->state();
  const std::string name = NameOf(hit);
  const auto select = [&](ObjectKind kind) {
    state.Select({kind, name});
    state.views.Add(ViewKind::kInspect);
  };
  switch (hit.source) {
    case kCommands:
      // Before it runs: it may open another list.
      app->layout().Show(Overlay::kNone);
      RunCommand(Commands()[hit.index].id, app);
      return app->layout().overlay() == Overlay::kNone;
    case kNodes:
      select(ObjectKind::kNode);
      return true;
    case kTenants:
      select(ObjectKind::kTenant);
      return true;
    case kClaims:
      select(ObjectKind::kClaim);
      return true;
    case kKeys:
      key_ = name;
      value_ = keys_[hit.index].value;
      error_.clear();
      return false;
    default:
      select(ObjectKind::kPod);
      return true;
  }
}

bool FindBox::DrawKeyForm(App* app) {
  AppState& state = app->state();
  StrongText(key_, state);
  DimText("Runs the whole scenario again with another value, and opens it as B.", state);
  if (ImGui::IsWindowAppearing() || !ImGui::IsAnyItemActive()) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(-1);
  ImGui::InputText("##value", &value_);
  const bool run = ImGui::Button("Run as B") || EnterPressed();
  if (!error_.empty()) WrappedText(error_);
  if (!run || overview_ == nullptr) return true;
  const absl::Status status = overview_->CheckChange(key_, value_);
  error_ = std::string(status.message());
  if (!status.ok()) return true;
  RunJobSpec spec;
  spec.scenario_yaml = overview_->scenario_yaml;
  spec.changes = {{key_, value_}};
  state.run_as_b = std::move(spec);
  return false;
}

}  // namespace drasim::gui
