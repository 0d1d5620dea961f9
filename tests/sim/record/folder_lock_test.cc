// One process at a time writes into a folder.
#include "sim/record/folder_lock.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace folder_lock_test {

TEST(FolderLockTest, IsHeldOnceAndLeavesNothing) {
  const TempDir dir;
  for (int round = 0; round < 2; ++round) {
    const absl::StatusOr<std::unique_ptr<FolderLock>> lock = FolderLock::Take(dir.path());
    ASSERT_TRUE(lock.ok()) << lock.status();
    EXPECT_EQ(dir.List("."), std::vector<std::string>{"drasim.lock"});
    EXPECT_EQ(FolderLock::Take(dir.path()).status(),
              absl::FailedPreconditionError(
                  absl::StrCat(dir.path(),
                               ": another drasim process is writing into this folder; wait for it "
                               "to end, or choose another folder")));
    EXPECT_TRUE(dir.Has("drasim.lock"));
  }
  EXPECT_TRUE(dir.List(".").empty());
}

TEST(FolderLockTest, AFileThatAKilledProcessLeftLocksNothing) {
  const TempDir dir;
  dir.Write("drasim.lock", "");
  EXPECT_TRUE(FolderLock::Take(dir.path()).ok());
  EXPECT_TRUE(dir.List(".").empty());
}

TEST(FolderLockTest, NeedsAFolder) {
  const TempDir dir;
  EXPECT_EQ(
      FolderLock::Take(dir.PathOf("none")).status(),
      absl::InvalidArgumentError(absl::StrCat(
          dir.PathOf("none"), "/drasim.lock: cannot create the file: No such file or directory")));
}

}  // namespace folder_lock_test
}  // namespace drasim
