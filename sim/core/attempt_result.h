// AttemptResult: the outcome of one attempt of KubeCycle.
#ifndef DRASIM_SIM_CORE_ATTEMPT_RESULT_H_
#define DRASIM_SIM_CORE_ATTEMPT_RESULT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/ids.h"
#include "policies/framework/plugin.h"

namespace drasim {

struct AttemptResult {
  enum class Outcome : uint8_t { kFound, kUnschedulable, kError };
  Outcome outcome = Outcome::kUnschedulable;
  NodeId node;             // kFound
  std::string message;     // upstream's FitError with PostFilter's words, or the error
  uint64_t rejectors = 0;  // bit i: Profile::requeues()[i] rejected the pod
  // kUnschedulable: how many nodes were rejected for which reason of the profile; ascending.
  // Without nodes that PreFilter left out, or rejected for a reason of no list.
  std::vector<std::pair<ReasonIndex, uint32_t>> rejected;
  bool by_extender = false;  // extenders rejected nodes, too: any event may help
  // Number of waits for extenders, one after the other. Extenders that score are called at the same
  // time.
  int64_t extender_waits = 0;
  PostFilterResult post_filter;  // its victims are not evicted yet
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_ATTEMPT_RESULT_H_
