// Dispatcher of a loss system: every job is tried once when it arrives (or comes back), and dropped
// if it does not fit. For rejection experiments.
#ifndef DRASIM_SIM_CORE_LOSS_DISPATCHER_H_
#define DRASIM_SIM_CORE_LOSS_DISPATCHER_H_

#include <algorithm>
#include <deque>

#include "sim/core/dispatcher.h"

namespace drasim {

class LossDispatcher : public Dispatcher {
 public:
  explicit LossDispatcher(DispatchParts parts) : parts_(parts) {}

  void Add(JobId job) override {
    untried_.push_back(job);
    ++operations_;
  }
  // Rejected by a step of binding: no job waits here.
  void Return(JobId job, SummaryId, Comeback) override { parts_.control->Drop(job); }
  bool Remove(JobId job) override {
    const auto it = std::find(untried_.begin(), untried_.end(), job);
    if (it == untried_.end()) return false;
    untried_.erase(it);
    ++operations_;
    return true;
  }
  void OnEvent(const ClusterChange&) override {}
  void OnQuotaChange() override {}
  void OnEnd(JobId) override {}
  bool Ready() const override { return !untried_.empty(); }
  void Dispatch() override {
    const JobId job = untried_.front();
    untried_.pop_front();
    ++operations_;
    const auto failure = parts_.placer->Place(job, parts_.control->now());
    if (!failure.has_value()) return parts_.control->StartPlaced(job);
    parts_.control->RecordFailure(job, *failure);
    parts_.control->Drop(job);
  }
  size_t waiting() const override { return untried_.size(); }
  int64_t SmallestNeedMilli() const override { return 0; }
  uint64_t queue_operations() const override { return operations_; }
  void Save(StateWriter& out) const override {
    out.Section("loss");
    out.U64(untried_.size());
    for (JobId job : untried_) out.U64(job.value());
  }
  absl::Status Load(StateReader& in) override {
    in.Section("loss");
    const size_t n = in.Count();
    for (size_t i = 0; i < n && in.status().ok(); ++i) {
      untried_.push_back(JobId(static_cast<size_t>(in.U64())));
      if (untried_.back().value() >= parts_.jobs->size()) in.Fail("a job that does not exist");
    }
    return in.status();
  }

 private:
  DispatchParts parts_;
  std::deque<JobId> untried_;  // more than one only within an instant
  uint64_t operations_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_LOSS_DISPATCHER_H_
