// Events below the scheduler, exactly, with a node agent that follows a script: admission and its
// failures, owners, amounts that nodes report, evictions from GPUs; and loss instead of a queue.
// Times in records are milliseconds.
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/event_source.h"
#include "model/job_table.h"
#include "model/record.h"
#include "model/state_io.h"
#include "sim/core/dispatcher.h"
#include "sim/core/engine.h"
#include "sim/core/loss_dispatcher.h"
#include "sim/core/node_agent.h"
#include "sim/core/placer.h"
#include "tests/sim/core/engine_rig.h"
#include "tests/sim/core/job_scenarios.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {
namespace engine_devices_test {

using Change = DeviceTransition::Action;
using Failures = std::vector<AdmissionFailure>;

constexpr const char* kBothQueues[] = {"fifo", "kubernetes"};
constexpr char kDevice[] = "example.com/gpu";
constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSecond = 1000 * kMs;

// The results of a pod's attempts, one after the other; further attempts are admitted.
struct AgentScript {
  std::map<std::string, Failures> failures;        // by pod
  std::map<std::string, SimDuration> start_delay;  // by pod
};

// Gives out whole GPUs, the lowest first, unless the script says otherwise. Transitions mean:
//   kUnhealthy: a record; kHealthy: the same five seconds later; kPluginGone and kPluginBack: the
//   node reports `config` devices; kMigConfig: holders of `devices` have to go.
class ScriptedAgent : public NodeAgent {
 public:
  explicit ScriptedAgent(AgentScript script) : script_(std::move(script)) {}
  void set_cluster(const ClusterState* cluster) { cluster_ = cluster; }
  const Lines& calls() const { return calls_; }

  void Attach(NodeControl* control) override { control_ = control; }
  void OnTransition(const DeviceTransition& change, SimTime now) override {
    const auto amount = static_cast<int64_t>(change.config);
    switch (change.action) {
      case Change::kUnhealthy:
        return control_->RecordDevices(change.node, change.devices, DeviceChangeKind::kUnhealthy);
      case Change::kHealthy:
        return control_->ArmNodeTimer(now + SimDuration::Seconds(5), change.devices.bits());
      case Change::kPluginGone:
      case Change::kPluginBack:
        return control_->PublishAllocatable(change.node, {&amount, 1});
      case Change::kMigConfig:
        return control_->EvictHolders(change.node, change.devices);
      case Change::kTainted:
      case Change::kUntainted:
        break;  // taints are a matter of structured DRA's drivers
    }
  }
  void OnTimer(uint64_t token, SimTime) override {
    control_->RecordDevices(NodeId(size_t{0}), DeviceSet::FromBits(token),
                            DeviceChangeKind::kHealthy);
  }
  Admission Admit(PodId pod, NodeId node, SimTime now) override {
    Note("Admit", pod, node, now);
    EXPECT_EQ(cluster_->pod_phase(pod), PodPhase::kBound);
    const std::string name(cluster_->pod_name(pod));
    Admission admission;
    PodState& state = pods_[pod.value()];
    const uint64_t attempt = state.attempts++;
    const Failures& failures = script_.failures[name];
    if (attempt < failures.size()) {
      admission.failure = failures[attempt];
      return admission;
    }
    DeviceSet taken;
    for (const auto& [other, held] : pods_) {
      if (held.node == node) taken |= held.devices;
    }
    const PodShape& shape = cluster_->pod_shape(pod);
    int64_t missing = shape.request.extended.empty() ? 0 : shape.request.extended[0].second;
    for (uint8_t gpu = 0; gpu < cluster_->node(node).gpu_count && missing > 0; ++gpu) {
      if (taken.Contains(gpu)) continue;
      admission.devices.Add(gpu);
      admission.grants.push_back({gpu, kNoPlacement, int16_t{1000}});
      --missing;
    }
    EXPECT_EQ(missing, 0);
    state.node = node;
    state.devices = admission.devices;
    admission.start_delay = script_.start_delay[name];
    return admission;
  }
  void Removed(PodId pod, NodeId node, SimTime now) override {
    Note("Removed", pod, node, now);
    PodState& state = pods_[pod.value()];
    EXPECT_EQ(state.node, node);
    state.node = NodeId();
  }
  void Save(StateWriter& out) const override {
    out.Section("script");
    out.U64(pods_.size());
    for (const auto& [pod, state] : pods_) {
      out.U64(pod);
      out.U64(state.attempts);
      out.U64(state.node.value());
      out.U64(state.devices.bits());
    }
  }
  absl::Status Load(StateReader& in) override {
    in.Section("script");
    for (size_t left = in.Count(); left > 0; --left) {
      PodState& state = pods_[static_cast<uint32_t>(in.U64())];
      state.attempts = in.U64();
      state.node = NodeId(static_cast<size_t>(in.U64()));
      state.devices = DeviceSet::FromBits(in.U64());
    }
    return in.status();
  }

