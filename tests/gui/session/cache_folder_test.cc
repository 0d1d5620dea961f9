#include "gui/session/cache_folder.h"

#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "sim/record/folder_lock.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace cache_folder_test {

using gui::CacheFolder;

class CacheFolderTest : public ::testing::Test {
 protected:
  CacheFolderTest() { setenv("XDG_CACHE_HOME", dir_.path().c_str(), 1); }
  ~CacheFolderTest() override { unsetenv("XDG_CACHE_HOME"); }

  // A folder as a run leaves it that was killed so long ago.
  void Leave(const std::string& name, std::chrono::seconds age) {
    const std::string path = dir_.PathOf("drasim/" + name);
    std::filesystem::create_directories(path + "/results");
    dir_.Write("drasim/" + name + "/results/ledger.partial", "half of it");
    dir_.Write("drasim/" + name + "/drasim.lock", "");
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - age);
  }
  bool Has(const std::string& name) const {
    return std::filesystem::exists(dir_.PathOf("drasim/" + name));
  }

  const TempDir dir_;
};

TEST_F(CacheFolderTest, GoesWithTheObject) {
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<CacheFolder> folder, CacheFolder::Make());
  const std::string results = folder->results();
  EXPECT_EQ(results.rfind(dir_.PathOf("drasim/run-"), 0), 0u);
  std::filesystem::create_directory(results);
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<CacheFolder> other, CacheFolder::Make());
  EXPECT_NE(other->results(), results);
  EXPECT_TRUE(std::filesystem::exists(results));
  folder.reset();
  EXPECT_FALSE(std::filesystem::exists(results));
}

TEST_F(CacheFolderTest, RemovesWhatKilledProcessesLeft) {
  using std::chrono::seconds;
  Leave("run-killed", seconds(3'600));
  Leave("run-young", seconds(5));
  Leave("run-held", seconds(3'600));
  Leave("other", seconds(3'600));
  dir_.Write("drasim/run-file", "no folder");
  ASSERT_OK_AND_ASSIGN(const auto held, FolderLock::Take(dir_.PathOf("drasim/run-held")));
  // The lock's file is new in there.
  std::filesystem::last_write_time(dir_.PathOf("drasim/run-held"),
                                   std::filesystem::file_time_type::clock::now() - seconds(3'600));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<CacheFolder> folder, CacheFolder::Make());
  EXPECT_FALSE(Has("run-killed"));
  EXPECT_TRUE(Has("run-young/results/ledger.partial"));
  EXPECT_TRUE(Has("run-held/results/ledger.partial"));
  EXPECT_TRUE(Has("other"));
  EXPECT_TRUE(Has("run-file"));
}

TEST_F(CacheFolderTest, SaysWhereNothingCanBeMade) {
  dir_.Write("drasim", "a file in its place");
  const auto folder = CacheFolder::Make();
  EXPECT_TRUE(absl::IsUnavailable(folder.status())) << folder.status();
  EXPECT_NE(folder.status().message().find(dir_.PathOf("drasim")), std::string::npos);
}

}  // namespace cache_folder_test
}  // namespace drasim
