#include "model/kube/validate_device.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "model/kube/label_check.h"
#include "model/kube/rules.h"
#include "model/kube/validate_capacity.h"
#include "model/quantity.h"
#include "model/semver.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

constexpr int kMaxDevices = 128;
// The limit of slices whose devices have taints, counters, or lists for attributes.
constexpr int kMaxRichDevices = 64;
constexpr int kMaxAttributesAndCapacities = 32;
constexpr int kMaxAttributeValues = 48;
constexpr size_t kMaxAttributeBytes = 64;
constexpr int kMaxCounterSets = 8;
constexpr int kMaxCounters = 32;
constexpr int kMaxConsumedSets = 2;
constexpr int kMaxCompatibilityGroups = 2;
constexpr int kMaxTaints = 16;
constexpr int kMaxBindingConditions = 4;
constexpr int kMaxSelectors = 32;
constexpr int kMaxConfigs = 32;
constexpr int kMaxRuleConditions = 8;
constexpr size_t kMaxOpaqueBytes = size_t{10} << 10U;

// The entries of a protobuf map by key: its own order differs from run to run.
template <typename Map>
std::map<std::string, const typename Map::mapped_type*> Sorted(const Map& map) {
  std::map<std::string, const typename Map::mapped_type*> sorted;
  for (const auto& [key, value] : map) sorted.emplace(key, &value);
  return sorted;
}

// --- Attributes ---

int ListValues(const kube::DeviceAttribute& attribute) {
  return attribute.ints_size() + attribute.bools_size() + attribute.strings_size() +
         attribute.versions_size();
}

void CheckVersion(const std::string& path, const std::string& version, ApiCheck* check) {
  if (!HasSemverSyntax(version)) {
    check->Invalid(path, version, "must be a string compatible with semver.org spec 2.0.0");
  }
  check->MaxBytes(path, version, kMaxAttributeBytes);
}

void CheckAttribute(const std::string& path, const kube::DeviceAttribute& attribute,
                    ApiCheck* check) {
  if (attribute.has_string_value()) {
    check->MaxBytes(KubeField(path, "string"), attribute.string_value(), kMaxAttributeBytes);
  }
  if (attribute.has_version_value()) {
    CheckVersion(KubeField(path, "version"), attribute.version_value(), check);
  }
  for (int i = 0; i < attribute.strings_size(); ++i) {
    check->MaxBytes(KubeItem(path, "strings", i), attribute.strings(i), kMaxAttributeBytes);
  }
  for (int i = 0; i < attribute.versions_size(); ++i) {
    CheckVersion(KubeItem(path, "versions", i), attribute.versions(i), check);
  }
  const int values = static_cast<int>(attribute.has_int_value()) + attribute.has_bool_value() +
                     attribute.has_string_value() + attribute.has_version_value() +
                     (attribute.ints_size() > 0) + (attribute.bools_size() > 0) +
                     (attribute.strings_size() > 0) + (attribute.versions_size() > 0);
  if (values == 1) return;
  check->InvalidShown(path, values == 0 ? "\"\"" : absl::StrCat(values, " values"),
                      "exactly one value must be specified");
}

void CheckAttributes(const std::string& path, const kube::Device& device, ApiCheck* check) {
  const int both = static_cast<int>(device.attributes().size() + device.capacity().size());
  if (both > kMaxAttributesAndCapacities) {
    check->InvalidShown(path, absl::StrCat(both),
                        absl::StrCat("the total number of attributes and capacities must not "
                                     "exceed ",
                                     kMaxAttributesAndCapacities));
  }
  int values = 0;
  for (const auto& [name, attribute] : Sorted(device.attributes())) {
    values += std::max(ListValues(*attribute), 1);
  }
  if (values > kMaxAttributeValues) {
    check->InvalidShown(
        path, absl::StrCat(values),
        absl::StrCat("the total number of attribute values must not exceed ", kMaxAttributeValues));
  }
  const std::string attributes = KubeField(path, "attributes");
  for (const auto& [name, attribute] : Sorted(device.attributes())) {
    check->QualifiedName(attributes, name);
    CheckAttribute(KubeKeyPath(attributes, name), *attribute, check);
  }
}

