// Decisions with the cache, without it, and by a naive computation are the same; and what the cache
// saves is counted.
#include "sim/core/scheduling_cycle.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/random.h"
#include "model/record.h"
#include "model/run_streams.h"
#include "model/state_io.h"
#include "policies/builtins.h"
#include "policies/framework/plugin.h"
#include "policies/framework/profile.h"
#include "policies/framework/registry.h"
#include "tests/testing/cluster_builder.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace scheduling_cycle_test {

// ---- Plugins that only exist here ----

// Prefers the node with the least idle CPU by a normalisation that depends on all feasible nodes:
// scaled to the largest raw score, then reversed, as most upstream plugins do it.
class LeastIdleCpu : public ScorePlugin {
 public:
  absl::string_view name() const override { return "LeastIdleCpu"; }
  Normalize normalize(const ClusterState&) const override { return Normalize::kGeneral; }
  void Score(const PodContext&, const ClusterState& cluster, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override {
    for (size_t i = 0; i < nodes.size(); ++i) scores[i] = cluster.node(nodes[i]).cpu_milli_idle;
  }
  void NormalizeScore(absl::Span<const NodeId>, absl::Span<int64_t> scores) const override {
    if (scores.empty()) return;
    const int64_t largest = *std::max_element(scores.begin(), scores.end());
    for (int64_t& s : scores) s = largest == 0 ? 100 : 100 - s * 100 / largest;
  }
};

// Reads the clock and the other nodes, so that nothing may be remembered.
class Moody : public ScorePlugin {
 public:
  absl::string_view name() const override { return "Moody"; }
  Reach score_reach() const override { return Reach::kCluster; }
  void Score(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override {
    const auto mood = static_cast<uint64_t>(pod.now.ns() + cluster.totals().cpu_milli_allocated);
    for (size_t i = 0; i < nodes.size(); ++i) {
      scores[i] = static_cast<int64_t>((mood + 17 * uint64_t{nodes[i].value()}) % 101);
    }
  }
};

// Skips pods without GPUs, whose raw scores would say something else.
class OnlyGpus : public ScorePlugin {
 public:
  absl::string_view name() const override { return "OnlyGpus"; }
  Normalize normalize(const ClusterState&) const override { return Normalize::kGeneral; }
  StepResult PreScore(const PodContext& pod, const ClusterState&,
                      absl::Span<const NodeId>) override {
    StepResult result;
    if (pod.shape->request.gpu_count == 0) result.code = StepCode::kSkip;
    return result;
  }
  void Score(const PodContext&, const ClusterState& cluster, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override {
    for (size_t i = 0; i < nodes.size(); ++i) {
      scores[i] = (17 * int64_t{nodes[i].value()} + cluster.node(nodes[i]).pods_idle) % 101;
    }
  }
  // By the node, too.
  void NormalizeScore(absl::Span<const NodeId> nodes, absl::Span<int64_t> scores) const override {
    for (size_t i = 0; i < nodes.size(); ++i) scores[i] = (scores[i] + nodes[i].value()) % 101;
  }
};
// The same without a normalisation.
class OnlyGpusRaw : public OnlyGpus {
 public:
  Normalize normalize(const ClusterState&) const override { return Normalize::kNone; }
  void NormalizeScore(absl::Span<const NodeId>, absl::Span<int64_t>) const override {}
};

// Keeps what PreScore saw for Score, and skips every third number of feasible nodes.
class Crowd : public ScorePlugin {
 public:
  absl::string_view name() const override { return "Crowd"; }
  Reach score_reach() const override { return Reach::kCluster; }
  StepResult PreScore(const PodContext&, const ClusterState&,
                      absl::Span<const NodeId> feasible) override {
    feasible_ = static_cast<int64_t>(feasible.size());
    StepResult result;
    if (feasible_ % 3 == 0) result.code = StepCode::kSkip;
    return result;
  }
  void Score(const PodContext&, const ClusterState&, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override {
    for (size_t i = 0; i < nodes.size(); ++i) {
      scores[i] = (feasible_ * int64_t{nodes[i].value() + 1}) % 101;
    }
  }

 private:
  int64_t feasible_ = 0;
};

// Rejects the nodes with the most pods, unless all nodes have equally many.
class Levelling : public FilterPlugin {
 public:
  absl::string_view name() const override { return "Levelling"; }
  std::vector<Reason> reasons() const override {
    return {{ReasonKind::kOther, "node(s) had the most pods"}};
  }
  Reach filter_reach() const override { return Reach::kCluster; }
  void Filter(const PodContext&, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override {
    size_t most = 0;
    size_t fewest = std::numeric_limits<size_t>::max();
    for (size_t n = 0; n < cluster.node_count(); ++n) {
      most = std::max(most, cluster.pods_on(NodeId(n)).size());
      fewest = std::min(fewest, cluster.pods_on(NodeId(n)).size());
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (verdicts[i] == kFits && most > fewest && cluster.pods_on(nodes[i]).size() == most) {
        verdicts[i] = 1;
      }
    }
  }
};

// Notes how many nodes each call of Score was given.
class Counting : public ScorePlugin {
 public:
  Counting(bool cacheable, std::vector<size_t>* batches)
      : cacheable_(cacheable), batches_(batches) {}
  absl::string_view name() const override { return "Counting"; }
  Reach score_reach() const override { return cacheable_ ? Reach::kNode : Reach::kCluster; }
  void Score(const PodContext&, const ClusterState&, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override {
    batches_->push_back(nodes.size());
    std::fill(scores.begin(), scores.end(), 1);
  }

 private:
  bool cacheable_;
  std::vector<size_t>* batches_;
};

const Registry& CycleRegistry() {
  static const Registry* const registry = [] {
    auto* made = new Registry;
    RegisterBuiltins(*made);
    made->AddPlugin("LeastIdleCpu",
                    [](const PolicyContext&) { return std::make_unique<LeastIdleCpu>(); });
    made->AddPlugin("Moody", [](const PolicyContext&) { return std::make_unique<Moody>(); });
    made->AddPlugin("OnlyGpus", [](const PolicyContext&) { return std::make_unique<OnlyGpus>(); });
    made->AddPlugin("OnlyGpusRaw",
                    [](const PolicyContext&) { return std::make_unique<OnlyGpusRaw>(); });
    made->AddPlugin("Crowd", [](const PolicyContext&) { return std::make_unique<Crowd>(); });
    return made;
  }();
  return *registry;
}

// ---- Three ways to decide ----

struct PolicyChoice {
  std::string policy;
  std::vector<ScoreChoice> score;
};

// A profile of its own, with random streams of its own.
class OwnProfile {
 public:
  OwnProfile(const PolicyChoice& choice, const ClusterBuilder& builder)
      : parts_(builder.TypicalPods(), /*seed=*/5, SimDuration()),
        profile_(MakeTestProfile(CycleRegistry(), choice.policy, choice.score, parts_)) {}
  const Profile& profile() const { return profile_; }

