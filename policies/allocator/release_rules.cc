#include "policies/allocator/release_rules.h"

namespace drasim {

ReleaseRules RulesOf(StructuredRelease release) {
  const bool since_35 = release >= StructuredRelease::k1_35;
  const bool since_36 = release >= StructuredRelease::k1_36;
  const bool since_37 = release >= StructuredRelease::k1_37;
  ReleaseRules rules;
  rules.counters_by_pool = since_35;
  rules.skips_incomplete_pools = since_35;
  rules.passes_invalid_pools = since_35;
  rules.first_share_pays = since_35;
  rules.gives_back = since_36;
  rules.held_shares_are_charged = since_37;
  rules.bare_shares_count = since_37;
  rules.distinct_by_device = since_37;
  rules.restores_common = since_37;
  rules.all_by_size = since_37;
  rules.checks_amounts = since_37;
  rules.knows_new_fields = since_37;
  return rules;
}

}  // namespace drasim
