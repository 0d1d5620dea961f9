// Handles of allocations, written and read back.
#include "policies/devices/device_handles.h"

#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "policies/devices/gpu_kinds.h"
#include "policies/devices/node_devices.h"
#include "tests/testing/mig_products.h"

namespace drasim {
namespace device_handles_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DeviceHandlesTest : public ::testing::Test {
 protected:
  DeviceHandlesTest() : table_(TestTable(TestA100(), OnlyProfiles(A100Base()))) {
    kind_.table = &table_;
    node_.kind = &kind_;
    node_.all = DeviceSet::FirstN(4);
  }
  MigTable table_;
  GpuKind kind_;
  NodeDevices node_;
};

TEST_F(DeviceHandlesTest, HandlesReadBack) {
  HandleContents contents;
  contents.devices = {{GpuUse::kWhole, 0, kNoPlacement, 0, 0, 0},
                      {GpuUse::kInstance, 1, 3, 0, 0, 0},
                      {GpuUse::kPart, 2, kNoPlacement, 0, 250, 1024}};
  contents.sharing = "{\"strategy\":\"MPS\",\"more\":\"]}\"}";
  // Node names are not so, but nothing depends on that.
  const std::string node = "a\",\"devices\":[\"gpu-3\"]";
  const std::string data = WriteHandle(kind_, node, contents);
  EXPECT_EQ(data,
            "{\"node\":\"a\\\",\\\"devices\\\":[\\\"gpu-3\\\"]\",\"devices\":[\"gpu-0\","
            "\"gpu-1-mig-3-1g.10gb\",\"gpu-2-part-250-1024\"],\"sharing\":" +
                contents.sharing + "}");
  const std::optional<HandleContents> read = ReadHandle(node_, data);
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(*read == contents);
  EXPECT_THAT(GrantsOf(kind_, contents.devices),
              ElementsAre(DeviceGrant{0, kNoPlacement, 1000}, DeviceGrant{1, 3, 125},
                          DeviceGrant{2, kNoPlacement, 250}));
}

TEST_F(DeviceHandlesTest, WhatIsCutFromAnothersDevicesHasNoGrant) {
  HandleContents contents;
  contents.devices = {{GpuUse::kInside, 1, 3, 0, 0, 0}};
  const std::string data = WriteHandle(kind_, "n", contents);
  EXPECT_EQ(data, "{\"node\":\"n\",\"devices\":[\"gpu-1-mig-3-1g.10gb\"],\"inside\":true}");
  EXPECT_TRUE(*ReadHandle(node_, data) == contents);
  EXPECT_THAT(GrantsOf(kind_, contents.devices), IsEmpty());
  contents.devices = {{GpuUse::kCompute, 1, 3, 1, 0, 0}};
  EXPECT_TRUE(*ReadHandle(node_, WriteHandle(kind_, "n", contents)) == contents);
  EXPECT_THAT(GrantsOf(kind_, contents.devices), IsEmpty());
}

TEST_F(DeviceHandlesTest, UnreadableHandles) {
  for (const char* data :
       {"", "{}", "{\"node\":\"n\",\"devices\":[]}", "{\"node\":\"n\",\"devices\":[\"gpu-4\"]}",
        "{\"node\":\"n\",\"devices\":[\"gpu-0\"]", "{\"node\":\"n\",\"devices\":[\"gpu-0\"",
        "{\"node\":\"n\",\"devices\":[gpu-0]}", "{\"node\":\"n\",\"devices\":[\"gpu-0]}",
        "{\"node\":\"n\",\"devices\":[\"gpu-0-mig-0-9g.90gb\"]}"}) {
    EXPECT_FALSE(ReadHandle(node_, data).has_value()) << data;
  }
  NodeDevices without;
  EXPECT_FALSE(ReadHandle(without, "{\"node\":\"n\",\"devices\":[\"gpu-0\"]}").has_value());
}

TEST_F(DeviceHandlesTest, GrantsReadBack) {
  const DeviceGrants grants = {{0, kNoPlacement, 1000}, {1, 3, 125}, {2, kNoPlacement, 250}};
  const std::optional<HandleContents> read = ReadGrants(node_, grants);
  ASSERT_TRUE(read.has_value());
  EXPECT_THAT(GrantsOf(kind_, read->devices), ::testing::ElementsAreArray(grants));
  for (const DeviceGrants& bad :
       {DeviceGrants{}, DeviceGrants{{4, kNoPlacement, 1000}}, DeviceGrants{{0, 200, 125}},
        DeviceGrants{{0, kNoPlacement, 0}}, DeviceGrants{{0, kNoPlacement, 1001}}}) {
    EXPECT_FALSE(ReadGrants(node_, bad).has_value());
  }
}

}  // namespace device_handles_test
}  // namespace drasim
