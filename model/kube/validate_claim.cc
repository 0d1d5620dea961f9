#include "model/kube/validate_claim.h"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "model/kube/api_defaults.h"
#include "model/kube/rules.h"
#include "model/kube/validate_capacity.h"
#include "model/kube/validate_device.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

constexpr int kMaxRequests = 32;
constexpr int kMaxFirstAvailable = 8;
constexpr int kMaxConstraints = 32;
constexpr int kMaxClaimConfigs = 32;
constexpr int kMaxDerived = 32;
constexpr int kMaxTolerations = 16;
constexpr int kMaxResults = 32;
constexpr int kMaxConsumers = 256;
constexpr int kMaxDeviceConditions = 8;
constexpr size_t kMaxDataBytes = size_t{10} << 10U;
constexpr int kMaxAddresses = 16;
constexpr size_t kMaxInterfaceName = 256;
constexpr size_t kMaxHardwareAddress = 128;

constexpr char kNotARequest[] =
    "must be the name of a request in the claim or the name of a request and a subrequest "
    "separated by '/'";

// The names of the requests, with those of their subrequests.
using RequestNames = std::map<std::string, std::set<std::string>>;

RequestNames NamesOf(const kube::DeviceClaim& claim) {
  RequestNames names;
  for (const kube::DeviceRequest& request : claim.requests()) {
    std::set<std::string>& subs = names[request.name()];
    subs.clear();
    for (const kube::DeviceSubRequest& sub : request.first_available()) subs.insert(sub.name());
  }
  return names;
}

// "REQUEST" or "REQUEST/SUBREQUEST".
void CheckReference(const std::string& path, const std::string& name, const RequestNames& names,
                    ApiCheck* check) {
  const std::vector<std::string> parts = absl::StrSplit(name, '/');
  if (parts.size() > 2) return check->Invalid(path, name, kNotARequest);
  for (const std::string& part : parts) check->DnsLabel(path, part);
  const auto request = names.find(parts[0]);
  const bool known =
      request != names.end() && (parts.size() == 1 || request->second.contains(parts[1]));
  if (!known) check->Invalid(path, name, kNotARequest);
}

void CheckReferences(const std::string& path, const RepeatedTexts& references,
                     const RequestNames& names, ApiCheck* check) {
  if (!check->AtMost(path, references.size(), kMaxRequests)) return;
  std::set<std::string> seen;
  for (int i = 0; i < references.size(); ++i) {
    CheckReference(KubeIndex(path, i), references.Get(i), names, check);
    check->Unique(KubeIndex(path, i), references.Get(i), &seen);
  }
}

void CheckTolerations(const std::string& path,
                      const google::protobuf::RepeatedPtrField<kube::DeviceToleration>& tolerations,
                      ApiCheck* check) {
  if (!check->AtMost(path, tolerations.size(), kMaxTolerations)) return;
  for (int i = 0; i < tolerations.size(); ++i) {
    const kube::DeviceToleration& toleration = tolerations.Get(i);
    const std::string at = KubeIndex(path, i);
    if (!toleration.key().empty()) check->LabelKey(KubeField(at, "key"), toleration.key());
    check->OneOf(KubeField(at, "operator"), toleration.operator_(), {"Equal", "Exists"});
    const std::string value = KubeField(at, "value");
    if (toleration.operator_() == "Equal") {
      check->LabelValue(value, toleration.value());
    } else if (toleration.operator_() == "Exists" && !toleration.value().empty()) {
      check->Invalid(value, toleration.value(), "must be empty for operator `Exists`");
    }
    if (toleration.key().empty() && toleration.operator_() == "Equal") {
      check->Invalid(KubeField(at, "operator"), toleration.operator_(),
                     "operator must be Exists when `key` is empty");
    }
    if (toleration.effect().empty()) continue;
    check->OneOf(KubeField(at, "effect"), toleration.effect(), {"NoExecute", "NoSchedule", "None"});
  }
}

// The attributes that constraints name, by the request, subrequest or, for all of them, "".
using ConstrainedAttributes = std::map<std::string, std::set<std::string>>;

ConstrainedAttributes ConstrainedBy(const kube::DeviceClaim& claim) {
  ConstrainedAttributes attributes;
  for (const kube::DeviceConstraint& constraint : claim.constraints()) {
    if (!constraint.has_match_attribute() && !constraint.has_distinct_attribute()) continue;
    const std::string& name = constraint.has_match_attribute() ? constraint.match_attribute()
                                                               : constraint.distinct_attribute();
    if (constraint.requests().empty()) attributes[""].insert(name);
    for (const std::string& request : constraint.requests()) attributes[request].insert(name);
  }
  return attributes;
}

