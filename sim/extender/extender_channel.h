// ExtenderChannel: carries requests to scheduler extenders and their answers back.
//
// The caller chooses the carrier: HTTP (http_channel.h), HTTP with a recording, or a recording
// alone (extender_log.h).
#ifndef DRASIM_SIM_EXTENDER_EXTENDER_CHANNEL_H_
#define DRASIM_SIM_EXTENDER_EXTENDER_CHANNEL_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/scenario/kube_config.h"

namespace drasim {

class ExtenderChannel {
 public:
  virtual ~ExtenderChannel() = default;

  // Sends `body` to the extender's `verb` and waits for the answer's body, which is UTF-8. Any
  // error counts as the extender's own: callers may ignore it.
  virtual absl::StatusOr<std::string> Call(const ExtenderSpec& extender, absl::string_view verb,
                                           absl::string_view body) = 0;

  // The run continues from a checkpoint before which it made `calls` calls. To be called before the
  // first call.
  virtual void SkipTo(size_t /*calls*/) {}

  // An error of the channel rather than of an extender: such calls fail, and the run is void. Ask
  // from time to time.
  virtual absl::Status status() const { return absl::OkStatus(); }
  // To be called after the last call; its error voids the run, too.
  virtual absl::Status Finish() { return absl::OkStatus(); }
};

}  // namespace drasim

#endif  // DRASIM_SIM_EXTENDER_EXTENDER_CHANNEL_H_
