// One sync at a time, then many, then random ones. First come the cases of TestController of
// k8s.io/dynamic-resource-allocation v0.29.0 (controller/controller_test.go), by upstream's names:
// all objects, the driver's calls, the API calls and the outcome are compared.
#include "sim/dra/classic/driver_controller.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "model/time.h"
#include "policies/devices/counting_driver.h"
#include "sim/dra/api/api_network.h"
#include "sim/dra/api/api_types.h"
#include "sim/dra/api/dra_release.h"
#include "tests/sim/dra/classic/component_rig.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace driver_controller_test {

using driver_controller_testing::kWorker;
using driver_controller_testing::kWorker2;
using driver_controller_testing::Nodes;
using driver_controller_testing::Objects;
using driver_controller_testing::ObjectsText;
using driver_controller_testing::Texts;
using driver_controller_testing::Verify;
using driver_controller_testing::Want;
using driver_controller_testing::World;
using driver_controller_testing::WorldOptions;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr AllocationMode kImmediate = AllocationMode::kImmediate;
constexpr AllocationMode kDelayed = AllocationMode::kWaitForFirstConsumer;
const absl::Status kFakeError = absl::InternalError("fake error");

constexpr char kPutClaim[] = "PUT resourceclaims claim 200";
constexpr char kPutClaimStatus[] = "PUT resourceclaims/status claim 200";
constexpr char kPutContextStatus[] = "PUT podschedulingcontexts/status pod 200";
constexpr char kGetPod[] = "GET pods pod 200";

// The classes of all cases but where they are missing.
void AddClasses(World& world) {
  world.AddClass("mock-class", "mock-driver");
  world.AddClass("other-class", "other-driver");
}

// --- Syncs of a claim. ---

// One claim on the server, then one sync of it.
struct ClaimCase {
  const char* name;
  std::function<void(World&, ResourceClaim*)> claim;
  bool deleted = false;
  absl::Status deallocate;
  absl::Status allocate;
  Want want;
};

Want Nothing() {
  Want want;
  want.outcomes = "done 1, requeue 0, periodic 0, failed 0";
  return want;
}
Want Failure(Texts driver_calls, std::string error) {
  Want want;
  want.driver_calls = std::move(driver_calls);
  want.error = std::move(error);
  want.outcomes = "done 0, requeue 0, periodic 0, failed 1";
  return want;
}
Want Success(Texts driver_calls, Texts messages, std::function<void(World&, Objects*)> change) {
  Want want = Nothing();
  want.driver_calls = std::move(driver_calls);
  want.messages = std::move(messages);
  want.change = std::move(change);
  return want;
}

void WithFinalizer(World& world, ResourceClaim* claim) {
  claim->meta.finalizers.push_back(world.Finalizer());
}
void WithOtherFinalizer(World& world, ResourceClaim* claim) {
  claim->meta.finalizers.push_back(world.N("other-driver/deletion-protection"));
}
void WithAllocation(World& world, ResourceClaim* claim) { world.Allocated(NodeId(), claim); }
void WithRequest(World& world, ResourceClaim* claim) {
  world.Allocated(NodeId(), claim);
  claim->status.deallocation_requested = true;
}

// Outcomes of a claim case.
void Gone(World&, Objects* objects) { objects->claims.clear(); }
void Fresh(World&, Objects* objects) {
  objects->claims[0].meta.finalizers.clear();
  objects->claims[0].status = ResourceClaimStatus();
}
void Allocated(World& world, Objects* objects) { world.Allocated(NodeId(), &objects->claims[0]); }

void RunClaimCase(const std::string& name, AllocationMode mode, const ClaimCase& test) {
  SCOPED_TRACE(name);
  World world;
  AddClasses(world);
  ResourceClaim claim = world.ClaimOf("claim", "mock-class", mode);
  if (test.claim) test.claim(world, &claim);
  const Ref<ResourceClaim> added = world.AddClaim(claim);
  ASSERT_EQ(added->meta.uid, 3u);  // the cases name it
  if (test.deleted) world.Delete(*added);
  world.driver.deallocate_error = test.deallocate;
  if (!test.allocate.ok()) world.driver.allocate_errors["claim"] = test.allocate;
  const Objects before = world.Snapshot();
  ASSERT_EQ(before.claims.size(), 1u);
  world.Start();
  Verify(world, before, test.want);
}

// Upstream has them twice, with "immediate-" and "delayed-".
std::vector<ClaimCase> DeletedCases() {
  return {
      {"deleted-finalizer-removal", WithFinalizer, true, absl::OkStatus(), absl::OkStatus(),
       Success({"Deallocate 3"}, {kPutClaim}, Gone)},
      {"deleted-finalizer-stop-failure", WithFinalizer, true, kFakeError, absl::OkStatus(),
       Failure({"Deallocate 3"}, "stop allocation: fake error")},
      {"deleted-finalizer-no-removal", WithOtherFinalizer, true, absl::OkStatus(), absl::OkStatus(),
       Nothing()},
      {"deleted-allocated", WithAllocation, true, absl::OkStatus(), absl::OkStatus(),
       Success({"Deallocate 3"}, {kPutClaimStatus, kPutClaim}, Gone)},
      {"deleted-deallocate-failure", WithAllocation, true, kFakeError, absl::OkStatus(),
       Failure({"Deallocate 3"}, "deallocate: fake error")},
  };
}

