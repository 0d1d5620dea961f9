#include "policies/plugins/inter_pod_affinity.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "policies/framework/registry.h"

namespace drasim {

namespace {

constexpr ReasonIndex kAffinity = 1;
constexpr ReasonIndex kAntiAffinity = 2;
constexpr ReasonIndex kExistingAntiAffinity = 3;

// Whether the term means pods of that namespace, which has those labels.
bool NamesNamespace(const AffinityTerm& term, const std::string& ns, const Labels& labels) {
  return std::binary_search(term.namespaces.begin(), term.namespaces.end(), ns) ||
         Selects(term.namespace_selector, labels);
}

// Matches by the term alone: its namespace selector sees no labels.
bool MatchesUnresolved(const AffinityTerm& term, const PodIdentity& pod) {
  return !pod.ns.empty() && NamesNamespace(term, pod.ns, {}) && Selects(term.selector, pod.labels);
}

bool MatchesAllUnresolved(const std::vector<AffinityTerm>& terms, const PodShape& pod) {
  return !terms.empty() && std::all_of(terms.begin(), terms.end(), [&](const AffinityTerm& term) {
    return MatchesUnresolved(term, pod.identity);
  });
}

// A selector whose answer depends on a namespace's labels.
bool ReadsNamespace(const AffinityTerm& term) {
  return term.namespace_selector.given && !term.namespace_selector.selects_all();
}

const std::string& ErrorOf(const AffinityTerm& term) {
  return term.selector.error.empty() ? term.namespace_selector.error : term.selector.error;
}
const std::string& ErrorOf(const WeightedAffinityTerm& weighted) { return ErrorOf(weighted.term); }

template <typename Terms>
void AddError(absl::string_view kind, const Terms& terms, std::vector<std::string>* errors) {
  for (const auto& term : terms) {
    if (ErrorOf(term).empty()) continue;
    errors->push_back(absl::StrCat(kind, ": ", ErrorOf(term)));
    return;
  }
}

// The first error of each kind of term, as kube-scheduler joins them.
std::string ErrorsOf(const PodTopology& topology) {
  std::vector<std::string> errors;
  AddError("requiredAffinityTerms", topology.affinity, &errors);
  AddError("requiredAntiAffinityTerms", topology.anti_affinity, &errors);
  AddError("preferredAffinityTerms", topology.preferred_affinity, &errors);
  AddError("preferredAntiAffinityTerms", topology.preferred_anti_affinity, &errors);
  if (errors.size() <= 1) return errors.empty() ? "" : errors.front();
  return absl::StrCat("[", absl::StrJoin(errors, ", "), "]");
}

bool HasPods(const DomainCounts* counts) { return counts->total() > 0; }

}  // namespace

std::vector<Reason> InterPodAffinity::reasons() const {
  return {{ReasonKind::kPodAffinity, "node(s) didn't match pod affinity rules"},
          {ReasonKind::kPodAffinity, "node(s) didn't match pod anti-affinity rules"},
          {ReasonKind::kPodAffinity, "node(s) didn't satisfy existing pods anti-affinity rules"}};
}

// --- Plans ---

// Pods that match all of the terms of an incoming pod.
PodCountRule InterPodAffinity::RuleOf(const std::vector<AffinityTerm>& terms) const {
  PodCountRule rule;
  rule.any_namespace = true;
  for (const AffinityTerm& term : terms) {
    rule.selectors.push_back(term.selector);
    if (term.namespace_selector.selects_all() ||
        (rule_ == NamespaceRule::kEmptyLabelsToo && Selects(term.namespace_selector, {}))) {
      continue;
    }
    std::vector<std::string> names = term.namespaces;
    for (const NamespaceObject& ns : namespaces_) {
      if (Selects(term.namespace_selector, ns.labels)) names.push_back(ns.name);
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    if (rule.any_namespace) {
      rule.namespaces = std::move(names);
    } else {
      std::vector<std::string> both;
      std::set_intersection(names.begin(), names.end(), rule.namespaces.begin(),
                            rule.namespaces.end(), std::back_inserter(both));
      rule.namespaces = std::move(both);
    }
    rule.any_namespace = false;
  }
  return rule;
}

void InterPodAffinity::Build(const PodShape& shape, const ClusterState& cluster, Plan* plan) const {
  const PodTopology& topology = shape.topology;
  plan->namespaces_version = namespaces_version_;
  plan->error = ErrorsOf(topology);
  if (!topology.has_affinity() || !plan->error.empty()) return;
  const auto count = [&](const PodCountRule& rule, const AffinityTerm& term) {
    plan->of_namespaces |= ReadsNamespace(term);
    return &cluster.pod_counts().domains(
        cluster.CountDomains(cluster.CountPods(rule), term.topology_key, {}));
  };
  if (!topology.affinity.empty()) {
    const PodCountRule rule = RuleOf(topology.affinity);
    plan->first_of_group = Counts(rule, shape.identity);
    for (const AffinityTerm& term : topology.affinity) {
      plan->affinity.push_back(count(rule, term));
    }
  }
  for (const AffinityTerm& term : topology.anti_affinity) {
    plan->anti_affinity.push_back(count(RuleOf({term}), term));
  }
  for (const auto& [weight, term] : topology.preferred_affinity) {
    plan->preferred.push_back({count(RuleOf({term}), term), weight});
  }
  for (const auto& [weight, term] : topology.preferred_anti_affinity) {
    plan->preferred.push_back({count(RuleOf({term}), term), -int64_t{weight}});
  }
}

bool InterPodAffinity::Means(const AffinityTerm& term, const PodIdentity& pod) const {
  if (pod.ns.empty() || !Selects(term.selector, pod.labels)) return false;
  const auto ns = std::lower_bound(
      namespaces_.begin(), namespaces_.end(), pod.ns,
      [](const NamespaceObject& object, const std::string& name) { return object.name < name; });
  const bool known = ns != namespaces_.end() && ns->name == pod.ns;
  return NamesNamespace(term, pod.ns, known ? ns->labels : Labels());
}

void InterPodAffinity::Consider(const CarriedTerm& carried, const PodShape& shape,
                                const ClusterState& cluster, Plan* plan) const {
  const AffinityTerm& term = carried.term;
  const PodIdentity& pod = shape.identity;
  if (pod.ns.empty() || !Selects(term.selector, pod.labels)) return;
  plan->of_namespaces |= ReadsNamespace(term);
  if (!Means(term, pod)) return;
  const DomainCounts* const counts = &cluster.pod_counts().domains(carried.domains);
  switch (carried.kind) {
    case CarriedTerm::Kind::kAffinity:
      if (args_.hard_pod_affinity_weight > 0) {
        plan->attracted.push_back({counts, args_.hard_pod_affinity_weight});
      }
      break;
    case CarriedTerm::Kind::kAntiAffinity:
      plan->against.push_back(counts);
      break;
    case CarriedTerm::Kind::kPreferred:
      plan->attracted.push_back({counts, carried.weight});
      break;
    case CarriedTerm::Kind::kPreferredAnti:
      plan->attracted.push_back({counts, -int64_t{carried.weight}});
      break;
  }
}

const InterPodAffinity::Plan& InterPodAffinity::PlanOf(const PodContext& pod,
                                                       const ClusterState& cluster) const {
  // No term selects a pod of a trace.
  static const auto& kNothing = *new Plan;
  if (pod.shape->identity.ns.empty() && !pod.shape->topology.has_affinity()) return kNothing;
  if (cluster_ != &cluster) {
    cluster_ = &cluster;
    plans_.clear();
    namespaces_ = cluster.objects().namespaces;
    objects_version_ = cluster.objects_version();
    ++namespaces_version_;
  } else if (objects_version_ != cluster.objects_version()) {
    objects_version_ = cluster.objects_version();
    if (namespaces_ != cluster.objects().namespaces) {
      namespaces_ = cluster.objects().namespaces;
      ++namespaces_version_;
    }
  }
  const size_t shape = pod.shape_id.value();
  if (shape >= plans_.size()) plans_.resize(shape + 1);
  std::unique_ptr<Plan>& slot = plans_[shape];
  if (slot == nullptr) {
    slot = std::make_unique<Plan>();
    Build(*pod.shape, cluster, slot.get());
  } else if (slot->of_namespaces && slot->namespaces_version != namespaces_version_) {
    *slot = Plan();
    Build(*pod.shape, cluster, slot.get());
  }
  const absl::Span<const CarriedTerm> carried = cluster.CarriedTerms();
  for (; slot->carried < carried.size(); ++slot->carried) {
    Consider(carried[slot->carried], *pod.shape, cluster, slot.get());
  }
  return *slot;
}

// --- Filter ---

StepResult InterPodAffinity::PreFilter(const PodContext& pod, const ClusterState& cluster) {
  plan_ = &PlanOf(pod, cluster);
  StepResult result;
  if (!plan_->error.empty()) {
    result.code = StepCode::kUnresolvable;
    result.message = absl::StrCat("parsing pod: ", plan_->error);
  } else if (plan_->affinity.empty() && plan_->anti_affinity.empty() &&
             std::none_of(plan_->against.begin(), plan_->against.end(), HasPods)) {
    result.code = StepCode::kSkip;
  }
  return result;
}

bool InterPodAffinity::ListLimits(std::vector<DomainLimit>* limits) const {
  if (!plan_->affinity.empty()) return false;
  for (const std::vector<const DomainCounts*>* const all :
       {&plan_->anti_affinity, &plan_->against}) {
    for (const DomainCounts* const counts : *all) {
      if (HasPods(counts)) limits->push_back({counts, /*most=*/0, /*needs_domain=*/false});
    }
  }
  return true;
}

void InterPodAffinity::Filter(const PodContext&, const ClusterState&,
                              absl::Span<const NodeId> nodes,
                              absl::Span<ReasonIndex> verdicts) const {
  const Plan& plan = *plan_;
  if (!plan.affinity.empty()) {
    const bool first =
        plan.first_of_group && std::none_of(plan.affinity.begin(), plan.affinity.end(), HasPods);
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (verdicts[i] != kFits) continue;
      bool has_keys = true;
      bool has_pods = true;
      for (const DomainCounts* const counts : plan.affinity) {
        const uint32_t domain = counts->domain_of(nodes[i]);
        has_keys &= domain != 0;
        has_pods &= counts->sums()[domain] > 0;
      }
      if (!has_keys || (!has_pods && !first)) verdicts[i] = kAffinity;
    }
  }
  const auto reject = [&](const DomainCounts& counts, ReasonIndex reason) {
    if (!HasPods(&counts)) return;
    const absl::Span<const uint32_t> domain_of = counts.topology().by_node();
    const absl::Span<const int32_t> sums = counts.sums();
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (verdicts[i] != kFits) continue;
      const uint32_t domain = domain_of[nodes[i].value()];
      if (domain != 0 && sums[domain] > 0) verdicts[i] = reason;
    }
  };
  for (const DomainCounts* const counts : plan.anti_affinity) reject(*counts, kAntiAffinity);
  for (const DomainCounts* const counts : plan.against) reject(*counts, kExistingAntiAffinity);
}

