// The data of the MIG placement rules: which starts each tries, in which order, and which layouts
// nos knows. Sources: docs/fidelity.md, "MIG placement rules".
#ifndef DRASIM_POLICIES_DEVICES_MIG_RULE_ORDERS_H_
#define DRASIM_POLICIES_DEVICES_MIG_RULE_ORDERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/mig_table.h"
#include "policies/devices/mig_rule_list.h"

namespace drasim {

// The placements of `profile` that the rule would take, best first. All of the profile's, except
// for ParvaGPU, which never puts a 3g at start 0. ParvaGPU's table is one of GPUs with seven slices
// and eight units; on others, and for profiles that it does not have (1g with double memory), its
// order is the listed one. O(placements x log placements).
std::vector<uint8_t> RuleOrder(const MigTable& table, MigRule rule, size_t profile);

// Whether nos has a geometry that contains these instances. On GPUs with seven slices: its twelve,
// of the plain profiles without the 1g of double memory. Elsewhere any layout of plain profiles:
// its list for A30 is just that, and other products it does not have. O(instances).
bool NosAllows(const MigTable& table, uint64_t set);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_MIG_RULE_ORDERS_H_
