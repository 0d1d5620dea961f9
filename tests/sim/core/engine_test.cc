// Exact courses of small scenarios. Times are plain nanoseconds.
#include "sim/core/engine.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/event_source.h"
#include "model/record.h"
#include "model/state_io.h"
#include "policies/builtins.h"
#include "policies/framework/plugin.h"
#include "policies/framework/registry.h"
#include "tests/sim/core/engine_rig.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {
namespace engine_test {

// Node n0 with 16 cores and `gpus` GPUs. Shape 0 wants one GPU, shape 1 none.
EngineScenario OneNode(RunMode mode, int32_t gpus) {
  EngineScenario s;
  s.nodes = {TestNode("n0", 16000, gpus)};
  s.shapes = {TestShape(1000, 1), TestShape(1000, 0)};
  s.options.mode = mode;
  s.options.check_invariants = true;
  return s;
}

Lines RunLines(const EngineScenario& scenario) {
  EngineRig rig(scenario);
  const absl::Status status = rig.engine().Run();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(rig.engine().finished());
  EXPECT_EQ(rig.engine().records(), rig.records().size());
  return rig.RecordLines();
}

EngineScenario WithHooks(EngineScenario s, const Registry* registry) {
  s.registry = registry;
  s.score = {{"HookA", 1}, {"HookB", 1}};
  return s;
}

// ---- Fill ----

TEST(EngineFillTest, EveryPodIsTriedOnceAndDroppedIfItDoesNotFit) {
  EngineScenario s = OneNode(RunMode::kFill, 1);
  // Times, run times and priorities mean nothing here.
  s.pods = {{"a", 0, 5, 1, 0}, {"b", 0, 3, 1, 9}, {"c", 1, 4, kForever, 0}};
  EXPECT_EQ(RunLines(s),
            (Lines{"0 PodArrived a", "0 PodBound a n0 0", "0 PodArrived b",
                   "0 AttemptFailed b 0/1 nodes are available: 1 Insufficient GPU.",
                   "0 PodDropped b", "0 PodArrived c", "0 PodBound c n0", "0 RunEnded"}));
  EngineRig rig(s);
  ASSERT_TRUE(rig.engine().Run().ok());
  EXPECT_EQ(rig.cluster().pod_phase(PodId(size_t{0})), PodPhase::kBound);
  EXPECT_EQ(rig.cluster().pod_phase(PodId(size_t{1})), PodPhase::kDropped);
  EXPECT_EQ(rig.cluster().pod_priority(PodId(size_t{1})), 9);
  EXPECT_EQ(rig.cluster().totals().pods_resident, 2);
  EXPECT_EQ(rig.engine().pods_waiting(), 0u);
}

TEST(EngineFillTest, AnEmptyWorkloadEndsAtOnceAndOnlyOnce) {
  EngineRig rig(OneNode(RunMode::kFill, 1));
  ASSERT_TRUE(rig.engine().Run().ok());
  ASSERT_TRUE(rig.engine().Run().ok());
  EXPECT_EQ(rig.RecordLines(), (Lines{"0 RunEnded"}));
}

// ---- Replay ----

TEST(EngineReplayTest, APodWaitsUntilAnotherLeaves) {
  EngineScenario s = OneNode(RunMode::kReplay, 1);
  s.pods = {{"a", 0, 0, 10, 0}, {"b", 0, 3, 5, 0}};
  EXPECT_EQ(RunLines(s), (Lines{"0 PodArrived a", "0 PodBound a n0 0", "3 PodArrived b",
                                "3 AttemptFailed b 0/1 nodes are available: 1 Insufficient GPU.",
                                "10 PodFinished a n0 0", "10 PodBound b n0 0",
                                "15 PodFinished b n0 0", "15 RunEnded"}));
}

TEST(EngineReplayTest, WithinAnInstantDeparturesComeBeforeArrivals) {
  EngineScenario s = OneNode(RunMode::kReplay, 1);
  s.pods = {{"a", 0, 0, 10, 0}, {"c", 0, 10, kForever, 0}};
  EXPECT_EQ(RunLines(s), (Lines{"0 PodArrived a", "0 PodBound a n0 0", "10 PodFinished a n0 0",
                                "10 PodArrived c", "10 PodBound c n0 0", "10 RunEnded"}));
  // A pod that has waited goes before one that arrives just then.
  s.pods = {{"a", 0, 0, 10, 0}, {"b", 0, 3, kForever, 0}, {"c", 0, 10, kForever, 0}};
  EXPECT_EQ(RunLines(s), (Lines{"0 PodArrived a", "0 PodBound a n0 0", "3 PodArrived b",
                                "3 AttemptFailed b 0/1 nodes are available: 1 Insufficient GPU.",
                                "10 PodFinished a n0 0", "10 PodArrived c", "10 PodBound b n0 0",
                                "10 AttemptFailed c 0/1 nodes are available: 1 Insufficient GPU.",
                                "10 RunEnded"}));
}

TEST(EngineReplayTest, HigherPrioritiesGoFirst) {
  EngineScenario s = OneNode(RunMode::kReplay, 1);
  s.pods = {{"x", 0, 0, 10, 0}, {"low", 0, 1, 2, 1}, {"high", 0, 1, 2, 5}, {"mid", 0, 1, 2, 3}};
  const std::string full = " 0/1 nodes are available: 1 Insufficient GPU.";
  EXPECT_EQ(RunLines(s),
            (Lines{"0 PodArrived x", "0 PodBound x n0 0", "1 PodArrived low", "1 PodArrived high",
                   "1 PodArrived mid", "1 AttemptFailed high" + full, "1 AttemptFailed mid" + full,
                   "1 AttemptFailed low" + full, "10 PodFinished x n0 0", "10 PodBound high n0 0",
                   "10 AttemptFailed mid" + full, "10 AttemptFailed low" + full,
                   "12 PodFinished high n0 0", "12 PodBound mid n0 0",
                   "12 AttemptFailed low" + full, "14 PodFinished mid n0 0", "14 PodBound low n0 0",
                   "16 PodFinished low n0 0", "16 RunEnded"}));
}

TEST(EngineReplayTest, AttemptsTakeTheirTimeOneAfterTheOther) {
  EngineScenario s = OneNode(RunMode::kReplay, 0);
  s.options.attempt_latency = SimDuration(2);
  s.pods = {{"a", 1, 0, kForever, 0}, {"b", 1, 0, kForever, 0}, {"c", 1, 3, 4, 7}};
  EXPECT_EQ(RunLines(s),
            (Lines{"0 PodArrived a", "0 PodArrived b", "2 PodBound a n0", "3 PodArrived c",
                   "4 PodBound c n0", "6 PodBound b n0", "8 PodFinished c n0", "8 RunEnded"}));
}

// A pod that fails is queued again at that moment, behind one that has not been tried yet.
TEST(EngineReplayTest, AFailedAttemptCostsThePlaceInTheQueue) {
  EngineScenario s = OneNode(RunMode::kReplay, 1);
  s.options.attempt_latency = SimDuration(2);
  s.pods = {{"a", 0, 0, 5, 0}, {"b", 0, 3, kForever, 0}, {"c", 0, 4, 3, 0}};
  EXPECT_EQ(RunLines(s),
            (Lines{"0 PodArrived a", "2 PodBound a n0 0", "3 PodArrived b", "4 PodArrived c",
                   "5 AttemptFailed b 0/1 nodes are available: 1 Insufficient GPU.",
                   "7 PodFinished a n0 0", "7 PodBound c n0 0",
                   "9 AttemptFailed b 0/1 nodes are available: 1 Insufficient GPU.",
                   "10 PodFinished c n0 0", "12 PodBound b n0 0", "12 RunEnded"}));
}

// ---- PreFilter, PostFilter and reasons ----

// Refuses the first pod before its time, at one point or another, and may offer help.
struct GateScript {
  enum class Point : uint8_t { kNone, kPreFilter, kPermit };
  Point refuses_at = Point::kNone;
  int64_t opens_ns = 0;
  std::vector<StepResult> help;        // answers of PostFilter, call by call; then it gives up
  std::vector<int64_t> help_asked_ns;  // when PostFilter was called
};

class Gate : public ScorePlugin,
             public PreFilterPlugin,
             public PostFilterPlugin,
             public PermitPlugin {
 public:
  explicit Gate(GateScript* script) : script_(script) {}
  absl::string_view name() const override { return "Gate"; }
  std::vector<Reason> reasons() const override {
    return {{ReasonKind::kOther, "gate closed"}, {ReasonKind::kOther, "not now"}};
  }
  void Score(const PodContext&, const ClusterState&, absl::Span<const NodeId>,
             absl::Span<int64_t> scores) override {
    for (int64_t& score : scores) score = 0;
  }
  StepResult PreFilter(const PodContext& pod, const ClusterState&) override {
    return Check(GateScript::Point::kPreFilter, pod, 1);
  }
  StepResult Permit(const PodContext& pod, const ClusterState&, NodeId) override {
    return Check(GateScript::Point::kPermit, pod, 2);
  }
  PostFilterResult PostFilter(const PodContext& pod, PostFilterHandle&) override {
    const size_t call = script_->help_asked_ns.size();
    script_->help_asked_ns.push_back(pod.now.ns());
    PostFilterResult result;
    if (call >= script_->help.size()) return result;
    result.code = script_->help[call].code;
    result.intents = script_->help[call].intents;
    return result;
  }

 private:
  StepResult Check(GateScript::Point point, const PodContext& pod, ReasonIndex reason) const {
    StepResult result;
    if (script_->refuses_at != point || pod.pod.value() != 0) return result;
    if (pod.now >= SimTime(script_->opens_ns)) return result;
    result.code = StepCode::kReject;
    result.reason = reason;
    return result;
  }

  GateScript* script_;
};

Registry GateRegistry(GateScript* script) {
  Registry registry;
  RegisterBuiltins(registry);
  registry.AddPlugin("Gate",
                     [script](const PolicyContext&) { return std::make_unique<Gate>(script); });
  return registry;
}

// Node n0 of OneNode, and n1, which is too small for any pod.
EngineScenario WithGate(RunMode mode, const Registry* registry) {
  EngineScenario s = OneNode(mode, 1);
  s.nodes.push_back(TestNode("n1", 1, 0));
  s.registry = registry;
  s.score = {{"Gate", 1}};
  return s;
}

TEST(EngineStepsTest, ARefusalOfPreFilterCountsForAllNodes) {
  GateScript script;
  script.refuses_at = GateScript::Point::kPreFilter;
  script.opens_ns = 5;
  const Registry registry = GateRegistry(&script);
  EngineScenario s = WithGate(RunMode::kReplay, &registry);
  s.pods = {{"a", 1, 0, kForever, 0}, {"b", 1, 1, 4, 0}};
  EXPECT_EQ(RunLines(s),
            (Lines{"0 PodArrived a", "0 AttemptFailed a 0/2 nodes are available: 2 gate closed.",
                   "1 PodArrived b", "1 PodBound b n0", "5 PodFinished b n0", "5 PodBound a n0",
                   "5 RunEnded"}));
}

TEST(EngineStepsTest, ARefusalOfPermitCountsForTheChosenNode) {
  GateScript script;
  script.refuses_at = GateScript::Point::kPermit;
  script.opens_ns = 5;
  const Registry registry = GateRegistry(&script);
  EngineScenario s = WithGate(RunMode::kFill, &registry);
  s.pods = {{"a", 1, 0, kForever, 0}};
  EXPECT_EQ(RunLines(s),
            (Lines{"0 PodArrived a", "0 AttemptFailed a 0/2 nodes are available: 1 not now.",
                   "0 PodDropped a", "0 RunEnded"}));
}

TEST(EngineStepsTest, PostFilterMayHaveAPodTriedAgainAfterItsIntents) {
  GateScript script;
  script.help = {Waits({3, 4})};
  const Registry registry = GateRegistry(&script);
  EngineScenario s = WithGate(RunMode::kReplay, &registry);
  s.pods = {{"a", 0, 0, 10, 0}, {"b", 0, 1, kForever, 0}};
  const std::string full = " 0/2 nodes are available: 1 Insufficient GPU, 1 Insufficient cpu.";
  EXPECT_EQ(RunLines(s), (Lines{"0 PodArrived a", "0 PodBound a n0 0", "1 PodArrived b",
                                "1 AttemptFailed b" + full, "8 AttemptFailed b" + full,
                                "10 PodFinished a n0 0", "10 PodBound b n0 0", "10 RunEnded"}));
  EXPECT_EQ(script.help_asked_ns, (std::vector<int64_t>{1, 8}));
  // A fill has no second try, so no plugin is asked.
  script.help_asked_ns.clear();
  s.options.mode = RunMode::kFill;
  EXPECT_EQ(RunLines(s), (Lines{"0 PodArrived a", "0 PodBound a n0 0", "0 PodArrived b",
                                "0 AttemptFailed b" + full, "0 PodDropped b", "0 RunEnded"}));
  EXPECT_TRUE(script.help_asked_ns.empty());
}

// A pod per node, counted in PreFilter and in the trials after it. Skips pods of priority 0, and
// allows pods of priority 7 only the second node.
class OnePerNode : public PreFilterPlugin, public FilterPlugin {
 public:
  absl::string_view name() const override { return "OnePerNode"; }
  std::vector<Reason> reasons() const override {
    return {{ReasonKind::kOther, "node(s) had a pod"}};
  }
  Reach filter_reach() const override { return Reach::kCluster; }
  StepResult PreFilter(const PodContext& pod, const ClusterState& cluster) override {
    DRASIM_CHECK(kept_.empty());
    StepResult result;
    const int32_t priority = cluster.pod_priority(pod.pod);
    if (priority == 0) result.code = StepCode::kSkip;
    if (priority == 7) {
      result.names_nodes = true;
      result.nodes = {NodeId(size_t{1})};
    }
    // Left behind by the pod before, if this one is skipped.
    pods_.assign(cluster.node_count(), 5);
    if (priority == 0) return result;
    for (size_t n = 0; n < pods_.size(); ++n) pods_[n] = cluster.pods_on(NodeId(n)).size();
    return result;
  }
  void Filter(const PodContext&, const ClusterState&, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override {
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (verdicts[i] == kFits && pods_[nodes[i].value()] > 0) verdicts[i] = 1;
    }
  }
  void BeginTrial() override { kept_.push_back(pods_); }
  void EndTrial() override {
    pods_ = kept_.back();
    kept_.pop_back();
  }
  void OnPodAdded(const PodContext&, const ClusterState&, PodId, NodeId node) override {
    ++pods_[node.value()];
  }
  void OnPodRemoved(const PodContext&, const ClusterState& cluster, PodId other,
                    NodeId node) override {
    EXPECT_FALSE(cluster.pod_node(other).valid());
    --pods_[node.value()];
  }

