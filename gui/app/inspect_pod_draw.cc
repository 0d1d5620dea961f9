#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gui/app/inspect_draw.h"
#include "gui/app/plot_draw.h"
#include "gui/app/widgets.h"
#include "gui/session/run_snapshot.h"
#include "gui/view/inspect_pod.h"
#include "gui/view/pod_filter.h"
#include "gui/view/unit_text.h"
#include "sim/record/live_claims.h"

namespace drasim::gui {
namespace {

using view::CommaText;

std::string Counted(int64_t number, absl::string_view one, absl::string_view several) {
  return absl::StrCat(CommaText(number), " ", number == 1 ? one : several);
}

// "waits 10h35m · 212 attempts failed · 3 evictions"
void DrawHeadline(const view::PodInspection& pod, AppState* app) {
  DimText(pod.phase == PodPhase::kPending ? "waits" : view::PodStateName(pod.phase), *app);
  ImGui::SameLine();
  const bool ran = !pod.segments.empty() && pod.phase == PodPhase::kBound;
  if (ran) {
    const view::LifeSegment& last = pod.segments.back();
    StrongText(LengthText(last.to - last.from, *app), *app);
    ImGui::SameLine();
    DimText("on", *app);
    ImGui::SameLine();
    NodeLink(last.node, app);
    if (!last.devices.empty()) {
      ImGui::SameLine();
      Text(last.devices);
    }
    ImGui::SameLine();
    DimText(absl::StrCat("after waits of ", LengthText(pod.waits, *app)), *app);
  } else {
    StrongText(LengthText(pod.waits, *app), *app);
    if (pod.phase >= PodPhase::kSucceeded) {
      ImGui::SameLine();
      DimText("waited in all", *app);
    }
  }
  std::string more = Counted(pod.attempts_failed, "attempt failed", "attempts failed");
  if (pod.times_taken_back > 0) {
    absl::StrAppend(&more, " · taken back ", Counted(pod.times_taken_back, "time", "times"));
  }
  if (pod.times_evicted > 0) {
    absl::StrAppend(&more, " · evicted ", Counted(pod.times_evicted, "time", "times"));
  }
  if (pod.priority != 0) absl::StrAppend(&more, " · priority ", pod.priority);
  ImGui::SameLine();
  if (ImGui::GetContentRegionAvail().x < ImGui::CalcTextSize(more.c_str()).x) ImGui::NewLine();
  DimText(more, *app);
  if (pod.tenant.empty()) return;
  ImGui::SameLine();
  DimText("· tenant", *app);
  ImGui::SameLine();
  Link({ObjectKind::kTenant, pod.tenant}, app);
}

// A box around what `draw` draws, over the whole width.
template <typename Draw>
void InBox(Rgb colour, const AppState& app, const Draw& draw) {
  const float pad = std::floor(ImGui::GetFontSize() * 0.4F);
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  // The text is above the fill, whose height is known only after it.
  list->ChannelsSplit(2);
  list->ChannelsSetCurrent(1);
  ImGui::Dummy(ImVec2(0, std::max(pad - ImGui::GetStyle().ItemSpacing.y, 0.0F)));
  ImGui::Indent(pad);
  ImGui::PushTextWrapPos(ImGui::GetCursorPos().x + width - 2 * pad);
  draw();
  ImGui::PopTextWrapPos();
  ImGui::Unindent(pad);
  const ImVec2 to(from.x + width, ImGui::GetCursorScreenPos().y);
  list->ChannelsSetCurrent(0);
  list->AddRectFilled(from, to, Packed(view::Blend(app.theme().panel, colour, 150)));
  list->AddRect(from, to, Packed(colour));
  list->ChannelsMerge();
  ImGui::Dummy(ImVec2(0, 0));
}

}  // namespace

void NodeLink(const std::string& node, AppState* app) {
  if (!node.empty()) Link({ObjectKind::kNode, node}, app);
}

void PodLink(const std::string& pod, AppState* app) {
  if (!pod.empty()) Link({ObjectKind::kPod, pod}, app);
}

void PodPage::Draw(const std::shared_ptr<const Inspection>& inspection, AppState* app) {
  const view::PodInspection& pod = *inspection->pod;
  DrawHeadline(pod, app);
  DrawLife(inspection, app);
  DrawClaims(pod, app);
  DrawWhy(pod, app);
  DrawNodes(pod, app);
  StrongText("What if", *app);
  ImGui::SameLine();
  DimText("the whole run again as B, all else as it was", *app);
  what_if_.DrawSuggestions(inspection, app);
  what_if_.DrawKeyEditor(app);
  decision_.Draw(pod.name, app);
}

void PodPage::DrawLife(const std::shared_ptr<const Inspection>& inspection, AppState* app) {
  const view::PodInspection& pod = *inspection->pod;
  view::LifeBarFrame frame;
  frame.width = ImGui::GetContentRegionAvail().x;
  frame.char_width = CharWidth(*app);
  frame.line_height = LineHeight(*app);
  frame.by_record = app->a.overview != nullptr && app->a.overview->by_record;
  frame.theme = app->looks.theme;
  if (drawn_ != inspection || frame != frame_) {
    bar_ = view::DrawLifeBar(pod, frame);
    drawn_ = inspection;
    frame_ = frame;
  }
  const view::Point origin = Picture(bar_.list, frame.width, bar_.height, *app);
  const std::optional<view::Point> mouse = MouseIn(origin);
  const std::optional<size_t> column =
      mouse.has_value() ? bar_.ColumnAt(*mouse) : std::optional<size_t>();
  if (column.has_value()) {
    const view::LifeColumn& hit = bar_.columns[*column];
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(ImGui::GetFontSize() * 40);
    Text(view::LifeColumnText(pod, hit, frame.by_record));
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
      app->timeline.MoveTo({pod.marks[hit.first].time});
    }
  }
  LegendLine legend(*app);
  for (const view::LifeLegendRow& row : bar_.legend) legend.Add(row.ink, row.text);
  ImGui::Spacing();
}

