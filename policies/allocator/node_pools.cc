#include "policies/allocator/node_pools.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "model/hash.h"
#include "model/kube/rules.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

using proto::kube::Node;
using proto::kube::NodeSelector;
using proto::kube::ResourceSliceSpec;

constexpr absl::string_view kNodeOperations = "DRAOptionalNodeOperations";

absl::Status CheckRequirement(const proto::kube::SelectorRequirement& requirement) {
  const std::string& name = requirement.operator_();
  const int values = requirement.values_size();
  const bool sets = name == "In" || name == "NotIn";
  const bool exists = name == "Exists" || name == "DoesNotExist";
  const bool compares = name == "Gt" || name == "Lt";
  if ((sets && values > 0) || (exists && values == 0) || (compares && values == 1)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("the operator ", name, " of the key ",
                                                 requirement.key(), " with ", values, " values"));
}

// Which of the three is given first, decides; none of them matches nothing.
template <typename Place>
absl::StatusOr<bool> PlaceMatches(const Place& place, const Node& node) {
  if (!place.node_name().empty()) return place.node_name() == node.metadata().name();
  if (place.all_nodes()) return true;
  if (!place.has_node_selector()) return false;
  for (const auto& term : place.node_selector().node_selector_terms()) {
    for (const auto* list : {&term.match_expressions(), &term.match_fields()}) {
      for (const auto& requirement : *list) {
        const absl::Status checked = CheckRequirement(requirement);
        if (!checked.ok()) {
          return absl::InvalidArgumentError(absl::StrCat("failed to parse node selector ",
                                                         NodeSelectorText(place.node_selector()),
                                                         ": ", checked.message()));
        }
      }
    }
  }
  return SelectsNode(place.node_selector(), node);
}

bool HasPlace(const ResourceSliceSpec& spec) {
  return !spec.node_name().empty() || spec.all_nodes() || spec.has_node_selector();
}

}  // namespace

NodePools::NodePools(const AllocatorOptions& options, std::shared_ptr<DeviceCatalog> catalog,
                     std::vector<CounterDrift> drift)
    : options_(options),
      rules_(RulesOf(options.release)),
      catalog_(std::move(catalog)),
      drift_(std::move(drift)),
      views_of_pool_(catalog_->pools().size()),
      nodes_of_pool_(catalog_->pools().size()) {
  const DraFeatures known = SupportedDraFeatures(options.variant, options.release);
  DraFeatures* features = &options_.features;
  features->admin_access &= known.admin_access;
  features->prioritized_list &= known.prioritized_list;
  features->partitionable_devices &= known.partitionable_devices;
  features->device_taints &= known.device_taints;
  features->consumable_capacity &= known.consumable_capacity;
  features->fractional_capacity_range &= known.fractional_capacity_range;
  features->device_binding_and_status &= known.device_binding_and_status;
  features->list_type_attributes &= known.list_type_attributes;
  features->optional_node_operations &= known.optional_node_operations;
  features->derived_attributes &= known.derived_attributes;
  features->compatibility_groups &= known.compatibility_groups;
}

const NodeView& NodePools::ViewOf(const Node& node) {
  std::string key = node.metadata().name();
  if (catalog_->has_node_selectors()) {
    for (const auto& [name, value] : SortedTexts(node.metadata().labels())) {
      absl::StrAppend(&key, "\n", name, "=", value);
    }
  }
  const auto& declared = node.status().declared_features();
  const bool declares =
      std::find(declared.begin(), declared.end(), kNodeOperations) != declared.end();
  if (declares) absl::StrAppend(&key, "\n\n");
  std::unique_ptr<NodeView>& view = nodes_[key];
  if (view == nullptr) {
    view = std::make_unique<NodeView>();
    view->id = static_cast<uint32_t>(free_states_.size());
    view->declares_node_operations = declares;
    free_states_.push_back(kNoState);
    Build(node, view.get());
  }
  return *view;
}

