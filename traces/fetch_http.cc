#include "traces/fetch_http.h"

#include <curl/curl.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "traces/file_ptr.h"

namespace drasim {
namespace {

// long: what libcurl's variadic setter reads.
constexpr long kConnectTimeoutS = 15;
constexpr long kLowSpeedBytesPerS = 100;
constexpr long kLowSpeedS = 30;
constexpr long kMaxRedirects = 5;

// Why a callback of ours ended a transfer.
enum class Abort { kNone, kOpenFailed, kWriteFailed, kTooLong, kWrongRange };

// A request and the state of its answer.
struct Exchange {
  const RangeRequest* request = nullptr;
  CURLcode code = CURLE_OK;
  std::string message;        // libcurl's, when code is not CURLE_OK
  int status = 0;             // of the last header block; 0 when no header arrived
  int64_t range_start = -1;   // of its Content-Range; -1 when there is none
  bool length_known = false;  // the server said how long its answer is, and libcurl has all of it
  Abort abort = Abort::kNone;
  int write_errno = 0;
  bool from_scratch = false;  // the file was emptied for a whole body
  int64_t size = 0;           // of the file at request->path, once the body has begun
  FilePtr file;
};

// Opens the file when the body begins, since only the status says whether to append or to start
// over.
bool BeginBody(Exchange* exchange) {
  const bool append = exchange->status == 206;
  if (append && exchange->range_start != exchange->request->offset) {
    exchange->abort = Abort::kWrongRange;
    return false;
  }
  exchange->size = append ? exchange->request->offset : 0;
  exchange->file.reset(std::fopen(exchange->request->path.c_str(), append ? "ab" : "wb"));
  if (exchange->file != nullptr) {
    exchange->from_scratch = !append;
    return true;
  }
  exchange->abort = Abort::kOpenFailed;
  exchange->write_errno = errno;
  return false;
}

// libcurl's body callback; any return but size * count ends the transfer.
size_t OnBody(char* data, size_t size, size_t count, void* user) {
  auto* exchange = static_cast<Exchange*>(user);
  const size_t n = size * count;
  if (exchange->status != 200 && exchange->status != 206) return n;  // an error page
  if (exchange->file == nullptr && !BeginBody(exchange)) return 0;
  if (static_cast<int64_t>(n) > exchange->request->expected_bytes - exchange->size) {
    exchange->abort = Abort::kTooLong;
    return 0;
  }
  if (std::fwrite(data, 1, n, exchange->file.get()) != n) {
    exchange->abort = Abort::kWriteFailed;
    exchange->write_errno = errno;
    return 0;
  }
  exchange->size += static_cast<int64_t>(n);
  exchange->request->on_bytes(exchange->size);
  return n;
}

// "HTTP/1.1 206 Partial Content" -> 206; 0 when the line makes no sense.
int StatusIn(absl::string_view line) {
  const size_t space = line.find(' ');
  int status = 0;
  if (space == absl::string_view::npos) return 0;
  return absl::SimpleAtoi(line.substr(space + 1, 3), &status) ? status : 0;
}

// "bytes 100-199/200" -> 100; -1 when the value makes no sense.
int64_t RangeStartIn(absl::string_view value) {
  value = absl::StripAsciiWhitespace(value);
  int64_t start = -1;
  if (!absl::ConsumePrefix(&value, "bytes ")) return -1;
  return absl::SimpleAtoi(value.substr(0, value.find('-')), &start) ? start : -1;
}

// libcurl's header callback, called once per line.
size_t OnHeader(char* data, size_t size, size_t count, void* user) {
  auto* exchange = static_cast<Exchange*>(user);
  const absl::string_view line(data, size * count);
  constexpr absl::string_view kContentRange = "content-range:";
  if (absl::StartsWith(line, "HTTP/")) {
    // A further header block is the answer after a redirect or an interim answer, and it alone
    // counts.
    exchange->status = StatusIn(line);
    exchange->range_start = -1;
  } else if (absl::StartsWithIgnoreCase(line, kContentRange)) {
    exchange->range_start = RangeStartIn(line.substr(kContentRange.size()));
  }
  return size * count;
}

void SetOptions(CURL* handle, Exchange* exchange) {
  const RangeRequest& request = *exchange->request;
  // Not CURLOPT_RESUME_FROM_LARGE: with it libcurl itself rejects a 200 instead of handing over the
  // body.
  const std::string range = absl::StrCat(request.offset, "-");
  if (request.offset > 0) curl_easy_setopt(handle, CURLOPT_RANGE, range.c_str());
  curl_easy_setopt(handle, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(handle, CURLOPT_MAXREDIRS, kMaxRedirects);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, kConnectTimeoutS);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, kLowSpeedBytesPerS);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, kLowSpeedS);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &OnHeader);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, static_cast<void*>(exchange));
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &OnBody);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, static_cast<void*>(exchange));
}

