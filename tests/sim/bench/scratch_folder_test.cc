// A temporary folder: empty at first, one's own, and gone with its contents.
#include "sim/bench/scratch_folder.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"

namespace drasim::bench {
namespace {

namespace fs = std::filesystem;

TEST(ScratchFolderTest, GoesWithAllThatIsInIt) {
  std::string path;
  {
    absl::StatusOr<std::unique_ptr<ScratchFolder>> scratch = ScratchFolder::Make();
    ASSERT_EQ(scratch.status(), absl::OkStatus());
    path = (*scratch)->path();
    EXPECT_TRUE(fs::is_empty(path));
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    fs::create_directory((*scratch)->PathOf("a"));
    std::ofstream((*scratch)->PathOf("a/b")) << "b";
    EXPECT_TRUE(fs::exists(path + "/a/b"));
    const absl::StatusOr<std::unique_ptr<ScratchFolder>> other = ScratchFolder::Make();
    ASSERT_EQ(other.status(), absl::OkStatus());
    EXPECT_NE((*other)->path(), path);
    EXPECT_EQ((*other)->path().size(), path.size());
  }
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace drasim::bench
