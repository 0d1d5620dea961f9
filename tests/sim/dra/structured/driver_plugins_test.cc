#include "sim/dra/structured/driver_plugins.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "model/device_set.h"
#include "model/distributions.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/proto/resource.pb.h"
#include "model/proto/slice_driver.pb.h"
#include "model/random.h"
#include "model/state_io.h"
#include "model/time.h"
#include "policies/drivers/node_hardware.h"
#include "policies/drivers/slice_publishers.h"
#include "sim/dra/api/api_network.h"
#include "sim/dra/api/api_types.h"
#include "sim/dra/api/plane_archive.h"
#include "sim/dra/structured/slice_remover.h"
#include "tests/testing/cluster_builder.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace driver_plugins_test {

using proto::kube::ResourceSlice;
using Action = DeviceTransition::Action;
using Lines = std::vector<std::string>;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct WorldOptions {
  proto::SliceDriver driver;
  std::string gpu_model = "A100-SXM4-40GB";
  int gpus = 2;
  size_t nodes = 1;
  DriverPluginsOptions plugins;
};

WorldOptions Nvidia(absl::string_view mig = "none") {
  WorldOptions options;
  options.driver.set_kind("gpu.nvidia.com");
  options.driver.set_mig(std::string(mig));
  options.plugins.driver = "gpu.nvidia.com";
  return options;
}

// The plugins, the server, and a log of the calls.
class World {
 public:
  explicit World(const WorldOptions& given)
      : network_(&names_, /*seed=*/1), collector_(Named("collector")), kubelets_(Named("kubelet")) {
    for (size_t n = 0; n < given.nodes; ++n) {
      NodeSpec node = TestNode(absl::StrCat("node-", n), 8000, given.gpus);
      node.gpu_model = given.gpu_model;
      builder_.AddNode(node);
    }
    publisher_ = *MakeSlicePublisher(given.driver, {});
    DriverPluginsOptions options = given.plugins;
    options.connection.name = "driver";
    for (size_t n = 0; n < given.nodes; ++n) options.nodes.push_back(NodeId(n));
    plugins_ = std::make_unique<DriverPlugins>(options, publisher_.get(), &builder_.cluster(),
                                               &collector_, &kubelets_);
    if (!options.start_up) {
      for (size_t n = 0; n < given.nodes; ++n) {
        const auto slices = publisher_->Publish(HardwareOf(builder_.cluster().node_spec(NodeId(n))),
                                                /*generation=*/1);
        for (const ResourceSlice& slice : *slices) Create(slice);
      }
    }
    for (PlanePart* part :
         {static_cast<PlanePart*>(&collector_), static_cast<PlanePart*>(&kubelets_),
          static_cast<PlanePart*>(plugins_.get())}) {
      part->Start(network_.Connect(part->connection(), part));
    }
    network_.set_on_message([this](const ApiMessage& m) { Hear(m); });
  }

  DriverPlugins& plugins() { return *plugins_; }
  ApiNetwork& network() { return network_; }
  NamePool& names() { return names_; }
  ClientId driver() const { return 2; }
  const ClusterState& cluster() { return builder_.cluster(); }

  void Do(Action action, std::initializer_list<size_t> devices = {}, uint32_t config = 0,
          NodeId node = NodeId(size_t{0})) {
    DeviceTransition change;
    change.node = node;
    change.action = action;
    for (const size_t device : devices) change.devices.Add(device);
    change.config = config;
    plugins_->OnTransition(change);
  }
  void Save(StateWriter& out) const {
    PlaneWriter archive(&out);
    ApiNetwork::Fields(archive, network_);
    plugins_->Save(archive);
  }
  absl::Status Load(StateReader& in) {
    PlaneReader archive(&in, &names_);
    ApiNetwork::Fields(archive, network_);
    plugins_->Load(archive);
    return in.status();
  }
  void RunTo(double seconds) { network_.RunUntil(SimTime(static_cast<int64_t>(seconds * 1e9))); }

