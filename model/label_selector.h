// Label selectors (meta/v1 LabelSelector) as values.
//
// Texts stay texts: verdicts that depend on them are cached per shape, so they are compared once
// per shape and node.
#ifndef DRASIM_MODEL_LABEL_SELECTOR_H_
#define DRASIM_MODEL_LABEL_SELECTOR_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace drasim {

// Sorted by key, each key once.
using Labels = std::vector<std::pair<std::string, std::string>>;

// The value of a label; null when the key is absent. O(log labels).
const std::string* LabelOf(absl::Span<const std::pair<std::string, std::string>> labels,
                           const std::string& key);

enum class SelectorOperator : uint8_t { kIn, kNotIn, kExists, kDoesNotExist };

struct LabelRequirement {
  std::string key;
  SelectorOperator op = SelectorOperator::kIn;
  std::vector<std::string> values;  // sorted, unique
  bool operator==(const LabelRequirement&) const = default;
};

// A conjunction. Default: an absent selector, which selects nothing.
struct LabelSelector {
  bool given = false;                          // false: nil
  std::vector<LabelRequirement> requirements;  // matchLabels are In with one value; sorted by key
  // Why Kubernetes cannot use the selector (an invalid key, value or operator), in its words; such
  // a selector makes the plugin that reads it fail. Empty: it is valid.
  std::string error;

  bool selects_all() const { return given && requirements.empty() && error.empty(); }
  bool operator==(const LabelSelector&) const = default;
};

// False for a selector that is absent or has an error. O(requirements log labels).
bool Selects(const LabelSelector& selector,
             absl::Span<const std::pair<std::string, std::string>> labels);

}  // namespace drasim

#endif  // DRASIM_MODEL_LABEL_SELECTOR_H_
