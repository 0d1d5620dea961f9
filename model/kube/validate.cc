#include "model/kube/validate.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/kube/api_check.h"
#include "model/kube/field_check.h"
#include "model/kube/objects.h"
#include "model/kube/rules.h"
#include "model/kube/validate_claim.h"
#include "model/kube/validate_device.h"
#include "model/kube/validate_pod.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

void CheckTemplate(const kube::PodTemplateSpec& pod, absl::string_view restart_policies,
                   KubeCheck* check) {
  check->OneOf("spec.template.spec.restartPolicy", pod.spec().restart_policy(), restart_policies,
               restart_policies == "Always");
  CheckKubePodSpec("spec.template.spec", pod.spec(), check);
}

// Checks that Deployment, ReplicaSet, StatefulSet and DaemonSet share.
template <typename Spec>
void CheckOwnerSpec(const Spec& spec, KubeCheck* check) {
  check->Selector("spec.selector", spec.selector());
  if (!spec.has_selector() ||
      (spec.selector().match_labels().empty() && spec.selector().match_expressions().empty())) {
    check->Fail("spec.selector", "chooses no pods, expected labels of the template");
  } else if (!SelectsLabels(spec.selector(), spec.template_().metadata().labels())) {
    check->Fail("spec.template.metadata.labels",
                "spec.selector does not choose pods with these labels");
  }
  CheckTemplate(spec.template_(), "Always", check);
}

void CheckJobSpec(const kube::JobSpec& spec, KubeCheck* check) {
  check->AtLeast("spec.parallelism", spec.parallelism(), 0);
  check->AtLeast("spec.completions", spec.completions(), 0);
  check->AtLeast("spec.backoffLimit", spec.backoff_limit(), 0);
  check->AtLeast("spec.activeDeadlineSeconds", spec.active_deadline_seconds(), 0);
  check->AtLeast("spec.ttlSecondsAfterFinished", spec.ttl_seconds_after_finished(), 0);
  check->OneOf("spec.completionMode", spec.completion_mode(), "NonIndexed Indexed", true);
  if (spec.completion_mode() == "Indexed" && !spec.has_completions()) {
    check->Fail("spec.completions", "not given, expected a number for an Indexed job");
  }
  CheckTemplate(spec.template_(), "OnFailure Never", check);
}

void CheckParameters(const std::string& path, const kube::ParametersReference& parameters,
                     KubeCheck* check) {
  check->Required(KubeField(path, "kind"), parameters.kind());
  check->Required(KubeField(path, "name"), parameters.name());
}

void CheckClaimSpec(const std::string& path, const kube::ResourceClaimSpec& spec,
                    KubeCheck* check) {
  const std::string name = KubeField(path, "resourceClassName");
  if (spec.resource_class_name().empty()) {
    check->Fail(name, "not given, expected the name of a ResourceClass");
  } else {
    check->Subdomain(name, spec.resource_class_name());
  }
  if (spec.has_parameters_ref()) {
    CheckParameters(KubeField(path, "parametersRef"), spec.parameters_ref(), check);
  }
  check->OneOf(KubeField(path, "allocationMode"), spec.allocation_mode(),
               "WaitForFirstConsumer Immediate", true);
}

void CheckAllocation(const kube::ResourceClaimStatus& status, KubeCheck* check) {
  const kube::AllocationResult& allocation = status.allocation();
  if (status.driver_name().empty()) {
    check->Fail("status.driverName", "not given, expected the driver of status.allocation");
  }
  const auto handles = static_cast<size_t>(allocation.resource_handles_size());
  if (handles > kMaxResourceHandles) {
    check->Fail(
        "status.allocation.resourceHandles",
        absl::StrCat("found ", handles, " handles, expected at most ", kMaxResourceHandles));
  }
  for (int i = 0; i < allocation.resource_handles_size(); ++i) {
    const size_t bytes = allocation.resource_handles(i).data().size();
    if (bytes <= kMaxHandleBytes) continue;
    check->Fail(KubeField(KubeItem("status.allocation", "resourceHandles", i), "data"),
                absl::StrCat("found ", bytes, " bytes, expected at most ", kMaxHandleBytes));
  }
  check->Nodes("status.allocation.availableOnNodes", allocation.available_on_nodes());
}

