// Mapping files, which give the columns of a one-table trace their meaning. A new trace format of
// one table is a YAML file, not code:
//
//   name: my-cluster
//   pods:
//     name: {column: job_id}
//     cpu: {column: cores, unit: cores}
//     gpu_count: {column: gpus}
//     arrival: {column: submitted, unit: s}
//     run_time: {column: elapsed, unit: min, optional: true}
//
// The schema is proto::TableMapping (model/proto/mapping.proto). Rules beyond its comments:
//   * separator " " means runs of spaces and tabs (see csv_splitter.h).
//   * Every amount and time names its unit; counts, priorities and texts have none.
//   * A column that the mapping names must be in the table's header unless it is optional. An
//     optional column that is not there behaves as if the value were missing in every row.
//   * A missing value takes the default; without one it is an error, unless the column is optional.
//     Then it means: no CPU or memory, no GPU, a whole GPU for the share, any GPU model, priority
//     0, arrival at time 0 of the file, no start, end or run time, no estimate or deadline, no
//     tenant, preemptible; for nodes: no capacity, NodeSpec's own pod slots, a GPU of unknown
//     model.
//   * Columns of or_column have the same rules as the one they stand in for. The default is read
//     when none of them has a value; a text that is no value is an error even if the next one has a
//     good one.
//   * Unit datetime is for pods.arrival, start, end and deadline: grammar in date_time.h. Times
//     before 1970 are errors.
//   * pods.name may be left out: pods are then called NAME-LINE after the mapping's name and the
//     line of the row.
//   * The GPU fields of a row with a GPU count or amount of 0 are ignored, whatever they hold. A
//     row with GPUs and a share of 0 is read as a pod without GPUs and counted as a warning.
//   * pods.gpu_amount has unit fraction (which no unit means, too), milli or percent. Below one GPU
//     it is a share of one; above, it must be whole.
//   * pods.pods: 0 and missing mean 1. With `gang: false` each pod is a job of its own, called
//     "<name>-0", "<name>-1", ..., even a single one, so names stay unique.
//   * gpus_per_pod splits jobs with GPUs, cores_per_pod those without (see job_split.h); neither
//     goes with pods.pods. At most kMaxPodsPerJob pods a row.
//   * pods.state: a missing one means succeeded. failed sets JobArrival::fails; cancelled is as
//     succeeded: the run ended when it ended. Rows with skip are left out unread and
//     counted as a warning.
//   * end_without_start_deletes: such a row has no run time, whatever its run_time column holds.
//   * pods.group and max_per_node belong together; a missing or empty group means no limit.
//   * Extended amounts have no unit; a missing one, and 0, means none.
//   * Filters see the texts of the file, before any translation. A row with an empty text does not
//     pass at_least and at_most. They hold for pod rows; in a mapping without pods, for node rows.
//     Rows that do not pass are not checked further.
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

// The same; an error about a field that stands in the text has its line and column.
absl::StatusOr<proto::TableMapping> ParseMappingFile(absl::string_view yaml,
                                                     absl::string_view file);

// Whether a mapping makes sense by itself, without a table. InvalidArgument:
// "FILE: field.path: found '...', expected ..." for the first mistake.
absl::Status ValidateMapping(const proto::TableMapping& mapping, absl::string_view file);

}  // namespace drasim

#endif  // DRASIM_TRACES_MAPPING_H_
