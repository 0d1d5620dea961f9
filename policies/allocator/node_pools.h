// NodePools: the resource pools that a node can use, as the allocator walks through them.
//
// Source: k8s.io/dynamic-resource-allocation/structured/internal (GatherPools), release 0.37.2.
#ifndef DRASIM_POLICIES_ALLOCATOR_NODE_POOLS_H_
#define DRASIM_POLICIES_ALLOCATOR_NODE_POOLS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "model/proto/kube.pb.h"
#include "policies/allocator/allocator_options.h"
#include "policies/allocator/device_catalog.h"
#include "policies/allocator/release_rules.h"
#include "policies/allocator/shared_answers.h"

namespace drasim {

// A device's share of one counter of its pool.
struct CounterUse {
  uint32_t counter = 0;
  ExactAmount amount = 0;
};

// The compatibility groups under which a device uses one counter set of its pool.
struct GroupUse {
  uint32_t set = 0;
  std::vector<TextId> groups;  // sorted
};

// A pool as some node sees it. Nodes that see the same slices share it.
struct PoolView {
  uint32_t id = 0;    // dense within NodePools
  uint32_t pool = 0;  // of the catalog
  bool incomplete = false;
  bool invalid = false;
  std::string invalid_reason;
  bool has_binding_conditions = false;
  std::vector<uint32_t> slices;       // with devices for the node, in the order of the search
  std::vector<uint32_t> all_slices;   // and those for other nodes
  std::vector<ExactAmount> counters;  // totals, by counter
  std::vector<TextId> counter_names;  // within their sets, by counter
  size_t counter_sets = 0;
  std::vector<uint32_t> set_of_counter;
  std::vector<uint32_t> counter_slices;  // by counter, where counters belong to slices
  std::vector<uint32_t> consumers;       // devices of all_slices that consume counters
  absl::flat_hash_map<uint32_t, std::vector<CounterUse>> uses;
  absl::flat_hash_map<uint32_t, std::vector<GroupUse>> group_uses;  // empty without the gate
};

// Devices that follow one another in a pool.
struct DeviceSegment {
  const PoolView* pool = nullptr;
  uint32_t begin = 0;  // devices of the catalog
  uint32_t end = 0;
  bool per_device_nodes = false;  // devices name their own nodes
  bool skips_node_operations = false;
};

struct NodeView {
  uint32_t id = 0;                              // dense within NodePools
  std::string error;                            // a node selector that cannot be read
  std::vector<const PoolView*> pools;           // in the order of the search
  std::vector<DeviceSegment> segments;          // of the pools that are complete and valid
  absl::flat_hash_map<uint32_t, bool> allowed;  // devices of segments with per_device_nodes
  bool any_invalid = false;
  // Where invalid pools end the search: it comes to this one before the segment.
  const PoolView* invalid_pool = nullptr;
  size_t invalid_before_segment = 0;
  bool declares_node_operations = false;

  // Whether devices of the segment may be taken, as far as optional node operations go. `gate`:
  // DRAOptionalNodeOperations.
  bool FitsOperations(const DeviceSegment& segment, bool gate) const {
    return !segment.skips_node_operations || (gate && declares_node_operations);
  }
  // Whether the device, which names its own nodes if the segment says so, is for this node.
  bool Allows(const DeviceSegment& segment, uint32_t device) const {
    return !segment.per_device_nodes || allowed.at(device);
  }
};

// A device within a view.
struct DevicePlace {
  uint32_t segment = 0;
  uint32_t device = 0;

  friend bool operator==(const DevicePlace&, const DevicePlace&) = default;
  friend bool operator<(const DevicePlace& left, const DevicePlace& right) {
    return left.segment != right.segment ? left.segment < right.segment
                                         : left.device < right.device;
  }
};

// An amount of a counter that held devices took beyond what the slices say.
struct CounterDrift {
  std::string driver;
  std::string pool;
  std::string set;
  std::string counter;
  ExactAmount amount = 0;  // negative: they took less

  friend bool operator==(const CounterDrift&, const CounterDrift&) = default;
};

class NodePools {
 public:
  // Counters of the pools are less by `drift`.
  NodePools(const AllocatorOptions& options, std::shared_ptr<DeviceCatalog> catalog,
            std::vector<CounterDrift> drift = {});

