#include "gui/app/what_if_box.h"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gui/app/plot_draw.h"
#include "gui/app/widgets.h"
#include "gui/session/run_job.h"

namespace drasim::gui {
namespace {

constexpr size_t kShownKeys = 8;

// The present run, to be run again with changes. Its recorded paths are absolute.
RunJobSpec RunAgain(const RunOverview& run) {
  RunJobSpec spec;
  spec.scenario_yaml = run.scenario_yaml;
  return spec;
}

}  // namespace

void WhatIfBox::DrawSuggestions(const std::shared_ptr<const Inspection>& inspection,
                                AppState* app) {
  if (app->a.overview == nullptr) return;
  if (suggested_for_ != inspection) {
    suggestions_ = view::SuggestChanges(*inspection->pod, app->a.overview->scenario_outline);
    suggested_for_ = inspection;
  }
  for (size_t s = 0; s < suggestions_.size(); ++s) {
    const view::WhatIfSuggestion& suggestion = suggestions_[s];
    ImGui::PushID(static_cast<int>(s));
    if (ImGui::SmallButton("open B")) {
      RunJobSpec spec = RunAgain(*app->a.overview);
      spec.changes.emplace_back(suggestion.key, suggestion.value);
      app->run_as_b = std::move(spec);
    }
    ImGui::PopID();
    ImGui::SameLine();
    Text(suggestion.key);
    ImGui::SameLine();
    // An arrow is not in every font.
    DimText(absl::StrCat(suggestion.old, " to"), *app);
    ImGui::SameLine();
    StrongText(suggestion.value, *app);
    WrappedDimText(suggestion.why, *app);
  }
}

void WhatIfBox::Search() {
  if (searched_ == key_) return;
  searched_ = key_;
  matches_ = view::SearchKeys(keys_, key_);
  matches_.resize(std::min(matches_.size(), kShownKeys));
}

void WhatIfBox::DrawMatches(const AppState& app) {
  Search();
  for (const size_t match : matches_) {
    const view::ScenarioKey& key = keys_[match];
    if (key.key == key_) {
      WrappedDimText(absl::StrCat(key.type, ". ", key.meaning), app);
      continue;
    }
    if (TextButton(key.key, app)) {
      key_ = key.key;
      value_ = key.value;
    }
    if (ImGui::IsItemHovered() && !key.meaning.empty()) {
      ImGui::BeginTooltip();
      ImGui::PushTextWrapPos(ImGui::GetFontSize() * 40);
      Text(key.meaning);
      ImGui::PopTextWrapPos();
      ImGui::EndTooltip();
    }
    ImGui::SameLine();
    DimText(key.value.empty() ? absl::StrCat("default: ", key.fallback) : key.value, app);
  }
}

void WhatIfBox::OpenAsB(AppState* app) {
  error_ = app->a.overview->CheckChange(key_, value_);
  if (!error_.ok()) return;
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
    error_ = absl::OkStatus();
  }
  if (keys_of_ != app->a.overview) {
    keys_of_ = app->a.overview;
    keys_ = view::ScenarioKeys(keys_of_->scenario_outline);
    searched_.reset();
  }
  ImGui::PushID("key editor");
  const float em = ImGui::GetFontSize();
  const float width = ImGui::GetContentRegionAvail().x;
  if (is_new_) ImGui::SetKeyboardFocusHere();
  is_new_ = false;
  ImGui::SetNextItemWidth(std::max(width * 0.45F, 8 * em));
  bool changed = ImGui::InputTextWithHint("##key", "key, such as driver qps", &key_);
  ImGui::SameLine();
  ImGui::SetNextItemWidth(std::max(width * 0.25F, 4 * em));
  const bool entered =
      ImGui::InputTextWithHint("##value", "value", &value_, ImGuiInputTextFlags_EnterReturnsTrue);
  changed = changed || ImGui::IsItemEdited();
  if (changed) error_ = absl::OkStatus();
  ImGui::SameLine();
  const bool complete = !key_.empty();
  if (!complete) ImGui::BeginDisabled();
  const bool pressed = ImGui::SmallButton("open B");
  if (!complete) ImGui::EndDisabled();
  if ((pressed || entered) && complete) OpenAsB(app);
  ImGui::SameLine();
  if (TextButton("close", *app)) open_ = false;
  if (!error_.ok()) {
    ImGui::PushStyleColor(ImGuiCol_Text, Packed(app->theme().stranded));
    WrappedText(error_.message());
    ImGui::PopStyleColor();
  }
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
