#include <imgui.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "gui/app/inspect_draw.h"
#include "gui/app/widgets.h"
#include "gui/view/inspect_node.h"
#include "gui/view/node_table.h"
#include "gui/view/unit_text.h"
#include "model/number_text.h"
#include "model/pod_shape.h"

namespace drasim::gui {
namespace {

std::string OfText(double part, double whole, int decimals) {
  return absl::StrCat(FixedText(part, decimals), " of ", FixedText(whole, decimals));
}

std::string Gpus(int64_t milli) { return FixedText(static_cast<double>(milli) / kDeviceMilli, 2); }

void DrawFigures(const view::NodeInspection& node, const AppState& app) {
  constexpr double kGib = 1 << 30;
  const view::NodeTableRow& figures = node.figures;
  Fact("state", view::NodeStateName(figures.state), app);
  if (!figures.model.empty()) Fact("model", figures.model, app);
  if (figures.gpus > 0) {
    Fact("GPUs allocated", absl::StrCat(Gpus(figures.gpu_milli), " of ", figures.gpus), app);
    Fact("whole GPUs idle", absl::StrCat(node.gpus_idle), app);
    if (figures.slices.slices == 0) {
      Fact("most idle of one", absl::StrCat(Gpus(node.largest_idle_milli), " GPU"), app);
    }
  }
  if (figures.slices.slices > 0) {
    Fact("slices held", absl::StrCat(figures.slices.held, " of ", figures.slices.slices), app);
    Fact("slices stranded", absl::StrCat(figures.slices.stranded), app);
  }
  Fact("CPU cores",
       OfText(static_cast<double>(figures.cpu_milli) / 1000,
              static_cast<double>(figures.cpu_milli_capacity) / 1000, 1),
       app);
  Fact("memory, GiB",
       OfText(static_cast<double>(figures.memory_bytes) / kGib,
              static_cast<double>(figures.memory_bytes_capacity) / kGib, 1),
       app);
}

}  // namespace

void NodePage::Draw(const Inspection& inspection, AppState* app) {
  constexpr size_t kMostEvents = 12;
  constexpr size_t kMostPods = 200;
  const view::NodeInspection& node = *inspection.node;
  DrawFigures(node, *app);
  if (!node.room.empty()) {
    StrongText("What would still fit", *app);
    ImGui::SameLine();
    DimText("instances of one profile alone", *app);
    for (const view::ProfileRoom& room : node.room) {
      Fact(room.profile,
           room.more == 0 ? std::string("none")
                          : absl::StrCat(room.more, " more, on ", room.gpus,
                                         room.gpus == 1 ? " GPU" : " GPUs"),
           *app);
    }
  }
  if (!node.events.empty()) {
    StrongText("Events", *app);
    const size_t shown = std::min(node.events.size(), kMostEvents);
    for (size_t i = 0; i < shown; ++i) {
      const view::NodeEvent& event = node.events[node.events.size() - 1 - i];
      if (TextButton(InstantText(event.time, *app), *app)) app->timeline.MoveTo({event.time});
      ImGui::SameLine(ImGui::GetFontSize() * 9);
      WrappedText(event.text);
    }
  }
  StrongText("Pods", *app);
  ImGui::SameLine();
  DimText(view::CommaText(static_cast<int64_t>(node.pods.size())), *app);
  const size_t shown = std::min(node.pods.size(), kMostPods);
  for (size_t p = 0; p < shown; ++p) {
    const view::ResidentPod& pod = node.pods[p];
    PodLink(pod.name, app);
    ImGui::SameLine();
    Text(pod.wants);
    ImGui::SameLine();
    DimText(absl::StrCat(pod.devices, pod.devices.empty() ? "" : " ", "for ",
                         LengthText(node.now - pod.since, *app)),
            *app);
  }
  if (shown < node.pods.size()) {
    DimText(absl::StrCat("and ", view::CommaText(static_cast<int64_t>(node.pods.size() - shown)),
                         " more"),
            *app);
  }
  what_if_.DrawNodeEvents(node.figures.name, app);
  what_if_.DrawKeyEditor(app);
}

}  // namespace drasim::gui