 private:
  struct PodState {
    uint64_t attempts = 0;
    NodeId node;  // on which it was let in
    DeviceSet devices;
  };

  void Note(absl::string_view what, PodId pod, NodeId node, SimTime now) {
    calls_.push_back(absl::StrCat(now.ns() / kMs, " ", what, " ", cluster_->pod_name(pod), " ",
                                  cluster_->node_spec(node).name));
  }

  AgentScript script_;
  const ClusterState* cluster_ = nullptr;
  NodeControl* control_ = nullptr;
  Lines calls_;
  std::map<uint32_t, PodState> pods_;
};

std::string Text(const Record& r, const ClusterState& cluster) {
  static constexpr const char* kCauses[] = {"",       "preempted",     "node-lost",  "drained",
                                            "failed", "repartitioned", "turned-away"};
  static constexpr const char* kFailures[] = {"",          "unavailable", "unregistered",
                                              "unhealthy", "allocate",    "topology"};
  static constexpr const char* kKinds[] = {"",
                                           "unhealthy",
                                           "healthy",
                                           "plugin-gone",
                                           "plugin-back",
                                           "layout-changed",
                                           "allocatable",
                                           "layout-begun"};
  std::string text = absl::StrCat(r.time.ns() / kMs, " ", RecordKindName(r.kind));
  if (r.pod.valid()) absl::StrAppend(&text, " ", cluster.pod_name(r.pod));
  if (r.node.valid()) absl::StrAppend(&text, " ", cluster.node_spec(r.node).name);
  if (!r.devices.empty()) absl::StrAppend(&text, " ", DevicesText(r.devices));
  if (r.kind == RecordKind::kPodRejected) {
    absl::StrAppend(&text, " ", kFailures[r.detail & ~kGivenUp],
                    (r.detail & kGivenUp) != 0 ? " given-up" : "");
  } else if (r.kind == RecordKind::kDevicesChanged) {
    absl::StrAppend(&text, " ", kKinds[r.detail]);
  } else if ((r.kind == RecordKind::kPodEvicted || r.kind == RecordKind::kPodFailed) &&
             r.detail != 0) {
    absl::StrAppend(&text, " ", kCauses[r.detail]);
  }
  return text;
}

// An engine with a scripted agent. Besides the queues of the rig it knows "loss".
class AgentRig {
 public:
  AgentRig(const EngineScenario& s, const AgentScript& script)
      : agent_(script), rig_(s, [this, &s](EngineParts& parts) { Adjust(s, &parts); }) {}
  EngineRig* operator->() { return &rig_; }
  const ScriptedAgent& agent() const { return agent_; }

  Lines RecordLines() {
    Lines lines;
    for (const Record& record : rig_.records()) lines.push_back(Text(record, rig_.cluster()));
    return lines;
  }
  std::string Row(size_t job) const {
    const JobRow& row = rig_.jobs().row(JobId(job));
    return absl::StrCat(JobStateName(row.state), " waited ", row.waited.ns() / kMs, " held ",
                        row.held.ns() / kMs, " overhead ", row.overhead.ns() / kMs, " evicted ",
                        row.evictions, " turned away ", row.admission_failures);
  }

