// Work in child processes: answers, errors, crashes and hangs.
#include "sim/bench/child_runs.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <unistd.h>

#include <map>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/testing/temp_dir.h"

namespace drasim::bench {
namespace child_runs_test {

std::map<size_t, ChildResult> RunAll(size_t n, const ChildRunOptions& options,
                                     absl::FunctionRef<absl::StatusOr<std::string>(size_t)> work) {
  std::map<size_t, ChildResult> results;
  const absl::Status ran =
      RunInChildren(n, options, work, [&](size_t i, const ChildResult& result) {
        EXPECT_TRUE(results.emplace(i, result).second) << i;
      });
  EXPECT_EQ(ran, absl::OkStatus());
  return results;
}

TEST(ChildRunsTest, EveryAnswerComesBackOnce) {
  // Longer than a pipe holds.
  const std::string padding(300'000, 'x');
  for (const size_t jobs : {size_t{0}, size_t{1}, size_t{3}, size_t{40}}) {
    const auto results = RunAll(20, {jobs, 60}, [&](size_t i) -> absl::StatusOr<std::string> {
      return absl::StrCat(i, i % 5 == 0 ? padding : "");
    });
    ASSERT_EQ(results.size(), 20u);
    for (const auto& [i, result] : results) {
      ASSERT_EQ(result.answer.status(), absl::OkStatus());
      EXPECT_EQ(*result.answer, absl::StrCat(i, i % 5 == 0 ? padding : ""));
      EXPECT_GT(result.peak_rss_kib, 0);
      EXPECT_GE(result.cpu_seconds, 0);
    }
  }
  EXPECT_TRUE(RunAll(0, {2, 60}, [](size_t) { return std::string(); }).empty());
}

TEST(ChildRunsTest, WhatGoesWrongStaysInItsChild) {
  const auto results = RunAll(5, {2, 2}, [](size_t i) -> absl::StatusOr<std::string> {
    if (i == 0) return absl::InvalidArgumentError("a wrong scenario");
    if (i == 1) raise(SIGKILL);
    if (i == 2) _exit(3);
    if (i == 3) sleep(60);
    return std::string("fine");
  });
  ASSERT_EQ(results.size(), 5u);
  EXPECT_EQ(results.at(0).answer.status().message(), "a wrong scenario");
  EXPECT_TRUE(absl::StartsWith(results.at(1).answer.status().message(), "crashed: "));
  EXPECT_EQ(results.at(2).answer.status().message(), "ended early with exit code 3");
  EXPECT_EQ(results.at(3).answer.status().message(), "killed: it took more than 2 s");
  EXPECT_EQ(results.at(3).answer.status().code(), absl::StatusCode::kAborted);
  ASSERT_EQ(results.at(4).answer.status(), absl::OkStatus());
  EXPECT_EQ(*results.at(4).answer, "fine");
}

TEST(ChildRunsTest, MemoryIsThatOfTheChild) {
  const auto results = RunAll(2, {1, 60}, [](size_t i) -> absl::StatusOr<std::string> {
    std::string memory(i == 0 ? size_t{64} << 20 : 1, 'm');
    return std::string(1, memory[memory.size() / 2]);
  });
  EXPECT_GT(results.at(0).peak_rss_kib, results.at(1).peak_rss_kib + (50 << 10));
}

std::map<size_t, ChildResult> RunEach(const std::vector<Program>& programs,
                                      const ChildRunOptions& options) {
  std::map<size_t, ChildResult> results;
  EXPECT_EQ(RunPrograms(
                programs.size(), options, [&](size_t i) { return programs[i]; },
                [&](size_t i, const ChildResult& result) { results.emplace(i, result); }),
            absl::OkStatus());
  return results;
}

TEST(ChildRunsTest, ProgramsAnswerWithWhatTheyWrite) {
  const TempDir dir;
  dir.Write("in", "from the file");
  const auto results = RunEach({{{"sh", "-c", "cat; echo err >&2"}, dir.PathOf("in")},
                                {{"sh", "-c", "cat; echo first; echo last >&2; exit 3"}, ""},
                                {{"/no/such/program"}, ""},
                                {{"sh", "-c", "kill -9 $$"}, ""},
                                {{"sleep", "60"}, ""},
                                {{"cat"}, dir.PathOf("absent")}},
                               {2, 1});
  ASSERT_EQ(results.size(), 6u);
  ASSERT_EQ(results.at(0).answer.status(), absl::OkStatus());
  EXPECT_EQ(*results.at(0).answer, "from the fileerr\n");
  EXPECT_EQ(results.at(1).answer.status().message(), "ended with exit code 3: last");
  EXPECT_EQ(results.at(2).answer.status().message(),
            "ended with exit code 127: cannot start /no/such/program: No such file or directory");
  EXPECT_TRUE(absl::StartsWith(results.at(3).answer.status().message(), "crashed: "));
  EXPECT_EQ(results.at(4).answer.status().message(), "killed: it took more than 1 s");
  EXPECT_GE(results.at(4).wall_seconds, 1);
  EXPECT_TRUE(absl::StrContains(results.at(5).answer.status().message(), "cannot open"));
}

TEST(ChildRunsTest, ProgramsRunInTheirDirectory) {
  const TempDir dir;
  dir.Write("in", "");
  const auto results =
      RunEach({{{"ls"}, "", dir.path()}, {{"ls"}, "", dir.PathOf("absent")}}, {1, 60});
  ASSERT_EQ(results.at(0).answer.status(), absl::OkStatus());
  EXPECT_EQ(*results.at(0).answer, "in\n");
  EXPECT_TRUE(absl::StrContains(results.at(1).answer.status().message(),
                                "cannot enter " + dir.PathOf("absent") + ": No such file"));
}

// Otherwise counts of instructions would vary with them.
TEST(ChildRunsTest, ProgramsHaveAFixedEnvironment) {
  setenv("DRASIM_CHILD_RUNS_TEST", "1", 1);
  const auto results = RunEach({{{"env"}, ""}, {{"cat", "/proc/self/personality"}, ""}}, {1, 60});
  unsetenv("DRASIM_CHILD_RUNS_TEST");
  ASSERT_EQ(results.at(0).answer.status(), absl::OkStatus());
  EXPECT_FALSE(absl::StrContains(*results.at(0).answer, "DRASIM_CHILD_RUNS_TEST"));
  EXPECT_TRUE(absl::StrContains(*results.at(0).answer, "LC_ALL=C\n"));
  // Where the system allows it: ADDR_NO_RANDOMIZE.
  if (results.at(1).answer.ok() && personality(0xffffffff) >= 0) {
    EXPECT_EQ(*results.at(1).answer, "00040000\n");
  }
}

}  // namespace child_runs_test
}  // namespace drasim::bench
