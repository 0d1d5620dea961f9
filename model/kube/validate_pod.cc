#include "model/kube/validate_pod.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "model/kube/pod_claims.h"
#include "model/kube/rules.h"
#include "model/quantity.h"
#include "model/text/did_you_mean.h"
#include "model/text/proto_scalar.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

bool HasWholeAmounts(absl::string_view resource) {
  return resource != "cpu" && resource != "memory" && resource != "ephemeral-storage" &&
         resource != "storage";
}

bool IsKnownResource(absl::string_view resource) {
  return !HasWholeAmounts(resource) || absl::StrContains(resource, "/") ||
         absl::StartsWith(resource, "hugepages-") || resource == "pods";
}

// Checks a pod's specification; the parts in the order of the schema.
class KubePodChecker {
 public:
  KubePodChecker(const std::string& path, const kube::PodSpec& spec, KubeCheck* check)
      : path_(path), spec_(spec), check_(check) {}

  void Check() {
    Claims();
    Containers();
    Affinity();
    for (int i = 0; i < spec_.tolerations_size(); ++i) {
      Toleration(KubeItem(path_, "tolerations", i), spec_.tolerations(i));
    }
    Spread();
    check_->Amounts(KubeField(path_, "overhead"), spec_.overhead());
    check_->OneOf(KubeField(path_, "preemptionPolicy"), spec_.preemption_policy(),
                  "PreemptLowerPriority Never", true);
    check_->OneOf(KubeField(path_, "restartPolicy"), spec_.restart_policy(),
                  "Always OnFailure Never", true);
    check_->AtLeast(KubeField(path_, "terminationGracePeriodSeconds"),
                    spec_.termination_grace_period_seconds(), 0);
    Gates();
  }

 private:
  void Claims() {
    std::set<std::string> names;
    for (int i = 0; i < spec_.resource_claims_size(); ++i) {
      const kube::PodResourceClaim& entry = spec_.resource_claims(i);
      const std::string path = KubeItem(path_, "resourceClaims", i);
      const std::string name_path = KubeField(path, "name");
      if (entry.name().empty()) {
        check_->Fail(name_path, "not given, expected a name");
      } else {
        check_->DnsLabel(name_path, entry.name());
      }
      check_->Unique(name_path, entry.name(), &names);
      entries_.push_back(entry.name());
      Source(path, entry);
    }
  }

  void Source(const std::string& path, const kube::PodResourceClaim& entry) {
    const bool flat =
        !entry.resource_claim_name().empty() || !entry.resource_claim_template_name().empty();
    if (flat && entry.has_source()) {
      return check_->Fail(path, "found both a source and its newer form, expected one of them");
    }
    const std::string at = entry.has_source() ? KubeField(path, "source") : path;
    const bool claim = !KubeClaimName(entry).empty();
    const bool made = !KubeClaimTemplateName(entry).empty();
    if (claim && made) {
      check_->Fail(at, "found both resourceClaimName and resourceClaimTemplateName, expected one");
    } else if (!claim && !made) {
      check_->Fail(at, "found no source, expected resourceClaimName or resourceClaimTemplateName");
    } else if (claim) {
      check_->Subdomain(KubeField(at, "resourceClaimName"), KubeClaimName(entry));
    } else {
      check_->Subdomain(KubeField(at, "resourceClaimTemplateName"), KubeClaimTemplateName(entry));
    }
  }

  void Containers() {
    if (spec_.containers_size() == 0) {
      check_->Fail(KubeField(path_, "containers"), "found none, expected at least one container");
    }
    std::set<std::string> names;
    for (int i = 0; i < spec_.containers_size(); ++i) {
      Container(KubeItem(path_, "containers", i), spec_.containers(i), &names);
    }
    for (int i = 0; i < spec_.init_containers_size(); ++i) {
      Container(KubeItem(path_, "initContainers", i), spec_.init_containers(i), &names);
    }
    Resources(KubeField(path_, "resources"), spec_.resources());
  }

  void Container(const std::string& path, const kube::Container& container,
                 std::set<std::string>* names) {
    const std::string name_path = KubeField(path, "name");
    if (container.name().empty()) {
      check_->Fail(name_path, "not given, expected a name");
    } else {
      check_->DnsLabel(name_path, container.name());
    }
    check_->Unique(name_path, container.name(), names);
    Resources(KubeField(path, "resources"), container.resources());
  }

  void Resources(const std::string& path, const kube::ResourceRequirements& resources) {
    Amounts(KubeField(path, "limits"), resources.limits());
    Amounts(KubeField(path, "requests"), resources.requests());
    const std::map<std::string, std::string> requests(resources.requests().begin(),
                                                      resources.requests().end());
    for (const auto& [name, text] : requests) {
      const std::string at = absl::StrCat(KubeField(path, "requests"), "[", name, "]");
      const auto limit = resources.limits().find(name);
      const bool extended = IsExtendedResource(name) || absl::StartsWith(name, "hugepages-");
      if (limit == resources.limits().end()) {
        if (extended) check_->Fail(at, "found no limit, expected one of the same amount");
        continue;
      }
      const absl::StatusOr<Quantity> least = Quantity::Parse(text);
      const absl::StatusOr<Quantity> most = Quantity::Parse(limit->second);
      if (!least.ok() || !most.ok()) continue;
      const int order = least->Compare(*most);
      if (order > 0) {
        check_->Fail(at,
                     absl::StrCat("found ", text, ", expected at most the limit ", limit->second));
      } else if (order < 0 && extended) {
        check_->Fail(
            at, absl::StrCat("found ", text, ", expected the same as the limit ", limit->second));
      }
    }
    ContainerClaims(path, resources);
  }

