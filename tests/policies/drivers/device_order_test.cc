#include "policies/drivers/device_order.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/key_error.h"
#include "tests/testing/assert_ok.h"

namespace drasim {
namespace {

struct OrderedDevice {
  std::string name;
  std::string memory;  // empty: none
  std::string multiprocessors;
};

// In the order of a Go map.
const std::vector<OrderedDevice>& DisorderedDevices() {
  static const auto& devices = *new std::vector<OrderedDevice>{
      {"gpu-10", "40Gi", ""},
      {"gpu-0-mig-2g", "9856Mi", "28"},
      {"gpu-0-mig-1g-10", "9856Mi", "14"},
      {"gpu-0-mig-1g-9", "9856Mi", "14"},
      {"nic", "", ""},
      {"gpu-2", "41943040Ki", ""},
  };
  return devices;
}

std::string NamesInOrder(const std::string& order) {
  proto::kube::ResourceSliceSpec spec;
  for (const OrderedDevice& given : DisorderedDevices()) {
    proto::kube::Device* device = spec.add_devices();
    device->set_name(given.name);
    auto& capacity = *device->mutable_capacity();
    if (!given.memory.empty()) capacity["memory"].set_value(given.memory);
    if (!given.multiprocessors.empty()) {
      capacity["multiprocessors"].set_value(given.multiprocessors);
    }
  }
  const absl::StatusOr<DeviceOrder> parsed = ParseDeviceOrder(order);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  SortDevices(*parsed, &spec);
  std::string names;
  for (const proto::kube::Device& device : spec.devices()) names += device.name() + " ";
  return names;
}

TEST(DeviceOrderTest, SortsByNameOrBySize) {
  EXPECT_EQ(NamesInOrder(""), "gpu-10 gpu-0-mig-2g gpu-0-mig-1g-10 gpu-0-mig-1g-9 nic gpu-2 ");
  EXPECT_EQ(NamesInOrder("name"), "gpu-0-mig-1g-10 gpu-0-mig-1g-9 gpu-0-mig-2g gpu-10 gpu-2 nic ");
  EXPECT_EQ(NamesInOrder("size"), "nic gpu-0-mig-1g-10 gpu-0-mig-1g-9 gpu-0-mig-2g gpu-10 gpu-2 ");
  EXPECT_EQ(NamesInOrder("size-desc"),
            "gpu-10 gpu-2 gpu-0-mig-2g gpu-0-mig-1g-10 gpu-0-mig-1g-9 nic ");
}

TEST(DeviceOrderTest, UnknownNamesAreErrorsOfTheKey) {
  const absl::StatusOr<DeviceOrder> parsed = ParseDeviceOrder("small");
  EXPECT_EQ(parsed.status().message(),
            "order: found 'small', expected one of name, size, size-desc");
  EXPECT_EQ(KeyOfError(parsed.status()), "order");
}

}  // namespace
}  // namespace drasim
