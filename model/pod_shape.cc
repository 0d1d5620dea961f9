#include "model/pod_shape.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/hash.h"

namespace drasim {
namespace {

// Shapes without constraints hash only their older fields, which keeps pinned fingerprints valid.
uint64_t HashConstraints(const PodShape& s, uint64_t h) {
  for (const NodeTerm& term : s.node_terms) {
    h = MixWord(h, term.requirements.size() + 1);
    for (const NodeRequirement& r : term.requirements) {
      h = MixWord(Fnv1a(r.key, h), (static_cast<uint64_t>(r.op) << 1) | (r.of_name ? 1u : 0u));
      for (const std::string& value : r.values) h = MixWord(Fnv1a(value, h), r.values.size());
    }
  }
  if (s.hold != PodHold::kNone) h = MixWord(h, static_cast<uint64_t>(s.hold));
  if (s.never_preempts) h = MixWord(h, 1);
  return h;
}

uint64_t ContentHash(const PodShape& s) {
  uint64_t h = kFnvOffset;
  h = MixWord(h, static_cast<uint64_t>(s.cpu_milli));
  h = MixWord(h, static_cast<uint64_t>(s.memory_bytes));
  h = MixWord(h, static_cast<uint64_t>(s.gpu_count) << 32 | static_cast<uint32_t>(s.gpu_milli));
  h = MixWord(h, Fnv1a(s.gpu_spec));
  for (const auto& [key, value] : s.node_selector) h = MixWord(h, Fnv1a(value, Fnv1a(key)));
  for (const Toleration& t : s.tolerations) {
    h = MixWord(h, Fnv1a(t.effect, Fnv1a(t.value, Fnv1a(t.key, kFnvOffset + (t.exists ? 1 : 0)))));
  }
  for (const auto& [name, amount] : s.extended)
    h = MixWord(Fnv1a(name, h), static_cast<uint64_t>(amount));
  if (s.max_per_node > 0) h = MixWord(Fnv1a(s.group, h), static_cast<uint64_t>(s.max_per_node));
  if (s.gang_remainder) h = MixWord(h, 1);
  for (const auto& [name, count] : s.mig) h = MixWord(Fnv1a(name, h), static_cast<uint64_t>(count));
  if (s.nominal_milli != 0) h = MixWord(h, static_cast<uint64_t>(s.nominal_milli));
  if (s.demand_gpus != 0 || s.demand_memory_mib != 0) {
    h = MixWord(h,
                static_cast<uint64_t>(s.demand_gpus) << 32 | static_cast<uint32_t>(s.demand_milli));
    h = MixWord(h, static_cast<uint64_t>(s.demand_memory_mib));
  }
  for (const ContainerRequest& c : s.containers) {
    h = MixWord(h, (c.init ? 2u : 1u) + (c.restartable ? 4u : 0u));
    for (const auto& [name, amount] : c.extended)
      h = MixWord(Fnv1a(name, h), static_cast<uint64_t>(amount));
  }
  if (!s.function.empty()) h = Fnv1a(s.function, h);
  h = HashConstraints(s, h);
  for (const ClaimEntry& c : s.claims) h = Fnv1a(c.from_template, Fnv1a(c.claim, Fnv1a(c.name, h)));
  return h;
}

bool SameRequest(const PodShape& a, const PodShape& b) {
  return a.cpu_milli == b.cpu_milli && a.memory_bytes == b.memory_bytes &&
         a.gpu_count == b.gpu_count && a.gpu_milli == b.gpu_milli && a.gpu_spec == b.gpu_spec &&
         a.node_selector == b.node_selector && a.node_terms == b.node_terms &&
         a.tolerations == b.tolerations && a.hold == b.hold &&
         a.never_preempts == b.never_preempts && a.extended == b.extended && a.group == b.group &&
         a.max_per_node == b.max_per_node && a.gang_remainder == b.gang_remainder &&
         a.mig == b.mig && a.nominal_milli == b.nominal_milli && a.demand_gpus == b.demand_gpus &&
         a.demand_milli == b.demand_milli && a.demand_memory_mib == b.demand_memory_mib &&
         a.containers == b.containers && a.function == b.function && a.claims == b.claims;
}

}  // namespace

absl::StatusOr<ModelId> GpuModelTable::Intern(absl::string_view name) {
  const ModelId known = Find(name);
  if (known.valid()) return known;
  if (names_.size() >= kMaxModels) {
    constexpr size_t kMostShown = 60;
    const absl::string_view more = name.size() > kMostShown ? "..." : "";
    return absl::ResourceExhaustedError(absl::StrCat("GPU model '", name.substr(0, kMostShown),
                                                     more, "' is number ", kMaxModels + 1,
                                                     "; at most ", kMaxModels, " are supported"));
  }
  names_.emplace_back(name);
  return ModelId(names_.size() - 1);
}

ModelId GpuModelTable::Find(absl::string_view name) const {
  for (size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] == name) return ModelId(i);
  }
  return ModelId();
}

void GpuModelTable::SetMig(ModelId id, const MigTable* table) {
  if (mig_.size() <= id.value()) mig_.resize(id.value() + size_t{1});
  mig_[id.value()] = table;
}

ShapeId ShapeTable::Intern(const PodShape& shape) {
  const uint64_t hash = ContentHash(shape);
  std::vector<uint32_t>& bucket = index_[hash];
  for (uint32_t row : bucket) {
    if (SameRequest(rows_[row], shape)) return ShapeId(row);
  }
  const ShapeId id(rows_.size());
  bucket.push_back(id.value());
  rows_.push_back(shape);
  hashes_.push_back(hash);
  any_held_ |= shape.hold != PodHold::kNone;
  bool unknown = false;
  PodShape& row = rows_.back();
  row.model_mask = ~uint64_t{0};
  if (!row.gpu_spec.empty()) {
    row.model_mask = 0;
    for (absl::string_view name : absl::StrSplit(row.gpu_spec, '|')) {
      const ModelId model = models_->Find(name);
      if (model.valid()) {
        row.model_mask |= uint64_t{1} << model.value();
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
