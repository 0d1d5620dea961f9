#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "tests/testing/shared_data.h"
#include "tests/traces/fetch_fixture.h"
#include "traces/fetch.h"

namespace drasim {
namespace fetch_mirror_test {

namespace fs = std::filesystem;

void WriteGz(const std::string& path, const std::string& content) {
  fs::create_directories(fs::path(path).parent_path());
  gzFile out = gzopen(path.c_str(), "wb");
  DRASIM_CHECK(out != nullptr);
  DRASIM_CHECK_EQ(gzwrite(out, content.data(), static_cast<unsigned int>(content.size())),
                  static_cast<int>(content.size()));
  DRASIM_CHECK_EQ(gzclose(out), Z_OK);
}

using FetchMirrorTest = FetchTest;
using TraceCatalogueTest = FetchTest;

TEST_F(FetchMirrorTest, TakesPlainAndPackedFilesUpToTwoFoldersDown) {
  Add("plain.csv", Noise(1, 200000));
  Add("deep.csv", Noise(2, 3000));
  Add("packed.csv", Noise(3, 200000));
  WriteAll(root_ + "/mirror/plain.csv", Noise(1, 200000));
  WriteAll(root_ + "/mirror/x/y/deep.csv", Noise(2, 3000));
  WriteGz(root_ + "/mirror/x/packed.csv.gz", Noise(3, 200000));
  const absl::Status status = FetchTrace(MirrorOptions());
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(Listing(), std::vector<std::string>({"deep.csv", "packed.csv", "plain.csv"}));
  EXPECT_TRUE(ReadAll(out_ + "/plain.csv") == Noise(1, 200000));
  EXPECT_TRUE(ReadAll(out_ + "/deep.csv") == Noise(2, 3000));
  EXPECT_TRUE(ReadAll(out_ + "/packed.csv") == Noise(3, 200000));
  EXPECT_EQ(Count(FetchStep::kDone), 3u);
}

TEST_F(FetchMirrorTest, DoesNotLookThreeFoldersDown) {
  Add("a.csv", "abc");
  WriteAll(root_ + "/mirror/x/y/z/a.csv", "abc");
  EXPECT_EQ(FetchTrace(MirrorOptions()),
            absl::NotFoundError(absl::StrCat("mirror ", root_,
                                             "/mirror has no file a.csv or a.csv.gz, neither "
                                             "directly nor up to 2 folders below")));
  EXPECT_TRUE(Listing().empty());
}

TEST_F(FetchMirrorTest, KeepsAFilePackedWhoseOriginalIsPacked) {
  WriteGz(root_ + "/mirror/log.gz", "some text");
  const std::string packed = ReadAll(root_ + "/mirror/log.gz");
  Add("log.gz", packed);
  const absl::Status status = FetchTrace(MirrorOptions());
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(ReadAll(out_ + "/log.gz") == packed);
}

TEST_F(FetchMirrorTest, TriesTheNextCopyWhenOneIsWrong) {
  Add("a.csv", "abc");
  WriteAll(root_ + "/mirror/1/a.csv", "abd");
  WriteAll(root_ + "/mirror/2/a.csv", "ab");
  WriteGz(root_ + "/mirror/1/a.csv.gz", "abc");
  ExpectFetched(MirrorOptions(), "abc");
}

TEST_F(FetchMirrorTest, LostBytesAreTheMachinesFault) {
  const std::string content = Noise(5, 100000);
  Add("a.csv", content);
  WriteAll(root_ + "/mirror/a.csv", content);
  ExpectLosesBytes(MirrorOptions());
  EXPECT_TRUE(Listing().empty());
  ExpectFetched(MirrorOptions(), content);
}

TEST_F(FetchMirrorTest, WrongBytesNameBothHashes) {
  Add("a.csv", "abc");
  WriteAll(root_ + "/mirror/a.csv", "abd");
  EXPECT_EQ(FetchTrace(MirrorOptions()),
            absl::DataLossError(absl::StrCat(
                root_, "/mirror/a.csv is not the file of the catalogue: expected sha256 ",
                Sha256Of("abc"), " (3 bytes), got sha256 ", Sha256Of("abd"), " (3 bytes)")));
  EXPECT_TRUE(Listing().empty());
}

TEST_F(FetchMirrorTest, ATruncatedGzipFileIsAnError) {
  const std::string content = Noise(4, 100000);
  Add("a.csv", content);
  const std::string path = root_ + "/mirror/a.csv.gz";
  WriteGz(path, content);
  const std::string packed = ReadAll(path);
  WriteAll(path, packed.substr(0, packed.size() / 2));
  EXPECT_EQ(FetchTrace(MirrorOptions()),
            absl::DataLossError(absl::StrCat(path, " is a damaged or incomplete gzip file")));
  EXPECT_TRUE(Listing().empty());
}

TEST_F(FetchMirrorTest, LeavesGoodFilesAloneEvenWhenTheMirrorLacksThem) {
  Add("a.csv", "abc");
  WriteAll(out_ + "/a.csv", "abc");
  fs::create_directories(root_ + "/mirror");
  ExpectFetched(MirrorOptions(), "abc");
  EXPECT_EQ(Count(FetchStep::kAlreadyThere), 1u);
  EXPECT_EQ(seen_.size(), 1u);
}

TEST_F(FetchMirrorTest, QuietNeverCallsProgress) {
  Add("a.csv", "abc");
  WriteAll(root_ + "/mirror/a.csv", "abc");
  FetchOptions options = MirrorOptions();
  options.quiet = true;
  ExpectFetched(options, "abc");
  EXPECT_TRUE(seen_.empty());
}

TEST_F(TraceCatalogueTest, UnknownTraceNamesTheNearest) {
  Add("a.csv", "abc");
  FetchOptions options = Options("");
  options.trace = "dmeo";
  EXPECT_EQ(FetchTrace(options),
            absl::InvalidArgumentError(
                "unknown trace 'dmeo', did you mean 'demo'? (known traces: demo)"));
  options.trace = "zzzz";
  EXPECT_EQ(FetchTrace(options),
            absl::InvalidArgumentError("unknown trace 'zzzz' (known traces: demo)"));
}

TEST_F(TraceCatalogueTest, ReadsRowsInOrderAndGroupsThemByTrace) {
  const std::string sha = Sha256Of("abc");
  const absl::StatusOr<std::vector<TraceSet>> sets = ParseTraceCatalogue(
      absl::StrCat("# a comment, with commas\n\ntrace,file,url,sha256,bytes,licence\r\n",  //
                   "b,1.csv,https://h/1,", sha, ",7,MIT\r\n",                              //
                   "a,1.csv,http://h/2,", sha, ",8,\n",                                    //
                   "b,2.csv,https://h/3,", sha, ",9,none"));
  ASSERT_TRUE(sets.ok()) << sets.status();
  ASSERT_EQ(sets->size(), 2u);
  EXPECT_EQ((*sets)[0].trace, "b");
  EXPECT_EQ((*sets)[0].total_bytes, 16);
  ASSERT_EQ((*sets)[0].files.size(), 2u);
  EXPECT_EQ((*sets)[0].files[1].file, "2.csv");
  EXPECT_EQ((*sets)[0].files[1].url, "https://h/3");
  EXPECT_EQ((*sets)[0].files[1].sha256, sha);
  EXPECT_EQ((*sets)[0].files[1].bytes, 9);
  EXPECT_EQ((*sets)[0].files[1].licence, "none");
  EXPECT_EQ((*sets)[1].trace, "a");
  EXPECT_EQ((*sets)[1].files[0].licence, "");
}

TEST_F(TraceCatalogueTest, ErrorsNameTheLine) {
  const std::string sha = Sha256Of("abc");
  const std::string good = absl::StrCat("t,f,https://h/p,", sha, ",3,\n");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"t,f\n", "line 2: expected 6 fields, found 2"},
      {absl::StrCat(",f,https://h/p,", sha, ",3,\n"), "line 2: the trace has no name"},
      {absl::StrCat("t,../f,https://h/p,", sha, ",3,\n"),
       "line 2: file '../f' is not a plain file name"},
      {absl::StrCat("t,..,https://h/p,", sha, ",3,\n"),
       "line 2: file '..' is not a plain file name"},
      {absl::StrCat("t,f,ftp://h/p,", sha, ",3,\n"),
       "line 2: url 'ftp://h/p' is not an http or https address with a path"},
      {absl::StrCat("t,f,https://h,", sha, ",3,\n"),
       "line 2: url 'https://h' is not an http or https address with a path"},
      {"t,f,https://h/p,ABC,3,\n", "line 2: sha256 'ABC' is not 64 lower-case hexadecimal digits"},
      {absl::StrCat("t,f,https://h/p,", sha, ",0,\n"), "line 2: bytes '0' is not a number above 0"},
      {absl::StrCat(good, "\n", good), "line 4: trace t has a second file f"},
  };
  for (const auto& [rows, message] : cases) {
    EXPECT_EQ(ParseTraceCatalogue("trace,file,url,sha256,bytes,licence\n" + rows).status(),
              absl::InvalidArgumentError("trace catalogue, " + message));
  }
  EXPECT_EQ(ParseTraceCatalogue(good).status(),
            absl::InvalidArgumentError("trace catalogue, line 1: expected the header "
                                       "'trace,file,url,sha256,bytes,licence'"));
  EXPECT_EQ(ParseTraceCatalogue("trace,file,url,sha256,bytes,licence\n").status(),
            absl::InvalidArgumentError("the trace catalogue lists no files"));
}

