#include "model/kube/made_objects.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "model/hash.h"
#include "model/kube/gpu_annotations.h"
#include "model/kube/rules.h"
#include "model/lowering.h"
#include "model/pod_constraints.h"
#include "model/resource_request.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

constexpr char kProductLabel[] = "nvidia.com/gpu.product";
constexpr absl::string_view kMigResourcePrefix = "nvidia.com/mig-";
// A container needs an image; this one does nothing.
constexpr char kIdleImage[] = "registry.k8s.io/pause:3.10";
constexpr size_t kMostNameBytes = 253;
constexpr size_t kMostLabelBytes = 63;
// HighestUserDefinablePriority (kubernetes/kubernetes pkg/apis/scheduling/types.go).
constexpr int32_t kHighestUserPriority = 1'000'000'000;

unsigned char Byte(char c) { return static_cast<unsigned char>(c); }

bool IsNameCharacter(char c) {
  return absl::ascii_islower(Byte(c)) || absl::ascii_isdigit(Byte(c));
}

// The valid characters of the text as parts with dots between them, each of which begins and ends
// with a letter or a digit.
std::string CleanName(absl::string_view text) {
  std::string clean;
  for (absl::string_view part : absl::StrSplit(text, '.')) {
    std::string made;
    for (const char c : part) {
      const char lower = absl::ascii_tolower(Byte(c));
      made.push_back(IsNameCharacter(lower) ? lower : '-');
    }
    absl::string_view trimmed = made;
    while (!trimmed.empty() && trimmed.front() == '-') trimmed.remove_prefix(1);
    while (!trimmed.empty() && trimmed.back() == '-') trimmed.remove_suffix(1);
    if (!trimmed.empty()) absl::StrAppend(&clean, clean.empty() ? "" : ".", trimmed);
  }
  return clean;
}

// The model as GPU feature discovery writes it: with a hyphen for characters that no label may
// have.
std::string LabelOfModel(absl::string_view model) {
  std::string label(model.substr(0, kMostLabelBytes));
  for (char& c : label) {
    if (!absl::ascii_isalnum(Byte(c)) && c != '-' && c != '_' && c != '.') c = '-';
  }
  while (!label.empty() && !absl::ascii_isalnum(Byte(label.back()))) label.pop_back();
  while (!label.empty() && !absl::ascii_isalnum(Byte(label.front()))) label.erase(0, 1);
  return label;
}

bool IsGpuResource(absl::string_view resource) {
  return absl::StartsWith(resource, kGpuResource) || absl::StartsWith(resource, kMigResourcePrefix);
}

using AmountTexts = google::protobuf::Map<std::string, std::string>;

void SetAmount(const std::string& resource, int64_t amount, AmountTexts* amounts) {
  if (amount > 0) (*amounts)[resource] = ExactAmountText(resource, amount);
}

kube::NodeSelector NodeSelectorOf(const std::vector<NodeTerm>& terms) {
  kube::NodeSelector selector;
  for (const NodeTerm& term : terms) {
    kube::NodeSelectorTerm* const made = selector.add_node_selector_terms();
    for (const NodeRequirement& requirement : term.requirements) {
      kube::SelectorRequirement* const one =
          requirement.of_name ? made->add_match_fields() : made->add_match_expressions();
      one->set_key(requirement.key);
      one->set_operator_(std::string(NodeOperatorName(requirement.op)));
      for (const std::string& value : requirement.values) one->add_values(value);
    }
  }
  return selector;
}

