// Features of structured DRA by Kubernetes release, and the variant of the allocator that they ask
// for.
//
// Source: pkg/features/kube_features.go of Kubernetes 1.34 to 1.37 and
// k8s.io/dynamic-resource-allocation/structured, release 0.37.2.
#ifndef DRASIM_POLICIES_ALLOCATOR_DRA_FEATURES_H_
#define DRASIM_POLICIES_ALLOCATOR_DRA_FEATURES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace drasim {

// The scheduler's release.
enum class StructuredRelease : uint8_t { k1_34, k1_35, k1_36, k1_37 };

// "1.34" to "1.37". InvalidArgument for others.
absl::StatusOr<StructuredRelease> ParseStructuredRelease(absl::string_view text);

// The features that an allocator may use. Each but the last three has a gate of its own name with
// the prefix DRA; `device_binding_and_status` needs DRADeviceBindingConditions and
// DRAResourceClaimDeviceStatus.
struct DraFeatures {
  bool admin_access = false;
  bool prioritized_list = false;
  bool partitionable_devices = false;
  bool device_taints = false;
  bool consumable_capacity = false;
  bool fractional_capacity_range = false;
  bool device_binding_and_status = false;
  bool list_type_attributes = false;
  bool optional_node_operations = false;
  bool derived_attributes = false;
  bool compatibility_groups = false;

  friend bool operator==(const DraFeatures&, const DraFeatures&) = default;
};

// The features that are on by default.
DraFeatures DefaultDraFeatures(StructuredRelease release);

// Switches the feature of that name ("ConsumableCapacity"). InvalidArgument for unknown names.
absl::Status SetDraFeature(absl::string_view name, bool on, DraFeatures* features);
// The names of the features that are on, in the order of DraFeatures.
std::vector<std::string> NamesOf(const DraFeatures& features);

// Upstream keeps three allocators. They differ in features and in the order of their search.
enum class AllocatorVariant : uint8_t { kStable, kIncubating, kExperimental };

// "stable", "incubating" or "experimental". InvalidArgument for others.
absl::StatusOr<AllocatorVariant> ParseAllocatorVariant(absl::string_view text);
absl::string_view VariantName(AllocatorVariant variant);

// The features that the variant knows.
DraFeatures SupportedDraFeatures(AllocatorVariant variant, StructuredRelease release);

// The first variant, from stable to experimental, that knows all of `features`; experimental when
// none does.
AllocatorVariant PickAllocatorVariant(const DraFeatures& features, StructuredRelease release);

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_DRA_FEATURES_H_
