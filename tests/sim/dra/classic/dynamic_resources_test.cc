// Upstream's TestPlugin, case by case and by its names, under releases 1.28, 1.29 and 1.30: all
// points of the plugin in turn against a real server, the objects and the calls compared after each
// (kubernetes/kubernetes pkg/scheduler/framework/plugins/dynamicresources).
#include "sim/dra/classic/dynamic_resources.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/sim/dra/classic/component_rig.h"

namespace drasim {
namespace dynamic_resources_test {

using dynamic_resources_testing::Code;
using dynamic_resources_testing::kWorker;
using dynamic_resources_testing::Objects;
using dynamic_resources_testing::OfRelease;
using dynamic_resources_testing::Plugin;
using dynamic_resources_testing::Reason;
using dynamic_resources_testing::Status;
using dynamic_resources_testing::Verify;
using dynamic_resources_testing::Want;
using dynamic_resources_testing::World;
using Mode = AllocationMode;
using dynamic_resources_testing::Hint;

constexpr char kClaim[] = "my-pod-my-resource";
constexpr char kPutClaim[] = "PUT resourceclaims/status my-pod-my-resource 200";
constexpr char kPatchClaim[] = "PATCH resourceclaims/status my-pod-my-resource 200";
constexpr char kPostContext[] = "POST podschedulingcontexts my-pod 200";
constexpr char kPutContext[] = "PUT podschedulingcontexts my-pod 200";
constexpr char kDeleteContext[] = "DELETE podschedulingcontexts my-pod 200";
constexpr char kNoContext[] = "DELETE podschedulingcontexts my-pod 404";

// The expected action at each point; by default nothing, with success.
struct Wants {
  Want pre_enqueue, pre_filter, filter, pre_score, reserve, unreserve, pre_bind, post_bind,
      post_filter;
  // The binding fails after PreBind, so that Unreserve comes instead of PostBind.
  bool bind_fails = false;

