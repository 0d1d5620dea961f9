#include "gui/session/run_overview.h"

#include "absl/strings/str_cat.h"
#include "gui/view/unit_text.h"

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

}  // namespace drasim::gui
