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

}  // namespace

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
