#include "gui/view/typical_load.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "gui/view/compare_model.h"

namespace drasim::view {
namespace {

double PopularityOf(const std::string& scenario_yaml) {
  constexpr double kDefaultPercent = 95;  // that of scenarios
  double percent = 0;
  const std::string text = ScenarioValue(scenario_yaml, "scheduler.typical.popularity_percent");
  if (!absl::SimpleAtod(text, &percent) || !(percent > 0 && percent <= 100)) {
    return kDefaultPercent;
  }
  return percent;
}

}  // namespace

std::vector<TypicalPod> TypicalLoadOf(const ShapeTable& shapes, std::vector<int64_t> pods_by_shape,
                                      const std::string& scenario_yaml) {
  pods_by_shape.resize(shapes.size());
  std::vector<TypicalPod> typical =
      BuildTypicalPods(shapes, pods_by_shape, PopularityOf(scenario_yaml));
  const bool any_gpu = std::any_of(typical.begin(), typical.end(),
                                   [](const TypicalPod& pod) { return pod.gpu_count > 0; });
  if (!any_gpu) typical.clear();
  return typical;
}

}  // namespace drasim::view
