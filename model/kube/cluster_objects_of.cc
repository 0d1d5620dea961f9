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
  objects->groups.push_back({kind, NamespaceOrDefault(meta), meta.name(), std::move(selector)});
}

// The selector of a ReplicaSet or StatefulSet.
template <typename Spec>
LabelSelector GroupSelector(const Spec& spec) {
  return spec.has_selector() ? SelectorOf(spec.selector()) : LabelSelector();
}

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

}  // namespace

ClusterObjects ClusterObjectsOf(absl::Span<const kube::Object* const> given) {
  ClusterObjects objects;
  for (const kube::Object* object : given) {
    switch (object->object_case()) {
      case kube::Object::kNamespace:
        AddNamespace(object->namespace_(), &objects);
        break;
      case kube::Object::kService:
        AddGroup(object->service(), &objects);
        break;
      case kube::Object::kReplicationController:
        AddGroup(object->replication_controller(), &objects);
        break;
      case kube::Object::kReplicaSet:
        AddGroup(object->replica_set(), &objects);
        break;
      case kube::Object::kStatefulSet:
        AddGroup(object->stateful_set(), &objects);
        break;
      case kube::Object::kPodDisruptionBudget:
        AddBudget(object->pod_disruption_budget(), &objects);
        break;
      case kube::Object::kPersistentVolume:
        AddVolumeObject(object->persistent_volume(), &objects.volumes);
        break;
      case kube::Object::kPersistentVolumeClaim:
        AddVolumeObject(object->persistent_volume_claim(), &objects.volumes);
        break;
      case kube::Object::kStorageClass:
        AddVolumeObject(object->storage_class(), &objects.volumes);
        break;
      case kube::Object::kCsiNode:
        AddVolumeObject(object->csi_node(), &objects.volumes);
        break;
      case kube::Object::kCsiDriver:
        AddVolumeObject(object->csi_driver(), &objects.volumes);
        break;
      case kube::Object::kCsiStorageCapacity:
        AddVolumeObject(object->csi_storage_capacity(), &objects.volumes);
        break;
      case kube::Object::kVolumeAttachment:
        AddVolumeObject(object->volume_attachment(), &objects.volumes);
        break;
      default:
        break;
    }
  }
  objects.volumes.Sort();
  return objects;
}

ClusterObjects ClusterObjectsOf(const kube::KubeCase& given) {
  ClusterObjects objects;
  for (const auto& one : given.namespaces()) AddNamespace(one, &objects);
  for (const auto& one : given.services()) AddGroup(one, &objects);
  for (const auto& one : given.replication_controllers()) AddGroup(one, &objects);
  for (const auto& one : given.replica_sets()) AddGroup(one, &objects);
  for (const auto& one : given.stateful_sets()) AddGroup(one, &objects);
  for (const auto& one : given.pod_disruption_budgets()) AddBudget(one, &objects);
  const auto add_all = [&objects](const auto& list) {
    for (const auto& one : list) AddVolumeObject(one, &objects.volumes);
  };
  add_all(given.persistent_volumes());
  add_all(given.persistent_volume_claims());
  add_all(given.storage_classes());
  add_all(given.csi_nodes());
  add_all(given.csi_drivers());
  add_all(given.csi_storage_capacities());
  add_all(given.volume_attachments());
  objects.volumes.Sort();
  return objects;
}

}  // namespace drasim
