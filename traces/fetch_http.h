// One HTTP GET, from a given byte to the end, into a file: the network half of traces/fetch.h.
//
// RFC 9110 section 14 (range requests) over libcurl's easy interface. This part moves bytes and
// says what an answer means; retries, hashes and final names are the caller's.
#ifndef DRASIM_TRACES_FETCH_HTTP_H_
#define DRASIM_TRACES_FETCH_HTTP_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "traces/curl_handle.h"

namespace drasim {

struct RangeRequest {
  std::string url;
  // The body goes to this file as it arrives; nothing touches it before that.
  std::string path;
  // First byte wanted, which is the size of the file at `path`; 0 asks for the whole.
  int64_t offset = 0;
  // Size of the whole. A server that sends more is stopped.
  int64_t expected_bytes = 0;
  // Told the size of the file at `path` as it grows. Not empty.
  std::function<void(int64_t size)> on_bytes;
};

enum class RangeOutcome {
  kComplete,   // the server has sent all it has, not necessarily what was expected
  kBrokeOff,   // trying again may help; bytes that have arrived are in the file
  kStartOver,  // the file's bytes are useless with this server: delete it and ask for the whole
  kRefused,    // trying again will not help: no such file (NotFound), or no such host (Unavailable)
  // DataLoss: the server sends more than expected. Unavailable: the file does not take the bytes.
  // Others: the file cannot be opened.
  kFailed,
};

struct RangeResult {
  RangeOutcome outcome = RangeOutcome::kComplete;
  // Ok exactly when kComplete. A full sentence when kFailed, otherwise the bare cause.
  absl::Status why;
  // The server began to send the whole, so nothing of the old file is left.
  bool from_scratch = false;
};

// Requests to one host share a connection. Not thread-safe.
class RangeClient {
 public:
  // Blocks: at most 15 s to connect, then until done or below 100 bytes/s for 30 s. Follows at most
  // 5 redirects.
  RangeResult Get(const RangeRequest& request);

 private:
  CurlHandle handle_;
  // A host that has never answered is more likely out of reach than busy: not worth a retry.
  bool host_answered_ = false;
};

}  // namespace drasim

#endif  // DRASIM_TRACES_FETCH_HTTP_H_
