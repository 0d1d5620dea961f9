// The claim controller's decisions, one at a time and without latencies. The first table has
// upstream's names for its cases (pkg/controller/resourceclaim/controller_test.go).

#include "sim/dra/claim_controller.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "model/time.h"
#include "sim/dra/api_types.h"
#include "sim/dra/dra_release.h"
#include "tests/sim/dra/claim_controller_world.h"

namespace drasim {
namespace claim_controller_test {

using claim_controller_testing::kWorker;
using claim_controller_testing::Lines;
using claim_controller_testing::OfRelease;
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

// Those of upstream's cases that need a past or a failure.

TEST(ClaimControllerTest, missing_template) {
  World world;
  world.AddPod("pod", {"gpu"});
  world.StartController();
  world.RunMillis(100);
  EXPECT_THAT(world.TakeCalls(), IsEmpty());
  // At 0, 5, 15, 35 and 75 ms.
  EXPECT_EQ(world.controller().failed_creations(), 5u);
  EXPECT_FALSE(world.controller().idle());

  world.AddTemplate("template");  // nobody is told; the next attempt is at 155 ms
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

// Since 1.28 the foreign claim is in nobody's way, unless the status names it.
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
  world.ChangeClaimStatus(claim, [&](ClaimStatus* s) { *s = world.Allocated({pod}); });
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
  // One of them is made anew; the other's name stays.
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
  // It was idle for a moment, so it has to be deallocated; nobody may reserve it until then.
  EXPECT_THAT(world.TakeCalls(), ElementsAre("PUT resourceclaims/status claim",
                                             "PUT resourceclaims/status claim = 422"));
  EXPECT_THAT(world.State(), ElementsAre("claim claim class allocated alone deallocate",
                                         "claim other class immediate"));
}

}  // namespace claim_controller_test
}  // namespace drasim
