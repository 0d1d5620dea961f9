// Pruned search against exhaustive search on random clusters, and what must hold for any answer.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/hash.h"
#include "model/random.h"
#include "policies/allocator/device_catalog.h"
#include "policies/allocator/node_pools.h"
#include "policies/allocator/structured_allocator.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace {

using proto::kube::Device;
using proto::kube::DeviceClass;
using proto::kube::Node;
using proto::kube::ResourceClaimV1;
using proto::kube::ResourceSlice;

// Expressions are numbers. A verdict follows from the expression and the row alone.
class DiceVerdicts final : public SelectorVerdicts {
 public:
  DiceVerdicts(uint64_t seed, uint64_t errors) : seed_(seed), errors_(errors) {}

  int Selector(absl::string_view expression) override {
    int number = 0;
    EXPECT_TRUE(absl::SimpleAtoi(expression, &number));
    return number;
  }
  const std::string& CompileError(int) override { return none_; }
  SelectorVerdict Evaluate(int selector, DeviceRow row) override {
    const uint64_t dice =
        MixWord(MixWord(seed_, static_cast<uint64_t>(selector)), row.value()) % 100;
    if (dice < errors_) return SelectorVerdict::kError;
    return dice < 75 ? SelectorVerdict::kYes : SelectorVerdict::kNo;
  }
  std::string ErrorText(int selector, DeviceRow row) override {
    return absl::StrCat("error of ", selector, " at ", row.value());
  }
  absl::StatusOr<DeviceValue> Derive(absl::string_view, DeviceRow) override {
    return absl::InvalidArgumentError("nothing derives");
  }

 private:
  uint64_t seed_;
  uint64_t errors_;  // percent
  std::string none_;
};

struct RandomWorld {
  std::vector<ResourceSlice> slices;
  std::vector<DeviceClass> classes;
  std::vector<ResourceClaimV1> claims;
  Node node;
  DeviceUse use;
  AllocatorOptions options;
};

class WorldMaker {
 public:
  explicit WorldMaker(uint64_t seed) : random_(seed, "world") {}

  RandomWorld Make() {
    RandomWorld world;
    world.node.mutable_metadata()->set_name("node");
    const uint64_t variant = random_.Below(4);
    world.options.variant = variant == 0   ? AllocatorVariant::kStable
                            : variant == 1 ? AllocatorVariant::kExperimental
                                           : AllocatorVariant::kIncubating;
    world.options.features = SupportedDraFeatures(world.options.variant, StructuredRelease::k1_37);
    const uint64_t pools = 1 + random_.Below(3);
    for (uint64_t pool = 0; pool < pools; ++pool) AddPool(pool, &world);
    for (int i = 0; i < 3; ++i) {
      DeviceClass device_class;
      device_class.mutable_metadata()->set_name(absl::StrCat("class-", i));
      device_class.mutable_spec()->add_selectors()->mutable_cel()->set_expression(absl::StrCat(i));
      world.classes.push_back(device_class);
    }
    const uint64_t claims = 1 + random_.Below(2);
    for (uint64_t i = 0; i < claims; ++i) AddClaim(i, &world);
    return world;
  }

 private:
  bool Chance(uint64_t percent) { return random_.Below(100) < percent; }

  void AddPool(uint64_t pool, RandomWorld* world) {
    const bool counters = Chance(50);
    const int64_t devices = 1 + static_cast<int64_t>(random_.Below(5));
    const auto slice_of = [&](const char* suffix) {
      ResourceSlice slice;
      slice.mutable_metadata()->set_name(absl::StrCat("slice-", pool, suffix));
      slice.mutable_spec()->set_driver("driver");
      slice.mutable_spec()->set_node_name("node");
      slice.mutable_spec()->mutable_pool()->set_name(absl::StrCat("pool-", pool));
      const bool incomplete = Chance(4);
      slice.mutable_spec()->mutable_pool()->set_resource_slice_count((counters ? 2 : 1) +
                                                                     (incomplete ? 1 : 0));
      return slice;
    };
    if (counters) {
      ResourceSlice slice = slice_of("-counters");
      auto* set = slice.mutable_spec()->add_shared_counters();
      set->set_name("set");
      for (const char* name : {"a", "b"}) {
        (*set->mutable_counters())[name].set_value(absl::StrCat(1 + random_.Below(6)));
      }
      world->slices.push_back(slice);
    }
    ResourceSlice slice = slice_of("");
    for (int64_t i = 0; i < devices; ++i) AddDevice(pool, i, counters, &slice, world);
    if (Chance(2)) *slice.mutable_spec()->add_devices() = slice.spec().devices(0);  // invalid
    world->slices.push_back(slice);
  }