bool InterPodAffinity::LacksPodsFor(size_t term, NodeId node) const {
  const DomainCounts& counts = *plan_->affinity[term];
  return counts.sums()[counts.domain_of(node)] == 0;
}

std::vector<InterPodAffinity::Conflict> InterPodAffinity::Conflicts(
    const PodContext& pod, const ClusterState& cluster) const {
  PlanOf(pod, cluster);  // reads the namespaces
  std::vector<PodCountRule> own;
  for (const AffinityTerm& term : pod.shape->topology.anti_affinity) own.push_back(RuleOf({term}));
  std::vector<Conflict> conflicts;
  for (uint32_t i = 0; i < cluster.node_count(); ++i) {
    for (const PodId resident : cluster.pods_on(NodeId(i))) {
      const PodShape& other = cluster.pod_shape(resident);
      for (size_t t = 0; t < own.size(); ++t) {
        if (!Counts(own[t], other.identity)) continue;
        conflicts.push_back({&pod.shape->topology.anti_affinity[t], resident, false});
      }
      for (const AffinityTerm& term : other.topology.anti_affinity) {
        if (Means(term, pod.shape->identity)) conflicts.push_back({&term, resident, true});
      }
    }
  }
  return conflicts;
}

bool InterPodAffinity::IsResolvable(const PodContext&, const ClusterState&, NodeId,
                                    ReasonIndex local) const {
  return local != kAffinity;
}

