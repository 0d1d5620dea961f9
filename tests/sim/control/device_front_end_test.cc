#include "sim/control/device_front_end.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/job_table.h"
#include "model/mig_table.h"
#include "model/record.h"
#include "model/state_io.h"
#include "tests/testing/mig_products.h"

namespace drasim {
namespace device_front_end_test {

using Action = DeviceTransition::Action;
using Log = std::vector<std::string>;
using Request = std::vector<std::pair<std::string, int64_t>>;
using Layout = std::vector<GpuLayout>;  // of one node

constexpr AdmissionFailure kLetIn = AdmissionFailure::kNone;
constexpr AdmissionFailure kUnregistered = AdmissionFailure::kResourceUnregistered;
const char kNic[] = "example.com/nic";

NodeId Node(uint32_t row) { return NodeId(row); }
SimTime At(int64_t seconds) { return SimTime() + SimDuration::Seconds(seconds); }
Request Nic() { return {{kNic, 1}}; }
Request Gpus(int64_t count) { return {{"nvidia.com/gpu", count}}; }
Request Small() { return {{"nvidia.com/mig-1g.6gb", 1}}; }

// Four units; 1g, 2g and 4g.
const MigTable& A30() {
  static const auto* const table =
      new MigTable(TestTable(TestA30(), OnlyProfiles({"1g.6gb", "2g.12gb", "4g.24gb"})));
  return *table;
}

GpuLayout Off() { return GpuLayout(); }
GpuLayout Cut(const std::vector<std::pair<std::string, int32_t>>& instances) {
  GpuLayout layout;
  layout.mig_enabled = true;
  layout.state = TestState(A30(), instances);
  layout.created = static_cast<int32_t>(instances.size());
  return layout;
}
GpuLayout FourSmall() { return Cut({{"1g.6gb", 0}, {"1g.6gb", 1}, {"1g.6gb", 2}, {"1g.6gb", 3}}); }
GpuLayout TwoHalves() { return Cut({{"2g.12gb", 0}, {"2g.12gb", 2}}); }

DeviceFrontEndOptions Options(int64_t device_release_seconds = 0) {
  DeviceFrontEndOptions options;
  options.plugin.mig_strategy = MigStrategy::kMixed;
  options.manager.pause_clients = SimDuration::Seconds(10);
  options.manager.reset = SimDuration::Seconds(5);
  options.manager.create_instance = SimDuration::Seconds(1);
  options.manager.destroy_instance = SimDuration::Seconds(2);
  options.manager.restart_clients = SimDuration::Seconds(20);
  options.node_status = SimDuration::Seconds(3);
  options.kubelet.device_release = SimDuration::Seconds(device_release_seconds);
  return options;
}
DeviceFrontEndOptions Repartitioning(int32_t nodes_at_once, int64_t device_release_seconds = 0) {
  DeviceFrontEndOptions options = Options(device_release_seconds);
  options.repartitioning.every = SimDuration::Seconds(60);
  options.repartitioning.nodes_at_once = nodes_at_once;
  return options;
}

// Nodes with the front end, and what the engine does around it. Each node also has a NIC.
class Rig : public NodeControl {
 public:
  // `first`: the layout of each node at the beginning. `configs`: named ones, alike on all nodes.
  explicit Rig(DeviceFrontEndOptions options, const std::vector<Layout>& first,
               const std::vector<Layout>& configs = {})
      : options_(std::move(options)), shapes_(&models_), cluster_(&models_, &shapes_) {
    models_.SetMig(models_.Intern("A30").value(), &A30());
    for (const Layout& layout : first) AddNode(layout);
    for (const Layout& config : configs) layouts_.emplace_back(first.size(), config);
    front_end_ = Fresh();
  }
  ~Rig() override { EXPECT_EQ(cluster_.CheckInvariants(), absl::OkStatus()); }

