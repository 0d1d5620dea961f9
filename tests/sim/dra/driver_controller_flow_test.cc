// What a sync does beyond upstream's cases: batches, refused writes, lists of nodes, which claims
// of a pod count, parameters, releases.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "sim/dra/api_network.h"
#include "sim/dra/api_types.h"
#include "sim/dra/dra_release.h"
#include "sim/dra/driver_controller.h"
#include "tests/sim/dra/driver_controller_world.h"

namespace drasim {
namespace driver_controller_flow_test {

using driver_controller_testing::kWorker;
using driver_controller_testing::kWorker2;
using driver_controller_testing::Nodes;
using driver_controller_testing::Objects;
using driver_controller_testing::Texts;
using driver_controller_testing::Verify;
using driver_controller_testing::Want;
using driver_controller_testing::World;
using driver_controller_testing::WorldOptions;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const absl::Status kNoRoom = absl::ResourceExhaustedError("no room");

WorldOptions OfRelease(DraRelease release) {
  WorldOptions options;
  options.controller.behaviour.release = release;
  return options;
}
WorldOptions NotStrict() {
  WorldOptions options;
  options.controller.behaviour.strict_upstream = false;
  return options;
}

// A pod with delayed claims "a", "b", ... of entries "A", "B", ...; node 4 selected.
struct Scene {
  Ref<ResourceClass> resource_class;
  std::vector<Ref<ResourceClaim>> claims;
  Ref<Pod> pod;
  Ref<PodSchedulingContext> context;
};
Scene MakeScene(World& world, const std::string& claims, const Nodes& potential = {kWorker},
                NodeId selected = kWorker) {
  Scene scene;
  scene.resource_class = world.AddClass("mock-class", "mock-driver");
  std::vector<std::pair<std::string, std::string>> entries;
  for (const char letter : claims) {
    const std::string name(1, letter);
    scene.claims.push_back(world.AddClaim(world.ClaimOf(name)));
    entries.emplace_back(std::string(1, static_cast<char>(letter - 'a' + 'A')), name);
  }
  scene.pod = world.AddPod(entries);
  scene.context = world.AddContext(*scene.pod, potential, selected);
  return scene;
}

void Reserve(World& world, const Scene& scene, ResourceClaim* claim) {
  world.Allocated(kWorker, claim);
  world.Reserved(*scene.pod, claim);
}
void Listed(World& world, absl::string_view entry, const Nodes& nodes, Objects* objects) {
  objects->contexts[0].claims.push_back({world.N(entry), nodes});
}
ResourceClaim Now(World& world, const Ref<ResourceClaim>& claim) {
  const Ref<ResourceClaim> now =
      world.network().server().objects().of<ResourceClaim>().Find(claim->meta.uid);
  return now == nullptr ? ResourceClaim() : *now;
}

// --- Batches. ---

TEST(DriverControllerFlowTest, AllClaimsOfThePodInOneCall) {
  World world;
  const Scene scene = MakeScene(world, "ab");
  const Objects before = world.Snapshot();
  world.Start();
  Want want;
  want.driver_calls = {"UnsuitableNodes a=A,b=B of 4", "Allocate a=A,b=B on 4"};
  want.messages = {"GET pods pod 200",
                   "PUT resourceclaims a 200",
                   "PUT resourceclaims b 200",
                   "PUT resourceclaims/status a 200",
                   "PUT resourceclaims/status b 200",
                   "PUT podschedulingcontexts/status pod 200"};
  want.outcomes = "done 2, requeue 0, periodic 1, failed 0";
  want.change = [&scene](World& w, Objects* objects) {
    for (ResourceClaim& claim : objects->claims) Reserve(w, scene, &claim);
    Listed(w, "A", {}, objects);
    Listed(w, "B", {}, objects);
  };
  Verify(world, before, want);
}

TEST(DriverControllerFlowTest, Until127EachClaimByItself) {
  World world(OfRelease(DraRelease::k27));
  const Scene scene = MakeScene(world, "abc");
  world.driver.allocate_errors["b"] = kNoRoom;
  const Objects before = world.Snapshot();
  world.Start();
  Want want;
  want.driver_calls = {"UnsuitableNodes a=A,b=B,c=C of 4", "Allocate a=A on 4",
                       "Allocate b=B on 4"};
  want.messages = {"GET pods pod 200", "PUT resourceclaims a 200",
                   "PUT resourceclaims/status a 200", "PUT resourceclaims b 200"};
  want.outcomes = "done 3, requeue 0, periodic 0, failed 1";
  want.error = "claim b: no room";
  want.change = [&scene](World& w, Objects* objects) {
    Reserve(w, scene, &objects->claims[0]);
    objects->claims[1].meta.finalizers.push_back(w.Finalizer());
  };
  Verify(world, before, want);
}

TEST(DriverControllerFlowTest, ReservationCanBeSwitchedOff) {
  WorldOptions options;
  options.controller.set_reserved_for = false;
  World world(options);
  const Scene scene = MakeScene(world, "a");
  world.Start();
  EXPECT_NE(Now(world, scene.claims[0]).status.allocation, nullptr);
  EXPECT_TRUE(Now(world, scene.claims[0]).status.reserved_for.empty());
}

TEST(DriverControllerFlowTest, ErrorsAreJoinedAndTheContextIsNotWritten) {
  World world;
  const Scene scene = MakeScene(world, "abc");
  world.driver.allocate_errors["a"] = kNoRoom;
  world.driver.allocate_errors["c"] = absl::InternalError("");
  const Objects before = world.Snapshot();
  world.Start();
  Want want;
  want.driver_calls = {"UnsuitableNodes a=A,b=B,c=C of 4", "Allocate a=A,b=B,c=C on 4"};
  want.messages = {"GET pods pod 200", "PUT resourceclaims a 200", "PUT resourceclaims b 200",
                   "PUT resourceclaims c 200", "PUT resourceclaims/status b 200"};
  want.outcomes = "done 3, requeue 0, periodic 0, failed 1";
  want.error = "claim a: no room; claim c: the driver gives no reason";
  want.change = [&scene](World& w, Objects* objects) {
    for (ResourceClaim& claim : objects->claims) claim.meta.finalizers.push_back(w.Finalizer());
    Reserve(w, scene, &objects->claims[1]);
  };
  Verify(world, before, want);
}

TEST(DriverControllerFlowTest, ADriverThatGivesNothingHasFailed) {
  World world;
  const Scene scene = MakeScene(world, "a");
  world.driver.gives_null = true;
  world.Start();
  EXPECT_EQ(world.controller().last_result().error, "claim a: the driver gave no allocation");
  EXPECT_EQ(Now(world, scene.claims[0]).status.allocation, nullptr);
}

TEST(DriverControllerFlowTest, ARefusedFinalizerKeepsOutOnlyItsClaim) {
  World world;
  const Scene scene = MakeScene(world, "ab");
  world.Connect();
  // The cache does not know of it.
  world.Change<ResourceClaim>(Verb::kUpdate, *scene.claims[0],
                              [](ResourceClaim* claim) { claim->labels.emplace_back("k", "v"); });
  const Objects before = world.Snapshot();
  world.Start();
  Want want;
  want.driver_calls = {"UnsuitableNodes a=A,b=B of 4", "Allocate b=B on 4"};
  want.messages = {"GET pods pod 200", "PUT resourceclaims a 409", "PUT resourceclaims b 200",
                   "PUT resourceclaims/status b 200"};
  want.outcomes = "done 2, requeue 0, periodic 0, failed 1";
  want.error = absl::StrCat(
      "claim a: add finalizer: resourceclaims \"default/a\": it is at version ",
      Now(world, scene.claims[0]).meta.version, ", not ", scene.claims[0]->meta.version);
  want.change = [&scene](World& w, Objects* objects) { Reserve(w, scene, &objects->claims[1]); };
  Verify(world, before, want);
  // With fresh caches the retry has only the other left to do.
  world.RunTo(10);
  EXPECT_THAT(world.driver.TakeCalls(),
              ElementsAre("UnsuitableNodes a=A of 4", "Allocate a=A on 4"));
  EXPECT_EQ(world.Outcomes(), "done 5, requeue 0, periodic 2, failed 1");
}

// Nobody asks the driver for nothing.
TEST(DriverControllerFlowTest, NoCallWhenAllFinalizersAreRefused) {
  World world;
  const Scene scene = MakeScene(world, "a");
  world.Connect();
  world.Change<ResourceClaim>(Verb::kUpdate, *scene.claims[0],
                              [](ResourceClaim* claim) { claim->labels.emplace_back("k", "v"); });
  world.Start();
  EXPECT_THAT(world.driver.TakeCalls(), ElementsAre("UnsuitableNodes a=A of 4"));
}

// --- Which nodes. ---

TEST(DriverControllerFlowTest, TheSelectedNodeIsProbedToo) {
  for (const DraRelease release : {DraRelease::k28, DraRelease::k29}) {
    World world(OfRelease(release));
    MakeScene(world, "a", {NodeId(uint32_t{2}), kWorker2}, kWorker);
    world.driver.unsuitable["A"] = {kWorker};
    world.Start();
    const bool probed = release == DraRelease::k29;
    EXPECT_THAT(world.driver.TakeCalls(),
                Contains(absl::StrCat("UnsuitableNodes a=A of 2 ", probed ? "4 " : "", "9")));
  }
}

// From 1.29 the scheduler does not do that; before, it is how a pod gets stuck.
TEST(DriverControllerFlowTest, WithoutPotentialNodesNobodyIsAsked) {
  World world;
  MakeScene(world, "a", {}, kWorker);
  world.driver.allocate_errors["a"] = kNoRoom;
  world.Start();
  EXPECT_THAT(world.driver.TakeCalls(), ElementsAre("Allocate a=A on 4"));
  EXPECT_EQ(world.controller().last_result().error, "claim a: no room");
  world.driver.allocate_errors.clear();
  world.RunTo(5);
  const Objects now = world.Snapshot();
  ASSERT_EQ(now.contexts[0].claims.size(), 1u);
  EXPECT_THAT(now.contexts[0].claims[0].unsuitable, IsEmpty());
}

TEST(DriverControllerFlowTest, OneClaimThatDislikesTheNodeKeepsAllFromBeingAllocated) {
  World world;
  MakeScene(world, "ab");
  world.driver.unsuitable["B"] = {kWorker};
  const Objects before = world.Snapshot();
  world.Start();
  Want want;
  want.driver_calls = {"UnsuitableNodes a=A,b=B of 4"};
  want.messages = {"GET pods pod 200", "PUT podschedulingcontexts/status pod 200"};
  want.outcomes = "done 2, requeue 0, periodic 1, failed 0";
  want.change = [](World& w, Objects* objects) {
    Listed(w, "A", {}, objects);
    Listed(w, "B", {kWorker}, objects);
  };
  Verify(world, before, want);
}

TEST(DriverControllerFlowTest, OnlyItsOwnEntriesThatDifferAreWritten) {
  World world;
  const Scene scene = MakeScene(world, "ab", {kWorker, kWorker2}, NodeId());
  PodSchedulingContext full = *scene.context;
  full.claims = {{world.N("of another driver"), {kWorker}}, {world.N("B"), {kWorker}}};
  world.Send(Verb::kUpdateStatus, full);
  world.driver.unsuitable["B"] = {kWorker2};
  world.Start();
  const Objects now = world.Snapshot();
  const std::vector<PodSchedulingContext::ClaimNodes> wanted = {
      {world.N("of another driver"), {kWorker}}, {world.N("B"), {kWorker2}}, {world.N("A"), {}}};
  EXPECT_TRUE(now.contexts[0].claims == wanted) << driver_controller_testing::ObjectsText(now);
  // The own write is an event; nothing is left to write.
  world.TakeMessages();
  world.RunTo(0);
  EXPECT_THAT(world.TakeMessages(), ElementsAre("GET pods pod 200"));
}

// Upstream compares with what it has before cutting it.
TEST(DriverControllerFlowTest, AListTooLongIsWrittenEveryTimeByUpstreamOnly) {
  for (const bool strict : {true, false}) {
    World world(strict ? WorldOptions() : NotStrict());
    Nodes potential;
    for (uint32_t node = 10; node < 10 + kMaxNodesInContext; ++node) {
      potential.push_back(NodeId(node));
    }
    MakeScene(world, "a", potential, kWorker);
    world.driver.unsuitable["A"] = potential;
    world.driver.unsuitable["A"].insert(world.driver.unsuitable["A"].begin(), kWorker);
    world.Start();
    world.RunTo(0);
    world.TakeMessages();
    world.RunTo(30'000);
    const Texts messages = world.TakeMessages();
    const Texts wanted = {"GET pods pod 200", "PUT podschedulingcontexts/status pod 200"};
    EXPECT_EQ(messages, Texts(wanted.begin(), wanted.end() - (strict ? 0 : 1)));
  }
}

// --- Pods and their claims. ---

TEST(DriverControllerFlowTest, PodsThatAreNoLongerToBeServed) {
  World gone;
  const Scene scene = MakeScene(gone, "a");
  gone.Delete(*scene.pod);
  gone.Start();
  EXPECT_EQ(gone.controller().last_result().error, "pods \"default/pod\": not found");
  // Another pod with its name, while the context is still the old one's.
  gone.AddPod({{"A", "a"}});
  gone.driver.TakeCalls();
  gone.RunTo(5);
  EXPECT_EQ(gone.Outcomes(), "done 2, requeue 0, periodic 0, failed 1");

  World deleting;
  Pod held = *MakeScene(deleting, "a").pod;
  held.meta.finalizers.push_back(deleting.N("x"));
  deleting.Delete(*deleting.Send(Verb::kUpdate, held));
  deleting.Start();
  EXPECT_EQ(deleting.Outcomes(), "done 2, requeue 0, periodic 0, failed 0");

  World context_deleting;
  PodSchedulingContext context = *MakeScene(context_deleting, "a").context;
  context.meta.finalizers.push_back(context_deleting.N("x"));
  context_deleting.Delete(*context_deleting.Send(Verb::kUpdate, context));
  context_deleting.Start();
  EXPECT_EQ(context_deleting.Outcomes(), "done 2, requeue 0, periodic 0, failed 0");
  EXPECT_THAT(context_deleting.TakeMessages(), IsEmpty());
}

TEST(DriverControllerFlowTest, ClaimsThatAreNotPendingArePassedOver) {
  World world;
  world.AddClass("other-class", "other-driver");
  const Scene scene = MakeScene(world, "");
  ResourceClaim allocated = world.ClaimOf("allocated");
  world.Allocated(kWorker2, &allocated);
  world.AddClaim(allocated);
  ResourceClaim deleting = world.ClaimOf("deleting");
  deleting.meta.finalizers.push_back(world.N("x"));
  world.Delete(*world.AddClaim(deleting));
  world.AddClaim(world.ClaimOf("foreign", "other-class"));
  world.AddClaim(world.ClaimOf("pending"));
  const Ref<Pod> pod = world.AddPod(
      {{"A", "allocated"}, {"D", "deleting"}, {"F", "foreign"}, {"M", "missing"}, {"P", "pending"}},
      "other");
  world.AddContext(*pod, {kWorker}, NodeId());
  world.Start();
  EXPECT_THAT(world.driver.TakeCalls(), ElementsAre("UnsuitableNodes pending=P of 4"));
}

TEST(DriverControllerFlowTest, AMissingClaimIsAnErrorUnlessUpstreamsQuirksAreKept) {
  World strict;
  const Scene scene = MakeScene(strict, "");
  strict.AddContext(*strict.AddPod({{"A", "a"}}, "other"), {kWorker}, NodeId());
  strict.Start();
  EXPECT_EQ(strict.Outcomes(), "done 0, requeue 0, periodic 2, failed 0");

  World world(NotStrict());
  world.AddContext(*world.AddPod({{"A", "a"}}), {kWorker}, NodeId());
  world.Start();
  EXPECT_EQ(world.controller().last_result().error, "pod claim A: resourceclaim \"a\" not found");
}

TEST(DriverControllerFlowTest, ClaimsFromTemplates) {
  for (const DraRelease release : {DraRelease::k27, DraRelease::k28}) {
    World world(OfRelease(release));
    world.AddClass("mock-class", "mock-driver");
    const bool in_status = release == DraRelease::k28;
    Pod made;
    made.meta.ns = world.N("default");
    made.meta.name = world.N("pod");
    PodClaim entry;
    entry.entry = world.N("A");
    entry.from_template = world.N("template");
    made.claims.push_back(entry);
    Ref<Pod> pod = world.Send(Verb::kCreate, made);
    const Ref<PodSchedulingContext> context = world.AddContext(*pod, {kWorker}, kWorker);
    ResourceClaim foreign = world.ClaimOf("pod-A");
    foreign.meta.owner = 1;
    const Ref<ResourceClaim> claim = world.AddClaim(foreign);
    world.Start();
    if (in_status) {
      EXPECT_EQ(world.controller().last_result().error,
                "pod claim A: its claim has not been created yet");
      world.Change<Pod>(Verb::kUpdateStatus, *pod, [&world](Pod* next) {
        next->claim_names.push_back({world.N("A"), world.N("pod-A")});
      });
      world.controller().Queue(DriverController::ContextKey(context->meta.uid));
    }
    EXPECT_EQ(world.controller().last_result().error,
              "pod claim A: resourceclaim \"pod-A\" is not the pod's own");
    world.Change<ResourceClaim>(Verb::kUpdate, *claim,
                                [&pod](ResourceClaim* next) { next->meta.owner = pod->meta.uid; });
    world.RunTo(20);
    EXPECT_THAT(world.driver.TakeCalls(), Contains("Allocate pod-A=A on 4"));
  }
}

// --- Parameters. ---

class DriverControllerParametersTest : public ::testing::Test {
 protected:
  void Make(absl::string_view ns, absl::string_view name, absl::string_view kind = "Config") {
    ParametersObject object;
    object.meta.ns = world_.N(ns);
    object.meta.name = world_.N(name);
    object.kind = world_.N(kind);
    world_.Send(Verb::kCreate, object);
  }
  ParametersRef Ref(absl::string_view ns, absl::string_view name) {
    return {Name(), world_.N("Config"), world_.N(ns), world_.N(name)};
  }
  // An Immediate claim whose class and own parameters are referred to.
  void Start() {
    ResourceClass resource_class;
    resource_class.meta.name = world_.N("mock-class");
    resource_class.driver = world_.N("mock-driver");
    resource_class.parameters = Ref("system", "common");
    world_.Send(Verb::kCreate, resource_class);
    ResourceClaim claim = world_.ClaimOf("claim", "mock-class", AllocationMode::kImmediate);
    claim.spec.parameters = Ref("", "mine");
    world_.AddClaim(claim);
    world_.driver.verbose = true;
    world_.Start();
  }
  const std::string& error() { return world_.controller().last_result().error; }

  World world_;
};

TEST_F(DriverControllerParametersTest, AreReadFirstTheClasssThenTheClaims) {
  Make("system", "common");
  Make("default", "mine");
  Start();
  EXPECT_THAT(world_.TakeMessages(),
              ElementsAre("GET parameters common 200", "GET parameters mine 200",
                          "PUT resourceclaims claim 200", "PUT resourceclaims/status claim 200"));
  EXPECT_THAT(world_.driver.TakeCalls(),
              ElementsAre("0 ms: CheckParameters claim class:common claim:mine",
                          "0 ms: Allocate claim class:common claim:mine on -"));
}

TEST_F(DriverControllerParametersTest, ThatAreMissingOrOfAnotherKindAreErrors) {
  Make("default", "common");  // in the wrong namespace
  Start();
  EXPECT_EQ(error(), "class parameters Config \"common\": parameters \"system/common\": not found");
  Make("system", "common");
  Make("default", "mine", "Other");
  world_.RunTo(5);
  EXPECT_EQ(error(), "claim parameters Config \"mine\": an object of another kind");
  EXPECT_THAT(world_.driver.TakeCalls(), IsEmpty());
}

TEST_F(DriverControllerParametersTest, ThatTheDriverCannotReadAreErrors) {
  Make("system", "common");
  Make("default", "mine");
  world_.driver.parameter_errors["claim"] = absl::InvalidArgumentError("bad count");
  Start();
  EXPECT_EQ(error(), "bad count");
  world_.AddClaim(world_.ClaimOf("delayed"));
  world_.AddContext(*world_.AddPod({{"A", "delayed"}}), {kWorker}, kWorker);
  world_.driver.parameter_errors["delayed"] = absl::InvalidArgumentError("no count");
  world_.RunTo(4);
  EXPECT_EQ(error(), "pod claim A: no count");
}

}  // namespace driver_controller_flow_test
}  // namespace drasim
