#include "policies/allocator/claim_plan.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "policies/allocator/release_rules.h"

namespace drasim {
namespace {

using proto::kube::DeviceClass;
using proto::kube::DeviceConstraint;
using proto::kube::DeviceRequest;
using proto::kube::DeviceSubRequest;

bool Names(const DeviceConstraint& constraint, const RequestPlan& request) {
  const auto& names = constraint.requests();
  const auto has = [&names](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (request.parent.empty()) return has(request.name);
  return has(request.parent) || has(request.result_name);
}

}  // namespace

ClaimPlan::ClaimPlan(const AllocatorOptions& options, const DeviceCatalog& catalog,
                     const DeviceClassIndex& classes, SelectorVerdicts* verdicts,
                     AskedClaims claims)
    : options_(options), catalog_(catalog), verdicts_(verdicts), demands_(1) {
  for (const AskedClaim& claim : claims) AddClaim(claim, classes);
  for (PlannedClaim& claim : claims_) AddConstraints(&claim);
}

bool ClaimPlan::has_errors() const {
  const auto fails = [](const auto& part) { return !part.error.empty(); };
  return absl::c_any_of(requests_, fails) ||
         absl::c_any_of(claims_, [&fails](const PlannedClaim& claim) {
           return fails(claim) || absl::c_any_of(claim.groups, fails);
         });
}

void ClaimPlan::Rename(AskedClaims claims) {
  for (size_t i = 0; i < claims_.size(); ++i) claims_[i].claim = claims[i];
}

void ClaimPlan::AddClaim(const AskedClaim& claim, const DeviceClassIndex& classes) {
  claims_.push_back({claim, {}, "", {}});
  for (const DeviceRequest& request : claim.devices->requests()) {
    AddGroup(request, classes, &claims_.back());
  }
}

void ClaimPlan::AddGroup(const DeviceRequest& request, const DeviceClassIndex& classes,
                         PlannedClaim* claim) {
  RequestGroup group;
  group.name = request.name();
  group.prioritized = !request.first_available().empty();
  const std::string of_claim = absl::StrCat("claim ", claim->text());
  if (group.prioritized && !options_.features.prioritized_list) {
    group.error = absl::StrCat(of_claim, ", request ", request.name(),
                               ": has subrequests, but the DRAPrioritizedList feature is disabled");
  } else if (!options_.features.consumable_capacity) {
    constexpr absl::string_view kDisabled =
        ": has capacity requests, but the DRAConsumableCapacity feature is disabled";
    if (request.exactly().has_capacity()) {
      group.error = absl::StrCat(of_claim, ", request ", request.name(), kDisabled);
    }
    for (const DeviceSubRequest& sub : request.first_available()) {
      if (!sub.has_capacity() || !group.error.empty()) continue;
      group.error = absl::StrCat(of_claim, ", subrequest ", sub.name(), kDisabled);
    }
  }
  if (!group.prioritized) {
    group.options.push_back(AddRequest(request.exactly(), classes, request.name(), "",
                                       request.exactly().has_admin_access(),
                                       request.exactly().admin_access()));
  }
  for (const DeviceSubRequest& sub : request.first_available()) {
    group.options.push_back(AddRequest(sub, classes, sub.name(), request.name(),
                                       /*admin_given=*/false, /*admin=*/false));
  }
  claim->groups.push_back(std::move(group));
}

template <typename Request>
uint32_t ClaimPlan::AddRequest(const Request& request, const DeviceClassIndex& classes,
                               const std::string& name, const std::string& parent, bool admin_given,
                               bool admin) {
  RequestPlan plan;
  plan.claim = static_cast<uint32_t>(claims_.size()) - 1;
  plan.group = static_cast<uint32_t>(claims_.back().groups.size());
  plan.name = name;
  plan.parent = parent;
  plan.result_name = parent.empty() ? name : absl::StrCat(parent, "/", name);
  plan.admin = admin;
  plan.tolerations = &request.tolerations();
  const std::string error = FillRequest(request, classes, admin_given, &plan);
  if (!error.empty()) {
    plan.error = absl::StrCat("claim ", claims_.back().text(), ", request ", name, error);
  }
  plan.verdicts.assign(catalog_.kinds().size(), KindVerdict::kUnknown);
  requests_.push_back(std::move(plan));
  return static_cast<uint32_t>(requests_.size()) - 1;
}

template <typename Request>
std::string ClaimPlan::FillRequest(const Request& request, const DeviceClassIndex& classes,
                                   bool admin_given, RequestPlan* plan) {
  for (int i = 0; i < request.selectors_size(); ++i) {
    if (request.selectors(i).has_cel()) continue;
    return absl::StrCat(", selector #", i, ": CEL expression empty (unsupported selector type?)");
  }
  if (admin_given && !options_.features.admin_access) {
    return ": admin access is requested, but the feature is disabled";
  }
  const bool derives = RulesOf(options_.release).knows_new_fields;
  if (derives && !request.derived_attributes().empty() && !options_.features.derived_attributes) {
    return ": has derived attributes, but the DRADerivedAttributes feature is disabled";
  }
  if (request.device_class_name().empty()) {
    return ": missing device class name (unsupported request type?)";
  }
  const auto found = classes.find(request.device_class_name());
  if (found == classes.end()) {
    return absl::StrCat(": could not retrieve device class ", request.device_class_name(),
                        ": not found");
  }
  plan->device_class = found->second;
  for (const auto& selector : found->second->spec().selectors()) {
    plan->class_selectors.push_back(verdicts_->Selector(selector.cel().expression()));
  }
  for (const auto& selector : request.selectors()) {
    plan->selectors.push_back(verdicts_->Selector(selector.cel().expression()));
  }
  if (derives) {
    for (const auto& derived : request.derived_attributes()) plan->derived_list.push_back(&derived);
  }
  absl::StatusOr<CapacityRequest> capacity = ReadCapacityRequest(request.capacity());
  if (!capacity.ok()) return absl::StrCat(": ", capacity.status().message());
  plan->capacity = *std::move(capacity);
  plan->all = request.allocation_mode() == "All";
  plan->count = request.count();
  if (!plan->all && request.allocation_mode() != "ExactCount") {
    return absl::StrCat(": unsupported count mode ", request.allocation_mode());
  }
  return "";
}

void ClaimPlan::AddConstraints(PlannedClaim* claim) {
  const auto& given = claim->claim.devices->constraints();
  for (int i = 0; i < given.size(); ++i) {
    const DeviceConstraint& constraint = given[i];
    const bool knows_distinct =
        SupportedDraFeatures(options_.variant, options_.release).consumable_capacity;
    ConstraintPlan plan;
    plan.distinct = !constraint.has_match_attribute();
    if (plan.distinct && !(constraint.has_distinct_attribute() && knows_distinct)) {
      claim->error = absl::StrCat("claim ", claim->text(), ", constraint #", i,
                                  ": empty constraint (unsupported constraint type?)");
      return;
    }
    plan.attribute = plan.distinct ? constraint.distinct_attribute() : constraint.match_attribute();
    for (const RequestPlan& request : requests_) {
      plan.applies.push_back(constraint.requests().empty() || Names(constraint, request));
    }
    claim->constraints.push_back(std::move(plan));
  }
}

bool ClaimPlan::Selects(const RequestPlan& request, DeviceRow row, Unmet* unmet) {
  for (const bool of_class : {true, false}) {
    const std::vector<int>& selectors = of_class ? request.class_selectors : request.selectors;
    for (size_t i = 0; i < selectors.size(); ++i) {
      const bool compiles = verdicts_->CompileError(selectors[i]).empty();
      const SelectorVerdict verdict =
          compiles ? verdicts_->Evaluate(selectors[i], row) : SelectorVerdict::kError;
      if (verdict == SelectorVerdict::kYes) continue;
      *unmet = {verdict == SelectorVerdict::kError, of_class, i, selectors[i]};
      return false;
    }
  }
  return true;
}

KindVerdict ClaimPlan::FindVerdict(uint32_t request, uint32_t kind_index) {
  RequestPlan& plan = requests_[request];
  const DeviceKind& kind = catalog_.kinds()[kind_index];
  const auto find = [&] {
    if (kind.has_binding_conditions && !options_.features.device_binding_and_status) {
      return KindVerdict::kNo;
    }
    Unmet unmet;
    if (!Selects(plan, kind.row, &unmet)) {
      return unmet.error ? KindVerdict::kSelectorError : KindVerdict::kNo;
    }
    if (options_.features.consumable_capacity) {
      switch (DemandOf(request, kind.capacities).verdict) {
        case CapacityDemand::Verdict::kSkip:
          return KindVerdict::kNo;
        case CapacityDemand::Verdict::kError:
          return KindVerdict::kCapacityError;
        case CapacityDemand::Verdict::kEnough:
          break;
      }
    }
    const bool tainted =
        options_.features.device_taints && TaintsPreventAllocation(*kind.device, *plan.tolerations);
    const bool gated = kind.consumes_counters && !options_.features.partitionable_devices;
    return tainted || gated ? KindVerdict::kRefused : KindVerdict::kCandidate;
  };
  return plan.verdicts[kind_index] = find();
}

const std::string& ClaimPlan::Content() const {
  if (!content_.empty()) return content_;
  std::string content = "plan";
  // Lengths go before texts, and counts before lists, so that contents are unambiguous.
  const auto add = [&content](const auto&... numbers) {
    absl::StrAppend(&content, numbers..., ",");
  };
  const auto add_text = [&content](const std::string& text) {
    absl::StrAppend(&content, text.size(), ":", text);
  };
  const auto add_list = [&](const std::vector<int>& list) {
    add(list.size());
    for (const int item : list) add(item);
  };
  for (const PlannedClaim& claim : claims_) {
    add("claim", claim.groups.size());
    add_text(claim.error);
    for (const RequestGroup& group : claim.groups) {
      add(group.prioritized ? 1 : 0, ":", group.options.size());
      add_text(group.error);
    }
    add(claim.constraints.size());
    for (const ConstraintPlan& constraint : claim.constraints) {
      add(constraint.distinct ? 1 : 0);
      add_text(constraint.attribute);
      for (const bool applies : constraint.applies) add(applies ? 1 : 0);
    }
  }
  for (const RequestPlan& request : requests_) {
    add("request", request.claim);
    add_text(request.error);
    add_list(request.class_selectors);
    add_list(request.selectors);
    add(request.all ? 1 : 0, request.admin ? 1 : 0, ":", request.count);
    add(request.capacity.size());
    for (const auto& [name, amount] : request.capacity) {
      add_text(name);
      add_text(amount.ToString());
    }
    add(request.tolerations->size());
    for (const auto& toleration : *request.tolerations) add_text(toleration.SerializeAsString());
    add(request.derived_list.size());
    for (const proto::kube::DerivedAttribute* derived : request.derived_list) {
      add_text(derived->name());
      add_text(derived->expression());
    }
  }
  content_ = std::move(content);
  return content_;
}

const CapacityDemand& ClaimPlan::DemandOf(uint32_t request, uint32_t capacities) {
  RequestPlan& plan = requests_[request];
  if (plan.demand_of_capacities.size() <= capacities) {
    plan.demand_of_capacities.resize(capacities + 1, 0);
  }
  uint32_t& demand = plan.demand_of_capacities[capacities];
  if (demand == 0) {
    demand = static_cast<uint32_t>(demands_.size());
    demands_.push_back(drasim::DemandOf(plan.capacity, catalog_.capacities(capacities),
                                        options_.features.fractional_capacity_range,
                                        RulesOf(options_.release)));
  }
  return demands_[demand];
}

std::string ClaimPlan::SelectorError(uint32_t request, uint32_t kind_index,
                                     const std::string& device_text) {
  const RequestPlan& plan = requests_[request];
  const DeviceKind& kind = catalog_.kinds()[kind_index];
  Unmet unmet;
  Selects(plan, kind.row, &unmet);
  const std::string subject = unmet.of_class
                                  ? absl::StrCat("class ", plan.device_class->metadata().name())
                                  : absl::StrCat("claim ", claims_[plan.claim].text());
  const std::string& compile_error = verdicts_->CompileError(unmet.selector);
  if (!compile_error.empty()) {
    return absl::StrCat(subject, ": selector #", unmet.index,
                        ": CEL compile error: ", compile_error);
  }
  return absl::StrCat(subject, ": selector #", unmet.index, " on device ", device_text,
                      ": CEL runtime error: ", verdicts_->ErrorText(unmet.selector, kind.row));
}

std::string ClaimPlan::CapacityError(uint32_t request, uint32_t kind_index,
                                     const std::string& device_text) {
  const RequestPlan& plan = requests_[request];
  return absl::StrCat("claim ", claims_[plan.claim].text(), ", request ", plan.name,
                      ": checking capacity for device ", device_text, ": ",
                      DemandOf(request, catalog_.kinds()[kind_index].capacities).error);
}

}  // namespace drasim
