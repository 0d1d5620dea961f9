#include "model/saved_state.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/random.h"
#include "model/state_io.h"

namespace drasim {
namespace saved_state_test {

constexpr size_t kJobKind = static_cast<size_t>(RowKind::kJob);
constexpr size_t kPodKind = static_cast<size_t>(RowKind::kPod);

// Jobs of one pod that come, change while they live, and end at random; two tables of pods.
class Life {
 public:
  explicit Life(uint64_t seed) : random_(seed, "saved_state_test") {}

  void Step() {
    const uint64_t kind = random_.Below(3);
    if (kind == 0 || live_.empty()) {
      live_.push_back(static_cast<uint32_t>(jobs_.size()));
      jobs_.push_back(random_.Below(1000));
      names_.push_back(std::string(random_.Below(4), 'x'));  // empty, too
      return;
    }
    const size_t at = random_.Below(live_.size());
    jobs_[live_[at]] = random_.Below(1'000'000);
    names_[live_[at]] += 'y';
    if (kind == 1) return;
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void Save(StateWriter& out) const {
    out.Section("life");
    out.Rows(RowKind::kPod, names_.size(), [&](size_t i) { out.Str(names_[i]); });
    out.U64(live_.size());
    out.Rows(RowKind::kJob, jobs_.size(), [&](size_t i) { out.U64(jobs_[i]); });
    out.Rows(RowKind::kPod, names_.size() / 2, [&](size_t i) { out.U64(i); });
  }
  std::string Whole() const {
    StateWriter out;
    Save(out);
    return out.Release();
  }
  // Saves the live rows, and those that have ended since the last call.
  SavedState Next() {
    RowPicks picks;
    picks[kJobKind] = open_;
    for (size_t i = saved_; i < jobs_.size(); ++i) {
      picks[kJobKind].push_back(static_cast<uint32_t>(i));
    }
    picks[kPodKind] = picks[kJobKind];
    // The half table grows by rows that are long done.
    for (size_t i = saved_ / 2; i < names_.size() / 2; ++i) {
      picks[kPodKind].push_back(static_cast<uint32_t>(i));
    }
    std::sort(picks[kPodKind].begin(), picks[kPodKind].end());
    picks[kPodKind].erase(std::unique(picks[kPodKind].begin(), picks[kPodKind].end()),
                          picks[kPodKind].end());
    saved_ = jobs_.size();
    open_ = live_;
    std::sort(open_.begin(), open_.end());
    StateWriter out(&picks);
    Save(out);
    return TakeState(std::move(picks), &out);
  }

 private:
  Random random_;
  std::vector<uint32_t> live_;
  std::vector<uint64_t> jobs_;
  std::vector<std::string> names_;
  std::vector<uint32_t> open_;
  size_t saved_ = 0;
};

TEST(SavedStateTest, TheSumOfTheStatesIsTheWholeState) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Life life(seed);
    StateImage image;
    for (int n = 0; n < 30; ++n) {
      for (int step = 0; step < 40; ++step) life.Step();
      const SavedState state = life.Next();
      EXPECT_EQ(state.tables.size(), 3u);
      if (n > 20) {
        EXPECT_LT(state.text.size(), life.Whole().size() / 2);
      }
      SavedState again;
      ASSERT_TRUE(DecodeState(EncodeState(state), &again));
      ASSERT_TRUE(image.Apply(std::move(again)));
      ASSERT_EQ(image.Whole().text, life.Whole()) << "seed " << seed << ", state " << n;
    }
  }
}

TEST(SavedStateTest, AWholeStateStandsForThoseBeforeIt) {
  Life life(7);
  StateImage image;
  StateImage branch;
  for (int n = 0; n < 12; ++n) {
    for (int step = 0; step < 40; ++step) life.Step();
    const SavedState state = life.Next();
    ASSERT_TRUE(image.Apply(state));
    if (n == 5) {
      SavedState whole;
      ASSERT_TRUE(DecodeState(EncodeState(image.Whole()), &whole));
      ASSERT_TRUE(branch.Apply(std::move(whole)));
    } else if (n > 5) {
      ASSERT_TRUE(branch.Apply(state));
    }
  }
  EXPECT_EQ(branch.Whole().text, life.Whole());
}

TEST(SavedStateTest, AStateWithoutTablesIsItself) {
  StateImage image;
  ASSERT_TRUE(image.Apply(SavedState("one")));
  ASSERT_TRUE(image.Apply(SavedState("two")));
  EXPECT_EQ(image.Whole().text, "two");
  EXPECT_TRUE(image.Whole().tables.empty());
}

TEST(SavedStateTest, BytesThatAreCutOrChangedDoNotCrash) {
  Life life(3);
  for (int step = 0; step < 60; ++step) life.Step();
  const SavedState first = life.Next();
  for (int step = 0; step < 60; ++step) life.Step();
  const std::string bytes = EncodeState(life.Next());
  SavedState state;
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeState(absl::string_view(bytes).substr(0, size), &state)) << size;
  }
  EXPECT_FALSE(DecodeState(absl::StrCat(bytes, "x"), &state));
  Random random(1, "changes");
  size_t refused = 0;
  for (int n = 0; n < 3000; ++n) {
    std::string changed = bytes;
    changed[random.Below(changed.size())] = static_cast<char>(random.Below(256));
    if (!DecodeState(changed, &state)) {
      ++refused;
      continue;
    }
    StateImage image;
    ASSERT_TRUE(image.Apply(first));
    if (image.Apply(std::move(state))) (void)image.Whole();
  }
  EXPECT_GT(refused, 100u);
}

TEST(SavedStateTest, StatesThatDoNotFitAreRefused) {
  const auto table = [](RowKind kind, uint64_t at, uint64_t size, std::vector<uint32_t> bytes) {
    SavedTable t;
    t.kind = kind;
    t.at = at;
    t.size = size;
    t.bytes = std::move(bytes);
    return t;
  };
  SavedState base("abcd");
  base.picks[kPodKind] = {0, 1};
  base.tables = {table(RowKind::kPod, 1, 2, {1, 1})};
  const auto fits = [&](const SavedState& next) {
    StateImage image;
    EXPECT_TRUE(image.Apply(base));
    return image.Apply(next);
  };
  EXPECT_TRUE(fits(base));
  EXPECT_FALSE(fits(SavedState("abcd")));  // a table less
  SavedState next = base;
  next.tables[0].kind = RowKind::kJob;
  EXPECT_FALSE(fits(next));
  next = base;
  next.picks[kPodKind] = {0};
  next.tables = {table(RowKind::kPod, 1, 1, {1})};  // a row less
  EXPECT_FALSE(fits(next));
  next.tables = {table(RowKind::kPod, 1, 3, {1})};  // row 2 is missing
  EXPECT_FALSE(fits(next));
  next.picks[kPodKind] = {2};
  EXPECT_TRUE(fits(next));
  next.tables[0].bytes[0] = 4;  // longer than the text
  EXPECT_FALSE(fits(next));
  next.tables[0].bytes[0] = 3;
  EXPECT_TRUE(fits(next));
  next.tables[0].at = 5;
  EXPECT_FALSE(fits(next));

  StateImage image;
  next.tables[0].at = 1;
  EXPECT_FALSE(image.Apply(next));  // rows 0 and 1 are nowhere
}

}  // namespace saved_state_test
}  // namespace drasim
