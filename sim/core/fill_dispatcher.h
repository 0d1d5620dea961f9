// Dispatcher of mode fill: every job is tried once, when it arrives, and dropped if it does not
// fit. One that PreEnqueue keeps out is dropped untried.
#ifndef DRASIM_SIM_CORE_FILL_DISPATCHER_H_
#define DRASIM_SIM_CORE_FILL_DISPATCHER_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "model/cluster_state.h"
#include "model/job_table.h"
#include "policies/framework/plugin.h"
#include "policies/framework/profile.h"
#include "sim/core/dispatcher.h"
#include "sim/core/job_control.h"
#include "sim/core/placer.h"
#include "sim/core/profiles.h"

namespace drasim {

class FillDispatcher : public Dispatcher {
 public:
  explicit FillDispatcher(DispatchParts parts) : parts_(parts) {
    if (parts.profiles != nullptr) {
      profiles_ = *parts.profiles;
    } else if (parts.profile != nullptr) {
      profiles_.emplace(parts.profile);
    }
    for (size_t i = 0; profiles_.has_value() && i < profiles_->size(); ++i) {
      any_gate_ |= !profiles_->at(i).pre_enqueues().empty();
    }
  }

  void Add(JobId job) override { next_ = job; }
  void Return(JobId, SummaryId, Comeback) override {}
  bool Remove(JobId) override { return false; }
  void OnEvent(const ClusterChange&) override {}
  void OnQuotaChange() override {}
  void OnEnd(JobId) override {}
  bool Ready() const override { return false; }  // the engine tries each job as it adds it
  void Dispatch() override {
    if (IsGated()) return parts_.control->Drop(next_);
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
  // Whether a plugin keeps a pod of the job from being tried.
  bool IsGated() {
    if (!any_gate_) return false;
    const JobRow& row = parts_.jobs->row(next_);
    for (uint32_t i = 0; i < row.pods; ++i) {
      const PodId pod(row.first_pod.value() + i);
      const ShapeId shape = parts_.cluster->pod_shape_id(pod);
      const Profile* const profile = profiles_->Of(shape);
      if (profile == nullptr) continue;  // the attempt fails, and says so
      const PodContext context = {shape, &parts_.cluster->pod_shape(pod), pod,
                                  parts_.control->now()};
      for (PreEnqueuePlugin* plugin : profile->pre_enqueues()) {
        if (plugin->PreEnqueue(context).code != StepCode::kSuccess) return true;
      }
    }
    return false;
  }

  DispatchParts parts_;
  std::optional<Profiles> profiles_;
  bool any_gate_ = false;
  JobId next_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_FILL_DISPATCHER_H_