void CheckCapacities(const std::string& path, const kube::Device& device, ApiCheck* check) {
  const std::string capacities = KubeField(path, "capacity");
  for (const auto& [name, capacity] : Sorted(device.capacity())) {
    check->QualifiedName(capacities, name);
    CheckDeviceCapacity(KubeKeyPath(capacities, name), *capacity,
                        device.allow_multiple_allocations(), check);
  }
}

// --- Counters ---

// The counters of a set, or what a device consumes of it. Negative amounts pass upstream.
void CheckCounters(const std::string& path,
                   const google::protobuf::Map<std::string, kube::Counter>& counters,
                   ApiCheck* check) {
  if (counters.empty()) return check->Required(path);
  if (!check->AtMost(path, static_cast<int>(counters.size()), kMaxCounters)) return;
  for (const auto& [name, counter] : Sorted(counters)) {
    check->DnsLabel(path, name);
    if (counter->value().empty()) continue;  // 0, as upstream
    CheckQuantity(KubeField(KubeKeyPath(path, name), "value"), counter->value(), check);
  }
}

void CheckSetName(const std::string& path, const std::string& name, ApiCheck* check) {
  if (name.empty()) return check->Required(path);
  check->DnsLabel(path, name);
}

void CheckSharedCounters(const kube::ResourceSliceSpec& spec, ApiCheck* check) {
  const std::string path = "spec.sharedCounters";
  if (!check->AtMost(path, spec.shared_counters_size(), kMaxCounterSets)) return;
  std::set<std::string> names;
  for (int i = 0; i < spec.shared_counters_size(); ++i) {
    const kube::CounterSet& counters = spec.shared_counters(i);
    const std::string at = KubeIndex(path, i);
    CheckSetName(KubeField(at, "name"), counters.name(), check);
    CheckCounters(KubeField(at, "counters"), counters.counters(), check);
    check->Unique(at, counters.name(), &names);
  }
}

void CheckConsumption(const std::string& device_path, const kube::Device& device, ApiCheck* check) {
  const std::string path = KubeField(device_path, "consumesCounters");
  if (!check->AtMost(path, device.consumes_counters_size(), kMaxConsumedSets)) return;
  std::set<std::string> sets;
  for (int i = 0; i < device.consumes_counters_size(); ++i) {
    const kube::DeviceCounterConsumption& consumption = device.consumes_counters(i);
    const std::string at = KubeIndex(path, i);
    CheckSetName(KubeField(at, "counterSet"), consumption.counter_set(), check);
    CheckCounters(KubeField(at, "counters"), consumption.counters(), check);
    const std::string groups = KubeField(at, "compatibilityGroups");
    if (check->AtMost(groups, consumption.compatibility_groups_size(), kMaxCompatibilityGroups)) {
      std::set<std::string> seen;
      for (int j = 0; j < consumption.compatibility_groups_size(); ++j) {
        check->DnsLabel(KubeIndex(groups, j), consumption.compatibility_groups(j));
        check->Unique(KubeIndex(groups, j), consumption.compatibility_groups(j), &seen);
      }
    }
    check->Unique(at, consumption.counter_set(), &sets);
  }
}

// --- Devices ---

void CheckTaint(const std::string& path, const kube::DeviceTaint& taint, ApiCheck* check) {
  check->LabelKey(KubeField(path, "key"), taint.key());
  check->LabelValue(KubeField(path, "value"), taint.value());
  check->OneOf(KubeField(path, "effect"), taint.effect(), {"NoExecute", "NoSchedule", "None"});
}

std::string FieldNames(const std::vector<absl::string_view>& names) {
  return absl::StrCat("\"{`", absl::StrJoin(names, "`, `"), "`}\"");
}

