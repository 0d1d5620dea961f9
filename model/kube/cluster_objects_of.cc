#include "model/kube/cluster_objects_of.h"

#include <algorithm>
#include <string>
#include <utility>

#include "model/kube/rules.h"
#include "model/kube/selectors_of.h"
#include "model/kube/volume_objects_of.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

std::string NamespaceOrDefault(const kube::ObjectMeta& meta) {
  return meta.namespace_().empty() ? "default" : meta.namespace_();
}

void AddSelector(const char* kind, const kube::ObjectMeta& meta, LabelSelector selector,
                 ClusterObjects* objects) {
  objects->groups.push_back(
      {kind, NamespaceOrDefault(meta), meta.name(), std::move(selector)});
}

// The selector of a ReplicaSet or StatefulSet.
template <typename Spec>
LabelSelector GroupSelector(const Spec& spec) {
  return spec.has_selector() ? SelectorOf(spec.selector()) : LabelSelector();
}

}  // namespace

void AddNamespace(const kube::Namespace& given, ClusterObjects* objects) {
  NamespaceObject added = {given.metadata().name(), SortedTexts(given.metadata().labels())};
  std::vector<NamespaceObject>& all = objects->namespaces;
  const auto at = std::lower_bound(
      all.begin(), all.end(), added.name,
      [](const NamespaceObject& one, const std::string& name) { return one.name < name; });
  if (at != all.end() && at->name == added.name) {
    *at = std::move(added);
  } else {
    all.insert(at, std::move(added));
  }
}

void AddGroup(const kube::Service& given, ClusterObjects* objects) {
  AddSelector("Service", given.metadata(), SelectorOfLabels(given.spec().selector()), objects);
}

void AddGroup(const kube::ReplicationController& given, ClusterObjects* objects) {
  AddSelector("ReplicationController", given.metadata(), SelectorOfLabels(given.spec().selector()),
              objects);
}

void AddGroup(const kube::ReplicaSet& given, ClusterObjects* objects) {
  AddSelector("ReplicaSet", given.metadata(), GroupSelector(given.spec()), objects);
}

void AddGroup(const kube::StatefulSet& given, ClusterObjects* objects) {
  AddSelector("StatefulSet", given.metadata(), GroupSelector(given.spec()), objects);
}

void AddBudget(const kube::PodDisruptionBudget& given, ClusterObjects* objects) {
  DisruptionBudget& budget = objects->budgets.emplace_back();
  budget.ns = NamespaceOrDefault(given.metadata());
  budget.name = given.metadata().name();
  if (given.spec().has_selector()) budget.selector = SelectorOf(given.spec().selector());
  budget.disruptions_allowed = given.status().disruptions_allowed();
  for (const auto& [name, time] : SortedTexts(given.status().disrupted_pods())) {
    budget.disrupted_pods.push_back(name);
  }
}

void AddClusterObject(const kube::Object& object, ClusterObjects* objects) {
  switch (object.object_case()) {
    case kube::Object::kNamespace:
      return AddNamespace(object.namespace_(), objects);
    case kube::Object::kService:
      return AddGroup(object.service(), objects);
    case kube::Object::kReplicationController:
      return AddGroup(object.replication_controller(), objects);
    case kube::Object::kReplicaSet:
      return AddGroup(object.replica_set(), objects);
    case kube::Object::kStatefulSet:
      return AddGroup(object.stateful_set(), objects);
    case kube::Object::kPodDisruptionBudget:
      return AddBudget(object.pod_disruption_budget(), objects);
    default:
      return AddVolumeObject(object, &objects->volumes);
  }
}

ClusterObjects ClusterObjectsOf(const kube::KubeCase& given) {
  ClusterObjects objects;
  for (const kube::Namespace& one : given.namespaces()) AddNamespace(one, &objects);
  for (const kube::Service& one : given.services()) AddGroup(one, &objects);
  for (const auto& one : given.replication_controllers()) AddGroup(one, &objects);
  for (const kube::ReplicaSet& one : given.replica_sets()) AddGroup(one, &objects);
  for (const kube::StatefulSet& one : given.stateful_sets()) AddGroup(one, &objects);
  for (const auto& one : given.pod_disruption_budgets()) AddBudget(one, &objects);
  kube::Object object;
  const auto add = [&object, &objects] { AddVolumeObject(object, &objects.volumes); };
  for (const auto& one : given.persistent_volumes()) {
    *object.mutable_persistent_volume() = one;
    add();
  }
  for (const auto& one : given.persistent_volume_claims()) {
    *object.mutable_persistent_volume_claim() = one;
    add();
  }
  for (const auto& one : given.storage_classes()) {
    *object.mutable_storage_class() = one;
    add();
  }
  for (const auto& one : given.csi_nodes()) {
    *object.mutable_csi_node() = one;
    add();
  }
  for (const auto& one : given.csi_drivers()) {
    *object.mutable_csi_driver() = one;
    add();
  }
  for (const auto& one : given.csi_storage_capacities()) {
    *object.mutable_csi_storage_capacity() = one;
    add();
  }
  for (const auto& one : given.volume_attachments()) {
    *object.mutable_volume_attachment() = one;
    add();
  }
  return objects;
}

}  // namespace drasim
