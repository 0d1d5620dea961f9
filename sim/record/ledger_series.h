// Metrics of a run by block of the ledger, for curves without a look at the records.
#ifndef DRASIM_SIM_RECORD_LEDGER_SERIES_H_
#define DRASIM_SIM_RECORD_LEDGER_SERIES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "model/record.h"
#include "model/time.h"
#include "sim/record/live_state.h"

namespace drasim {

// The metrics, in the order of the columns. Levels come first; the others only grow.
inline constexpr const char* kSeriesNames[] = {
    "pods_waiting",      "pods_resident",       "gpu_allocated_milli",    "gpu_capacity_milli",
    "gpus_in_use",       "cpu_allocated_milli", "memory_allocated_bytes", "nodes_in_use",
    "nodes_available",   "pods_arrived",        "pods_scheduled",         "pods_bound",
    "pods_finished",     "pods_failed",         "pods_dropped",           "pods_deleted",
    "pods_evicted",      "pods_rejected",       "pods_given_up",          "attempts_failed",
    "gpu_arrived_milli",
};
inline constexpr size_t kSeriesLevels = 9;
inline constexpr size_t kSeriesMetrics = kSeriesLevels + kRunCounters;
static_assert(std::size(kSeriesNames) == kSeriesMetrics);
using SeriesValues = std::array<int64_t, kSeriesMetrics>;

// The metrics as they are now.
SeriesValues SeriesValuesOf(const LiveState& live);

struct SeriesBlock {
  uint64_t first_record = 0;
  uint64_t records = 0;
  SimTime begin;  // of its first record
  SimTime end;    // of its last
  bool operator==(const SeriesBlock&) const = default;
};

// The values of a metric right after the records of one block.
struct SeriesPoint {
  int64_t first = 0;
  int64_t last = 0;
  int64_t least = 0;
  int64_t largest = 0;
  bool operator==(const SeriesPoint&) const = default;
};

struct LedgerSeries {
  std::vector<std::string> names;
  std::vector<SeriesBlock> blocks;
  std::vector<std::vector<SeriesPoint>> points;  // by name, beside `blocks`
};

// Folds records into points. The records of a block end with EndBlock.
class SeriesFolder {
 public:
  // `live` has seen the record. O(1).
  void OnRecord(const Record& record, const LiveState& live);
  // REQUIRES: a record since the block before.
  void EndBlock(const LiveState& live);

  // Blocks since the last Clear.
  size_t blocks() const { return blocks_.size(); }
  void Clear();
  // The payload of a frame with these blocks.
  std::string Pack() const;

 private:
  SeriesBlock block_;  // in progress
  SeriesValues first_{};
  SeriesValues least_{};
  SeriesValues largest_{};
  std::vector<SeriesBlock> blocks_;
  std::array<std::vector<SeriesPoint>, kSeriesMetrics> points_;
};

// Adds the blocks of a frame. False if the payload is unreadable, or does not continue what is
// there: the names are the same, and the first record follows the last.
bool UnpackSeries(const std::string& payload, LedgerSeries* series);

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_LEDGER_SERIES_H_
