// PerfAgenda: later actions of background operations, such as deletions at a rate and churn.
#ifndef DRASIM_SIM_PERF_PERF_AGENDA_H_
#define DRASIM_SIM_PERF_PERF_AGENDA_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "model/time.h"

namespace drasim::perf {

class PerfAgenda {
 public:
  // Entries of one time are done in the order in which they were added. O(log entries).
  void Add(SimTime at, std::function<absl::Status()> work) {
    entries_.emplace(std::make_pair(at, next_++), std::move(work));
  }
  std::optional<SimTime> NextTime() const {
    if (entries_.empty()) return std::nullopt;
    return entries_.begin()->first.first;
  }
  // Does the first entry, which may add others. REQUIRES: NextTime().
  absl::Status DoNext() {
    const std::function<absl::Status()> work = std::move(entries_.begin()->second);
    entries_.erase(entries_.begin());
    return work();
  }

 private:
  std::map<std::pair<SimTime, uint64_t>, std::function<absl::Status()>> entries_;
  uint64_t next_ = 0;
};

}  // namespace drasim::perf

#endif  // DRASIM_SIM_PERF_PERF_AGENDA_H_