TEST(DriverControllerTest, UpstreamDeletedClaims) {
  for (const ClaimCase& test : DeletedCases()) {
    RunClaimCase(absl::StrCat("immediate-", test.name), kImmediate, test);
    RunClaimCase(absl::StrCat("delayed-", test.name), kDelayed, test);
  }
}

// immediate-deleted-no-finalizer, delayed-deleted-no-finalizer: the server has no such claim any
// more, but a cache may.
TEST(DriverControllerTest, UpstreamDeletedNoFinalizer) {
  for (const AllocationMode mode : {kImmediate, kDelayed}) {
    World world;
    AddClasses(world);
    world.Connect();
    auto claim = std::make_shared<ResourceClaim>(world.ClaimOf("claim", "mock-class", mode));
    claim->meta.uid = 3;
    claim->meta.version = 3;
    claim->meta.deleting = true;
    world.client().Remember(Ref<ResourceClaim>(claim));
    world.Start();
    Verify(world, Objects(), Nothing());
  }
}

TEST(DriverControllerTest, UpstreamImmediateClaims) {
  const Texts allocate = {"Allocate claim on -"};
  const Texts deallocate = {"Deallocate 3"};
  const absl::Status ok;
  const std::vector<ClaimCase> cases = {
      {"immediate-do-allocation", nullptr, false, ok, ok,
       Success(allocate, {kPutClaim, kPutClaimStatus}, Allocated)},
      {"immediate-continue-allocation", WithFinalizer, false, ok, ok,
       Success(allocate, {kPutClaimStatus}, Allocated)},
      {"immediate-fail-allocation", WithFinalizer, false, ok, kFakeError,
       Failure(allocate, "allocate: fake error")},
      {"immediate-allocated-nop", WithAllocation, false, ok, ok, Nothing()},
      {"immediate-allocated-reallocate", WithRequest, false, ok, ok,
       Success(deallocate, {kPutClaimStatus, kPutClaim}, Fresh)},
      {"immediate-allocated-fail-deallocation-during-reallocate", WithRequest, false, kFakeError,
       ok, Failure(deallocate, "deallocate: fake error")},
  };
  for (const ClaimCase& test : cases) RunClaimCase(test.name, kImmediate, test);
}

TEST(DriverControllerTest, UpstreamDelayedPending) {
  RunClaimCase("delayed-pending", kDelayed,
               {"", nullptr, false, absl::OkStatus(), absl::OkStatus(), Nothing()});
}

// invalid-key, not-found. Keys are numbers: an invalid one is that of nothing that ever was.
TEST(DriverControllerTest, UpstreamKeysOfNothing) {
  World world;
  AddClasses(world);
  world.Start();
  const Ref<ResourceClaim> claim = world.AddClaim(world.ClaimOf("claim", "mock-class", kImmediate));
  const Ref<Pod> pod = world.AddPod({{"my-pod-claim", "claim"}});
  const Ref<PodSchedulingContext> context = world.AddContext(*pod, {kWorker}, kWorker);
  world.Delete(*claim);
  world.Delete(*context);
  for (const WorkQueue::Key key :
       {DriverController::ClaimKey(1000), DriverController::ContextKey(1000),
        DriverController::ClaimKey(claim->meta.uid),
        DriverController::ContextKey(context->meta.uid)}) {
    world.controller().Queue(key);
  }
  Want want;
  want.outcomes = "done 4, requeue 0, periodic 0, failed 0";
  Verify(world, Objects(), want);
}

TEST(DriverControllerTest, UpstreamWrongDriver) {
  World world;
  AddClasses(world);
  world.AddClaim(world.ClaimOf("claim", "other-class", kImmediate));
  const Objects before = world.Snapshot();
  world.Start();
  Want want;
  want.outcomes = "done 0, requeue 1, periodic 0, failed 0";
  Verify(world, before, want);
}

// --- Syncs of a context. ---

struct PodCase {
  const char* name;
  AllocationMode mode = kDelayed;
  bool claim = true;
  bool classes = true;
  Nodes potential;
  NodeId selected;
  Nodes unsuitable;  // answers of the driver
  Want want;
};

// The claim's own sync comes first: a delayed one has nothing to do.
Want PodWant(absl::string_view outcomes, Texts driver_calls, Texts messages,
             std::function<void(World&, Objects*)> change = nullptr) {
  Want want;
  want.outcomes = std::string(outcomes);
  want.driver_calls = std::move(driver_calls);
  want.messages = std::move(messages);
  want.change = std::move(change);
  return want;
}

void RunPodCase(const PodCase& test) {
  SCOPED_TRACE(test.name);
  World world;
  if (test.classes) AddClasses(world);
  if (test.claim) world.AddClaim(world.ClaimOf("claim", "mock-class", test.mode));
  const Ref<Pod> pod = test.claim ? world.AddPod({{"my-pod-claim", "claim"}}) : world.AddPod({});
  world.AddContext(*pod, test.potential, test.selected);
  world.driver.unsuitable["my-pod-claim"] = test.unsuitable;
  // An Immediate claim is its own sync's business; here that fails.
  if (test.mode == kImmediate) world.driver.allocate_errors["claim"] = kFakeError;
  const Objects before = world.Snapshot();
  world.Start();
  Verify(world, before, test.want);
}

