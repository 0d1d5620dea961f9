#include "traces/curl_handle.h"

#include <curl/curl.h>

#include "model/check.h"

namespace drasim {

CurlHandle::CurlHandle() {
  static_assert(CURL_ERROR_SIZE <= 256);
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  DRASIM_CHECK_EQ(initialised, CURLE_OK);
  handle_ = curl_easy_init();
  DRASIM_CHECK(handle_ != nullptr);
}

CurlHandle::~CurlHandle() { curl_easy_cleanup(handle_); }

void CurlHandle::Reset() {
  curl_easy_reset(handle_);
  error_[0] = '\0';
  curl_easy_setopt(handle_, CURLOPT_ERRORBUFFER, error_.data());
  curl_easy_setopt(handle_, CURLOPT_USERAGENT, "drasim");
  curl_easy_setopt(handle_, CURLOPT_PROTOCOLS_STR, "http,https");
  // A proxy's answer to CONNECT is not the server's.
  curl_easy_setopt(handle_, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(handle_, CURLOPT_NOSIGNAL, 1L);
}

}  // namespace drasim