void NodePools::ForgetStates() {
  std::fill(free_states_.begin(), free_states_.end(), kNoState);
  std::fill(shapes_.begin(), shapes_.end(), kNoState);
}

std::vector<uint64_t> NodePools::TakeMarks() {
  std::vector<uint64_t> marks = std::move(marks_);
  marks_.clear();
  marks.resize(catalog_->devices().size());
  return marks;
}

bool NodePools::IsIgnored(const CatalogSlice& slice) const {
  return rules_.knows_new_fields && !options_.features.compatibility_groups && slice.has_groups;
}

bool NodePools::HasPoolCounters(const CatalogSlice& slice) const {
  return rules_.counters_by_pool && !slice.slice->spec().shared_counters().empty();
}

absl::StatusOr<bool> NodePools::IsRelevant(const CatalogSlice& slice, const Node& node) const {
  const ResourceSliceSpec& spec = slice.slice->spec();
  const std::string& name = slice.slice->metadata().name();
  if (HasPoolCounters(slice)) return true;
  if (HasPlace(spec)) {
    const absl::StatusOr<bool> matches = PlaceMatches(spec, node);
    if (matches.ok()) return *matches;
    return absl::InvalidArgumentError(absl::StrCat("failed to perform node selection for slice ",
                                                   name, ": ", matches.status().message()));
  }
  if (!spec.per_device_node_selection()) return false;
  for (const proto::kube::Device& device : spec.devices()) {
    const absl::StatusOr<bool> matches = PlaceMatches(device, node);
    if (!matches.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("failed to perform node selection for device ",
                                                     device.name(), " in slice ", name, ": ",
                                                     matches.status().message()));
    }
    if (*matches) return true;
  }
  return false;
}

absl::Status NodePools::GatherSlices(const Node& node, SlicesByPool* by_pool) const {
  for (const absl::Span<const uint32_t> candidates :
       {catalog_->SlicesOfNode(node.metadata().name()), catalog_->SlicesOfNoNode()}) {
    for (const uint32_t index : candidates) {
      const CatalogSlice& slice = catalog_->slices()[index];
      const ResourceSliceSpec& spec = slice.slice->spec();
      if (!options_.features.partitionable_devices &&
          (spec.has_per_device_node_selection() || HasPoolCounters(slice))) {
        continue;
      }
      if (IsIgnored(slice)) continue;
      ASSIGN_OR_RETURN(const bool relevant, IsRelevant(slice, node));
      if (!relevant) continue;
      std::vector<uint32_t>& kept = (*by_pool)[slice.pool];
      const int64_t generation = spec.pool().generation();
      if (!kept.empty()) {
        const int64_t known = catalog_->slices()[kept[0]].slice->spec().pool().generation();
        if (generation < known) continue;
        if (generation > known) kept.clear();
      }
      kept.push_back(index);
    }
  }
  return absl::OkStatus();
}

void NodePools::Build(const Node& node, NodeView* view) {
  SlicesByPool by_pool;
  const absl::Status gathered = GatherSlices(node, &by_pool);
  if (!gathered.ok()) {
    view->error = absl::StrCat("gather pool information: ", gathered.message());
    return;
  }
  for (const auto& [pool, slices] : by_pool) {
    const PoolView* found = PoolViewOf(pool, slices);
    if (found == nullptr) continue;
    view->pools.push_back(found);
    nodes_of_pool_[pool].push_back(view->id);
  }
  SortPools(&view->pools);
  for (const PoolView* pool : view->pools) {
    view->any_invalid = view->any_invalid || pool->invalid;
    if (pool->invalid && !rules_.passes_invalid_pools && view->invalid_pool == nullptr) {
      view->invalid_pool = pool;
      view->invalid_before_segment = view->segments.size();
    }
    if (pool->invalid || (pool->incomplete && rules_.skips_incomplete_pools)) continue;
    for (const uint32_t index : pool->slices) {
      const CatalogSlice& slice = catalog_->slices()[index];
      const ResourceSliceSpec& spec = slice.slice->spec();
      DeviceSegment segment;
      segment.pool = pool;
      segment.begin = slice.first_device;
      segment.end = slice.end_device;
      segment.per_device_nodes = spec.per_device_node_selection();
      segment.skips_node_operations =
          rules_.knows_new_fields && !spec.skip_node_operations().empty();
      view->segments.push_back(segment);
      if (!segment.per_device_nodes) continue;
      for (uint32_t i = segment.begin; i < segment.end; ++i) {
        const absl::StatusOr<bool> matches = PlaceMatches(*catalog_->devices()[i].device, node);
        view->allowed[i] = matches.ok() && *matches;
      }
    }
  }
}