std::function<void(World&, Objects*)> Unsuitable(const Nodes& nodes) {
  return [nodes](World& world, Objects* objects) {
    objects->contexts[0].claims.push_back({world.N("my-pod-claim"), nodes});
  };
}

constexpr char kPeriodic[] = "done 1, requeue 0, periodic 1, failed 0";

TEST(DriverControllerTest, UpstreamPods) {
  PodCase nop = {"pod-nop", kDelayed, false, true, {}, kWorker, {}, Want()};
  nop.want = PodWant("done 0, requeue 0, periodic 1, failed 0", {}, {kGetPod});
  RunPodCase(nop);

  PodCase immediate = {"pod-immediate", kImmediate, true, true, {}, kWorker, {}, Want()};
  immediate.want = PodWant("done 0, requeue 0, periodic 1, failed 1", {"Allocate claim on -"},
                           {kPutClaim, kGetPod}, [](World& world, Objects* objects) {
                             objects->claims[0].meta.finalizers.push_back(world.Finalizer());
                           });
  RunPodCase(immediate);

  PodCase no_nodes = {"pod-delayed-no-nodes", kDelayed, true, true, {}, NodeId(), {}, Want()};
  no_nodes.want = PodWant("done 2, requeue 0, periodic 0, failed 0", {}, {});
  RunPodCase(no_nodes);

  const Nodes potential = {kWorker, kWorker2};
  const Texts probe = {"UnsuitableNodes claim=my-pod-claim of 4 9"};
  PodCase info = {"pod-delayed-info", kDelayed, true,       true,
                  potential,          NodeId(), {kWorker2}, Want()};
  info.want = PodWant(kPeriodic, probe, {kGetPod, kPutContextStatus}, Unsuitable({kWorker2}));
  RunPodCase(info);

  PodCase missing = {
      "pod-delayed-missing-class", kDelayed, true, false, potential, kWorker, {}, Want()};
  missing.want = PodWant("done 1, requeue 0, periodic 0, failed 1", {}, {kGetPod});
  missing.want.error = "pod claim my-pod-claim: resourceclass \"mock-class\" not found";
  RunPodCase(missing);

  PodCase allocate = {
      "pod-delayed-allocate", kDelayed, true, true, potential, kWorker, {kWorker2}, Want()};
  allocate.want = PodWant(kPeriodic, {probe[0], "Allocate claim=my-pod-claim on 4"},
                          {kGetPod, kPutClaim, kPutClaimStatus, kPutContextStatus},
                          [](World& world, Objects* objects) {
                            world.Allocated(kWorker, &objects->claims[0]);
                            objects->claims[0].status.reserved_for.push_back(
                                {world.N("pods"), world.N("pod"), objects->contexts[0].meta.owner});
                            Unsuitable({kWorker2})(world, objects);
                          });
  RunPodCase(allocate);

  PodCase selected = {"pod-selected-is-potential-node",
                      kDelayed,
                      true,
                      true,
                      potential,
                      kWorker,
                      potential,
                      Want()};
  selected.want = PodWant(kPeriodic, probe, {kGetPod, kPutContextStatus}, Unsuitable(potential));
  RunPodCase(selected);
}

Nodes Range(uint32_t first, uint32_t end) {
  Nodes nodes;
  for (uint32_t node = first; node < end; ++node) nodes.push_back(NodeId(node));
  return nodes;
}

// As many potential nodes as there may be, another one selected, and none suitable: the list is cut
// at the end that does not lose the selected node. Lists are ascending here, so that it depends on
// the number of the selected node.
TEST(DriverControllerTest, UpstreamPodsSelectedNodeIsKept) {
  const auto probe = [](const Nodes& nodes) {
    return Texts{absl::StrCat("UnsuitableNodes claim=my-pod-claim of ",
                              driver_controller_testing::NodesText(nodes))};
  };
  const Nodes all = Range(0, 129);
  PodCase first = {"pod-selected-is-potential-node-truncate-first",
                   kDelayed,
                   true,
                   true,
                   Range(0, 128),
                   NodeId(uint32_t{128}),
                   all,
                   Want()};
  first.want =
      PodWant(kPeriodic, probe(all), {kGetPod, kPutContextStatus}, Unsuitable(Range(1, 129)));
  RunPodCase(first);

  PodCase last = {"pod-selected-is-potential-node-truncate-last",
                  kDelayed,
                  true,
                  true,
                  Range(1, 129),
                  NodeId(uint32_t{0}),
                  all,
                  Want()};
  last.want =
      PodWant(kPeriodic, probe(all), {kGetPod, kPutContextStatus}, Unsuitable(Range(0, 128)));
  RunPodCase(last);
}

// ---- Syncs beyond upstream's cases: batches, refused writes, lists of nodes, claims of a pod that
// count, parameters, releases. ----

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