  const JobTable& jobs() const override { return jobs_; }
  void ArmNodeTimer(SimTime at, uint64_t token) override {
    const Timer timer = {std::max(at, now_), token};
    timers_.insert(std::upper_bound(timers_.begin(), timers_.end(), timer,
                                    [](const Timer& a, const Timer& b) { return a.at < b.at; }),
                   timer);
  }
  void RecordDevices(NodeId node, DeviceSet devices, DeviceChangeKind kind) override {
    static const char* const names[] = {"",     "unhealthy", "healthy",     "gone",
                                        "back", "changed",   "allocatable", "begun"};
    Note(node, absl::StrCat(names[static_cast<size_t>(kind)], " ", devices.bits()));
  }
  void PublishAllocatable(NodeId node, absl::Span<const int64_t> amounts) override {
    ASSERT_EQ(amounts.size(), cluster_.extended_names().size());
    bool changed = false;
    std::string text = "reports";
    for (size_t e = 0; e < amounts.size(); ++e) {
      const std::string& name = cluster_.extended_names()[e];
      changed |= amounts[e] != cluster_.extended_capacity(node, e);
      EXPECT_TRUE(name != kNic || amounts[e] == 1);
      cluster_.SetExtendedCapacity(node, e, amounts[e]);
      if (amounts[e] == 0 || name == kNic) continue;
      absl::StrAppend(&text, " ", absl::StripPrefix(name, "nvidia.com/"), ":", amounts[e]);
    }
    if (changed) Note(node, text);
  }
  void EvictHolders(NodeId node, DeviceSet gpus) override {
    Note(node, absl::StrCat("evicts ", gpus.bits()));
    for (size_t p = 0; p < cluster_.pod_count() && !grace; ++p) {
      if (cluster_.pod_node(PodId(p)) == node && DevicesOf(PodId(p)).Intersects(gpus))
        End(PodId(p));
    }
  }

  // Jobs of one pod that wait; the last one's pod.
  PodId Submit(const Request& request, int jobs = 1) {
    PodShape shape;
    shape.request.extended = request;
    JobArrival arrival;
    arrival.shape = shapes_.Intern(shape);
    PodId pod;
    for (int i = 0; i < jobs; ++i) {
      pod = cluster_.AddPod(absl::StrCat("job-", jobs_.size()), arrival.shape, 0, now_);
      jobs_.Add(arrival, pod, shapes_);
    }
    return pod;
  }
  AdmissionFailure Start(PodId pod, NodeId node) {
    const JobId job = jobs_.job_of(pod);
    jobs_.Start(job);
    cluster_.Assume(pod, node, DeviceSet());
    cluster_.Bind(pod);
    const Admission admission = front_end_->Admit(pod, node, now_);
    if (admission.failure != kLetIn) {
      cluster_.Evict(pod);
      jobs_.CancelStart(job);
      return admission.failure;
    }
    cluster_.Grant(pod, admission.devices, admission.grants);
    jobs_.Run(job, now_);
    return kLetIn;
  }
  AdmissionFailure Try(const Request& request) { return Start(Submit(request), Node(0)); }
  // A pod that the node must let in.
  PodId Run(const Request& request, NodeId node = Node(0)) {
    const PodId pod = Submit(request);
    EXPECT_EQ(Start(pod, node), kLetIn);
    return pod;
  }
  void End(PodId pod) {
    front_end_->Removed(pod, cluster_.pod_node(pod), now_);
    cluster_.Fail(pod);
    jobs_.End(jobs_.job_of(pod), JobState::kFailed, now_);
  }