  // The point at which a release writes: Reserve until 1.29, then PreBind.
  Want& writes(const World& world) {
    return world.behaviour().writes_in_pre_bind() ? pre_bind : reserve;
  }
};

struct PluginCase {
  const char* name;
  std::function<void(World&)> objects;
  std::function<Wants(World&)> wants;
  // Another client's action right before the plugin writes.
  std::function<void(World&)> meanwhile = nullptr;
};

// --- The objects of upstream's cases. ---

void NamedPod(World& w) { w.pod = w.AddPod(w.PodWith("my-pod", {"my-resource"})); }

void TemplatePod(World& w, bool in_status) {
  Pod pod = w.PodWith("my-pod", {"my-resource"});
  pod.claims[0].from_template = std::exchange(pod.claims[0].claim, Name());
  if (in_status) pod.claim_names = {{w.N("my-resource"), w.N(kClaim)}};
  w.pod = w.AddPod(pod);
}

ResourceClaim Pending(World& w, Mode mode) {
  return w.ClaimOf("my-resource", mode, w.pod->meta.uid);
}

ResourceClaim Allocated(World& w, const NodeSet& nodes, Mode mode = Mode::kWaitForFirstConsumer) {
  ResourceClaim claim = Pending(w, mode);
  w.Allocate(nodes, false, &claim);
  return claim;
}

void OtherClaim(World& w) {
  ResourceClaim claim = Pending(w, Mode::kImmediate);
  claim.meta.name = w.N("not-my-claim");
  claim.meta.owner = 0;
  w.AddClaim(claim);
}

void InUseClaim(World& w, Uid user) {
  ResourceClaim claim = Allocated(w, NodeSet(), Mode::kImmediate);
  claim.status.reserved_for.push_back({w.N("pods"), w.N("my-pod"), user});
  w.AddClaim(claim);
}

// The drivers of both entries have answered about the worker node.
void InfoContext(World& w) {
  PodSchedulingContext context = w.ContextOf(*w.pod);
  context.potential = {kWorker};
  context.claims = {{w.N("my-resource"), {}}, {w.N("my-resource-2"), {}}};
  w.AddContext(context);
}

// --- Expected outcomes of the cases. ---

Status Rejected(World& w, Reason reason, const char* object = kClaim) {
  return {Code::kUnresolvable, reason, w.N(object)};
}
Status Nothing() { return {Code::kUnschedulable, Reason::kStillNotSchedulable, Name()}; }
Status Waits(const World& w, Reason reason) {
  return {w.behaviour().pending_status() ? Code::kPending : Code::kUnschedulable, reason, Name()};
}

ResourceClaim& ClaimIn(Objects* objects, const char* name) {
  return *std::find_if(objects->claims.begin(), objects->claims.end(),
                       [name](const ResourceClaim& c) { return c.meta.name.text() == name; });
}

// The pod reserves its claim and is bound; no context was ever made unless `delete_call` says so.
Wants ReservesAndBinds(World& w, const char* delete_call = kNoContext) {
  Wants wants;
  const Consumer consumer = w.ConsumerOf(*w.pod);
  wants.writes(w).change = [consumer](Objects* o) {
    ClaimIn(o, kClaim).status.reserved_for.push_back(consumer);
  };
  const bool patches = w.behaviour().release == DraRelease::k30;
  wants.writes(w).calls = {patches ? kPatchClaim : kPutClaim};
  wants.post_bind.calls = {delete_call};
  return wants;
}

// The plugin publishes; the pod does not get any further.
Wants Publishes(World& w, Reason reason, const char* call, std::function<void(Objects*)> change) {
  Wants wants;
  wants.writes(w) = {Waits(w, reason), std::move(change), {call}};
  return wants;
}

Wants RejectedBy(Want Wants::*point, const Status& status) {
  Wants wants;
  (wants.*point).status = status;
  wants.post_filter.status = Nothing();
  return wants;
}

void TwoPendingClaims(World& w) {
  w.pod = w.AddPod(w.PodWith("my-pod", {"my-resource", "my-resource-2"}));
  w.AddClass("my-resource-class");
  w.AddClaim(Pending(w, Mode::kWaitForFirstConsumer));
  w.AddClaim(w.ClaimOf("my-resource-2", Mode::kWaitForFirstConsumer, w.pod->meta.uid));
}

void OnePendingClaim(World& w) {
  NamedPod(w);
  w.AddClass("my-resource-class");
  w.AddClaim(Pending(w, Mode::kWaitForFirstConsumer));
}

NodeSet ElsewhereOnly() { return NodeSet::Of({NodeId(uint32_t{1})}); }

std::vector<PluginCase> BasicCases() {
  return {
      {"empty", [](World& w) { w.pod = w.AddPod(w.PodWith("foo", {})); },
       [](World&) {
         return RejectedBy(&Wants::pre_filter, {Code::kSkip, Reason::kNone, Name()});
       }},
      {"claim-reference",
       [](World& w) {
         NamedPod(w);
         w.AddClaim(Allocated(w, NodeSet()));
         OtherClaim(w);
       },
       [](World& w) { return ReservesAndBinds(w); }},
      {"claim-template",
       [](World& w) {
         TemplatePod(w, true);
         w.AddClaim(Allocated(w, NodeSet()));
         OtherClaim(w);
       },
       [](World& w) { return ReservesAndBinds(w); }},
      {"missing-claim",
       [](World& w) {
         TemplatePod(w, false);  // the controller has not written the pod's status
         w.AddClaim(Allocated(w, NodeSet()));
         OtherClaim(w);
       },
       [](World& w) {
         return RejectedBy(&Wants::pre_enqueue, Rejected(w, Reason::kClaimMissing, ""));
       }},
      {"deleted-claim",
       [](World& w) {
         TemplatePod(w, true);
         ResourceClaim claim = Allocated(w, NodeSet());
         claim.meta.finalizers = {w.N("some-driver/deletion-protection")};
         w.AddClaim(claim);
         w.Delete(ObjectKind::kResourceClaim, kClaim);
       },
       [](World& w) {
         return RejectedBy(&Wants::pre_enqueue, Rejected(w, Reason::kClaimBeingDeleted));
       }},
      {"wrong-claim",
       [](World& w) {
         TemplatePod(w, true);
         ResourceClaim claim = Allocated(w, NodeSet());
         claim.meta.owner += 123;
         w.AddClaim(claim);
       },
       [](World& w) {
         return RejectedBy(&Wants::pre_enqueue, Rejected(w, Reason::kClaimOfAnotherPod));
       }},
  };
}

std::vector<PluginCase> UnreadyClaimCases() {
  return {
      {"waiting-for-immediate-allocation",
       [](World& w) {
         NamedPod(w);
         w.AddClaim(Pending(w, Mode::kImmediate));
       },
       [](World& w) {
         return RejectedBy(&Wants::pre_filter, Rejected(w, Reason::kUnallocatedImmediate));
       }},
      {"waiting-for-deallocation",
       [](World& w) {
         NamedPod(w);
         ResourceClaim claim = Allocated(w, NodeSet(), Mode::kImmediate);
         claim.status.deallocation_requested = true;
         w.AddClaim(claim);
       },
       [](World& w) {
         return RejectedBy(&Wants::pre_filter, Rejected(w, Reason::kMustBeReallocated));
       }},
      {"in-use-by-other",
       [](World& w) {
         NamedPod(w);
         InUseClaim(w, w.pod->meta.uid + 1000);  // by a former pod of the same name
       },
       [](World& w) { return RejectedBy(&Wants::pre_filter, Rejected(w, Reason::kClaimInUse)); }},
      {"reserved-okay",
       [](World& w) {
         NamedPod(w);
         InUseClaim(w, w.pod->meta.uid);
       },
       [](World&) {
         Wants wants;
         wants.post_bind.calls = {kNoContext};
         return wants;
       }},
  };
}

std::vector<PluginCase> DelayedCases() {
  return {
      {"delayed-allocation-missing-class",
       [](World& w) {
         NamedPod(w);
         w.AddClaim(Pending(w, Mode::kWaitForFirstConsumer));
       },
       [](World& w) {
         return RejectedBy(&Wants::pre_filter,
                           Rejected(w, Reason::kClassMissing, "my-resource-class"));
       }},
      {"delayed-allocation-scheduling-select-immediately", OnePendingClaim,
       [](World& w) {
         PodSchedulingContext context = w.ContextOf(*w.pod);
         context.potential = {kWorker};
         context.selected = kWorker;
         return Publishes(w, Reason::kWaitsForAllocation, kPostContext,
                          [context](Objects* o) { o->contexts.push_back(context); });
       }},
      {"delayed-allocation-scheduling-ask", TwoPendingClaims,
       [](World& w) {
         PodSchedulingContext context = w.ContextOf(*w.pod);
         context.potential = {kWorker};
         return Publishes(w, Reason::kWaitsForInformation, kPostContext,
                          [context](Objects* o) { o->contexts.push_back(context); });
       }},
      {"delayed-allocation-scheduling-finish",
       [](World& w) {
         TwoPendingClaims(w);
         InfoContext(w);
       },
       [](World& w) {
         return Publishes(w, Reason::kWaitsForAllocation, kPutContext,
                          [](Objects* o) { o->contexts[0].selected = kWorker; });
       }},
  };
}

std::vector<PluginCase> NextDelayedCases() {
  return {
      // Upstream's stranger adds a label, which these objects do not have: here a driver writes the
      // status again. Either way the version is another, and nothing is in conflict.
      {"delayed-allocation-scheduling-finish-concurrent-label-update",
       [](World& w) {
         TwoPendingClaims(w);
         InfoContext(w);
       },
       [](World& w) {
         const char* refused = "PUT podschedulingcontexts my-pod 409";
         if (!w.behaviour().apply_on_conflict()) {
           Wants wants;
           wants.reserve = {{Code::kError, Reason::kConflict, w.N("my-pod")}, nullptr, {refused}};
           return wants;
         }
         Wants wants = Publishes(w, Reason::kWaitsForAllocation, refused,
                                 [](Objects* o) { o->contexts[0].selected = kWorker; });
         wants.writes(w).calls.push_back("PATCH podschedulingcontexts my-pod 200");
         return wants;
       },
       [](World& w) {
         PodSchedulingContext context =
             *w.network().server().objects().context(w.N("default"), w.N("my-pod"));
         context.claims[1].unsuitable = {NodeId(uint32_t{3})};
         w.Send(Verb::kUpdateStatus, context);
       }},
      {"delayed-allocation-scheduling-completed",
       [](World& w) {
         NamedPod(w);
         w.AddClass("my-resource-class");
         w.AddClaim(Allocated(w, NodeSet()));
         InfoContext(w);
       },
       [](World& w) {
         Wants wants = ReservesAndBinds(w, kDeleteContext);
         wants.post_bind.change = [](Objects* o) { o->contexts.clear(); };
         return wants;
       }},
  };
}

std::vector<PluginCase> TopologyCases() {
  return {
      {"wrong-topology-delayed-allocation",
       [](World& w) {
         NamedPod(w);
         w.AddClaim(Allocated(w, ElsewhereOnly()));
       },
       [](World& w) {
         Wants wants = RejectedBy(&Wants::filter, Rejected(w, Reason::kNotAvailableOnNode));
         const Code code =
             w.behaviour().preempts_after_deallocation() ? Code::kUnschedulable : Code::kSuccess;
         wants.post_filter = {
             {code, Reason::kDeallocating, w.N(kClaim)},
             [](Objects* o) { ClaimIn(o, kClaim).status.deallocation_requested = true; },
             {kPutClaim}};
         return wants;
       }},
      {"wrong-topology-immediate-allocation",
       [](World& w) {
         NamedPod(w);
         w.AddClaim(Allocated(w, ElsewhereOnly(), Mode::kImmediate));
       },
       [](World& w) {
         return RejectedBy(&Wants::filter, Rejected(w, Reason::kNotAvailableOnNode));
       }},
      {"good-topology",
       [](World& w) {
         NamedPod(w);
         w.AddClaim(Allocated(w, NodeSet::Of({kWorker})));
       },
       [](World& w) { return ReservesAndBinds(w); }},
      {"bind-failure",
       [](World& w) {
         NamedPod(w);
         w.AddClaim(Allocated(w, NodeSet::Of({kWorker})));
       },
       [](World& w) {
         Wants wants = ReservesAndBinds(w);
         wants.bind_fails = true;
         // Until 1.29 Reserve forgets what it has reserved.
         if (!w.behaviour().unreserves_own()) return wants;
         wants.unreserve.change = [](Objects* o) {
           ClaimIn(o, kClaim).status.reserved_for.clear();
         };
         wants.unreserve.calls = {kPatchClaim};
         return wants;
       }},
  };
}

std::vector<PluginCase> AllCases() {
  std::vector<PluginCase> cases = BasicCases();
  for (auto* more : {&UnreadyClaimCases, &DelayedCases, &NextDelayedCases, &TopologyCases}) {
    for (PluginCase& one : (*more)()) cases.push_back(std::move(one));
  }
  return cases;
}

class TestPlugin : public testing::TestWithParam<std::tuple<DraRelease, PluginCase>> {
 protected:
  TestPlugin() : world_(OfRelease(std::get<0>(GetParam()))) {}

