// Options of the resource scores (policies/plugins/resource_scores.h, balanced_allocation.h): the
// resources and their weights, and the curve of RequestedToCapacityRatio.
#ifndef DRASIM_POLICIES_FRAMEWORK_RESOURCE_SCORE_OPTIONS_H_
#define DRASIM_POLICIES_FRAMEWORK_RESOURCE_SCORE_OPTIONS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace drasim {

// Limits are those of kube-scheduler's NodeResourcesFitArgs; CheckResourceScoreOptions() checks
// them. All plugins of a profile share one set of options.
struct ResourceScoreOptions {
  // Name and weight (1 to 100), each name once. Names are "cpu", "memory", any resource that nodes
  // advertise, and "gpu" for the devices of the direct front end, whole or shared (not for MIG
  // instances). Empty: the plugin's default.
  std::vector<std::pair<std::string, int64_t>> resources;
  // Points of a piecewise linear curve: utilisation in percent (0 to 100, increasing), score (0 to
  // 10). Empty: from (0, 0) to (100, 10).
  std::vector<std::pair<int32_t, int32_t>> shape;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_FRAMEWORK_RESOURCE_SCORE_OPTIONS_H_
