// Connections of DRA's components to the API server, as scenarios give them.
#ifndef DRASIM_SIM_SCENARIO_DRA_CONNECTION_H_
#define DRASIM_SIM_SCENARIO_DRA_CONNECTION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "model/distributions.h"
#include "sim/dra/classic/control_plane_options.h"

namespace drasim {

namespace proto {
class DraConnection;
}

// The usual connection of a component (docs/fidelity.md names the sources); with `zero` neither
// latency nor limit.
ConnectionOptions UsualConnection(bool zero, double qps, int64_t burst);

// Replaces what is given. Errors begin with the key, or a key below it.
absl::Status ReadConnection(const std::string& key, const proto::DraConnection& given,
                            ConnectionOptions* out);

// A distribution of seconds; an empty text leaves `*out` as it is.
absl::Status ReadLatency(const std::string& key, const std::string& text,
                         std::optional<Distribution>* out);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_DRA_CONNECTION_H_
