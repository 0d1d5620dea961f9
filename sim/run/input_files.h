// Opening what a scenario names: node lists and workloads, from files or generated.
#ifndef DRASIM_SIM_RUN_INPUT_FILES_H_
#define DRASIM_SIM_RUN_INPUT_FILES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/event_source.h"
#include "model/node_spec.h"
#include "model/pod_shape.h"
#include "sim/scenario/node_list_spec.h"
#include "sim/scenario/workload_spec.h"
#include "traces/format_source.h"
#include "traces/table_source.h"

namespace drasim {

// SHA-256 of a file's bytes as 64 lower-case hex digits.
absl::StatusOr<std::string> FileSha256(const std::string& path);

struct NodeInput {
  std::vector<NodeSpec> nodes;
  // Nodes that come and go by the trace, in its own time.
  std::vector<NodeChange> changes;
  std::string sha256;  // of the file's bytes; without a file, and of standard input: the pinned one
};

// The cluster's nodes, in the order of the file or the generator (which takes the node kinds of the
// workload's table). InvalidArgument for a file whose hash is not the pinned one.
absl::StatusOr<NodeInput> ReadNodeInput(const NodeListSpec& spec);

struct Manifests;

struct WorkloadInput {
  std::unique_ptr<EventSource> source;
  // Call after the source has been read: skipped rows and other things worth a line.
  std::function<std::vector<std::string>()> warnings;
  std::shared_ptr<const Manifests> manifests;  // null: the workload comes from elsewhere
  std::string sha256;                          // as of NodeInput, of a trace
};
// The jobs of the workload: written out, of a trace, or generated with `seed`. `nodes` says how
// many GPUs a load in percent is of, how many a pod may have, and which MIG profiles there are.
// `shapes` must outlive the source.
absl::StatusOr<WorkloadInput> OpenWorkloadInput(const WorkloadSpec& spec, uint64_t seed,
                                                const std::vector<NodeSpec>& nodes,
                                                ShapeTable* shapes);

// Opens a trace file alone, in any format: a built-in mapping, a special format, or a mapping file.
// `unique_names`: a name that comes again is a bad row, which takes memory for every name.
absl::StatusOr<WorkloadInput> OpenTrace(const TraceSpec& trace, ArrivalOrder order,
                                        ShapeTable* shapes, bool unique_names = true);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_INPUT_FILES_H_
