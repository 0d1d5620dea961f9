// Counters of held devices, when their slices change.

#include "policies/dra/counter_ledger.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/gpu_model_table.h"
#include "model/shape_table.h"
#include "model/slice_facts.h"
#include "policies/allocator/cel_verdicts.h"
#include "policies/dra/slice_inventory.h"
#include "tests/policies/dra/dra_rig.h"

namespace drasim {
namespace {

using dra_rig::ClaimOf;
using dra_rig::FromText;
using dra_rig::NodeOf;

proto::kube::ResourceSlice LedgerSlice(const std::string& name, const std::string& content) {
  auto slice = FromText<proto::kube::ResourceSlice>(
      absl::StrCat("metadata { name: '", name,
                   "' } spec { driver: 'd' all_nodes: true pool { name: 'p' generation: 1 "
                   "resource_slice_count: 2 } ",
                   content, " }"));
  return slice;
}

std::string LedgerDevice(const std::string& name, int slots) {
  return absl::StrCat("devices { name: '", name,
                      "' consumes_counters { counter_set: 'set' counters { key: 'slots' value { "
                      "value: '",
                      slots, "' } } } } ");
}

const char kLedgerCounters[] =
    "shared_counters { name: 'set' counters { key: 'slots' value { value: '4' } } }";

class LedgerWorld {
 public:
  explicit LedgerWorld(bool strict) : inventory_(Options(strict), MakeCelVerdicts, &cluster_) {
    proto::kube::DeviceClass device_class;
    device_class.mutable_metadata()->set_name("class");
    inventory_.AddClass(device_class);
    inventory_.Put(LedgerSlice("counters", kLedgerCounters));
    inventory_.Put(LedgerSlice("devices", LedgerDevice("a", 3) + LedgerDevice("b", 2)));
  }
  static AllocatorOptions Options(bool strict) {
    AllocatorOptions options;
    options.strict_upstream = strict;
    return options;
  }
  void Hold(const std::string& device) {
    cluster_.HoldDevices(device, /*pending=*/false, {HoldFacts{"d", "p", device, false, {}}});
    holders_.push_back(device);
  }
  void ReleaseAll() {
    for (const std::string& claim : holders_) cluster_.ReleaseDevices(claim, /*pending=*/false);
    holders_.clear();
  }
  void PutDevices(const std::string& devices) { inventory_.Put(LedgerSlice("devices", devices)); }
  void RemoveDevices() { inventory_.Remove("devices"); }
  // The device that a claim gets, or "".
  std::string Get() {
    auto search = inventory_.NewSearch();
    EXPECT_TRUE(search.ok()) << search.status();
    const std::vector<ClaimRef> claims = {ClaimOf("c", R"(spec { devices { requests { name: "r"
        exactly { device_class_name: "class" allocation_mode: "ExactCount" count: 1 } } } })")};
    const SearchResult result = (*search)->Allocate(NodeOf("n"), claims);
    if (result.outcome != SearchOutcome::kFound) return result.message;
    return result.allocations[0].devices().results(0).device();
  }

 private:
  GpuModelTable models_;
  ShapeTable shapes_{&models_};
  ClusterState cluster_{&models_, &shapes_};
  std::vector<std::string> holders_;
  SliceInventory inventory_;
};

TEST(CounterLedgerTest, ADeviceThatIsNoLongerPublishedKeepsItsCounters) {
  for (const bool strict : {true, false}) {
    LedgerWorld world(strict);
    EXPECT_EQ(world.Get(), "a");
    world.Hold("a");
    EXPECT_EQ(world.Get(), "");  // 1 of 4 slots is left
    world.PutDevices(LedgerDevice("b", 2));
    EXPECT_EQ(world.Get(), strict ? "b" : "");
    world.ReleaseAll();
    EXPECT_EQ(world.Get(), "b");
  }
}

// The slices change before anything else is scheduled.
TEST(CounterLedgerTest, HoldersAreAskedBeforeASliceChanges) {
  LedgerWorld world(/*strict=*/false);
  world.Hold("a");
  world.PutDevices(LedgerDevice("a", 1) + LedgerDevice("b", 2));
  EXPECT_EQ(world.Get(), "");
  LedgerWorld strict(/*strict=*/true);
  strict.Hold("a");
  strict.PutDevices(LedgerDevice("a", 1) + LedgerDevice("b", 2));
  EXPECT_EQ(strict.Get(), "b");
}

TEST(CounterLedgerTest, ADeviceThatTakesMoreNowTookLessThen) {
  LedgerWorld world(/*strict=*/false);
  world.Hold("b");
  world.PutDevices(LedgerDevice("b", 4) + LedgerDevice("c", 2));
  EXPECT_EQ(world.Get(), "c");
}

TEST(CounterLedgerTest, DriftIsTheDifferenceByCounter) {
  const auto ref = [](const proto::kube::ResourceSlice& slice) {
    return std::make_shared<const proto::kube::ResourceSlice>(slice);
  };
  std::vector<std::shared_ptr<const proto::kube::ResourceSlice>> slices = {
      ref(LedgerSlice("devices", LedgerDevice("a", 3) + LedgerDevice("b", 2)))};
  DeviceUse use;
  use.dedicated = {{"d", "p", "a"}, {"d", "p", "gone"}};
  use.shared = {{"d", "p", "b"}};
  CounterLedger ledger;
  ledger.Update(slices, use);
  EXPECT_TRUE(ledger.Drift(slices).empty());
  slices = {ref(LedgerSlice("devices", LedgerDevice("a", 1)))};
  ledger.Update(slices, use);
  const std::vector<CounterDrift> expected = {
      {"d", "p", "set", "slots", ExactAmount(4'000'000'000)}};
  EXPECT_EQ(ledger.Drift(slices), expected);
  // An older generation does not count beside a newer one.
  proto::kube::ResourceSlice old = LedgerSlice("old", LedgerDevice("a", 9));
  old.mutable_spec()->mutable_pool()->set_generation(0);
  slices.push_back(ref(old));
  EXPECT_EQ(ledger.Drift(slices), expected);
  use.shared.clear();
  ledger.Update(slices, use);
  EXPECT_EQ(ledger.Drift(slices)[0].amount, ExactAmount(2'000'000'000));
}

}  // namespace
}  // namespace drasim
