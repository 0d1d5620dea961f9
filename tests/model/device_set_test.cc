#include "model/device_set.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <type_traits>
#include <vector>

#include "absl/hash/hash_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/random.h"

namespace drasim {
namespace device_set_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// No integer is a set, nor a set an integer.
static_assert(!std::is_convertible_v<uint64_t, DeviceSet>);
static_assert(!std::is_constructible_v<DeviceSet, uint64_t>);
static_assert(!std::is_constructible_v<DeviceSet, int>);
static_assert(!std::is_constructible_v<uint64_t, DeviceSet>);
static_assert(!std::is_constructible_v<bool, DeviceSet>);
static_assert(std::is_trivially_copyable_v<DeviceSet>);
static_assert(sizeof(DeviceSet) == 8);

// Sets are constants where their members are.
static_assert((DeviceSet::FirstN(8) - DeviceSet::Of(0)).First() == 1);
static_assert((DeviceSet::Of(3) | DeviceSet::Of(63)).size() == 2);
static_assert(DeviceSet::All() == DeviceSet::FirstN(kMaxDevicesPerNode));

using Naive = std::set<size_t>;

Naive NaiveOf(DeviceSet set) { return Naive(set.begin(), set.end()); }

DeviceSet SetOf(const Naive& naive) {
  DeviceSet set;
  for (const size_t device : naive) set.Add(device);
  return set;
}

TEST(DeviceSetTest, SetsByHand) {
  const DeviceSet none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.size(), 0);
  EXPECT_EQ(none.Bound(), 0u);
  EXPECT_EQ(none.bits(), 0u);
  EXPECT_THAT(NaiveOf(none), IsEmpty());
  const DeviceSet ends = DeviceSet::Of(0) | DeviceSet::Of(63);
  EXPECT_THAT(NaiveOf(ends), ElementsAre(0u, 63u));
  EXPECT_EQ(ends.bits(), 0x8000'0000'0000'0001u);
  EXPECT_EQ(ends.First(), 0u);
  EXPECT_EQ(ends.Bound(), 64u);
  EXPECT_THAT(NaiveOf(DeviceSet::FirstN(3)), ElementsAre(0u, 1u, 2u));
  EXPECT_EQ(DeviceSet::FirstN(0), none);
  EXPECT_EQ(DeviceSet::FirstN(63), DeviceSet::All() - DeviceSet::Of(63));
  EXPECT_EQ(DeviceSet::FirstN(64), DeviceSet::All());
  EXPECT_EQ(DeviceSet::FirstN(1000), DeviceSet::All());
  EXPECT_EQ(DeviceSet::All().size(), kMaxDevicesPerNode);
  EXPECT_EQ(DeviceSet::FromBits(0b1010).bits(), 0b1010u);
}

TEST(DeviceSetTest, RemoveFirstEndsWithTheEmptySet) {
  DeviceSet set = DeviceSet::Of(5) | DeviceSet::Of(40);
  std::vector<size_t> seen;
  for (; !set.empty(); set.RemoveFirst()) seen.push_back(set.First());
  EXPECT_THAT(seen, ElementsAre(5u, 40u));
  set.RemoveFirst();
  EXPECT_TRUE(set.empty());
}

// The loop sees the set as it was when the loop began.
TEST(DeviceSetTest, ALoopMayChangeItsSet) {
  DeviceSet set = DeviceSet::FirstN(4);
  int visited = 0;
  for (const size_t device : set) {
    set.Remove(device);
    set.Add(device + 10);
    ++visited;
  }
  EXPECT_EQ(visited, 4);
  EXPECT_THAT(NaiveOf(set), ElementsAre(10u, 11u, 12u, 13u));
}

TEST(DeviceSetTest, HashAgreesWithEquality) {
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly(
      {DeviceSet(), DeviceSet::Of(0), DeviceSet::Of(63), DeviceSet::FirstN(1), DeviceSet::All()}));
}

class DeviceSetRandomTest : public ::testing::Test {
 protected:
  // Few, many or about half of the devices.
  Naive Draw() {
    Naive naive;
    const uint64_t share = 1 + random_.Below(9);
    for (size_t d = 0; d < kMaxDevicesPerNode; ++d) {
      if (random_.Below(10) < share) naive.insert(d);
    }
    return random_.Below(20) == 0 ? Naive() : naive;
  }

  Random random_ = Random(1, "device sets");
};

void ExpectSame(DeviceSet set, const Naive& naive) {
  EXPECT_EQ(NaiveOf(set), naive);
  EXPECT_EQ(set.size(), static_cast<int>(naive.size()));
  EXPECT_EQ(set.empty(), naive.empty());
  EXPECT_EQ(set.Bound(), naive.empty() ? 0 : *naive.rbegin() + 1);
  if (!naive.empty()) {
    EXPECT_EQ(set.First(), *naive.begin());
  }
  uint64_t bits = 0;
  for (const size_t device : naive) bits |= uint64_t{1} << device;
  EXPECT_EQ(set.bits(), bits);
  EXPECT_EQ(DeviceSet::FromBits(bits), set);
}

TEST_F(DeviceSetRandomTest, OperatorsAgreeWithOrderedSets) {
  for (int trial = 0; trial < 2000; ++trial) {
    const Naive a = Draw();
    const Naive b = random_.Below(10) == 0 ? a : Draw();
    Naive both, either, only_a = a;
    for (const size_t device : a) {
      if (b.count(device) > 0) both.insert(device);
    }
    either.insert(a.begin(), a.end());
    either.insert(b.begin(), b.end());
    for (const size_t device : b) only_a.erase(device);
    const DeviceSet set_a = SetOf(a);
    const DeviceSet set_b = SetOf(b);
    ExpectSame(set_a, a);
    ExpectSame(set_a & set_b, both);
    ExpectSame(set_a | set_b, either);
    ExpectSame(set_a - set_b, only_a);
    EXPECT_EQ(set_a == set_b, a == b);
    EXPECT_EQ(set_a.Intersects(set_b), !both.empty());
    EXPECT_EQ(set_a.IsSubsetOf(set_b), only_a.empty());
    EXPECT_TRUE((set_a & set_b).IsSubsetOf(set_a));
    EXPECT_EQ(set_a < set_b, set_a.bits() < set_b.bits());
    DeviceSet assigned = set_a;
    ExpectSame(assigned |= set_b, either);
    assigned = set_a;
    ExpectSame(assigned &= set_b, both);
    assigned = set_a;
    ExpectSame(assigned -= set_b, only_a);
  }
}

TEST_F(DeviceSetRandomTest, ChangesAgreeWithOrderedSets) {
  DeviceSet set;
  Naive naive;
  for (int step = 0; step < 5000; ++step) {
    const auto device = static_cast<size_t>(random_.Below(kMaxDevicesPerNode));
    switch (random_.Below(5)) {
      case 0:
      case 1:
        set.Add(device);
        naive.insert(device);
        break;
      case 2:
        set.Remove(device);
        naive.erase(device);
        break;
      case 3:
        set.RemoveFirst();
        if (!naive.empty()) naive.erase(naive.begin());
        break;
      default:
        set -= DeviceSet::FirstN(device);
        naive.erase(naive.begin(), naive.lower_bound(device));
        break;
    }
    ExpectSame(set, naive);
    EXPECT_EQ(set.Contains(device), naive.count(device) > 0);
  }
}

}  // namespace device_set_test
}  // namespace drasim
