#include "sim/explain/cluster_verdicts.h"

#include <algorithm>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/check.h"
#include "model/kube/cluster_objects_of.h"
#include "model/kube/rules.h"
#include "model/label_selector.h"
#include "model/pod_constraints.h"
#include "model/status_macros.h"
#include "model/used_ports.h"
#include "policies/plugins/inter_pod_affinity.h"
#include "policies/plugins/pod_topology_spread.h"
#include "sim/scenario/kube_config.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

constexpr char kCordonTaint[] = "node.kubernetes.io/unschedulable";

bool IsOfClaim(const kube::Volume& volume) {
  return volume.has_persistent_volume_claim() || volume.has_ephemeral();
}

// Without the volumes whose claims the dump has nothing about.
kube::Pod WithoutClaimedVolumes(const kube::Pod& pod) {
  kube::Pod copy = pod;
  auto* volumes = copy.mutable_spec()->mutable_volumes();
  for (int i = volumes->size() - 1; i >= 0; --i) {
    if (IsOfClaim(volumes->Get(i))) volumes->DeleteSubrange(i, 1);
  }
  return copy;
}

std::string TaintText(const Taint& taint) {
  return absl::StrCat("{", taint.key, ": ", taint.value, "}");
}

// "app=web, tier NotIn [a, b]"
std::string TextOf(const LabelSelector& selector) {
  if (!selector.given) return "nothing";
  std::vector<std::string> parts;
  for (const LabelRequirement& requirement : selector.requirements) {
    const std::string values = absl::StrJoin(requirement.values, ", ");
    switch (requirement.op) {
      case SelectorOperator::kIn:
        parts.push_back(requirement.values.size() == 1
                            ? absl::StrCat(requirement.key, "=", values)
                            : absl::StrCat(requirement.key, " In [", values, "]"));
        break;
      case SelectorOperator::kNotIn:
        parts.push_back(absl::StrCat(requirement.key, " NotIn [", values, "]"));
        break;
      case SelectorOperator::kExists:
        parts.push_back(absl::StrCat(requirement.key, " Exists"));
        break;
      case SelectorOperator::kDoesNotExist:
        parts.push_back(absl::StrCat(requirement.key, " DoesNotExist"));
        break;
    }
  }
  return parts.empty() ? std::string("everything") : absl::StrJoin(parts, ", ");
}

// The requirements of nodeSelector and node affinity that the node does not meet.
std::vector<std::string> UnmetOf(const PodConstraints& constraints, const NodeSpec& node) {
  std::vector<std::string> unmet;
  for (const auto& wanted : constraints.node_selector) {
    if (UnmetLabel(absl::MakeConstSpan(&wanted, 1), node) == nullptr) continue;
    unmet.push_back(absl::StrCat(wanted.first, "=", wanted.second));
  }
  if (!constraints.requires_node_terms || MeetsNodeTerms(node, constraints.node_terms)) {
    return unmet;
  }
  std::vector<std::string> alternatives;
  for (const NodeTerm& term : constraints.node_terms) {
    NodeTerm lacking;
    for (const NodeRequirement& requirement : term.requirements) {
      if (!MeetsNodeTerm(node, NodeTerm{{requirement}})) {
        lacking.requirements.push_back(requirement);
      }
    }
    // The terms as they are where no single requirement is to blame.
    alternatives.push_back(
        NodeTermsText(absl::MakeConstSpan(lacking.requirements.empty() ? &term : &lacking, 1)));
  }
  unmet.push_back(alternatives.empty() ? std::string("an affinity without terms")
                                       : absl::StrJoin(alternatives, ", or "));
  return unmet;
}

// The lack in thousandths of the request, about.
int64_t DistanceOf(const LackedResource& lacked) {
  const int64_t unit = std::max<int64_t>(1, lacked.wanted / 1000);
  return (lacked.wanted - std::max<int64_t>(0, lacked.free)) / unit;
}

}  // namespace

