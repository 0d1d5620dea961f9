#include "sim/run/manifest_pods.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "model/kube/admission.h"
#include "model/kube/api_defaults.h"
#include "model/kube/gpu_annotations.h"
#include "model/kube/pod_claims.h"
#include "model/kube/reader.h"
#include "model/kube/requests.h"
#include "model/kube/rules.h"
#include "model/kube/shape_of_pod.h"
#include "model/lowering.h"
#include "model/proto/kube.pb.h"
#include "model/proto/scenario.pb.h"
#include "model/quantity.h"
#include "model/text/did_you_mean.h"
#include "policies/dra/extended_resources.h"
#include "sim/scenario/duration_text.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

constexpr absl::string_view kManifestAnnotations = "drasim.dev/";
constexpr absl::string_view kNotSimulated = "not simulated";

// Taints of the node controller. The API server adds tolerations of them to every pod.
bool IsCommonToleration(const kube::Toleration& toleration) {
  return toleration.effect() == "NoExecute" &&
         (toleration.key() == "node.kubernetes.io/not-ready" ||
          toleration.key() == "node.kubernetes.io/unreachable");
}

// The labels required by node affinity, if it requires single values of labels only.
std::optional<std::map<std::string, std::string>> LabelsOfAffinity(
    const kube::NodeSelector& required) {
  if (required.node_selector_terms_size() != 1) return std::nullopt;
  const kube::NodeSelectorTerm& term = required.node_selector_terms(0);
  // A term without requirements matches no node.
  if (term.match_fields_size() > 0 || term.match_expressions_size() == 0) return std::nullopt;
  std::map<std::string, std::string> labels;
  for (const kube::SelectorRequirement& requirement : term.match_expressions()) {
    if (requirement.operator_() != "In" || requirement.values_size() != 1) return std::nullopt;
    const auto [label, is_new] = labels.emplace(requirement.key(), requirement.values(0));
    if (!is_new && label->second != requirement.values(0)) return std::nullopt;
  }
  return labels;
}

// --- Placement rules other than amounts, labels, taints and priorities ---

std::string PathOfVolume(const kube::PodSpec& spec) {
  for (int i = 0; i < spec.volumes_size(); ++i) {
    const kube::Volume& volume = spec.volumes(i);
    if (volume.has_persistent_volume_claim() || volume.has_ephemeral()) {
      return absl::StrCat("volumes[", i, "]");
    }
  }
  return "";
}

std::string PathOfHostPort(const kube::PodSpec& spec) {
  kube::PodSpec with_defaults = spec;
  SetPodDefaults(&with_defaults);
  if (HostPortsOf(with_defaults).empty()) return "";
  for (int i = 0; i < spec.containers_size(); ++i) {
    const auto& ports = spec.containers(i).ports();
    for (int p = 0; p < ports.size(); ++p) {
      if (ports.Get(p).host_port() == 0) continue;
      return absl::StrCat("containers[", i, "].ports[", p, "].hostPort");
    }
  }
  return spec.host_network() ? "hostNetwork" : "initContainers";
}

// The first topology spread constraint with that whenUnsatisfiable.
std::string PathOfSpread(const kube::PodSpec& spec, bool soft) {
  for (int i = 0; i < spec.topology_spread_constraints_size(); ++i) {
    const bool is_soft =
        spec.topology_spread_constraints(i).when_unsatisfiable() == "ScheduleAnyway";
    if (is_soft == soft) return absl::StrCat("topologySpreadConstraints[", i, "]");
  }
  return "";
}

std::string PathIf(bool said, absl::string_view path) { return std::string(said ? path : ""); }

// A field that is not simulated. With a hold, the pod stays pending; without one, the field is a
// preference or takes effect after placement, and is ignored with a warning. `said`: its path in
// the specification; empty if absent.
struct PlacementRule {
  PodHold hold;
  std::string (*said)(const kube::PodSpec&);
};