  void Amounts(const std::string& path,
               const google::protobuf::Map<std::string, std::string>& amounts) {
    check_->Amounts(path, amounts);
    const std::map<std::string, std::string> sorted(amounts.begin(), amounts.end());
    for (const auto& [name, text] : sorted) {
      const std::string at = absl::StrCat(path, "[", name, "]");
      if (!IsKnownResource(name)) {
        const std::string suggestion =
            Suggest(name, {"cpu", "memory", "ephemeral-storage", "hugepages-2Mi"});
        check_->Fail(at, absl::StrCat("unknown resource, expected a name with a '/' for one that "
                                      "Kubernetes does not have itself",
                                      suggestion));
      } else if (HasWholeAmounts(name)) {
        const absl::StatusOr<Quantity> amount = Quantity::Parse(text);
        const bool whole = !amount.ok() || amount->Compare(Quantity::FromUnits(
                                               amount->Value(), amount->format())) == 0;
        if (!whole) check_->Fail(at, absl::StrCat("found ", text, ", expected a whole number"));
      }
    }
  }

  void ContainerClaims(const std::string& path, const kube::ResourceRequirements& resources) {
    std::set<std::string> seen;
    for (int i = 0; i < resources.claims_size(); ++i) {
      const kube::ContainerClaim& claim = resources.claims(i);
      const std::string name_path = KubeField(KubeItem(path, "claims", i), "name");
      if (claim.name().empty()) {
        check_->Fail(name_path, "not given, expected an entry of the pod's resourceClaims");
        continue;
      }
      if (std::find(entries_.begin(), entries_.end(), claim.name()) == entries_.end()) {
        check_->Fail(name_path, absl::StrCat("found '", Shorten(claim.name()), "', which ",
                                             KubeField(path_, "resourceClaims"), " does not list",
                                             Suggest(claim.name(), entries_)));
      }
      const std::string use =
          claim.request().empty() ? claim.name() : absl::StrCat(claim.name(), "/", claim.request());
      check_->Unique(name_path, use, &seen);
    }
  }

  void Affinity() {
    const std::string path = KubeField(path_, "affinity");
    const kube::NodeAffinity& nodes = spec_.affinity().node_affinity();
    const std::string node_path = KubeField(path, "nodeAffinity");
    const std::string required = KubeField(node_path, kRequired);
    if (nodes.has_required_during_scheduling_ignored_during_execution()) {
      const auto& selector = nodes.required_during_scheduling_ignored_during_execution();
      if (selector.node_selector_terms_size() == 0) {
        check_->Fail(required, "found no nodeSelectorTerms, expected at least one");
      }
      check_->Nodes(required, selector);
    }
    const auto& preferred = nodes.preferred_during_scheduling_ignored_during_execution();
    for (int i = 0; i < preferred.size(); ++i) {
      const std::string at = KubeItem(node_path, kPreferred, i);
      Weight(at, preferred.Get(i).weight());
      check_->NodeTerm(KubeField(at, "preference"), preferred.Get(i).preference());
    }
    PodAffinity(KubeField(path, "podAffinity"), spec_.affinity().pod_affinity());
    PodAffinity(KubeField(path, "podAntiAffinity"), spec_.affinity().pod_anti_affinity());
  }

  void PodAffinity(const std::string& path, const kube::PodAffinity& affinity) {
    const auto& required = affinity.required_during_scheduling_ignored_during_execution();
    for (int i = 0; i < required.size(); ++i) {
      PodTerm(KubeItem(path, kRequired, i), required.Get(i));
    }
    const auto& preferred = affinity.preferred_during_scheduling_ignored_during_execution();
    for (int i = 0; i < preferred.size(); ++i) {
      const std::string at = KubeItem(path, kPreferred, i);
      Weight(at, preferred.Get(i).weight());
      PodTerm(KubeField(at, "podAffinityTerm"), preferred.Get(i).pod_affinity_term());
    }
  }

  void Weight(const std::string& path, int32_t weight) {
    if (weight >= 1 && weight <= 100) return;
    check_->Fail(KubeField(path, "weight"), absl::StrCat("found ", weight, ", expected 1 to 100"));
  }

  void PodTerm(const std::string& path, const kube::PodAffinityTerm& term) {
    check_->Required(KubeField(path, "topologyKey"), term.topology_key());
    check_->Selector(KubeField(path, "labelSelector"), term.label_selector());
    check_->Selector(KubeField(path, "namespaceSelector"), term.namespace_selector());
  }

