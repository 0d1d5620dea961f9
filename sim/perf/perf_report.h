// Reports on workloads of scheduler_perf as a table and as a page.
#ifndef DRASIM_SIM_PERF_PERF_REPORT_H_
#define DRASIM_SIM_PERF_PERF_REPORT_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "sim/perf/perf_suite.h"
#include "sim/record/data_table.h"

namespace drasim::perf {

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
