// One sync at a time: the cases of TestController of k8s.io/dynamic-resource-allocation v0.29.0
// (controller/controller_test.go), by upstream's names. All objects, the driver's calls, the API
// calls and the outcome are compared.
#include "sim/dra/driver_controller.h"

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
#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "sim/dra/api_network.h"
#include "sim/dra/api_types.h"
#include "tests/sim/dra/driver_controller_world.h"

namespace drasim {
namespace driver_controller_test {

using driver_controller_testing::kWorker;
using driver_controller_testing::kWorker2;
using driver_controller_testing::Nodes;
using driver_controller_testing::Objects;
using driver_controller_testing::Texts;
using driver_controller_testing::Verify;
using driver_controller_testing::Want;
using driver_controller_testing::World;

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

// What becomes of it.
void Gone(World&, Objects* objects) { objects->claims.clear(); }
void Fresh(World&, Objects* objects) {
  objects->claims[0].meta.finalizers.clear();
  objects->claims[0].status = ClaimStatus();
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
  Nodes unsuitable;  // what the driver says
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

}  // namespace driver_controller_test
}  // namespace drasim
