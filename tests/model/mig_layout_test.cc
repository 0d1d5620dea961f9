#include "model/mig_layout.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/mig_product.h"
#include "model/mig_table.h"
#include "model/random.h"
#include "tests/model/mig_counter_model.h"
#include "tests/testing/data_text.h"
#include "tests/testing/mig_products.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace mig_layout_test {

uint64_t BitOf(size_t placement) { return uint64_t{1} << placement; }

MigRules MediaEngines() {
  MigRules rules;
  rules.media_engines = true;
  return rules;
}

// "3g.40gb" twice is {{"3g.40gb", 2}}.
MigMultiset Counts(const MigTable& table,
                   const std::vector<std::pair<std::string, int32_t>>& wanted) {
  MigMultiset counts(table.profiles().size(), 0);
  for (const auto& [name, count] : wanted) {
    counts[static_cast<size_t>(table.FindProfile(name))] += count;
  }
  return counts;
}

std::set<MigMultiset> LegalMultisets(const MigTable& table) {
  std::set<MigMultiset> multisets;
  for (size_t s = 0; s < table.states(); ++s) {
    multisets.insert(MultisetOf(table, static_cast<MigState>(s)));
  }
  return multisets;
}

// ---- Counting ----

void ExpectCounts(const MigTable& table, int64_t sets, int64_t maximal_sets, int64_t multisets) {
  const MigCounts counts = CountLayouts(table);
  EXPECT_EQ(counts.sets, sets);
  EXPECT_EQ(counts.maximal_sets, maximal_sets);
  EXPECT_EQ(counts.multisets, multisets);
}

// 18 maximal sets are published with MISO (driver 470), 19 follow from the figure of the MIG user
// guide; the rest was found by an independent program.
TEST(MigLayoutTest, CountsOfKnownGpus) {
  MigRules before_r510 = OnlyProfiles(A100Base());
  before_r510.forbidden = {{"4g.40gb", "3g.40gb"}};
  ExpectCounts(TestTable(TestA100(), OnlyProfiles(A100Base())), 298, 19, 37);
  ExpectCounts(TestTable(TestA100(), before_r510), 297, 18, 36);
  ExpectCounts(TestTable(TestA100(), OnlyProfiles({"1g.10gb", "2g.20gb", "3g.40gb", "7g.80gb"})),
               287, 16, 30);
  ExpectCounts(TestTable(TestA100(), OnlyProfiles(A100Plain())), 723, 78, 77);
  ExpectCounts(TestTable(TestA100()), 2319, 239, 127);
  ExpectCounts(TestTable(TestA30(), OnlyProfiles({"1g.6gb", "2g.12gb", "4g.24gb"})), 26, 5, 9);
  ExpectCounts(TestTable(TestA30()), 76, 17, 19);
  ExpectCounts(TestTable(TestRtxPro6000(), OnlyProfiles({"1g.24gb", "2g.48gb", "4g.96gb"})), 26, 5,
               9);
  ExpectCounts(TestTable(TestRtxPro6000()), 1249, 606, 171);
  ExpectCounts(TestTable(TestRtxPro6000(), MediaEngines()), 717, 302, 114);
}

TEST(MigLayoutTest, TheTwelveMaximalMultisetsOfSevenSlices) {
  const MigTable table = TestTable(TestA100(), OnlyProfiles(A100Base()));
  // 1g, 2g, 3g, 4g, 7g.
  const std::vector<MigMultiset> expected = {{0, 0, 0, 0, 1}, {0, 0, 1, 1, 0}, {1, 1, 0, 1, 0},
                                             {3, 0, 0, 1, 0}, {0, 0, 2, 0, 0}, {0, 2, 1, 0, 0},
                                             {2, 1, 1, 0, 0}, {4, 0, 1, 0, 0}, {1, 3, 0, 0, 0},
                                             {3, 2, 0, 0, 0}, {5, 1, 0, 0, 0}, {7, 0, 0, 0, 0}};
  EXPECT_EQ(MaximalMultisets(table), expected);
}

