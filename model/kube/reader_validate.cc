// ValidateKubeObject, and what KubeCheck checks. Pods are in kube_reader_validate_pod.cc.
#include "model/kube/reader_validate.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "model/kube/objects.h"
#include "model/kube/reader.h"
#include "model/quantity.h"
#include "model/text/did_you_mean.h"
#include "model/text/proto_scalar.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;
using KubeMap = google::protobuf::Map<std::string, std::string>;

constexpr size_t kMaxSubdomain = 253;
constexpr size_t kMaxDnsLabel = 63;

bool IsDnsLabel(absl::string_view text) {
  const auto is_end = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return absl::ascii_islower(byte) || absl::ascii_isdigit(byte);
  };
  return !text.empty() && is_end(text.front()) && is_end(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_end(c) || c == '-'; });
}

bool IsSubdomain(absl::string_view text) {
  if (text.empty() || text.size() > kMaxSubdomain) return false;
  for (const absl::string_view part : absl::StrSplit(text, '.')) {
    if (!IsDnsLabel(part)) return false;
  }
  return true;
}

// In the order of the keys, so that messages come in the same order on every machine.
std::vector<std::pair<std::string, std::string>> Sorted(const KubeMap& map) {
  std::vector<std::pair<std::string, std::string>> entries(map.begin(), map.end());
  std::sort(entries.begin(), entries.end());
  return entries;
}

// Whether a selector that is as it should be chooses an object with those labels.
bool Selects(const kube::LabelSelector& selector, const KubeMap& labels) {
  for (const auto& [key, value] : Sorted(selector.match_labels())) {
    const auto found = labels.find(key);
    if (found == labels.end() || found->second != value) return false;
  }
  for (const kube::SelectorRequirement& requirement : selector.match_expressions()) {
    const auto found = labels.find(requirement.key());
    const bool has = found != labels.end();
    const auto& values = requirement.values();
    const bool listed =
        has && std::find(values.begin(), values.end(), found->second) != values.end();
    const std::string& op = requirement.operator_();
    if (op == "In" && !listed) return false;
    if (op == "NotIn" && listed) return false;
    if (op == "Exists" && !has) return false;
    if (op == "DoesNotExist" && has) return false;
  }
  return true;
}

void CheckTemplate(const kube::PodTemplateSpec& pod, absl::string_view restart_policies,
                   KubeCheck* check) {
  check->OneOf("spec.template.spec.restartPolicy", pod.spec().restart_policy(), restart_policies,
               restart_policies == "Always");
  CheckKubePodSpec("spec.template.spec", pod.spec(), check);
}

