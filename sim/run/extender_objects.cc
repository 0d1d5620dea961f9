#include "sim/run/extender_objects.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "model/kube/made_objects.h"
#include "model/kube/rules.h"
#include "model/node_spec.h"
#include "model/pod_shape.h"

namespace drasim {

namespace kube = ::drasim::proto::kube;

const kube::Pod& RunObjects::PodObject(PodId pod) const {
  const absl::string_view name = cluster_.pod_name(pod);
  const PodShape& shape = cluster_.pod_shape(pod);
  const kube::Pod* known = nullptr;
  for (const GivenObjects* given : given_) {
    const auto found = given->pods.find(name);
    if (found != given->pods.end()) known = found->second.get();
  }
  pod_ = known != nullptr ? *known : PodObjectOf(name, shape, cluster_.pod_priority(pod));
  kube::ObjectMeta* const meta = pod_.mutable_metadata();
  // Pods outside the namespace "default" are called NAMESPACE/NAME. Those of an owner share an
  // object.
  const size_t slash = name.find('/');
  const bool has_namespace = slash != absl::string_view::npos;
  meta->set_namespace_(has_namespace ? std::string(name.substr(0, slash)) : "default");
  meta->set_name(std::string(has_namespace ? name.substr(slash + 1) : name));
  if (meta->uid().empty()) {
    meta->set_uid(absl::StrFormat("00000000-0000-0000-0000-%012x", pod.value()));
  }
  kube::PodSpec* const spec = pod_.mutable_spec();
  spec->set_priority(cluster_.pod_priority(pod));
  spec->set_scheduler_name(shape.identity.scheduler_name);
  const NodeId node = cluster_.pod_node(pod);
  spec->set_node_name(node.valid() ? cluster_.node_spec(node).name : "");
  return pod_;
}

const kube::Node& RunObjects::NodeObject(NodeId node) const {
  const NodeSpec& spec = cluster_.node_spec(node);
  const kube::Node* known = nullptr;
  for (const GivenObjects* given : given_) {
    const auto found = given->nodes.find(spec.name);
    if (found != given->nodes.end()) known = found->second.get();
  }
  node_ = known != nullptr ? *known : NodeObjectOf(spec);
  node_.mutable_metadata()->set_name(spec.name);
  // Extended resources count as device plugins report them now.
  for (size_t e = 0; e < cluster_.extended_names().size(); ++e) {
    const std::string& resource = cluster_.extended_names()[e];
    const int64_t amount = cluster_.extended_capacity(node, e);
    auto* const amounts = node_.mutable_status()->mutable_allocatable();
    if (amount > 0) {
      (*amounts)[resource] = ExactAmountText(resource, amount);
    } else {
      amounts->erase(resource);
    }
  }
  if (known == nullptr) {
    *node_.mutable_status()->mutable_capacity() = node_.status().allocatable();
  }
  node_.mutable_spec()->set_unschedulable(!cluster_.node(node).schedulable);
  return node_;
}

}  // namespace drasim
