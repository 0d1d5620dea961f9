// Origin of a cluster's nodes: a file, a template, or the mix of a generated workload.
#ifndef DRASIM_SIM_SCENARIO_NODE_LIST_SPEC_H_
#define DRASIM_SIM_SCENARIO_NODE_LIST_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/node_spec.h"

namespace drasim {

namespace proto {
class Scenario;
class Trace;
}  // namespace proto

struct NodeListSpec {
  std::string path;                    // empty: the nodes are generated, or come with the manifests
  std::vector<std::string> manifests;  // of a whole cluster: files and folders
  bool full_shapes = false;            // the scheduler's plugins read all of its objects
  bool keep_objects = false;           // of manifests, for the end of the run
  std::string format;  // of the file: a built-in mapping's name, or the path of a mapping file
  std::string sha256;  // of the file's bytes; empty: not pinned
  // For special formats, whose files are traces as well.
  int64_t time_offset_ns = 0;
  bool lenient = false;
  // Generated nodes: `count` copies of `like`, or `count` nodes in the mix of `table` (0: the
  // table's own number).
  int64_t count = 0;
  std::optional<NodeSpec> like;
  // Labels of the copies, sorted by key: copy number i gets values[i % values.size()].
  struct DealtLabel {
    std::string key;
    std::vector<std::string> values;  // at least one
  };
  std::vector<DealtLabel> dealt_labels;
  std::string table;
};

// InvalidArgument, beginning with the scenario key, for an invalid number of generated nodes or an
// invalid node template. Opens no file.
absl::StatusOr<NodeListSpec> MakeNodeListSpec(const proto::Scenario& scenario);

// Whether the scheduler is kube-scheduler with its own plugins, which read whole pods.
bool UsesKubePlugins(const proto::Scenario& scenario);

// The trace's time offset in nanoseconds: exact for whole seconds, otherwise rounded down.
int64_t TraceOffsetNs(const proto::Trace& trace);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_NODE_LIST_SPEC_H_
