#include "gui/app/view_list.h"

#include <array>
#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "model/text/did_you_mean.h"

namespace drasim::gui {
namespace {

constexpr std::array<absl::string_view, kViewKinds> kViewNames = {
    "map", "plots", "pods", "nodes", "claims", "tenants", "inspect", "compare"};

}  // namespace

absl::string_view ViewName(ViewKind view) { return kViewNames[static_cast<size_t>(view)]; }

ViewSet DefaultViews() {
  ViewSet views;
  for (const ViewKind view :
       {ViewKind::kMap, ViewKind::kPlots, ViewKind::kPods, ViewKind::kInspect}) {
    views.Add(view);
  }
  return views;
}

absl::StatusOr<ViewSet> ParseViews(absl::string_view text) {
  ViewSet views;
  for (const absl::string_view word : absl::StrSplit(text, ',')) {
    const absl::string_view name = absl::StripAsciiWhitespace(word);
    size_t found = 0;
    while (found < kViewNames.size() && kViewNames[found] != name) ++found;
    if (found == kViewNames.size()) {
      const std::vector<std::string> known(kViewNames.begin(), kViewNames.end());
      return absl::InvalidArgumentError(absl::StrCat("found '", name, "', expected a list of ",
                                                     absl::StrJoin(known, ", "), ", with commas",
                                                     Suggest(name, known)));
    }
    views.Add(static_cast<ViewKind>(found));
  }
  return views;
}

std::string ViewsText(const ViewSet& views) {
  std::string text;
  for (int i = 0; i < kViewKinds; ++i) {
    const auto view = static_cast<ViewKind>(i);
    if (!views.Has(view)) continue;
    absl::StrAppend(&text, text.empty() ? "" : ",", ViewName(view));
  }
  return text;
}

}  // namespace drasim::gui
