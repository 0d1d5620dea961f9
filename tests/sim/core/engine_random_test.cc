// Random scenarios: a run that is interrupted and resumed anywhere is the same run; the records
// tell the whole story of the cluster; and nothing is lost on the way.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/random.h"
#include "model/record.h"
#include "model/saved_state.h"
#include "model/state_io.h"
#include "policies/framework/plugin.h"
#include "policies/framework/profile.h"
#include "policies/framework/registry.h"
#include "sim/core/engine.h"
#include "tests/sim/core/engine_rig.h"
#include "tests/testing/cluster_builder.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace engine_random_test {

// Arrivals dense enough that pods wait. Every pod ends.
void AddRandomPods(size_t pods, uint64_t longest_run_ns, Random& random, EngineScenario* s) {
  int64_t at_ns = 0;
  for (size_t i = 0; i < pods; ++i) {
    at_ns += static_cast<int64_t>(random.Below(4));
    PodRow row;
    row.name = absl::StrCat("p", i);
    row.shape = static_cast<size_t>(random.Below(s->shapes.size()));
    row.at_ns = at_ns;
    row.run_ns = static_cast<int64_t>(1 + random.Below(longest_run_ns));
    row.priority = static_cast<int32_t>(random.Below(3));
    s->pods.push_back(std::move(row));
  }
}

EngineScenario RandomScenario(uint64_t seed, RunMode mode, size_t pods) {
  Random random(seed, "scenario");
  EngineScenario s;
  for (int i = 0; i < 6; ++i) s.nodes.push_back(RandomNode(absl::StrCat("n", i), random));
  for (int i = 0; i < 8; ++i) s.shapes.push_back(RandomShape(random));
  AddRandomPods(pods, 90, random, &s);
  s.options.mode = mode;
  s.options.check_invariants = true;
  return s;
}

// ---- Checkpoints ----

// Decides by pod and time alone, so that it needs no state of its own: some pods wait in Reserve,
// some in PreBind, and some are rejected for a while, after a wait or at once.
StepResult Moods(const std::string& step, const PodContext& pod) {
  const uint32_t id = pod.pod.value();
  if (step == "HookA.Reserve" && id % 3 == 0) return Waits({2});
  const bool unwelcome = id % 6 == 0 || id % 7 == 3;
  if (step == "HookA.Permit" && unwelcome && pod.now < SimTime(60)) {
    return Fails(StepCode::kReject);
  }
  if (step == "HookA.PreBind" && id % 2 == 1) return Waits({1, 0, 4});
  return StepResult();
}

struct PolicyWithHook {
  const char* policy;
  const char* plugin;
};
constexpr PolicyWithHook kPolicies[] = {
    {"fgd", "FGD"}, {"random", "Random"}, {"best-fit", "BestFit"}};

// Every pod fits somewhere, but four GPUs are far too few for all of them at once.
EngineScenario AsynchronousScenario(const PolicyWithHook& policy, size_t pods,
                                    const Registry* registry) {
  Random random(9, "scenario");
  EngineScenario s;
  s.nodes = {TestNode("n0", 16000, 2), TestNode("n1", 8000, 1), TestNode("n2", 8000, 0),
             TestNode("n3", 16000, 1)};
  s.shapes = {TestShape(1000, 1, 300), TestShape(2000, 1, 600), TestShape(1000, 1),
              TestShape(4000, 2), TestShape(3000, 0)};
  AddRandomPods(pods, 40, random, &s);
  s.registry = registry;
  s.policy = policy.policy;
  s.score = {{policy.plugin, 1}, {"HookA", 1}};
  s.bind_latency = SimDuration(3);
  s.options.mode = RunMode::kReplay;
  s.options.attempt_latency = SimDuration(1);
  // Without the cache even the counters of work are the same after a resumption.
  s.use_cache = false;
  return s;
}

