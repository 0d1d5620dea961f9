#include "sim/explain/cluster_filters.h"

#include <google/protobuf/repeated_field.h>

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "model/used_ports.h"
#include "absl/strings/str_join.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

using AffinityTerms = google::protobuf::RepeatedPtrField<kube::PodAffinityTerm>;

const AffinityTerms& AffinityTermsOf(const DumpPod& pod) {
  return pod.spec().affinity().pod_affinity().required_during_scheduling_ignored_during_execution();
}

const AffinityTerms& AntiAffinityTermsOf(const DumpPod& pod) {
  return pod.spec()
      .affinity()
      .pod_anti_affinity()
      .required_during_scheduling_ignored_during_execution();
}

// Null when the node does not have the label.
const std::string* LabelOf(const DumpNode& node, const std::string& key) {
  const auto found = node.labels().find(key);
  return found == node.labels().end() ? nullptr : &found->second;
}

DumpRejection RejectedBy(KubeFilter filter, std::string reason) {
  DumpRejection rejection;
  rejection.filter = filter;
  rejection.reasons.push_back(std::move(reason));
  return rejection;
}

std::string TaintText(const kube::Taint& taint) {
  return absl::StrCat("{", taint.key(), ": ", taint.value(), "}");
}

// In thousandths of what is wanted, about.
int64_t DistanceOf(const LackedResource& lacked) {
  const int64_t unit = std::max<int64_t>(1, lacked.wanted / 1000);
  return (lacked.wanted - std::max<int64_t>(0, lacked.free)) / unit;
}

std::string SelectorOfTerm(const kube::PodAffinityTerm& term) {
  return term.has_label_selector() ? SelectorText(term.label_selector()) : std::string("nothing");
}

}  // namespace

DumpFilters::DumpFilters(const ClusterDump& dump, const DumpPod& pod) : dump_(dump), pod_(pod) {
  ports_ = HostPortsOf(pod.spec());
  PrepareNames();
  PrepareSpread();
  PrepareAffinity();
}

void DumpFilters::PrepareNames() {
  const std::vector<std::string> names = NamedNodes(pod_.spec(), &named_only_);
  names_.insert(names.begin(), names.end());
  if (named_only_ && names_.empty()) pre_filter_rejection_ = "pod affinity terms conflict";
}

