#include "sim/core/scheduling_queue.h"

#include <algorithm>

#include "model/check.h"

namespace drasim {
namespace {

void SavePods(const std::vector<QueuedPod>& pods, StateWriter& out) {
  out.U64(pods.size());
  for (const QueuedPod& p : pods) {
    out.U64(p.pod.value());
    out.I64(p.priority);
    out.I64(p.queued_at.ns());
    out.U64(p.sequence);
  }
}

std::vector<QueuedPod> LoadPods(StateReader& in) {
  std::vector<QueuedPod> pods;
  const size_t n = in.Count();
  for (size_t i = 0; i < n && in.status().ok(); ++i) {
    QueuedPod p;
    p.pod = PodId(static_cast<size_t>(in.U64()));
    p.priority = static_cast<int32_t>(in.I64());
    p.queued_at = SimTime(in.I64());
    p.sequence = in.U64();
    pods.push_back(p);
  }
  return pods;
}

}  // namespace

void SchedulingQueue::Push(const QueuedPod& pod) {
  active_.push_back(pod);
  std::push_heap(active_.begin(), active_.end(),
                 [this](const QueuedPod& a, const QueuedPod& b) { return sort_->Less(b, a); });
}

void SchedulingQueue::Add(PodId pod, int32_t priority, SimTime now) {
  Push({pod, priority, now, next_sequence_++});
}

QueuedPod SchedulingQueue::Pop() {
  DRASIM_CHECK(!active_.empty());
  std::pop_heap(active_.begin(), active_.end(),
                [this](const QueuedPod& a, const QueuedPod& b) { return sort_->Less(b, a); });
  const QueuedPod pod = active_.back();
  active_.pop_back();
  return pod;
}

void SchedulingQueue::MoveAllToActive() {
  for (const QueuedPod& pod : unschedulable_) Push(pod);
  unschedulable_.clear();
}

void SchedulingQueue::Save(StateWriter& out) const {
  out.Section("queue");
  out.U64(next_sequence_);
  SavePods(active_, out);
  SavePods(unschedulable_, out);
}

absl::Status SchedulingQueue::Load(StateReader& in) {
  in.Section("queue");
  next_sequence_ = in.U64();
  active_.clear();
  for (const QueuedPod& pod : LoadPods(in)) Push(pod);
  unschedulable_ = LoadPods(in);
  return in.status();
}

}  // namespace drasim
