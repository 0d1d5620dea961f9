#include "policies/drivers/nvidia_config.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace drasim {
namespace {

// The error for a configuration of the kind with that `sharing`; empty for none.
std::string SharingError(const std::string& kind, const std::string& sharing,
                         const NvidiaSharingGates& gates = {true, true}) {
  const std::string json =
      absl::StrCat(R"({"apiVersion": "resource.nvidia.com/v1beta1", "kind": ")", kind,
                   R"(", "sharing": )", sharing, "}");
  return std::string(CheckNvidiaConfig(json, gates).message());
}

TEST(NvidiaConfigTest, TakesTheStrategiesWithTheirSettings) {
  EXPECT_EQ(SharingError("GpuConfig", "null"), "");
  EXPECT_EQ(SharingError("GpuConfig", R"({"strategy": "TimeSlicing"})"), "");
  EXPECT_EQ(SharingError("GpuConfig", R"({"strategy": "TimeSlicing",
                                          "timeSlicingConfig": {"interval": "Long"}})"),
            "");
  EXPECT_EQ(SharingError("MigDeviceConfig", R"({"strategy": "TimeSlicing"})"), "");
  EXPECT_EQ(SharingError("MigDeviceConfig", R"({"strategy": "MPS", "mpsConfig": {
                                             "defaultActiveThreadPercentage": 100,
                                             "defaultPinnedDeviceMemoryLimit": "1Mi",
                                             "defaultPerDevicePinnedMemoryLimit": {"0": "5Gi"}}})"),
            "");
  EXPECT_TRUE(CheckNvidiaConfig(R"({"apiVersion": "resource.nvidia.com/v1beta1",
                                    "kind": "VfioDeviceConfig", "iommu": {"x": 1}})",
                                {})
                  .ok());
}

TEST(NvidiaConfigTest, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(SharingError("GpuConfig", R"({"strategy": "Fabric"})"),
            "sharing.strategy: found 'Fabric', expected one of TimeSlicing, MPS");
  EXPECT_EQ(SharingError("GpuConfig", R"({"strategy": "TimeSlicing", "timeSlicingConfig":
                                          {"interval": "Forever"}})"),
            "sharing.timeSlicingConfig.interval: found 'Forever', expected one of Default, Short, "
            "Medium, Long");
  EXPECT_EQ(SharingError("GpuConfig", R"({"strategy": "TimeSlicing", "mpsConfig": {}})"),
            "sharing.mpsConfig: not with the strategy TimeSlicing");
  EXPECT_EQ(
      SharingError("MigDeviceConfig", R"({"strategy": "TimeSlicing", "timeSlicingConfig": {}})"),
      "sharing: found the field 'timeSlicingConfig', expected one of strategy, mpsConfig");
  EXPECT_EQ(SharingError("GpuConfig", R"({"strategy": "MPS", "mpsConfig":
                                          {"defaultActiveThreadPercentage": 101}})"),
            "sharing.mpsConfig.defaultActiveThreadPercentage: found '101', expected 0 to 100");
  EXPECT_EQ(SharingError("GpuConfig", R"({"strategy": "MPS", "mpsConfig":
                                          {"defaultPinnedDeviceMemoryLimit": "1000Ki"}})"),
            "sharing.mpsConfig.defaultPinnedDeviceMemoryLimit: found '1000Ki', expected a quantity "
            "of 1Mi or more");
  EXPECT_EQ(SharingError("GpuConfig", R"({"strategy": "MPS", "mpsConfig":
                                          {"defaultPerDevicePinnedMemoryLimit": {"1": "x"}}})"),
            "sharing.mpsConfig.defaultPerDevicePinnedMemoryLimit[1]: found 'x', expected a "
            "quantity of 1Mi or more");
  EXPECT_EQ(SharingError("PodConfig", "{}"),
            "kind: found 'PodConfig', expected one of GpuConfig, MigDeviceConfig, "
            "VfioDeviceConfig");
  EXPECT_EQ(SharingError("VfioDeviceConfig", "{}"), "sharing: VfioDeviceConfig has no such field");
  EXPECT_EQ(SharingError("GpuConfig", "3"), "sharing: expected an object");
  EXPECT_EQ(CheckNvidiaConfig(R"({"kind": "GpuConfig"})", {}).message(),
            "apiVersion: found '', expected one of resource.nvidia.com/v1beta1");
  EXPECT_EQ(CheckNvidiaConfig(R"({"shraing": {}})", {}).message(),
            "found the field 'shraing', expected one of apiVersion, kind, sharing, iommu");
  EXPECT_FALSE(CheckNvidiaConfig("{", {}).ok());
}

TEST(NvidiaConfigTest, StrategiesNeedTheirGates) {
  EXPECT_EQ(SharingError("GpuConfig", R"({"strategy": "TimeSlicing"})", {false, true}),
            "sharing.strategy: found 'TimeSlicing', which needs the driver's feature gate "
            "TimeSlicingSettings");
  EXPECT_EQ(SharingError("GpuConfig", R"({"strategy": "MPS"})", {true, false}),
            "sharing.strategy: found 'MPS', which needs the driver's feature gate MPSSupport");
}

}  // namespace
}  // namespace drasim
