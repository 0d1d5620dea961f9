#include "policies/allocator/node_states.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/numeric/int128.h"

namespace drasim {
namespace {

// The first word of a content, so that contents of different forms never equal one another.
enum ContentForm : uint64_t { kShape, kHeldPool, kNode, kUnreadableNode };

void AppendExact(const ExactAmount& amount, std::vector<uint64_t>* content) {
  content->push_back(static_cast<uint64_t>(absl::Int128High64(amount)));
  content->push_back(absl::Int128Low64(amount));
}

// Charges of a device to the counters and groups of its pool. Counters and sets are numbered in
// the order of the pool, so names do not occur.
void AppendCharge(const PoolView& pool, uint32_t device, std::vector<uint64_t>* content) {
  const auto uses = pool.uses.find(device);
  content->push_back(uses == pool.uses.end() ? 0 : 1 + uses->second.size());
  if (uses == pool.uses.end()) return;
  for (const CounterUse& use : uses->second) {
    content->push_back(use.counter);
    AppendExact(use.amount, content);
  }
  const auto groups = pool.group_uses.find(device);
  if (groups == pool.group_uses.end()) return;
  content->push_back(groups->second.size());
  for (const GroupUse& group : groups->second) {
    content->push_back(group.set);
    content->push_back(group.groups.size());
    for (const TextId name : group.groups) content->push_back(name.value());
  }
}

}  // namespace

// A node whose state nobody has asked for since it was forgotten is in the list already.
void NodeStates::Forget(uint32_t node) {
  if (node >= states_.size() || states_[node] == kUnknown) return;
  states_[node] = kUnknown;
  const size_t most = 2 * std::max<size_t>(states_.size(), 1024);
  if (changes_.size() >= most) {
    changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(most / 2));
    first_change_ += most / 2;
  }
  changes_.push_back(node);
}

void NodeStates::PoolsChanged(absl::Span<const uint32_t> pools) {
  for (const uint32_t pool : pools) {
    for (const uint32_t view : pools_.ViewsOfPool(pool)) {
      if (view < pool_states_.size()) pool_states_[view] = kUnknown;
    }
    for (const uint32_t node : pools_.NodesOfPool(pool)) Forget(node);
  }
}

void NodeStates::Refresh() {
  SharedAnswers& shared = pools_.shared_answers();
  if (shared.Trim(pools_.node_count())) pools_.ForgetStates();
  if (generation_ == shared.generation()) return;
  generation_ = shared.generation();
  states_.clear();
  pool_states_.clear();
  first_change_ += changes_.size() + 1;
  changes_.clear();
}

uint32_t NodeStates::Find(const NodeView& node) {
  if (states_.size() <= node.id) states_.resize(pools_.node_count(), kUnknown);
  const bool free = std::all_of(node.pools.begin(), node.pools.end(), [this](const PoolView* pool) {
    return use_.HeldIn(pool->pool) == 0;
  });
  const uint32_t state =
      free ? FreeStateOf(node)
           : pools_.shared_answers().node_contents().IdOf(NodeContent(node, false));
  states_[node.id] = state;
  return state;
}

uint32_t NodeStates::FreeStateOf(const NodeView& node) {
  uint32_t& state = pools_.free_state(node.id);
  if (state == NodePools::kNoState) {
    state = pools_.shared_answers().node_contents().IdOf(NodeContent(node, true));
  }
  return state;
}

std::vector<uint64_t> NodeStates::NodeContent(const NodeView& node, bool free) {
  // The error names the node's slices.
  if (!node.error.empty()) return {kUnreadableNode, node.id};
  std::vector<uint64_t> content = {
      kNode, (node.any_invalid ? 1U : 0U) | (node.declares_node_operations ? 2U : 0U),
      node.pools.size()};
  for (const PoolView* pool : node.pools) {
    content.push_back(free ? ShapeOf(*pool) : PoolStateOf(*pool));
  }
  for (const DeviceSegment& segment : node.segments) {
    if (!segment.per_device_nodes) continue;
    for (uint32_t device = segment.begin; device < segment.end; ++device) {
      content.push_back(node.Allows(segment, device) ? 1 : 0);
    }
  }
  return content;
}

