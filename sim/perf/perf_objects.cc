#include "sim/perf/perf_objects.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/kube/api_defaults.h"
#include "model/kube/cluster_objects_of.h"
#include "model/kube/validate.h"
#include "model/status_macros.h"
#include "sim/perf/perf_refusals.h"

namespace drasim::perf {
namespace {

namespace kube = ::drasim::proto::kube;

constexpr char kHostname[] = "kubernetes.io/hostname";
constexpr char kNamespaceName[] = "kubernetes.io/metadata.name";
constexpr char kMigratedPlugins[] = "storage.alpha.kubernetes.io/migrated-plugins";

absl::Status Checked(const kube::Object& object) {
  const std::vector<KubeProblem> problems = ValidateKubeObject(object);
  if (problems.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(problems[0].path, ": ", problems[0].what));
}

// Slices of the harness have counters beside devices, which newer API servers refuse.
absl::Status CheckedSlice(const kube::Object& object) {
  kube::Object rest = object;
  kube::ResourceSliceSpec& spec = *rest.mutable_resource_slice()->mutable_spec();
  if (!spec.devices().empty()) spec.clear_shared_counters();
  return Checked(rest);
}

// REQUIRES: a kind that createAny may make.
kube::ObjectMeta* MutableMetaOf(kube::Object* object) {
  switch (object->object_case()) {
    case kube::Object::kNamespace:
      return object->mutable_namespace_()->mutable_metadata();
    case kube::Object::kPodDisruptionBudget:
      return object->mutable_pod_disruption_budget()->mutable_metadata();
    case kube::Object::kReplicaSet:
      return object->mutable_replica_set()->mutable_metadata();
    case kube::Object::kReplicationController:
      return object->mutable_replication_controller()->mutable_metadata();
    case kube::Object::kStatefulSet:
      return object->mutable_stateful_set()->mutable_metadata();
    case kube::Object::kDeviceClass:
      return object->mutable_device_class()->mutable_metadata();
    case kube::Object::kDeviceTaintRule:
      return object->mutable_device_taint_rule()->mutable_metadata();
    case kube::Object::kResourceSlice:
      return object->mutable_resource_slice()->mutable_metadata();
    case kube::Object::kResourceClaimV1:
      return object->mutable_resource_claim_v1()->mutable_metadata();
    case kube::Object::kResourceClaimTemplateV1:
      return object->mutable_resource_claim_template_v1()->mutable_metadata();
    default:
      return object->mutable_service()->mutable_metadata();
  }
}

bool IsClusterWide(const kube::Object& object) {
  return object.has_device_class() || object.has_device_taint_rule() || object.has_resource_slice();
}

}  // namespace

PerfObjects::PerfObjects(PerfCluster* cluster, PerfTemplates* templates, absl::string_view folder)
    : cluster_(*cluster), templates_(*templates), folder_(folder), admission_({}) {}

absl::StatusOr<ObjectSeries> PerfObjects::SeriesOf(const PerfAction& action, size_t i) const {
  const std::string& path = action.templates[i];
  const TextTemplate* text = nullptr;
  if (path.empty()) {
    const bool node = action.opcode == Opcode::kCreateNodes;
    ASSIGN_OR_RETURN(text, templates_.Find("", node ? kBuiltInNode : kBuiltInPod));
  } else {
    ASSIGN_OR_RETURN(text, templates_.Find(folder_, path));
  }
  return ObjectSeries(text, action.count, action.params);
}

std::string PerfObjects::NameOf(const kube::ObjectMeta& meta) {
  if (!meta.name().empty()) return meta.name();
  return absl::StrCat(meta.generate_name(), generated_[meta.generate_name()]++);
}

void PerfObjects::AddNamespace(const std::string& name, const kube::Namespace* given) {
  if (!namespaces_.insert(name).second && given == nullptr) return;
  auto object = std::make_shared<kube::Object>();
  if (given != nullptr) *object->mutable_namespace_() = *given;
  kube::ObjectMeta& meta = *object->mutable_namespace_()->mutable_metadata();
  meta.set_name(name);
  (*meta.mutable_labels())[kNamespaceName] = name;
  others_[absl::StrCat("Namespace/", name)] = std::move(object);
  changed_ = true;
}

// --- Nodes ---

absl::Status PerfObjects::AddNodes(const PerfAction& action) {
  ASSIGN_OR_RETURN(ObjectSeries series, SeriesOf(action, 0));
  for (int64_t i = 0; i < action.count; ++i) {
    ASSIGN_OR_RETURN(const ObjectSeries::Object object, series.At(i));
    RETURN_IF_ERROR(AddNode(object->node(), action, i).status());
  }
  Flush();
  return absl::OkStatus();
}

absl::StatusOr<std::string> PerfObjects::AddNode(const kube::Node& given, const PerfAction& action,
                                                 int64_t index) {
  kube::Object object;
  kube::Node& node = *object.mutable_node();
  node = given;
  const std::string name = NameOf(given.metadata());
  kube::ObjectMeta& meta = *node.mutable_metadata();
  meta.set_name(name);
  (*meta.mutable_labels())[kHostname] = name;
  if (!action.label_key.empty()) {
    const size_t value = static_cast<size_t>(index) % action.label_values.size();
    (*meta.mutable_labels())[action.label_key] = action.label_values[value];
  }
  kube::NodeStatus& status = *node.mutable_status();
  if (status.allocatable().empty()) *status.mutable_allocatable() = status.capacity();
  for (const auto& [resource, amount] : action.allocatable) {
    (*status.mutable_allocatable())[resource] = amount;
  }
  RETURN_IF_ERROR(Checked(object));
  RETURN_IF_ERROR(cluster_.AddNode(std::make_shared<const kube::Node>(node)));
  if (action.driver_limits.empty() && action.migrated_plugins.empty()) return name;
  auto csi = std::make_shared<kube::Object>();
  kube::CsiNode& csi_node = *csi->mutable_csi_node();
  csi_node.mutable_metadata()->set_name(name);
  if (!action.migrated_plugins.empty()) {
    (*csi_node.mutable_metadata()->mutable_annotations())[kMigratedPlugins] =
        absl::StrJoin(action.migrated_plugins, ",");
  }
  for (const auto& [driver, limit] : action.driver_limits) {
    kube::CsiNodeDriver& entry = *csi_node.mutable_spec()->add_drivers();
    entry.set_name(driver);
    entry.set_node_id(name);
    entry.mutable_allocatable()->set_count(static_cast<int32_t>(limit));
  }
  others_[absl::StrCat("CSINode/", name)] = std::move(csi);
  changed_ = volumes_changed_ = true;
  return name;
}

// --- Pods ---

kube::Pod PerfObjects::Admitted(const kube::Pod& given, const std::string& ns) {
  kube::Pod pod = given;
  pod.mutable_metadata()->set_namespace_(ns);
  pod.mutable_metadata()->set_name(NameOf(given.metadata()));
  SetPodDefaults(pod.mutable_spec());
  admission_.Admit(&pod);
  return pod;
}

absl::StatusOr<JobId> PerfObjects::AddPod(const kube::Pod& given, const std::string& ns) {
  kube::Object object;
  *object.mutable_pod() = Admitted(given, ns);
  RETURN_IF_ERROR(Checked(object));
  return cluster_.AddPod(object.pod());
}

// A volume for each pod, bound to a claim for it.
absl::Status PerfObjects::AddVolumes(const PerfAction& action) {
  ASSIGN_OR_RETURN(const TextTemplate* const volume_text,
                   templates_.Find(folder_, action.volume_template));
  ASSIGN_OR_RETURN(const TextTemplate* const claim_text,
                   templates_.Find(folder_, action.claim_template));
  ObjectSeries volumes(volume_text, action.count, {});
  ObjectSeries claims(claim_text, action.count, {});
  for (int64_t i = 0; i < action.count; ++i) {
    const std::string volume_name = absl::StrCat("vol-", volumes_ + i);
    const std::string claim_name = absl::StrCat("pvc-", volumes_ + i);
    ASSIGN_OR_RETURN(const ObjectSeries::Object volume_object, volumes.At(i));
    ASSIGN_OR_RETURN(const ObjectSeries::Object claim_object, claims.At(i));
    if (!volume_object->has_persistent_volume() || !claim_object->has_persistent_volume_claim()) {
      return absl::InvalidArgumentError(
          absl::StrCat(action.volume_template, " and ", action.claim_template,
                       ": expected a PersistentVolume and a PersistentVolumeClaim"));
    }
    auto volume = std::make_shared<kube::Object>(*volume_object);
    kube::PersistentVolume& pv = *volume->mutable_persistent_volume();
    pv.mutable_metadata()->set_name(volume_name);
    pv.mutable_spec()->mutable_claim_ref()->set_namespace_(action.ns);
    pv.mutable_spec()->mutable_claim_ref()->set_name(claim_name);
    kube::PersistentVolumeSpec& spec = *pv.mutable_spec();
    if (spec.has_csi()) spec.mutable_csi()->set_volume_handle(volume_name);
    if (spec.has_aws_elastic_block_store()) {
      spec.mutable_aws_elastic_block_store()->set_volume_id(volume_name);
    }
    auto claim = std::make_shared<kube::Object>(*claim_object);
    kube::PersistentVolumeClaim& pvc = *claim->mutable_persistent_volume_claim();
    pvc.mutable_metadata()->set_name(claim_name);
    pvc.mutable_metadata()->set_namespace_(action.ns);
    pvc.mutable_spec()->set_volume_name(volume_name);
    others_[absl::StrCat("PersistentVolume/", volume_name)] = std::move(volume);
    others_[absl::StrCat("PersistentVolumeClaim/", action.ns, "/", claim_name)] = std::move(claim);
  }
  changed_ = volumes_changed_ = true;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<JobId>> PerfObjects::AddPods(const PerfAction& action) {
  AddNamespace(action.ns, nullptr);
  const bool with_volumes = !action.volume_template.empty();
  if (with_volumes) RETURN_IF_ERROR(AddVolumes(action));
  Flush();
  ASSIGN_OR_RETURN(ObjectSeries series, SeriesOf(action, 0));
  std::vector<JobId> pods;
  for (int64_t i = 0; i < action.count; ++i) {
    ASSIGN_OR_RETURN(const ObjectSeries::Object object, series.At(i));
    const kube::Pod& given = object->pod();
    if (i > 0 && series.same_for_all() && !with_volumes) {
      ASSIGN_OR_RETURN(const JobId pod, cluster_.AddAnother(action.ns, NameOf(given.metadata())));
      pods.push_back(pod);
      continue;
    }
    kube::Pod own = given;
    if (with_volumes) {
      kube::Volume& volume = *own.mutable_spec()->add_volumes();
      volume.set_name("vol");
      volume.mutable_persistent_volume_claim()->set_claim_name(absl::StrCat("pvc-", volumes_++));
    }
    ASSIGN_OR_RETURN(const JobId pod, AddPod(own, action.ns));
    pods.push_back(pod);
  }
  return pods;
}

// --- Others ---

absl::StatusOr<std::string> PerfObjects::AddOther(const kube::Object& given,
                                                  const std::string& ns) {
  auto object = std::make_shared<kube::Object>(given);
  kube::ObjectMeta& meta = *MutableMetaOf(object.get());
  meta.set_name(NameOf(meta));
  if (object->has_namespace_()) {
    AddNamespace(meta.name(), &object->namespace_());
    return absl::StrCat("Namespace/", meta.name());
  }
  if (!IsClusterWide(*object)) {
    meta.set_namespace_(ns);
    AddNamespace(ns, nullptr);
  }
  RETURN_IF_ERROR(object->has_resource_slice() ? CheckedSlice(*object) : Checked(*object));
  if (PerfClaims::IsKind(*object)) {
    RETURN_IF_ERROR(cluster_.AddDraObject(*object));
    return std::string();
  }
  const std::string key =
      absl::StrCat(static_cast<int>(object->object_case()), "/", ns, "/", meta.name());
  others_[key] = std::move(object);
  changed_ = true;
  return key;
}

void PerfObjects::RemoveOther(const std::string& key) {
  others_.erase(key);
  changed_ = true;
}

absl::Status PerfObjects::Update(const PerfAction& action, ObjectSeries* series, int64_t index) {
  ASSIGN_OR_RETURN(const ObjectSeries::Object object, series->At(index));
  if (object->has_pod()) {
    return cluster_.UpdatePod(Admitted(object->pod(), action.ns), action.resize);
  }
  auto node = std::make_shared<kube::Node>(object->node());
  (*node->mutable_metadata()->mutable_labels())[kHostname] = node->metadata().name();
  kube::NodeStatus& status = *node->mutable_status();
  if (status.allocatable().empty()) *status.mutable_allocatable() = status.capacity();
  return cluster_.UpdateNode(std::move(node));
}

void PerfObjects::Flush() {
  if (!changed_) return;
  std::vector<const kube::Object*> all;
  for (const auto& [key, object] : others_) all.push_back(object.get());
  cluster_.SetObjects(ClusterObjectsOf(all), volumes_changed_);
  changed_ = volumes_changed_ = false;
}

}  // namespace drasim::perf
