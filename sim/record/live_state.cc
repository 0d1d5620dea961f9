#include "sim/record/live_state.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace drasim {

LiveState::LiveState(const ClusterState& cluster, const VerdictSummaryTable* summaries)
    : nodes_(cluster.node_count()), summaries_(summaries) {
  for (size_t n = 0; n < nodes_.size(); ++n) {
    const NodeSpec& spec = cluster.node_spec(NodeId(n));
    LiveNode& node = nodes_[n];
    node.schedulable = !spec.unschedulable;
    node.available = false;
    node.held_milli.assign(static_cast<size_t>(spec.gpu_count), 0);
    for (const std::string& name : cluster.extended_names()) {
      int64_t amount = 0;
      for (const auto& [key, value] : spec.extended) amount = key == name ? value : amount;
      node.allocatable.push_back(amount);
    }
    SetAvailable(&node, !spec.absent);
  }
}

void LiveState::SetAvailable(LiveNode* node, bool available) {
  if (node->available == available) return;
  node->available = available;
  const int sign = available ? +1 : -1;
  totals_.nodes_available += sign;
  totals_.gpu_milli_capacity +=
      sign * int64_t{kDeviceMilli} * static_cast<int64_t>(node->held_milli.size());
}

void LiveState::SetNode(NodeId id, bool schedulable, bool available) {
  nodes_[id.value()].schedulable = schedulable;
  SetAvailable(&nodes_[id.value()], available);
}

void LiveState::Count(RunCounter counter, int64_t amount) {
  int64_t& value = counters_[static_cast<size_t>(counter)];
  if (__builtin_add_overflow(value, amount, &value)) value = std::numeric_limits<int64_t>::max();
}

uint32_t LiveState::RowOf(PodId pod) const {
  return pod.valid() && pod.value() < row_of_.size() ? row_of_[pod.value()] : kNotLive;
}

LivePod* LiveState::Row(PodId pod) {
  const uint32_t row = RowOf(pod);
  return row == kNotLive ? nullptr : &pods_[row];
}

const LivePod* LiveState::Find(PodId pod) const {
  const uint32_t row = RowOf(pod);
  return row == kNotLive ? nullptr : &pods_[row];
}

std::vector<uint32_t> LiveState::RowsByPod() const {
  constexpr size_t kMostArrivedPerLive = 64;
  std::vector<uint32_t> rows;
  rows.reserve(pods_.size());
  if (row_of_.size() / kMostArrivedPerLive <= pods_.size()) {
    for (const uint32_t row : row_of_) {
      if (row != kNotLive) rows.push_back(row);
    }
    return rows;
  }
  for (size_t i = 0; i < pods_.size(); ++i) rows.push_back(static_cast<uint32_t>(i));
  std::sort(rows.begin(), rows.end(),
            [this](uint32_t a, uint32_t b) { return pods_[a].pod < pods_[b].pod; });
  return rows;
}

LivePod* LiveState::AddRow(PodId pod) {
  if (row_of_.size() <= pod.value()) {
    row_of_.resize(pod.value() + size_t{1}, kNotLive);
    slot_.resize(row_of_.size());
  }
  row_of_[pod.value()] = static_cast<uint32_t>(pods_.size());
  LivePod& row = pods_.emplace_back();
  row.pod = pod;
  ++WaitingLike(row);
  return &row;
}

WaitKind LiveState::WaitKindOf(SummaryId failure) {
  if (wait_of_summary_.size() <= failure.value()) {
    wait_of_summary_.resize(failure.value() + size_t{1}, WaitKind::kUntried);
  }
  WaitKind& kind = wait_of_summary_[failure.value()];
  if (kind == WaitKind::kUntried) {
    kind = summaries_->IsNegotiation(failure) ? WaitKind::kDriver : WaitKind::kNoRoom;
  }
  return kind;
}

void LiveState::SetWait(LivePod* row, WaitKind kind) {
  const bool waits = !row->node.valid();
  if (waits) --WaitingLike(*row);
  row->wait = kind;
  if (waits) ++WaitingLike(*row);
}

void LiveState::AddFailures(PodId pod, uint32_t attempts, SummaryId last) {
  LivePod* const row = Row(pod);
  row->history.attempts_failed += attempts;
  row->history.SetFailure(last);
}

void LiveState::AddPod(PodId pod, const PodHistory& history) {
  LivePod* const row = AddRow(pod);
  row->history = history;
  if (history.rejected_last) {
    SetWait(row, WaitKind::kNoRoom);
  } else if (history.last_failure.valid()) {
    SetWait(row, WaitKindOf(history.last_failure));
  }
}

