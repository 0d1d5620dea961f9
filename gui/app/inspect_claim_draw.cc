#include <imgui.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gui/app/inspect_draw.h"
#include "gui/app/plot_draw.h"
#include "gui/app/widgets.h"
#include "gui/view/inspect_claim.h"
#include "gui/view/state_boxes.h"
#include "gui/view/unit_text.h"
#include "model/check.h"
#include "model/claim_change.h"
#include "sim/record/live_claims.h"

namespace drasim::gui {

void ClaimMachine::Draw(const std::shared_ptr<const Inspection>& claim, const AppState& app) {
  view::StateBoxesFrame frame;
  frame.width = ImGui::GetContentRegionAvail().x;
  frame.char_width = CharWidth(app);
  frame.line_height = LineHeight(app);
  frame.theme = app.looks.theme;
  if (drawn_ != claim || frame != frame_) {
    picture_ = view::DrawStateBoxes(view::StateBoxesOf(*claim->claim), frame);
    drawn_ = claim;
    frame_ = frame;
  }
  Picture(picture_.list, frame.width, picture_.height, app);
}

namespace {

// "attributes" and so on: what a group of facts is called.
absl::string_view FactsName(DeviceFactKind kind) {
  switch (kind) {
    case DeviceFactKind::kAttribute:
      return "attributes";
    case DeviceFactKind::kCapacity:
      return "capacity";
    case DeviceFactKind::kConsumed:
      return "takes";
    case DeviceFactKind::kCounter:
      return "counters";
    case DeviceFactKind::kTaint:
      return "taints";
  }
  DRASIM_UNREACHABLE("an unknown kind of device fact");
}

// A block for each device of a structured claim: its slice, and its facts by kind.
void DrawAllocatedDevices(const view::ClaimInspection& claim, const AppState& app) {
  for (const ClaimDevice& device : claim.allocated) {
    StrongText(device.device, app);
    ImGui::SameLine();
    DimText(absl::StrCat("for ", device.request), app);
    Fact("driver, pool", absl::StrCat(device.driver, ", ", device.pool), app);
    Fact("slice", device.slice.empty() ? "none: no longer published" : device.slice, app);
    for (size_t f = 0; f < device.facts.size();) {
      const DeviceFactKind kind = device.facts[f].kind;
      std::string text;
      for (; f < device.facts.size() && device.facts[f].kind == kind; ++f) {
        const DeviceFact& fact = device.facts[f];
        absl::StrAppend(&text, text.empty() ? "" : ", ", fact.name, " ", fact.value);
      }
      DimText(FactsName(kind), app);
      ImGui::SameLine(ImGui::GetFontSize() * 9);
      WrappedText(text);
    }
  }
}

}  // namespace

void ClaimPage::Draw(const std::shared_ptr<const Inspection>& inspection, AppState* app) {
  constexpr size_t kMostLines = 200;
  const view::ClaimInspection& claim = *inspection->claim;
  DimText(claim.deleted ? "deleted" : ClaimStateName(claim.state), *app);
  if (!claim.deleted) {
    ImGui::SameLine();
    StrongText(LengthText(claim.now - claim.since, *app), *app);
  }
  ImGui::SameLine();
  DimText(absl::StrCat(claim.mode, " · ", claim.class_name), *app);
  machine_.Draw(inspection, *app);
  const auto labelled = [&](absl::string_view label) {
    DimText(label, *app);
    ImGui::SameLine(ImGui::GetFontSize() * 9);
  };
  if (!claim.pod.empty()) {
    labelled("owner");
    PodLink(claim.pod, app);
  }
  if (!claim.selected_node.empty()) {
    labelled("selected node");
    NodeLink(claim.selected_node, app);
  }
  if (claim.nodes_asked > 0) {
    Fact("driver's answer",
         absl::StrCat("refuses ", claim.nodes_refused, " of ", claim.nodes_asked, " nodes"), *app);
  }
  if (!claim.node.empty()) {
    labelled("allocated on");
    NodeLink(claim.node, app);
  }
  if (!claim.devices.empty()) Fact("devices", claim.devices, *app);
  if (!claim.pods.empty()) {
    labelled("reserved for");
    for (size_t p = 0; p < claim.pods.size(); ++p) {
      if (p > 0) ImGui::SameLine();
      PodLink(claim.pods[p], app);
    }
  }
  DrawAllocatedDevices(claim, *app);
  if (!claim.words.empty()) {
    StrongText("Messages", *app);
    for (const view::ClaimWords& words : claim.words) {
      WrappedText(words.text);
      DimText(absl::StrCat(view::CommaText(words.times), words.times == 1 ? " time" : " times",
                           ", last at ", InstantText(words.last, *app)),
              *app);
    }
  }
  StrongText("History", *app);
  // The newest lines are of interest first.
  const size_t shown = std::min(claim.history.size(), kMostLines);
  for (size_t i = 0; i < shown; ++i) {
    const view::ClaimHistoryLine& line = claim.history[claim.history.size() - 1 - i];
    if (TextButton(InstantText(line.time, *app), *app)) app->timeline.MoveTo({line.time});
    ImGui::SameLine(ImGui::GetFontSize() * 9);
    WrappedText(line.text);
    for (const ObjectRef& object :
         {ObjectRef{ObjectKind::kNode, line.node}, ObjectRef{ObjectKind::kPod, line.pod}}) {
      if (object.name.empty()) continue;
      ImGui::SameLine();
      Link(object, app);
    }
  }
  if (shown < claim.history.size()) {
    DimText(
        absl::StrCat("and ", view::CommaText(static_cast<int64_t>(claim.history.size() - shown)),
                     " earlier changes"),
        *app);
  }
}

}  // namespace drasim::gui
