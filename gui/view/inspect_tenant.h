// TenantInspection: the contents of a tenant's inspector: its figures, the requests of its pods
// with the waits of each kind, and the pods that wait longest.
#ifndef DRASIM_GUI_VIEW_INSPECT_TENANT_H_
#define DRASIM_GUI_VIEW_INSPECT_TENANT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gui/view/pod_table.h"
#include "gui/view/tenant_table.h"

namespace drasim::view {

// The pods that want the same.
struct WantsGroup {
  std::string wants;
  int64_t pods = 0;
  int64_t waiting = 0;
  int64_t running = 0;
  WaitFigures waits;
};
// The groups of some of the pods, those with the longest mean wait first; ties by text. O(n log n).
std::vector<WantsGroup> GroupByWants(const PodTable& pods, const std::vector<size_t>& some);

// Pods with the longest waits in all, at most `limit`; ties in order of arrival. Pods that never
// waited are left out. O(pods).
std::vector<size_t> LongestWaits(const PodTable& pods, const std::vector<size_t>& some,
                                 size_t limit);

struct TenantWait {
  std::string pod;
  std::string wants;
  SimDuration waits;
};

struct TenantInspection {
  TenantTableRow figures;
  std::vector<WantsGroup> by_wants;
  std::vector<TenantWait> longest_waits;  // of pods that wait
};

inline constexpr size_t kInspectedWaits = 20;

// `name` as in the TenantTable: "(none)" is that of pods without a tenant. NotFound when no pod has
// it, with a suggestion. O(pods log pods).
absl::StatusOr<TenantInspection> InspectTenant(const PodTable& pods, absl::string_view name);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_INSPECT_TENANT_H_