TEST(EngineCheckpointTest, ARunResumedAfterAnyEventIsTheSameRun) {
  HookScript script;
  script.react = Moods;
  const Registry registry = HookRegistry(&script);
  for (const PolicyWithHook& policy : kPolicies) {
    SCOPED_TRACE(policy.policy);
    EngineScenario scenario = AsynchronousScenario(policy, 20, &registry);
    EngineRig whole(scenario);
    ASSERT_TRUE(whole.engine().Run().ok());
    std::map<RecordKind, int> kinds;
    for (const Record& record : whole.records()) ++kinds[record.kind];
    // The scenario has all that makes a checkpoint hard.
    EXPECT_GT(kinds[RecordKind::kPodReserved], 10);
    EXPECT_GT(kinds[RecordKind::kPodFinished], 10);
    EXPECT_GT(kinds[RecordKind::kAttemptFailed], 10);
    EXPECT_GT(kinds[RecordKind::kPodUnreserved], 0);
    uint64_t events = 0;
    while (true) {
      const ResumedRun run(scenario, ++events);
      if (run.was_over) break;
      ASSERT_EQ(run.loaded, run.saved) << "event " << events;
      ASSERT_EQ(run.records, whole.records()) << "event " << events;
      ASSERT_EQ(run.rig->State(), whole.State()) << "event " << events;
    }
    EXPECT_GT(events, 80u);
  }
}

TEST(EngineCheckpointTest, WithTheCacheTheRecordsAndTheClusterAreTheSame) {
  EngineScenario scenario = RandomScenario(10, RunMode::kReplay, 40);
  scenario.policy = "fgd";
  scenario.bind_latency = SimDuration(2);
  EngineRig whole(scenario);
  ASSERT_TRUE(whole.engine().Run().ok());
  const auto cluster_bytes = [](EngineRig& rig) {
    StateWriter out;
    rig.cluster().Save(out);
    return out.Release();
  };
  for (uint64_t events = 1; events < 100; events += 7) {
    const ResumedRun run(scenario, events);
    ASSERT_EQ(run.records, whole.records()) << "event " << events;
    ASSERT_EQ(cluster_bytes(*run.rig), cluster_bytes(whole)) << "event " << events;
  }
}

TEST(EngineCheckpointTest, PausesChangeNothing) {
  EngineScenario scenario = RandomScenario(11, RunMode::kReplay, 40);
  scenario.policy = "random";
  scenario.bind_latency = SimDuration(2);
  EngineRig whole(scenario);
  ASSERT_TRUE(whole.engine().Run().ok());
  scenario.options.stop_after_events = 1;
  EngineRig stepped(scenario);
  int calls = 0;
  while (!stepped.engine().finished()) {
    ASSERT_TRUE(stepped.engine().Run().ok());
    ASSERT_LT(++calls, 100000);
  }
  EXPECT_GT(calls, 60);
  EXPECT_EQ(stepped.records(), whole.records());
  EXPECT_EQ(stepped.State(), whole.State());
}

TEST(EngineCheckpointTest, EveryTruncationIsAnError) {
  HookScript script;
  script.react = Moods;
  const Registry registry = HookRegistry(&script);
  EngineScenario scenario = AsynchronousScenario(kPolicies[1], 12, &registry);
  scenario.options.stop_after_events = 30;
  EngineRig saved(scenario);
  ASSERT_TRUE(saved.engine().Run().ok());
  ASSERT_FALSE(saved.engine().finished());
  const std::string state = saved.State();
  for (size_t n = 0; n < state.size(); ++n) {
    EngineRig loaded(scenario);
    StateReader in(absl::string_view(state).substr(0, n));
    ASSERT_EQ(loaded.engine().Load(in).code(), absl::StatusCode::kDataLoss) << n;
  }
}

// Five pods that fit at once: each event makes two records.
EngineScenario FivePods() {
  EngineScenario s;
  s.nodes = {TestNode("n0", 16000, 0)};
  s.shapes = {TestShape(1000, 0)};
  for (int i = 0; i < 5; ++i) s.pods.push_back({absl::StrCat("p", i), 0, 0, kForever, 0});
  s.options.checkpoint_every = 3;
  return s;
}

