// Constraints of a pod beyond amounts: tolerations, selection of nodes, and the rules that no part
// of a simulation decides, for which a pod is kept pending.
#ifndef DRASIM_MODEL_POD_CONSTRAINTS_H_
#define DRASIM_MODEL_POD_CONSTRAINTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/node_spec.h"

namespace drasim {

// --- Taints ---

// A toleration (core/v1 Toleration). An empty key with `exists` tolerates every taint, an empty
// effect all effects.
struct Toleration {
  std::string key;
  std::string value;
  std::string effect;
  bool exists = false;  // operator: Exists
  bool operator==(const Toleration&) const = default;
};

// Whether one of the tolerations tolerates the taint, whatever its effect (core/v1
// Toleration.ToleratesTaint).
bool Tolerates(absl::Span<const Toleration> tolerations, const Taint& taint);

// --- nodeSelector and required node affinity (core/v1 NodeSelector) ---

// The first of the labels that the node does not have with that value; null when it has them all.
const std::pair<std::string, std::string>* UnmetLabel(
    absl::Span<const std::pair<std::string, std::string>> labels, const NodeSpec& node);

enum class NodeOperator : uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt };
inline constexpr size_t kNodeOperators = 6;

// "NotIn"; nothing for an unknown name.
std::optional<NodeOperator> ParseNodeOperator(absl::string_view name);
absl::string_view NodeOperatorName(NodeOperator op);

// Whether a label meets `op` with `values`; `label` is null when the node does not have it.
template <typename Values>
bool MeetsOperator(NodeOperator op, const std::string* label, const Values& values) {
  const bool listed =
      label != nullptr && std::find(values.begin(), values.end(), *label) != values.end();
  switch (op) {
    case NodeOperator::kIn:
      return listed;
    case NodeOperator::kNotIn:
      return !listed;
    case NodeOperator::kExists:
      return label != nullptr;
    case NodeOperator::kDoesNotExist:
      return label == nullptr;
    case NodeOperator::kGt:
    case NodeOperator::kLt:
      break;
  }
  int64_t is = 0;
  int64_t limit = 0;
  if (label == nullptr || values.size() != 1 || !absl::SimpleAtoi(*label, &is) ||
      !absl::SimpleAtoi(*values.begin(), &limit)) {
    return false;
  }
  return op == NodeOperator::kGt ? is > limit : is < limit;
}

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
std::optional<PodHold> ParsePodHold(absl::string_view name);

}  // namespace drasim

#endif  // DRASIM_MODEL_POD_CONSTRAINTS_H_
