// Rules of older releases, one by one.

#include "policies/allocator/release_rules.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/policies/allocator/tiny_world.h"

namespace drasim {
namespace {

using tiny_world::World;

constexpr StructuredRelease k34 = StructuredRelease::k1_34;
constexpr StructuredRelease k35 = StructuredRelease::k1_35;
constexpr StructuredRelease k36 = StructuredRelease::k1_36;
constexpr StructuredRelease k37 = StructuredRelease::k1_37;

constexpr char kCounters[] =
    "shared_counters { name: 'set' counters { key: 'slots' value { value: '2' } } } ";

// A device that takes so many of the slots of kCounters.
std::string Consumer(const std::string& name, int slots, const std::string& rest = "") {
  return absl::StrCat("devices { name: '", name,
                      "' consumes_counters { counter_set: 'set' counters { key: 'slots' value { "
                      "value: '",
                      slots, "' } } } ", rest, " } ");
}

std::string Request(const std::string& name, const std::string& exactly = "") {
  return absl::StrCat("requests { name: '", name, "' exactly { ", exactly, " } } ");
}

TEST(ReleaseRulesTest, TheNewestReleaseHasNoOldRule) {
  const ReleaseRules rules = RulesOf(k37);
  EXPECT_TRUE(rules.gives_back && rules.checks_amounts && rules.counters_by_pool);
  EXPECT_FALSE(RulesOf(k36).checks_amounts);
  EXPECT_TRUE(RulesOf(k36).gives_back);
  EXPECT_FALSE(RulesOf(k35).gives_back);
  EXPECT_TRUE(RulesOf(k35).counters_by_pool);
  EXPECT_FALSE(RulesOf(k34).counters_by_pool);
}

TEST(ReleaseRulesTest, ATaintedDeviceStaysChargedBefore136) {
  World world;
  world.Slice(kCounters)
      .Slice(Consumer("a", 1, "taints { key: 'k' effect: 'NoSchedule' }") + Consumer("b", 2))
      .Claim(Request("r"));
  EXPECT_EQ(world.Answer(k37), "b");
  EXPECT_EQ(world.Answer(k36), "b");
  EXPECT_EQ(world.Answer(k35), "none");
}

TEST(ReleaseRulesTest, ADeviceThatAConstraintRulesOutStaysChargedBefore136) {
  const std::string one = "attributes { key: 'x' value { int_value: 1 } }";
  const std::string two = "attributes { key: 'x' value { int_value: 2 } }";
  World world;
  world.Slice(kCounters)
      .Slice(Consumer("a", 1, one) + Consumer("b", 1, two) + Consumer("c", 1, one))
      .Claim(Request("r", "count: 2") + "constraints { match_attribute: 'driver/x' }");
  EXPECT_EQ(world.Answer(k36), "a c");
  EXPECT_EQ(world.Answer(k35), "none");
}

// One slot for each share; the second request meets only devices that are too small.
TEST(ReleaseRulesTest, ASharedDeviceThatIsUndoneStaysChargedBefore136) {
  const std::string shared =
      "allow_multiple_allocations: true capacity { key: 'm' value { value: '4' } }";
  const std::string large =
      "allow_multiple_allocations: true capacity { key: 'm' value { value: '8' } }";
  World world;
  world.Slice(kCounters)
      .Slice(Consumer("a", 2, large) + Consumer("b", 2, shared))
      .Claim(Request("r", "capacity { requests { key: 'm' value: '4' } }") +
             Request("s", "capacity { requests { key: 'm' value: '8' } }"));
  // r takes a, s has no room; r gives a back and takes b, but then a lacks slots for s.
  EXPECT_EQ(world.Answer(k36), "none");
  world.claims.clear();
  world.Claim(Request("r", "capacity { requests { key: 'm' value: '4' } }") +
              Request("s", "capacity { requests { key: 'm' value: '5' } }"));
  world.slices[1].mutable_spec()->mutable_devices(1)->clear_consumes_counters();
  EXPECT_EQ(world.Answer(k36), "b a");
  EXPECT_EQ(world.Answer(k35), "none");
}

TEST(ReleaseRulesTest, CountersBelongToTheSliceIn134) {
  World world;
  world.Slice(kCounters + Consumer("a", 2) + Consumer("b", 2))
      .Slice(kCounters + Consumer("c", 2))
      .Claim(Request("r", "count: 2"));
  EXPECT_EQ(world.Answer(k34), "a c");
  world.Held("b");
  EXPECT_EQ(world.Answer(k34), "none");
}

TEST(ReleaseRulesTest, IncompletePoolsGiveDevicesIn134) {
  World world;
  world.Slice("devices { name: 'a' }").Claim(Request("r"));
  world.slices[0].mutable_spec()->mutable_pool()->set_resource_slice_count(2);
  EXPECT_EQ(world.Answer(k34), "a");
  EXPECT_EQ(world.Answer(k35), "none");
  world.claims.clear();
  world.Claim(Request("r", "allocation_mode: 'All'"));
  const std::string error =
      "claim claim-1, request r: asks for all devices, but resource pool driver/pool is currently "
      "being updated";
  EXPECT_EQ(world.Answer(k34), error);
  EXPECT_EQ(world.Answer(k35), error);
}

TEST(ReleaseRulesTest, AnInvalidPoolEndsTheAttemptIn134) {
  World world;
  world.Slice("devices { name: 'a' } devices { name: 'a' }", "bad")
      .Slice("devices { name: 'b' }", "good")
      .Claim(Request("r"));
  // The seed decides which pool comes first.
  bool found = false;
  bool failed = false;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    world.options.pool_order_seed = seed;
    const std::string answer = world.Answer(k34);
    found = found || answer == "b";
    failed = failed || answer == "pool bad is invalid: duplicate device name a";
    EXPECT_EQ(world.Answer(k35), "b");
  }
  EXPECT_TRUE(found);
  EXPECT_TRUE(failed);
}

TEST(ReleaseRulesTest, EveryShareIsChargedIn134) {
  World world;
  world.Slice(kCounters + Consumer("a", 2, "allow_multiple_allocations: true"))
      .Claim(Request("r") + Request("s"));
  EXPECT_EQ(world.Answer(k34), "none");
  World pooled;
  pooled.Slice(kCounters)
      .Slice(Consumer("a", 2, "allow_multiple_allocations: true"))
      .Claim(Request("r") + Request("s"));
  EXPECT_EQ(pooled.Answer(k35), "a a");
}

TEST(ReleaseRulesTest, SharesOfOthersAreChargedSince137) {
  World world;
  world.Slice(kCounters)
      .Slice(Consumer("a", 2, "allow_multiple_allocations: true") + Consumer("b", 2))
      .Claim(Request("r", "tolerations { operator: 'Exists' }"));
  world.use.shared.push_back({"driver", "pool", "a"});
  // Known by its share alone, a is free of charge only since 1.37.
  EXPECT_EQ(world.Answer(k37), "a");
  world.slices[1].mutable_spec()->mutable_devices(0)->clear_allow_multiple_allocations();
  world.use.dedicated.push_back({"driver", "pool", "a"});
  EXPECT_EQ(world.Answer(k37), "none");
  EXPECT_EQ(world.Answer(k36), "none");
  world.use.dedicated.clear();
  world.slices[1].mutable_spec()->mutable_devices()->DeleteSubrange(0, 1);
  EXPECT_EQ(world.Answer(k36), "b");
}

TEST(ReleaseRulesTest, OnlyDedicatedDevicesOfOthersWereChargedBefore137) {
  World world;
  world.Slice(kCounters)
      .Slice(Consumer("a", 2,
                      "allow_multiple_allocations: true taints { key: 'k' effect: "
                      "'NoSchedule' }") +
             Consumer("b", 2))
      .Claim(Request("r"));
  world.use.shared.push_back({"driver", "pool", "a"});
  EXPECT_EQ(world.Answer(k37), "none");
  EXPECT_EQ(world.Answer(k36), "b");
}

TEST(ReleaseRulesTest, AShareWithoutCapacityMadeTheNextOnePayBefore137) {
  World world;
  world.Slice(kCounters)
      .Slice(Consumer("a", 2, "allow_multiple_allocations: true"))
      .Claim(Request("r"));
  world.use.shared.push_back({"driver", "pool", "a"});
  world.slices[0]
      .mutable_spec()
      ->mutable_shared_counters(0)
      ->mutable_counters()
      ->at("slots")
      .set_value("1");
  EXPECT_EQ(world.Answer(k36), "none");
}

TEST(ReleaseRulesTest, DistinctComparesTheLastOfEachRequestBefore137) {
  World world;
  world
      .Slice(
          "devices { name: 'a' attributes { key: 'x' value { int_value: 1 } } }"
          "devices { name: 'b' attributes { key: 'x' value { int_value: 2 } } }"
          "devices { name: 'c' attributes { key: 'x' value { int_value: 1 } } }")
      .Claim(Request("r", "count: 3") + "constraints { distinct_attribute: 'driver/x' }");
  EXPECT_EQ(world.Answer(k37), "none");
  EXPECT_EQ(world.Answer(k36), "a b c");
}

TEST(ReleaseRulesTest, CommonElementsStayedNarrowBefore137) {
  const auto device = [](const char* name, const char* ints) {
    return absl::StrCat("devices { name: '", name, "' attributes { key: 'x' value { ", ints,
                        " } } } ");
  };
  World world;
  world
      .Slice(device("a", "ints: 1 ints: 2") + device("b", "ints: 1") + device("c", "ints: 2") +
             device("d", "ints: 2"))
      .Claim(Request("r", "count: 3") + "constraints { match_attribute: 'driver/x' }");
  EXPECT_EQ(world.Answer(k37), "a c d");
  EXPECT_EQ(world.Answer(k36), "none");
}

TEST(ReleaseRulesTest, AllWantedDevicesWithRoomBefore137) {
  const std::string shared =
      " allow_multiple_allocations: true capacity { key: 'm' value { value: '1' } } }";
  World world;
  world.Slice("devices { name: 'a'" + shared + "devices { name: 'b'" + shared)
      .Claim(Request("r", "allocation_mode: 'All'"));
  world.use.consumed[{"driver", "pool", "a"}]["m"] = *Quantity::Parse("1");
  EXPECT_EQ(world.Answer(k37), "none");
  EXPECT_EQ(world.Answer(k36), "b");
}

TEST(ReleaseRulesTest, SumsWrappedAroundBefore137) {
  World world;
  world
      .Slice(
          "devices { name: 'a' capacity { key: 'm' value { value: '100' request_policy { "
          "default_value: '1' valid_range { min: '1' step: '128' } } } } }")
      .Claim(Request("r", "capacity { requests { key: 'm' value: '9223372036854775807' } }"));
  EXPECT_EQ(world.Answer(k37),
            "claim claim-1, request r: checking capacity for device driver/pool/a: capacity \"m\": "
            "capacity request cannot be represented in the device's range arithmetic: request "
            "9223372036854775807 is not a representable milli value");
  // The sum is negative, and so fits.
  EXPECT_EQ(world.Answer(k36), "a");
}

TEST(ReleaseRulesTest, NewFieldsAreUnknownBefore137) {
  World world;
  world.Slice("skip_node_operations: '*' devices { name: 'a' }")
      .Slice(
          "devices { name: 'b' consumes_counters { counter_set: 'set' compatibility_groups: "
          "'g' } }",
          "groups")
      .Claim(Request("r"));
  EXPECT_EQ(world.Answer(k37), "none");
  EXPECT_EQ(world.Answer(k36), "a");
  EXPECT_TRUE(world.last.results[0].devices().results(0).skip_node_operations().empty());
}

}  // namespace
}  // namespace drasim
