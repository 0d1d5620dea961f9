#include "model/kube/metrics_text.h"

#include <cstdint>
#include <initializer_list>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/kube/api_defaults.h"
#include "model/kube/requests.h"
#include "model/kube/rules.h"
#include "model/quantity.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

using MetricLabels = std::initializer_list<std::pair<absl::string_view, absl::string_view>>;
using AmountTexts = google::protobuf::Map<std::string, std::string>;

void AppendSample(absl::string_view family, MetricLabels labels, absl::string_view value,
                  std::string* out) {
  absl::StrAppend(out, family);
  absl::string_view separator = "{";
  for (const auto& [name, text] : labels) {
    absl::StrAppend(out, separator, name, "=\"");
    for (const char c : text) {
      if (c == '\n') {
        out->append("\\n");
        continue;
      }
      if (c == '\\' || c == '"') out->push_back('\\');
      out->push_back(c);
    }
    out->push_back('"');
    separator = ",";
  }
  absl::StrAppend(out, "} ", value, "\n");
}

// The amount as a decimal number, to thousandths.
std::string NumberOf(const Quantity& amount) {
  if (!amount.MilliFitsInt64()) return absl::StrCat(amount.Value());
  const int64_t milli = amount.MilliValue();
  std::string text = absl::StrCat(milli / 1000);
  if (milli % 1000 == 0) return text;
  std::string digits = absl::StrCat(1000 + milli % 1000);
  digits[0] = '.';
  while (digits.back() == '0') digits.pop_back();
  return text + digits;
}

bool IsBytes(absl::string_view resource) {
  return resource == "memory" || resource == "storage" || resource == "ephemeral-storage" ||
         absl::StartsWith(resource, "hugepages-");
}

bool IsAttachable(absl::string_view resource) {
  return absl::StartsWith(resource, "attachable-volumes-");
}

// kube-scheduler's word; extended resources have none.
absl::string_view SchedulerUnit(absl::string_view resource) {
  if (resource == "cpu") return "cores";
  if (IsBytes(resource)) return "bytes";
  return IsAttachable(resource) ? "integer" : "";
}

// kube-state-metrics' word; empty: it has no sample of the resource.
absl::string_view StateUnit(absl::string_view resource) {
  if (resource == "cpu") return "core";
  if (IsBytes(resource) || IsAttachable(resource)) return "byte";
  return resource == "pods" || IsExtendedResource(resource) ? "integer" : "";
}

