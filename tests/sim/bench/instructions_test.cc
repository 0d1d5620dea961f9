// Counting instructions: the way is found and recorded, equal runs count alike, and what goes wrong
// is named. Skipped where neither valgrind nor hardware counters are.
#include "sim/bench/instructions.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tests/testing/temp_dir.h"

namespace drasim::bench {
namespace instructions_test {

// A program that takes the arguments of `drasim run` and reads a scenario.
std::string FakeProgram(const TempDir& dir, const std::string& text) {
  dir.Write("program", "#!/bin/sh\n" + text);
  const std::string path = dir.PathOf("program");
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

std::vector<InstructionCount> CountsOf(const CostSetup& setup, const std::string& program, size_t n,
                                       const TempDir& dir) {
  BenchCell cell;
  cell.scenario = "seed: 1\n";
  const std::vector<const BenchCell*> cells(n, &cell);
  std::vector<InstructionCount> counts(n, {absl::UnknownError("not called"), ""});
  EXPECT_EQ(CountInstructions(setup, program, cells, {2, 60}, dir.PathOf("."),
                              [&](size_t i, const InstructionCount& count) { counts[i] = count; }),
            absl::OkStatus());
  return counts;
}

TEST(InstructionsTest, EqualRunsCountAlike) {
  const absl::StatusOr<CostSetup> setup = FindCostSetup();
  if (!setup.ok()) GTEST_SKIP() << setup.status().message();
  EXPECT_NE(setup->tool, "");
  EXPECT_NE(setup->compiler, "");
  EXPECT_TRUE(absl::StrContains(setup->flags, "-"));
  EXPECT_FALSE(setup->libraries.empty());
  EXPECT_EQ(setup->DifferenceTo(*setup), "");
  const TempDir dir;
  const std::string program =
      FakeProgram(dir, "read line; [ \"$line\" = 'seed: 1' ] && echo fingerprint 00ff\n");
  const std::vector<InstructionCount> counts = CountsOf(*setup, program, 3, dir);
  for (const InstructionCount& count : counts) {
    ASSERT_EQ(count.instructions.status(), absl::OkStatus());
    EXPECT_EQ(count.fingerprint, "00ff");
    EXPECT_GT(*count.instructions, 10'000u);
  }
  if (setup->method != kCachegrind) return;
  EXPECT_EQ(*counts[0].instructions, *counts[1].instructions);
  EXPECT_EQ(*counts[0].instructions, *counts[2].instructions);
}

TEST(InstructionsTest, AFailedRunHasNoCount) {
  const absl::StatusOr<CostSetup> setup = FindCostSetup();
  if (!setup.ok()) GTEST_SKIP() << setup.status().message();
  const TempDir dir;
  const std::vector<InstructionCount> counts =
      CountsOf(*setup, FakeProgram(dir, "echo no such key; exit 2\n"), 1, dir);
  EXPECT_EQ(counts[0].instructions.status(),
            absl::AbortedError("ended with exit code 2: no such key"));
  // Nothing is left behind.
  EXPECT_FALSE(std::filesystem::exists(dir.PathOf("cost.000000.yaml")));
  EXPECT_FALSE(std::filesystem::exists(dir.PathOf("cost.000000.out")));
}

TEST(InstructionsTest, TheFingerprintIsALineOfItsOwn) {
  EXPECT_EQ(FingerprintIn("a\nfingerprint 0123\n"), "0123");
  EXPECT_EQ(FingerprintIn("no fingerprint 0123\n"), "");
}

}  // namespace instructions_test
}  // namespace drasim::bench
