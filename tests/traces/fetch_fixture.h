// Fixture of the tests of traces/fetch.h: a folder of their own, a catalogue of one trace ("demo"),
// and file helpers.
#ifndef DRASIM_TESTS_TRACES_FETCH_FIXTURE_H_
#define DRASIM_TESTS_TRACES_FETCH_FIXTURE_H_

#include <openssl/evp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "traces/fetch.h"

namespace drasim {

// A limit on the size of the files that this process writes: a full disk, without filling one.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(signal(SIGXFSZ, SIG_IGN)) {
    DRASIM_CHECK_EQ(getrlimit(RLIMIT_FSIZE, &before_), 0);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    DRASIM_CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~FileSizeLimit() {
    DRASIM_CHECK_EQ(setrlimit(RLIMIT_FSIZE, &before_), 0);
    signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*const handler_)(int);
  rlimit before_{};
};

class FetchTest : public ::testing::Test {
 protected:
  struct Seen {
    FetchStep step;
    std::string file;
    int64_t file_done_bytes;
    int64_t trace_done_bytes;
    std::string note;
  };

  // Bytes that do not compress.
  static std::string Noise(uint32_t seed, size_t size) {
    std::string bytes;
    for (size_t i = 0; i < size; ++i) {
      seed = seed * 1664525u + 1013904223u;
      bytes.push_back(static_cast<char>(seed >> 24));
    }
    return bytes;
  }

  static std::string Sha256Of(const std::string& content) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    DRASIM_CHECK_EQ(
        EVP_Digest(content.data(), content.size(), digest, &size, EVP_sha256(), nullptr), 1);
    return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), size));
  }

  static std::string ReadAll(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }

  static void WriteAll(const std::string& path, const std::string& content) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream out(path, std::ios::binary);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    DRASIM_CHECK(out.good());
  }

  void SetUp() override {
    setenv("no_proxy", "*", 1);  // a proxy of the machine must not stand between us and 127.0.0.1
    root_ = ::testing::TempDir() + "/drasim_fetch_XXXXXX";
    ASSERT_NE(mkdtemp(root_.data()), nullptr);
    out_ = root_ + "/out";
    part_ = out_ + "/a.csv.part";
  }

  void TearDown() override { std::filesystem::remove_all(root_); }

  void Add(const std::string& file, const std::string& content) {
    absl::StrAppend(&catalogue_, "demo,", file, ",https://example.org/files/", file, ",",
                    Sha256Of(content), ",", content.size(), ",none\n");
  }

  FetchOptions Options(const std::string& base_url) {
    FetchOptions options;
    options.trace = "demo";
    options.out_dir = out_;
    options.base_url_override = base_url;
    options.retry_delay_ms = 0;
    options.catalogue = catalogue_;
    options.progress = [this](const FetchProgress& p) {
      seen_.push_back(Seen{p.step, std::string(p.file), p.file_done_bytes, p.trace_done_bytes,
                           std::string(p.note)});
    };
    return options;
  }

  FetchOptions MirrorOptions() {
    FetchOptions options = Options("");
    options.mirror = root_ + "/mirror";
    return options;
  }

  size_t Count(FetchStep step) const {
    size_t count = 0;
    for (const Seen& seen : seen_) {
      if (seen.step == step) ++count;
    }
    return count;
  }

  // Names in the output folder, sorted.
  std::vector<std::string> Listing() const {
    std::vector<std::string> names;
    if (!std::filesystem::exists(out_)) return names;
    for (const auto& entry : std::filesystem::directory_iterator(out_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  // Bytes that the disk does not take are the machine's fault, not the user's.
  void ExpectLosesBytes(const FetchOptions& options) {
    const FileSizeLimit limit(4096);
    EXPECT_EQ(FetchTrace(options),
              absl::UnavailableError(absl::StrCat("cannot write ", part_, ": File too large")));
  }

  // Fetches "a.csv" and expects its content and nothing else in the folder.
  void ExpectFetched(const FetchOptions& options, const std::string& content) {
    const absl::Status status = FetchTrace(options);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(Listing(), std::vector<std::string>({"a.csv"}));
    EXPECT_TRUE(ReadAll(out_ + "/a.csv") == content);
  }

  std::string root_;
  std::string out_;
  std::string part_;
  std::string catalogue_ = "trace,file,url,sha256,bytes,licence\n";
  std::vector<Seen> seen_;
};

}  // namespace drasim

#endif  // DRASIM_TESTS_TRACES_FETCH_FIXTURE_H_
