// What a run tells about devices: the figures that comparisons show, the object "devices" of
// summary.json, rows of the printed table. docs/device_metrics.md has the formulas.
#ifndef DRASIM_SIM_RUN_DEVICE_OUTPUTS_H_
#define DRASIM_SIM_RUN_DEVICE_OUTPUTS_H_

#include <cstdint>

#include "model/text/json_writer.h"
#include "model/text/text_table.h"
#include "sim/run/simulation.h"

namespace drasim {

// How well what jobs asked for fits what devices can be cut into. Amounts of GPU are milli; "of
// capacity" is of all GPUs of the cluster, "of the slices" of all MIG slices of the same kind.
struct DeviceFigures {
  bool present = false;  // the run kept a report on its devices
  // Of the pods that arrived, those that got a place at least once (0..1): each counts as one, or
  // as the GPU milli that it asks for.
  double acceptance_by_count = 0;
  double acceptance_by_slices = 0;
  // At one time, or averaged over time.
  double allocated_percent = 0;          // handed out, of capacity
  double demanded_percent = 0;           // wanted by the jobs of resident pods, of capacity
  double stranded_memory_percent = 0;    // idle but unusable memory slices, of the slices
  double stranded_compute_percent = 0;   // the same of compute slices
  double stranded_geometry_percent = 0;  // stranded memory slices by reason, of the slices
  double stranded_layout_percent = 0;
  double stranded_other_percent = 0;
  double waste_compute_percent = 0;  // handed out but not wanted, of capacity
  double waste_memory_percent = 0;   // the same of memory, of what was handed out
  double shortfall_percent = 0;      // wanted but not handed out to resident pods, of capacity
  double slot_fragmentation_percent = 0;
  // Of the whole run.
  int64_t admission_failures = 0;
  int64_t repartitions = 0;
  double repartition_gpu_seconds = 0;  // GPU time that repartitioning took
};

// All of these REQUIRE sim.device_report() and a run that has started.

// Of a fill as it ends, of a replay averaged over its time.
DeviceFigures DeviceFiguresOf(const Simulation& sim);

// The key "devices" with its object.
void WriteDevices(const Simulation& sim, JsonWriter& j);

// Rows of three columns: what, how much, of how much. Averages over time in a replay.
void AddDeviceRows(const Simulation& sim, TextTable* table);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_DEVICE_OUTPUTS_H_