void PodPage::DrawClaims(const view::PodInspection& pod, AppState* app) {
  if (app->a.snapshot == nullptr) return;
  if (claims_of_ != app->a.snapshot || claims_pod_ != pod.name) {
    claims_of_ = app->a.snapshot;
    claims_pod_ = pod.name;
    claims_.clear();
    const view::ClaimTable& claims = claims_of_->claims;
    for (size_t c = 0; c < claims.rows(); ++c) {
      if (claims.row(c).pod == pod.name) claims_.push_back(c);
    }
  }
  for (const size_t row : claims_) {
    const view::ClaimTableRow& claim = claims_of_->claims.row(row);
    StrongText("ResourceClaim", *app);
    ImGui::SameLine();
    Link({ObjectKind::kClaim, claim.name}, app);
    const std::string of_class = absl::StrCat(claim.mode, " · ", claim.class_name);
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    const float width = ImGui::CalcTextSize(of_class.c_str()).x + ImGui::GetStyle().ItemSpacing.x;
    if (ImGui::GetItemRectMax().x + width <= right) ImGui::SameLine();
    DimText(of_class, *app);
    // The first claim is inspected beside its pod; the others are a click away.
    if (row != claims_.front()) {
      DimText(absl::StrCat(ClaimStateName(claim.state), " for ", LengthText(claim.in_state, *app)),
              *app);
      continue;
    }
    app->wants_claim = claim.name;
    const std::shared_ptr<const Inspection>& inspection =
        app->a.inspections[static_cast<size_t>(ObjectKind::kClaim)];
    if (inspection != nullptr && inspection->claim.has_value() &&
        inspection->request.object.name == claim.name) {
      machine_.Draw(inspection, *app);
    } else {
      DimText(absl::StrCat(ClaimStateName(claim.state), " for ", LengthText(claim.in_state, *app)),
              *app);
    }
    if (!claim.message.empty()) WrappedDimText(claim.message, *app);
  }
}

void PodPage::DrawWhy(const view::PodInspection& pod, AppState* app) {
  constexpr size_t kMostVerdicts = 4;
  if (!pod.verdicts.empty()) {
    const view::VerdictCount& last = pod.verdicts[pod.last_verdict];
    StrongText("Why", *app);
    ImGui::SameLine();
    DimText(absl::StrCat("the last answer, ", Counted(last.times, "time", "times"), ", at ",
                         InstantText(last.last, *app)),
            *app);
    for (const std::string& reason : view::VerdictReasons(last.text)) WrappedText(reason);
    // The most frequent ones of the rest.
    std::vector<size_t> others;
    for (size_t v = 0; v < pod.verdicts.size(); ++v) {
      if (v != pod.last_verdict) others.push_back(v);
    }
    std::stable_sort(others.begin(), others.end(), [&](size_t a, size_t b) {
      return pod.verdicts[a].times > pod.verdicts[b].times;
    });
    for (size_t i = 0; i < std::min(others.size(), kMostVerdicts); ++i) {
      const view::VerdictCount& verdict = pod.verdicts[others[i]];
      WrappedDimText(
          absl::StrCat("before, ", Counted(verdict.times, "time", "times"), ": ", verdict.text),
          *app);
    }
    if (others.size() > kMostVerdicts) {
      DimText(absl::StrCat("and ", Counted(static_cast<int64_t>(others.size() - kMostVerdicts),
                                           "other answer", "other answers")),
              *app);
    }
  }
  const std::string room = view::PodRoomText(pod);
  if (room.empty()) return;
  const bool fits = pod.nodes_that_fit > 0;
  InBox(app->theme().categories[fits ? 3 : 1], *app, [&] { StrongText(room, *app); });
}

