// Runs of a control plane for tests of checkpoints: event by event, with the calls as text.
#ifndef DRASIM_TESTS_SIM_DRA_CLASSIC_STEPPED_RIG_H_
#define DRASIM_TESTS_SIM_DRA_CLASSIC_STEPPED_RIG_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/random.h"
#include "model/time.h"
#include "sim/dra/api/api_types.h"
#include "sim/dra/classic/control_plane.h"
#include "tests/sim/dra/classic/dra_rig.h"

namespace drasim::fault_testing {

// One event of the engine after the other.
class SteppedRig : public PlaneRig {
 public:
  explicit SteppedRig(FaultScenario s) : s_(std::move(s)) {
    s_.engine.options.stop_after_events = 1;
    Build(&s_);
  }
  // Returns the number of events, fewer at the end of the run.
  uint64_t Run(uint64_t events) {
    uint64_t done = 0;
    while (done < events && !rig_->engine().finished()) {
      EXPECT_EQ(rig_->engine().Run(), absl::OkStatus());
      ++done;
    }
    return done;
  }
  std::string CallText(size_t i) const {
    const ApiMessage& m = messages_[i];
    return absl::StrCat(m.issued.ns(), " ", m.done.ns(), " ", m.client, " ",
                        drasim::CallText(m.verb, m.kind), " ", m.name.text(), " ", m.uid, " ",
                        static_cast<int>(m.code));
  }
  std::string Calls(size_t from) const {
    std::string text;
    for (size_t i = from; i < messages_.size(); ++i) absl::StrAppend(&text, CallText(i), "\n");
    return text;
  }

 private:
  FaultScenario s_;
};

// Planned faults, which checkpoints have.
inline void PlanFaults(const std::vector<std::string>& components, Random& random,
                       FaultScenario* s) {
  for (uint64_t n = random.Below(4); n > 0; --n) {
    PlaneFault fault;
    fault.at = SimTime(static_cast<int64_t>(random.Below(30'000)) * 1'000'000);
    fault.action =
        random.Below(3) == 0 ? PlaneFault::Action::kBreakWatch : PlaneFault::Action::kRestart;
    fault.component = components[static_cast<size_t>(random.Below(components.size()))];
    fault.duration = SimDuration::Millis(static_cast<int64_t>(random.Below(5000)));
    s->plane.faults.push_back(fault);
  }
}

// Faults of the drivers' kubelet plugins.
inline void PlanPluginFaults(const std::vector<std::string>& drivers, size_t nodes, Random& random,
                             FaultScenario* s) {
  for (uint64_t n = random.Below(4); n > 0; --n) {
    PlaneFault fault;
    fault.at = SimTime(static_cast<int64_t>(random.Below(30'000)) * 1'000'000);
    fault.component = drivers[static_cast<size_t>(random.Below(drivers.size()))];
    if (random.Below(2) == 0) {
      fault.action = PlaneFault::Action::kFailPrepare;
      fault.count = 1 + static_cast<int64_t>(random.Below(3));
    } else {
      fault.action = PlaneFault::Action::kPluginDown;
      fault.duration = SimDuration::Millis(static_cast<int64_t>(random.Below(20'000)));
      if (random.Below(2) == 0) {
        fault.plugin_nodes = NodeSet::Of({NodeId(static_cast<size_t>(random.Below(nodes)))});
      }
    }
    s->plane.faults.push_back(fault);
  }
}

}  // namespace drasim::fault_testing

#endif  // DRASIM_TESTS_SIM_DRA_CLASSIC_STEPPED_RIG_H_
