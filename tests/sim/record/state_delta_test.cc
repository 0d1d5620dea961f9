// Deltas of states: any two states lead to each other, and unchanged rows are not repeated.
#include "sim/record/state_delta.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/random.h"

namespace drasim {
namespace state_delta_test {

std::string Noise(Random* random, size_t bytes) {
  std::string noise;
  for (size_t i = 0; i < bytes; ++i) noise.push_back(static_cast<char>(random->Below(256)));
  return noise;
}

// The delta, after it has been applied.
StateDelta Checked(absl::string_view before, absl::string_view now) {
  const StateChunks chunks(before);
  StateChunks chunks_now;
  const StateDelta delta = DiffStates(chunks, now, &chunks_now);
  EXPECT_EQ(chunks_now.hash(), StateChunks(now).hash());
  std::string again;
  EXPECT_TRUE(ApplyDelta(before, delta, now.size(), &again));
  EXPECT_TRUE(again == now);
  EXPECT_FALSE(ApplyDelta(before, delta, now.size() + 1, &again));
  if (!now.empty()) {
    EXPECT_FALSE(ApplyDelta(before, delta, now.size() - 1, &again));
  }
  return delta;
}

TEST(StateDeltaTest, TheSameStateIsOneCopy) {
  Random random(1, "state delta");
  const std::string state = Noise(&random, 100'000);
  const StateDelta delta = Checked(state, state);
  EXPECT_EQ(delta.fresh, "");
  ASSERT_EQ(delta.copies.size(), 1u);
  EXPECT_EQ(delta.copies[0].offset, 0u);
  EXPECT_EQ(delta.copies[0].bytes, state.size());
}

TEST(StateDeltaTest, SmallAndUniformStates) {
  const std::string states[] = {"",
                                "x",
                                "abc",
                                std::string(255, 'a'),
                                std::string(256, 'a'),
                                std::string(8192, 'a'),
                                std::string(50'000, 'a')};
  for (const std::string& before : states) {
    for (const std::string& now : states) Checked(before, now);
  }
}

TEST(StateDeltaTest, OtherStatesShareNothing) {
  Random random(2, "state delta");
  const std::string before = Noise(&random, 50'000);
  const std::string now = Noise(&random, 40'000);
  const StateDelta delta = Checked(before, now);
  EXPECT_TRUE(delta.copies.empty());
  EXPECT_TRUE(delta.fresh == now);
}

// Rows at the end, and a few changed ones in between, cost about what they are.
TEST(StateDeltaTest, GrowthCostsWhatIsNew) {
  Random random(3, "state delta");
  std::string before;
  std::string now;
  for (int i = 0; i < 10'000; ++i) {
    const std::string row = absl::StrCat("row ", i, " ", random.Below(1'000'000), "\n");
    before += row;
    now += i % 2000 == 7 ? absl::StrCat("changed ", i, "\n") : row;
  }
  for (int i = 0; i < 1000; ++i) now += absl::StrCat("new ", random.Below(1'000'000), "\n");
  const StateDelta delta = Checked(before, now);
  EXPECT_GT(delta.fresh.size(), now.size() - before.size());
  EXPECT_LT(delta.fresh.size(), now.size() / 3);
}

TEST(StateDeltaTest, RandomEdits) {
  Random random(4, "state delta");
  std::string state = Noise(&random, 30'000);
  for (int i = 0; i < 100; ++i) {
    std::string next = state;
    for (uint64_t edits = random.Below(4); edits > 0; --edits) {
      const size_t at = random.Below(next.size());
      const size_t cut = random.Below(500);
      const size_t added = random.Below(600);
      next = absl::StrCat(next.substr(0, at), Noise(&random, added),
                          next.substr(std::min(next.size(), at + cut)));
    }
    Checked(state, next);
    state = next;
  }
}

TEST(StateDeltaTest, DeltasThatDoNotFitAreRefused) {
  std::string state;
  StateDelta delta;
  delta.copies = {{5, 5}};
  EXPECT_FALSE(ApplyDelta("0123456789", delta, 5, &state));  // no gap
  delta.gaps = {0};
  EXPECT_TRUE(ApplyDelta("0123456789", delta, 5, &state));
  EXPECT_EQ(state, "56789");
  EXPECT_FALSE(ApplyDelta("012345678", delta, 5, &state));  // beyond the end
  delta.copies = {{~uint64_t{0}, 2}};
  EXPECT_FALSE(ApplyDelta("0123456789", delta, 2, &state));
  delta.copies = {{2, ~uint64_t{0}}};
  EXPECT_FALSE(ApplyDelta("0123456789", delta, 2, &state));
  delta.copies = {{2, 2}};
  delta.gaps = {3};
  delta.fresh = "ab";
  EXPECT_FALSE(ApplyDelta("0123456789", delta, 5, &state));  // too few new bytes
  delta.fresh = "abcd";
  EXPECT_TRUE(ApplyDelta("0123456789", delta, 6, &state));
  EXPECT_EQ(state, "abc23d");
}

}  // namespace state_delta_test
}  // namespace drasim