const PoolView* NodePools::PoolViewOf(uint32_t pool, const std::vector<uint32_t>& slices) {
  const absl::Span<const CatalogSlice> all = catalog_->slices();
  const proto::kube::ResourcePool& first = all[slices[0]].slice->spec().pool();
  const auto is_count = [&first](size_t count) {
    return static_cast<int64_t>(count) == first.resource_slice_count();
  };
  if (is_count(slices.size())) return Intern(pool, slices, {}, /*incomplete=*/false);
  std::set<std::string> relevant;
  for (const uint32_t index : slices) relevant.insert(all[index].slice->metadata().name());
  size_t count = 0;
  std::vector<uint32_t> others;
  for (const uint32_t index : catalog_->pools()[pool].slices) {
    if (IsIgnored(all[index])) continue;
    const int64_t generation = all[index].slice->spec().pool().generation();
    if (generation > first.generation()) return nullptr;
    if (generation < first.generation()) continue;
    ++count;
    if (relevant.count(all[index].slice->metadata().name()) == 0) others.push_back(index);
  }
  if (!is_count(count)) return Intern(pool, slices, {}, /*incomplete=*/true);
  return Intern(pool, slices, others, /*incomplete=*/false);
}

const PoolView* NodePools::Intern(uint32_t pool, const std::vector<uint32_t>& slices,
                                  const std::vector<uint32_t>& others, bool incomplete) {
  std::vector<uint32_t> key = {pool, incomplete ? 1U : 0U, static_cast<uint32_t>(slices.size())};
  key.insert(key.end(), slices.begin(), slices.end());
  key.insert(key.end(), others.begin(), others.end());
  const PoolView*& found = pool_index_[key];
  if (found != nullptr) return found;
  auto view = std::make_unique<PoolView>();
  view->id = static_cast<uint32_t>(pools_.size());
  view->pool = pool;
  view->incomplete = incomplete;
  if (!incomplete || !rules_.skips_incomplete_pools) {
    view->slices = slices;
    FillPool(others, view.get());
  }
  found = view.get();
  views_of_pool_[pool].push_back(view->id);
  shapes_.push_back(kNoState);
  pools_.push_back(std::move(view));
  return found;
}

bool NodePools::HasDuplicateName(PoolView* view) {
  // Names that this pool has already: those with its mark.
  const uint32_t mark = ++name_mark_;
  name_marks_.resize(catalog_->inventory().row_count());
  for (const uint32_t index : view->slices) {
    const CatalogSlice& slice = catalog_->slices()[index];
    for (uint32_t i = slice.first_device; i < slice.end_device; ++i) {
      const CatalogDevice& device = catalog_->devices()[i];
      uint32_t& known = name_marks_[device.row->row.value()];
      if (known == mark) {
        view->invalid = true;
        view->has_binding_conditions = false;
        view->invalid_reason = absl::StrCat("duplicate device name ", device.device->name());
        return true;
      }
      known = mark;
      view->has_binding_conditions = view->has_binding_conditions || device.gives_conditions;
    }
  }
  return false;
}

