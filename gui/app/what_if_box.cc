#include "gui/app/what_if_box.h"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gui/app/plot_draw.h"
#include "gui/app/widgets.h"
#include "gui/view/compare_model.h"
#include "gui/view/find_model.h"

namespace drasim::gui {
namespace {

constexpr size_t kShownKeys = 8;

}  // namespace

RunJobSpec RunAgain(const RunOverview& run) {
  RunJobSpec spec;
  spec.scenario_yaml = run.scenario_yaml;
  return spec;
}

void WhatIfBox::ReadKeys(const RunOverview& run) {
  keys_.clear();
  error_.clear();
  auto keys = view::ScenarioKeys(run.scenario_yaml);
  if (keys.ok()) {
    keys_ = *std::move(keys);
  } else {
    error_ = std::string(keys.status().message());
  }
  matched_ = "?";  // no key holds one
}

void WhatIfBox::DrawMatches(const AppState& app) {
  if (matched_ != key_) {
    matched_ = key_;
    std::vector<std::pair<int64_t, size_t>> ranked;  // best first, then in the scenario's order
    for (size_t i = 0; i < keys_.size(); ++i) {
      const std::optional<int64_t> score =
          key_.empty() ? std::optional<int64_t>(0) : view::FindScore(key_, keys_[i].first);
      if (score.has_value()) ranked.emplace_back(-*score, i);
    }
    std::sort(ranked.begin(), ranked.end());
    matches_.clear();
    for (size_t i = 0; i < std::min(ranked.size(), kShownKeys); ++i) {
      matches_.push_back(ranked[i].second);
    }
  }
  for (const size_t match : matches_) {
    const auto& [key, value] = keys_[match];
    if (key == key_) continue;
    if (TextButton(key, app)) {
      key_ = key;
      value_ = value;
    }
    ImGui::SameLine();
    DimText(value, app);
  }
}

void WhatIfBox::OpenAsB(AppState* app) {
  RunJobSpec spec = RunAgain(*app->a.overview);
  spec.changes.emplace_back(key_, value_);
  app->run_as_b = std::move(spec);
  open_ = false;
}

void WhatIfBox::DrawKeyEditor(AppState* app) {
  if (app->a.overview == nullptr || app->a.overview->scenario_yaml.empty()) return;
  if (!open_) {
    if (!TextButton("+ change another key ...", *app)) return;
    open_ = is_new_ = true;
  }
  if (keys_of_ != app->a.overview) {
    keys_of_ = app->a.overview;
    ReadKeys(*keys_of_);
  }
  ImGui::PushID("key editor");
  const float em = ImGui::GetFontSize();
  const float width = ImGui::GetContentRegionAvail().x;
  if (is_new_) ImGui::SetKeyboardFocusHere();
  is_new_ = false;
  ImGui::SetNextItemWidth(std::max(width * 0.45F, 8 * em));
  ImGui::InputTextWithHint("##key", "key, such as qps", &key_);
  ImGui::SameLine();
  ImGui::SetNextItemWidth(std::max(width * 0.25F, 4 * em));
  const bool entered =
      ImGui::InputTextWithHint("##value", "value", &value_, ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::SameLine();
  const bool complete = !key_.empty();
  if (!complete) ImGui::BeginDisabled();
  if ((ImGui::SmallButton("open B") || entered) && complete) OpenAsB(app);
  if (!complete) ImGui::EndDisabled();
  ImGui::SameLine();
  if (TextButton("close", *app)) open_ = false;
  if (!error_.empty()) WrappedDimText(error_, *app);
  DrawMatches(*app);
  ImGui::PopID();
}

void WhatIfBox::DrawNodeEvents(const std::string& node, AppState* app) {
  // Events have times; the clock of a fill counts records.
  if (app->a.overview == nullptr || app->a.overview->by_record || app->a.snapshot == nullptr) {
    return;
  }
  struct Choice {
    const char* label;
    NodeEventChange::Kind kind;
  };
  static constexpr Choice kChoices[] = {{"it fails", NodeEventChange::Kind::kFail},
                                        {"it is drained", NodeEventChange::Kind::kDrain},
                                        {"one more like it", NodeEventChange::Kind::kAdd}};
  StrongText("What if", *app);
  ImGui::SameLine();
  DimText(absl::StrCat("from ", app->a.overview->TimeText(app->a.snapshot->time),
                       " on, the rest of the run as B"),
          *app);
  for (const Choice& choice : kChoices) {
    if (&choice != kChoices) ImGui::SameLine();
    if (!ImGui::SmallButton(choice.label)) continue;
    RunJobSpec spec = RunAgain(*app->a.overview);
    spec.resume_from = app->a.overview->path;
    spec.node_events.push_back({choice.kind, node, app->a.snapshot->time});
    app->run_as_b = std::move(spec);
  }
}

}  // namespace drasim::gui
