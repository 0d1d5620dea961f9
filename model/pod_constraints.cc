#include "model/pod_constraints.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace drasim {
namespace {

constexpr absl::string_view kOperatorNames[kNodeOperators] = {"In",           "NotIn", "Exists",
                                                              "DoesNotExist", "Gt",    "Lt"};

struct HoldText {
  absl::string_view name;
  absl::string_view reason;
};
constexpr HoldText kHoldTexts[kPodHolds] = {
    {"", ""},
    {"schedulingGates", "pod is kept pending: its scheduling gates stay closed"},
    {"schedulerName", "pod is kept pending: it is for another scheduler"},
    {"volumes", "pod is kept pending: its volumes are not simulated"},
    {"hostPort", "pod is kept pending: its host ports are not simulated"},
    {"podAffinity", "pod is kept pending: its required podAffinity is not simulated"},
    {"podAntiAffinity", "pod is kept pending: its required podAntiAffinity is not simulated"},
    {"topologySpreadConstraints",
     "pod is kept pending: its topologySpreadConstraints are not simulated"},
};

}  // namespace

bool MeetsNodeTerm(const NodeSpec& node, const NodeTerm& term) {
  return term.error.empty() && !term.requirements.empty() &&
         std::all_of(term.requirements.begin(), term.requirements.end(),
                     [&node](const NodeRequirement& requirement) {
                       if (requirement.of_name)
                         return MeetsOperator(requirement.op, &node.name, requirement.values);
                       const auto label = std::find_if(
                           node.labels.begin(), node.labels.end(),
                           [&requirement](const auto& l) { return l.first == requirement.key; });
                       return MeetsOperator(requirement.op,
                                            label == node.labels.end() ? nullptr : &label->second,
                                            requirement.values);
                     });
}

bool Tolerates(absl::Span<const Toleration> tolerations, const Taint& taint) {
  return std::any_of(tolerations.begin(), tolerations.end(), [&taint](const Toleration& t) {
    if (!t.effect.empty() && t.effect != taint.effect) return false;
    if (!t.key.empty() && t.key != taint.key) return false;
    return t.exists || t.value == taint.value;
  });
}

const std::pair<std::string, std::string>* UnmetLabel(
    absl::Span<const std::pair<std::string, std::string>> labels, const NodeSpec& node) {
  for (const auto& wanted : labels) {
    if (std::find(node.labels.begin(), node.labels.end(), wanted) == node.labels.end()) {
      return &wanted;
    }
  }
  return nullptr;
}

std::optional<NodeOperator> ParseNodeOperator(absl::string_view name) {
  for (size_t i = 0; i < kNodeOperators; ++i) {
    if (kOperatorNames[i] == name) return static_cast<NodeOperator>(i);
  }
  return std::nullopt;
}

absl::string_view NodeOperatorName(NodeOperator op) {
  return kOperatorNames[static_cast<size_t>(op)];
}

bool MeetsNodeTerms(const NodeSpec& node, absl::Span<const NodeTerm> terms) {
  return std::any_of(terms.begin(), terms.end(),
                     [&node](const NodeTerm& term) { return MeetsNodeTerm(node, term); });
}

std::string NodeTermsText(absl::Span<const NodeTerm> terms) {
  std::vector<std::string> alternatives;
  for (const NodeTerm& term : terms) {
    std::vector<std::string> parts;
    for (const NodeRequirement& requirement : term.requirements) {
      std::string part = absl::StrCat(requirement.key, " ", NodeOperatorName(requirement.op));
      if (!requirement.values.empty()) {
        absl::StrAppend(&part, " [", absl::StrJoin(requirement.values, ", "), "]");
      }
      parts.push_back(std::move(part));
    }
    alternatives.push_back(parts.empty() ? std::string("an empty term")
                                         : absl::StrJoin(parts, " and "));
  }
  return absl::StrJoin(alternatives, ", or ");
}

absl::string_view PodHoldName(PodHold hold) { return kHoldTexts[static_cast<size_t>(hold)].name; }

absl::string_view PodHoldReason(PodHold hold) {
  return kHoldTexts[static_cast<size_t>(hold)].reason;
}

std::optional<PodHold> ParsePodHold(absl::string_view name) {
  for (size_t i = 0; i < kPodHolds; ++i) {
    if (kHoldTexts[i].name == name) return static_cast<PodHold>(i);
  }
  return std::nullopt;
}

}  // namespace drasim