// The device's own choice of nodes, which stands for the slice's.
void CheckNodesOfDevice(const std::string& path, const kube::Device& device, bool per_device,
                        ApiCheck* check) {
  if (!per_device) {
    if (device.has_node_name() || device.has_node_selector() || device.has_all_nodes()) {
      check->InvalidShown(path, "null",
                          "`nodeName`, `nodeSelector` and `allNodes` can only be set if "
                          "`perDeviceNodeSelection` is set to true in the ResourceSlice spec");
    }
    return;
  }
  std::vector<absl::string_view> names;
  if (device.has_node_name()) {
    if (device.node_name().empty()) {
      check->Invalid(KubeField(path, "nodeName"), "", "must not be empty");
    } else {
      names.emplace_back("nodeName");
      check->Subdomain(KubeField(path, "nodeName"), device.node_name());
    }
  }
  if (device.has_node_selector()) {
    names.emplace_back("nodeSelector");
    check->NodeSelector(KubeField(path, "nodeSelector"), device.node_selector());
  }
  if (device.all_nodes()) {
    names.emplace_back("allNodes");
  } else if (device.has_all_nodes()) {
    check->InvalidShown(KubeField(path, "allNodes"), "false",
                        "must be either unset or set to true");
  }
  constexpr char kExactlyOne[] =
      "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when "
      "`perDeviceNodeSelection` is set to true in the ResourceSlice spec";
  if (names.empty()) check->Required(path, kExactlyOne);
  if (names.size() > 1) check->InvalidShown(path, FieldNames(names), kExactlyOne);
}

void CheckMapping(const std::string& path, const kube::NodeAllocatableMapping& mapping,
                  const kube::Device& device, ApiCheck* check) {
  const std::string key = KubeField(path, "capacityKey");
  const std::string multiplier = KubeField(path, "capacityMultiplier");
  if (mapping.has_capacity_key()) {
    if (mapping.capacity_key().empty()) {
      check->Invalid(key, "", "capacityKey must not be an empty string");
    } else if (!device.capacity().contains(mapping.capacity_key())) {
      check->NotFound(key, mapping.capacity_key());
    }
    if (!mapping.has_capacity_multiplier()) {
      check->Required(multiplier, "capacityMultiplier is required when capacityKey is set");
    } else {
      CheckSign(multiplier, mapping.capacity_multiplier(), /*zero=*/false, "must be positive",
                check);
    }
  } else if (mapping.has_capacity_multiplier()) {
    check->Required(key, "capacityKey is required when capacityMultiplier is set");
  }
  if (mapping.has_device_multiplier()) {
    CheckSign(KubeField(path, "deviceMultiplier"), mapping.device_multiplier(), /*zero=*/false,
              "must be positive", check);
  }
}

void CheckNodeAllocatable(const std::string& device_path, const kube::Device& device,
                          ApiCheck* check) {
  const std::string path = KubeField(device_path, "nodeAllocatableResources");
  for (const auto& [name, resource] : Sorted(device.node_allocatable_resources())) {
    const std::string at = KubeKeyPath(path, name);
    if (name != "cpu" && name != "memory" && name != "ephemeral-storage" &&
        !absl::StartsWith(name, "hugepages-")) {
      check->Invalid(at, name, "must be a node allocatable resource name");
    }
    if (!resource->has_mapping() && !resource->has_overhead()) {
      check->Required(at, "at least one of mapping or overhead must be set");
    }
    if (resource->has_mapping()) {
      CheckMapping(KubeField(at, "mapping"), resource->mapping(), device, check);
    }
    if (!resource->has_overhead()) continue;
    const std::string overhead = KubeField(at, "overhead");
    if (!resource->overhead().has_per_pod() && !resource->overhead().has_per_container()) {
      check->Invalid(overhead, "", "at least one of perPod or perContainer must be set");
    }
    if (resource->overhead().has_per_pod()) {
      CheckSign(KubeField(overhead, "perPod"), resource->overhead().per_pod(), /*zero=*/true,
                "must be non-negative", check);
    }
    if (resource->overhead().has_per_container()) {
      CheckSign(KubeField(overhead, "perContainer"), resource->overhead().per_container(),
                /*zero=*/true, "must be non-negative", check);
    }
  }
}

