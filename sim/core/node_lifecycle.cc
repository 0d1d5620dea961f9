#include "sim/core/node_lifecycle.h"

#include <algorithm>

#include "model/check.h"
#include "model/device_set.h"

namespace drasim {

NodeLifecycle::NodeLifecycle(RunContext* run, SchedulingLoop* scheduling, JobLifecycle* jobs)
    : run_(run), scheduling_(scheduling), jobs_(jobs) {
  const ClusterState& cluster = run->cluster();
  troubles_.resize(cluster.node_count());
  for (size_t n = 0; n < troubles_.size(); ++n) {
    troubles_[n].absent = !cluster.node(NodeId(n)).available;
    troubles_[n].cordons = cluster.node(NodeId(n)).schedulable ? 0 : 1;
  }
}

void NodeLifecycle::PushNextChange() {
  if (changes_are_over()) return;
  run_->events().Push(std::max(run_->parts().node_changes[next_change_].at, run_->now()),
                      EventRank::kNodeChange, EventKind::kNodeChange, 0, 0, 0);
}

void NodeLifecycle::OnChange() {
  // In a branch (Engine::LoadBranch), changes that were added come ahead of the one that was next.
  if (changes_are_over() || run_->parts().node_changes[next_change_].at > run_->now()) return;
  Change(run_->parts().node_changes[next_change_++]);
  PushNextChange();
}

void NodeLifecycle::Change(const NodeTransition& change) {
  using Action = NodeTransition::Action;
  if (change.action == Action::kDevices) {
    DRASIM_CHECK(run_->agent() != nullptr);
    run_->agent()->OnTransition(change.devices, run_->now());
    return scheduling_->Wake();
  }
  NodeTroubles& t = troubles_[change.node.value()];
  switch (change.action) {
    case Action::kAdd:
    case Action::kRemove:
      t.absent = change.action == Action::kRemove;
      break;
    case Action::kFail:
      ++t.failures;
      break;
    case Action::kRecover:
      t.failures -= t.failures > 0 ? 1 : 0;
      break;
    case Action::kCordon:
    case Action::kDrain:
      ++t.cordons;
      break;
    case Action::kUncordon:
      t.cordons -= t.cordons > 0 ? 1 : 0;
      break;
    case Action::kDevices:
      break;
  }
  Update(change.node);
  const bool cordon = change.action == Action::kCordon || change.action == Action::kDrain ||
                      change.action == Action::kUncordon;
  if (!cordon && run_->agent() != nullptr) {
    run_->agent()->NodeChanged(change.node, PresenceOf(change.node), run_->now());
  }
  if (change.action == Action::kDrain) jobs_->EvictFrom(change.node, EvictionCause::kDrained);
  scheduling_->Wake();
}

NodePresence NodeLifecycle::PresenceOf(NodeId node) const {
  const NodeTroubles& t = troubles_[node.value()];
  if (t.absent) return NodePresence::kAbsent;
  return t.failures > 0 ? NodePresence::kFailed : NodePresence::kThere;
}

void NodeLifecycle::Update(NodeId node) {
  ClusterState& cluster = run_->cluster();
  const NodeTroubles& t = troubles_[node.value()];
  const auto emit = [&](NodeChangeKind kind) {
    run_->Emit(RecordKind::kNodeChanged, PodId(), node, DeviceSet(), static_cast<uint32_t>(kind));
  };
  const bool schedulable = t.cordons == 0;
  if (schedulable != cluster.node(node).schedulable) {
    cluster.SetSchedulable(node, schedulable);
    emit(schedulable ? NodeChangeKind::kUncordoned : NodeChangeKind::kCordoned);
    if (schedulable) {
      scheduling_->Notify(ClusterChange{.event = kNodeSchedulable, .node = node});
    } else {
      scheduling_->dispatcher().OnNodeLost(node);
    }
  }
  const bool available = !t.absent && t.failures == 0;
  if (available == cluster.node(node).available) return;
  if (!available) {
    if (run_->agent() != nullptr) run_->agent()->NodeLost(node, run_->now());
    jobs_->EvictFrom(node, EvictionCause::kNodeLost);
  }
  cluster.SetAvailable(node, available);
  emit(available ? NodeChangeKind::kAvailable : NodeChangeKind::kUnavailable);
  if (available) {
    scheduling_->Notify(ClusterChange{.event = kNodeAdded, .node = node});
  } else {
    scheduling_->dispatcher().OnNodeLost(node);
  }
}

void NodeLifecycle::ArmNodeTimer(SimTime at, uint64_t token) {
  run_->events().Push(std::max(at, run_->now()), EventRank::kTimer, EventKind::kTimer, 0,
                      kNodeAgentTimer, token);
}

void NodeLifecycle::RecordDevices(NodeId node, DeviceSet devices, DeviceChangeKind kind) {
  run_->Emit(RecordKind::kDevicesChanged, PodId(), node, devices, static_cast<uint32_t>(kind));
}

void NodeLifecycle::PublishAllocatable(NodeId node, absl::Span<const int64_t> amounts) {
  ClusterState& cluster = run_->cluster();
  DRASIM_CHECK_EQ(amounts.size(), cluster.extended_names().size());
  bool changed = false;
  bool more = false;
  for (size_t e = 0; e < amounts.size(); ++e) {
    const int64_t before = cluster.extended_capacity(node, e);
    changed |= amounts[e] != before;
    more |= amounts[e] > before;
    cluster.SetExtendedCapacity(node, e, amounts[e]);
  }
  if (!changed) return;
  RecordDevices(node, DeviceSet(), DeviceChangeKind::kAllocatable);
  if (more) scheduling_->Notify(ClusterChange{.event = kNodeAllocatable, .node = node});
  scheduling_->Wake();
}

}  // namespace drasim