const PlacementRule kPlacementRules[] = {
    {PodHold::kSchedulingGates,
     [](const kube::PodSpec& spec) {
       return PathIf(spec.scheduling_gates_size() > 0, "schedulingGates");
     }},
    {PodHold::kScheduler,
     [](const kube::PodSpec& spec) {
       const std::string& name = spec.scheduler_name();
       return PathIf(!name.empty() && name != "default-scheduler", "schedulerName");
     }},
    {PodHold::kVolumes, PathOfVolume},
    {PodHold::kHostPorts, PathOfHostPort},
    {PodHold::kPodAffinity,
     [](const kube::PodSpec& spec) {
       const kube::PodAffinity& pods = spec.affinity().pod_affinity();
       return PathIf(pods.required_during_scheduling_ignored_during_execution_size() > 0,
                     "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution");
     }},
    {PodHold::kPodAntiAffinity,
     [](const kube::PodSpec& spec) {
       const kube::PodAffinity& pods = spec.affinity().pod_anti_affinity();
       return PathIf(pods.required_during_scheduling_ignored_during_execution_size() > 0,
                     "affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution");
     }},
    {PodHold::kTopologySpread, [](const kube::PodSpec& spec) { return PathOfSpread(spec, false); }},
    {PodHold::kNone,
     [](const kube::PodSpec& spec) {
       const kube::NodeAffinity& nodes = spec.affinity().node_affinity();
       return PathIf(nodes.preferred_during_scheduling_ignored_during_execution_size() > 0,
                     "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution");
     }},
    {PodHold::kNone,
     [](const kube::PodSpec& spec) {
       const kube::PodAffinity& pods = spec.affinity().pod_affinity();
       return PathIf(pods.preferred_during_scheduling_ignored_during_execution_size() > 0,
                     "affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution");
     }},
    {PodHold::kNone,
     [](const kube::PodSpec& spec) {
       const kube::PodAffinity& pods = spec.affinity().pod_anti_affinity();
       return PathIf(pods.preferred_during_scheduling_ignored_during_execution_size() > 0,
                     "affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution");
     }},
    {PodHold::kNone, [](const kube::PodSpec& spec) { return PathOfSpread(spec, true); }},
    {PodHold::kNone,
     [](const kube::PodSpec& spec) {
       return PathIf(spec.has_active_deadline_seconds(), "activeDeadlineSeconds");
     }},
};

class ManifestPodReader {
 public:
  ManifestPodReader(const kube::ObjectMeta& meta, std::string meta_path, const kube::PodSpec& spec,
                    std::string path, const kube::PodStatus* status,
                    std::vector<ManifestNote>* notes)
      : meta_(meta),
        meta_path_(std::move(meta_path)),
        spec_(spec),
        with_defaults_(spec),
        path_(std::move(path)),
        notes_(notes) {
    SetPodDefaults(&with_defaults_);
    *sized_.mutable_spec() = with_defaults_;
    if (status != nullptr) *sized_.mutable_status() = *status;
  }

  proto::InlineJob Read(const ManifestClasses& classes) {
    Annotations();
    Amounts("cpu");
    Amounts("memory");
    Devices();
    if (!classes.full_shapes) {
      OtherResources();
      Nodes();
    }
    Priority(classes);
    Claims();
    if (!classes.full_shapes) PlacementRules();
    return std::move(job_);
  }

 private:
  std::string At(absl::string_view field) const { return absl::StrCat(path_, ".", field); }
  void Warn(std::string path, std::string what) {
    notes_->push_back({false, std::move(path), std::move(what)});
  }
  void Fail(std::string path, std::string what) {
    notes_->push_back({true, std::move(path), std::move(what)});
  }
  void NotSimulated(absl::string_view field) { Warn(At(field), std::string(kNotSimulated)); }

  // --- Time ---

