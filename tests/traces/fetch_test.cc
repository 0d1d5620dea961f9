#include "traces/fetch.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "tests/testing/shared_data.h"

namespace drasim {
namespace fetch_test {

namespace fs = std::filesystem;

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
using FetchMirrorTest = FetchTest;
using TraceCatalogueTest = FetchTest;

// SHA-256 of "abc", the first example of FIPS 180-2 (appendix B.1).
constexpr char kSha256OfAbc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

struct Request {
  std::string path;
  int64_t range_start = -1;  // -1: no Range header
};

// An HTTP/1.1 server on a free port of 127.0.0.1: one connection at a time, one request for each.
class TestServer {
 public:
  // Returns all bytes to send for the n-th request (from 0), header included; then comes the close.
  using Handler = std::function<std::string(const Request& request, size_t n)>;

  explicit TestServer(Handler handler) : handler_(std::move(handler)) {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    DRASIM_CHECK(listener_ >= 0);
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    DRASIM_CHECK_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address_), sizeof(address_)), 0);
    socklen_t size = sizeof(address_);
    DRASIM_CHECK_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address_), &size), 0);
    DRASIM_CHECK_EQ(listen(listener_, 16), 0);
    thread_ = std::thread([this] { Serve(); });
  }

  ~TestServer() {
    stopping_ = true;
    // A last connection wakes the accept call.
    const int waker = socket(AF_INET, SOCK_STREAM, 0);
    DRASIM_CHECK_EQ(connect(waker, reinterpret_cast<sockaddr*>(&address_), sizeof(address_)), 0);
    thread_.join();
    close(waker);
    close(listener_);
  }

  std::string Url() const { return absl::StrCat("http://127.0.0.1:", ntohs(address_.sin_port)); }

  std::vector<Request> Requests() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return requests_;
  }

 private:
  void Serve() {
    for (;;) {
      const int connection = accept(listener_, nullptr, nullptr);
      DRASIM_CHECK(connection >= 0);
      if (stopping_) {
        close(connection);
        return;
      }
      const Request request = Receive(connection);
      size_t n = 0;
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        n = requests_.size();
        requests_.push_back(request);
      }
      Send(connection, handler_(request, n));
      close(connection);
    }
  }

  static Request Receive(int connection) {
    std::string text;
    char buffer[4096];
    while (!absl::StrContains(text, "\r\n\r\n")) {
      const ssize_t n = recv(connection, buffer, sizeof(buffer), 0);
      if (n <= 0) break;
      text.append(buffer, static_cast<size_t>(n));
    }
    Request request;
    const std::vector<std::string> words = absl::StrSplit(text, ' ');
    if (words.size() > 1) request.path = words[1];
    const std::string key = "Range: bytes=";
    const size_t at = text.find(key);
    if (at != std::string::npos) {
      const size_t begin = at + key.size();
      const std::string start = text.substr(begin, text.find('-', begin) - begin);
      DRASIM_CHECK(absl::SimpleAtoi(start, &request.range_start));
    }
    return request;
  }

  static void Send(int connection, const std::string& answer) {
    size_t sent = 0;
    while (sent < answer.size()) {
      const ssize_t n = send(connection, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return;  // the client has had enough
      sent += static_cast<size_t>(n);
    }
  }

  Handler handler_;
  int listener_ = -1;
  sockaddr_in address_{};
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;
  std::vector<Request> requests_;
  std::thread thread_;
};

std::string Answer(const std::string& status, const std::string& body,
                   const std::string& more_headers = "") {
  return absl::StrCat("HTTP/1.1 ", status, "\r\nConnection: close\r\nContent-Length: ", body.size(),
                      "\r\n", more_headers, "\r\n", body);
}

// A server that knows Range.
std::string Ranged(const std::string& content, const Request& request) {
  if (request.range_start < 0) return Answer("200 OK", content);
  return Answer("206 Partial Content", content.substr(static_cast<size_t>(request.range_start)),
                absl::StrCat("Content-Range: bytes ", request.range_start, "-", content.size() - 1,
                             "/", content.size(), "\r\n"));
}

std::string WithoutLast(const std::string& answer, size_t bytes) {
  return answer.substr(0, answer.size() - bytes);
}

std::vector<int64_t> RangeStarts(const TestServer& server) {
  std::vector<int64_t> starts;
  for (const Request& request : server.Requests()) starts.push_back(request.range_start);
  return starts;
}

// ---- Downloads ----

