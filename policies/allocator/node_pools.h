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
  size_t counter_sets = 0;
  std::vector<uint32_t> consumers;  // devices of all_slices that consume counters
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
  std::string error;                            // a node selector that cannot be read
  std::vector<const PoolView*> pools;           // in the order of the search
  std::vector<DeviceSegment> segments;          // of the pools that are complete and valid
  absl::flat_hash_map<uint32_t, bool> allowed;  // devices of segments with per_device_nodes
  bool any_invalid = false;
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

class NodePools {
 public:
  NodePools(const AllocatorOptions& options, std::shared_ptr<DeviceCatalog> catalog);

  const AllocatorOptions& options() const { return options_; }
  DeviceCatalog& catalog() const { return *catalog_; }

  // Kept by the node's name, labels and declared features; valid as long as this object.
  const NodeView& ViewOf(const proto::kube::Node& node);

  size_t view_count() const { return pools_.size(); }

 private:
  // In the order in which the pools are listed, which is that of the stable variant.
  using SlicesByPool = std::map<uint32_t, std::vector<uint32_t>>;

  void Build(const proto::kube::Node& node, NodeView* view);
  absl::Status GatherSlices(const proto::kube::Node& node, SlicesByPool* by_pool) const;
  absl::StatusOr<bool> IsRelevant(const CatalogSlice& slice, const proto::kube::Node& node) const;
  bool IsIgnored(const CatalogSlice& slice) const;
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
  absl::Status FillCounters(const std::vector<uint32_t>& counter_slices,
                            const std::vector<uint32_t>& order, PoolView* view) const;
  void SortPools(std::vector<const PoolView*>* pools) const;

  AllocatorOptions options_;
  std::shared_ptr<DeviceCatalog> catalog_;
  std::vector<std::unique_ptr<PoolView>> pools_;
  std::map<std::vector<uint32_t>, const PoolView*> pool_index_;
  absl::flat_hash_map<std::string, std::unique_ptr<NodeView>> nodes_;
  std::vector<uint32_t> name_marks_;  // by row of the inventory: the pool that had it last
  uint32_t name_mark_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_NODE_POOLS_H_
