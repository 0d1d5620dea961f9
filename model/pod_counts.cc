#include "model/pod_counts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "model/check.h"

namespace drasim {

namespace {

// --- Keys: unambiguous texts of rules, for the index ---

void Put(absl::string_view text, std::string* key) { absl::StrAppend(key, text.size(), ":", text); }
void Put(int64_t number, std::string* key) { absl::StrAppend(key, number, ";"); }

void Put(const std::vector<std::string>& texts, std::string* key) {
  Put(static_cast<int64_t>(texts.size()), key);
  for (const std::string& text : texts) Put(text, key);
}

void Put(const LabelSelector& selector, std::string* key) {
  Put(selector.given ? 1 : 0, key);
  Put(selector.error, key);
  Put(static_cast<int64_t>(selector.requirements.size()), key);
  for (const LabelRequirement& requirement : selector.requirements) {
    Put(requirement.key, key);
    Put(static_cast<int64_t>(requirement.op), key);
    Put(requirement.values, key);
  }
}

std::string KeyOf(const PodCountRule& rule) {
  std::string key = "pods ";
  Put(rule.namespaces, &key);
  Put(rule.any_namespace ? 1 : 0, &key);
  Put(rule.counts_terminating ? 1 : 0, &key);
  for (const LabelSelector& selector : rule.selectors) Put(selector, &key);
  return key;
}

std::string KeyOf(CarriedTerm::Kind kind, int32_t weight, const AffinityTerm& term) {
  std::string key = "term ";
  Put(static_cast<int64_t>(kind), &key);
  Put(weight, &key);
  Put(term.topology_key, &key);
  Put(term.selector, &key);
  Put(term.namespaces, &key);
  Put(term.namespace_selector, &key);
  return key;
}

std::string KeyOf(const DomainNodes& rule) {
  std::string key = "nodes ";
  Put(rule.keys, &key);
  Put(static_cast<int64_t>(rule.node_selector.size()), &key);
  for (const auto& [label, value] : rule.node_selector) {
    Put(label, &key);
    Put(value, &key);
  }
  Put(rule.requires_node_terms ? 1 : 0, &key);
  Put(static_cast<int64_t>(rule.node_terms.size()), &key);
  for (const NodeTerm& term : rule.node_terms) {
    Put(term.error, &key);
    Put(static_cast<int64_t>(term.requirements.size()), &key);
    for (const NodeRequirement& requirement : term.requirements) {
      Put(requirement.of_name ? 1 : 0, &key);
      Put(requirement.key, &key);
      Put(static_cast<int64_t>(requirement.op), &key);
      Put(requirement.values, &key);
    }
  }
  Put(rule.honors_taints ? 1 : 0, &key);
  for (const Toleration& toleration : rule.tolerations) {
    Put(toleration.key, &key);
    Put(toleration.value, &key);
    Put(toleration.effect, &key);
    Put(toleration.exists ? 1 : 0, &key);
  }
  return key;
}

bool IsValid(const AffinityTerm& term) {
  return term.selector.error.empty() && term.namespace_selector.error.empty();
}

}  // namespace

bool Counts(const PodCountRule& rule, const PodIdentity& pod) {
  if (pod.ns.empty() || (pod.terminating && !rule.counts_terminating)) return false;
  if (!rule.any_namespace &&
      !std::binary_search(rule.namespaces.begin(), rule.namespaces.end(), pod.ns)) {
    return false;
  }
  return std::all_of(
      rule.selectors.begin(), rule.selectors.end(),
      [&pod](const LabelSelector& selector) { return Selects(selector, pod.labels); });
}

bool TakesPart(const NodeSpec& node, const DomainNodes& rule) {
  for (const std::string& key : rule.keys) {
    if (LabelOf(node.labels, key) == nullptr) return false;
  }
  if (UnmetLabel(rule.node_selector, node) != nullptr) return false;
  if ((rule.requires_node_terms || !rule.node_terms.empty()) &&
      !MeetsNodeTerms(node, rule.node_terms)) {
    return false;
  }
  if (!rule.honors_taints) return true;
  return std::none_of(node.taints.begin(), node.taints.end(), [&rule](const Taint& taint) {
    return (taint.effect == "NoSchedule" || taint.effect == "NoExecute") &&
           !Tolerates(rule.tolerations, taint);
  });
}

// --- Domains ---

uint32_t TopologyDomains::Find(absl::string_view value) const {
  const auto it = index_.find(value);
  return it == index_.end() ? 0 : it->second;
}

void DomainCounts::Enter(int32_t sum) {
  const auto at = static_cast<size_t>(sum);
  if (at >= with_sum_.size()) with_sum_.resize(at + 1);
  ++with_sum_[at];
  least_ = known_ == 0 ? at : std::min(least_, at);
  ++known_;
}

void DomainCounts::Leave(int32_t sum) {
  --with_sum_[static_cast<size_t>(sum)];
  --known_;
  if (known_ == 0) return;
  while (with_sum_[least_] == 0) ++least_;
}

// Forgets where a reader is better served by a look at every domain.
void DomainCounts::Cross(uint32_t domain) {
  if (crossed_.size() >= sums_.size()) {
    first_crossing_ += crossed_.size();
    crossed_.clear();
  }
  crossed_.push_back(domain);
}

void DomainCounts::Add(uint32_t domain, int32_t pods) {
  int32_t& sum = sums_[domain];
  if ((sum > 0) != (sum + pods > 0)) Cross(domain);
  if (domain == 0) {
    sum += pods;
    return;
  }
  total_ += pods;
  if (nodes_[domain] == 0) {
    sum += pods;
    return;
  }
  // In with the new sum first, so that the search for the least sum has an end.
  const int32_t before = sum;
  sum += pods;
  Enter(sum);
  Leave(before);
}

void DomainCounts::AddNode(uint32_t domain, int nodes) {
  const bool was_known = nodes_[domain] > 0;
  nodes_[domain] += nodes;
  const bool is_known = nodes_[domain] > 0;
  if (domain == 0 || was_known == is_known) return;
  is_known ? Enter(sums_[domain]) : Leave(sums_[domain]);
}

uint32_t PodCounts::DomainOf(TopologyDomains& topology, NodeId node) {
  if (!cluster_->available(node)) return 0;
  const std::string* const value = LabelOf(cluster_->node_spec(node).labels, topology.key_);
  if (value == nullptr) return 0;
  const auto [it, inserted] =
      topology.index_.try_emplace(*value, static_cast<uint32_t>(topology.values_.size()));
  if (inserted) topology.values_.push_back(*value);
  return it->second;
}

uint32_t PodCounts::FindTopology(absl::string_view key) {
  const auto [it, inserted] =
      index_.try_emplace(absl::StrCat("key ", key), static_cast<uint32_t>(topologies_.size()));
  if (!inserted) return it->second;
  auto topology = std::make_unique<TopologyDomains>();
  topology->key_ = std::string(key);
  topology->domain_of_.reserve(cluster_->node_count());
  for (size_t n = 0; n < cluster_->node_count(); ++n) {
    topology->domain_of_.push_back(DomainOf(*topology, NodeId(n)));
  }
  topologies_.push_back(std::move(topology));
  return it->second;
}

uint32_t PodCounts::FindGroup(const DomainNodes& rule) {
  const auto [it, inserted] =
      index_.try_emplace(KeyOf(rule), static_cast<uint32_t>(groups_.size()));
  if (!inserted) return it->second;
  auto group = std::make_unique<NodeGroup>();
  group->rule = rule;
  for (size_t n = 0; n < cluster_->node_count(); ++n) {
    const NodeId node(n);
    group->members.push_back(
        cluster_->available(node) && TakesPart(cluster_->node_spec(node), rule) ? 1 : 0);
  }
  groups_.push_back(std::move(group));
  return it->second;
}

DomainCountId PodCounts::CountDomains(PodCountId column, absl::string_view key,
                                      const DomainNodes& nodes) {
  const uint32_t topology = FindTopology(key);
  const uint32_t group = FindGroup(nodes);
  const auto id = static_cast<DomainCountId>(domains_.size());
  const auto [it, inserted] =
      index_.try_emplace(absl::StrCat("sums ", column, " ", topology, " ", group), id);
  if (!inserted) return it->second;
  auto domains = std::make_unique<DomainCounts>();
  domains->column_ = column;
  domains->topology_ = topologies_[topology].get();
  domains->members_ = &groups_[group]->members;
  domains->sums_.resize(domains->topology_->size());
  domains->nodes_.resize(domains->topology_->size());
  for (size_t n = 0; n < cluster_->node_count(); ++n) {
    const NodeId node(n);
    if (!domains->takes_part(node)) continue;
    domains->AddNode(domains->domain_of(node), +1);
    domains->Add(domains->domain_of(node), on_node(column, node));
  }
  domains_.push_back(std::move(domains));
  columns_[column].domains.push_back(id);
  return id;
}

void PodCounts::SetNode(NodeId node) {
  const size_t n = node.value();
  const bool available = cluster_->available(node);
  // Out of the old domains, by the old columns of the node.
  const auto move = [&](int sign) {
    for (const std::unique_ptr<DomainCounts>& domains : domains_) {
      if (!domains->takes_part(node)) continue;
      const uint32_t domain = domains->domain_of(node);
      domains->Add(domain, sign * on_node(domains->column_, node));
      domains->AddNode(domain, sign);
    }
  };
  for (const std::unique_ptr<TopologyDomains>& topology : topologies_) {
    topology->domain_of_.resize(std::max(topology->domain_of_.size(), n + 1));
  }
  for (const std::unique_ptr<NodeGroup>& group : groups_) {
    group->members.resize(std::max(group->members.size(), n + 1));
  }
  move(-1);
  for (const std::unique_ptr<TopologyDomains>& topology : topologies_) {
    topology->domain_of_[n] = DomainOf(*topology, node);
  }
  for (const std::unique_ptr<NodeGroup>& group : groups_) {
    group->members[n] = available && TakesPart(cluster_->node_spec(node), group->rule) ? 1 : 0;
  }
  for (const std::unique_ptr<DomainCounts>& domains : domains_) {
    domains->sums_.resize(domains->topology_->size());
    domains->nodes_.resize(domains->topology_->size());
  }
  move(+1);
}

// --- Columns ---

void PodCounts::Activate() {
  active_ = true;
  ResolveShapes();
}

int32_t PodCounts::TimesOf(const Column& column, const PodShape& shape) const {
  if (column.carried < 0) return Counts(column.rule, shape.identity) ? 1 : 0;
  const CarriedTerm& carried = carried_[static_cast<size_t>(column.carried)];
  const PodTopology& topology = shape.topology;
  const auto plain = [&](const std::vector<AffinityTerm>& terms) {
    if (!std::all_of(terms.begin(), terms.end(), IsValid)) return 0;
    return static_cast<int32_t>(std::count(terms.begin(), terms.end(), carried.term));
  };
  const auto weighted = [&](const std::vector<WeightedAffinityTerm>& terms) {
    for (const WeightedAffinityTerm& each : terms) {
      if (!IsValid(each.term)) return 0;
    }
    return static_cast<int32_t>(
        std::count(terms.begin(), terms.end(), WeightedAffinityTerm{carried.weight, carried.term}));
  };
  switch (carried.kind) {
    case CarriedTerm::Kind::kAffinity:
      return plain(topology.affinity);
    case CarriedTerm::Kind::kAntiAffinity:
      return plain(topology.anti_affinity);
    case CarriedTerm::Kind::kPreferred:
      return weighted(topology.preferred_affinity);
    case CarriedTerm::Kind::kPreferredAnti:
      return weighted(topology.preferred_anti_affinity);
  }
  DRASIM_UNREACHABLE("kind of a term");
}

void PodCounts::ResolveShapes() {
  const ShapeTable& shapes = cluster_->shapes();
  while (of_shape_.size() < shapes.size()) {
    const ShapeId shape(of_shape_.size());
    std::vector<Share>& shares = of_shape_.emplace_back();
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].carried >= 0 || !Counts(columns_[c].rule, shapes.row(shape).identity)) {
        continue;
      }
      shares.push_back({static_cast<PodCountId>(c), 1});
    }
    if (carries_) CarryTermsOf(shape);
  }
}

