#include "policies/allocator/dra_features.h"

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace drasim {
namespace {

struct FeatureName {
  absl::string_view name;
  bool DraFeatures::*member;
};

constexpr FeatureName kFeatureNames[] = {
    {"AdminAccess", &DraFeatures::admin_access},
    {"PrioritizedList", &DraFeatures::prioritized_list},
    {"PartitionableDevices", &DraFeatures::partitionable_devices},
    {"DeviceTaints", &DraFeatures::device_taints},
    {"ConsumableCapacity", &DraFeatures::consumable_capacity},
    {"FractionalCapacityRange", &DraFeatures::fractional_capacity_range},
    {"DeviceBindingAndStatus", &DraFeatures::device_binding_and_status},
    {"ListTypeAttributes", &DraFeatures::list_type_attributes},
    {"OptionalNodeOperations", &DraFeatures::optional_node_operations},
    {"DerivedAttributes", &DraFeatures::derived_attributes},
    {"CompatibilityGroups", &DraFeatures::compatibility_groups},
};

bool Covers(const DraFeatures& known, const DraFeatures& asked) {
  for (const FeatureName& feature : kFeatureNames) {
    if (asked.*feature.member && !(known.*feature.member)) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<StructuredRelease> ParseStructuredRelease(absl::string_view text) {
  if (text == "1.34") return StructuredRelease::k1_34;
  if (text == "1.35") return StructuredRelease::k1_35;
  if (text == "1.36") return StructuredRelease::k1_36;
  if (text == "1.37") return StructuredRelease::k1_37;
  return absl::InvalidArgumentError(
      absl::StrCat("found '", text, "', expected a release: 1.34, 1.35, 1.36 or 1.37"));
}

DraFeatures DefaultDraFeatures(StructuredRelease release) {
  DraFeatures features;
  features.admin_access = true;
  features.prioritized_list = true;
  if (release >= StructuredRelease::k1_36) {
    features.partitionable_devices = true;
    features.device_taints = true;
    features.consumable_capacity = true;
    features.device_binding_and_status = true;
  }
  features.fractional_capacity_range = release >= StructuredRelease::k1_37;
  return features;
}

absl::Status SetDraFeature(absl::string_view name, bool on, DraFeatures* features) {
  for (const FeatureName& feature : kFeatureNames) {
    if (feature.name != name) continue;
    features->*feature.member = on;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown feature '", name, "'"));
}

std::vector<std::string> NamesOf(const DraFeatures& features) {
  std::vector<std::string> names;
  for (const FeatureName& feature : kFeatureNames) {
    if (features.*feature.member) names.emplace_back(feature.name);
  }
  return names;
}

absl::StatusOr<AllocatorVariant> ParseAllocatorVariant(absl::string_view text) {
  for (const AllocatorVariant variant : {AllocatorVariant::kStable, AllocatorVariant::kIncubating,
                                         AllocatorVariant::kExperimental}) {
    if (text == VariantName(variant)) return variant;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("found '", text, "', expected a variant: stable, incubating or experimental"));
}

absl::string_view VariantName(AllocatorVariant variant) {
  constexpr absl::string_view kNames[] = {"stable", "incubating", "experimental"};
  return kNames[static_cast<size_t>(variant)];
}

DraFeatures SupportedDraFeatures(AllocatorVariant variant, StructuredRelease release) {
  const bool new_split = release >= StructuredRelease::k1_36;  // before, stable had the core alone
  DraFeatures features;
  if (variant == AllocatorVariant::kStable && !new_split) return features;
  features.admin_access = true;
  features.prioritized_list = true;
  features.partitionable_devices = true;
  features.device_taints = true;
  if (variant == AllocatorVariant::kStable) return features;
  if (variant == AllocatorVariant::kIncubating && !new_split) return features;
  features.consumable_capacity = true;
  features.device_binding_and_status = true;
  features.fractional_capacity_range = release >= StructuredRelease::k1_37;
  if (variant == AllocatorVariant::kIncubating || !new_split) return features;
  features.list_type_attributes = true;
  if (release >= StructuredRelease::k1_37) {
    features.optional_node_operations = true;
    features.derived_attributes = true;
    features.compatibility_groups = true;
  }
  return features;
}

AllocatorVariant PickAllocatorVariant(const DraFeatures& features, StructuredRelease release) {
  for (const AllocatorVariant variant :
       {AllocatorVariant::kStable, AllocatorVariant::kIncubating}) {
    if (Covers(SupportedDraFeatures(variant, release), features)) return variant;
  }
  return AllocatorVariant::kExperimental;
}

}  // namespace drasim