// "nvidia_com_gpu"
std::string StateResource(absl::string_view resource) {
  std::string name(resource);
  for (char& c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

void AppendNodeAmounts(absl::string_view family, const std::string& node,
                       const AmountTexts& amounts, std::string* out) {
  for (const auto& [resource, amount] : ReadQuantities(amounts)) {
    const absl::string_view unit = StateUnit(resource);
    if (unit.empty()) continue;
    AppendSample(family, {{"node", node}, {"resource", StateResource(resource)}, {"unit", unit}},
                 NumberOf(amount), out);
  }
}

// The limits of all containers together, by the rule for requests, with the overhead where there is
// a limit (k8s.io/component-helpers resource PodLimits).
KubeQuantities LimitsOfPod(const kube::PodSpec& given) {
  kube::PodSpec spec = given;
  const KubeQuantities overhead = ReadQuantities(spec.overhead());
  spec.clear_overhead();
  const auto ask_for_limits = [](kube::ResourceRequirements* resources) {
    *resources->mutable_requests() = resources->limits();
  };
  for (kube::Container& container : *spec.mutable_containers()) {
    ask_for_limits(container.mutable_resources());
  }
  for (kube::Container& container : *spec.mutable_init_containers()) {
    ask_for_limits(container.mutable_resources());
  }
  ask_for_limits(spec.mutable_resources());
  KubeQuantities limits = QuantitiesOfPod(spec);
  for (const auto& [resource, amount] : overhead) {
    const auto limit = limits.find(resource);
    if (limit == limits.end() || limit->second.Compare(Quantity()) == 0) continue;
    limit->second = limit->second + amount;
  }
  return limits;
}

struct PodTexts {
  std::string ns;
  std::string scheduler;
  std::string priority;
};

void AppendPodAmounts(absl::string_view family, const kube::Pod& pod, const PodTexts& texts,
                      const KubeQuantities& amounts, std::string* out) {
  for (const auto& [resource, amount] : amounts) {
    if (amount.Compare(Quantity()) == 0) continue;
    AppendSample(family,
                 {{"namespace", texts.ns},
                  {"pod", pod.metadata().name()},
                  {"node", pod.spec().node_name()},
                  {"scheduler", texts.scheduler},
                  {"priority", texts.priority},
                  {"resource", resource},
                  {"unit", SchedulerUnit(resource)}},
                 NumberOf(amount), out);
  }
}

void AppendContainerAmounts(absl::string_view family, const kube::Pod& pod, const PodTexts& texts,
                            const kube::Container& container, const AmountTexts& amounts,
                            std::string* out) {
  for (const auto& [resource, amount] : ReadQuantities(amounts)) {
    const absl::string_view unit = StateUnit(resource);
    if (unit.empty()) continue;
    AppendSample(family,
                 {{"namespace", texts.ns},
                  {"pod", pod.metadata().name()},
                  {"uid", pod.metadata().uid()},
                  {"container", container.name()},
                  {"node", pod.spec().node_name()},
                  {"resource", StateResource(resource)},
                  {"unit", unit}},
                 NumberOf(amount), out);
  }
}

// With every family, the samples of which it consists.
void AppendFamily(absl::string_view family, absl::string_view help, absl::string_view samples,
                  std::string* out) {
  absl::StrAppend(out, "# HELP ", family, " ", help, "\n# TYPE ", family, " gauge\n", samples);
}

}  // namespace

void KubeMetrics::AddNode(const kube::Node& node) {
  const std::string& name = node.metadata().name();
  AppendSample("kube_node_spec_unschedulable", {{"node", name}},
               node.spec().unschedulable() ? "1" : "0", &node_unschedulable_);
  for (const kube::Taint& taint : node.spec().taints()) {
    AppendSample("kube_node_spec_taint",
                 {{"node", name},
                  {"key", taint.key()},
                  {"value", taint.value()},
                  {"effect", taint.effect()}},
                 "1", &node_taint_);
  }
  AppendNodeAmounts("kube_node_status_capacity", name, node.status().capacity(), &node_capacity_);
  AppendNodeAmounts("kube_node_status_allocatable", name, node.status().allocatable(),
                    &node_allocatable_);
}

void KubeMetrics::AddPod(const kube::Pod& given) {
  kube::Pod pod = given;
  SetPodDefaults(pod.mutable_spec());
  const kube::PodSpec& spec = pod.spec();
  PodTexts texts;
  texts.ns = pod.metadata().namespace_().empty() ? "default" : pod.metadata().namespace_();
  texts.scheduler = spec.scheduler_name().empty() ? "default-scheduler" : spec.scheduler_name();
  if (spec.has_priority()) texts.priority = absl::StrCat(spec.priority());
  const std::string& phase = pod.status().phase();
  const bool ended = phase == "Succeeded" || phase == "Failed";
  if (!ended || spec.node_name().empty()) {
    AppendPodAmounts("kube_pod_resource_request", pod, texts, QuantitiesOfPod(pod), &pod_request_);
    AppendPodAmounts("kube_pod_resource_limit", pod, texts, LimitsOfPod(spec), &pod_limit_);
  }
  for (const kube::Container& container : spec.containers()) {
    AppendContainerAmounts("kube_pod_container_resource_requests", pod, texts, container,
                           container.resources().requests(), &container_requests_);
    AppendContainerAmounts("kube_pod_container_resource_limits", pod, texts, container,
                           container.resources().limits(), &container_limits_);
  }
  const std::string& name = pod.metadata().name();
  const std::string& uid = pod.metadata().uid();
  for (const absl::string_view one : {"Pending", "Succeeded", "Failed", "Unknown", "Running"}) {
    if (phase.empty()) break;
    AppendSample("kube_pod_status_phase",
                 {{"namespace", texts.ns}, {"pod", name}, {"uid", uid}, {"phase", one}},
                 one == phase ? "1" : "0", &pod_phase_);
  }
  for (const kube::Condition& condition : pod.status().conditions()) {
    if (condition.type() != "PodScheduled") continue;
    for (const absl::string_view status : {"True", "False", "Unknown"}) {
      AppendSample("kube_pod_status_scheduled",
                   {{"namespace", texts.ns},
                    {"pod", name},
                    {"uid", uid},
                    {"condition", absl::AsciiStrToLower(status)}},
                   status == condition.status() ? "1" : "0", &pod_scheduled_);
    }
    if (condition.status() != "False") continue;
    AppendSample("kube_pod_status_unschedulable",
                 {{"namespace", texts.ns}, {"pod", name}, {"uid", uid}}, "1", &pod_unschedulable_);
  }
}

std::string KubeMetrics::Text() const {
  std::string out;
  AppendFamily("kube_node_spec_unschedulable", "Whether the node is cordoned.", node_unschedulable_,
               &out);
  AppendFamily("kube_node_spec_taint", "A taint of the node.", node_taint_, &out);
  AppendFamily("kube_node_status_capacity", "What the node has of a resource.", node_capacity_,
               &out);
  AppendFamily("kube_node_status_allocatable", "What pods may request of a resource on the node.",
               node_allocatable_, &out);
  AppendFamily("kube_pod_resource_request",
               "What the pod requests of a resource, by the scheduler's rule. Pods that have ended "
               "have none.",
               pod_request_, &out);
  AppendFamily("kube_pod_resource_limit",
               "The pod's limit of a resource, by the scheduler's rule. Pods that have ended have "
               "none.",
               pod_limit_, &out);
  AppendFamily("kube_pod_container_resource_requests", "What the container requests of a resource.",
               container_requests_, &out);
  AppendFamily("kube_pod_container_resource_limits", "The container's limit of a resource.",
               container_limits_, &out);
  AppendFamily("kube_pod_status_phase", "Whether the pod is in the phase.", pod_phase_, &out);
  AppendFamily("kube_pod_status_scheduled", "The condition PodScheduled.", pod_scheduled_, &out);
  AppendFamily("kube_pod_status_unschedulable", "PodScheduled is False.", pod_unschedulable_, &out);
  out += "# EOF\n";
  return out;
}

}  // namespace drasim
