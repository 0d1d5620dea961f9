#include "policies/drivers/publisher_basics.h"

#include <vector>

#include "model/key_error.h"
#include "model/kube/api_check.h"
#include "model/status_macros.h"
#include "policies/allocator/dra_features.h"

namespace drasim {

absl::StatusOr<PublisherBasics> ReadPublisherBasics(const proto::SliceDriver& options,
                                                    absl::string_view usual_name) {
  PublisherBasics basics;
  basics.driver = options.name().empty() ? std::string(usual_name) : options.name();
  std::vector<KubeProblem> problems;
  if (!basics.driver.empty()) ApiCheck(&problems).DriverName("name", basics.driver);
  if (!problems.empty()) return KeyError("name", problems[0].what);
  ASSIGN_OR_RETURN(basics.order, ParseDeviceOrder(options.order()));
  const absl::StatusOr<StructuredRelease> release =
      ParseStructuredRelease(options.release().empty() ? "1.37" : options.release());
  if (!release.ok()) return KeyError("release", release.status().message());
  basics.split_slices = *release >= StructuredRelease::k1_35;
  return basics;
}

}  // namespace drasim
