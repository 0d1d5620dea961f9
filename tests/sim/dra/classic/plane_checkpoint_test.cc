// A run of classic DRA that is saved at any instant, loaded into a new control plane and continued
// ends like the run that was not: the same calls at the same times, the same state, byte for byte.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "model/state_io.h"
#include "model/time.h"
#include "sim/dra/classic/control_plane.h"
#include "tests/sim/dra/classic/dra_rig.h"
#include "tests/sim/dra/classic/random_planes.h"
#include "tests/sim/dra/classic/stepped_rig.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace plane_checkpoint_test {

using fault_testing::FaultScenario;
using fault_testing::PlanFaults;
using fault_testing::SteppedRig;

// A node has been chosen, or a release asked for, and the driver has not done it yet.
bool IsNegotiating(ControlPlane& plane) {
  const ObjectCache& objects = plane.network().server().objects();
  for (const Ref<PodSchedulingContext>& context : objects.of<PodSchedulingContext>().Sorted()) {
    const Ref<Pod> pod = objects.pod(context->meta.owner);
    if (pod == nullptr || pod->node.valid()) continue;
    for (const PodClaim& entry : pod->claims) {
      const Ref<ResourceClaim> claim = plane.claim_names().Find(objects, *pod, entry);
      if (claim != nullptr && claim->status.allocation == nullptr) return true;
    }
  }
  for (const Ref<ResourceClaim>& claim : objects.of<ResourceClaim>().Sorted()) {
    if (claim->status.deallocation_requested) return true;
  }
  return false;
}

// Without the faults that a test's own objects make, since those are not saved.
FaultScenario CheckpointScenario(uint64_t seed, Random& random) {
  fault_testing::RandomKind kind;
  kind.crowd = seed % 50 == 49;
  FaultScenario s = fault_testing::RandomScenario(seed, kind, random);
  s.faults.clear();
  s.meddler = {};
  s.engine.options.check_invariants = false;
  s.plane.scheduler_reports = random.Below(2) == 0;
  s.plane.driver_controller.sleep_when_idle = random.Below(2) == 0;
  PlanFaults({"scheduler", "claim-controller", "garbage-collector", "kubelet", s.drivers[0].name},
             random, &s);
  return s;
}

constexpr uint64_t kMostSteps = 3000;

struct CheckpointTally {
  uint64_t negotiating = 0;
  uint64_t under_way = 0;  // before the end of the run
};

void SaveAndContinue(uint64_t seed, CheckpointTally* tally) {
  Random random(seed, "plane checkpoints");
  const FaultScenario scenario = CheckpointScenario(seed, random);
  SteppedRig whole(scenario);
  const uint64_t events = whole.Run(kMostSteps);
  const std::string end = whole.rig().State();

  SteppedRig cut(scenario);
  uint64_t done = cut.Run(random.Below(events));
  while (seed % 2 == 0 && done + 1 < events && !IsNegotiating(cut.plane())) done += cut.Run(1);
  tally->negotiating += IsNegotiating(cut.plane());
  tally->under_way += !cut.rig().engine().finished();
  const std::string state = cut.rig().State();

  SteppedRig resumed(scenario);
  StateReader in(state);
  ASSERT_EQ(resumed.rig().engine().Load(in), absl::OkStatus());
  ASSERT_TRUE(in.AtEnd());
  EXPECT_TRUE(resumed.rig().State() == state) << "the state is not saved alike";
  // Components that start may call at once, without effect on what is loaded.
  const size_t calls_at_start = resumed.messages().size();
  EXPECT_EQ(resumed.Run(events - done), events - done);
  EXPECT_EQ(resumed.Calls(calls_at_start), whole.Calls(cut.messages().size()));
  EXPECT_TRUE(resumed.rig().State() == end) << "the run ends otherwise";
}

TEST(PlaneCheckpointTest, SavedAtAnyInstantARunEndsAlike) {
  const uint64_t runs = std::min<uint64_t>(SoakSeeds(24), 1000);
  CheckpointTally tally;
  for (uint64_t seed = 0; seed < runs; ++seed) {
    SaveAndContinue(seed, &tally);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GE(tally.negotiating, runs / 2);
  EXPECT_GE(tally.under_way, runs * 9 / 10);
}

// A cut state is refused and reads nothing that is not there.
TEST(PlaneCheckpointTest, ACutStateIsRefused) {
  Random random(2, "plane checkpoints");
  const FaultScenario scenario = CheckpointScenario(2, random);
  SteppedRig rig(scenario);
  rig.Run(200);
  StateWriter out;
  rig.plane().Save(out);
  const std::string state = out.Release();
  const size_t step = std::max<size_t>(1, state.size() / 200);
  for (size_t size = 0; size < state.size(); size += step) {
    SteppedRig other(scenario);
    StateReader in(absl::string_view(state).substr(0, size));
    EXPECT_FALSE(other.plane().Load(in).ok()) << size;
  }
}

}  // namespace plane_checkpoint_test
}  // namespace drasim
