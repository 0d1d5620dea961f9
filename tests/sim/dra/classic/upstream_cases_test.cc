// Assertions of upstream's tests of classic DRA beside the tables of dynamic_resources_test.cc and
// driver_controller_test.cc: cases with just the objects that upstream has, one sync and no other,
// and the texts of rejections. By upstream's names (kubernetes/kubernetes
// pkg/scheduler/framework/plugins/dynamicresources; v0.29 of
// k8s.io/dynamic-resource-allocation/controller).
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "sim/dra/classic/driver_controller.h"
#include "sim/dra/classic/dynamic_resources.h"
#include "tests/sim/dra/classic/component_rig.h"

namespace drasim {
namespace upstream_cases_test {

using Mode = AllocationMode;

constexpr DraRelease kAll[] = {DraRelease::k26, DraRelease::k27, DraRelease::k28,
                               DraRelease::k29, DraRelease::k30, DraRelease::k31};

// --- The scheduler plugin. ---

namespace plugin {

using dynamic_resources_testing::Code;
using dynamic_resources_testing::kWorker;
using dynamic_resources_testing::Objects;
using dynamic_resources_testing::OfRelease;
using dynamic_resources_testing::Plugin;
using dynamic_resources_testing::Reason;
using dynamic_resources_testing::Status;
using dynamic_resources_testing::StatusDump;
using dynamic_resources_testing::Verify;
using dynamic_resources_testing::Want;
using dynamic_resources_testing::World;

Status Waits(const World& w, Reason reason) {
  return {w.behaviour().pending_status() ? Code::kPending : Code::kUnschedulable, reason, Name()};
}

// One delayed claim, though the context knows of two entries; the worker is its potential node.
void OneClaimWithInfo(World& w) {
  w.pod = w.AddPod(w.PodWith("my-pod", {"my-resource"}));
  w.AddClass("my-resource-class");
  w.AddClaim(w.ClaimOf("my-resource", Mode::kWaitForFirstConsumer, w.pod->meta.uid));
  PodSchedulingContext context = w.ContextOf(*w.pod);
  context.potential = {kWorker};
  context.claims = {{w.N("my-resource"), {}}, {w.N("my-resource-2"), {}}};
  w.AddContext(context);
  w.Start();
}

// One step, compared. Whether it succeeded.
bool Step(World& w, const char* name, const Want& want, const std::function<Status()>& step) {
  const Objects before = w.Snapshot();
  const Status status = w.Await(step());
  Verify(w, name, status, before, want);
  return status.code == Code::kSuccess;
}

// A cycle for the worker node from the beginning, in which only the write of the context does
// something; and Unreserve after it.
void ExpectCycle(World& w, const Want& write, const std::function<void()>& meanwhile) {
  Plugin& plugin = w.plugin();
  Plugin::Cycle& cycle = w.cycle;
  const bool late = w.behaviour().writes_in_pre_bind();
  const Want nothing;
  EXPECT_TRUE(Step(w, "PreEnqueue", nothing, [&] { return plugin.PreEnqueue(*w.pod); }));
  EXPECT_TRUE(Step(w, "PreFilter", nothing, [&] { return plugin.PreFilter(w.pod, &cycle); }));
  EXPECT_TRUE(Step(w, "Filter", nothing, [&] { return plugin.Filter(&cycle, kWorker); }));
  EXPECT_TRUE(Step(w, "PreScore", nothing, [&] {
    plugin.PreScore(&cycle, {kWorker});
    return Status();
  }));
  if (!late) meanwhile();
  Step(w, "Reserve", late ? nothing : write, [&] { return plugin.Reserve(&cycle, kWorker); });
  if (late) {
    meanwhile();
    Step(w, "PreBind", write, [&] { return plugin.PreBind(&cycle, kWorker); });
  }
  // A write that failed is tried again, and refused again.
  Want unreserve;
  if (late && write.status.code == Code::kError) unreserve.calls = write.calls;
  Step(w, "Unreserve", unreserve, [&] { return plugin.Unreserve(&cycle, kWorker); });
}

TEST(UpstreamPluginCases, delayed_allocation_scheduling_finish) {
  for (const DraRelease release : kAll) {
    SCOPED_TRACE(DraReleaseText(release));
    World w(OfRelease(release));
    OneClaimWithInfo(w);
    ExpectCycle(w,
                {Waits(w, Reason::kWaitsForAllocation),
                 [](Objects* o) { o->contexts[0].selected = kWorker; },
                 {"PUT podschedulingcontexts my-pod 200"}},
                [] {});
  }
}

// Another client changes the context's metadata right before the plugin writes: here a finalizer,
// for these objects have no labels. Upstream's fake server calls that an error of its own, and
// there the test ends; a real one says "conflict", and since 1.29 an apply follows.
TEST(UpstreamPluginCases, delayed_allocation_scheduling_finish_concurrent_label_update) {
  for (const DraRelease release : kAll) {
    SCOPED_TRACE(DraReleaseText(release));
    World w(OfRelease(release));
    OneClaimWithInfo(w);
    Want write = {{Code::kError, Reason::kConflict, w.N("my-pod")},
                  nullptr,
                  {"PUT podschedulingcontexts my-pod 409"}};
    if (w.behaviour().apply_on_conflict()) {
      write.status = Waits(w, Reason::kWaitsForAllocation);
      write.change = [](Objects* o) { o->contexts[0].selected = kWorker; };
      write.calls.push_back("PATCH podschedulingcontexts my-pod 200");
    }
    ExpectCycle(w, write, [&w] {
      PodSchedulingContext context =
          *w.network().server().objects().context(w.N("default"), w.N("my-pod"));
      context.meta.finalizers.push_back(w.N("hello/world"));
      w.Send(Verb::kUpdate, context);
    });
  }
}

// A claim that is allocated elsewhere, seen from three nodes: each is rejected, the claim is noted
// once, and PostFilter writes it once.
TEST(UpstreamPluginCases, wrong_topology_delayed_allocation) {
  for (const DraRelease release : kAll) {
    SCOPED_TRACE(DraReleaseText(release));
    World w(OfRelease(release));
    w.pod = w.AddPod(w.PodWith("my-pod", {"my-resource"}));
    ResourceClaim claim = w.ClaimOf("my-resource", Mode::kWaitForFirstConsumer, w.pod->meta.uid);
    w.Allocate(NodeSet::Of({NodeId(uint32_t{99})}), false, &claim);
    w.AddClaim(claim);
    w.Start();
    Plugin& plugin = w.plugin();
    const Want nothing;
    EXPECT_TRUE(Step(w, "PreFilter", nothing, [&] { return plugin.PreFilter(w.pod, &w.cycle); }));
    const Want rejects = {
        {Code::kUnresolvable, Reason::kNotAvailableOnNode, w.N("my-pod-my-resource")}, nullptr, {}};
    for (const NodeId node : {kWorker, NodeId(uint32_t{1}), NodeId(uint32_t{2})}) {
      Step(w, "Filter", rejects, [&] { return plugin.Filter(&w.cycle, node); });
    }
    EXPECT_EQ(w.cycle.unavailable, std::vector<size_t>{0});
    const bool late = w.behaviour().preempts_after_deallocation();
    Step(w, "PostFilter",
         {{late ? Code::kUnschedulable : Code::kSuccess, Reason::kDeallocating,
           w.N("my-pod-my-resource")},
          [](Objects* o) { o->claims[0].status.deallocation_requested = true; },
          {"PUT resourceclaims/status my-pod-my-resource 200"}},
         [&] { return plugin.PostFilter(&w.cycle); });
  }
}

// The texts that upstream compares.
TEST(UpstreamPluginCases, Messages) {
  struct Case {
    const char* name;
    Reason reason;
    const char* object;
    const char* text;
  };
  const Case cases[] = {
      {"missing-claim", Reason::kClaimMissing, "", "ResourceClaim not created yet"},
      {"deleted-claim", Reason::kClaimBeingDeleted, "my-pod-my-resource",
       "resourceclaim \"my-pod-my-resource\" is being deleted"},
      {"waiting-for-immediate-allocation", Reason::kUnallocatedImmediate, "my-pod-my-resource",
       "unallocated immediate resourceclaim"},
      {"waiting-for-deallocation", Reason::kMustBeReallocated, "my-pod-my-resource",
       "resourceclaim must be reallocated"},
      {"delayed-allocation-missing-class", Reason::kClassMissing, "my-resource-class",
       "resource class my-resource-class does not exist"},
      {"delayed-allocation-scheduling-select-immediately", Reason::kWaitsForAllocation, "",
       "waiting for resource driver to allocate resource"},
      {"delayed-allocation-scheduling-ask", Reason::kWaitsForInformation, "",
       "waiting for resource driver to provide information"},
      {"in-use-by-other", Reason::kClaimInUse, "my-pod-my-resource", "resourceclaim in use"},
      {"wrong-topology-delayed-allocation", Reason::kNotAvailableOnNode, "my-pod-my-resource",
       "resourceclaim not available on the node"},
      {"wrong-topology-immediate-allocation", Reason::kStillNotSchedulable, "",
       "still not schedulable"},
  };
  NamePool names;
  for (const Case& test : cases) {
    EXPECT_EQ(StatusText({Code::kUnresolvable, test.reason, names.Intern(test.object)}), test.text)
        << test.name;
  }
}

}  // namespace plugin

// --- The driver's controller: one sync of a context, and nothing else. ---

namespace controller {

using driver_controller_testing::kWorker;
using driver_controller_testing::kWorker2;
using driver_controller_testing::Nodes;
using driver_controller_testing::Objects;
using driver_controller_testing::Texts;
using driver_controller_testing::Verify;
using driver_controller_testing::Want;
using driver_controller_testing::World;
using driver_controller_testing::WorldOptions;

struct PodCase {
  const char* name;
  Mode mode = Mode::kWaitForFirstConsumer;
  bool claim = true;
  bool classes = true;
  Nodes potential;
  NodeId selected;
  Nodes unsuitable;  // answers of the driver
  Want want;
};

// gtest's own text would be the bytes.
void PrintTo(const PodCase& test, std::ostream* out) { *out << test.name; }

constexpr char kPeriodic[] = "done 0, requeue 0, periodic 1, failed 0";
constexpr char kGetPod[] = "GET pods pod 200";
constexpr char kPutStatus[] = "PUT podschedulingcontexts/status pod 200";

Nodes Range(uint32_t first, uint32_t end) {
  Nodes nodes;
  for (uint32_t node = first; node < end; ++node) nodes.push_back(NodeId(node));
  return nodes;
}

Texts Probe(const Nodes& nodes) {
  return {absl::StrCat("UnsuitableNodes claim=my-pod-claim of ",
                       driver_controller_testing::NodesText(nodes))};
}

std::function<void(World&, Objects*)> Lists(const Nodes& nodes) {
  return [nodes](World& world, Objects* objects) {
    objects->contexts[0].claims.push_back({world.N("my-pod-claim"), nodes});
  };
}

void Allocates(World& world, Objects* objects) {
  world.Allocated(kWorker, &objects->claims[0]);
  objects->claims[0].status.reserved_for.push_back(
      {world.N("pods"), world.N("pod"), objects->contexts[0].meta.owner});
  Lists({kWorker2})(world, objects);
}

// The selected node stays listed, whatever is cut.
std::vector<PodCase> SelectedNodeCases() {
  const Mode delayed = Mode::kWaitForFirstConsumer;
  const Nodes both = {kWorker, kWorker2};
  const NodeId last{uint32_t{128}};
  const NodeId first{uint32_t{0}};
  return {
      {"pod-selected-is-potential-node",
       delayed,
       true,
       true,
       both,
       kWorker,
       both,
       {Lists(both), Probe(both), {kGetPod, kPutStatus}, kPeriodic, ""}},
      {"pod-selected-is-potential-node-truncate-first",
       delayed,
       true,
       true,
       Range(0, 128),
       last,
       Range(0, 129),
       {Lists(Range(1, 129)), Probe(Range(0, 129)), {kGetPod, kPutStatus}, kPeriodic, ""}},
      {"pod-selected-is-potential-node-truncate-last",
       delayed,
       true,
       true,
       Range(1, 129),
       first,
       Range(0, 129),
       {Lists(Range(0, 128)), Probe(Range(0, 129)), {kGetPod, kPutStatus}, kPeriodic, ""}},
  };
}

std::vector<PodCase> PodCases() {
  const Mode delayed = Mode::kWaitForFirstConsumer;
  const Nodes both = {kWorker, kWorker2};
  const NodeId none;
  const std::string missing = "pod claim my-pod-claim: resourceclass \"mock-class\" not found";
  const std::string failed = "done 0, requeue 0, periodic 0, failed 1";
  const std::string done = "done 1, requeue 0, periodic 0, failed 0";
  Texts allocate = Probe(both);
  allocate.push_back("Allocate claim=my-pod-claim on 4");
  std::vector<PodCase> cases = {
      {"pod-nop", delayed, false, false, {}, kWorker, {}, {nullptr, {}, {kGetPod}, kPeriodic, ""}},
      {"pod-immediate",
       Mode::kImmediate,
       true,
       false,
       {},
       kWorker,
       {},
       {nullptr, {}, {kGetPod}, kPeriodic, ""}},
      {"pod-delayed-no-nodes", delayed, true, true, {}, none, {}, {nullptr, {}, {}, done, ""}},
      {"pod-delayed-info",
       delayed,
       true,
       true,
       both,
       none,
       {kWorker2},
       {Lists({kWorker2}), Probe(both), {kGetPod, kPutStatus}, kPeriodic, ""}},
      {"pod-delayed-missing-class",
       delayed,
       true,
       false,
       both,
       kWorker,
       {},
       {nullptr, {}, {kGetPod}, failed, missing}},
      {"pod-delayed-allocate",
       delayed,
       true,
       true,
       both,
       kWorker,
       {kWorker2},
       {Allocates,
        allocate,
        {kGetPod, "PUT resourceclaims claim 200", "PUT resourceclaims/status claim 200",
         kPutStatus},
        kPeriodic,
        ""}},
  };
  for (PodCase& one : SelectedNodeCases()) cases.push_back(std::move(one));
  return cases;
}

class UpstreamControllerCases : public testing::TestWithParam<PodCase> {};

TEST_P(UpstreamControllerCases, OneSync) {
  const PodCase& test = GetParam();
  WorldOptions options;
  options.watch = 1e6;  // the controller gets no events
  World world(options);
  world.Start();
  if (test.classes) {
    world.client().Remember(world.AddClass("mock-class", "mock-driver"));
    world.client().Remember(world.AddClass("other-class", "other-driver"));
  }
  if (test.claim) {
    world.client().Remember(world.AddClaim(world.ClaimOf("claim", "mock-class", test.mode)));
  }
  const Ref<Pod> pod = test.claim ? world.AddPod({{"my-pod-claim", "claim"}}) : world.AddPod({});
  const auto context = world.AddContext(*pod, test.potential, test.selected);
  world.client().Remember(context);
  world.driver.unsuitable["my-pod-claim"] = test.unsuitable;
  const Objects before = world.Snapshot();
  world.controller().Queue(DriverController::ContextKey(context->meta.uid));
  Verify(world, before, test.want);
}

INSTANTIATE_TEST_SUITE_P(, UpstreamControllerCases, testing::ValuesIn(PodCases()),
                         [](const auto& param) {
                           return absl::StrReplaceAll(param.param.name, {{"-", "_"}});
                         });

// Upstream's invalid key is a name that is none. Keys are numbers here, and a number of nothing is
// as good as not-found: done, and forgotten.
TEST(UpstreamControllerKeys, invalid_key) {
  World world;
  world.Start();
  for (const Uid uid : {Uid{0}, Uid{123'456}}) {
    world.controller().Queue(DriverController::ClaimKey(uid));
    world.controller().Queue(DriverController::ContextKey(uid));
  }
  Want want;
  want.outcomes = "done 4, requeue 0, periodic 0, failed 0";
  Verify(world, Objects(), want);
  EXPECT_TRUE(world.controller().idle());
}

}  // namespace controller

}  // namespace upstream_cases_test
}  // namespace drasim