TEST_F(FetchTest, DownloadsEveryFileOfTheTrace) {
  const std::string big = Noise(1, 100000);
  absl::StrAppend(&catalogue_, "demo,abc.txt,http://example.org/x/abc.txt,", kSha256OfAbc, ",3,\n");
  Add("big.csv", big);
  TestServer server([&](const Request& request, size_t) {
    return Ranged(request.path == "/x/abc.txt" ? "abc" : big, request);
  });
  const absl::Status status = FetchTrace(Options(server.Url() + "/"));
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(Listing(), std::vector<std::string>({"abc.txt", "big.csv"}));
  EXPECT_EQ(ReadAll(out_ + "/abc.txt"), "abc");
  EXPECT_TRUE(ReadAll(out_ + "/big.csv") == big);
  ASSERT_EQ(server.Requests().size(), 2u);
  EXPECT_EQ(server.Requests()[0].path, "/x/abc.txt");
  EXPECT_EQ(server.Requests()[1].path, "/files/big.csv");
  EXPECT_EQ(RangeStarts(server), std::vector<int64_t>({-1, -1}));
  EXPECT_EQ(Count(FetchStep::kDone), 2u);
  EXPECT_EQ(Count(FetchStep::kRetry), 0u);
  EXPECT_EQ(seen_.front().file, "abc.txt");
  EXPECT_EQ(seen_.back().file_done_bytes, 100000);
  EXPECT_EQ(seen_.back().trace_done_bytes, 100003);
}

TEST_F(FetchTest, ResumesWhereTheConnectionBrokeOff) {
  const std::string content = Noise(2, 100000);
  Add("a.csv", content);
  TestServer server([&](const Request& request, size_t n) {
    const std::string answer = Ranged(content, request);
    return n == 0 ? WithoutLast(answer, 50000) : answer;
  });
  ExpectFetched(Options(server.Url()), content);
  EXPECT_EQ(RangeStarts(server), std::vector<int64_t>({-1, 50000}));
  ASSERT_EQ(Count(FetchStep::kRetry), 1u);
  for (const Seen& seen : seen_) {
    if (seen.step == FetchStep::kRetry) {
      EXPECT_EQ(seen.file_done_bytes, 50000);
      EXPECT_FALSE(seen.note.empty());
    }
  }
}

TEST_F(FetchTest, ResumesAfterTheDiskWasFull) {
  const std::string content = Noise(2, 100000);
  Add("a.csv", content);
  TestServer server([&](const Request& request, size_t) { return Ranged(content, request); });
  ExpectLosesBytes(Options(server.Url()));
  EXPECT_EQ(Listing(), std::vector<std::string>({"a.csv.part"}));
  EXPECT_EQ(Count(FetchStep::kRetry), 0u);
  ExpectFetched(Options(server.Url()), content);
}

TEST_F(FetchTest, ResumesWhenAnAnswerWithoutLengthEndsEarly) {
  const std::string content = Noise(3, 1000);
  Add("a.csv", content);
  TestServer server([&](const Request& request, size_t n) {
    if (n > 0) return Ranged(content, request);
    return "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + content.substr(0, 400);
  });
  ExpectFetched(Options(server.Url()), content);
  EXPECT_EQ(RangeStarts(server), std::vector<int64_t>({-1, 400}));
}

TEST_F(FetchTest, ResumesWhatAnEarlierRunLeft) {
  const std::string content = Noise(4, 3000);
  Add("a.csv", content);
  WriteAll(part_, content.substr(0, 1000));
  TestServer server([&](const Request& request, size_t) { return Ranged(content, request); });
  ExpectFetched(Options(server.Url()), content);
  EXPECT_EQ(RangeStarts(server), std::vector<int64_t>({1000}));
}

TEST_F(FetchTest, StartsOverWhenWhatAnEarlierRunLeftIsWrong) {
  const std::string content = Noise(5, 3000);
  Add("a.csv", content);
  WriteAll(part_, Noise(6, 1000));
  TestServer server([&](const Request& request, size_t) { return Ranged(content, request); });
  ExpectFetched(Options(server.Url()), content);
  EXPECT_EQ(RangeStarts(server), std::vector<int64_t>({1000, -1}));
  EXPECT_EQ(Count(FetchStep::kRetry), 1u);
}

