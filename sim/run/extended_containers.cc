#include "sim/run/extended_containers.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "model/kube/api_defaults.h"
#include "model/kube/made_objects.h"
#include "model/kube/rules.h"
#include "policies/dra/extended_resources.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

bool Requests(const PodShape& shape, const std::string& resource) {
  const auto& wanted = shape.request.extended;
  return std::any_of(wanted.begin(), wanted.end(),
                     [&](const auto& amount) { return amount.first == resource; });
}

kube::Container OnlyRequests(const kube::Container& container, const PodShape& shape) {
  kube::Container made;
  made.set_name(container.name());
  made.set_restart_policy(container.restart_policy());
  for (const auto& [resource, amount] : container.resources().requests()) {
    if (IsDraResourceName(resource) && !Requests(shape, resource)) continue;
    (*made.mutable_resources()->mutable_requests())[resource] = amount;
  }
  return made;
}

// Resources that no container names are what a lowering made of other requests (annotations, shared
// replicas): the first container has them.
void AddUnnamed(const PodShape& shape, kube::PodSpec* spec) {
  const auto names = [](const auto& containers, const std::string& resource) {
    return std::any_of(containers.begin(), containers.end(), [&](const kube::Container& container) {
      return container.resources().requests().count(resource) > 0;
    });
  };
  if (spec->containers().empty()) return;
  for (const auto& [resource, amount] : shape.request.extended) {
    if (amount == 0 || !IsDraResourceName(resource)) continue;
    if (names(spec->init_containers(), resource) || names(spec->containers(), resource)) continue;
    auto& requests = *spec->mutable_containers(0)->mutable_resources()->mutable_requests();
    requests[resource] = ExactAmountText(resource, amount);
  }
}

kube::PodSpec FromManifest(const kube::PodSpec& given, const PodShape& shape) {
  kube::PodSpec defaulted = given;
  SetPodDefaults(&defaulted);  // a limit is a request, too
  kube::PodSpec spec;
  for (const kube::Container& container : defaulted.init_containers()) {
    *spec.add_init_containers() = OnlyRequests(container, shape);
  }
  for (const kube::Container& container : defaulted.containers()) {
    *spec.add_containers() = OnlyRequests(container, shape);
  }
  AddUnnamed(shape, &spec);
  return spec;
}

kube::PodSpec FromShape(const PodShape& shape) {
  kube::PodSpec spec;
  const auto& containers = shape.device_plugin.containers;
  if (containers.empty()) {
    *spec.add_containers() = OnlyRequests(PodObjectOf("pod", shape, 0).spec().containers(0), shape);
    return spec;
  }
  for (size_t i = 0; i < containers.size(); ++i) {
    kube::Container* const made =
        containers[i].init ? spec.add_init_containers() : spec.add_containers();
    made->set_name(absl::StrCat("container-", i));
    if (containers[i].restartable) made->set_restart_policy("Always");
    for (const auto& [resource, amount] : containers[i].extended) {
      (*made->mutable_resources()->mutable_requests())[resource] =
          ExactAmountText(resource, amount);
    }
  }
  return spec;
}

}  // namespace

SharedMessage<kube::PodSpec> ExtendedContainers::Of(absl::string_view pod, ShapeId id,
                                                    const PodShape& shape) {
  const auto& wanted = shape.request.extended;
  const bool any = std::any_of(wanted.begin(), wanted.end(), [](const auto& amount) {
    return amount.second > 0 && IsDraResourceName(amount.first);
  });
  if (!any) return {};
  const kube::Pod* known = nullptr;
  for (const GivenObjects* given : given_) {
    const auto found = given->pods.find(pod);
    if (found != given->pods.end()) known = found->second.get();
  }
  SharedMessage<kube::PodSpec>& made = made_[{known, id}];
  if (!made) {
    made = SharedMessage<kube::PodSpec>(known != nullptr ? FromManifest(known->spec(), shape)
                                                         : FromShape(shape));
  }
  return made;
}

}  // namespace drasim