void CheckClaimStatus(const kube::ResourceClaimStatus& status, KubeCheck* check) {
  if (status.has_allocation()) CheckAllocation(status, check);
  const auto consumers = static_cast<size_t>(status.reserved_for_size());
  if (consumers > 0 && !status.has_allocation()) {
    check->Fail("status.reservedFor", "found a reservation of a claim that is not allocated");
  } else if (consumers > 1 && !status.allocation().shareable()) {
    check->Fail(
        "status.reservedFor",
        absl::StrCat("found ", consumers, " reservations of a claim that is not shareable"));
  } else if (consumers > kMaxReservedFor) {
    check->Fail(
        "status.reservedFor",
        absl::StrCat("found ", consumers, " reservations, expected at most ", kMaxReservedFor));
  }
  std::set<std::string> uids;
  for (int i = 0; i < status.reserved_for_size(); ++i) {
    const std::string path = KubeItem("status", "reservedFor", i);
    check->Required(KubeField(path, "resource"), status.reserved_for(i).resource());
    check->Required(KubeField(path, "name"), status.reserved_for(i).name());
    check->Required(KubeField(path, "uid"), status.reserved_for(i).uid());
    check->Unique(KubeField(path, "uid"), status.reserved_for(i).uid(), &uids);
  }
}

// A list of nodes of a PodSchedulingContext.
template <typename Names>
void CheckNodeList(const std::string& path, const Names& names, KubeCheck* check) {
  const auto count = static_cast<size_t>(names.size());
  if (count > kMaxNodesInContext) {
    check->Fail(path,
                absl::StrCat("found ", count, " nodes, expected at most ", kMaxNodesInContext));
  }
  std::set<std::string> seen;
  for (int i = 0; i < names.size(); ++i) {
    check->Unique(absl::StrCat(path, "[", i, "]"), names.Get(i), &seen);
  }
}

void CheckSchedulingContext(const kube::PodSchedulingContext& context, KubeCheck* check) {
  CheckNodeList("spec.potentialNodes", context.spec().potential_nodes(), check);
  std::set<std::string> entries;
  for (int i = 0; i < context.status().resource_claims_size(); ++i) {
    const kube::ResourceClaimSchedulingStatus& claim = context.status().resource_claims(i);
    const std::string path = KubeItem("status", "resourceClaims", i);
    check->Required(KubeField(path, "name"), claim.name());
    check->Unique(KubeField(path, "name"), claim.name(), &entries);
    CheckNodeList(KubeField(path, "unsuitableNodes"), claim.unsuitable_nodes(), check);
  }
}

constexpr char kComparisons[] =
    "Equals LessThan LessThanOrEqualTo GreaterThan GreaterThanOrEqualTo";

template <typename Comparator>
void CheckComparator(const std::string& path, const Comparator& comparator, KubeCheck* check) {
  check->Required(KubeField(path, "value"), comparator.value());
  check->OneOf(KubeField(path, "operator"), comparator.operator_(), kComparisons, false);
}

void CheckGpuSelector(const std::string& path, const kube::GpuSelector& selector, int level,
                      KubeCheck* check) {
  constexpr int kMaxLevels = 3;
  const int properties = static_cast<int>(selector.has_index()) + selector.has_uuid() +
                         selector.has_mig_enabled() + selector.has_memory() +
                         selector.has_product_name() + selector.has_brand() +
                         selector.has_architecture() + selector.has_cuda_compute_capability() +
                         selector.has_driver_version() + selector.has_cuda_driver_version() +
                         (selector.and_expression_size() > 0) + (selector.or_expression_size() > 0);
  if (properties > 1) {
    check->Fail(path, absl::StrCat("found ", properties,
                                   " properties, expected one: put them into andExpression"));
  }
  if (selector.has_memory()) CheckComparator(KubeField(path, "memory"), selector.memory(), check);
  if (selector.has_cuda_compute_capability()) {
    CheckComparator(KubeField(path, "cudaComputeCapability"), selector.cuda_compute_capability(),
                    check);
  }
  if (selector.has_driver_version()) {
    CheckComparator(KubeField(path, "driverVersion"), selector.driver_version(), check);
  }
  if (selector.has_cuda_driver_version()) {
    CheckComparator(KubeField(path, "cudaDriverVersion"), selector.cuda_driver_version(), check);
  }
  const bool nested = selector.and_expression_size() + selector.or_expression_size() > 0;
  if (nested && level == kMaxLevels) {
    return check->Fail(path,
                       absl::StrCat("found expressions nested more than ", kMaxLevels, " deep"));
  }
  for (int i = 0; i < selector.and_expression_size(); ++i) {
    CheckGpuSelector(KubeItem(path, "andExpression", i), selector.and_expression(i), level + 1,
                     check);
  }
  for (int i = 0; i < selector.or_expression_size(); ++i) {
    CheckGpuSelector(KubeItem(path, "orExpression", i), selector.or_expression(i), level + 1,
                     check);
  }
}

