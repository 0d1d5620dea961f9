// The GPUs of a node: names of devices, what may be beside what, packing.
#include "policies/devices/node_devices.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/device_set.h"
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
  for (const uint8_t gpu : {uint8_t{0}, uint8_t{kMaxDevicesPerNode - 1}}) {
    devices.push_back({GpuUse::kWhole, gpu, kNoPlacement, 0, 0, 0});
    devices.push_back({GpuUse::kPart, gpu, kNoPlacement, 0, 250, 4096});
    devices.push_back({GpuUse::kFunction, gpu, kNoPlacement, 0, 62, 0});
    for (uint8_t p = 0; p < table.placements().size(); ++p) {
      devices.push_back({GpuUse::kInstance, gpu, p, 0, 0, 0});
      devices.push_back({GpuUse::kCompute, gpu, p, 2, 0, 0});
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
                           "gpu-64",
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
  node.all = DeviceSet::FirstN(5);
  const NodeDevices empty = node;
  node.Take({GpuUse::kWhole, 0, kNoPlacement, 0, 0, 0});
  node.Take({GpuUse::kInstance, 1, 0, 0, 0, 0});
  node.Take({GpuUse::kPart, 2, kNoPlacement, 0, 300, 1024});
  node.Take({GpuUse::kPart, 2, kNoPlacement, 0, 300, 1024});
  node.Take({GpuUse::kFunction, 3, kNoPlacement, 0, 500, 2048});
  node.Take({GpuUse::kCompute, 1, 0, 1, 0, 0});
  node.Take({GpuUse::kCompute, 1, 0, 2, 0, 0});
  EXPECT_EQ(node.free(), DeviceSet::Of(4));
  EXPECT_EQ(node.cuttable(), DeviceSet::Of(1) | DeviceSet::Of(4));
  EXPECT_EQ(node.milli_used[2], 600);
  EXPECT_EQ(node.memory_used[2], 2048);
  EXPECT_EQ(node.slices_used(1, 0), 3);
  EXPECT_EQ(node.slices_used(1, 1), 0);
  EXPECT_EQ(node.gpu_states().size(), 5u);
  // The same again changes nothing, what contradicts it puts the GPU out of use.
  const NodeDevices before = node;
  node.Take({GpuUse::kInstance, 1, 0, 0, 0, 0});
  EXPECT_TRUE(node == before);
  const auto whole = static_cast<uint8_t>(
      table.FindPlacement(static_cast<size_t>(table.FindProfile("7g.80gb")), 0));
  node.Take({GpuUse::kInstance, 1, whole, 0, 0, 0});
  EXPECT_EQ(node.cuttable(), DeviceSet::Of(4));
  node.Clear();
  EXPECT_TRUE(node == empty);
}

// The number of aligned blocks of that size in the set.
int Blocks(DeviceSet free, size_t size) {
  int blocks = 0;
  for (size_t begin = 0; begin < kMaxDevicesPerNode; begin += size) {
    const DeviceSet block = DeviceSet::FirstN(begin + size) - DeviceSet::FirstN(begin);
    blocks += block.IsSubsetOf(free) ? 1 : 0;
  }
  return blocks;
}

TEST(NodeDevicesTest, PickGpus) {
  const DeviceSet eight = DeviceSet::FirstN(8);
  const DeviceSet seven = eight - DeviceSet::Of(0);
  const DeviceSet three = DeviceSet::FirstN(4) - DeviceSet::Of(0);
  EXPECT_EQ(PickGpus(eight, 2, false), DeviceSet::FirstN(2));
  EXPECT_EQ(PickGpus(eight, 2, true), DeviceSet::FirstN(2));
  EXPECT_EQ(PickGpus(seven, 2, false), DeviceSet::FromBits(0b110));
  EXPECT_EQ(PickGpus(seven, 2, true), DeviceSet::FromBits(0b1100));
  EXPECT_EQ(PickGpus(seven, 1, true), DeviceSet::Of(1));
  EXPECT_EQ(PickGpus(seven, 4, true), DeviceSet::FromBits(0xf0));
  EXPECT_EQ(PickGpus(seven, 5, true), DeviceSet::FromBits(0xf2));
  EXPECT_EQ(PickGpus(three, 4, true), three);
  EXPECT_EQ(PickGpus(DeviceSet(), 1, true), DeviceSet());
  EXPECT_EQ(PickGpus(DeviceSet::All(), 64, true), DeviceSet::All());
  // Beyond 32: the pair at the end, beside which nothing else is free.
  const DeviceSet high = DeviceSet::FromBits(0xc0000000'00f00000);
  EXPECT_EQ(PickGpus(high, 2, true), DeviceSet::FromBits(0xc0000000'00000000));
  EXPECT_EQ(PickGpus(high, 4, true), DeviceSet::FromBits(0xf00000));
  EXPECT_EQ(PickGpus(high, 5, true), DeviceSet::FromBits(0x40000000'00f00000));
  Random random(1, "node devices test");
  for (int i = 0; i < 2000; ++i) {
    // Every second set is limited to GPUs below 32.
    DeviceSet gpus = DeviceSet::FromBits(random.U64() & random.U64());
    if (i % 2 == 0) gpus &= DeviceSet::FirstN(32);
    if (gpus.empty()) continue;
    const int count = 1 + static_cast<int>(random.Below(static_cast<uint64_t>(gpus.size())));
    for (const bool packed : {false, true}) {
      const DeviceSet picked = PickGpus(gpus, count, packed);
      EXPECT_EQ(picked.size(), count);
      EXPECT_TRUE(picked.IsSubsetOf(gpus));
    }
    // One GPU: no other choice leaves more pairs.
    const DeviceSet one = PickGpus(gpus, 1, true);
    for (const size_t other : gpus) {
      EXPECT_GE(Blocks(gpus - one, 2), Blocks(gpus - DeviceSet::Of(other), 2)) << gpus.bits();
    }
  }
}

TEST(NodeDevicesTest, NamesFollowTheModelOfTheGpu) {
  const MigTable a100_table = TestTable(TestA100());
  const MigTable a30_table = TestTable(TestA30());
  GpuKind a100;
  a100.table = &a100_table;
  GpuKind a30;
  a30.table = &a30_table;
  GpuKind mixed;
  mixed.by_gpu = {&a100, &a30};
  HeldDevice read;
  EXPECT_TRUE(ReadDeviceName(mixed, "gpu-0-mig-0-7g.80gb", &read));
  EXPECT_EQ(DeviceName(mixed, read), "gpu-0-mig-0-7g.80gb");
  EXPECT_FALSE(ReadDeviceName(mixed, "gpu-1-mig-0-7g.80gb", &read));
  EXPECT_TRUE(ReadDeviceName(mixed, "gpu-1-mig-2-2g.12gb", &read));
  EXPECT_EQ(DeviceName(mixed, read), "gpu-1-mig-2-2g.12gb");
  EXPECT_FALSE(ReadDeviceName(mixed, "gpu-2-mig-0-1g.6gb", &read));
  EXPECT_TRUE(ReadDeviceName(mixed, "gpu-2", &read));

  NodeDevices node;
  node.kind = &mixed;
  node.all = DeviceSet::FirstN(2);
  ASSERT_TRUE(ReadDeviceName(mixed, "gpu-1-mig-0-4g.24gb", &read));
  node.Take(read);
  EXPECT_EQ(node.states[1], TestState(a30_table, {{"4g.24gb", 0}}));
  EXPECT_EQ(node.cut, DeviceSet::Of(1));
}

}  // namespace node_devices_test
}  // namespace drasim
