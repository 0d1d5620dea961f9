// A run of structured DRA that is saved at any instant, loaded into a new control plane and
// continued ends like the run that was not: the same calls at the same times, the same state, byte
// for byte.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "model/state_io.h"
#include "sim/dra/classic/control_plane.h"
#include "tests/sim/dra/classic/random_planes.h"
#include "tests/sim/dra/classic/stepped_rig.h"
#include "tests/sim/dra/structured/random_structured.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace structured_checkpoint_test {

using fault_testing::PlanFaults;
using fault_testing::PlanPluginFaults;
using fault_testing::RandomKind;
using fault_testing::SteppedRig;
using slice_testing::PoolPublisher;
using slice_testing::StructuredScenario;

// Devices are chosen for a claim, and not all that follows is written.
bool IsMidway(SteppedRig& rig) {
  if (rig.plane().scheduler().cycles() == 0) return false;
  const auto& holders = rig.rig().cluster().inventory().holders();
  return std::any_of(holders.begin(), holders.end(),
                     [](const auto& entry) { return entry.first.pending; });
}

std::shared_ptr<StructuredScenario> CheckpointScenario(uint64_t seed, Random& random) {
  RandomKind kind;
  kind.crowd = seed % 50 == 49;
  auto s =
      std::make_shared<StructuredScenario>(slice_testing::RandomStructured(seed, kind, random));
  s->engine.options.check_invariants = false;
  s->plane.scheduler_reports = random.Below(2) == 0;
  // Calls take time, so that there is something to interrupt.
  s->plane.scheduler.write_latency = Distribution::Parse("uniform(low=0.001,high=0.2)").value();
  PlanFaults({"scheduler", "claim-controller", "garbage-collector", "kubelet"}, random, s.get());
  PlanPluginFaults(slice_testing::DriverNames(s->slices), s->engine.nodes.size(), random, s.get());
  // The publisher lives as long as the scenario's copies.
  const StructuredScenario* const scenario = s.get();
  s->objects = [objects = s->objects, scenario,
                publishers = std::make_shared<std::vector<std::unique_ptr<PoolPublisher>>>()](
                   ControlPlane& plane) {
    objects(plane);
    publishers->push_back(std::make_unique<PoolPublisher>(scenario, &plane.network()));
  };
  return s;
}

constexpr uint64_t kMostSteps = 3000;

struct CheckpointTally {
  uint64_t midway = 0;
  uint64_t under_way = 0;  // before the end of the run
  uint64_t changed = 0;    // slices are not those of the start
};

bool SlicesHaveChanged(ControlPlane& plane) {
  const auto slices = plane.network().server().objects().of<ResourceSliceObject>().Sorted();
  return std::any_of(slices.begin(), slices.end(), [](const Ref<ResourceSliceObject>& slice) {
    return slice->object->spec().pool().generation() > 1;
  });
}

void SaveAndContinue(uint64_t seed, CheckpointTally* tally) {
  Random random(seed, "structured checkpoints");
  const auto scenario = CheckpointScenario(seed, random);
  SteppedRig whole(*scenario);
  const uint64_t events = whole.Run(kMostSteps);
  const std::string end = whole.rig().State();

  SteppedRig cut(*scenario);
  uint64_t done = cut.Run(random.Below(seed % 2 == 0 ? events / 2 + 1 : events));
  while (seed % 2 == 0 && done + 1 < events && !IsMidway(cut)) done += cut.Run(1);
  tally->midway += IsMidway(cut);
  tally->under_way += !cut.rig().engine().finished();
  tally->changed += SlicesHaveChanged(cut.plane());
  const std::string state = cut.rig().State();

  SteppedRig resumed(*scenario);
  StateReader in(state);
  ASSERT_EQ(resumed.rig().engine().Load(in), absl::OkStatus());
  ASSERT_TRUE(in.AtEnd());
  EXPECT_TRUE(resumed.rig().State() == state) << "the state is not saved alike";
  EXPECT_EQ(resumed.rig().cluster().inventory().Check(), absl::OkStatus());
  // Components that start may call at once, without effect on what is loaded.
  const size_t calls_at_start = resumed.messages().size();
  EXPECT_EQ(resumed.Run(events - done), events - done);
  EXPECT_EQ(resumed.Calls(calls_at_start), whole.Calls(cut.messages().size()));
  EXPECT_TRUE(resumed.rig().State() == end) << "the run ends otherwise";
}

TEST(StructuredCheckpointTest, SavedAtAnyInstantARunEndsAlike) {
  const uint64_t runs = std::min<uint64_t>(SoakSeeds(50), 2000);
  CheckpointTally tally;
  for (uint64_t seed = 0; seed < runs; ++seed) {
    SaveAndContinue(seed, &tally);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GE(tally.midway, runs / 3);
  EXPECT_GE(tally.under_way, runs * 8 / 10);
  EXPECT_GE(tally.changed, runs / 4);
}

TEST(StructuredCheckpointTest, ACutStateIsRefused) {
  Random random(2, "structured checkpoints");
  const auto scenario = CheckpointScenario(2, random);
  SteppedRig rig(*scenario);
  uint64_t done = 0;
  while (done < kMostSteps && !IsMidway(rig)) done += rig.Run(1);
  ASSERT_TRUE(IsMidway(rig));
  StateWriter out;
  rig.plane().Save(out);
  const std::string state = out.Release();
  const size_t step = std::max<size_t>(1, state.size() / 200);
  for (size_t size = 0; size < state.size(); size += step) {
    SteppedRig other(*scenario);
    StateReader in(absl::string_view(state).substr(0, size));
    EXPECT_FALSE(other.plane().Load(in).ok()) << size;
  }
}

// Slices published before the run are not in the state.
TEST(StructuredCheckpointTest, OtherSlicesAtTheStartAreRefused) {
  Random random(2, "structured checkpoints");
  const auto scenario = CheckpointScenario(2, random);
  SteppedRig rig(*scenario);
  StateWriter out;
  rig.plane().Save(out);
  const std::string state = out.Release();
  StructuredScenario changed = *scenario;
  changed.slices.pools[0][0].mutable_spec()->mutable_pool()->set_generation(7);
  changed.objects = [&changed](ControlPlane& plane) {
    slice_testing::CreateSlices(changed.slices, plane);
  };
  SteppedRig other(changed);
  StateReader in(state);
  EXPECT_TRUE(absl::StrContains(other.plane().Load(in).message(),
                                "the slices and classes at the start are not those"));
}

}  // namespace structured_checkpoint_test
}  // namespace drasim
