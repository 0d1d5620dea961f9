// Results about devices: figures for comparisons, the object "devices" of summary.json, rows of the
// printed table. docs/device_metrics.md has the formulas.
#ifndef DRASIM_SIM_RUN_DEVICE_OUTPUTS_H_
#define DRASIM_SIM_RUN_DEVICE_OUTPUTS_H_

#include <cstdint>

#include "model/text/json_writer.h"
#include "model/text/text_table.h"
#include "sim/run/simulation.h"

namespace drasim {

// The fit of jobs' requests to the possible partitions of devices. Percentages "of capacity" refer
// to all GPUs of the cluster, "of the slices" to all MIG slices of the same kind.
struct DeviceFigures {
  bool present = false;  // the run has a device report
  // Fraction (0..1) of arrived pods that were placed at least once, by number of pods and weighted
  // by requested GPU milli.
  double acceptance_by_count = 0;
  double acceptance_by_slices = 0;
  // At the end of a fill; averaged over time in a replay.
  double allocated_percent = 0;          // allocated, of capacity
  double demanded_percent = 0;           // demand of resident pods, of capacity
  double stranded_memory_percent = 0;    // idle but unusable memory slices, of the slices
  double stranded_compute_percent = 0;   // the same of compute slices
  double stranded_geometry_percent = 0;  // stranded memory slices by cause, of the slices
  double stranded_layout_percent = 0;
  double stranded_other_percent = 0;
  double waste_compute_percent = 0;  // allocated beyond the demand, of capacity
  double waste_memory_percent = 0;   // the same of memory, of allocated memory
  double shortfall_percent = 0;      // unmet demand of resident pods, of capacity
  double slot_fragmentation_percent = 0;
  // Totals of the run.
  int64_t admission_failures = 0;
  int64_t repartitions = 0;
  double repartition_gpu_seconds = 0;  // GPU time that repartitioning took
};

// These functions REQUIRE sim.device_report() and a started run.

// At the end of a fill; averaged over time in a replay.
DeviceFigures DeviceFiguresOf(const Simulation& sim);

// Writes the key "devices" and its object.
void WriteDevices(const Simulation& sim, JsonWriter& j);

// Rows of three columns: figure, amount, total. Averages over time in a replay.
void AddDeviceRows(const Simulation& sim, TextTable* table);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_DEVICE_OUTPUTS_H_
