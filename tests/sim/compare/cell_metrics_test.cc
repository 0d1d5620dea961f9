// The columns of comparisons: their names are those that scenarios are checked against.
#include "sim/compare/cell_metrics.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "sim/scenario/comparison.h"

namespace drasim {
namespace cell_metrics_test {

TEST(CellMetricsTest, ScenariosKnowTheNamesOfAll) {
  std::vector<std::string> names;
  for (const CellMetric& metric : AllMetrics()) names.emplace_back(metric.name);
  EXPECT_EQ(std::vector<std::string>(MetricNames().begin(), MetricNames().end()), names);
}

}  // namespace cell_metrics_test
}  // namespace drasim