 private:
  ProfileParts parts_;
  Profile profile_;
};

// kube-scheduler's cycle as plainly as possible: every filter on every node, every score plugin on
// every feasible node after PreScore, NormalizeScore per plugin, weighted sum, maximum, the first
// in rank.
Decision NaiveDecide(const Profile& profile, const ClusterState& cluster, const PodContext& pod,
                     const std::vector<uint32_t>& ranks, VerdictSummaryTable::Row* rejections) {
  std::vector<NodeId> feasible;
  std::map<uint8_t, uint32_t> counts;
  for (size_t i = 0; i < cluster.node_count(); ++i) {
    const NodeId node(i);
    uint8_t reason = 0;
    for (const Profile::FilterEntry& filter : profile.filters()) {
      ReasonIndex verdict = kFits;
      filter.plugin->Filter(pod, cluster, absl::MakeConstSpan(&node, 1),
                            absl::MakeSpan(&verdict, 1));
      if (verdict == kFits) continue;
      reason = static_cast<uint8_t>(filter.reason_base + verdict);
      break;
    }
    if (reason == 0) {
      feasible.push_back(node);
    } else {
      ++counts[reason];
    }
  }
  rejections->nodes = static_cast<uint32_t>(cluster.node_count());
  rejections->rejected.assign(counts.begin(), counts.end());
  Decision decision;
  if (feasible.empty()) return decision;
  std::vector<int64_t> totals(feasible.size(), 0);
  for (const Profile::ScoreEntry& entry : profile.scores()) {
    if (feasible.size() == 1) break;
    std::vector<int64_t> scores(feasible.size(), -1);
    if (entry.plugin->PreScore(pod, cluster, feasible).code == StepCode::kSkip) continue;
    entry.plugin->Score(pod, cluster, feasible, absl::MakeSpan(scores));
    entry.plugin->NormalizeScore(feasible, absl::MakeSpan(scores));
    for (size_t i = 0; i < feasible.size(); ++i) totals[i] += entry.weight * scores[i];
  }
  int64_t best = std::numeric_limits<int64_t>::min();
  for (size_t i = 0; i < feasible.size(); ++i) {
    const uint32_t rank = ranks[feasible[i].value()];
    if (totals[i] > best || (totals[i] == best && rank < ranks[decision.node.value()])) {
      best = totals[i];
      decision.node = feasible[i];
    }
  }
  if (pod.shape->request.gpu_count > 0) {
    DeviceProposals proposals;
    profile.allocator().Propose(pod.shape->request, cluster, decision.node, &proposals);
    decision.devices = proposals.front().devices;
  }
  return decision;
}

struct Outcome {
  int placed = 0;
  int failed = 0;
};

// A cluster that changes at random, and three deciders that must agree about it.
class Rivalry {
 public:
  Rivalry(const PolicyChoice& choice, uint64_t seed)
      : random_(seed, "rivalry"), builder_(MakeBuilder(random_)) {
    ranks_ = RandomRanks(builder_->cluster().node_count(), random_);
    for (int i = 0; i < 3; ++i) {
      profiles_.push_back(std::make_unique<OwnProfile>(choice, *builder_));
    }
    cached_ = std::make_unique<SchedulingCycle>(&profiles_[0]->profile(), &builder_->cluster(),
                                                ranks_, /*use_cache=*/true);
    uncached_ = std::make_unique<SchedulingCycle>(&profiles_[1]->profile(), &builder_->cluster(),
                                                  ranks_, /*use_cache=*/false);
  }