TEST_F(FetchTest, StartsOverWhenTheServerIgnoresRange) {
  const std::string content = Noise(7, 3000);
  Add("a.csv", content);
  WriteAll(part_, Noise(8, 1000));
  TestServer server([&](const Request&, size_t) { return Answer("200 OK", content); });
  ExpectFetched(Options(server.Url()), content);
  EXPECT_EQ(RangeStarts(server), std::vector<int64_t>({1000}));
}

TEST_F(FetchTest, StartsOverWhenTheServerRefusesTheRange) {
  const std::string content = Noise(9, 3000);
  Add("a.csv", content);
  WriteAll(part_, content.substr(0, 1000));
  TestServer server([&](const Request& request, size_t) {
    if (request.range_start >= 0) return Answer("416 Range Not Satisfiable", "no such range");
    return Answer("200 OK", content);
  });
  FetchOptions options = Options(server.Url());
  options.retries = 0;  // starting over is not a retry
  ExpectFetched(options, content);
  EXPECT_EQ(RangeStarts(server), std::vector<int64_t>({1000, -1}));
}

TEST_F(FetchTest, StartsOverWhenTheServerSendsAnotherRange) {
  const std::string content = Noise(10, 3000);
  Add("a.csv", content);
  WriteAll(part_, content.substr(0, 1000));
  TestServer server([&](const Request& request, size_t) {
    Request shifted = request;
    if (shifted.range_start > 0) --shifted.range_start;
    return Ranged(content, shifted);
  });
  ExpectFetched(Options(server.Url()), content);
  EXPECT_EQ(RangeStarts(server), std::vector<int64_t>({1000, -1}));
}

TEST_F(FetchTest, UsesAWholePartFileWithoutAsking) {
  const std::string content = Noise(11, 3000);
  Add("a.csv", content);
  WriteAll(part_, content);
  TestServer server([&](const Request& request, size_t) { return Ranged(content, request); });
  ExpectFetched(Options(server.Url()), content);
  EXPECT_EQ(server.Requests().size(), 0u);
}

TEST_F(FetchTest, DropsAPartFileThatIsTooLong) {
  const std::string content = Noise(12, 3000);
  Add("a.csv", content);
  WriteAll(part_, content + "x");
  TestServer server([&](const Request& request, size_t) { return Ranged(content, request); });
  ExpectFetched(Options(server.Url()), content);
  EXPECT_EQ(RangeStarts(server), std::vector<int64_t>({-1}));
}

TEST_F(FetchTest, FollowsARedirectWithoutKeepingItsBody) {
  const std::string content = Noise(13, 3000);
  Add("a.csv", content);
  TestServer server([&](const Request& request, size_t n) {
    if (n == 0) return Answer("302 Found", "it has moved", "Location: /moved\r\n");
    return Ranged(content, request);
  });
  ExpectFetched(Options(server.Url()), content);
  ASSERT_EQ(server.Requests().size(), 2u);
  EXPECT_EQ(server.Requests()[1].path, "/moved");
}

TEST_F(FetchTest, RetriesABusyServerWithoutKeepingItsErrorPage) {
  const std::string content = Noise(14, 3000);
  Add("a.csv", content);
  TestServer server([&](const Request& request, size_t n) {
    return n < 2 ? Answer("503 Service Unavailable", "busy") : Ranged(content, request);
  });
  FetchOptions options = Options(server.Url());
  options.retries = 2;
  ExpectFetched(options, content);
  EXPECT_EQ(server.Requests().size(), 3u);
}

// ---- Failures ----

TEST_F(FetchTest, WrongBytesNameBothHashesAndLeaveNothing) {
  const std::string content = Noise(15, 3000);
  const std::string wrong = Noise(16, 3000);
  Add("a.csv", content);
  TestServer server([&](const Request& request, size_t) { return Ranged(wrong, request); });
  const absl::Status status = FetchTrace(Options(server.Url()));
  EXPECT_EQ(
      status,
      absl::DataLossError(absl::StrCat(
          server.Url(), "/files/a.csv is not the file of the catalogue: expected sha256 ",
          Sha256Of(content), " (3000 bytes), got sha256 ", Sha256Of(wrong), " (3000 bytes)")));
  EXPECT_EQ(server.Requests().size(), 1u);
  EXPECT_TRUE(Listing().empty());
}

TEST_F(FetchTest, WrongSizeIsAnError) {
  const std::string content = Noise(17, 3000);
  Add("a.csv", content);
  for (const size_t size : {size_t{0}, size_t{2999}, size_t{3001}, size_t{400000}}) {
    const std::string wrong = Noise(17, size);
    TestServer server([&](const Request& request, size_t) { return Ranged(wrong, request); });
    const absl::Status status = FetchTrace(Options(server.Url()));
    EXPECT_TRUE(absl::IsDataLoss(status)) << size << ": " << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "3000 bytes")) << status;
    EXPECT_EQ(server.Requests().size(), 1u);
    EXPECT_TRUE(Listing().empty());
  }
}