  void Annotations() {
    const std::map<std::string, std::string> sorted(meta_.annotations().begin(),
                                                    meta_.annotations().end());
    for (const auto& [key, text] : sorted) {
      const std::string at = absl::StrCat(meta_path_, ".annotations[", key, "]");
      if (key == kRunTimeAnnotation) {
        Length(at, text, job_.mutable_run_time());
      } else if (key == kArrivalAnnotation) {
        Length(at, text, job_.mutable_arrival());
      } else if (absl::StartsWith(key, kManifestAnnotations)) {
        Warn(at, absl::StrCat("unknown annotation",
                              Suggest(key, {kRunTimeAnnotation, kArrivalAnnotation})));
      }
    }
  }

  void Length(const std::string& at, const std::string& text, std::string* out) {
    const absl::StatusOr<SimDuration> length = ParseDuration(text);
    if (text.empty()) {
      Fail(at, "found an empty text, expected a duration such as 5ms, 1.5s or 2h");
    } else if (!length.ok()) {
      Fail(at, std::string(length.status().message()));
    } else if (length->ns() > kLongestNs) {
      Fail(at, absl::StrCat("found '", text, "', expected at most 100 years"));
    } else {
      *out = text;
    }
  }

  // --- Resources ---

  // cpu or memory.
  void Amounts(const std::string& resource) {
    const KubeQuantities request = QuantitiesOfPod(sized_);
    const auto found = request.find(resource);
    if (found == request.end()) return;
    const Quantity& sum = found->second;
    if (sum.Compare(Quantity()) == 0) return;
    const bool cpu = resource == "cpu";
    if (cpu ? !sum.MilliFitsInt64() : !sum.UnitsFitInt64()) {
      constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
      return Fail(
          path_, absl::StrCat("asks for more ", resource, " than can be counted, expected at most ",
                              cpu ? kMost / 1000 : kMost));
    }
    *(cpu ? job_.mutable_cpu() : job_.mutable_memory()) =
        cpu ? Quantity::FromMilli(sum.MilliValue()).Canonical()
            : Quantity::FromUnits(sum.Value(), Quantity::Format::kBinarySi).Canonical();
  }

  // Resources of device plugins.
  void Devices() {
    std::vector<proto::Container> containers;
    int asking = 0;
    int last = 0;  // of those that ask
    const auto add = [&](const kube::Container& container, bool init) {
      proto::Container made;
      made.set_init(init);
      made.set_restartable(init && IsSidecar(container));
      for (const auto& [name, amount] : ReadQuantities(container.resources().requests())) {
        if (!IsDraResourceName(name) || amount.Compare(Quantity()) == 0) continue;
        proto::ExtendedAmount* asked = made.add_extended();
        asked->set_resource(name);
        asked->set_amount(amount.ToString());
      }
      if (made.extended_size() > 0) {
        ++asking;
        last = static_cast<int>(containers.size());
      }
      containers.push_back(std::move(made));
    };
    for (const kube::Container& init : with_defaults_.init_containers()) add(init, true);
    for (const kube::Container& container : with_defaults_.containers()) add(container, false);
    if (asking == 0) return;
    const proto::Container& only = containers[static_cast<size_t>(last)];
    if (asking == 1 && !only.init()) {
      *job_.mutable_extended() = only.extended();
      return;
    }
    for (proto::Container& container : containers) *job_.add_containers() = std::move(container);
  }

  // Resources of nodes that are not simulated: disk, huge pages.
  void OtherResources() {
    const auto look = [this](const kube::ResourceRequirements& resources, const std::string& path,
                             bool devices) {
      const std::map<std::string, std::string> limits(resources.limits().begin(),
                                                      resources.limits().end());
      const std::map<std::string, std::string> requests(resources.requests().begin(),
                                                        resources.requests().end());
      for (const auto& [list, amounts] :
           {std::pair("requests", &requests), std::pair("limits", &limits)}) {
        for (const auto& [name, text] : *amounts) {
          const bool counted =
              name == "cpu" || name == "memory" || (devices && IsDraResourceName(name));
          const bool said = list == std::string("limits") && requests.count(name) > 0;
          if (counted || said) continue;
          Warn(absl::StrCat(path, ".", list, "[", name, "]"), std::string(kNotSimulated));
        }
      }
    };
    for (int i = 0; i < spec_.containers_size(); ++i) {
      look(spec_.containers(i).resources(), absl::StrCat(At("containers"), "[", i, "].resources"),
           true);
    }
    for (int i = 0; i < spec_.init_containers_size(); ++i) {
      look(spec_.init_containers(i).resources(),
           absl::StrCat(At("initContainers"), "[", i, "].resources"), true);
    }
    look(spec_.resources(), At("resources"), false);
  }

