#include "model/kube/api_defaults.h"

#include "model/kube/requests.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

void SetContainerDefaults(bool host_network, kube::Container* container) {
  for (const auto& [resource, limit] : container->resources().limits()) {
    container->mutable_resources()->mutable_requests()->insert({resource, limit});
  }
  if (!host_network) return;
  for (kube::ContainerPort& port : *container->mutable_ports()) {
    if (port.host_port() == 0) port.set_host_port(port.container_port());
  }
}

template <typename Request>
void SetRequestDefaults(Request* request) {
  if (request->allocation_mode().empty()) request->set_allocation_mode("ExactCount");
  if (request->allocation_mode() == "ExactCount" && request->count() == 0) request->set_count(1);
  for (kube::DeviceToleration& toleration : *request->mutable_tolerations()) {
    if (toleration.operator_().empty()) toleration.set_operator_("Equal");
  }
}

}  // namespace

void SetDeviceClaimDefaults(kube::DeviceClaim* claim) {
  for (kube::DeviceRequest& request : *claim->mutable_requests()) {
    if (request.has_exactly()) SetRequestDefaults(request.mutable_exactly());
    for (kube::DeviceSubRequest& sub : *request.mutable_first_available()) {
      SetRequestDefaults(&sub);
    }
  }
}

void SetPodDefaults(kube::PodSpec* spec) {
  const bool host_network = spec->host_network();
  for (kube::Container& container : *spec->mutable_containers()) {
    SetContainerDefaults(host_network, &container);
  }
  for (kube::Container& container : *spec->mutable_init_containers()) {
    SetContainerDefaults(host_network, &container);
  }
  if (spec->resources().limits().empty()) return;
  kube::PodSpec containers_alone = *spec;
  containers_alone.clear_overhead();
  RequestRule rule;
  rule.pod_level = false;
  auto& requests = *spec->mutable_resources()->mutable_requests();
  for (const auto& [resource, quantity] : QuantitiesOfPod(containers_alone, rule)) {
    if (IsPodLevelResource(resource)) requests.insert({resource, quantity.ToString()});
  }
  for (const auto& [resource, limit] : spec->resources().limits()) {
    if (IsPodLevelResource(resource)) requests.insert({resource, limit});
  }
}

}  // namespace drasim