 private:
  std::vector<size_t> pods_;
  std::vector<std::vector<size_t>> kept_;
};

TEST(EngineStepsTest, AFilterOfTheClusterKnowsWhatPreFilterSawAndWhatATrialChanged) {
  Registry registry;
  RegisterBuiltins(registry);
  registry.AddPlugin("OnePerNode",
                     [](const PolicyContext&) { return std::make_unique<OnePerNode>(); });
  EngineScenario s = OneNode(RunMode::kReplay, 1);
  s.nodes.clear();
  for (const char* const name : {"n0", "n1", "n2"}) s.nodes.push_back(TestNode(name, 16000, 0));
  s.shapes = {TestShape(1000, 0)};
  s.identity_ranks = true;
  s.registry = &registry;
  s.plugins = {"OnePerNode", "DefaultPreemption"};
  // a and b share n0, for the plugin skips them; b could not go elsewhere as cheaply. c and d go
  // where no pod is. e may use n1 only and takes the place of c, which takes that of a and b.
  s.pods = {{"a", 0, 0, kForever, 0},
            {"b", 0, 1, kForever, 0},
            {"c", 0, 2, kForever, 3},
            {"d", 0, 3, kForever, 3},
            {"e", 0, 4, kForever, 7}};
  const std::string none = " 0/3 nodes are available: 3 node(s) had a pod.";
  EXPECT_EQ(RunLines(s),
            (Lines{"0 PodArrived a", "0 PodBound a n0", "1 PodArrived b", "1 PodBound b n0",
                   "2 PodArrived c", "2 PodBound c n1", "3 PodArrived d", "3 PodBound d n2",
                   "4 PodArrived e", "4 AttemptFailed e" + none, "4 PodEvicted c n1 preempted",
                   "4 PodBound e n1", "4 AttemptFailed c" + none, "4 PodEvicted a n0 preempted",
                   "4 PodEvicted b n0 preempted", "4 PodBound c n0", "4 PodBound a n0",
                   "4 PodBound b n0", "4 RunEnded"}));
}

// PostFilter makes room where there is none. A pod that found its node and was rejected later has
// no use for that: kube-scheduler does not run it then.
TEST(EngineStepsTest, PostFilterIsOnlyForPodsThatFitNoNode) {
  GateScript script;
  script.refuses_at = GateScript::Point::kPermit;
  script.opens_ns = 5;
  const Registry registry = GateRegistry(&script);
  EngineScenario s = WithGate(RunMode::kReplay, &registry);
  s.pods = {{"a", 1, 0, kForever, 0}};
  EXPECT_EQ(RunLines(s),
            (Lines{"0 PodArrived a", "0 AttemptFailed a 0/2 nodes are available: 1 not now.",
                   "0 RunEnded"}));
  EXPECT_EQ(script.help_asked_ns, std::vector<int64_t>());
}

// ---- Binding takes time ----

TEST(EngineBindingTest, TheNodeIsChargedWhileBindIsUnderWay) {
  EngineScenario s = OneNode(RunMode::kReplay, 1);
  s.bind_latency = SimDuration(5);
  s.pods = {{"a", 0, 0, 10, 0}, {"b", 0, 2, kForever, 0}};
  EXPECT_EQ(RunLines(s), (Lines{"0 PodArrived a", "0 PodReserved a n0 0", "2 PodArrived b",
                                "2 AttemptFailed b 0/1 nodes are available: 1 Insufficient GPU.",
                                "5 PodBound a n0 0", "15 PodFinished a n0 0",
                                "15 PodReserved b n0 0", "20 PodBound b n0 0", "20 RunEnded"}));
  s.options.stop_after_events = 2;  // the arrival and the attempt
  EngineRig rig(s);
  ASSERT_TRUE(rig.engine().Run().ok());
  const PodId a(size_t{0});
  const NodeId n0(size_t{0});
  EXPECT_EQ(rig.cluster().pod_phase(a), PodPhase::kAssumed);
  EXPECT_EQ(rig.cluster().node(n0).gpu_milli_idle, 0);
  EXPECT_EQ(rig.cluster().node(n0).cpu_milli_idle, 15000);
  s.options.stop_after_events = 0;
  s.options.mode = RunMode::kFill;
  EXPECT_EQ(RunLines(s), (Lines{"0 PodArrived a", "0 PodReserved a n0 0", "0 PodArrived b",
                                "0 AttemptFailed b 0/1 nodes are available: 1 Insufficient GPU.",
                                "0 PodDropped b", "5 PodBound a n0 0", "5 RunEnded"}));
}

TEST(EngineBindingTest, BindingsOverlap) {
  EngineScenario s = OneNode(RunMode::kReplay, 0);
  s.bind_latency = SimDuration(5);
  s.pods = {{"a", 1, 0, 2, 0}, {"b", 1, 2, 2, 0}, {"c", 1, 6, 2, 0}};
  EXPECT_EQ(RunLines(s),
            (Lines{"0 PodArrived a", "0 PodReserved a n0", "2 PodArrived b", "2 PodReserved b n0",
                   "5 PodBound a n0", "6 PodArrived c", "6 PodReserved c n0", "7 PodFinished a n0",
                   "7 PodBound b n0", "9 PodFinished b n0", "11 PodBound c n0",
                   "13 PodFinished c n0", "13 RunEnded"}));
}

TEST(EngineBindingTest, PointsAreCalledInOrderAndWaitForTheirIntents) {
  HookScript script;
  const Registry registry = HookRegistry(&script);
  EngineScenario s = WithHooks(OneNode(RunMode::kReplay, 1), &registry);
  s.pods = {{"a", 0, 0, 1, 0}};
  EXPECT_EQ(RunLines(s),
            (Lines{"0 PodArrived a", "0 PodBound a n0 0", "1 PodFinished a n0 0", "1 RunEnded"}));
  EXPECT_EQ(script.calls, (Lines{"0 HookA.Reserve 0", "0 HookB.Reserve 0", "0 HookA.Permit 0",
                                 "0 HookB.Permit 0", "0 HookA.PreBind 0", "0 HookB.PreBind 0",
                                 "0 HookA.PostBind 0", "0 HookB.PostBind 0"}));
  // Several intents of one point are carried out one after the other; those without time at once.
  script.calls.clear();
  script.react = [](const std::string& step, const PodContext&) {
    if (step == "HookA.PreBind") return Waits({3, 0, 4});
    return step == "HookB.PreBind" ? Waits({0}) : StepResult();
  };
  s.bind_latency = SimDuration(5);
  EXPECT_EQ(RunLines(s), (Lines{"0 PodArrived a", "0 PodReserved a n0 0", "12 PodBound a n0 0",
                                "13 PodFinished a n0 0", "13 RunEnded"}));
  EXPECT_EQ(script.calls, (Lines{"0 HookA.Reserve 0", "0 HookB.Reserve 0", "0 HookA.Permit 0",
                                 "0 HookB.Permit 0", "0 HookA.PreBind 0", "7 HookB.PreBind 0",
                                 "12 HookA.PostBind 0", "12 HookB.PostBind 0"}));
}

TEST(EngineBindingTest, ARejectionAtOnceIsAFailedAttempt) {
  for (const StepCode code : {StepCode::kReject, StepCode::kError}) {
    HookScript script;
    script.react = [code](const std::string& step, const PodContext&) {
      return step == "HookB.Permit" ? Fails(code) : StepResult();
    };
    const Registry registry = HookRegistry(&script);
    EngineScenario s = WithHooks(OneNode(RunMode::kFill, 1), &registry);
    s.pods = {{"a", 0, 0, kForever, 0}};
    EXPECT_EQ(RunLines(s), (Lines{"0 PodArrived a", "0 AttemptFailed a 0/1 nodes are available.",
                                  "0 PodDropped a", "0 RunEnded"}));
    // Unreserve goes backwards.
    EXPECT_EQ(script.calls,
              (Lines{"0 HookA.Reserve 0", "0 HookB.Reserve 0", "0 HookA.Permit 0",
                     "0 HookB.Permit 0", "0 HookB.Unreserve 0", "0 HookA.Unreserve 0"}));
  }
}

TEST(EngineBindingTest, ARejectionAfterATimeGivesTheNodeBack) {
  HookScript script;
  script.react = [](const std::string& step, const PodContext& pod) {
    if (pod.pod.value() != 1) return StepResult();
    if (step == "HookA.Reserve") return Waits({2});
    return step == "HookB.Permit" && pod.now < SimTime(5) ? Fails(StepCode::kReject) : StepResult();
  };
  const Registry registry = HookRegistry(&script);
  EngineScenario s = WithHooks(OneNode(RunMode::kReplay, 2), &registry);
  s.pods = {{"b", 0, 0, 10, 0}, {"a", 0, 1, kForever, 0}};
  const Lines wanted = {"0 PodArrived b",         "0 PodBound b n0 0",
                        "1 PodArrived a",         "1 PodReserved a n0 1",
                        "3 PodUnreserved a n0 1", "3 AttemptFailed a 0/1 nodes are available.",
                        "10 PodFinished b n0 0",  "10 PodReserved a n0 0",
                        "12 PodBound a n0 0",     "12 RunEnded"};
  EXPECT_EQ(RunLines(s), wanted);
  s.options.stop_after_events = 5;  // two arrivals, two attempts, the end of the wait
  EngineRig rig(s);
  ASSERT_TRUE(rig.engine().Run().ok());
  EXPECT_EQ(rig.engine().now(), SimTime(3));
  EXPECT_EQ(rig.engine().pods_waiting(), 1u);
  EXPECT_EQ(rig.cluster().pod_phase(PodId(size_t{1})), PodPhase::kPending);
  EXPECT_EQ(rig.cluster().node(NodeId(size_t{0})).gpu_milli_idle, 1000);
  ASSERT_TRUE(rig.engine().Run().ok());
  EXPECT_EQ(rig.RecordLines(), wanted);
}

// kube-scheduler tells its queue of a binding that failed as of a pod that was deleted: pods that
// did not fit meanwhile are tried again. The rejected pod itself is not.
TEST(EngineBindingTest, ARejectionAfterATimeMakesRoomForPodsThatWait) {
  HookScript script;
  script.react = [](const std::string& step, const PodContext& pod) {
    if (pod.pod.value() != 0) return StepResult();
    if (step == "HookA.Reserve") return Waits({5});
    return step == "HookA.Permit" && pod.now < SimTime(10) ? Fails(StepCode::kReject)
                                                           : StepResult();
  };
  const Registry registry = HookRegistry(&script);
  EngineScenario s = WithHooks(OneNode(RunMode::kReplay, 1), &registry);
  s.pods = {{"a", 0, 0, 10, 0}, {"b", 0, 2, 10, 0}};
  EXPECT_EQ(RunLines(s),
            (Lines{"0 PodArrived a", "0 PodReserved a n0 0", "2 PodArrived b",
                   "2 AttemptFailed b 0/1 nodes are available: 1 Insufficient GPU.",
                   "5 PodUnreserved a n0 0", "5 AttemptFailed a 0/1 nodes are available.",
                   "5 PodBound b n0 0", "15 PodFinished b n0 0", "15 PodReserved a n0 0",
                   "20 PodBound a n0 0", "30 PodFinished a n0 0", "30 RunEnded"}));
}

// ---- Early ends of a run ----

TEST(EngineErrorTest, ArrivalsMustNotGoBackInTime) {
  EngineScenario s = OneNode(RunMode::kReplay, 1);
  s.pods = {{"a", 1, 5, 1, 0}, {"b", 1, 3, 1, 0}};
  EngineRig rig(s);
  const absl::Status status = rig.engine().Run();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "job 'b' arrives at 3 ns, before the one ahead of it at 5 ns");
  EXPECT_FALSE(rig.engine().finished());
}

