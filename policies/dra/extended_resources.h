// Extended resources that device classes serve (KEP 5004): which class stands behind the name of a
// resource, and the requests that a pod's containers make of it.
//
// Source: k8s.io/dynamic-resource-allocation/deviceclass/extendedresourcecache and
// kubernetes/kubernetes pkg/scheduler/framework/plugins/dynamicresources, release 1.37.2.
#ifndef DRASIM_POLICIES_DRA_EXTENDED_RESOURCES_H_
#define DRASIM_POLICIES_DRA_EXTENDED_RESOURCES_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"

namespace drasim {

// The implicit name of every class is this and the class's name.
inline constexpr char kDeviceClassResourcePrefix[] = "deviceclass.resource.kubernetes.io/";

// Whether a class may serve the resource.
bool IsDraResourceName(absl::string_view resource);

// The class behind each name. Fed with the events of classes in their order, which counts: of two
// classes with one explicit name the newer wins (of equally old ones that with the smaller name),
// and a loser gets no implicit name either if it is added later.
class ResourceClasses {
 public:
  void Add(const proto::kube::DeviceClass& device_class) { Put(device_class, nullptr); }
  void Update(const proto::kube::DeviceClass& before, const proto::kube::DeviceClass& after) {
    Put(after, &before);
  }
  void Remove(const proto::kube::DeviceClass& device_class) { Forget(device_class); }

  // The class's name; empty if no class serves the resource.
  std::string ClassOf(absl::string_view resource) const;

 private:
  struct Entry {
    std::string name;
    int64_t created_ns = 0;
  };
  void Put(const proto::kube::DeviceClass& device_class, const proto::kube::DeviceClass* before);
  void Forget(const proto::kube::DeviceClass& device_class);

  std::map<std::string, Entry, std::less<>> classes_;  // by resource
};

struct ResourceRequests {
  std::vector<proto::kube::DeviceRequest> requests;  // by name
  std::vector<proto::kube::ContainerExtendedResourceRequest> mappings;
};

// The requests of a claim for `resources` (ascending). Every container and sidecar has its own
// devices. An init container uses those of later containers, and of those that it needs beyond them
// the largest request serves all init containers. O(resources x containers^2).
ResourceRequests RequestsOfResources(const proto::kube::PodSpec& spec,
                                     const std::vector<std::string>& resources,
                                     const ResourceClasses& classes);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_EXTENDED_RESOURCES_H_
