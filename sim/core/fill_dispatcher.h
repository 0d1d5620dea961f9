// Dispatcher of mode fill: every job is tried once, when it arrives, and dropped if it does not
// fit.
#ifndef DRASIM_SIM_CORE_FILL_DISPATCHER_H_
#define DRASIM_SIM_CORE_FILL_DISPATCHER_H_

#include "sim/core/dispatcher.h"

namespace drasim {

class FillDispatcher : public Dispatcher {
 public:
  explicit FillDispatcher(DispatchParts parts) : parts_(parts) {}

  void Add(JobId job) override { next_ = job; }
  void Return(JobId, SummaryId, Comeback) override {}
  bool Remove(JobId) override { return false; }
  void OnEvent(const ClusterChange&) override {}
  void OnQuotaChange() override {}
  void OnEnd(JobId) override {}
  bool Ready() const override { return false; }  // the engine tries each job as it adds it
  void Dispatch() override {
    const auto failure = parts_.placer->Place(next_, parts_.control->now());
    if (!failure.has_value()) return parts_.control->StartPlaced(next_);
    parts_.control->RecordFailure(next_, *failure);
    parts_.control->Drop(next_);
  }
  size_t waiting() const override { return 0; }
  int64_t SmallestNeedMilli() const override { return 0; }
  void Save(StateWriter& out) const override { out.Section("fill"); }
  absl::Status Load(StateReader& in) override {
    in.Section("fill");
    return in.status();
  }

 private:
  DispatchParts parts_;
  JobId next_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_FILL_DISPATCHER_H_