bool IsConstrained(const std::string& attribute, const std::string& reference,
                   const ConstrainedAttributes& constrained) {
  const std::string request = reference.substr(0, reference.find('/'));
  for (const std::string& target : {std::string(), reference, request}) {
    const auto found = constrained.find(target);
    if (found != constrained.end() && found->second.contains(attribute)) return true;
  }
  return false;
}

// `reference`: "REQUEST" or "REQUEST/SUBREQUEST".
void CheckDerived(const std::string& path, const std::string& reference,
                  const google::protobuf::RepeatedPtrField<kube::DerivedAttribute>& derived,
                  const ConstrainedAttributes& constrained, ApiCheck* check) {
  if (!check->AtMost(path, derived.size(), kMaxDerived)) return;
  std::set<std::string> seen;
  for (int i = 0; i < derived.size(); ++i) {
    const std::string at = KubeIndex(path, i);
    const std::string& name = derived.Get(i).name();
    if (name.empty()) {
      check->Required(KubeField(at, "name"));
    } else {
      check->FullyQualifiedName(KubeField(at, "name"), name);
      if (!IsConstrained(name, reference, constrained)) {
        check->Invalid(KubeField(at, "name"), name,
                       "must be referenced by at least one matchAttribute or distinctAttribute "
                       "constraint targeting this request");
      }
    }
    const std::string expression = KubeField(at, "expression");
    if (derived.Get(i).expression().empty()) check->Required(expression);
    check->MaxBytes(expression, derived.Get(i).expression(), kMaxCelBytes);
    check->Unique(at, name, &seen);
  }
}

// The fields that `exactly` and subrequests share, with their defaults set.
template <typename Request>
void CheckExact(const std::string& path, const std::string& reference, const Request& request,
                const ConstrainedAttributes& constrained, ApiCheck* check) {
  const std::string device_class = KubeField(path, "deviceClassName");
  if (request.device_class_name().empty()) {
    check->Required(device_class);
  } else {
    check->Subdomain(device_class, request.device_class_name());
  }
  CheckDeviceSelectors(KubeField(path, "selectors"), request.selectors(), check);
  CheckDerived(KubeField(path, "derivedAttributes"), reference, request.derived_attributes(),
               constrained, check);
  check->OneOf(KubeField(path, "allocationMode"), request.allocation_mode(), {"All", "ExactCount"});
  const std::string count = KubeField(path, "count");
  if (request.allocation_mode() == "All" && request.count() != 0) {
    check->InvalidShown(count, absl::StrCat(request.count()),
                        "must not be specified when allocationMode is 'All'");
  } else if (request.allocation_mode() == "ExactCount" && request.count() <= 0) {
    check->InvalidShown(count, absl::StrCat(request.count()), "must be greater than zero");
  }
  CheckTolerations(KubeField(path, "tolerations"), request.tolerations(), check);
  const std::string capacities = KubeField(KubeField(path, "capacity"), "requests");
  for (const auto& [name, amount] : SortedTexts(request.capacity().requests())) {
    check->QualifiedName(capacities, name);
    CheckQuantity(KubeKeyPath(capacities, name), amount, check);
  }
}

void CheckRequest(const std::string& path, const kube::DeviceRequest& request,
                  const ConstrainedAttributes& constrained, ApiCheck* check) {
  check->DnsLabel(KubeField(path, "name"), request.name());
  const bool several = request.first_available_size() > 0;
  if (!several && !request.has_exactly()) {
    return check->Required(path, "exactly one of `exactly` or `firstAvailable` is required");
  }
  if (several && request.has_exactly()) {
    return check->InvalidShown(path, "null",
                               "exactly one of `exactly` or `firstAvailable` is required, but "
                               "multiple fields are set");
  }
  if (!several) {
    return CheckExact(KubeField(path, "exactly"), request.name(), request.exactly(), constrained,
                      check);
  }
  const std::string subs = KubeField(path, "firstAvailable");
  if (!check->AtMost(subs, request.first_available_size(), kMaxFirstAvailable)) return;
  std::set<std::string> names;
  for (int i = 0; i < request.first_available_size(); ++i) {
    const kube::DeviceSubRequest& sub = request.first_available(i);
    const std::string at = KubeIndex(subs, i);
    check->DnsLabel(KubeField(at, "name"), sub.name());
    CheckExact(at, absl::StrCat(request.name(), "/", sub.name()), sub, constrained, check);
    check->Unique(at, sub.name(), &names);
  }
}

