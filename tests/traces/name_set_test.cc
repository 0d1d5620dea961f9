#include "traces/name_set.h"

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/random.h"

namespace drasim {
namespace name_set_test {

TEST(NameSetTest, TellsNewNamesFromKnownOnes) {
  NameSet names;
  EXPECT_TRUE(names.Insert("openb-pod-0001"));
  EXPECT_FALSE(names.Insert("openb-pod-0001"));
  // Equal as numbers, but not as names.
  EXPECT_TRUE(names.Insert("openb-pod-1"));
  EXPECT_TRUE(names.Insert("openb-pod-01"));
  EXPECT_TRUE(names.Insert("openb-pod-"));
  EXPECT_FALSE(names.Insert("openb-pod-"));
  EXPECT_TRUE(names.Insert(""));
  EXPECT_FALSE(names.Insert(""));
  EXPECT_TRUE(names.Insert("0"));
  EXPECT_TRUE(names.Insert("00"));
  EXPECT_FALSE(names.Insert("0"));
  EXPECT_EQ(names.size(), 7u);
}

TEST(NameSetTest, LongRunsOfDigits) {
  NameSet names;
  EXPECT_TRUE(names.Insert("99999999999999999999999999"));
  EXPECT_FALSE(names.Insert("99999999999999999999999999"));
  EXPECT_TRUE(names.Insert("89999999999999999999999999"));
  EXPECT_TRUE(names.Insert("9999999999999999999999999"));
  EXPECT_TRUE(names.Insert("9999999999999"));
  EXPECT_FALSE(names.Insert("9999999999999"));
  EXPECT_EQ(names.size(), 4u);
}

TEST(NameSetTest, RandomNamesEqualASetOfStrings) {
  NameSet names;
  std::set<std::string> oracle;
  Random random(5, "names");
  for (int round = 0; round < 20000; ++round) {
    std::string name;
    const uint64_t size = random.Below(6);
    for (uint64_t i = 0; i < size; ++i) name.push_back("ab019-"[random.Below(6)]);
    EXPECT_EQ(names.Insert(name), oracle.insert(name).second) << name;
  }
  EXPECT_EQ(names.size(), oracle.size());
}

TEST(NameSetTest, MorePrefixesThanItPacks) {
  NameSet names;
  constexpr int kPrefixes = 70000;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kPrefixes; ++i) {
      ASSERT_EQ(names.Insert(absl::StrCat("job-", i, "-of-7")), round == 0) << i;
    }
  }
  EXPECT_TRUE(names.Insert("job-1-of-8"));
  EXPECT_TRUE(names.Insert("job-69999-of-8"));
  EXPECT_FALSE(names.Insert("job-69999-of-8"));
  EXPECT_EQ(names.size(), size_t{kPrefixes} + 2);
}

}  // namespace name_set_test
}  // namespace drasim
