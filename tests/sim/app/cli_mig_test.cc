// The mig commands: what the catalogue says, counts, layouts that fit or not, drawings, bad usage.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/sim/app/cli_fixture.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace cli_mig_test {

using Names = std::vector<std::string>;

constexpr char kA100Base[] = "1g.5gb,2g.10gb,3g.20gb,4g.20gb,7g.40gb";
constexpr char kA30Base[] = "1g.6gb,2g.12gb,4g.24gb";
const std::string& A30DrawingText() { return TestText("A30Drawing"); }

Names LinesOf(absl::string_view text) { return absl::StrSplit(text, '\n', absl::SkipEmpty()); }

// The words of the first line that begins with `name` and a blank.
Names RowOf(absl::string_view text, absl::string_view name) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, absl::StrCat(name, " "))) {
      return absl::StrSplit(line, ' ', absl::SkipEmpty());
    }
  }
  return {};
}

size_t Occurrences(absl::string_view text, absl::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != absl::string_view::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// A row of `mig layouts`.
struct Row {
  std::string layout;
  Names numbers;  // compute, units, ways
};

// The rows up to the first empty line, without the header.
std::vector<Row> LayoutRows(absl::string_view text) {
  std::vector<Row> rows;
  for (const absl::string_view line : absl::StrSplit(text.substr(0, text.find("\n\n")), '\n')) {
    const size_t end = line.find("  ");
    Row row;
    row.layout = std::string(line.substr(0, end));
    row.numbers = absl::StrSplit(line.substr(end), ' ', absl::SkipEmpty());
    rows.push_back(row);
  }
  rows.erase(rows.begin());
  return rows;
}

class CliMigTest : public CliTest {
 protected:
  ProcessResult Mig(Names args) const {
    args.insert(args.begin(), "mig");
    return Run(args);
  }
  std::string MigSucceed(Names args) const {
    args.insert(args.begin(), "mig");
    return Succeed(args);
  }
  void ExpectMigRefused(Names args, absl::string_view message) const {
    args.insert(args.begin(), "mig");
    ExpectRefused(args, message);
  }
  // Refused with a message that has this in it.
  void ExpectRefusedWith(const Names& args, absl::string_view part) const {
    const ProcessResult result = Mig(args);
    EXPECT_EQ(result.exit_code, 2) << part;
    EXPECT_EQ(result.out, "") << part;
    EXPECT_TRUE(absl::StrContains(result.err, part)) << result.err;
  }
  void ExpectCounts(Names args, int64_t sets, int64_t maximal_sets, int64_t multisets) const {
    args.insert(args.begin(), "count");
    args.insert(args.end(), {"--format", "json"});
    const std::string json = MigSucceed(args);
    EXPECT_EQ(JsonAt(json, "sets"), absl::StrCat(sets)) << json;
    EXPECT_EQ(JsonAt(json, "maximal_sets"), absl::StrCat(maximal_sets)) << json;
    EXPECT_EQ(JsonAt(json, "multisets"), absl::StrCat(multisets)) << json;
  }
  // One layout of an A100-80GB, which does not fit for this reason.
  void ExpectMisfit(const std::string& layout, absl::string_view why, Names flags = {}) const {
    flags.insert(flags.end(), {"fits", "A100-80GB", layout});
    std::rotate(flags.begin(), flags.end() - 3, flags.end());
    const ProcessResult result = Mig(flags);
    EXPECT_EQ(result.exit_code, 1) << layout;
    EXPECT_EQ(result.out, absl::StrCat(layout, ": does not fit: ", why, "\n"));
    EXPECT_EQ(result.err, "");
  }
};

// --- products and profiles ---------------------------------------------------------------------

TEST_F(CliMigTest, Products) {
  const std::string out = MigSucceed({"products"});
  EXPECT_EQ(LinesOf(out).size(), 1u + 16u);
  EXPECT_EQ(RowOf(out, "A30"), (Names{"A30", "ampere", "4", "4", "24", "5", "high"}));
  EXPECT_EQ(RowOf(out, "RTX-PRO-6000"),
            (Names{"RTX-PRO-6000", "blackwell", "4", "12", "96", "11", "high"}));
  EXPECT_EQ(RowOf(out, "RTX-PRO-5000"),
            (Names{"RTX-PRO-5000", "blackwell", "2", "2", "48", "7", "low"}));
  EXPECT_EQ(MigSucceed({"products", "--format", "table"}), out);
}

TEST_F(CliMigTest, ProductsAsJsonHaveEverything) {
  const std::string json = MigSucceed({"products", "--format", "json"});
  EXPECT_EQ(Occurrences(json, "\"group\": "), 16u);
  // 114 profiles.
  EXPECT_EQ(Occurrences(json, "\"max_instances\": "), 114u);
  for (const char* part :
       {"\"A100-SXM4-40GB\"", "\"0x20B010DE\"", "\"NVIDIA's MIG User Guide, tables of supported",
        "\"1g.5gb+me needs driver R470,", "\"3g.39gb\"", "\"go-nvml has 9856 MiB.\"",
        "\"compute_capability\": \"12.0\"", "\"memory_mib\": null"}) {
    EXPECT_TRUE(absl::StrContains(json, part)) << part;
  }
}

TEST_F(CliMigTest, Profiles) {
  const std::string out = MigSucceed({"profiles", "A100-40GB"});
  EXPECT_TRUE(absl::StartsWith(out,
                               "A100-40GB: A100-SXM4-40GB, A100-PCIE-40GB, A800-40GB\n"
                               "ampere, compute capability 8.0; 7 compute slices, 8 units, 40 GB "
                               "(40960 MiB), 108 SMs\nCertainty: high\n\nprofile "))
      << out;
  EXPECT_EQ(RowOf(out, "1g.5gb"),
            (Names{"1g.5gb", "19", "1", "1", "0,1,2,3,4,5,6", "7", "4864", "14", "1/0/0/0/0"}));
  EXPECT_EQ(RowOf(out, "1g.10gb"),
            (Names{"1g.10gb", "15", "1", "2", "0,2,4,6", "4", "9856", "14", "1/1/0/0/0"}));
  EXPECT_EQ(RowOf(out, "7g.40gb"),
            (Names{"7g.40gb", "0", "7", "8", "0", "1", "40192", "98", "7/5/0/1/1"}));
  EXPECT_TRUE(absl::StrContains(out, "\nNote: 1g.5gb+me needs driver R470,"));
  EXPECT_FALSE(absl::StrContains(out, "never on one GPU"));
  EXPECT_FALSE(absl::StrContains(out, "Uncertain"));
  // By another name of the same table.
  EXPECT_EQ(MigSucceed({"profiles", "nvidia a100 sxm4 40gb"}), out);
}

TEST_F(CliMigTest, ProfilesSayWhatIsUnknown) {
  const std::string b200 = MigSucceed({"profiles", "B200"});
  EXPECT_EQ(RowOf(b200, "3g.90gb"),
            (Names{"3g.90gb", "9", "3", "4", "0,4", "2", "?", "?", "6/3/0/3/0"}));
  EXPECT_TRUE(absl::StrContains(
      b200, "\nUncertain, 3g.90gb, 4g.90gb: Memory and multiprocessors were not seen;"));
  const std::string rtx = MigSucceed({"profiles", "RTX-PRO-5000"});
  EXPECT_EQ(RowOf(rtx, "2g.48gb"),
            (Names{"2g.48gb", "?", "2", "2", "0", "1", "?", "?", "4/3/3/1/1"}));
  EXPECT_TRUE(absl::StrContains(MigSucceed({"profiles", "A100-80GB"}),
                                "\nOther drivers call a 3g.40gb 3g.39gb.\n"));
}

TEST_F(CliMigTest, ProfilesWithTheRulesOfADriver) {
  const char* const rule = "\nA 4g.20gb and a 3g.20gb are never on one GPU.\n";
  EXPECT_TRUE(absl::StrContains(MigSucceed({"profiles", "A100-40GB", "--driver", "509"}), rule));
  EXPECT_FALSE(absl::StrContains(MigSucceed({"profiles", "A100-40GB", "--driver", "510"}), rule));
  const std::string json =
      MigSucceed({"profiles", "A100-40GB", "--driver", "470", "--format", "json"});
  EXPECT_EQ(JsonAt(json, "group"), "\"A100-40GB\"");
  EXPECT_EQ(Occurrences(json, "\"max_instances\": "), 7u);
  EXPECT_TRUE(absl::StrContains(
      json, "\"forbid\": [\n    [\n      \"4g.20gb\",\n      \"3g.20gb\"\n    ]\n  ]"))
      << json;
}

// --- count -------------------------------------------------------------------------------------

// 18 maximal sets are published with MISO (driver 470), 19 follow from the figure of the MIG user
// guide; the rest was found by an independent program.
TEST_F(CliMigTest, Counts) {
  ExpectCounts({"A100-40GB", "--profiles", kA100Base}, 298, 19, 37);
  ExpectCounts({"A100-40GB", "--profiles", kA100Base, "--forbid", "4g.20gb,3g.20gb"}, 297, 18, 36);
  ExpectCounts({"A100-40GB", "--profiles", "1g.5gb,2g.10gb,3g.20gb,7g.40gb"}, 287, 16, 30);
  ExpectCounts({"A100-40GB", "--profiles", absl::StrCat(kA100Base, ",1g.10gb")}, 723, 78, 77);
  ExpectCounts({"A100-40GB"}, 2319, 239, 127);
  ExpectCounts({"H200", "--profiles", "1g.18gb,2g.35gb,3g.71gb,4g.71gb,7g.141gb"}, 298, 19, 37);
  ExpectCounts({"A30", "--profiles", kA30Base}, 26, 5, 9);
  ExpectCounts({"A30"}, 76, 17, 19);
  ExpectCounts({"RTX-PRO-6000", "--profiles", "1g.24gb,2g.48gb,4g.96gb"}, 26, 5, 9);
  ExpectCounts({"RTX-PRO-6000"}, 1249, 606, 171);
  ExpectCounts({"RTX-PRO-6000", "--engines"}, 717, 302, 114);
}

TEST_F(CliMigTest, CountsWithSeveralForbiddenPairs) {
  ExpectCounts({"A100-40GB", "--forbid", "4g.20gb,3g.20gb", "--profiles", kA100Base, "--forbid",
                "1g.5gb, 2g.10gb"},
               174, 10, 24);
  // Two of one profile.
  ExpectCounts({"A100-40GB", "--profiles", kA100Base, "--forbid", "3g.20gb,3g.20gb"}, 297, 18, 36);
  // A profile that is not there cannot be beside another.
  ExpectCounts({"A30", "--profiles", kA30Base, "--forbid", "1g.6gb+me,1g.6gb"}, 26, 5, 9);
}

TEST_F(CliMigTest, CountsTakeAnyNameOfProductAndProfiles) {
  ExpectCounts({"a100-sxm4-40gb", "--profiles", absl::AsciiStrToUpper(kA100Base)}, 298, 19, 37);
  ExpectCounts({"NVIDIA A30 (PCIe) 24GB", "--profiles", kA30Base}, 26, 5, 9);
  // As drivers 535 and 545 round.
  ExpectCounts({"A100-80GB", "--profiles", "1g.10gb,2g.20gb,3g.39gb,4g.40gb,7g.79gb"}, 298, 19, 37);
}

TEST_F(CliMigTest, TheObjectOfCounts) {
  // Sets: nothing, 15 of 1g, 3 of 2g.
  EXPECT_EQ(MigSucceed({"count", "A30-24GB", "--profiles", "2g.12gb,1g.6gb", "--forbid",
                        "2g.12gb,1g.6gb", "--format", "json"}),
            TestText("TheObjectOfCounts"));
}

TEST_F(CliMigTest, CountsAsATable) {
  EXPECT_EQ(MigSucceed({"count", "A30", "--profiles", kA30Base, "--forbid", "4g.24gb,2g.12gb"}),
            TestText("CountsAsATable"));
}

// --- layouts -----------------------------------------------------------------------------------

TEST_F(CliMigTest, MaximalLayouts) {
  const std::string out = MigSucceed({"layouts", "A100-40GB", "--profiles", kA100Base});
  const std::vector<Row> rows = LayoutRows(out);
  Names layouts;
  for (const Row& row : rows) layouts.push_back(row.layout);
  const Names expected = {"7g.40gb",
                          "3g.20gb, 4g.20gb",
                          "1g.5gb, 2g.10gb, 4g.20gb",
                          "1g.5gb x3, 4g.20gb",
                          "3g.20gb x2",
                          "2g.10gb x2, 3g.20gb",
                          "1g.5gb x2, 2g.10gb, 3g.20gb",
                          "1g.5gb x4, 3g.20gb",
                          "1g.5gb, 2g.10gb x3",
                          "1g.5gb x3, 2g.10gb x2",
                          "1g.5gb x5, 2g.10gb",
                          "1g.5gb x7"};
  EXPECT_EQ(layouts, expected);
  EXPECT_EQ(rows[0].numbers, (Names{"7", "8", "1"}));
  EXPECT_EQ(rows[4].numbers, (Names{"6", "8", "1"}));
  EXPECT_EQ(rows[6].numbers, (Names{"7", "8", "2"}));
  EXPECT_EQ(rows[11].numbers, (Names{"7", "7", "1"}));
  // A drawing of each below.
  EXPECT_EQ(Occurrences(out, "\nfree: "), expected.size());
  for (const std::string& layout : expected) {
    EXPECT_TRUE(absl::StrContains(out, absl::StrCat("\n\n", layout, "\n   "))) << layout;
  }
  EXPECT_TRUE(absl::EndsWith(out,
                             "\n\n12 maximal multisets of 37; 298 sets of placements with the "
                             "empty one, 19 of them maximal\n"))
      << out;
}

TEST_F(CliMigTest, AllLayouts) {
  const std::string out = MigSucceed({"layouts", "A100-40GB", "--all", "--profiles", kA100Base});
  const std::vector<Row> rows = LayoutRows(out);
  ASSERT_EQ(rows.size(), 37u);
  EXPECT_EQ(rows.front().layout, "7g.40gb");
  EXPECT_EQ(rows.back().layout, "1g.5gb");
  // Together they are all sets of placements but the empty one.
  int64_t ways = 0;
  for (const Row& row : rows) {
    int64_t own = 0;
    ASSERT_EQ(row.numbers.size(), 3u);
    ASSERT_TRUE(absl::SimpleAtoi(row.numbers[2], &own));
    ways += own;
    if (row.layout == "1g.5gb, 2g.10gb, 3g.20gb") {
      EXPECT_EQ(own, 5);
    }
    if (row.layout == "1g.5gb x2, 2g.10gb") {
      EXPECT_EQ(own, 30);
    }
  }
  EXPECT_EQ(ways, 297);
  EXPECT_TRUE(absl::EndsWith(out,
                             "\n\n37 multisets; 298 sets of placements with the empty one, 19 of "
                             "them maximal\n"))
      << out;
  EXPECT_FALSE(absl::StrContains(out, "free: "));
}

TEST_F(CliMigTest, LayoutsKeepToTheDriver) {
  const std::string out =
      MigSucceed({"layouts", "A100-40GB", "--profiles", kA100Base, "--driver", "470"});
  EXPECT_EQ(LayoutRows(out).size(), 11u);
  EXPECT_TRUE(absl::EndsWith(out,
                             "\n11 maximal multisets of 36; 297 sets of placements with the empty "
                             "one, 18 of them maximal\n"
                             "A 4g.20gb and a 3g.20gb are never on one GPU.\n"))
      << out;
  // Media engines limit on this product only.
  const std::string rtx = MigSucceed({"layouts", "RTX-PRO-6000", "--all"});
  EXPECT_EQ(LayoutRows(rtx).size(), 114u);
  EXPECT_TRUE(absl::StrContains(rtx, "no more media engines together"));
  EXPECT_TRUE(absl::StrContains(rtx, "At most one instance of a GPU has the media extension"));
}

TEST_F(CliMigTest, LayoutsAsJson) {
  const std::string json =
      MigSucceed({"layouts", "A30", "--profiles", kA30Base, "--format", "json"});
  EXPECT_EQ(JsonAt(json, "product"), "\"A30\"");
  EXPECT_EQ(JsonAt(json, "sets"), "26");
  EXPECT_EQ(JsonAt(json, "maximal_sets"), "5");
  EXPECT_EQ(JsonAt(json, "multisets"), "9");
  EXPECT_EQ(Occurrences(json, "\"instances\": "), 4u);
  EXPECT_TRUE(absl::StrContains(json, TestLines("LayoutsAsJson"))) << json;
}

// --- fits --------------------------------------------------------------------------------------

TEST_F(CliMigTest, WhatFits) {
  EXPECT_EQ(MigSucceed({"fits", "A30", "2g.12gb@0,1g.6gb@3"}),
            absl::StrCat("2g.12gb@0,1g.6gb@3: fits\n", A30DrawingText(),
                         "one more that would fit: 1g.6gb, 1g.6gb+me\n"
                         "mig-parted, which names no starts: 1g.6gb@0,2g.12gb@2 in attempt 1; "
                         "created 2, destroyed 0\n"));
  const std::string halves = MigSucceed({"fits", "A100-80GB", "3g.40gb:2"});
  EXPECT_TRUE(absl::StartsWith(halves, "3g.40gb:2: fits\n"));
  EXPECT_TRUE(absl::EndsWith(halves,
                             "\nfree: 0 of 8 units (0 usable), 1 of 7 compute slices (0 usable)\n"
                             "one more that would fit: none\n"
                             "mig-parted: 3g.40gb@0,3g.40gb@4 in attempt 1; created 2, "
                             "destroyed 0\n"))
      << halves;
}

TEST_F(CliMigTest, WhatMigPartedMakesOfIt) {
  EXPECT_TRUE(absl::EndsWith(
      MigSucceed({"fits", "A100-80GB", "1g.10gb:2,2g.20gb,3g.40gb"}),
      "\nmig-parted: 2g.20gb@0,1g.10gb@2,1g.10gb@3,3g.40gb@4 in attempt 9; created 26, "
      "destroyed 22\n"));
  // There is a layout, which it does not find.
  EXPECT_TRUE(absl::EndsWith(MigSucceed({"fits", "A100-80GB", "3g.40gb,1g.10gb:4"}),
                             "\nmig-parted: no layout in 5 attempts; created 20, destroyed 20\n"));
}

TEST_F(CliMigTest, WhyLayoutsDoNotFit) {
  ExpectMisfit("4g.40gb,2g.20gb:2",
               "no room for 2g.20gb beside 4g.40gb, 2g.20gb; a 1g.10gb, 1g.10gb+me or 1g.20gb "
               "would fit");
  ExpectMisfit("3g.40gb:3", "no room for 3g.40gb beside 3g.40gb x2; nothing else would fit");
  ExpectMisfit("4g.40gb,3g.40gb",
               "no room for 3g.40gb beside 4g.40gb; a 1g.10gb, 1g.10gb+me, 1g.20gb or 2g.20gb "
               "would fit",
               {"--driver", "470"});
  EXPECT_EQ(Mig({"fits", "A100-80GB", "4g.40gb,3g.40gb"}).exit_code, 0);
}

TEST_F(CliMigTest, WhyPlacementsDoNotFit) {
  ExpectMisfit("4g.40gb@0,2g.20gb@2", "4g.40gb@0 and 2g.20gb@2 overlap in units 2 to 3");
  ExpectMisfit("1g.10gb@4,3g.40gb@4", "1g.10gb@4 and 3g.40gb@4 overlap in unit 4");
  ExpectMisfit("3g.40gb@0,3g.40gb@0", "3g.40gb@0 is asked for twice");
  ExpectMisfit("1g.10gb+me@0,1g.10gb+me@1", "1g.10gb+me@1 may not be beside 1g.10gb+me@0");
  ExpectMisfit("3g.40gb@0,4g.40gb",
               "no room for 4g.40gb beside 3g.40gb@0; one more that would fit: 1g.10gb, "
               "1g.10gb+me, 1g.20gb, 2g.20gb, 3g.40gb");
  ExpectMisfit("2g.20gb:2,3g.40gb@0",
               "no room for 2g.20gb beside 3g.40gb@0, 2g.20gb; one more that would fit: 1g.10gb, "
               "1g.10gb+me, 1g.20gb");
}

TEST_F(CliMigTest, MediaEnginesLimitAnRtxPro) {
  EXPECT_EQ(Mig({"fits", "RTX-PRO-6000", "1g.24gb+me.all,1g.24gb-me:3"}).exit_code, 0);
  EXPECT_EQ(Mig({"fits", "RTX-PRO-6000", "1g.24gb+me.all,1g.24gb"}).exit_code, 1);
}

TEST_F(CliMigTest, SeveralLayouts) {
  const ProcessResult mixed = Mig({"fits", "A30", "4g.24gb", "4g.24gb:2", "1g.6gb:4"});
  EXPECT_EQ(mixed.exit_code, 1);
  EXPECT_EQ(mixed.err, "");
  EXPECT_TRUE(absl::StartsWith(mixed.out, "4g.24gb: fits\n"));
  EXPECT_TRUE(absl::StrContains(mixed.out,
                                "\n\n4g.24gb:2: does not fit: no room for 4g.24gb beside 4g.24gb; "
                                "nothing else would fit\n\n1g.6gb:4: fits\n"))
      << mixed.out;
  EXPECT_EQ(Mig({"fits", "A30", "4g.24gb", "1g.6gb:4"}).exit_code, 0);
  // Nothing is printed when one cannot be read.
  ExpectRefusedWith({"fits", "A30", "4g.24gb", "5g.24gb"}, "unknown profile '5g.24gb' of A30");
}

TEST_F(CliMigTest, FitsAsJson) {
  const ProcessResult result =
      Mig({"fits", "A100-80GB", "3g.40gb:3", "1g.10gb:2,2g.20gb,3g.40gb", "--format", "json"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(JsonAt(result.out, "product"), "\"A100-80GB\"");
  EXPECT_TRUE(absl::StrContains(result.out, TestText("FitsAsJson"))) << result.out;
  EXPECT_TRUE(absl::StrContains(result.out, "\"fits\": true"));
  EXPECT_EQ(JsonAt(result.out, "free_units"), "0");
  EXPECT_EQ(JsonAt(result.out, "usable_compute_slices"), "0");
  EXPECT_EQ(JsonAt(result.out, "mig_parted.succeeds"), "true");
  EXPECT_EQ(JsonAt(result.out, "mig_parted.attempts"), "9");
  EXPECT_TRUE(
      absl::StrContains(result.out, "\"layout\": \"2g.20gb@0,1g.10gb@2,1g.10gb@3,3g.40gb@4\"\n"));
}

// --- draw --------------------------------------------------------------------------------------

TEST_F(CliMigTest, Drawings) {
  EXPECT_EQ(MigSucceed({"draw", "A30", "2g.12gb@0,1g.6gb@3"}), A30DrawingText());
  EXPECT_EQ(MigSucceed({"draw", "2g.12gb@0,1g.6gb@3", "--product", "a30"}), A30DrawingText());
  EXPECT_EQ(MigSucceed({"draw", "2g.12gb@0,1g.6gb@3"}),
            absl::StrCat(A30DrawingText(), "Note: drawn for A30\n"));
}

TEST_F(CliMigTest, DrawingsWithoutAProduct) {
  EXPECT_TRUE(absl::EndsWith(MigSucceed({"draw", "3g.40gb:2"}),
                             "\nNote: drawn for A100-80GB; also with these profiles: "
                             "H100-80GB-SXM, H100-80GB-PCIe\n"));
  // Others have a 1g.24gb, but not there.
  EXPECT_TRUE(absl::StrContains(MigSucceed({"draw", "1g.24gb@9"}),
                                "\nNote: drawn for RTX-PRO-6000; also with these profiles: "));
  ExpectMigRefused({"draw", "1g.5gb,1g.6gb"},
                   "layout: found '1g.5gb,1g.6gb', expected profiles of one GPU product; no "
                   "product has all of these");
  ExpectMigRefused({"draw", "1g.5gbb"}, "unknown profile '1g.5gbb' (did you mean '1g.5gb'?)");
  ExpectMigRefused({"draw", "3g.20gb:3"},
                   "layout: found '3g.20gb:3', which does not fit: no room for 3g.20gb beside "
                   "3g.20gb x2; nothing else would fit");
}

TEST_F(CliMigTest, DrawingsThatCannotBe) {
  ExpectMigRefused({"draw", "A30", "4g.24gb:2"},
                   "layout: found '4g.24gb:2', which does not fit: no room for 4g.24gb beside "
                   "4g.24gb; nothing else would fit");
  ExpectMigRefused({"draw", "A30", "2g.12gb@1"},
                   "start of 2g.12gb: found '1', expected one of 0, 2");
  ExpectRefusedWith({"draw", "A100-40GB", "4g.20gb,3g.20gb", "--driver", "470"},
                    "which does not fit: no room for 3g.20gb beside 4g.20gb;");
  ExpectMigRefused({"draw", "A30"}, "expected a layout such as 3g.20gb:2 or 3g.20gb@4");
  ExpectMigRefused({"draw"}, "expected a layout such as 3g.20gb:2 or 3g.20gb@4");
  ExpectMigRefused({"draw", "A30", "4g.24gb", "1g.6gb"}, "unexpected argument '1g.6gb'");
  ExpectMigRefused({"draw", "--product", "A30", "A30", "4g.24gb"}, "unexpected argument '4g.24gb'");
}

// --- bad usage ---------------------------------------------------------------------------------

TEST_F(CliMigTest, UnknownProducts) {
  for (const char* command : {"profiles", "layouts", "count"}) {
    ExpectRefusedWith({command, "A100"},
                      "error: GPU product: found 'A100', expected one of A100-40GB, A100-80GB, ");
    ExpectRefusedWith({command, "A100"}, "(did you mean 'A100-40GB' or 'A100-80GB'?)\n");
    ExpectMigRefused({command},
                     "expected a GPU product such as A100-40GB; `drasim mig products` lists them");
    ExpectMigRefused({command, "A30", "A30"}, "unexpected argument 'A30'");
    ExpectMigRefused({command, "A30", "--format", "xml"},
                     "--format: found 'xml', expected table, json or csv");
  }
  ExpectRefusedWith({"fits", "T4", "1g.5gb"}, "GPU product: found 'T4'");
  ExpectRefusedWith({"draw", "T4", "1g.5gb"}, "GPU product: found 'T4'");
  ExpectMigRefused({"fits", "A30"}, "expected a layout such as 3g.20gb:2 or 3g.20gb@4");
  ExpectMigRefused({"products", "A30"}, "unexpected argument 'A30'");
}

TEST_F(CliMigTest, BadProfiles) {
  for (const char* command : {"count", "layouts"}) {
    ExpectMigRefused({command, "A30", "--profiles", "1g.6bg"},
                     "--profiles: unknown profile '1g.6bg' of A30; it has 1g.6gb, 1g.6gb+me, "
                     "2g.12gb, 2g.12gb+me, 4g.24gb (did you mean '1g.6gb'?)");
    ExpectMigRefused({command, "A30", "--profiles", "1g.6gb,1g.5gb"},
                     "--profiles: profile '1g.5gb' is one of A100-40GB, not of A30; A30 has "
                     "1g.6gb, 1g.6gb+me, 2g.12gb, 2g.12gb+me, 4g.24gb");
    ExpectMigRefused({command, "A30", "--profiles", "1g.6gb,1G.6GB"},
                     "profiles of A30: found '1g.6gb' twice, expected it once");
    for (const char* text : {"", "1g.6gb,", "1g.6gb:2", "1g.6gb@0"}) {
      ExpectMigRefused({command, "A30", absl::StrCat("--profiles=", text)},
                       absl::StrCat("--profiles: found '", text,
                                    "', expected names of profiles with commas between them"));
    }
  }
  ExpectMigRefused({"fits", "A30", "1g.6gb:0"},
                   "count of 1g.6gb: found '0', expected at least 1, and at most 1000 in all");
  ExpectRefusedWith({"fits", "A100-80GB", "1g.5gb"},
                    "profile '1g.5gb' is one of A100-40GB, not of A100-80GB; A100-80GB has ");
}

TEST_F(CliMigTest, BadPairsAndDrivers) {
  for (const char* text : {"4g.24gb", "1g.6gb,2g.12gb,4g.24gb"}) {
    ExpectMigRefused({"count", "A30", "--forbid", text},
                     absl::StrCat("--forbid: found '", text, "', expected two profiles, A,B"));
  }
  ExpectRefusedWith({"count", "A30", "--forbid", "4g.24gb,2g.12gb", "--forbid", "4g.24gb,3g.20gb"},
                    "--forbid: profile '3g.20gb' is one of A100-40GB, not of A30;");
  ExpectRefusedWith({"count", "A30", "--forbid", "4g.24gb,2g.21gb"},
                    "--forbid: unknown profile '2g.21gb' of A30;");
  for (const char* text : {"0", "-1", "R470", ""}) {
    const std::string message =
        absl::StrCat("--driver: found '", text, "', expected a driver branch such as 550");
    const std::string flag = absl::StrCat("--driver=", text);
    ExpectMigRefused({"profiles", "A30", flag}, message);
    ExpectMigRefused({"layouts", "A30", flag}, message);
    ExpectMigRefused({"fits", "A30", "1g.6gb", flag}, message);
    ExpectMigRefused({"draw", "A30", "1g.6gb", flag}, message);
  }
}

TEST_F(CliMigTest, TheFamilyIsListed) {
  const ProcessResult help = Run({"mig", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* name : {"products", "profiles", "layouts", "fits", "draw", "count"}) {
    EXPECT_TRUE(absl::StrContains(help.out, absl::StrCat("  mig ", name, "  "))) << name;
  }
  EXPECT_EQ(Run({"mig"}).exit_code, 2);
  ExpectRefused({"mig", "fit"},
                "unknown command 'mig fit' (did you mean 'mig fits'?); `drasim --help` lists them");
}

}  // namespace cli_mig_test
}  // namespace drasim
