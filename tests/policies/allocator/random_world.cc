#include "tests/policies/allocator/random_world.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "policies/allocator/dra_features.h"
#include "tests/policies/allocator/naive_selectors.h"

namespace drasim {
namespace {

using proto::kube::Device;
using proto::kube::DeviceClass;
using proto::kube::ResourceClaimV1;
using proto::kube::ResourceSlice;

constexpr bool DraFeatures::*kGates[] = {
    &DraFeatures::admin_access,
    &DraFeatures::prioritized_list,
    &DraFeatures::partitionable_devices,
    &DraFeatures::device_taints,
    &DraFeatures::consumable_capacity,
    &DraFeatures::fractional_capacity_range,
    &DraFeatures::device_binding_and_status,
    &DraFeatures::list_type_attributes,
    &DraFeatures::optional_node_operations,
    &DraFeatures::derived_attributes,
    &DraFeatures::compatibility_groups,
};

// Ways of naming nodes.
constexpr uint64_t kByName = 0;
constexpr uint64_t kAllNodes = 1;
constexpr uint64_t kByLabel = 2;
constexpr uint64_t kPerDevice = 3;

void SelectZone(const std::string& zone, proto::kube::NodeSelector* selector) {
  auto* requirement = selector->add_node_selector_terms()->add_match_expressions();
  requirement->set_key("zone");
  requirement->set_operator_("In");
  requirement->add_values(zone);
}

}  // namespace

void RandomWorldMaker::ChooseOptions(AllocatorOptions* options) {
  const uint64_t variant = random_.Below(10);
  options->variant = variant < 2   ? AllocatorVariant::kStable
                     : variant < 6 ? AllocatorVariant::kIncubating
                                   : AllocatorVariant::kExperimental;
  const uint64_t release = random_.Below(10);
  options->release = release == 0   ? StructuredRelease::k1_34
                     : release == 1 ? StructuredRelease::k1_35
                     : release == 2 ? StructuredRelease::k1_36
                                    : StructuredRelease::k1_37;
  options->features = SupportedDraFeatures(options->variant, options->release);
  options->strict_upstream = Chance(70);
  options->pool_order_seed = random_.Below(100);
  for (bool DraFeatures::*gate : kGates) {
    if (Chance(4)) options->features.*gate = false;
  }
}

RandomWorld RandomWorldMaker::Make() {
  RandomWorld world;
  ChooseOptions(&world.options);
  risky_ = Chance(30);
  world.node.mutable_metadata()->set_name("node");
  (*world.node.mutable_metadata()->mutable_labels())["zone"] = "a";
  if (Chance(50)) world.node.mutable_status()->add_declared_features("DRAOptionalNodeOperations");
  const int64_t pools = Pick(1, 3);
  for (int64_t pool = 0; pool < pools; ++pool) AddPool(pool, &world);
  for (int i = 0; i < 3; ++i) {
    DeviceClass device_class;
    device_class.mutable_metadata()->set_name(absl::StrCat("class-", i));
    if (i > 0) {
      device_class.mutable_spec()->add_selectors()->mutable_cel()->set_expression(
          NaiveSelectorText(random_.Below(NaiveSelectorCount(risky_))));
    }
    world.classes.push_back(device_class);
  }
  const uint64_t claims = 1 + random_.Below(2);
  for (uint64_t i = 0; i < claims; ++i) world.claims.push_back(MakeClaim(i, world));
  return world;
}

void RandomWorldMaker::AddPool(int64_t index, RandomWorld* world) {
  PoolShape pool;
  pool.driver = Chance(70) ? "d" : "e";
  // Names out of the order in which pools are listed.
  pool.name = absl::StrCat("pool-", (index * 2 + 1) % 5);
  const uint64_t place = random_.Below(20);
  pool.place = place < 13 ? kByName : place < 15 ? kAllNodes : place < 17 ? kByLabel : kPerDevice;
  pool.counters = Chance(45);
  const size_t first_slice = world->slices.size();
  if (pool.counters) AddCounterSlice(pool, world);
  const int64_t slices = Chance(70) ? 1 : 2;
  int64_t device = 0;
  for (int64_t i = 0; i < slices; ++i) {
    ResourceSlice slice;
    slice.mutable_metadata()->set_name(
        absl::StrCat("slice-", Pick(0, 9), "-", pool.driver, pool.name, "-", i));
    slice.mutable_spec()->set_driver(pool.driver);
    slice.mutable_spec()->mutable_pool()->set_name(pool.name);
    if (pool.place == kByName) slice.mutable_spec()->set_node_name(Chance(95) ? "node" : "other");
    if (pool.place == kAllNodes) slice.mutable_spec()->set_all_nodes(true);
    if (pool.place == kByLabel) {
      SelectZone(Chance(80) ? "a" : "b", slice.mutable_spec()->mutable_node_selector());
    }
    if (pool.place == kPerDevice) slice.mutable_spec()->set_per_device_node_selection(true);
    if (Chance(5)) slice.mutable_spec()->add_skip_node_operations("Prepare");
    const int64_t devices = Pick(1, slices == 1 ? 5 : 3);
    for (int64_t k = 0; k < devices; ++k) AddDevice(pool, device++, world, &slice);
    world->slices.push_back(slice);
  }
  for (size_t i = first_slice; i < world->slices.size(); ++i) {
    auto* of_slice = world->slices[i].mutable_spec()->mutable_pool();
    of_slice->set_generation(2);
    of_slice->set_resource_slice_count(static_cast<int64_t>(world->slices.size() - first_slice));
  }
  SpoilPool(first_slice, world);
}

// A pool that is incomplete, invalid or has slices of several generations.
void RandomWorldMaker::SpoilPool(size_t first_slice, RandomWorld* world) {
  const uint64_t dice = random_.Below(100);
  if (dice < 3) {
    for (size_t i = first_slice; i < world->slices.size(); ++i) {
      world->slices[i].mutable_spec()->mutable_pool()->set_resource_slice_count(7);
    }
  } else if (dice < 6) {
    ResourceSlice& last = world->slices.back();
    *last.mutable_spec()->add_devices() = Device(last.spec().devices(0));
  } else if (dice < 8) {
    auto* use = world->slices.back().mutable_spec()->mutable_devices(0)->add_consumes_counters();
    use->set_counter_set("unknown");
    (*use->mutable_counters())["a"].set_value("1");
  } else if (dice < 16) {
    ResourceSlice other = world->slices.back();
    other.mutable_metadata()->set_name(absl::StrCat("slice-old-", first_slice));
    other.mutable_spec()->mutable_pool()->set_generation(dice < 14 ? 1 : 3);
    if (dice == 15) other.mutable_spec()->set_node_name("other");
    const bool first = Chance(50);
    world->slices.insert(first ? world->slices.begin() + static_cast<std::ptrdiff_t>(first_slice)
                               : world->slices.end(),
                         other);
  }
}

void RandomWorldMaker::AddCounterSlice(const PoolShape& pool, RandomWorld* world) {
  ResourceSlice slice;
  slice.mutable_metadata()->set_name(absl::StrCat("slice-c-", pool.driver, pool.name));
  slice.mutable_spec()->set_driver(pool.driver);
  slice.mutable_spec()->mutable_pool()->set_name(pool.name);
  if (pool.place == kByName) {
    slice.mutable_spec()->set_node_name("node");
  } else {
    slice.mutable_spec()->set_all_nodes(true);
  }
  for (const char* name : {"s0", "s1"}) {
    auto* set = slice.mutable_spec()->add_shared_counters();
    set->set_name(name);
    for (const char* counter : {"a", "b"}) {
      (*set->mutable_counters())[counter].set_value(absl::StrCat(Pick(1, 6)));
    }
  }
  world->slices.push_back(slice);
}

void RandomWorldMaker::AddDevice(const PoolShape& pool, int64_t index, RandomWorld* world,
                                 ResourceSlice* slice) {
  Device* device = slice->mutable_spec()->add_devices();
  device->set_name(absl::StrCat("device-", index));
  AddAttributes(device);
  if (Chance(35)) AddCapacity(device);
  if (pool.counters && Chance(80)) {
    AddCounters(world->options.features.compatibility_groups || Chance(2), device);
  }
  if (Chance(8)) {
    auto* taint = device->add_taints();
    taint->set_key(Chance(50) ? "t" : "u");
    taint->set_value(Chance(50) ? "1" : "2");
    taint->set_effect(Chance(50) ? "NoSchedule" : Chance(60) ? "NoExecute" : "None");
  }
  if (Chance(5)) device->add_binding_conditions("ready");
  if (Chance(5)) device->set_binds_to_node(true);
  if (pool.place == kPerDevice) {
    const uint64_t own = random_.Below(5);
    if (own < 2) device->set_node_name("node");
    if (own == 2) device->set_node_name("other");
    if (own == 3) device->set_all_nodes(true);
    if (own == 4) SelectZone(Chance(70) ? "a" : "b", device->mutable_node_selector());
  }
  AddUse(pool, *device, world);
}

void RandomWorldMaker::AddAttributes(Device* device) {
  auto& attributes = *device->mutable_attributes();
  if (Chance(92)) attributes["color"].set_int_value(Pick(0, 2));
  if (Chance(92)) attributes[Chance(80) ? "place" : "d/place"].set_int_value(Pick(0, 3));
  if (!Chance(85)) return;
  auto& list = attributes["list"];
  if (Chance(15)) {
    list.set_int_value(Pick(0, 3));
    return;
  }
  list.add_ints(Pick(0, 3));
  while (Chance(50)) list.add_ints(Pick(0, 3));
}

void RandomWorldMaker::AddCapacity(Device* device) {
  if (Chance(75)) device->set_allow_multiple_allocations(Chance(85));
  auto& memory = (*device->mutable_capacity())["memory"];
  memory.set_value(absl::StrCat(Pick(2, 8)));
  auto* policy = memory.mutable_request_policy();
  switch (random_.Below(4)) {
    case 0:
      memory.clear_request_policy();
      break;
    case 1:
      policy->set_default_value(absl::StrCat(Pick(0, 2)));
      break;
    case 2:
      policy->set_default_value("1");
      for (const char* value : {"1", "2", "4"}) policy->add_valid_values(value);
      break;
    default:
      policy->set_default_value("1");
      policy->mutable_valid_range()->set_min("1");
      if (Chance(70)) policy->mutable_valid_range()->set_max("4");
      if (Chance(70)) policy->mutable_valid_range()->set_step(Chance(50) ? "2" : "500m");
      break;
  }
  if (!Chance(25)) return;
  auto& cores = (*device->mutable_capacity())["cores"];
  cores.set_value(absl::StrCat(Pick(1, 4)));
  if (Chance(80)) cores.mutable_request_policy()->set_default_value("1");
}

void RandomWorldMaker::AddCounters(bool groups, Device* device) {
  const bool both = Chance(20);
  const bool second = Chance(40);
  for (const char* set : {"s0", "s1"}) {
    if (!both && second != (set[1] == '1')) continue;
    auto* use = device->add_consumes_counters();
    use->set_counter_set(set);
    for (const char* name : {"a", "b"}) {
      if (Chance(80)) (*use->mutable_counters())[name].set_value(absl::StrCat(Pick(0, 3)));
    }
    if (!groups || Chance(40)) continue;
    use->add_compatibility_groups(Chance(50) ? "red" : "blue");
    if (Chance(30)) use->add_compatibility_groups("green");
  }
}

void RandomWorldMaker::AddUse(const PoolShape& pool, const Device& device, RandomWorld* world) {
  // Which of several holders with groups came first, is not known from a list of devices.
  const bool groups = world->options.features.compatibility_groups;
  if (!Chance(15) || (groups && !device.consumes_counters().empty())) return;
  const DeviceId id = {pool.driver, pool.name, device.name()};
  if (!device.allow_multiple_allocations()) {
    world->use.dedicated.push_back(id);
  } else if (world->options.features.consumable_capacity) {
    world->use.shared.push_back(id);
    world->use.consumed[id]["memory"] = Quantity::FromUnits(1, Quantity::Format::kDecimalSi);
  }
}

template <typename Request>
void RandomWorldMaker::Fill(const RandomWorld& world, Request* request) {
  request->set_device_class_name(Chance(1) ? "missing" : absl::StrCat("class-", random_.Below(3)));
  const bool all = Chance(6);
  request->set_allocation_mode(all ? "All" : "ExactCount");
  // Where every order of a set of devices is tried, more than two take long.
  const bool permutes = !SearchIsSorted(world.options);
  const int64_t count = Chance(1) ? Pick(30, 34) : Pick(1, 3);
  if (!all) request->set_count(permutes ? std::min<int64_t>(count, 2) : count);
  if (Chance(40)) {
    request->add_selectors()->mutable_cel()->set_expression(
        NaiveSelectorText(random_.Below(NaiveSelectorCount(risky_))));
  }
  if (Chance(10)) {
    auto* toleration = request->add_tolerations();
    if (Chance(60)) toleration->set_key("t");
    if (toleration->key().empty() || Chance(50)) {
      toleration->set_operator_("Exists");
    } else {
      toleration->set_value(Chance(50) ? "1" : "2");
    }
    if (Chance(40)) toleration->set_effect("NoSchedule");
  }
  if (Chance(world.options.features.consumable_capacity ? 30 : 1)) {
    constexpr const char* kAmounts[] = {"1", "2", "3", "1500m", "500m"};
    auto& requests = *request->mutable_capacity()->mutable_requests();
    requests[Chance(92) ? "memory" : "d/memory"] = kAmounts[random_.Below(5)];
  }
  if (Chance(world.options.features.derived_attributes ? 12 : 1)) {
    auto* derived = request->add_derived_attributes();
    derived->set_name("d/color");
    derived->set_expression(NaiveDerivedText(random_.Below(NaiveDerivedCount(risky_))));
  }
}

void RandomWorldMaker::AddConstraints(const RandomWorld& world, proto::kube::DeviceClaim* devices) {
  constexpr const char* kAttributes[] = {"d/color", "d/place", "d/list"};
  const auto add = [&](bool distinct) {
    auto* constraint = devices->add_constraints();
    // Lists without their gate have no defined order of comparison.
    const uint64_t known = world.options.features.list_type_attributes ? 3 : 2;
    const char* attribute = kAttributes[random_.Below(known)];
    if (distinct) {
      constraint->set_distinct_attribute(attribute);
    } else {
      constraint->set_match_attribute(attribute);
    }
    if (!Chance(35)) return;
    const auto& request = devices->requests(
        static_cast<int>(random_.Below(static_cast<uint64_t>(devices->requests_size()))));
    const bool sub = !request.first_available().empty() && Chance(60);
    constraint->add_requests(sub ? absl::StrCat(request.name(), "/s0") : request.name());
  };
  const bool knows_distinct = world.options.variant != AllocatorVariant::kStable;
  if (Chance(30)) add(false);
  if (Chance(10)) add(false);
  if (Chance(knows_distinct ? 22 : 2)) add(true);
}

ResourceClaimV1 RandomWorldMaker::MakeClaim(uint64_t index, const RandomWorld& world) {
  ResourceClaimV1 claim;
  claim.mutable_metadata()->set_name(absl::StrCat("claim-", index));
  auto* devices = claim.mutable_spec()->mutable_devices();
  const DraFeatures& features = world.options.features;
  const uint64_t requests = 1 + random_.Below(3);
  for (uint64_t i = 0; i < requests; ++i) {
    auto* request = devices->add_requests();
    request->set_name(absl::StrCat("r", i));
    if (Chance(features.prioritized_list ? 25 : 2)) {
      for (int sub = 0; sub < 2; ++sub) {
        request->add_first_available()->set_name(absl::StrCat("s", sub));
        Fill(world, request->mutable_first_available(sub));
      }
    } else {
      Fill(world, request->mutable_exactly());
      if (Chance(features.admin_access ? 7 : 1)) request->mutable_exactly()->set_admin_access(true);
    }
  }
  AddConstraints(world, devices);
  return claim;
}

}  // namespace drasim
