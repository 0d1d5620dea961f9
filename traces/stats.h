// `drasim trace stats`: what a workload asks for and when, gathered in one pass over its arrivals.
#ifndef DRASIM_TRACES_STATS_H_
#define DRASIM_TRACES_STATS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/string_view.h"
#include "model/event_source.h"
#include "model/ids.h"
#include "model/pod_shape.h"
#include "model/shape_table.h"

namespace drasim {

// A histogram of whole seconds in 3712 buckets, from which quantiles come with a relative error of
// at most 1/128.
//
// Values below 128 have a bucket each. Above, every power of two is cut into 64 buckets of equal
// width, and a bucket stands for its middle: with v in [2^e, 2^(e+1)) the width is 2^(e-6), so the
// middle is off by at most 2^(e-7) <= v / 128.
class SecondsHistogram {
 public:
  SecondsHistogram() : buckets_(kBuckets) {}

  // REQUIRES: seconds >= 0. O(1).
  void Add(int64_t seconds);
  int64_t count() const { return count_; }
  // The value of rank ceil(count * permille / 1000), counted from 1 in ascending order, to within
  // the error above. REQUIRES: count() > 0, 1 <= permille <= 1000. O(buckets).
  int64_t Quantile(int permille) const;

 private:
  static constexpr size_t kBuckets = 128 + 56 * 64;

  std::vector<int64_t> buckets_;
  int64_t count_ = 0;
};

// Results of TraceStats. Sums that leave 64 bits are the largest int64, and `exceeded` names them.
struct TraceSummary {
  static constexpr size_t kShareBins = 10;
  static constexpr std::array<int, 8> kPermilles = {10, 100, 250, 500, 750, 900, 950, 990};

  struct GpuCountGroup {
    int32_t gpu_count = 0;  // of each pod of the group
    int64_t pods = 0;
    int64_t gpu_milli = 0;  // requested by all of them
  };
  struct ShapeCount {
    PodShape shape;
    int64_t pods = 0;
  };

  int64_t pods = 0;
  int64_t share_pods = 0;  // pods that ask for a part of each of their GPUs
  // Requested by all pods together.
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  int64_t gpus = 0;                         // devices, whole or in part
  int64_t gpu_milli = 0;                    // GPU demand: devices times their share
  std::vector<GpuCountGroup> by_gpu_count;  // ascending
  // Share pods by gpu_milli per GPU: 1..100, 101..200, ..., 901..999.
  std::array<int64_t, kShareBins> share_bins{};

  // "cpu_milli", "memory_bytes", "gpus", "gpu_milli", in this order: sums that are larger than what
  // stands above.
  std::vector<std::string> exceeded;
  bool exceeds(absl::string_view sum) const;

  int64_t distinct_shapes = 0;
  std::vector<ShapeCount> top_shapes;  // most pods first; ties in order of first appearance

  // Meaningless without pods.
  int64_t first_arrival_ns = 0;
  int64_t last_arrival_ns = 0;

  int64_t timed_pods = 0;  // pods with a run time
  // Run times of those; meaningless without any. Least, greatest and mean (rounded down) are exact.
  int64_t min_run_time_ns = 0;
  int64_t max_run_time_ns = 0;
  int64_t mean_run_time_ns = 0;
  // At kPermilles, from a SecondsHistogram of run times rounded to the second.
  std::array<int64_t, kPermilles.size()> run_time_quantiles_s{};

  // Aligned plain text for a terminal; ends with a line break. Memory in MiB, rounded up.
  std::string ToTable() const;
  // One JSON object, byte-stable, "drasim.trace-stats/v1", counts as integers. `arrivals` and the
  // figures of `run_time` are null when there are none.
  std::string ToJson() const;
};

// Memory: 30 kB, and one count per shape of the table. Not thread-safe.
class TraceStats {
 public:
  // `shapes` may grow between calls and must outlive the object.
  explicit TraceStats(const ShapeTable* shapes) : shapes_(shapes) {}

  // Arrivals may come in any order. Negative run times count as 0. O(1).
  void Add(const JobArrival& pod);

  // With at most `top_shapes` of the most frequent shapes. O(shapes log shapes).
  TraceSummary Summary(size_t top_shapes) const;

 private:
  void FoldShapes(TraceSummary* summary, size_t top_shapes) const;

  const ShapeTable* shapes_;
  std::vector<int64_t> shape_pods_;  // by ShapeId
  int64_t pods_ = 0;
  int64_t first_arrival_ns_ = 0;
  int64_t last_arrival_ns_ = 0;
  int64_t min_run_time_ns_ = 0;
  int64_t max_run_time_ns_ = 0;
  absl::uint128 run_time_sum_ns_ = 0;
  SecondsHistogram run_times_;
};

}  // namespace drasim

#endif  // DRASIM_TRACES_STATS_H_
