// ResourceSlices of any origin: what kubectl prints of a cluster, manifests, and the excerpts that
// documents of drivers show.
//
//   ASSIGN_OR_RETURN(const PublishedSlices read, ReadResourceSlices(text, "slices.yaml"));
//   for (const proto::kube::ResourceSlice& slice : read.slices) Use(slice);
#ifndef DRASIM_MODEL_KUBE_SLICE_READER_H_
#define DRASIM_MODEL_KUBE_SLICE_READER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/proto/resource.pb.h"

namespace drasim {

struct PublishedSlices {
  std::vector<proto::kube::ResourceSlice> slices;  // of v1, in the order of the text
  std::vector<std::string> warnings;               // "FILE:LINE:COLUMN: what is lacking or odd"
};

// Reads the slices of `text`, of all API versions that reader.h knows. A text that is nothing but a
// list of devices becomes one slice without name, driver, pool and nodes. Fields that cannot be
// read, what the API server would refuse, objects of other kinds, and problems of pools
// (PoolProblems) are warnings. All that was understood is kept, but for capacities without a value
// that could be read.
//
// Errors (InvalidArgument, "FILE:LINE:COLUMN: ..."): mistakes of syntax; no slice at all. Cost:
// linear in the text.
absl::StatusOr<PublishedSlices> ReadResourceSlices(absl::string_view text, absl::string_view file);

// Reasons why the allocator finds pools of the slices incomplete or invalid: fewer or
// more slices of the newest generation than resourceSliceCount, device names and counter sets that
// occur twice, counter sets and counters that no slice of the pool has. "pool DRIVER/POOL: ...", in
// the order of the pools' names, at most one line of each sort for a pool. O(devices x log).
std::vector<std::string> PoolProblems(absl::Span<const proto::kube::ResourceSlice> slices);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_SLICE_READER_H_