  const PluginCase& test() const { return std::get<1>(GetParam()); }

  // One step, compared. Returns whether it succeeded.
  bool Step(const char* name, const Want& want, const std::function<Status()>& step) {
    const Objects before = world_.Snapshot();
    const Status status = step();
    Verify(world_, name, status, before, want);
    return status.code == Code::kSuccess;
  }
  void Meanwhile(bool here) {
    if (here && test().meanwhile) test().meanwhile(world_);
  }

  // From PreEnqueue to PreScore. Whether a node has been found; when not, PostFilter has run.
  bool FindNode(const Wants& wants) {
    Plugin& plugin = world_.plugin();
    Plugin::Cycle& cycle = world_.cycle;
    if (!Step("PreEnqueue", wants.pre_enqueue, [&] { return plugin.PreEnqueue(*world_.pod); })) {
      return false;
    }
    bool fits =
        Step("PreFilter", wants.pre_filter, [&] { return plugin.PreFilter(world_.pod, &cycle); });
    fits = fits && Step("Filter", wants.filter, [&] { return plugin.Filter(&cycle, kWorker); });
    if (!fits) {
      Step("PostFilter", wants.post_filter,
           [&] { return world_.Await(plugin.PostFilter(&cycle)); });
      return false;
    }
    // With one node, and all the same, as upstream's test does it.
    return Step("PreScore", wants.pre_score, [&] {
      plugin.PreScore(&cycle, {kWorker});
      return Status();
    });
  }