 private:
  void Adjust(const EngineScenario& s, EngineParts* parts) {
    agent_.set_cluster(parts->cluster);
    parts->node_agent = &agent_;
    parts->placer->set_amounts_may_grow(true);
    if (s.queue != "loss") return;
    parts->make_dispatcher = [p = *parts](JobControl* control) -> std::unique_ptr<Dispatcher> {
      DispatchParts loss;
      loss.cluster = p.cluster;
      loss.jobs = p.jobs;
      loss.placer = p.placer;
      loss.cycle = p.cycle;
      loss.profile = p.profile;
      loss.summaries = p.summaries;
      loss.quotas = p.quotas;
      loss.control = control;
      return std::make_unique<LossDispatcher>(loss);
    };
  }

  ScriptedAgent agent_;
  EngineRig rig_;
};

// Runs the scenario to its end, with an event for each attempt; without it must be the same run.
class Ran {
 public:
  explicit Ran(EngineScenario scenario, const AgentScript& script = {}) : rig_(scenario, script) {
    const absl::Status status = rig_->engine().Run();
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_TRUE(rig_->engine().finished());
    scenario.options.check_invariants = false;
    AgentRig fast(scenario, script);
    EXPECT_TRUE(fast->engine().Run().ok());
    EXPECT_EQ(fast.RecordLines(), rig_.RecordLines());
    EXPECT_EQ(fast.agent().calls(), rig_.agent().calls());
  }
  Lines Records() { return rig_.RecordLines(); }
  Lines Calls() const { return rig_.agent().calls(); }
  std::string Row(size_t job) const { return rig_.Row(job); }
  AgentRig& rig() { return rig_; }
  // When pods were turned away, and the last one let in.
  std::vector<int64_t> Times() {
    std::vector<int64_t> times;
    for (const Record& r : rig_->records()) {
      if (r.kind != RecordKind::kPodRejected && r.kind != RecordKind::kPodAdmitted) continue;
      times.push_back(r.time.ns() / kMs);
    }
    return times;
  }

