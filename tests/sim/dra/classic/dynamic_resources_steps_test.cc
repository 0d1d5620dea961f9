// The points of the plugin one by one: order of checks, random choices, old states, calls that take
// time; random states against brute force.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "model/random.h"
#include "sim/dra/classic/dynamic_resources.h"
#include "tests/sim/dra/classic/component_rig.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace dynamic_resources_steps_test {

using dynamic_resources_testing::Code;
using dynamic_resources_testing::kWorker;
using dynamic_resources_testing::ObjectsText;
using dynamic_resources_testing::OfRelease;
using dynamic_resources_testing::Plugin;
using dynamic_resources_testing::Reason;
using dynamic_resources_testing::Status;
using dynamic_resources_testing::StatusDump;
using dynamic_resources_testing::World;
using dynamic_resources_testing::WorldOptions;
using Mode = AllocationMode;
using dynamic_resources_testing::Objects;
using dynamic_resources_testing::Verify;
using dynamic_resources_testing::Want;

constexpr uint32_t kNodes = 12;
constexpr char kClaim[] = "my-pod-my-resource";
constexpr char kClaim2[] = "my-pod-my-resource-2";

NodeId Node(uint32_t id) { return NodeId(id); }

Status Rejected(World& w, Reason reason, const char* object) {
  return {Code::kUnresolvable, reason, w.N(object)};
}

void AddTwoEntryPod(World& w) {
  w.pod = w.AddPod(w.PodWith("my-pod", {"my-resource", "my-resource-2"}));
}

Status PreFilterOf(World& w) {
  w.Start();
  return w.plugin().PreFilter(w.pod, &w.cycle);
}

ResourceClaim AllocatedClaim(World& w, const char* entry, bool shareable = false) {
  ResourceClaim claim = w.ClaimOf(entry, Mode::kWaitForFirstConsumer, w.pod->meta.uid);
  w.Allocate(NodeSet(), shareable, &claim);
  return claim;
}

// --- PreFilter. ---

TEST(DynamicResourcesPreFilter, MissingClaimComesFirst) {
  World w(OfRelease(DraRelease::k29));
  AddTwoEntryPod(w);
  w.AddClaim(w.ClaimOf("my-resource", Mode::kImmediate, 0));
  EXPECT_TRUE(PreFilterOf(w) == Rejected(w, Reason::kClaimMissing, kClaim2));
}

TEST(DynamicResourcesPreFilter, EarlierEntryComesFirst) {
  World w(OfRelease(DraRelease::k29));
  AddTwoEntryPod(w);  // there is no class
  w.AddClaim(w.ClaimOf("my-resource", Mode::kWaitForFirstConsumer, 0));
  w.AddClaim(w.ClaimOf("my-resource-2", Mode::kImmediate, 0));
  EXPECT_TRUE(PreFilterOf(w) == Rejected(w, Reason::kClassMissing, "my-resource-class"));
  EXPECT_TRUE(w.cycle.claims.empty());
}

TEST(DynamicResourcesPreFilter, ContextOfFormerPodIsAnError) {
  World w(OfRelease(DraRelease::k29));
  AddTwoEntryPod(w);
  w.AddClaim(w.ClaimOf("my-resource", Mode::kImmediate, 0));
  w.AddClaim(w.ClaimOf("my-resource-2", Mode::kImmediate, 0));
  PodSchedulingContext former = w.ContextOf(*w.pod);
  former.meta.owner += 1000;
  w.AddContext(former);
  const Status want = {Code::kError, Reason::kCallFailed, w.N("my-pod")};
  EXPECT_TRUE(PreFilterOf(w) == want);
}

TEST(DynamicResourcesPreFilter, ForgetsTheFormerCycle) {
  World w(OfRelease(DraRelease::k29));
  w.pod = w.AddPod(w.PodWith("my-pod", {"my-resource"}));
  ResourceClaim claim = AllocatedClaim(w, "my-resource");
  w.Allocate(NodeSet::Of({Node(1)}), false, &claim);
  w.AddClaim(claim);
  EXPECT_TRUE(PreFilterOf(w) == Status());
  EXPECT_FALSE(w.plugin().Filter(&w.cycle, kWorker).ok());
  w.plugin().PreScore(&w.cycle, {Node(1), Node(2)});
  w.cycle.selects = true;
  EXPECT_TRUE(w.plugin().PreFilter(w.pod, &w.cycle) == Status());
  EXPECT_EQ(w.cycle.token, 77u);
  EXPECT_TRUE(w.cycle.unavailable.empty());
  EXPECT_FALSE(w.cycle.pre_scored || w.cycle.selects || w.cycle.has_potential);
}

