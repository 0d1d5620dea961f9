#include "gui/session/run_overview.h"

#include "absl/strings/str_cat.h"
#include "gui/view/scenario_text.h"
#include "gui/view/unit_text.h"
#include "gui/view/what_if.h"

namespace drasim::gui {

const view::Pyramid* RunOverview::Find(absl::string_view metric) const {
  for (const MetricSeries& metrics : series) {
    if (metrics.name == metric) return &metrics.data;
  }
  return nullptr;
}

std::string RunOverview::TimeText(SimTime at) const {
  return by_record ? absl::StrCat("record ", view::CommaText(at.ns())) : view::ClockText(at);
}

absl::Status RunOverview::CheckChange(absl::string_view key, absl::string_view value) const {
  if (view::IsOutsideOutline(scenario_outline, scenario_yaml, key)) return absl::OkStatus();
  return view::CheckValue(scenario_outline, key, value);
}

}  // namespace drasim::gui
