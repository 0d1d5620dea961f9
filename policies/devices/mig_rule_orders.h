// Data of the MIG placement rules: the starts that each rule tries, in order, and the layouts that
// nos knows. Sources: docs/fidelity.md, "MIG placement rules".
#ifndef DRASIM_POLICIES_DEVICES_MIG_RULE_ORDERS_H_
#define DRASIM_POLICIES_DEVICES_MIG_RULE_ORDERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/mig_table.h"
#include "policies/devices/mig_rule_list.h"

namespace drasim {

// The placements of `profile` that the rule accepts, best first: all of them, except that ParvaGPU
// never puts a 3g at start 0. ParvaGPU's table covers GPUs with seven slices and eight units; other
// GPUs and the profiles outside it (1g with double memory) take the listed order. O(placements x
// log placements).
std::vector<uint8_t> RuleOrder(const MigTable& table, MigRule rule, size_t profile);

// True when nos has a geometry that contains these instances. On GPUs with seven slices: its twelve
// geometries of the plain profiles without the 1g with double memory. Elsewhere any layout of plain
// profiles, which equals nos' list for A30; nos has no other products. O(instances).
bool NosAllows(const MigTable& table, uint64_t set);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_MIG_RULE_ORDERS_H_
