// SliceFacts: a ResourceSlice, and what a claim holds, as plain values: the input of
// DeviceInventory (model/device_inventory.h).
//
// The texts belong to the caller and are only read.
#ifndef DRASIM_MODEL_SLICE_FACTS_H_
#define DRASIM_MODEL_SLICE_FACTS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/string_view.h"
#include "model/device_columns.h"
#include "model/quantity.h"

namespace drasim {

// Amounts of counters are exact, in billionths.
using ExactAmount = absl::int128;

struct CounterFacts {
  uint32_t set = 0;  // number of the entry of sharedCounters or consumesCounters
  absl::string_view set_name;
  absl::string_view name;
  ExactAmount amount = 0;
};

// The GPU of the node that a device is, or is cut from.
struct GpuFacts {
  int gpu = -1;  // index on the node; -1: the device is no GPU, or it is not known which
  absl::string_view profile;  // of a MIG instance, in any driver's naming; empty: the whole GPU
  int start = 0;              // the first unit of a MIG instance
};

struct SliceDeviceFacts {
  absl::string_view name;
  DeviceFacts content;
  std::vector<CounterFacts> counters;  // those that the device consumes
  GpuFacts gpu;
};

struct SliceFacts {
  absl::string_view driver;
  absl::string_view pool;
  int64_t generation = 0;
  absl::string_view node_name;         // empty: the devices are not those of one node
  std::vector<CounterFacts> counters;  // shared ones
  std::vector<SliceDeviceFacts> devices;
};

// A device that a claim holds.
struct HoldFacts {
  absl::string_view driver;
  absl::string_view pool;
  absl::string_view device;
  bool share = false;                                           // else the device is held alone
  std::vector<std::pair<absl::string_view, Quantity>> amounts;  // of capacity, by name
};

}  // namespace drasim

#endif  // DRASIM_MODEL_SLICE_FACTS_H_
