// Synthetic workloads and clusters, drawn from a small table of how often each kind of pod and node
// occurs.
//
// The embedded table (traces/data/openb_like.csv) holds such figures of a public GPU trace, so that
// drasim is of use without any download. Times come from distributions, because that trace's own
// times say little: it is a packing trace. Everything is a function of (table, options, seed), on
// every machine.
#ifndef DRASIM_TRACES_GENERATOR_H_
#define DRASIM_TRACES_GENERATOR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/event_source.h"
#include "model/ids.h"
#include "model/node_spec.h"
#include "model/pod_shape.h"
#include "model/random.h"
#include "model/shape_table.h"
#include "model/state_io.h"
#include "model/time.h"
#include "traces/generated_times.h"

namespace drasim {

// The numbers of pods of each request shape and of nodes of each kind in a workload.
struct WorkloadTable {
  struct PodRow {
    int64_t count = 0;  // above 0
    PodShape shape;
  };
  struct NodeRow {
    int64_t count = 0;  // above 0
    NodeSpec node;      // without a name
  };

  std::vector<PodRow> pods;    // at most 65535
  std::vector<NodeRow> nodes;  // at most 65535

  // Sums of the counts: below 2^31 (pods), at most kMaxGeneratedNodes (nodes).
  int64_t pod_count() const;
  int64_t node_count() const;
};

// Reads the table: '#' comments and blank lines, the header
// `kind,count,cpu_milli,memory_mib,gpu_count,gpu_milli,gpu_model`, then rows in any order.
// Nothing is quoted. kind is one of:
//   * pod: gpu_milli is per GPU, 1..1000, and 0 when gpu_count is 0; gpu_model lists acceptable
//     models with '|' between them, empty = any or no GPU;
//   * node: gpu_milli is empty; gpu_model is the node's model, empty = unknown or no GPU.
// A table may have rows of one kind only. `file` is for errors: InvalidArgument
// "FILE:LINE:COLUMN: what was found, what was expected". O(size of the text).
absl::StatusOr<WorkloadTable> ParseWorkloadTable(absl::string_view text, absl::string_view file);

inline constexpr int64_t kMaxGeneratedNodes = int64_t{1} << 24;

// `nodes` nodes in the table's mix of kinds, shared out by largest remainder (ties: the earlier
// row); 0 means the table's own counts. Kinds are interleaved: every stretch of the list has nearly
// the mix of the whole. Names are "node-000000", "node-000001", ..., with more digits when needed,
// so that byte order is list order. Pod slots are those of the FGD experiments (kOpenbPodSlots).
// Empty when the table has no node rows. O(nodes log nodes).
// REQUIRES: 0 <= nodes <= kMaxGeneratedNodes.
std::vector<NodeSpec> GenerateNodes(const WorkloadTable& table, int64_t nodes);

// The fields of proto::Generated, as text where that is text.
struct GeneratedOptions {
  int64_t pods = 0;  // 0: the table's own count
  // One of:
  //   * quota (also when empty): every shape gets its exact share (largest remainder), in shuffled
  //     order; 2 bytes of memory per pod;
  //   * independent: each pod is drawn on its own with the table's counts as weights; constant
  //     memory.
  std::string sampling = "quota";
  // Between two arrivals; the first pod arrives at time 0. Empty: all arrive at time 0.
  std::string interarrival;  // a Distribution of seconds
  std::string run_time;      // a Distribution of seconds; empty: pods have no run time
  uint64_t seed = 0;
};

// Pods "pod-0000000", "pod-0000001", ... (more digits when needed: byte order is order of
// creation), all of priority 0. Samples are rounded to the nanosecond; negative ones count as 0.
// Draws come from the streams "workload/order" (quota), "workload/shape" (independent),
// "workload/interarrival" and "workload/run_time", so that changing one option leaves the others'
// draws alone.
class GeneratedSource : public EventSource {
 public:
  static constexpr int64_t kMaxPods = (int64_t{1} << 32) - 1;   // as many as there are PodIds
  static constexpr int64_t kMaxSeconds = kMaxGeneratedSeconds;  // of an arrival, and of a run time

  // Interns the table's shapes, in table order, into `shapes`. Neither argument is kept.
  // InvalidArgument when the table has no pod rows or an option is out of range, unknown or not a
  // distribution.
  static absl::StatusOr<std::unique_ptr<GeneratedSource>> Create(const WorkloadTable& table,
                                                                 const GeneratedOptions& options,
                                                                 ShapeTable* shapes);

  // InvalidArgument, which sticks, when an arrival or a run time is beyond kMaxSeconds.
  // O(1) with quota, O(log rows) with independent.
  absl::StatusOr<bool> Next(JobArrival* out) override;
  void Save(StateWriter& out) const override;
  // After an error the source must not be used.
  absl::Status Load(StateReader& in) override;

  int64_t pods() const { return pods_; }  // in all, whether delivered or not

 private:
  GeneratedSource(int64_t pods, uint64_t seed);

  size_t NextRow();

  const int64_t pods_;
  const size_t name_digits_;
  std::vector<ShapeId> shapes_;  // of the table's rows
  std::vector<uint16_t> order_;  // quota: the row of each pod; else empty
  // independent: sums of the counts up to and including each row; else empty
  std::vector<uint64_t> cumulative_;
  GeneratedTimes times_;

  Random shape_stream_;
  int64_t next_ = 0;     // number of the pod that comes next
  int64_t time_ns_ = 0;  // of the last arrival
  absl::Status status_;  // the error that ended the source
};

}  // namespace drasim

#endif  // DRASIM_TRACES_GENERATOR_H_
