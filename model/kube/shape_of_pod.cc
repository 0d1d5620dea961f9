#include "model/kube/shape_of_pod.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/kube/requests.h"
#include "model/kube/rules.h"
#include "model/kube/selectors_of.h"
#include "model/kube/volumes_of_pod.h"
#include "model/quantity.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

// The amounts that scores take a container to need where it requests none
// (kubernetes/kubernetes pkg/scheduler/util/pod_resources.go).
constexpr int64_t kAssumedCpuMilli = 100;
constexpr int64_t kAssumedMemoryBytes = int64_t{200} << 20;

KubeQuantities AssumedRequests(bool cpu, bool memory) {
  KubeQuantities assumed;
  if (cpu) assumed["cpu"] = Quantity::FromMilli(kAssumedCpuMilli);
  if (memory) {
    assumed["memory"] = Quantity::FromUnits(kAssumedMemoryBytes, Quantity::Format::kDecimalSi);
  }
  return assumed;
}

// Other resources than CPU and memory.
std::vector<std::pair<std::string, int64_t>> OthersOf(const KubeAmounts& amounts) {
  std::vector<std::pair<std::string, int64_t>> others;
  for (const auto& [resource, amount] : amounts) {
    if (resource != "cpu" && resource != "memory" && amount > 0) {
      others.emplace_back(resource, amount);
    }
  }
  return others;
}

void SetAmounts(const kube::Pod& pod, PodShape* shape) {
  const KubeQuantities exact = QuantitiesOfPod(pod);
  const KubeAmounts request = CountedAmounts(exact);
  shape->request.cpu_milli = AmountOf(request, "cpu");
  shape->request.memory_bytes = AmountOf(request, "memory");
  shape->request.extended = OthersOf(request);

  // The incoming pod is scored without its pod-level requests. Once it is on a node they count, and
  // then only a resource that nothing of the pod requests is assumed.
  ScoredRequest& scored = shape->scored;
  scored.given = true;
  const KubeQuantities assumed = AssumedRequests(true, true);
  RequestRule rule;
  rule.missing = &assumed;
  rule.pod_level = false;
  const KubeAmounts incoming = CountedAmounts(QuantitiesOfPod(pod, rule));
  scored.cpu_milli = AmountOf(incoming, "cpu");
  scored.memory_bytes = AmountOf(incoming, "memory");
  scored.extended = OthersOf(incoming);
  if (!HasPodLevelRequests(pod.spec())) {
    scored.resident_cpu_milli = scored.cpu_milli;
    scored.resident_memory_bytes = scored.memory_bytes;
    return;
  }
  const KubeQuantities rest = AssumedRequests(exact.count("cpu") == 0, exact.count("memory") == 0);
  rule.missing = &rest;
  rule.pod_level = true;
  const KubeAmounts resident = CountedAmounts(QuantitiesOfPod(pod, rule));
  scored.resident_cpu_milli = AmountOf(resident, "cpu");
  scored.resident_memory_bytes = AmountOf(resident, "memory");
}

// The name with a tag, as nodes list it (imagelocality.go, normalizedImageName).
std::string TaggedImage(const std::string& name) {
  const size_t colon = name.rfind(':');
  const size_t slash = name.rfind('/');
  const bool tagged = colon != std::string::npos && (slash == std::string::npos || colon > slash);
  return tagged ? name : name + ":latest";
}

PodConstraints ConstraintsOf(const kube::PodSpec& spec) {
  PodConstraints rules;
  rules.node_selector = SortedTexts(spec.node_selector());
  rules.gives_node_selector = !rules.node_selector.empty() || spec.empty_node_selector();
  const kube::NodeAffinity& nodes = spec.affinity().node_affinity();
  rules.requires_node_terms = nodes.has_required_during_scheduling_ignored_during_execution();
  rules.node_terms =
      RequiredNodeTermsOf(nodes.required_during_scheduling_ignored_during_execution());
  rules.prefers_nodes = nodes.preferred_during_scheduling_ignored_during_execution_size() > 0;
  rules.preferred_nodes = PreferredNodeTermsOf(nodes);
  rules.node_name = spec.node_name();
  rules.tolerations = TolerationsOf(spec);
  rules.never_preempts = spec.preemption_policy() == "Never";
  for (const kube::SchedulingGate& gate : spec.scheduling_gates()) {
    rules.gates.push_back(gate.name());
  }
  rules.host_ports = HostPortsOf(spec);
  for (const auto* containers : {&spec.init_containers(), &spec.containers()}) {
    for (const kube::Container& container : *containers) {
      rules.images.push_back(TaggedImage(container.image()));
    }
  }
  for (const kube::Volume& volume : spec.volumes()) {
    if (volume.has_image()) rules.volume_images.push_back(TaggedImage(volume.image().reference()));
  }
  return rules;
}

