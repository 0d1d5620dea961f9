#include "sim/scenario/dra_connection.h"

#include <tuple>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "model/key_error.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"

namespace drasim {

absl::Status ReadLatency(const std::string& key, const std::string& text,
                         std::optional<Distribution>* out) {
  if (text.empty()) return absl::OkStatus();
  absl::StatusOr<Distribution> parsed = Distribution::Parse(text);
  if (!parsed.ok()) {
    return KeyError(key, parsed.status().message());
  }
  *out = *parsed;
  return absl::OkStatus();
}

ConnectionOptions UsualConnection(bool zero, double qps, int64_t burst) {
  ConnectionOptions connection;
  if (zero) return connection;
  connection.qps = qps;
  connection.burst = burst;
  connection.read_latency = *Distribution::Parse("uniform(low=0.001,high=0.02)");
  connection.write_latency = *Distribution::Parse("uniform(low=0.001,high=0.02)");
  connection.watch_latency = *Distribution::Parse("uniform(low=0.005,high=0.05)");
  return connection;
}

absl::Status ReadConnection(const std::string& key, const proto::DraConnection& c,
                            ConnectionOptions* out) {
  if (c.has_qps()) {
    if (!(c.qps() >= 0 && c.qps() <= 1e9)) {
      return KeyError(key + ".qps",
                      absl::StrCat("found '", c.qps(), "', expected 0 (no limit) to 1e9"));
    }
    out->qps = c.qps();
    if (c.qps() > 0 && out->burst == 0) out->burst = 1;
  }
  if (c.has_burst()) {
    if (c.burst() < 1) {
      return KeyError(key + ".burst", absl::StrCat("found '", c.burst(), "', expected 1 or more"));
    }
    out->burst = c.burst();
  }
  for (const auto& [name, text, latency] :
       {std::tuple(".read_latency", &c.read_latency(), &out->read_latency),
        std::tuple(".write_latency", &c.write_latency(), &out->write_latency),
        std::tuple(".watch_latency", &c.watch_latency(), &out->watch_latency)}) {
    RETURN_IF_ERROR(ReadLatency(key + name, *text, latency));
  }
  return absl::OkStatus();
}

}  // namespace drasim
