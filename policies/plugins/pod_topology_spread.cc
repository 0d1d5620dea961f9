#include "policies/plugins/pod_topology_spread.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "policies/framework/registry.h"

namespace drasim {

namespace {

constexpr ReasonIndex kSkewed = 1;
constexpr ReasonIndex kLacksKey = 2;

const std::string& HostKey() {
  static const auto& kKey = *new std::string("kubernetes.io/hostname");
  return kKey;
}

// The natural logarithm as Go computes it on amd64: FreeBSD's e_log.c. glibc's differs in the last
// bit for one argument in a hundred.
double GoLog(double x) {
  constexpr double kLn2High = 6.93147180369123816490e-01;
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  int exponent = 0;
  double fraction = std::frexp(x, &exponent);
  if (fraction < 0.70710678118654752440) {
    fraction *= 2;
    --exponent;
  }
  const double f = fraction - 1;
  const double s = f / (2 + f);
  const double s2 = s * s;
  const double s4 = s2 * s2;
  const double odd = s2 * (6.666666666666735130e-01 +
                           s4 * (2.857142874366239149e-01 +
                                 s4 * (1.818357216161805012e-01 + s4 * 1.479819860511658591e-01)));
  const double even = s4 * (3.999999999940941908e-01 +
                            s4 * (2.222219843214978396e-01 + s4 * 1.531383769920937332e-01));
  const double half_square = 0.5 * f * f;
  const double k = exponent;
  return k * kLn2High - ((half_square - (s * (half_square + (odd + even)) + k * kLn2Low)) - f);
}

// As Go's math.Round. REQUIRES: 0 <= x < 2^63.
int64_t RoundHalfUp(double x) {
  const auto whole = static_cast<int64_t>(x);
  return x - static_cast<double>(whole) >= 0.5 ? whole + 1 : whole;
}

SpreadConstraint SystemDefault(std::string key, int32_t max_skew) {
  SpreadConstraint constraint;
  constraint.topology_key = std::move(key);
  constraint.max_skew = max_skew;
  constraint.hard = false;
  return constraint;
}

// The selector of default constraints: those of all services that select the pod, and of its
// controller. Without requirements, there are no default constraints.
LabelSelector GroupSelector(const PodIdentity& pod, const std::vector<GroupObject>& groups) {
  LabelSelector merged;
  merged.given = true;
  std::vector<LabelRequirement>& all = merged.requirements;
  const auto merge = [&all](const std::vector<LabelRequirement>& more) {
    for (const LabelRequirement& requirement : more) {
      const auto same = std::find_if(all.begin(), all.end(), [&](const LabelRequirement& known) {
        return known.key == requirement.key;
      });
      if (same == all.end()) {
        all.push_back(requirement);
      } else {
        *same = requirement;
      }
    }
  };
  for (const GroupObject& group : groups) {
    if (group.kind == "Service" && group.ns == pod.ns && Selects(group.selector, pod.labels)) {
      merge(group.selector.requirements);
    }
  }
  if (pod.owner_kind.empty()) return merged;
  for (const GroupObject& group : groups) {
    if (group.kind != pod.owner_kind || group.ns != pod.ns || group.name != pod.owner_name ||
        !group.selector.given || !group.selector.error.empty()) {
      continue;
    }
    // The selectors of services and replication controllers are maps, where the later value of a
    // key wins; the others are conjunctions.
    if (group.kind == "ReplicationController") {
      merge(group.selector.requirements);
    } else if (group.kind == "ReplicaSet" || group.kind == "StatefulSet") {
      all.insert(all.end(), group.selector.requirements.begin(), group.selector.requirements.end());
    }
    break;
  }
  return merged;
}

bool HasKeys(const NodeSpec& node, const std::vector<SpreadConstraint>& constraints) {
  return std::all_of(constraints.begin(), constraints.end(), [&](const SpreadConstraint& c) {
    return LabelOf(node.labels, c.topology_key) != nullptr;
  });
}

bool SameLabel(const NodeSpec& a, const NodeSpec& b, const std::string& key) {
  const std::string* const in_a = LabelOf(a.labels, key);
  const std::string* const in_b = LabelOf(b.labels, key);
  return in_a == nullptr || in_b == nullptr ? in_a == in_b : *in_a == *in_b;
}

}  // namespace

PodTopologySpread::PodTopologySpread(PodTopologySpreadArgs args) : args_(std::move(args)) {
  if (args_.system_defaults) {
    defaults_ = {SystemDefault(HostKey(), 3), SystemDefault("topology.kubernetes.io/zone", 5)};
  } else {
    defaults_ = args_.default_constraints;
  }
}

std::vector<Reason> PodTopologySpread::reasons() const {
  return {{ReasonKind::kTopologySpread, "node(s) didn't match pod topology spread constraints"},
          {ReasonKind::kTopologySpread,
           "node(s) didn't match pod topology spread constraints (missing required label)"}};
}

// --- Plans ---

void PodTopologySpread::ResolveCounts(const PodShape& shape, const ClusterState& cluster,
                                      bool all_keys, std::vector<Constraint>* constraints) const {
  DomainNodes nodes;
  if (all_keys) {
    for (const Constraint& constraint : *constraints) {
      nodes.keys.push_back(constraint.rule.topology_key);
    }
    std::sort(nodes.keys.begin(), nodes.keys.end());
    nodes.keys.erase(std::unique(nodes.keys.begin(), nodes.keys.end()), nodes.keys.end());
  }
  for (Constraint& constraint : *constraints) {
    const SpreadConstraint& rule = constraint.rule;
    PodCountRule pods;
    pods.counts_terminating = false;
    // An empty selector counts nobody, although it selects every pod.
    if (!rule.selector.selects_all()) {
      pods.namespaces = {shape.identity.ns};
      pods.selectors = {rule.selector};
    }
    DomainNodes taking_part = nodes;
    if (rule.honor_affinity) {
      taking_part.node_selector = shape.constraints.node_selector;
      taking_part.node_terms = shape.constraints.node_terms;
      taking_part.requires_node_terms = shape.constraints.requires_node_terms;
    }
    if (rule.honor_taints) {
      taking_part.honors_taints = true;
      taking_part.tolerations = shape.constraints.tolerations;
    }
    constraint.counts_own = Selects(rule.selector, shape.identity.labels);
    constraint.of_hosts = rule.topology_key == HostKey();
    constraint.pods = cluster.CountPods(pods);
    constraint.counts = &cluster.pod_counts().domains(
        cluster.CountDomains(constraint.pods, rule.topology_key, taking_part));
  }
}

void PodTopologySpread::Build(const PodShape& shape, const ClusterState& cluster,
                              Plan* plan) const {
  const bool own = !shape.topology.spread.empty();
  plan->of_defaults = !own;
  plan->groups_version = groups_version_;
  plan->all_keys = own || !args_.system_defaults;
  LabelSelector selector;
  if (!own) {
    selector = GroupSelector(shape.identity, groups_);
    if (selector.requirements.empty()) return;
  }
  for (const SpreadConstraint& rule : own ? shape.topology.spread : defaults_) {
    Constraint constraint;
    constraint.rule = rule;
    if (!own) constraint.rule.selector = selector;
    std::string& error = rule.hard ? plan->hard_error : plan->soft_error;
    if (error.empty()) error = constraint.rule.selector.error;
    (rule.hard ? plan->hard : plan->soft).push_back(std::move(constraint));
  }
  if (plan->hard_error.empty()) {
    ResolveCounts(shape, cluster, /*all_keys=*/true, &plan->hard);
  }
  if (plan->soft_error.empty()) ResolveCounts(shape, cluster, plan->all_keys, &plan->soft);
}

const PodTopologySpread::Plan& PodTopologySpread::PlanOf(const PodContext& pod,
                                                         const ClusterState& cluster) const {
  // A pod of a trace without constraints belongs to no group.
  static const auto& kNothing = *new Plan;
  if (pod.shape->topology.spread.empty() && (pod.shape->identity.ns.empty() || defaults_.empty())) {
    return kNothing;
  }
  if (cluster_ != &cluster) {
    cluster_ = &cluster;
    plans_.clear();
    groups_ = cluster.objects().groups;
    objects_version_ = cluster.objects_version();
    ++groups_version_;
  } else if (objects_version_ != cluster.objects_version()) {
    objects_version_ = cluster.objects_version();
    if (groups_ != cluster.objects().groups) {
      groups_ = cluster.objects().groups;
      ++groups_version_;
    }
  }
  const size_t shape = pod.shape_id.value();
  if (shape >= plans_.size()) plans_.resize(shape + 1);
  std::unique_ptr<Plan>& plan = plans_[shape];
  if (plan == nullptr || (plan->of_defaults && plan->groups_version != groups_version_)) {
    auto built = std::make_unique<Plan>();
    Build(*pod.shape, cluster, built.get());
    if (plan == nullptr) {
      plan = std::move(built);
    } else {
      *plan = std::move(*built);
    }
  }
  return *plan;
}

// --- Filter ---

StepResult PodTopologySpread::PreFilter(const PodContext& pod, const ClusterState& cluster) {
  plan_ = &PlanOf(pod, cluster);
  corrections_.clear();
  trials_.clear();
  StepResult result;
  if (!plan_->hard_error.empty()) {
    result.code = StepCode::kError;
    result.message =
        absl::StrCat("obtaining pod's hard topology spread constraints: ", plan_->hard_error);
  } else if (plan_->hard.empty()) {
    result.code = StepCode::kSkip;
  }
  return result;
}

int32_t PodTopologySpread::SumOf(const Constraint& constraint, size_t index,
                                 uint32_t domain) const {
  int32_t sum = constraint.counts->sum(domain);
  for (const Correction& correction : corrections_) {
    if (correction.constraint == index && correction.domain == domain) sum += correction.pods;
  }
  return sum;
}

int32_t PodTopologySpread::LeastOf(const Constraint& constraint, size_t index) const {
  const DomainCounts& counts = *constraint.counts;
  if (static_cast<int64_t>(counts.known_domains()) < constraint.rule.min_domains) return 0;
  if (corrections_.empty()) return counts.least();
  int32_t least = std::numeric_limits<int32_t>::max();
  for (uint32_t domain = 1; domain < counts.topology().size(); ++domain) {
    if (counts.known(domain)) least = std::min(least, SumOf(constraint, index, domain));
  }
  return counts.known_domains() > 0 ? least : 0;
}

// The pods that a domain may hold before it takes this one.
int64_t PodTopologySpread::MostOf(const Constraint& constraint, size_t index) const {
  return int64_t{constraint.rule.max_skew} + LeastOf(constraint, index) -
         (constraint.counts_own ? 1 : 0);
}

bool PodTopologySpread::ListLimits(std::vector<DomainLimit>* limits) const {
  if (!corrections_.empty()) return false;
  for (size_t c = 0; c < plan_->hard.size(); ++c) {
    const Constraint& constraint = plan_->hard[c];
    limits->push_back({constraint.counts, MostOf(constraint, c), /*needs_domain=*/true});
  }
  return true;
}

void PodTopologySpread::Filter(const PodContext&, const ClusterState&,
                               absl::Span<const NodeId> nodes,
                               absl::Span<ReasonIndex> verdicts) const {
  for (size_t c = 0; c < plan_->hard.size(); ++c) {
    const Constraint& constraint = plan_->hard[c];
    const int64_t most = MostOf(constraint, c);
    const absl::Span<const uint32_t> domain_of = constraint.counts->topology().by_node();
    const absl::Span<const int32_t> sums = constraint.counts->sums();
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (verdicts[i] != kFits) continue;
      const uint32_t domain = domain_of[nodes[i].value()];
      if (domain == 0) {
        verdicts[i] = kLacksKey;
        continue;
      }
      const int32_t sum = corrections_.empty() ? sums[domain] : SumOf(constraint, c, domain);
      if (sum > most) verdicts[i] = kSkewed;
    }
  }
}