  // Fires the timers due up to then, and sets the clock to that time.
  void To(int64_t seconds) {
    while (!timers_.empty() && timers_.front().at <= At(seconds)) {
      const Timer timer = timers_.front();
      timers_.erase(timers_.begin());
      now_ = timer.at;
      for (int i = 0; i < (twice ? 2 : 1); ++i) front_end_->OnTimer(timer.token, now_);
      fired_.push_back(timer.token);
      if (reload) SaveAndLoad();
    }
    now_ = At(seconds);
  }
  // At that time.
  void Do(int64_t seconds, Action action, uint32_t gpus_or_config = 0, NodeId node = Node(0)) {
    To(seconds);
    DeviceTransition change;
    change.node = node;
    change.action = action;
    change.devices = DeviceSet::FromBits(gpus_or_config);
    change.config = gpus_or_config;
    front_end_->OnTransition(change, now_);
    if (reload) SaveAndLoad();
  }
  // The events up to then, since the last call.
  Log LogTo(int64_t seconds) {
    To(seconds);
    return std::exchange(log_, {});
  }
  // Fires all timers that were ever due once more, now.
  void FireAllAgain() {
    for (const uint64_t token : fired_) front_end_->OnTimer(token, now_);
  }

  std::string Saved() const {
    StateWriter out;
    front_end_->Save(out);
    return out.Release();
  }
  absl::Status LoadFresh(const std::string& saved) {
    front_end_ = Fresh();
    StateReader in(saved);
    const absl::Status status = front_end_->Load(in);
    EXPECT_TRUE(!status.ok() || in.AtEnd());
    return status;
  }

  DeviceFrontEnd& front_end() { return *front_end_; }
  ClusterState& cluster() { return cluster_; }
  DeviceSet DevicesOf(PodId pod) const { return cluster_.pod_devices(pod); }
  size_t timers() const { return timers_.size(); }

  bool twice = false;   // every timer goes off twice
  bool grace = false;   // evictions take longer than this rig knows
  bool reload = false;  // saved and loaded after every event

 private:
  struct Timer {
    SimTime at;
    uint64_t token = 0;
  };

  void AddNode(const Layout& layout) {
    FrontEndNode node;
    for (const GpuLayout& gpu : layout) {
      PluginGpu made;
      made.table = &A30();
      made.mig_enabled = gpu.mig_enabled;
      made.layout = gpu.state;
      node.gpus.push_back(made);
      node.gpu_specs.emplace_back();
    }
    node.others.emplace_back().resource = kNic;
    NodeSpec spec;
    spec.name = absl::StrCat("node-", nodes_.size());
    spec.gpu_count = static_cast<int32_t>(layout.size());
    if (!layout.empty()) spec.gpu_model = "A30";
    spec.extended = Nic();
    for (const char* name : {"gpu", "mig-1g.6gb", "mig-2g.12gb", "mig-4g.24gb"}) {
      spec.extended.emplace_back(absl::StrCat("nvidia.com/", name), 0);
    }
    const auto resources = AdvertisedResources(node.gpus, options_.plugin);
    for (const PluginResource& r : resources.value()) {
      for (auto& [name, amount] : spec.extended) amount += name == r.name ? r.allocatable() : 0;
    }
    EXPECT_EQ(cluster_.AddNode(spec).status(), absl::OkStatus());
    nodes_.push_back(node);
  }
  std::unique_ptr<DeviceFrontEnd> Fresh() {
    auto made = std::make_unique<DeviceFrontEnd>(&cluster_, options_, nodes_, layouts_);
    made->Attach(this);
    return made;
  }
  void Note(NodeId node, const std::string& what) {
    constexpr int64_t kSecond = 1'000'000'000;
    EXPECT_EQ(now_.ns() % kSecond, 0);
    log_.push_back(absl::StrCat(now_.ns() / kSecond, " n", node.value(), " ", what));
  }
  void SaveAndLoad() {
    const std::string saved = Saved();
    ASSERT_EQ(LoadFresh(saved), absl::OkStatus());
    EXPECT_EQ(Saved(), saved);
  }

