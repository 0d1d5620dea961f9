// Factory of the allocator's policies by name (front_end.structured.policy).
#ifndef DRASIM_POLICIES_CHOICE_CHOICE_POLICIES_H_
#define DRASIM_POLICIES_CHOICE_CHOICE_POLICIES_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "policies/choice/choice_policy_options.h"

namespace drasim {

class ChoicePolicy;

struct ChoicePolicyInfo {
  const char* name;
  const char* description;  // one line for --help
  // Null: upstream's first solution.
  std::unique_ptr<ChoicePolicy> (*make)(const ChoicePolicyOptions& options);
};

// In the order of --help, `first-fit` first.
absl::Span<const ChoicePolicyInfo> ChoicePolicyInfos();

// Null for first-fit, which is also "". InvalidArgument for an unknown name, with the names.
absl::StatusOr<std::shared_ptr<const ChoicePolicy>> MakeChoicePolicy(
    absl::string_view name, const ChoicePolicyOptions& options);

}  // namespace drasim

#endif  // DRASIM_POLICIES_CHOICE_CHOICE_POLICIES_H_