void CheckSharing(const std::string& path, const kube::GpuSharing& sharing, KubeCheck* check) {
  static constexpr char kSlices[] = "Default Short Medium Long";
  check->OneOf(KubeField(path, "strategy"), sharing.strategy(), "TimeSlicing MPS", false);
  const kube::TimeSlicingConfig& slicing = sharing.time_slicing_config();
  const std::string slicing_path = KubeField(path, "timeSlicingConfig");
  check->OneOf(KubeField(slicing_path, "timeSlice"), slicing.time_slice(), kSlices, true);
  check->OneOf(KubeField(slicing_path, "interval"), slicing.interval(), kSlices, true);
  if (sharing.strategy() == "TimeSlicing" && sharing.has_mps_config()) {
    check->Fail(KubeField(path, "mpsConfig"), "has no meaning with the strategy TimeSlicing");
  }
  if (sharing.strategy() == "MPS" && sharing.has_time_slicing_config()) {
    check->Fail(slicing_path, "has no meaning with the strategy MPS");
  }
}

void CheckGpuClaim(const kube::GpuClaimParametersSpec& spec, KubeCheck* check) {
  if (spec.has_count()) check->AtLeast("spec.count", spec.count(), 1);
  CheckGpuSelector("spec.selector", spec.selector(), 0, check);
  if (spec.has_sharing()) CheckSharing("spec.sharing", spec.sharing(), check);
}

void CheckMigClaim(const kube::MigDeviceClaimParametersSpec& spec, KubeCheck* check) {
  check->Required("spec.profile", spec.profile());
  if (spec.has_sharing()) CheckSharing("spec.sharing", spec.sharing(), check);
}

void CheckModes(const std::string& path,
                const google::protobuf::RepeatedPtrField<std::string>& modes, KubeCheck* check) {
  for (int i = 0; i < modes.size(); ++i) {
    check->OneOf(absl::StrCat(path, "[", i, "]"), modes.Get(i),
                 "ReadWriteOnce ReadOnlyMany ReadWriteMany ReadWriteOncePod", false);
  }
}

void CheckVolume(const kube::PersistentVolumeSpec& spec, KubeCheck* check) {
  check->Amounts("spec.capacity", spec.capacity());
  CheckModes("spec.accessModes", spec.access_modes(), check);
  check->OneOf("spec.volumeMode", spec.volume_mode(), "Filesystem Block", true);
  if (spec.has_node_affinity()) {
    check->Nodes("spec.nodeAffinity.required", spec.node_affinity().required());
  }
}

void CheckVolumeClaim(const kube::PersistentVolumeClaimSpec& spec, KubeCheck* check) {
  CheckModes("spec.accessModes", spec.access_modes(), check);
  check->Selector("spec.selector", spec.selector());
  check->Amounts("spec.resources.limits", spec.resources().limits());
  check->Amounts("spec.resources.requests", spec.resources().requests());
  check->OneOf("spec.volumeMode", spec.volume_mode(), "Filesystem Block", true);
}

// Storage, and what groups pods without making them.
void CheckOtherObject(const kube::Object& object, KubeCheck* check) {
  switch (object.object_case()) {
    case kube::Object::kPersistentVolume:
      check->Metadata(object.persistent_volume().metadata(), true);
      return CheckVolume(object.persistent_volume().spec(), check);
    case kube::Object::kPersistentVolumeClaim:
      check->Metadata(object.persistent_volume_claim().metadata(), true);
      return CheckVolumeClaim(object.persistent_volume_claim().spec(), check);
    case kube::Object::kStorageClass:
      check->Metadata(object.storage_class().metadata(), true);
      check->Required("provisioner", object.storage_class().provisioner());
      return check->OneOf("volumeBindingMode", object.storage_class().volume_binding_mode(),
                          "Immediate WaitForFirstConsumer", true);
    case kube::Object::kCsiNode:
      return check->Metadata(object.csi_node().metadata(), true);
    case kube::Object::kCsiDriver:
      return check->Metadata(object.csi_driver().metadata(), true);
    case kube::Object::kCsiStorageCapacity:
      check->Metadata(object.csi_storage_capacity().metadata(), true);
      check->Required("storageClassName", object.csi_storage_capacity().storage_class_name());
      return check->Selector("nodeTopology", object.csi_storage_capacity().node_topology());
    case kube::Object::kVolumeAttachment:
      check->Metadata(object.volume_attachment().metadata(), true);
      check->Required("spec.attacher", object.volume_attachment().spec().attacher());
      return check->Required("spec.nodeName", object.volume_attachment().spec().node_name());
    case kube::Object::kPodDisruptionBudget:
      check->Metadata(object.pod_disruption_budget().metadata(), true);
      return check->Selector("spec.selector", object.pod_disruption_budget().spec().selector());
    case kube::Object::kService:
      return check->Metadata(object.service().metadata(), true);
    case kube::Object::kReplicationController:
      check->Metadata(object.replication_controller().metadata(), true);
      return check->AtLeast("spec.replicas", object.replication_controller().spec().replicas(), 0);
    default:
      return;
  }
}