std::vector<PodTopologySpread::Shortfall> PodTopologySpread::ShortfallsOn(NodeId node) const {
  std::vector<Shortfall> shortfalls;
  for (size_t c = 0; c < plan_->hard.size(); ++c) {
    const Constraint& constraint = plan_->hard[c];
    const uint32_t domain = constraint.counts->domain_of(node);
    Shortfall shortfall;
    shortfall.rule = &constraint.rule;
    shortfall.lacks_key = domain == 0;
    if (domain != 0) {
      shortfall.pods = SumOf(constraint, c, domain);
      shortfall.fewest = LeastOf(constraint, c);
      shortfall.skew = shortfall.pods + (constraint.counts_own ? 1 : 0) - shortfall.fewest;
      if (shortfall.skew <= constraint.rule.max_skew) continue;
    }
    shortfalls.push_back(shortfall);
  }
  return shortfalls;
}

bool PodTopologySpread::IsResolvable(const PodContext&, const ClusterState&, NodeId,
                                     ReasonIndex local) const {
  return local == kSkewed;
}

void PodTopologySpread::EndTrial() {
  corrections_.resize(trials_.back());
  trials_.pop_back();
}

void PodTopologySpread::Correct(const PodContext& pod, const ClusterState& cluster, PodId other,
                                NodeId node, int sign) {
  const PodIdentity& moved = cluster.pod_shape(other).identity;
  if (moved.ns != pod.shape->identity.ns) return;
  for (size_t c = 0; c < plan_->hard.size(); ++c) {
    const Constraint& constraint = plan_->hard[c];
    const bool counted = !moved.terminating && !constraint.rule.selector.selects_all();
    if (counted || !constraint.counts->takes_part(node) ||
        !Selects(constraint.rule.selector, moved.labels)) {
      continue;
    }
    corrections_.push_back({c, constraint.counts->domain_of(node), sign});
  }
}