  void AddDevice(uint64_t pool, int64_t index, bool counters, ResourceSlice* slice,
                 RandomWorld* world) {
    Device* device = slice->mutable_spec()->add_devices();
    device->set_name(absl::StrCat("device-", index));
    for (const char* name : {"color", "place"}) {
      if (Chance(90)) {
        (*device->mutable_attributes())[name].set_int_value(static_cast<int64_t>(random_.Below(3)));
      }
    }
    if (Chance(25)) {
      device->set_allow_multiple_allocations(Chance(80));
      auto& capacity = (*device->mutable_capacity())["memory"];
      capacity.set_value(absl::StrCat(2 + random_.Below(6)));
      capacity.mutable_request_policy()->set_default_value("1");
    }
    if (counters && Chance(80)) {
      auto* use = device->add_consumes_counters();
      use->set_counter_set("set");
      for (const char* name : {"a", "b"}) {
        if (Chance(80)) {
          (*use->mutable_counters())[name].set_value(absl::StrCat(random_.Below(4)));
        }
      }
      if (Chance(10)) use->add_compatibility_groups(Chance(50) ? "red" : "blue");
    }
    if (Chance(8)) {
      auto* taint = device->add_taints();
      taint->set_key("taint");
      taint->set_effect("NoSchedule");
    }
    if (Chance(15)) {
      world->use.dedicated.push_back({"driver", absl::StrCat("pool-", pool), device->name()});
    }
  }

  template <typename Request>
  void Fill(Request* request) {
    request->set_device_class_name(absl::StrCat("class-", random_.Below(3)));
    const bool all = Chance(6);
    request->set_allocation_mode(all ? "All" : "ExactCount");
    if (!all) request->set_count(1 + static_cast<int64_t>(random_.Below(3)));
    if (Chance(40)) {
      request->add_selectors()->mutable_cel()->set_expression(absl::StrCat(3 + random_.Below(4)));
    }
    if (Chance(10)) request->add_tolerations()->set_operator_("Exists");
  }

  void AddClaim(uint64_t index, RandomWorld* world) {
    ResourceClaimV1 claim;
    claim.mutable_metadata()->set_name(absl::StrCat("claim-", index));
    auto* devices = claim.mutable_spec()->mutable_devices();
    const uint64_t requests = 1 + random_.Below(3);
    for (uint64_t i = 0; i < requests; ++i) {
      auto* request = devices->add_requests();
      request->set_name(absl::StrCat("r", i));
      if (Chance(25)) {
        for (int sub = 0; sub < 2; ++sub) {
          request->add_first_available()->set_name(absl::StrCat("s", sub));
          Fill(request->mutable_first_available(sub));
        }
      } else {
        Fill(request->mutable_exactly());
        if (Chance(6)) request->mutable_exactly()->set_admin_access(true);
      }
    }
    const bool distinct = world->options.variant != AllocatorVariant::kStable && Chance(20);
    if (Chance(40)) devices->add_constraints()->set_match_attribute("driver/color");
    if (distinct) devices->add_constraints()->set_distinct_attribute("driver/place");
    world->claims.push_back(claim);
  }

  Random random_;
};

template <typename Object>
std::vector<const Object*> Pointers(const std::vector<Object>& objects) {
  std::vector<const Object*> pointers;
  for (const Object& object : objects) pointers.push_back(&object);
  return pointers;
}

std::string AnswerText(const AllocationAnswer& answer) {
  std::string text = absl::StrCat(static_cast<int>(answer.outcome), " ", answer.error);
  for (const auto& result : answer.results) absl::StrAppend(&text, "\n", result.DebugString());
  return text;
}

class WorldSearch {
 public:
  WorldSearch(const RandomWorld& world, bool exhaustive, uint64_t seed, uint64_t errors) {
    AllocatorOptions options = world.options;
    options.count_steps = exhaustive;
    options.steps_before_pruning = 0;
    auto catalog = DeviceCatalog::Make(Pointers(world.slices));
    EXPECT_TRUE(catalog.ok()) << catalog.status();
    auto allocator = StructuredAllocator::Make(std::make_shared<NodePools>(options, *catalog),
                                               std::make_shared<DiceVerdicts>(seed, errors),
                                               Pointers(world.classes), world.use);
    EXPECT_TRUE(allocator.ok()) << allocator.status();
    allocator_ = *std::move(allocator);
  }

  AllocationAnswer Allocate(const RandomWorld& world) {
    return allocator_->Allocate(world.node, Pointers(world.claims));
  }

 private:
  std::unique_ptr<StructuredAllocator> allocator_;
};

