// The claim controller: its decisions one at a time and without latencies, then over time. The
// first table has upstream's names for its cases (pkg/controller/resourceclaim/controller_test.go).
#include "sim/dra/api/claim_controller.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "model/time.h"
#include "sim/dra/api/api_types.h"
#include "sim/dra/api/dra_release.h"
#include "tests/sim/dra/classic/component_rig.h"

namespace drasim {
namespace claim_controller_test {

using claim_controller_testing::kWorker;
using claim_controller_testing::Lines;
using claim_controller_testing::OfRelease;
using claim_controller_testing::Slow;
using claim_controller_testing::World;
using claim_controller_testing::WorldOptions;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kCreated[] = "claim pod-gpu-* of pod @gpu class";
constexpr char kNamed[] = "pod pod: gpu=pod-gpu-*";

void OnWorker(Pod* pod) { pod->node = kWorker; }

struct Case {
  const char* name;
  void (*arrange)(World&);
  Lines calls;
  Lines state;
  uint64_t failed_creations = 0;
};

// gtest's own text would be the bytes.
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

// The pod "pod" with the claim "claim", allocated and reserved for it.
void Reserved(World& world, bool owned, AllocationMode mode, bool pod_goes, KubePodPhase phase) {
  const Uid pod = world.AddPod("pod", {owned ? "gpu" : "gpu=claim"});
  world.AddClaim("claim", [&](ResourceClaim* claim) {
    if (owned) claim->meta.owner = pod;
    if (owned) claim->pod_claim_name = world.In("gpu");
    claim->spec.mode = mode;
    claim->status = world.Allocated({pod});
  });
  if (owned) world.SetClaimName(pod, "claim");
  world.SetPhase(pod, phase);
  if (pod_goes) world.RemovePod(pod);
}

const std::vector<Case> kPodCases = {
    {"create",
     [](World& world) {
       world.AddTemplate("template");
       world.AddPod("pod", {"gpu"});
     },
     {"POST resourceclaims pod-gpu-*", "PATCH pods/status pod"},
     {kCreated, kNamed}},
    {"create with template",
     [](World& world) {
       ClaimSpec spec;
       spec.class_name = world.In("big");
       spec.mode = AllocationMode::kImmediate;
       spec.parameters = {world.In("group"), world.In("Kind"), Name(), world.In("much")};
       world.AddTemplate("other", spec);
       world.AddTemplate("template");
       world.AddPod("pod", {"gpu=@other"});
     },
     {"POST resourceclaims pod-gpu-*", "PATCH pods/status pod"},
     {"claim pod-gpu-* of pod @gpu big Kind/much immediate", kNamed}},
    {"nop",
     [](World& world) {
       world.AddTemplate("template");
       const Uid pod = world.AddPod("pod", {"gpu"});
       world.AddOwnClaim("pod-gpu-12345", pod);
       world.SetClaimName(pod, "pod-gpu-12345");
     },
     {},
     {"claim pod-gpu-12345 of pod @gpu class", "pod pod: gpu=pod-gpu-12345"}},
    {"recreate",
     [](World& world) {
       world.AddTemplate("template");
       world.SetClaimName(world.AddPod("pod", {"gpu"}), "pod-gpu-gone");
     },
     {"POST resourceclaims pod-gpu-*", "PATCH pods/status pod"},
     {kCreated, kNamed}},
    {"find existing claim by label",
     [](World& world) {
       const Uid pod = world.AddPod("pod", {"gpu"});
       world.AddOwnClaim("other-entry", pod,
                         [&](ResourceClaim* c) { c->pod_claim_name = world.In("nic"); });
       world.AddOwnClaim("unlabelled", pod, [](ResourceClaim* c) { c->pod_claim_name = {}; });
       world.AddOwnClaim("mine", pod);
       world.AddOwnClaim("mine-too", pod);
     },
     {"PATCH pods/status pod"},
     {"claim other-entry of pod @nic class", "claim unlabelled of pod class",
      "claim mine of pod @gpu class", "claim mine-too of pod @gpu class", "pod pod: gpu=mine"}},
    {"find existing claim by name",
     [](World& world) {
       const Uid pod = world.AddPod("pod", {"gpu"});
       world.AddClaim("pod-gpu", [&](ResourceClaim* c) { c->meta.owner = pod; });
     },
     {"PATCH pods/status pod"},
     {"claim pod-gpu of pod class", "pod pod: gpu=pod-gpu"}},
    {"pod deleted",
     [](World& world) {
       world.AddTemplate("template");
       const Uid pod = world.AddPod("pod", {"gpu"}, OnWorker);
       world.Delete(world.pod(pod));
       const Uid held = world.AddPod("held", {"gpu"},
                                     [&](Pod* p) { p->meta.finalizers = {world.In("somebody")}; });
       world.Delete(world.pod(held));
       ASSERT_TRUE(world.pod(pod)->meta.deleting && world.pod(held)->meta.deleting);
     },
     {},
     {}},
    {"no volumes",
     [](World& world) {
       world.AddTemplate("template");
       world.AddPod("pod", {});
     },
     {},
     {}},
    {"create with other claim",
     [](World& world) {
       world.set_ns("elsewhere");
       world.AddClaim("pod-gpu");
       world.set_ns("default");
       world.AddTemplate("template");
       world.AddPod("pod", {"gpu"});
     },
     {"POST resourceclaims pod-gpu-*", "PATCH pods/status pod"},
     {"claim elsewhere/pod-gpu class", kCreated, kNamed}},
    {"trigger allocation",
     [](World& world) {
       const Uid pod = world.AddPod("pod", {"gpu"}, OnWorker);
       world.AddOwnClaim("mine", pod);
       world.SetClaimName(pod, "mine");
     },
     {"POST podschedulingcontexts pod"},
     {"claim mine of pod @gpu class", "context pod of pod node 7", "pod pod: gpu=mine"}},
    {"add reserved",
     [](World& world) {
       const Uid pod = world.AddPod("pod", {"gpu"}, OnWorker);
       world.AddOwnClaim("mine", pod, [&](ResourceClaim* c) { c->status = world.Allocated({}); });
       world.SetClaimName(pod, "mine");
     },
     {"PUT resourceclaims/status mine"},
     {"claim mine of pod @gpu class allocated for pods/pod", "pod pod: gpu=mine"}},
};

const std::vector<Case> kClaimCases = {
    {"stay reserved seen",
     [](World& world) {
       Reserved(world, false, AllocationMode::kWaitForFirstConsumer, false, KubePodPhase::kRunning);
     },
     {},
     {"claim claim class allocated for pods/pod"}},
    {"clear reserved",
     [](World& world) {
       Reserved(world, false, AllocationMode::kWaitForFirstConsumer, true, KubePodPhase::kRunning);
     },
     {"GET pods pod = 404", "PUT resourceclaims/status claim"},
     {"claim claim class allocated deallocate"}},
    {"clear reserved delayed allocation",  // owned: the garbage collector's
     [](World& world) {
       Reserved(world, true, AllocationMode::kWaitForFirstConsumer, true, KubePodPhase::kRunning);
     },
     {"GET pods pod = 404", "PUT resourceclaims/status claim"},
     {"claim claim of pod @gpu class allocated deallocate"}},
    {"clear reserved immediate allocation",
     [](World& world) {
       Reserved(world, true, AllocationMode::kImmediate, true, KubePodPhase::kRunning);
     },
     {"GET pods pod = 404", "PUT resourceclaims/status claim"},
     {"claim claim of pod @gpu class immediate allocated"}},
    {"clear reserved replaced",
     [](World& world) {
       Reserved(world, false, AllocationMode::kWaitForFirstConsumer, true, KubePodPhase::kRunning);
       world.AddPod("pod", {"gpu=claim"});
     },
     {"PUT resourceclaims/status claim"},
     {"claim claim class allocated deallocate"}},
    {"clear reserved when done delayed allocation",
     [](World& world) {
       Reserved(world, false, AllocationMode::kWaitForFirstConsumer, false,
                KubePodPhase::kSucceeded);
     },
     {"PUT resourceclaims/status claim"},
     {"claim claim class allocated deallocate"}},
    {"clear reserved when done immediate allocation",
     [](World& world) {
       Reserved(world, false, AllocationMode::kImmediate, false, KubePodPhase::kFailed);
     },
     {"PUT resourceclaims/status claim"},
     {"claim claim class immediate allocated"}},
    {"remove reserved",
     [](World& world) {
       const Uid pod = world.AddPod("pod", {"gpu=claim"});
       const Uid other = world.AddPod("other", {"gpu=claim"});
       world.AddClaim("claim", [&](ResourceClaim* c) {
         c->status = world.Allocated({other, pod});
       });
       world.RemovePod(other);
     },
     {"GET pods other = 404", "PUT resourceclaims/status claim"},
     {"claim claim class allocated for pods/pod"}},
    {"remove reserved keeps other kinds",
     [](World& world) {
       const Uid pod = world.AddPod("pod", {"gpu=claim"});
       world.AddClaim("claim", [&](ResourceClaim* c) {
         c->status = world.Allocated({pod});
         c->status.reserved_for.push_back({world.In("jobs"), world.In("batch"), 9000});
       });
       world.SetPhase(pod, KubePodPhase::kSucceeded);
     },
     {"PUT resourceclaims/status claim"},
     {"claim claim class allocated for jobs/batch"}},
    {"delete claim when done",
     [](World& world) {
       Reserved(world, true, AllocationMode::kWaitForFirstConsumer, false,
                KubePodPhase::kSucceeded);
     },
     {"PUT resourceclaims/status claim", "DELETE resourceclaims claim"},
     {"pod pod: gpu=claim"}},
    {"keep claim of a done pod that another uses",
     [](World& world) {
       const Uid pod = world.AddPod("pod", {"gpu"});
       const Uid other = world.AddPod("other", {"gpu=mine"});
       world.AddOwnClaim("mine", pod, [&](ResourceClaim* c) {
         c->status = world.Allocated({pod, other});
       });
       world.SetPhase(pod, KubePodPhase::kSucceeded);
     },
     {"PUT resourceclaims/status mine"},
     {"claim mine of pod @gpu class allocated for pods/other"}},
    {"delete unused claim when done",
     [](World& world) {
       const Uid pod = world.AddPod("pod", {"gpu"},
                                    [&](Pod* p) { p->meta.finalizers = {world.In("somebody")}; });
       world.AddOwnClaim("mine", pod);
       world.SetClaimName(pod, "mine");
       world.Delete(world.pod(pod));  // before it was scheduled
     },
     {"DELETE resourceclaims mine"},
     {"pod pod: gpu=mine"}},
};

class SyncHandlerTest : public testing::TestWithParam<Case> {};

// With what was there before the controller came, and with the same when it is woken later.
TEST_P(SyncHandlerTest, FromTheFirstList) {
  World world;
  GetParam().arrange(world);
  world.StartController();
  world.Rest();
  EXPECT_EQ(world.TakeCalls(), GetParam().calls);
  EXPECT_EQ(world.State(), GetParam().state);
  EXPECT_TRUE(world.controller().idle());
  EXPECT_EQ(world.controller().failed_creations(), GetParam().failed_creations);
}

TEST_P(SyncHandlerTest, OnceMoreChangesNothing) {
  World world;
  GetParam().arrange(world);
  world.StartController();
  world.Rest();
  world.TakeCalls();
  for (const auto& claim : world.objects().of<ResourceClaim>().Sorted()) {
    world.ChangeClaim(claim->meta.uid, [](ResourceClaim* next) {
      next->labels = {{"looked", "at"}};
    });
  }
  world.network().Restart(world.controller_client().id(), SimDuration::Seconds(1));
  world.Rest();
  EXPECT_THAT(world.TakeCalls(), IsEmpty());
  EXPECT_EQ(world.State(), GetParam().state);
}

std::string CaseName(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(SyncPod, SyncHandlerTest, testing::ValuesIn(kPodCases), CaseName);
INSTANTIATE_TEST_SUITE_P(SyncClaim, SyncHandlerTest, testing::ValuesIn(kClaimCases), CaseName);

// Upstream's cases that need a past or a failure.

TEST(ClaimControllerTest, missing_template) {
  World world;
  world.AddPod("pod", {"gpu"});
  world.StartController();
  world.RunMillis(100);
  EXPECT_THAT(world.TakeCalls(), IsEmpty());
  // At 0, 5, 15, 35 and 75 ms.
  EXPECT_EQ(world.controller().failed_creations(), 5u);
  EXPECT_FALSE(world.controller().idle());

  world.AddTemplate("template");  // no event follows; the next attempt is at 155 ms
  world.RunMillis(54);
  EXPECT_THAT(world.TakeCalls(), IsEmpty());
  world.RunMillis(1);
  EXPECT_THAT(world.TakeCalls(),
              ElementsAre("POST resourceclaims pod-gpu-*", "PATCH pods/status pod"));
  world.Rest();
  EXPECT_THAT(world.State(), ElementsAre(kCreated, kNamed));
  EXPECT_TRUE(world.controller().idle());
  EXPECT_EQ(world.controller().failed_creations(), 5u);

  // Success has reset the backoff.
  world.Delete(world.objects().of<ResourceClaimTemplate>().Sorted()[0]);
  world.Delete(world.objects().of<ResourceClaim>().Sorted()[0]);
  world.RunMillis(100);
  EXPECT_EQ(world.controller().failed_creations(), 10u);
}

// A claim that only the controller's own writes have told of.
TEST(ClaimControllerTest, find_created_claim_in_cache) {
  WorldOptions options;
  options.write = 0.001;
  options.watch = 10;
  World world(options);
  world.AddTemplate("template");
  world.AddPod("pod", {"gpu", "nic=@late"});
  world.StartController();
  world.AddTemplate("late");  // seen after 10 s
  world.Run(SimDuration::Millis(9990));
  EXPECT_THAT(world.TakeCalls(), ElementsAre("POST resourceclaims pod-gpu-*"));
  EXPECT_GT(world.controller().failed_creations(), 8u);
  world.Rest();
  EXPECT_THAT(world.TakeCalls(),
              ElementsAre("POST resourceclaims pod-nic-*", "PATCH pods/status pod"));
  EXPECT_THAT(world.State(),
              ElementsAre("claim pod-gpu-* of pod @gpu class", "claim pod-nic-* of pod @nic class",
                          "pod pod: gpu=pod-gpu-* nic=pod-nic-*"));
}

TEST(ClaimControllerTest, no_such_pod) {
  World world;
  const Uid pod = world.AddPod("pod", {"gpu"});
  world.StartController();  // fails, for want of a template
  world.AddTemplate("template");
  world.RemovePod(pod);
  world.Rest();
  EXPECT_THAT(world.TakeCalls(), IsEmpty());
  EXPECT_TRUE(world.controller().idle());
}

TEST(ClaimControllerTest, pod_deleted_between_attempts) {
  World world;
  const Uid pod = world.AddPod("pod", {"gpu"}, OnWorker);
  world.StartController();  // fails, for want of a template
  world.AddTemplate("template");
  world.Delete(world.pod(pod));
  ASSERT_TRUE(world.pod(pod)->meta.deleting);
  world.Rest();
  EXPECT_THAT(world.TakeCalls(), IsEmpty());
}

TEST(ClaimControllerTest, wrong_claim_owner) {
  World world(OfRelease(DraRelease::k27));
  world.AddTemplate("template");
  world.AddPod("pod", {"gpu"});
  const Uid claim = world.AddClaim("pod-gpu");
  world.StartController();
  world.RunMillis(100);
  EXPECT_THAT(world.TakeCalls(), IsEmpty());
  EXPECT_EQ(world.controller().failed_creations(), 5u);
  world.Delete(world.claim(claim));
  world.Rest();
  EXPECT_THAT(world.TakeCalls(), ElementsAre("POST resourceclaims pod-gpu"));
  EXPECT_THAT(world.State(), ElementsAre("claim pod-gpu of pod class"));
}

// Since 1.28 the foreign claim blocks no pod, unless the status names it.
TEST(ClaimControllerTest, wrong_claim_owner_since_28) {
  World world;
  world.AddTemplate("template");
  world.AddPod("pod", {"gpu"});
  const Uid named = world.AddPod("named", {"gpu"});
  world.AddClaim("pod-gpu");
  world.SetClaimName(named, "pod-gpu");
  world.StartController();
  world.Rest();
  EXPECT_THAT(world.TakeCalls(),
              ElementsAre("POST resourceclaims pod-gpu-*", "PATCH pods/status pod"));
  EXPECT_THAT(world.State(),
              ElementsAre("claim pod-gpu class", kCreated, kNamed, "pod named: gpu=pod-gpu"));
}

TEST(ClaimControllerTest, create_conflict) {
  World world(OfRelease(DraRelease::k27));
  world.AddTemplate("template");
  world.StartController();
  world.AddPod("pod", {"gpu"});
  world.network().BreakWatch(world.controller_client().id(), SimDuration::Millis(30));
  world.AddClaim("pod-gpu");
  world.RunMillis(1000);
  // At 0, 5 and 15 ms; from 35 ms on it knows better.
  const char kRefused[] = "POST resourceclaims pod-gpu = 4090";
  EXPECT_THAT(world.TakeCalls(), ElementsAre(kRefused, kRefused, kRefused));
  EXPECT_THAT(world.State(), ElementsAre("claim pod-gpu class"));
  EXPECT_GT(world.controller().failed_creations(), 3u);
}

// The pod is newer than all that the controller knows; the reservation of a pod that is only too
// new stays, though the pod may be done already.
TEST(ClaimControllerTest, stay_reserved_not_seen) {
  World world;
  world.StartController();
  world.Rest();
  const Uid claim = world.AddClaim("claim");
  world.Rest();
  world.network().BreakWatch(world.controller_client().id(), SimDuration::Seconds(10));
  const Uid pod = world.AddPod("pod", {"gpu=claim"});
  world.SetPhase(pod, KubePodPhase::kSucceeded);
  world.Run(SimDuration::Seconds(1));
  world.ChangeClaimStatus(claim, [&](ResourceClaimStatus* s) { *s = world.Allocated({pod}); });
  world.controller_client().Remember(world.claim(claim));
  world.controller().OnWatch({WatchEvent::Type::kModified, world.claim(claim), {}});
  EXPECT_THAT(world.TakeCalls(), ElementsAre("GET pods pod"));
  EXPECT_THAT(world.State(), ElementsAre("claim claim class allocated for pods/pod"));
  world.Rest();  // the list that follows tells of the pod
  EXPECT_THAT(world.TakeCalls(), ElementsAre("PUT resourceclaims/status claim"));
}

TEST(ClaimControllerTest, APodThatWasSeenToGoNeedsNoQuestion) {
  for (const size_t remembered : {size_t{500}, size_t{1}, size_t{0}}) {
    SCOPED_TRACE(remembered);
    WorldOptions options;
    options.remembered_uids = remembered;
    World world(options);
    const Uid a = world.AddPod("a", {"gpu=claim"});
    const Uid b = world.AddPod("b", {"gpu=claim"});
    const Uid claim = world.AddClaim("claim", [&](ResourceClaim* c) {
      c->status = world.Allocated({a, b});
    });
    world.StartController();
    world.RemovePod(a);
    world.Rest();
    Lines wanted;
    if (remembered == 0) wanted.push_back("GET pods a = 404");
    wanted.push_back("PUT resourceclaims/status claim");
    EXPECT_EQ(world.TakeCalls(), wanted);
    world.RemovePod(b);
    world.AddPod("c", {"gpu=claim"});
    world.Rest();
    world.TakeCalls();
    EXPECT_EQ(world.claim(claim)->status.reserved_for.size(), 0u);
  }
}

// A replaced owner: its claim goes, the new pod gets its own.
TEST(ClaimControllerTest, DeletesTheClaimOfAReplacedPod) {
  World world;
  world.AddTemplate("template");
  const Uid pod = world.AddPod("pod", {"gpu"});
  world.StartController();
  world.Rest();
  world.TakeCalls();
  world.RemovePod(pod);
  world.AddPod("pod", {"gpu"});
  world.Rest();
  // The old pod's deletion finds no successor yet: that needs another event.
  EXPECT_THAT(world.TakeCalls(),
              ElementsAre("POST resourceclaims pod-gpu-*", "PATCH pods/status pod"));
  const Uid old_claim = world.objects().of<ResourceClaim>().Sorted()[0]->meta.uid;
  world.ChangeClaim(old_claim, [](ResourceClaim* c) { c->labels = {{"new", "label"}}; });
  world.Rest();
  EXPECT_THAT(world.TakeCalls(), ElementsAre("DELETE resourceclaims pod-gpu-*"));
  EXPECT_THAT(world.State(),
              ElementsAre("claim pod-gpu-* of pod(2) @gpu class", "pod pod(2): gpu=pod-gpu-*"));
}

struct PrefixCase {
  std::string pod;
  std::string entry;
  std::string prefix;
  DraRelease release = DraRelease::k29;
};

TEST(ClaimControllerTest, LongNamesAreCutInProportion) {
  const auto x = [](size_t count) { return std::string(count, 'x'); };
  const auto y = [](size_t count) { return std::string(count, 'y'); };
  const PrefixCase cases[] = {
      {"pod", "gpu", "pod-gpu-"},
      {"pod", "gpu", "pod-gpu", DraRelease::k28},
      {x(40), y(15), absl::StrCat(x(40), "-", y(15), "-")},              // 57
      {x(41), y(15), absl::StrCat(x(41), "-", y(15)), DraRelease::k28},  // 57
      {x(41), y(15), absl::StrCat(x(40), "-", y(14))},                   // 58: 41*57/58, 15*57/58
      {x(200), y(10), absl::StrCat(x(53), "-", y(2))},
      {x(10), y(63), absl::StrCat(x(7), "-", y(47))},
  };
  for (const PrefixCase& c : cases) {
    World world(OfRelease(c.release));
    world.AddTemplate("template");
    world.AddPod(c.pod, {c.entry});
    world.StartController();
    world.Rest();
    EXPECT_THAT(world.TakeCalls(), ElementsAre(absl::StrCat("POST resourceclaims ", c.prefix, "*"),
                                               absl::StrCat("PATCH pods/status ", c.pod)));
  }
}

TEST(ClaimControllerTest, OnePatchNamesAllClaimsInTheOrderOfTheEntries) {
  World world;
  world.AddTemplate("template");
  world.StartController();
  const Uid pod = world.AddPod("pod", {"gpu", "mine=own", "nic"});
  world.AddClaim("own");
  world.Rest();
  EXPECT_THAT(world.TakeCalls(),
              ElementsAre("POST resourceclaims pod-gpu-*", "POST resourceclaims pod-nic-*",
                          "PATCH pods/status pod"));
  // One of them is recreated; the other's name stays.
  const std::string nic(world.ClaimOf(pod, "nic")->meta.name.text());
  world.Delete(world.ClaimOf(pod, "gpu"));
  world.Rest();
  EXPECT_THAT(world.TakeCalls(),
              ElementsAre("POST resourceclaims pod-gpu-*", "PATCH pods/status pod"));
  EXPECT_EQ(world.ClaimOf(pod, "nic")->meta.name.text(), nic);
  EXPECT_THAT(world.State(), ElementsAre("claim own class", "claim pod-nic-* of pod @nic class",
                                         "claim pod-gpu-* of pod @gpu class",
                                         "pod pod: gpu=pod-gpu-* nic=pod-nic-*"));
}

// Upstream's look at the entries ends at the first claim that a user has yet to make.
TEST(ClaimControllerTest, AUsersMissingClaimComesFirst) {
  for (const bool strict : {true, false}) {
    WorldOptions options;
    options.behaviour.strict_upstream = strict;
    World world(options);
    world.AddTemplate("template");
    world.AddPod("pod", {"mine=own", "gpu"});
    world.StartController();
    world.Rest();
    EXPECT_EQ(world.TakeCalls().size(), strict ? 0u : 2u);
    world.AddClaim("own");
    world.Rest();
    EXPECT_EQ(world.TakeCalls().size(), strict ? 2u : 0u);
  }
}

TEST(ClaimControllerTest, FinishedPodsGetNoClaims) {
  World world;
  world.AddTemplate("template");
  const Uid pod = world.AddPod("pod", {"gpu"});
  world.SetPhase(pod, KubePodPhase::kFailed);
  world.StartController();
  world.Rest();
  EXPECT_THAT(world.TakeCalls(), IsEmpty());
}

TEST(ClaimControllerTest, ABoundPodWaitsForAClaimThatIsNotShared) {
  World world;
  const Uid user = world.AddPod("user", {"gpu=claim"}, OnWorker);
  world.AddPod("pod", {"gpu=claim", "more=other"}, OnWorker);
  world.AddClaim("claim", [&](ResourceClaim* c) { c->status = world.Allocated({user}, false); });
  world.AddClaim("other", [&](ResourceClaim* c) {
    c->spec.mode = AllocationMode::kImmediate;  // not allocated: the driver's business alone
  });
  world.StartController();
  world.Rest();
  EXPECT_THAT(world.TakeCalls(), IsEmpty());
  world.SetPhase(user, KubePodPhase::kSucceeded);
  world.RunMillis(1);
  // It was idle for a moment, so it has to be deallocated; no pod may reserve it until then.
  EXPECT_THAT(world.TakeCalls(), ElementsAre("PUT resourceclaims/status claim",
                                             "PUT resourceclaims/status claim = 422"));
  EXPECT_THAT(world.State(), ElementsAre("claim claim class allocated alone deallocate",
                                         "claim other class immediate"));
}

// ---- Over time: with latencies, restarts, other releases, and among random events. ----

constexpr std::pair<double, double> kLatencies[] = {
    {0, 0}, {0.010, 0}, {0, 0.030}, {0.010, 0.005}, {0.010, 0.010}, {0.010, 0.050}, {0.2, 0.001}};

// The driver's writes to a claim for which a node has been selected.
void Allocate(World* world, Uid claim, const std::vector<Uid>& pods, bool shareable = false) {
  world->ChangeClaim(
      claim, [&](ResourceClaim* next) { next->meta.finalizers = {world->In("driver/protect")}; });
  world->ChangeClaimStatus(
      claim, [&](ResourceClaimStatus* status) { *status = world->Allocated(pods, shareable); });
}

// Template, WaitForFirstConsumer, one claim: two calls at the start, two at the end, however slow
// things are.
TEST(ClaimControllerStory, TheLifeOfATemplateClaim) {
  for (const auto& [write, watch] : kLatencies) {
    SCOPED_TRACE(absl::StrCat("write ", write, " watch ", watch));
    World world(Slow(write, watch));
    world.AddTemplate("template");
    world.StartController();
    world.StartCollector();
    const Uid pod = world.AddPod("pod", {"gpu"});
    world.Rest();
    EXPECT_THAT(world.TakeCalls(),
                ElementsAre("POST resourceclaims pod-gpu-*", "PATCH pods/status pod"));

    const Uid claim = world.ClaimOf(pod, "gpu")->meta.uid;
    Allocate(&world, claim, {pod});
    world.Bind(pod);
    world.SetPhase(pod, KubePodPhase::kRunning);
    world.Rest();
    EXPECT_THAT(world.TakeCalls(), IsEmpty());

    world.SetPhase(pod, KubePodPhase::kSucceeded);
    world.Rest();
    EXPECT_THAT(world.TakeCalls(), ElementsAre("PUT resourceclaims/status pod-gpu-*",
                                               "DELETE resourceclaims pod-gpu-*"));
    EXPECT_THAT(world.State(),
                ElementsAre("claim pod-gpu-* of pod +driver/protect deleting @gpu class "
                            "allocated alone deallocate",
                            "pod pod: gpu=pod-gpu-*"));
    world.FreeClaim(claim);
    world.Rest();
    world.Delete(world.pod(pod));
    world.Rest();
    EXPECT_THAT(world.TakeCalls(), IsEmpty());
    EXPECT_THAT(world.State(), IsEmpty());
    EXPECT_TRUE(world.controller().idle() && world.collector().idle());
  }
}

TEST(ClaimControllerStory, APodBoundByHand) {
  for (const auto& [write, watch] : kLatencies) {
    SCOPED_TRACE(absl::StrCat("write ", write, " watch ", watch));
    World world(Slow(write, watch));
    world.AddTemplate("template");
    world.StartController();
    const Uid pod = world.AddPod("pod", {"gpu", "nic"}, OnWorker);
    world.Rest();
    EXPECT_THAT(world.TakeCalls(),
                ElementsAre("POST resourceclaims pod-gpu-*", "POST resourceclaims pod-nic-*",
                            "PATCH pods/status pod", "POST podschedulingcontexts pod"));
    const Uid gpu = world.ClaimOf(pod, "gpu")->meta.uid;
    const Uid nic = world.ClaimOf(pod, "nic")->meta.uid;
    Allocate(&world, nic, {});  // by a driver that does not reserve
    world.Rest();
    // The first entry is not allocated: it is the context's turn, which is there.
    EXPECT_THAT(world.TakeCalls(), IsEmpty());
    Allocate(&world, gpu, {});
    world.Rest();
    EXPECT_THAT(world.TakeCalls(), ElementsAre("PUT resourceclaims/status pod-gpu-*",
                                               "PUT resourceclaims/status pod-nic-*"));
    EXPECT_TRUE(IsReservedFor(*world.claim(gpu), pod) && IsReservedFor(*world.claim(nic), pod));

    world.SetPhase(pod, KubePodPhase::kFailed);
    world.Rest();
    Lines calls = world.TakeCalls();
    std::sort(calls.begin(), calls.end());
    EXPECT_THAT(
        calls,
        ElementsAre("DELETE resourceclaims pod-gpu-*", "DELETE resourceclaims pod-nic-*",
                    "PUT resourceclaims/status pod-gpu-*", "PUT resourceclaims/status pod-nic-*"));
  }
}

TEST(ClaimControllerStory, AStaleContextOfABoundPodIsCorrected) {
  World world;
  const Uid pod = world.AddPod("pod", {"gpu=claim"}, OnWorker);
  world.AddClaim("claim");
  auto context = std::make_shared<PodSchedulingContext>();
  context->meta.ns = world.ns();
  context->meta.name = world.In("pod");
  context->meta.owner = pod;
  context->selected = NodeId(uint32_t{1});
  world.Do(Verb::kCreate, Ref<PodSchedulingContext>(std::move(context)));
  world.StartController();
  world.Rest();
  EXPECT_THAT(world.TakeCalls(), ElementsAre("PUT podschedulingcontexts pod"));
  EXPECT_THAT(world.State(), ElementsAre("claim claim class", "context pod of pod node 7"));
}

TEST(ClaimControllerStory, AStaleClaimIsWrittenAgain) {
  World world(Slow(/*write=*/0.010, /*watch=*/0.002));
  const Uid pod = world.AddPod("pod", {"gpu=claim"});
  const Uid claim =
      world.AddClaim("claim", [&](ResourceClaim* c) { c->status = world.Allocated({pod}); });
  world.StartController();
  world.SetPhase(pod, KubePodPhase::kSucceeded);
  world.RunMillis(5);  // the write is under way
  world.ChangeClaim(claim, [](ResourceClaim* c) { c->labels = {{"faster", "than you"}}; });
  world.Rest();
  EXPECT_THAT(world.TakeCalls(), ElementsAre("PUT resourceclaims/status claim = 409",
                                             "PUT resourceclaims/status claim"));
  EXPECT_THAT(world.State(), ElementsAre("claim claim class allocated deallocate"));
}

// The pod in its cache is older than the phase that the kubelet has reported since.
TEST(ClaimControllerStory, NamesClaimsAndLeavesThePhaseAlone) {
  for (const KubePodPhase phase : {KubePodPhase::kRunning, KubePodPhase::kFailed}) {
    World world(Slow(/*write=*/0.010, /*watch=*/10));
    world.AddTemplate("template");
    const Uid pod = world.AddPod("pod", {"gpu"}, OnWorker);
    world.StartController();
    world.RunMillis(15);  // the claim is made, its name is being written
    world.SetPhase(pod, phase);
    world.RunMillis(15);
    Lines calls = world.TakeCalls();
    calls.resize(2);
    EXPECT_THAT(calls, ElementsAre("POST resourceclaims pod-gpu-*", "PATCH pods/status pod"));
    ASSERT_NE(world.ClaimOf(pod, "gpu"), nullptr);
    EXPECT_EQ(world.pod(pod)->phase, phase);
  }
}

// It goes on with what it has written itself, long before the watch tells of that.
TEST(ClaimControllerStory, OwnWritesAreSeenAtOnce) {
  World world(Slow(/*write=*/0.010, /*watch=*/10));
  world.AddTemplate("template");
  world.AddPod("pod", {"gpu"}, OnWorker);
  world.StartController();
  world.RunMillis(30);
  const Lines calls = {"POST resourceclaims pod-gpu-*", "PATCH pods/status pod",
                       "POST podschedulingcontexts pod"};
  EXPECT_EQ(world.TakeCalls(), calls);
  world.Rest();
  EXPECT_THAT(world.TakeCalls(), IsEmpty());
}

// An event of the pod comes between the deletion of its claim and the news of that.
TEST(ClaimControllerStory, DeletesAClaimOnceThoughNothingHoldsIt) {
  World world(Slow(/*write=*/0.010, /*watch=*/0.050));
  const Uid pod = world.AddPod("pod", {"gpu"});
  world.AddOwnClaim("mine", pod, [&](ResourceClaim* c) { c->status = world.Allocated({pod}); });
  world.SetClaimName(pod, "mine");
  world.SetPhase(pod, KubePodPhase::kSucceeded);
  world.StartController();  // writes the claim at 10 ms, deletes it at 20 ms
  world.RunMillis(15);
  world.SetPhase(pod, KubePodPhase::kFailed);
  world.Rest();
  EXPECT_THAT(world.TakeCalls(),
              ElementsAre("PUT resourceclaims/status mine", "DELETE resourceclaims mine"));
}

// A pod of the consumer's name, but not the consumer, is what the server answers with.
TEST(ClaimControllerStory, AnUnknownConsumerHasASuccessor) {
  World world(Slow(/*write=*/0.010, /*watch=*/0.050));
  const Uid old_pod = world.AddPod("pod", {"gpu=claim"});
  world.AddClaim("claim", [&](ResourceClaim* c) { c->status = world.Allocated({old_pod}); });
  world.RemovePod(old_pod);
  world.StartController();
  world.RunMillis(5);
  world.AddPod("pod", {"gpu=claim"});
  world.Rest();
  EXPECT_THAT(world.TakeCalls(), ElementsAre("GET pods pod", "PUT resourceclaims/status claim"));
  EXPECT_THAT(world.State(), ElementsAre("claim claim class allocated deallocate"));
}

TEST(ClaimControllerStory, ARestartForgetsWhichPodsHaveGone) {
  for (const bool restart : {false, true}) {
    World world;
    const Uid pod = world.AddPod("pod", {"gpu=claim"});
    const Consumer consumer = world.ConsumerOf(pod);
    const Uid claim = world.AddClaim("claim");
    world.StartController();
    world.RemovePod(pod);
    world.Rest();
    if (restart) world.network().Restart(world.controller_client().id(), SimDuration());
    world.Rest();
    world.ChangeClaimStatus(claim, [&](ResourceClaimStatus* status) {
      *status = world.Allocated({});
      status->reserved_for.push_back(consumer);
    });
    world.Rest();
    Lines calls = {"PUT resourceclaims/status claim"};
    if (restart) calls.insert(calls.begin(), "GET pods pod = 404");
    EXPECT_EQ(world.TakeCalls(), calls);
  }
}

TEST(ClaimControllerStory, SoManyWorkersWorkAtATime) {
  for (const auto& [workers, rounds] : {std::pair<int, int64_t>(1, 6), {2, 4}, {3, 2}, {10, 2}}) {
    WorldOptions options = Slow(/*write=*/0.010, /*watch=*/0);
    options.workers = workers;
    World world(options);
    world.AddTemplate("template");
    for (const char* name : {"a", "b", "c"}) world.AddPod(name, {"gpu"});
    world.StartController();
    world.RunMillis(10 * rounds - 1);
    EXPECT_LT(world.TakeCalls().size(), 6u) << workers;
    EXPECT_FALSE(world.controller().idle());
    world.RunMillis(1);
    EXPECT_THAT(world.TakeCalls(), testing::Contains("PATCH pods/status c")) << workers;
    EXPECT_TRUE(world.controller().idle());
  }
}

// It takes up its work again after a restart at any time. A creation whose reply it missed can be
// lost: then it makes another claim, and the lost one goes with the pod.
TEST(ClaimControllerStory, RestartAtAnyTime) {
  size_t most_claims = 0;
  for (int64_t ms = 0; ms < 120; ms += 3) {
    SCOPED_TRACE(ms);
    World world(Slow(/*write=*/0.020, /*watch=*/0.010));
    world.AddTemplate("template");
    world.StartController();
    world.StartCollector();
    const Uid pod = world.AddPod("pod", {"gpu", "nic"});
    world.RunMillis(ms);
    world.network().Restart(world.controller_client().id(), SimDuration::Millis(7));
    world.Rest();
    EXPECT_TRUE(world.controller().idle());
    ASSERT_EQ(world.pod(pod)->claim_names.size(), 2u);
    for (const char* entry : {"gpu", "nic"}) {
      const Ref<ResourceClaim> claim = world.ClaimOf(pod, entry);
      ASSERT_NE(claim, nullptr);
      EXPECT_EQ(claim->meta.owner, pod);
      EXPECT_EQ(claim->pod_claim_name.text(), entry);
    }
    const size_t claims = world.objects().of<ResourceClaim>().size();
    most_claims = std::max(most_claims, claims);
    EXPECT_LE(claims, 3u) << absl::StrJoin(world.TakeCalls(), "\n");
    world.RemovePod(pod);
    world.Rest();
    EXPECT_THAT(world.State(), IsEmpty());
  }
  EXPECT_EQ(most_claims, 3u);
}

TEST(ClaimControllerStory, Until27OnlyTheEndOfThePodObjectReleases) {
  World world(OfRelease(DraRelease::k27));
  world.AddTemplate("template");
  world.StartController();
  const Uid pod = world.AddPod("pod", {"gpu", "mine=own"}, OnWorker);
  const Uid own = world.AddClaim("own");
  world.Rest();
  // No status, no service for pods bound by hand.
  EXPECT_THAT(world.TakeCalls(), ElementsAre("POST resourceclaims pod-gpu"));
  const Uid made = world.objects().claim(world.ns(), world.In("pod-gpu"))->meta.uid;
  for (const Uid claim : {own, made}) {
    world.ChangeClaimStatus(claim, [&](ResourceClaimStatus* s) { *s = world.Allocated({pod}); });
  }
  world.SetPhase(pod, KubePodPhase::kSucceeded);
  world.Rest();
  EXPECT_THAT(world.TakeCalls(), IsEmpty());
  EXPECT_THAT(world.State(), ElementsAre("claim own class allocated for pods/pod",
                                         "claim pod-gpu of pod class allocated for pods/pod"));
  // Nor is the claim deleted that a finished pod has never used.
  const Uid idle = world.AddPod("idle", {"gpu"});
  world.Rest();
  world.SetPhase(idle, KubePodPhase::kFailed);
  world.Rest();
  EXPECT_THAT(world.TakeCalls(), ElementsAre("POST resourceclaims idle-gpu"));

  world.RemovePod(pod);
  world.Rest();
  EXPECT_THAT(world.TakeCalls(),
              ElementsAre("PUT resourceclaims/status pod-gpu", "PUT resourceclaims/status own"));
  // Deallocation of idle claims came with 1.28.
  EXPECT_THAT(world.State(),
              ElementsAre("claim own class allocated", "claim pod-gpu of pod class allocated",
                          "claim idle-gpu of idle class"));
}

// The mixed-up test for deleted claims came with 1.32, after classic DRA: up to 1.31 the event of a
// claim brings the claim itself.
TEST(ClaimControllerStory, In31ClaimEventsWakeTheClaimItself) {
  for (const bool strict : {true, false}) {
    WorldOptions options = OfRelease(DraRelease::k31);
    options.behaviour.strict_upstream = strict;
    World world(options);
    const Uid gone = world.AddPod("gone", {"gpu=claim"});
    const Uid claim = world.AddClaim("claim");
    const Consumer consumer = world.ConsumerOf(gone);
    world.StartController();
    world.RemovePod(gone);
    world.Rest();
    world.ChangeClaimStatus(claim, [&](ResourceClaimStatus* s) {
      *s = world.Allocated({});
      s->reserved_for.push_back(consumer);
    });
    world.Rest();
    EXPECT_EQ(world.TakeCalls().size(), 1u);
  }
}

// A cluster of six names for pods and four for users' claims, with everybody acting at random.
class RandomCluster {
 public:
  RandomCluster(uint64_t seed, DraRelease release)
      : random_(seed, "claim controller"), world_(Options(release)) {
    world_.AddTemplate("template");
    world_.StartController();
    world_.StartCollector();
  }

  void Go() {
    for (int step = 0; step < 300; ++step) {
      world_.RunMillis(static_cast<int64_t>(random_.Below(25)));
      Act();
      NoteReservations();
    }
    // From now on only the drivers act.
    for (int round = 0; round < 40; ++round) {
      FreeAll();
      world_.Run(SimDuration::Seconds(20));
      NoteReservations();
    }
    world_.Rest();
  }

  void Check() {
    EXPECT_TRUE(world_.controller().idle() && world_.collector().idle());
    for (const auto& pod : world_.objects().of<Pod>().Sorted()) CheckPod(*pod);
    for (const auto& claim : world_.objects().of<ResourceClaim>().Sorted()) CheckClaim(*claim);
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << absl::StrJoin(world_.State(), "\n") << "\n"
                    << absl::StrJoin(world_.TakeCalls(), "\n");
    }
  }

  size_t given() const { return given_; }

 private:
  WorldOptions Options(DraRelease release) {
    WorldOptions options = Slow(0.001 * static_cast<double>(random_.Below(30)),
                                0.001 * static_cast<double>(random_.Below(60)));
    options.behaviour.release = release;
    options.remembered_uids = random_.Below(4);
    return options;
  }

  void Act() {
    switch (random_.Below(12)) {
      case 0:
      case 1:
        AddPod();
        break;
      case 2:
        AddClaim();
        break;
      case 3:
      case 4:
      case 5:
        UseClaim();
        break;
      case 6:
      case 7:
        MovePod();
        break;
      case 8:
        FreeAll();
        break;
      case 9:
        if (const Ref<ResourceClaim> claim = AnyClaim(); random_.Below(4) == 0 && claim) {
          world_.Delete(claim);
        }
        break;
      case 10:
        if (const Ref<Pod> pod = AnyPod(); random_.Below(2) == 0 && pod != nullptr) {
          world_.Delete(pod, /*force=*/random_.Below(2) == 0);
        }
        break;
      default:
        Disturb();
    }
  }

  void AddPod() {
    const std::string name = absl::StrCat("p", random_.Below(6));
    if (world_.objects().of<Pod>().Find(world_.ns(), world_.In(name)) != nullptr) return;
    Lines entries;
    for (const char* entry : {"gpu", "nic"}) {
      if (random_.Below(2) == 0) entries.push_back(entry);
    }
    if (random_.Below(2) == 0) entries.push_back(absl::StrCat("mine=c", random_.Below(4)));
    const bool bound = random_.Below(4) == 0;
    world_.AddPod(name, entries, [bound](Pod* pod) {
      if (bound) OnWorker(pod);
    });
  }

  void AddClaim() {
    const std::string name = absl::StrCat("c", random_.Below(4));
    if (world_.objects().claim(world_.ns(), world_.In(name)) != nullptr) return;
    const bool immediate = random_.Below(3) == 0;
    world_.AddClaim(name, [immediate](ResourceClaim* claim) {
      if (immediate) claim->spec.mode = AllocationMode::kImmediate;
    });
  }

  // Driver and scheduler: allocates it, or gives it to a pod that uses it.
  void UseClaim() {
    auto claim = AnyClaim();
    if (claim == nullptr || claim->meta.deleting || claim->status.deallocation_requested) return;
    if (claim->status.allocation == nullptr) {
      Allocate(&world_, claim->meta.uid, {}, /*shareable=*/random_.Below(2) == 0);
      claim = world_.claim(claim->meta.uid);
    }
    for (const auto& pod : world_.objects().of<Pod>().Sorted()) {
      if (IsDone(*pod) || pod->meta.deleting || !Uses(*pod, *claim)) continue;
      if (IsReservedFor(*claim, pod->meta.uid) || !CanBeReserved(*claim)) continue;
      world_.ChangeClaimStatus(claim->meta.uid, [&](ResourceClaimStatus* status) {
        status->reserved_for.push_back(world_.ConsumerOf(pod->meta.uid));
      });
      ++given_;
      return;
    }
  }
  static bool Uses(const Pod& pod, const ResourceClaim& claim) {
    return claim.meta.owner == pod.meta.uid ||
           std::any_of(pod.claims.begin(), pod.claims.end(),
                       [&](const PodClaim& entry) { return entry.claim == claim.meta.name; });
  }

  void MovePod() {
    const Ref<Pod> pod = AnyPod();
    if (pod == nullptr || IsDone(*pod)) return;
    if (!pod->node.valid()) {
      world_.Bind(pod->meta.uid);
    } else {
      world_.SetPhase(pod->meta.uid, pod->phase == KubePodPhase::kPending
                                         ? KubePodPhase::kRunning
                                         : KubePodPhase::kSucceeded);
    }
  }

  void FreeAll() {
    for (const auto& claim : world_.objects().of<ResourceClaim>().Sorted()) {
      const ResourceClaimStatus& status = claim->status;
      if (!status.reserved_for.empty()) continue;
      if (claim->meta.deleting) {
        if (!claim->meta.finalizers.empty()) world_.FreeClaim(claim->meta.uid);
      } else if (status.deallocation_requested) {
        world_.ChangeClaimStatus(claim->meta.uid,
                                 [](ResourceClaimStatus* next) { *next = ResourceClaimStatus(); });
      }
    }
  }

  void Disturb() {
    const ClientId client = world_.controller_client().id();
    if (random_.Below(4) == 0) {
      world_.network().Restart(client, SimDuration::Millis(50));
    } else if (random_.Below(3) == 0) {
      world_.network().BreakWatch(client, SimDuration::Millis(200));
    }
  }

  Ref<Pod> AnyPod() {
    const auto pods = world_.objects().of<Pod>().Sorted();
    return pods.empty() ? nullptr : pods[random_.Below(pods.size())];
  }
  Ref<ResourceClaim> AnyClaim() {
    const auto claims = world_.objects().of<ResourceClaim>().Sorted();
    return claims.empty() ? nullptr : claims[random_.Below(claims.size())];
  }

  // Which reservations there have been, and which claims have been in use since their allocation.
  void NoteReservations() {
    for (const auto& claim : world_.objects().of<ResourceClaim>().Sorted()) {
      if (claim->status.allocation == nullptr) used_.erase(claim->meta.uid);
      for (const Consumer& consumer : claim->status.reserved_for) {
        reservations_.insert({claim->meta.uid, consumer.uid});
        used_.insert(claim->meta.uid);
      }
    }
  }

  void CheckPod(const Pod& pod) {
    SCOPED_TRACE(absl::StrCat("pod ", pod.meta.name.text(), " uid ", pod.meta.uid));
    if (pod.meta.deleting) return;
    for (const PodClaim& entry : pod.claims) {
      const bool own = !entry.from_template.empty();
      const Ref<ResourceClaim> claim = own ? world_.ClaimOf(pod.meta.uid, entry.entry.text())
                                           : world_.objects().claim(world_.ns(), entry.claim);
      if (IsDone(pod)) {
        EXPECT_TRUE(!own || claim == nullptr);
        continue;
      }
      EXPECT_TRUE(!own || claim != nullptr) << entry.entry.text();
      if (own && claim != nullptr) {
        EXPECT_EQ(claim->meta.owner, pod.meta.uid);
      }
      if (claim == nullptr || !pod.node.valid()) continue;
      if (claim->status.allocation == nullptr) {
        const auto context = world_.objects().context(world_.ns(), pod.meta.name);
        EXPECT_TRUE(claim->spec.mode == AllocationMode::kImmediate ||
                    (context != nullptr && context->selected == pod.node));
        if (claim->spec.mode != AllocationMode::kImmediate) return;  // one after the other
        continue;
      }
      EXPECT_TRUE(!CanBeReserved(*claim) || IsReservedFor(*claim, pod.meta.uid));
    }
  }

  void CheckClaim(const ResourceClaim& claim) {
    SCOPED_TRACE(absl::StrCat("claim ", claim.meta.name.text(), " uid ", claim.meta.uid));
    const Uid uid = claim.meta.uid;
    for (const Consumer& consumer : claim.status.reserved_for) {
      const Ref<Pod> pod = world_.pod(consumer.uid);
      EXPECT_TRUE(pod != nullptr && !IsDone(*pod)) << consumer.name.text();
    }
    for (const auto& [reserved, user] : reservations_) {
      const Ref<Pod> pod = world_.pod(user);
      if (reserved != uid || pod == nullptr || IsDone(*pod)) continue;
      EXPECT_TRUE(IsReservedFor(claim, user)) << pod->meta.name.text();
    }
    if (claim.meta.owner != 0) {
      EXPECT_NE(world_.pod(claim.meta.owner), nullptr);
    }
    const bool idle = claim.status.allocation != nullptr && claim.status.reserved_for.empty();
    if (idle && claim.spec.mode == AllocationMode::kWaitForFirstConsumer) {
      EXPECT_FALSE(used_.contains(uid)) << "it should have been deallocated";
    }
  }

  Random random_;
  World world_;
  std::set<std::pair<Uid, Uid>> reservations_;  // claim, pod
  std::set<Uid> used_;
  size_t given_ = 0;
};

TEST(ClaimControllerStory, RandomClusters) {
  size_t given = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    RandomCluster cluster(seed, seed % 2 == 0 ? DraRelease::k28 : DraRelease::k29);
    cluster.Go();
    cluster.Check();
    given += cluster.given();
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(given, 300u);  // it is about something
}

}  // namespace claim_controller_test
}  // namespace drasim
