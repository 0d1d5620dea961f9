#include "sim/record/ledger_shapes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/label_selector.h"
#include "model/pod_constraints.h"
#include "model/pod_topology.h"
#include "model/pod_volumes.h"

namespace drasim {
namespace {

constexpr uint32_t kVolumeKinds = static_cast<uint32_t>(VolumeSource::Kind::kVsphere) + 1;
constexpr uint32_t kSelectorOperators = static_cast<uint32_t>(SelectorOperator::kDoesNotExist) + 1;

// --- Writing ---

void Write(const std::vector<std::pair<std::string, std::string>>& labels,
           google::protobuf::RepeatedPtrField<proto::LedgerLabel>* out) {
  for (const auto& [key, value] : labels) {
    proto::LedgerLabel* label = out->Add();
    label->set_key(key);
    label->set_value(value);
  }
}

void Write(const NodeTerm& term, proto::LedgerNodeTerm* out) {
  for (const NodeRequirement& requirement : term.requirements) {
    proto::LedgerNodeRequirement* r = out->add_requirements();
    r->set_of_name(requirement.of_name);
    r->set_key(requirement.key);
    r->set_op(static_cast<uint32_t>(requirement.op));
    for (const std::string& value : requirement.values) r->add_values(value);
  }
}

void Write(const LabelSelector& selector, proto::LedgerSelector* out) {
  out->set_given(selector.given);
  out->set_error(selector.error);
  for (const LabelRequirement& requirement : selector.requirements) {
    proto::LedgerRequirement* r = out->add_requirements();
    r->set_key(requirement.key);
    r->set_op(static_cast<uint32_t>(requirement.op));
    for (const std::string& value : requirement.values) r->add_values(value);
  }
}

void Write(const ScoredRequest& scored, proto::LedgerScoredRequest* out) {
  out->set_cpu_milli(scored.cpu_milli);
  out->set_memory_bytes(scored.memory_bytes);
  out->set_resident_cpu_milli(scored.resident_cpu_milli);
  out->set_resident_memory_bytes(scored.resident_memory_bytes);
  for (const auto& [name, amount] : scored.extended) {
    proto::LedgerAmount* extended = out->add_extended();
    extended->set_name(name);
    extended->set_amount(amount);
  }
}

void Write(const AffinityTerm& term, bool anti, proto::LedgerAffinity* out) {
  out->set_anti(anti);
  out->set_topology_key(term.topology_key);
  Write(term.selector, out->mutable_selector());
  for (const std::string& ns : term.namespaces) out->add_namespaces(ns);
  Write(term.namespace_selector, out->mutable_namespace_selector());
}

void Write(const std::vector<WeightedAffinityTerm>& terms, bool anti, proto::LedgerKubeShape* out) {
  for (const WeightedAffinityTerm& weighted : terms) {
    proto::LedgerAffinity* term = out->add_affinity();
    Write(weighted.term, anti, term);
    term->set_preferred(true);
    term->set_weight(weighted.weight);
  }
}

void Write(const PodTopology& topology, proto::LedgerKubeShape* out) {
  for (const SpreadConstraint& spread : topology.spread) {
    proto::LedgerSpread* p = out->add_spread();
    p->set_max_skew(spread.max_skew);
    p->set_topology_key(spread.topology_key);
    p->set_hard(spread.hard);
    Write(spread.selector, p->mutable_selector());
    p->set_min_domains(spread.min_domains);
    p->set_honor_affinity(spread.honor_affinity);
    p->set_honor_taints(spread.honor_taints);
  }
  for (const AffinityTerm& term : topology.affinity) Write(term, false, out->add_affinity());
  for (const AffinityTerm& term : topology.anti_affinity) Write(term, true, out->add_affinity());
  Write(topology.preferred_affinity, false, out);
  Write(topology.preferred_anti_affinity, true, out);
}

void Write(const PodVolume& volume, proto::LedgerVolume* out) {
  out->set_has_claim(volume.has_claim);
  out->set_claim(volume.claim);
  out->set_ephemeral(volume.ephemeral);
  out->set_pod_name(volume.pod_name);
  out->set_pod_uid(volume.pod_uid);
  out->set_kind(static_cast<uint32_t>(volume.source.kind));
  out->set_driver(volume.source.driver);
  out->set_id(volume.source.id);
  out->set_pool(volume.source.pool);
  for (const std::string& monitor : volume.source.monitors) out->add_monitors(monitor);
  out->set_read_only(volume.source.read_only);
}

void Write(const PodIdentity& identity, proto::LedgerIdentity* out) {
  out->set_ns(identity.ns);
  Write(identity.labels, out->mutable_labels());
  out->set_owner_kind(identity.owner_kind);
  out->set_owner_name(identity.owner_name);
  out->set_scheduler_name(identity.scheduler_name);
  out->set_terminating(identity.terminating);
  out->set_preempted(identity.preempted);
}

void Write(const PodConstraints& rules, proto::LedgerKubeShape* out) {
  out->set_gives_node_selector(rules.gives_node_selector);
  out->set_requires_node_terms(rules.requires_node_terms);
  out->set_prefers_nodes(rules.prefers_nodes);
  for (const PreferredNodeTerm& preferred : rules.preferred_nodes) {
    proto::LedgerPreferredNodes* p = out->add_preferred_nodes();
    p->set_weight(preferred.weight);
    Write(preferred.term, p->mutable_term());
    p->set_error(preferred.term.error);
  }
  out->set_node_name(rules.node_name);
  for (const std::string& gate : rules.gates) out->add_gates(gate);
  for (const HostPort& port : rules.host_ports) {
    proto::LedgerPort* p = out->add_host_ports();
    p->set_ip(port.ip);
    p->set_protocol(port.protocol);
    p->set_port(port.port);
  }
  for (const std::string& image : rules.images) out->add_images(image);
  for (const std::string& image : rules.volume_images) out->add_volume_images(image);
  const bool any_error = std::any_of(rules.node_terms.begin(), rules.node_terms.end(),
                                     [](const NodeTerm& term) { return !term.error.empty(); });
  if (!any_error) return;
  for (const NodeTerm& term : rules.node_terms) out->add_node_term_errors(term.error);
}

// --- Reading ---

bool IsSound(const proto::LedgerNodeTerm& term) {
  return std::all_of(term.requirements().begin(), term.requirements().end(),
                     [](const auto& r) { return r.op() < kNodeOperators; });
}

bool IsSound(const proto::LedgerSelector& selector) {
  return std::all_of(selector.requirements().begin(), selector.requirements().end(),
                     [](const auto& r) { return r.op() < kSelectorOperators; });
}

std::vector<std::string> ReadTexts(const google::protobuf::RepeatedPtrField<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

NodeTerm ReadNodeTerm(const proto::LedgerNodeTerm& p, const std::string& error) {
  NodeTerm term;
  for (const proto::LedgerNodeRequirement& r : p.requirements()) {
    NodeRequirement& requirement = term.requirements.emplace_back();
    requirement.of_name = r.of_name();
    requirement.key = r.key();
    requirement.op = static_cast<NodeOperator>(r.op());
    requirement.values = ReadTexts(r.values());
  }
  term.error = error;
  return term;
}

LabelSelector ReadSelector(const proto::LedgerSelector& p) {
  LabelSelector selector;
  selector.given = p.given();
  selector.error = p.error();
  for (const proto::LedgerRequirement& r : p.requirements()) {
    selector.requirements.push_back(
        {r.key(), static_cast<SelectorOperator>(r.op()), ReadTexts(r.values())});
  }
  return selector;
}

void ReadScored(const proto::LedgerScoredRequest& p, ScoredRequest* scored) {
  scored->given = true;
  scored->cpu_milli = p.cpu_milli();
  scored->memory_bytes = p.memory_bytes();
  scored->resident_cpu_milli = p.resident_cpu_milli();
  scored->resident_memory_bytes = p.resident_memory_bytes();
  for (const proto::LedgerAmount& a : p.extended()) {
    scored->extended.emplace_back(a.name(), a.amount());
  }
}

void ReadTopology(const proto::LedgerKubeShape& p, PodTopology* topology) {
  for (const proto::LedgerSpread& s : p.spread()) {
    topology->spread.push_back({s.max_skew(), s.topology_key(), s.hard(),
                                ReadSelector(s.selector()), s.min_domains(), s.honor_affinity(),
                                s.honor_taints()});
  }
  for (const proto::LedgerAffinity& a : p.affinity()) {
    AffinityTerm term = {a.topology_key(), ReadSelector(a.selector()), ReadTexts(a.namespaces()),
                         ReadSelector(a.namespace_selector())};
    if (a.preferred()) {
      (a.anti() ? topology->preferred_anti_affinity : topology->preferred_affinity)
          .push_back({a.weight(), std::move(term)});
    } else {
      (a.anti() ? topology->anti_affinity : topology->affinity).push_back(std::move(term));
    }
  }
}

void ReadVolumes(const proto::LedgerKubeShape& p, PodVolumes* volumes) {
  for (const proto::LedgerVolume& v : p.volumes()) {
    PodVolume& volume = volumes->volumes.emplace_back();
    volume.has_claim = v.has_claim();
    volume.claim = v.claim();
    volume.ephemeral = v.ephemeral();
    volume.pod_name = v.pod_name();
    volume.pod_uid = v.pod_uid();
    volume.source.kind = static_cast<VolumeSource::Kind>(v.kind());
    volume.source.driver = v.driver();
    volume.source.id = v.id();
    volume.source.pool = v.pool();
    volume.source.monitors = ReadTexts(v.monitors());
    volume.source.read_only = v.read_only();
  }
}

void ReadIdentity(const proto::LedgerIdentity& p, PodIdentity* identity) {
  identity->ns = p.ns();
  for (const proto::LedgerLabel& label : p.labels()) {
    identity->labels.emplace_back(label.key(), label.value());
  }
  identity->owner_kind = p.owner_kind();
  identity->owner_name = p.owner_name();
  identity->scheduler_name = p.scheduler_name();
  identity->terminating = p.terminating();
  identity->preempted = p.preempted();
}

void ReadConstraints(const proto::LedgerKubeShape& p, PodConstraints* rules) {
  rules->gives_node_selector = p.gives_node_selector();
  rules->requires_node_terms = p.requires_node_terms();
  rules->prefers_nodes = p.prefers_nodes();
  for (const proto::LedgerPreferredNodes& preferred : p.preferred_nodes()) {
    rules->preferred_nodes.push_back(
        {preferred.weight(), ReadNodeTerm(preferred.term(), preferred.error())});
  }
  rules->node_name = p.node_name();
  rules->gates = ReadTexts(p.gates());
  for (const proto::LedgerPort& port : p.host_ports()) {
    rules->host_ports.push_back({port.ip(), port.protocol(), port.port()});
  }
  rules->images = ReadTexts(p.images());
  rules->volume_images = ReadTexts(p.volume_images());
  for (int i = 0; i < p.node_term_errors_size(); ++i) {
    rules->node_terms[static_cast<size_t>(i)].error = p.node_term_errors(i);
  }
}

}  // namespace

void AddKubeShape(const PodShape& shape, proto::LedgerShape* out) {
  proto::LedgerKubeShape kube;
  if (shape.scored.given) Write(shape.scored, kube.mutable_scored());
  Write(shape.topology, &kube);
  for (const PodVolume& volume : shape.volumes.volumes) Write(volume, kube.add_volumes());
  if (shape.identity != PodIdentity()) Write(shape.identity, kube.mutable_identity());
  Write(shape.constraints, &kube);
  if (kube.ByteSizeLong() > 0) *out->mutable_kube() = std::move(kube);
}

bool IsSoundKubeShape(const proto::LedgerShape& p) {
  const proto::LedgerKubeShape& kube = p.kube();
  return (kube.node_term_errors_size() == 0 ||
          kube.node_term_errors_size() == p.node_terms_size()) &&
         std::all_of(kube.preferred_nodes().begin(), kube.preferred_nodes().end(),
                     [](const auto& preferred) { return IsSound(preferred.term()); }) &&
         std::all_of(kube.spread().begin(), kube.spread().end(),
                     [](const auto& spread) { return IsSound(spread.selector()); }) &&
         std::all_of(kube.affinity().begin(), kube.affinity().end(),
                     [](const auto& term) {
                       return IsSound(term.selector()) && IsSound(term.namespace_selector());
                     }) &&
         std::all_of(kube.volumes().begin(), kube.volumes().end(),
                     [](const auto& volume) { return volume.kind() < kVolumeKinds; });
}

void SetKubeShape(const proto::LedgerShape& p, PodShape* shape) {
  if (!p.has_kube()) return;
  const proto::LedgerKubeShape& kube = p.kube();
  if (kube.has_scored()) ReadScored(kube.scored(), &shape->scored);
  ReadTopology(kube, &shape->topology);
  ReadVolumes(kube, &shape->volumes);
  if (kube.has_identity()) ReadIdentity(kube.identity(), &shape->identity);
  ReadConstraints(kube, &shape->constraints);
}

}  // namespace drasim