  // "1.000 driver PUT 00000 generation 1", the slice by its index; " 409" if it failed.
  Lines TakeCalls() { return std::exchange(calls_, {}); }

  std::vector<ResourceSlice> Slices() const {
    std::vector<ResourceSlice> slices;
    for (const auto& slice : network_.server().objects().of<ResourceSliceObject>().Sorted()) {
      slices.push_back(*slice->object);
    }
    std::sort(slices.begin(), slices.end(), [](const ResourceSlice& a, const ResourceSlice& b) {
      return a.metadata().name() < b.metadata().name();
    });
    return slices;
  }
  // "gpu-0", "gpu-1[gpu.nvidia.com/gpu-lost NoSchedule 2000-01-01T00:00:05Z]"
  Lines Devices() const {
    Lines lines;
    for (const ResourceSlice& slice : Slices()) {
      for (const proto::kube::Device& device : slice.spec().devices()) {
        std::string line = device.name();
        for (const proto::kube::DeviceTaint& taint : device.taints()) {
          absl::StrAppend(&line, "[", taint.key(), " ", taint.effect(), " ", taint.time_added(),
                          "]");
        }
        lines.push_back(std::move(line));
      }
    }
    return lines;
  }

  void Put(ObjectRef object) {
    DRASIM_CHECK(network_.server().Handle(WriteRequest(Verb::kUpdate, std::move(object))).ok());
  }
  Ref<ResourceSliceObject> Object(size_t index) const {
    return network_.server().objects().of<ResourceSliceObject>().Sorted()[index];
  }
  void Delete(const ObjectMeta& slice) {
    DRASIM_CHECK(network_.server().Handle(DeleteRequest(ObjectKind::kResourceSlice, slice)).ok());
  }

 private:
  static ClientOptions Named(const char* name) {
    ClientOptions client;
    client.name = name;
    return client;
  }
  void Create(const ResourceSlice& slice) {
    auto object = std::make_shared<ResourceSliceObject>();
    object->meta.name = names_.Intern(slice.metadata().name());
    object->object = SharedMessage<ResourceSlice>(slice);
    const ApiRequest request =
        WriteRequest(Verb::kCreate, Ref<ResourceSliceObject>(std::move(object)));
    DRASIM_CHECK(network_.server().Handle(request).ok());
  }
  void Hear(const ApiMessage& m) {
    const std::string name(m.name.text().substr(0, 5));
    const std::string verb = CallText(m.verb, m.kind);
    std::string line =
        absl::StrFormat("%.3f %s %s %s", m.done.seconds(), network_.client(m.client).options().name,
                        verb.substr(0, verb.find(' ')), name);
    const auto slice = network_.server().objects().of<ResourceSliceObject>().Find(Name(), m.name);
    if (m.code != ApiCode::kOk) {
      absl::StrAppend(&line, " ", static_cast<int>(m.code));
    } else if (slice != nullptr) {
      absl::StrAppend(&line, " generation ", slice->object->spec().pool().generation());
    }
    calls_.push_back(std::move(line));
  }

  NamePool names_;
  ClusterBuilder builder_;
  ApiNetwork network_;
  SliceRemover collector_;
  SliceRemover kubelets_;
  std::unique_ptr<SlicePublisher> publisher_;
  std::unique_ptr<DriverPlugins> plugins_;
  Lines calls_;
};

TEST(DriverPluginsTest, ExistingSlicesAreLeftAlone) {
  World world(Nvidia());
  world.RunTo(1000);
  EXPECT_THAT(world.TakeCalls(), IsEmpty());
  EXPECT_THAT(world.Devices(), ElementsAre("gpu-0", "gpu-1"));
  EXPECT_FALSE(world.plugins().IsBusy());
}