TEST(EngineCheckpointTest, CheckpointsAreMadeEverySoManyRecordsBetweenEvents) {
  struct Made {
    size_t records;
    std::string state;
  };
  const auto run = [](const std::string* from, std::vector<Made>* made) {
    RecordLog log;
    StateImage image;
    EngineRig rig(FivePods(), [&](EngineParts& parts) {
      parts.sinks.push_back(&log);
      parts.on_checkpoint = [&](const SavedState& state) {
        EXPECT_TRUE(from != nullptr || image.Apply(state));
        made->push_back({log.records().size(), image.Whole().text});
        return absl::OkStatus();
      };
    });
    if (from != nullptr) {
      StateReader in(*from);
      ASSERT_TRUE(rig.engine().Load(in).ok()) << in.status();
    }
    ASSERT_TRUE(rig.engine().Run().ok());
    ASSERT_TRUE(rig.engine().finished());
  };
  // After events 2, 3 and 5: the first with at least 3, 6 and 9 records.
  std::vector<Made> made;
  run(nullptr, &made);
  ASSERT_EQ(made.size(), 3u);
  EXPECT_EQ(made[0].records, 4u);
  EXPECT_EQ(made[1].records, 6u);
  EXPECT_EQ(made[2].records, 10u);
  // A resumed run goes on in the same rhythm, and its checkpoints are the same.
  std::vector<Made> resumed;
  run(&made[0].state, &resumed);
  ASSERT_EQ(resumed.size(), 2u);
  EXPECT_EQ(resumed[0].records, 2u);
  EXPECT_EQ(resumed[1].records, 6u);
}

TEST(EngineCheckpointTest, ACheckpointThatCannotBeWrittenEndsTheRun) {
  EngineRig rig(FivePods(), [](EngineParts& parts) {
    parts.on_checkpoint = [](const SavedState&) { return absl::DataLossError("disk full"); };
  });
  EXPECT_EQ(rig.engine().Run(), absl::DataLossError("disk full"));
  EXPECT_EQ(rig.records().size(), 4u);
}

// ---- Invariants ----

// Rebuilds what each node has idle from the records alone and compares.
class FoldSink : public RecordSink {
 public:
  void OnRecord(const Record& record, const ClusterState& cluster) override {
    const uint32_t pod = record.pod.value();
    switch (record.kind) {
      case RecordKind::kPodReserved:
        EXPECT_EQ(held_.count(pod), 0u);
        held_[pod] = {record.node, record.devices};
        break;
      case RecordKind::kPodBound: {
        const Placement placement = {record.node, record.devices};
        const auto [it, inserted] = held_.try_emplace(pod, placement);
        EXPECT_TRUE(inserted || it->second == placement);
        break;
      }
      case RecordKind::kPodUnreserved:
      case RecordKind::kPodFinished:
        EXPECT_EQ(held_.count(pod), 1u);
        EXPECT_TRUE(held_[pod] == Placement(record.node, record.devices));
        held_.erase(pod);
        break;
      default:
        break;
    }
    ++count_[record.kind];
    EXPECT_GE(record.time, last_);
    last_ = record.time;
    Compare(cluster);
  }
  size_t held() const { return held_.size(); }
  size_t count(RecordKind kind) const {
    const auto it = count_.find(kind);
    return it == count_.end() ? 0 : it->second;
  }

 private:
  using Placement = std::pair<NodeId, DeviceSet>;

  void Compare(const ClusterState& cluster) const {
    for (size_t n = 0; n < cluster.node_count(); ++n) {
      const NodeId node(n);
      const NodeSpec& spec = cluster.node_spec(node);
      int64_t cpu = spec.cpu_milli;
      int64_t memory = spec.memory_bytes;
      int64_t slots = spec.pods;
      std::vector<int16_t> devices(static_cast<size_t>(spec.gpu_count), kDeviceMilli);
      for (const auto& [pod, placement] : held_) {
        if (placement.first != node) continue;
        const PodShape& shape = cluster.pod_shape(PodId(pod));
        cpu -= shape.request.cpu_milli;
        memory -= shape.request.memory_bytes;
        slots -= 1;
        for (size_t d = 0; d < devices.size(); ++d) {
          if (!placement.second.Contains(d)) continue;
          devices[d] = static_cast<int16_t>(devices[d] - shape.request.gpu_milli);
          EXPECT_GE(devices[d], 0);
        }
      }
      EXPECT_GE(cpu, 0);
      EXPECT_GE(memory, 0);
      EXPECT_GE(slots, 0);
      const NodeRow& row = cluster.node(node);
      EXPECT_EQ(row.cpu_milli_idle, cpu);
      EXPECT_EQ(row.memory_bytes_idle, memory);
      EXPECT_EQ(row.pods_idle, slots);
      EXPECT_EQ(cluster.device_milli_idle(node), absl::MakeConstSpan(devices));
    }
  }

