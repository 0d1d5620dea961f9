// The flags --extender-record, --extender-replay and --extender-check: how scheduler extenders are
// asked.
#ifndef DRASIM_SIM_APP_EXTENDER_FLAGS_H_
#define DRASIM_SIM_APP_EXTENDER_FLAGS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/app/flags.h"
#include "sim/extender/extender_channel.h"

namespace drasim {

// Whether any of them is given.
bool HasExtenderFlags(const ParsedFlags& flags);

// Over HTTP, unless a flag says otherwise. Recordings that are read may be ledgers, or their
// folders. `earlier`: the lines of the run so far, if it goes on from a checkpoint. InvalidArgument
// for more than one of the flags, and for files that are no recordings.
absl::StatusOr<std::unique_ptr<ExtenderChannel>> ExtenderChannelOf(const ParsedFlags& flags,
                                                                   absl::string_view earlier);

}  // namespace drasim

#endif  // DRASIM_SIM_APP_EXTENDER_FLAGS_H_