void LiveState::AddResidents(const ClusterState& cluster) {
  for (size_t n = 0; n < nodes_.size(); ++n) {
    for (const PodId pod : cluster.pods_on(NodeId(n))) {
      LivePod* const row = Row(pod);
      Place(row, NodeId(n), cluster.pod_devices(pod), cluster);
      row->phase = cluster.pod_phase(pod);
    }
  }
}

bool LiveState::InUse(const LiveNode& node) const {
  return node.cpu_milli != 0 || std::any_of(node.held_milli.begin(), node.held_milli.end(),
                                            [](int32_t milli) { return milli != 0; });
}

void LiveState::ChargeDevices(const LivePod& row, const ClusterState& cluster, int sign) {
  LiveNode& node = nodes_[row.node.value()];
  const auto hold = [&](size_t device, int32_t milli) {
    int32_t& held = node.held_milli[device];
    const bool before = held != 0;
    held += sign * milli;
    const bool after = held != 0;
    if (before != after) totals_.gpus_in_use += sign;
  };
  const ResourceRequest& request = cluster.pod_shape(row.pod).request;
  if (row.grants.empty()) {
    for (const size_t device : row.devices) hold(device, request.gpu_milli);
    return;
  }
  for (const DeviceGrant& grant : row.grants) {
    hold(grant.device, grant.milli);
    // A pod without a GPU request has only what its claims got.
    if (request.total_gpu_milli() == 0) totals_.gpu_milli_allocated += int64_t{sign} * grant.milli;
  }
}

void LiveState::Charge(const LivePod& row, const ClusterState& cluster, int sign) {
  const ResourceRequest& request = cluster.pod_shape(row.pod).request;
  LiveNode& node = nodes_[row.node.value()];
  node.cpu_milli += sign * request.cpu_milli;
  totals_.pods_resident += sign;
  totals_.cpu_milli_allocated += sign * request.cpu_milli;
  totals_.memory_bytes_allocated += sign * request.memory_bytes;
  totals_.gpu_milli_allocated += sign * request.total_gpu_milli();
  ChargeDevices(row, cluster, sign);
}

void LiveState::Place(LivePod* row, NodeId id, DeviceSet devices, const ClusterState& cluster) {
  LiveNode& node = nodes_[id.value()];
  const bool was_in_use = InUse(node);
  const absl::Span<const DeviceGrant> grants = cluster.pod_grants(row->pod);
  --WaitingLike(*row);
  row->node = id;
  row->devices = devices;
  row->grants.assign(grants.begin(), grants.end());
  slot_[row->pod.value()] = static_cast<uint32_t>(node.pods.size());
  node.pods.push_back(row->pod);
  Charge(*row, cluster, +1);
  totals_.nodes_in_use += (InUse(node) ? 1 : 0) - (was_in_use ? 1 : 0);
}

void LiveState::Leave(LivePod* row, const ClusterState& cluster) {
  if (!row->node.valid()) return;
  LiveNode& node = nodes_[row->node.value()];
  const bool was_in_use = InUse(node);
  Charge(*row, cluster, -1);
  totals_.nodes_in_use += (InUse(node) ? 1 : 0) - (was_in_use ? 1 : 0);
  // The last pod takes the place of the one that leaves, as in ClusterState.
  const uint32_t slot = slot_[row->pod.value()];
  node.pods[slot] = node.pods.back();
  slot_[node.pods[slot].value()] = slot;
  node.pods.pop_back();
  row->phase = PodPhase::kPending;
  row->node = NodeId();
  ++WaitingLike(*row);
  row->devices = DeviceSet();
  row->grants.clear();
}

void LiveState::Admit(LivePod* row, DeviceSet devices, const ClusterState& cluster) {
  if (!row->node.valid()) return;
  LiveNode& node = nodes_[row->node.value()];
  const bool was_in_use = InUse(node);
  const absl::Span<const DeviceGrant> grants = cluster.pod_grants(row->pod);
  row->devices = devices;
  row->grants.assign(grants.begin(), grants.end());
  ChargeDevices(*row, cluster, +1);
  totals_.nodes_in_use += (InUse(node) ? 1 : 0) - (was_in_use ? 1 : 0);
}

void LiveState::End(LivePod* row, const Record& record, const ClusterState& cluster) {
  Leave(row, cluster);
  --WaitingLike(*row);
  const PodId pod = row->pod;
  ended_ = EndedPod{pod, row->history, record.kind, latest_};
  const uint32_t place = row_of_[pod.value()];
  row_of_[pods_.back().pod.value()] = place;
  row_of_[pod.value()] = kNotLive;
  if (place + size_t{1} < pods_.size()) pods_[place] = std::move(pods_.back());
  pods_.pop_back();
}

