#include "model/kube/rules.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/kube/label_check.h"
#include "model/pod_constraints.h"
#include "model/quantity.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

constexpr int64_t kMostAmount = std::numeric_limits<int64_t>::max();

bool IsByteResource(absl::string_view resource) {
  return resource == "memory" || resource == "ephemeral-storage" ||
         absl::StartsWith(resource, "hugepages-");
}

int64_t ToAmount(const std::string& resource, const Quantity& quantity) {
  if (quantity.Compare(Quantity()) <= 0) return 0;
  if (resource == "cpu") return quantity.MilliFitsInt64() ? quantity.MilliValue() : kMostAmount;
  return quantity.UnitsFitInt64() ? quantity.Value() : kMostAmount;
}

void AddHostPorts(const kube::Container& container, std::vector<HostPort>* ports) {
  for (const kube::ContainerPort& given : container.ports()) {
    if (given.host_port() <= 0) continue;
    HostPort port;
    port.port = given.host_port();
    if (!given.host_ip().empty()) port.ip = given.host_ip();
    if (!given.protocol().empty()) port.protocol = given.protocol();
    ports->push_back(port);
  }
}

bool MeetsRequirement(const kube::SelectorRequirement& requirement, const KubeTexts& labels,
                      bool of_nodes) {
  const auto op = ParseNodeOperator(requirement.operator_());
  const bool compares = op == NodeOperator::kGt || op == NodeOperator::kLt;
  if (!op.has_value() || (compares && !of_nodes)) return false;
  const auto found = labels.find(requirement.key());
  return MeetsOperator(*op, found == labels.end() ? nullptr : &found->second, requirement.values());
}

bool MeetsField(const kube::SelectorRequirement& requirement, const std::string& node) {
  if (requirement.key() != "metadata.name" || requirement.values_size() != 1) return false;
  if (requirement.operator_() == "In") return requirement.values(0) == node;
  return requirement.operator_() == "NotIn" && requirement.values(0) != node;
}

// A term without any requirement matches nothing.
bool MeetsTerm(const kube::NodeSelectorTerm& term, const kube::Node& node) {
  if (term.match_expressions().empty() && term.match_fields().empty()) return false;
  const auto& labels = term.match_expressions();
  const auto& fields = term.match_fields();
  return std::all_of(labels.begin(), labels.end(),
                     [&node](const auto& requirement) {
                       return MeetsRequirement(requirement, node.metadata().labels(), true);
                     }) &&
         std::all_of(fields.begin(), fields.end(), [&node](const auto& requirement) {
           return MeetsField(requirement, node.metadata().name());
         });
}

