// What a run with classic DRA tells about its control plane: the object "dra" of summary.json and
// rows of the printed table. docs/dra.md explains the figures.
#ifndef DRASIM_SIM_RUN_DRA_OUTPUTS_H_
#define DRASIM_SIM_RUN_DRA_OUTPUTS_H_

#include <cstdint>

#include "model/text/json_writer.h"
#include "model/text/text_table.h"
#include "sim/run/simulation.h"

namespace drasim {

// Calls of all components; those of users, who create and delete pods, are apart.
struct DraCalls {
  uint64_t reads = 0;
  uint64_t skipped_reads = 0;  // of `reads`: DriverControllerOptions::sleep_when_idle
  uint64_t writes = 0;
  uint64_t refused = 0;  // of both: conflicts, invalid writes
  uint64_t cycles = 0;   // scheduling cycles begun
};

// All of these REQUIRE sim.control_plane().
DraCalls DraCallsOf(const Simulation& sim);

// The key "dra" with its object.
void WriteDra(const Simulation& sim, JsonWriter& j);

// Rows of three columns: what, how many, and per pod that arrived.
void AddDraRows(const Simulation& sim, TextTable* table);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_DRA_OUTPUTS_H_