  void Toleration(const std::string& path, const kube::Toleration& toleration) {
    const std::string& op = toleration.operator_();
    check_->OneOf(KubeField(path, "operator"), op, "Equal Exists", true);
    check_->OneOf(KubeField(path, "effect"), toleration.effect(),
                  "NoSchedule PreferNoSchedule NoExecute", true);
    if (toleration.key().empty() && op != "Exists") {
      check_->Fail(KubeField(path, "operator"), "expected Exists where no key is given");
    }
    if (op == "Exists" && !toleration.value().empty()) {
      check_->Fail(KubeField(path, "value"), "found a value, expected none for Exists");
    }
    if (toleration.has_toleration_seconds() && toleration.effect() != "NoExecute") {
      check_->Fail(KubeField(path, "tolerationSeconds"),
                   "has a meaning for the effect NoExecute only");
    }
  }

  void Spread() {
    std::set<std::string> seen;
    for (int i = 0; i < spec_.topology_spread_constraints_size(); ++i) {
      const kube::TopologySpreadConstraint& spread = spec_.topology_spread_constraints(i);
      const std::string path = KubeItem(path_, "topologySpreadConstraints", i);
      check_->AtLeast(KubeField(path, "maxSkew"), spread.max_skew(), 1);
      check_->Required(KubeField(path, "topologyKey"), spread.topology_key());
      check_->OneOf(KubeField(path, "whenUnsatisfiable"), spread.when_unsatisfiable(),
                    "DoNotSchedule ScheduleAnyway", false);
      check_->Unique(KubeField(path, "topologyKey"),
                     absl::StrCat(spread.topology_key(), " ", spread.when_unsatisfiable()), &seen);
      check_->Selector(KubeField(path, "labelSelector"), spread.label_selector());
      if (spread.has_min_domains()) {
        const std::string domains = KubeField(path, "minDomains");
        check_->AtLeast(domains, spread.min_domains(), 1);
        if (spread.when_unsatisfiable() == "ScheduleAnyway") {
          check_->Fail(domains, "has a meaning with DoNotSchedule only");
        }
      }
      check_->OneOf(KubeField(path, "nodeAffinityPolicy"), spread.node_affinity_policy(),
                    "Honor Ignore", true);
      check_->OneOf(KubeField(path, "nodeTaintsPolicy"), spread.node_taints_policy(),
                    "Honor Ignore", true);
    }
  }

  void Gates() {
    std::set<std::string> seen;
    for (int i = 0; i < spec_.scheduling_gates_size(); ++i) {
      const std::string path = KubeField(KubeItem(path_, "schedulingGates", i), "name");
      check_->Required(path, spec_.scheduling_gates(i).name());
      check_->Unique(path, spec_.scheduling_gates(i).name(), &seen);
    }
    if (!spec_.node_name().empty() && spec_.scheduling_gates_size() > 0) {
      check_->Fail(KubeField(path_, "nodeName"), "given for a pod with schedulingGates");
    }
  }

  static constexpr char kRequired[] = "requiredDuringSchedulingIgnoredDuringExecution";
  static constexpr char kPreferred[] = "preferredDuringSchedulingIgnoredDuringExecution";

  std::string path_;
  const kube::PodSpec& spec_;
  KubeCheck* check_;
  std::vector<std::string> entries_;  // names in resourceClaims
};

void CheckPodStatus(const kube::Pod& pod, KubeCheck* check) {
  const kube::PodStatus& status = pod.status();
  check->OneOf("status.phase", status.phase(), "Pending Running Succeeded Failed Unknown", true);
  for (int i = 0; i < status.conditions_size(); ++i) {
    check->OneOf(KubeField(KubeItem("status", "conditions", i), "status"),
                 status.conditions(i).status(), "True False Unknown", false);
  }
  std::set<std::string> seen;
  for (int i = 0; i < status.resource_claim_statuses_size(); ++i) {
    const std::string& name = status.resource_claim_statuses(i).name();
    const std::string path = KubeField(KubeItem("status", "resourceClaimStatuses", i), "name");
    const auto& entries = pod.spec().resource_claims();
    const bool listed =
        std::any_of(entries.begin(), entries.end(),
                    [&name](const kube::PodResourceClaim& entry) { return entry.name() == name; });
    if (!listed) {
      check->Fail(path, absl::StrCat("found '", Shorten(name),
                                     "', which spec.resourceClaims does not list"));
    }
    check->Unique(path, name, &seen);
  }
}

}  // namespace

void CheckKubePodSpec(const std::string& path, const kube::PodSpec& spec, KubeCheck* check) {
  KubePodChecker(path, spec, check).Check();
}

std::vector<KubeProblem> ValidateKubePod(const kube::Pod& pod) {
  std::vector<KubeProblem> problems;
  KubeCheck check(&problems);
  check.Metadata(pod.metadata(), true);
  CheckKubePodSpec("spec", pod.spec(), &check);
  CheckPodStatus(pod, &check);
  return problems;
}

}  // namespace drasim
