// The views of `--view map,plots,inspect` and of the menu: names and sets of them.
#ifndef DRASIM_GUI_APP_VIEW_LIST_H_
#define DRASIM_GUI_APP_VIEW_LIST_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace drasim::gui {

enum class ViewKind : uint8_t {
  kMap,
  kPlots,
  kPods,
  kNodes,
  kClaims,
  kTenants,
  kInspect,
  kCompare,
};
inline constexpr int kViewKinds = 8;
absl::string_view ViewName(ViewKind view);  // "map"

class ViewSet {
 public:
  bool Has(ViewKind view) const { return (bits_ >> static_cast<int>(view) & 1) != 0; }
  void Add(ViewKind view) { bits_ |= 1U << static_cast<int>(view); }
  void Remove(ViewKind view) { bits_ &= ~(1U << static_cast<int>(view)); }
  bool empty() const { return bits_ == 0; }
  bool operator==(const ViewSet&) const = default;

 private:
  uint32_t bits_ = 0;
};

// map, plots, pods, inspect.
ViewSet DefaultViews();
// Comma-separated names. InvalidArgument names the first unknown one and all that exist.
absl::StatusOr<ViewSet> ParseViews(absl::string_view text);
std::string ViewsText(const ViewSet& views);

}  // namespace drasim::gui

#endif  // DRASIM_GUI_APP_VIEW_LIST_H_