PodCountId PodCounts::CountPods(const PodCountRule& rule) {
  Activate();
  const auto [it, inserted] =
      index_.try_emplace(KeyOf(rule), static_cast<PodCountId>(columns_.size()));
  const PodCountId id = it->second;
  if (!inserted) return id;
  columns_.emplace_back().rule = rule;
  for (size_t s = 0; s < of_shape_.size(); ++s) {
    if (!Counts(rule, cluster_->shapes().row(ShapeId(s)).identity)) continue;
    of_shape_[s].push_back({id, 1});
  }
  for (size_t n = 0; n < cluster_->node_count(); ++n) {
    for (const PodId pod : cluster_->pods_on(NodeId(n))) {
      const std::vector<Share>& shares = of_shape_[cluster_->pod_shape_id(pod).value()];
      if (!shares.empty() && shares.back().column == id) Add(id, NodeId(n), 1);
    }
  }
  return id;
}

void PodCounts::CarryTerms() {
  if (carries_) return;
  Activate();
  carries_ = true;
  const size_t before = columns_.size();
  for (size_t s = 0; s < of_shape_.size(); ++s) CarryTermsOf(ShapeId(s));
  for (size_t n = 0; n < cluster_->node_count(); ++n) {
    for (const PodId pod : cluster_->pods_on(NodeId(n))) {
      for (const Share& share : of_shape_[cluster_->pod_shape_id(pod).value()]) {
        if (share.column >= before) Add(share.column, NodeId(n), share.times);
      }
    }
  }
}

