#include "sim/run/extender_objects.h"

#include <string>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "model/kube/rules.h"
#include "model/lowering.h"
#include "model/node_spec.h"
#include "model/pod_constraints.h"
#include "model/pod_shape.h"
#include "model/resource_request.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

using AmountTexts = google::protobuf::Map<std::string, std::string>;

void SetAmount(const std::string& resource, int64_t amount, AmountTexts* amounts) {
  if (amount > 0) (*amounts)[resource] = ExactAmountText(resource, amount);
}

AmountTexts AmountsOf(const ResourceRequest& request) {
  AmountTexts amounts;
  SetAmount("cpu", request.cpu_milli, &amounts);
  SetAmount("memory", request.memory_bytes, &amounts);
  if (!request.is_share()) SetAmount(std::string(kGpuResource), request.gpu_count, &amounts);
  for (const auto& [resource, amount] : request.extended) SetAmount(resource, amount, &amounts);
  return amounts;
}

void AddConstraints(const PodConstraints& rules, kube::PodSpec* spec) {
  for (const auto& [key, value] : rules.node_selector) {
    (*spec->mutable_node_selector())[key] = value;
  }
  for (const NodeTerm& term : rules.node_terms) {
    kube::NodeSelectorTerm* const made =
        spec->mutable_affinity()
            ->mutable_node_affinity()
            ->mutable_required_during_scheduling_ignored_during_execution()
            ->add_node_selector_terms();
    for (const NodeRequirement& requirement : term.requirements) {
      kube::SelectorRequirement* const one =
          requirement.of_name ? made->add_match_fields() : made->add_match_expressions();
      one->set_key(requirement.key);
      one->set_operator_(std::string(NodeOperatorName(requirement.op)));
      for (const std::string& value : requirement.values) one->add_values(value);
    }
  }
  for (const Toleration& toleration : rules.tolerations) {
    kube::Toleration* const made = spec->add_tolerations();
    made->set_key(toleration.key);
    made->set_value(toleration.value);
    made->set_effect(toleration.effect);
    if (toleration.exists) made->set_operator_("Exists");
  }
  if (rules.never_preempts) spec->set_preemption_policy("Never");
}

}  // namespace

const kube::Pod& RunObjects::PodObject(PodId pod) const {
  const PodShape& shape = cluster_.pod_shape(pod);
  pod_.Clear();
  kube::ObjectMeta* const meta = pod_.mutable_metadata();
  const absl::string_view name = cluster_.pod_name(pod);
  // Pods outside the namespace "default" are called NAMESPACE/NAME.
  const size_t slash = name.find('/');
  const bool has_namespace = slash != absl::string_view::npos;
  meta->set_namespace_(has_namespace ? std::string(name.substr(0, slash)) : "default");
  meta->set_name(std::string(has_namespace ? name.substr(slash + 1) : name));
  meta->set_uid(absl::StrFormat("00000000-0000-0000-0000-%012x", pod.value()));
  for (const auto& [key, value] : shape.identity.labels) (*meta->mutable_labels())[key] = value;
  kube::PodSpec* const spec = pod_.mutable_spec();
  kube::Container* const container = spec->add_containers();
  container->set_name("main");
  *container->mutable_resources()->mutable_requests() = AmountsOf(shape.request);
  AddConstraints(shape.constraints, spec);
  spec->set_priority(cluster_.pod_priority(pod));
  spec->set_scheduler_name(shape.identity.scheduler_name);
  const NodeId node = cluster_.pod_node(pod);
  if (node.valid()) spec->set_node_name(cluster_.node_spec(node).name);
  return pod_;
}

const kube::Node& RunObjects::NodeObject(NodeId node) const {
  const NodeSpec& given = cluster_.node_spec(node);
  node_.Clear();
  node_.mutable_metadata()->set_name(given.name);
  for (const auto& [key, value] : given.labels) {
    (*node_.mutable_metadata()->mutable_labels())[key] = value;
  }
  AmountTexts* const amounts = node_.mutable_status()->mutable_allocatable();
  SetAmount("cpu", given.cpu_milli, amounts);
  SetAmount("memory", given.memory_bytes, amounts);
  SetAmount("pods", given.pods, amounts);
  SetAmount(std::string(kGpuResource), given.gpu_count, amounts);
  // Extended resources count as device plugins report them now.
  for (size_t e = 0; e < cluster_.extended_names().size(); ++e) {
    SetAmount(cluster_.extended_names()[e], cluster_.extended_capacity(node, e), amounts);
  }
  *node_.mutable_status()->mutable_capacity() = *amounts;
  for (const Taint& taint : given.taints) {
    kube::Taint* const made = node_.mutable_spec()->add_taints();
    made->set_key(taint.key);
    made->set_value(taint.value);
    made->set_effect(taint.effect);
  }
  node_.mutable_spec()->set_unschedulable(!cluster_.node(node).schedulable);
  return node_;
}

}  // namespace drasim
