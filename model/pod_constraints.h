// PodConstraints: rules for the placement of a pod beyond amounts, such as tolerations, selection
// of nodes, and holds for rules that no part of a simulation decides.
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

// A toleration (core/v1 Toleration). An empty key stands for every key, an empty effect for all
// effects.
struct Toleration {
  std::string key;
  std::string value;
  std::string effect;
  bool exists = false;  // operator: Exists
  bool operator==(const Toleration&) const = default;
};

// True when one of the tolerations tolerates the taint, whatever its effect (core/v1
// Toleration.ToleratesTaint).
bool Tolerates(absl::Span<const Toleration> tolerations, const Taint& taint);

// --- nodeSelector and required node affinity (core/v1 NodeSelector) ---

// The first label that the node lacks, or has with another value; null when it has them all.
const std::pair<std::string, std::string>* UnmetLabel(
    absl::Span<const std::pair<std::string, std::string>> labels, const NodeSpec& node);

enum class NodeOperator : uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt };
inline constexpr size_t kNodeOperators = 6;

// "NotIn"; nothing for an unknown name.
std::optional<NodeOperator> ParseNodeOperator(absl::string_view name);
absl::string_view NodeOperatorName(NodeOperator op);

// True when a label meets `op` with `values`; `label` is null when the node lacks it.
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

// A requirement on a label, or on the node's name.
struct NodeRequirement {
  bool of_name = false;  // matchFields metadata.name; then `key` is "metadata.name"
  std::string key;
  NodeOperator op = NodeOperator::kIn;
  std::vector<std::string> values;
  bool operator==(const NodeRequirement&) const = default;
};

// A conjunction of requirements. A term without any selects no node.
struct NodeTerm {
  std::vector<NodeRequirement> requirements;
  // Why Kubernetes cannot use the term, in its words: a required term then matches nothing, a
  // preferred one fails the attempt. Empty: it is valid.
  std::string error = std::string();
  bool operator==(const NodeTerm&) const = default;
};

// Among a pod's terms with errors, the first has the errors of all.
struct PreferredNodeTerm {
  int32_t weight = 0;
  NodeTerm term;
  bool operator==(const PreferredNodeTerm&) const = default;
};

// True when the term selects the node; never for one with an error. O(requirements x labels).
bool MeetsNodeTerm(const NodeSpec& node, const NodeTerm& term);
// True when one of the terms does.
bool MeetsNodeTerms(const NodeSpec& node, absl::Span<const NodeTerm> terms);

// "zone NotIn [a, b] and disk Exists, or metadata.name In [n-1]"
std::string NodeTermsText(absl::Span<const NodeTerm> terms);

// --- Host ports (core/v1 ContainerPort) ---

struct HostPort {
  std::string ip = "0.0.0.0";
  std::string protocol = "TCP";
  int32_t port = 0;
  bool operator==(const HostPort&) const = default;
};

// --- Reasons to keep a pod pending ---

// Each stands for a Kubernetes rule that is not simulated, although it would decide the pod's node
// or keep the pod pending. docs/fidelity.md, "Pods of manifests", has the full table.
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

// The field of the pod's specification, also its name in scenarios: "schedulingGates". Empty for
// kNone.
absl::string_view PodHoldName(PodHold hold);
// The reason for the wait, one sentence without a full stop. Empty for kNone.
absl::string_view PodHoldReason(PodHold hold);
// Nothing for an unknown name.
std::optional<PodHold> ParsePodHold(absl::string_view name);

// --- All constraints of a pod ---

struct PodConstraints {
  std::vector<std::pair<std::string, std::string>>
      node_selector;                 // label key, value; sorted by key
  bool gives_node_selector = false;  // the section is there, even if it is empty
  // Required node affinity: at least one of these terms must match; empty: any node, or no node
  // with `requires_node_terms`.
  std::vector<NodeTerm> node_terms;
  bool requires_node_terms = false;  // the section is there, even if it has no terms
  std::vector<PreferredNodeTerm> preferred_nodes;
  bool prefers_nodes = false;  // the section is there, even if it has no terms
  std::string node_name;       // spec.nodeName of a pod that is not bound; empty: none
  std::vector<Toleration> tolerations;
  PodHold hold = PodHold::kNone;     // why the pod is never placed
  bool never_preempts = false;       // preemptionPolicy: Never
  std::vector<std::string> gates;    // spec.schedulingGates
  std::vector<HostPort> host_ports;  // of containers and sidecars
  // Images of init containers and containers, with a tag, in the pod's order.
  std::vector<std::string> images;
  std::vector<std::string> volume_images;  // of volumes that are images, likewise
  // Limit on the pods of one group (an application) per node; 0 and "": none.
  int32_t max_per_node = 0;
  std::string group;
  bool operator==(const PodConstraints&) const = default;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_POD_CONSTRAINTS_H_
