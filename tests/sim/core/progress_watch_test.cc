// Counts of failed attempts: the limit of an instant, and rounds in vain.
#include "sim/core/progress_watch.h"

#include <cstddef>
#include <cstdint>

#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/time.h"

namespace drasim {
namespace progress_watch_test {

bool Spent(const ProgressWatch& watch, uint64_t waiting) {
  return watch.AttemptsSpent([waiting] { return waiting; });
}

TEST(ProgressWatchTest, AThousandAttemptsForEachWaitingJobAndAThousandMore) {
  ProgressWatch watch;
  for (int i = 0; i < 1000; ++i) watch.CountFailure();
  EXPECT_FALSE(Spent(watch, 0));
  watch.CountFailure();
  EXPECT_TRUE(Spent(watch, 0));
  EXPECT_FALSE(Spent(watch, 1));
  for (int i = 0; i < 1000; ++i) watch.CountFailure();
  EXPECT_TRUE(Spent(watch, 1));
  EXPECT_FALSE(Spent(watch, 2));
}

TEST(ProgressWatchTest, WaitingJobsAreCountedOnlyAfterManyFailures) {
  ProgressWatch watch;
  int asked = 0;
  const auto waiting = [&asked] { return static_cast<uint64_t>(++asked); };
  for (int i = 0; i < 1000; ++i) {
    watch.CountFailure();
    EXPECT_FALSE(watch.AttemptsSpent(waiting));
  }
  EXPECT_EQ(asked, 0);
}

TEST(ProgressWatchTest, ANewInstantOrProgressAllowsAttemptsAgain) {
  ProgressWatch watch;
  for (int i = 0; i < 2000; ++i) watch.CountFailure();
  watch.BeginInstant();
  EXPECT_FALSE(Spent(watch, 0));
  for (int i = 0; i < 2000; ++i) watch.CountFailure();
  watch.NoteEndOfWork(SimTime(5));
  EXPECT_EQ(watch.last_progress(), SimTime(5));
  EXPECT_TRUE(Spent(watch, 0));
  watch.Note(SimTime(7));
  EXPECT_EQ(watch.last_progress(), SimTime(7));
  EXPECT_FALSE(Spent(watch, 0));
}

TEST(ProgressWatchTest, ARoundIsOverWhenEveryJobInLineHasFailed) {
  ProgressWatch watch;
  for (int i = 0; i < 3; ++i) watch.AddJob();
  watch.CountInRound(JobId(size_t{0}));
  watch.CountInRound(JobId(size_t{0}));
  watch.CountInRound(JobId(size_t{2}));
  EXPECT_FALSE(watch.TriedInVain(1, 3));
  watch.CountInRound(JobId(size_t{1}));
  EXPECT_TRUE(watch.TriedInVain(1, 3));
  // The second round begins from nothing.
  EXPECT_FALSE(watch.TriedInVain(2, 3));
  for (uint32_t job = 0; job < 3; ++job) watch.CountInRound(JobId(job));
  EXPECT_TRUE(watch.TriedInVain(2, 3));
}

TEST(ProgressWatchTest, ProgressForgetsRounds) {
  ProgressWatch watch;
  watch.AddJob();
  watch.CountInRound(JobId(size_t{0}));
  EXPECT_TRUE(watch.TriedInVain(1, 1));
  watch.CountInRound(JobId(size_t{0}));
  watch.Note(SimTime(1));
  EXPECT_FALSE(watch.TriedInVain(1, 1));
  watch.CountInRound(JobId(size_t{0}));
  EXPECT_TRUE(watch.TriedInVain(1, 1));
}

}  // namespace progress_watch_test
}  // namespace drasim
