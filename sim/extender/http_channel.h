// HttpChannel: asks extenders over HTTP or HTTPS, by libcurl.
#ifndef DRASIM_SIM_EXTENDER_HTTP_CHANNEL_H_
#define DRASIM_SIM_EXTENDER_HTTP_CHANNEL_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/extender/extender_channel.h"
#include "sim/scenario/kube_config.h"
#include "traces/curl_handle.h"

namespace drasim {

// Whether everything in the extender's tlsConfig can be carried out: not serverName, and contents
// only if they are base64. InvalidArgument otherwise.
absl::Status CheckTls(const ExtenderSpec& extender);

// POST to urlPrefix/verb, directly rather than through a proxy; any status but 200 is an error, as
// are redirections. Waits at most the extender's httpTimeout. Errors are in words that do not
// change from run to run.
class HttpChannel : public ExtenderChannel {
 public:
  absl::StatusOr<std::string> Call(const ExtenderSpec& extender, absl::string_view verb,
                                   absl::string_view body) override;

 private:
  CurlHandle handle_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_EXTENDER_HTTP_CHANNEL_H_