// NVIDIA's driver taints a lost GPU, and looks at it again when it starts.
TEST(DriverPluginsTest, LostGpuHasATaintUntilThePluginRestarts) {
  World world(Nvidia());
  world.RunTo(5.5);
  world.Do(Action::kUnhealthy, {1});
  EXPECT_THAT(world.TakeCalls(), ElementsAre("5.500 driver PUT 00000 generation 1"));
  const Lines lost = {"gpu-0", "gpu-1[gpu.nvidia.com/gpu-lost NoSchedule 2000-01-01T00:00:05Z]"};
  EXPECT_EQ(world.Devices(), lost);
  world.RunTo(7);
  world.Do(Action::kHealthy, {1});
  EXPECT_EQ(world.Devices(), lost);
  world.Do(Action::kPluginGone);
  world.RunTo(9);
  EXPECT_EQ(world.Devices(), lost);
  EXPECT_THAT(world.TakeCalls(), IsEmpty());
  world.Do(Action::kPluginBack);
  EXPECT_THAT(world.TakeCalls(), ElementsAre("9.000 driver PUT 00000 generation 1"));
  EXPECT_THAT(world.Devices(), ElementsAre("gpu-0", "gpu-1"));
}

TEST(DriverPluginsTest, DriverMayBeToldOtherwise) {
  WorldOptions options = Nvidia();
  options.driver.set_on_unhealthy("withdraw");
  options.driver.set_recovery("at-once");
  World world(options);
  world.Do(Action::kUnhealthy, {0});
  world.Do(Action::kUnhealthy, {0});
  EXPECT_THAT(world.Devices(), ElementsAre("gpu-1"));
  world.Do(Action::kHealthy, {0});
  EXPECT_THAT(world.Devices(), ElementsAre("gpu-1"));  // one fault of two
  world.Do(Action::kHealthy, {0});
  EXPECT_THAT(world.Devices(), ElementsAre("gpu-0", "gpu-1"));
}

// With counters, a GPU that is withdrawn takes its slice with it: the pool gets a new generation,
// and is incomplete until the last call.
TEST(DriverPluginsTest, WithdrawnGpuChangesThePool) {
  WorldOptions options = Nvidia("dynamic");
  options.driver.set_on_unhealthy("withdraw");
  options.driver.set_recovery("at-once");
  options.plugins.connection.write_latency = *Distribution::Parse("constant(0.01)");
  World world(options);
  world.Do(Action::kUnhealthy, {0});
  world.RunTo(1);
  EXPECT_THAT(world.TakeCalls(),
              ElementsAre("0.010 driver DELETE 00002", "0.020 driver PUT 00000 generation 2",
                          "0.030 driver PUT 00001 generation 2"));
  world.Do(Action::kHealthy, {0});
  world.RunTo(1.025);
  // Two of three slices are of the new generation.
  EXPECT_THAT(world.TakeCalls(), ElementsAre("1.010 driver PUT 00000 generation 3",
                                             "1.020 driver PUT 00001 generation 3"));
  EXPECT_EQ(world.Slices().size(), 2U);
  EXPECT_EQ(world.Slices()[0].spec().pool().resource_slice_count(), 3);
  world.RunTo(2);
  EXPECT_THAT(world.TakeCalls(), ElementsAre("1.030 driver POST 00002 generation 3"));
  // It looks once more.
  EXPECT_TRUE(world.plugins().IsBusy());
  world.RunTo(62);
  EXPECT_FALSE(world.plugins().IsBusy());
  EXPECT_THAT(world.TakeCalls(), IsEmpty());
}

// Five calls a second after the first ten, per plugin.
TEST(DriverPluginsTest, PluginsStartAndPublish) {
  WorldOptions options = Nvidia("dynamic");
  options.gpus = 8;
  options.nodes = 2;
  options.plugins.start_up = true;
  options.plugins.start_delay = *Distribution::Parse("constant(2)");
  options.plugins.connection.qps = 5;
  options.plugins.connection.burst = 7;
  World world(options);
  world.RunTo(1.9);
  EXPECT_THAT(world.TakeCalls(), IsEmpty());
  world.RunTo(100);
  Lines expected;
  for (const double at : {2.0, 2.0, 2.2, 2.2, 2.4, 2.4}) {
    const int calls = at == 2.0 ? 7 : 1;
    for (int i = 0; i < calls; ++i) {
      const int index = at == 2.0 ? i : at < 2.3 ? 7 : 8;
      expected.push_back(absl::StrFormat("%.3f driver POST %05x generation 1", at, index));
    }
  }
  EXPECT_EQ(world.TakeCalls(), expected);
}