// Parameters, and what else is made of few fields.
void CheckSmallObject(const kube::Object& object, KubeCheck* check) {
  switch (object.object_case()) {
    case kube::Object::kPriorityClass:
      check->Metadata(object.priority_class().metadata(), true);
      return check->OneOf("preemptionPolicy", object.priority_class().preemption_policy(),
                          "PreemptLowerPriority Never", true);
    case kube::Object::kRuntimeClass:
      check->Metadata(object.runtime_class().metadata(), true);
      return check->Amounts("overhead.podFixed", object.runtime_class().overhead().pod_fixed());
    case kube::Object::kNamespace:
      return check->Metadata(object.namespace_().metadata(), true);
    case kube::Object::kConfigMap:
      return check->Metadata(object.config_map().metadata(), true);
    case kube::Object::kGpuClaimParameters:
      check->Metadata(object.gpu_claim_parameters().metadata(), true);
      return CheckGpuClaim(object.gpu_claim_parameters().spec(), check);
    case kube::Object::kMigDeviceClaimParameters:
      check->Metadata(object.mig_device_claim_parameters().metadata(), true);
      return CheckMigClaim(object.mig_device_claim_parameters().spec(), check);
    case kube::Object::kComputeInstanceClaimParameters:
      check->Metadata(object.compute_instance_claim_parameters().metadata(), true);
      return check->Required("spec.profile",
                             object.compute_instance_claim_parameters().spec().profile());
    case kube::Object::kDeviceClassParameters:
      return check->Metadata(object.device_class_parameters().metadata(), true);
    case kube::Object::kGpuConfig:
      check->Metadata(object.gpu_config().metadata(), false);
      if (object.gpu_config().has_sharing()) {
        CheckSharing("sharing", object.gpu_config().sharing(), check);
      }
      return;
    case kube::Object::kMigDeviceConfig:
      check->Metadata(object.mig_device_config().metadata(), false);
      if (object.mig_device_config().has_sharing()) {
        CheckSharing("sharing", object.mig_device_config().sharing(), check);
      }
      return;
    case kube::Object::kExampleGpuClaimParameters:
      check->Metadata(object.example_gpu_claim_parameters().metadata(), true);
      if (object.example_gpu_claim_parameters().spec().has_count()) {
        check->AtLeast("spec.count", object.example_gpu_claim_parameters().spec().count(), 1);
      }
      return;
    case kube::Object::kExampleDeviceClassParameters:
      return check->Metadata(object.example_device_class_parameters().metadata(), true);
    default:
      return CheckOtherObject(object, check);
  }
}

void CheckOwner(const kube::Object& object, KubeCheck* check) {
  switch (object.object_case()) {
    case kube::Object::kDeployment:
      check->Metadata(object.deployment().metadata(), true);
      check->AtLeast("spec.replicas", object.deployment().spec().replicas(), 0);
      return CheckOwnerSpec(object.deployment().spec(), check);
    case kube::Object::kReplicaSet:
      check->Metadata(object.replica_set().metadata(), true);
      check->AtLeast("spec.replicas", object.replica_set().spec().replicas(), 0);
      return CheckOwnerSpec(object.replica_set().spec(), check);
    case kube::Object::kStatefulSet:
      check->Metadata(object.stateful_set().metadata(), true);
      check->AtLeast("spec.replicas", object.stateful_set().spec().replicas(), 0);
      check->OneOf("spec.podManagementPolicy", object.stateful_set().spec().pod_management_policy(),
                   "OrderedReady Parallel", true);
      return CheckOwnerSpec(object.stateful_set().spec(), check);
    case kube::Object::kDaemonSet:
      check->Metadata(object.daemon_set().metadata(), true);
      return CheckOwnerSpec(object.daemon_set().spec(), check);
    case kube::Object::kJob:
      check->Metadata(object.job().metadata(), true);
      return CheckJobSpec(object.job().spec(), check);
    default:
      return CheckSmallObject(object, check);
  }
}