// --- The world ---

absl::StatusOr<std::unique_ptr<ClusterRules>> ClusterRules::Make(const ClusterDump& dump) {
  std::unique_ptr<ClusterRules> rules(new ClusterRules(dump));
  RETURN_IF_ERROR(rules->Build());
  return rules;
}

absl::Status ClusterRules::Build() {
  KubeConfig config = DefaultKubeConfig();
  config.profiles.resize(1);
  // Filters answer all there is to ask; without scores, one node that takes the pod is enough.
  ProfileSpec& profile = config.profiles.front();
  profile.post_filter.clear();
  profile.pre_score.clear();
  profile.score.clear();
  ASSIGN_OR_RETURN(world_, KubeWorld::Make(config));

  std::set<kube::Object::ObjectCase> kinds;
  std::vector<const kube::Object*> objects;
  for (const kube::Object& object : dump_.objects()) {
    kinds.insert(object.object_case());
    if (!object.has_pod() && !object.has_node()) objects.push_back(&object);
  }
  const bool has_volumes = kinds.count(kube::Object::kPersistentVolume) > 0 ||
                           kinds.count(kube::Object::kStorageClass) > 0;
  judges_volumes_ = kinds.count(kube::Object::kPersistentVolumeClaim) > 0 && has_volumes;
  knows_volume_limits_ = kinds.count(kube::Object::kCsiNode) > 0;

  for (const DumpNode& node : dump_.nodes()) {
    const absl::Status added = world_->AddNode(*node.object);
    if (!added.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("node ", node.name(), ": ", added.message()));
    }
  }
  ClusterObjects others = ClusterObjectsOf(objects);
  std::set<std::string> missing;
  for (const DumpPod& pod : dump_.pods()) {
    const std::string ns = NamespaceOf(pod.object->metadata());
    if (!dump_.HasNamespace(ns)) missing.insert(ns);
  }
  for (const std::string& ns : missing) {
    // The label that every namespace has.
    others.namespaces.push_back({ns, {{"kubernetes.io/metadata.name", ns}}});
  }
  std::sort(others.namespaces.begin(), others.namespaces.end(),
            [](const NamespaceObject& a, const NamespaceObject& b) { return a.name < b.name; });
  world_->SetObjects(std::move(others));

  for (const DumpPod& pod : dump_.pods()) {
    if (pod.is_finished()) continue;
    const bool pending = pod.spec().node_name().empty();
    const bool strips =
        pending && !judges_volumes_ &&
        std::any_of(pod.spec().volumes().begin(), pod.spec().volumes().end(), IsOfClaim);
    ASSIGN_OR_RETURN(const PodId id,
                     world_->AddPod(strips ? WithoutClaimedVolumes(*pod.object) : *pod.object));
    DRASIM_CHECK_EQ(id.value(), pods_.size());
    pods_.push_back(&pod);
  }
  for (uint32_t i = 0; i < pods_.size(); ++i) {
    if (pods_[i]->spec().node_name().empty()) world_->NominateAsGiven(PodId(i));
  }
  return absl::OkStatus();
}

int ClusterRules::PlaceOf(const Plugin* plugin) const {
  const std::vector<Profile::FilterEntry>& filters = world_->profiles().front().filters();
  for (size_t f = 0; f < filters.size(); ++f) {
    if (static_cast<const Plugin*>(filters[f].plugin) == plugin) return static_cast<int>(f);
  }
  return DumpRejection::kLastPlace;
}

uint64_t ClusterRules::KindOf(const DumpPod& pod) const {
  const ClusterState& cluster = world_->cluster();
  const PodId id = world_->FindPod(pod.key);
  // A priority says which nominated pods go first.
  return uint64_t{cluster.pod_shape_id(id).value()} << 32 |
         static_cast<uint32_t>(cluster.pod_priority(id));
}

