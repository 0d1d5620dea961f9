// Reads cases for kube-scheduler (model/proto/kube_case.proto).
#ifndef DRASIM_MODEL_KUBE_CASE_READER_H_
#define DRASIM_MODEL_KUBE_CASE_READER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/proto/kube_case.pb.h"

namespace drasim {

// The member "case" of one line of a file of cases. Unknown fields are left out. InvalidArgument
// for text that is no JSON, or has a value of a wrong type. O(line).
absl::StatusOr<proto::kube::KubeCase> ReadKubeCase(absl::string_view line);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_CASE_READER_H_
