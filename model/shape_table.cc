#include "model/shape_table.h"

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "model/hash.h"

namespace drasim {
namespace {

// Fields at their defaults add nothing, so that pinned fingerprints survive new fields.
uint64_t HashRules(const PodConstraints& rules, uint64_t h) {
  for (const NodeTerm& term : rules.node_terms) {
    h = MixWord(h, term.requirements.size() + 1);
    for (const NodeRequirement& r : term.requirements) {
      h = MixWord(Fnv1a(r.key, h), (static_cast<uint64_t>(r.op) << 1) | (r.of_name ? 1u : 0u));
      for (const std::string& value : r.values) h = MixWord(Fnv1a(value, h), r.values.size());
    }
  }
  if (rules.hold != PodHold::kNone) h = MixWord(h, static_cast<uint64_t>(rules.hold));
  if (rules.never_preempts) h = MixWord(h, 1);
  return h;
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
  for (const auto& [name, amount] : request.extended)
    h = MixWord(Fnv1a(name, h), static_cast<uint64_t>(amount));
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