SpreadConstraint SpreadOf(const kube::TopologySpreadConstraint& given, const KubeTexts& labels) {
  SpreadConstraint spread;
  spread.max_skew = given.max_skew();
  spread.topology_key = given.topology_key();
  spread.hard = given.when_unsatisfiable() != "ScheduleAnyway";
  if (given.has_label_selector()) spread.selector = SelectorOf(given.label_selector());
  for (const std::string& key : given.match_label_keys()) {
    const auto label = labels.find(key);
    // Without a selector, nothing is selected, whatever the keys.
    if (label == labels.end() || !spread.selector.given) continue;
    AddRequirement(key, SelectorOperator::kIn, label->second, &spread.selector);
  }
  if (given.has_min_domains()) spread.min_domains = given.min_domains();
  spread.honor_affinity =
      given.node_affinity_policy().empty() || given.node_affinity_policy() == "Honor";
  spread.honor_taints = given.node_taints_policy() == "Honor";
  return spread;
}

AffinityTerm AffinityTermOf(const kube::PodAffinityTerm& given, const std::string& ns) {
  AffinityTerm term;
  term.topology_key = given.topology_key();
  if (given.has_label_selector()) term.selector = SelectorOf(given.label_selector());
  term.namespaces.assign(given.namespaces().begin(), given.namespaces().end());
  if (given.has_namespace_selector()) {
    term.namespace_selector = SelectorOf(given.namespace_selector());
  } else if (term.namespaces.empty()) {
    term.namespaces.push_back(ns);
  }
  std::sort(term.namespaces.begin(), term.namespaces.end());
  term.namespaces.erase(std::unique(term.namespaces.begin(), term.namespaces.end()),
                        term.namespaces.end());
  return term;
}

void SetAffinity(const kube::PodAffinity& given, const std::string& ns,
                 std::vector<AffinityTerm>* required,
                 std::vector<WeightedAffinityTerm>* preferred) {
  for (const auto& term : given.required_during_scheduling_ignored_during_execution()) {
    required->push_back(AffinityTermOf(term, ns));
  }
  for (const auto& term : given.preferred_during_scheduling_ignored_during_execution()) {
    preferred->push_back({term.weight(), AffinityTermOf(term.pod_affinity_term(), ns)});
  }
}

PodTopology TopologyOf(const kube::Pod& pod) {
  PodTopology topology;
  for (const auto& given : pod.spec().topology_spread_constraints()) {
    topology.spread.push_back(SpreadOf(given, pod.metadata().labels()));
  }
  const kube::Affinity& affinity = pod.spec().affinity();
  const std::string& ns = pod.metadata().namespace_();
  SetAffinity(affinity.pod_affinity(), ns, &topology.affinity, &topology.preferred_affinity);
  SetAffinity(affinity.pod_anti_affinity(), ns, &topology.anti_affinity,
              &topology.preferred_anti_affinity);
  return topology;
}

// Whether the default constraints of PodTopologySpread look for owners of that kind.
bool MakesGroups(const kube::OwnerReference& owner) {
  if (owner.kind() == "ReplicationController") return owner.api_version() == "v1";
  return (owner.kind() == "ReplicaSet" || owner.kind() == "StatefulSet") &&
         owner.api_version() == "apps/v1";
}

PodIdentity IdentityOf(const kube::Pod& pod) {
  const kube::ObjectMeta& meta = pod.metadata();
  PodIdentity identity;
  identity.ns = meta.namespace_();
  identity.labels = SortedTexts(meta.labels());
  for (const kube::OwnerReference& owner : meta.owner_references()) {
    if (!owner.controller()) continue;
    if (MakesGroups(owner)) {
      identity.owner_kind = owner.kind();
      identity.owner_name = owner.name();
    }
    break;
  }
  identity.scheduler_name = pod.spec().scheduler_name();
  identity.terminating = !meta.deletion_timestamp().empty();
  for (const kube::Condition& condition : pod.status().conditions()) {
    identity.preempted |= condition.type() == "DisruptionTarget" && condition.status() == "True" &&
                          condition.reason() == "PreemptionByScheduler";
  }
  return identity;
}

}  // namespace

PodShape ShapeOfPod(const kube::Pod& pod) {
  PodShape shape;
  SetAmounts(pod, &shape);
  shape.constraints = ConstraintsOf(pod.spec());
  shape.topology = TopologyOf(pod);
  shape.volumes = VolumesOfPod(pod);
  shape.identity = IdentityOf(pod);
  return shape;
}

}  // namespace drasim
