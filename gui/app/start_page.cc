#include "gui/app/start_page.h"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gui/app/app.h"
#include "gui/app/text_draw.h"
#include "gui/app/widgets.h"
#include "gui/session/run_job.h"
#include "gui/view/compare_model.h"
#include "sim/app/flags.h"
#include "sim/app/scenario_flags.h"
#include "sim/scenario/embedded_scenarios.h"
#include "sim/scenario/front_end_spec.h"

namespace drasim::gui {
namespace {

constexpr float kCardInEm = 30;
constexpr absl::string_view kEmbedded = "embedded:";
constexpr const char* kAsInScenario = "as in the scenario";

// The names that `--policy` explains, in the order of the help.
std::vector<std::string> PolicyChoices() {
  for (const FlagSpec& flag : ScenarioFlags()) {
    if (flag.key == "scheduler.policy") return absl::StrSplit(flag.help, ", ");
  }
  return {};
}

// False without a change.
bool ChooseFrom(const char* label, const std::vector<std::string>& names, int* chosen) {
  bool changed = false;
  if (!ImGui::BeginCombo(label, names[static_cast<size_t>(*chosen)].c_str())) return false;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!ImGui::Selectable(names[i].c_str(), static_cast<int>(i) == *chosen)) continue;
    *chosen = static_cast<int>(i);
    changed = true;
  }
  ImGui::EndCombo();
  return changed;
}

}  // namespace

void StartPage::ReadChoices() {
  if (!policies_.empty()) return;
  policies_ = PolicyChoices();
  policies_.insert(policies_.begin(), kAsInScenario);
  front_ends_ = FrontEndNames();
  front_ends_.insert(front_ends_.begin(), kAsInScenario);
  for (const std::string& name : EmbeddedScenarioNames()) {
    embedded_.push_back({name, view::ScenarioValue(EmbeddedScenario(name), "description")});
  }
}

bool StartPage::Draw(bool as_b, App* app) {
  ReadChoices();
  const float em = ImGui::GetFontSize();
  const float width = ImGui::GetContentRegionAvail().x;
  const bool wide = width >= 2 * kCardInEm * em;
  ImGui::Columns(wide ? 2 : 1, "##start_columns", false);
  bool stays = DrawOpen(as_b, app);
  if (wide) {
    ImGui::NextColumn();
  } else {
    ImGui::Dummy(ImVec2(0, em));
  }
  stays = DrawRun(as_b, app) && stays;
  ImGui::Columns(1);
  return stays;
}

bool StartPage::DrawOpen(bool as_b, App* app) {
  const AppState& state = app->state();
  StrongText(as_b ? "Open as B" : "Open", state);
  WrappedDimText("A ledger, a folder of a run, or a scenario. Files can be dropped on the window.",
                 state);
  ImGui::SetNextItemWidth(-6 * ImGui::GetFontSize());
  const bool entered = ImGui::InputTextWithHint("##path", "results/fgd", &path_,
                                                ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::SameLine();
  if ((ImGui::Button("Open") || entered) && !path_.empty()) {
    (as_b ? app->state().open_as_b : app->state().open_as_a).push_back(path_);
    return false;
  }
  ImGui::Dummy(ImVec2(0, ImGui::GetFontSize() * 0.5F));
  const std::vector<std::string>& recent = app->settings().recent;
  if (!recent.empty()) StrongText("Recent", state);
  for (size_t i = 0; i < recent.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    const float width = ImGui::GetContentRegionAvail().x;
    const bool chosen = TextButton(FittingText(recent[i], width, nullptr), state);
    ImGui::PopID();
    if (!chosen) continue;
    (as_b ? app->state().open_as_b : app->state().open_as_a).push_back(recent[i]);
    return false;
  }
  return true;
}

bool StartPage::DrawRun(bool as_b, App* app) {
  const AppState& state = app->state();
  const float em = ImGui::GetFontSize();
  StrongText(as_b ? "Run as B" : "Run", state);
  const float label = -7 * em;
  ImGui::SetNextItemWidth(label);
  ImGui::InputTextWithHint("scenario", "scenario.yaml", &scenario_);
  ImGui::SetNextItemWidth(label);
  ChooseFrom("policy", policies_, &policy_);
  ImGui::SetNextItemWidth(label);
  ChooseFrom("front end", front_ends_, &front_end_);
  ImGui::SetNextItemWidth(label);
  ImGui::InputTextWithHint("seed", kAsInScenario, &seed_);
  bool stays = true;
  if (ImGui::Button("Run")) stays = !Run(as_b, app);
  if (!error_.empty()) WrappedText(error_);
  ImGui::Dummy(ImVec2(0, em * 0.5F));
  StrongText("Scenarios that come with drasim", state);
  for (const Embedded& scenario : embedded_) {
    ImGui::PushID(scenario.name.c_str());
    // Once fills the form; the form's button runs it, with or without changes.
    if (TextButton(scenario.name, state)) {
      scenario_ = absl::StrCat(kEmbedded, scenario.name);
      error_.clear();
    }
    if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) stays = !Run(as_b, app);
    WrappedDimText(scenario.description, state);
    ImGui::PopID();
  }
  return stays;
}

// True if it runs.
bool StartPage::Run(bool as_b, App* app) {
  const std::string path(absl::StripAsciiWhitespace(scenario_));
  const std::string seed(absl::StripAsciiWhitespace(seed_));
  uint64_t number = 0;
  if (path.empty()) {
    error_ = "Choose a scenario below, or type the path of one.";
    return false;
  }
  if (!seed.empty() && !absl::SimpleAtoi(seed, &number)) {
    error_ = absl::StrCat("seed: found '", seed, "', expected a whole number");
    return false;
  }
  error_.clear();
  RunJobSpec spec;
  spec.scenario_path = path;
  if (policy_ > 0) {
    spec.changes.emplace_back("scheduler.policy", policies_[static_cast<size_t>(policy_)]);
  }
  if (front_end_ > 0) {
    spec.changes.emplace_back("front_end.kind", front_ends_[static_cast<size_t>(front_end_)]);
  }
  if (!seed.empty()) spec.changes.emplace_back("seed", seed);
  // Show an error in the form: a run that fails later would already have closed the open one.
  if (const absl::Status status = CheckRun(spec); !status.ok()) {
    error_ = std::string(status.message());
    return false;
  }
  (as_b ? app->state().run_as_b : app->state().run_as_a) = std::move(spec);
  return true;
}

}  // namespace drasim::gui
