#include "model/kube/spec_of_node.h"

#include "model/kube/rules.h"

namespace drasim {

NodeSpec SpecOfNode(const proto::kube::Node& node) {
  NodeSpec spec;
  spec.name = node.metadata().name();
  spec.pods = 0;
  for (const auto& [resource, amount] : AllocatableOfNode(node.status())) {
    if (resource == "cpu") {
      spec.cpu_milli = amount;
    } else if (resource == "memory") {
      spec.memory_bytes = amount;
    } else if (resource == "pods") {
      spec.pods = amount;
    } else if (amount > 0) {
      spec.extended.emplace_back(resource, amount);
    }
  }
  spec.labels = SortedTexts(node.metadata().labels());
  for (const proto::kube::Taint& taint : node.spec().taints()) {
    spec.taints.push_back({taint.key(), taint.value(), taint.effect()});
  }
  for (const proto::kube::ContainerImage& image : node.status().images()) {
    spec.images.push_back({{image.names().begin(), image.names().end()}, image.size_bytes()});
  }
  spec.unschedulable = node.spec().unschedulable();
  return spec;
}

}  // namespace drasim
