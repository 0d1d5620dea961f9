// Random pools of devices with classes and claim templates for tests of structured DRA, and what
// claims may take of them by the definitions of the devices alone.
#ifndef DRASIM_TESTS_SIM_DRA_STRUCTURED_RANDOM_SLICES_H_
#define DRASIM_TESTS_SIM_DRA_STRUCTURED_RANDOM_SLICES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/kube/objects.h"
#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"
#include "model/random.h"
#include "sim/dra/classic/control_plane.h"

namespace drasim::slice_testing {

// Devices of one driver.
enum class DeviceKind : uint8_t {
  kPlain,   // whole devices
  kParts,   // a device of four units, or parts of one unit each, by counters
  kShares,  // devices of four units, of which claims take one or two
  kFabric,  // whole devices, which all nodes reach
};

struct RandomDriver {
  std::string name;
  DeviceKind kind = DeviceKind::kPlain;
  int64_t count = 1;                                       // devices, or units, that a claim wants
  std::vector<proto::kube::DeviceToleration> tolerations;  // of its claims
};

struct RandomSlices {
  std::vector<RandomDriver> drivers;
  // As published when nothing is amiss, by pool: all slices of a pool.
  std::vector<std::vector<proto::kube::ResourceSlice>> pools;
};

inline std::vector<std::string> DriverNames(const RandomSlices& slices) {
  std::vector<std::string> names;
  for (const RandomDriver& driver : slices.drivers) names.push_back(driver.name);
  return names;
}

inline constexpr int64_t kUnits = 4;

inline proto::kube::Device TestDevice(absl::string_view name, bool part) {
  proto::kube::Device device;
  device.set_name(std::string(name));
  (*device.mutable_attributes())["part"].set_bool_value(part);
  return device;
}

inline void Consume(absl::string_view set, int64_t units, proto::kube::Device* device) {
  auto* const use = device->add_consumes_counters();
  use->set_counter_set(std::string(set));
  (*use->mutable_counters())["units"].set_value(absl::StrCat(units));
}

inline proto::kube::ResourceSlice TestSlice(absl::string_view driver, absl::string_view pool,
                                            int64_t index, int64_t slices) {
  proto::kube::ResourceSlice slice;
  slice.set_api_version("resource.k8s.io/v1");
  slice.set_kind("ResourceSlice");
  slice.mutable_metadata()->set_name(absl::StrCat(driver, "-", pool, "-", index));
  slice.mutable_spec()->set_driver(std::string(driver));
  slice.mutable_spec()->mutable_pool()->set_name(std::string(pool));
  slice.mutable_spec()->mutable_pool()->set_generation(1);
  slice.mutable_spec()->mutable_pool()->set_resource_slice_count(slices);
  return slice;
}

inline std::vector<proto::kube::ResourceSlice> TestPool(const RandomDriver& driver,
                                                        absl::string_view pool, bool local,
                                                        int64_t devices) {
  const bool parts = driver.kind == DeviceKind::kParts;
  std::vector<proto::kube::ResourceSlice> slices = {TestSlice(driver.name, pool, 0, parts ? 2 : 1)};
  if (parts) slices.push_back(TestSlice(driver.name, pool, 1, 2));
  for (proto::kube::ResourceSlice& slice : slices) {
    if (local) {
      slice.mutable_spec()->set_node_name(std::string(pool));
    } else {
      slice.mutable_spec()->set_all_nodes(true);
    }
  }
  for (int64_t d = 0; d < devices; ++d) {
    proto::kube::Device whole = TestDevice(absl::StrCat("device-", d), /*part=*/false);
    if (driver.kind == DeviceKind::kShares) {
      whole.set_allow_multiple_allocations(true);
      (*whole.mutable_capacity())["units"].set_value(absl::StrCat(kUnits));
    }
    if (parts) {
      const std::string set = absl::StrCat("set-", d);
      auto* const counters = slices[0].mutable_spec()->add_shared_counters();
      counters->set_name(set);
      (*counters->mutable_counters())["units"].set_value(absl::StrCat(kUnits));
      Consume(set, kUnits, &whole);
      for (int64_t p = 0; p < kUnits; ++p) {
        proto::kube::Device part = TestDevice(absl::StrCat("device-", d, "-part-", p), true);
        Consume(set, 1, &part);
        *slices[1].mutable_spec()->add_devices() = part;
      }
    }
    *slices.back().mutable_spec()->add_devices() = whole;
  }
  return slices;
}

// With `ample`, each node has what any one pod wants.
inline RandomSlices DrawSlices(size_t nodes, bool ample, Random& random) {
  RandomSlices drawn;
  const size_t drivers = 1 + static_cast<size_t>(random.Below(2));
  for (size_t d = 0; d < drivers; ++d) {
    RandomDriver driver;
    driver.name = d == 0 ? "gpu.example.com" : "nic.example.com";
    driver.kind = static_cast<DeviceKind>(random.Below(4));
    driver.count = 1 + static_cast<int64_t>(random.Below(2));
    const int64_t fewest = ample ? 2 : 0;
    if (driver.kind == DeviceKind::kFabric) {
      const int64_t devices = fewest + static_cast<int64_t>(random.Below(4));
      drawn.pools.push_back(TestPool(driver, "fabric", /*local=*/false, devices));
    }
    for (size_t n = 0; n < nodes && driver.kind != DeviceKind::kFabric; ++n) {
      const int64_t devices = fewest + static_cast<int64_t>(random.Below(4));
      drawn.pools.push_back(TestPool(driver, absl::StrCat("node-", n), /*local=*/true, devices));
    }
    drawn.drivers.push_back(driver);
  }
  return drawn;
}

inline ObjectRef SliceObject(NamePool& names, const proto::kube::ResourceSlice& slice) {
  auto object = std::make_shared<ResourceSliceObject>();
  object->meta.name = names.Intern(slice.metadata().name());
  object->object = SharedMessage<proto::kube::ResourceSlice>(slice);
  return Ref<ResourceSliceObject>(std::move(object));
}

// "gpu.example.com/device".
inline std::string ResourceOf(const RandomDriver& driver) {
  return absl::StrCat(driver.name, "/device");
}

inline proto::kube::DeviceClaim WishOf(const RandomDriver& driver) {
  proto::kube::DeviceClaim claim;
  proto::kube::DeviceRequest* const request = claim.add_requests();
  request->set_name("device");
  proto::kube::ExactDeviceRequest* const exact = request->mutable_exactly();
  exact->set_device_class_name(driver.name);
  exact->set_allocation_mode("ExactCount");
  for (const auto& toleration : driver.tolerations) *exact->add_tolerations() = toleration;
  exact->set_count(1);
  if (driver.kind == DeviceKind::kShares) {
    (*exact->mutable_capacity()->mutable_requests())["units"] = absl::StrCat(driver.count);
    return claim;
  }
  exact->set_count(driver.count);
  if (driver.kind != DeviceKind::kParts) return claim;
  // One unit: parts; two: whatever comes first.
  if (driver.count == 1) {
    exact->add_selectors()->mutable_cel()->set_expression(
        absl::StrCat("device.attributes['", driver.name, "'].part"));
  }
  return claim;
}

// The class and the template have the driver's name; a claim for everybody is named "shared-...".
// The class serves the extended resource of ResourceOf. Slices of drivers in `unpublished` are left
// out, unless all nodes reach their devices.
inline void CreateSlices(const RandomSlices& drawn, ControlPlane& plane,
                         const std::set<std::string>& unpublished = {}) {
  NamePool& names = plane.names();
  for (const RandomDriver& driver : drawn.drivers) {
    auto device_class = std::make_shared<DeviceClassObject>();
    device_class->meta.name = names.Intern(driver.name);
    proto::kube::DeviceClass object;
    object.mutable_metadata()->set_name(driver.name);
    object.mutable_spec()->add_selectors()->mutable_cel()->set_expression(
        absl::StrCat("device.driver == '", driver.name, "'"));
    object.mutable_spec()->set_extended_resource_name(ResourceOf(driver));
    device_class->object = SharedMessage<proto::kube::DeviceClass>(std::move(object));
    DRASIM_CHECK(plane.Create(Ref<DeviceClassObject>(std::move(device_class))).ok());
    const SharedMessage<proto::kube::DeviceClaim> wish(WishOf(driver));
    auto made_for_pods = std::make_shared<ResourceClaimTemplate>();
    made_for_pods->meta.ns = names.Intern("default");
    made_for_pods->meta.name = names.Intern(driver.name);
    made_for_pods->spec.devices = wish;
    DRASIM_CHECK(plane.Create(Ref<ResourceClaimTemplate>(std::move(made_for_pods))).ok());
    auto shared = std::make_shared<ResourceClaim>();
    shared->meta.ns = names.Intern("default");
    shared->meta.name = names.Intern(absl::StrCat("shared-", driver.name));
    shared->spec.devices = wish;
    DRASIM_CHECK(plane.Create(Ref<ResourceClaim>(std::move(shared))).ok());
  }
  for (const auto& pool : drawn.pools) {
    const proto::kube::ResourceSliceSpec& spec = pool.front().spec();
    if (!spec.all_nodes() && unpublished.count(spec.driver()) > 0) continue;
    for (const auto& slice : pool) DRASIM_CHECK(plane.Create(SliceObject(names, slice)).ok());
  }
}

// What written claims take of the devices, by their definitions.
class TakenDevices {
 public:
  explicit TakenDevices(const RandomSlices* drawn) {
    for (const auto& pool : drawn->pools) {
      for (const proto::kube::ResourceSlice& slice : pool) {
        for (const proto::kube::Device& device : slice.spec().devices()) {
          defined_[{slice.spec().driver(), slice.spec().pool().name(), device.name()}] = &device;
        }
      }
    }
  }

