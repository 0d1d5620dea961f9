// The policy `mig-fragmentation` of structured DRA's allocator: keeps the most placements of the
// expected mix.
//
// A pool with counters has a value: the sum over the devices that could still be taken of their
// size (the part of their GPU's counters, in thousandths), each times the share of its profile in
// the expected mix, in thousandths. A device costs the value that is lost with it. Without a mix,
// or where no profile of the GPU is part of it, all profiles are worth the same. Profiles with a
// suffix (+me) and the whole GPU stand for no placements of their own beside MIG profiles.
//
// A device without counters costs its own size: its memory as a part of the largest of the node.
// Among equal solutions, those on the fullest GPUs count.
//
// Measured by this cost, MIG placements accept more of a mix with departures than by the growth of
// MfiScore (docs/dra_policies.md). The idea is the `configuration capability` of vGPU placement:
// the number of instances of each profile that a GPU can still give.
#ifndef DRASIM_POLICIES_CHOICE_MIG_FRAGMENTATION_CHOICE_H_
#define DRASIM_POLICIES_CHOICE_MIG_FRAGMENTATION_CHOICE_H_

#include <memory>

#include "policies/allocator/choice_policy.h"
#include "policies/choice/choice_policy_options.h"

namespace drasim {

std::unique_ptr<ChoicePolicy> MakeMigFragmentationChoice(const ChoicePolicyOptions& options);

}  // namespace drasim

#endif  // DRASIM_POLICIES_CHOICE_MIG_FRAGMENTATION_CHOICE_H_