void LiveState::ChangeDevices(const Record& record, const ClusterState& cluster) {
  LiveNode& node = nodes_[record.node.value()];
  switch (static_cast<DeviceChangeKind>(record.detail)) {
    case DeviceChangeKind::kUnhealthy:
      node.unhealthy |= record.devices;
      return;
    case DeviceChangeKind::kHealthy:
      node.unhealthy -= record.devices;
      return;
    case DeviceChangeKind::kPluginGone:
      node.plugin_gone = true;
      return;
    case DeviceChangeKind::kPluginBack:
      node.plugin_gone = false;
      return;
    case DeviceChangeKind::kLayoutBegun:
      node.layout_changes = true;
      return;
    case DeviceChangeKind::kLayoutChanged:
      node.layout_changes = false;
      return;
    case DeviceChangeKind::kAllocatable:
      for (size_t e = 0; e < node.allocatable.size(); ++e) {
        node.allocatable[e] = cluster.extended_capacity(record.node, e);
      }
      return;
  }
}

void LiveState::ChangeNode(const Record& record) {
  LiveNode& node = nodes_[record.node.value()];
  switch (static_cast<NodeChangeKind>(record.detail)) {
    case NodeChangeKind::kAvailable:
      return SetAvailable(&node, true);
    case NodeChangeKind::kUnavailable:
      return SetAvailable(&node, false);
    case NodeChangeKind::kCordoned:
      node.schedulable = false;
      return;
    case NodeChangeKind::kUncordoned:
      node.schedulable = true;
      return;
  }
}

void LiveState::OnRecord(const Record& record, const ClusterState& cluster) {
  ended_.reset();
  latest_ = std::max(latest_, record.time);
  const SummaryId drop_reason = drop_reason_.OnRecord(record);
  LivePod* const row = Row(record.pod);  // null also for arrivals and for records without a pod
  if (row != nullptr) row->history.OnRecord(record, latest_, row->phase);
  if (record.kind == RecordKind::kAttemptFailed) {
    if (row != nullptr) SetWait(row, WaitKindOf(SummaryId(record.detail)));
    return Count(RunCounter::kAttemptsFailed);
  }
  if (record.kind == RecordKind::kPodArrived) {
    Count(RunCounter::kPodsArrived);
    Count(RunCounter::kGpuArrivedMilli, cluster.pod_shape(record.pod).wanted_gpu_milli());
    AddRow(record.pod)->history.OnRecord(record, latest_, PodPhase::kPending);
    return;
  }
  if (record.kind == RecordKind::kNodeChanged) return ChangeNode(record);
  if (record.kind == RecordKind::kDevicesChanged) return ChangeDevices(record, cluster);
  if (row == nullptr) return;  // the end of the run, or a pod that has ended
  switch (record.kind) {
    case RecordKind::kPodReserved:
      Place(row, record.node, record.devices, cluster);
      row->phase = PodPhase::kAssumed;
      return;
    case RecordKind::kPodBound:
      if (!row->node.valid()) Place(row, record.node, record.devices, cluster);
      row->phase = PodPhase::kBound;
      Count(RunCounter::kPodsBound);
      if (row->history.starts == 0) {
        Count(RunCounter::kPodsScheduled);
        row->history.first_bound = latest_;
      }
      ++row->history.starts;
      return;
    case RecordKind::kPodUnreserved:
      Count(RunCounter::kPlacesTakenBack);
      return Leave(row, cluster);
    case RecordKind::kPodAdmitted:
      return Admit(row, record.devices, cluster);
    case RecordKind::kPodEvicted:
      Count(RunCounter::kPodsEvicted);
      return Leave(row, cluster);
    case RecordKind::kPodDropped:
      Count(RunCounter::kPodsDropped);
      if (drop_reason.valid()) row->history.SetFailure(drop_reason);
      return End(row, record, cluster);
    case RecordKind::kPodFinished:
      Count(RunCounter::kPodsFinished);
      return End(row, record, cluster);
    case RecordKind::kPodFailed:
      Count(RunCounter::kPodsFailed);
      if (record.detail == static_cast<uint32_t>(EvictionCause::kTurnedAway)) {
        Count(RunCounter::kPodsGivenUp);
      }
      return End(row, record, cluster);
    case RecordKind::kPodDeleted:
      Count(RunCounter::kPodsDeleted);
      return End(row, record, cluster);
    case RecordKind::kPodRejected:
      Count(RunCounter::kPodsRejected);
      SetWait(row, WaitKind::kNoRoom);
      if ((record.detail & kGivenUp) == 0) return Leave(row, cluster);
      Count(RunCounter::kPodsGivenUp);
      Count(RunCounter::kPodsFailed);
      return End(row, record, cluster);
    case RecordKind::kPodStarted:
    case RecordKind::kPodArrived:
    case RecordKind::kAttemptFailed:
    case RecordKind::kNodeChanged:
    case RecordKind::kDevicesChanged:
    case RecordKind::kRunEnded:
      return;
  }
}

}  // namespace drasim