void NodePools::FillPool(const std::vector<uint32_t>& others, PoolView* view) {
  const absl::Span<const CatalogSlice> all = catalog_->slices();
  std::vector<uint32_t> sorted = std::move(view->slices);
  view->slices.clear();
  if (SearchIsSorted(options_)) {
    std::stable_sort(sorted.begin(), sorted.end(), [&all](uint32_t left, uint32_t right) {
      return all[left].slice->metadata().name() < all[right].slice->metadata().name();
    });
  }
  std::vector<uint32_t> counter_slices;
  for (const uint32_t index : sorted) {
    const bool counts = options_.features.partitionable_devices && HasPoolCounters(all[index]);
    (counts ? counter_slices : view->slices).push_back(index);
  }
  if (HasDuplicateName(view)) return;
  view->all_slices = view->slices;
  view->all_slices.insert(view->all_slices.end(), others.begin(), others.end());
  if (!options_.features.partitionable_devices) return;
  if (!rules_.counters_by_pool) {
    for (const uint32_t index : view->slices) FillSliceCounters(index, view);
    return;
  }
  // Counter sets count, for whatever nodes they are published.
  for (const uint32_t index : others) {
    if (!all[index].slice->spec().shared_counters().empty()) counter_slices.push_back(index);
  }
  std::vector<uint32_t> order = sorted;
  order.insert(order.end(), others.begin(), others.end());
  const absl::Status filled = FillCounters(counter_slices, order, view);
  if (filled.ok()) return;
  view->invalid = true;
  view->has_binding_conditions = false;
  view->invalid_reason = std::string(filled.message());
}

absl::Status NodePools::FillCounters(const std::vector<uint32_t>& counter_slices,
                                     const std::vector<uint32_t>& order, PoolView* view) const {
  const absl::Span<const CatalogSlice> all = catalog_->slices();
  CounterNames names;
  for (const uint32_t index : counter_slices) {
    const uint32_t first_set = static_cast<uint32_t>(names.sets.size());
    for (const proto::kube::CounterSet& set : all[index].slice->spec().shared_counters()) {
      const uint32_t number = static_cast<uint32_t>(names.sets.size());
      if (!names.sets.try_emplace(set.name(), number).second) {
        return absl::InvalidArgumentError(absl::StrCat("duplicate counter set name ", set.name()));
      }
    }
    for (const SliceCounter& counter : all[index].counters()) {
      const auto key = std::make_pair(first_set + counter.set, counter.name.value());
      names.numbers[key] = static_cast<uint32_t>(view->counters.size());
      view->counters.push_back(counter.amount);
      view->counter_names.push_back(counter.name);
      view->set_of_counter.push_back(first_set + counter.set);
      ApplyDrift(counter, view);
    }
  }
  view->counter_sets = names.sets.size();
  for (const uint32_t index : order) {
    for (uint32_t i = all[index].first_device; i < all[index].end_device; ++i) {
      if (catalog_->devices()[i].device->consumes_counters().empty()) continue;
      RETURN_IF_ERROR(FillUses(i, names, view));
    }
  }
  return absl::OkStatus();
}

void NodePools::ApplyDrift(const SliceCounter& counter, PoolView* view) const {
  const CatalogPool& pool = catalog_->pools()[view->pool];
  const DeviceTexts& texts = catalog_->columns().texts();
  for (const CounterDrift& drift : drift_) {
    if (drift.driver != pool.driver || drift.pool != pool.name) continue;
    if (drift.set != texts.Text(counter.set_name) || drift.counter != texts.Text(counter.name)) {
      continue;
    }
    view->counters.back() -= drift.amount;
  }
}

