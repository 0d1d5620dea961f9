// The knobs that scale and shape any workload before the run: whose jobs, from when to when, how
// many, how close together; and a cluster of a size to match.
//
// These are the keys tenants, window, bootstrap, load_factor, jitter, speed_up, limit and
// target_load_percent of the message Workload in model/proto/scenario.proto. Everything is a
// function of (jobs, options, seed), on every machine.
#ifndef DRASIM_TRACES_SHAPING_H_
#define DRASIM_TRACES_SHAPING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/distributions.h"
#include "model/event_source.h"
#include "model/node_spec.h"
#include "model/shape_table.h"

namespace drasim {

// Some 126 years: no job may arrive later, in the trace or after shaping. Sums of two fit 64 bits.
inline constexpr int64_t kMaxShapedNs = 4'000'000'000'000'000'000;
inline constexpr int64_t kMaxShapedJobs = 100'000'000;
// A first arrival from here on (1973, counted from 1970) is taken for an absolute clock's.
inline constexpr int64_t kAbsoluteClockNs = 100'000'000'000'000'000;

// Changes to a workload. The default only sorts.
struct ShapingOptions {
  // Only jobs of these are kept; empty: of all.
  std::vector<std::string> tenants;
  // Only jobs that arrive from `start` to `end`, both inclusive, in the trace's own time.
  std::optional<int64_t> window_start_ns;
  std::optional<int64_t> window_end_ns;
  // Number of jobs drawn with replacement; 0: no bootstrap. With a block length, whole blocks of
  // the trace's time are drawn; 0: job by job.
  int64_t bootstrap_jobs = 0;
  int64_t bootstrap_block_ns = 0;
  // Above 0, at most 10^6. Below 1: each job is kept with this probability. From 1 on: each job
  // comes floor(factor) times, and once more with the probability of the fraction.
  std::optional<double> load_factor;
  // Seconds, added to each arrival.
  std::optional<Distribution> jitter;
  // 0.001..10^6: arrival times are divided by it. Run times stay.
  std::optional<double> speed_up;
  // Keeps at most this many jobs, the first ones; 0: all.
  int64_t limit = 0;
  uint64_t seed = 0;
  // Before anything else, arrivals and run times (failed attempts too) are cut to whole seconds.
  // For `compat: helios`, whose published tables were made so.
  bool truncate_to_seconds = false;
};

// Shapes `jobs` in place: truncation, tenants, window, bootstrap, load factor, jitter, speed-up,
// limit, in this order. Afterwards they are in order of arrival; jobs that arrive together keep
// their order, a clone stands behind its original. When the arrival of a job moves, its deadline
// and its deletion move along; run times and estimates never change (but for truncation).
//
// Time zero: *origin_ns is the time subtracted from the trace's own. It is the window's
// start; without one the first arrival kept if that is at or after kAbsoluteClockNs; else 0.
//
// Span of the trace, for the bootstrap: from the window's start to its end; where one of them is
// not given, from the first arrival or to the last.
//   * Job by job: the i-th drawn job arrives when the trace's i-th job does. When more jobs are
//     asked for than there are, the process of arrivals repeats, shifted by the span.
//   * Blocks: the span is cut from its begin into blocks of the given length (the last may be
//     shorter; a job at the very end of the span belongs to it). Drawn blocks are laid end to end,
//     from the span's begin, until there are enough jobs.
// A clone of the load factor arrives after its original by a uniform number of nanoseconds from 0
// to one mean interarrival time (of the workload before cloning, rounded down).
// Jitter is rounded to the nanosecond; arrivals before time zero become zero.
// Speed-up divides by the exact value of the double and rounds to the nearest nanosecond, halves
// up.
//
// A job's first instance keeps its name; the others are called "<name>-copy-<k>", k from 1 on,
// leaving out names that the workload has already.
//
// Draws come from the streams "workload/bootstrap", "workload/load_factor" and "workload/jitter",
// so that one knob leaves the draws of the others alone.
//
// InvalidArgument, beginning with the scenario's key, when an option is out of range, a tenant has
// no job in the trace, no job arrives within the window, blocks are so short that nearly all are
// empty, or a time leaves 0..kMaxShapedNs; `jobs` must not be used then. Materialised:
// O(n log n) time and O(n) memory for the n jobs before and after. Nothing is kept.
absl::Status ShapeJobs(const ShapingOptions& options, std::vector<JobArrival>* jobs,
                       int64_t* origin_ns);

// The mean demand of a workload if no job ever waited.
struct LoadEstimate {
  double mean_gpu_milli = 0;  // 1000: one GPU, all the time
  double mean_cpu_milli = 0;
  int64_t span_ns = 0;       // last arrival less first arrival; when it is 0, both means are 0
  int64_t gpu_jobs = 0;      // jobs that ask for GPUs
  int64_t endless_jobs = 0;  // with neither run time nor deletion; they add nothing to the means
};

// The sum of request times time held, over the span of arrivals. A job holds its request for its
// run time and its failed attempts, but not beyond its deletion. Jobs may be in any order. Sums are
// exact (up to 2^128, where they stay). O(jobs).
LoadEstimate MeanLoad(absl::Span<const JobArrival> jobs, const ShapeTable& shapes);

// The number of nodes, taken from the list in turns, for which the mean load is `percent` of their
// GPUs, or of their CPUs when no job asks for GPUs: the first number that is enough, or one node
// fewer where that comes nearer (and leaves a node). Absent nodes hold nothing.
// InvalidArgument, "workload.target_load_percent: ...", when percent is not above 0 or beyond 10^6,
// the load or the list's capacity is zero, or more than kMaxGeneratedNodes would be needed.
// O(nodes).
absl::StatusOr<int64_t> NodesForLoad(absl::Span<const NodeSpec> nodes, const LoadEstimate& load,
                                     double percent);

// The list cut or repeated to NodesForLoad nodes. The nodes of the second round are called
// "<name>-2", of the third "<name>-3", and so on, leaving out names that the list has already.
// Errors are those of NodesForLoad. O(nodes before and after).
absl::StatusOr<std::vector<NodeSpec>> ScaleCluster(std::vector<NodeSpec> nodes,
                                                   const LoadEstimate& load, double percent);

// The list cut or repeated to `scale` times its nodes (rounded, one at least), with names as
// ScaleCluster gives them: node i of the result is a copy of node i modulo the list's size.
// InvalidArgument, "cluster.scale: ...", unless 0 < scale <= 10^6 and for more than
// kMaxGeneratedNodes. O(nodes before and after).
absl::StatusOr<std::vector<NodeSpec>> MultiplyCluster(std::vector<NodeSpec> nodes, double scale);

}  // namespace drasim

#endif  // DRASIM_TRACES_SHAPING_H_