TEST_F(TraceCatalogueTest, TheEmbeddedOneIsPinnedAndHasAllOfOpenb) {
  const std::vector<TraceSet> sets = ListTraces();
  std::vector<std::string> names;
  const std::string prefix = "https://raw.githubusercontent.com/";
  for (const TraceSet& set : sets) {
    names.push_back(set.trace);
    for (const CatalogueFile& file : set.files) {
      ASSERT_TRUE(absl::StartsWith(file.url, prefix)) << file.url;
      // owner/repository/commit/path: a branch name would let the bytes change under the hash.
      const size_t owner_end = file.url.find('/', prefix.size());
      const size_t commit = file.url.find('/', owner_end + 1) + 1;
      EXPECT_EQ(file.url.find_first_not_of("0123456789abcdef", commit), commit + 40) << file.url;
      EXPECT_EQ(file.url.find(' '), std::string::npos) << file.url;
      EXPECT_FALSE(file.licence.empty()) << file.file;
    }
  }
  EXPECT_EQ(names,
            std::vector<std::string>({"openb", "openb-yaml", "alibaba-dlrm", "alibaba-spot",
                                      "alibaba-spot-derived", "alibaba-pai", "alibaba-lingjun",
                                      "alibaba-genai", "philly", "helios", "acme", "chronus", "swf",
                                      "google", "simkube", "batsim"}));
  const TraceSet& openb = sets[0];
  EXPECT_EQ(openb.files.size(), 26u);
  EXPECT_EQ(openb.total_bytes, 12838024);
  EXPECT_EQ(openb.files[0].file, "openb_node_list_all_node.csv");
  EXPECT_EQ(openb.files[0].bytes, 52287);
  size_t pod_lists = 0;
  for (const CatalogueFile& file : openb.files) {
    if (absl::StartsWith(file.file, "openb_pod_list_")) ++pod_lists;
  }
  EXPECT_EQ(pod_lists, 24u);
}

// The catalogue against the trace files themselves, where a copy of them is at hand.
TEST_F(TraceCatalogueTest, TheEmbeddedOneMatchesTheFiles) {
  DRASIM_NEEDS_SHARED_DATA("traces/MANIFEST.csv");
  const std::string shared = SharedFolder();
  for (const TraceSet& set : ListTraces()) {
    FetchOptions options;
    options.trace = set.trace;
    options.out_dir = root_ + "/" + set.trace;
    options.mirror = absl::StrCat(shared, "/traces");
    const absl::Status status = FetchTrace(options);
    EXPECT_TRUE(status.ok()) << set.trace << ": " << status;
    for (const CatalogueFile& file : set.files) {
      EXPECT_EQ(fs::file_size(options.out_dir + "/" + file.file),
                static_cast<std::uintmax_t>(file.bytes));
    }
  }
}

}  // namespace fetch_mirror_test
}  // namespace drasim
