#include "model/kube/selectors_of.h"

#include <algorithm>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "model/kube/label_check.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

constexpr absl::string_view kNameField = "metadata.name";

std::optional<SelectorOperator> ParseSelectorOperator(absl::string_view name) {
  if (name == "In") return SelectorOperator::kIn;
  if (name == "NotIn") return SelectorOperator::kNotIn;
  if (name == "Exists") return SelectorOperator::kExists;
  if (name == "DoesNotExist") return SelectorOperator::kDoesNotExist;
  return std::nullopt;
}

void SortRequirements(LabelSelector* selector) {
  std::stable_sort(
      selector->requirements.begin(), selector->requirements.end(),
      [](const LabelRequirement& a, const LabelRequirement& b) { return a.key < b.key; });
}

// A requirement of one field. Kubernetes knows the name of a node only: any other field is an empty
// text to it.
NodeRequirement FieldRequirement(const kube::SelectorRequirement& given) {
  NodeRequirement requirement;
  requirement.of_name = true;
  requirement.key = given.key();
  requirement.op = *ParseNodeOperator(given.operator_());
  requirement.values.assign(given.values().begin(), given.values().end());
  if (given.key() == kNameField || given.values_size() != 1) return requirement;
  const bool holds = given.values(0).empty() == (requirement.op == NodeOperator::kIn);
  requirement.op = holds ? NodeOperator::kNotIn : NodeOperator::kIn;
  requirement.values.clear();
  return requirement;
}

std::vector<std::string> FieldProblems(absl::string_view path,
                                       const kube::SelectorRequirement& given) {
  if (given.operator_() != "In" && given.operator_() != "NotIn") {
    return {UnsupportedValue(absl::StrCat(path, ".operator"), given.operator_(), {"In", "NotIn"})};
  }
  if (given.values_size() == 1) return {};
  return {InvalidValue(absl::StrCat(path, ".values"), absl::StrCat(given.values_size()),
                       "must have one element")};
}

std::vector<std::string> ExpressionProblems(absl::string_view path,
                                            const kube::SelectorRequirement& given) {
  if (ParseNodeOperator(given.operator_()).has_value()) return RequirementProblems(path, given);
  return {UnsupportedValue(absl::StrCat(path, ".operator"), given.operator_(),
                           {"DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn"})};
}

// Appends the term's problems to `problems`, and returns its value.
NodeTerm ReadNodeTerm(const kube::NodeSelectorTerm& given, absl::string_view path,
                      std::vector<std::string>* problems) {
  NodeTerm term;
  const std::string dot = path.empty() ? "" : absl::StrCat(path, ".");
  const size_t before = problems->size();
  for (int i = 0; i < given.match_expressions_size(); ++i) {
    const kube::SelectorRequirement& one = given.match_expressions(i);
    const std::vector<std::string> found =
        ExpressionProblems(absl::StrCat(dot, "matchExpressions[", i, "]"), one);
    problems->insert(problems->end(), found.begin(), found.end());
    const std::optional<NodeOperator> op = ParseNodeOperator(one.operator_());
    if (!op.has_value()) continue;
    NodeRequirement& requirement = term.requirements.emplace_back();
    requirement.key = one.key();
    requirement.op = *op;
    requirement.values.assign(one.values().begin(), one.values().end());
  }
  for (int i = 0; i < given.match_fields_size(); ++i) {
    const kube::SelectorRequirement& one = given.match_fields(i);
    const std::vector<std::string> found =
        FieldProblems(absl::StrCat(dot, "matchFields[", i, "]"), one);
    problems->insert(problems->end(), found.begin(), found.end());
    if (ParseNodeOperator(one.operator_()).has_value()) {
      term.requirements.push_back(FieldRequirement(one));
    }
  }
  term.error = AggregateText(absl::MakeConstSpan(*problems).subspan(before));
  return term;
}

bool IsEmptyTerm(const kube::NodeSelectorTerm& term) {
  return term.match_expressions().empty() && term.match_fields().empty();
}

}  // namespace

