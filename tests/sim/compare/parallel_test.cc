// Work on several threads, and how many a flag asks for.
#include "sim/compare/parallel.h"

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace drasim {
namespace {

TEST(ParseJobsTest, OneTo256) {
  EXPECT_EQ(*ParseJobs("1"), 1u);
  EXPECT_EQ(*ParseJobs("256"), 256u);
  EXPECT_GE(*ParseJobs(""), 1u);
  for (const char* text : {"0", "257", "-1", "x", "1.5"}) {
    EXPECT_EQ(ParseJobs(text).status(),
              absl::InvalidArgumentError(
                  absl::StrCat("--jobs: found '", text, "', expected a number from 1 to 256")));
  }
}

TEST(ForEachInParallelTest, EveryItemOnceAndTheFirstErrorStops) {
  for (const size_t jobs : {size_t{1}, size_t{2}, size_t{7}}) {
    std::vector<int> worked(100);
    std::vector<int> done(100);
    EXPECT_EQ(ForEachInParallel(
                  100, jobs,
                  [&](size_t i) {
                    ++worked[i];
                    return absl::OkStatus();
                  },
                  [&](size_t i) { ++done[i]; }),
              absl::OkStatus());
    EXPECT_EQ(worked, std::vector<int>(100, 1));
    EXPECT_EQ(done, std::vector<int>(100, 1));
  }
  std::vector<size_t> done;
  EXPECT_EQ(ForEachInParallel(
                100, 1,
                [&](size_t i) { return i == 3 ? absl::DataLossError("three") : absl::OkStatus(); },
                [&](size_t i) { done.push_back(i); }),
            absl::DataLossError("three"));
  EXPECT_EQ(done, (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(ForEachInParallel(
                0, 4, [](size_t) { return absl::DataLossError("never"); }, [](size_t) {}),
            absl::OkStatus());
}

}  // namespace
}  // namespace drasim
