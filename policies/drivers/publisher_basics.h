// Options that all publishers have in common.
#ifndef DRASIM_POLICIES_DRIVERS_PUBLISHER_BASICS_H_
#define DRASIM_POLICIES_DRIVERS_PUBLISHER_BASICS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/proto/resource.pb.h"
#include "model/proto/slice_driver.pb.h"
#include "policies/drivers/device_order.h"

namespace drasim {

// A driver's reaction to a device that breaks.
struct UnhealthyDevices {
  bool tainted = false;            // otherwise the device is withdrawn
  proto::kube::DeviceTaint taint;  // when it is tainted
  // Whether the driver notices by itself that a device works again. Otherwise it does when it
  // starts the next time.
  bool recover_at_once = true;
};

struct PublisherBasics {
  std::string driver;
  UnhealthyDevices unhealthy;
  DeviceOrder order = DeviceOrder::kAsPublished;
  // From release 1.35 on a slice holds devices or counter sets, not both.
  bool split_slices = true;
};

// `usual_name` is the driver's name without the option, `usual` what it does with devices that
// break. KeyError for names that are no driver's, unknown orders, releases and other words.
absl::StatusOr<PublisherBasics> ReadPublisherBasics(const proto::SliceDriver& options,
                                                    absl::string_view usual_name,
                                                    UnhealthyDevices usual = {});

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRIVERS_PUBLISHER_BASICS_H_
