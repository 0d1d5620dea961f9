#include "model/label_selector.h"

#include <algorithm>

namespace drasim {
namespace {

bool Meets(const LabelRequirement& requirement, const std::string* label) {
  switch (requirement.op) {
    case SelectorOperator::kExists:
      return label != nullptr;
    case SelectorOperator::kDoesNotExist:
      return label == nullptr;
    case SelectorOperator::kIn:
    case SelectorOperator::kNotIn:
      break;
  }
  const bool listed = label != nullptr && std::binary_search(requirement.values.begin(),
                                                             requirement.values.end(), *label);
  return listed == (requirement.op == SelectorOperator::kIn);
}

}  // namespace

const std::string* LabelOf(absl::Span<const std::pair<std::string, std::string>> labels,
                           const std::string& key) {
  const auto found =
      std::lower_bound(labels.begin(), labels.end(), key,
                       [](const auto& label, const std::string& k) { return label.first < k; });
  return found == labels.end() || found->first != key ? nullptr : &found->second;
}

bool Selects(const LabelSelector& selector,
             absl::Span<const std::pair<std::string, std::string>> labels) {
  if (!selector.given || !selector.error.empty()) return false;
  return std::all_of(selector.requirements.begin(), selector.requirements.end(),
                     [labels](const LabelRequirement& requirement) {
                       return Meets(requirement, LabelOf(labels, requirement.key));
                     });
}

}  // namespace drasim