void NodePools::FillSliceCounters(uint32_t index, PoolView* view) const {
  const CatalogSlice& slice = catalog_->slices()[index];
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> numbers;  // by names of set and counter
  const uint32_t first_set = view->set_of_counter.empty() ? 0 : view->set_of_counter.back() + 1;
  for (const SliceCounter& counter : slice.counters()) {
    view->set_of_counter.push_back(first_set + counter.set);
    numbers[{counter.set_name.value(), counter.name.value()}] =
        static_cast<uint32_t>(view->counters.size());
    view->counters.push_back(counter.amount);
    view->counter_names.push_back(counter.name);
    view->counter_slices.push_back(index);
    ApplyDrift(counter, view);
  }
  for (uint32_t i = slice.first_device; i < slice.end_device; ++i) {
    const CatalogDevice& device = catalog_->devices()[i];
    if (device.device->consumes_counters().empty()) continue;
    std::map<uint32_t, ExactAmount> amounts;
    for (const SliceCounter& use : device.row->counters) {
      const auto number = numbers.find({use.set_name.value(), use.name.value()});
      if (number != numbers.end()) amounts[number->second] += use.amount;
    }
    view->consumers.push_back(i);
    std::vector<CounterUse>& uses = view->uses[i];
    for (const auto& [counter, amount] : amounts) uses.push_back({counter, amount});
  }
}

absl::Status NodePools::FillUses(uint32_t index, const CounterNames& names, PoolView* view) const {
  const CatalogDevice& device = catalog_->devices()[index];
  DeviceTexts& texts = catalog_->columns().texts();
  std::vector<uint32_t> set_of_entry;
  std::vector<GroupUse> group_uses;
  for (const auto& entry : device.device->consumes_counters()) {
    const auto set = names.sets.find(entry.counter_set());
    if (set == names.sets.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("counter set ", entry.counter_set(), " not found"));
    }
    set_of_entry.push_back(set->second);
    GroupUse group{set->second, {}};
    for (const std::string& name : entry.compatibility_groups()) {
      group.groups.push_back(texts.Intern(name));
    }
    std::sort(group.groups.begin(), group.groups.end());
    group_uses.push_back(std::move(group));
  }
  std::vector<CounterUse> taken;  // ascending
  taken.reserve(device.row->counters.size());
  for (const SliceCounter& use : device.row->counters) {
    const auto number = names.numbers.find({set_of_entry[use.set], use.name.value()});
    if (number == names.numbers.end()) {
      return absl::InvalidArgumentError(absl::StrCat("counter ", texts.Text(use.name),
                                                     " not found in counter set ",
                                                     texts.Text(use.set_name)));
    }
    const uint32_t counter = number->second;
    auto at = std::lower_bound(
        taken.begin(), taken.end(), counter,
        [](const CounterUse& known, uint32_t sought) { return known.counter < sought; });
    if (at == taken.end() || at->counter != counter) at = taken.insert(at, {counter, 0});
    at->amount += use.amount;
  }
  view->consumers.push_back(index);
  view->uses[index] = std::move(taken);
  if (options_.features.compatibility_groups) view->group_uses[index] = std::move(group_uses);
  return absl::OkStatus();
}

void NodePools::SortPools(std::vector<const PoolView*>* pools) const {
  const absl::Span<const CatalogPool> all = catalog_->pools();
  const auto by_name = [&all](const PoolView* left, const PoolView* right) {
    return std::tie(all[left->pool].driver, all[left->pool].name) <
           std::tie(all[right->pool].driver, all[right->pool].name);
  };
  if (options_.release < StructuredRelease::k1_36) {
    std::sort(pools->begin(), pools->end(), by_name);
    const auto rank = [this, &all](const PoolView* pool) {
      return MixWord(options_.pool_order_seed, Fnv1a(all[pool->pool].Text()));
    };
    std::stable_sort(
        pools->begin(), pools->end(),
        [&rank](const PoolView* left, const PoolView* right) { return rank(left) < rank(right); });
  } else if (SearchIsSorted(options_)) {
    std::sort(pools->begin(), pools->end(), by_name);
  }
  if (options_.variant == AllocatorVariant::kStable) return;
  std::stable_partition(pools->begin(), pools->end(),
                        [](const PoolView* pool) { return !pool->has_binding_conditions; });
}

}  // namespace drasim
