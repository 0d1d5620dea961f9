#include "tests/policies/allocator/naive_rules.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "model/check.h"
#include "tests/policies/allocator/naive_selectors.h"

namespace drasim {
namespace {

using proto::kube::Device;
using proto::kube::DeviceTaint;
using proto::kube::DeviceToleration;
using proto::kube::ResourceSlice;

// "2" and "500m" only.
int64_t NaiveMilli(absl::string_view text) {
  const int64_t scale = absl::ConsumeSuffix(&text, "m") ? 1 : 1000;
  int64_t number = 0;
  DRASIM_CHECK(absl::SimpleAtoi(text, &number));
  return number * scale;
}

bool NaiveInZone(const proto::kube::NodeSelector& selector) {
  return selector.node_selector_terms(0).match_expressions(0).values(0) == "a";
}

template <typename Place>
bool IsForNode(const Place& place) {
  if (!place.node_name().empty()) return place.node_name() == "node";
  return place.all_nodes() || (place.has_node_selector() && NaiveInZone(place.node_selector()));
}

bool NaiveTolerates(const DeviceToleration& toleration, const DeviceTaint& taint) {
  if (!toleration.effect().empty() && toleration.effect() != taint.effect()) return false;
  if (!toleration.key().empty() && toleration.key() != taint.key()) return false;
  return toleration.operator_() == "Exists" || toleration.value() == taint.value();
}

int64_t NaiveCeil(int64_t amount, int64_t unit) { return (amount + unit - 1) / unit * unit; }

}  // namespace

NaiveRules::NaiveRules(const RandomWorld& world)
    : world_(world),
      features_(world.options.features),
      sorted_(world.options.release >= StructuredRelease::k1_36 &&
              world.options.variant != AllocatorVariant::kStable) {
  AddPools();
  AddRequests();
  for (const NaivePool& pool : pools_) {
    if (pool.incomplete || pool.invalid) continue;
    for (const ResourceSlice* slice : pool.slices) {
      for (const Device& device : slice->spec().devices()) {
        devices_.push_back({&pool, slice, &device});
      }
    }
  }
}

bool NaiveRules::IsIgnored(const ResourceSlice& slice) const {
  const auto& devices = slice.spec().devices();
  return !features_.compatibility_groups &&
         std::any_of(devices.begin(), devices.end(), [](const Device& device) {
           const auto& uses = device.consumes_counters();
           return std::any_of(uses.begin(), uses.end(),
                              [](const auto& use) { return !use.compatibility_groups().empty(); });
         });
}

bool NaiveRules::IsRelevant(const ResourceSlice& slice) const {
  if (!slice.spec().node_name().empty() && slice.spec().node_name() != "node") return false;
  const bool counters = !slice.spec().shared_counters().empty();
  const bool per_device = slice.spec().per_device_node_selection();
  if ((counters || per_device) && !features_.partitionable_devices) return false;
  if (IsIgnored(slice)) return false;
  if (counters) return true;
  const auto& devices = slice.spec().devices();
  return per_device ? std::any_of(devices.begin(), devices.end(), IsForNode<Device>)
                    : IsForNode(slice.spec());
}

void NaiveRules::AddPools() {
  std::vector<std::pair<std::string, std::string>> names;  // in order of appearance
  for (const ResourceSlice& slice : world_.slices) {
    const auto name = std::make_pair(slice.spec().driver(), slice.spec().pool().name());
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (sorted_) std::sort(names.begin(), names.end());
  for (const auto& [driver, name] : names) {
    Slices kept;
    // Slices of the node go before those of several.
    for (const bool of_node : {true, false}) {
      for (const ResourceSlice& slice : world_.slices) {
        const auto& spec = slice.spec();
        if (spec.driver() != driver || spec.pool().name() != name) continue;
        if (spec.node_name().empty() == of_node || !IsRelevant(slice)) continue;
        const int64_t known = kept.empty() ? 0 : kept[0]->spec().pool().generation();
        if (spec.pool().generation() < known) continue;
        if (spec.pool().generation() > known) kept.clear();
        kept.push_back(&slice);
      }
    }
    if (kept.empty()) continue;
    std::optional<NaivePool> pool = PoolOf(kept);
    if (pool.has_value()) pools_.push_back(*std::move(pool));
  }
  if (world_.options.variant == AllocatorVariant::kStable) return;
  std::stable_partition(pools_.begin(), pools_.end(),
                        [](const NaivePool& pool) { return !pool.conditions; });
}

std::optional<NaivePool> NaiveRules::PoolOf(const Slices& relevant) const {
  const auto& first = relevant[0]->spec();
  NaivePool pool;
  pool.driver = first.driver();
  pool.name = first.pool().name();
  const int64_t wanted = first.pool().resource_slice_count();
  if (static_cast<int64_t>(relevant.size()) != wanted) {
    int64_t count = 0;
    for (const ResourceSlice& slice : world_.slices) {
      const auto& spec = slice.spec();
      if (spec.driver() != pool.driver || spec.pool().name() != pool.name) continue;
      if (IsIgnored(slice)) continue;
      if (spec.pool().generation() > first.pool().generation()) return std::nullopt;
      if (spec.pool().generation() < first.pool().generation()) continue;
      ++count;
      const bool is_relevant =
          std::find(relevant.begin(), relevant.end(), &slice) != relevant.end();
      if (!is_relevant) pool.others.push_back(&slice);
    }
    pool.incomplete = count != wanted;
  }
  if (!pool.incomplete) pool.invalid = !FillPool(relevant, &pool);
  pool.conditions = pool.conditions && !pool.invalid;
  return pool;
}

bool NaiveRules::FillPool(const Slices& relevant, NaivePool* pool) const {
  Slices order = relevant;
  if (sorted_) {
    std::sort(order.begin(), order.end(),
              [](const ResourceSlice* left, const ResourceSlice* right) {
                return left->metadata().name() < right->metadata().name();
              });
  }
  std::set<std::string> names;
  for (const ResourceSlice* slice : order) {
    if (slice->spec().shared_counters().empty()) pool->slices.push_back(slice);
    for (const Device& device : slice->spec().devices()) {
      if (!names.insert(device.name()).second) return false;
      pool->conditions = pool->conditions || !device.binding_conditions().empty();
    }
  }
  if (!features_.partitionable_devices) return true;
  Slices all = order;
  all.insert(all.end(), pool->others.begin(), pool->others.end());
  std::set<std::string> sets;
  for (const ResourceSlice* slice : all) {
    for (const auto& set : slice->spec().shared_counters()) {
      if (!sets.insert(set.name()).second) return false;
      for (const auto& [name, counter] : set.counters()) {
        pool->totals[{set.name(), name}] = NaiveMilli(counter.value());
      }
    }
  }
  for (const ResourceSlice* slice : all) {
    for (const Device& device : slice->spec().devices()) {
      for (const auto& use : device.consumes_counters()) {
        if (!sets.contains(use.counter_set())) return false;
        for (const auto& [name, counter] : use.counters()) {
          if (!pool->totals.contains({use.counter_set(), name})) return false;
        }
      }
    }
  }
  return true;
}

template <typename Request>
void NaiveRules::AddRequest(const Request& given, NaiveRequest request,
                            std::vector<NaiveRequest>* alternatives) {
  request.class_name = given.device_class_name();
  bool known = false;
  for (const auto& device_class : world_.classes) {
    if (device_class.metadata().name() != request.class_name) continue;
    known = true;
    for (const auto& selector : device_class.spec().selectors()) {
      request.selectors.push_back(selector.cel().expression());
    }
  }
  for (const auto& one : given.selectors()) request.selectors.push_back(one.cel().expression());
  request.all = given.allocation_mode() == "All";
  request.count = given.count();
  request.tolerations.assign(given.tolerations().begin(), given.tolerations().end());
  for (const auto& [name, amount] : given.capacity().requests()) {
    request.capacity[name] = NaiveMilli(amount);
  }
  request.derived.assign(given.derived_attributes().begin(), given.derived_attributes().end());
  bad_request_ = bad_request_ || !known ||
                 (given.has_capacity() && !features_.consumable_capacity) ||
                 (!request.derived.empty() && !features_.derived_attributes);
  alternatives->push_back(std::move(request));
}

void NaiveRules::AddRequests() {
  for (size_t claim = 0; claim < world_.claims.size(); ++claim) {
    requests_.emplace_back();
    const auto& devices = world_.claims[claim].spec().devices();
    for (const auto& given : devices.requests()) {
      requests_.back().emplace_back();
      NaiveRequest request;
      request.claim = claim;
      request.group = given.name();
      for (const auto& sub : given.first_available()) {
        request.sub = sub.name();
        AddRequest(sub, request, &requests_.back().back());
      }
      bad_request_ =
          bad_request_ || (!given.first_available().empty() && !features_.prioritized_list);
      if (!given.first_available().empty()) continue;
      request.admin = given.exactly().admin_access();
      bad_request_ =
          bad_request_ || (given.exactly().has_admin_access() && !features_.admin_access);
      AddRequest(given.exactly(), request, &requests_.back().back());
    }
    for (const auto& constraint : devices.constraints()) {
      bad_request_ = bad_request_ || (constraint.has_distinct_attribute() &&
                                      world_.options.variant == AllocatorVariant::kStable);
    }
  }
}

bool NaiveRules::IsShared(const NaiveDevice& device) const {
  return features_.consumable_capacity && device.device->allow_multiple_allocations();
}

bool NaiveRules::IsTainted(const NaiveRequest& request, const NaiveDevice& device) const {
  if (!features_.device_taints) return false;
  const auto& taints = device.device->taints();
  return std::any_of(taints.begin(), taints.end(), [&request](const DeviceTaint& taint) {
    if (taint.effect() == "None") return false;
    return std::none_of(
        request.tolerations.begin(), request.tolerations.end(),
        [&taint](const DeviceToleration& one) { return NaiveTolerates(one, taint); });
  });
}

bool NaiveRules::IsDedicated(const NaiveDevice& device) const {
  const DeviceId id = {device.pool->driver, device.pool->name, device.device->name()};
  const auto& held = world_.use.dedicated;
  return std::find(held.begin(), held.end(), id) != held.end();
}

bool NaiveRules::IsHeldInShares(const NaivePool& pool, const std::string& device) const {
  const DeviceId id = {pool.driver, pool.name, device};
  const auto& held = world_.use.shared;
  return std::find(held.begin(), held.end(), id) != held.end();
}

bool NaiveRules::IsHeld(const NaivePool& pool, const std::string& device) const {
  const DeviceId id = {pool.driver, pool.name, device};
  const auto& held = world_.use.dedicated;
  return std::find(held.begin(), held.end(), id) != held.end() || IsHeldInShares(pool, device);
}

NaiveVerdict NaiveRules::Selectable(const NaiveRequest& request, const NaiveDevice& device) const {
  const auto& spec = device.slice->spec();
  if (!spec.skip_node_operations().empty()) {
    if (!features_.optional_node_operations || world_.node.status().declared_features().empty()) {
      return NaiveVerdict::kNo;
    }
  }
  if (!device.device->binding_conditions().empty() && !features_.device_binding_and_status) {
    return NaiveVerdict::kNo;
  }
  for (const std::string& selector : request.selectors) {
    const std::optional<bool> selects = NaiveSelects(selector, device.pool->driver, *device.device);
    if (!selects.has_value()) return NaiveVerdict::kError;
    if (!*selects) return NaiveVerdict::kNo;
  }
  if (spec.per_device_node_selection() && !IsForNode(*device.device)) return NaiveVerdict::kNo;
  if (!features_.consumable_capacity) return NaiveVerdict::kYes;
  return Demand(request, *device.device).has_value() ? NaiveVerdict::kYes : NaiveVerdict::kNo;
}

std::optional<std::vector<NaiveDevice>> NaiveRules::ListAll(const NaiveRequest& request) const {
  for (const NaivePool& pool : pools_) {
    if (pool.incomplete || pool.invalid) return std::nullopt;
  }
  std::vector<NaiveDevice> list;
  for (const NaiveDevice& device : devices_) {
    const NaiveVerdict verdict = Selectable(request, device);
    if (verdict == NaiveVerdict::kError) return std::nullopt;
    if (verdict == NaiveVerdict::kYes) list.push_back(device);
  }
  return list;
}

std::optional<std::map<std::string, int64_t>> NaiveRules::Demand(const NaiveRequest& request,
                                                                 const Device& device) const {
  for (const auto& [name, amount] : request.capacity) {
    if (!device.capacity().contains(name)) return std::nullopt;
  }
  std::map<std::string, int64_t> demand;
  bool enough = true;
  for (const auto& [name, capacity] : device.capacity()) {
    const auto& policy = capacity.request_policy();
    const bool ranged = policy.has_valid_range();
    const auto& range = policy.valid_range();
    const int64_t value = NaiveMilli(capacity.value());
    const auto asked = request.capacity.find(name);
    const bool has_default = policy.has_default_value();
    int64_t amount = has_default ? NaiveMilli(policy.default_value()) : value;
    // A step below one needs the gate, or else counts as one.
    const int64_t unit = features_.fractional_capacity_range ? 1 : 1000;
    const int64_t step = ranged && range.has_step() ? NaiveCeil(NaiveMilli(range.step()), unit) : 0;
    if (asked != request.capacity.end()) {
      amount = asked->second;
      if (ranged) {
        const int64_t min = NaiveMilli(range.min());
        if (amount < min) {
          amount = min;
        } else if (step > 0) {
          amount = min + NaiveCeil(NaiveCeil(amount, unit) - min, step);
        }
      }
      for (const std::string& one : policy.valid_values()) {
        if (asked->second > NaiveMilli(one)) continue;
        amount = NaiveMilli(one);
        break;
      }
    }
    demand[name] = amount;
    const bool is_default = has_default && amount == NaiveMilli(policy.default_value());
    if (ranged && !is_default) {
      if (range.has_max() && amount > NaiveMilli(range.max())) enough = false;
      if (step > 0 && (NaiveCeil(amount, unit) - NaiveMilli(range.min())) % step != 0)
        enough = false;
    }
    const auto& values = policy.valid_values();
    const bool listed = std::any_of(values.begin(), values.end(), [amount](const std::string& one) {
      return NaiveMilli(one) == amount;
    });
    if (!values.empty() && !listed && !is_default) enough = false;
    if (amount > value) enough = false;
  }
  if (!enough) return std::nullopt;
  return demand;
}

std::optional<std::set<std::string>> NaiveRules::ValuesOf(const std::string& attribute,
                                                          const NaiveTaken& taken) const {
  std::set<std::string> values;
  for (const auto& derived : taken.request->derived) {
    if (derived.name() != attribute) continue;
    const auto value = NaiveDerives(derived.expression(), *taken.device.device);
    if (!value.has_value()) return std::nullopt;
    values.insert(absl::StrCat(*value));
    return values;
  }
  const auto& attributes = taken.device.device->attributes();
  auto found = attributes.find(attribute);
  const size_t slash = attribute.find('/');
  if (found == attributes.end() && attribute.substr(0, slash) == taken.device.pool->driver) {
    found = attributes.find(attribute.substr(slash + 1));
  }
  if (found == attributes.end()) return values;
  if (found->second.has_int_value()) values.insert(absl::StrCat(found->second.int_value()));
  for (const int64_t one : found->second.ints()) values.insert(absl::StrCat(one));
  return values;
}

NaiveVerdict NaiveRules::ConstraintsHold(size_t claim, const std::vector<NaiveTaken>& taken) const {
  for (const auto& constraint : world_.claims[claim].spec().devices().constraints()) {
    const bool distinct = constraint.has_distinct_attribute();
    const std::string& attribute =
        distinct ? constraint.distinct_attribute() : constraint.match_attribute();
    std::vector<std::set<std::string>> seen;
    for (const NaiveTaken& one : taken) {
      if (one.request->claim != claim) continue;
      const auto& names = constraint.requests();
      const bool applies =
          names.empty() || std::any_of(names.begin(), names.end(), [&one](const std::string& name) {
            return name == one.request->group || one.request->ResultNameIs(name);
          });
      if (!applies) continue;
      const auto values = ValuesOf(attribute, one);
      if (!values.has_value()) return NaiveVerdict::kError;
      if (values->empty()) return NaiveVerdict::kNo;
      seen.push_back(*values);
    }
    std::map<std::string, size_t> holders;
    for (const std::set<std::string>& values : seen) {
      for (const std::string& value : values) ++holders[value];
    }
    const bool holds = distinct ? std::all_of(holders.begin(), holders.end(),
                                              [](const auto& one) { return one.second == 1; })
                                : seen.empty() || std::any_of(holders.begin(), holders.end(),
                                                              [&seen](const auto& one) {
                                                                return one.second == seen.size();
                                                              });
    if (!holds) return NaiveVerdict::kNo;
  }
  return NaiveVerdict::kYes;
}

bool NaiveRules::CountersAllow(const std::vector<NaiveTaken>& taken) const {
  return std::all_of(pools_.begin(), pools_.end(), [&](const NaivePool& pool) {
    return CountersSuffice(pool, taken) && GroupsAgree(pool, taken);
  });
}

bool NaiveRules::CapacitiesSuffice(const std::vector<NaiveTaken>& taken) const {
  if (!features_.consumable_capacity) return true;
  std::map<const Device*, std::map<std::string, int64_t>> sums;
  for (const NaiveTaken& one : taken) {
    const auto demand = Demand(*one.request, *one.device.device);
    if (!demand.has_value()) return false;
    if (!IsShared(one.device)) continue;
    auto& sum = sums[one.device.device];
    if (sum.empty()) {
      const auto held = world_.use.consumed.find(
          {one.device.pool->driver, one.device.pool->name, one.device.device->name()});
      if (held != world_.use.consumed.end()) {
        for (const auto& [name, amount] : held->second) sum[name] = amount.MilliValue();
      }
    }
    for (const auto& [name, amount] : *demand) {
      sum[name] += amount;
      if (sum[name] > NaiveMilli(one.device.device->capacity().at(name).value())) return false;
    }
  }
  return true;
}

// Devices of the pool that pay for counters now, each once.
std::vector<const Device*> NaiveRules::Charged(const NaivePool& pool,
                                               const std::vector<NaiveTaken>& taken) const {
  std::vector<const Device*> charged;
  for (const NaiveTaken& one : taken) {
    if (one.device.pool != &pool || one.device.device->consumes_counters().empty()) continue;
    if (one.request->admin && !world_.options.strict_upstream) continue;
    if (IsShared(one.device)) {
      const bool known =
          std::find(charged.begin(), charged.end(), one.device.device) != charged.end();
      if (known || IsHeldInShares(pool, one.device.device->name())) continue;
    }
    charged.push_back(one.device.device);
  }
  return charged;
}

bool NaiveRules::CountersSuffice(const NaivePool& pool,
                                 const std::vector<NaiveTaken>& taken) const {
  const std::vector<const Device*> charged = Charged(pool, taken);
  if (charged.empty()) return true;
  std::map<NaiveCounter, int64_t> left = pool.totals;
  const auto pay = [&left](const Device& device) {
    for (const auto& use : device.consumes_counters()) {
      for (const auto& [name, counter] : use.counters()) {
        left[{use.counter_set(), name}] -= NaiveMilli(counter.value());
      }
    }
  };
  Slices all = pool.slices;
  all.insert(all.end(), pool.others.begin(), pool.others.end());
  for (const ResourceSlice* slice : all) {
    for (const Device& device : slice->spec().devices()) {
      if (IsHeld(pool, device.name())) pay(device);
    }
  }
  for (const Device* device : charged) pay(*device);
  return std::none_of(left.begin(), left.end(), [](const auto& one) { return one.second < 0; });
}

bool NaiveRules::GroupsAgree(const NaivePool& pool, const std::vector<NaiveTaken>& taken) const {
  if (!features_.compatibility_groups) return true;
  const std::vector<const Device*> charged = Charged(pool, taken);
  std::map<std::string, std::vector<std::set<std::string>>> by_set;
  std::set<std::string> touched;
  const auto add = [&by_set](const Device& device, std::set<std::string>* sets) {
    for (const auto& use : device.consumes_counters()) {
      by_set[use.counter_set()].emplace_back(use.compatibility_groups().begin(),
                                             use.compatibility_groups().end());
      if (sets != nullptr) sets->insert(use.counter_set());
    }
  };
  Slices all = pool.slices;
  all.insert(all.end(), pool.others.begin(), pool.others.end());
  for (const ResourceSlice* slice : all) {
    for (const Device& device : slice->spec().devices()) {
      if (IsHeld(pool, device.name())) add(device, nullptr);
    }
  }
  for (const Device* device : charged) add(*device, &touched);
  return std::all_of(touched.begin(), touched.end(), [&by_set](const std::string& set) {
    const auto& lists = by_set.at(set);
    if (lists.size() == 1) return true;
    if (lists[0].empty()) {
      return std::all_of(lists.begin(), lists.end(), [](const auto& one) { return one.empty(); });
    }
    return std::any_of(lists[0].begin(), lists[0].end(), [&lists](const std::string& group) {
      return std::all_of(lists.begin(), lists.end(),
                         [&group](const auto& one) { return one.contains(group); });
    });
  });
}

}  // namespace drasim