  const AllocatorOptions& options() const { return options_; }
  const ReleaseRules& rules() const { return rules_; }
  DeviceCatalog& catalog() const { return *catalog_; }
  std::shared_ptr<const DeviceCatalog> shared_catalog() const { return catalog_; }

  // Kept by the node's name, labels and declared features; valid as long as this object.
  const NodeView& ViewOf(const proto::kube::Node& node);

  size_t view_count() const { return pools_.size(); }
  size_t node_count() const { return free_states_.size(); }

  // Views of a pool of the catalog, by PoolView::id, and nodes that see it, by NodeView::id.
  absl::Span<const uint32_t> ViewsOfPool(uint32_t pool) const { return views_of_pool_[pool]; }
  absl::Span<const uint32_t> NodesOfPool(uint32_t pool) const { return nodes_of_pool_[pool]; }

  // For NodeStates: states of nodes of which nothing is held, shapes of pools, and the answers by
  // state. kNoState: not yet known.
  static constexpr uint32_t kNoState = ~uint32_t{0};
  SharedAnswers& shared_answers() { return shared_answers_; }
  uint32_t& free_state(uint32_t node) { return free_states_[node]; }
  uint32_t& shape(uint32_t view) { return shapes_[view]; }
  void ForgetStates();

  // A word for each device, zero: scratch of a search, which hands it back in that state.
  std::vector<uint64_t> TakeMarks();
  void ReturnMarks(std::vector<uint64_t> marks) { marks_ = std::move(marks); }

 private:
  // In the order in which the pools are listed, which is that of the stable variant.
  using SlicesByPool = std::map<uint32_t, std::vector<uint32_t>>;

  void Build(const proto::kube::Node& node, NodeView* view);
  absl::Status GatherSlices(const proto::kube::Node& node, SlicesByPool* by_pool) const;
  absl::StatusOr<bool> IsRelevant(const CatalogSlice& slice, const proto::kube::Node& node) const;
  bool IsIgnored(const CatalogSlice& slice) const;
  bool HasPoolCounters(const CatalogSlice& slice) const;
  // Null: the pool is obsolete.
  const PoolView* PoolViewOf(uint32_t pool, const std::vector<uint32_t>& slices);
  const PoolView* Intern(uint32_t pool, const std::vector<uint32_t>& slices,
                         const std::vector<uint32_t>& others, bool incomplete);
  // Makes the view invalid if so; otherwise looks for binding conditions.
  bool HasDuplicateName(PoolView* view);
  void FillPool(const std::vector<uint32_t>& others, PoolView* view);
  // Counter sets and counters of a pool by name.
  struct CounterNames {
    std::map<std::string, uint32_t> sets;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> numbers;  // of set and name
  };
  absl::Status FillUses(uint32_t index, const CounterNames& names, PoolView* view) const;
  // The same where every slice has its own counter sets: what a slice does not have is not checked.
  void FillSliceCounters(uint32_t index, PoolView* view) const;
  absl::Status FillCounters(const std::vector<uint32_t>& counter_slices,
                            const std::vector<uint32_t>& order, PoolView* view) const;
  // Takes the drift of a counter off.
  void ApplyDrift(const SliceCounter& counter, PoolView* view) const;
  void SortPools(std::vector<const PoolView*>* pools) const;

  AllocatorOptions options_;
  ReleaseRules rules_;
  std::shared_ptr<DeviceCatalog> catalog_;
  std::vector<CounterDrift> drift_;
  std::vector<std::unique_ptr<PoolView>> pools_;
  std::map<std::vector<uint32_t>, const PoolView*> pool_index_;
  absl::flat_hash_map<std::string, std::unique_ptr<NodeView>> nodes_;
  std::vector<std::vector<uint32_t>> views_of_pool_;  // by pool of the catalog
  std::vector<std::vector<uint32_t>> nodes_of_pool_;
  SharedAnswers shared_answers_;
  std::vector<uint32_t> free_states_;  // by NodeView::id
  std::vector<uint32_t> shapes_;       // by PoolView::id
  std::vector<uint64_t> marks_;
  std::vector<uint32_t> name_marks_;  // by row of the inventory: the pool that had it last
  uint32_t name_mark_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_NODE_POOLS_H_