void CheckConstraint(const std::string& path, const kube::DeviceConstraint& constraint,
                     const RequestNames& names, ApiCheck* check) {
  CheckReferences(KubeField(path, "requests"), constraint.requests(), names, check);
  if (constraint.has_match_attribute()) {
    check->FullyQualifiedName(KubeField(path, "matchAttribute"), constraint.match_attribute());
  } else if (constraint.has_distinct_attribute()) {
    check->FullyQualifiedName(KubeField(path, "distinctAttribute"),
                              constraint.distinct_attribute());
  } else {
    check->Required(path,
                    "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but "
                    "multiple fields are set");
  }
}

void CheckDeviceClaim(const std::string& path, kube::DeviceClaim claim, ApiCheck* check) {
  SetDeviceClaimDefaults(&claim);
  const RequestNames names = NamesOf(claim);
  const ConstrainedAttributes constrained = ConstrainedBy(claim);
  const std::string requests = KubeField(path, "requests");
  if (check->AtMost(requests, claim.requests_size(), kMaxRequests)) {
    std::set<std::string> seen;
    for (int i = 0; i < claim.requests_size(); ++i) {
      CheckRequest(KubeIndex(requests, i), claim.requests(i), constrained, check);
      check->Unique(KubeIndex(requests, i), claim.requests(i).name(), &seen);
    }
  }
  const std::string constraints = KubeField(path, "constraints");
  if (check->AtMost(constraints, claim.constraints_size(), kMaxConstraints)) {
    for (int i = 0; i < claim.constraints_size(); ++i) {
      CheckConstraint(KubeIndex(constraints, i), claim.constraints(i), names, check);
    }
  }
  const std::string configs = KubeField(path, "config");
  if (!check->AtMost(configs, claim.config_size(), kMaxClaimConfigs)) return;
  for (int i = 0; i < claim.config_size(); ++i) {
    const kube::DeviceConfiguration& config = claim.config(i);
    const std::string at = KubeIndex(configs, i);
    CheckReferences(KubeField(at, "requests"), config.requests(), names, check);
    CheckOpaque(KubeField(at, "opaque"), config.has_opaque() ? &config.opaque() : nullptr, check);
  }
}

// --- Status ---

void CheckResult(const std::string& path, const kube::DeviceRequestAllocationResult& result,
                 const RequestNames& names, ApiCheck* check) {
  CheckReference(KubeField(path, "request"), result.request(), names, check);
  check->DriverName(KubeField(path, "driver"), result.driver());
  check->PoolName(KubeField(path, "pool"), result.pool());
  check->DnsLabel(KubeField(path, "device"), result.device());
  CheckBindingConditions(path, result.binding_conditions(), result.binding_failure_conditions(),
                         check);
  CheckTolerations(KubeField(path, "tolerations"), result.tolerations(), check);
  if (result.has_share_id()) check->Uuid(KubeField(path, "shareID"), result.share_id());
  const std::string consumed = KubeField(path, "consumedCapacity");
  for (const auto& [name, amount] : SortedTexts(result.consumed_capacity())) {
    CheckQuantity(KubeKeyPath(consumed, name), amount, check);
  }
  CheckSkippedOperations(KubeField(path, "skipNodeOperations"), result.skip_node_operations(),
                         check);
}

void CheckAllocationV1(const kube::AllocationResultV1& allocation, const RequestNames& names,
                       ApiCheck* check) {
  const std::string path = "status.allocation";
  const std::string results = KubeField(path, "devices.results");
  if (check->AtMost(results, allocation.devices().results_size(), kMaxResults)) {
    for (int i = 0; i < allocation.devices().results_size(); ++i) {
      CheckResult(KubeIndex(results, i), allocation.devices().results(i), names, check);
    }
  }
  const std::string configs = KubeField(path, "devices.config");
  if (check->AtMost(configs, allocation.devices().config_size(), 2 * kMaxClaimConfigs)) {
    for (int i = 0; i < allocation.devices().config_size(); ++i) {
      const kube::DeviceAllocationConfiguration& config = allocation.devices().config(i);
      const std::string at = KubeIndex(configs, i);
      check->OneOf(KubeField(at, "source"), config.source(), {"FromClaim", "FromClass"});
      CheckReferences(KubeField(at, "requests"), config.requests(), names, check);
      CheckOpaque(KubeField(at, "opaque"), config.has_opaque() ? &config.opaque() : nullptr, check);
    }
  }
  if (allocation.has_node_selector()) {
    check->NodeSelector(KubeField(path, "nodeSelector"), allocation.node_selector());
  }
}