TEST(MigLayoutTest, MaximalMultisetsAreThoseThatNoOtherContains) {
  for (const MigProduct& product : {TestA100(), TestA30(), TestRtxPro6000()}) {
    SCOPED_TRACE(product.group);
    const MigTable table = TestTable(product);
    const std::set<MigMultiset> legal = LegalMultisets(table);
    std::set<MigMultiset> expected;
    for (const MigMultiset& counts : legal) {
      bool contained = false;
      for (const MigMultiset& other : legal) {
        bool within = other != counts;
        for (size_t p = 0; p < counts.size(); ++p) within = within && counts[p] <= other[p];
        contained = contained || within;
      }
      if (!contained) expected.insert(counts);
    }
    const std::vector<MigMultiset> found = MaximalMultisets(table);
    EXPECT_EQ(std::set<MigMultiset>(found.begin(), found.end()), expected);
    EXPECT_EQ(found.size(), expected.size());
  }
}

TEST(MigLayoutTest, NamesMultisets) {
  const MigTable table = TestTable(TestA100());
  EXPECT_EQ(MultisetText(table, Counts(table, {})), "empty");
  EXPECT_EQ(MultisetText(table, Counts(table, {{"7g.80gb", 1}})), "7g.80gb");
  EXPECT_EQ(MultisetText(table, Counts(table, {{"3g.40gb", 1}, {"1g.10gb", 2}})),
            "1g.10gb x2, 3g.40gb");
}

TEST(MigLayoutTest, CountsTheInstancesOfAState) {
  const MigTable table = TestTable(TestA100());
  const MigState state =
      TestState(table, {{"1g.10gb", 0}, {"1g.10gb", 3}, {"1g.10gb+me", 1}, {"3g.40gb", 4}});
  EXPECT_EQ(MultisetOf(table, state),
            Counts(table, {{"1g.10gb", 2}, {"1g.10gb+me", 1}, {"3g.40gb", 1}}));
}

// ---- Where a driver puts instances ----

std::vector<int> DriverStarts(const MigTable& table, absl::string_view name) {
  std::vector<int> starts;
  const auto profile = static_cast<size_t>(table.FindProfile(name));
  for (const uint8_t placement : DriverOrder(table, profile)) {
    EXPECT_EQ(table.placements()[placement].profile, profile);
    starts.push_back(table.placements()[placement].start);
  }
  return starts;
}