// ---- Syncs one after another and at the same time: retries, what takes time, own writes,
// restarts, releases that cross allocations. ----

WorldOptions DecidesAfter(double seconds) {
  WorldOptions options;
  options.controller.decision_latency = Distribution::Constant(seconds).value();
  return options;
}

Ref<ResourceClaim> AddImmediate(World& world, absl::string_view name) {
  return world.AddClaim(world.ClaimOf(name, "mock-class", kImmediate));
}
// A pod with the delayed claim "a" of its entry "A".
Ref<PodSchedulingContext> AddPodWithClaim(World& world, const Nodes& potential, NodeId selected) {
  world.AddClaim(world.ClaimOf("a"));
  return world.AddContext(*world.AddPod({{"A", "a"}}), potential, selected);
}
ResourceClaim Now(World& world, absl::string_view claim) {
  const Ref<ResourceClaim> now =
      world.network().server().objects().claim(world.N("default"), world.N(claim));
  return now == nullptr ? ResourceClaim() : *now;
}
size_t Count(const Texts& texts, absl::string_view text) {
  return static_cast<size_t>(std::count(texts.begin(), texts.end(), text));
}

// --- Retries. ---

TEST(DriverControllerTimeTest, FailuresAreRepeatedWithBackoffUntilTheyEnd) {
  World world;
  world.AddClass("mock-class", "mock-driver");
  AddImmediate(world, "a");
  world.driver.verbose = true;
  world.driver.allocate_errors["a"] = kNoRoom;
  world.Start();
  world.RunTo(100);
  const auto allocates = [&world] {
    Texts calls = world.driver.TakeCalls();
    calls.erase(std::remove_if(calls.begin(), calls.end(),
                               [](const auto& call) { return !absl::StrContains(call, "Alloc"); }),
                calls.end());
    return calls;
  };
  // The second try is the event of its finalizer.
  EXPECT_THAT(allocates(),
              ElementsAre("0 ms: Allocate a on -", "0 ms: Allocate a on -", "5 ms: Allocate a on -",
                          "25 ms: Allocate a on -", "65 ms: Allocate a on -"));
  EXPECT_EQ(world.Outcomes(), "done 0, requeue 0, periodic 0, failed 5");
  EXPECT_EQ(world.controller().last_result().error, "allocate: no room");
  EXPECT_TRUE(world.controller().idle());
  world.driver.allocate_errors.clear();
  world.RunTo(200);
  EXPECT_THAT(allocates(), ElementsAre("145 ms: Allocate a on -"));
  // After a success, the back-off begins with 5 ms again.
  ResourceClaim stale = Now(world, "a");
  world.driver.deallocate_error = kNoRoom;
  world.ChangeStatus(stale,
                     [](ResourceClaimStatus* status) { status->deallocation_requested = true; });
  world.RunTo(206);
  EXPECT_THAT(world.driver.TakeCalls(),
              ElementsAre(absl::StrCat("200 ms: Deallocate ", stale.meta.uid),
                          absl::StrCat("205 ms: Deallocate ", stale.meta.uid)));
}

TEST(DriverControllerTimeTest, AClaimOfAnotherDriverIsLookedAtAgain) {
  World world;
  const Ref<ResourceClass> resource_class = world.AddClass("mock-class", "other-driver");
  AddImmediate(world, "a");
  world.Start();
  world.RunTo(4);
  EXPECT_EQ(world.Outcomes(), "done 0, requeue 1, periodic 0, failed 0");
  world.Change<ResourceClass>(Verb::kUpdate, *resource_class, [&world](ResourceClass* next) {
    next->driver = world.N("mock-driver");
  });
  world.RunTo(4);  // the change of a class wakes nobody
  EXPECT_EQ(world.Outcomes(), "done 0, requeue 1, periodic 0, failed 0");
  world.RunTo(5);
  EXPECT_NE(Now(world, "a").status.allocation, nullptr);
}

