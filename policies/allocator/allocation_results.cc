#include "policies/allocator/allocation_results.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

using proto::kube::AllocationResultV1;
using proto::kube::DeviceAllocationConfiguration;
using proto::kube::DeviceConfiguration;
using proto::kube::DeviceRequestAllocationResult;
using proto::kube::NodeSelector;
using proto::kube::NodeSelectorTerm;
using proto::kube::SelectorRequirement;
using Requirements = google::protobuf::RepeatedPtrField<SelectorRequirement>;

void FillResult(const NodePools& pools, ClaimPlan* plan, const TakenDevice& taken,
                DeviceRequestAllocationResult* result) {
  const DeviceCatalog& catalog = pools.catalog();
  const RequestPlan& request = plan->request(taken.request);
  const CatalogDevice& row = catalog.devices()[taken.device];
  const CatalogSlice& slice = catalog.slices()[row.slice];
  result->set_request(request.result_name);
  result->set_driver(catalog.pools()[slice.pool].driver);
  result->set_pool(catalog.pools()[slice.pool].name);
  result->set_device(row.device->name());
  if (request.admin) result->set_admin_access(true);
  *result->mutable_tolerations() = *request.tolerations;
  if (pools.options().features.device_binding_and_status) {
    *result->mutable_binding_conditions() = row.device->binding_conditions();
    *result->mutable_binding_failure_conditions() = row.device->binding_failure_conditions();
  }
  if (pools.rules().knows_new_fields) {
    *result->mutable_skip_node_operations() = slice.slice->spec().skip_node_operations();
  }
  if (!taken.shared) return;
  result->set_share_id(std::string(kShareId));
  const uint32_t capacities = catalog.kinds()[row.kind].capacities;
  const CapacityDemand& demand = plan->DemandOf(taken.request, capacities);
  for (size_t i = 0; i < demand.amounts.size(); ++i) {
    (*result->mutable_consumed_capacity())[catalog.capacities(capacities)[i].name] =
        demand.amounts[i].ToString();
  }
}

DeviceAllocationConfiguration* AddConfig(const DeviceConfiguration& config, const char* source,
                                         AllocationResultV1* allocation) {
  DeviceAllocationConfiguration* added = allocation->mutable_devices()->add_config();
  added->set_source(source);
  if (config.has_opaque()) *added->mutable_opaque() = config.opaque();
  return added;
}

// The request plan that was chosen for a group.
const RequestPlan& ChosenOf(const ClaimPlan& plan, const AllocationSearch& search, uint32_t claim,
                            uint32_t group) {
  const RequestGroup& of = plan.claims()[claim].groups[group];
  return plan.request(of.options[search.chosen(claim, group)]);
}

// Each class once, at the first request that uses it.
void AddClassConfigs(const ClaimPlan& plan, const AllocationSearch& search, uint32_t claim,
                     bool clears, AllocationResultV1* allocation) {
  const size_t groups = plan.claims()[claim].groups.size();
  bool any = false;
  for (uint32_t group = 0; group < groups && !any; ++group) {
    any = !ChosenOf(plan, search, claim, group).device_class->spec().config().empty();
  }
  if (!any) return;
  std::vector<const proto::kube::DeviceClass*> order;
  std::map<const proto::kube::DeviceClass*, std::vector<std::string>> users;
  for (uint32_t group = 0; group < groups; ++group) {
    const RequestPlan& request = ChosenOf(plan, search, claim, group);
    std::vector<std::string>& names = users[request.device_class];
    if (names.empty()) order.push_back(request.device_class);
    names.push_back(request.result_name);
  }
  for (const proto::kube::DeviceClass* device_class : order) {
    const std::vector<std::string>& names = users[device_class];
    for (const DeviceConfiguration& config : device_class->spec().config()) {
      DeviceAllocationConfiguration* added = AddConfig(config, "FromClass", allocation);
      if (clears && names.size() == groups) continue;
      added->mutable_requests()->Add(names.begin(), names.end());
    }
  }
}

