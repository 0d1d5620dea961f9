// Decisions in which allocators of older Kubernetes releases differ from that of 1.37.2: bugs that
// were fixed, and rules that changed. docs/fidelity/structured_releases.md lists the same by pull
// request.
#ifndef DRASIM_POLICIES_ALLOCATOR_RELEASE_RULES_H_
#define DRASIM_POLICIES_ALLOCATOR_RELEASE_RULES_H_

#include "policies/allocator/dra_features.h"

namespace drasim {

// Each is true of 1.37.2. The newest patch of a release counts.
struct ReleaseRules {
  // --- since 1.35 ---
  // Counter sets belong to the pool, and have slices of their own. Before: to their slice, which
  // has the devices as well, and only its own devices are charged.
  bool counters_by_pool = true;
  // Incomplete pools give no devices. Before: they do, but not to requests for all devices.
  bool skips_incomplete_pools = true;
  // An invalid pool makes a node unfit only if nothing else fits. Before: the attempt ends when the
  // search comes to it.
  bool passes_invalid_pools = true;
  // The first share of a device is charged for all. Before: every share is.
  bool first_share_pays = true;

  // --- since 1.36 ---
  // A device that is given up gives everything back. Before: it stays charged to its counters when
  // a taint or a constraint rules it out, or when it is shared; one of all devices that lacks room
  // also stays taken, and part of the constraints.
  bool gives_back = true;

  // --- since 1.37 ---
  // Devices that others hold in shares are charged to their counters. Before: only those held
  // alone.
  bool held_shares_are_charged = true;
  // A share without consumed capacity makes the next one free of charge. Before: it does not.
  bool bare_shares_count = true;
  // distinctAttribute looks at every device. Before: at the last one of each request.
  bool distinct_by_device = true;
  // Undoing a device restores the elements that lists have in common. Before: it does not.
  bool restores_common = true;
  // A request for all devices wants those that are large enough. Before: those with enough left.
  bool all_by_size = true;
  // Amounts that cannot be represented, and negative ones, are errors; an amount that is rounded up
  // takes the notation of the step. Before: sums wrap around, and are written in binary notation.
  bool checks_amounts = true;
  // compatibilityGroups and skipNodeOperations exist. Before: the API server drops the fields.
  bool knows_new_fields = true;
};

ReleaseRules RulesOf(StructuredRelease release);

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_RELEASE_RULES_H_
