#include "traces/byte_source.h"

#include <cstddef>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/random.h"
#include "tests/testing/assert_ok.h"
#include "tests/traces/gzip_text.h"

namespace drasim {
namespace byte_source_test {

constexpr size_t kNoLimit = size_t{1} << 30;

std::string WriteFile(absl::string_view name, absl::string_view bytes) {
  std::string path = absl::StrCat(::testing::TempDir(), "/byte_source_", name);
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

// Text that does not compress to nothing.
std::string SomeText(size_t size) {
  Random random(3, "text");
  std::string text;
  while (text.size() < size) absl::StrAppend(&text, random.Below(100000), ",");
  text.resize(size);
  return text;
}

absl::StatusOr<std::string> All(absl::StatusOr<std::unique_ptr<ByteSource>> source) {
  if (!source.ok()) return source.status();
  return ReadAll(**source, kNoLimit);
}

absl::StatusOr<std::string> AllOf(absl::string_view bytes, const ByteSourceOptions& options = {}) {
  return All(OpenMemory("m", bytes, options));
}

// The sizes of all reads with room for 100 bytes.
std::vector<size_t> ReadSizes(absl::string_view bytes, const ByteSourceOptions& options) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenMemory("m", bytes, options);
  std::vector<size_t> sizes;
  char out[100];
  for (;;) {
    absl::StatusOr<size_t> count = (*source)->Read(out, sizeof(out));
    if (!count.ok() || *count == 0) return sizes;
    sizes.push_back(*count);
  }
}

TEST(ByteSourceTest, ReadsPlainAndGzipFilesWhateverTheirNames) {
  const std::string text = SomeText(300000);
  const std::string plain = WriteFile("plain.gz", text);
  const std::string packed = WriteFile("packed.csv", GzipText(text));
  for (const std::string& path : {plain, packed}) {
    ASSERT_OK_AND_ASSIGN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
    EXPECT_EQ(source->name(), path);
    ASSERT_OK_AND_ASSIGN(std::string all, ReadAll(*source, kNoLimit));
    EXPECT_TRUE(all == text) << path;
    char more;
    ASSERT_OK_AND_ASSIGN(size_t at_end, source->Read(&more, 1));
    EXPECT_EQ(at_end, 0u);
  }
}

TEST(ByteSourceTest, ReadsStandardInput) {
  const std::string text = SomeText(5000);
  const std::string path = WriteFile("stdin", GzipText(text));
  ASSERT_NE(std::freopen(path.c_str(), "rb", stdin), nullptr);
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<ByteSource> source, OpenByteSource("-"));
  EXPECT_EQ(source->name(), "<stdin>");
  EXPECT_EQ(*ReadAll(*source, kNoLimit), text);
}

TEST(ByteSourceTest, CutsReadsToTheSizesAskedFor) {
  ByteSourceOptions options;
  EXPECT_EQ(ReadSizes("abcdefgh", options), (std::vector<size_t>{8}));
  options.first_chunk_bytes = 3;
  EXPECT_EQ(ReadSizes("abcdefgh", options), (std::vector<size_t>{3, 5}));
  options.chunk_bytes = 2;
  EXPECT_EQ(ReadSizes("abcdefgh", options), (std::vector<size_t>{3, 2, 2, 1}));
  options.first_chunk_bytes = 0;
  EXPECT_EQ(ReadSizes("abcdefgh", options), (std::vector<size_t>{2, 2, 2, 2}));
  options.chunk_bytes = 1;
  EXPECT_EQ(ReadSizes("abc", options), (std::vector<size_t>{1, 1, 1}));
  EXPECT_EQ(ReadSizes(GzipText("abc"), options), (std::vector<size_t>{1, 1, 1}));
}

TEST(ByteSourceTest, EverySeamOfGzipGivesTheSameText) {
  const std::string text = SomeText(400);
  const std::string packed = GzipText(text);
  for (size_t seam = 1; seam <= packed.size(); ++seam) {
    ByteSourceOptions options;
    options.first_chunk_bytes = seam;
    EXPECT_EQ(*AllOf(packed, options), text) << seam;
    options.chunk_bytes = seam;
    EXPECT_EQ(*AllOf(packed, options), text) << seam;
  }
}

TEST(ByteSourceTest, NamesWhatIsWrongWithAPath) {
  const std::string missing = absl::StrCat(::testing::TempDir(), "/byte_source_missing");
  EXPECT_EQ(OpenByteSource(missing).status(),
            absl::NotFoundError(absl::StrCat(missing, ": there is no such file")));
  const std::string folder = ::testing::TempDir();
  EXPECT_EQ(OpenByteSource(folder).status(), absl::InvalidArgumentError(absl::StrCat(
                                                 folder, ": found a directory, expected a file")));
  const std::string empty = WriteFile("empty", "");
  EXPECT_EQ(
      OpenByteSource(empty).status(),
      absl::InvalidArgumentError(absl::StrCat(empty, ": found an empty file, expected some text")));
  EXPECT_EQ(OpenByteSource("").status(),
            absl::InvalidArgumentError("found an empty path, expected a file's"));
  EXPECT_EQ(OpenMemory("m", "").status(),
            absl::InvalidArgumentError("m: found an empty file, expected some text"));
}

TEST(ByteSourceTest, OneByteIsPlainText) {
  EXPECT_EQ(*AllOf("\x1f"), "\x1f");
  EXPECT_EQ(*AllOf("x"), "x");
}

TEST(ByteSourceTest, EveryTruncationOfGzipIsAnError) {
  const std::string packed = GzipText(SomeText(300));
  for (size_t size = 2; size < packed.size(); ++size) {
    EXPECT_EQ(AllOf(absl::string_view(packed).substr(0, size)).status(),
              absl::DataLossError("m: the gzip data ends too early: the file is cut short"))
        << size;
  }
}

TEST(ByteSourceTest, DamagedGzipIsAnErrorAfterTheGoodBytes) {
  const std::string text = SomeText(300);
  std::string packed = GzipText(text);
  // The checksum comes 8 bytes ahead of the end.
  packed[packed.size() - 8] = static_cast<char>(packed[packed.size() - 8] ^ 1);
  ASSERT_OK_AND_ASSIGN(std::unique_ptr<ByteSource> source, OpenMemory("m", packed));
  std::string out(1000, '\0');
  absl::StatusOr<size_t> count = source->Read(&out[0], out.size());
  ASSERT_TRUE(count.ok()) << count.status();
  EXPECT_EQ(out.substr(0, *count), text);
  for (int again = 0; again < 2; ++again) {
    count = source->Read(&out[0], out.size());
    EXPECT_EQ(count.status(),
              absl::DataLossError("m: the gzip data is damaged (incorrect data check)"));
  }
}

TEST(ByteSourceTest, ReadsSeveralMembersAndZeroPadding) {
  const std::string two = absl::StrCat(GzipText("one,"), GzipText("two"), std::string(700, '\0'));
  EXPECT_EQ(*AllOf(two), "one,two");
  ByteSourceOptions options;
  options.chunk_bytes = 1;
  EXPECT_EQ(*AllOf(two, options), "one,two");
  EXPECT_EQ(AllOf(absl::StrCat(GzipText("one"), "more")).status(),
            absl::DataLossError("m: the gzip data is followed by other data"));
}

TEST(ByteSourceTest, GzipOfNothingHasNoBytes) { EXPECT_EQ(*AllOf(GzipText("")), ""); }

TEST(ByteSourceTest, ReadAllHasALimit) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenMemory("m", "abcd");
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(*ReadAll(**source, 4), "abcd");
  source = OpenMemory("m", "abcde");
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(ReadAll(**source, 4).status(),
            absl::InvalidArgumentError("m: found more than 4 bytes, expected at most as many"));
}

}  // namespace byte_source_test
}  // namespace drasim
