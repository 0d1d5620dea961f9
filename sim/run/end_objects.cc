#include "sim/run/end_objects.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/cluster_state.h"
#include "model/hash.h"
#include "model/job_table.h"
#include "model/kube/gpu_annotations.h"
#include "model/kube/made_objects.h"
#include "model/kube/metrics_text.h"
#include "model/kube/rules.h"
#include "model/kube/writer.h"
#include "model/node_spec.h"
#include "model/pod_constraints.h"
#include "model/record.h"
#include "model/status_macros.h"
#include "sim/record/atomic_file.h"
#include "sim/run/given_objects.h"
#include "sim/run/manifest_objects.h"
#include "sim/run/run_outputs.h"

namespace drasim {
namespace {

namespace fs = std::filesystem;
namespace kube = ::drasim::proto::kube;

// --terminated-pod-gc-threshold of kube-controller-manager, its default
// (kubernetes/kubernetes pkg/controller/podgc/gc_controller.go).
constexpr size_t kMostEndedPods = 12'500;

// Texts of the API server's pod strategy (kubernetes/kubernetes pkg/registry/core/pod/strategy.go).
constexpr char kGatedReason[] = "SchedulingGated";
constexpr char kGatedMessage[] = "Scheduling is blocked due to non-empty scheduling gates";

struct KindFile {
  kube::Object::ObjectCase kind;
  const char* name;
};
// In an order in which objects can be created: what others refer to comes first.
constexpr KindFile kKindFiles[] = {
    {kube::Object::kNamespace, "01-namespaces.yaml"},
    {kube::Object::kPriorityClass, "02-priorityclasses.yaml"},
    {kube::Object::kRuntimeClass, "03-runtimeclasses.yaml"},
    {kube::Object::kStorageClass, "04-storageclasses.yaml"},
    {kube::Object::kCsiDriver, "05-csidrivers.yaml"},
    {kube::Object::kNode, "06-nodes.yaml"},
    {kube::Object::kCsiNode, "07-csinodes.yaml"},
    {kube::Object::kCsiStorageCapacity, "08-csistoragecapacities.yaml"},
    {kube::Object::kPersistentVolume, "09-persistentvolumes.yaml"},
    {kube::Object::kPersistentVolumeClaim, "10-persistentvolumeclaims.yaml"},
    {kube::Object::kVolumeAttachment, "11-volumeattachments.yaml"},
    {kube::Object::kService, "12-services.yaml"},
    {kube::Object::kPodDisruptionBudget, "13-poddisruptionbudgets.yaml"},
    {kube::Object::kReplicationController, "14-replicationcontrollers.yaml"},
    {kube::Object::kReplicaSet, "15-replicasets.yaml"},
    {kube::Object::kStatefulSet, "16-statefulsets.yaml"},
    {kube::Object::kDaemonSet, "17-daemonsets.yaml"},
    {kube::Object::kDeployment, "18-deployments.yaml"},
    {kube::Object::kJob, "19-jobs.yaml"},
    {kube::Object::kConfigMap, "20-configmaps.yaml"},
    {kube::Object::kGpuClaimParameters, "21-gpuclaimparameters.yaml"},
    {kube::Object::kMigDeviceClaimParameters, "22-migdeviceclaimparameters.yaml"},
    {kube::Object::kComputeInstanceClaimParameters, "23-computeinstanceclaimparameters.yaml"},
    {kube::Object::kDeviceClassParameters, "24-deviceclassparameters.yaml"},
    {kube::Object::kGpuConfig, "25-gpuconfigs.yaml"},
    {kube::Object::kMigDeviceConfig, "26-migdeviceconfigs.yaml"},
    {kube::Object::kExampleGpuClaimParameters, "27-examplegpuclaimparameters.yaml"},
    {kube::Object::kExampleDeviceClassParameters, "28-exampledeviceclassparameters.yaml"},
    {kube::Object::kResourceClass, "29-resourceclasses.yaml"},
    {kube::Object::kResourceClaimTemplate, "30-resourceclaimtemplates.yaml"},
    {kube::Object::kResourceClaim, "31-resourceclaims.yaml"},
    {kube::Object::kPod, "32-pods.yaml"},
    {kube::Object::kPodSchedulingContext, "33-podschedulingcontexts.yaml"},
};

bool IsObjectsFile(const std::string& name) {
  if (name == FolderLock::kFileName) return true;
  for (const KindFile& file : kKindFiles) {
    if (name == file.name || name == absl::StrCat(file.name, ".tmp")) return true;
  }
  return false;
}

// Namespaces that every cluster has.
bool IsBuiltInNamespace(absl::string_view name) {
  return name == "default" || name == "kube-system" || name == "kube-public" ||
         name == "kube-node-lease";
}

// A key of the object among all others.
std::string IdentityOf(const kube::Object& object) {
  return absl::StrCat(ManifestGroup(object), "/", ManifestKind(object), "/",
                      ManifestNamespace(object), "/", ManifestMeta(object).name());
}

bool IsOnNode(PodPhase phase) { return phase == PodPhase::kAssumed || phase == PodPhase::kBound; }
bool HasEnded(PodPhase phase) {
  return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed;
}

// Leaves an equal condition alone: its time is that of its last change.
void SetScheduled(absl::string_view status, absl::string_view reason, absl::string_view message,
                  kube::PodStatus* pod) {
  kube::Condition* condition = nullptr;
  for (kube::Condition& one : *pod->mutable_conditions()) {
    if (one.type() == "PodScheduled") condition = &one;
  }
  if (condition == nullptr) {
    condition = pod->add_conditions();
    condition->set_type("PodScheduled");
  }
  if (condition->status() != status) condition->clear_last_transition_time();
  condition->set_status(std::string(status));
  condition->set_reason(std::string(reason));
  condition->set_message(std::string(message));
}

// Clears resourceVersion: the API server assigns it, and refuses a new object that has one.
void ForgetVersion(kube::ObjectMeta* meta) { meta->clear_resource_version(); }

// The API server demands a uid of owners; those that manifests own in this run have none.
void IdentifyOwners(kube::ObjectMeta* meta) {
  for (kube::OwnerReference& owner : *meta->mutable_owner_references()) {
    if (!owner.uid().empty()) continue;
    owner.set_uid(
        HexHash(Fnv1a(absl::StrCat(owner.kind(), "/", meta->namespace_(), "/", owner.name()))));
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<FolderLock>> PrepareObjectsDir(const std::string& dir, bool force) {
  return PrepareOutputDir(dir, force, IsObjectsFile);
}

EndObjects::EndObjects(Simulation* sim, const PodLog* log)
    : sim_(sim), log_(log), given_(sim->given_objects()) {
  SortPods();
  for (const GivenObjects* given : given_) {
    for (const auto& object : given->others) known_.insert(IdentityOf(*object));
  }
}

void EndObjects::SortPods() {
  const ClusterState& cluster = sim_->cluster();
  std::vector<std::pair<std::string, PodId>> waiting;
  for (size_t i = 0; i < cluster.pod_count(); ++i) {
    const PodId pod(i);
    const PodPhase phase = cluster.pod_phase(pod);
    if (IsOnNode(phase)) pods_.push_back(pod);
    if (HasEnded(phase)) ended_.push_back(pod);
    if (phase != PodPhase::kPending && phase != PodPhase::kDropped) continue;
    const kube::Pod* const given = GivenPod(pod);
    waiting.emplace_back(given == nullptr ? "" : given->metadata().creation_timestamp(), pod);
  }
  // As cluster.manifests sorts them.
  std::stable_sort(waiting.begin(), waiting.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [created, pod] : waiting) pods_.push_back(pod);
  if (ended_.size() > kMostEndedPods) {
    ended_.erase(ended_.begin(), ended_.end() - static_cast<std::ptrdiff_t>(kMostEndedPods));
  }
  given_ended_ = kMostEndedPods - ended_.size();
}

const kube::Pod* EndObjects::GivenPod(PodId pod) const {
  for (const GivenObjects* given : given_) {
    const auto found = given->pods.find(sim_->cluster().pod_name(pod));
    if (found != given->pods.end()) return found->second.get();
  }
  return nullptr;
}

bool EndObjects::WasGiven(const kube::Object& object) const {
  return known_.count(IdentityOf(object)) > 0;
}

// --- Nodes ---

const kube::Node* EndObjects::GivenNode(NodeId node) const {
  for (const GivenObjects* given : given_) {
    const auto found = given->nodes.find(sim_->cluster().node_spec(node).name);
    if (found != given->nodes.end()) return found->second.get();
  }
  return nullptr;
}

std::string EndObjects::NodeName(NodeId node) const {
  const std::string& name = sim_->cluster().node_spec(node).name;
  return GivenNode(node) != nullptr ? name : ObjectNameOf(name);
}

kube::Node EndObjects::NodeObject(NodeId node) const {
  const ClusterState& cluster = sim_->cluster();
  NodeSpec spec = cluster.node_spec(node);
  spec.unschedulable = !cluster.node(node).schedulable;
  spec.extended.clear();
  for (size_t e = 0; e < cluster.extended_names().size(); ++e) {
    const int64_t amount = cluster.extended_capacity(node, e);
    if (amount > 0) spec.extended.emplace_back(cluster.extended_names()[e], amount);
  }
  const kube::Node* const given = GivenNode(node);
  if (given == nullptr) return NodeObjectOf(spec);
  kube::Node object = *given;
  ForgetVersion(object.mutable_metadata());
  if (object.spec().unschedulable() != spec.unschedulable) {
    object.mutable_spec()->set_unschedulable(spec.unschedulable);
  }
  if (sim_->front_end() == nullptr) return object;
  // A device plugin may report something else by now.
  const KubeAmounts before = AllocatableOfNode(object.status());
  if (object.status().allocatable().empty()) {
    *object.mutable_status()->mutable_allocatable() = object.status().capacity();
  }
  for (size_t e = 0; e < cluster.extended_names().size(); ++e) {
    const std::string& resource = cluster.extended_names()[e];
    const int64_t amount = cluster.extended_capacity(node, e);
    if (!IsExtendedResource(resource) || AmountOf(before, resource) == amount) continue;
    (*object.mutable_status()->mutable_allocatable())[resource] = ExactAmountText(resource, amount);
  }
  return object;
}

void EndObjects::ForEachNode(Seen see) {
  const ClusterState& cluster = sim_->cluster();
  kube::Object object;
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    if (!cluster.node(NodeId(n)).available) continue;
    *object.mutable_node() = NodeObject(NodeId(n));
    see(object);
  }
}

// --- Pods ---

std::string EndObjects::NodeOf(PodId pod) const {
  const ClusterState& cluster = sim_->cluster();
  NodeId node = cluster.pod_node(pod);
  if (HasEnded(cluster.pod_phase(pod)) && pod.value() < log_->rows().size()) {
    node = log_->rows()[pod.value()].node;
  }
  return node.valid() ? NodeName(node) : "";
}

// Empty if nobody has looked at the pod, or if it would be placed now.
std::string EndObjects::MessageOf(PodId pod) {
  const JobId job = sim_->jobs().job_of(pod);
  const auto last_failure = [&]() -> std::string {
    const uint32_t last = pod.value() < log_->failures().size() ? log_->failures()[pod.value()].last
                                                                : PodLog::kNoFailure;
    return last == PodLog::kNoFailure ? "" : sim_->summaries().Text(SummaryId(last));
  };
  const auto message_now = [&] {
    std::string message = sim_->MessageNow(job);
    return message.empty() ? last_failure() : message;
  };
  if (sim_->jobs().row(job).pods > 1) return message_now();
  const std::pair<uint32_t, int32_t> alike = {
      static_cast<uint32_t>(sim_->cluster().pod_shape_id(pod).value()),
      sim_->cluster().pod_priority(pod)};
  const auto [known, is_new] = messages_.emplace(alike, "");
  if (is_new) known->second = message_now();
  return known->second;
}

void EndObjects::SetStatus(PodId pod, const kube::Pod* given, kube::Pod* object) {
  const ClusterState& cluster = sim_->cluster();
  const PodPhase phase = cluster.pod_phase(pod);
  const std::string node = NodeOf(pod);
  object->mutable_spec()->set_node_name(node);
  const bool stayed = given != nullptr && given->spec().node_name() == node && !HasEnded(phase);
  if (!stayed) object->clear_status();
  kube::PodStatus* const status = object->mutable_status();
  status->clear_nominated_node_name();
  if (!node.empty()) SetScheduled("True", "", "", status);
  if (phase == PodPhase::kSucceeded) return status->set_phase("Succeeded");
  if (phase == PodPhase::kFailed) return status->set_phase("Failed");
  if (IsOnNode(phase)) {
    // Whether its containers have begun is nothing that the run knows.
    if (status->phase().empty()) status->set_phase("Running");
    return;
  }
  status->set_phase("Pending");
  const NodeId nominated = sim_->nominator().NodeOf(pod);
  if (nominated.valid()) {
    status->set_nominated_node_name(NodeName(nominated));
  }
  const PodConstraints& rules = cluster.pod_shape(pod).constraints;
  if (!rules.gates.empty() || rules.hold == PodHold::kSchedulingGates) {
    return SetScheduled("False", kGatedReason, kGatedMessage, status);
  }
  const std::string message =
      rules.hold != PodHold::kNone ? std::string(PodHoldReason(rules.hold)) : MessageOf(pod);
  if (!message.empty()) SetScheduled("False", "Unschedulable", message, status);
}

kube::Pod EndObjects::PodObject(PodId pod) {
  const ClusterState& cluster = sim_->cluster();
  const absl::string_view name = cluster.pod_name(pod);
  const PodShape& shape = cluster.pod_shape(pod);
  const int32_t priority = cluster.pod_priority(pod);
  const kube::Pod* const given = GivenPod(pod);
  kube::Pod object = given != nullptr ? *given : PodObjectOf(name, shape, priority);
  kube::ObjectMeta* const meta = object.mutable_metadata();
  kube::PodSpec* const spec = object.mutable_spec();
  if (given == nullptr) {
    if (sim_->jobs().row(sim_->jobs().job_of(pod)).has_run_time) spec->set_restart_policy("Never");
  } else {
    ForgetVersion(meta);
    IdentifyOwners(meta);
    if (meta->name().empty()) meta->set_name(std::string(name.substr(name.rfind('/') + 1)));
    // As admission resolves the class.
    if (priority != 0 || spec->has_priority()) spec->set_priority(priority);
    if (shape.constraints.never_preempts && spec->preemption_policy().empty()) {
      spec->set_preemption_policy("Never");
    }
  }
  // Devices that the node chose are its own affair.
  const bool chosen = IsOnNode(cluster.pod_phase(pod)) && shape.request.gpu_count > 0;
  SetGpuIndex(chosen ? cluster.pod_devices(pod) : DeviceSet(), meta);
  SetStatus(pod, given, &object);
  return object;
}

void EndObjects::ForEachPod(Seen see) {
  kube::Object object;
  for (const PodId pod : pods_) {
    *object.mutable_pod() = PodObject(pod);
    see(object);
  }
  for (const GivenObjects* given : given_) {
    const size_t size = given->finished.size();
    for (size_t i = size - std::min(size, given_ended_); i < size; ++i) {
      *object.mutable_pod() = *given->finished[i];
      ForgetVersion(object.mutable_pod()->mutable_metadata());
      see(object);
    }
  }
  for (const PodId pod : ended_) {
    *object.mutable_pod() = PodObject(pod);
    see(object);
  }
}

// --- Other objects ---

void EndObjects::ForEachOther(kube::Object::ObjectCase kind, Seen see) {
  std::set<std::string> seen;
  for (const GivenObjects* given : given_) {
    for (const auto& other : given->others) {
      if (other->object_case() != kind || !seen.insert(IdentityOf(*other)).second) continue;
      kube::Object object = *other;
      ForgetVersion(MutableManifestMeta(&object));
      see(object);
    }
  }
}

void EndObjects::ForEachNamespace(Seen see) {
  ForEachOther(kube::Object::kNamespace, see);
  std::set<std::string> needed;
  for (const std::vector<PodId>* pods : {&pods_, &ended_}) {
    for (const PodId pod : *pods) {
      const kube::Pod* const given = GivenPod(pod);
      const absl::string_view name = sim_->cluster().pod_name(pod);
      if (given == nullptr && !absl::StrContains(name, '/')) continue;  // in "default"
      needed.insert(
          given != nullptr
              ? given->metadata().namespace_()
              : PodObjectOf(name, sim_->cluster().pod_shape(pod), 0).metadata().namespace_());
    }
  }
  for (const std::string& name : needed) {
    if (name.empty() || IsBuiltInNamespace(name)) continue;
    kube::Object object;
    object.mutable_namespace_()->mutable_metadata()->set_name(name);
    if (!WasGiven(object)) see(object);
  }
}

void EndObjects::ForEachPriorityClass(Seen see) {
  ForEachOther(kube::Object::kPriorityClass, see);
  std::set<std::pair<int32_t, bool>> needed;
  for (const std::vector<PodId>* pods : {&pods_, &ended_}) {
    for (const PodId pod : *pods) {
      const int32_t priority = sim_->cluster().pod_priority(pod);
      const bool never = sim_->cluster().pod_shape(pod).constraints.never_preempts;
      if ((priority == 0 && !never) || !IsUserPriority(priority)) continue;
      if (GivenPod(pod) == nullptr) needed.emplace(priority, never);
    }
  }
  for (const auto& [priority, never] : needed) {
    kube::Object object;
    *object.mutable_priority_class() = MadePriorityClass(priority, never);
    if (!WasGiven(object)) see(object);
  }
}

void EndObjects::ForEach(kube::Object::ObjectCase kind, Seen see) {
  switch (kind) {
    case kube::Object::kNode:
      return ForEachNode(see);
    case kube::Object::kPod:
      return ForEachPod(see);
    case kube::Object::kNamespace:
      return ForEachNamespace(see);
    case kube::Object::kPriorityClass:
      return ForEachPriorityClass(see);
    default:
      return ForEachOther(kind, see);
  }
}

// --- Output ---

absl::Status EndObjects::WriteTo(const std::string& dir) {
  std::vector<std::unique_ptr<AtomicFile>> files;
  std::vector<std::string> unused;
  for (const KindFile& kind : kKindFiles) {
    const std::string path = absl::StrCat(dir, "/", kind.name);
    std::unique_ptr<AtomicFile> file;
    absl::Status status;
    ForEach(kind.kind, [&](const kube::Object& object) {
      if (!status.ok()) return;
      if (file == nullptr) {
        file = std::make_unique<AtomicFile>();
        status = file->Open(path);
        if (status.ok()) status = file->Write(kKubeListHead);
      }
      if (status.ok()) status = file->Write(KubeListItem(object));
    });
    RETURN_IF_ERROR(status);
    if (file == nullptr) {
      unused.push_back(path);
      continue;
    }
    RETURN_IF_ERROR(file->Write(kKubeListTail));
    RETURN_IF_ERROR(file->Finish());
    files.push_back(std::move(file));
  }
  for (const std::unique_ptr<AtomicFile>& file : files) RETURN_IF_ERROR(file->Commit());
  for (const std::string& path : unused) {
    std::error_code error;
    fs::remove(path, error);
    if (error) return FileStatus(path, "cannot remove the file", error.value());
  }
  return absl::OkStatus();
}

std::string EndObjects::MetricsText() {
  KubeMetrics metrics;
  ForEachNode([&](const kube::Object& object) { metrics.AddNode(object.node()); });
  ForEachPod([&](const kube::Object& object) { metrics.AddPod(object.pod()); });
  return metrics.Text();
}

}  // namespace drasim
