// Mapping files: what the columns of a one-table trace mean. A new trace format is a YAML file, not
// code.
//
// The schema is proto::TableMapping (model/proto/mapping.proto). What its comments leave open:
//   * separator " " means runs of spaces and tabs (see csv_splitter.h).
//   * Every amount and time names its unit; counts, priorities and texts have none.
//   * A column that the mapping names must be in the table's header unless it is optional. An
//   optional column that is
//     not there behaves as if the value were missing in every row.
//   * A missing value takes the default; without one it is an error, unless the column is optional.
//   Then it means: no
//     CPU or memory, no GPU, a whole GPU for the share, any GPU model, priority 0, arrival at time
//     0, no start, end or run time; for nodes: no capacity, NodeSpec's own pod slots, a GPU of
//     unknown model.
//   * pods.name may be left out: pods are then called NAME-LINE after the mapping's name and the
//   line of the row.
//   * The GPU fields of a row with a GPU count of 0 are not looked at, whatever they hold. A row
//   with GPUs and a share
//     of 0 is read as a pod without GPUs and counted as a warning.
//   * Filters see the texts of the file, before any translation. A row with an empty text does not
//   pass at_least and
//     at_most. They hold for pod rows; in a mapping without pods, for node rows. Rows that do not
//     pass are not checked further.
#ifndef DRASIM_TRACES_MAPPING_H_
#define DRASIM_TRACES_MAPPING_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/proto/mapping.pb.h"

namespace drasim {

// The built-in mapping of this name, else the mapping file at this path, parsed and validated.
// NotFound names the built-in ones; other errors are InvalidArgument as below, or those of reading
// a file.
absl::StatusOr<proto::TableMapping> LoadMapping(absl::string_view name_or_path);

// Parses and validates YAML text. `file` is for errors: those of MergeYaml and of ValidateMapping.
absl::StatusOr<proto::TableMapping> ParseMapping(absl::string_view yaml, absl::string_view file);

// Whether a mapping makes sense by itself, without a table. InvalidArgument:
// "FILE: field.path: found '...', expected ..." for the first thing wrong.
absl::Status ValidateMapping(const proto::TableMapping& mapping, absl::string_view file);

}  // namespace drasim

#endif  // DRASIM_TRACES_MAPPING_H_