TEST(DriverPluginsTest, KubeletDeletesTheSlicesOfAPluginThatStaysAway) {
  World world(Nvidia());
  world.Do(Action::kPluginGone);
  world.RunTo(29);
  EXPECT_THAT(world.TakeCalls(), IsEmpty());
  world.RunTo(50);
  EXPECT_THAT(world.TakeCalls(), ElementsAre("30.000 kubelet DELETE 00000"));
  world.Do(Action::kPluginBack);
  EXPECT_THAT(world.TakeCalls(), ElementsAre("50.000 driver POST 00000 generation 1"));
}

TEST(DriverPluginsTest, RemovedNodeLosesItsSlices) {
  WorldOptions options = Nvidia("dynamic");
  options.gpus = 1;
  options.plugins.start_delay = *Distribution::Parse("constant(3)");
  World world(options);
  world.plugins().OnNode(NodeId(size_t{0}), NodePresence::kAbsent);
  world.RunTo(10);
  EXPECT_THAT(world.TakeCalls(),
              ElementsAre("0.000 collector DELETE 00000", "0.000 collector DELETE 00001"));
  world.plugins().OnNode(NodeId(size_t{0}), NodePresence::kThere);
  world.RunTo(20);
  EXPECT_THAT(world.TakeCalls(), ElementsAre("13.000 driver POST 00000 generation 1",
                                             "13.000 driver POST 00001 generation 1"));
}

TEST(DriverPluginsTest, FailedNodeKeepsItsSlicesUntilItIsBack) {
  WorldOptions options = Nvidia();
  options.plugins.start_delay = *Distribution::Parse("constant(3)");
  World world(options);
  world.plugins().OnNode(NodeId(size_t{0}), NodePresence::kFailed);
  world.RunTo(100);
  EXPECT_THAT(world.TakeCalls(), IsEmpty());
  world.plugins().OnNode(NodeId(size_t{0}), NodePresence::kThere);
  world.RunTo(200);
  EXPECT_THAT(world.TakeCalls(), ElementsAre("100.000 kubelet DELETE 00000",
                                             "103.000 driver POST 00000 generation 1"));
}

// Slices that others change are put right 30 s later.
TEST(DriverPluginsTest, SlicesThatOthersChangeAreRestored) {
  World world(Nvidia());
  world.RunTo(10);
  world.Delete(world.Object(0)->meta);
  world.RunTo(39.9);
  EXPECT_THAT(world.TakeCalls(), IsEmpty());
  world.RunTo(200);
  EXPECT_THAT(world.TakeCalls(), ElementsAre("40.000 driver POST 00000 generation 1"));
  auto changed = std::make_shared<ResourceSliceObject>(*world.Object(0));
  ResourceSlice slice = *changed->object;
  slice.mutable_spec()->clear_devices();
  changed->object = SharedMessage<ResourceSlice>(std::move(slice));
  world.Put(Ref<ResourceSliceObject>(std::move(changed)));
  world.RunTo(500);
  EXPECT_THAT(world.TakeCalls(), ElementsAre("230.000 driver PUT 00000 generation 1"));
  EXPECT_THAT(world.Devices(), ElementsAre("gpu-0", "gpu-1"));
}

// A GPU breaks, and another writer changes the slice before the plugin does.
void MakeConflict(World& world) {
  world.Do(Action::kUnhealthy, {0});
  auto changed = std::make_shared<ResourceSliceObject>(*world.Object(0));
  changed->meta.finalizers.push_back(world.names().Intern("example.com/keep"));
  world.Put(Ref<ResourceSliceObject>(std::move(changed)));
}