  DeviceFrontEndOptions options_;
  GpuModelTable models_;
  ShapeTable shapes_;
  ClusterState cluster_;
  JobTable jobs_;
  std::vector<FrontEndNode> nodes_;
  std::vector<std::vector<Layout>> layouts_;
  std::unique_ptr<DeviceFrontEnd> front_end_;
  SimTime now_;
  std::vector<Timer> timers_;
  std::vector<uint64_t> fired_;
  Log log_;
};

TEST(DeviceFrontEndTest, BrokenGpusLeaveAtOnceAndAreReportedLater) {
  Rig rig(Options(), {{Off(), Off()}});
  rig.Do(100, Action::kUnhealthy, 0b10);
  EXPECT_EQ(rig.DevicesOf(rig.Run(Gpus(1))), DeviceSet::Of(0));
  EXPECT_EQ(rig.Try(Gpus(1)), AdmissionFailure::kDeviceUnhealthy);
  EXPECT_FALSE(rig.front_end().gpus(Node(0))[1].healthy);
  rig.Do(200, Action::kHealthy, 0b11);
  EXPECT_EQ(rig.LogTo(300), (Log{"100 n0 unhealthy 2", "103 n0 reports gpu:1", "200 n0 healthy 2",
                                 "203 n0 reports gpu:2"}));
}

TEST(DeviceFrontEndTest, TroublesThatOverlapEndWhenAllAreOver) {
  Rig rig(Options(), {{Off(), Off()}});
  for (const int64_t at : {0, 10}) {
    rig.Do(at, Action::kUnhealthy, at == 0 ? 0b01u : 0b11u);
    rig.Do(at, Action::kPluginGone);
  }
  for (const int64_t at : {20, 30, 40}) {  // at 40 nothing is left to end
    rig.Do(at, Action::kHealthy, at == 20 ? 0b01u : 0b11u);
    rig.Do(at, Action::kPluginBack);
  }
  EXPECT_EQ(rig.LogTo(50),
            (Log{"0 n0 unhealthy 1", "0 n0 gone 0", "3 n0 reports", "10 n0 unhealthy 2",
                 "30 n0 healthy 3", "30 n0 back 0", "33 n0 reports gpu:2"}));
}

TEST(DeviceFrontEndTest, WithoutDelayReportsAreImmediate) {
  DeviceFrontEndOptions options = Options();
  options.node_status = SimDuration();
  Rig rig(options, {{Off(), Off()}});
  rig.Do(7, Action::kPluginGone);
  EXPECT_EQ(rig.Try(Gpus(1)), kUnregistered);
  EXPECT_EQ(rig.Try(Nic()), kLetIn);
  rig.Do(8, Action::kPluginBack);
  EXPECT_EQ(rig.Try(Gpus(1)), kLetIn);
  EXPECT_EQ(rig.LogTo(8),
            (Log{"7 n0 gone 0", "7 n0 reports", "8 n0 back 0", "8 n0 reports gpu:2"}));
}

TEST(DeviceFrontEndTest, StepsOfAChangeWithReset) {
  Rig rig(Options(), {{Off(), Off()}}, {{FourSmall(), FourSmall()}});
  rig.Do(100, Action::kMigConfig, 0);
  EXPECT_EQ(rig.Try(Gpus(1)), kUnregistered);
  rig.To(142);
  EXPECT_EQ(rig.front_end().gpus(Node(0))[1].layout, FourSmall().state);
  EXPECT_TRUE(rig.front_end().changing(Node(0)));
  rig.To(143);
  EXPECT_FALSE(rig.front_end().changing(Node(0)));
  EXPECT_EQ(rig.front_end().repartitions(), 1);
  EXPECT_EQ(rig.cluster().pod_grants(rig.Run(Small())).size(), 1u);
  EXPECT_EQ(rig.Try(Gpus(1)), kUnregistered);
  // Pause 10, reset 5, eight instances of 1, restart 20.
  EXPECT_EQ(rig.LogTo(1000), (Log{"100 n0 begun 3", "103 n0 reports", "123 n0 changed 3",
                                  "146 n0 reports mig-1g.6gb:8"}));
  EXPECT_DOUBLE_EQ(rig.front_end().repartition_gpu_seconds(), 2 * 43);
  EXPECT_EQ(rig.timers(), 0u);
}

TEST(DeviceFrontEndTest, GpusThatStayAreLeftAlone) {
  GpuLayout halves = TwoHalves();
  halves.created = 3;
  halves.destroyed = 1;
  Rig rig(Options(), {{FourSmall(), FourSmall()}}, {{halves, FourSmall()}});
  std::vector<PodId> on_first;
  for (int i = 0; i < 4; ++i) on_first.push_back(rig.Run(Small()));
  EXPECT_EQ(rig.DevicesOf(rig.Run(Small())), DeviceSet::Of(1));
  for (const PodId pod : on_first) {
    EXPECT_EQ(rig.DevicesOf(pod), DeviceSet::Of(0));
    rig.End(pod);
  }
  rig.Do(0, Action::kMigConfig, 0);
  // Pause 10, no reset, five destroyed in 10, three created in 3, restart 20.
  EXPECT_EQ(rig.LogTo(1000), (Log{"0 n0 begun 1", "3 n0 reports", "23 n0 changed 1",
                                  "46 n0 reports mig-1g.6gb:4 mig-2g.12gb:2"}));
  EXPECT_DOUBLE_EQ(rig.front_end().repartition_gpu_seconds(), 2 * 43);
  // The pod on the other GPU still holds its instance: three are left.
  for (int i = 0; i < 3; ++i) rig.Run(Small());
  EXPECT_EQ(rig.Try(Small()), AdmissionFailure::kDevicesUnavailable);
}

TEST(DeviceFrontEndTest, WhatIsThereIsNotMadeAgain) {
  // The same instances elsewhere are the same to mig-parted. The second node has no GPUs.
  Rig rig(Options(), {{Cut({{"2g.12gb", 0}, {"1g.6gb", 2}}), Off()}, {}},
          {{Cut({{"2g.12gb", 2}, {"1g.6gb", 0}}), Off()}});
  rig.Do(0, Action::kMigConfig, 0);
  rig.Do(0, Action::kMigConfig, 0, Node(1));
  EXPECT_EQ(rig.LogTo(1000), Log{});
}

TEST(DeviceFrontEndTest, WaitsForTheGpusThatChange) {
  Rig rig(Options(7), {{Off(), Off()}}, {{FourSmall(), Off()}});
  const PodId on_first = rig.Run(Gpus(1));
  const PodId on_second = rig.Run(Gpus(1));
  rig.Do(0, Action::kMigConfig, 0);
  rig.To(50);
  rig.End(on_first);
  EXPECT_EQ(rig.timers(), 1u) << "only the end of the release is awaited";
  // Released at 57; reset 5, four instances, restart 20.
  EXPECT_EQ(rig.LogTo(1000), (Log{"0 n0 begun 1", "3 n0 reports", "66 n0 changed 1",
                                  "89 n0 reports gpu:1 mig-1g.6gb:4"}));
  EXPECT_DOUBLE_EQ(rig.front_end().repartition_gpu_seconds(), 2 * 86);
  EXPECT_EQ(rig.cluster().pod_phase(on_second), PodPhase::kBound);
}

TEST(DeviceFrontEndTest, WaitsForReleasesThatBeganBeforeIt) {
  Rig rig(Options(30), {{Off(), Off()}}, {{FourSmall(), Off()}});
  const PodId early = rig.Run(Gpus(1));
  const PodId on_other_gpu = rig.Run(Gpus(1));
  rig.To(95);
  rig.End(early);
  rig.Do(100, Action::kMigConfig, 0);
  rig.To(105);
  rig.End(on_other_gpu);
  // Paused until 110, free at 125 and not only at 135, reset until 130, made at 134.
  EXPECT_EQ(rig.LogTo(1000), (Log{"100 n0 begun 1", "103 n0 reports", "134 n0 changed 1",
                                  "157 n0 reports gpu:1 mig-1g.6gb:4"}));
}

TEST(DeviceFrontEndTest, EvictsAfterThePause) {
  DeviceFrontEndOptions options = Options();
  options.manager.evict = true;
  for (const bool grace : {false, true}) {
    Rig rig(options, {{Off(), Off()}}, {{FourSmall(), Off()}});
    rig.grace = grace;
    const PodId on_first = rig.Run(Gpus(1));
    const PodId on_second = rig.Run(Gpus(1));
    rig.Do(0, Action::kMigConfig, 0);
    rig.To(40);
    if (grace) rig.End(on_first);
    EXPECT_EQ(rig.cluster().pod_phase(on_first), PodPhase::kFailed);
    EXPECT_EQ(rig.cluster().pod_phase(on_second), PodPhase::kBound);
    // Nine seconds after the GPU is idle; reported 23 seconds later.
    const int64_t changed = (grace ? 40 : 10) + 9;
    EXPECT_EQ(rig.LogTo(1000), (Log{"0 n0 begun 1", "3 n0 reports", "10 n0 evicts 1",
                                    absl::StrCat(changed, " n0 changed 1"),
                                    absl::StrCat(changed + 23, " n0 reports gpu:1 mig-1g.6gb:4")}));
  }
}

TEST(DeviceFrontEndTest, TheLastWishDuringAChangeWins) {
  Rig rig(Options(), {{Off()}}, {{FourSmall()}, {TwoHalves()}, {Off()}});
  rig.Do(0, Action::kMigConfig, 0);
  rig.Do(12, Action::kMigConfig, 1);
  rig.Do(30, Action::kMigConfig, 2);
  // 10 + 5 + 4 + 20; then 10, reset 5, four destroyed in 8, restart 20.
  EXPECT_EQ(rig.LogTo(1000), (Log{"0 n0 begun 1", "3 n0 reports", "19 n0 changed 1",
                                  "39 n0 begun 1", "62 n0 changed 1", "85 n0 reports gpu:1"}));
  EXPECT_EQ(rig.front_end().repartitions(), 2);
  EXPECT_DOUBLE_EQ(rig.front_end().repartition_gpu_seconds(), 39 + 43);
  // The layout in progress is requested again, in place of another one.
  rig.Do(1000, Action::kMigConfig, 0);
  rig.Do(1005, Action::kMigConfig, 1);
  rig.Do(1006, Action::kMigConfig, 0);
  EXPECT_EQ(rig.LogTo(2000), (Log{"1000 n0 begun 1", "1003 n0 reports", "1019 n0 changed 1",
                                  "1042 n0 reports mig-1g.6gb:4"}));
}

TEST(DeviceFrontEndTest, ThePluginIsBackWhenRestartAndChangeAreOver) {
  // The change lasts from 0 to 39.
  for (const int64_t back : {20, 50}) {
    Rig rig(Options(), {{Off()}}, {{FourSmall()}});
    rig.Do(0, Action::kMigConfig, 0);
    rig.Do(10, Action::kPluginGone);
    rig.To(back);
    EXPECT_EQ(rig.Try(Gpus(1)), kUnregistered);
    rig.Do(back, Action::kPluginBack);
    const int64_t reported = std::max<int64_t>(39, back) + 3;
    EXPECT_EQ(rig.LogTo(1000), (Log{"0 n0 begun 1", "3 n0 reports", "10 n0 gone 0",
                                    "19 n0 changed 1", absl::StrCat(back, " n0 back 0"),
                                    absl::StrCat(reported, " n0 reports mig-1g.6gb:4")}));
  }
}

// Strategy single cannot show instances of two profiles.
TEST(DeviceFrontEndTest, ALayoutThatThePluginCannotShowLeavesNothing) {
  DeviceFrontEndOptions options = Options();
  options.plugin.mig_strategy = MigStrategy::kSingle;
  Rig rig(options, {{Off()}}, {{Cut({{"2g.12gb", 0}, {"1g.6gb", 2}})}, {TwoHalves()}});
  rig.Do(0, Action::kMigConfig, 0);
  rig.Do(100, Action::kMigConfig, 1);
  // The second time: pause 10, no reset, two destroyed in 4, two created in 2, restart 20.
  EXPECT_EQ(rig.LogTo(200), (Log{"0 n0 begun 1", "3 n0 reports", "17 n0 changed 1",
                                 "100 n0 begun 1", "116 n0 changed 1", "139 n0 reports gpu:2"}));
}

TEST(RepartitioningTest, LaysIdleNodesOutOneAfterTheOtherAndStops) {
  Rig rig(Repartitioning(1), {{Off()}, {Off()}, {Off()}});
  rig.Submit(Small(), 6);
  rig.To(30);
  EXPECT_EQ(rig.timers(), 0u) << "nothing has happened on any node";
  rig.Run(Nic());
  // Four on one node, two on another; the third stays whole.
  EXPECT_EQ(rig.LogTo(10'000),
            (Log{"90 n0 begun 1", "93 n0 reports", "109 n0 changed 1",
                 "132 n0 reports mig-1g.6gb:4", "150 n1 begun 1", "153 n1 reports",
                 "168 n1 changed 1", "191 n1 reports mig-1g.6gb:2 mig-2g.12gb:1"}));
  EXPECT_EQ(rig.timers(), 0u);
}

TEST(RepartitioningTest, LeavesBusyAndUnreachableNodesAlone) {
  Rig rig(Repartitioning(9), {{Off(), Off()}, {Off()}, {Off()}, {Off()}, {Off()}});
  rig.Run(Gpus(1));
  rig.cluster().SetSchedulable(Node(1), false);
  rig.cluster().SetAvailable(Node(2), false);
  rig.Do(0, Action::kPluginGone, 0, Node(3));
  rig.cluster().Assume(rig.Submit(Gpus(1)), Node(4), DeviceSet());  // on its way
  rig.Submit(Small(), 12);
  EXPECT_EQ(rig.LogTo(10'000), (Log{"0 n3 gone 0", "3 n3 reports"}));
}

TEST(RepartitioningTest, CountsWhatIsFreeElsewhere) {
  Rig rig(Repartitioning(2), {{Off()}, {FourSmall()}, {Off()}, {Off()}});
  rig.Submit(Small(), 4);
  rig.Run(Nic());
  EXPECT_EQ(rig.LogTo(10'000), Log{});
  // One is taken, and ten are wanted: seven are missing, and then nothing for the last node.
  rig.Run(Small(), Node(1));
  rig.Submit(Small(), 6);
  EXPECT_EQ(rig.LogTo(10'060), (Log{"10060 n0 begun 1", "10060 n2 begun 1"}));
  EXPECT_EQ(rig.LogTo(11'000).size(), 6u);
}

TEST(RepartitioningTest, BackToWholeGpusForThoseWhoWaitForThem) {
  Rig rig(Repartitioning(1), {{FourSmall(), FourSmall()}});
  rig.Submit(Gpus(2));
  rig.Submit(Small(), 3);
  rig.Run(Nic());
  // Three units as it is, eight as whole GPUs; eight instances are destroyed.
  EXPECT_EQ(rig.LogTo(10'000),
            (Log{"60 n0 begun 3", "63 n0 reports", "91 n0 changed 3", "114 n0 reports gpu:2"}));
}

TEST(RepartitioningTest, BrokenGpusAreLeftAlone) {
  Rig rig(Repartitioning(1), {{Off(), Off()}});
  rig.Submit(Small(), 8);
  rig.Do(0, Action::kUnhealthy, 0b01);
  EXPECT_EQ(rig.LogTo(100), (Log{"0 n0 unhealthy 1", "3 n0 reports gpu:1", "60 n0 begun 2",
                                 "63 n0 reports", "79 n0 changed 2"}));
}

TEST(RepartitioningTest, DoesNotTickForAChangeThatWaits) {
  Rig rig(Repartitioning(1), {{Off()}}, {{FourSmall()}});
  rig.Run(Gpus(1));
  rig.Do(0, Action::kMigConfig, 0);
  rig.To(10'000);
  EXPECT_TRUE(rig.front_end().changing(Node(0)));
  EXPECT_EQ(rig.timers(), 0u);
}

// A change that waits, another wish, a restart, a broken GPU and re-partitioning.
class StoryRig : public Rig {
 public:
  StoryRig()
      : Rig(Repartitioning(1, 15), {{Off(), Off()}, {Off(), Off()}},
            {{FourSmall(), FourSmall()}, {Off(), TwoHalves()}}) {}
  void Play() {
    const PodId first = Run(Gpus(1));
    const PodId second = Run(Gpus(1));
    To(20);
    End(second);
    Do(22, Action::kMigConfig, 0);
    Do(22, Action::kMigConfig, 0, Node(1));
    Do(33, Action::kMigConfig, 1);
    Do(33, Action::kUnhealthy, 0b01, Node(1));
    Do(40, Action::kPluginGone);
    End(first);
    To(58);
    Submit(Small(), 7);
    Do(90, Action::kPluginBack);
    Do(200, Action::kHealthy, 0b01, Node(1));
    To(2000);
  }
};

Log Story() {
  return absl::StrSplit(
      "22 n0 begun 3|22 n1 begun 3|25 n0 reports|25 n1 reports|33 n1 unhealthy 1|40 n0 gone 0|"
      "45 n1 changed 3|68 n0 changed 3|68 n1 reports mig-1g.6gb:4|88 n0 begun 3|90 n0 back 0|"
      "121 n0 changed 3|144 n0 reports gpu:1 mig-2g.12gb:2|180 n0 begun 3|183 n0 reports|"
      "200 n1 healthy 1|203 n1 reports mig-1g.6gb:8|205 n0 changed 3|"
      "228 n0 reports mig-1g.6gb:4 mig-2g.12gb:2",
      '|');
}

TEST(DeviceFrontEndTest, StaleTimersDoNothing) {
  for (const bool twice : {false, true}) {
    StoryRig rig;
    rig.twice = twice;
    rig.Play();
    EXPECT_EQ(rig.LogTo(2000), Story()) << twice;
    // Nor do those of one change in the middle of the next; but a report tells what is now.
    rig.Do(2000, Action::kMigConfig, 0);
    const std::string during = rig.Saved();
    rig.FireAllAgain();
    EXPECT_EQ(rig.LogTo(2000), (Log{"2000 n0 begun 3", "2000 n0 reports"}));
    EXPECT_EQ(rig.Saved(), during);
  }
}

TEST(DeviceFrontEndTest, GoesOnFromACheckpointAtAnyMoment) {
  StoryRig rig;
  rig.reload = true;
  rig.Play();
  EXPECT_EQ(rig.LogTo(2000), Story());
  EXPECT_EQ(rig.front_end().repartitions(), 4);
  EXPECT_DOUBLE_EQ(rig.front_end().repartition_gpu_seconds(), 2 * (66 + 43 + 53 + 45));
  // One that was cut is refused.
  const std::string saved = rig.Saved();
  for (size_t length = 0; length < saved.size(); ++length) {
    EXPECT_FALSE(rig.LoadFresh(saved.substr(0, length)).ok()) << length;
  }
}

}  // namespace device_front_end_test
}  // namespace drasim
