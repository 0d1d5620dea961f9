// `workload`: the origin of jobs, and their shaping before the run.
#ifndef DRASIM_SIM_SCENARIO_WORKLOAD_SPEC_H_
#define DRASIM_SIM_SCENARIO_WORKLOAD_SPEC_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/time.h"
#include "sim/scenario/deletion_entry.h"
#include "sim/scenario/inline_jobs.h"
#include "traces/generator.h"
#include "traces/job_generator.h"
#include "traces/mig_generator.h"
#include "traces/shaping.h"

namespace drasim {

namespace proto {
class Generated;
class Scenario;
class Trace;
}  // namespace proto

enum class WorkloadKind : uint8_t {
  kTrace,
  kManifests,
  kJobs,           // listed in the scenario
  kGeneratedPods,  // from a table of requests
  kGeneratedJobs,  // gangs with weights
  kGeneratedMig,   // pods of one MIG instance each
};

struct TraceSpec {
  std::string path;
  std::string format;  // a built-in mapping, a special format, or the path of a mapping file
  std::string sha256;  // of the file's bytes; empty: not pinned
  bool lenient = false;
  int64_t time_offset_ns = 0;
  bool arrive_at_start = false;
  std::optional<int32_t> gpus_per_pod;
  std::optional<int32_t> cores_per_pod;
  std::optional<SimDuration> sort_window;
  std::map<std::string, std::string> tables;  // paths of additional files, by name of the table
  std::vector<std::string> needs;             // of cpu, gpu_count, run_time
};
// REQUIRES: `trace` has passed CheckTrace.
TraceSpec MakeTraceSpec(const proto::Trace& trace);

// Options of generators, without seeds and without values that depend on the cluster.
struct GeneratedSpec {
  std::string table;
  GeneratedOptions pods;
  JobGeneratorOptions jobs;
  MigMixOptions mig;
  std::optional<double> offered_percent;  // for kGeneratedMig, instead of a number of pods
};
GeneratedSpec MakeGeneratedSpec(const proto::Generated& generated);

struct WorkloadSpec {
  WorkloadKind kind = WorkloadKind::kGeneratedPods;
  TraceSpec trace;
  // A trace format without a trace; empty: none, or the default one.
  std::string stray_format;
  GeneratedSpec generated;
  std::vector<InlineJob> jobs;         // for kJobs
  std::vector<std::string> manifests;  // paths
  bool full_shapes = false;            // of manifests: the scheduler's plugins read whole pods
  bool keep_objects = false;           // of manifests, for the end of the run
  bool structured_dra = false;         // objects of structured DRA in manifests count

  bool shaped = false;     // `shaping` applies
  ShapingOptions shaping;  // without its seed
  int64_t limit = 0;
  std::optional<double> target_load_percent;
  std::optional<double> tuning_ratio;
  // The jobs of a fill, one per interval.
  std::optional<SimDuration> stream_interval;
  std::string stream_interval_text;  // as written
  std::vector<UserDeletion> deletions;
};

// Whether jobs are drawn at random, as opposed to read or listed.
inline bool IsGenerated(WorkloadKind kind) { return kind >= WorkloadKind::kGeneratedPods; }

// All fields except `jobs`, `shaping`, `stream_interval` and `deletions`. REQUIRES: `scenario` has
// passed CheckTrace and CheckGenerated.
WorkloadSpec MakeWorkloadSpec(const proto::Scenario& scenario);

// Checks that need no input file: of a trace; of a generated cluster or workload. CheckGenerated
// returns the listed jobs. Errors begin with the scenario key.
absl::Status CheckTrace(const proto::Trace& trace);
absl::StatusOr<std::vector<InlineJob>> CheckGenerated(const proto::Scenario& scenario);

// The interval of a replay that takes the jobs of a fill; none otherwise.
absl::StatusOr<std::optional<SimDuration>> ReadStreamInterval(const proto::Scenario& scenario);

// Whether the jobs are shaped: some knob is set, or a replay keeps their times.
bool ShapesWorkload(const proto::Scenario& scenario);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_WORKLOAD_SPEC_H_