void CheckConsumers(const kube::ResourceClaimStatusV1& status, ApiCheck* check) {
  const std::string path = "status.reservedFor";
  if (check->AtMost(path, status.reserved_for_size(), kMaxConsumers)) {
    std::set<std::string> uids;
    for (int i = 0; i < status.reserved_for_size(); ++i) {
      const kube::ConsumerReference& consumer = status.reserved_for(i);
      const std::string at = KubeIndex(path, i);
      if (consumer.resource().empty()) check->Required(KubeField(at, "resource"));
      if (consumer.name().empty()) check->Required(KubeField(at, "name"));
      if (consumer.uid().empty()) check->Required(KubeField(at, "uid"));
      check->Unique(at, consumer.uid(), &uids);
    }
  }
  if (status.reserved_for_size() > 0 && !status.has_allocation()) {
    check->Forbidden(path, "may not be specified when `allocated` is not set");
  }
}

// "DRIVER/POOL/DEVICE", with the share behind it.
template <typename Device>
std::string SharedDeviceId(const Device& device) {
  const std::string id = absl::StrCat(device.driver(), "/", device.pool(), "/", device.device());
  return device.has_share_id() ? absl::StrCat(id, "/", device.share_id()) : id;
}

void CheckNetwork(const std::string& path, const kube::NetworkDeviceData& data, ApiCheck* check) {
  check->MaxBytes(KubeField(path, "interfaceName"), data.interface_name(), kMaxInterfaceName);
  check->MaxBytes(KubeField(path, "hardwareAddress"), data.hardware_address(), kMaxHardwareAddress);
  const std::string ips = KubeField(path, "ips");
  if (!check->AtMost(ips, data.ips_size(), kMaxAddresses)) return;
  std::set<std::string> seen;
  for (int i = 0; i < data.ips_size(); ++i) check->Unique(KubeIndex(ips, i), data.ips(i), &seen);
}

void CheckDeviceStatuses(const kube::ResourceClaimStatusV1& status, ApiCheck* check) {
  std::set<std::string> allocated;
  for (const auto& result : status.allocation().devices().results()) {
    allocated.insert(SharedDeviceId(result));
  }
  std::set<std::string> seen;
  for (int i = 0; i < status.devices_size(); ++i) {
    const kube::AllocatedDeviceStatus& device = status.devices(i);
    const std::string path = KubeIndex("status.devices", i);
    check->DriverName(KubeField(path, "driver"), device.driver());
    check->PoolName(KubeField(path, "pool"), device.pool());
    check->DnsLabel(KubeField(path, "device"), device.device());
    if (device.has_share_id()) check->Uuid(KubeField(path, "shareID"), device.share_id());
    const std::string id = SharedDeviceId(device);
    if (!allocated.contains(id)) {
      check->Invalid(path, id, "must be an allocated device in the claim");
    }
    check->Conditions(KubeField(path, "conditions"), device.conditions(), kMaxDeviceConditions);
    if (!device.data().empty()) {
      check->JsonObject(KubeField(path, "data"), device.data(), kMaxDataBytes);
    }
    CheckNetwork(KubeField(path, "networkData"), device.network_data(), check);
    check->Unique(path, id, &seen);
  }
}

}  // namespace

void CheckResourceClaimV1(const kube::ResourceClaimV1& claim, ApiCheck* check) {
  check->kube().Metadata(claim.metadata(), true);
  CheckDeviceClaim("spec.devices", claim.spec().devices(), check);
  const kube::ResourceClaimStatusV1& status = claim.status();
  if (status.has_allocation()) {
    CheckAllocationV1(status.allocation(), NamesOf(claim.spec().devices()), check);
  }
  CheckConsumers(status, check);
  CheckDeviceStatuses(status, check);
}

void CheckResourceClaimTemplateV1(const kube::ResourceClaimTemplateV1& claim_template,
                                  ApiCheck* check) {
  check->kube().Metadata(claim_template.metadata(), true);
  CheckDeviceClaim("spec.spec.devices", claim_template.spec().spec().devices(), check);
}

}  // namespace drasim