  // Empty, or what two claims may not both have. `counters`: whether parts are looked at.
  std::string Add(const ResourceClaim& claim, bool counters) {
    const auto& allocation = *claim.status.allocation->result;
    for (const auto& result : allocation.devices().results()) {
      const DeviceKey key = {result.driver(), result.pool(), result.device()};
      const std::string text = absl::StrCat(result.driver(), "/", result.pool(), "/",
                                            result.device(), " of claim ", claim.meta.name.text());
      const auto device = defined_.find(key);
      if (device == defined_.end()) return absl::StrCat(text, " does not exist");
      if (device->second->allow_multiple_allocations()) {
        int64_t units = 0;
        const auto consumed = result.consumed_capacity().find("units");
        if (consumed == result.consumed_capacity().end() ||
            !absl::SimpleAtoi(consumed->second, &units) || !result.has_share_id()) {
          return absl::StrCat(text, " says not what it takes");
        }
        if ((shared_[key] += units) > kUnits) return absl::StrCat(text, " is shared too often");
        continue;
      }
      if (!taken_.insert(key).second) return absl::StrCat(text, " belongs to two claims");
      for (const auto& use : device->second->consumes_counters()) {
        int64_t units = 0;
        DRASIM_CHECK(absl::SimpleAtoi(use.counters().at("units").value(), &units));
        auto& sum = counters_[{result.driver(), result.pool(), use.counter_set()}];
        if ((sum += units) > kUnits && counters) {
          return absl::StrCat(text, " exceeds counters of ", use.counter_set());
        }
      }
    }
    return "";
  }

 private:
  using DeviceKey = std::tuple<std::string, std::string, std::string>;
  std::map<DeviceKey, const proto::kube::Device*> defined_;
  std::set<DeviceKey> taken_;
  std::map<DeviceKey, int64_t> shared_;
  std::map<DeviceKey, int64_t> counters_;  // by driver, pool and set
};

}  // namespace drasim::slice_testing

#endif  // DRASIM_TESTS_SIM_DRA_STRUCTURED_RANDOM_SLICES_H_