std::string ClusterRules::Message(const DumpPod& pod) {
  AttemptResult result = world_->Try(world_->FindPod(pod.key));
  return result.outcome == AttemptResult::Outcome::kFound ? std::string()
                                                          : std::move(result.message);
}

std::string ClusterRules::DoubtAbout(const DumpPod& pod) const {
  const ClusterState& cluster = world_->cluster();
  const PodId id = world_->FindPod(pod.key);
  const PodShape& shape = cluster.pod_shape(id);
  std::string unknown;
  const auto look = [&](const AffinityTerm& term, const PodIdentity& meant) {
    const bool asks = term.namespace_selector.given &&
                      !term.namespace_selector.requirements.empty() &&
                      !std::binary_search(term.namespaces.begin(), term.namespaces.end(), meant.ns);
    if (!unknown.empty() || !asks || dump_.HasNamespace(meant.ns)) return;
    if (Selects(term.selector, meant.labels)) unknown = meant.ns;
  };
  for (uint32_t i = 0; i < pods_.size(); ++i) {
    const PodId other(i);
    if (other == id || !cluster.pod_node(other).valid()) continue;
    const PodShape& resident = cluster.pod_shape(other);
    for (const AffinityTerm& term : resident.topology.anti_affinity) look(term, shape.identity);
    for (const AffinityTerm& term : shape.topology.affinity) look(term, resident.identity);
    for (const AffinityTerm& term : shape.topology.anti_affinity) look(term, resident.identity);
  }
  if (unknown.empty()) return "";
  return absl::StrCat("a namespaceSelector asks for labels of the namespace ", unknown,
                      ", which is not in the dump (kubectl get namespaces)");
}

// --- Verdicts ---

PodVerdicts ClusterRules::Judge(const DumpPod& pod) {
  const ClusterState& cluster = world_->cluster();
  const PodId id = world_->FindPod(pod.key);
  const PodContext context = {cluster.pod_shape_id(id), &cluster.pod_shape(id), id, SimTime()};
  PodVerdicts verdicts;
  for (const DumpNode& node : dump_.nodes()) verdicts.nodes.push_back({&node, {}});
  const PodsByDomain conflicts = ConflictsOf(context);
  const FilterSurvey survey = world_->Survey(id, [&](const NodeStatus& status) {
    Add(context, conflicts, status, &verdicts.nodes[status.node.value()].rejections);
  });
  verdicts.obstacle = survey.message;
  if (survey.rejector != nullptr) verdicts.obstacle_plugin = std::string(survey.rejector->name());
  std::vector<std::string> names;
  for (const NodeId node : survey.subset) names.push_back(world_->node_name(node));
  std::sort(names.begin(), names.end());
  for (uint32_t i = 0; i < verdicts.nodes.size(); ++i) {
    std::vector<DumpRejection>& rejections = verdicts.nodes[i].rejections;
    if (survey.has_subset &&
        !std::binary_search(survey.subset.begin(), survey.subset.end(), NodeId(i))) {
      // Such nodes are not even asked about.
      DumpRejection& rejection = rejections.emplace_back();
      rejection.plugin = std::string(survey.naming.front()->name());
      rejection.place = PlaceOf(survey.naming.front());
      rejection.reasons = {survey.subset_message};
      rejection.detail = absl::StrCat(
          "the pod may run on ", names.empty() ? "no node of the dump" : absl::StrJoin(names, ", "),
          names.empty() ? "" : " only");
      rejection.hopeless = true;
    }
    std::stable_sort(
        rejections.begin(), rejections.end(),
        [](const DumpRejection& a, const DumpRejection& b) { return a.place < b.place; });
    for (DumpRejection& rejection : rejections) {
      for (LackedResource& lacked : rejection.lacked) {
        lacked.idle = AmountsOf(*context.shape, NodeId(i), lacked.resource).free;
      }
    }
  }
  return verdicts;
}

