// The policy `best-fit` of structured DRA's allocator: least waste.
//
// A device costs what is free of it: its memory in MiB, then its other capacities and its part of
// its GPU's counters. So a request for 24 GB gets the device of 40 GB and not that of 80 GB, and a
// share goes to the device with the least room. Of equal devices, those of the fullest GPUs count;
// nodes are compared by memory, then likewise.
#ifndef DRASIM_POLICIES_CHOICE_BEST_FIT_CHOICE_H_
#define DRASIM_POLICIES_CHOICE_BEST_FIT_CHOICE_H_

#include <memory>

#include "policies/allocator/choice_policy.h"
#include "policies/choice/choice_policy_options.h"

namespace drasim {

std::unique_ptr<ChoicePolicy> MakeBestFitChoice(const ChoicePolicyOptions& options);

}  // namespace drasim

#endif  // DRASIM_POLICIES_CHOICE_BEST_FIT_CHOICE_H_
