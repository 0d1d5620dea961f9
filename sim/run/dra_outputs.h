// Results about the control plane of classic DRA: the object "dra" of summary.json and rows of the
// printed table. docs/dra.md explains the figures.
#ifndef DRASIM_SIM_RUN_DRA_OUTPUTS_H_
#define DRASIM_SIM_RUN_DRA_OUTPUTS_H_

#include <cstdint>
#include <vector>

#include "model/text/json_writer.h"
#include "model/text/text_table.h"
#include "sim/record/ledger_claims.h"
#include "sim/run/simulation.h"

namespace drasim {

// API calls of all components, without those of users, who create and delete pods.
struct DraCalls {
  uint64_t reads = 0;
  uint64_t skipped_reads = 0;  // of `reads`: DriverControllerOptions::sleep_when_idle
  uint64_t writes = 0;
  uint64_t refused = 0;  // of reads and writes: conflicts, invalid writes
  uint64_t cycles = 0;   // scheduling cycles started
};

// These functions REQUIRE sim.control_plane().
DraCalls DraCallsOf(const Simulation& sim);

// By client, in the order in which they connected; without users.
std::vector<ClientCalls> CallsByClient(const Simulation& sim);

// Writes the key "dra" and its object.
void WriteDra(const Simulation& sim, JsonWriter& j);

// Rows of three columns: figure, count, count per arrived pod.
void AddDraRows(const Simulation& sim, TextTable* table);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_DRA_OUTPUTS_H_
