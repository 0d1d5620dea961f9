// One libcurl easy handle, with the options that all requests share.
#ifndef DRASIM_TRACES_CURL_HANDLE_H_
#define DRASIM_TRACES_CURL_HANDLE_H_

#include <array>

namespace drasim {

// Requests to one host share a connection. Not thread-safe.
class CurlHandle {
 public:
  CurlHandle();
  ~CurlHandle();
  CurlHandle(const CurlHandle&) = delete;
  CurlHandle& operator=(const CurlHandle&) = delete;

  // Forgets the options of the last request, except for open connections, and sets: http and https
  // only, no signals, our user agent, errors to error().
  void Reset();
  void* get() const { return handle_; }  // CURL*, which libcurl defines as void*
  // libcurl's words for the last error; empty: it has none of its own.
  const char* error() const { return error_.data(); }

 private:
  void* handle_;
  std::array<char, 256> error_{};  // CURL_ERROR_SIZE
};

}  // namespace drasim

#endif  // DRASIM_TRACES_CURL_HANDLE_H_
