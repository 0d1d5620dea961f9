// Reports on workloads of scheduler_perf as a table and as a page.
#ifndef DRASIM_SIM_PERF_PERF_REPORT_H_
#define DRASIM_SIM_PERF_PERF_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/types/span.h"
#include "sim/bench/bench_cells.h"
#include "sim/record/data_table.h"

namespace drasim::perf {

enum class PerfVerdict : uint8_t {
  kRuns,
  kRefused,  // drasim lacks something, or a template is missing
  kStops,    // a step cannot be finished
  kFailed,   // bad input, or a crash
};
const char* PerfVerdictName(PerfVerdict verdict);

struct PerfReport {
  bench::CellId id;
  PerfVerdict verdict = PerfVerdict::kFailed;
  std::string why;          // of all but kRuns
  std::string fingerprint;  // of kRuns and kStops
  std::string line;         // of kRuns: BenchLine
  int64_t measured_pods = 0;
  double measured_seconds = 0;      // virtual
  double measured_cpu_seconds = 0;  // of this machine
  std::optional<double> threshold;  // upstream's, in pods a second of its machine
  double cpu_seconds = 0;           // of the whole workload
  int64_t peak_rss_kib = 0;
};

// A line for each workload: entry, outcome, why, fingerprint, measured_pods, virtual_seconds,
// pods_per_virtual_second, cpu_seconds, pods_per_cpu_second, upstream_threshold. The columns about
// CPU time depend on the machine.
DataTable PerfTable(absl::Span<const PerfReport> reports);

// The same for people, with counts.
std::string PerfText(absl::Span<const PerfReport> reports);

// docs/scheduler_perf.md: every workload with its outcome. The same on every machine.
std::string PerfPage(absl::Span<const PerfReport> reports);

}  // namespace drasim::perf

#endif  // DRASIM_SIM_PERF_PERF_REPORT_H_
