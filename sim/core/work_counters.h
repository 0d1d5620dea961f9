// WorkCounters: deterministic counts of the work that scheduling took; `steps` of run.json.
#ifndef DRASIM_SIM_CORE_WORK_COUNTERS_H_
#define DRASIM_SIM_CORE_WORK_COUNTERS_H_

#include <cstdint>

namespace drasim {

struct WorkCounters {
  uint64_t decisions = 0;
  uint64_t nodes_filtered = 0;
  uint64_t nodes_scored = 0;         // Score calls' nodes, over all score plugins
  uint64_t cache_hits = 0;           // nodes whose remembered verdict served a decision
  uint64_t attempts_remembered = 0;  // attempts that failed as before without a look at any node

  WorkCounters& operator+=(const WorkCounters& other) {
    decisions += other.decisions;
    nodes_filtered += other.nodes_filtered;
    nodes_scored += other.nodes_scored;
    cache_hits += other.cache_hits;
    attempts_remembered += other.attempts_remembered;
    return *this;
  }
  bool operator==(const WorkCounters&) const = default;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_WORK_COUNTERS_H_