  // Adds what happened to `outcome`.
  void Run(int steps, Outcome* outcome) {
    for (int step = 0; step < steps; ++step) {
      const uint64_t action = random_.Below(20);
      if (action < 11) {
        Schedule(step);
      } else if (action < 17) {
        FinishOne();
      } else if (action < 19) {
        const NodeId node = OneOf(builder_->NodeIds(), random_);
        builder_->cluster().SetSchedulable(node, !builder_->cluster().node(node).schedulable);
      } else {
        ReserveInVain();
      }
      if (testing::Test::HasFatalFailure()) return;
    }
    outcome->placed += placed_;
    outcome->failed += failed_;
    EXPECT_EQ(cached_->work().decisions, uncached_->work().decisions);
    EXPECT_EQ(uncached_->work().cache_hits, 0u);
    EXPECT_GT(cached_->work().cache_hits, 0u);
    EXPECT_EQ(cached_->work().nodes_filtered + cached_->work().cache_hits,
              uncached_->work().nodes_filtered);
    EXPECT_TRUE(builder_->cluster().CheckInvariants().ok());
  }

 private:
  static std::unique_ptr<ClusterBuilder> MakeBuilder(Random& random) {
    auto builder = std::make_unique<ClusterBuilder>();
    FillRandomly(/*nodes=*/11, /*shapes=*/14, /*residents=*/12, random, *builder);
    return builder;
  }