uint32_t NodeStates::ShapeOf(const PoolView& pool) {
  uint32_t& shape = pools_.shape(pool.id);
  if (shape == NodePools::kNoState) {
    shape = pools_.shared_answers().pool_contents().IdOf(ShapeContent(pool));
  }
  return shape;
}

std::vector<uint64_t> NodeStates::ShapeContent(const PoolView& pool) const {
  const DeviceCatalog& catalog = pools_.catalog();
  std::vector<uint64_t> content = {kShape, (pool.incomplete ? 1U : 0U) | (pool.invalid ? 2U : 0U)};
  if (pool.invalid) return content;  // nothing is taken of it
  content.push_back(pool.counter_sets);
  content.push_back(pool.counters.size());
  for (const ExactAmount& amount : pool.counters) AppendExact(amount, &content);
  for (const uint32_t slice : pool.counter_slices) {
    const auto place = std::find(pool.slices.begin(), pool.slices.end(), slice);
    content.push_back(static_cast<uint64_t>(place - pool.slices.begin()));
  }
  for (const uint32_t index : pool.slices) {
    const CatalogSlice& slice = catalog.slices()[index];
    const proto::kube::ResourceSliceSpec& spec = slice.slice->spec();
    content.push_back(slice.end_device - slice.first_device);
    content.push_back((spec.per_device_node_selection() ? 1U : 0U) |
                      (spec.skip_node_operations().empty() ? 0U : 2U));
    for (uint32_t device = slice.first_device; device < slice.end_device; ++device) {
      content.push_back(catalog.devices()[device].kind);
      AppendCharge(pool, device, &content);
    }
  }
  return content;
}

uint32_t NodeStates::PoolStateOf(const PoolView& pool) {
  if (use_.HeldIn(pool.pool) == 0 || pool.invalid) return ShapeOf(pool);
  if (pool_states_.size() <= pool.id) pool_states_.resize(pools_.view_count(), kUnknown);
  if (pool_states_[pool.id] != kUnknown) return pool_states_[pool.id];
  const DeviceCatalog& catalog = pools_.catalog();
  std::vector<uint64_t> content = {kHeldPool, ShapeOf(pool)};
  uint64_t number = 0;  // of the device within the pool
  for (const uint32_t index : pool.slices) {
    const CatalogSlice& slice = catalog.slices()[index];
    for (uint32_t device = slice.first_device; device < slice.end_device; ++device, ++number) {
      if (!use_.IsHeld(device)) continue;
      const std::vector<ExactAmount>* consumed = use_.ConsumedOf(device);
      content.push_back(number << 3 | (use_.IsDedicated(device) ? 1U : 0U) |
                        (use_.IsShared(device) ? 2U : 0U) | (consumed == nullptr ? 0U : 4U));
      if (consumed == nullptr) continue;
      for (const ExactAmount& amount : *consumed) AppendExact(amount, &content);
    }
  }
  content.push_back(~uint64_t{0});
  // Devices for other nodes, which take from the same counters.
  for (const uint32_t device : pool.consumers) {
    const uint32_t slice = catalog.devices()[device].slice;
    const bool known =
        std::find(pool.slices.begin(), pool.slices.end(), slice) != pool.slices.end();
    if (!known && use_.IsHeld(device)) AppendCharge(pool, device, &content);
  }
  const bool held = content.size() > 3;  // else devices of slices that do not count
  return pool_states_[pool.id] =
             held ? pools_.shared_answers().pool_contents().IdOf(std::move(content))
                  : ShapeOf(pool);
}

}  // namespace drasim