void CheckDevice(const std::string& path, const kube::Device& device, bool per_device,
                 ApiCheck* check) {
  check->DnsLabel(KubeField(path, "name"), device.name());
  CheckAttributes(path, device, check);
  CheckCapacities(path, device, check);
  const std::string taints = KubeField(path, "taints");
  if (check->AtMost(taints, device.taints_size(), kMaxTaints)) {
    for (int i = 0; i < device.taints_size(); ++i) {
      CheckTaint(KubeIndex(taints, i), device.taints(i), check);
    }
  }
  CheckConsumption(path, device, check);
  CheckNodesOfDevice(path, device, per_device, check);
  CheckBindingConditions(path, device.binding_conditions(), device.binding_failure_conditions(),
                         check);
  CheckNodeAllocatable(path, device, check);
}

bool IsRich(const kube::Device& device) {
  if (device.taints_size() > 0 || device.consumes_counters_size() > 0) return true;
  return std::any_of(device.attributes().begin(), device.attributes().end(),
                     [](const auto& entry) { return ListValues(entry.second) > 0; });
}

void CheckDevices(const kube::ResourceSliceSpec& spec, ApiCheck* check) {
  const bool rich = std::any_of(spec.devices().begin(), spec.devices().end(), IsRich);
  const int most = rich ? kMaxRichDevices : kMaxDevices;
  if (!check->AtMost("spec.devices", spec.devices_size(), most)) return;
  std::set<std::string> names;
  for (int i = 0; i < spec.devices_size(); ++i) {
    const std::string path = KubeIndex("spec.devices", i);
    CheckDevice(path, spec.devices(i), spec.per_device_node_selection(), check);
    check->Unique(path, spec.devices(i).name(), &names);
  }
}

// --- Slices ---

void CheckPool(const kube::ResourcePool& pool, ApiCheck* check) {
  check->PoolName("spec.pool.name", pool.name());
  if (pool.resource_slice_count() <= 0) {
    check->InvalidShown("spec.pool.resourceSliceCount", absl::StrCat(pool.resource_slice_count()),
                        "must be greater than zero");
  }
  if (pool.generation() < 0) {
    check->InvalidShown("spec.pool.generation", absl::StrCat(pool.generation()),
                        "must be greater than or equal to zero");
  }
}

void CheckNodesOfSlice(const kube::ResourceSliceSpec& spec, ApiCheck* check) {
  std::vector<absl::string_view> names;
  if (spec.has_node_name()) {
    if (spec.node_name().empty()) {
      check->Invalid("spec.nodeName", "", "must be either unset or set to a non-empty string");
    } else {
      names.emplace_back("nodeName");
      check->Subdomain("spec.nodeName", spec.node_name());
    }
  }
  if (spec.has_node_selector()) {
    names.emplace_back("nodeSelector");
    check->NodeSelector("spec.nodeSelector", spec.node_selector());
    const int terms = spec.node_selector().node_selector_terms_size();
    if (terms != 1) {
      check->InvalidShown("spec.nodeSelector.nodeSelectorTerms", absl::StrCat(terms, " terms"),
                          "must have exactly one node selector term");
    }
  }
  const auto flag = [&](absl::string_view name, bool given, bool value) {
    if (value) {
      names.push_back(name);
    } else if (given) {
      check->InvalidShown(KubeField("spec", name), "false", "must be either unset or set to true");
    }
  };
  flag("allNodes", spec.has_all_nodes(), spec.all_nodes());
  flag("perDeviceNodeSelection", spec.has_per_device_node_selection(),
       spec.per_device_node_selection());
  const std::string exactly_one =
      "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
  if (names.empty()) check->Required("spec", exactly_one);
  if (names.size() > 1) {
    check->InvalidShown("spec", FieldNames(names),
                        absl::StrCat(exactly_one, ", but multiple fields are set"));
  }
}