// "node-pool In [a, b]"
std::string RequirementText(const kube::SelectorRequirement& requirement) {
  std::string text = absl::StrCat(requirement.key(), " ", requirement.operator_());
  const std::string& op = requirement.operator_();
  if (op == "In" || op == "NotIn") {
    absl::StrAppend(&text, " [", absl::StrJoin(requirement.values(), ", "), "]");
  } else if (!requirement.values().empty()) {
    absl::StrAppend(&text, " ", absl::StrJoin(requirement.values(), ", "));
  }
  return text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> SortedTexts(const KubeTexts& texts) {
  std::vector<std::pair<std::string, std::string>> sorted(texts.begin(), texts.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// --- Amounts ---

bool IsCountedResource(absl::string_view resource) {
  if (resource == "cpu" || resource == "memory" || resource == "ephemeral-storage") return true;
  if (absl::StartsWith(resource, "hugepages-")) return true;
  if (absl::StartsWith(resource, "attachable-volumes-")) return true;
  if (absl::StrContains(resource, "kubernetes.io/")) return true;
  return absl::StrContains(resource, "/") && !absl::StartsWith(resource, "requests.") &&
         QualifiedNameProblems(absl::StrCat("requests.", resource)).empty();
}

bool IsExtendedResource(absl::string_view resource) {
  return absl::StrContains(resource, "/") && !absl::StrContains(resource, "kubernetes.io/");
}

KubeAmounts CountedAmounts(const KubeQuantities& quantities) {
  KubeAmounts amounts;
  for (const auto& [resource, quantity] : quantities) {
    if (IsCountedResource(resource)) amounts[resource] = ToAmount(resource, quantity);
  }
  return amounts;
}

KubeAmounts AllocatableOfNode(const kube::NodeStatus& status) {
  const KubeQuantities quantities =
      ReadQuantities(status.allocatable().empty() ? status.capacity() : status.allocatable());
  KubeAmounts amounts = CountedAmounts(quantities);
  const auto pods = quantities.find("pods");
  if (pods != quantities.end()) amounts["pods"] = ToAmount("pods", pods->second);
  return amounts;
}

int64_t AmountOf(const KubeAmounts& amounts, const std::string& resource) {
  const auto found = amounts.find(resource);
  return found == amounts.end() ? 0 : found->second;
}

void AddAmounts(const KubeAmounts& more, KubeAmounts* sum) {
  for (const auto& [resource, amount] : more) {
    int64_t& total = (*sum)[resource];
    total = amount > kMostAmount - total ? kMostAmount : total + amount;
  }
}

std::string ExactAmountText(const std::string& resource, int64_t amount) {
  if (resource == "cpu") return Quantity::FromMilli(amount).Canonical();
  if (!IsByteResource(resource)) return absl::StrCat(amount);
  return Quantity::FromUnits(amount, Quantity::Format::kBinarySi).Canonical();
}

std::string ShortAmountText(const std::string& resource, int64_t amount, bool round_up) {
  constexpr uint64_t kKibi = 1024;
  if (!IsByteResource(resource) || amount < static_cast<int64_t>(kKibi)) {
    return ExactAmountText(resource, amount);
  }
  static constexpr char kUnits[] = "KMGTPE";
  const auto bytes = static_cast<uint64_t>(amount);
  uint64_t unit = kKibi;
  size_t index = 0;
  while (bytes / unit >= kKibi && index + 2 < sizeof(kUnits)) {
    unit *= kKibi;
    ++index;
  }
  uint64_t tenths = bytes / unit * 10 + bytes % unit * 10 / unit;
  if (round_up && bytes % unit * 10 % unit != 0) ++tenths;
  const std::string decimal = tenths % 10 == 0 ? "" : absl::StrCat(".", tenths % 10);
  return absl::StrCat(tenths / 10, decimal, absl::string_view(&kUnits[index], 1), "i");
}

// --- Host ports ---

std::vector<HostPort> HostPortsOf(const kube::PodSpec& spec) {
  std::vector<HostPort> ports;
  for (const kube::Container& container : spec.containers()) {
    AddHostPorts(container, &ports);
  }
  for (const kube::Container& container : spec.init_containers()) {
    if (IsSidecar(container)) AddHostPorts(container, &ports);
  }
  return ports;
}

std::string HostPortText(const HostPort& port) {
  const std::string ip = port.ip == HostPort().ip ? "" : absl::StrCat(port.ip, ":");
  return absl::StrCat(ip, port.port, "/", port.protocol);
}

// --- Selectors ---

bool SelectsLabels(const kube::LabelSelector& selector, const KubeTexts& labels) {
  for (const auto& [key, value] : SortedTexts(selector.match_labels())) {
    const auto found = labels.find(key);
    if (found == labels.end() || found->second != value) return false;
  }
  const auto& requirements = selector.match_expressions();
  return std::all_of(requirements.begin(), requirements.end(), [&labels](const auto& requirement) {
    return MeetsRequirement(requirement, labels, false);
  });
}

bool SelectsNode(const kube::NodeSelector& selector, const kube::Node& node) {
  const auto& terms = selector.node_selector_terms();
  return std::any_of(terms.begin(), terms.end(),
                     [&node](const auto& term) { return MeetsTerm(term, node); });
}

std::string NodeSelectorText(const kube::NodeSelector& selector) {
  std::vector<std::string> terms;
  for (const kube::NodeSelectorTerm& term : selector.node_selector_terms()) {
    std::vector<std::string> parts;
    for (const kube::SelectorRequirement& requirement : term.match_expressions()) {
      parts.push_back(RequirementText(requirement));
    }
    for (const kube::SelectorRequirement& field : term.match_fields()) {
      const bool names = field.operator_() == "In" && field.values_size() == 1;
      parts.push_back(names ? absl::StrCat("node ", field.values(0)) : RequirementText(field));
    }
    terms.push_back(absl::StrJoin(parts, " and "));
  }
  return terms.empty() ? std::string("no node") : absl::StrJoin(terms, ", or ");
}

}  // namespace drasim
