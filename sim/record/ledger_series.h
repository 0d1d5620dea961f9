// Metrics of a run by block of the ledger, for curves without a look at the records.
#ifndef DRASIM_SIM_RECORD_LEDGER_SERIES_H_
#define DRASIM_SIM_RECORD_LEDGER_SERIES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "model/ids.h"
#include "model/mig_slices.h"
#include "model/record.h"
#include "model/time.h"
#include "sim/record/live_state.h"

namespace drasim {

// The metrics, in the order of the columns, which never changes: new ones go last.
inline constexpr const char* kSeriesNames[] = {
    "pods_waiting",           "pods_resident",   "gpu_allocated_milli",
    "gpu_capacity_milli",     "gpus_in_use",     "cpu_allocated_milli",
    "memory_allocated_bytes", "nodes_in_use",    "nodes_available",
    "pods_arrived",           "pods_scheduled",  "pods_bound",
    "pods_finished",          "pods_failed",     "pods_dropped",
    "pods_deleted",           "pods_evicted",    "pods_rejected",
    "pods_given_up",          "attempts_failed", "gpu_arrived_milli",
    "slices_total",           "slices_held",     "slices_stranded",
    "waiting_untried",        "waiting_no_room", "waiting_driver",
    "places_taken_back",
};
inline constexpr size_t kSeriesMetrics = std::size(kSeriesNames);
using SeriesValues = std::array<int64_t, kSeriesMetrics>;

// The metrics as they are now.
SeriesValues SeriesValuesOf(const LiveState& live, const SliceCounts& slices);

struct SeriesBlock {
  uint64_t first_record = 0;
  uint64_t records = 0;
  SimTime begin;  // of its first record
  SimTime end;    // of its last
  bool operator==(const SeriesBlock&) const = default;
};

// The values of a metric right after the records of one block. Slices are known only at its ends:
// `first` is the value before its first record, and the extremes are those of `first` and `last`.
struct SeriesPoint {
  int64_t first = 0;
  int64_t last = 0;
  int64_t least = 0;
  int64_t largest = 0;
  bool operator==(const SeriesPoint&) const = default;
};

// A record of kind kNodeChanged or kDevicesChanged.
struct SeriesEvent {
  uint64_t record = 0;  // its number
  SimTime time;
  RecordKind kind = RecordKind::kNodeChanged;
  uint32_t detail = 0;  // NodeChangeKind or DeviceChangeKind
  NodeId node;
  bool operator==(const SeriesEvent&) const = default;
};
// At most this number of the events between two frames is kept.
inline constexpr size_t kMaxSeriesEvents = 4096;

struct LedgerSeries {
  std::vector<std::string> names;
  std::vector<SeriesBlock> blocks;
  std::vector<std::vector<SeriesPoint>> points;  // by name, beside `blocks`
  std::vector<SeriesEvent> events;               // of the blocks, in order
  uint64_t events_left_out = 0;
};

// Folds records into points. The records of a block end with EndBlock.
class SeriesFolder {
 public:
  // `live` has seen the record. O(1).
  void OnRecord(const Record& record, const LiveState& live);
  // The same for a failed attempt after which no level differs from before.
  void OnRepeatedFailure(const Record& record, const LiveState& live) {
    if (block_.records == 0) return OnRecord(record, live);
    block_.end = record.time;
    ++block_.records;
  }
  // The slices are those before and after the block. REQUIRES: a record since the block before.
  void EndBlock(const LiveState& live, const SliceCounts& slices_before, const SliceCounts& slices);

  // Blocks since the last Clear.
  size_t blocks() const { return blocks_.size(); }
  void Clear();
  // The payload of a frame with these blocks.
  std::string Pack() const;

 private:
  void Widen(size_t metric, int64_t value);

  SeriesBlock block_;  // in progress
  SeriesValues first_{};
  SeriesValues least_{};
  SeriesValues largest_{};
  std::vector<SeriesBlock> blocks_;
  std::array<std::vector<SeriesPoint>, kSeriesMetrics> points_;
  std::vector<SeriesEvent> events_;
  uint64_t event_count_ = 0;  // with those left out
};

// Adds the blocks of a frame. False if the payload is unreadable, names a node beyond `nodes`, or
// does not continue what is there: the names are the same, and the first record follows the last.
bool UnpackSeries(const std::string& payload, size_t nodes, LedgerSeries* series);

}  // namespace drasim

#endif  // DRASIM_SIM_RECORD_LEDGER_SERIES_H_