// --- PreScore. ---

std::vector<NodeId> ManyNodes(uint32_t count) {
  std::vector<NodeId> nodes;
  for (uint32_t i = 0; i < count; ++i) nodes.push_back(Node(i * 3));
  return nodes;
}

// With a context that has these potential nodes already, unless `published` is empty.
std::vector<NodeId> PotentialAfter(uint64_t seed, const std::vector<NodeId>& feasible,
                                   const std::vector<NodeId>& published, uint64_t* draws) {
  WorldOptions options = OfRelease(DraRelease::k29);
  options.seed = seed;
  World w(options);
  w.AddClass("my-resource-class");
  w.pod = w.AddPod(w.PodWith("my-pod", {"my-resource"}));
  w.AddClaim(w.ClaimOf("my-resource", Mode::kWaitForFirstConsumer, 0));
  if (!published.empty()) {
    PodSchedulingContext context = w.ContextOf(*w.pod);
    context.potential = published;
    w.AddContext(context);
  }
  EXPECT_TRUE(PreFilterOf(w) == Status());
  w.plugin().PreScore(&w.cycle, feasible);
  EXPECT_TRUE(w.cycle.pre_scored);
  EXPECT_EQ(w.cycle.has_potential, !w.cycle.potential.empty());
  *draws = w.plugin().draws();
  return w.cycle.potential;
}

TEST(DynamicResourcesPreScore, AllFeasibleNodesUpToTheLimit) {
  uint64_t draws = 0;
  EXPECT_EQ(PotentialAfter(1, ManyNodes(128), {}, &draws), ManyNodes(128));
  EXPECT_EQ(draws, 0u);
  // A single new node replaces the list; nodes that are no longer feasible do not.
  EXPECT_EQ(PotentialAfter(1, ManyNodes(9), ManyNodes(8), &draws), ManyNodes(9));
  EXPECT_TRUE(PotentialAfter(1, ManyNodes(8), ManyNodes(9), &draws).empty());
}

TEST(DynamicResourcesPreScore, RandomNodesAboveTheLimit) {
  const std::vector<NodeId> feasible = ManyNodes(200);
  std::set<std::vector<NodeId>> different;
  std::vector<int> chosen(feasible.size() * 3);
  constexpr int kRuns = 400;
  for (uint64_t seed = 1; seed <= kRuns; ++seed) {
    uint64_t draws = 0;
    const std::vector<NodeId> nodes = PotentialAfter(seed, feasible, {}, &draws);
    EXPECT_EQ(draws, kMaxNodesInContext);
    ASSERT_EQ(nodes.size(), kMaxNodesInContext);
    EXPECT_TRUE(std::adjacent_find(nodes.begin(), nodes.end(),
                                   [](NodeId a, NodeId b) { return a >= b; }) == nodes.end());
    EXPECT_TRUE(std::includes(feasible.begin(), feasible.end(), nodes.begin(), nodes.end()));
    different.insert(nodes);
    for (const NodeId node : nodes) ++chosen[node.value()];
  }
  EXPECT_EQ(different.size(), static_cast<size_t>(kRuns));
  // Each node is expected 256 times, with a standard deviation of 9.6.
  for (const NodeId node : feasible) {
    EXPECT_GT(chosen[node.value()], 256 - 60) << node.value();
    EXPECT_LT(chosen[node.value()], 256 + 60) << node.value();
  }
}

TEST(DynamicResourcesPreScore, NothingToAskAboutAllocatedClaims) {
  World w(OfRelease(DraRelease::k29));
  w.pod = w.AddPod(w.PodWith("my-pod", {"my-resource"}));
  w.AddClaim(AllocatedClaim(w, "my-resource"));
  EXPECT_TRUE(PreFilterOf(w) == Status());
  w.plugin().PreScore(&w.cycle, {Node(1), Node(2)});
  EXPECT_TRUE(w.cycle.pre_scored);
  EXPECT_FALSE(w.cycle.has_potential);
}

