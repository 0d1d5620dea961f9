// The embedded openb-like workload and cluster give the published figures of the trace that they
// were counted from: each policy's allocation, as the mean over 20 seeds, within half a point.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "model/proto/scenario.pb.h"
#include "sim/compare/cell.h"
#include "sim/compare/parallel.h"
#include "sim/scenario/resolve.h"

namespace drasim {
namespace embedded_default_test {

constexpr uint64_t kFirstSeed = 42;
constexpr size_t kSeeds = 20;
constexpr size_t kThreads = 2;

// GPU milli allocated, as % of all GPUs, when the pods that arrived ask for 100 % and 130 % of
// them. Source: the FGD artifact's results for its default trace, means over ten seeds.
struct Published {
  const char* policy;
  double at_100;
  double at_130;
};
constexpr Published kPublished[] = {
    {"random", 86.30, 87.47},      {"dotprod", 90.62, 90.85},  {"gpu-clustering", 91.65, 91.88},
    {"gpu-packing", 91.78, 92.00}, {"best-fit", 92.86, 93.08}, {"fgd", 95.23, 95.39},
};
constexpr size_t kPolicies = sizeof(kPublished) / sizeof(kPublished[0]);

TEST(EmbeddedDefaultTest, EveryPolicyWithinHalfAPointOfThePublishedFigure) {
  std::vector<CellResult> cells(kPolicies * kSeeds);
  const absl::Status ran = ForEachInParallel(
      cells.size(), kThreads,
      [&cells](size_t i) -> absl::Status {
        proto::Scenario scenario;
        scenario.set_order("seeded");
        scenario.set_seed(kFirstSeed + i % kSeeds);
        scenario.mutable_workload()->mutable_tuning()->set_ratio(1.3);
        scenario.mutable_scheduler()->set_policy(kPublished[i / kSeeds].policy);
        const absl::StatusOr<RunSpec> spec = ResolveScenario(scenario);
        if (!spec.ok()) return spec.status();
        absl::StatusOr<CellResult> cell = RunCell(*spec);
        if (!cell.ok()) return cell.status();
        cells[i] = *std::move(cell);
        return absl::OkStatus();
      },
      [](size_t) {});
  ASSERT_EQ(ran, absl::OkStatus());
  for (size_t p = 0; p < kPolicies; ++p) {
    double sum_100 = 0;
    double sum_130 = 0;
    for (size_t s = 0; s < kSeeds; ++s) {
      const CellResult& cell = cells[p * kSeeds + s];
      EXPECT_EQ(cell.gpu_capacity_milli, 6212000);
      const LoadRow* at_100 = cell.AtLoad(100);
      const LoadRow* at_130 = cell.AtLoad(130);
      ASSERT_TRUE(at_100 != nullptr && at_130 != nullptr);
      sum_100 += at_100->gpu_allocation_percent;
      sum_130 += at_130->gpu_allocation_percent;
    }
    EXPECT_LE(std::fabs(sum_100 / static_cast<double>(kSeeds) - kPublished[p].at_100), 0.5)
        << kPublished[p].policy << " at 100: " << sum_100 / static_cast<double>(kSeeds);
    EXPECT_LE(std::fabs(sum_130 / static_cast<double>(kSeeds) - kPublished[p].at_130), 0.5)
        << kPublished[p].policy << " at 130: " << sum_130 / static_cast<double>(kSeeds);
  }
}

}  // namespace embedded_default_test
}  // namespace drasim
