// Inputs of a scenario: node lists and workloads, from files or generated.
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
#include "model/shape_table.h"
#include "sim/scenario/node_list_spec.h"
#include "sim/scenario/workload_spec.h"
#include "traces/format_source.h"
#include "traces/table_source.h"

namespace drasim {

// SHA-256 of a file's bytes as 64 lower-case hex digits.
absl::StatusOr<std::string> FileSha256(const std::string& path);

struct ClusterSnapshot;

struct NodeInput {
  std::vector<NodeSpec> nodes;
  // Nodes that the trace adds and removes, in the time of the trace.
  std::vector<NodeChange> changes;
  std::shared_ptr<const ClusterSnapshot> snapshot;  // with cluster.manifests: pods and more
  std::string sha256;  // of the file's bytes; the pinned one for standard input and without a file
};

// The cluster's nodes, in the order of the file or of the generator, which uses the node kinds of
// the workload's table. InvalidArgument for a file whose hash differs from the pinned one.
absl::StatusOr<NodeInput> ReadNodeInput(const NodeListSpec& spec);

struct Manifests;

struct WorkloadInput {
  std::unique_ptr<EventSource> source;
  // A line per warning, such as skipped rows. REQUIRES: the source has been read to its end.
  std::function<std::vector<std::string>()> warnings;
  std::shared_ptr<const Manifests> manifests;  // null if the workload has another origin
  std::string sha256;                          // of the trace, as in NodeInput
};
// The jobs of the workload: listed, from a trace or manifests, or generated with `seed`. `nodes`
// give the total of GPUs, for loads in percent, the most GPUs of a pod, and the MIG profiles.
// `shapes` must outlive the source.
absl::StatusOr<WorkloadInput> OpenWorkloadInput(const WorkloadSpec& spec, uint64_t seed,
                                                const std::vector<NodeSpec>& nodes,
                                                ShapeTable* shapes);

// Opens a trace file in any format: a built-in mapping, a special format, or a mapping file.
// `unique_names`: a repeated name is a bad row; costs memory for every name.
absl::StatusOr<WorkloadInput> OpenTrace(const TraceSpec& trace, ArrivalOrder order,
                                        ShapeTable* shapes, bool unique_names = true);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_INPUT_FILES_H_