  std::map<uint32_t, Placement> held_;
  std::map<RecordKind, size_t> count_;
  SimTime last_;
};

size_t FeasibleNodes(EngineRig& rig, PodId pod) {
  PodContext context = rig.builder().Context(rig.cluster().pod_shape_id(pod));
  size_t feasible = 0;
  for (const NodeId node : rig.builder().NodeIds()) {
    ReasonIndex verdict = kFits;
    for (const Profile::FilterEntry& filter : rig.profile().filters()) {
      if (verdict != kFits) break;
      filter.plugin->Filter(context, rig.cluster(), absl::MakeConstSpan(&node, 1),
                            absl::MakeSpan(&verdict, 1));
    }
    if (verdict == kFits) ++feasible;
  }
  return feasible;
}

void CheckRandomRun(const EngineScenario& scenario, size_t* failed_attempts) {
  FoldSink fold;
  EngineRig rig(scenario, [&fold](EngineParts& parts) { parts.sinks.push_back(&fold); });
  const absl::Status status = rig.engine().Run();
  ASSERT_TRUE(status.ok()) << status;
  const size_t pods = scenario.pods.size();
  EXPECT_EQ(fold.count(RecordKind::kPodArrived), pods);
  EXPECT_EQ(fold.count(RecordKind::kRunEnded), 1u);
  *failed_attempts += fold.count(RecordKind::kAttemptFailed);
  if (scenario.options.mode == RunMode::kFill) {
    EXPECT_EQ(fold.count(RecordKind::kPodBound) + fold.count(RecordKind::kPodDropped), pods);
    EXPECT_EQ(fold.count(RecordKind::kAttemptFailed), fold.count(RecordKind::kPodDropped));
    EXPECT_EQ(fold.held(), fold.count(RecordKind::kPodBound));
    EXPECT_EQ(rig.engine().pods_waiting(), 0u);
    return;
  }
  // Every pod that ever ran has ended; the others fit no empty node.
  EXPECT_EQ(fold.held(), 0u);
  EXPECT_EQ(fold.count(RecordKind::kPodBound), fold.count(RecordKind::kPodFinished));
  size_t waiting = 0;
  for (size_t i = 0; i < pods; ++i) {
    const PodId pod(i);
    if (rig.cluster().pod_phase(pod) == PodPhase::kSucceeded) continue;
    ++waiting;
    EXPECT_EQ(rig.cluster().pod_phase(pod), PodPhase::kDropped);
    EXPECT_EQ(FeasibleNodes(rig, pod), 0u) << rig.cluster().pod_name(pod);
  }
  EXPECT_EQ(rig.engine().pods_waiting(), 0u);
  EXPECT_EQ(rig.engine().never_fitting(), waiting);
  EXPECT_EQ(fold.count(RecordKind::kPodFinished) + waiting, pods);
}

TEST(EngineInvariantsTest, HoldAfterEveryEventOfRandomScenarios) {
  size_t failed_attempts = 0;
  for (const PolicyEntry& policy : TestRegistry().policies()) {
    for (uint64_t seed = 1; seed <= SoakSeeds(3); ++seed) {
      for (const RunMode mode : {RunMode::kFill, RunMode::kReplay}) {
        SCOPED_TRACE(absl::StrCat(policy.name, " seed ", seed));
        EngineScenario scenario = RandomScenario(seed, mode, 50);
        scenario.policy = policy.name;
        scenario.bind_latency = SimDuration(static_cast<int64_t>(seed % 3));
        scenario.options.attempt_latency = SimDuration(static_cast<int64_t>(seed % 2));
        CheckRandomRun(scenario, &failed_attempts);
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(failed_attempts, 500u);
}

}  // namespace engine_random_test
}  // namespace drasim
