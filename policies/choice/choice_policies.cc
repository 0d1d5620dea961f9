#include "policies/choice/choice_policies.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/text/did_you_mean.h"
#include "policies/allocator/choice_policy.h"
#include "policies/choice/best_fit_choice.h"
#include "policies/choice/mig_fragmentation_choice.h"
#include "policies/choice/pack_choice.h"
#include "policies/choice/topology_choice.h"

namespace drasim {
namespace {

// One line per policy.
constexpr ChoicePolicyInfo kPolicies[] = {
    {"first-fit", "upstream: the first solution in order of pools, slices and devices", nullptr},
    {"best-fit", "least waste: the smallest devices that suffice, on the fullest GPUs",
     MakeBestFitChoice},
    {"mig-fragmentation", "keeps the most placements of the expected mix of MIG profiles",
     MakeMigFragmentationChoice},
    {"pack", "fewest GPUs of which nothing is in use, then the fullest GPUs and nodes",
     MakePackChoice},
    {"spread", "the GPUs and nodes of which least is in use", MakeSpreadChoice},
    {"topology", "fewest NUMA nodes, then fewest PCIe roots", MakeTopologyChoice},
};

}  // namespace

absl::Span<const ChoicePolicyInfo> ChoicePolicyInfos() { return kPolicies; }

absl::StatusOr<std::shared_ptr<const ChoicePolicy>> MakeChoicePolicy(
    absl::string_view name, const ChoicePolicyOptions& options) {
  std::vector<std::string> names;
  for (const ChoicePolicyInfo& policy : kPolicies) {
    names.emplace_back(policy.name);
    const bool is_first = policy.make == nullptr;
    if (policy.name != name && !(is_first && name.empty())) continue;
    return is_first ? nullptr : std::shared_ptr<const ChoicePolicy>(policy.make(options));
  }
  return absl::InvalidArgumentError(absl::StrCat("found '", name, "', expected one of ",
                                                 absl::StrJoin(names, ", "), Suggest(name, names)));
}

}  // namespace drasim
