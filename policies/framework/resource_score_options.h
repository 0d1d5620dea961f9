// What the resource scores (policies/plugins/resource_scores.h, balanced_allocation.h) may be told:
// which resources count how much, and the curve of RequestedToCapacityRatio.
#ifndef DRASIM_POLICIES_FRAMEWORK_RESOURCE_SCORE_OPTIONS_H_
#define DRASIM_POLICIES_FRAMEWORK_RESOURCE_SCORE_OPTIONS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace drasim {

// The limits are those of kube-scheduler's NodeResourcesFitArgs; CheckResourceScoreOptions() tells
// whether they are kept. One set of options goes to all plugins of a profile.
struct ResourceScoreOptions {
  // Name and weight (1 to 100), each name once. "cpu", "memory", any resource that nodes advertise,
  // or "gpu" for devices, whole or shared, that the direct front end hands out (pods that ask for
  // MIG instances are not scored by them). Empty: the plugin's default.
  std::vector<std::pair<std::string, int64_t>> resources;
  // Points of a piecewise linear curve: utilisation in percent (0 to 100, increasing) and score
  // (0 to 10). Empty: from (0, 0) to (100, 10).
  std::vector<std::pair<int32_t, int32_t>> shape;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_FRAMEWORK_RESOURCE_SCORE_OPTIONS_H_