std::vector<KubeProblem> ValidateKubeNode(const kube::Node& node) {
  std::vector<KubeProblem> problems;
  KubeCheck check(&problems);
  check.Metadata(node.metadata(), true);
  std::set<std::string> taints;
  for (int i = 0; i < node.spec().taints_size(); ++i) {
    const kube::Taint& taint = node.spec().taints(i);
    const std::string path = KubeItem("spec", "taints", i);
    check.Required(KubeField(path, "key"), taint.key());
    check.OneOf(KubeField(path, "effect"), taint.effect(), "NoSchedule PreferNoSchedule NoExecute",
                false);
    check.Unique(path, absl::StrCat(taint.key(), ":", taint.effect()), &taints);
  }
  check.Amounts("status.capacity", node.status().capacity());
  check.Amounts("status.allocatable", node.status().allocatable());
  for (int i = 0; i < node.status().conditions_size(); ++i) {
    check.OneOf(KubeField(KubeItem("status", "conditions", i), "status"),
                node.status().conditions(i).status(), "True False Unknown", false);
  }
  return problems;
}

std::vector<KubeProblem> ValidateKubeClass(const kube::ResourceClass& resource_class) {
  std::vector<KubeProblem> problems;
  KubeCheck check(&problems);
  check.Metadata(resource_class.metadata(), true);
  if (resource_class.driver_name().empty()) {
    check.Fail("driverName", "not given, expected the name of a driver");
  } else {
    check.Subdomain("driverName", resource_class.driver_name());
  }
  if (resource_class.has_parameters_ref()) {
    CheckParameters("parametersRef", resource_class.parameters_ref(), &check);
  }
  if (resource_class.has_suitable_nodes() &&
      resource_class.suitable_nodes().node_selector_terms_size() == 0) {
    check.Fail("suitableNodes", "found no nodeSelectorTerms, expected at least one");
  }
  check.Nodes("suitableNodes", resource_class.suitable_nodes());
  return problems;
}

std::vector<KubeProblem> ValidateKubeClaim(const kube::ResourceClaim& claim) {
  std::vector<KubeProblem> problems;
  KubeCheck check(&problems);
  check.Metadata(claim.metadata(), true);
  CheckClaimSpec("spec", claim.spec(), &check);
  CheckClaimStatus(claim.status(), &check);
  return problems;
}

std::vector<KubeProblem> ValidateKubeClaimTemplate(
    const kube::ResourceClaimTemplate& claim_template) {
  std::vector<KubeProblem> problems;
  KubeCheck check(&problems);
  check.Metadata(claim_template.metadata(), true);
  CheckClaimSpec("spec.spec", claim_template.spec().spec(), &check);
  return problems;
}

// resource.k8s.io/v1
std::vector<KubeProblem> ValidateResourceObject(const kube::Object& object) {
  std::vector<KubeProblem> problems;
  ApiCheck check(&problems);
  switch (object.object_case()) {
    case kube::Object::kResourceSlice:
      CheckResourceSlice(object.resource_slice(), &check);
      break;
    case kube::Object::kDeviceClass:
      CheckDeviceClass(object.device_class(), &check);
      break;
    case kube::Object::kDeviceTaintRule:
      CheckDeviceTaintRule(object.device_taint_rule(), &check);
      break;
    case kube::Object::kResourceClaimV1:
      CheckResourceClaimV1(object.resource_claim_v1(), &check);
      break;
    case kube::Object::kResourceClaimTemplateV1:
      CheckResourceClaimTemplateV1(object.resource_claim_template_v1(), &check);
      break;
    default:
      break;
  }
  return problems;
}

}  // namespace

std::vector<KubeProblem> ValidateKubeObject(const kube::Object& object) {
  switch (object.object_case()) {
    case kube::Object::kNode:
      return ValidateKubeNode(object.node());
    case kube::Object::kPod:
      return ValidateKubePod(object.pod());
    case kube::Object::kResourceClass:
      return ValidateKubeClass(object.resource_class());
    case kube::Object::kResourceClaim:
      return ValidateKubeClaim(object.resource_claim());
    case kube::Object::kResourceClaimTemplate:
      return ValidateKubeClaimTemplate(object.resource_claim_template());
    case kube::Object::kResourceSlice:
    case kube::Object::kDeviceClass:
    case kube::Object::kDeviceTaintRule:
    case kube::Object::kResourceClaimV1:
    case kube::Object::kResourceClaimTemplateV1:
      return ValidateResourceObject(object);
    default:
      break;
  }
  std::vector<KubeProblem> problems;
  KubeCheck check(&problems);
  if (object.object_case() == kube::Object::kPodSchedulingContext) {
    check.Metadata(object.pod_scheduling_context().metadata(), true);
    CheckSchedulingContext(object.pod_scheduling_context(), &check);
  } else {
    CheckOwner(object, &check);
  }
  return problems;
}

}  // namespace drasim