// --- Score ---

bool PodTopologySpread::IsIgnored(const Plan& plan, NodeId node) {
  if (!plan.all_keys) return false;
  for (const Constraint& constraint : plan.soft) {
    if (constraint.counts->domain_of(node) == 0) return true;
  }
  return false;
}

StepResult PodTopologySpread::PreScore(const PodContext& pod, const ClusterState& cluster,
                                       absl::Span<const NodeId> feasible) {
  plan_ = &PlanOf(pod, cluster);
  StepResult result;
  if (!plan_->soft_error.empty()) {
    result.code = StepCode::kError;
    result.message = absl::StrCat(
        "calculating preScoreState: obtaining pod's soft topology spread constraints: ",
        plan_->soft_error);
    return result;
  }
  if (plan_->soft.empty()) {
    result.code = StepCode::kSkip;
    return result;
  }
  size_t ignored = 0;
  if (plan_->all_keys) {
    for (const NodeId node : feasible) ignored += IsIgnored(*plan_, node) ? 1u : 0u;
  }
  any_ignored_ = ignored > 0;
  weights_.clear();
  for (const Constraint& constraint : plan_->soft) {
    const size_t domains =
        constraint.of_hosts ? feasible.size() - ignored : CountValues(constraint, feasible);
    weights_.push_back(GoLog(static_cast<double>(domains + 2)));
  }
  return result;
}

