// Sources for the kind of a node's GPUs: labels, then the catalogue, then names of products.
#include "policies/devices/gpu_kinds.h"

#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "tests/testing/claim_driver_rig.h"

namespace drasim {
namespace gpu_kinds_test {

GpuKind Known(const std::string& model, const std::string& brand, const std::string& architecture,
              const std::string& compute_capability, int64_t memory_mib) {
  GpuKind kind;
  kind.model = model;
  kind.product = model;
  kind.brand = brand;
  kind.architecture = architecture;
  kind.compute_capability = compute_capability;
  kind.memory_mib = memory_mib;
  return kind;
}

TEST(GpuKindsTest, ByName) {
  GpuCluster cluster;
  for (const GpuKind& wanted :
       {Known("V100M16", "Tesla", "volta", "7.0", 16384),
        Known("T4", "Tesla", "turing", "7.5", 16384),
        Known("Tesla-V100-PCIE", "Tesla", "volta", "7.0", 0),
        Known("A10", "Nvidia", "ampere", "8.6", 24576),
        Known("L40S", "Nvidia", "ada-lovelace", "8.9", 49152),
        Known("Flex-170", "Intel", "xe-hpg", "", 16384), Known("GT430", "", "", "", 0),
        Known("A1000", "", "", "", 0), Known("G2", "", "", "", 0)}) {
    const NodeId node = cluster.Add(wanted.model, 1);
    const GpuKind found = KindOfGpus(cluster.cluster(), node);
    EXPECT_TRUE(found == wanted) << wanted.model << ": " << found.brand << " " << found.architecture
                                 << " " << found.compute_capability << " " << found.memory_mib;
  }
}

TEST(GpuKindsTest, ByTheCatalogue) {
  GpuCluster cluster;
  GpuKind wanted = Known("A30", "Nvidia", "ampere", "8.0", 24576);
  wanted.table = &cluster.a30();
  EXPECT_TRUE(KindOfGpus(cluster.cluster(), cluster.Add("A30", 1)) == wanted);
}

TEST(GpuKindsTest, LabelsGoFirst) {
  GpuCluster cluster;
  const NodeId node = cluster.Add("A30", 1,
                                  {{"nvidia.com/cuda.driver-version.full", "550.54.15"},
                                   {"nvidia.com/cuda.runtime-version.full", "12.4"},
                                   {"nvidia.com/gpu.compute.major", "9"},
                                   {"nvidia.com/gpu.compute.minor", "1"},
                                   {"nvidia.com/gpu.family", "hopper"},
                                   {"nvidia.com/gpu.memory", "1000"},
                                   {"nvidia.com/gpu.product", "NVIDIA-A30"}});
  GpuKind wanted = Known("A30", "Nvidia", "hopper", "9.1", 1000);
  wanted.product = "NVIDIA-A30";
  wanted.driver_version = "550.54.15";
  wanted.cuda_version = "12.4";
  wanted.table = &cluster.a30();
  EXPECT_TRUE(KindOfGpus(cluster.cluster(), node) == wanted);
}

}  // namespace gpu_kinds_test
}  // namespace drasim
