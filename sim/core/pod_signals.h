// Signals about single pods from an agent whose pods have claims (PodControl).
#ifndef DRASIM_SIM_CORE_POD_SIGNALS_H_
#define DRASIM_SIM_CORE_POD_SIGNALS_H_

#include "absl/types/span.h"
#include "model/claim_change.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/ids.h"
#include "sim/core/job_lifecycle.h"
#include "sim/core/node_agent.h"
#include "sim/core/run_context.h"
#include "sim/core/scheduling_loop.h"

namespace drasim {

class PodSignals : public PodControl {
 public:
  // All must outlive it.
  PodSignals(RunContext* run, SchedulingLoop* scheduling, JobLifecycle* jobs)
      : run_(run), scheduling_(scheduling), jobs_(jobs) {}

  // PodControl
  void ResumeStep(PodId pod) override;
  void BlockScheduling(bool block) override { scheduling_->Block(block); }
  void RecheckPod(PodId pod) override;
  void WakePod(PodId pod, bool at_once) override;
  void ClaimsChanged() override;
  void NoteProgress() override { run_->progress().Note(run_->now()); }
  void PodStarted(PodId pod) override { jobs_->PodStarted(pod); }
  void GiveDevices(PodId pod, DeviceSet devices, absl::Span<const DeviceGrant> grants) override;
  void EvictPod(PodId pod) override { jobs_->EvictTainted(pod); }
  void PodEnded(PodId pod) override { jobs_->PodEnded(pod); }
  bool wants_claim_changes() const override { return run_->wants_claim_changes(); }
  void RecordClaim(const ClaimChange& change) override { run_->EmitClaim(change); }

 private:
  RunContext* run_;
  SchedulingLoop* scheduling_;
  JobLifecycle* jobs_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_POD_SIGNALS_H_
