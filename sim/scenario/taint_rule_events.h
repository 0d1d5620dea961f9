// `front_end.structured.taint_rules`: what an administrator does to DeviceTaintRules.
#ifndef DRASIM_SIM_SCENARIO_TAINT_RULE_EVENTS_H_
#define DRASIM_SIM_SCENARIO_TAINT_RULE_EVENTS_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/dra/structured/taint_admin.h"

namespace drasim {

namespace proto {
class StructuredDra;
}

// The events in the order of the scenario; all but deletions are creations. InvalidArgument,
// beginning with the scenario key: a bad name, time, key, value or effect; any event while
// `rules_count` is false (gate DRADeviceTaintRules).
absl::StatusOr<std::vector<TaintRuleEvent>> ReadTaintRules(const proto::StructuredDra& given,
                                                           bool rules_count);

// The events in the order of time, with changes told from creations; `known`: rules that exist at
// the beginning. InvalidArgument for the deletion of a rule that does not exist then.
absl::StatusOr<std::vector<TaintRuleEvent>> ArrangeTaintRules(std::vector<TaintRuleEvent> events,
                                                              std::set<std::string> known);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_TAINT_RULE_EVENTS_H_