TEST(DriverPluginsTest, ConflictIsRetried) {
  WorldOptions options = Nvidia();
  options.plugins.connection.write_latency = *Distribution::Parse("constant(0.01)");
  World world(options);
  MakeConflict(world);
  world.RunTo(1);
  EXPECT_THAT(world.TakeCalls(),
              ElementsAre("0.010 driver PUT 00000 409", "0.025 driver PUT 00000 generation 1"));
  EXPECT_THAT(
      world.Devices(),
      ElementsAre("gpu-0[gpu.nvidia.com/gpu-lost NoSchedule 2000-01-01T00:00:00Z]", "gpu-1"));
}

TEST(DriverPluginsTest, TaintsOfTheScenarioComeAndGo) {
  WorldOptions options = Nvidia();
  options.plugins.taints.resize(2);
  options.plugins.taints[0].set_key("example.com/a");
  options.plugins.taints[0].set_effect("NoExecute");
  options.plugins.taints[1].set_key("example.com/b");
  options.plugins.taints[1].set_effect("None");
  World world(options);
  world.Do(Action::kTainted, {1}, 0);
  world.RunTo(2);
  world.Do(Action::kTainted, {}, 1);
  EXPECT_THAT(world.Devices(), ElementsAre("gpu-0[example.com/b None 2000-01-01T00:00:02Z]",
                                           "gpu-1[example.com/a NoExecute 2000-01-01T00:00:00Z]"
                                           "[example.com/b None 2000-01-01T00:00:02Z]"));
  world.Do(Action::kUntainted, {1}, 0);
  world.Do(Action::kUntainted, {}, 1);
  EXPECT_THAT(world.Devices(), ElementsAre("gpu-0", "gpu-1"));
}

TEST(DriverPluginsTest, LayoutWaitsForClaims) {
  WorldOptions options = Nvidia("static");
  options.gpus = 1;
  options.driver.set_layout("3g.20gb:2");
  options.plugins.layouts = {"7g.40gb:1"};
  World world(options);
  auto allocation = std::make_shared<Allocation>();
  proto::kube::AllocationResultV1 result;
  auto* const device = result.mutable_devices()->add_results();
  device->set_driver("gpu.nvidia.com");
  device->set_pool("node-0");
  allocation->result = SharedMessage<proto::kube::AllocationResultV1>(std::move(result));
  auto claim = std::make_shared<ResourceClaim>();
  claim->meta.ns = world.names().Intern("default");
  claim->meta.name = world.names().Intern("claim");
  claim->spec.devices = SharedMessage<proto::kube::DeviceClaim>(proto::kube::DeviceClaim());
  ApiServer& server = world.network().server();
  ASSERT_TRUE(server.Handle(WriteRequest(Verb::kCreate, Ref<ResourceClaim>(claim))).ok());
  ApiReply reply = server.Handle(
      NamedRequest(Verb::kGet, ObjectKind::kResourceClaim, claim->meta.ns, claim->meta.name));
  auto allocated = std::make_shared<ResourceClaim>(*As<ResourceClaim>(reply.object));
  allocated->status.allocation = std::move(allocation);
  allocated->status.driver = world.names().Intern("gpu.nvidia.com");
  reply = server.Handle(WriteRequest(Verb::kUpdateStatus, Ref<ResourceClaim>(allocated)));
  ASSERT_TRUE(reply.ok()) << reply.message;

  world.Do(Action::kMigConfig, {}, 0);
  world.RunTo(100);
  const std::string taint = "[gpu.nvidia.com/reconfiguring NoSchedule 2000-01-01T00:00:00Z]";
  EXPECT_THAT(world.Devices(),
              ElementsAre("gpu-0-mig-3g20gb-9-0" + taint, "gpu-0-mig-3g20gb-9-4" + taint));
  EXPECT_FALSE(world.plugins().IsBusy());
  ASSERT_TRUE(server.Handle(DeleteRequest(ObjectKind::kResourceClaim, allocated->meta)).ok());
  world.RunTo(101);
  EXPECT_THAT(world.Devices(), ElementsAre("gpu-0-mig-7g40gb-0-0"));
  EXPECT_THAT(world.TakeCalls(), ElementsAre("0.000 driver PUT 00000 generation 1",
                                             "100.000 driver PUT 00000 generation 1"));
}