void DumpFilters::PrepareSpread() {
  for (const kube::TopologySpreadConstraint& constraint :
       pod_.spec().topology_spread_constraints()) {
    if (constraint.when_unsatisfiable() == "ScheduleAnyway") continue;
    Spread spread;
    spread.constraint = &constraint;
    spread.selector = constraint.label_selector();
    for (const std::string& key : constraint.match_label_keys()) {
      const auto label = pod_.labels().find(key);
      if (label != pod_.labels().end()) {
        (*spread.selector.mutable_match_labels())[key] = label->second;
      }
    }
    spread.matches_self =
        constraint.has_label_selector() && SelectsLabels(spread.selector, pod_.labels());
    spreads_.push_back(std::move(spread));
  }
  if (spreads_.empty()) return;
  for (const DumpNode& node : dump_.nodes()) {
    const bool has_keys =
        std::all_of(spreads_.begin(), spreads_.end(), [&node](const Spread& spread) {
          return LabelOf(node, spread.constraint->topology_key()) != nullptr;
        });
    if (has_keys) CountForSpread(node);
  }
  for (Spread& spread : spreads_) {
    const int64_t least =
        spread.constraint->has_min_domains() ? spread.constraint->min_domains() : 1;
    if (static_cast<int64_t>(spread.counts.size()) < least) continue;
    const auto fewest =
        std::min_element(spread.counts.begin(), spread.counts.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (fewest != spread.counts.end()) spread.fewest = fewest->second;
  }
}

void DumpFilters::CountForSpread(const DumpNode& node) {
  const bool meets_affinity = MeetsNodeAffinity(pod_.spec(), *node.object, nullptr);
  const bool tolerated = UntoleratedTaints(pod_.spec(), *node.object).empty();
  for (Spread& spread : spreads_) {
    const kube::TopologySpreadConstraint& constraint = *spread.constraint;
    if (constraint.node_affinity_policy() != "Ignore" && !meets_affinity) continue;
    if (constraint.node_taints_policy() == "Honor" && !tolerated) continue;
    int64_t& count = spread.counts[*LabelOf(node, constraint.topology_key())];
    // An empty selector counts nobody, although it matches everybody.
    const bool counts =
        constraint.has_label_selector() &&
        (!spread.selector.match_labels().empty() || !spread.selector.match_expressions().empty());
    for (const DumpPod* other : node.pods) {
      if (!counts || other->is_deleting()) continue;
      if (NamespaceOf(other->object->metadata()) != NamespaceOf(pod_.object->metadata())) continue;
      if (SelectsLabels(spread.selector, other->labels())) ++count;
    }
  }
}

bool DumpFilters::TermMatches(const kube::PodAffinityTerm& term, const DumpPod& owner,
                              const DumpPod& other) {
  if (!term.has_label_selector() || !SelectsLabels(term.label_selector(), other.labels())) {
    return false;
  }
  const std::string ns = NamespaceOf(other.object->metadata());
  const auto& listed = term.namespaces();
  if (std::find(listed.begin(), listed.end(), ns) != listed.end()) return true;
  if (!term.has_namespace_selector()) {
    return listed.empty() && ns == NamespaceOf(owner.object->metadata());
  }
  const kube::LabelSelector& selector = term.namespace_selector();
  const bool needs_labels =
      !selector.match_labels().empty() || !selector.match_expressions().empty();
  if (needs_labels && !dump_.HasNamespace(ns) && doubt_.empty()) {
    doubt_ = absl::StrCat("a namespaceSelector asks for labels of the namespace ", ns,
                          ", which is not in the dump (kubectl get namespaces)");
  }
  return SelectsLabels(selector, dump_.NamespaceLabels(ns));
}

void DumpFilters::PrepareAffinity() {
  const AffinityTerms& near = AffinityTermsOf(pod_);
  const AffinityTerms& far = AntiAffinityTermsOf(pod_);
  const auto matches_all_near = [&](const DumpPod& other) {
    return !near.empty() && std::all_of(near.begin(), near.end(), [&](const auto& term) {
      return TermMatches(term, pod_, other);
    });
  };
  const auto note = [](const DumpNode& node, const std::string& key, const DumpPod* other,
                       PodsByDomain* pods) {
    const std::string* value = LabelOf(node, key);
    if (value != nullptr) (*pods)[{key, *value}].push_back(other);
  };
  matches_own_affinity_ = matches_all_near(pod_);
  for (const DumpNode& node : dump_.nodes()) {
    for (const DumpPod* other : node.pods) {
      if (other == &pod_) continue;
      for (const kube::PodAffinityTerm& term : AntiAffinityTermsOf(*other)) {
        if (TermMatches(term, *other, pod_)) note(node, term.topology_key(), other, &unwilling_);
      }
      if (matches_all_near(*other)) {
        for (const kube::PodAffinityTerm& term : near) {
          note(node, term.topology_key(), other, &wanted_near_);
        }
      }
      for (const kube::PodAffinityTerm& term : far) {
        if (TermMatches(term, pod_, *other)) {
          note(node, term.topology_key(), other, &unwanted_near_);
        }
      }
    }
  }
}

std::vector<const DumpPod*> DumpFilters::NominatedOn(const DumpNode& node) const {
  std::vector<const DumpPod*> pods;
  for (const DumpPod* other : node.nominated) {
    if (other != &pod_ && other->priority() >= pod_.priority()) pods.push_back(other);
  }
  return pods;
}

std::vector<DumpRejection> DumpFilters::Check(const DumpNode& node) const {
  std::vector<DumpRejection> rejections;
  if (named_only_ && names_.count(node.name()) == 0) {
    // Such nodes are not even asked about.
    DumpRejection rejection =
        RejectedBy(KubeFilter::kNodeAffinity, "node(s) didn't satisfy plugin(s) [NodeAffinity]");
    rejection.detail = absl::StrCat("the pod may run on ", absl::StrJoin(names_, ", "), " only");
    rejection.hopeless = true;
    return {rejection};
  }
  CheckNode(node, &rejections);
  CheckPorts(node, &rejections);
  CheckFit(node, &rejections);
  CheckSpread(node, &rejections);
  CheckAffinity(node, &rejections);
  CheckAntiAffinity(node, &rejections);
  return rejections;
}

void DumpFilters::CheckNode(const DumpNode& node, std::vector<DumpRejection>* rejections) const {
  kube::Taint cordon;
  cordon.set_key("node.kubernetes.io/unschedulable");
  cordon.set_effect("NoSchedule");
  const bool cordoned = node.object->spec().unschedulable() && !ToleratesTaint(pod_.spec(), cordon);
  if (cordoned) {
    DumpRejection rejection =
        RejectedBy(KubeFilter::kNodeUnschedulable, "node(s) were unschedulable");
    rejection.detail = "cordoned";
    rejection.remedy = "the node were uncordoned";
    rejections->push_back(std::move(rejection));
  }
  std::vector<std::string> taints;
  for (const kube::Taint* taint : UntoleratedTaints(pod_.spec(), *node.object)) {
    // The taint that comes with a cordon goes with it.
    if (cordoned && taint->key() == cordon.key()) continue;
    taints.push_back(TaintText(*taint));
    if (taints.size() > 1) continue;
    rejections->push_back(RejectedBy(KubeFilter::kTaintToleration,
                                     absl::StrCat("node(s) had untolerated taint ", taints[0])));
    rejections->back().detail = absl::StrCat("effect ", taint->effect());
    rejections->back().alike = taint->effect();
  }
  if (!taints.empty()) {
    rejections->back().remedy = absl::StrCat("the pod tolerated ", absl::StrJoin(taints, " and "));
  }
  std::vector<std::string> unmet;
  if (!MeetsNodeAffinity(pod_.spec(), *node.object, &unmet)) {
    DumpRejection rejection =
        RejectedBy(KubeFilter::kNodeAffinity, "node(s) didn't match Pod's node affinity/selector");
    rejection.alike = absl::StrJoin(unmet, ", ");
    rejection.detail = absl::StrCat("the pod wants ", rejection.alike);
    rejection.distance = static_cast<int64_t>(unmet.size());
    rejection.remedy = absl::StrCat("the pod did not ask for ", rejection.alike);
    rejections->push_back(std::move(rejection));
  }
}

void DumpFilters::CheckPorts(const DumpNode& node, std::vector<DumpRejection>* rejections) const {
  if (ports_.empty()) return;
  std::set<std::string> taken;
  std::vector<const DumpPod*> users;
  std::vector<const DumpPod*> others = node.pods;
  const std::vector<const DumpPod*> nominated = NominatedOn(node);
  others.insert(others.end(), nominated.begin(), nominated.end());
  for (const DumpPod* other : others) {
    bool uses = false;
    for (const KubeHostPort& used : HostPortsOf(other->spec())) {
      for (const KubeHostPort& wanted : ports_) {
        if (!PortsConflict(used, wanted)) continue;
        taken.insert(HostPortText(wanted));
        uses = true;
      }
    }
    if (uses) users.push_back(other);
  }
  if (taken.empty()) return;
  DumpRejection rejection = RejectedBy(
      KubeFilter::kNodePorts, "node(s) didn't have free ports for the requested pod ports");
  rejection.alike = absl::StrJoin(taken, ", ");
  rejection.detail = absl::StrCat(rejection.alike, taken.size() == 1 ? " is" : " are", " taken");
  rejection.distance = static_cast<int64_t>(users.size());
  rejection.in_the_way = std::move(users);
  rejections->push_back(std::move(rejection));
}

void DumpFilters::CheckFit(const DumpNode& node, std::vector<DumpRejection>* rejections) const {
  KubeAmounts requested = node.requested;
  for (const DumpPod* other : NominatedOn(node)) {
    AddAmounts(other->request, &requested);
    AddAmounts({{"pods", 1}}, &requested);
  }
  DumpRejection rejection;
  rejection.filter = KubeFilter::kNodeResourcesFit;
  const auto check = [&](const std::string& resource, int64_t wanted) {
    const int64_t free = AmountOf(node.allocatable, resource) - AmountOf(requested, resource);
    if (wanted <= 0 || wanted <= free) return;
    rejection.reasons.push_back(resource == "pods" ? std::string("Too many pods")
                                                   : absl::StrCat("Insufficient ", resource));
    rejection.lacked.push_back({resource, wanted, free, AmountOf(node.allocatable, resource)});
    const LackedResource& lacked = rejection.lacked.back();
    absl::StrAppend(&rejection.alike, static_cast<int>(lacked.kind()), " ");
    rejection.distance += DistanceOf(lacked);
    if (lacked.wanted > lacked.allocatable) rejection.hopeless = true;
  };
  check("pods", 1);
  static constexpr const char* kFirst[] = {"cpu", "memory", "ephemeral-storage"};
  for (const char* resource : kFirst) check(resource, AmountOf(pod_.request, resource));
  for (const auto& [resource, wanted] : pod_.request) {
    if (std::find(std::begin(kFirst), std::end(kFirst), resource) == std::end(kFirst)) {
      check(resource, wanted);
    }
  }
  if (!rejection.lacked.empty()) rejections->push_back(std::move(rejection));
}

void DumpFilters::CheckSpread(const DumpNode& node, std::vector<DumpRejection>* rejections) const {
  for (const Spread& spread : spreads_) {
    const std::string& key = spread.constraint->topology_key();
    const std::string* value = LabelOf(node, key);
    if (value == nullptr) {
      DumpRejection rejection = RejectedBy(KubeFilter::kPodTopologySpread,
                                           "node(s) didn't match pod topology spread constraints "
                                           "(missing required label)");
      rejection.alike = key;
      rejection.detail = absl::StrCat("no label ", key);
      rejection.remedy = absl::StrCat("the node had the label ", key);
      rejections->push_back(std::move(rejection));
      continue;
    }
    const auto found = spread.counts.find(*value);
    const int64_t count = found == spread.counts.end() ? 0 : found->second;
    const int64_t skew = count + (spread.matches_self ? 1 : 0) - spread.fewest;
    if (skew <= spread.constraint->max_skew()) continue;
    DumpRejection rejection = RejectedBy(KubeFilter::kPodTopologySpread,
                                         "node(s) didn't match pod topology spread constraints");
    rejection.alike = key;
    rejection.detail =
        absl::StrCat(key, "=", *value, " has ", count, " matching pods, the fewest anywhere are ",
                     spread.fewest, ", maxSkew is ", spread.constraint->max_skew());
    rejection.distance = skew;
    rejection.remedy = absl::StrCat("the spread over ", key, " allowed it");
    rejections->push_back(std::move(rejection));
  }
}

void DumpFilters::CheckAffinity(const DumpNode& node,
                                std::vector<DumpRejection>* rejections) const {
  bool all_there = true;
  std::string lacking;
  std::string without_key;
  for (const kube::PodAffinityTerm& term : AffinityTermsOf(pod_)) {
    const std::string* value = LabelOf(node, term.topology_key());
    if (value == nullptr) {
      without_key = absl::StrCat("no label ", term.topology_key());
      break;
    }
    if (wanted_near_.count({term.topology_key(), *value}) > 0) continue;
    if (all_there) {
      lacking =
          absl::StrCat("no pod with ", SelectorOfTerm(term), " in the same ", term.topology_key());
    }
    all_there = false;
  }
  const bool first_of_group = wanted_near_.empty() && matches_own_affinity_;
  if (without_key.empty() && (all_there || first_of_group)) return;
  DumpRejection rejection =
      RejectedBy(KubeFilter::kInterPodAffinity, "node(s) didn't match pod affinity rules");
  rejection.detail = without_key.empty() ? lacking : without_key;
  rejection.lacks_pods = true;
  rejection.alike = rejection.detail;
  rejection.remedy = without_key.empty() ? "the pods that it wants to be near ran there"
                                         : "the node had the label of the topology";
  rejections->push_back(std::move(rejection));
}

void DumpFilters::CheckAntiAffinity(const DumpNode& node,
                                    std::vector<DumpRejection>* rejections) const {
  for (const kube::PodAffinityTerm& term : AntiAffinityTermsOf(pod_)) {
    const std::string* value = LabelOf(node, term.topology_key());
    const auto found = value == nullptr ? unwanted_near_.end()
                                        : unwanted_near_.find({term.topology_key(), *value});
    if (found == unwanted_near_.end()) continue;
    DumpRejection rejection =
        RejectedBy(KubeFilter::kInterPodAffinity, "node(s) didn't match pod anti-affinity rules");
    rejection.alike = absl::StrCat(term.topology_key(), " ", SelectorOfTerm(term));
    rejection.detail =
        absl::StrCat("pods with ", SelectorOfTerm(term), " in the same ", term.topology_key());
    rejection.distance = static_cast<int64_t>(found->second.size());
    rejection.in_the_way = found->second;
    rejections->push_back(std::move(rejection));
  }
  for (const auto& [domain, pods] : unwilling_) {
    const std::string* value = LabelOf(node, domain.first);
    if (value == nullptr || *value != domain.second) continue;
    DumpRejection rejection = RejectedBy(
        KubeFilter::kInterPodAffinity, "node(s) didn't satisfy existing pods anti-affinity rules");
    rejection.alike = domain.first;
    rejection.detail =
        absl::StrCat("pods in the same ", domain.first, " do not want to be near this one");
    rejection.distance = static_cast<int64_t>(pods.size());
    rejection.in_the_way = pods;
    rejections->push_back(std::move(rejection));
  }
}

}  // namespace drasim