void SetConstraints(const PodConstraints& rules, kube::PodSpec* spec) {
  for (const auto& [key, value] : rules.node_selector) {
    (*spec->mutable_node_selector())[key] = value;
  }
  if (rules.requires_node_terms || !rules.node_terms.empty()) {
    *spec->mutable_affinity()
         ->mutable_node_affinity()
         ->mutable_required_during_scheduling_ignored_during_execution() =
        NodeSelectorOf(rules.node_terms);
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

void SetRequest(const ResourceRequest& request, kube::Container* container) {
  kube::ResourceRequirements* const resources = container->mutable_resources();
  AmountTexts* const requests = resources->mutable_requests();
  SetAmount("cpu", request.cpu_milli, requests);
  SetAmount("memory", request.memory_bytes, requests);
  KubeAmounts devices(request.extended.begin(), request.extended.end());
  if (!request.is_share() && request.gpu_count > 0) {
    devices[std::string(kGpuResource)] += request.gpu_count;
  }
  for (const auto& [profile, count] : request.mig) {
    devices[absl::StrCat(kMigResourcePrefix, absl::StrReplaceAll(profile, {{"+", "."}}))] += count;
  }
  for (const auto& [resource, amount] : devices) {
    SetAmount(resource, amount, requests);
    // Extended resources cannot be overcommitted: the API server demands equal limits.
    if (IsExtendedResource(resource)) SetAmount(resource, amount, resources->mutable_limits());
  }
}

void SetClaims(const PodShape& shape, kube::PodSpec* spec) {
  for (const ClaimEntry& entry : shape.claims) {
    kube::PodResourceClaim* const made = spec->add_resource_claims();
    made->set_name(entry.name);
    made->set_resource_claim_name(entry.claim);
    made->set_resource_claim_template_name(entry.from_template);
    spec->mutable_containers(0)->mutable_resources()->add_claims()->set_name(entry.name);
  }
}

std::string MadeClassName(int32_t priority, bool never_preempts) {
  return absl::StrCat("priority-", priority < 0 ? "minus-" : "", std::abs(int64_t{priority}),
                      never_preempts ? "-never" : "");
}

}  // namespace

std::string ObjectNameOf(absl::string_view text) {
  std::string clean = CleanName(text);
  if (clean == text && clean.size() <= kMostNameBytes && !clean.empty()) return clean;
  const std::string hash = HexHash(Fnv1a(text));
  clean.resize(std::min(clean.size(), kMostNameBytes - hash.size() - 1));
  while (!clean.empty() && !IsNameCharacter(clean.back())) clean.pop_back();
  return absl::StrCat(clean, clean.empty() ? "" : "-", hash);
}

kube::Node NodeObjectOf(const NodeSpec& spec) {
  kube::Node node;
  node.mutable_metadata()->set_name(ObjectNameOf(spec.name));
  AmountTexts* const amounts = node.mutable_status()->mutable_allocatable();
  SetAmount("cpu", spec.cpu_milli, amounts);
  SetAmount("memory", spec.memory_bytes, amounts);
  SetAmount("pods", spec.pods, amounts);
  bool reports_gpus = false;
  for (const auto& [resource, amount] : spec.extended) {
    SetAmount(resource, amount, amounts);
    reports_gpus = reports_gpus || IsGpuResource(resource);
  }
  if (!reports_gpus) SetAmount(std::string(kGpuResource), spec.gpu_count, amounts);
  *node.mutable_status()->mutable_capacity() = *amounts;
  auto& labels = *node.mutable_metadata()->mutable_labels();
  for (const auto& [key, value] : spec.labels) labels[key] = value;
  const std::string model = LabelOfModel(spec.gpu_model);
  if (!model.empty()) labels.insert({kProductLabel, model});
  for (const Taint& taint : spec.taints) {
    kube::Taint* const made = node.mutable_spec()->add_taints();
    made->set_key(taint.key);
    made->set_value(taint.value);
    made->set_effect(taint.effect);
  }
  if (spec.unschedulable) node.mutable_spec()->set_unschedulable(true);
  for (const NodeImage& image : spec.images) {
    kube::ContainerImage* const made = node.mutable_status()->add_images();
    for (const std::string& name : image.names) made->add_names(name);
    made->set_size_bytes(image.bytes);
  }
  return node;
}

kube::Pod PodObjectOf(absl::string_view name, const PodShape& shape, int32_t priority) {
  kube::Pod pod;
  kube::ObjectMeta* const meta = pod.mutable_metadata();
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '/');
  const bool in_namespace = parts.size() == 2 && parts[0].size() <= kMostLabelBytes &&
                            !absl::StrContains(parts[0], '.') &&
                            ObjectNameOf(parts[0]) == parts[0] && !parts[1].empty();
  meta->set_namespace_(in_namespace ? std::string(parts[0]) : "default");
  meta->set_name(ObjectNameOf(in_namespace ? parts[1] : name));
  for (const auto& [key, value] : shape.identity.labels) (*meta->mutable_labels())[key] = value;
  GpuAnnotations gpus;
  if (shape.request.is_share()) {
    gpus.count = shape.request.gpu_count;
    gpus.milli = shape.request.gpu_milli;
  }
  gpus.models = shape.request.gpu_spec;
  SetGpuAnnotations(gpus, meta);

  kube::PodSpec* const spec = pod.mutable_spec();
  kube::Container* const container = spec->add_containers();
  container->set_name("main");
  container->set_image(kIdleImage);
  SetRequest(shape.request, container);
  SetClaims(shape, spec);
  SetConstraints(shape.constraints, spec);
  // The API server demands that a policy, too, is that of a class.
  if (priority != 0 || shape.constraints.never_preempts) {
    spec->set_priority(priority);
    if (IsUserPriority(priority)) {
      spec->set_priority_class_name(MadeClassName(priority, shape.constraints.never_preempts));
    }
  }
  return pod;
}

bool IsUserPriority(int32_t priority) { return priority <= kHighestUserPriority; }

kube::PriorityClass MadePriorityClass(int32_t priority, bool never_preempts) {
  kube::PriorityClass made;
  made.mutable_metadata()->set_name(MadeClassName(priority, never_preempts));
  made.set_value(priority);
  if (never_preempts) made.set_preemption_policy("Never");
  return made;
}

}  // namespace drasim