TEST(MigLayoutTest, DriverOrders) {
  const MigTable a100 = TestTable(TestA100());
  EXPECT_EQ(DriverStarts(a100, "1g.10gb"), (std::vector<int>{6, 4, 5, 0, 1, 2, 3}));
  EXPECT_EQ(DriverStarts(a100, "1g.10gb+me"), (std::vector<int>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(DriverStarts(a100, "1g.20gb"), (std::vector<int>{0, 2, 4, 6}));
  EXPECT_EQ(DriverStarts(a100, "3g.40gb"), (std::vector<int>{0, 4}));
  EXPECT_EQ(DriverStarts(TestTable(TestA30()), "1g.6gb"), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(DriverStarts(TestTable(TestRtxPro6000()), "1g.24gb"), (std::vector<int>{0, 3, 6, 9}));
}

TEST(MigLayoutTest, DriverOrderHasEveryStartOfAnUnusualProfile) {
  MigProduct product = TestA100();
  product.profiles[0].starts = {7, 2, 5};
  const MigTable table = TestTable(product, OnlyProfiles({"1g.10gb"}));
  EXPECT_EQ(DriverStarts(table, "1g.10gb"), (std::vector<int>{5, 2, 7}));
}

// ---- The oracle of the permutations: all sequences by recursion, occupation by unit. ----

struct NaiveSearch {
  bool found = false;
  int32_t attempts = 0;
  int32_t created = 0;
  int32_t destroyed = 0;
  std::set<std::pair<size_t, int32_t>> instances;  // profile, start
};

// Creates the sequence on an empty A100-like GPU; whether all of it fits.
bool NaiveCreate(const MigTable& table, const std::vector<size_t>& sequence, NaiveSearch* search) {
  std::vector<bool> taken(static_cast<size_t>(table.product().units), false);
  std::set<std::pair<size_t, int32_t>> instances;
  bool has_extension = false;
  for (const size_t p : sequence) {
    const MigProfile& profile = table.profiles()[p];
    std::vector<int32_t> starts = profile.starts;
    if (profile.name == "1g.10gb") starts = {6, 4, 5, 0, 1, 2, 3};
    const bool extension = absl::EndsWith(profile.name, "+me");
    bool placed = false;
    for (const int32_t start : starts) {
      bool free = !extension || !has_extension;
      for (int32_t u = start; u < start + profile.size; ++u) {
        free = free && !taken[static_cast<size_t>(u)];
      }
      if (!free) continue;
      for (int32_t u = start; u < start + profile.size; ++u) taken[static_cast<size_t>(u)] = true;
      has_extension = has_extension || extension;
      instances.emplace(p, start);
      placed = true;
      break;
    }
    if (!placed) break;
  }
  ++search->attempts;
  search->created += static_cast<int32_t>(instances.size());
  if (instances.size() == sequence.size()) {
    search->instances = instances;
    return true;
  }
  search->destroyed += static_cast<int32_t>(instances.size());
  return false;
}

bool NaivePermute(const MigTable& table, MigMultiset& rest, std::vector<size_t>& sequence,
                  NaiveSearch* search) {
  bool complete = true;
  for (size_t p = 0; p < rest.size(); ++p) {
    if (rest[p] == 0) continue;
    complete = false;
    --rest[p];
    sequence.push_back(p);
    const bool found = NaivePermute(table, rest, sequence, search);
    sequence.pop_back();
    ++rest[p];
    if (found) return true;
  }
  return complete && NaiveCreate(table, sequence, search);
}

void ExpectSearch(const MigTable& table, const MigMultiset& counts) {
  SCOPED_TRACE(MultisetText(table, counts));
  NaiveSearch expected;
  MigMultiset rest = counts;
  std::vector<size_t> sequence;
  expected.found = NaivePermute(table, rest, sequence, &expected);
  const PermutationSearch found = ApplyByPermutations(table, counts);
  EXPECT_EQ(found.attempts, expected.attempts);
  EXPECT_EQ(found.created, expected.created);
  EXPECT_EQ(found.destroyed, expected.destroyed);
  ASSERT_EQ(found.state != kNoMigState, expected.found);
  if (!expected.found) return;
  std::set<std::pair<size_t, int32_t>> instances;
  for (size_t p = 0; p < table.placements().size(); ++p) {
    const MigPlacement& placement = table.placements()[p];
    if ((table.set(found.state) & BitOf(p)) != 0) {
      instances.emplace(placement.profile, placement.start);
    }
  }
  EXPECT_EQ(instances, expected.instances);
}

TEST(MigLayoutTest, PermutationsAgreeWithTryingThemOneByOne) {
  const MigTable table = TestTable(TestA100());
  for (const MigMultiset& counts : LegalMultisets(table)) ExpectSearch(table, counts);
  ExpectSearch(table, Counts(table, {{"4g.40gb", 1}, {"2g.20gb", 2}}));
  ExpectSearch(table, Counts(table, {{"1g.10gb+me", 2}, {"2g.20gb", 1}, {"1g.10gb", 2}}));
  ExpectSearch(table, Counts(table, {{"1g.10gb", 8}}));
}

TEST(MigLayoutTest, PermutationsOfTheBalancedLayout) {
  const MigTable table = TestTable(TestA100());
  // 1g before 3g takes the half that 3g needs; 2g at 0 is what sends 3g to 4.
  const MigMultiset balanced = Counts(table, {{"1g.10gb", 2}, {"2g.20gb", 1}, {"3g.40gb", 1}});
  const PermutationSearch search = ApplyByPermutations(table, balanced);
  EXPECT_EQ(search.state,
            TestState(table, {{"2g.20gb", 0}, {"3g.40gb", 4}, {"1g.10gb", 2}, {"1g.10gb", 3}}));
  EXPECT_EQ(search.attempts, 9);
  EXPECT_EQ(search.created, 26);
  EXPECT_EQ(search.destroyed, 22);
}

TEST(MigLayoutTest, PermutationsMayMissALayout) {
  const MigTable table = TestTable(TestA100());
  const MigMultiset counts = Counts(table, {{"1g.10gb", 4}, {"3g.40gb", 1}});
  EXPECT_NE(FindLayout(table, counts), kNoMigState);
  const PermutationSearch search = ApplyByPermutations(table, counts);
  EXPECT_EQ(search.state, kNoMigState);
  EXPECT_EQ(search.attempts, 5);
  EXPECT_EQ(search.created, 20);
  EXPECT_EQ(search.destroyed, 20);
}

TEST(MigLayoutTest, PermutationsOfNothingAndOfTooMuch) {
  const MigTable table = TestTable(TestA100());
  const PermutationSearch nothing = ApplyByPermutations(table, Counts(table, {}));
  EXPECT_EQ(nothing.state, 0);
  EXPECT_EQ(nothing.created, 0);
  const PermutationSearch much = ApplyByPermutations(
      table, Counts(table, {{"1g.10gb", 1000}, {"2g.20gb", 1000}, {"3g.40gb", 1000}}));
  EXPECT_EQ(much.state, kNoMigState);
  EXPECT_EQ(much.attempts, 0);
}

// ---- Finding layouts ----

TEST(MigLayoutTest, FindsTheFirstStateWithTheseInstances) {
  for (const MigProduct& product : {TestA100(), TestA30()}) {
    SCOPED_TRACE(product.group);
    const MigTable table = TestTable(product);
    std::map<MigMultiset, MigState> first;
    for (size_t s = 0; s < table.states(); ++s) {
      const auto state = static_cast<MigState>(s);
      first.emplace(MultisetOf(table, state), state);
    }
    for (const auto& [counts, state] : first) EXPECT_EQ(FindLayout(table, counts), state);
  }
}

TEST(MigLayoutTest, FindsNoLayoutOfWhatDoesNotFit) {
  const MigTable table = TestTable(TestA100());
  EXPECT_EQ(FindLayout(table, Counts(table, {{"1g.10gb", 8}})), kNoMigState);
  EXPECT_EQ(FindLayout(table, Counts(table, {{"1g.10gb+me", 2}})), kNoMigState);
  EXPECT_EQ(FindLayout(table, Counts(table, {{"4g.40gb", 1}, {"2g.20gb", 2}})), kNoMigState);
}

TEST(MigLayoutTest, FindsLayoutsAroundPlacements) {
  const MigTable table = TestTable(TestA30());
  for (size_t s = 0; s < table.states(); ++s) {
    const auto state = static_cast<MigState>(s);
    // Every subset of the state's placements in turn is fixed, the rest may sit anywhere.
    for (size_t fixed = 0; fixed < table.states(); ++fixed) {
      const uint64_t part = table.set(static_cast<MigState>(fixed));
      if ((table.set(state) & part) != part) continue;
      MigRequest request;
      request.counts = MultisetOf(table, table.Find(table.set(state) & ~part));
      for (size_t p = 0; p < table.placements().size(); ++p) {
        if ((part & BitOf(p)) != 0) request.placements.push_back(static_cast<uint8_t>(p));
      }
      const MigState found = FindLayout(table, request);
      ASSERT_LE(found, state);
      ASSERT_EQ(table.set(found) & part, part);
      ASSERT_EQ(MultisetOf(table, found), MultisetOf(table, state));
    }
  }
}

TEST(MigLayoutTest, FindsNothingAroundPlacementsThatDoNotGoTogether) {
  const MigTable table = TestTable(TestA100());
  const auto placement = [&table](absl::string_view name, int32_t start) {
    return static_cast<uint8_t>(
        table.FindPlacement(static_cast<size_t>(table.FindProfile(name)), start));
  };
  MigRequest request;
  request.counts = Counts(table, {});
  request.placements = {placement("3g.40gb", 0), placement("2g.20gb", 2)};
  EXPECT_EQ(FindLayout(table, request), kNoMigState);
  request.placements = {placement("3g.40gb", 4), placement("3g.40gb", 4)};
  EXPECT_EQ(FindLayout(table, request), kNoMigState);
  // 4g sits at 0 only.
  request.placements = {placement("3g.40gb", 0)};
  request.counts = Counts(table, {{"4g.40gb", 1}});
  EXPECT_EQ(FindLayout(table, request), kNoMigState);
  request.placements = {placement("3g.40gb", 4)};
  EXPECT_EQ(FindLayout(table, request), TestState(table, {{"3g.40gb", 4}, {"4g.40gb", 0}}));
}

// ---- Why there is none ----

TEST(MigLayoutTest, ExplainsMisfits) {
  const MigTable a100 = TestTable(TestA100());
  EXPECT_EQ(ExplainMisfit(a100, Counts(a100, {{"3g.40gb", 2}, {"4g.40gb", 1}})),
            "no room for 3g.40gb beside 4g.40gb, 3g.40gb; nothing else would fit");
  EXPECT_EQ(ExplainMisfit(a100, Counts(a100, {{"1g.10gb", 1}, {"3g.40gb", 2}})),
            "no room for 1g.10gb beside 3g.40gb x2; nothing else would fit");
  EXPECT_EQ(ExplainMisfit(a100, Counts(a100, {{"2g.20gb", 1000000}})),
            "no room for 2g.20gb beside 2g.20gb x3; a 1g.10gb, 1g.10gb+me or 1g.20gb would fit");
  const MigTable a30 = TestTable(TestA30());
  EXPECT_EQ(ExplainMisfit(a30, Counts(a30, {{"1g.6gb+me", 1}, {"2g.12gb+me", 1}})),
            "no room for 1g.6gb+me beside 2g.12gb+me; a 1g.6gb or 2g.12gb would fit");
  EXPECT_EQ(ExplainMisfit(a30, Counts(a30, {{"1g.6gb", 2}, {"2g.12gb", 1}})), "");
  MigProduct product = TestA30();
  product.profiles[4].starts.clear();
  const MigTable odd = TestTable(product, OnlyProfiles({"1g.6gb", "4g.24gb"}));
  EXPECT_EQ(ExplainMisfit(odd, Counts(odd, {{"1g.6gb", 1}, {"4g.24gb", 1}})),
            "no room for 4g.24gb on an empty GPU; a 1g.6gb would fit");
}

TEST(MigLayoutTest, ExplainsExactlyWhatHasNoLayout) {
  const MigTable table = TestTable(TestA100());
  const std::set<MigMultiset> legal = LegalMultisets(table);
  int misfits = 0;
  for (uint64_t seed = 0; seed < SoakSeeds(3); ++seed) {
    Random random(seed, "misfits");
    for (int i = 0; i < 100; ++i) {
      MigMultiset counts(table.profiles().size(), 0);
      const uint64_t instances = random.Below(6);
      for (uint64_t n = 0; n < instances; ++n) {
        ++counts[static_cast<size_t>(random.Below(counts.size()))];
      }
      const bool fits = legal.count(counts) > 0;
      EXPECT_EQ(ExplainMisfit(table, counts).empty(), fits) << MultisetText(table, counts);
      misfits += fits ? 0 : 1;
    }
  }
  EXPECT_GT(misfits, 10);
}

// ---- Requests in words ----

TEST(MigLayoutTest, ReadsRequests) {
  const MigTable table = TestTable(TestA100());
  const absl::StatusOr<MigRequest> request =
      ParseLayout(table, " 3g.39gb@4, 1G.10GB:2 ,2g.20gb@ 0,1g.10gb", {});
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->counts, Counts(table, {{"1g.10gb", 3}}));
  ASSERT_EQ(request->placements.size(), 2U);
  EXPECT_EQ(request->placements[0], table.FindPlacement(4, 4));
  EXPECT_EQ(request->placements[1], table.FindPlacement(3, 0));
  EXPECT_EQ(FindLayout(table, *request), kNoMigState);  // nine units of eight
}

TEST(MigLayoutTest, ReadsBackTheNamesOfEveryState) {
  const MigTable table = TestTable(TestRtxPro6000());
  for (size_t s = 1; s < table.states(); ++s) {
    const auto state = static_cast<MigState>(s);
    std::string text;
    for (size_t p = 0; p < table.placements().size(); ++p) {
      if ((table.set(state) & BitOf(p)) == 0) continue;
      const MigPlacement& placement = table.placements()[p];
      absl::StrAppend(&text, text.empty() ? "" : ",", table.profiles()[placement.profile].name, "@",
                      placement.start);
    }
    const absl::StatusOr<MigRequest> request = ParseLayout(table, text, {});
    ASSERT_TRUE(request.ok()) << request.status();
    ASSERT_EQ(FindLayout(table, *request), state);
  }
}

std::string Mistake(const MigTable& table, absl::string_view text,
                    absl::Span<const MigProduct> others = {}) {
  const absl::StatusOr<MigRequest> request = ParseLayout(table, text, others);
  EXPECT_EQ(request.status().code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(request.status().message());
}

TEST(MigLayoutTest, NamesUnknownProfiles) {
  const MigTable table = TestTable(TestA100(), OnlyProfiles(A100Base()));
  EXPECT_EQ(Mistake(table, "1g.10gb,1g.11gb:2"),
            "unknown profile '1g.11gb' of A100-80GB; it has 1g.10gb, 2g.20gb, 3g.40gb, 4g.40gb, "
            "7g.80gb (did you mean '1g.10gb'?)");
  EXPECT_EQ(Mistake(table, "half"),
            "unknown profile 'half' of A100-80GB; it has 1g.10gb, 2g.20gb, 3g.40gb, 4g.40gb, "
            "7g.80gb");
  EXPECT_EQ(Mistake(table, "1g.20gb@2"),
            "profile '1g.20gb' of A100-80GB is ruled out here; what is left is 1g.10gb, 2g.20gb, "
            "3g.40gb, 4g.40gb, 7g.80gb");
}

TEST(MigLayoutTest, NamesTheProductsThatHaveTheProfile) {
  const MigTable table = TestTable(TestA30(), OnlyProfiles({"1g.6gb", "4g.24gb"}));
  MigProduct twin = TestA100();
  twin.group = "A800-80GB";
  const std::vector<MigProduct> others = {TestA100(), TestA30(), TestRtxPro6000(), twin};
  EXPECT_EQ(Mistake(table, "1G.24gb+gfx", others),
            "profile '1G.24gb+gfx' is one of RTX-PRO-6000, not of A30; A30 has 1g.6gb, 4g.24gb");
  EXPECT_EQ(Mistake(table, "3g.39gb:2", others),
            "profile '3g.39gb' is one of A100-80GB, A800-80GB, not of A30; A30 has 1g.6gb, "
            "4g.24gb");
  // Its own comes first, although the A30 stands among the others.
  EXPECT_EQ(Mistake(table, "2g.12gb", others),
            "profile '2g.12gb' of A30 is ruled out here; what is left is 1g.6gb, 4g.24gb");
}

TEST(MigLayoutTest, RefusesMalformedRequests) {
  const MigTable table = TestTable(TestA100());
  const auto count_of = [](absl::string_view found) {
    return absl::StrCat("count of 1g.10gb: found '", found,
                        "', expected at least 1, and at most 1000 in all");
  };
  for (const char* count : {"0", "-1", "x", "", "1.5", "1001", "99999999999999999999"}) {
    EXPECT_EQ(Mistake(table, absl::StrCat("1g.10gb:", count)), count_of(count));
  }
  EXPECT_EQ(Mistake(table, "1g.10gb:600,1g.10gb:401"), count_of("401"));
  EXPECT_TRUE(ParseLayout(table, "1g.10gb:600,1g.10gb:400", {}).ok());
  for (const char* start : {"3", "-4", "", "x", "8"}) {
    EXPECT_EQ(Mistake(table, absl::StrCat("3g.40gb@", start)),
              absl::StrCat("start of 3g.40gb: found '", start, "', expected one of 0, 4"));
  }
  for (const char* entry : {"3g.40gb:1@4", "3g.40gb@4:1", "3g.40gb:1:1"}) {
    EXPECT_EQ(Mistake(table, entry), absl::StrCat("entry of a layout: found '", entry,
                                                  "', expected one count or one start"));
  }
  for (const char* text : {"", "1g.10gb,", ",1g.10gb", "1g.10gb, ,2g.20gb"}) {
    EXPECT_EQ(Mistake(table, text),
              "entry of a layout: found '', expected a profile, or a profile with ':' and a count "
              "or '@' and a start");
  }
  EXPECT_TRUE(absl::StrContains(Mistake(table, ":2"), "found ':2', expected a profile"));
}

// ---- Drawings ----

TEST(MigLayoutTest, DrawsLayouts) {
  const MigTable a100 = TestTable(TestA100());
  EXPECT_EQ(DrawLayout(a100, TestState(a100, {{"3g.40gb", 4}, {"1g.10gb", 0}, {"2g.20gb", 2}})),
            TestText("DrawsLayouts"));
  EXPECT_EQ(DrawLayout(a100, TestState(a100, {{"4g.40gb", 0}, {"1g.10gb", 6}, {"1g.10gb+me", 5}})),
            TestText("DrawsLayouts.2"));
  const MigTable rtx = TestTable(TestRtxPro6000());
  EXPECT_EQ(DrawLayout(rtx, TestState(rtx, {{"1g.24gb+me.all", 0}, {"2g.48gb-me", 6}})),
            TestText("DrawsLayouts.3"));
  const MigTable a30 = TestTable(TestA30());
  EXPECT_EQ(DrawLayout(a30, 0),
            "         0                 1                 2                 3\n"
            "         .                 .                 .                 .\n"
            "free: 4 of 4 units (4 usable), 4 of 4 compute slices (4 usable)\n");
}

TEST(MigLayoutTest, OneLetterPerProfileThatIsTooWide) {
  MigProduct product = TestA100();
  product.profiles[0].name = "1g.1000gb";
  const MigTable table = TestTable(product);
  const std::string drawing =
      DrawLayout(table, TestState(table, {{"1g.1000gb", 1}, {"1g.1000gb", 3}, {"1g.10gb+me", 2}}));
  EXPECT_TRUE(absl::StrContains(drawing, "|   a    |   b    |   a    |")) << drawing;
  EXPECT_TRUE(absl::StrContains(drawing, "\na = 1g.1000gb\nb = 1g.10gb+me\nfree: ")) << drawing;
}

TEST(MigLayoutTest, DrawingsFitATerminal) {
  for (const MigProduct& product : {TestA100(), TestA30(), TestRtxPro6000()}) {
    const MigTable table = TestTable(product);
    for (size_t s = 0; s < table.states(); s += 7) {
      const std::string drawing = DrawLayout(table, static_cast<MigState>(s));
      size_t column = 0;
      for (size_t i = 0; i < drawing.size(); ++i) {
        column = drawing[i] == '\n' ? 0 : column + 1;
        ASSERT_LT(column, 80U) << drawing;
        ASSERT_TRUE(drawing[i] == '\n' || (drawing[i] >= ' ' && drawing[i] <= '~'));
        ASSERT_FALSE(drawing[i] == '\n' && i > 0 && drawing[i - 1] == ' ') << drawing;
      }
    }
  }
}

// ---- The counter model ----

// All sets that the model admits. It is monotone, so what it refuses need not be extended.
void Admitted(const MigCounterModel& model, size_t placements, size_t from, uint64_t set,
              std::set<uint64_t>& out) {
  out.insert(set);
  for (size_t p = from; p < placements; ++p) {
    const uint64_t larger = set | BitOf(p);
    if (model.Admits(larger)) Admitted(model, placements, p + 1, larger, out);
  }
}

std::set<uint64_t> Admitted(const MigTable& table) {
  std::set<uint64_t> sets;
  Admitted(MigCounterModel(table), table.placements().size(), 0, 0, sets);
  return sets;
}

std::set<uint64_t> Legal(const MigTable& table) {
  std::set<uint64_t> sets;
  for (size_t s = 0; s < table.states(); ++s) sets.insert(table.set(static_cast<MigState>(s)));
  return sets;
}

TEST(MigLayoutTest, CountersAdmitExactlyWhatGeometryDoes) {
  for (const MigRules& rules : {MigRules(), OnlyProfiles(A100Plain()), OnlyProfiles(A100Base())}) {
    const MigTable table = TestTable(TestA100(), rules);
    EXPECT_EQ(Admitted(table), Legal(table));
  }
  const MigTable a30 = TestTable(TestA30());
  EXPECT_EQ(Admitted(a30), Legal(a30));
}

TEST(MigLayoutTest, CountersAreStricterWhereMediaEnginesAreScarce) {
  const MigTable rtx = TestTable(TestRtxPro6000());
  EXPECT_EQ(rtx.states(), 1249U);
  EXPECT_EQ(Admitted(rtx).size(), 717U);
  // The same placements in both tables.
  EXPECT_EQ(Admitted(rtx), Legal(TestTable(TestRtxPro6000(), MediaEngines())));
}

TEST(MigLayoutTest, AWrongDecoderCountLosesLayouts) {
  MigProduct product = TestA100();
  product.profiles[0].decoders = 1;
  const MigTable table = TestTable(product, OnlyProfiles(A100Plain()));
  EXPECT_EQ(table.states(), 723U);
  EXPECT_EQ(Admitted(table).size(), 695U);
}

TEST(MigLayoutTest, CountersLeaveOutKindsThatAreKnownInPartOnly) {
  // As of a GPU of which only the listing of the small profiles was seen.
  MigProduct product = TestA100();
  for (size_t p = 4; p < product.profiles.size(); ++p) {
    product.profiles[p].memory_mib = kUnknownAmount;
    product.profiles[p].decoders = kUnknownAmount;
  }
  const MigTable table = TestTable(product);
  EXPECT_EQ(Admitted(table), Legal(table));
}

}  // namespace mig_layout_test
}  // namespace drasim
