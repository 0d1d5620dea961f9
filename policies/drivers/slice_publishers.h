// Factory of publishers by kind: gpu.nvidia.com, gpu.example.com, slices.
#ifndef DRASIM_POLICIES_DRIVERS_SLICE_PUBLISHERS_H_
#define DRASIM_POLICIES_DRIVERS_SLICE_PUBLISHERS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/proto/resource.pb.h"
#include "model/proto/slice_driver.pb.h"
#include "policies/drivers/slice_publisher.h"

namespace drasim {

// The kinds, in the order of --help.
std::vector<std::string> SlicePublisherKinds();

// `file_slices`: those of the file options.slices(), which the caller has read; empty for other
// kinds. KeyError with the key of the option that is wrong: an unknown kind (with the nearest one),
// a key that the kind does not have, a value out of range.
absl::StatusOr<std::unique_ptr<SlicePublisher>> MakeSlicePublisher(
    const proto::SliceDriver& options, const std::vector<proto::kube::ResourceSlice>& file_slices);

// Whether the driver of that name would accept the opaque configuration with all of its feature
// gates on (SlicePublisher::CheckConfig). OK for drivers that are not known.
absl::Status CheckOpaqueConfig(absl::string_view driver, absl::string_view parameters);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRIVERS_SLICE_PUBLISHERS_H_
