// The GPUs of a node: names of devices, what may be beside what, packing.
#include "policies/devices/node_devices.h"

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/random.h"
#include "policies/devices/gpu_kinds.h"
#include "tests/testing/mig_products.h"

namespace drasim {
namespace node_devices_test {

TEST(NodeDevicesTest, NamesReadBack) {
  const MigTable table = TestTable(TestA100());
  GpuKind kind;
  kind.table = &table;
  std::vector<HeldDevice> devices;
  for (const uint8_t gpu : {uint8_t{0}, uint8_t{31}}) {
    devices.push_back({DeviceUse::kWhole, gpu, kNoPlacement, 0, 0, 0});
    devices.push_back({DeviceUse::kPart, gpu, kNoPlacement, 0, 250, 4096});
    devices.push_back({DeviceUse::kFunction, gpu, kNoPlacement, 0, 62, 0});
    for (uint8_t p = 0; p < table.placements().size(); ++p) {
      devices.push_back({DeviceUse::kInstance, gpu, p, 0, 0, 0});
      devices.push_back({DeviceUse::kCompute, gpu, p, 2, 0, 0});
    }
  }
  for (const HeldDevice& device : devices) {
    const std::string name = DeviceName(kind, device);
    HeldDevice read;
    EXPECT_TRUE(ReadDeviceName(kind, name, &read)) << name;
    EXPECT_TRUE(read == device) << name << " became " << DeviceName(kind, read);
  }
  EXPECT_EQ(DeviceName(kind, devices[0]), "gpu-0");
  EXPECT_EQ(DeviceName(kind, devices[1]), "gpu-0-part-250-4096");
  EXPECT_EQ(DeviceName(kind, devices[2]), "gpu-0-vf-62-0");
  EXPECT_EQ(DeviceName(kind, devices[3]), "gpu-0-mig-0-1g.10gb");
  EXPECT_EQ(DeviceName(kind, devices[4]), "gpu-0-mig-0-1g.10gb-ci-2");
  for (const char* name : {"",
                           "gpu",
                           "gpu-",
                           "gpu-x",
                           "gpu-32",
                           "gpu--1",
                           "gpu-0-",
                           "gpu-0-mig-",
                           "gpu-0-mig-0",
                           "gpu-0-mig-7-1g.10gb",
                           "gpu-0-mig-0-5g.10gb",
                           "gpu-0-mig-x-1g.10gb",
                           "gpu-0-mig-0-1g.10gb-ci-0",
                           "gpu-0-mig-0-1g.10gb-ci-300",
                           "gpu-0-part-0-1",
                           "gpu-0-part-1001-1",
                           "gpu-0-part-1",
                           "gpu-0-part-1--1",
                           "gpu-0-vf-1-x",
                           "gpu-0-xx-1-1"}) {
    HeldDevice read;
    EXPECT_FALSE(ReadDeviceName(kind, name, &read)) << name;
  }
  GpuKind plain;
  HeldDevice read;
  EXPECT_FALSE(ReadDeviceName(plain, "gpu-0-mig-0-1g.10gb", &read));
  EXPECT_TRUE(ReadDeviceName(plain, "gpu-0", &read));
}

TEST(NodeDevicesTest, EachUseKeepsOthersAway) {
  const MigTable table = TestTable(TestA100(), OnlyProfiles(A100Base()));
  GpuKind kind;
  kind.table = &table;
  NodeDevices node;
  node.kind = &kind;
  node.all = 0x1f;
  const NodeDevices empty = node;
  node.Take({DeviceUse::kWhole, 0, kNoPlacement, 0, 0, 0});
  node.Take({DeviceUse::kInstance, 1, 0, 0, 0, 0});
  node.Take({DeviceUse::kPart, 2, kNoPlacement, 0, 300, 1024});
  node.Take({DeviceUse::kPart, 2, kNoPlacement, 0, 300, 1024});
  node.Take({DeviceUse::kFunction, 3, kNoPlacement, 0, 500, 2048});
  node.Take({DeviceUse::kCompute, 1, 0, 1, 0, 0});
  node.Take({DeviceUse::kCompute, 1, 0, 2, 0, 0});
  EXPECT_EQ(node.free(), 0x10u);
  EXPECT_EQ(node.cuttable(), 0x12u);
  EXPECT_EQ(node.milli_used[2], 600);
  EXPECT_EQ(node.memory_used[2], 2048);
  EXPECT_EQ(node.slices_used(1, 0), 3);
  EXPECT_EQ(node.slices_used(1, 1), 0);
  EXPECT_EQ(node.gpu_states().size(), 5u);
  // The same again changes nothing, what contradicts it puts the GPU out of use.
  const NodeDevices before = node;
  node.Take({DeviceUse::kInstance, 1, 0, 0, 0, 0});
  EXPECT_TRUE(node == before);
  const auto whole = static_cast<uint8_t>(
      table.FindPlacement(static_cast<size_t>(table.FindProfile("7g.80gb")), 0));
  node.Take({DeviceUse::kInstance, 1, whole, 0, 0, 0});
  EXPECT_EQ(node.cuttable(), 0x10u);
  node.Clear();
  EXPECT_TRUE(node == empty);
}

// How many free blocks of that size there are.
int Blocks(uint32_t free, int size) {
  int blocks = 0;
  for (int begin = 0; begin < 32; begin += size) {
    const uint32_t block = (size == 32 ? ~uint32_t{0} : ((uint32_t{1} << size) - 1)) << begin;
    blocks += (free & block) == block ? 1 : 0;
  }
  return blocks;
}

TEST(NodeDevicesTest, PickGpus) {
  EXPECT_EQ(PickGpus(0xff, 2, false), 3u);
  EXPECT_EQ(PickGpus(0xff, 2, true), 3u);
  EXPECT_EQ(PickGpus(0xfe, 2, false), 6u);
  EXPECT_EQ(PickGpus(0xfe, 2, true), 0xcu);
  EXPECT_EQ(PickGpus(0xfe, 1, true), 2u);
  EXPECT_EQ(PickGpus(0xfe, 4, true), 0xf0u);
  EXPECT_EQ(PickGpus(0xfe, 5, true), 0xf2u);
  EXPECT_EQ(PickGpus(0xe, 4, true), 0xeu);
  EXPECT_EQ(PickGpus(0, 1, true), 0u);
  EXPECT_EQ(PickGpus(~uint32_t{0}, 32, true), ~uint32_t{0});
  Random random(1, "node devices test");
  for (int i = 0; i < 2000; ++i) {
    const auto mask = static_cast<uint32_t>(random.U64() & random.U64());
    if (mask == 0) continue;
    const int count =
        1 + static_cast<int>(random.Below(static_cast<uint64_t>(std::popcount(mask))));
    for (const bool packed : {false, true}) {
      const uint32_t picked = PickGpus(mask, count, packed);
      EXPECT_EQ(std::popcount(picked), count);
      EXPECT_EQ(picked & ~mask, 0u);
    }
    // One GPU: no other choice leaves more pairs.
    const uint32_t one = PickGpus(mask, 1, true);
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      EXPECT_GE(Blocks(mask & ~one, 2), Blocks(mask & ~(rest & -rest), 2)) << mask;
    }
  }
}

}  // namespace node_devices_test
}  // namespace drasim
