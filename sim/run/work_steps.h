// WorkSteps: deterministic counts of a run's work, equal in every run of one program on one
// scenario.
#ifndef DRASIM_SIM_RUN_WORK_STEPS_H_
#define DRASIM_SIM_RUN_WORK_STEPS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "model/text/json_writer.h"
#include "sim/core/profiles.h"
#include "sim/core/work_counters.h"
#include "sim/run/simulation.h"

namespace drasim {

// Nodes that a plugin was asked about, by the plugin's name.
using PluginCalls = std::map<std::string, uint64_t>;

struct WorkSteps {
  WorkCounters search;
  uint64_t events = 0;            // of the engine
  uint64_t queue_operations = 0;  // Dispatcher::queue_operations
  // Proposals of devices for a pod and a node, questions to the drivers of classic DRA, searches of
  // nodes in structured DRA.
  uint64_t allocator_calls = 0;
  uint64_t api_calls = 0;  // of DRA: reads and writes of all clients, refused ones included
  // Searches of structured DRA (policies/allocator/search_counts.h).
  struct DeviceSearch {
    uint64_t searches = 0;
    uint64_t steps = 0;
    uint64_t candidates = 0;
    uint64_t cel_evaluations = 0;
  };
  std::optional<DeviceSearch> device_search;
  PluginCalls filter_calls;
  PluginCalls score_calls;
};

// Adds the calls of the profiles' plugins and allocators so far. O(plugins).
void AddProfileCalls(const Profiles& profiles, WorkSteps* steps);

// So far, of this process: all but the events begin at 0 in a resumed run. O(plugins).
WorkSteps WorkStepsOf(const Simulation& sim);

// The key "steps" and its object.
void WriteSteps(const WorkSteps& steps, JsonWriter& j);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_WORK_STEPS_H_