// --- PostFilter. ---

TEST(DynamicResourcesPostFilter, ChoosesAmongFreeClaims) {
  // Three claims are in the way; another pod uses the first.
  std::set<std::string> chosen;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    WorldOptions options = OfRelease(DraRelease::k29);
    options.seed = seed;
    World w(options);
    w.pod = w.AddPod(w.PodWith("my-pod", {"a", "b", "c"}));
    for (const char* entry : {"a", "b", "c"}) {
      ResourceClaim claim = AllocatedClaim(w, entry);
      w.Allocate(NodeSet::Of({Node(1)}), true, &claim);
      if (entry[0] == 'a') claim.status.reserved_for = {{w.N("pods"), w.N("other"), 4711}};
      w.AddClaim(claim);
    }
    EXPECT_TRUE(PreFilterOf(w) == Status());
    EXPECT_FALSE(w.plugin().Filter(&w.cycle, kWorker).ok());
    const Status status = w.Await(w.plugin().PostFilter(&w.cycle));
    EXPECT_TRUE(status.reason == Reason::kDeallocating) << StatusDump(status);
    EXPECT_EQ(w.plugin().draws(), 1u);
    EXPECT_TRUE(w.ClaimNow(status.object.text()).status.deallocation_requested);
    EXPECT_EQ(w.TakeMessages().size(), 1u);
    chosen.insert(std::string(status.object.text()));
  }
  EXPECT_EQ(chosen, (std::set<std::string>{"my-pod-b", "my-pod-c"}));
}

// --- Old states, and several pods. ---

// Pathology 8: two pods and one unallocated claim. The first wins; the second finds it in use, or
// joins.
TEST(DynamicResourcesRaces, TwoPodsOneClaim) {
  for (const bool shareable : {true, false}) {
    World w(OfRelease(DraRelease::k29));
    w.AddClass("my-resource-class");
    const Ref<Pod> first = w.AddPod(w.PodWith("first", {"my-resource"}));
    w.pod = w.AddPod(w.PodWith("second", {"my-resource"}));
    w.AddClaim(w.ClaimOf("my-resource", Mode::kWaitForFirstConsumer, 0));
    // Both ask for the claim.
    EXPECT_TRUE(PreFilterOf(w) == Status());
    EXPECT_TRUE(w.Await(w.plugin().Reserve(&w.cycle, kWorker)).code == Code::kPending);
    Plugin::Cycle other;
    EXPECT_TRUE(w.plugin().PreFilter(first, &other) == Status());
    EXPECT_TRUE(w.plugin().Reserve(&other, Node(1)).code == Code::kPending);
    // The driver serves the first.
    ResourceClaim given = w.ClaimNow(kClaim);
    w.Allocate(NodeSet(), shareable, &given);
    given.status.reserved_for = {w.ConsumerOf(*first)};
    w.Send(Verb::kUpdateStatus, given);
    w.Settle();
    EXPECT_TRUE(w.plugin().PreFilter(first, &other) == Status());
    EXPECT_TRUE(w.plugin().Reserve(&other, Node(1)) == Status());
    const Status second = w.plugin().PreFilter(w.pod, &w.cycle);
    if (!shareable) {
      EXPECT_TRUE(second == Rejected(w, Reason::kClaimInUse, kClaim)) << StatusDump(second);
      continue;
    }
    EXPECT_TRUE(second == Status()) << StatusDump(second);
    EXPECT_TRUE(w.Await(w.plugin().Reserve(&w.cycle, kWorker)) == Status());
    const auto& consumers = w.ClaimNow(kClaim).status.reserved_for;
    ASSERT_EQ(consumers.size(), 2u);
    EXPECT_TRUE(consumers[0] == w.ConsumerOf(*first) && consumers[1] == w.ConsumerOf(*w.pod));
  }
}