ClusterRules::PodsByDomain ClusterRules::ConflictsOf(const PodContext& pod) const {
  const ClusterState& cluster = world_->cluster();
  PodsByDomain conflicts;
  const InterPodAffinity* plugin = nullptr;
  for (const Profile::FilterEntry& entry : world_->profiles().front().filters()) {
    if (plugin == nullptr) plugin = dynamic_cast<const InterPodAffinity*>(entry.plugin);
  }
  if (plugin == nullptr) return conflicts;
  const std::vector<AffinityTerm>& own = pod.shape->topology.anti_affinity;
  for (const InterPodAffinity::Conflict& conflict : plugin->Conflicts(pod, cluster)) {
    const std::string& key = conflict.term->topology_key;
    const NodeSpec& node = cluster.node_spec(cluster.pod_node(conflict.resident));
    const std::string* const value = LabelOf(node.labels, key);
    if (value == nullptr) continue;
    const size_t term = conflict.theirs ? kTheirs : static_cast<size_t>(conflict.term - own.data());
    std::vector<const DumpPod*>& pods = conflicts[{term, key, *value}];
    const DumpPod* const resident = pods_[conflict.resident.value()];
    if (pods.empty() || pods.back() != resident) pods.push_back(resident);
  }
  return conflicts;
}

DumpRejection ClusterRules::Plain(const NodeStatus& status) const {
  DumpRejection rejection;
  rejection.plugin = std::string(status.plugin->name());
  rejection.kind = status.plugin->reasons().front().kind;
  rejection.place = PlaceOf(status.plugin);
  rejection.reasons = status.reasons;
  return rejection;
}

void ClusterRules::Add(const PodContext& pod, const PodsByDomain& conflicts,
                       const NodeStatus& status, std::vector<DumpRejection>* rejections) const {
  const NodeSpec& node = world_->cluster().node_spec(status.node);
  const PodShape& shape = *pod.shape;
  DumpRejection rejection = Plain(status);
  switch (rejection.kind) {
    case ReasonKind::kCordoned:
      rejection.detail = "cordoned";
      rejection.remedy = "the node were uncordoned";
      break;
    case ReasonKind::kUntoleratedTaint:
      return AddTaints(shape, node, std::move(rejection), rejections);
    case ReasonKind::kNodeAffinity: {
      const std::vector<std::string> unmet = UnmetOf(shape.constraints, node);
      if (unmet.empty()) {  // the profile's own affinity, or the name of a node
        rejection.hopeless = true;
        break;
      }
      rejection.alike = absl::StrJoin(unmet, ", ");
      rejection.detail = absl::StrCat("the pod wants ", rejection.alike);
      rejection.distance = static_cast<int64_t>(unmet.size());
      rejection.remedy = absl::StrCat("the pod did not ask for ", rejection.alike);
      break;
    }
    case ReasonKind::kHostPorts:
      return AddPorts(shape, status.node, std::move(rejection), rejections);
    case ReasonKind::kCpu:  // the first of NodeResourcesFit, which stands for all amounts
      return AddFit(shape, status.node, std::move(rejection), rejections);
    case ReasonKind::kTopologySpread:
      return AddSpread(status, node, rejection, rejections);
    case ReasonKind::kPodAffinity:
      return AddAffinity(shape, status, node, conflicts, rejection, rejections);
    default:  // rules about volumes: no pod or node alone can be counted upon to change
      rejection.hopeless = true;
      break;
  }
  rejections->push_back(std::move(rejection));
}