// What Deployment, ReplicaSet, StatefulSet and DaemonSet have in common.
template <typename Spec>
void CheckOwnerSpec(const Spec& spec, KubeCheck* check) {
  check->Selector("spec.selector", spec.selector());
  if (!spec.has_selector() ||
      (spec.selector().match_labels().empty() && spec.selector().match_expressions().empty())) {
    check->Fail("spec.selector", "chooses no pods, expected labels of the template");
  } else if (!Selects(spec.selector(), spec.template_().metadata().labels())) {
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
      return;
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

}  // namespace

// --- KubeCheck ---

void KubeCheck::Required(const std::string& path, const std::string& value) {
  if (value.empty()) Fail(path, "not given, expected a text");
}

void KubeCheck::Subdomain(const std::string& path, const std::string& value) {
  if (IsSubdomain(value)) return;
  Fail(path, absl::StrCat("found '", Shorten(value),
                          "', expected lower-case letters, digits, '-' and '.', with letters or "
                          "digits at both ends, at most ",
                          kMaxSubdomain, " characters"));
}

void KubeCheck::DnsLabel(const std::string& path, const std::string& value) {
  if (value.size() <= kMaxDnsLabel && IsDnsLabel(value)) return;
  Fail(path, absl::StrCat("found '", Shorten(value),
                          "', expected lower-case letters, digits and '-', with letters or digits "
                          "at both ends, at most ",
                          kMaxDnsLabel, " characters"));
}

void KubeCheck::OneOf(const std::string& path, const std::string& value, absl::string_view choices,
                      bool optional) {
  const std::vector<std::string> words = absl::StrSplit(choices, ' ');
  if (std::find(words.begin(), words.end(), value) != words.end()) return;
  if (value.empty() && optional) return;
  const std::string expected =
      absl::StrCat(words.size() > 1 ? "one of " : "", absl::StrJoin(words, ", "));
  if (value.empty()) return Fail(path, absl::StrCat("not given, expected ", expected));
  Fail(path,
       absl::StrCat("found '", Shorten(value), "', expected ", expected, Suggest(value, words)));
}

void KubeCheck::Unique(const std::string& path, const std::string& value,
                       std::set<std::string>* seen) {
  if (value.empty() || seen->insert(value).second) return;
  Fail(path, absl::StrCat("found '", Shorten(value), "' a second time"));
}

void KubeCheck::AtLeast(const std::string& path, int64_t value, int64_t least) {
  if (value >= least) return;
  Fail(path, absl::StrCat("found ", value, ", expected at least ", least));
}

void KubeCheck::Amounts(const std::string& path, const KubeMap& amounts) {
  for (const auto& [name, text] : Sorted(amounts)) {
    const absl::StatusOr<Quantity> amount = Quantity::Parse(text);
    const std::string at = absl::StrCat(path, "[", name, "]");
    if (!amount.ok()) {
      Fail(at, absl::StrCat("found '", Shorten(text), "', expected a quantity"));
    } else if (amount->Compare(Quantity()) < 0) {
      Fail(at, absl::StrCat("found ", text, ", expected at least 0"));
    }
  }
}

void KubeCheck::Metadata(const kube::ObjectMeta& meta, bool named) {
  if (!meta.name().empty()) {
    Subdomain("metadata.name", meta.name());
  } else if (named && meta.generate_name().empty()) {
    Fail("metadata.name", "not given, expected a name");
  }
  if (!meta.generate_name().empty()) {
    const absl::string_view base = absl::StripSuffix(meta.generate_name(), "-");
    Subdomain("metadata.generateName", std::string(base));
  }
  if (!meta.namespace_().empty()) DnsLabel("metadata.namespace", meta.namespace_());
  for (int i = 0; i < meta.owner_references_size(); ++i) {
    const std::string path = KubeItem("metadata", "ownerReferences", i);
    Required(KubeField(path, "apiVersion"), meta.owner_references(i).api_version());
    Required(KubeField(path, "kind"), meta.owner_references(i).kind());
    Required(KubeField(path, "name"), meta.owner_references(i).name());
    Required(KubeField(path, "uid"), meta.owner_references(i).uid());
  }
}

void KubeCheck::Requirement(const std::string& path, const kube::SelectorRequirement& requirement,
                            bool of_nodes) {
  Required(KubeField(path, "key"), requirement.key());
  const std::string& op = requirement.operator_();
  OneOf(KubeField(path, "operator"), op,
        of_nodes ? "In NotIn Exists DoesNotExist Gt Lt" : "In NotIn Exists DoesNotExist", false);
  const int values = requirement.values_size();
  const std::string values_path = KubeField(path, "values");
  if ((op == "In" || op == "NotIn") && values == 0) {
    Fail(values_path, absl::StrCat("not given, expected values for ", op));
  } else if ((op == "Exists" || op == "DoesNotExist") && values > 0) {
    Fail(values_path, absl::StrCat("found values, expected none for ", op));
  } else if (of_nodes && (op == "Gt" || op == "Lt")) {
    int64_t ignored = 0;
    if (values != 1 || !absl::SimpleAtoi(requirement.values(0), &ignored)) {
      Fail(values_path, absl::StrCat("expected one whole number, as a text, for ", op));
    }
  }
}

void KubeCheck::Selector(const std::string& path, const kube::LabelSelector& selector) {
  for (int i = 0; i < selector.match_expressions_size(); ++i) {
    Requirement(KubeItem(path, "matchExpressions", i), selector.match_expressions(i), false);
  }
}

void KubeCheck::Nodes(const std::string& path, const kube::NodeSelector& selector) {
  for (int i = 0; i < selector.node_selector_terms_size(); ++i) {
    NodeTerm(KubeItem(path, "nodeSelectorTerms", i), selector.node_selector_terms(i));
  }
}

void KubeCheck::NodeTerm(const std::string& path, const kube::NodeSelectorTerm& term) {
  for (int i = 0; i < term.match_expressions_size(); ++i) {
    Requirement(KubeItem(path, "matchExpressions", i), term.match_expressions(i), true);
  }
  for (int i = 0; i < term.match_fields_size(); ++i) {
    const std::string at = KubeItem(path, "matchFields", i);
    OneOf(KubeField(at, "key"), term.match_fields(i).key(), "metadata.name", false);
    OneOf(KubeField(at, "operator"), term.match_fields(i).operator_(), "In NotIn", false);
    if (term.match_fields(i).values_size() != 1) {
      Fail(KubeField(at, "values"), "expected one value");
    }
  }
}

// --- Objects ---

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