// --- Score ---

StepResult InterPodAffinity::PreScore(const PodContext& pod, const ClusterState& cluster,
                                      absl::Span<const NodeId>) {
  plan_ = &PlanOf(pod, cluster);
  active_.clear();
  StepResult result;
  const bool prefers = !pod.shape->topology.preferred_affinity.empty() ||
                       !pod.shape->topology.preferred_anti_affinity.empty();
  if (args_.ignore_preferred_terms_of_existing_pods && !prefers) {
    result.code = StepCode::kSkip;
    return result;
  }
  if (!plan_->error.empty()) {
    result.code = StepCode::kError;
    result.message = absl::StrCat("failed to parse pod: ", plan_->error);
    return result;
  }
  for (const std::vector<Weighted>* const terms : {&plan_->preferred, &plan_->attracted}) {
    for (const Weighted& weighted : *terms) {
      if (HasPods(weighted.counts)) active_.push_back(weighted);
    }
  }
  if (active_.empty()) result.code = StepCode::kSkip;
  return result;
}

void InterPodAffinity::Score(const PodContext&, const ClusterState&, absl::Span<const NodeId> nodes,
                             absl::Span<int64_t> scores) {
  std::fill(scores.begin(), scores.end(), 0);
  for (const auto& [counts, weight] : active_) {
    const absl::Span<const uint32_t> domain_of = counts->topology().by_node();
    const absl::Span<const int32_t> sums = counts->sums();
    for (size_t i = 0; i < nodes.size(); ++i) {
      const uint32_t domain = domain_of[nodes[i].value()];
      if (domain != 0) scores[i] += weight * sums[domain];
    }
  }
}

