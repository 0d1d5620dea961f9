// The effects of a run on its jobs: completion times, waits, slowdowns, fairness, and the cost of
// interruptions. A fold over the JobTable at the end of the run.
//
// docs/metrics.md has every figure's formula and unit. Sums are exact integers of nanoseconds or of
// amount x nanoseconds; the last step makes doubles of them, rounded to 6 decimals.
//
// Sources: bounded slowdown: Feitelson, Rudolph, Schwiegelshohn, Sevcik and Wong, "Theory and
// Practice in Parallel Job Scheduling", JSSPP 1997. Fairness index: Jain, Chiu and Hawe, "A
// Quantitative Measure of Fairness and Discrimination", DEC-TR-301, 1984. Dominant share: Ghodsi et
// al., "Dominant Resource Fairness", NSDI 2011.
#ifndef DRASIM_SIM_RECORD_JOB_REPORT_H_
#define DRASIM_SIM_RECORD_JOB_REPORT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/cluster_state.h"
#include "model/job_table.h"
#include "model/text/json_writer.h"
#include "model/time.h"
#include "sim/record/time_integrals.h"

namespace drasim {

struct JobReportOptions {
  // End of the run; no time of the table is later.
  SimTime end;
  // Total of which dominant shares are fractions.
  ResourceAmounts capacity;
  // Slowdowns take shorter runs to last as long as this. REQUIRES: above zero.
  SimDuration slowdown_threshold = SimDuration::Seconds(10);
  // `compat: helios`: means of JCT and queueing are cut to whole seconds.
  bool truncate_means = false;
  // Tenants beyond this number are reported together.
  size_t top_tenants = 20;
  // Averages of the cluster; without them "utilisation" is null.
  std::optional<WindowIntegrals> utilisation;
};

// Percentiles are nearest-rank: of n sorted values, the one with number ceil(p * n / 100).
struct Spread {
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
  double max = 0;

  bool operator==(const Spread&) const = default;
};

// Figures of the jobs that succeeded or failed. Without any, all are 0, and null in JSON.
struct JobGroup {
  int64_t count = 0;
  Spread jct_seconds;
  Spread queueing_seconds;
  Spread slowdown;

  bool operator==(const JobGroup&) const = default;
};

struct TenantFigures {
  std::string name;
  int64_t tenants = 1;  // above 1: "others", the sum of this number of tenants
  int64_t submitted = 0;
  JobGroup jobs;
  double gpu_hours = 0;        // held
  double gpu_hours_asked = 0;  // GPUs x time from submission to the end, of the job or of the run
  double dominant_share = 0;   // 0..1, averaged over time
  absl::string_view dominant_resource = "gpu";  // gpu, cpu, memory
};

struct DeadlineFigures {
  int64_t jobs = 0;  // with a deadline; also those whose deadline was after the end
  int64_t met = 0;
  int64_t missed = 0;
};

// GPU time by its outcome: held = useful + work_lost + overhead + failed, up to rounding.
struct PreemptionFigures {
  int64_t preemptions = 0;
  int64_t evictions = 0;
  int64_t retries = 0;
  double held_gpu_hours = 0;
  double useful_gpu_hours = 0;
  double work_lost_gpu_hours = 0;
  double overhead_gpu_hours = 0;
  double failed_gpu_hours = 0;
  std::optional<double> goodput;  // useful / held, 0..1; none when no GPU time was held
};

inline constexpr size_t kJobStates = 7;
// Classes of jobs by the GPUs of all their pods: 0, <1, 1, 2-4, 5-8, 9-16, 17-32, >32. Amounts
// between two classes (1.5 GPUs) belong to the larger.
inline constexpr size_t kSizeClasses = 8;
absl::string_view SizeClassName(size_t size_class);
size_t SizeClassOf(int64_t gpu_milli);

struct JobFigures {
  int64_t submitted = 0;
  std::array<int64_t, kJobStates> by_state{};  // by JobState
  JobGroup all;
  std::array<JobGroup, kSizeClasses> by_size;
  std::array<int64_t, kSizeClasses> submitted_by_size{};
  std::vector<TenantFigures> tenants;  // most GPU time first, ties in order of appearance
  DeadlineFigures deadlines;
  PreemptionFigures preemption;
  // From the first submission to the last end, of jobs that have ended; empty without any.
  std::optional<double> makespan_seconds;
  // Jain's index over tenants, 1/n..1; empty if no tenant has a figure above zero.
  std::optional<double> jain_gpu_time;
  std::optional<double> jain_slowdown;
};

// O(jobs log jobs). The table must outlive the report, and must not change.
class JobReport {
 public:
  JobReport(const JobTable& jobs, const JobReportOptions& options);

  const JobFigures& figures() const { return figures_; }

  // Writes the members "jobs", "makespan_seconds", "tenants", "preemption" and "utilisation" into
  // the open object.
  void WriteJson(JsonWriter& j) const;
  // A few lines for people. Means over fewer jobs than were submitted are marked; tenants beyond
  // the first ten are only counted.
  std::string JobsTable() const;

  // jobs.csv: the header, and one line for each of the jobs `first` to `last` (exclusive), in order
  // of submission. Names are those of `cluster`'s pods. Times are exact, in seconds; empty if there
  // is none.
  static std::string CsvHeader();
  void AppendCsv(const ClusterState& cluster, size_t first, size_t last, std::string* out) const;

 private:
  const JobTable* jobs_;
  JobReportOptions options_;
  JobFigures figures_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_JOB_REPORT_H_