  // --- Nodes ---

  void Nodes() {
    std::map<std::string, std::string> labels(spec_.node_selector().begin(),
                                              spec_.node_selector().end());
    const kube::NodeAffinity& affinity = spec_.affinity().node_affinity();
    if (affinity.has_required_during_scheduling_ignored_during_execution()) {
      const auto more =
          LabelsOfAffinity(affinity.required_during_scheduling_ignored_during_execution());
      const bool fits =
          more.has_value() && std::all_of(more->begin(), more->end(), [&labels](const auto& label) {
            const auto known = labels.find(label.first);
            return known == labels.end() || known->second == label.second;
          });
      if (fits) {
        labels.insert(more->begin(), more->end());
      } else {
        *job_.mutable_node_affinity() =
            affinity.required_during_scheduling_ignored_during_execution();
      }
    }
    for (const auto& [key, value] : labels) (*job_.mutable_node_selector())[key] = value;
    if (!spec_.node_name().empty()) PinToNode();
    for (const kube::Toleration& toleration : spec_.tolerations()) {
      if (!IsCommonToleration(toleration)) *job_.add_tolerations() = toleration;
    }
  }

  // In Kubernetes, the kubelet of that node takes the pod without a scheduler.
  void PinToNode() {
    Warn(At("nodeName"), "the scheduler of the run places the pod, on that node alone");
    kube::NodeSelector* const selector = job_.mutable_node_affinity();
    const bool any_node = selector->node_selector_terms_size() == 0;
    if (any_node) selector->add_node_selector_terms();
    for (kube::NodeSelectorTerm& term : *selector->mutable_node_selector_terms()) {
      // A term without requirements matches no node, and must not match one when extended.
      const bool empty = term.match_expressions_size() + term.match_fields_size() == 0;
      if (empty && !any_node) continue;
      kube::SelectorRequirement* const name = term.add_match_fields();
      name->set_key("metadata.name");
      name->set_operator_("In");
      name->add_values(spec_.node_name());
    }
  }

  void Priority(const ManifestClasses& classes) {
    const std::string& name = spec_.priority_class_name();
    const PriorityClasses::Class* by_class =
        name.empty() ? classes.priorities.global_default() : classes.priorities.Find(name);
    std::string policy = spec_.preemption_policy();
    if (policy.empty() && by_class != nullptr) policy = by_class->preemption_policy;
    if (policy == "Never") job_.set_never_preempts(true);
    if (name.empty()) {
      const int32_t by_default = by_class == nullptr ? 0 : by_class->value;
      return job_.set_priority(spec_.has_priority() ? spec_.priority() : by_default);
    }
    if (by_class == nullptr) {
      if (!spec_.has_priority()) {
        Warn(At("priorityClassName"),
             absl::StrCat("no PriorityClass '", name, "' is given: the priority is 0"));
      }
      return job_.set_priority(spec_.priority());
    }
    if (spec_.has_priority() && spec_.priority() != by_class->value) {
      Fail(At("priority"),
           absl::StrCat("found ", spec_.priority(), ", expected ", by_class->value,
                        ", which is what the PriorityClass '", name, "' says, or nothing"));
    }
    job_.set_priority(by_class->value);
  }

  // --- Claims ---