// Host names are counted by node.
const TopologyDomains* PodTopologySpread::ScoredDomains(const PodContext& pod,
                                                        const ClusterState& cluster) const {
  const Plan& plan = PlanOf(pod, cluster);
  if (!plan.soft_error.empty() || plan.soft.size() != 1 || plan.soft[0].of_hosts) return nullptr;
  return &plan.soft[0].counts->topology();
}

// The distinct values of the key on nodes that are not ignored. A missing label counts as an empty
// one.
size_t PodTopologySpread::CountValues(const Constraint& constraint,
                                      absl::Span<const NodeId> feasible) {
  const TopologyDomains& topology = constraint.counts->topology();
  const absl::Span<const uint32_t> domain_of = topology.by_node();
  if (marked_.size() < topology.size()) marked_.resize(topology.size());
  const uint32_t mark = ++mark_;
  const uint32_t empty = topology.Find("");
  size_t values = 0;
  for (const NodeId node : feasible) {
    if (any_ignored_ && IsIgnored(*plan_, node)) continue;
    const uint32_t domain = domain_of[node.value()];
    uint32_t& last = marked_[domain == empty ? 0 : domain];
    values += last != mark ? 1u : 0u;
    last = mark;
  }
  return values;
}

void PodTopologySpread::Score(const PodContext&, const ClusterState& cluster,
                              absl::Span<const NodeId> nodes, absl::Span<int64_t> scores) {
  // Terms are added in the order of the constraints, as upstream adds them.
  sums_.assign(nodes.size(), 0);
  for (size_t c = 0; c < plan_->soft.size(); ++c) {
    const Constraint& constraint = plan_->soft[c];
    const absl::Span<const uint32_t> domain_of = constraint.counts->topology().by_node();
    const double weight = weights_[c];
    const double base = constraint.rule.max_skew - 1;
    if (constraint.of_hosts) {
      const absl::Span<const int32_t> by_node = cluster.pod_counts().by_node(constraint.pods);
      for (size_t i = 0; i < nodes.size(); ++i) {
        const uint32_t node = nodes[i].value();
        if (domain_of[node] == 0) continue;
        sums_[i] += (node < by_node.size() ? by_node[node] : 0) * weight + base;
      }
      continue;
    }
    const absl::Span<const int32_t> by_domain = constraint.counts->sums();
    const uint32_t empty = plan_->all_keys ? 0 : constraint.counts->topology().Find("");
    for (size_t i = 0; i < nodes.size(); ++i) {
      const uint32_t domain = domain_of[nodes[i].value()];
      if (domain == 0) continue;
      const int32_t pods = by_domain[domain] + (domain == empty ? by_domain[0] : 0);
      sums_[i] += pods * weight + base;
    }
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    scores[i] = any_ignored_ && IsIgnored(*plan_, nodes[i]) ? 0 : RoundHalfUp(sums_[i]);
  }
}

