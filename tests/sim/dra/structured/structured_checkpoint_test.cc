// A run of structured DRA that is saved at any instant, loaded into a new control plane and
// continued ends like the run that was not: the same calls at the same times, the same state, byte
// for byte.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
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
#include "sim/dra/api/plane_part.h"
#include "sim/dra/classic/control_plane.h"
#include "sim/dra/structured/device_binder.h"
#include "sim/dra/structured/taint_eviction.h"
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
  uint64_t under_way = 0;                // before the end of the run
  uint64_t changed = 0;                  // slices are not those of the start
  uint64_t cleared = 0;                  // a pod has just given back a claim that kept it waiting
  std::map<std::string, uint64_t> busy;  // runs, by component with work left
};

bool SlicesHaveChanged(ControlPlane& plane) {
  const auto slices = plane.network().server().objects().of<ResourceSliceObject>().Sorted();
  return std::any_of(slices.begin(), slices.end(), [](const Ref<ResourceSliceObject>& slice) {
    return slice->object->spec().pool().generation() > 1;
  });
}

// Names of the parts that have work left.
std::set<std::string> BusyParts(SteppedRig& rig) {
  std::set<std::string> names;
  for (const PlanePart* part : rig.plane().parts()) {
    if (part->IsBusy()) names.insert(part->connection().name);
  }
  return names;
}

// Saves at a random instant, or at the first one after a random instant that is `wanted`.
void SaveAndContinue(const StructuredScenario& scenario, Random& random,
                     const std::function<bool(SteppedRig&)>& wanted, CheckpointTally* tally) {
  SteppedRig whole(scenario);
  const uint64_t events = whole.Run(kMostSteps);
  const std::string end = whole.rig().State();

  SteppedRig cut(scenario);
  uint64_t done = cut.Run(random.Below(wanted ? events / 2 + 1 : events));
  while (wanted && done + 1 < events && !wanted(cut)) done += cut.Run(1);
  tally->midway += IsMidway(cut);
  tally->under_way += !cut.rig().engine().finished();
  tally->changed += SlicesHaveChanged(cut.plane());
  for (const std::string& part : BusyParts(cut)) ++tally->busy[part];
  const std::string state = cut.rig().State();

  SteppedRig resumed(scenario);
  StateReader in(state);
  ASSERT_EQ(resumed.rig().engine().Load(in), absl::OkStatus());
  ASSERT_TRUE(in.AtEnd());
  EXPECT_TRUE(resumed.rig().State() == state) << "the state is not saved alike";
  EXPECT_EQ(resumed.rig().cluster().inventory().Check(), absl::OkStatus());
  // Decides whether a run with no other work goes on.
  EXPECT_EQ(resumed.plane().RetryMayHelp(), cut.plane().RetryMayHelp());
  tally->cleared += cut.plane().RetryMayHelp();
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
    Random random(seed, "structured checkpoints");
    const auto scenario = CheckpointScenario(seed, random);
    SaveAndContinue(*scenario, random, seed % 2 == 0 ? IsMidway : nullptr, &tally);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GE(tally.midway, runs / 3);
  EXPECT_GE(tally.under_way, runs * 8 / 10);
  EXPECT_GE(tally.changed, runs / 4);
}

// A component's pending work is kept in its own state alone: evictions that wait for
// tolerationSeconds, bindings of devices, a driver's changes of slices and layouts.
TEST(StructuredCheckpointTest, SavedWhileAComponentHasWorkLeft) {
  CheckpointTally tally;
  const std::set<std::string> wanted = {TaintEviction::kName, DeviceBinder::kName,
                                        "gpu.example.com"};
  const uint64_t least = std::min<uint64_t>(SoakSeeds(12), 300);
  const auto is_met = [&](const std::string& part) { return tally.busy[part] >= least; };
  for (uint64_t seed = 0; !std::all_of(wanted.begin(), wanted.end(), is_met); ++seed) {
    ASSERT_LT(seed, 200 * least);
    Random random(seed, "components at work");
    const auto scenario = CheckpointScenario(seed, random);
    std::set<std::string> here;
    if (scenario->parts.evicts) here.insert(TaintEviction::kName);
    if (!scenario->parts.bindings.empty()) here.insert(DeviceBinder::kName);
    for (size_t d = 0; d < scenario->parts.publishes.size(); ++d) {
      if (scenario->parts.publishes[d]) here.insert(scenario->slices.drivers[d].name);
    }
    std::vector<std::string> missing;
    for (const std::string& part : here) {
      if (wanted.count(part) > 0 && !is_met(part)) missing.push_back(part);
    }
    if (missing.empty()) continue;
    const std::string part = OneOf(missing, random);
    const auto at_work = [&part](SteppedRig& rig) { return BusyParts(rig).count(part) > 0; };
    SaveAndContinue(*scenario, random, at_work, &tally);
    if (HasFailure()) FAIL() << "seed " << seed << ", " << part;
  }
}

TEST(StructuredCheckpointTest, SavedAfterAClaimWasGivenBack) {
  CheckpointTally tally;
  const uint64_t least = std::min<uint64_t>(SoakSeeds(5), 100);
  const auto gave_back = [](SteppedRig& rig) { return rig.plane().RetryMayHelp(); };
  for (uint64_t seed = 0; tally.cleared < least; ++seed) {
    ASSERT_LT(seed, 40 * least);
    Random random(seed, "claims given back");
    SaveAndContinue(*CheckpointScenario(seed, random), random, gave_back, &tally);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
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