// Pathology 10: nothing in the cache, and a context on the server.
TEST(DynamicResourcesRaces, PostBindDeletesBlindly) {
  WorldOptions options = OfRelease(DraRelease::k29);
  options.watch = 10;
  World w(options);
  w.pod = w.AddPod(w.PodWith("my-pod", {"my-resource"}));
  w.AddClaim(AllocatedClaim(w, "my-resource"));
  EXPECT_TRUE(PreFilterOf(w) == Status());
  w.AddContext(w.ContextOf(*w.pod));
  EXPECT_TRUE(w.client().cache().context(w.N("default"), w.N("my-pod")) == nullptr);
  EXPECT_TRUE(w.Await(w.plugin().PostBind(&w.cycle)) == Status());
  EXPECT_TRUE(w.Snapshot().contexts.empty());
  EXPECT_TRUE(w.Await(w.plugin().PostBind(&w.cycle)) == Status());
  EXPECT_EQ(w.TakeMessages(),
            (std::vector<std::string>{"DELETE podschedulingcontexts my-pod 200",
                                      "DELETE podschedulingcontexts my-pod 404"}));
}

// The plugin keeps no cache of its own: its own reservation is stale in the next cycle, as long as
// the watch has not told it.
TEST(DynamicResourcesRaces, NextCycleDoesNotKnowOwnWrite) {
  WorldOptions options = OfRelease(DraRelease::k29);
  options.watch = 10;
  World w(options);
  w.pod = w.AddPod(w.PodWith("my-pod", {"my-resource"}));
  w.AddClaim(AllocatedClaim(w, "my-resource"));
  EXPECT_TRUE(PreFilterOf(w) == Status());
  EXPECT_TRUE(w.Await(w.plugin().Reserve(&w.cycle, kWorker)) == Status());
  EXPECT_TRUE(w.plugin().PreFilter(w.pod, &w.cycle) == Status());
  const Status conflict = {Code::kError, Reason::kConflict, w.N(kClaim)};
  EXPECT_TRUE(w.Await(w.plugin().Reserve(&w.cycle, kWorker)) == conflict);
  w.Rest();
  EXPECT_TRUE(w.plugin().PreFilter(w.pod, &w.cycle) == Status());
  EXPECT_TRUE(w.Await(w.plugin().Reserve(&w.cycle, kWorker)) == Status());
}

// Pathology 11: the 33rd consumer.
TEST(DynamicResourcesRaces, FullClaim) {
  for (const DraRelease release : {DraRelease::k29, DraRelease::k30}) {
    World w(OfRelease(release));
    w.pod = w.AddPod(w.PodWith("my-pod", {"my-resource"}));
    ResourceClaim claim = AllocatedClaim(w, "my-resource", true);
    for (Uid uid = 1; uid <= kMaxReservedFor; ++uid) {
      claim.status.reserved_for.push_back({w.N("pods"), w.N("other"), 4711 + uid});
    }
    w.AddClaim(claim);
    EXPECT_TRUE(PreFilterOf(w) == Status());
    Status status = w.Await(w.plugin().Reserve(&w.cycle, kWorker));
    if (status.ok()) status = w.Await(w.plugin().PreBind(&w.cycle, kWorker));
    const Status want = {Code::kError, Reason::kInvalid, w.N(kClaim)};
    EXPECT_TRUE(status == want) << StatusDump(status);
  }
}

// Two entries that name one claim: the second write meets the first.
TEST(DynamicResourcesRaces, SameClaimTwice) {
  for (const DraRelease release : {DraRelease::k29, DraRelease::k30}) {
    World w(OfRelease(release));
    Pod twice = w.PodWith("my-pod", {"my-resource", "again"});
    twice.claims[1].claim = twice.claims[0].claim;
    w.pod = w.AddPod(twice);
    w.AddClaim(AllocatedClaim(w, "my-resource"));
    EXPECT_TRUE(PreFilterOf(w) == Status());
    Status status = w.Await(w.plugin().Reserve(&w.cycle, kWorker));
    if (status.ok()) status = w.Await(w.plugin().PreBind(&w.cycle, kWorker));
    EXPECT_EQ(static_cast<int>(status.code),
              static_cast<int>(release == DraRelease::k29 ? Code::kError : Code::kSuccess));
    EXPECT_EQ(w.ClaimNow(kClaim).status.reserved_for.size(), 1u);
    EXPECT_TRUE(w.Await(w.plugin().Unreserve(&w.cycle, kWorker)) == Status());
    // Reservations of this cycle stay in 1.29.
    EXPECT_EQ(w.ClaimNow(kClaim).status.reserved_for.size(), release == DraRelease::k29 ? 1u : 0u);
  }
}

