// Options of classic DRA's control plane: the release, each component's connection to the API
// server, and planned faults.
#ifndef DRASIM_SIM_DRA_CLASSIC_CONTROL_PLANE_OPTIONS_H_
#define DRASIM_SIM_DRA_CLASSIC_CONTROL_PLANE_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/distributions.h"
#include "model/kube/node_set.h"
#include "model/time.h"
#include "sim/dra/api/claim_controller.h"
#include "sim/dra/api/dra_manager.h"
#include "sim/dra/api/dra_release.h"
#include "sim/dra/classic/driver_controller.h"

namespace drasim {

// A component's connection to the API server. The control plane sets names and watches.
struct ConnectionOptions {
  double qps = 0;  // 0: no limit
  int64_t burst = 0;
  std::optional<Distribution> read_latency;  // seconds; absent: none
  std::optional<Distribution> write_latency;
  std::optional<Distribution> watch_latency;
};

// A planned fault, or a user's deletion of a claim.
struct PlaneFault {
  enum class Action : uint8_t { kRestart, kBreakWatch, kDeleteClaim, kPluginDown, kFailPrepare };
  SimTime at;
  Action action = Action::kRestart;
  // As PlaneFaults::Restart takes it; of kPluginDown and kFailPrepare a driver.
  std::string component;
  SimDuration duration;
  std::string ns, claim;  // of kDeleteClaim
  std::string nodes;      // of kPluginDown: a pattern; empty: all
  NodeSet plugin_nodes;   // the nodes that match it
  int64_t count = 1;      // of kFailPrepare

  // Whether it concerns a driver's kubelet plugins, not a component with a client of its own.
  bool of_plugin() const { return action == Action::kPluginDown || action == Action::kFailPrepare; }
};

struct ControlPlaneOptions {
  DraBehaviour behaviour;
  ConnectionOptions scheduler;
  ConnectionOptions
      controller_manager;  // one client each for the claim controller and the garbage collector
  ConnectionOptions drivers;
  ConnectionOptions kubelets;
  ConnectionOptions users;
  ClaimControllerOptions claim_controller;
  DriverControllerOptions driver_controller;
  DraManagerOptions kubelet;
  SimDuration finished_ttl = SimDuration::Seconds(60);  // delay until ended pods are deleted
  // A gang with claims for only some of its pods gives all of them back after this time.
  SimDuration gang_timeout = SimDuration::Seconds(600);
  std::vector<PlaneFault> faults;
  // The scheduler reports its attempts to users (SchedulerReports): conditions through its client,
  // events through a client "scheduler-events" with the same limits.
  bool scheduler_reports = false;
  uint64_t seed = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_CLASSIC_CONTROL_PLANE_OPTIONS_H_
