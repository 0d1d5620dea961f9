// Options of the allocator's policies.
#ifndef DRASIM_POLICIES_CHOICE_CHOICE_POLICY_OPTIONS_H_
#define DRASIM_POLICIES_CHOICE_CHOICE_POLICY_OPTIONS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace drasim {

struct ChoicePolicyOptions {
  // The expected mix: shares of MIG profiles by name, in any unit. Empty: none is known.
  std::vector<std::pair<std::string, int64_t>> mix;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_CHOICE_CHOICE_POLICY_OPTIONS_H_