// --- Random states. ---

std::vector<NodeId> RandomNodes(Random& random) {
  std::vector<NodeId> nodes;
  const uint64_t eighths = 2 + random.Below(7);
  for (uint32_t i = 0; i < kNodes; ++i) {
    if (random.Bernoulli(eighths, 8)) nodes.push_back(Node(i));
  }
  return nodes;
}

NodeSet RandomNodeSet(Random& random) {
  return random.Bernoulli(1, 3) ? NodeSet() : NodeSet::Of(RandomNodes(random));
}

void AddRandomClaim(World& w, Random& random, const std::string& entry) {
  const Mode mode = random.Bernoulli(1, 4) ? Mode::kImmediate : Mode::kWaitForFirstConsumer;
  ResourceClaim claim = w.ClaimOf(entry, mode, 0);
  claim.spec.class_name = w.N(random.Bernoulli(1, 2) ? "some" : "other");
  const bool shareable = random.Bernoulli(1, 2);
  if (mode == Mode::kImmediate || random.Bernoulli(1, 2)) {
    w.Allocate(RandomNodeSet(random), shareable, &claim);
    const Consumer other = {w.N("pods"), w.N("other"), 4711};
    if (random.Bernoulli(1, 3)) claim.status.reserved_for.push_back(w.ConsumerOf(*w.pod));
    if (shareable && random.Bernoulli(1, 3)) claim.status.reserved_for.push_back(other);
  }
  w.AddClaim(claim);
}

// A pod that PreFilter accepts, with some of everything. The same for the same numbers.
void AddRandomState(World& w, Random& random) {
  std::vector<std::string> entries;
  for (const char* entry : {"a", "b", "c", "d"}) entries.push_back(entry);
  entries.resize(1 + static_cast<size_t>(random.Below(4)));
  w.AddClass("some", RandomNodeSet(random));
  w.AddClass("other", RandomNodeSet(random));
  w.pod = w.AddPod(w.PodWith("my-pod", entries));
  for (const std::string& entry : entries) AddRandomClaim(w, random, entry);
  if (random.Bernoulli(1, 4)) return;
  PodSchedulingContext context = w.ContextOf(*w.pod);
  context.potential = RandomNodes(random);
  if (random.Bernoulli(1, 2)) context.selected = Node(static_cast<uint32_t>(random.Below(kNodes)));
  for (const std::string& entry : entries) {
    if (!random.Bernoulli(1, 2)) continue;
    std::vector<NodeId> unsuitable = RandomNodes(random);
    unsuitable.resize(unsuitable.size() / 3);
    context.claims.push_back({w.N(entry), std::move(unsuitable)});
  }
  w.AddContext(context);
}

WorldOptions RandomOptions(Random& random) {
  WorldOptions options;
  options.behaviour.release = static_cast<DraRelease>(26 + random.Below(6));
  options.behaviour.strict_upstream = random.Bernoulli(1, 2);
  options.seed = random.U64();
  return options;
}

// Whether the node will do, by the definition; the claims in the way are added to `in_the_way`.
bool NodeFits(World& w, NodeId node, std::vector<size_t>* in_the_way) {
  const auto& objects = w.network().server().objects();
  const auto context = objects.context(w.N("default"), w.N("my-pod"));
  bool fits = true;
  for (size_t i = 0; i < w.pod->claims.size(); ++i) {
    const ResourceClaim& claim = *objects.claim(w.N("default"), w.pod->claims[i].claim);
    if (claim.status.allocation != nullptr) {
      if (!claim.status.allocation->available_on.Contains(node)) in_the_way->push_back(i);
      continue;
    }
    const auto found = objects.of<ResourceClass>().Find(Name(), claim.spec.class_name);
    fits = fits && found->suitable_nodes.Contains(node);
    if (context == nullptr) continue;
    for (const PodSchedulingContext::ClaimNodes& told : context->claims) {
      if (told.entry != w.pod->claims[i].entry) continue;
      for (const NodeId bad : told.unsuitable) fits = fits && bad != node;
    }
  }
  if (!fits) in_the_way->clear();
  return fits && in_the_way->empty();
}

