#include "policies/drivers/publisher_basics.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/key_error.h"
#include "model/kube/api_check.h"
#include "model/status_macros.h"
#include "policies/allocator/dra_features.h"

namespace drasim {

namespace {

// `*first` becomes whether the option has the first of its two words; without any it stays.
absl::Status ReadWord(absl::string_view key, const std::string& given, absl::string_view yes,
                      absl::string_view no, bool* first) {
  if (given.empty()) return absl::OkStatus();
  *first = given == yes;
  if (given == yes || given == no) return absl::OkStatus();
  return KeyError(key, absl::StrCat("found '", given, "', expected ", yes, " or ", no));
}

}  // namespace

absl::StatusOr<PublisherBasics> ReadPublisherBasics(const proto::SliceDriver& options,
                                                    absl::string_view usual_name,
                                                    UnhealthyDevices usual) {
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
  basics.unhealthy = std::move(usual);
  UnhealthyDevices& unhealthy = basics.unhealthy;
  RETURN_IF_ERROR(
      ReadWord("on_unhealthy", options.on_unhealthy(), "taint", "withdraw", &unhealthy.tainted));
  RETURN_IF_ERROR(
      ReadWord("recovery", options.recovery(), "at-once", "restart", &unhealthy.recover_at_once));
  bool existing = true;  // which runs read
  RETURN_IF_ERROR(ReadWord("publish", options.publish(), "existing", "start-up", &existing));
  if (unhealthy.taint.key().empty()) {
    unhealthy.taint.set_key(
        absl::StrCat(basics.driver, basics.driver.empty() ? "" : "/", "unhealthy"));
    unhealthy.taint.set_effect("NoSchedule");
  }
  return basics;
}

}  // namespace drasim
