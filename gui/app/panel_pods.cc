#include "gui/app/panel_pods.h"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gui/app/app_state.h"
#include "gui/app/live_table.h"
#include "gui/app/plot_draw.h"
#include "gui/app/widgets.h"
#include "gui/session/run_snapshot.h"
#include "gui/view/palette.h"
#include "gui/view/pod_filter.h"
#include "gui/view/pod_story.h"
#include "gui/view/pod_table.h"
#include "gui/view/profile_ink.h"
#include "gui/view/table_model.h"
#include "gui/view/unit_text.h"
#include "model/cluster_state.h"

namespace drasim::gui {
namespace {

using view::PodTable;

const view::TableSource* PodsOf(const RunSnapshot& run) { return &run.pods; }

// "no room: 3 Insufficient cpu"; as much of it as the column has room for.
std::string VerdictText(const PodTable& pods, size_t row) {
  const absl::string_view name = pods.short_verdict(row);
  const std::string words = view::ShortVerdict(pods.verdict(row));
  return name.empty() || words == name ? words : absl::StrCat(name, ": ", words);
}

bool Waits(PodPhase phase) { return phase == PodPhase::kPending || phase == PodPhase::kAssumed; }

class PodsPanel : public Panel {
 public:
  PodsPanel() : table_(&PodsOf) {
    table_.SortBy(PodTable::kWaits, /*descending=*/true);
    look_.id = "pods";
    look_.columns = {PodTable::kName,    PodTable::kWants, PodTable::kWaits,  PodTable::kTries,
                     PodTable::kVerdict, PodTable::kState, PodTable::kTenant, PodTable::kNode};
    look_.link_column = PodTable::kName;
    look_.link_kind = ObjectKind::kPod;
    look_.dim_column = PodTable::kVerdict;
    look_.shown = [this](size_t row) { return VerdictText(table_.run().pods, row); };
    look_.other_links = {{PodTable::kTenant, ObjectKind::kTenant},
                         {PodTable::kNode, ObjectKind::kNode}};
    look_.square_column = PodTable::kWants;
    look_.square = [this](size_t row) { return InkOf(row); };
    SetFilter();
  }

  ViewKind view() const override { return ViewKind::kPods; }
  absl::string_view title() const override { return "Pods"; }
  std::string Subtitle(const AppState& app) const override {
    if (app.a.snapshot == nullptr || app.a.overview == nullptr) return "";
    return absl::StrCat(view::CommaText(app.a.snapshot->waiting), " waiting at ",
                        app.a.overview->TimeText(app.a.snapshot->time));
  }

  void Draw(AppState* app, bool focused) override {
    if (app->pod_filter != typed_) ReadFilter(app->pod_filter);
    table_.Update(app->a.snapshot, app);
    DrawFilter(app);
    if (!table_.ready()) return;
    if (table_.model()->size() == 0) {
      DimText(filter_.empty() && waiting_alone_ ? "No pod waits." : "No pod passes the filter.",
              *app);
    }
    UpdateInks(*app);
    look_.takes_keys = focused;
    DrawTable(look_, table_.source(), table_.model(), app);
  }

  std::vector<PanelExport> Exports(const AppState&) override {
    if (!table_.ready()) return {};
    return {{"pods.csv", table_.model()->Csv()}};
  }

 private:
  // A bad filter leaves the last good one in force.
  void ReadFilter(const std::string& typed) {
    typed_ = typed;
    absl::StatusOr<view::PodFilter> filter = view::PodFilter::Parse(typed);
    error_ = filter.ok() ? std::string() : std::string(filter.status().message());
    if (!filter.ok()) return;
    filter_ = *std::move(filter);
    SetFilter();
  }

  void SetFilter() {
    const bool waiting_alone = waiting_alone_ && !filter_.asks_for_state();
    table_.Filter([filter = filter_, waiting_alone](const RunSnapshot& run) {
      LiveTable::Rows rows;
      if (waiting_alone) rows.first = run.pods.ended();
      if (waiting_alone || !filter.empty()) {
        rows.keep = [filter, waiting_alone, pods = &run.pods](size_t row) {
          if (waiting_alone && !Waits(pods->row(row).phase)) return false;
          return filter.empty() || filter.Matches(pods->Facts(row));
        };
      }
      return rows;
    });
  }

  // "240 of 1,102"
  std::string CountText() {
    if (!table_.ready()) return "";
    const bool of_waiting = waiting_alone_ && !filter_.asks_for_state();
    const int64_t all =
        of_waiting ? table_.run().waiting : static_cast<int64_t>(table_.source().rows());
    const auto shown = static_cast<int64_t>(table_.model()->size());
    // Pods that start are shown with those that wait, and are counted with them here alone.
    if (filter_.empty()) return view::CommaText(shown);
    return absl::StrCat(view::CommaText(shown), " of ", view::CommaText(std::max(all, shown)));
  }

  void DrawFilter(AppState* app) {
    static constexpr std::array<absl::string_view, 2> kScopes = {"waiting", "all"};
    const std::string count = CountText();
    const ImGuiStyle& style = ImGui::GetStyle();
    float right = ImGui::CalcTextSize(count.c_str()).x + style.ItemSpacing.x;
    for (const absl::string_view scope : kScopes) {
      right += ImGui::CalcTextSize(scope.data(), scope.data() + scope.size()).x +
               2 * style.FramePadding.x + style.ItemSpacing.x;
    }
    ImGui::SetNextItemWidth(
        std::max(ImGui::GetContentRegionAvail().x - right, ImGui::GetFontSize() * 6));
    std::string typed = app->pod_filter;
    if (ImGui::InputTextWithHint("##filter", "wants:7g.80gb waits:>1h tenant:a", &typed)) {
      app->pod_filter = typed;
      ReadFilter(typed);
    }
    ImGui::SameLine();
    int scope = waiting_alone_ && !filter_.asks_for_state() ? 0 : 1;
    if (Choice("", kScopes, &scope, *app)) {
      waiting_alone_ = scope == 0;
      SetFilter();
    }
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    DimText(count, *app);
    if (!error_.empty()) {
      ImGui::PushStyleColor(ImGuiCol_Text, Packed(app->theme().stranded));
      WrappedText(error_);
      ImGui::PopStyleColor();
    }
  }

  // Colours of the profiles that pods ask for, by text, since many pods ask for the same.
  void UpdateInks(const AppState& app) {
    if (inks_theme_ == app.looks.theme && inks_profiles_ == table_.run().map.profiles) return;
    inks_theme_ = app.looks.theme;
    inks_profiles_ = table_.run().map.profiles;
    inks_.clear();
  }

  const view::Ink* InkOf(size_t row) {
    const std::string& wants = table_.run().pods.wants(row);
    const auto [entry, is_new] = inks_.try_emplace(wants);
    if (is_new) entry->second = ProfileInk(view::ThemeOf(inks_theme_), inks_profiles_, wants);
    return entry->second.has_value() ? &*entry->second : nullptr;
  }

  LiveTable table_;
  TableLook look_;
  std::string typed_;
  std::string error_;
  view::PodFilter filter_;
  bool waiting_alone_ = true;
  view::ThemeKind inks_theme_ = view::ThemeKind::kDark;
  std::vector<std::string> inks_profiles_;
  absl::flat_hash_map<std::string, std::optional<view::Ink>> inks_;
};

}  // namespace

std::unique_ptr<Panel> MakePodsPanel() { return std::make_unique<PodsPanel>(); }

}  // namespace drasim::gui