  void Claims() {
    std::set<std::string> used;
    for (const auto* containers : {&spec_.containers(), &spec_.init_containers()}) {
      for (const kube::Container& container : *containers) {
        for (const kube::ContainerClaim& claim : container.resources().claims()) {
          used.insert(claim.name());
        }
      }
    }
    for (int i = 0; i < spec_.resource_claims_size(); ++i) {
      const kube::PodResourceClaim& entry = spec_.resource_claims(i);
      proto::InlineClaim* claim = job_.add_claims();
      claim->set_name(entry.name());
      claim->set_claim(KubeClaimName(entry));
      claim->set_template_(KubeClaimTemplateName(entry));
      if (used.count(entry.name()) > 0) continue;
      Warn(absl::StrCat(At("resourceClaims"), "[", i, "]"),
           absl::StrCat("entry ", entry.name(),
                        " is used by no container: it is allocated but never prepared"));
    }
  }

  // --- Other rules that keep pods from nodes ---

  void PlacementRules() {
    for (const PlacementRule& rule : kPlacementRules) {
      const std::string path = rule.said(spec_);
      if (path.empty()) continue;
      if (rule.hold == PodHold::kNone) {
        NotSimulated(path);
        continue;
      }
      notes_->push_back({false, At(path), "", rule.hold});
      if (job_.pending().empty()) job_.set_pending(std::string(PodHoldName(rule.hold)));
    }
  }

  const kube::ObjectMeta& meta_;
  std::string meta_path_;
  const kube::PodSpec& spec_;
  kube::PodSpec with_defaults_;
  kube::Pod sized_;  // with_defaults_ and the status
  std::string path_;
  std::vector<ManifestNote>* notes_;
  proto::InlineJob job_;
};

// The specification after admission: with the overhead and scheduling of its RuntimeClass.
kube::PodSpec WithRuntimeClass(const kube::PodSpec& spec, const std::string& path,
                               const ManifestClasses& classes, std::vector<ManifestNote>* notes) {
  kube::PodSpec merged = spec;
  const std::string& name = spec.runtime_class_name();
  if (name.empty()) return merged;
  const std::string at = absl::StrCat(path, ".runtimeClassName");
  const auto found = classes.runtimes.find(name);
  if (found == classes.runtimes.end()) {
    if (spec.overhead().empty()) {
      notes->push_back({false, at,
                        absl::StrCat("no RuntimeClass '", name,
                                     "' is given: taken to have neither overhead nor scheduling")});
    }
    return merged;
  }
  const kube::RuntimeClass& runtime = *found->second;
  if (spec.overhead().empty()) *merged.mutable_overhead() = runtime.overhead().pod_fixed();
  const std::map<std::string, std::string> labels(runtime.scheduling().node_selector().begin(),
                                                  runtime.scheduling().node_selector().end());
  for (const auto& [key, value] : labels) {
    const auto known = spec.node_selector().find(key);
    if (known != spec.node_selector().end() && known->second != value) {
      notes->push_back({true, absl::StrCat(path, ".nodeSelector[", key, "]"),
                        absl::StrCat("found '", known->second, "', expected '", value,
                                     "', which is what the RuntimeClass '", name, "' says")});
      continue;
    }
    (*merged.mutable_node_selector())[key] = value;
  }
  for (const kube::Toleration& toleration : runtime.scheduling().tolerations()) {
    *merged.add_tolerations() = toleration;
  }
  return merged;
}

// The values of the job. Amounts and numbers that are valid in Kubernetes may be too large for jobs
// of a workload: a note says so.
InlineJob ValuesOf(proto::InlineJob job, const std::string& path,
                   std::vector<ManifestNote>* notes) {
  constexpr absl::string_view kKey = "job";
  job.set_name("pod");  // a required key, which the caller knows
  absl::StatusOr<InlineJob> values = ReadInlineJob(std::string(kKey), job);
  if (!values.ok()) {
    const absl::string_view what = values.status().message();
    notes->push_back({true, path, std::string(what.substr(kKey.size() + 1))});
    return InlineJob();
  }
  values->name.clear();
  return *std::move(values);
}