// A run that goes on from a checkpoint makes the calls that are left.
TEST(DriverPluginsTest, PublicationGoesOnFromACheckpoint) {
  WorldOptions options = Nvidia("dynamic");
  options.gpus = 8;
  options.plugins.start_up = true;
  options.plugins.connection.qps = 5;
  options.plugins.connection.burst = 2;
  options.plugins.connection.write_latency = *Distribution::Parse("exponential(mean=0.1)");
  World world(options);
  world.RunTo(0.9);
  world.Do(Action::kUnhealthy, {3});
  world.RunTo(1);
  StateWriter out;
  world.Save(out);
  world.TakeCalls();
  world.RunTo(200);
  World other(options);
  StateReader in(out.bytes());
  ASSERT_EQ(other.Load(in), absl::OkStatus());
  StateWriter again;
  other.Save(again);
  EXPECT_EQ(again.bytes(), out.bytes());
  other.RunTo(200);
  const Lines calls = world.TakeCalls();
  EXPECT_EQ(calls.size(), 4U);
  EXPECT_EQ(other.TakeCalls(), calls);
  EXPECT_EQ(other.Devices(), world.Devices());
}

// The plugin learns late of another writer's change. Pauses double with each failure before.
TEST(DriverPluginsTest, RepetitionsGoOnFromACheckpoint) {
  WorldOptions options = Nvidia();
  options.plugins.connection.write_latency = *Distribution::Parse("constant(0.01)");
  options.plugins.connection.watch_latency = *Distribution::Parse("constant(0.3)");
  World world(options);
  MakeConflict(world);
  world.RunTo(0.06);
  EXPECT_THAT(world.TakeCalls(),
              ElementsAre("0.010 driver PUT 00000 409", "0.025 driver PUT 00000 409",
                          "0.045 driver PUT 00000 409"));
  StateWriter out;
  world.Save(out);
  world.RunTo(10);
  World other(options);
  StateReader in(out.bytes());
  ASSERT_EQ(other.Load(in), absl::OkStatus());
  other.RunTo(10);
  const Lines calls = world.TakeCalls();
  EXPECT_THAT(calls,
              ElementsAre("0.075 driver PUT 00000 409", "0.125 driver PUT 00000 409",
                          "0.215 driver PUT 00000 409", "0.385 driver PUT 00000 generation 1"));
  EXPECT_EQ(other.TakeCalls(), calls);
}

// --- At random ---