// No device that is held alone is given again, nor given twice; counters and capacities suffice.
void ExpectWithinLimits(const RandomWorld& world, const AllocationAnswer& answer) {
  std::map<std::string, const Device*> devices;  // "pool/device"
  std::map<std::string, int64_t> counters;       // left, by "pool/counter"
  for (const ResourceSlice& slice : world.slices) {
    const std::string pool = slice.spec().pool().name();
    for (const Device& device : slice.spec().devices()) {
      devices[absl::StrCat(pool, "/", device.name())] = &device;
    }
    for (const auto& set : slice.spec().shared_counters()) {
      for (const auto& [name, counter] : set.counters()) {
        counters[absl::StrCat(pool, "/", name)] += std::stoll(counter.value());
      }
    }
  }
  std::map<std::string, bool> taken;  // by device: alone
  std::map<std::string, int64_t> memory;
  std::set<std::string> charged;
  const auto charge = [&](const std::string& pool, const Device& device) {
    for (const auto& use : device.consumes_counters()) {
      for (const auto& [name, counter] : use.counters()) {
        counters[absl::StrCat(pool, "/", name)] -= std::stoll(counter.value());
      }
    }
  };
  for (const DeviceId& id : world.use.dedicated) {
    const std::string key = absl::StrCat(id.pool, "/", id.device);
    if (!taken.try_emplace(key, true).second) continue;
    charge(id.pool, *devices.at(key));
  }
  const auto before = counters;
  for (const auto& allocation : answer.results) {
    for (const auto& result : allocation.devices().results()) {
      const std::string key = absl::StrCat(result.pool(), "/", result.device());
      const Device& device = *devices.at(key);
      const bool alone = !result.has_share_id();
      if (!result.admin_access()) {
        const auto [known, added] = taken.try_emplace(key, alone);
        EXPECT_TRUE(added || (!alone && !known->second)) << key << " is given twice";
      }
      if (alone || charged.insert(key).second) charge(result.pool(), device);
      for (const auto& [name, amount] : result.consumed_capacity()) {
        memory[key] += std::stoll(amount);
        EXPECT_LE(memory[key], std::stoll(device.capacity().at(name).value())) << key;
      }
    }
  }
  for (const auto& [name, left] : counters) {
    if (left == before.at(name)) continue;
    EXPECT_GE(left, 0) << name;
  }
}

// Whether the search took a step that a solution without a detour does not need.
bool Backtracked(const RandomWorld& world, const AllocationAnswer& answer) {
  if (answer.outcome != AllocationOutcome::kAllocated) return answer.steps >= 3;
  int64_t direct = 1;
  for (size_t i = 0; i < world.claims.size(); ++i) {
    direct += 1 + answer.results[i].devices().results_size();
    for (const auto& request : world.claims[i].spec().devices().requests()) {
      direct += request.first_available().empty() ? 1 : 2;
    }
  }
  return answer.steps > direct;
}

TEST(PrunedSearchTest, AnswersAsTheExhaustiveOne) {
  const uint64_t cases = SoakSeeds(5000);
  uint64_t backtracked = 0;
  uint64_t errors = 0;
  uint64_t allocated = 0;
  for (uint64_t seed = 0; seed < cases; ++seed) {
    SCOPED_TRACE(seed);
    const RandomWorld world = WorldMaker(seed).Make();
    const uint64_t percent = seed % 4 == 0 ? 6 : 0;
    WorldSearch exhaustive(world, true, seed, percent);
    WorldSearch pruned(world, false, seed, percent);
    const AllocationAnswer expected = exhaustive.Allocate(world);
    const AllocationAnswer answer = pruned.Allocate(world);
    ASSERT_EQ(AnswerText(answer), AnswerText(expected));
    // The search leaves nothing behind.
    ASSERT_EQ(AnswerText(pruned.Allocate(world)), AnswerText(expected));
    ASSERT_EQ(exhaustive.Allocate(world).steps, expected.steps);
    if (expected.outcome == AllocationOutcome::kAllocated) ExpectWithinLimits(world, answer);
    if (HasFailure()) return;
    backtracked += Backtracked(world, expected) ? 1U : 0U;
    errors += expected.error.empty() ? 0 : 1;
    allocated += expected.outcome == AllocationOutcome::kAllocated ? 1U : 0U;
  }
  EXPECT_GE(backtracked * 3, cases);
  EXPECT_GE(errors * 10, cases);
  EXPECT_GE(allocated * 10, cases);
}

// Exponential without pruning: 23 of 22 equal devices, and a next request that cannot be met.
TEST(PrunedSearchTest, GivesUpEarly) {
  for (const int64_t devices : {20, 22}) {
    RandomWorld world = WorldMaker(1).Make();
    world.use = DeviceUse();
    world.options.variant = AllocatorVariant::kIncubating;
    world.slices.resize(1);
    ResourceSlice& slice = world.slices[0];
    slice.mutable_spec()->clear_shared_counters();
    slice.mutable_spec()->clear_devices();
    slice.mutable_spec()->mutable_pool()->set_resource_slice_count(1);
    for (int64_t i = 0; i < devices; ++i) {
      Device* device = slice.mutable_spec()->add_devices();
      device->set_name(absl::StrCat("device-", i));
      (*device->mutable_attributes())["index"].set_int_value(i);
    }
    world.classes[0].mutable_spec()->clear_selectors();
    world.claims.resize(1);
    auto* claim = world.claims[0].mutable_spec()->mutable_devices();
    claim->clear_constraints();
    claim->clear_requests();
    const bool too_many = devices == 22;
    for (const int64_t count : {too_many ? 23 : 10, too_many ? 1 : 11}) {
      auto* request = claim->add_requests();
      request->set_name(absl::StrCat("r", count));
      request->mutable_exactly()->set_device_class_name("class-0");
      request->mutable_exactly()->set_allocation_mode("ExactCount");
      request->mutable_exactly()->set_count(count);
    }
    WorldSearch pruned(world, false, 1, 0);
    EXPECT_EQ(pruned.Allocate(world).outcome, AllocationOutcome::kDoesNotFit);
  }
}

}  // namespace
}  // namespace drasim
