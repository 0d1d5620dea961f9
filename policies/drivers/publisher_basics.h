// Options that all publishers have in common.
#ifndef DRASIM_POLICIES_DRIVERS_PUBLISHER_BASICS_H_
#define DRASIM_POLICIES_DRIVERS_PUBLISHER_BASICS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/proto/slice_driver.pb.h"
#include "policies/drivers/device_order.h"

namespace drasim {

struct PublisherBasics {
  std::string driver;
  DeviceOrder order = DeviceOrder::kAsPublished;
  // From release 1.35 on a slice holds devices or counter sets, not both.
  bool split_slices = true;
};

// `usual_name` is the driver's name without the option. KeyError for names that are no driver's,
// unknown orders and releases.
absl::StatusOr<PublisherBasics> ReadPublisherBasics(const proto::SliceDriver& options,
                                                    absl::string_view usual_name);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRIVERS_PUBLISHER_BASICS_H_
