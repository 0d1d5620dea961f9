// Opening what a scenario names: node lists and workloads, from files or generated.
#ifndef DRASIM_SIM_RUN_INPUT_FILES_H_
#define DRASIM_SIM_RUN_INPUT_FILES_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/event_source.h"
#include "model/node_spec.h"
#include "model/pod_shape.h"
#include "model/proto/scenario.pb.h"
#include "traces/format_source.h"
#include "traces/table_source.h"

namespace drasim {

// SHA-256 of a file's bytes as 64 lower-case hex digits.
absl::StatusOr<std::string> FileSha256(const std::string& path);

struct NodeInput {
  std::vector<NodeSpec> nodes;
  // What the trace says about nodes that come and go, in its own time.
  std::vector<NodeChange> changes;
};

// The cluster's nodes, in the order of the file or the generator (which takes the node kinds of the
// workload's table). Sets (or checks) `cluster.sha256`.
absl::StatusOr<NodeInput> ReadNodeInput(proto::Scenario* scenario);

// The choices of a generated cluster and workload that need no file, and jobs that the scenario
// writes out, as far as they do not depend on the cluster; errors name the scenario key.
absl::Status CheckGenerated(const proto::Scenario& scenario);

struct Manifests;

struct WorkloadInput {
  std::unique_ptr<EventSource> source;
  // Call after the source has been read: skipped rows and other things worth a line.
  std::function<std::vector<std::string>()> warnings;
  std::shared_ptr<const Manifests> manifests;  // null: the workload comes from elsewhere
};
// The scenario's workload: jobs that it writes out, a trace, or a generated one. Sets (or checks)
// the trace's `sha256`. `nodes` says how many GPUs a load in percent is of, how many a pod may
// have, and which MIG profiles there are. `shapes` must outlive the source.
absl::StatusOr<WorkloadInput> OpenWorkloadInput(proto::Scenario* scenario,
                                                const std::vector<NodeSpec>& nodes,
                                                ShapeTable* shapes);

// Opens a trace file alone, in any format: a built-in mapping, a special format, or a mapping file.
// `unique_names`: a name that comes again is a bad row, which takes memory for every name.
absl::StatusOr<WorkloadInput> OpenTrace(const proto::Trace& trace, ArrivalOrder order,
                                        ShapeTable* shapes, bool unique_names = true);

// Whether the scenario is a replay of the jobs of a fill, one after the other.
bool IsStream(const proto::Scenario& scenario);

// Whether any knob asks for the jobs to be shaped; always so in a replay that keeps their times.
bool ShapesWorkload(const proto::Scenario& scenario);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_INPUT_FILES_H_