void ClusterRules::AddTaints(const PodShape& shape, const NodeSpec& node, DumpRejection rejection,
                             std::vector<DumpRejection>* rejections) {
  const bool cordoned =
      std::any_of(rejections->begin(), rejections->end(),
                  [](const DumpRejection& other) { return other.kind == ReasonKind::kCordoned; });
  std::vector<std::string> taints;
  for (const Taint& taint : node.taints) {
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") continue;
    if (Tolerates(shape.constraints.tolerations, taint)) continue;
    // The taint that comes with a cordon goes with it.
    if (cordoned && taint.key == kCordonTaint) continue;
    taints.push_back(TaintText(taint));
    if (taints.size() > 1) continue;
    rejection.detail = absl::StrCat("effect ", taint.effect);
    rejection.alike = taint.effect;
  }
  if (taints.empty()) return;
  rejection.remedy = absl::StrCat("the pod tolerated ", absl::StrJoin(taints, " and "));
  rejections->push_back(std::move(rejection));
}

void ClusterRules::AddPorts(const PodShape& shape, NodeId node, DumpRejection rejection,
                            std::vector<DumpRejection>* rejections) const {
  const ClusterState& cluster = world_->cluster();
  std::set<std::string> taken;
  for (const PodId other : cluster.pods_on(node)) {
    bool uses = false;
    for (const HostPort& used : cluster.pod_shape(other).constraints.host_ports) {
      for (const HostPort& wanted : shape.constraints.host_ports) {
        if (!PortsConflict(used, wanted)) continue;
        taken.insert(HostPortText(wanted));
        uses = true;
      }
    }
    if (uses) rejection.in_the_way.push_back(pods_[other.value()]);
  }
  rejection.alike = absl::StrJoin(taken, ", ");
  rejection.detail = absl::StrCat(rejection.alike, taken.size() == 1 ? " is" : " are", " taken");
  rejection.distance = static_cast<int64_t>(rejection.in_the_way.size());
  rejections->push_back(std::move(rejection));
}

LackedResource ClusterRules::AmountsOf(const PodShape& shape, NodeId node,
                                       const std::string& resource) const {
  const ClusterState& cluster = world_->cluster();
  const NodeRow& row = cluster.node(node);
  const NodeSpec& spec = cluster.node_spec(node);
  if (resource == "pods") return {resource, 1, row.pods_idle, spec.pods};
  if (resource == "cpu") {
    return {resource, shape.request.cpu_milli, row.cpu_milli_idle, spec.cpu_milli};
  }
  if (resource == "memory") {
    return {resource, shape.request.memory_bytes, row.memory_bytes_idle, spec.memory_bytes};
  }
  LackedResource amounts;
  amounts.resource = resource;
  for (const auto& [name, amount] : shape.request.extended) {
    if (name == resource) amounts.wanted = amount;
  }
  const std::vector<std::string>& names = cluster.extended_names();
  const auto found = std::find(names.begin(), names.end(), resource);
  if (found != names.end()) {
    const auto column = static_cast<size_t>(found - names.begin());
    amounts.free = cluster.extended_idle(node, column);
    amounts.allocatable = cluster.extended_capacity(node, column);
  }
  return amounts;
}

void ClusterRules::AddFit(const PodShape& shape, NodeId node, DumpRejection rejection,
                          std::vector<DumpRejection>* rejections) const {
  constexpr absl::string_view kInsufficient = "Insufficient ";
  for (const std::string& reason : rejection.reasons) {
    const std::string resource = absl::StartsWith(reason, kInsufficient)
                                     ? reason.substr(kInsufficient.size())
                                     : std::string("pods");
    rejection.lacked.push_back(AmountsOf(shape, node, resource));
    const LackedResource& lacked = rejection.lacked.back();
    absl::StrAppend(&rejection.alike, static_cast<int>(lacked.kind()), " ");
    rejection.distance += DistanceOf(lacked);
    if (lacked.wanted > lacked.allocatable) rejection.hopeless = true;
  }
  rejections->push_back(std::move(rejection));
}

