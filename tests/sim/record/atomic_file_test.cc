// A file appears whole or not at all.
#include "sim/record/atomic_file.h"

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/testing/temp_dir.h"

namespace drasim {
namespace atomic_file_test {

using Names = std::vector<std::string>;

TEST(AtomicFileTest, AppearsOnCommitOnly) {
  const TempDir dir;
  AtomicFile file;
  EXPECT_FALSE(file.open());
  ASSERT_EQ(file.Open(dir.PathOf("a.txt")), absl::OkStatus());
  EXPECT_TRUE(file.open());
  ASSERT_EQ(file.Write("one "), absl::OkStatus());
  EXPECT_EQ(dir.List("."), Names{"a.txt.tmp"});
  ASSERT_EQ(file.Write("two"), absl::OkStatus());
  ASSERT_EQ(file.Commit(), absl::OkStatus());
  EXPECT_FALSE(file.open());
  EXPECT_EQ(dir.List("."), Names{"a.txt"});
  EXPECT_EQ(dir.Read("a.txt"), "one two");
}

TEST(AtomicFileTest, FlushMakesWhatIsWrittenReadable) {
  const TempDir dir;
  AtomicFile file;
  ASSERT_EQ(file.Open(dir.PathOf("a"), ".part"), absl::OkStatus());
  ASSERT_EQ(file.Write("so far"), absl::OkStatus());
  ASSERT_EQ(file.Flush(), absl::OkStatus());
  EXPECT_EQ(dir.Read("a.part"), "so far");
  EXPECT_FALSE(dir.Has("a"));
}

TEST(AtomicFileTest, WithoutCommitNothingIsLeftAndTheOldFileStays) {
  const TempDir dir;
  dir.Write("a", "old");
  {
    AtomicFile file;
    ASSERT_EQ(file.Open(dir.PathOf("a")), absl::OkStatus());
    ASSERT_EQ(file.Write("new"), absl::OkStatus());
    ASSERT_EQ(file.Flush(), absl::OkStatus());
  }
  EXPECT_EQ(dir.List("."), Names{"a"});
  EXPECT_EQ(dir.Read("a"), "old");
}

TEST(AtomicFileTest, CommitReplacesTheOldFile) {
  const TempDir dir;
  dir.Write("a", "old and longer");
  ASSERT_EQ(WriteFileAtomically(dir.PathOf("a"), "new"), absl::OkStatus());
  EXPECT_EQ(dir.List("."), Names{"a"});
  EXPECT_EQ(dir.Read("a"), "new");
}

TEST(AtomicFileTest, KeptTemporariesStay) {
  const TempDir dir;
  {
    AtomicFile file;
    ASSERT_EQ(file.Open(dir.PathOf("ledger"), ".partial"), absl::OkStatus());
    file.KeepTemporary();
    ASSERT_EQ(file.Write("frames"), absl::OkStatus());
  }
  EXPECT_EQ(dir.List("."), Names{"ledger.partial"});
  EXPECT_EQ(dir.Read("ledger.partial"), "frames");
}

TEST(AtomicFileTest, GoesOnWithWhatAnEarlierProcessLeft) {
  const TempDir dir;
  dir.Write("a", "old");
  dir.Write("a.part", "0123456789");
  AtomicFile file;
  ASSERT_EQ(file.Reopen(dir.PathOf("a"), 4, ".part"), absl::OkStatus());
  EXPECT_TRUE(file.open());
  EXPECT_EQ(file.size(), 4u);
  EXPECT_EQ(dir.Read("a.part"), "0123");
  ASSERT_EQ(file.Write("xyz"), absl::OkStatus());
  EXPECT_EQ(file.size(), 7u);
  EXPECT_EQ(dir.Read("a"), "old");
  ASSERT_EQ(file.Commit(), absl::OkStatus());
  EXPECT_EQ(dir.List("."), Names{"a"});
  EXPECT_EQ(dir.Read("a"), "0123xyz");

  // All of it, and none.
  dir.Write("b.tmp", "abc");
  dir.Write("c.tmp", "abc");
  AtomicFile all;
  ASSERT_EQ(all.Reopen(dir.PathOf("b"), 3), absl::OkStatus());
  ASSERT_EQ(all.Write("d"), absl::OkStatus());
  ASSERT_EQ(all.Commit(), absl::OkStatus());
  EXPECT_EQ(dir.Read("b"), "abcd");
  AtomicFile none;
  ASSERT_EQ(none.Reopen(dir.PathOf("c"), 0), absl::OkStatus());
  ASSERT_EQ(none.Commit(), absl::OkStatus());
  EXPECT_EQ(dir.Read("c"), "");
}

TEST(AtomicFileTest, ReopenLeavesAloneWhatIsTooShort) {
  const TempDir dir;
  dir.Write("a.tmp", "abc");
  {
    AtomicFile file;
    const absl::Status expected = absl::UnavailableError(
        absl::StrCat(dir.PathOf("a"), ".tmp: found 3 bytes, expected at least 4"));
    EXPECT_EQ(file.Reopen(dir.PathOf("a"), 4), expected);
    EXPECT_FALSE(file.open());
    EXPECT_EQ(file.Write("x"), expected);
    EXPECT_EQ(file.Commit(), expected);
  }
  EXPECT_EQ(dir.List("."), Names{"a.tmp"});
  EXPECT_EQ(dir.Read("a.tmp"), "abc");
  AtomicFile missing;
  EXPECT_EQ(missing.Reopen(dir.PathOf("b"), 0),
            absl::UnavailableError(absl::StrCat(
                dir.PathOf("b"),
                ".tmp: cannot open the file to go on with it: No such file or directory")));
  EXPECT_EQ(dir.List("."), Names{"a.tmp"});
}

TEST(AtomicFileTest, CountsBytes) {
  const TempDir dir;
  AtomicFile file;
  EXPECT_EQ(file.size(), 0u);
  ASSERT_EQ(file.Open(dir.PathOf("a")), absl::OkStatus());
  ASSERT_EQ(file.Write("12345"), absl::OkStatus());
  ASSERT_EQ(file.Write(""), absl::OkStatus());
  EXPECT_EQ(file.size(), 5u);  // still in the buffer
  ASSERT_EQ(file.Flush(), absl::OkStatus());
  EXPECT_EQ(file.size(), 5u);
}

TEST(AtomicFileTest, BytesOfEveryValueAndEmptyFiles) {
  const TempDir dir;
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  ASSERT_EQ(WriteFileAtomically(dir.PathOf("bytes"), bytes), absl::OkStatus());
  EXPECT_EQ(dir.Read("bytes"), bytes);
  ASSERT_EQ(WriteFileAtomically(dir.PathOf("empty"), ""), absl::OkStatus());
  EXPECT_TRUE(dir.Has("empty"));
  EXPECT_EQ(dir.Read("empty"), "");
}

TEST(AtomicFileTest, AnErrorNamesThePathAndSticks) {
  const TempDir dir;
  AtomicFile file;
  const absl::Status expected = absl::InvalidArgumentError(absl::StrCat(
      dir.PathOf("none/a"), ".tmp: cannot create the file: No such file or directory"));
  EXPECT_EQ(file.Open(dir.PathOf("none/a")), expected);
  EXPECT_FALSE(file.open());
  EXPECT_EQ(file.Write("x"), expected);
  EXPECT_EQ(file.Flush(), expected);
  EXPECT_EQ(file.Commit(), expected);
  EXPECT_EQ(WriteFileAtomically(dir.PathOf("none/a"), "x"), expected);
  EXPECT_TRUE(dir.List(".").empty());
}

TEST(AtomicFileTest, ACommitThatFailsLeavesNoTemporary) {
  const TempDir dir;
  std::filesystem::create_directory(dir.PathOf("a"));
  dir.Write("a/inside", "");
  EXPECT_EQ(WriteFileAtomically(dir.PathOf("a"), "x"),
            absl::InvalidArgumentError(absl::StrCat(dir.PathOf("a"), ".tmp: cannot rename to ",
                                                    dir.PathOf("a"), ": Is a directory")));
  EXPECT_EQ(dir.List("."), Names{"a"});
}

TEST(AtomicFileTest, DevicesAndPipesAreNotReplaced) {
  const TempDir dir;
  std::filesystem::create_symlink("/dev/null", dir.PathOf("a"));
  EXPECT_EQ(WriteFileAtomically(dir.PathOf("a"), "x"),
            absl::InvalidArgumentError(
                absl::StrCat(dir.PathOf("a"), ": cannot write: neither a file nor a new name")));
  EXPECT_EQ(dir.List("."), Names{"a"});
  EXPECT_TRUE(std::filesystem::is_symlink(dir.PathOf("a")));
}

TEST(AtomicFileTest, AFullDiskIsAnError) {
  // Linux: every write to this device fails as on a full disk. A link makes it the temporary.
  const std::string full = "/dev/full";
  if (!std::filesystem::exists(full)) GTEST_SKIP() << "there is no /dev/full";
  const TempDir dir;
  std::filesystem::create_symlink(full, dir.PathOf("a.tmp"));
  AtomicFile file;
  ASSERT_EQ(file.Open(dir.PathOf("a")), absl::OkStatus());
  (void)file.Write("x");
  const absl::Status flushed = file.Flush();
  EXPECT_EQ(flushed.message(),
            absl::StrCat(dir.PathOf("a"), ".tmp: cannot write: No space left on device"));
  EXPECT_EQ(flushed.code(), absl::StatusCode::kUnavailable);  // not the user's mistake
  EXPECT_EQ(file.Commit(), flushed);
  EXPECT_FALSE(dir.Has("a"));
}

TEST(AtomicFileTest, FinishedFilesWaitForTheirNames) {
  const TempDir dir;
  dir.Write("a", "old");
  {
    AtomicFile file;
    ASSERT_EQ(file.Open(dir.PathOf("a")), absl::OkStatus());
    ASSERT_EQ(file.Write("new"), absl::OkStatus());
    ASSERT_EQ(file.Finish(), absl::OkStatus());
    EXPECT_FALSE(file.open());
    EXPECT_EQ(dir.Read("a"), "old");
    EXPECT_EQ(dir.Read("a.tmp"), "new");
    ASSERT_EQ(file.Commit(), absl::OkStatus());
  }
  EXPECT_EQ(dir.List("."), Names{"a"});
  EXPECT_EQ(dir.Read("a"), "new");
  {
    AtomicFile file;
    ASSERT_EQ(file.Open(dir.PathOf("a")), absl::OkStatus());
    ASSERT_EQ(file.Finish(), absl::OkStatus());
  }
  EXPECT_EQ(dir.List("."), Names{"a"});
  EXPECT_EQ(dir.Read("a"), "new");
}

TEST(AtomicFileTest, FilesThatBelongTogetherAppearTogether) {
  const TempDir dir;
  dir.Write("a", "old");
  EXPECT_EQ(WriteFilesAtomically({{dir.PathOf("a"), "new"}, {dir.PathOf("none/b"), "new"}}),
            absl::InvalidArgumentError(absl::StrCat(
                dir.PathOf("none/b"), ".tmp: cannot create the file: No such file or directory")));
  EXPECT_EQ(dir.List("."), Names{"a"});
  EXPECT_EQ(dir.Read("a"), "old");
  EXPECT_EQ(WriteFilesAtomically({{dir.PathOf("a"), "new"}, {dir.PathOf("b"), "too"}}),
            absl::OkStatus());
  EXPECT_EQ(dir.List("."), (Names{"a", "b"}));
  EXPECT_EQ(absl::StrCat(dir.Read("a"), dir.Read("b")), "newtoo");
}

}  // namespace atomic_file_test
}  // namespace drasim