void PodCounts::CarryTermsOf(ShapeId shape) {
  const PodTopology& topology = cluster_->shapes().row(shape).topology;
  if (!topology.has_affinity()) return;
  // An invalid term makes all of its kind void.
  const auto carry = [&](CarriedTerm::Kind kind, const std::vector<AffinityTerm>& terms) {
    if (!std::all_of(terms.begin(), terms.end(), IsValid)) return;
    for (const AffinityTerm& term : terms) CarryTerm(shape, kind, 0, term);
  };
  const auto carry_weighted = [&](CarriedTerm::Kind kind,
                                  const std::vector<WeightedAffinityTerm>& terms) {
    for (const WeightedAffinityTerm& weighted : terms) {
      if (!IsValid(weighted.term)) return;
    }
    for (const auto& [weight, term] : terms) CarryTerm(shape, kind, weight, term);
  };
  carry(CarriedTerm::Kind::kAffinity, topology.affinity);
  carry(CarriedTerm::Kind::kAntiAffinity, topology.anti_affinity);
  carry_weighted(CarriedTerm::Kind::kPreferred, topology.preferred_affinity);
  carry_weighted(CarriedTerm::Kind::kPreferredAnti, topology.preferred_anti_affinity);
}

void PodCounts::CarryTerm(ShapeId shape, CarriedTerm::Kind kind, int32_t weight,
                          const AffinityTerm& term) {
  const auto [it, inserted] =
      index_.try_emplace(KeyOf(kind, weight, term), static_cast<uint32_t>(carried_.size()));
  const uint32_t at = it->second;
  if (inserted) {
    const auto column = static_cast<PodCountId>(columns_.size());
    columns_.emplace_back().carried = at;
    carried_.push_back({kind, weight, term, column, 0});
    carried_.back().domains = CountDomains(column, term.topology_key, {});
  }
  std::vector<Share>& shares = of_shape_[shape.value()];
  const PodCountId column = carried_[at].column;
  if (!shares.empty() && shares.back().column == column) {
    ++shares.back().times;
  } else {
    shares.push_back({column, 1});
  }
}