TEST(DynamicResourcesRandom, RestrictionIsFilter) {
  Random random(7, "restrictions");
  const int runs = static_cast<int>(SoakSeeds(300));
  int fitting = 0;
  int noted = 0;
  for (int run = 0; run < runs; ++run) {
    World w(RandomOptions(random));
    AddRandomState(w, random);
    const Status started = PreFilterOf(w);
    ASSERT_TRUE(started == Status()) << StatusDump(started);
    const Plugin::Restriction restriction = w.plugin().RestrictionOf(w.cycle);
    EXPECT_TRUE(std::is_sorted(restriction.excluded.begin(), restriction.excluded.end()));
    std::set<size_t> unavailable;
    for (uint32_t i = 0; i < kNodes; ++i) {
      std::vector<size_t> in_the_way;
      const bool fits = NodeFits(w, Node(i), &in_the_way);
      fitting += fits ? 1 : 0;
      const bool excluded = std::find(restriction.excluded.begin(), restriction.excluded.end(),
                                      Node(i)) != restriction.excluded.end();
      const Status status = w.plugin().Filter(&w.cycle, Node(i));
      ASSERT_EQ(status.ok(), fits) << StatusDump(status) << "\n" << ObjectsText(w.Snapshot());
      ASSERT_EQ(restriction.allowed.Contains(Node(i)) && !excluded, fits)
          << "node " << i << "\n"
          << ObjectsText(w.Snapshot());
      for (size_t position = 0; position < in_the_way.size(); ++position) {
        const bool bug = w.behaviour().filter_index_bug();
        const size_t asked = bug ? position : in_the_way[position];
        if (w.cycle.claims[asked].claim->spec.mode == Mode::kImmediate) continue;
        if (bug) unavailable.insert(in_the_way.begin(), in_the_way.end());
        unavailable.insert(in_the_way[position]);
      }
    }
    ASSERT_EQ(w.cycle.unavailable, std::vector<size_t>(unavailable.begin(), unavailable.end()));
    noted += unavailable.empty() ? 0 : 1;
  }
  // The states are neither all full nor all free.
  EXPECT_GT(fitting, runs);
  EXPECT_LT(fitting, runs * 9);
  EXPECT_GT(noted, runs / 6);
}

// Makes what the cycle knows of some objects old.
void Disturb(World& w, Random& random) {
  for (const auto& claim : w.network().server().objects().of<ResourceClaim>().Sorted()) {
    if (!random.Bernoulli(1, 6)) continue;
    ResourceClaim changed = *claim;
    changed.labels.emplace_back("disturbed", "true");
    w.Send(Verb::kUpdate, changed);
  }
  const auto context = w.network().server().objects().context(w.N("default"), w.N("my-pod"));
  if (context == nullptr || !random.Bernoulli(1, 3)) return;
  PodSchedulingContext changed = *context;
  changed.claims = {{w.N("a"), {Node(0)}}};
  w.Send(Verb::kUpdateStatus, changed);
}

// A whole cycle; everything that came out of it.
struct Outcome {
  std::vector<std::string> statuses;
  std::vector<std::string> calls;
  std::string objects;  // texts: names of two worlds are never equal
  bool waited = false;
};

Outcome RunCycle(const WorldOptions& options, Random random) {
  Outcome run;
  World w(options);
  AddRandomState(w, random);
  PreFilterOf(w);
  Plugin& plugin = w.plugin();
  const auto note = [&](const Status& result) {
    const Status status = w.Await(result);
    run.statuses.push_back(StatusDump(status));
    run.waited = run.waited || w.waited();
    return status.code == Code::kSuccess;
  };
  std::vector<NodeId> feasible;
  for (uint32_t i = 0; i < kNodes; ++i) {
    if (plugin.Filter(&w.cycle, Node(i)).ok()) feasible.push_back(Node(i));
  }
  Disturb(w, random);
  if (feasible.empty()) {
    note(plugin.PostFilter(&w.cycle));
  } else {
    if (feasible.size() > 1) plugin.PreScore(&w.cycle, feasible);
    const NodeId node = feasible[static_cast<size_t>(random.Below(feasible.size()))];
    const bool bound = note(plugin.Reserve(&w.cycle, node)) &&
                       note(plugin.PreBind(&w.cycle, node)) && random.Bernoulli(2, 3);
    note(bound ? plugin.PostBind(&w.cycle) : plugin.Unreserve(&w.cycle, node));
  }
  EXPECT_TRUE(w.cycle.step == Plugin::Step::kNone);
  run.calls = w.TakeMessages();
  run.objects = ObjectsText(w.Snapshot());
  return run;
}