// The GPUs that annotations say.
void SetAnnotatedGpus(const kube::ObjectMeta& meta, const std::string& meta_path,
                      ResourceRequest* request, std::vector<ManifestNote>* notes) {
  std::vector<KubeProblem> problems;
  const GpuAnnotations gpus = ReadGpuAnnotations(meta, &problems);
  for (KubeProblem& problem : problems) {
    notes->push_back({false, absl::StrCat(meta_path, ".", problem.path),
                      absl::StrCat(problem.what, ": without effect")});
  }
  const bool requested = std::any_of(
      request->extended.begin(), request->extended.end(),
      [](const auto& resource) { return absl::StartsWith(resource.first, kGpuResource); });
  if (!requested) {
    request->gpu_count = gpus.count;
    request->gpu_milli = gpus.milli;
  }
  if (requested || gpus.count > 0) request->gpu_spec = gpus.models;
}

// Gives the job the shape that kube-scheduler sees. The priority is known already.
void SetFullShape(const kube::ObjectMeta& meta, const kube::PodSpec& spec,
                  const kube::PodStatus* status, InlineJob* job) {
  kube::Pod pod;
  *pod.mutable_metadata() = meta;
  *pod.mutable_spec() = spec;
  if (status != nullptr) *pod.mutable_status() = *status;
  pod.mutable_spec()->clear_priority_class_name();
  pod.mutable_spec()->set_priority(job->arrival.priority);
  if (job->shape.constraints.never_preempts) pod.mutable_spec()->set_preemption_policy("Never");
  SetPodDefaults(pod.mutable_spec());
  ApiAdmission({}).Admit(&pod);
  PodShape full = ShapeOfPod(pod);
  PodShape& shape = job->shape;
  shape.request.cpu_milli = full.request.cpu_milli;
  shape.request.memory_bytes = full.request.memory_bytes;
  shape.request.extended = std::move(full.request.extended);
  shape.scored = std::move(full.scored);
  shape.constraints = std::move(full.constraints);
  shape.topology = std::move(full.topology);
  shape.volumes = std::move(full.volumes);
  shape.identity = std::move(full.identity);
}

}  // namespace

void EndAtDeadline(int64_t seconds, JobArrival* arrival) {
  const SimDuration deadline =
      SimDuration::Seconds(std::clamp<int64_t>(seconds, 0, kLongestNs / 1'000'000'000));
  if (arrival->has_run_time && arrival->run_time <= deadline) return;
  arrival->has_run_time = true;
  arrival->run_time = deadline;
  arrival->fails = true;
}

InlineJob ManifestPodJob(const kube::ObjectMeta& meta, const std::string& meta_path,
                         const kube::PodSpec& spec, const std::string& path,
                         const ManifestClasses& classes, std::vector<ManifestNote>* notes,
                         const kube::PodStatus* status) {
  const size_t before = notes->size();
  const kube::PodSpec merged = WithRuntimeClass(spec, path, classes, notes);
  proto::InlineJob job =
      ManifestPodReader(meta, meta_path, merged, path, status, notes).Read(classes);
  const bool good = std::none_of(notes->begin() + static_cast<std::ptrdiff_t>(before), notes->end(),
                                 [](const ManifestNote& note) { return note.is_error; });
  if (!good) return InlineJob();
  const size_t notes_before = notes->size();
  InlineJob made = ValuesOf(std::move(job), path, notes);
  if (classes.full_shapes && notes->size() == notes_before) {
    if (spec.has_active_deadline_seconds()) {
      EndAtDeadline(spec.active_deadline_seconds(), &made.arrival);
    }
    SetFullShape(meta, merged, status, &made);
  }
  SetAnnotatedGpus(meta, meta_path, &made.shape.request, notes);
  return made;
}

void CheckOwnerAnnotations(const kube::ObjectMeta& meta, std::vector<ManifestNote>* notes) {
  const std::map<std::string, std::string> sorted(meta.annotations().begin(),
                                                  meta.annotations().end());
  for (const auto& [key, text] : sorted) {
    if (!absl::StartsWith(key, kManifestAnnotations)) continue;
    notes->push_back({false, absl::StrCat("metadata.annotations[", key, "]"),
                      "has no effect here, expected in spec.template.metadata"});
  }
}

}  // namespace drasim