// Whether another attempt may help.
bool MayPass(CURLcode code, bool host_answered) {
  switch (code) {
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return true;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
      return host_answered;
    default:
      return false;
  }
}

RangeResult Result(RangeOutcome outcome, absl::Status why) {
  RangeResult result;
  result.outcome = outcome;
  result.why = std::move(why);
  return result;
}

RangeResult JudgeAbort(const Exchange& exchange) {
  const RangeRequest& request = *exchange.request;
  if (exchange.abort == Abort::kWriteFailed) {
    return Result(RangeOutcome::kFailed, LostBytesError(exchange.write_errno, request.path));
  }
  if (exchange.abort == Abort::kOpenFailed) {
    return Result(
        RangeOutcome::kFailed,
        absl::ErrnoToStatus(exchange.write_errno, absl::StrCat("cannot write ", request.path)));
  }
  if (exchange.abort == Abort::kTooLong) {
    return Result(
        RangeOutcome::kFailed,
        absl::DataLossError(absl::StrCat(
            request.url, " is not the file of the catalogue: the server sends more than the ",
            request.expected_bytes, " bytes expected")));
  }
  return Result(request.offset > 0 ? RangeOutcome::kStartOver : RangeOutcome::kRefused,
                absl::UnavailableError("the server sent another part of the file than asked for"));
}

RangeResult JudgeStatus(const Exchange& exchange) {
  const int status = exchange.status;
  const RangeRequest& request = *exchange.request;
  if (status == 200 || status == 206) {
    if (exchange.length_known || exchange.size == request.expected_bytes) {
      return Result(RangeOutcome::kComplete, absl::OkStatus());
    }
    // Without a length, the end of the file and the end of the connection look the same.
    return Result(RangeOutcome::kBrokeOff,
                  absl::UnavailableError(absl::StrCat("the answer ended after ", exchange.size,
                                                      " of ", request.expected_bytes, " bytes")));
  }
  const std::string cause = absl::StrCat("the server answered with HTTP status ", status);
  if (status == 404 || status == 410) {
    return Result(RangeOutcome::kRefused, absl::NotFoundError(cause));
  }
  RangeOutcome outcome = RangeOutcome::kRefused;
  if (status == 416 && request.offset > 0) outcome = RangeOutcome::kStartOver;
  if (status == 408 || status == 429 || status >= 500) outcome = RangeOutcome::kBrokeOff;
  return Result(outcome, absl::UnavailableError(cause));
}

}  // namespace

RangeResult RangeClient::Get(const RangeRequest& request) {
  Exchange exchange;
  exchange.request = &request;
  handle_.Reset();
  SetOptions(handle_.get(), &exchange);
  exchange.code = curl_easy_perform(handle_.get());
  exchange.message = *handle_.error() != '\0' ? handle_.error() : curl_easy_strerror(exchange.code);
  curl_off_t length = -1;
  curl_easy_getinfo(handle_.get(), CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
  exchange.length_known = exchange.code == CURLE_OK && length >= 0;
  // An empty body calls nothing back, yet it replaces the old contents.
  if (exchange.code == CURLE_OK && exchange.status == 200 && exchange.file == nullptr) {
    BeginBody(&exchange);
  }
  if (exchange.file != nullptr && std::fclose(exchange.file.release()) != 0) {
    exchange.abort = Abort::kWriteFailed;
    exchange.write_errno = errno;
  }

  host_answered_ = host_answered_ || exchange.status != 0;
  RangeResult result;
  if (exchange.abort != Abort::kNone) {
    result = JudgeAbort(exchange);
  } else if (exchange.code != CURLE_OK) {
    result = Result(
        MayPass(exchange.code, host_answered_) ? RangeOutcome::kBrokeOff : RangeOutcome::kRefused,
        absl::UnavailableError(exchange.message));
  } else {
    result = JudgeStatus(exchange);
  }
  result.from_scratch = exchange.from_scratch;
  return result;
}

}  // namespace drasim