 private:
  AgentRig rig_;
};

// Nodes n0, n1, ... with these numbers of GPUs and 16 cores. Shape i asks for i GPUs by name.
EngineScenario Gpus(const std::vector<int32_t>& gpus, absl::string_view queue) {
  EngineScenario s = Cores(std::vector<int64_t>(gpus.size(), 16), queue);
  for (size_t n = 0; n < gpus.size(); ++n) {
    s.nodes[n].gpu_count = gpus[n];
    s.nodes[n].gpu_model = "G2";
    s.nodes[n].extended = {{kDevice, gpus[n]}};
  }
  s.shapes.clear();
  for (int32_t i = 0; i < 4; ++i) {
    s.shapes.push_back(TestShape(1000, 0));
    if (i > 0) s.shapes.back().request.extended = {{kDevice, i}};
    s.shapes.back().request.nominal_milli = int64_t{1000} * i;
  }
  return s;
}

// Seconds.
JobArrival Job(absl::string_view name, size_t gpus, int64_t at, int64_t run) {
  return MakeJob(name, gpus, at * kSecond, run * kSecond);
}

NodeTransition DeviceChange(int64_t at, size_t node, Change action, DeviceSet devices,
                            uint32_t config = 0) {
  NodeTransition change = MakeChange(at * kSecond, node, NodeTransition::Action::kDevices);
  change.devices = {NodeId(node), action, devices, config};
  return change;
}

// ---- Admission ----

TEST(EngineDevicesTest, APodRunsOnWhatItsNodeGivesIt) {
  for (const char* const queue : kBothQueues) {
    SCOPED_TRACE(queue);
    EngineScenario s = Gpus({2}, queue);
    s.jobs = {Job("a", 2, 0, 10), Job("b", 1, 1, 5), Job("cpu", 0, 12, 1)};
    // Health changes do not affect the pod that holds the device.
    s.node_changes = {DeviceChange(3, 0, Change::kUnhealthy, DeviceSet::Of(0)),
                      DeviceChange(4, 0, Change::kHealthy, DeviceSet::Of(0))};
    Ran ran(s);
    EXPECT_EQ(ran.Records(),
              (Lines{"0 PodArrived a", "0 PodBound a n0", "0 PodAdmitted a n0 0-1",
                     "1000 PodArrived b", "1000 AttemptFailed b",
                     "3000 DevicesChanged n0 0 unhealthy", "9000 DevicesChanged n0 0 healthy",
                     "10000 PodFinished a n0 0-1", "10000 PodBound b n0",
                     "10000 PodAdmitted b n0 0", "12000 PodArrived cpu", "12000 PodBound cpu n0",
                     "13000 PodFinished cpu n0", "15000 PodFinished b n0 0", "15000 RunEnded"}));
    EXPECT_EQ(ran.Calls(),
              (Lines{"0 Admit a n0", "10000 Removed a n0", "10000 Admit b n0", "12000 Admit cpu n0",
                     "13000 Removed cpu n0", "15000 Removed b n0"}));
    EXPECT_EQ(ran.Row(1), "Succeeded waited 9000 held 5000 overhead 0 evicted 0 turned away 0");
  }
}

TEST(EngineDevicesTest, APodIsTurnedAwayForEveryReason) {
  const std::vector<std::pair<AdmissionFailure, const char*>> reasons = {
      {AdmissionFailure::kDevicesUnavailable, "unavailable"},
      {AdmissionFailure::kResourceUnregistered, "unregistered"},
      {AdmissionFailure::kDeviceUnhealthy, "unhealthy"},
      {AdmissionFailure::kAllocateFailed, "allocate"},
      {AdmissionFailure::kTopologyAffinity, "topology"}};
  EXPECT_EQ(reasons.size(), size_t{kLastDeviceFailure});
  for (const char* const queue : kBothQueues) {
    for (const auto& [failure, name] : reasons) {
      SCOPED_TRACE(absl::StrCat(queue, " ", name));
      EngineScenario s = Gpus({1}, queue);
      s.jobs = {Job("a", 1, 0, 5)};
      Ran ran(s, {{{"a", {failure}}}, {}});
      EXPECT_EQ(ran.Records(),
                (Lines{"0 PodArrived a", "0 PodBound a n0",
                       absl::StrCat("0 PodRejected a n0 ", name), "10000 PodBound a n0",
                       "10000 PodAdmitted a n0 0", "15000 PodFinished a n0 0", "15000 RunEnded"}));
      EXPECT_EQ(ran.Calls(), (Lines{"0 Admit a n0", "10000 Admit a n0", "15000 Removed a n0"}));
      EXPECT_EQ(ran.Row(0), "Succeeded waited 10000 held 5000 overhead 0 evicted 0 turned away 1");
    }
  }
}

// The room of a pod that was turned away is there at once.
TEST(EngineDevicesTest, TheNextInLineTakesTheRoom) {
  for (const char* const queue : kBothQueues) {
    SCOPED_TRACE(queue);
    EngineScenario s = Gpus({1}, queue);
    s.jobs = {Job("a", 1, 0, 5), Job("b", 1, 0, 20)};
    Ran ran(s, {{{"a", {AdmissionFailure::kDeviceUnhealthy}}}, {}});
    EXPECT_EQ(ran.Records(),
              (Lines{"0 PodArrived a", "0 PodArrived b", "0 PodBound a n0",
                     "0 PodRejected a n0 unhealthy", "0 PodBound b n0", "0 PodAdmitted b n0 0",
                     "10000 AttemptFailed a", "20000 PodFinished b n0 0", "20000 PodBound a n0",
                     "20000 PodAdmitted a n0 0", "25000 PodFinished a n0 0", "25000 RunEnded"}));
  }
}

TEST(EngineDevicesTest, DevicesAreMadeReadyBeforeTheWorkBegins) {
  for (const char* const queue : kBothQueues) {
    SCOPED_TRACE(queue);
    EngineScenario s = Gpus({4}, queue);
    s.jobs = {Job("a", 1, 0, 10), Job("g", 1, 0, 10)};
    s.jobs[1].pods = 2;
    Ran ran(s, {{},
                {{"a", SimDuration::Seconds(3)},
                 {"g-0", SimDuration::Seconds(5)},
                 {"g-1", SimDuration::Seconds(2)}}});
    EXPECT_EQ(ran.Row(0), "Succeeded waited 0 held 13000 overhead 3000 evicted 0 turned away 0");
    EXPECT_EQ(ran.Row(1), "Succeeded waited 0 held 15000 overhead 5000 evicted 0 turned away 0");
    EXPECT_EQ(ran.Records().back(), "15000 RunEnded");
  }
}

// ---- Owners ----

Failures Times(size_t count) { return Failures(count, AdmissionFailure::kDevicesUnavailable); }

TEST(EngineDevicesTest, AJobTriesAgainAfterLongerAndLongerWaits) {
  for (const char* const queue : kBothQueues) {
    SCOPED_TRACE(queue);
    EngineScenario s = Gpus({1}, queue);
    s.jobs = {Job("a", 1, 0, 5)};
    // Six failures are made good, the seventh is the last.
    Ran failed(s, {{{"a", Times(7)}}, {}});
    EXPECT_EQ(failed.Times(),
              (std::vector<int64_t>{0, 10000, 30000, 70000, 150000, 310000, 630000}));
    EXPECT_EQ(failed.Row(0), "Failed waited 630000 held 0 overhead 0 evicted 0 turned away 7");
    Lines records = failed.Records();
    EXPECT_EQ(Lines(records.end() - 3, records.end()),
              (Lines{"630000 PodBound a n0", "630000 PodRejected a n0 unavailable given-up",
                     "630000 RunEnded"}));
    // Six minutes are the longest wait.
    s.options.owner.backoff_limit = 20;
    EXPECT_EQ(Ran(s, {{{"a", Times(9)}}, {}}).Times(),
              (std::vector<int64_t>{0, 10000, 30000, 70000, 150000, 310000, 630000, 990000, 1350000,
                                    1710000}));
    s.options.owner.backoff_limit = 0;
    EXPECT_EQ(Ran(s, {{{"a", Times(1)}}, {}}).Row(0),
              "Failed waited 0 held 0 overhead 0 evicted 0 turned away 1");
  }
}

TEST(EngineDevicesTest, AReplicaSetTriesAgainAtOnceAndNobodyNever) {
  for (const char* const queue : {"fifo", "kubernetes", "loss"}) {
    SCOPED_TRACE(queue);
    EngineScenario s = Gpus({1}, queue);
    s.jobs = {Job("a", 1, 0, 5)};
    s.options.owner.backoff_limit = 0;
    s.options.owner.kind = OwnerOptions::Kind::kReplicaSet;
    Ran set(s, {{{"a", Times(4)}}, {}});
    EXPECT_EQ(set.Times(), (std::vector<int64_t>{0, 100, 200, 300, 400}));
    EXPECT_EQ(set.Row(0), "Succeeded waited 400 held 5000 overhead 0 evicted 0 turned away 4");
    s.options.owner.kind = OwnerOptions::Kind::kNone;
    Ran nobody(s, {{{"a", Times(1)}}, {}});
    EXPECT_EQ(nobody.Records(), (Lines{"0 PodArrived a", "0 PodBound a n0",
                                       "0 PodRejected a n0 unavailable given-up", "0 RunEnded"}));
    EXPECT_EQ(nobody.Row(0), "Failed waited 0 held 0 overhead 0 evicted 0 turned away 1");
    EXPECT_EQ(nobody.rig()->cluster().pod_phase(PodId(size_t{0})), PodPhase::kFailed);
  }
}

// Without a clock there is no later.
TEST(EngineDevicesTest, AFillTriesOnce) {
  EngineScenario s = Gpus({1}, "kubernetes");
  s.options.mode = RunMode::kFill;
  s.jobs = {Job("a", 1, 0, 5), Job("b", 1, 1, 5), Job("c", 1, 2, 5)};
  Ran ran(s, {{{"a", {AdmissionFailure::kTopologyAffinity}}}, {}});
  EXPECT_EQ(ran.Records(),
            (Lines{"0 PodArrived a", "0 PodBound a n0", "0 PodRejected a n0 topology given-up",
                   "0 PodArrived b", "0 PodBound b n0", "0 PodAdmitted b n0 0", "0 PodArrived c",
                   "0 AttemptFailed c", "0 PodDropped c", "0 RunEnded"}));
}

TEST(EngineDevicesTest, AGangIsLetInAsAWholeOrNotAtAll) {
  for (const char* const queue : kBothQueues) {
    SCOPED_TRACE(queue);
    EngineScenario s = Gpus({2, 2}, queue);
    s.jobs = {Job("g", 1, 0, 5)};
    s.jobs[0].pods = 3;
    const AgentScript script = {{{"g-1", {AdmissionFailure::kTopologyAffinity}}}, {}};
    const Lines begin = {"0 PodArrived g-0",      "0 PodArrived g-1",  "0 PodArrived g-2",
                         "0 PodBound g-0 n0",     "0 PodBound g-1 n0", "0 PodBound g-2 n1",
                         "0 PodAdmitted g-0 n0 0"};
    Lines wanted = begin;
    for (const char* const line :
         {"0 PodEvicted g-0 n0 0 turned-away", "0 PodRejected g-1 n0 topology",
          "0 PodEvicted g-2 n1 turned-away", "10000 PodBound g-0 n0", "10000 PodBound g-1 n0",
          "10000 PodBound g-2 n1", "10000 PodAdmitted g-0 n0 0", "10000 PodAdmitted g-1 n0 1",
          "10000 PodAdmitted g-2 n1 0", "15000 PodFinished g-0 n0 0", "15000 PodFinished g-1 n0 1",
          "15000 PodFinished g-2 n1 0", "15000 RunEnded"}) {
      wanted.push_back(line);
    }
    Ran ran(s, script);
    EXPECT_EQ(ran.Records(), wanted);
    const Lines calls = ran.Calls();
    EXPECT_EQ(Lines(calls.begin(), calls.begin() + 3),
              (Lines{"0 Admit g-0 n0", "0 Admit g-1 n0", "0 Removed g-0 n0"}));
    EXPECT_EQ(ran.Row(0), "Succeeded waited 10000 held 5000 overhead 0 evicted 0 turned away 1");
    s.options.owner.kind = OwnerOptions::Kind::kNone;
    wanted = begin;
    for (const char* const line :
         {"0 PodFailed g-0 n0 0 turned-away", "0 PodRejected g-1 n0 topology given-up",
          "0 PodFailed g-2 n1 turned-away", "0 RunEnded"}) {
      wanted.push_back(line);
    }
    EXPECT_EQ(Ran(s, script).Records(), wanted);
  }
}

TEST(EngineDevicesTest, AJobIsDeletedBetweenTwoAttempts) {
  for (const char* const queue : {"fifo", "kubernetes", "loss"}) {
    SCOPED_TRACE(queue);
    EngineScenario s = Gpus({1}, queue);
    s.jobs = {Job("a", 1, 0, 5), Job("b", 1, 12, 5)};
    s.jobs[0].has_deletion = true;
    s.jobs[0].deletion = SimTime(4 * kSecond);
    Ran ran(s, {{{"a", Times(1)}}, {}});
    EXPECT_EQ(ran.Records(),
              (Lines{"0 PodArrived a", "0 PodBound a n0", "0 PodRejected a n0 unavailable",
                     "4000 PodDeleted a", "12000 PodArrived b", "12000 PodBound b n0",
                     "12000 PodAdmitted b n0 0", "17000 PodFinished b n0 0", "17000 RunEnded"}));
    EXPECT_EQ(ran.Row(0), "Deleted waited 4000 held 0 overhead 0 evicted 0 turned away 1");
    EXPECT_EQ(ran.rig()->engine().pods_waiting(), 0u);
  }
}

// ---- Devices change ----

TEST(EngineDevicesTest, MoreToGiveOutWakesThoseThatWait) {
  for (const char* const queue : kBothQueues) {
    SCOPED_TRACE(queue);
    EngineScenario s = Gpus({2}, queue);
    s.jobs = {Job("a", 1, 2, 10)};
    // It reports nothing for a while; the second time that is no news.
    s.node_changes = {DeviceChange(1, 0, Change::kPluginGone, DeviceSet()),
                      DeviceChange(3, 0, Change::kPluginGone, DeviceSet()),
                      DeviceChange(5, 0, Change::kPluginBack, DeviceSet(), 2)};
    const Lines wanted = {
        "1000 DevicesChanged n0 allocatable", "2000 PodArrived a",  "2000 AttemptFailed a",
        "5000 DevicesChanged n0 allocatable", "5000 PodBound a n0", "5000 PodAdmitted a n0 0",
        "15000 PodFinished a n0 0",           "15000 RunEnded"};
    EXPECT_EQ(Ran(s).Records(), wanted);
    // It reports them for the first time.
    s.nodes[0].extended = {{kDevice, 0}};
    s.node_changes.erase(s.node_changes.begin(), s.node_changes.begin() + 2);
    EXPECT_EQ(Ran(s).Records(), Lines(wanted.begin() + 1, wanted.end()));
    // Less than pods hold: they go on.
    s = Gpus({2}, queue);
    s.jobs = {Job("a", 2, 0, 10), Job("b", 1, 1, 10)};
    s.node_changes = {DeviceChange(2, 0, Change::kPluginBack, DeviceSet(), 1)};
    EXPECT_EQ(
        Ran(s).Records(),
        (Lines{"0 PodArrived a", "0 PodBound a n0", "0 PodAdmitted a n0 0-1", "1000 PodArrived b",
               "1000 AttemptFailed b", "2000 DevicesChanged n0 allocatable",
               "10000 PodFinished a n0 0-1", "10000 PodBound b n0", "10000 PodAdmitted b n0 0",
               "20000 PodFinished b n0 0", "20000 RunEnded"}));
  }
}

TEST(EngineDevicesTest, HoldersOfAGpuAreEvicted) {
  for (const char* const queue : kBothQueues) {
    SCOPED_TRACE(queue);
    EngineScenario s = Gpus({3}, queue);
    s.jobs = {Job("g", 1, 0, 10), Job("b", 1, 0, 20)};
    s.jobs[0].pods = 2;  // on GPUs 0 and 1
    s.node_changes = {DeviceChange(3, 0, Change::kMigConfig, DeviceSet::FirstN(2))};
    Ran ran(s);
    const Lines records = ran.Records();
    ASSERT_GT(records.size(), 9u);
    EXPECT_EQ(
        Lines(records.begin() + 9, records.end()),
        (Lines{"3000 PodEvicted g-0 n0 0 repartitioned", "3000 PodEvicted g-1 n0 1 repartitioned",
               "3000 PodBound g-0 n0", "3000 PodBound g-1 n0", "3000 PodAdmitted g-0 n0 0",
               "3000 PodAdmitted g-1 n0 1", "10000 PodFinished g-0 n0 0",
               "10000 PodFinished g-1 n0 1", "20000 PodFinished b n0 2", "20000 RunEnded"}));
    EXPECT_EQ(ran.Row(0), "Succeeded waited 0 held 10000 overhead 0 evicted 1 turned away 0");
    EXPECT_EQ(ran.Row(1), "Succeeded waited 0 held 20000 overhead 0 evicted 0 turned away 0");
    s.options.interruption.grace_period = SimDuration::Seconds(4);
    EXPECT_EQ(Ran(s).Records()[9], "7000 PodEvicted g-0 n0 0 repartitioned");
  }
}

// ---- Loss instead of a queue ----

TEST(EngineDevicesTest, ALossSystemTriesEachJobOnce) {
  EngineScenario s = Gpus({2}, "loss");
  // back is turned away at first; when it comes back it is tried once, as if it were new.
  s.jobs = {Job("back", 2, 0, 5), Job("a", 2, 1, 19), Job("b", 1, 2, 5), Job("cpu", 0, 2, 1),
            Job("c", 1, 21, 5)};
  Ran ran(s, {{{"back", {AdmissionFailure::kDeviceUnhealthy}}}, {}});
  EXPECT_EQ(
      ran.Records(),
      (Lines{"0 PodArrived back",        "0 PodBound back n0",    "0 PodRejected back n0 unhealthy",
             "1000 PodArrived a",        "1000 PodBound a n0",    "1000 PodAdmitted a n0 0-1",
             "2000 PodArrived b",        "2000 PodArrived cpu",   "2000 AttemptFailed b",
             "2000 PodDropped b",        "2000 PodBound cpu n0",  "3000 PodFinished cpu n0",
             "10000 AttemptFailed back", "10000 PodDropped back", "20000 PodFinished a n0 0-1",
             "21000 PodArrived c",       "21000 PodBound c n0",   "21000 PodAdmitted c n0 0",
             "26000 PodFinished c n0 0", "26000 RunEnded"}));
  EXPECT_EQ(ran.Row(0), "Dropped waited 10000 held 0 overhead 0 evicted 0 turned away 1");
}

// ---- Checkpoints ----

// All of the above at once.
EngineScenario MixedScenario(absl::string_view queue) {
  EngineScenario s = Gpus({2, 3}, queue);
  s.use_cache = false;
  s.options.check_invariants = false;
  s.bind_latency = SimDuration::Millis(500);
  s.jobs = {Job("a", 2, 0, 20),   Job("g", 1, 1, 15), Job("b", 1, 2, 8),    Job("set", 3, 3, 6),
            Job("gone", 1, 4, 5), Job("c", 1, 9, 30), Job("late", 2, 40, 5)};
  s.jobs[1].pods = 3;
  s.jobs[4].has_deletion = true;
  s.jobs[4].deletion = SimTime(7 * kSecond);
  s.node_changes = {DeviceChange(5, 0, Change::kPluginGone, DeviceSet()),
                    DeviceChange(6, 1, Change::kUnhealthy, DeviceSet::Of(2)),
                    DeviceChange(8, 1, Change::kHealthy, DeviceSet::Of(2)),
                    DeviceChange(11, 0, Change::kPluginBack, DeviceSet(), 2),
                    DeviceChange(14, 1, Change::kMigConfig, DeviceSet::FirstN(2))};
  return s;
}

TEST(EngineDevicesTest, ARunResumedAfterAnyEventIsTheSameRun) {
  const AgentScript script = {
      {{"g-1", Times(2)}, {"b", Times(1)}, {"gone", Times(1)}, {"late", Times(9)}},
      {{"a", SimDuration::Seconds(2)}, {"c", SimDuration::Millis(700)}}};
  for (const char* const queue : {"fifo", "kubernetes", "loss"}) {
    EngineScenario s = MixedScenario(queue);
    s.options.stop_after_events = 100'000;
    AgentRig whole(s, script);
    ASSERT_TRUE(whole->engine().Run().ok());
    ASSERT_TRUE(whole->engine().finished());
    uint64_t events = 0;
    while (true) {
      SCOPED_TRACE(absl::StrCat(queue, " ", ++events));
      s.options.stop_after_events = events;
      AgentRig first(s, script);
      ASSERT_TRUE(first->engine().Run().ok());
      if (first->engine().finished()) break;
      s.options.stop_after_events = 100'000;
      AgentRig second(s, script);
      const std::string state = first->State();
      StateReader in(state);
      ASSERT_EQ(second->engine().Load(in), absl::OkStatus());
      ASSERT_TRUE(in.AtEnd());
      ASSERT_EQ(second->State(), state);
      ASSERT_TRUE(second->engine().Run().ok());
      Lines records = first.RecordLines();
      for (const std::string& line : second.RecordLines()) records.push_back(line);
      ASSERT_EQ(records, whole.RecordLines());
      ASSERT_EQ(second->State(), whole->State());
    }
    EXPECT_GT(events, 30u);
  }
}

}  // namespace engine_devices_test
}  // namespace drasim