void InterPodAffinity::NormalizeScore(absl::Span<const NodeId>, absl::Span<int64_t> scores) const {
  if (scores.empty()) return;
  const auto [least, most] = std::minmax_element(scores.begin(), scores.end());
  const int64_t base = *least;
  const int64_t range = *most - base;
  for (int64_t& score : scores) {
    score = range == 0 ? 0
                       : static_cast<int64_t>(
                             static_cast<double>(kMaxNodeScore) *
                             (static_cast<double>(score - base) / static_cast<double>(range)));
  }
}

// --- Requeueing ---

bool InterPodAffinity::MayHelp(const ClusterChange& change, const PodContext& pod,
                               const ClusterState& cluster) const {
  if (!change.detailed) return true;
  // kube-scheduler adds these events, without a hint, to every plugin that asks for new nodes.
  if (change.event == kNodeTaints || change.event == kNodeSchedulable) return true;
  const PodTopology& topology = pod.shape->topology;
  if (!ErrorsOf(topology).empty()) return true;
  if (change.pod != nullptr) {
    if (change.is_waiting_pod || !change.of_bound_pod()) return false;
    const bool meets = MatchesAllUnresolved(topology.affinity, *change.pod);
    const bool repels = MatchesAllUnresolved(topology.anti_affinity, *change.pod);
    if (change.old_pod != nullptr) {
      return (meets && !MatchesAllUnresolved(topology.affinity, *change.old_pod)) ||
             (!repels && MatchesAllUnresolved(topology.anti_affinity, *change.old_pod));
    }
    // A pod that leaves helps only if it met all anti-affinity terms, and so never a pod without
    // any, which the other pod's term kept out.
    return change.event == kPodRemoved ? repels : meets;
  }
  if (!change.node.valid()) return false;
  const NodeSpec& node = cluster.node_spec(change.node);
  if (change.old_node == nullptr) {
    return !topology.anti_affinity.empty() ||
           std::any_of(topology.affinity.begin(), topology.affinity.end(),
                       [&](const AffinityTerm& term) {
                         return LabelOf(node.labels, term.topology_key) != nullptr;
                       });
  }
  const auto changed = [&](const std::vector<AffinityTerm>& terms, bool gained) {
    return std::any_of(terms.begin(), terms.end(), [&](const AffinityTerm& term) {
      const std::string* const before = LabelOf(change.old_node->labels, term.topology_key);
      const std::string* const after = LabelOf(node.labels, term.topology_key);
      if (before != nullptr && after != nullptr) return *before != *after;
      return gained ? after != nullptr : before != nullptr;
    });
  };
  return changed(topology.affinity, /*gained=*/true) ||
         changed(topology.anti_affinity, /*gained=*/false);
}

void RegisterInterPodAffinity(Registry& registry) {
  registry.AddPlugin("InterPodAffinity", [](const PolicyContext& context) {
    return std::make_unique<InterPodAffinity>(context.args == nullptr
                                                  ? InterPodAffinityArgs()
                                                  : ArgsOr<InterPodAffinityArgs>(*context.args));
  });
}

}  // namespace drasim
