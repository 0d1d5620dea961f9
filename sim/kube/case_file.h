// Files of scheduling cases: JSON Lines, plain or gzip.
#ifndef DRASIM_SIM_KUBE_CASE_FILE_H_
#define DRASIM_SIM_KUBE_CASE_FILE_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "sim/kube/kube_case.h"
#include "traces/byte_source.h"

namespace drasim {

// Hands each line that is not empty to `handle`, without its blanks at the ends or a byte order
// mark. A line whose `handle` fails does not keep the others from being handled; the first such
// error is returned at the end. Memory: one line. Errors begin with "FILE:LINE: ".
absl::Status ForEachCaseLine(ByteSource& source,
                             absl::FunctionRef<absl::Status(absl::string_view line)> handle);

// Reads the cases one after the other and hands each to `handle`, as ForEachCaseLine does.
absl::Status ForEachKubeCase(ByteSource& source, bool with_answers,
                             absl::FunctionRef<absl::Status(const KubeCaseLine&)> handle);

}  // namespace drasim

#endif  // DRASIM_SIM_KUBE_CASE_FILE_H_
