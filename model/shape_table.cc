#include "model/shape_table.h"

#include <utility>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "model/hash.h"

namespace drasim {
namespace {

uint64_t MixText(uint64_t h, absl::string_view text) {
  return MixWord(Fnv1a(text, h), text.size());
}

uint64_t MixTexts(uint64_t h, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) h = MixText(h, text);
  return MixWord(h, texts.size());
}

uint64_t MixAmounts(uint64_t h, const std::vector<std::pair<std::string, int64_t>>& amounts) {
  for (const auto& [name, amount] : amounts) {
    h = MixWord(Fnv1a(name, h), static_cast<uint64_t>(amount));
  }
  return h;
}

// Fields at their defaults add nothing, so that pinned fingerprints survive new fields.
uint64_t HashNodeTerm(const NodeTerm& term, uint64_t h) {
  h = MixWord(h, term.requirements.size() + 1);
  for (const NodeRequirement& r : term.requirements) {
    h = MixWord(Fnv1a(r.key, h), (static_cast<uint64_t>(r.op) << 1) | (r.of_name ? 1u : 0u));
    for (const std::string& value : r.values) h = MixWord(Fnv1a(value, h), r.values.size());
  }
  return term.error.empty() ? h : MixText(h, term.error);
}

uint64_t HashRules(const PodConstraints& rules, uint64_t h) {
  for (const NodeTerm& term : rules.node_terms) h = HashNodeTerm(term, h);
  if (rules.hold != PodHold::kNone) h = MixWord(h, static_cast<uint64_t>(rules.hold));
  if (rules.never_preempts) h = MixWord(h, 1);
  const uint64_t given = (rules.gives_node_selector ? 0x100u : 0u) |
                         (rules.requires_node_terms ? 0x200u : 0u) |
                         (rules.prefers_nodes ? 0x400u : 0u);
  if (given != 0) h = MixWord(h, given);
  for (const PreferredNodeTerm& preferred : rules.preferred_nodes) {
    h = HashNodeTerm(preferred.term, MixWord(h, static_cast<uint32_t>(preferred.weight)));
  }
  if (!rules.node_name.empty()) h = MixText(h, rules.node_name);
  if (!rules.gates.empty()) h = MixTexts(h, rules.gates);
  for (const HostPort& port : rules.host_ports) {
    h = MixWord(MixText(MixText(h, port.ip), port.protocol), static_cast<uint32_t>(port.port));
  }
  if (!rules.volume_images.empty()) h = MixTexts(MixWord(h, 2), rules.volume_images);
  return rules.images.empty() ? h : MixTexts(h, rules.images);
}

uint64_t HashSelector(const LabelSelector& selector, uint64_t h) {
  h = MixWord(h, (selector.requirements.size() << 1) | (selector.given ? 1u : 0u));
  for (const LabelRequirement& r : selector.requirements) {
    h = MixTexts(MixWord(MixText(h, r.key), static_cast<uint64_t>(r.op)), r.values);
  }
  return selector.error.empty() ? h : MixText(h, selector.error);
}

uint64_t HashTerm(const AffinityTerm& term, uint64_t h) {
  h = MixTexts(HashSelector(term.selector, MixText(h, term.topology_key)), term.namespaces);
  return HashSelector(term.namespace_selector, h);
}

uint64_t HashTopology(const PodTopology& topology, uint64_t h) {
  for (const SpreadConstraint& spread : topology.spread) {
    h = MixWord(h, static_cast<uint64_t>(static_cast<uint32_t>(spread.max_skew)) << 32 |
                       static_cast<uint32_t>(spread.min_domains));
    h = MixWord(MixText(h, spread.topology_key), (spread.hard ? 1u : 0u) |
                                                     (spread.honor_affinity ? 2u : 0u) |
                                                     (spread.honor_taints ? 4u : 0u));
    h = HashSelector(spread.selector, h);
  }
  if (!topology.has_affinity()) return h;
  for (const auto* terms : {&topology.affinity, &topology.anti_affinity}) {
    h = MixWord(h, terms->size());
    for (const AffinityTerm& term : *terms) h = HashTerm(term, h);
  }
  for (const auto* terms : {&topology.preferred_affinity, &topology.preferred_anti_affinity}) {
    h = MixWord(h, terms->size());
    for (const WeightedAffinityTerm& term : *terms) {
      h = HashTerm(term.term, MixWord(h, static_cast<uint32_t>(term.weight)));
    }
  }
  return h;
}

uint64_t HashScored(const ScoredRequest& scored, uint64_t h) {
  if (!scored.given) return h;
  for (const int64_t amount : {scored.cpu_milli, scored.memory_bytes, scored.resident_cpu_milli,
                               scored.resident_memory_bytes}) {
    h = MixWord(h, static_cast<uint64_t>(amount));
  }
  return MixAmounts(h, scored.extended);
}

uint64_t HashIdentity(const PodIdentity& identity, uint64_t h) {
  if (identity == PodIdentity()) return h;
  for (const std::string* text :
       {&identity.ns, &identity.owner_kind, &identity.owner_name, &identity.scheduler_name}) {
    h = MixText(h, *text);
  }
  for (const auto& [key, value] : identity.labels) h = MixText(MixText(h, key), value);
  return MixWord(h,
                 (identity.terminating ? uint64_t{1} : 0) + (identity.preempted ? uint64_t{2} : 0));
}

// The order of the fields is part of the format: fingerprints and ledgers depend on it.
uint64_t ContentHash(const PodShape& s) {
  const ResourceRequest& request = s.request;
  const PodConstraints& rules = s.constraints;
  uint64_t h = kFnvOffset;
  h = MixWord(h, static_cast<uint64_t>(request.cpu_milli));
  h = MixWord(h, static_cast<uint64_t>(request.memory_bytes));
  h = MixWord(
      h, static_cast<uint64_t>(request.gpu_count) << 32 | static_cast<uint32_t>(request.gpu_milli));
  h = MixWord(h, Fnv1a(request.gpu_spec));
  for (const auto& [key, value] : rules.node_selector) h = MixWord(h, Fnv1a(value, Fnv1a(key)));
  for (const Toleration& t : rules.tolerations) {
    h = MixWord(h, Fnv1a(t.effect, Fnv1a(t.value, Fnv1a(t.key, kFnvOffset + (t.exists ? 1 : 0)))));
  }
  h = MixAmounts(h, request.extended);
  if (rules.max_per_node > 0)
    h = MixWord(Fnv1a(rules.group, h), static_cast<uint64_t>(rules.max_per_node));
  if (s.gang_remainder) h = MixWord(h, 1);
  for (const auto& [name, count] : request.mig)
    h = MixWord(Fnv1a(name, h), static_cast<uint64_t>(count));
  if (request.nominal_milli != 0) h = MixWord(h, static_cast<uint64_t>(request.nominal_milli));
  if (s.demand.gpus != 0 || s.demand.memory_mib != 0) {
    h = MixWord(h,
                static_cast<uint64_t>(s.demand.gpus) << 32 | static_cast<uint32_t>(s.demand.milli));
    h = MixWord(h, static_cast<uint64_t>(s.demand.memory_mib));
  }
  for (const ContainerRequest& c : s.device_plugin.containers) {
    h = MixWord(h, (c.init ? 2u : 1u) + (c.restartable ? 4u : 0u));
    for (const auto& [name, amount] : c.extended)
      h = MixWord(Fnv1a(name, h), static_cast<uint64_t>(amount));
  }
  if (!s.device_plugin.function.empty()) h = Fnv1a(s.device_plugin.function, h);
  h = HashRules(rules, h);
  for (const ClaimEntry& c : s.claims) h = Fnv1a(c.from_template, Fnv1a(c.claim, Fnv1a(c.name, h)));
  h = HashIdentity(s.identity, HashTopology(s.topology, HashScored(s.scored, h)));
  for (const PodVolume& volume : s.volumes.volumes) {
    h = MixText(MixText(h, volume.claim), volume.source.id);
  }
  return h;
}

}  // namespace

ShapeId ShapeTable::Intern(const PodShape& shape) {
  const uint64_t hash = ContentHash(shape);
  std::vector<uint32_t>& bucket = index_[hash];
  for (uint32_t row : bucket) {
    if (rows_[row] == shape) return ShapeId(row);
  }
  const ShapeId id(rows_.size());
  bucket.push_back(id.value());
  rows_.push_back(shape);
  hashes_.push_back(hash);
  any_held_ |= shape.constraints.hold != PodHold::kNone;
  bool unknown = false;
  ResourceRequest& request = rows_.back().request;
  request.model_mask = ~uint64_t{0};
  if (!request.gpu_spec.empty()) {
    request.model_mask = 0;
    for (absl::string_view name : absl::StrSplit(request.gpu_spec, '|')) {
      const ModelId model = models_->Find(name);
      if (model.valid()) {
        request.model_mask |= uint64_t{1} << model.value();
        continue;
      }
      unknown = true;
      if (unknown_names_.insert(std::string(name)).second) unknown_models_.emplace_back(name);
    }
  }
  unknown_.push_back(unknown);
  return id;
}

}  // namespace drasim
