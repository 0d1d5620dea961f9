#include "policies/dra/extended_resources.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "model/kube/kube_time.h"
#include "model/kube/requests.h"
#include "model/kube/rules.h"
#include "model/quantity.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

// A class without a timestamp, as tests and manifests have it, is older than any other.
constexpr int64_t kNeverCreated = std::numeric_limits<int64_t>::min();

int64_t CreatedNs(const kube::DeviceClass& device_class) {
  const std::string& created = device_class.metadata().creation_timestamp();
  return created.empty() ? kNeverCreated : KubeTimeNs(created);
}

std::string ImplicitName(const kube::DeviceClass& device_class) {
  return absl::StrCat(kDeviceClassResourcePrefix, device_class.metadata().name());
}

// Whole units of the resource; 0 for a quantity that has none, or that exceeds int64.
int64_t WholeUnits(const std::string& text) {
  const absl::StatusOr<Quantity> quantity = Quantity::Parse(text);
  if (!quantity.ok() || !quantity->UnitsFitInt64()) return 0;
  const int64_t units = quantity->Value();
  const bool whole = quantity->Compare(Quantity::FromUnits(units, quantity->format())) == 0;
  return whole ? units : 0;
}

// One container's share of one resource.
struct ContainerShare {
  std::optional<kube::DeviceRequest> request;  // beyond what it can use of others
  std::vector<kube::ContainerExtendedResourceRequest> mappings;
};

kube::ContainerExtendedResourceRequest MappingOf(const kube::Container& container,
                                                 const std::string& resource,
                                                 const std::string& request) {
  kube::ContainerExtendedResourceRequest mapping;
  mapping.set_container_name(container.name());
  mapping.set_resource_name(resource);
  mapping.set_request_name(request);
  return mapping;
}

// `reusable`: requests of other containers whose devices are free while this one runs.
ContainerShare ShareOf(const kube::Container& container, size_t container_index,
                       const std::string& resource, const std::string& class_name,
                       absl::Span<const std::optional<kube::DeviceRequest>> reusable) {
  ContainerShare share;
  const auto requested = container.resources().requests().find(resource);
  if (requested == container.resources().requests().end()) return share;
  int64_t missing = WholeUnits(requested->second);
  if (missing == 0) return share;
  for (const std::optional<kube::DeviceRequest>& other : reusable) {
    if (!other.has_value()) continue;
    share.mappings.push_back(MappingOf(container, resource, other->name()));
    missing -= other->exactly().count();
    if (missing <= 0) return share;
  }
  const auto names = SortedTexts(container.resources().requests());
  const auto place = std::find_if(names.begin(), names.end(),
                                  [&](const auto& entry) { return entry.first == resource; });
  kube::DeviceRequest request;
  request.set_name(absl::StrCat("container-", container_index, "-request-",
                                std::distance(names.begin(), place)));
  request.mutable_exactly()->set_device_class_name(class_name);
  request.mutable_exactly()->set_allocation_mode("ExactCount");
  request.mutable_exactly()->set_count(missing);
  share.mappings.push_back(MappingOf(container, resource, request.name()));
  share.request = std::move(request);
  return share;
}

template <typename T>
void Append(const std::vector<T>& more, std::vector<T>* all) {
  all->insert(all->end(), more.begin(), more.end());
}

class PodContainers {
 public:
  explicit PodContainers(const kube::PodSpec& spec) : init_(spec.init_containers_size()) {
    for (const kube::Container& container : spec.init_containers()) all_.push_back(&container);
    for (const kube::Container& container : spec.containers()) all_.push_back(&container);
  }

  void AddResource(const std::string& resource, const std::string& class_name,
                   ResourceRequests* result) const {
    std::vector<std::optional<kube::DeviceRequest>> lasting(all_.size());
    std::vector<kube::ContainerExtendedResourceRequest> lasting_mappings;
    for (size_t i = 0; i < all_.size(); ++i) {
      if (EndsBeforeOthers(i)) continue;
      const ContainerShare share = ShareOf(*all_[i], i, resource, class_name, {});
      lasting[i] = share.request;
      Append(share.mappings, &lasting_mappings);
    }
    std::optional<kube::DeviceRequest> largest;
    std::set<std::string> own_names;  // of requests of init containers
    std::vector<kube::ContainerExtendedResourceRequest> init_mappings;
    for (size_t i = 0; i < all_.size(); ++i) {
      if (!EndsBeforeOthers(i)) continue;
      const ContainerShare share =
          ShareOf(*all_[i], i, resource, class_name, absl::MakeConstSpan(lasting).subspan(i));
      Append(share.mappings, &init_mappings);
      if (!share.request.has_value()) continue;
      own_names.insert(share.request->name());
      if (!largest.has_value() || largest->exactly().count() < share.request->exactly().count()) {
        largest = share.request;
      }
    }
    for (kube::ContainerExtendedResourceRequest& mapping : init_mappings) {
      if (own_names.count(mapping.request_name()) > 0) mapping.set_request_name(largest->name());
    }
    if (largest.has_value()) result->requests.push_back(*largest);
    for (const std::optional<kube::DeviceRequest>& request : lasting) {
      if (request.has_value()) result->requests.push_back(*request);
    }
    Append(lasting_mappings, &result->mappings);
    Append(init_mappings, &result->mappings);
  }

 private:
  bool EndsBeforeOthers(size_t index) const {
    return index < static_cast<size_t>(init_) && !IsSidecar(*all_[index]);
  }

  std::vector<const kube::Container*> all_;  // init containers first
  int init_;
};

}  // namespace

bool IsDraResourceName(absl::string_view resource) {
  return IsExtendedResource(resource) || absl::StartsWith(resource, kDeviceClassResourcePrefix);
}

void ResourceClasses::Put(const kube::DeviceClass& device_class, const kube::DeviceClass* before) {
  const bool is_explicit = device_class.spec().has_extended_resource_name();
  const std::string& resource = device_class.spec().extended_resource_name();
  const Entry entry = {device_class.metadata().name(), CreatedNs(device_class)};
  if (is_explicit) {
    const auto rival = classes_.find(resource);
    if (rival != classes_.end()) {
      if (entry.created_ns < rival->second.created_ns) return;
      // As upstream, a class that changes under its own name counts as its own rival.
      if (entry.created_ns == rival->second.created_ns && entry.name >= rival->second.name) return;
    }
  }
  if (before != nullptr) Forget(*before);
  if (is_explicit) classes_[resource] = entry;
  classes_[ImplicitName(device_class)] = entry;
}

void ResourceClasses::Forget(const kube::DeviceClass& device_class) {
  classes_.erase(ImplicitName(device_class));
  if (device_class.spec().has_extended_resource_name()) {
    classes_.erase(device_class.spec().extended_resource_name());
  }
}

std::string ResourceClasses::ClassOf(absl::string_view resource) const {
  const auto found = classes_.find(resource);
  return found == classes_.end() ? std::string() : found->second.name;
}

ResourceRequests RequestsOfResources(const kube::PodSpec& spec,
                                     const std::vector<std::string>& resources,
                                     const ResourceClasses& classes) {
  ResourceRequests result;
  const PodContainers containers(spec);
  for (const std::string& resource : resources) {
    const std::string class_name = classes.ClassOf(resource);
    if (!class_name.empty()) containers.AddResource(resource, class_name, &result);
  }
  std::sort(result.requests.begin(), result.requests.end(),
            [](const auto& a, const auto& b) { return a.name() < b.name(); });
  return result;
}

}  // namespace drasim
