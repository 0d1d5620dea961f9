// Searches that take ages without pruning: each must end, with upstream's answer.

#include "policies/allocator/branch_pruner.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "policies/allocator/assignment_bound.h"
#include "tests/policies/allocator/tiny_world.h"

namespace drasim {
namespace {

// Devices d0, d1, ... that differ in their number, with `rest` for each.
std::string NumberedDevices(int count, const std::string& rest = "") {
  std::string text;
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&text, "devices { name: 'd", i,
                    "' attributes { key: 'number' value { int_value: ", i, " } } ", rest, " } ");
  }
  return text;
}

// A request for `count` devices whose number meets the condition.
std::string RequestWhere(const std::string& condition, int count) {
  return absl::StrCat("requests { name: 'r", condition.size(), "-", count,
                      "' exactly { count: ", count,
                      condition.empty() ? "" : " selectors { cel { expression: \"", condition,
                      condition.empty() ? "" : "\" } }", " } } ");
}

class BranchPrunerTest : public testing::Test {
 protected:
  BranchPrunerTest() {
    world_.options.count_steps = false;
    world_.options.variant = AllocatorVariant::kIncubating;
  }
  tiny_world::World world_;
};

constexpr char kNumber[] = "device.attributes['driver'].number";

TEST_F(BranchPrunerTest, RequestsThatCompete) {
  // Nineteen of eighteen devices, of which no two can be exchanged.
  world_.Slice(NumberedDevices(18));
  world_.Claim(RequestWhere("", 9) + RequestWhere(absl::StrCat(kNumber, " >= 0"), 10) +
               "constraints { distinct_attribute: 'driver/number' }");
  EXPECT_EQ(world_.Answer(), "none");
}

TEST_F(BranchPrunerTest, ErrorsBehindAnImpossibleRequest) {
  // The last request would be an error, but the second is never met.
  world_.Slice(NumberedDevices(24));
  world_.Claim(RequestWhere("", 12) + RequestWhere("false", 1) +
               RequestWhere("device.attributes['other'].number == 1", 1) +
               "constraints { distinct_attribute: 'driver/number' }");
  EXPECT_EQ(world_.Answer(), "none");
}

TEST_F(BranchPrunerTest, ErrorsThatAreMet) {
  world_.Slice(NumberedDevices(12));
  world_.Claim(RequestWhere("", 6) + RequestWhere(absl::StrCat(kNumber, " / 0 == 1"), 1));
  EXPECT_NE(world_.Answer().find("division by zero"), std::string::npos) << world_.Answer();
}

TEST_F(BranchPrunerTest, SharesThatDoNotFit) {
  // Every device has room for one share of six.
  world_.Slice(NumberedDevices(12,
                               "allow_multiple_allocations: true "
                               "capacity { key: 'memory' value { value: '10' } }"));
  std::string claim;
  for (int i = 0; i < 13; ++i) {
    absl::StrAppend(&claim, "requests { name: 'r", i,
                    "' exactly { capacity { requests { key: 'memory' value: '6' } } } } ");
  }
  world_.Claim(claim);
  EXPECT_EQ(world_.Answer(), "none");
}

TEST_F(BranchPrunerTest, CountersOfAllRequests) {
  // Twelve devices of two units and one of seven: eight of the small ones and the large one take
  // more than there is.
  std::string devices;
  for (int i = 0; i < 13; ++i) {
    absl::StrAppend(&devices, "devices { name: 'd", i,
                    "' attributes { key: 'number' value { int_value: ", i,
                    " } } consumes_counters { counter_set: 'set' counters { key: 'unit' value { "
                    "value: '",
                    i == 12 ? 7 : 2, "' } } } } ");
  }
  world_.Slice("shared_counters { name: 'set' counters { key: 'unit' value { value: '22' } } }");
  world_.Slice(devices);
  world_.Claim(RequestWhere(absl::StrCat(kNumber, " < 12"), 8) +
               RequestWhere(absl::StrCat(kNumber, " == 12"), 1) +
               "constraints { distinct_attribute: 'driver/number' }");
  EXPECT_EQ(world_.Answer(), "none");
}

TEST(AssignmentBoundTest, MovesWhatStandsInTheWay) {
  AssignmentBound bound;
  bound.AddNeed(1, {1, 2});
  bound.AddNeed(1, {1});
  EXPECT_TRUE(bound.Fits());
  AssignmentBound chain;
  chain.AddNeed(1, {1, 2});
  chain.AddNeed(1, {2, 3});
  chain.AddNeed(1, {1});
  chain.AddNeed(1, {3, 2});
  EXPECT_FALSE(chain.Fits());
}

TEST(AssignmentBoundTest, SlotsAndUnits) {
  AssignmentBound bound;
  bound.SetSlots(1, 2);
  bound.AddNeed(2, {1, 2});
  bound.AddNeed(1, {1});
  EXPECT_TRUE(bound.Fits());
  AssignmentBound more;
  more.SetSlots(1, 2);
  more.AddNeed(3, {1, 2});
  more.AddNeed(1, {1});
  EXPECT_FALSE(more.Fits());
}

}  // namespace
}  // namespace drasim
