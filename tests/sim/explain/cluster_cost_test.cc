// The cost of explaining a cluster is linear in the dump. The bound leaves a margin of half the
// measured cost.
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "sim/explain/cluster.h"
#include "tests/sim/explain/big_dump.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/thread_cpu.h"

namespace drasim {
namespace cluster_cost_test {

double CostOfDump(int nodes, int pods, int waiting) {
  const TempDir dir;
  dir.Write("dump.yaml", explain_rig::BigDump(nodes, pods, waiting));
  return LeastCpuSeconds(3, [&] {
    std::vector<std::string> warnings;
    const absl::StatusOr<std::string> text =
        ExplainCluster({dir.PathOf("dump.yaml")}, "", OutputFormat::kText, &warnings);
    EXPECT_EQ(text.status(), absl::OkStatus());
    EXPECT_EQ(warnings, std::vector<std::string>());
  });
}

// The number of pods that wait is the same.
TEST(ClusterCostTest, GrowsWithTheDump) {
  EXPECT_LT(CostOfDump(800, 6400, 640), 6 * CostOfDump(200, 1600, 160));
}

}  // namespace cluster_cost_test
}  // namespace drasim