void PodCounts::Add(PodCountId id, NodeId node, int32_t pods) {
  Column& column = columns_[id];
  if (node.value() >= column.by_node.size()) column.by_node.resize(node.value() + size_t{1});
  column.by_node[node.value()] += pods;
  column.total += pods;
  for (const DomainCountId sums : column.domains) {
    DomainCounts& domains = *domains_[sums];
    if (domains.takes_part(node)) domains.Add(domains.domain_of(node), pods);
  }
}

// --- Check ---

absl::Status PodCounts::Check() const {
  const ShapeTable& shapes = cluster_->shapes();
  for (size_t c = 0; c < columns_.size(); ++c) {
    int64_t total = 0;
    for (size_t n = 0; n < cluster_->node_count(); ++n) {
      int32_t pods = 0;
      for (const PodId pod : cluster_->pods_on(NodeId(n))) {
        pods += TimesOf(columns_[c], shapes.row(cluster_->pod_shape_id(pod)));
      }
      total += pods;
      if (pods == on_node(static_cast<PodCountId>(c), NodeId(n))) continue;
      return absl::InternalError(absl::StrCat("node '", cluster_->node_spec(NodeId(n)).name,
                                              "': count ", c, " of its pods is not ", pods));
    }
    if (total != columns_[c].total) {
      return absl::InternalError(absl::StrCat("the total of count ", c, " is not ", total));
    }
  }
  for (size_t d = 0; d < domains_.size(); ++d) {
    const DomainCounts& domains = *domains_[d];
    const TopologyDomains& topology = domains.topology();
    const auto group = std::find_if(groups_.begin(), groups_.end(),
                                    [&](const auto& g) { return &g->members == domains.members_; });
    std::vector<int32_t> sums(topology.size());
    std::vector<int32_t> nodes(topology.size());
    for (size_t n = 0; n < cluster_->node_count(); ++n) {
      const NodeId node(n);
      const NodeSpec& spec = cluster_->node_spec(node);
      if (!cluster_->available(node) || !TakesPart(spec, (*group)->rule)) continue;
      const std::string* const value = LabelOf(spec.labels, topology.key_);
      const uint32_t domain = value == nullptr ? 0 : topology.Find(*value);
      sums[domain] += on_node(domains.column_, node);
      ++nodes[domain];
    }
    uint32_t known = 0;
    int32_t least = 0;
    int64_t total = 0;
    for (size_t v = 1; v < sums.size(); ++v) {
      total += sums[v];
      if (nodes[v] == 0) continue;
      least = known == 0 ? sums[v] : std::min(least, sums[v]);
      ++known;
    }
    if (sums != domains.sums_ || nodes != domains.nodes_ || known != domains.known_domains() ||
        least != domains.least() || total != domains.total()) {
      return absl::InternalError(
          absl::StrCat("sums ", d, " by ", topology.key_, " differ from what the nodes hold"));
    }
  }
  return absl::OkStatus();
}

}  // namespace drasim