  void Schedule(int step) {
    const ShapeId shape = OneOf(builder_->ShapeIds(), random_);
    PodContext pod = builder_->Context(shape);
    pod.now = SimTime(step);
    VerdictSummaryTable::Row wanted_row;
    const Decision wanted =
        NaiveDecide(profiles_[2]->profile(), builder_->cluster(), pod, ranks_, &wanted_row);
    uint32_t feasible = wanted_row.nodes;
    for (const auto& rejected : wanted_row.rejected) feasible -= rejected.second;
    for (SchedulingCycle* cycle : {cached_.get(), uncached_.get()}) {
      const char* const which = cycle == cached_.get() ? "cached" : "uncached";
      const Decision found = cycle->Decide(pod);
      ASSERT_EQ(found.node, wanted.node) << which << " step " << step;
      ASSERT_EQ(found.devices, wanted.devices) << which << " step " << step;
      ASSERT_EQ(cycle->Rejections(shape), wanted_row) << which << " step " << step;
      ASSERT_EQ(cycle->feasible_nodes(shape), feasible) << which << " step " << step;
    }
    if (!wanted.node.valid()) {
      ++failed_;
      return;
    }
    running_.push_back(builder_->Place(shape, wanted.node, wanted.devices));
    ++placed_;
  }

  void FinishOne() {
    if (running_.empty()) return;
    const auto i = static_cast<size_t>(random_.Below(running_.size()));
    builder_->cluster().Finish(running_[i]);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
  }

  // Charges a node and takes it back, as a binding that fails does.
  void ReserveInVain() {
    ClusterState& cluster = builder_->cluster();
    const ShapeId shape = OneOf(builder_->ShapeIds(), random_);
    const NodeId node = OneOf(builder_->NodeIds(), random_);
    const DeviceSet devices =
        RandomDevices(builder_->shapes().row(shape), cluster.device_milli_idle(node), random_);
    if (!cluster.CanPlace(shape, node, devices)) return;
    const PodId pod = cluster.AddPod("vain", shape, 0, SimTime());
    cluster.Assume(pod, node, devices);
    cluster.Forget(pod);
  }

