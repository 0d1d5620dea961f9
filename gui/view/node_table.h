// The nodes of a cluster at one moment, as a table.
#ifndef DRASIM_GUI_VIEW_NODE_TABLE_H_
#define DRASIM_GUI_VIEW_NODE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gui/view/node_slices.h"
#include "gui/view/table_model.h"
#include "model/cluster_state.h"
#include "model/ids.h"

namespace drasim::view {

enum class NodeState : uint8_t {
  kReady,
  kCordoned,
  kAbsent,  // not added yet, removed, or failed
};
absl::string_view NodeStateName(NodeState state);  // "ready", "cordoned", "absent"
NodeState NodeStateOf(const ClusterState& cluster, NodeId node);

struct NodeTableRow {
  std::string name;
  std::string model;  // of its GPUs; may be empty
  NodeState state = NodeState::kReady;
  int64_t pods = 0;
  int64_t gpus = 0;
  int64_t gpu_milli = 0;  // allocated; of GPUs with MIG instances the share of their slices
  SliceCounts slices;     // zero without MIG
  int64_t cpu_milli = 0;  // allocated
  int64_t cpu_milli_capacity = 0;
  int64_t memory_bytes = 0;  // allocated
  int64_t memory_bytes_capacity = 0;
};

// `layouts`: absent if none is static. O(devices of the node).
NodeTableRow NodeFigures(const ClusterState& cluster, NodeId node,
                         std::optional<LayoutOfGpu> layouts = std::nullopt);

// Independent of the cluster that it was made from.
class NodeTable : public TableSource {
 public:
  enum Column : size_t {
    kName,
    kModel,
    kState,
    kPods,
    kGpus,
    kAllocated,
    kHeld,
    kStranded,
    kCpu,
    kMemory,
    kColumns,
  };

  NodeTable() = default;
  // O(nodes x devices).
  explicit NodeTable(const ClusterState& cluster,
                     std::optional<LayoutOfGpu> layouts = std::nullopt);

  // Brings a row up to date, of a later or earlier state of the same cluster. O(its devices).
  void Update(const ClusterState& cluster, NodeId node,
              std::optional<LayoutOfGpu> layouts = std::nullopt);

  const NodeTableRow& row(size_t node) const { return rows_[node]; }

  // TableSource.
  absl::Span<const TableColumn> columns() const override;
  size_t rows() const override { return rows_.size(); }
  int64_t Number(size_t row, size_t column) const override;
  absl::string_view Text(size_t row, size_t column) const override;
  std::string Shown(size_t row, size_t column) const override;
  std::string Exact(size_t row, size_t column) const override;

 private:
  std::vector<NodeTableRow> rows_;  // by NodeId
};

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_NODE_TABLE_H_
