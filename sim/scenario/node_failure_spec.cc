#include "sim/scenario/node_failure_spec.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/key_error.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"
#include "sim/scenario/duration_text.h"
#include "sim/scenario/field_errors.h"

namespace drasim {
namespace {

// A plain duration is the mean of an exponential distribution; other texts are distributions.
absl::StatusOr<Distribution> ReadPeriod(absl::string_view key, const std::string& text) {
  if (text.empty()) {
    return KeyError(
        key, "found none, expected a duration, which is a mean, or a distribution of seconds");
  }
  if (text.find('(') != std::string::npos) {
    absl::StatusOr<Distribution> given = Distribution::Parse(text);
    if (given.ok()) return given;
    return UnderKey(key, given.status());
  }
  SimDuration mean;
  RETURN_IF_ERROR(ReadDuration(key, text, &mean));
  if (mean > SimDuration()) return Distribution::Exponential(mean.seconds());
  return KeyError(key, absl::StrCat("found '", text, "', expected a mean above 0s"));
}

}  // namespace

absl::StatusOr<std::optional<NodeFailureSpec>> MakeNodeFailureSpec(const proto::Scenario& s) {
  if (!s.cluster().has_failures()) return std::optional<NodeFailureSpec>();
  const proto::NodeFailures& f = s.cluster().failures();
  ASSIGN_OR_RETURN(Distribution up, ReadPeriod("cluster.failures.mtbf", f.mtbf()));
  ASSIGN_OR_RETURN(Distribution down, ReadPeriod("cluster.failures.mttr", f.mttr()));
  SimDuration until;
  RETURN_IF_ERROR(ReadDuration("cluster.failures.until", f.until(), &until));
  NodeFailureSpec spec = {std::move(up), std::move(down), f.nodes(), std::nullopt};
  if (!f.until().empty()) spec.until = until;
  return std::optional<NodeFailureSpec>(std::move(spec));
}

}  // namespace drasim