void PodTopologySpread::NormalizeScore(absl::Span<const NodeId> nodes,
                                       absl::Span<int64_t> scores) const {
  int64_t least = std::numeric_limits<int64_t>::max();
  int64_t most = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (any_ignored_ && IsIgnored(*plan_, nodes[i])) continue;
    least = std::min(least, scores[i]);
    most = std::max(most, scores[i]);
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (any_ignored_ && IsIgnored(*plan_, nodes[i])) {
      scores[i] = 0;
    } else {
      scores[i] = most == 0 ? kMaxNodeScore : kMaxNodeScore * (most + least - scores[i]) / most;
    }
  }
}

// --- Requeueing ---

bool PodTopologySpread::MayHelp(const ClusterChange& change, const PodContext& pod,
                                const ClusterState& cluster) const {
  if (!change.detailed) return true;
  const Plan& plan = PlanOf(pod, cluster);
  if (!plan.hard_error.empty()) return true;
  const auto any_selects = [&plan](const PodShape& shape) {
    return std::any_of(plan.hard.begin(), plan.hard.end(), [&](const Constraint& constraint) {
      return Selects(constraint.rule.selector, shape.identity.labels);
    });
  };
  if (change.pod != nullptr) {
    if (!change.is_waiting_pod &&
        (!change.of_bound_pod() || change.pod->identity.ns != pod.shape->identity.ns)) {
      return false;
    }
    if (change.old_pod == nullptr) return any_selects(*change.pod);
    const bool honors_taints =
        std::any_of(plan.hard.begin(), plan.hard.end(),
                    [](const Constraint& constraint) { return constraint.rule.honor_taints; });
    if (change.is_waiting_pod && honors_taints &&
        change.pod->constraints.tolerations != change.old_pod->constraints.tolerations) {
      return true;
    }
    return std::any_of(plan.hard.begin(), plan.hard.end(), [&](const Constraint& constraint) {
      return Selects(constraint.rule.selector, change.pod->identity.labels) !=
             Selects(constraint.rule.selector, change.old_pod->identity.labels);
    });
  }
  if (!change.node.valid()) return false;
  std::vector<SpreadConstraint> rules;
  for (const Constraint& constraint : plan.hard) rules.push_back(constraint.rule);
  const NodeSpec& node = cluster.node_spec(change.node);
  if (change.old_node == nullptr || change.event == kNodeRemoved) {
    return HasKeys(change.old_node == nullptr ? node : *change.old_node, rules);
  }
  const bool has = HasKeys(node, rules);
  if (has != HasKeys(*change.old_node, rules)) return true;
  if (!has) return false;
  return node.taints != change.old_node->taints ||
         std::any_of(rules.begin(), rules.end(), [&](const SpreadConstraint& rule) {
           return !SameLabel(node, *change.old_node, rule.topology_key);
         });
}

void RegisterPodTopologySpread(Registry& registry) {
  registry.AddPlugin("PodTopologySpread", [](const PolicyContext& context) {
    return std::make_unique<PodTopologySpread>(context.args == nullptr
                                                   ? PodTopologySpreadArgs()
                                                   : ArgsOr<PodTopologySpreadArgs>(*context.args));
  });
}

}  // namespace drasim
