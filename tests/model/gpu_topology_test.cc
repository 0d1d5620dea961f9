#include "model/gpu_topology.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/device_spec.h"

namespace drasim {
namespace gpu_topology_test {

DeviceSpec Gpu(std::string product, std::string nvlink = "") {
  DeviceSpec gpu;
  gpu.product = std::move(product);
  gpu.nvlink = std::move(nvlink);
  return gpu;
}

DeviceSpec At(int32_t numa_node, std::string root = "", int32_t pcie_switch = -1) {
  DeviceSpec gpu;
  gpu.numa_node = numa_node;
  gpu.pcie_root = std::move(root);
  gpu.pcie_switch = pcie_switch;
  return gpu;
}

int32_t Score(const DeviceSpec& a, const DeviceSpec& b) {
  return GpuTopology(std::vector<DeviceSpec>{a, b}).pair_score(0, 1);
}

TEST(LinksOfProductTest, KnowsProductsByTheirNames) {
  struct Row {
    const char* product;
    int32_t nvlinks;
    bool nvswitch;
    bool bridge;
  };
  const std::vector<Row> rows = {
      {"A100-SXM4-80GB", 12, true, false},
      {"NVIDIA A100-SXM4-40GB", 12, true, false},
      {"a100-sxm4-40gb", 12, true, false},
      {"H100-80GB-SXM", 18, true, false},
      {"H100-SXM5-94GB", 18, true, false},
      {"H200-SXM5-141GB", 18, true, false},
      {"B200-SXM6-180GB", 18, true, false},
      {"B300-SXM6", 18, true, false},
      {"GB200 186GB", 18, true, false},
      {"GB300", 18, true, false},
      {"H100 NVL 94GB (PCIe)", 12, false, true},
      {"H100-PCIE-80GB", 12, false, true},
      {"A30-PCIE-24GB", 4, false, true},
      {"Tesla V100-SXM2-32GB", 6, false, false},
      // Names that do not say how they are connected, or look like others.
      {"A100-80GB", 0, false, false},
      {"A100-PCIE-40GB", 0, false, false},
      {"V100M32", 0, false, false},
      {"V100-PCIE-16GB", 0, false, false},
      {"H100 on GH200 96GB", 0, false, false},
      {"GH200 144G HBM3e", 0, false, false},
      {"RTX A3000", 0, false, false},
      {"T4", 0, false, false},
      {"G2", 0, false, false},
      {"", 0, false, false},
  };
  for (const Row& row : rows) {
    const GpuProductLinks links = LinksOfProduct(row.product);
    EXPECT_EQ(links.nvlinks, row.nvlinks) << row.product;
    EXPECT_EQ(links.nvswitch, row.nvswitch) << row.product;
    EXPECT_EQ(links.bridge, row.bridge) << row.product;
  }
}

TEST(GpuTopologyTest, PcieScoresFollowTheClosestCommonPart) {
  EXPECT_EQ(Score(At(0, "r0", 1), At(0, "r0", 1)), 50);
  EXPECT_EQ(Score(At(0, "r0", 1), At(0, "r0", 2)), 40);
  EXPECT_EQ(Score(At(0, "r0", 1), At(0, "r0")), 30);
  EXPECT_EQ(Score(At(0, "r0"), At(0, "r0")), 30);
  EXPECT_EQ(Score(At(0, "r0", 1), At(0, "r1", 1)), 20);
  EXPECT_EQ(Score(At(0), At(0)), 20);
  EXPECT_EQ(Score(At(0, "r0", 1), At(1, "r1", 1)), 10);
  EXPECT_EQ(Score(At(0), At(1)), 10);
  // Nothing known tells the two apart.
  EXPECT_EQ(Score(At(-1), At(-1)), 20);
  // A switch's number means something below a root only.
  EXPECT_EQ(Score(At(0, "", 3), At(0, "", 3)), 20);
}

TEST(GpuTopologyTest, SwitchedProductsSeeEachOtherOverAllLinks) {
  // The published matrix of a DGX A100: NV12 between any two.
  std::vector<DeviceSpec> dgx(8, Gpu("A100-SXM4-80GB"));
  for (size_t i = 0; i < dgx.size(); ++i) dgx[i].numa_node = i < 4 ? 0 : 1;
  const GpuTopology topology(dgx);
  ASSERT_EQ(topology.size(), 8U);
  for (size_t a = 0; a < 8; ++a) {
    for (size_t b = 0; b < 8; ++b) {
      const int32_t pcie = (a < 4) == (b < 4) ? 20 : 10;
      EXPECT_EQ(topology.pair_score(a, b), a == b ? 0 : 1200 + pcie) << a << " " << b;
    }
  }
}

TEST(GpuTopologyTest, BridgesJoinNeighbours) {
  const GpuTopology topology(std::vector<DeviceSpec>(4, Gpu("A30-PCIE-24GB")));
  for (size_t a = 0; a < 4; ++a) {
    for (size_t b = 0; b < 4; ++b) {
      if (a == b) continue;
      const bool bridged = (a < 2) == (b < 2);
      EXPECT_EQ(topology.pair_score(a, b), bridged ? 420 : 20) << a << " " << b;
    }
  }
}

TEST(GpuTopologyTest, DescriptionsGoBeforeProducts) {
  const std::string a100 = "A100-SXM4-80GB";
  EXPECT_EQ(Score(Gpu(a100), Gpu(a100)), 1220);
  EXPECT_EQ(Score(Gpu(a100, "none"), Gpu(a100, "none")), 20);
  // One of the two suffices.
  EXPECT_EQ(Score(Gpu(a100, "none"), Gpu(a100)), 20);
  EXPECT_EQ(Score(Gpu(a100), Gpu(a100, "none")), 20);
  EXPECT_EQ(Score(Gpu("V100-SXM2-32GB", "switch"), Gpu("V100-SXM2-32GB")), 620);
  EXPECT_EQ(Score(Gpu("V100-SXM2-32GB"), Gpu("V100-SXM2-32GB")), 20);
  // Each says something else: they are not on one fabric.
  EXPECT_EQ(Score(Gpu(a100, "pairs"), Gpu(a100, "switch")), 20);
  // A description says that there is a link, but the number of links is not known.
  EXPECT_EQ(Score(Gpu("G2", "switch"), Gpu("G2", "switch")), 120);
  EXPECT_EQ(Score(Gpu("G2", "pairs"), Gpu("G2")), 120);
  // Products with different numbers: a link has two ends.
  EXPECT_EQ(Score(Gpu(a100), Gpu("H100-80GB-SXM")), 1220);
  // A product that has a switch, and one that has none.
  EXPECT_EQ(Score(Gpu(a100), Gpu("A30-PCIE-24GB")), 20);
}

TEST(GpuTopologyTest, PairsAreCountedFromTheFirstGpu) {
  const GpuTopology topology(std::vector<DeviceSpec>(4, Gpu("A100-SXM4-80GB", "pairs")));
  EXPECT_EQ(topology.pair_score(0, 1), 1220);
  EXPECT_EQ(topology.pair_score(1, 2), 20);
  EXPECT_EQ(topology.pair_score(2, 3), 1220);
  EXPECT_EQ(topology.pair_score(3, 0), 20);
}

TEST(GpuTopologyTest, IsSymmetricAndMayBeEmpty) {
  EXPECT_EQ(GpuTopology(std::vector<DeviceSpec>()).size(), 0U);
  const GpuTopology topology(std::vector<DeviceSpec>{At(0, "r0", 0), At(0, "r0", 1), At(1, "r1"),
                                                     Gpu("A100-SXM4-80GB"), Gpu("T4", "switch")});
  for (size_t a = 0; a < topology.size(); ++a) {
    EXPECT_EQ(topology.pair_score(a, a), 0);
    for (size_t b = 0; b < a; ++b) EXPECT_EQ(topology.pair_score(a, b), topology.pair_score(b, a));
  }
}

}  // namespace gpu_topology_test
}  // namespace drasim