  Random random_;
  std::unique_ptr<ClusterBuilder> builder_;
  std::vector<uint32_t> ranks_;
  std::vector<std::unique_ptr<OwnProfile>> profiles_;
  std::unique_ptr<SchedulingCycle> cached_;
  std::unique_ptr<SchedulingCycle> uncached_;
  std::vector<PodId> running_;
  int placed_ = 0;
  int failed_ = 0;
};

TEST(SchedulingCycleTest, EveryPolicyDecidesTheSameWithAndWithoutCache) {
  Outcome outcome;
  for (const PolicyEntry& policy : CycleRegistry().policies()) {
    for (uint64_t seed = 1; seed <= SoakSeeds(6); ++seed) {
      SCOPED_TRACE(absl::StrCat(policy.name, " seed ", seed));
      Rivalry({policy.name, {}}, seed).Run(400, &outcome);
      if (HasFatalFailure()) return;
    }
  }
  // About 7900 attempts; the scenarios are worth something only if many fit and many do not.
  EXPECT_GT(outcome.placed, 1000);
  EXPECT_GT(outcome.failed, 500);
}

TEST(SchedulingCycleTest, WeightedCombinationsEqualTheNaiveComputation) {
  const std::vector<std::vector<ScoreChoice>> combinations = {
      {{"GpuPacking", 2}, {"DotProductDivideMax", 7}},
      {{"BestFit", 1}, {"GpuPacking", 1}},
      {{"FGD", 1000}, {"BestFit", 300}, {"GpuClustering", 20}},
      {{"LeastIdleCpu", 1}},
      {{"LeastIdleCpu", 3}, {"FGD", 2}, {"DotProductMergePod", 1}},
      {{"DotProduct", 5}, {"Random", 1}},
      {{"Moody", 1}},
      {{"OnlyGpus", 1}},
      {{"OnlyGpusRaw", 3}},
      {{"OnlyGpusRaw", 3}, {"GpuPacking", 2}},
      {{"OnlyGpus", 2}, {"Crowd", 1}, {"BestFit", 1}},
      {{"Crowd", 1}},
      {{"Moody", 2}, {"BestFit", 5}, {"LeastIdleCpu", 1}, {"FGD", 1}},
      {{"BestFit", 1000000}, {"Random", 999999}, {"GpuPacking", 0}},
  };
  Outcome outcome;
  for (size_t i = 0; i < combinations.size(); ++i) {
    for (uint64_t seed = 11; seed <= 10 + SoakSeeds(3); ++seed) {
      SCOPED_TRACE(absl::StrCat("combination ", i, " seed ", seed));
      Rivalry({i % 2 == 0 ? "fgd" : "random", combinations[i]}, seed).Run(300, &outcome);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(outcome.placed, 500);
  EXPECT_GT(outcome.failed, 200);
}

// 21 plugins of the largest weight add up to 2.1e9, below 2^31; 22 do not.
TEST(SchedulingCycleTest, LargeSumsOfWeightsDoNotOverflow) {
  Outcome outcome;
  for (const size_t plugins : {size_t{21}, size_t{22}, size_t{60}}) {
    SCOPED_TRACE(plugins);
    std::vector<ScoreChoice> score(plugins, {"GpuPacking", 1000000});
    score.front() = {"DotProduct", 1000000};
    Rivalry({"best-fit", score}, plugins).Run(200, &outcome);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(outcome.placed, 30);
}

// ---- Single decisions ----

// Some equal nodes, and a profile for them.
class Bench {
 public:
  Bench(size_t nodes, const PolicyChoice& choice) {
    for (size_t i = 0; i < nodes; ++i) {
      builder_.AddNode(TestNode(absl::StrCat("n", i), 16000, 2));
    }
    share_ = builder_.AddShape(TestShape(4000, 1, 400));
    none_ = builder_.AddShape(TestShape(4000, 0));
    own_ = std::make_unique<OwnProfile>(choice, builder_);
  }
  SchedulingCycle MakeCycle(std::vector<uint32_t> ranks, bool use_cache) {
    return SchedulingCycle(&own_->profile(), &builder_.cluster(), std::move(ranks), use_cache);
  }
  ClusterBuilder& builder() { return builder_; }
  ShapeId share() const { return share_; }
  ShapeId none() const { return none_; }
  PodContext Share() const { return builder_.Context(share_); }
  PodContext None() const { return builder_.Context(none_); }

 private:
  ClusterBuilder builder_;
  ShapeId share_;
  ShapeId none_;
  std::unique_ptr<OwnProfile> own_;
};

WorkCounters Work(uint64_t decisions, uint64_t filtered, uint64_t scored, uint64_t hits) {
  WorkCounters work;
  work.decisions = decisions;
  work.nodes_filtered = filtered;
  work.nodes_scored = scored;
  work.cache_hits = hits;
  return work;
}

// The verdict about a node follows the other nodes, though nothing has changed on it.
TEST(SchedulingCycleTest, AFilterThatLooksAtTheClusterIsAskedEveryTimeUnlessItSkips) {
  ClusterBuilder builder;
  for (int i = 0; i < 3; ++i) builder.AddNode(TestNode(absl::StrCat("n", i), 16000, 0));
  const ShapeId shape = builder.AddShape(TestShape(1000, 0));
  const PodContext pod = builder.Context(shape);
  const ProfileParts parts({}, 1, SimDuration());
  Profile profile = MakeTestProfile(TestRegistry(), "best-fit", {}, parts);
  profile.AddPlugin(std::make_unique<Levelling>());
  SchedulingCycle cycle(&profile, &builder.cluster(), {0, 1, 2}, true);
  const auto take = [&] {
    const NodeId node = cycle.Decide(pod).node;
    if (node.valid()) builder.Place(shape, node, DeviceSet());
    return node;
  };
  // BestFit alone would fill n0.
  for (const size_t node : {0u, 1u, 2u, 0u, 1u}) EXPECT_EQ(take(), NodeId(node));
  EXPECT_EQ(cycle.cluster_filters().size(), 1u);
  VerdictSummaryTable::Row two;
  two.nodes = 3;
  two.rejected.emplace_back(static_cast<uint8_t>(profile.reasons().size()), 2);
  cycle.Look(pod);
  EXPECT_EQ(cycle.Rejections(shape), two);
  const size_t filter = profile.filters().size() - 1;
  cycle.BeginAttempt(~uint64_t{0}, nullptr);
  EXPECT_TRUE(cycle.cluster_filters().empty());
  EXPECT_TRUE(cycle.IsSkipped(filter));
  // Filters of single nodes are asked all the same: their verdicts are kept.
  EXPECT_FALSE(cycle.IsSkipped(0));
  EXPECT_EQ(take(), NodeId(size_t{0}));
  EXPECT_EQ(take(), NodeId(size_t{0}));
  cycle.BeginAttempt(0, nullptr);
  EXPECT_EQ(take(), NodeId(size_t{1}));
}

TEST(SchedulingCycleTest, TiesGoToTheSmallestRank) {
  const std::vector<PolicyChoice> choices = {{"gpu-packing", {}},
                                             {"best-fit", {{"GpuPacking", 1}, {"BestFit", 1}}}};
  for (const PolicyChoice& choice : choices) {
    Bench bench(4, choice);
    SchedulingCycle cycle = bench.MakeCycle({3, 1, 0, 2}, true);
    EXPECT_EQ(cycle.Decide(bench.Share()).node, NodeId(size_t{2}));
    bench.builder().cluster().SetSchedulable(NodeId(size_t{2}), false);
    EXPECT_EQ(cycle.Decide(bench.Share()).node, NodeId(size_t{1}));
    bench.builder().cluster().SetSchedulable(NodeId(size_t{1}), false);
    EXPECT_EQ(cycle.Decide(bench.Share()).node, NodeId(size_t{3}));
    bench.builder().cluster().SetSchedulable(NodeId(size_t{2}), true);
    EXPECT_EQ(cycle.Decide(bench.Share()).node, NodeId(size_t{2}));
  }
}

// The choice of a cycle without restrictions when the other nodes are cordoned.
NodeId BestAmong(absl::Span<const NodeId> passing, const PodContext& pod, SchedulingCycle& cycle,
                 ClusterState& cluster) {
  std::vector<NodeId> cordoned;
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    const NodeId node(n);
    if (absl::c_binary_search(passing, node) || !cluster.node(node).schedulable) continue;
    cordoned.push_back(node);
    cluster.SetSchedulable(node, false);
  }
  const NodeId best = cycle.Decide(pod).node;
  for (NodeId node : cordoned) cluster.SetSchedulable(node, true);
  return best;
}

// With scores in the tree, and (normalised over the nodes that pass) without; by both kinds of
// restriction.
TEST(SchedulingCycleTest, RestrictionsDecideAsIfTheOtherNodesWereCordoned) {
  const std::vector<std::vector<ScoreChoice>> choices = {{{"BestFit", 1}},
                                                         {{"BestFit", 1}, {"GpuPacking", 2}}};
  int placed = 0;
  for (uint64_t seed = 0; seed < SoakSeeds(20); ++seed) {
    Random random(seed, "restrictions");
    ClusterBuilder builder;
    FillRandomly(12, 4, 10, random, builder);
    const ProfileParts parts(builder.TypicalPods(), 1, SimDuration());
    const Profile profile =
        MakeTestProfile(TestRegistry(), "best-fit", choices[static_cast<size_t>(seed % 2)], parts);
    const std::vector<uint32_t> ranks = RandomRanks(12, random);
    SchedulingCycle cycle(&profile, &builder.cluster(), ranks, true);
    SchedulingCycle oracle(&profile, &builder.cluster(), ranks, false);
    for (const ShapeId shape : builder.ShapeIds()) {
      const PodContext pod = builder.Context(shape);
      // Cordons nothing off from a shape that tolerates every taint.
      if (BestAmong({}, pod, oracle, builder.cluster()).valid()) continue;
      std::vector<NodeId> passing;
      std::vector<NodeId> others;
      for (const NodeId node : builder.NodeIds()) {
        (random.Below(3) == 0 ? passing : others).push_back(node);
      }
      NodeRestriction allows;
      allows.only_allowed = true;
      allows.allowed = passing;
      NodeRestriction excludes;
      excludes.excluded = others;
      const NodeId best = BestAmong(passing, pod, oracle, builder.cluster());
      placed += best.valid() ? 1 : 0;
      EXPECT_EQ(cycle.Decide(pod, {&allows, 1}).node, best) << "seed " << seed;
      EXPECT_EQ(cycle.Decide(pod, {&excludes, 1}).node, best) << "seed " << seed;
      // Nodes hidden for one decision are there for the next.
      EXPECT_EQ(cycle.Decide(pod).node,
                BestAmong(builder.NodeIds(), pod, oracle, builder.cluster()))
          << "seed " << seed;
    }
  }
  EXPECT_GT(placed, 0);
}

TEST(SchedulingCycleTest, AnEmptyClusterTakesNothing) {
  Bench bench(0, {"fgd", {}});
  SchedulingCycle cycle = bench.MakeCycle({}, true);
  EXPECT_FALSE(cycle.Decide(bench.Share()).node.valid());
  EXPECT_FALSE(cycle.Decide(bench.None()).node.valid());
  EXPECT_EQ(cycle.Rejections(bench.share()), VerdictSummaryTable::Row());
}

TEST(SchedulingCycleTest, CountsItsWork) {
  Bench bench(4, {"best-fit", {}});
  SchedulingCycle cycle = bench.MakeCycle({0, 1, 2, 3}, true);
  SchedulingCycle uncached = bench.MakeCycle({0, 1, 2, 3}, false);
  EXPECT_EQ(cycle.work(), WorkCounters());
  // First use of the shape: all four nodes.
  cycle.Decide(bench.Share());
  EXPECT_EQ(cycle.work(), Work(1, 4, 4, 0));
  // Nothing changed.
  cycle.Decide(bench.Share());
  EXPECT_EQ(cycle.work(), Work(2, 4, 4, 4));
  // One node changed twice: looked at once.
  bench.builder().Place(bench.none(), NodeId(size_t{1}));
  bench.builder().Place(bench.none(), NodeId(size_t{1}));
  cycle.Decide(bench.Share());
  EXPECT_EQ(cycle.work(), Work(3, 5, 5, 7));
  // It no longer fits: filtered, not scored. Another shape starts from scratch.
  bench.builder().cluster().SetSchedulable(NodeId(size_t{1}), false);
  cycle.Decide(bench.Share());
  EXPECT_EQ(cycle.work(), Work(4, 6, 5, 10));
  cycle.Decide(bench.None());
  EXPECT_EQ(cycle.work(), Work(5, 10, 8, 10));
  for (int i = 0; i < 3; ++i) uncached.Decide(bench.Share());
  EXPECT_EQ(uncached.work(), Work(3, 12, 9, 0));

  StateWriter out;
  cycle.Save(out);
  StateReader in(out.bytes());
  ASSERT_TRUE(uncached.Load(in).ok());
  EXPECT_TRUE(in.AtEnd());
  // A checkpoint does not include the work done before it.
  EXPECT_EQ(uncached.work(), Work(3, 12, 9, 0));
}

TEST(SchedulingCycleTest, EveryScorePluginCountsAsWork) {
  Bench bench(4, {"best-fit", {{"BestFit", 1}, {"FGD", 1}, {"Random", 1}}});
  SchedulingCycle cycle = bench.MakeCycle({0, 1, 2, 3}, true);
  cycle.Decide(bench.Share());
  EXPECT_EQ(cycle.work(), Work(1, 4, 12, 0));
  // Only the random score must be drawn again.
  cycle.Decide(bench.Share());
  EXPECT_EQ(cycle.work(), Work(2, 4, 16, 4));
}

// The change log keeps at least 1024 changes; a shape that slept longer looks at every node.
TEST(SchedulingCycleTest, AShapeThatSleptForLongIsRefreshedAsAWhole) {
  Bench bench(4, {"best-fit", {}});
  ClusterState& cluster = bench.builder().cluster();
  SchedulingCycle cycle = bench.MakeCycle({0, 1, 2, 3}, true);
  cycle.Decide(bench.Share());
  const auto toggle = [&cluster](uint64_t times) {
    const NodeId node(size_t{2});
    for (uint64_t i = 0; i < times; ++i) {
      cluster.SetSchedulable(node, !cluster.node(node).schedulable);
    }
  };
  toggle(1024);
  cycle.Decide(bench.Share());
  EXPECT_EQ(cycle.work().nodes_filtered, 5u);
  // The first of these changes is no longer in the log.
  bench.builder().Place(bench.none(), NodeId(size_t{3}));
  toggle(1024);
  const Decision decision = cycle.Decide(bench.Share());
  EXPECT_EQ(cycle.work().nodes_filtered, 9u);
  // BestFit prefers the node that has the least left.
  EXPECT_EQ(decision.node, NodeId(size_t{3}));
}

TEST(SchedulingCycleTest, TheSingleFeasibleNodeIsTakenWithoutScoring) {
  for (const bool cacheable : {false, true}) {
    std::vector<size_t> batches;
    Registry registry;
    RegisterBuiltins(registry);
    registry.AddPlugin("Counting", [cacheable, &batches](const PolicyContext&) {
      return std::make_unique<Counting>(cacheable, &batches);
    });
    ClusterBuilder builder;
    builder.AddNode(TestNode("small", 1000, 0));
    builder.AddNode(TestNode("big", 16000, 0));
    const ShapeId large = builder.AddShape(TestShape(4000, 0));
    const ShapeId little = builder.AddShape(TestShape(500, 0));
    const ProfileParts parts(builder.TypicalPods(), 1, SimDuration());
    // Beside a random plugin the scores are combined for each decision. One that may be remembered
    // is asked about every node that fits; one that may not, only when there is a choice.
    const Profile profile =
        MakeTestProfile(registry, "random", {{"Counting", 1}, {"Random", 1}}, parts);
    SchedulingCycle cycle(&profile, &builder.cluster(), {0, 1}, /*use_cache=*/true);
    EXPECT_EQ(cycle.Decide(builder.Context(large)).node, NodeId(size_t{1}));
    EXPECT_EQ(batches, cacheable ? std::vector<size_t>{1} : std::vector<size_t>());
    EXPECT_TRUE(cycle.Decide(builder.Context(little)).node.valid());
    EXPECT_EQ(batches.back(), 2u);
    // The first decision drew nothing: the second one's draw was the stream's first.
    const std::unique_ptr<RunStreams> same = MakeSeededStreams(1);
    same->DrawPolicy(2);
    EXPECT_EQ(parts.streams->DrawPolicy(1000000), same->DrawPolicy(1000000));
  }
}

TEST(SchedulingCycleTest, RejectionsNameTheFirstFilterThatRefused) {
  ClusterBuilder builder;
  NodeSpec spec = TestNode("cordoned", 100, 0);
  spec.unschedulable = true;
  builder.AddNode(spec);
  builder.AddNode(TestNode("tiny", 100, 0));
  builder.AddNode(TestNode("tiny2", 100, 4));
  builder.AddNode(TestNode("no-gpu", 16000, 0));
  builder.AddNode(TestNode("t4", 16000, 4, "T4"));
  builder.AddNode(TestNode("g2", 16000, 1, "G2"));
  const ShapeId shape = builder.AddShape(TestShape(1000, 2, 1000, "G2"));
  OwnProfile own({"fgd", {}}, builder);
  SchedulingCycle cycle(&own.profile(), &builder.cluster(), {5, 4, 3, 2, 1, 0}, true);
  EXPECT_FALSE(cycle.Decide(builder.Context(shape)).node.valid());
  VerdictSummaryTable summaries;
  summaries.SetReasons(own.profile().reasons());
  const auto text = [&] { return summaries.Text(summaries.Intern(cycle.Rejections(shape))); };
  EXPECT_EQ(text(),
            "0/6 nodes are available: 1 Insufficient GPU, 1 node(s) had another GPU model, "
            "1 node(s) had no GPU, 1 node(s) were unschedulable, 2 Insufficient cpu.");
  EXPECT_EQ(cycle.feasible_nodes(shape), 0u);
  builder.cluster().SetSchedulable(NodeId(size_t{0}), true);
  EXPECT_FALSE(cycle.Decide(builder.Context(shape)).node.valid());
  EXPECT_EQ(text(),
            "0/6 nodes are available: 1 Insufficient GPU, 1 node(s) had another GPU model, "
            "1 node(s) had no GPU, 3 Insufficient cpu.");
}

TEST(SchedulingCycleDeathTest, RanksAreAPermutation) {
  Bench bench(2, {"fgd", {}});
  EXPECT_DEATH(bench.MakeCycle({0}, true), "CHECK failed");
  EXPECT_DEATH(bench.MakeCycle({0, 0}, true), "CHECK failed");
  EXPECT_DEATH(bench.MakeCycle({1, 2}, true), "CHECK failed");
}

}  // namespace scheduling_cycle_test
}  // namespace drasim
