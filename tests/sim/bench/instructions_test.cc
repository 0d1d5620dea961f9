// Counting instructions: the way is found and recorded, equal runs count alike, and what goes wrong
// is named. Skipped where neither valgrind nor hardware counters are.
#include "sim/bench/instructions.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
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

std::vector<InstructionCount> CountsOf(const CostSetup& setup, const std::string& program,
                                       size_t n) {
  BenchCell cell;
  cell.scenario = "seed: 1\n";
  const std::vector<const BenchCell*> cells(n, &cell);
  std::vector<InstructionCount> counts(n, {absl::UnknownError("not called"), ""});
  EXPECT_EQ(CountInstructions(setup, program, cells, {2, 60},
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
  const std::vector<InstructionCount> counts = CountsOf(*setup, program, 3);
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
      CountsOf(*setup, FakeProgram(dir, "echo no such key; exit 2\n"), 1);
  EXPECT_EQ(counts[0].instructions.status(),
            absl::AbortedError("ended with exit code 2: no such key"));
}

// Base and head lie in different folders, and are called from anywhere.
TEST(InstructionsTest, TheProgramDoesNotSeeWhereItLies) {
  const absl::StatusOr<CostSetup> setup = FindCostSetup();
  if (!setup.ok()) GTEST_SKIP() << setup.status().message();
  const std::string text = "echo fingerprint $0 $PWD\n";
  const TempDir near;
  const TempDir far;
  std::filesystem::create_directories(far.PathOf("a/b/c"));
  far.Write("a/b/c/program", "");
  std::filesystem::copy_file(FakeProgram(near, text), far.PathOf("a/b/c/program"),
                             std::filesystem::copy_options::overwrite_existing);
  const std::vector<InstructionCount> here = CountsOf(*setup, near.PathOf("program"), 1);
  const std::vector<InstructionCount> there = CountsOf(*setup, far.PathOf("a/b/c/program"), 1);
  ASSERT_EQ(here[0].instructions.status(), absl::OkStatus());
  ASSERT_EQ(there[0].instructions.status(), absl::OkStatus());
  EXPECT_TRUE(absl::StartsWith(here[0].fingerprint, "./program /")) << here[0].fingerprint;
  EXPECT_EQ(here[0].fingerprint.size(), there[0].fingerprint.size());
  // Nothing is left behind.
  const std::string folder = here[0].fingerprint.substr(here[0].fingerprint.find('/', 2));
  EXPECT_FALSE(std::filesystem::exists(folder)) << folder;
  if (setup->method != kCachegrind) return;
  EXPECT_EQ(*here[0].instructions, *there[0].instructions);
}

TEST(InstructionsTest, TheFingerprintIsALineOfItsOwn) {
  EXPECT_EQ(FingerprintIn("a\nfingerprint 0123\n"), "0123");
  EXPECT_EQ(FingerprintIn("no fingerprint 0123\n"), "");
}

absl::StatusOr<CostSetup> SetupOfTools(const std::map<std::string, std::string>& outputs) {
  return FindCostSetup([&](const std::vector<std::string>& command) -> absl::StatusOr<std::string> {
    const auto it = outputs.find(absl::StrJoin(command, " "));
    if (it != outputs.end()) return it->second;
    return absl::AbortedError("ended with exit code 127: cannot start " + command[0]);
  });
}

constexpr char kValgrindVersion[] = "valgrind --version";
constexpr char kPerfVersion[] = "perf --version";
constexpr char kPerfProbe[] = "perf stat -x, -e instructions:u -- true";

TEST(InstructionsTest, ValgrindIsPreferredToPerf) {
  const absl::StatusOr<CostSetup> both =
      SetupOfTools({{kValgrindVersion, "valgrind-3.19.0\n"},
                    {kPerfVersion, "perf version 6.1.187\n"},
                    {kPerfProbe, "123456,,instructions:u,400000,100.00,,\n"}});
  ASSERT_EQ(both.status(), absl::OkStatus());
  EXPECT_EQ(both->method, kCachegrind);
  EXPECT_EQ(both->tool, "valgrind-3.19.0");
  const absl::StatusOr<CostSetup> perf =
      SetupOfTools({{kPerfVersion, "perf version 6.1.187\n"},
                    {kPerfProbe, "123456,,instructions:u,400000,100.00,,\n"}});
  ASSERT_EQ(perf.status(), absl::OkStatus());
  EXPECT_EQ(perf->method, kPerf);
  EXPECT_EQ(perf->tool, "perf version 6.1.187");
  EXPECT_TRUE(absl::StrContains(both->DifferenceTo(*perf), "method cachegrind and perf"));
}

TEST(InstructionsTest, AMachineWithoutCountersSaysWhatToInstall) {
  const absl::Status expected = absl::NotFoundError(
      "found neither valgrind nor hardware counters for perf, expected one of them: install the "
      "package valgrind");
  EXPECT_EQ(SetupOfTools({}).status(), expected);
  // A virtual machine: perf is there and succeeds.
  EXPECT_EQ(SetupOfTools({{kPerfVersion, "perf version 6.1.187\n"},
                          {kPerfProbe, "<not supported>,,instructions:u,0,100.00,,\n"}})
                .status(),
            expected);
}

TEST(InstructionsTest, ReadsWhatPerfWrites) {
  const absl::StatusOr<uint64_t> one =
      InstructionsInPerf("# started on Mon Nov 23 2026\n\n8041,,instructions:u,1,100.00,,\n");
  ASSERT_EQ(one.status(), absl::OkStatus());
  EXPECT_EQ(*one, 8041u);
  const absl::StatusOr<uint64_t> two_kinds_of_cores = InstructionsInPerf(
      "8000,,cpu_core/instructions:u/,1,60.00,,\n900,,cpu_atom/instructions:u/,1,40.00,,\n");
  ASSERT_EQ(two_kinds_of_cores.status(), absl::OkStatus());
  EXPECT_EQ(*two_kinds_of_cores, 8900u);
  const absl::StatusOr<uint64_t> one_kind_slept = InstructionsInPerf(
      "<not "
      "counted>,,cpu_atom/instructions:u/,0,0.00,,\n8000,,cpu_core/instructions:u/,1,100.00,,");
  ASSERT_EQ(one_kind_slept.status(), absl::OkStatus());
  EXPECT_EQ(*one_kind_slept, 8000u);
  const absl::Status none = absl::AbortedError("perf counted no instructions");
  EXPECT_EQ(InstructionsInPerf("<not supported>,,instructions:u,0,100.00,,\n").status(), none);
  EXPECT_EQ(InstructionsInPerf("17,,cycles:u,1,100.00,,\n").status(), none);
  EXPECT_EQ(InstructionsInPerf("").status(), none);
}

}  // namespace instructions_test
}  // namespace drasim::bench