TEST_F(FetchTest, NotFoundIsNotRetriedAndSaysWhatToDo) {
  Add("a.csv", "abc");
  TestServer server([](const Request&, size_t) { return Answer("404 Not Found", "abc"); });
  const absl::Status status = FetchTrace(Options(server.Url()));
  EXPECT_EQ(status,
            absl::NotFoundError(absl::StrCat(
                "cannot download a.csv from ", server.Url(),
                "/files/a.csv: the server answered with HTTP status 404. Either use --mirror "
                "DIR with a folder that holds a.csv or a.csv.gz, or download the url by hand "
                "and save it as ",
                out_, "/a.csv")));
  EXPECT_EQ(server.Requests().size(), 1u);
  EXPECT_TRUE(Listing().empty());
}

TEST_F(FetchTest, RetriesAreBoundedAndThePartFileStays) {
  const std::string content = Noise(18, 3000);
  Add("a.csv", content);
  TestServer server([&](const Request& request, size_t n) {
    return n == 0 ? WithoutLast(Ranged(content, request), 2000) : std::string();
  });
  FetchOptions options = Options(server.Url());
  options.retries = 2;
  const absl::Status status = FetchTrace(options);
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "(3 attempts)")) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "The 1000 bytes in")) << status;
  EXPECT_EQ(RangeStarts(server), std::vector<int64_t>({-1, 1000, 1000}));
  EXPECT_TRUE(ReadAll(part_) == content.substr(0, 1000));
}

TEST_F(FetchTest, UnreachableHostIsNotRetriedAndSaysWhatToDo) {
  Add("a.csv", "abc");
  std::string url;
  {
    TestServer gone([](const Request&, size_t) { return std::string(); });
    url = gone.Url();
  }
  const absl::Status status = FetchTrace(Options(url));
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "--mirror DIR")) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), url + "/files/a.csv")) << status;
  EXPECT_FALSE(absl::StrContains(status.message(), "attempts")) << status;
  EXPECT_TRUE(seen_.empty());
}

TEST_F(FetchTest, BadOptionsAreRefused) {
  Add("a.csv", "abc");
  FetchOptions options = Options("ftp://127.0.0.1");
  EXPECT_TRUE(absl::IsInvalidArgument(FetchTrace(options)));
  options = Options("");
  options.out_dir = "";
  EXPECT_TRUE(absl::IsInvalidArgument(FetchTrace(options)));
  options = Options("");
  options.retries = -1;
  EXPECT_TRUE(absl::IsInvalidArgument(FetchTrace(options)));
  options = Options("");
  options.mirror = root_ + "/nowhere";
  EXPECT_TRUE(absl::IsInvalidArgument(FetchTrace(options)));
}

// ---- Files in place ----

TEST_F(FetchTest, LeavesAGoodFileAloneAndReplacesADamagedOne) {
  const std::string good = Noise(19, 3000);
  const std::string other = Noise(20, 500);
  Add("a.csv", good);
  Add("b.csv", other);
  WriteAll(out_ + "/a.csv", good);
  WriteAll(out_ + "/b.csv", Noise(21, 500));
  TestServer server([&](const Request& request, size_t) { return Ranged(other, request); });
  const absl::Status status = FetchTrace(Options(server.Url()));
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(server.Requests().size(), 1u);
  EXPECT_EQ(server.Requests()[0].path, "/files/b.csv");
  EXPECT_TRUE(ReadAll(out_ + "/b.csv") == other);
  EXPECT_EQ(seen_.front().step, FetchStep::kAlreadyThere);
  EXPECT_EQ(seen_.front().file_done_bytes, 3000);
}

void WriteGz(const std::string& path, const std::string& content) {
  fs::create_directories(fs::path(path).parent_path());
  gzFile out = gzopen(path.c_str(), "wb");
  DRASIM_CHECK(out != nullptr);
  DRASIM_CHECK_EQ(gzwrite(out, content.data(), static_cast<unsigned int>(content.size())),
                  static_cast<int>(content.size()));
  DRASIM_CHECK_EQ(gzclose(out), Z_OK);
}

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

}  // namespace fetch_test
}  // namespace drasim
