#include "gui/view/inspect_node.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gui/view/wants_text.h"
#include "model/text/did_you_mean.h"
#include "model/text/shown_text.h"

namespace drasim::view {
namespace {

std::string NodeChangeText(NodeChangeKind kind) {
  switch (kind) {
    case NodeChangeKind::kAvailable:
      return "available";
    case NodeChangeKind::kUnavailable:
      return "fails or leaves";
    case NodeChangeKind::kCordoned:
      return "cordoned";
    case NodeChangeKind::kUncordoned:
      return "uncordoned";
  }
  return "";
}

std::string DeviceChangeText(const Record& record) {
  const std::string gpus =
      absl::StrCat(record.devices.size() == 1 ? "GPU " : "GPUs ",
                   absl::StrJoin(record.devices.begin(), record.devices.end(), ", "));
  switch (static_cast<DeviceChangeKind>(record.detail)) {
    case DeviceChangeKind::kUnhealthy:
      return absl::StrCat(gpus, " unhealthy");
    case DeviceChangeKind::kHealthy:
      return absl::StrCat(gpus, " healthy");
    case DeviceChangeKind::kPluginGone:
      return "the device plugin is gone";
    case DeviceChangeKind::kPluginBack:
      return "the device plugin is back";
    case DeviceChangeKind::kLayoutChanged:
      return absl::StrCat("new MIG layout on ", gpus);
    case DeviceChangeKind::kAllocatable:
      return "reports other amounts";
    case DeviceChangeKind::kLayoutBegun:
      return absl::StrCat("a change of MIG layout begins on ", gpus);
  }
  return "";
}

}  // namespace

std::string NodeEventText(const Record& record) {
  if (record.kind == RecordKind::kDevicesChanged) return DeviceChangeText(record);
  return NodeChangeText(static_cast<NodeChangeKind>(record.detail));
}

bool TakesNoPods(const Record& record) {
  if (record.kind != RecordKind::kNodeChanged) return false;
  const auto change = static_cast<NodeChangeKind>(record.detail);
  return change == NodeChangeKind::kUnavailable || change == NodeChangeKind::kCordoned;
}

// The lowest height at which the part overlaps no present share of the same device.
int32_t NodeInspector::FreeOffset(const HeldPart& part) const {
  if (part.start >= 0) return part.start;
  int32_t offset = 0;
  bool moved = true;
  while (moved) {
    moved = false;
    for (const size_t i : open_) {
      const NodeSlot& other = slots_[i];
      if (other.part.device != part.device || other.part.start >= 0) continue;
      if (offset + part.size <= other.offset || other.offset + other.part.size <= offset) continue;
      offset = other.offset + other.part.size;
      moved = true;
    }
  }
  // Gaps may be too small for it although their sum is not: it then overlaps at the upper end.
  return std::max(0, std::min(offset, part.whole - part.size));
}

void NodeInspector::Open(PodId pod, SimTime time, const ClusterState& cluster) {
  for (HeldPart& part : HeldPartsOf(cluster, pod)) {
    NodeSlot slot;
    slot.offset = FreeOffset(part);
    slot.part = std::move(part);
    slot.pod = pod;
    slot.pod_name = std::string(cluster.pod_name(pod));
    slot.from = time;
    slot.open = true;
    open_.push_back(slots_.size());
    slots_.push_back(std::move(slot));
  }
}

void NodeInspector::Close(PodId pod, SimTime time) {
  const auto closes = [&](size_t i) {
    if (slots_[i].pod != pod) return false;
    slots_[i].to = time;
    slots_[i].open = false;
    return true;
  };
  open_.erase(std::remove_if(open_.begin(), open_.end(), closes), open_.end());
  stays_.erase(std::remove_if(stays_.begin(), stays_.end(),
                              [&](const Stay& stay) { return stay.pod == pod; }),
               stays_.end());
}

void NodeInspector::Seed(const ClusterState& cluster, absl::FunctionRef<SimTime(PodId)> since) {
  for (const PodId pod : cluster.pods_on(node_)) stays_.push_back({pod, since(pod)});
  std::stable_sort(stays_.begin(), stays_.end(),
                   [](const Stay& a, const Stay& b) { return a.since < b.since; });
  for (const Stay& stay : stays_) Open(stay.pod, stay.since, cluster);
}

void NodeInspector::Add(const Record& record, const ClusterState& cluster) {
  if (record.node != node_) return;
  const auto is_here = [&] {
    return std::any_of(stays_.begin(), stays_.end(),
                       [&](const Stay& stay) { return stay.pod == record.pod; });
  };
  switch (record.kind) {
    case RecordKind::kPodReserved:
    case RecordKind::kPodBound:
      // A reserved pod has its slots already.
      if (is_here()) break;
      stays_.push_back({record.pod, record.time});
      Open(record.pod, record.time, cluster);
      break;
    case RecordKind::kPodAdmitted:
      Open(record.pod, record.time, cluster);
      break;
    case RecordKind::kPodUnreserved:
    case RecordKind::kPodFinished:
    case RecordKind::kPodEvicted:
    case RecordKind::kPodFailed:
    case RecordKind::kPodDeleted:
    case RecordKind::kPodRejected:
      Close(record.pod, record.time);
      break;
    case RecordKind::kNodeChanged:
    case RecordKind::kDevicesChanged:
      events_.push_back({record.time, NodeEventText(record)});
      break;
    case RecordKind::kPodArrived:
    case RecordKind::kAttemptFailed:
    case RecordKind::kPodDropped:
    case RecordKind::kRunEnded:
    case RecordKind::kPodStarted:
      break;
  }
}

NodeInspection NodeInspector::Inspect(SimTime now, const ClusterState& cluster,
                                      std::optional<LayoutOfGpu> layouts) const {
  NodeInspection result;
  result.node = node_;
  result.now = now;
  result.figures = NodeFigures(cluster, node_, layouts);
  result.slots = slots_;
  for (NodeSlot& slot : result.slots) {
    if (slot.open) slot.to = now;
  }
  result.events = events_;
  for (const Stay& stay : stays_) {
    ResidentPod pod;
    pod.pod = stay.pod;
    pod.name = std::string(cluster.pod_name(stay.pod));
    pod.wants = WantsText(cluster.pod_shape(stay.pod));
    pod.devices = HeldDevicesText(cluster, stay.pod);
    pod.since = stay.since;
    result.pods.push_back(std::move(pod));
  }
  result.room = RoomByProfile(cluster, node_, layouts);
  const NodeRow& row = cluster.node(node_);
  result.gpus_idle = row.gpu_full_idle;
  result.largest_idle_milli = row.gpu_milli_idle_max;
  return result;
}

NodeId FindNode(const ClusterState& cluster, absl::string_view name) {
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    if (cluster.node_spec(NodeId(n)).name == name) return NodeId(n);
  }
  return NodeId();
}

absl::StatusOr<NodeId> RequireNode(const ClusterState& cluster, const std::string& name,
                                   absl::string_view path) {
  const NodeId node = FindNode(cluster, name);
  if (node.valid()) return node;
  std::vector<std::string> known;
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    known.push_back(cluster.node_spec(NodeId(n)).name);
  }
  return absl::NotFoundError(
      absl::StrCat(path, ": no node '", ShownText(name), "'", Suggest(name, known)));
}

}  // namespace drasim::view