LabelSelector SelectorOf(const kube::LabelSelector& given) {
  LabelSelector selector;
  selector.given = true;
  for (const auto& [key, value] : SortedTexts(given.match_labels())) {
    kube::SelectorRequirement equals;
    equals.set_key(key);
    equals.set_operator_("In");
    equals.add_values(value);
    const std::vector<std::string> problems = RequirementProblems("", equals);
    if (!problems.empty() && selector.error.empty()) selector.error = AggregateText(problems);
    selector.requirements.push_back({key, SelectorOperator::kIn, {value}});
  }
  for (const kube::SelectorRequirement& one : given.match_expressions()) {
    if (!selector.error.empty()) break;
    const std::optional<SelectorOperator> op = ParseSelectorOperator(one.operator_());
    if (!op.has_value()) {
      selector.error =
          absl::StrCat("\"", one.operator_(), "\" is not a valid label selector operator");
      break;
    }
    selector.error = AggregateText(RequirementProblems("", one));
    LabelRequirement& requirement = selector.requirements.emplace_back();
    requirement.key = one.key();
    requirement.op = *op;
    requirement.values.assign(one.values().begin(), one.values().end());
    std::sort(requirement.values.begin(), requirement.values.end());
    requirement.values.erase(std::unique(requirement.values.begin(), requirement.values.end()),
                             requirement.values.end());
  }
  SortRequirements(&selector);
  return selector;
}

LabelSelector SelectorOfLabels(const KubeTexts& labels) {
  LabelSelector selector;
  selector.given = !labels.empty();
  for (const auto& [key, value] : SortedTexts(labels)) {
    selector.requirements.push_back({key, SelectorOperator::kIn, {value}});
  }
  return selector;
}

void AddRequirement(const std::string& key, SelectorOperator op, const std::string& value,
                    LabelSelector* selector) {
  const LabelRequirement added = {key, op, {value}};
  std::vector<LabelRequirement>& all = selector->requirements;
  if (std::find(all.begin(), all.end(), added) != all.end()) return;
  all.push_back(added);
  SortRequirements(selector);
}

NodeTerm NodeTermOf(const kube::NodeSelectorTerm& given, absl::string_view path) {
  std::vector<std::string> problems;
  return ReadNodeTerm(given, path, &problems);
}

std::vector<NodeTerm> RequiredNodeTermsOf(const kube::NodeSelector& selector) {
  std::vector<NodeTerm> terms;
  for (int i = 0; i < selector.node_selector_terms_size(); ++i) {
    terms.push_back(NodeTermOf(selector.node_selector_terms(i), absl::StrCat("[", i, "]")));
  }
  return terms;
}

std::vector<PreferredNodeTerm> PreferredNodeTermsOf(const kube::NodeAffinity& affinity) {
  const auto& given = affinity.preferred_during_scheduling_ignored_during_execution();
  std::vector<PreferredNodeTerm> terms;
  std::vector<std::string> problems;
  for (int i = 0; i < given.size(); ++i) {
    const kube::PreferredSchedulingTerm& one = given.Get(i);
    if (one.weight() == 0 || IsEmptyTerm(one.preference())) continue;
    PreferredNodeTerm& term = terms.emplace_back();
    term.weight = one.weight();
    term.term = ReadNodeTerm(one.preference(), absl::StrCat("[", i, "]"), &problems);
  }
  for (PreferredNodeTerm& term : terms) {
    if (term.term.error.empty()) continue;
    term.term.error = AggregateText(problems);
    break;
  }
  return terms;
}

absl::StatusOr<std::vector<NodeTerm>> NodeTermsOf(const kube::NodeSelector& selector) {
  for (const kube::NodeSelectorTerm& term : selector.node_selector_terms()) {
    for (const auto* list : {&term.match_expressions(), &term.match_fields()}) {
      for (const kube::SelectorRequirement& one : *list) {
        if (!ParseNodeOperator(one.operator_()).has_value()) {
          return absl::InvalidArgumentError(
              absl::StrCat("found the operator '", one.operator_(),
                           "', expected one of In, NotIn, Exists, DoesNotExist, Gt, Lt"));
        }
        if (list == &term.match_fields() && one.key() != kNameField) {
          return absl::InvalidArgumentError(
              absl::StrCat("found the field '", one.key(), "', expected ", kNameField));
        }
      }
    }
  }
  std::vector<NodeTerm> terms = RequiredNodeTermsOf(selector);
  for (NodeTerm& term : terms) term.error.clear();
  return terms;
}

std::vector<Toleration> TolerationsOf(const kube::PodSpec& spec) {
  std::vector<Toleration> tolerations;
  for (const kube::Toleration& given : spec.tolerations()) {
    const std::string& op = given.operator_();
    if (!op.empty() && op != "Equal" && op != "Exists") continue;
    tolerations.push_back({given.key(), given.value(), given.effect(), op == "Exists"});
  }
  return tolerations;
}

}  // namespace drasim