// Since 1.37 a configuration appears once, if it concerns any request; before, once per request.
void AddClaimConfigs(const ClaimPlan& plan, const AllocationSearch& search, uint32_t claim,
                     bool clears, AllocationResultV1* allocation) {
  const PlannedClaim& planned = plan.claims()[claim];
  for (const DeviceConfiguration& config : planned.claim.devices->config()) {
    const auto& names = config.requests();
    const auto has = [&names](const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    size_t concerned = 0;
    for (uint32_t group = 0; group < planned.groups.size(); ++group) {
      const std::string& chosen = ChosenOf(plan, search, claim, group).result_name;
      if (has(planned.groups[group].name) || has(chosen)) ++concerned;
    }
    size_t times = clears ? std::min<size_t>(concerned, 1) : concerned;
    if (names.empty()) times = 1;
    for (; times > 0; --times) {
      DeviceAllocationConfiguration* added = AddConfig(config, "FromClaim", allocation);
      if (clears && concerned == planned.groups.size()) continue;
      *added->mutable_requests() = names;
    }
  }
}

bool SameRequirement(const SelectorRequirement& left, const SelectorRequirement& right) {
  return left.key() == right.key() && left.operator_() == right.operator_() &&
         std::set<std::string>(left.values().begin(), left.values().end()) ==
             std::set<std::string>(right.values().begin(), right.values().end());
}

void AddRequirements(const Requirements& from, Requirements* to) {
  for (const SelectorRequirement& requirement : from) {
    const bool known = std::any_of(to->begin(), to->end(), [&](const SelectorRequirement& other) {
      return SameRequirement(requirement, other);
    });
    if (!known) *to->Add() = requirement;
  }
}

// The nodes on which all of the devices are.
absl::Status AddNodeSelector(const DeviceCatalog& catalog,
                             const std::vector<const TakenDevice*>& devices,
                             const std::string& node_name, AllocationResultV1* allocation) {
  NodeSelectorTerm* const term = allocation->mutable_node_selector()->add_node_selector_terms();
  for (const TakenDevice* taken : devices) {
    const proto::kube::Device& device = *catalog.devices()[taken->device].device;
    const auto& spec = catalog.slices()[catalog.devices()[taken->device].slice].slice->spec();
    const bool own = spec.per_device_node_selection();
    if ((own ? device.has_node_name() : spec.has_node_name()) || device.binds_to_node()) {
      term->Clear();
      SelectorRequirement* name = term->add_match_fields();
      name->set_key("metadata.name");
      name->set_operator_("In");
      name->add_values(node_name);
      return absl::OkStatus();
    }
    const NodeSelector& given = own ? device.node_selector() : spec.node_selector();
    if (given.node_selector_terms_size() > 1) {
      return absl::InvalidArgumentError(absl::StrCat("unsupported ResourceSlice.NodeSelector with ",
                                                     given.node_selector_terms_size(), " terms"));
    }
    for (const auto& more : given.node_selector_terms()) {
      AddRequirements(more.match_fields(), term->mutable_match_fields());
      AddRequirements(more.match_expressions(), term->mutable_match_expressions());
    }
  }
  const bool everywhere = term->match_fields().empty() && term->match_expressions().empty();
  if (everywhere) allocation->clear_node_selector();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<AllocationResultV1>> AllocationResults(const NodePools& pools,
                                                                  ClaimPlan* plan,
                                                                  const AllocationSearch& search,
                                                                  const std::string& node_name) {
  const bool clears = pools.options().release >= StructuredRelease::k1_37;
  std::vector<AllocationResultV1> results(plan->claims().size());
  std::vector<std::vector<const TakenDevice*>> devices(results.size());
  for (const TakenDevice& taken : search.taken()) devices[taken.claim].push_back(&taken);
  for (uint32_t claim = 0; claim < results.size(); ++claim) {
    for (const TakenDevice* taken : devices[claim]) {
      FillResult(pools, plan, *taken, results[claim].mutable_devices()->add_results());
    }
    AddClassConfigs(*plan, search, claim, clears, &results[claim]);
    AddClaimConfigs(*plan, search, claim, clears, &results[claim]);
    const absl::Status added =
        AddNodeSelector(pools.catalog(), devices[claim], node_name, &results[claim]);
    if (!added.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("create NodeSelector for claim ",
                                                     plan->claims()[claim].claim.name, ": ",
                                                     added.message()));
    }
  }
  return results;
}

}  // namespace drasim