TEST(DriverControllerTimeTest, ContextsAreLookedAtEvery30Seconds) {
  World world;
  world.AddClass("mock-class", "mock-driver");
  const Ref<PodSchedulingContext> context = AddPodWithClaim(world, {kWorker}, NodeId());
  world.driver.verbose = true;
  world.Start();
  world.RunTo(29'999);
  world.driver.TakeCalls();
  world.driver.unsuitable["A"] = {kWorker};
  world.RunTo(59'999);
  const Texts calls = world.driver.TakeCalls();
  EXPECT_EQ(Count(calls, "30000 ms: UnsuitableNodes a=A of 4"), 2u);  // and the event of its write
  EXPECT_EQ(calls.size(), 4u);                                        // with CheckParameters
  EXPECT_THAT(world.Snapshot().contexts[0].claims[0].unsuitable, ElementsAre(kWorker));

  // Events in between do not leave more chains behind.
  for (int i = 0; i < 5; ++i) {
    world.controller().Queue(DriverController::ContextKey(context->meta.uid));
  }
  world.TakeMessages();
  world.RunTo(149'999);
  EXPECT_EQ(Count(world.TakeMessages(), "GET pods pod 200"), 3u);
  // It ends with the context.
  world.Delete(*context);
  EXPECT_TRUE(world.network().RunToRest(SimTime(200 * kSecondNs)));
  EXPECT_THAT(world.TakeMessages(), IsEmpty());
}

// --- Actions that take time. ---

TEST(DriverControllerTimeTest, ADecisionIsTakenWhenItsTimeIsOver) {
  World world(DecidesAfter(2));
  world.AddClass("mock-class", "mock-driver");
  AddPodWithClaim(world, {kWorker}, kWorker);
  AddImmediate(world, "b");
  world.driver.verbose = true;
  world.Start();
  EXPECT_FALSE(world.controller().idle());
  world.RunTo(5000);
  EXPECT_THAT(world.driver.TakeCalls(),
              ElementsAre("0 ms: CheckParameters b", "0 ms: CheckParameters a=A",
                          "2000 ms: Allocate b on -", "2000 ms: UnsuitableNodes a=A of 4",
                          "4000 ms: Allocate a=A on 4"));
  EXPECT_TRUE(world.controller().idle());
}

TEST(DriverControllerTimeTest, NoMoreSyncsAtATimeThanWorkers) {
  for (const int workers : {1, 2}) {
    WorldOptions options = DecidesAfter(1);
    options.controller.workers = workers;
    World world(options);
    world.AddClass("mock-class", "mock-driver");
    for (const char* name : {"a", "b", "c"}) AddImmediate(world, name);
    world.Start();
    for (int64_t second = 1; second <= 3; ++second) {
      world.RunTo(1000 * second);
      EXPECT_EQ(world.driver.TakeCalls().size(), static_cast<size_t>(workers == 1  ? 1
                                                                     : second == 1 ? 2
                                                                     : second == 2 ? 1
                                                                                   : 0))
          << workers << " workers, second " << second;
    }
  }
}

// With latencies every call is a step of its own; all of it is as without.
TEST(DriverControllerTimeTest, CallsThatTakeTimeLeadToTheSame) {
  WorldOptions slow = DecidesAfter(0.1);
  slow.read = 0.01;
  slow.write = 0.02;
  slow.watch = 0.03;
  std::vector<std::string> left;
  for (const WorldOptions& options : {WorldOptions(), slow}) {
    World world(options);
    world.AddClass("mock-class", "mock-driver");
    AddPodWithClaim(world, {kWorker, kWorker2}, kWorker);
    AddImmediate(world, "b");
    world.Start();
    world.RunTo(1000);
    Texts messages = world.TakeMessages();
    // Reactions to own events depend on when the events come.
    messages.erase(std::remove(messages.begin(), messages.end(), "GET pods pod 200"),
                   messages.end());
    std::sort(messages.begin(), messages.end());
    left.push_back(absl::StrCat(ObjectsText(world.Snapshot()), absl::StrJoin(messages, "\n")));
  }
  EXPECT_EQ(left[0], left[1]);
}

// --- Own writes, and others'. ---

TEST(DriverControllerTimeTest, ItKnowsItsOwnWritesOfClaimsBeforeTheyAreTold) {
  WorldOptions options;
  options.watch = 10;
  World world(options);
  world.AddClass("mock-class", "mock-driver");
  const Ref<PodSchedulingContext> context = AddPodWithClaim(world, {kWorker}, kWorker);
  world.Start();
  world.driver.TakeCalls();
  world.controller().Queue(DriverController::ContextKey(context->meta.uid));
  EXPECT_THAT(world.driver.TakeCalls(), IsEmpty());
  EXPECT_EQ(world.Outcomes(), "done 1, requeue 0, periodic 2, failed 0");
}

// Without upstream's quirks, own writes of contexts are remembered, too.
TEST(DriverControllerTimeTest, UpstreamForgetsItsOwnWritesOfContexts) {
  for (const bool strict : {true, false}) {
    WorldOptions options;
    options.watch = 10;
    options.controller.behaviour.strict_upstream = strict;
    World world(options);
    world.AddClass("mock-class", "mock-driver");
    const Ref<PodSchedulingContext> context = AddPodWithClaim(world, {kWorker}, NodeId());
    world.Start();
    world.driver.unsuitable["A"] = {kWorker};
    world.TakeMessages();
    world.controller().Queue(DriverController::ContextKey(context->meta.uid));
    EXPECT_THAT(
        world.TakeMessages(),
        ElementsAre("GET pods pod 200",
                    absl::StrCat("PUT podschedulingcontexts/status pod ", strict ? 409 : 200)));
    EXPECT_EQ(absl::StartsWith(world.controller().last_result().error, "unsuitable nodes: "),
              strict);
  }
}

TEST(DriverControllerTimeTest, AnAllocationThatCouldNotBeWrittenIsTriedAgain) {
  World world(DecidesAfter(1));
  world.AddClass("mock-class", "mock-driver");
  const Ref<ResourceClaim> claim = AddImmediate(world, "a");
  world.Start();
  world.Change<ResourceClaim>(Verb::kUpdate, *claim,
                              [](ResourceClaim* next) { next->labels.emplace_back("k", "v"); });
  world.RunTo(1000);
  EXPECT_TRUE(absl::StartsWith(world.controller().last_result().error,
                               "allocate: add allocation: resourceclaims \"default/a\": it is at"))
      << world.controller().last_result().error;
  world.RunTo(3000);
  EXPECT_NE(Now(world, "a").status.allocation, nullptr);
  EXPECT_EQ(world.driver.TakeCalls(), Texts(2, "Allocate a on -"));
}

// The labels change on the server while the status is under way, and again while the finalizer is.
TEST(DriverControllerTimeTest, RefusedWritesOfARelease) {
  WorldOptions options;
  options.write = 1;
  World world(options);
  world.AddClass("mock-class", "mock-driver");
  ResourceClaim claim = world.ClaimOf("a");
  world.Allocated(kWorker, &claim);
  claim.status.deallocation_requested = true;
  const Ref<ResourceClaim> added = world.AddClaim(claim);
  world.Start();
  const auto label = [&](absl::string_view text) {
    world.Change<ResourceClaim>(Verb::kUpdate, *added, [text](ResourceClaim* next) {
      next->labels = {{"k", std::string(text)}};
    });
  };
  label("first");
  world.RunTo(1999);  // the event has led to the second try
  EXPECT_EQ(world.Outcomes(), "done 0, requeue 0, periodic 0, failed 1");
  EXPECT_EQ(world.controller().last_result().error,
            absl::StrCat("remove allocation: resourceclaims \"default/a\": it is at version ",
                         Now(world, "a").meta.version, ", not ", added->meta.version));
  world.RunTo(2500);
  EXPECT_TRUE(Now(world, "a").status == ResourceClaimStatus());
  label("second");
  // There is nothing to be released any more: the finalizer stays until the claim is deleted.
  world.RunTo(9000);
  EXPECT_EQ(world.Outcomes(), "done 2, requeue 0, periodic 0, failed 2");
  EXPECT_THAT(world.TakeMessages(),
              ElementsAre("PUT resourceclaims/status a 409", "PUT resourceclaims/status a 200",
                          "PUT resourceclaims a 409"));
  EXPECT_THAT(Now(world, "a").meta.finalizers, ElementsAre(world.Finalizer()));
  const std::string deallocate = absl::StrCat("Deallocate ", added->meta.uid);
  EXPECT_EQ(world.driver.TakeCalls(), Texts(2, deallocate));
  world.Delete(*added);
  world.RunTo(10'000);
  EXPECT_EQ(world.driver.TakeCalls(), Texts(1, deallocate));
  EXPECT_THAT(world.Snapshot().claims, IsEmpty());
}

// --- Releases. ---

TEST(DriverControllerTimeTest, AReservedClaimIsLeftAloneWhileItIsDeleted) {
  World world;
  world.AddClass("mock-class", "mock-driver");
  const Ref<Pod> pod = world.AddPod({});
  ResourceClaim claim = world.ClaimOf("a");
  world.Allocated(kWorker, &claim);
  world.Reserved(*pod, &claim);
  const Ref<ResourceClaim> added = world.AddClaim(claim);
  world.Delete(*added);
  world.Start();
  EXPECT_THAT(world.driver.TakeCalls(), IsEmpty());
  EXPECT_THAT(world.TakeMessages(), IsEmpty());
  world.ChangeStatus(*added, [](ResourceClaimStatus* status) {
    status->reserved_for.clear();
    status->deallocation_requested = true;
  });
  world.RunTo(0);
  EXPECT_THAT(world.driver.TakeCalls(), ElementsAre(absl::StrCat("Deallocate ", added->meta.uid)));
  EXPECT_THAT(world.TakeMessages(),
              ElementsAre("PUT resourceclaims/status a 200", "PUT resourceclaims a 200"));
  EXPECT_THAT(world.Snapshot().claims, IsEmpty());
}

// Deallocate ends an allocation under way: its devices would never come back.
TEST(DriverControllerTimeTest, AReleaseStopsADecisionUnderWay) {
  World world(DecidesAfter(2));
  world.AddClass("mock-class", "mock-driver");
  const Ref<PodSchedulingContext> context = AddPodWithClaim(world, {}, kWorker);
  world.Start();
  world.RunTo(1000);
  world.Delete(Now(world, "a"));
  world.RunTo(1000);
  EXPECT_THAT(world.Snapshot().claims, IsEmpty());
  EXPECT_EQ(world.driver.TakeCalls().size(), 1u);  // Deallocate
  world.RunTo(2000);
  EXPECT_THAT(world.driver.TakeCalls(), IsEmpty());
  EXPECT_EQ(world.controller().last_result().error, "claim a: deallocated meanwhile");
}

TEST(DriverControllerTimeTest, AClaimThatIsGoneHoldsNothingUnlessUpstreamsQuirksAreKept) {
  for (const bool strict : {true, false}) {
    WorldOptions options;
    options.controller.behaviour.strict_upstream = strict;
    World world(options);
    world.Start();
    const Ref<ResourceClaim> claim = world.AddClaim(world.ClaimOf("a"));
    world.Delete(*claim);
    world.RunTo(0);
    EXPECT_EQ(world.driver.TakeCalls(),
              strict ? Texts() : Texts({absl::StrCat("Deallocate ", claim->meta.uid)}));
  }
}

// --- Restarts. ---

TEST(DriverControllerTimeTest, ARestartForgetsWhatWasUnderWayAndListsAnew) {
  World world(DecidesAfter(2));
  world.AddClass("mock-class", "mock-driver");
  ResourceClaim allocated = world.ClaimOf("old");
  world.Allocated(kWorker, &allocated);
  world.AddClaim(allocated);
  allocated.meta.name = world.N("foreign");
  allocated.status.driver = world.N("other-driver");
  world.AddClaim(allocated);
  AddPodWithClaim(world, {}, kWorker);
  world.driver.verbose = true;
  world.Start();
  EXPECT_EQ(world.driver.restored(), "old");
  world.RunTo(1000);
  world.network().Restart(world.client().id(), SimDuration::Seconds(5));
  world.RunTo(5999);
  world.driver.TakeCalls();
  ResourceClaim late = world.ClaimOf("late");
  world.Allocated(kWorker, &late);
  world.AddClaim(late);
  world.RunTo(20'000);
  EXPECT_EQ(world.driver.restored(), "old late");
  EXPECT_THAT(world.driver.TakeCalls(),
              ElementsAre("6000 ms: CheckParameters a=A", "8000 ms: Allocate a=A on 4"));
  EXPECT_TRUE(world.controller().idle());
}

// ---- A soak, with a driver that counts. ----

// Claims, pods and contexts come and go; the test is user, scheduler and claim controller. Devices
// are never given twice, and in the end all are back.
class Soak {
 public:
  explicit Soak(uint64_t seed, bool strict)
      : random_(seed, "driver controller soak"),
        network_(&names_, seed),
        driver_(Units()),
        controller_(&driver_, Controller(seed, strict)) {
    network_.set_on_message([this](const ApiMessage& message) {
      Log(CallText(message.verb, message.kind), " ", message.name.text(), " ",
          static_cast<int>(message.code));
      committed_ = true;
    });
    ResourceClass resource_class;
    resource_class.meta.name = names_.Intern("class");
    resource_class.driver = names_.Intern(driver_.name());
    Send(Verb::kCreate, resource_class);
    ClientOptions client;
    client.name = "driver";
    client.watches = DriverController::kWatches;
    client.qps = 50;
    client.burst = 10;
    client.read_latency = Distribution::Uniform(0, 0.02).value();
    client.write_latency = Distribution::Uniform(0, 0.05).value();
    client.watch_latency = Distribution::Uniform(0, 0.2).value();
    client_ = network_.Connect(client, &controller_);
    controller_.Start(client_);
  }

  void Run() {
    for (int step = 0; step < 300 && !::testing::Test::HasFailure(); ++step) {
      Act();
      Advance(SimDuration::Millis(static_cast<int64_t>(random_.Below(300))));
    }
    for (const auto& context : All<PodSchedulingContext>()) Delete(*context);
    for (int round = 0; round < 100 && !All<ResourceClaim>().empty(); ++round) {
      for (const auto& claim : All<ResourceClaim>()) {
        if (!claim->meta.deleting) Delete(*claim);
      }
      for (const auto& claim : All<ResourceClaim>()) Release(*claim);
      Advance(SimDuration::Seconds(20));
    }
    EXPECT_EQ(All<ResourceClaim>().size(), 0u);
    EXPECT_TRUE(network_.RunToRest(network_.now() + SimDuration::Seconds(2000)));
    EXPECT_TRUE(controller_.idle());
    EXPECT_EQ(driver_.allocated_claims(), 0u);
    EXPECT_GT(controller_.outcomes(DriverController::Outcome::kDone), 0u);
    EXPECT_GT(allocations_, 0);
    if (::testing::Test::HasFailure()) ADD_FAILURE() << absl::StrJoin(log_, "\n");
  }

 private:
  static CountingDriverOptions Units() {
    CountingDriverOptions options;
    for (uint32_t node = 0; node < 4; ++node) options.units.emplace_back(NodeId(node), 2);
    return options;
  }
  static DriverControllerOptions Controller(uint64_t seed, bool strict) {
    DriverControllerOptions options;
    options.behaviour.strict_upstream = strict;
    options.workers = 3;
    options.seed = seed;
    options.recheck = SimDuration::Seconds(2);
    options.decision_latency = Distribution::Uniform(0, 0.3).value();
    return options;
  }
  template <typename... Parts>
  void Log(const Parts&... parts) {
    log_.push_back(absl::StrCat(network_.now().ns() / 1'000'000, " ms: ", parts...));
  }
  template <typename T>
  std::vector<Ref<T>> All() const {
    return network_.server().objects().of<T>().Sorted();
  }
  ApiReply Request(const ApiRequest& request) {
    const ApiReply reply = network_.server().Handle(request);
    Log("test: ", CallText(request.verb, request.kind), " ", reply.message);
    return reply;
  }
  template <typename T>
  Ref<T> Send(Verb verb, const T& object) {
    ApiRequest request;
    request.verb = verb;
    request.object = ObjectRef(Ref<T>(std::make_shared<const T>(object)));
    request.kind = KindOf(request.object);
    return As<T>(Request(request).object);
  }
  template <typename T>
  void Delete(const T& object) {
    ApiRequest request;
    request.verb = Verb::kDelete;
    request.kind = KindOf(ObjectRef(Ref<T>()));
    request.ns = object.meta.ns;
    request.name = object.meta.name;
    Request(request);
  }
  Name Fresh(absl::string_view prefix) { return names_.Intern(absl::StrCat(prefix, next_name_++)); }

  void Act() {
    switch (random_.Below(8)) {
      case 0:
      case 1:
        Create();
        return;
      case 2:
      case 3: {
        const auto contexts = All<PodSchedulingContext>();
        if (contexts.empty()) return;
        PodSchedulingContext next = *contexts[random_.Below(contexts.size())];
        next.selected = NodeId(static_cast<uint32_t>(random_.Below(4)));
        Send(Verb::kUpdate, next);
        return;
      }
      case 4: {
        const auto contexts = All<PodSchedulingContext>();
        if (!contexts.empty()) Delete(*contexts[random_.Below(contexts.size())]);
        return;
      }
      case 5: {
        const auto claims = All<ResourceClaim>();
        if (!claims.empty()) Delete(*claims[random_.Below(claims.size())]);
        return;
      }
      case 6: {
        const auto claims = All<ResourceClaim>();
        if (!claims.empty()) Release(*claims[random_.Below(claims.size())]);
        return;
      }
      default:
        // Long enough for its calls to be committed: what it lists is then all that there is.
        if (random_.Below(4) == 0) {
          Log("test: restart");
          network_.Restart(client_->id(), SimDuration::Millis(500));
        }
    }
  }
  // A pod with one or two claims, of which one may be another pod's.
  void Create() {
    Pod pod;
    pod.meta.ns = names_.Intern("default");
    pod.meta.name = Fresh("pod-");
    const auto known = All<ResourceClaim>();
    const uint64_t count = 1 + random_.Below(2);
    for (uint64_t i = 0; i < count; ++i) {
      PodClaim entry;
      entry.entry = names_.Intern(absl::StrCat("entry-", i));
      if (i == 1 && !known.empty() && random_.Below(3) == 0) {
        entry.claim = known[random_.Below(known.size())]->meta.name;
      } else {
        ResourceClaim claim;
        claim.meta.ns = pod.meta.ns;
        claim.meta.name = Fresh("claim-");
        claim.spec.class_name = names_.Intern("class");
        if (random_.Below(4) == 0) claim.spec.mode = kImmediate;
        entry.claim = Send(Verb::kCreate, claim)->meta.name;
      }
      pod.claims.push_back(entry);
    }
    const Ref<Pod> made = Send(Verb::kCreate, pod);
    PodSchedulingContext context;
    context.meta.ns = made->meta.ns;
    context.meta.name = made->meta.name;
    context.meta.owner = made->meta.uid;
    for (uint32_t node = 0; node < 4; ++node) context.potential.push_back(NodeId(node));
    if (random_.Below(2) == 0) context.selected = NodeId(static_cast<uint32_t>(random_.Below(4)));
    Send(Verb::kCreate, context);
  }
  // As the claim controller when the last pod has ended.
  void Release(const ResourceClaim& claim) {
    ResourceClaim next = claim;
    next.status.reserved_for.clear();
    next.status.deallocation_requested =
        next.status.allocation != nullptr && next.spec.mode != kImmediate;
    Send(Verb::kUpdateStatus, next);
  }
  void Advance(SimDuration time) {
    const SimTime until = network_.now() + time;
    while (network_.Step(until)) {
      if (std::exchange(committed_, false)) Check();
    }
    network_.RunUntil(until);
  }
  // Claims that are not to be given back fit in what there is.
  void Check() {
    absl::btree_map<NodeId, int64_t> used;
    int64_t allocations = 0;
    for (const auto& claim : All<ResourceClaim>()) {
      const ResourceClaimStatus& status = claim->status;
      const bool released =
          status.reserved_for.empty() && (claim->meta.deleting || status.deallocation_requested);
      if (status.allocation == nullptr) continue;
      ++allocations;
      if (!released && ++used[status.allocation->node] > 2) {
        ADD_FAILURE() << "node " << status.allocation->node.value() << " is given twice";
      }
    }
    allocations_ = std::max(allocations_, allocations);
  }

  Random random_;
  NamePool names_;
  ApiNetwork network_;
  CountingDriver driver_;
  DriverController controller_;
  ApiClient* client_ = nullptr;
  std::vector<std::string> log_;
  int next_name_ = 0;
  int64_t allocations_ = 0;
  bool committed_ = false;  // something was, since the last check
};

TEST(DriverControllerSoakTest, DevicesAreNeverGivenTwiceAndAllComeBack) {
  for (uint64_t seed = 0; seed < SoakSeeds(5) && !HasFailure(); ++seed) {
    for (const bool strict : {false, true}) {
      SCOPED_TRACE(absl::StrCat("seed ", seed, strict ? " strict" : ""));
      Soak(seed, strict).Run();
      if (HasFailure()) break;
    }
  }
}

}  // namespace driver_controller_test
}  // namespace drasim
