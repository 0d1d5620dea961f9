// PlaneFaults: planned faults of the control plane from a scenario or a test. Components restart or
// lose their watches, kubelet plugins fail, and users delete claims.
#ifndef DRASIM_SIM_DRA_CLASSIC_PLANE_FAULTS_H_
#define DRASIM_SIM_DRA_CLASSIC_PLANE_FAULTS_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/time.h"
#include "sim/dra/api/api_network.h"
#include "sim/dra/api/dra_manager.h"
#include "sim/dra/api/network_clock.h"
#include "sim/dra/api/pod_objects.h"
#include "sim/dra/api/scheduler_actor.h"
#include "sim/dra/classic/control_plane_options.h"

namespace drasim {

class PlaneFaults {
 public:
  // All must outlive it.
  PlaneFaults(std::vector<PlaneFault> planned, ApiNetwork* network, NetworkClock* clock,
              PodObjects* pods, SchedulerActor* scheduler)
      : planned_(std::move(planned)),
        network_(network),
        clock_(clock),
        pods_(pods),
        scheduler_(scheduler) {}

  // The kubelets, for faults of plugins; it must outlive the faults.
  void set_kubelets(DraManager* kubelets) { kubelets_ = kubelets; }

  // Arms an engine timer for each planned fault, with tokens from `first` on.
  void ArmTimers(NodeControl* engine, uint64_t first);
  // The timer of planned fault `index` is due.
  void Happen(size_t index, SimTime now);

  // True while a planned fault is still to come, or a component or plugin is down. O(components).
  bool AnyPending() const;

  // Takes effect at once. A component is identified by its client's name: "scheduler",
  // "claim-controller", a driver's name, ...; see ApiNetwork. All processes of the component
  // restart.
  void Restart(absl::string_view component, SimDuration down);
  void BreakWatch(absl::string_view component, SimDuration length);
  void DeleteClaim(Uid uid);

  // For checkpoints (plane_archive.h).
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& f) {
    a(f.ahead_);
  }

 private:
  ClientId ClientNamed(absl::string_view name) const;

  std::vector<PlaneFault> planned_;
  ApiNetwork* network_;
  NetworkClock* clock_;
  PodObjects* pods_;
  SchedulerActor* scheduler_;
  DraManager* kubelets_ = nullptr;
  size_t ahead_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_CLASSIC_PLANE_FAULTS_H_