void ClusterRules::AddSpread(const NodeStatus& status, const NodeSpec& node,
                             const DumpRejection& rejection,
                             std::vector<DumpRejection>* rejections) {
  const auto* plugin = dynamic_cast<const PodTopologySpread*>(status.plugin);
  DRASIM_CHECK(plugin != nullptr);
  const std::vector<Reason> reasons = plugin->reasons();
  for (const PodTopologySpread::Shortfall& shortfall : plugin->ShortfallsOn(status.node)) {
    const std::string& key = shortfall.rule->topology_key;
    DumpRejection& added = rejections->emplace_back(rejection);
    added.reasons = {std::string(reasons[shortfall.lacks_key ? 1 : 0].text)};
    added.alike = key;
    if (shortfall.lacks_key) {
      added.detail = absl::StrCat("no label ", key);
      added.remedy = absl::StrCat("the node had the label ", key);
      continue;
    }
    added.detail = absl::StrCat(key, "=", *LabelOf(node.labels, key), " has ", shortfall.pods,
                                " matching pods, the fewest anywhere are ", shortfall.fewest,
                                ", maxSkew is ", shortfall.rule->max_skew);
    added.distance = shortfall.skew;
    added.remedy = absl::StrCat("the spread over ", key, " allowed it");
  }
}

void ClusterRules::AddAffinity(const PodShape& shape, const NodeStatus& status,
                               const NodeSpec& node, const PodsByDomain& conflicts,
                               const DumpRejection& rejection,
                               std::vector<DumpRejection>* rejections) {
  const auto* plugin = dynamic_cast<const InterPodAffinity*>(status.plugin);
  DRASIM_CHECK(plugin != nullptr);
  const std::vector<Reason> reasons = plugin->reasons();
  const size_t before = rejections->size();
  // The plugin stops at the first of its rules; affinity comes first.
  if (status.reasons.front() == reasons[0].text) {
    const std::vector<AffinityTerm>& terms = shape.topology.affinity;
    DumpRejection& added = rejections->emplace_back(rejection);
    added.lacks_pods = true;
    const auto unlabelled =
        std::find_if(terms.begin(), terms.end(), [&node](const AffinityTerm& term) {
          return LabelOf(node.labels, term.topology_key) == nullptr;
        });
    if (unlabelled != terms.end()) {
      added.detail = absl::StrCat("no label ", unlabelled->topology_key);
      added.remedy = "the node had the label of the topology";
    } else {
      size_t term = 0;
      while (term + 1 < terms.size() && !plugin->LacksPodsFor(term, status.node)) ++term;
      added.detail = absl::StrCat("no pod with ", TextOf(terms[term].selector), " in the same ",
                                  terms[term].topology_key);
      added.remedy = "the pods that it wants to be near ran there";
    }
    added.alike = added.detail;
  }
  const auto add_conflict = [&](size_t reason, const std::vector<const DumpPod*>& pods,
                                std::string alike, std::string detail) {
    DumpRejection& added = rejections->emplace_back(rejection);
    added.reasons = {std::string(reasons[reason].text)};
    added.alike = std::move(alike);
    added.detail = std::move(detail);
    added.distance = static_cast<int64_t>(pods.size());
    added.in_the_way = pods;
  };
  for (const auto& [domain, pods] : conflicts) {
    const std::string* const value = LabelOf(node.labels, domain.key);
    if (value == nullptr || *value != domain.value) continue;
    if (domain.term == kTheirs) {
      add_conflict(
          2, pods, domain.key,
          absl::StrCat("pods in the same ", domain.key, " do not want to be near this one"));
    } else {
      const std::string selector = TextOf(shape.topology.anti_affinity[domain.term].selector);
      add_conflict(1, pods, absl::StrCat(domain.key, " ", selector),
                   absl::StrCat("pods with ", selector, " in the same ", domain.key));
    }
  }
  if (rejections->size() > before) return;
  // A pod that is nominated to the node and not there yet.
  DumpRejection& added = rejections->emplace_back(rejection);
  added.detail = "for a pod that is nominated to the node";
  added.hopeless = true;
}

}  // namespace drasim
