#include "traces/fetch.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "tests/traces/fetch_fixture.h"

namespace drasim {
namespace fetch_test {

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

}  // namespace fetch_test
}  // namespace drasim
