#include "gui/app/decision_box.h"

#include <imgui.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gui/app/widgets.h"
#include "gui/session/run_overview.h"
#include "gui/view/unit_text.h"

namespace drasim::gui {

void DecisionBox::Drop() {
  table_.reset();
  source_.reset();
  result_.reset();
  job_.reset();
}

void DecisionBox::Start(AppState* app) {
  Drop();
  // Frames go on while it works, so the interface needs no wake-up.
  job_ = DecisionJob::Start(path_, pod_, app->timeline.cursor().time, nullptr);
}

void DecisionBox::Draw(const std::string& pod, AppState* app) {
  if (app->a.overview == nullptr || app->a.overview->path.empty()) return;
  const RunOverview& run = *app->a.overview;
  if (pod != pod_ || path_ != run.path || fingerprint_ != run.fingerprint ||
      records_ != run.records) {
    Drop();
    pod_ = pod;
    path_ = run.path;
    fingerprint_ = run.fingerprint;
    records_ = run.records;
  }
  StrongText("Decision", *app);
  ImGui::SameLine();
  if (job_ == nullptr) {
    if (ImGui::SmallButton("candidates and scores")) Start(app);
    ImGui::SameLine();
    DimText("simulates the run up to the last attempt before the cursor", *app);
    return;
  }
  if (result_ == nullptr) result_ = job_->result();
  if (result_ != nullptr) {
    DrawResult(app);
    return;
  }
  const absl::Status status = job_->status();
  if (!status.ok()) {
    ImGui::NewLine();
    WrappedText(status.message());
    if (ImGui::SmallButton("try again")) Start(app);
    return;
  }
  app->wants_frame = true;
  DimText(absl::StrCat("simulating, ", static_cast<int>(job_->progress() * 100), " %"), *app);
  ImGui::SameLine();
  if (ImGui::SmallButton("cancel")) Drop();
}

void DecisionBox::DrawResult(AppState* app) {
  constexpr int64_t kMostRows = 12;
  const auto& decision = result_->decision;
  if (table_ == nullptr) {
    source_ = std::make_unique<DecisionTable>(result_.get());
    table_ = std::make_unique<view::TableModel>(source_.get());
  }
  DimText(
      absl::StrCat("at ", InstantText(decision.time, *app), ", record ",
                   view::CommaText(static_cast<int64_t>(decision.record)), ": ",
                   view::CommaText(static_cast<int64_t>(decision.candidates)), " of ",
                   view::CommaText(static_cast<int64_t>(decision.nodes.size())),
                   decision.placed ? " nodes could take it, placed on" : " nodes could take it"),
      *app);
  if (decision.placed) {
    ImGui::SameLine();
    Link({ObjectKind::kNode, decision.node}, app);
  }
  ImGui::SameLine();
  const bool again = ImGui::SmallButton("again, at the cursor");
  for (const std::string& line : result_->lines) WrappedText(line);
  for (const std::string& warning : decision.warnings) WrappedDimText(warning, *app);
  if (!decision.nodes.empty()) {
    TableLook look;
    look.id = "decision";
    look.columns = {DecisionTable::kNode, DecisionTable::kTotal};
    for (size_t p = 0; p < decision.plugins.size(); ++p) {
      look.columns.push_back(DecisionTable::kFirstPlugin + p);
    }
    look.columns.push_back(DecisionTable::kResult);
    look.link_column = DecisionTable::kNode;
    look.link_kind = ObjectKind::kNode;
    look.dim_column = DecisionTable::kResult;
    const auto rows = std::min(static_cast<int64_t>(source_->rows()), kMostRows);
    // The header, and half a row that tells that there are more.
    const float height =
        (static_cast<float>(rows) + 1.5F) * (ImGui::GetTextLineHeight() + 4 * app->looks.scale);
    ImGui::BeginChild("decision", ImVec2(0, height), false, 0);
    DrawTable(look, *source_, table_.get(), app);
    ImGui::EndChild();
  }
  if (again) Start(app);
}

}  // namespace drasim::gui