  World world_;
};

TEST_P(TestPlugin, DoesAsUpstream) {
  test().objects(world_);
  world_.Start();
  const Wants wants = test().wants(world_);
  if (!FindNode(wants)) return;
  Plugin& plugin = world_.plugin();
  Plugin::Cycle& cycle = world_.cycle;
  const bool late = world_.behaviour().writes_in_pre_bind();
  const auto unreserve = [&] { return world_.Await(plugin.Unreserve(&cycle, kWorker)); };

  Meanwhile(!late);
  bool goes_on =
      Step("Reserve", wants.reserve, [&] { return world_.Await(plugin.Reserve(&cycle, kWorker)); });
  if (goes_on) {
    Meanwhile(late);
    goes_on = Step("PreBind", wants.pre_bind,
                   [&] { return world_.Await(plugin.PreBind(&cycle, kWorker)); });
  }
  if (!goes_on || wants.bind_fails) {
    Step("Unreserve", wants.unreserve, unreserve);
    return;
  }
  Step("PostBind", wants.post_bind, [&] { return world_.Await(plugin.PostBind(&cycle)); });
  EXPECT_FALSE(world_.waited());
}

INSTANTIATE_TEST_SUITE_P(, TestPlugin,
                         testing::Combine(testing::Values(DraRelease::k28, DraRelease::k29,
                                                          DraRelease::k30),
                                          testing::ValuesIn(AllCases())),
                         [](const auto& param) {
                           return absl::StrCat(
                               "r", static_cast<int>(std::get<0>(param.param)), "_",
                               absl::StrReplaceAll(std::get<1>(param.param).name, {{"-", "_"}}));
                         });

// Upstream's case "disable" switches the whole feature off; a simulation without it has no plugin.
// The plugin itself can only have PreEnqueue switched off, before 1.28: then it lets everything
// into the queue, and PreFilter rejects the pod with the same reason.
TEST(TestPluginDisabled, disable) {
  for (const DraRelease release : {DraRelease::k26, DraRelease::k27, DraRelease::k28}) {
    World world(OfRelease(release));
    NamedPod(world);
    world.Start();
    const bool disabled = release < DraRelease::k28;
    const Status missing = Rejected(world, Reason::kClaimMissing);
    EXPECT_TRUE(world.plugin().PreEnqueue(*world.pod) == (disabled ? Status() : missing))
        << DraReleaseText(release);
    EXPECT_TRUE(world.plugin().PreFilter(world.pod, &world.cycle) == missing);
    EXPECT_TRUE(world.TakeMessages().empty());
  }
}

// ---- The queueing hints, by the names of upstream's cases (Test_isSchedulableAfterClaimChange,
// Test_isSchedulableAfterPodSchedulingContextChange), under 1.28, where a hint can say
// "immediately", and 1.29. Upstream's cases "...wrong-old-object" and "...wrong-new-object" pass
// something of another Go type. Objects have one type each here, so these keep the nearest meaning:
// an old state that is missing or far behind, a new object that is not the pod's although it has
// the name. ----

// An event about a pod, and what it should mean since 1.29.
template <typename T>
struct Change {
  std::optional<T> before;
  std::optional<T> after;
  Hint hint = Hint::kSkip;
  // Whether 1.28 says "immediately" instead of "queue".
  bool immediate = false;
};

template <typename T>
const T* PointerTo(const std::optional<T>& object) {
  return object.has_value() ? &*object : nullptr;
}

template <typename T>
Hint WantIn(DraRelease release, const Change<T>& change) {
  return release == DraRelease::k28 && change.immediate ? Hint::kQueueImmediately : change.hint;
}

using ClaimChange = Change<ResourceClaim>;
using ContextChange = Change<PodSchedulingContext>;

struct ClaimCase {
  const char* name;
  std::function<ClaimChange(World&)> make;
};
struct ContextCase {
  const char* name;
  std::function<ContextChange(World&)> make;
};

void AddNamedPod(World& w, const std::vector<std::string>& entries = {"my-resource"}) {
  w.pod = w.AddPod(w.PodWith("my-pod", entries));
}

void AddTemplatePod(World& w, bool in_status) {
  Pod pod = w.PodWith("my-pod", {"my-resource"});
  pod.claims[0].from_template = std::exchange(pod.claims[0].claim, Name());
  if (in_status) pod.claim_names = {{w.N("my-resource"), w.N("my-pod-my-resource")}};
  w.pod = w.AddPod(pod);
}

Ref<ResourceClaim> AddPending(World& w, Mode mode, const char* entry = "my-resource") {
  return w.AddClaim(w.ClaimOf(entry, mode, w.pod->meta.uid));
}

ResourceClaim WithAllocation(World& w, ResourceClaim claim) {
  w.Allocate(NodeSet(), false, &claim);
  return claim;
}

std::vector<ClaimCase> UpstreamClaimCases() {
  return {
      {"skip-deletes",
       [](World& w) {
         AddNamedPod(w);
         const auto claim = AddPending(w, Mode::kWaitForFirstConsumer);
         return ClaimChange{WithAllocation(w, *claim), std::nullopt, Hint::kSkip, false};
       }},
      // The claim of the name in a former life.
      {"backoff-wrong-new-object",
       [](World& w) {
         AddNamedPod(w);
         ResourceClaim former = *AddPending(w, Mode::kWaitForFirstConsumer);
         former.meta.uid += 1000;
         return ClaimChange{std::nullopt, former, Hint::kSkip, false};
       }},
      {"skip-wrong-claim",
       [](World& w) {
         AddTemplatePod(w, true);
         ResourceClaim claim =
             w.ClaimOf("my-resource", Mode::kWaitForFirstConsumer, w.pod->meta.uid + 123);
         return ClaimChange{std::nullopt, *w.AddClaim(claim), Hint::kSkip, false};
       }},
      {"skip-unrelated-claim",
       [](World& w) {
         AddNamedPod(w);
         AddPending(w, Mode::kWaitForFirstConsumer);
         ResourceClaim other =
             w.ClaimOf("my-resource-foo", Mode::kWaitForFirstConsumer, w.pod->meta.uid);
         return ClaimChange{std::nullopt, *w.AddClaim(other), Hint::kSkip, false};
       }},
      {"queue-on-add",
       [](World& w) {
         AddNamedPod(w);
         return ClaimChange{std::nullopt, *AddPending(w, Mode::kImmediate), Hint::kQueue, true};
       }},
      // No old state, though the object is not new: the watch was broken.
      {"backoff-wrong-old-object",
       [](World& w) {
         AddNamedPod(w);
         const ResourceClaim claim =
             WithAllocation(w, w.ClaimOf("my-resource", Mode::kImmediate, 0));
         return ClaimChange{std::nullopt, *w.AddClaim(claim), Hint::kQueue, true};
       }},
      {"skip-adding-finalizer",
       [](World& w) {
         AddNamedPod(w);
         const ResourceClaim before = *AddPending(w, Mode::kImmediate);
         ResourceClaim after = before;
         after.meta.finalizers.push_back(w.N("foo"));
         return ClaimChange{before, after, Hint::kSkip, false};
       }},
      {"queue-on-status-change",
       [](World& w) {
         AddNamedPod(w);
         const ResourceClaim before = *AddPending(w, Mode::kImmediate);
         return ClaimChange{before, WithAllocation(w, before), Hint::kQueue, true};
       }},
  };
}

std::vector<ClaimCase> ClaimCases() {
  std::vector<ClaimCase> cases = UpstreamClaimCases();
  const std::vector<ClaimCase> ours = {
      // Ours: the other claim of the pod is not there yet.
      {"skip-incomplete-pod",
       [](World& w) {
         AddNamedPod(w, {"my-resource", "my-resource-2"});
         const ResourceClaim before = *AddPending(w, Mode::kImmediate);
         return ClaimChange{before, WithAllocation(w, before), Hint::kSkip, false};
       }},
      // Ours: the other claim of the pod is on its way out.
      {"skip-pod-with-deleted-claim",
       [](World& w) {
         AddNamedPod(w, {"my-resource", "my-resource-2"});
         const ResourceClaim before = *AddPending(w, Mode::kImmediate);
         ResourceClaim other = w.ClaimOf("my-resource-2", Mode::kImmediate, 0);
         other.meta.finalizers.push_back(w.N("foo"));
         w.AddClaim(other);
         w.Delete(ObjectKind::kResourceClaim, "my-pod-my-resource-2");
         return ClaimChange{before, WithAllocation(w, before), Hint::kSkip, false};
       }},
      // Ours: no rule asks whether the new status is better than the old one.
      {"queue-on-deallocation-request",
       [](World& w) {
         AddNamedPod(w);
         const ResourceClaim before =
             WithAllocation(w, *AddPending(w, Mode::kWaitForFirstConsumer));
         ResourceClaim after = before;
         after.status.deallocation_requested = true;
         return ClaimChange{before, after, Hint::kQueue, true};
       }},
      // Ours: an equal status in another place of memory is equal.
      {"skip-copied-status",
       [](World& w) {
         AddNamedPod(w);
         const ResourceClaim bare = *AddPending(w, Mode::kWaitForFirstConsumer);
         return ClaimChange{WithAllocation(w, bare), WithAllocation(w, bare), Hint::kSkip, false};
       }},
  };
  cases.insert(cases.end(), ours.begin(), ours.end());
  return cases;
}

// The context with an entry for each claim, on the worker node.
PodSchedulingContext Info(World& w) {
  PodSchedulingContext context = w.ContextOf(*w.pod);
  context.potential = {kWorker};
  context.claims = {{w.N("my-resource"), {}}, {w.N("my-resource-2"), {}}};
  return context;
}

void AddPodAndClaim(World& w) {
  AddTemplatePod(w, true);
  AddPending(w, Mode::kWaitForFirstConsumer);
}

std::vector<ContextCase> SkippedContextCases() {
  return {
      {"skip-deleted",
       [](World& w) {
         AddPodAndClaim(w);
         return ContextChange{w.ContextOf(*w.pod), std::nullopt, Hint::kSkip, false};
       }},
      // A relist finds the object missing; the old state is the last one known.
      {"skip-missed-deleted",
       [](World& w) {
         AddPodAndClaim(w);
         return ContextChange{Info(w), std::nullopt, Hint::kSkip, false};
       }},
      {"skip-unrelated-object",
       [](World& w) {
         AddPodAndClaim(w);
         PodSchedulingContext other = Info(w);
         other.meta.name = w.N("my-pod-foo");
         return ContextChange{std::nullopt, other, Hint::kSkip, false};
       }},
      // Ours: the name in another namespace.
      {"skip-other-namespace",
       [](World& w) {
         AddPodAndClaim(w);
         PodSchedulingContext other = Info(w);
         other.meta.ns = w.N("elsewhere");
         return ContextChange{std::nullopt, other, Hint::kSkip, false};
       }},
      {"skip-missing-claim",
       [](World& w) {
         AddTemplatePod(w, false);
         return ContextChange{w.ContextOf(*w.pod), Info(w), Hint::kSkip, false};
       }},
      {"skip-missing-infos",
       [](World& w) {
         AddPodAndClaim(w);
         return ContextChange{w.ContextOf(*w.pod), w.ContextOf(*w.pod), Hint::kSkip, false};
       }},
      // Ours: one of two drivers has answered.
      {"skip-half-the-infos",
       [](World& w) {
         AddNamedPod(w, {"my-resource", "my-resource-2"});
         AddPending(w, Mode::kWaitForFirstConsumer);
         AddPending(w, Mode::kWaitForFirstConsumer, "my-resource-2");
         PodSchedulingContext half = Info(w);
         half.claims.pop_back();
         return ContextChange{w.ContextOf(*w.pod), half, Hint::kSkip, false};
       }},
      {"skip-spec-changes",
       [](World& w) {
         AddPodAndClaim(w);
         PodSchedulingContext after = Info(w);
         after.selected = kWorker;
         return ContextChange{Info(w), after, Hint::kSkip, false};
       }},
  };
}

std::vector<ContextCase> QueuedContextCases() {
  return {
      // No old state, though drivers have answered already.
      {"backoff-wrong-old-object",
       [](World& w) {
         AddPodAndClaim(w);
         return ContextChange{std::nullopt, Info(w), Hint::kQueue, true};
       }},
      // An old state from before the plugin's own last write and the drivers' answers.
      {"backoff-missed-wrong-old-object",
       [](World& w) {
         AddPodAndClaim(w);
         PodSchedulingContext after = Info(w);
         after.selected = kWorker;
         return ContextChange{w.ContextOf(*w.pod), after, Hint::kQueue, true};
       }},
      // The context of a former pod of the name: names are all that is compared.
      {"backoff-wrong-new-object",
       [](World& w) {
         AddPodAndClaim(w);
         PodSchedulingContext former = Info(w);
         former.meta.owner += 1000;
         return ContextChange{w.ContextOf(*w.pod), former, Hint::kQueue, true};
       }},
      {"queue-new-infos",
       [](World& w) {
         AddPodAndClaim(w);
         return ContextChange{w.ContextOf(*w.pod), Info(w), Hint::kQueue, true};
       }},
      // Ours: claims that are allocated, or Immediate, need no answer.
      {"queue-new-infos-of-pending-claims",
       [](World& w) {
         AddNamedPod(w, {"my-resource", "my-resource-2"});
         AddPending(w, Mode::kImmediate);
         w.AddClaim(WithAllocation(
             w, w.ClaimOf("my-resource-2", Mode::kWaitForFirstConsumer, w.pod->meta.uid)));
         return ContextChange{std::nullopt, w.ContextOf(*w.pod), Hint::kQueue, true};
       }},
      {"queue-bad-selected-node",
       [](World& w) {
         AddPodAndClaim(w);
         PodSchedulingContext before = Info(w);
         before.selected = kWorker;
         PodSchedulingContext after = before;
         after.claims[0].unsuitable = {kWorker};
         return ContextChange{before, after, Hint::kQueue, true};
       }},
  };
}

std::vector<ContextCase> BackoffContextCases() {
  return {
      {"backoff-other-changes",
       [](World& w) {
         AddPodAndClaim(w);
         PodSchedulingContext after = Info(w);
         after.meta.finalizers.push_back(w.N("foo"));
         return ContextChange{Info(w), after, Hint::kQueue, false};
       }},
      // Ours: another node has become unsuitable, which the next attempt should know.
      {"backoff-bad-potential-node",
       [](World& w) {
         AddPodAndClaim(w);
         PodSchedulingContext after = Info(w);
         after.claims[1].unsuitable = {kWorker};
         return ContextChange{Info(w), after, Hint::kQueue, false};
       }},
      // Ours: a driver's answer in the same write as the plugin's is no "spec change".
      {"backoff-spec-and-status",
       [](World& w) {
         AddPodAndClaim(w);
         PodSchedulingContext after = Info(w);
         after.selected = kWorker;
         after.claims[0].unsuitable = {NodeId(uint32_t{1})};
         return ContextChange{Info(w), after, Hint::kQueue, false};
       }},
  };
}

std::vector<ContextCase> ContextCases() {
  std::vector<ContextCase> cases = SkippedContextCases();
  for (ContextCase& one : QueuedContextCases()) cases.push_back(std::move(one));
  for (ContextCase& one : BackoffContextCases()) cases.push_back(std::move(one));
  return cases;
}

template <typename Case>
std::string TestName(const testing::TestParamInfo<std::tuple<DraRelease, Case>>& param) {
  return absl::StrCat("r", static_cast<int>(std::get<0>(param.param)), "_",
                      absl::StrReplaceAll(std::get<1>(param.param).name, {{"-", "_"}}));
}

const auto kReleases = testing::Values(DraRelease::k28, DraRelease::k29, DraRelease::k30);

class AfterClaimChange : public testing::TestWithParam<std::tuple<DraRelease, ClaimCase>> {};

TEST_P(AfterClaimChange, HintsAsUpstream) {
  const DraRelease release = std::get<0>(GetParam());
  World world(OfRelease(release));
  const ClaimChange change = std::get<1>(GetParam()).make(world);
  world.Start();
  const Hint hint = world.plugin().AfterClaimChange(*world.pod, PointerTo(change.before),
                                                    PointerTo(change.after));
  EXPECT_EQ(static_cast<int>(hint), static_cast<int>(WantIn(release, change)));
}
INSTANTIATE_TEST_SUITE_P(, AfterClaimChange,
                         testing::Combine(kReleases, testing::ValuesIn(ClaimCases())),
                         TestName<ClaimCase>);

class AfterContextChange : public testing::TestWithParam<std::tuple<DraRelease, ContextCase>> {};

TEST_P(AfterContextChange, HintsAsUpstream) {
  const DraRelease release = std::get<0>(GetParam());
  World world(OfRelease(release));
  const ContextChange change = std::get<1>(GetParam()).make(world);
  world.Start();
  const Hint hint = world.plugin().AfterContextChange(*world.pod, PointerTo(change.before),
                                                      PointerTo(change.after));
  EXPECT_EQ(static_cast<int>(hint), static_cast<int>(WantIn(release, change)));
}
INSTANTIATE_TEST_SUITE_P(, AfterContextChange,
                         testing::Combine(kReleases, testing::ValuesIn(ContextCases())),
                         TestName<ContextCase>);

}  // namespace dynamic_resources_test
}  // namespace drasim