TEST(DynamicResourcesRandom, CallsThatTakeTimeDoTheSame) {
  Random random(7, "cycles");
  const int runs = static_cast<int>(SoakSeeds(400));
  std::set<std::string> seen;
  for (int i = 0; i < runs; ++i) {
    WorldOptions options = RandomOptions(random);
    const Random state(random.U64(), "state");
    const Outcome at_once = RunCycle(options, state);
    options.read = 0.25;
    options.write = 0.5;
    options.watch = i % 2 == 0 ? 0 : 0.75;
    const Outcome late = RunCycle(options, state);
    ASSERT_EQ(late.statuses, at_once.statuses) << absl::StrJoin(late.calls, "\n");
    ASSERT_EQ(late.calls, at_once.calls);
    ASSERT_EQ(late.objects, at_once.objects);
    EXPECT_FALSE(at_once.waited);
    EXPECT_EQ(late.waited, !late.calls.empty());
    for (const std::string& call : at_once.calls) {
      seen.insert(absl::StrCat(call.substr(0, call.find(' ')), call.substr(call.rfind(' '))));
    }
  }
  // All kinds of calls, granted and refused.
  EXPECT_EQ(seen, (std::set<std::string>{"POST 200", "PUT 200", "PUT 409", "PATCH 200", "GET 200",
                                         "DELETE 200", "DELETE 404"}))
      << absl::StrJoin(seen, ", ");
}

TEST(DynamicResourcesText, NamesWhatItIsAbout) {
  NamePool names;
  const auto text = [&](Reason reason, const char* object) {
    return StatusText({Code::kUnresolvable, reason, names.Intern(object)});
  };
  EXPECT_EQ(text(Reason::kClaimMissing, ""), "ResourceClaim not created yet");
  EXPECT_EQ(text(Reason::kClaimMissing, "c"), "resourceclaim \"c\" not found");
  EXPECT_EQ(text(Reason::kClaimBeingDeleted, "c"), "resourceclaim \"c\" is being deleted");
  EXPECT_EQ(text(Reason::kClassMissing, "k"), "resource class k does not exist");
  EXPECT_EQ(text(Reason::kClaimInUse, "c"), "resourceclaim in use");
  EXPECT_EQ(text(Reason::kNone, ""), "");
  // Every reason has a text of its own.
  std::set<std::string> texts;
  for (int reason = 0; reason <= static_cast<int>(Reason::kCallFailed); ++reason) {
    texts.insert(text(static_cast<Reason>(reason), "c"));
  }
  EXPECT_EQ(texts.size(), static_cast<size_t>(Reason::kCallFailed) + 1);
}

// ---- Differences between releases, and upstream's quirks. ----

constexpr DraRelease kAll[] = {DraRelease::k26, DraRelease::k27, DraRelease::k28,
                               DraRelease::k29, DraRelease::k30, DraRelease::k31};
constexpr char kPutClaim[] = "PUT resourceclaims/status my-pod-my-resource 200";
constexpr char kPatchClaim[] = "PATCH resourceclaims/status my-pod-my-resource 200";
constexpr char kPostContext[] = "POST podschedulingcontexts my-pod 200";
constexpr char kPutContext[] = "PUT podschedulingcontexts my-pod 200";

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
  std::vector<size_t> strict;    // the notes until 1.29
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

// A claim that is gone, or was recreated under the same name, is not patched.
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

// Errors of Unreserve stop nothing: the claim stays reserved until the next attempt.
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

}  // namespace dynamic_resources_steps_test
}  // namespace drasim
