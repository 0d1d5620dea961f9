#include "policies/plugins/node_affinity.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "model/pod_constraints.h"
#include "policies/framework/registry.h"
#include "policies/plugins/default_normalize.h"

namespace drasim {
namespace {

constexpr ReasonIndex kOwn = 1;
constexpr ReasonIndex kAdded = 2;

bool HasRequired(const PodConstraints& rules) {
  return rules.requires_node_terms || !rules.node_terms.empty();
}

bool MeetsOwn(const PodConstraints& rules, const NodeSpec& node) {
  return UnmetLabel(rules.node_selector, node) == nullptr &&
         (!HasRequired(rules) || MeetsNodeTerms(node, rules.node_terms));
}

int64_t WeightOf(const std::vector<PreferredNodeTerm>& terms, const NodeSpec& node) {
  int64_t weight = 0;
  for (const PreferredNodeTerm& preferred : terms) {
    if (MeetsNodeTerm(node, preferred.term)) weight += preferred.weight;
  }
  return weight;
}

// The names that a term leaves; nothing when it does not ask for names.
std::optional<std::set<std::string>> NamesOf(const NodeTerm& term) {
  std::optional<std::set<std::string>> names;
  for (const NodeRequirement& requirement : term.requirements) {
    const bool names_nodes = requirement.of_name && requirement.key == "metadata.name";
    if (!names_nodes || requirement.op != NodeOperator::kIn) continue;
    const std::set<std::string> listed(requirement.values.begin(), requirement.values.end());
    if (names.has_value()) {
      std::erase_if(*names, [&listed](const std::string& name) { return !listed.contains(name); });
    } else {
      names = listed;
    }
  }
  return names;
}

// The names that the terms leave together; nothing when one of them leaves any.
std::optional<std::set<std::string>> NamesOf(absl::Span<const NodeTerm> terms) {
  std::set<std::string> all;
  for (const NodeTerm& term : terms) {
    std::optional<std::set<std::string>> names = NamesOf(term);
    if (!names.has_value()) return std::nullopt;
    all.merge(*names);
  }
  return all;
}

}  // namespace

NodeAffinity::NodeAffinity(NodeAffinityArgs added) : added_(std::move(added)) {}

std::vector<Reason> NodeAffinity::reasons() const {
  std::vector<Reason> reasons = {
      {ReasonKind::kNodeAffinity, "node(s) didn't match Pod's node affinity/selector"}};
  if (added_.has_required) {
    reasons.push_back(
        {ReasonKind::kNodeAffinity, "node(s) didn't match scheduler-enforced node affinity"});
  }
  return reasons;
}

bool NodeAffinity::MayHelp(const ClusterChange& change, const PodContext& pod,
                           const ClusterState& cluster) const {
  if (!change.detailed) return true;
  const PodConstraints& rules = pod.shape->constraints;
  const NodeSpec& node = cluster.node_spec(change.node);
  if (!MeetsAdded(node)) return false;
  if (!MeetsOwn(rules, node)) {
    // A hint that fails wakes the pod, and it fails on terms that cannot be parsed.
    return UnmetLabel(rules.node_selector, node) == nullptr &&
           std::any_of(rules.node_terms.begin(), rules.node_terms.end(),
                       [](const NodeTerm& term) { return !term.error.empty(); });
  }
  return change.old_node == nullptr || !MeetsOwn(rules, *change.old_node);
}

StepResult NodeAffinity::PreFilter(const PodContext& pod, const ClusterState& cluster) {
  const PodConstraints& rules = pod.shape->constraints;
  StepResult result;
  if (rules.node_terms.empty()) {
    if (!HasRequired(rules) && !added_.has_required && rules.node_selector.empty() &&
        !rules.gives_node_selector) {
      result.code = StepCode::kSkip;
    }
    return result;
  }
  const std::optional<std::set<std::string>> names = NamesOf(rules.node_terms);
  if (!names.has_value()) return result;
  if (names->empty()) {
    result.code = StepCode::kUnresolvable;
    result.reason = kOwn;
    result.message = "pod affinity terms conflict";
    return result;
  }
  result.names_nodes = true;
  for (const std::string& name : *names) {
    const NodeId node = cluster.FindNode(name);
    if (node.valid()) result.nodes.push_back(node);
  }
  std::sort(result.nodes.begin(), result.nodes.end());
  return result;
}

void NodeAffinity::Filter(const PodContext& pod, const ClusterState& cluster,
                          absl::Span<const NodeId> nodes, absl::Span<ReasonIndex> verdicts) const {
  const PodConstraints& rules = pod.shape->constraints;
  if (rules.node_selector.empty() && !HasRequired(rules) && !added_.has_required) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] != kFits) continue;
    const NodeSpec& node = cluster.node_spec(nodes[i]);
    if (!MeetsAdded(node)) {
      verdicts[i] = kAdded;
    } else if (!MeetsOwn(rules, node)) {
      verdicts[i] = kOwn;
    }
  }
}

StepResult NodeAffinity::PreScore(const PodContext& pod, const ClusterState&,
                                  absl::Span<const NodeId>) {
  const PodConstraints& rules = pod.shape->constraints;
  StepResult result;
  const auto bad = std::find_if(rules.preferred_nodes.begin(), rules.preferred_nodes.end(),
                                [](const PreferredNodeTerm& preferred) {
                                  return preferred.weight != 0 && !preferred.term.error.empty();
                                });
  if (bad != rules.preferred_nodes.end()) {
    result.code = StepCode::kError;
    result.message = bad->term.error;
  } else if (!rules.prefers_nodes && rules.preferred_nodes.empty() && added_.preferred.empty()) {
    result.code = StepCode::kSkip;
  }
  return result;
}

void NodeAffinity::Score(const PodContext& pod, const ClusterState& cluster,
                         absl::Span<const NodeId> nodes, absl::Span<int64_t> scores) {
  const std::vector<PreferredNodeTerm>& own = pod.shape->constraints.preferred_nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const NodeSpec& node = cluster.node_spec(nodes[i]);
    scores[i] = WeightOf(own, node) + WeightOf(added_.preferred, node);
  }
}

void NodeAffinity::NormalizeScore(absl::Span<const NodeId>, absl::Span<int64_t> scores) const {
  DefaultNormalizeScore(/*reverse=*/false, scores);
}

void RegisterNodeAffinity(Registry& registry) {
  registry.AddPlugin("NodeAffinity", [](const PolicyContext& c) {
    return std::make_unique<NodeAffinity>(c.args == nullptr ? NodeAffinityArgs()
                                                            : ArgsOr<NodeAffinityArgs>(*c.args));
  });
}

}  // namespace drasim