// The attribute that names the partition type: every device that consumes counters has it.
void CheckPartitionType(const kube::ResourceSliceSpec& spec, ApiCheck* check) {
  if (!spec.has_partition_type_attribute()) return;
  const std::string& name = spec.partition_type_attribute();
  std::vector<KubeProblem> of_name;
  ApiCheck name_check(&of_name);
  name_check.FullyQualifiedName("spec.partitionTypeAttribute", name);
  for (const KubeProblem& problem : of_name) check->kube().Fail(problem.path, problem.what);
  const bool consumed =
      std::any_of(spec.devices().begin(), spec.devices().end(),
                  [](const kube::Device& device) { return device.consumes_counters_size() > 0; });
  if (!consumed) {
    return check->Invalid("spec.partitionTypeAttribute", name,
                          "may only be set on a slice which declares devices that consume "
                          "counters");
  }
  if (!of_name.empty()) return;
  absl::string_view bare = name;
  absl::ConsumePrefix(&bare, absl::StrCat(spec.driver(), "/"));
  for (int i = 0; i < spec.devices_size(); ++i) {
    const kube::Device& device = spec.devices(i);
    if (device.consumes_counters().empty()) continue;
    const std::string path =
        KubeKeyPath(KubeField(KubeIndex("spec.devices", i), "attributes"), name);
    auto found = device.attributes().find(name);
    if (found == device.attributes().end()) found = device.attributes().find(std::string(bare));
    if (found == device.attributes().end()) {
      check->Required(path,
                      "device consumes counters and `partitionTypeAttribute` names this "
                      "attribute, so it must be set");
    } else if (!found->second.has_string_value()) {
      check->InvalidShown(path, "another type",
                          "must be a string value because `partitionTypeAttribute` names this "
                          "attribute");
    }
  }
}

}  // namespace

void CheckDeviceSelectors(const std::string& path,
                          const google::protobuf::RepeatedPtrField<kube::DeviceSelector>& selectors,
                          ApiCheck* check) {
  if (!check->AtMost(path, selectors.size(), kMaxSelectors)) return;
  for (int i = 0; i < selectors.size(); ++i) {
    const std::string cel = KubeField(KubeIndex(path, i), "cel");
    if (!selectors.Get(i).has_cel()) {
      check->Required(cel);
      continue;
    }
    const std::string expression = KubeField(cel, "expression");
    if (selectors.Get(i).cel().expression().empty()) check->Required(expression);
    check->MaxBytes(expression, selectors.Get(i).cel().expression(), kMaxCelBytes);
  }
}

void CheckOpaque(const std::string& path, const kube::OpaqueDeviceConfiguration* opaque,
                 ApiCheck* check) {
  if (opaque == nullptr) return check->Required(path);
  check->DriverName(KubeField(path, "driver"), opaque->driver());
  check->JsonObject(KubeField(path, "parameters"), opaque->parameters(), kMaxOpaqueBytes);
}

void CheckBindingConditions(const std::string& path, const RepeatedTexts& conditions,
                            const RepeatedTexts& failures, ApiCheck* check) {
  const std::string conditions_path = KubeField(path, "bindingConditions");
  const std::string failures_path = KubeField(path, "bindingFailureConditions");
  const auto names = [check](const std::string& at, const RepeatedTexts& texts) {
    std::set<std::string> seen;
    if (!check->AtMost(at, texts.size(), kMaxBindingConditions)) return;
    for (int i = 0; i < texts.size(); ++i) {
      check->LabelKey(KubeIndex(at, i), texts.Get(i));
      check->Unique(KubeIndex(at, i), texts.Get(i), &seen);
    }
  };
  names(conditions_path, conditions);
  names(failures_path, failures);
  for (int i = 0; i < failures.size(); ++i) {
    if (std::find(conditions.begin(), conditions.end(), failures.Get(i)) == conditions.end()) {
      continue;
    }
    check->Invalid(KubeIndex(failures_path, i), failures.Get(i),
                   "bindingFailureConditions must not overlap with bindingConditions");
  }
  if (conditions.empty() && !failures.empty()) {
    check->InvalidShown(conditions_path, "null",
                        "bindingConditions are required to use bindingFailureConditions");
  }
  if (failures.empty() && !conditions.empty()) {
    check->InvalidShown(failures_path, "null",
                        "bindingFailureConditions are required to use bindingConditions");
  }
}

