#include "sim/extender/http_channel.h"

#include <curl/curl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "model/text/utf8.h"

namespace drasim {
namespace {

size_t OnAnswer(char* data, size_t size, size_t count, void* user) {
  static_cast<std::string*>(user)->append(data, size * count);
  return size * count;
}

// A setting of the tlsConfig: a file, or contents that win over it. libcurl copies both.
void SetPem(CURL* handle, CURLoption file_option, const std::string& file, CURLoption data_option,
            const std::string& base64) {
  std::string data;
  if (!base64.empty() && absl::Base64Unescape(base64, &data)) {
    curl_blob blob{data.data(), data.size(), CURL_BLOB_COPY};
    curl_easy_setopt(handle, data_option, &blob);
  } else if (!file.empty()) {
    curl_easy_setopt(handle, file_option, file.c_str());
  }
}

void SetTls(CURL* handle, const ExtenderSpec& extender) {
  const ExtenderSpec::Tls& tls = extender.tls;
  const bool has_authority = !tls.ca_file.empty() || !tls.ca_data.empty();
  if (tls.insecure || (extender.enable_https && !has_authority)) {
    curl_easy_setopt(handle, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(handle, CURLOPT_SSL_VERIFYHOST, 0L);
  }
  SetPem(handle, CURLOPT_CAINFO, tls.ca_file, CURLOPT_CAINFO_BLOB, tls.ca_data);
  SetPem(handle, CURLOPT_SSLCERT, tls.cert_file, CURLOPT_SSLCERT_BLOB, tls.cert_data);
  SetPem(handle, CURLOPT_SSLKEY, tls.key_file, CURLOPT_SSLKEY_BLOB, tls.key_data);
}

// As in Go's decoder: bytes that are no UTF-8 become U+FFFD.
std::string ValidUtf8(std::string text) {
  if (IsUtf8(text)) return text;
  std::string valid;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    char32_t code_point = 0;
    if (DecodeUtf8(text, &at, &code_point)) {
      valid.append(text, begin, at - begin);
    } else {
      valid += "\xEF\xBF\xBD";
      ++at;
    }
  }
  return valid;
}

struct FreeHeaders {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

}  // namespace

absl::Status CheckTls(const ExtenderSpec& extender) {
  const ExtenderSpec::Tls& tls = extender.tls;
  const auto error = [&](absl::string_view field, absl::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat("extender ", extender.url_prefix, ": tlsConfig.", field, " ", what));
  };
  if (!tls.server_name.empty()) return error("serverName", "is not supported");
  std::string ignored;
  if (!absl::Base64Unescape(tls.ca_data, &ignored)) return error("caData", "is not base64");
  if (!absl::Base64Unescape(tls.cert_data, &ignored)) return error("certData", "is not base64");
  if (!absl::Base64Unescape(tls.key_data, &ignored)) return error("keyData", "is not base64");
  return absl::OkStatus();
}

absl::StatusOr<std::string> HttpChannel::Call(const ExtenderSpec& extender, absl::string_view verb,
                                              absl::string_view body) {
  absl::string_view prefix = extender.url_prefix;
  while (absl::ConsumeSuffix(&prefix, "/")) {
  }
  const std::string url = absl::StrCat(prefix, "/", verb);
  std::unique_ptr<curl_slist, FreeHeaders> headers;
  // Without the second, libcurl asks for leave before it sends a long body.
  for (const char* header : {"Content-Type: application/json", "Expect:"}) {
    headers.reset(curl_slist_append(headers.release(), header));
  }
  std::string answer;
  handle_.Reset();
  CURL* const handle = handle_.get();
  curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  curl_easy_setopt(handle, CURLOPT_PROXY, "");
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl_easy_setopt(handle, CURLOPT_POSTFIELDS, body.data());
  constexpr int64_t kMillisecondNs = 1'000'000;
  const int64_t timeout_ms = std::max<int64_t>(extender.http_timeout.ns() / kMillisecondNs, 1);
  // long: what libcurl's variadic setter reads.
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout_ms));
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &OnAnswer);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, static_cast<void*>(&answer));
  SetTls(handle, extender);
  const CURLcode code = curl_easy_perform(handle);
  if (code != CURLE_OK) {
    // Not error(), which tells addresses and measured times.
    return absl::UnavailableError(absl::StrCat("Post \"", url, "\": ", curl_easy_strerror(code)));
  }
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  if (status != 200) {
    return absl::UnavailableError(
        absl::StrCat("failed ", verb, " with extender at URL ", url, ", code ", status));
  }
  return ValidUtf8(std::move(answer));
}

}  // namespace drasim
