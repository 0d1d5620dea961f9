#include <imgui.h>

#include <array>
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gui/app/inspect_draw.h"
#include "gui/app/widgets.h"
#include "gui/view/inspect_tenant.h"
#include "gui/view/unit_text.h"
#include "gui/view/wait_text.h"
#include "model/number_text.h"
#include "model/pod_shape.h"

namespace drasim::gui {
namespace {

void DrawGroups(const view::TenantInspection& tenant, const AppState& app) {
  static constexpr std::array<const char*, 6> kNames = {"asks for", "pods",      "waiting",
                                                        "running",  "mean wait", "p95"};
  if (!ImGui::BeginTable("by wants", static_cast<int>(kNames.size()),
                         ImGuiTableFlags_SizingFixedFit)) {
    return;
  }
  for (const char* const name : kNames) {
    ImGui::TableNextColumn();
    DimText(name, app);
  }
  for (const view::WantsGroup& group : tenant.by_wants) {
    const bool waits = group.waits.pods > 0;
    for (const std::string& cell :
         {group.wants, view::CommaText(group.pods), view::CommaText(group.waiting),
          view::CommaText(group.running), waits ? view::WaitText(group.waits.mean) : std::string(),
          waits ? view::WaitText(group.waits.p95) : std::string()}) {
      ImGui::TableNextColumn();
      Text(cell);
    }
  }
  ImGui::EndTable();
}

}  // namespace

void DrawTenantInspection(const Inspection& inspection, AppState* app) {
  const view::TenantInspection& tenant = *inspection.tenant;
  const view::TenantTableRow& figures = tenant.figures;
  Fact("pods",
       absl::StrCat(view::CommaText(figures.pods), ": ", view::CommaText(figures.waiting),
                    " waiting, ", view::CommaText(figures.running), " running, ",
                    view::CommaText(figures.ended), " ended"),
       *app);
  Fact("GPUs now", FixedText(static_cast<double>(figures.gpu_milli) / kDeviceMilli, 2), *app);
  Fact("GPU-hours so far", FixedText(figures.gpu_hours, 1), *app);
  if (figures.waits.pods > 0) {
    Fact(
        "first wait",
        absl::StrCat("mean ", view::WaitText(figures.waits.mean), ", p50 ",
                     view::WaitText(figures.waits.p50), ", p95 ", view::WaitText(figures.waits.p95),
                     ", longest ", view::WaitText(figures.waits.longest)),
        *app);
  }
  Fact("failed attempts", view::CommaText(figures.attempts_failed), *app);
  Fact("evictions", view::CommaText(figures.evictions), *app);
  StrongText("By request", *app);
  DrawGroups(tenant, *app);
  if (tenant.longest_waits.empty()) return;
  StrongText("Longest waits", *app);
  ImGui::SameLine();
  DimText("of pods that wait now", *app);
  for (const view::TenantWait& wait : tenant.longest_waits) {
    PodLink(wait.pod, app);
    ImGui::SameLine();
    Text(wait.wants);
    ImGui::SameLine();
    DimText(view::WaitText(wait.waits), *app);
  }
}

}  // namespace drasim::gui
