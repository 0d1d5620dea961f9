#include "sim/dra/classic/plane_faults.h"

#include "model/check.h"

namespace drasim {

void PlaneFaults::ArmTimers(NodeControl* engine, uint64_t first) {
  for (size_t i = 0; i < planned_.size(); ++i) engine->ArmNodeTimer(planned_[i].at, first + i);
  ahead_ = planned_.size();
}

void PlaneFaults::Happen(size_t index, SimTime now) {
  clock_->BeforeCalls(now);
  --ahead_;
  const PlaneFault& fault = planned_[index];
  switch (fault.action) {
    case PlaneFault::Action::kRestart:
      return Restart(fault.component, fault.duration);
    case PlaneFault::Action::kBreakWatch:
      return BreakWatch(fault.component, fault.duration);
    case PlaneFault::Action::kDeleteClaim: {
      NamePool& names = network_->server().names();
      const Ref<ResourceClaim> claim =
          network_->server().objects().claim(names.Intern(fault.ns), names.Intern(fault.claim));
      if (claim != nullptr) DeleteClaim(claim->meta.uid);
      return;
    }
    case PlaneFault::Action::kPluginDown:
      kubelets_->PluginDown(fault.component, fault.plugin_nodes, now + fault.duration);
      break;
    case PlaneFault::Action::kFailPrepare:
      kubelets_->FailPrepares(fault.component, fault.count);
      break;
  }
  clock_->AfterCalls();
}

bool PlaneFaults::AnyPending() const {
  bool down = false;
  for (size_t i = 0; i < network_->clients(); ++i) {
    down |= network_->client(static_cast<ClientId>(i)).is_down();
  }
  return ahead_ > 0 || down || kubelets_->AnyPluginDown();
}

ClientId PlaneFaults::ClientNamed(absl::string_view name) const {
  for (size_t i = 0; i < network_->clients(); ++i) {
    const auto id = static_cast<ClientId>(i);
    if (network_->client(id).options().name == name) return id;
  }
  DRASIM_UNREACHABLE("a component that does not exist");
}

void PlaneFaults::Restart(absl::string_view component, SimDuration down) {
  const ClientId client = ClientNamed(component);
  if (client == scheduler_->client()) {
    scheduler_->GoDown();
    const SchedulerReports* reports = scheduler_->reports();
    if (reports != nullptr) network_->Restart(reports->events().client(), down);
  }
  network_->Restart(client, down);
  clock_->AfterCalls();
}

void PlaneFaults::BreakWatch(absl::string_view component, SimDuration length) {
  network_->BreakWatch(ClientNamed(component), length);
  clock_->AfterCalls();
}

void PlaneFaults::DeleteClaim(Uid uid) {
  pods_->DeleteClaim(uid);
  clock_->AfterCalls();
}

}  // namespace drasim
