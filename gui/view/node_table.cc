#include "gui/view/node_table.h"

#include <array>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "gui/view/held_devices.h"
#include "model/check.h"
#include "model/number_text.h"
#include "model/pod_shape.h"

namespace drasim::view {
namespace {

constexpr double kBytesOfGib = 1 << 30;

std::string OfText(double part, double whole, int decimals) {
  return absl::StrCat(FixedText(part, decimals), " of ", FixedText(whole, decimals));
}

}  // namespace

absl::string_view NodeStateName(NodeState state) {
  switch (state) {
    case NodeState::kReady:
      return "ready";
    case NodeState::kCordoned:
      return "cordoned";
    case NodeState::kAbsent:
      return "absent";
  }
  return "";
}

NodeState NodeStateOf(const ClusterState& cluster, NodeId node) {
  const NodeRow& row = cluster.node(node);
  if (!row.available) return NodeState::kAbsent;
  return row.schedulable ? NodeState::kReady : NodeState::kCordoned;
}

NodeTableRow NodeFigures(const ClusterState& cluster, NodeId id,
                         std::optional<LayoutOfGpu> layouts) {
  const NodeSpec& spec = cluster.node_spec(id);
  const NodeRow& node = cluster.node(id);
  NodeTableRow row;
  row.name = spec.name;
  row.model = GpuModelText(spec);
  row.state = NodeStateOf(cluster, id);
  row.pods = static_cast<int64_t>(cluster.pods_on(id).size());
  row.gpus = node.gpu_count;
  const std::vector<int32_t> allocated = AllocatedOnDevices(cluster, id);
  row.gpu_milli = std::accumulate(allocated.begin(), allocated.end(), int64_t{0});
  row.slices = SlicesOf(cluster, id, layouts);
  row.cpu_milli = spec.cpu_milli - node.cpu_milli_idle;
  row.cpu_milli_capacity = spec.cpu_milli;
  row.memory_bytes = spec.memory_bytes - node.memory_bytes_idle;
  row.memory_bytes_capacity = spec.memory_bytes;
  return row;
}

NodeTable::NodeTable(const ClusterState& cluster, std::optional<LayoutOfGpu> layouts) {
  rows_.reserve(cluster.node_count());
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    rows_.push_back(NodeFigures(cluster, NodeId(n), layouts));
  }
}

void NodeTable::Update(const ClusterState& cluster, NodeId node,
                       std::optional<LayoutOfGpu> layouts) {
  rows_[node.value()] = NodeFigures(cluster, node, layouts);
}

absl::Span<const TableColumn> NodeTable::columns() const {
  using Kind = TableColumn::Kind;
  static const auto* const columns =
      new std::array<TableColumn, kColumns>{{{"node", Kind::kText},
                                             {"model", Kind::kText},
                                             {"state", Kind::kText},
                                             {"pods", Kind::kNumber},
                                             {"GPUs", Kind::kNumber},
                                             {"GPUs allocated", Kind::kNumber},
                                             {"slices held", Kind::kNumber},
                                             {"slices stranded", Kind::kNumber},
                                             {"CPU cores", Kind::kNumber},
                                             {"memory GiB", Kind::kNumber}}};
  return *columns;
}

int64_t NodeTable::Number(size_t row, size_t column) const {
  const NodeTableRow& node = rows_[row];
  switch (column) {
    case kPods:
      return node.pods;
    case kGpus:
      return node.gpus;
    case kAllocated:
      return node.gpu_milli;
    case kHeld:
      return node.slices.slices == 0 ? kNoNumber : node.slices.held;
    case kStranded:
      return node.slices.slices == 0 ? kNoNumber : node.slices.stranded;
    case kCpu:
      return node.cpu_milli;
    case kMemory:
      return node.memory_bytes;
    default:
      DRASIM_UNREACHABLE("a column of texts has no numbers");
  }
}

absl::string_view NodeTable::Text(size_t row, size_t column) const {
  switch (column) {
    case kName:
      return rows_[row].name;
    case kModel:
      return rows_[row].model;
    case kState:
      return NodeStateName(rows_[row].state);
    default:
      DRASIM_UNREACHABLE("a column of numbers has no texts");
  }
}

std::string NodeTable::Shown(size_t row, size_t column) const {
  const NodeTableRow& node = rows_[row];
  switch (column) {
    case kAllocated:
      return OfText(static_cast<double>(node.gpu_milli) / kDeviceMilli,
                    static_cast<double>(node.gpus), 2);
    case kHeld:
      return node.slices.slices == 0 ? ""
                                     : absl::StrCat(node.slices.held, " of ", node.slices.slices);
    case kCpu:
      return OfText(static_cast<double>(node.cpu_milli) / 1000,
                    static_cast<double>(node.cpu_milli_capacity) / 1000, 1);
    case kMemory:
      return OfText(static_cast<double>(node.memory_bytes) / kBytesOfGib,
                    static_cast<double>(node.memory_bytes_capacity) / kBytesOfGib, 1);
    default:
      return Exact(row, column);
  }
}

std::string NodeTable::Exact(size_t row, size_t column) const {
  if (columns()[column].kind == TableColumn::Kind::kText) return std::string(Text(row, column));
  const int64_t number = Number(row, column);
  if (number == kNoNumber) return "";
  if (column == kAllocated || column == kCpu) {
    return DoubleText(static_cast<double>(number) / 1000);
  }
  if (column == kMemory) return DoubleText(static_cast<double>(number) / kBytesOfGib);
  return absl::StrCat(number);
}

}  // namespace drasim::view