void PodPage::DrawNodes(const view::PodInspection& pod, AppState* app) {
  constexpr size_t kMostCells = 128;
  if (pod.phase != PodPhase::kPending || app->a.snapshot == nullptr) return;
  const view::NodeTable& nodes = app->a.snapshot->nodes;
  if (nodes.rows() == 0) return;
  StrongText("Nodes", *app);
  ImGui::SameLine();
  DimText(absl::StrCat("GPUs with room for ", pod.wants, " now"), *app);
  // All nodes of a small cluster, so that each keeps its place; of a large one those with room.
  struct Cell {
    const std::string* name;
    const view::RoomyNode* room;  // null: no room
  };
  std::vector<Cell> cells;
  if (nodes.rows() <= kMostCells) {
    size_t next = 0;  // pod.room is sorted by node
    for (size_t n = 0; n < nodes.rows(); ++n) {
      while (next < pod.room.size() && pod.room[next].node.value() < n) ++next;
      const bool roomy = next < pod.room.size() && pod.room[next].node.value() == n;
      cells.push_back({&nodes.row(n).name, roomy ? &pod.room[next] : nullptr});
    }
  } else {
    for (size_t i = 0; i < std::min(pod.room.size(), kMostCells); ++i) {
      cells.push_back({&pod.room[i].name, &pod.room[i]});
    }
  }
  const view::Theme& theme = app->theme();
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const float side = std::floor(ImGui::GetTextLineHeight() * 1.15F);
  const float step = side + 2;
  const auto per_row =
      static_cast<size_t>(std::max(std::floor(ImGui::GetContentRegionAvail().x / step), 1.0F));
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const size_t rows = (cells.size() + per_row - 1) / per_row;
  if (rows > 0) {
    ImGui::InvisibleButton("nodes",
                           ImVec2(static_cast<float>(std::min(per_row, cells.size())) * step,
                                  static_cast<float>(rows) * step));
  }
  const bool hovered = rows > 0 && ImGui::IsItemHovered();
  const ImVec2 mouse = ImGui::GetMousePos();
  for (size_t i = 0; i < cells.size(); ++i) {
    const view::RoomyNode* const room = cells[i].room;
    const size_t row = i / per_row;
    const ImVec2 from(origin.x + static_cast<float>(i % per_row) * step,
                      origin.y + static_cast<float>(row) * step);
    const ImVec2 to(from.x + side, from.y + side);
    // Room for all of the pod is stronger than room for its largest part.
    Rgb fill = theme.free_cell;
    if (room != nullptr)
      fill = view::Blend(theme.panel, theme.categories[1], room->fits ? 700 : 350);
    list->AddRectFilled(from, to, Packed(fill));
    const std::string text = room != nullptr ? absl::StrCat(room->gpus) : std::string("·");
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    list->AddText(ImVec2(from.x + (side - size.x) / 2, from.y + (side - size.y) / 2),
                  Packed(room != nullptr ? view::TextOn(fill) : theme.dim_text), text.c_str());
    if (!hovered || mouse.x < from.x || mouse.x >= to.x || mouse.y < from.y || mouse.y >= to.y) {
      continue;
    }
    list->AddRect(from, to, Packed(theme.text));
    ImGui::SetTooltip("%s: %s", cells[i].name->c_str(),
                      room == nullptr ? "no room"
                      : room->fits    ? "room for all of it"
                                      : "room for its largest part alone");
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
      app->Select({ObjectKind::kNode, *cells[i].name});
    }
  }
  if (nodes.rows() > kMostCells) {
    DimText(absl::StrCat(Counted(static_cast<int64_t>(pod.room.size()), "node", "nodes"), " of ",
                         CommaText(static_cast<int64_t>(nodes.rows())), " with some room",
                         pod.room.size() > kMostCells ? ", the first of them shown" : ""),
            *app);
  }
}

}  // namespace drasim::gui
