#include "model/kube/requests.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

// Resources that a pod may request as a whole.
bool IsPodLevelResource(absl::string_view resource) {
  return resource == "cpu" || resource == "memory" || absl::StartsWith(resource, "hugepages-");
}

void AddQuantities(const KubeQuantities& more, KubeQuantities* sum) {
  for (const auto& [resource, quantity] : more) {
    (*sum)[resource] = (*sum)[resource] + quantity;
  }
}

void RaiseTo(const KubeQuantities& least, KubeQuantities* amounts) {
  for (const auto& [resource, quantity] : least) {
    Quantity& amount = (*amounts)[resource];
    if (amount.Compare(quantity) < 0) amount = quantity;
  }
}

absl::StatusOr<NodeRequirement> NodeRequirementOf(const proto::kube::SelectorRequirement& given,
                                                  bool of_field) {
  const auto op = ParseNodeOperator(given.operator_());
  if (!op.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("found the operator '", given.operator_(),
                     "', expected one of In, NotIn, Exists, DoesNotExist, Gt, Lt"));
  }
  if (of_field && given.key() != "metadata.name") {
    return absl::InvalidArgumentError(
        absl::StrCat("found the field '", given.key(), "', expected metadata.name"));
  }
  NodeRequirement requirement;
  requirement.of_name = of_field;
  requirement.key = given.key();
  requirement.op = *op;
  requirement.values.assign(given.values().begin(), given.values().end());
  return requirement;
}

}  // namespace

KubeQuantities ReadQuantities(const google::protobuf::Map<std::string, std::string>& texts) {
  KubeQuantities quantities;
  for (const auto& [resource, text] : texts) {
    const absl::StatusOr<Quantity> quantity = Quantity::Parse(text);
    if (quantity.ok()) quantities[resource] = *quantity;
  }
  return quantities;
}

bool IsSidecar(const proto::kube::Container& init_container) {
  return init_container.restart_policy() == "Always";
}

KubeQuantities RequestOfContainer(const proto::kube::Container& container) {
  KubeQuantities request = ReadQuantities(container.resources().limits());
  for (const auto& [resource, quantity] : ReadQuantities(container.resources().requests())) {
    request[resource] = quantity;
  }
  return request;
}

KubeQuantities QuantitiesOfPod(const proto::kube::PodSpec& spec) {
  KubeQuantities request;
  for (const proto::kube::Container& container : spec.containers()) {
    AddQuantities(RequestOfContainer(container), &request);
  }
  KubeQuantities sidecars;
  KubeQuantities largest_step;
  for (const proto::kube::Container& container : spec.init_containers()) {
    KubeQuantities step = RequestOfContainer(container);
    if (IsSidecar(container)) {
      AddQuantities(step, &request);
      AddQuantities(step, &sidecars);
      RaiseTo(sidecars, &largest_step);
    } else {
      AddQuantities(sidecars, &step);
      RaiseTo(step, &largest_step);
    }
  }
  RaiseTo(largest_step, &request);
  for (const auto& [resource, quantity] : ReadQuantities(spec.resources().limits())) {
    if (!IsPodLevelResource(resource)) continue;
    Quantity& amount = request[resource];
    if (amount.Compare(Quantity()) == 0) amount = quantity;
  }
  for (const auto& [resource, quantity] : ReadQuantities(spec.resources().requests())) {
    if (IsPodLevelResource(resource)) request[resource] = quantity;
  }
  AddQuantities(ReadQuantities(spec.overhead()), &request);
  return request;
}

absl::StatusOr<std::vector<NodeTerm>> NodeTermsOf(const proto::kube::NodeSelector& selector) {
  std::vector<NodeTerm> terms;
  for (const proto::kube::NodeSelectorTerm& given : selector.node_selector_terms()) {
    NodeTerm& term = terms.emplace_back();
    for (const bool of_field : {false, true}) {
      for (const auto& one : of_field ? given.match_fields() : given.match_expressions()) {
        ASSIGN_OR_RETURN(NodeRequirement requirement, NodeRequirementOf(one, of_field));
        term.requirements.push_back(std::move(requirement));
      }
    }
  }
  return terms;
}

}  // namespace drasim
