// Opening what a scenario names: node lists and workloads, from files or generated.
#ifndef DRASIM_SIM_APP_INPUT_FILES_H_
#define DRASIM_SIM_APP_INPUT_FILES_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/event_source.h"
#include "model/node_spec.h"
#include "model/pod_shape.h"
#include "model/proto/scenario.pb.h"

namespace drasim {

// SHA-256 of a file's bytes as 64 lower-case hex digits.
absl::StatusOr<std::string> FileSha256(const std::string& path);

// The cluster's nodes, in the order of the file or the generator (which takes the node kinds of the
// workload's table). Sets (or checks) `cluster.sha256`.
absl::StatusOr<std::vector<NodeSpec>> ReadNodeInput(proto::Scenario* scenario);

// The choices of a generated cluster and workload that need no file; errors name the scenario key.
absl::Status CheckGenerated(const proto::Scenario& scenario);

struct WorkloadInput {
  std::unique_ptr<EventSource> source;
  // Call after the source has been read: skipped rows and other things worth a line.
  std::function<std::vector<std::string>()> warnings;
};
// The scenario's workload. Sets (or checks) the trace's `sha256`. `shapes` must outlive the source.
absl::StatusOr<WorkloadInput> OpenWorkloadInput(proto::Scenario* scenario, ShapeTable* shapes);

}  // namespace drasim

#endif  // DRASIM_SIM_APP_INPUT_FILES_H_