class BrokenSource : public EventSource {
 public:
  absl::StatusOr<bool> Next(JobArrival* out) override {
    if (calls_++ > 0) return absl::InvalidArgumentError("trace.csv:2:1: found nonsense");
    out->name = "a";
    out->shape = ShapeId(size_t{0});
    return true;
  }
  void Save(StateWriter&) const override {}
  absl::Status Load(StateReader&) override { return absl::OkStatus(); }

 private:
  int calls_ = 0;
};

TEST(EngineErrorTest, ABadRowOfTheSourceEndsTheRun) {
  BrokenSource source;
  EngineRig rig(OneNode(RunMode::kFill, 1),
                [&source](EngineParts& parts) { parts.source = &source; });
  EXPECT_EQ(rig.engine().Run(), absl::InvalidArgumentError("trace.csv:2:1: found nonsense"));
  EXPECT_EQ(rig.RecordLines(), (Lines{"0 PodArrived a", "0 PodBound a n0 0"}));
}

TEST(EngineErrorTest, TheStopFlagCancelsAndTheRunCanGoOn) {
  EngineScenario s = OneNode(RunMode::kReplay, 1);
  s.pods = {{"a", 0, 0, 10, 0}, {"b", 0, 3, 5, 0}};
  std::atomic<bool> stop{true};
  EngineRig rig(s, [&stop](EngineParts& parts) { parts.stop = &stop; });
  EXPECT_EQ(rig.engine().Run().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(rig.RecordLines(), (Lines{"0 PodArrived a"}));
  stop = false;
  ASSERT_TRUE(rig.engine().Run().ok());
  EXPECT_EQ(rig.RecordLines(), RunLines(s));
}

class FullDisk : public RecordSink {
 public:
  void OnRecord(const Record&, const ClusterState&) override {}
  absl::Status status() const override { return absl::DataLossError("disk full"); }
};

// 2100 pods that fit, so that the run is longer than two batches of 1024 events.
EngineScenario LongFill() {
  EngineScenario s;
  s.nodes = {TestNode("n0", 16000, 0)};
  s.nodes[0].pods = 5000;
  s.shapes = {TestShape(1, 0)};
  for (int i = 0; i < 2100; ++i) s.pods.push_back({absl::StrCat("p", i), 0, 0, kForever, 0});
  return s;
}

TEST(EngineErrorTest, ASinkThatFailsEndsTheRun) {
  FullDisk sink;
  const auto add = [&sink](EngineParts& parts) { parts.sinks.push_back(&sink); };
  EngineScenario s = OneNode(RunMode::kFill, 1);
  s.pods = {{"a", 0, 0, 10, 0}};
  EngineRig small(s, add);
  EXPECT_EQ(small.engine().Run(), absl::DataLossError("disk full"));
  // Two records per pod, and no more than one batch of events.
  EngineRig large(LongFill(), add);
  EXPECT_EQ(large.engine().Run(), absl::DataLossError("disk full"));
  EXPECT_EQ(large.records().size(), 2u * 1024);
}

TEST(EngineTest, ReportsProgressNowAndThen) {
  std::vector<uint64_t> pods;
  EngineRig rig(LongFill(), [&pods](EngineParts& parts) {
    parts.on_progress = [&pods](uint64_t arrived) { pods.push_back(arrived); };
  });
  ASSERT_TRUE(rig.engine().Run().ok());
  EXPECT_EQ(pods, (std::vector<uint64_t>{1024, 2048}));
}

}  // namespace engine_test
}  // namespace drasim
