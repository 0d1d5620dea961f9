// Constraints of a pod beyond amounts and labels: its required node affinity, and the rules that no
// part of a simulation decides, for which it is kept pending.
#ifndef DRASIM_MODEL_POD_CONSTRAINTS_H_
#define DRASIM_MODEL_POD_CONSTRAINTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "model/node_spec.h"

namespace drasim {

// --- Required node affinity (core/v1 NodeSelector) ---

enum class NodeOperator : uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt };
inline constexpr size_t kNodeOperators = 6;

// "NotIn"; nothing for an unknown name.
absl::optional<NodeOperator> ParseNodeOperator(absl::string_view name);
absl::string_view NodeOperatorName(NodeOperator op);

// One of a label, or of the node's name.
struct NodeRequirement {
  bool of_name = false;  // matchFields metadata.name; then `key` is "metadata.name"
  std::string key;
  NodeOperator op = NodeOperator::kIn;
  std::vector<std::string> values;
  bool operator==(const NodeRequirement&) const = default;
};

// All requirements hold together. Without any, the term chooses no node.
struct NodeTerm {
  std::vector<NodeRequirement> requirements;
  bool operator==(const NodeTerm&) const = default;
};

// Whether one of the terms chooses the node. O(requirements x labels).
bool MeetsNodeTerms(const NodeSpec& node, absl::Span<const NodeTerm> terms);

// "zone NotIn [a, b] and disk Exists, or metadata.name In [n-1]"
std::string NodeTermsText(absl::Span<const NodeTerm> terms);

// --- Reasons to keep a pod pending ---

// Each stands for a rule of Kubernetes that would decide where the pod goes, or whether it goes at
// all, and that is not simulated. docs/fidelity.md, "Pods of manifests", has the whole table.
enum class PodHold : uint8_t {
  kNone,
  kSchedulingGates,
  kScheduler,
  kVolumes,
  kHostPorts,
  kPodAffinity,
  kPodAntiAffinity,
  kTopologySpread,
};
inline constexpr size_t kPodHolds = 8;

// The field of the pod's specification, which is also the scenario's word: "schedulingGates".
// Empty for kNone.
absl::string_view PodHoldName(PodHold hold);
// Why the pod waits, in one sentence without a full stop. Empty for kNone.
absl::string_view PodHoldReason(PodHold hold);
// Nothing for an unknown name.
absl::optional<PodHold> ParsePodHold(absl::string_view name);

}  // namespace drasim

#endif  // DRASIM_MODEL_POD_CONSTRAINTS_H_
