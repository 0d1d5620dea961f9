// What a run meant for its jobs: completion times, waits, slowdowns, fairness, and what
// interruptions cost. A fold over the JobTable at the end of the run.
//
// Every figure's formula and unit stand in docs/metrics.md. Sums are exact integers of nanoseconds
// or of amount x nanoseconds; a figure becomes a double, rounded to 6 decimals, as the last step.
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
  // When the run ended; no time of the table is later.
  SimTime end;
  // What dominant shares are shares of.
  ResourceAmounts capacity;
  // Runs shorter than this count as so long in slowdowns. REQUIRES: above zero.
  SimDuration slowdown_threshold = SimDuration::Seconds(10);
  // `compat: helios`: means of JCT and queueing are cut to whole seconds.
  bool truncate_means = false;
  // Tenants beyond so many are reported together.
  size_t top_tenants = 20;
  // Of the cluster; without it "utilisation" is null.
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

// Of the jobs that succeeded or failed. Without any, all is 0 here and null in JSON.
struct JobGroup {
  int64_t count = 0;
  Spread jct_seconds;
  Spread queueing_seconds;
  Spread slowdown;

  bool operator==(const JobGroup&) const = default;
};

struct TenantFigures {
  std::string name;
  int64_t tenants = 1;  // above 1: "others", the sum of so many
  int64_t submitted = 0;
  JobGroup jobs;
  double gpu_hours = 0;        // held
  double gpu_hours_asked = 0;  // GPUs x time from submission to the end, of the job or of the run
  double dominant_share = 0;   // 0..1, averaged over time
  absl::string_view dominant_resource = "gpu";  // gpu, cpu, memory
};

struct DeadlineFigures {
  int64_t jobs = 0;  // with a deadline; neither met nor missed: it had not come
  int64_t met = 0;
  int64_t missed = 0;
};

// GPU time by what came of it: held = useful + work_lost + overhead + failed, up to rounding.
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
// Jobs by GPUs of all pods together: 0, <1, 1, 2-4, 5-8, 9-16, 17-32, >32. What lies between two
// classes (1.5 GPUs) belongs to the larger.
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
  // From the first submission to the last end, of jobs that have ended; none without any.
  std::optional<double> makespan_seconds;
  // Jain's index over tenants, 1/n..1; none when no tenant has a figure above zero.
  std::optional<double> jain_gpu_time;
  std::optional<double> jain_slowdown;
};

// O(jobs log jobs). Reads the table as it is; the table must outlive the report.
class JobReport {
 public:
  JobReport(const JobTable& jobs, const JobReportOptions& options);

  const JobFigures& figures() const { return figures_; }

  // Writes the members "jobs", "makespan_seconds", "tenants", "preemption" and "utilisation" into
  // the open object.
  void WriteJson(JsonWriter& j) const;
  // A few lines for people. Means that cover fewer jobs than were submitted say so; tenants beyond
  // the first ten are only counted.
  std::string JobsTable() const;

  // jobs.csv: the header, then one line per job in order of submission, in pieces: `first` to
  // `last` (exclusive). Names are those of `cluster`'s pods. Times in seconds, exact; empty where
  // there is none.
  static std::string CsvHeader();
  void AppendCsv(const ClusterState& cluster, size_t first, size_t last, std::string* out) const;

 private:
  const JobTable* jobs_;
  JobReportOptions options_;
  JobFigures figures_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_JOB_REPORT_H_
