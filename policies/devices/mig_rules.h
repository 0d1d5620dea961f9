// MIG placement rules of real systems and of research, as look-up tables.
//
// For a GPU in a given state and a requested profile, a rule gives the preferred start and its
// cost. Among the GPUs of a node the lowest cost wins; ties go to the first in the rule's order of
// GPUs. The tables are computed once per product, so a proposal is one look-up per GPU. Sources:
// docs/fidelity.md, "MIG placement rules".
#ifndef DRASIM_POLICIES_DEVICES_MIG_RULES_H_
#define DRASIM_POLICIES_DEVICES_MIG_RULES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/mig_fragmentation.h"
#include "model/mig_table.h"
#include "policies/devices/mig_rule_list.h"

namespace drasim {

// One rule over one product.
class MigRuleTable {
 public:
  // `weights`: per profile of the table, in parts per kMfiScale, for weighted rules; else empty.
  MigRuleTable(const MigTable* table, MigRule rule, absl::Span<const int64_t> weights = {});

  struct Choice {
    int32_t cost = kImpossible;        // smaller is better
    uint8_t placement = kNoPlacement;  // kNoPlacement: the rule refuses
  };
  static constexpr int32_t kImpossible = INT32_MAX;

  const MigTable& table() const { return *table_; }
  // The rule's choice on one GPU. O(1).
  const Choice& OnGpu(MigState state, size_t profile) const {
    return choices_[size_t{state} * profiles_ + profile];
  }

  struct NodeChoice {
    int32_t cost = kImpossible;
    int32_t gpu = -1;  // -1: none
    uint8_t placement = kNoPlacement;
  };
  // The best GPU of a node among `usable`. `after`: for kRoundRobin, the GPU last used on this node
  // (-1: none), where the search begins; other rules ignore it. O(GPUs).
  NodeChoice OnNode(absl::Span<const MigState> gpus, DeviceSet usable, size_t profile,
                    int32_t after = -1) const;

  // Several instances for one pod: places one after the other by the rule. If that fails,
  // backtracks over GPUs and placements in the rule's order (as HAMi and the classic DRA driver
  // do), fewest possible placements first, and takes the first combination. False when there is
  // none. Appends to `grants`.
  bool OnNodeAll(absl::Span<const MigState> gpus, DeviceSet usable,
                 absl::Span<const uint8_t> profiles, int32_t after, DeviceGrants* grants) const;

  // InstaSlice's score of the node: 100 * free units / all units. 0 for other rules, whose nodes
  // compare by cost.
  int64_t NodeScore(absl::Span<const MigState> gpus) const;

 private:
  void FillChoices(absl::Span<const int64_t> weights);
  bool Allowed(MigState state, size_t placement) const;

  const MigTable* table_;
  MigRule rule_;
  size_t profiles_ = 0;
  std::vector<Choice> choices_;              // state, profile
  std::vector<std::vector<uint8_t>> order_;  // by profile: placements in the rule's order
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DEVICES_MIG_RULES_H_
