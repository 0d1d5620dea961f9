#include "policies/allocator/constraint_state.h"

#include <initializer_list>

#include "gtest/gtest.h"

namespace drasim {
namespace {

ConstraintValue ValuesOf(std::initializer_list<int64_t> numbers,
                         DeviceValue::Kind kind = DeviceValue::Kind::kInt) {
  ConstraintValue value;
  value.form = ConstraintValue::Form::kKnown;
  for (const int64_t number : numbers) value.elements.push_back({kind, number});
  return value;
}

TEST(ConstraintStateTest, MatchComparesTypeAndValue) {
  ConstraintState match(/*distinct=*/false, /*lists=*/false);
  const ConstraintValue one = ValuesOf({1});
  const ConstraintValue two = ValuesOf({2});
  const ConstraintValue truth = ValuesOf({1}, DeviceValue::Kind::kBool);
  EXPECT_FALSE(match.Add(ConstraintValue()));
  EXPECT_TRUE(match.Add(one));
  EXPECT_FALSE(match.Add(two));
  EXPECT_FALSE(match.Add(truth));
  EXPECT_TRUE(match.Add(one));
  match.Remove();
  match.Remove();
  EXPECT_TRUE(match.Add(two));
}

TEST(ConstraintStateTest, OnlyTheFirstMayBeUnknown) {
  ConstraintValue unknown;
  unknown.form = ConstraintValue::Form::kUnknown;
  const ConstraintValue one = ValuesOf({1});
  for (const bool distinct : {false, true}) {
    ConstraintState state(distinct, /*lists=*/false);
    EXPECT_TRUE(state.Add(unknown));
    EXPECT_FALSE(state.Add(unknown));
    EXPECT_EQ(state.Add(one), distinct);
    EXPECT_FALSE(ConstraintState(distinct, /*lists=*/true).Add(unknown));
  }
}

TEST(ConstraintStateTest, DistinctLooksAtEveryDevice) {
  ConstraintState distinct(/*distinct=*/true, /*lists=*/false);
  const ConstraintValue one = ValuesOf({1});
  const ConstraintValue two = ValuesOf({2});
  EXPECT_TRUE(distinct.Add(one));
  EXPECT_TRUE(distinct.Add(two));
  EXPECT_FALSE(distinct.Add(one));
  EXPECT_EQ(distinct.size(), 2u);
}

TEST(ConstraintStateTest, ListsMatchByCommonElementsAndUndoRestoresThem) {
  ConstraintState match(/*distinct=*/false, /*lists=*/true);
  const ConstraintValue all = ValuesOf({1, 2, 3});
  const ConstraintValue left = ValuesOf({1, 2});
  const ConstraintValue right = ValuesOf({2, 3});
  const ConstraintValue three = ValuesOf({3});
  EXPECT_TRUE(match.Add(all));
  EXPECT_TRUE(match.Add(left));
  EXPECT_TRUE(match.Add(right));  // 2 is left
  EXPECT_FALSE(match.Add(three));
  match.Remove();
  match.Remove();
  EXPECT_TRUE(match.Add(right));
  EXPECT_TRUE(match.Add(three));
}

TEST(ConstraintStateTest, ListsAreDistinctWhenDisjoint) {
  ConstraintState distinct(/*distinct=*/true, /*lists=*/true);
  const ConstraintValue low = ValuesOf({1, 2});
  const ConstraintValue high = ValuesOf({3, 4});
  const ConstraintValue both = ValuesOf({2, 5});
  EXPECT_TRUE(distinct.Add(low));
  EXPECT_TRUE(distinct.Add(high));
  EXPECT_FALSE(distinct.Add(both));
}

}  // namespace
}  // namespace drasim