void CheckSkippedOperations(const std::string& path, const RepeatedTexts& operations,
                            ApiCheck* check) {
  std::set<std::string> seen;
  for (int i = 0; i < operations.size(); ++i) {
    check->OneOf(KubeIndex(path, i), operations.Get(i),
                 {"*", "NodePrepareResources", "NodeUnprepareResources"});
    check->Unique(KubeIndex(path, i), operations.Get(i), &seen);
  }
  if (seen.contains("NodePrepareResources") && !seen.contains("NodeUnprepareResources") &&
      !seen.contains("*")) {
    check->InvalidShown(path, "[\"NodePrepareResources\"]",
                        "NodePrepareResources cannot be skipped unless NodeUnprepareResources is "
                        "also skipped");
  }
}

void CheckResourceSlice(const kube::ResourceSlice& slice, ApiCheck* check) {
  const kube::ResourceSliceSpec& spec = slice.spec();
  check->kube().Metadata(slice.metadata(), true);
  check->DriverName("spec.driver", spec.driver());
  CheckPool(spec.pool(), check);
  CheckNodesOfSlice(spec, check);
  if (spec.shared_counters_size() > 0 && spec.devices_size() > 0) {
    check->Invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed");
  }
  CheckDevices(spec, check);
  CheckSharedCounters(spec, check);
  CheckPartitionType(spec, check);
  CheckSkippedOperations("spec.skipNodeOperations", spec.skip_node_operations(), check);
}

void CheckDeviceClass(const kube::DeviceClass& device_class, ApiCheck* check) {
  const kube::DeviceClassSpec& spec = device_class.spec();
  check->kube().Metadata(device_class.metadata(), true);
  CheckDeviceSelectors("spec.selectors", spec.selectors(), check);
  if (check->AtMost("spec.config", spec.config_size(), kMaxConfigs)) {
    for (int i = 0; i < spec.config_size(); ++i) {
      const kube::DeviceConfiguration& config = spec.config(i);
      CheckOpaque(KubeField(KubeIndex("spec.config", i), "opaque"),
                  config.has_opaque() ? &config.opaque() : nullptr, check);
    }
  }
  if (!spec.has_extended_resource_name()) return;
  const std::string& name = spec.extended_resource_name();
  const bool valid = IsExtendedResource(name) && !absl::StartsWith(name, "requests.") &&
                     QualifiedNameProblems(absl::StrCat("requests.", name)).empty();
  if (!valid) {
    check->Invalid("spec.extendedResourceName", name, "must be a valid extended resource name");
  }
}

void CheckDeviceTaintRule(const kube::DeviceTaintRule& rule, ApiCheck* check) {
  check->kube().Metadata(rule.metadata(), true);
  const kube::DeviceTaintSelector& selector = rule.spec().device_selector();
  if (selector.has_driver()) check->DriverName("spec.deviceSelector.driver", selector.driver());
  if (selector.has_pool()) check->PoolName("spec.deviceSelector.pool", selector.pool());
  if (selector.has_device()) check->DnsLabel("spec.deviceSelector.device", selector.device());
  CheckTaint("spec.taint", rule.spec().taint(), check);
  check->Conditions("status.conditions", rule.status().conditions(), kMaxRuleConditions);
}

}  // namespace drasim
