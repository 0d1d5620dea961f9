// What differs from release to release, and upstream's quirks.
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "sim/dra/dynamic_resources.h"
#include "tests/sim/dra/dynamic_resources_world.h"

namespace drasim {
namespace dynamic_resources_release_test {

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
using dynamic_resources_testing::WorldOptions;
using Mode = AllocationMode;

constexpr DraRelease kAll[] = {DraRelease::k26, DraRelease::k27, DraRelease::k28,
                               DraRelease::k29, DraRelease::k30, DraRelease::k31};
constexpr char kPutClaim[] = "PUT resourceclaims/status my-pod-my-resource 200";
constexpr char kPatchClaim[] = "PATCH resourceclaims/status my-pod-my-resource 200";
constexpr char kPostContext[] = "POST podschedulingcontexts my-pod 200";
constexpr char kPutContext[] = "PUT podschedulingcontexts my-pod 200";

NodeId Node(uint32_t id) { return NodeId(id); }

// The pod and its claims of entries "my-resource" and "my-resource-2", as given.
struct Entry {
  Mode mode = Mode::kWaitForFirstConsumer;
  bool allocated = false;
  NodeSet on;
  bool shareable = false;
  std::vector<Consumer> consumers = {};
};

void AddPodWith(World& w, const std::vector<Entry>& entries) {
  std::vector<std::string> names;
  for (size_t i = 0; i < entries.size(); ++i) {
    names.push_back(i == 0 ? "my-resource" : absl::StrCat("my-resource-", i + 1));
  }
  w.AddClass("my-resource-class");
  w.pod = w.AddPod(w.PodWith("my-pod", names));
  for (size_t i = 0; i < entries.size(); ++i) {
    ResourceClaim claim = w.ClaimOf(names[i], entries[i].mode, w.pod->meta.uid);
    if (entries[i].allocated) w.Allocate(entries[i].on, entries[i].shareable, &claim);
    for (const Consumer& consumer : entries[i].consumers) {
      claim.status.reserved_for.push_back(consumer);
    }
    w.AddClaim(claim);
  }
}

// A step against the world, compared.
void Expect(World& w, const char* name, const Want& want, const std::function<Status()>& step) {
  const Objects before = w.Snapshot();
  const Status status = w.Await(step());
  Verify(w, name, status, before, want);
  w.Settle();
}

Status Waits(const World& w, Reason reason) {
  return {w.behaviour().pending_status() ? Code::kPending : Code::kUnschedulable, reason, Name()};
}

Plugin& StartCycle(World& w) {
  w.Start();
  const Status status = w.plugin().PreFilter(w.pod, &w.cycle);
  EXPECT_TRUE(status == Status()) << StatusDump(status);
  return w.plugin();
}

// Reserve, and where nothing is written before that, PreBind too.
void ExpectPublished(World& w, const Want& want) {
  Plugin& plugin = w.plugin();
  if (!w.behaviour().writes_in_pre_bind()) {
    Expect(w, "Reserve", want, [&] { return plugin.Reserve(&w.cycle, kWorker); });
    return;
  }
  Expect(w, "Reserve", Want(), [&] { return plugin.Reserve(&w.cycle, kWorker); });
  Expect(w, "PreBind", want, [&] { return plugin.PreBind(&w.cycle, kWorker); });
}

TEST(DynamicResourcesReleases, ClaimNames) {
  for (const DraRelease release : kAll) {
    World w(OfRelease(release));
    Pod pod = w.PodWith("my-pod", {"named", "made"});
    pod.claims[1].claim = Name();
    pod.claims[1].from_template = w.N("template");
    w.pod = w.AddPod(pod);
    w.Start();
    const Plugin& plugin = w.plugin();
    EXPECT_EQ(plugin.ClaimNameOf(*w.pod, pod.claims[0]).text(), "my-pod-named");
    EXPECT_EQ(plugin.ClaimNameOf(*w.pod, pod.claims[1]).text(),
              release < DraRelease::k28 ? "my-pod-made" : "")
        << DraReleaseText(release);
    Pod known = *w.pod;
    known.claim_names = {{w.N("other"), w.N("wrong")}, {w.N("made"), w.N("my-pod-made-x7k2p")}};
    EXPECT_EQ(plugin.ClaimNameOf(known, pod.claims[1]).text(),
              release < DraRelease::k28 ? "my-pod-made" : "my-pod-made-x7k2p");
  }
}

// PreScore is not called for a single feasible node: Reserve publishes it.
TEST(DynamicResourcesReleases, OnlyNodeWithoutContext) {
  for (const DraRelease release : kAll) {
    World w(OfRelease(release));
    AddPodWith(w, {{}});
    StartCycle(w);
    PodSchedulingContext context = w.ContextOf(*w.pod);
    context.selected = kWorker;
    context.potential = {kWorker};
    SCOPED_TRACE(DraReleaseText(release));
    ExpectPublished(w, {Waits(w, Reason::kWaitsForAllocation),
                        [context](Objects* o) { o->contexts.push_back(context); },
                        {kPostContext}});
  }
}

// Pathology 7: until 1.28 a list that an earlier cycle has left stays, so that the drivers are not
// asked about the node, and it is chosen for ever.
TEST(DynamicResourcesReleases, OnlyNodeWithOtherPotentialNodes) {
  for (const DraRelease release : kAll) {
    World w(OfRelease(release));
    AddPodWith(w, {{}});
    PodSchedulingContext context = w.ContextOf(*w.pod);
    context.potential = {Node(1), Node(2)};
    context.selected = Node(2);
    w.AddContext(context);
    StartCycle(w);
    SCOPED_TRACE(DraReleaseText(release));
    ExpectPublished(w, {Waits(w, Reason::kWaitsForAllocation),
                        [release](Objects* o) {
                          o->contexts[0].selected = kWorker;
                          if (release >= DraRelease::k29) o->contexts[0].potential = {kWorker};
                        },
                        {kPutContext}});
  }
}

TEST(DynamicResourcesReleases, OnlyNodeThatIsPotentialAlready) {
  for (const DraRelease release : kAll) {
    World w(OfRelease(release));
    AddPodWith(w, {{}});
    PodSchedulingContext context = w.ContextOf(*w.pod);
    context.potential = {Node(1), kWorker};
    w.AddContext(context);
    StartCycle(w);
    SCOPED_TRACE(DraReleaseText(release));
    ExpectPublished(w, {Waits(w, Reason::kWaitsForAllocation),
                        [](Objects* o) { o->contexts[0].selected = kWorker; },
                        {kPutContext}});
  }
}

TEST(DynamicResourcesReleases, SameNodeAgainNeedsNoWrite) {
  for (const DraRelease release : kAll) {
    World w(OfRelease(release));
    AddPodWith(w, {{}});
    PodSchedulingContext context = w.ContextOf(*w.pod);
    context.potential = {kWorker};
    context.selected = kWorker;
    w.AddContext(context);
    Plugin& plugin = StartCycle(w);
    SCOPED_TRACE(DraReleaseText(release));
    // In 1.30 too it is Reserve that rejects the pod then.
    Expect(w, "Reserve", {Waits(w, Reason::kWaitsForInformation), nullptr, {}},
           [&] { return plugin.Reserve(&w.cycle, kWorker); });
    Expect(w, "Unreserve", Want(), [&] { return plugin.Unreserve(&w.cycle, kWorker); });
  }
}

// Quirk: until 1.29 Reserve reserves before it finds that the pod has to wait. Unreserve of the
// same cycle knows nothing of that; Unreserve of the next one, which found the claim reserved,
// does.
TEST(DynamicResourcesReleases, ReservesForNothing) {
  for (const DraRelease release : kAll) {
    World w(OfRelease(release));
    AddPodWith(w, {{Mode::kWaitForFirstConsumer, true, NodeSet(), false}, {}});
    Plugin& plugin = StartCycle(w);
    SCOPED_TRACE(DraReleaseText(release));
    PodSchedulingContext context = w.ContextOf(*w.pod);
    context.selected = kWorker;
    context.potential = {kWorker};
    const bool late = w.behaviour().writes_in_pre_bind();
    const Consumer consumer = w.ConsumerOf(*w.pod);
    Want published = {Waits(w, Reason::kWaitsForAllocation),
                      [=](Objects* o) {
                        o->contexts.push_back(context);
                        if (!late) o->claims[0].status.reserved_for.push_back(consumer);
                      },
                      {kPostContext}};
    if (!late) published.calls.insert(published.calls.begin(), kPutClaim);
    ExpectPublished(w, published);
    Expect(w, "Unreserve", Want(), [&] { return plugin.Unreserve(&w.cycle, kWorker); });
    EXPECT_TRUE(plugin.PreFilter(w.pod, &w.cycle) == Status());
    Expect(w, "Reserve again", {Waits(w, Reason::kWaitsForInformation), nullptr, {}},
           [&] { return plugin.Reserve(&w.cycle, kWorker); });
    Want given_back;
    if (!late) {
      given_back = {
          Status(), [](Objects* o) { o->claims[0].status.reserved_for.clear(); }, {kPutClaim}};
    }
    Expect(w, "Unreserve again", given_back, [&] { return plugin.Unreserve(&w.cycle, kWorker); });
  }
}

// Pathology 5: until 1.28 the driver could still see the selected node when it had deallocated.
TEST(DynamicResourcesReleases, PostFilterClearsSelectedNode) {
  for (const DraRelease release : kAll) {
    World w(OfRelease(release));
    AddPodWith(w, {{Mode::kWaitForFirstConsumer, true, NodeSet::Of({Node(1)}), false}});
    PodSchedulingContext context = w.ContextOf(*w.pod);
    context.potential = {Node(1), kWorker};
    context.selected = Node(1);
    w.AddContext(context);
    Plugin& plugin = StartCycle(w);
    EXPECT_TRUE(plugin.Filter(&w.cycle, kWorker).reason == Reason::kNotAvailableOnNode);
    SCOPED_TRACE(DraReleaseText(release));
    const bool clears = release >= DraRelease::k29;
    const Code code = release >= DraRelease::k30 ? Code::kUnschedulable : Code::kSuccess;
    Want want = {{code, Reason::kDeallocating, w.N("my-pod-my-resource")},
                 [clears](Objects* o) {
                   o->claims[0].status.deallocation_requested = true;
                   if (clears) o->contexts[0].selected = NodeId();
                 },
                 {kPutClaim}};
    if (clears) want.calls.insert(want.calls.begin(), kPutContext);
    Expect(w, "PostFilter", want, [&] { return plugin.PostFilter(&w.cycle); });
  }
}

TEST(DynamicResourcesReleases, PostFilterDropsOwnReservation) {
  World w(OfRelease(DraRelease::k29));
  w.AddClass("my-resource-class");
  w.pod = w.AddPod(w.PodWith("my-pod", {"my-resource"}));
  ResourceClaim claim = w.ClaimOf("my-resource", Mode::kWaitForFirstConsumer, w.pod->meta.uid);
  w.Allocate(NodeSet::Of({Node(1)}), false, &claim);
  claim.status.reserved_for.push_back(w.ConsumerOf(*w.pod));
  w.AddClaim(claim);
  Plugin& plugin = StartCycle(w);
  EXPECT_FALSE(plugin.Filter(&w.cycle, kWorker).ok());
  Expect(w, "PostFilter",
         {{Code::kSuccess, Reason::kDeallocating, w.N("my-pod-my-resource")},
          [](Objects* o) {
            o->claims[0].status.deallocation_requested = true;
            o->claims[0].status.reserved_for.clear();
          },
          {kPutClaim}},
         [&] { return plugin.PostFilter(&w.cycle); });
}

// The index bug: the mode that counts is that of the claim at the position in the list of claims
// that are in the way, and one hit takes the whole list.
struct IndexBug {
  std::vector<Entry> entries;
  std::vector<size_t> strict;    // what is noted until 1.29
  std::vector<size_t> intended;  // without upstream's quirks, and from 1.30
};

std::vector<IndexBug> IndexBugCases() {
  const NodeSet elsewhere = NodeSet::Of({Node(1)});
  const Entry delayed_away = {Mode::kWaitForFirstConsumer, true, elsewhere, false};
  const Entry delayed_here = {Mode::kWaitForFirstConsumer, true, NodeSet(), false};
  const Entry at_once_away = {Mode::kImmediate, true, elsewhere, false};
  const Entry at_once_here = {Mode::kImmediate, true, NodeSet(), false};
  return {
      {{delayed_away}, {0}, {0}},
      {{at_once_away}, {}, {}},
      // The delayed claim is in the way, but position 0 is Immediate: nothing is deallocated.
      {{at_once_here, delayed_away}, {}, {1}},
      // Position 0 is delayed: the Immediate claim is noted.
      {{delayed_here, at_once_away}, {1}, {}},
      {{delayed_away, at_once_away}, {0, 1}, {0}},
      // Two in the way: positions 0 and 1.
      {{at_once_here, delayed_here, delayed_away, at_once_away}, {2, 3}, {2}},
      {{at_once_here, at_once_here, delayed_away, delayed_away}, {}, {2, 3}},
  };
}

TEST(DynamicResourcesReleases, FilterIndexBug) {
  for (const DraRelease release : kAll) {
    for (const bool strict : {true, false}) {
      for (const IndexBug& test : IndexBugCases()) {
        WorldOptions options = OfRelease(release);
        options.behaviour.strict_upstream = strict;
        World w(options);
        AddPodWith(w, test.entries);
        Plugin& plugin = StartCycle(w);
        EXPECT_TRUE(plugin.Filter(&w.cycle, kWorker).reason == Reason::kNotAvailableOnNode);
        const bool bug = strict && release <= DraRelease::k29;
        const std::vector<size_t>& noted = bug ? test.strict : test.intended;
        EXPECT_EQ(w.cycle.unavailable, noted) << DraReleaseText(release) << " strict " << strict;
        const Status status = w.Await(plugin.PostFilter(&w.cycle));
        EXPECT_TRUE(status.reason ==
                    (noted.empty() ? Reason::kStillNotSchedulable : Reason::kDeallocating))
            << StatusDump(status);
      }
    }
  }
}

// From 1.30, what Reserve wanted published is published even if PreBind is never reached.
TEST(DynamicResourcesReleases, UnreservePublishes) {
  for (const DraRelease release : {DraRelease::k30, DraRelease::k31}) {
    World w(OfRelease(release));
    AddPodWith(w, {{}, {}});
    Plugin& plugin = StartCycle(w);
    plugin.PreScore(&w.cycle, {Node(1), kWorker});
    Expect(w, "Reserve", Want(), [&] { return plugin.Reserve(&w.cycle, kWorker); });
    PodSchedulingContext context = w.ContextOf(*w.pod);
    context.potential = {Node(1), kWorker};
    Expect(w, "Unreserve",
           {Status(), [context](Objects* o) { o->contexts.push_back(context); }, {kPostContext}},
           [&] { return plugin.Unreserve(&w.cycle, kWorker); });
  }
}

// A context that appears while the cache does not have it yet: the pod has to try again.
TEST(DynamicResourcesReleases, ContextCreatedTwice) {
  for (const DraRelease release : kAll) {
    WorldOptions options = OfRelease(release);
    options.watch = 10;
    World w(options);
    AddPodWith(w, {{}});
    StartCycle(w);
    w.AddContext(w.ContextOf(*w.pod));
    SCOPED_TRACE(DraReleaseText(release));
    ExpectPublished(w, {{Code::kError, Reason::kConflict, w.N("my-pod")},
                        nullptr,
                        {"POST podschedulingcontexts my-pod 4090"}});
  }
}

// The context in the cache is gone, and there is a new one: server-side apply takes either.
TEST(DynamicResourcesReleases, ContextMadeAnew) {
  WorldOptions options = OfRelease(DraRelease::k29);
  options.watch = 10;
  World w(options);
  AddPodWith(w, {{}});
  w.AddContext(w.ContextOf(*w.pod));
  StartCycle(w);
  w.Delete(ObjectKind::kPodSchedulingContext, "my-pod");
  w.AddContext(w.ContextOf(*w.pod));
  ExpectPublished(
      w, {Waits(w, Reason::kWaitsForAllocation),
          [](Objects* o) {
            o->contexts[0].selected = kWorker;
            o->contexts[0].potential = {kWorker};
          },
          {"PUT podschedulingcontexts my-pod 409", "PATCH podschedulingcontexts my-pod 200"}});
}

// Pathology 9: a decision on an old state. Until 1.29 the pod goes to backoff. 1.30 patches the
// pod's own entry into whatever is there, 1.31 looks and writes again: that works if the claim can
// be shared, and is refused if not.
TEST(DynamicResourcesReleases, StaleClaim) {
  const char* conflict = "PUT resourceclaims/status my-pod-my-resource 409";
  for (const DraRelease release : kAll) {
    for (const bool shareable : {true, false}) {
      WorldOptions options = OfRelease(release);
      options.watch = 10;
      World w(options);
      AddPodWith(w, {{Mode::kImmediate, true, NodeSet(), shareable}});
      Plugin& plugin = StartCycle(w);
      ResourceClaim taken = w.ClaimNow("my-pod-my-resource");
      const Consumer other = {w.N("pods"), w.N("other-pod"), 4711};
      taken.status.reserved_for.push_back(other);
      w.Send(Verb::kUpdateStatus, taken);
      SCOPED_TRACE(absl::StrCat(DraReleaseText(release), shareable ? " shareable" : ""));
      Want want = {
          {Code::kError, Reason::kConflict, w.N("my-pod-my-resource")}, nullptr, {conflict}};
      if (release == DraRelease::k30) {
        want.calls = {shareable ? kPatchClaim
                                : "PATCH resourceclaims/status my-pod-my-resource 422"};
        want.status.reason = Reason::kInvalid;
      } else if (release == DraRelease::k31) {
        want.calls.push_back("GET resourceclaims my-pod-my-resource 200");
        want.calls.push_back(shareable ? kPutClaim
                                       : "PUT resourceclaims/status my-pod-my-resource 422");
        want.status.reason = Reason::kInvalid;
      }
      Want given_back;
      if (w.behaviour().writes_in_pre_bind() && shareable) {
        const Consumer consumer = w.ConsumerOf(*w.pod);
        want.status = Status();
        want.change = [consumer](Objects* o) {
          o->claims[0].status.reserved_for.push_back(consumer);
        };
        given_back.change = [](Objects* o) { o->claims[0].status.reserved_for.pop_back(); };
        given_back.calls = {kPatchClaim};
      }
      ExpectPublished(w, want);
      // The pod's own entry goes, if it got one; the other's stays.
      Expect(w, "Unreserve", given_back, [&] { return plugin.Unreserve(&w.cycle, kWorker); });
      EXPECT_TRUE(w.ClaimNow("my-pod-my-resource").status.reserved_for.front() == other);
    }
  }
}

// A claim that is gone, or was made anew under the same name, is not patched.
TEST(DynamicResourcesReleases, VanishedClaim) {
  for (const auto& [release, anew] :
       std::vector<std::pair<DraRelease, bool>>{{DraRelease::k30, true},
                                                {DraRelease::k30, false},
                                                {DraRelease::k31, true},
                                                {DraRelease::k31, false}}) {
    WorldOptions options = OfRelease(release);
    options.watch = 10;
    World w(options);
    AddPodWith(w, {{Mode::kImmediate, true, NodeSet(), true}});
    StartCycle(w);
    w.Delete(ObjectKind::kResourceClaim, "my-pod-my-resource");
    if (anew) {
      ResourceClaim claim = w.ClaimOf("my-resource", Mode::kImmediate, 0);
      w.Allocate(NodeSet(), true, &claim);
      w.AddClaim(claim);
    }
    SCOPED_TRACE(absl::StrCat(DraReleaseText(release), anew ? " anew" : ""));
    const bool patches = release == DraRelease::k30;
    const std::string call =
        absl::StrCat(patches ? "PATCH" : "PUT", " resourceclaims/status my-pod-my-resource ");
    Want want = {
        {Code::kError, Reason::kCallFailed, w.N("my-pod-my-resource")}, nullptr, {call + "404"}};
    if (anew) {
      want.status.reason = Reason::kConflict;
      want.calls = {call + "409"};
      if (!patches) want.calls.push_back("GET resourceclaims my-pod-my-resource 200");
    }
    ExpectPublished(w, want);
  }
}

// A claim on its way out gets no new consumer, even if it was only met in its old state.
TEST(DynamicResourcesReleases, VanishingClaim) {
  for (const DraRelease release : {DraRelease::k30, DraRelease::k31}) {
    WorldOptions options = OfRelease(release);
    options.watch = 10;
    World w(options);
    w.pod = w.AddPod(w.PodWith("my-pod", {"my-resource"}));
    ResourceClaim claim = w.ClaimOf("my-resource", Mode::kImmediate, 0);
    claim.meta.finalizers = {w.N("some-driver/deletion-protection")};
    w.Allocate(NodeSet(), true, &claim);
    w.AddClaim(claim);
    StartCycle(w);
    w.Delete(ObjectKind::kResourceClaim, "my-pod-my-resource");
    SCOPED_TRACE(DraReleaseText(release));
    Want want = {{Code::kError, Reason::kInvalid, w.N("my-pod-my-resource")},
                 nullptr,
                 {"PATCH resourceclaims/status my-pod-my-resource 422"}};
    if (release == DraRelease::k31) {
      want.status.reason = Reason::kConflict;
      want.calls = {"PUT resourceclaims/status my-pod-my-resource 409",
                    "GET resourceclaims my-pod-my-resource 200"};
    }
    ExpectPublished(w, want);
  }
}

// Points that a release does not have, or that have nothing to do with the pod, make no calls.
TEST(DynamicResourcesReleases, NothingToDo) {
  for (const DraRelease release : kAll) {
    World w(OfRelease(release));
    AddPodWith(w, {{Mode::kImmediate, true, NodeSet(), true}});
    Plugin& plugin = StartCycle(w);
    SCOPED_TRACE(DraReleaseText(release));
    if (!w.behaviour().writes_in_pre_bind()) {
      Expect(w, "PreBind", Want(), [&] { return plugin.PreBind(&w.cycle, kWorker); });
    }
    w.pod = w.AddPod(w.PodWith("other-pod", {}));
    EXPECT_TRUE(plugin.PreFilter(w.pod, &w.cycle).code == Code::kSkip);
    EXPECT_TRUE(plugin.Filter(&w.cycle, kWorker) == Status());
    Expect(w, "Reserve", Want(), [&] { return plugin.Reserve(&w.cycle, kWorker); });
    Expect(w, "PreBind", Want(), [&] { return plugin.PreBind(&w.cycle, kWorker); });
    Expect(w, "PostBind", Want(), [&] { return plugin.PostBind(&w.cycle); });
    Expect(w, "Unreserve", Want(), [&] { return plugin.Unreserve(&w.cycle, kWorker); });
  }
}

// Errors of Unreserve keep nobody from going on: the claim stays reserved until the next attempt.
// From 1.30 a changed claim is none: the entry is taken out of what is there.
TEST(DynamicResourcesReleases, UnreserveIgnoresErrors) {
  for (const DraRelease release : kAll) {
    World w(OfRelease(release));
    AddPodWith(
        w, {{Mode::kImmediate, true, NodeSet(), true}, {Mode::kImmediate, true, NodeSet(), true}});
    Plugin& plugin = StartCycle(w);
    EXPECT_TRUE(w.Await(plugin.Reserve(&w.cycle, kWorker)) == Status());
    EXPECT_TRUE(w.Await(plugin.PreBind(&w.cycle, kWorker)) == Status());
    // Until 1.29 only what a cycle has found reserved is given back: a second one does.
    if (!w.behaviour().unreserves_own()) {
      w.Settle();
      EXPECT_TRUE(plugin.PreFilter(w.pod, &w.cycle) == Status());
    }
    w.TakeMessages();
    // Any change makes the cycle's copy of the first claim stale.
    ResourceClaim changed = w.ClaimNow("my-pod-my-resource");
    changed.labels = {{"hello", "world"}};
    w.Send(Verb::kUpdate, changed);
    const bool late = w.behaviour().writes_in_pre_bind();
    Want want = {Status(),
                 [late](Objects* o) {
                   if (late) o->claims[0].status.reserved_for.clear();
                   o->claims[1].status.reserved_for.clear();
                 },
                 {"PUT resourceclaims/status my-pod-my-resource 409",
                  "PUT resourceclaims/status my-pod-my-resource-2 200"}};
    if (late) want.calls = {kPatchClaim, "PATCH resourceclaims/status my-pod-my-resource-2 200"};
    SCOPED_TRACE(DraReleaseText(release));
    Expect(w, "Unreserve", want, [&] { return plugin.Unreserve(&w.cycle, kWorker); });
  }
}

}  // namespace dynamic_resources_release_test
}  // namespace drasim