// Everything that can happen to plugins. When all is over, the slices must be those that the
// plugins want, in complete pools.
std::string RunOne(uint64_t seed) {
  Random random(seed, "driver plugins");
  WorldOptions options = Nvidia(random.Below(2) == 0 ? "none" : "dynamic");
  options.nodes = 1 + random.Below(3);
  options.gpus = 1 + static_cast<int>(random.Below(3));
  if (random.Below(2) == 0) options.driver.set_on_unhealthy("withdraw");
  if (random.Below(2) == 0) options.driver.set_recovery("at-once");
  options.plugins.start_up = random.Below(3) == 0;
  options.plugins.taints.resize(1);
  options.plugins.taints[0].set_key("example.com/a");
  options.plugins.taints[0].set_effect("NoSchedule");
  ClientOptions& connection = options.plugins.connection;
  if (random.Below(3) > 0) connection.write_latency = *Distribution::Parse("exponential(mean=0.3)");
  if (random.Below(3) > 0) connection.watch_latency = *Distribution::Parse("exponential(mean=0.3)");
  if (random.Below(2) == 0) {
    connection.qps = 5;
    connection.burst = 2;
  }
  if (random.Below(2) == 0) {
    options.plugins.start_delay = *Distribution::Parse("exponential(mean=1)");
  }
  World world(options);
  double now = 0;
  std::vector<uint32_t> outages(options.nodes);
  std::vector<uint32_t> absent(options.nodes);
  for (uint64_t deeds = 5 + random.Below(25); deeds > 0; --deeds) {
    now += static_cast<double>(random.Below(random.Below(8) == 0 ? 60'000 : 2000)) / 1000;
    world.RunTo(now);
    const size_t n = random.Below(options.nodes);
    const NodeId node(n);
    const size_t gpu = random.Below(static_cast<uint64_t>(options.gpus));
    switch (random.Below(9)) {
      case 0:
        world.Do(Action::kUnhealthy, {gpu}, 0, node);
        break;
      case 1:
        world.Do(Action::kHealthy, {gpu}, 0, node);
        break;
      case 2:
        world.Do(Action::kTainted, {gpu}, 0, node);
        break;
      case 3:
        world.Do(Action::kUntainted, {gpu}, 0, node);
        break;
      case 4:
        world.Do(outages[n] == 0 ? Action::kPluginGone : Action::kPluginBack, {}, 0, node);
        outages[n] ^= 1;
        break;
      case 5:
        absent[n] = absent[n] == 0 ? 1 + static_cast<uint32_t>(random.Below(2)) : 0;
        world.plugins().OnNode(node, absent[n] == 0   ? NodePresence::kThere
                                     : absent[n] == 1 ? NodePresence::kFailed
                                                      : NodePresence::kAbsent);
        break;
      case 6:
        world.network().Restart(world.driver(),
                                SimDuration::Millis(static_cast<int64_t>(random.Below(3000))));
        break;
      case 7:
        world.network().BreakWatch(world.driver(),
                                   SimDuration::Millis(static_cast<int64_t>(random.Below(3000))));
        break;
      default: {
        const size_t slices = world.Slices().size();
        if (slices > 0) world.Delete(world.Object(random.Below(slices))->meta);
      }
    }
  }
  for (size_t n = 0; n < options.nodes; ++n) {
    if (outages[n] > 0) world.Do(Action::kPluginBack, {}, 0, NodeId(n));
    world.plugins().OnNode(NodeId(n), NodePresence::kThere);
  }
  world.RunTo(now + 500);
  // Touches every node, so that there is something that it wants.
  std::map<std::string, ResourceSlice> wanted;
  for (size_t n = 0; n < options.nodes; ++n) {
    world.Do(Action::kHealthy, {0}, 0, NodeId(n));
    world.RunTo(now + 1000 + static_cast<double>(n));
    for (ResourceSlice& slice : world.plugins().Wanted(NodeId(n))) {
      wanted[slice.metadata().name()] = std::move(slice);
    }
  }
  world.RunTo(now + 3000);
  if (world.plugins().IsBusy()) return "the plugins never rest";
  std::map<std::string, std::set<int64_t>> generations;
  for (ResourceSlice slice : world.Slices()) {
    const auto found = wanted.find(slice.metadata().name());
    if (found == wanted.end()) return absl::StrCat(slice.metadata().name(), " is left over");
    proto::kube::ResourcePool* const pool = slice.mutable_spec()->mutable_pool();
    generations[pool->name()].insert(pool->generation());
    pool->set_generation(1);
    if (!(SharedMessage<ResourceSlice>(slice) == SharedMessage<ResourceSlice>(found->second))) {
      return absl::StrCat(slice.metadata().name(), " is not as wanted: ", slice.DebugString(),
                          found->second.DebugString());
    }
    wanted.erase(found);
  }
  if (!wanted.empty()) return absl::StrCat(wanted.begin()->first, " is missing");
  for (const auto& [pool, found] : generations) {
    if (found.size() > 1) return absl::StrCat(pool, " has slices of two generations");
  }
  return "";
}

TEST(DriverPluginsTest, SlicesAreAsWantedInTheEnd) {
  const uint64_t runs = SoakSeeds(50, 5000);
  int failures = 0;
  for (uint64_t seed = 1; seed <= runs && failures < 5; ++seed) {
    const std::string problem = RunOne(seed);
    if (problem.empty()) continue;
    ++failures;
    ADD_FAILURE() << "seed " << seed << ": " << problem;
  }
}

}  // namespace driver_plugins_test
}  // namespace drasim
