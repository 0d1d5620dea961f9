// The policies `pack` and `spread` of structured DRA's allocator.
//
// pack: fewest GPUs of which nothing is in use; then the fullest GPUs; nodes likewise, and of equal
// ones the fullest. spread: each device costs what is used of its GPU, and a whole GPU for each
// device that this attempt takes of it; of equal nodes the emptiest.
#ifndef DRASIM_POLICIES_CHOICE_PACK_CHOICE_H_
#define DRASIM_POLICIES_CHOICE_PACK_CHOICE_H_

#include <memory>

#include "policies/allocator/choice_policy.h"
#include "policies/choice/choice_policy_options.h"

namespace drasim {

std::unique_ptr<ChoicePolicy> MakePackChoice(const ChoicePolicyOptions& options);
std::unique_ptr<ChoicePolicy> MakeSpreadChoice(const ChoicePolicyOptions& options);

}  // namespace drasim

#endif  // DRASIM_POLICIES_CHOICE_PACK_CHOICE_H_
