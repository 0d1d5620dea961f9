#include "policies/plugins/default_preemption.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "model/cluster_objects.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/event_source.h"
#include "model/job_table.h"
#include "model/label_selector.h"
#include "model/random.h"
#include "policies/framework/plugin.h"
#include "policies/framework/plugin_args.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {
namespace default_preemption_test {

constexpr int32_t kLowest = std::numeric_limits<int32_t>::min();
constexpr int32_t kNegative = -100;
constexpr int32_t kLow = 0;
constexpr int32_t kMid = 100;
constexpr int32_t kHigh = 1000;

// Nodes and running jobs that ask for CPU only.
class PreemptionRig {
 public:
  NodeId AddNode(int64_t cpu_milli) {
    const size_t row = builder_.cluster().node_count();
    return builder_.AddNode(TestNode(absl::StrCat("node-", row), cpu_milli, 0));
  }

  // A job that waits.
  JobId Submit(int64_t cpu_milli, size_t pods, int32_t priority, bool preemptible = true) {
    JobArrival arrival;
    arrival.name = absl::StrCat("job-", jobs_.size());
    arrival.shape = builder_.AddShape(TestShape(cpu_milli, 0));
    arrival.pods = static_cast<int32_t>(pods);
    arrival.priority = priority;
    arrival.preemptible = preemptible;
    const PodId first_pod(cluster().pod_count());
    for (size_t i = 0; i < pods; ++i) {
      cluster().AddPod(absl::StrCat(arrival.name, "-", i), arrival.shape, priority, SimTime());
    }
    return jobs_.Add(arrival, first_pod, builder_.shapes());
  }

  // A job with a pod on each of `nodes`, which has run since `started`.
  JobId Run(int64_t cpu_milli, const std::vector<NodeId>& nodes, int32_t priority, int64_t started,
            bool preemptible = true) {
    const JobId job = Submit(cpu_milli, nodes.size(), priority, preemptible);
    for (size_t i = 0; i < nodes.size(); ++i) {
      cluster().Assume(Pod(job, i), nodes[i], DeviceSet());
      cluster().Bind(Pod(job, i));
    }
    jobs_.Start(job);
    jobs_.Run(job, SimTime(started));
    return job;
  }

  // A job of one pod that is charged to the node, but not yet bound.
  JobId Begin(int64_t cpu_milli, NodeId node, int32_t priority) {
    const JobId job = Submit(cpu_milli, 1, priority);
    cluster().Assume(Pod(job, 0), node, DeviceSet());
    jobs_.Start(job);
    return job;
  }

  // A running job of one pod leaves.
  void End(JobId job, int64_t now) {
    cluster().Finish(Pod(job, 0));
    jobs_.End(job, JobState::kSucceeded, SimTime(now));
  }

  PodId Pod(JobId job, size_t index) const {
    return PodId(size_t{jobs_.row(job).first_pod.value()} + index);
  }
  ClusterState& cluster() { return builder_.cluster(); }
  const ClusterBuilder& builder() const { return builder_; }
  const JobTable& jobs() const { return jobs_; }

 private:
  ClusterBuilder builder_;
  JobTable jobs_;
};

// Tries out on the cluster itself, with amounts as the only filter.
class FakeHandle : public PostFilterHandle {
 public:
  FakeHandle(PreemptionRig* rig, ShapeId shape, std::vector<NodeId> candidates, uint64_t draw)
      : FakeHandle(&rig->cluster(), shape, std::move(candidates), draw) {
    jobs_ = &rig->jobs();
  }
  // Without jobs.
  FakeHandle(ClusterState* cluster, ShapeId shape, std::vector<NodeId> candidates, uint64_t draw)
      : cluster_(cluster), shape_(shape), candidates_(std::move(candidates)), draw_(draw) {}

  const ClusterState& cluster() const override { return *cluster_; }
  const JobTable* jobs() const override { return jobs_; }
  absl::Span<const NodeId> candidates() const override { return candidates_; }
  bool Fits(NodeId node) override {
    tried_.push_back(node);
    return cluster_->CanPlace(shape_, node, DeviceSet());
  }
  void Remove(PodId pod) override {
    const bool bound = cluster_->pod_phase(pod) == PodPhase::kBound;
    removed_[pod] = {cluster_->pod_node(pod), bound};
    if (bound) {
      cluster_->Evict(pod);
    } else {
      cluster_->Forget(pod);
    }
  }
  void Restore(PodId pod) override {
    const auto it = removed_.find(pod);
    DRASIM_CHECK(it != removed_.end());
    cluster_->Assume(pod, it->second.first, DeviceSet());
    if (it->second.second) cluster_->Bind(pod);
    removed_.erase(it);
  }
  uint64_t Draw(uint64_t n) override {
    DRASIM_CHECK_LT(draw_, n);
    ranges_.push_back(n);
    return draw_;
  }

  // --- kube-scheduler's cycle in full ---
  NodeId nominated_node() const override { return nominated_node_; }
  bool IsUnresolvable(NodeId) const override { return unresolvable_; }
  absl::Span<const PodId> NominatedOn(NodeId) const override { return nominees_; }
  bool sorts_as_go() const override { return jobs_ == nullptr; }
  bool wants_texts() const override { return jobs_ == nullptr; }
  NodeStatus WhyNot() const override {
    return {nullptr, StepCode::kReject, {"Insufficient cpu"}, tried_.back()};
  }
  PreemptionReport* report() override { return &report_; }

  void SetNominated(NodeId node, bool unresolvable) {
    nominated_node_ = node;
    unresolvable_ = unresolvable;
  }
  void SetNominees(std::vector<PodId> pods) { nominees_ = std::move(pods); }
  const PreemptionReport& reported() const { return report_; }

  const std::map<PodId, std::pair<NodeId, bool>>& removed() const { return removed_; }
  const std::vector<uint64_t>& ranges() const { return ranges_; }
  // Different nodes that were asked about, in the order of the first time.
  std::vector<NodeId> tried() const {
    std::vector<NodeId> once;
    for (const NodeId node : tried_) {
      if (std::find(once.begin(), once.end(), node) == once.end()) once.push_back(node);
    }
    return once;
  }

 private:
  ClusterState* cluster_;
  const JobTable* jobs_ = nullptr;
  ShapeId shape_;
  std::vector<NodeId> candidates_;
  uint64_t draw_;
  std::map<PodId, std::pair<NodeId, bool>> removed_;  // and whether it was bound
  std::vector<uint64_t> ranges_;
  std::vector<NodeId> tried_;
  bool unresolvable_ = false;
  NodeId nominated_node_;
  std::vector<PodId> nominees_;
  PreemptionReport report_;
};

// The remedy for a new pod that fits on none of `nodes`, and the nodes that were tried.
struct Outcome {
  PostFilterResult result;
  std::vector<NodeId> tried;
  std::vector<uint64_t> ranges;
};

Outcome Preempt(PreemptionRig& rig, int64_t cpu_milli, int32_t priority,
                const std::vector<NodeId>& nodes, uint64_t draw = 0) {
  const JobId job = rig.Submit(cpu_milli, 1, priority);
  const ShapeId shape = rig.cluster().pod_shape_id(rig.Pod(job, 0));
  PodContext pod = rig.builder().Context(shape);
  pod.pod = rig.Pod(job, 0);
  FakeHandle handle(&rig, shape, nodes, draw);
  DefaultPreemption plugin;
  Outcome outcome;
  outcome.result = plugin.PostFilter(pod, handle);
  outcome.tried = handle.tried();
  outcome.ranges = handle.ranges();
  EXPECT_TRUE(handle.removed().empty());
  EXPECT_TRUE(rig.cluster().CheckInvariants().ok());
  return outcome;
}

void ExpectNothingDone(const PostFilterResult& result) {
  EXPECT_EQ(result.code, StepCode::kReject);
  EXPECT_FALSE(result.nominated.valid());
  EXPECT_TRUE(result.victims.empty());
}

// ---- The number of candidates ----

TEST(CandidatesToFindTest, IsATenthButAtLeastAHundredIfThereAreThatMany) {
  EXPECT_EQ(CandidatesToFind(0), 0);
  EXPECT_EQ(CandidatesToFind(1), 1);
  EXPECT_EQ(CandidatesToFind(50), 50);
  EXPECT_EQ(CandidatesToFind(100), 100);
  EXPECT_EQ(CandidatesToFind(101), 100);
  EXPECT_EQ(CandidatesToFind(500), 100);
  EXPECT_EQ(CandidatesToFind(1009), 100);
  EXPECT_EQ(CandidatesToFind(1010), 101);
  EXPECT_EQ(CandidatesToFind(2000), 200);
}

// ---- The choice of the node: the rows of kube-scheduler's TestSelectBestCandidate ----

struct PlainVictim {
  int32_t priority;
  int64_t started;
};
using PlainNode = std::vector<PlainVictim>;
struct ChoiceRow {
  const char* name;
  std::vector<PlainNode> nodes;  // victims in the order of the node's pods
  size_t chosen;
};

std::vector<ChoiceRow> ChoiceRows() {
  return {
      {"all equal: the first", {{{kMid, 1}}, {{kMid, 1}}, {{kMid, 1}}}, 0},
      {"a lower top priority",
       {{{kMid, 1}, {kMid, 1}}, {{kMid, 1}, {kLow, 1}}, {{kLow, 1}, {kLow, 1}}},
       2},
      {"equal top priorities: the lower sum",
       {{{kMid, 1}, {kMid, 1}}, {{kMid, 1}, {kLow, 1}}, {{kMid, 1}, {kMid, 1}}},
       1},
      {"equal sums: the fewest", {{{kMid, 1}, {kLowest, 1}}, {{kMid, 1}}}, 1},
      {"negative priorities: more victims cost more",
       {{{kNegative, 1}, {kNegative, 1}, {kNegative, 1}}, {{kNegative, 1}, {kNegative, 1}}},
       1},
      {"equal in all: the latest start", {{{kMid, 2}}, {{kMid, 3}}, {{kMid, 1}}}, 1},
      {"the earliest start on each node counts",
       {{{kMid, 4}, {kMid, 2}}, {{kMid, 5}, {kMid, 1}}, {{kMid, 3}, {kMid, 6}}},
       2},
      {"only starts of the top priority count",
       {{{kLow, 4}, {kMid, 2}}, {{kMid, 6}, {kLow, 1}}, {{kLow, 3}, {kMid, 5}}},
       1},
      {"one candidate", {{{kMid, 1}, {kMid, 1}}}, 0},
  };
}

TEST(BestCandidatesTest, FollowsTheRules) {
  for (const ChoiceRow& row : ChoiceRows()) {
    std::vector<Candidate> candidates;
    for (const PlainNode& node : row.nodes) {
      PlainNode sorted = node;
      std::sort(sorted.begin(), sorted.end(), [](const PlainVictim& a, const PlainVictim& b) {
        return a.priority != b.priority ? a.priority > b.priority : a.started < b.started;
      });
      Candidate candidate;
      candidate.node = NodeId(candidates.size());
      for (const PlainVictim& v : sorted) {
        candidate.victims.push_back({PodId(), v.priority, SimTime(v.started)});
      }
      candidates.push_back(candidate);
    }
    EXPECT_EQ(BestCandidates(candidates).front(), row.chosen) << row.name;
  }
}

TEST(BestCandidatesTest, ThePriorityOfTheTopVictimOutweighsTheRest) {
  std::vector<Candidate> candidates(2);
  candidates[0].victims = {{PodId(), kMid + 1, SimTime(9)}};
  candidates[1].victims = {{PodId(), kMid, SimTime(1)}, {PodId(), kMid, SimTime(1)}};
  EXPECT_EQ(BestCandidates(candidates), (std::vector<size_t>{1}));
}

// Extenders may return victims in another order. The first one's priority counts all the same, and
// the start of the most important ones wherever they stand.
TEST(BestCandidatesTest, ReorderedVictimsKeepTheStartOfTheMostImportant) {
  std::vector<Candidate> candidates(2);
  candidates[0].victims = {{PodId(), kLow, SimTime(90)}, {PodId(), kMid, SimTime(10)}};
  candidates[1].victims = {{PodId(), kLow, SimTime(1)}, {PodId(), kMid, SimTime(20)}};
  EXPECT_EQ(BestCandidates(candidates), (std::vector<size_t>{1}));
  candidates[0].victims = {{PodId(), kMid, SimTime(30)}, {PodId(), kMid, SimTime(10)}};
  candidates[1].victims = {{PodId(), kMid, SimTime(20)}, {PodId(), kMid, SimTime(20)}};
  EXPECT_EQ(BestCandidates(candidates), (std::vector<size_t>{1}));
}

TEST(DefaultPreemptionTest, ChoosesTheNodeByTheRules) {
  for (const ChoiceRow& row : ChoiceRows()) {
    PreemptionRig rig;
    std::vector<NodeId> nodes;
    std::vector<std::vector<PodId>> pods;
    for (const PlainNode& plain : row.nodes) {
      nodes.push_back(rig.AddNode(6000));
      pods.emplace_back();
      for (const PlainVictim& v : plain) {
        const int64_t cpu_milli = 6000 / static_cast<int64_t>(plain.size());
        const JobId job = rig.Run(cpu_milli, {nodes.back()}, v.priority, v.started);
        pods.back().push_back(rig.Pod(job, 0));
      }
    }
    // The whole node: no pod can stay.
    const PostFilterResult result = Preempt(rig, 6000, kHigh, nodes).result;
    EXPECT_EQ(result.code, StepCode::kSuccess) << row.name;
    EXPECT_EQ(result.nominated, nodes[row.chosen]) << row.name;
    std::vector<PodId> victims = result.victims;
    std::sort(victims.begin(), victims.end());
    EXPECT_EQ(victims, pods[row.chosen]) << row.name;
  }
}

// ---- Victims on one node ----

TEST(DefaultPreemptionTest, OnlyPodsOfLowerPriorityAreVictims) {
  PreemptionRig rig;
  const NodeId node = rig.AddNode(1000);
  const JobId job = rig.Run(1000, {node}, kMid, 0);
  ExpectNothingDone(Preempt(rig, 1000, kMid, {node}).result);
  ExpectNothingDone(Preempt(rig, 1000, kLow, {node}).result);
  const PostFilterResult result = Preempt(rig, 1000, kMid + 1, {node}).result;
  EXPECT_EQ(result.code, StepCode::kSuccess);
  EXPECT_EQ(result.nominated, node);
  EXPECT_EQ(result.victims, (std::vector<PodId>{rig.Pod(job, 0)}));
  EXPECT_TRUE(result.intents.empty());
}

TEST(DefaultPreemptionTest, JobsThatAreNotPreemptibleStay) {
  PreemptionRig rig;
  const NodeId node = rig.AddNode(2000);
  rig.Run(1000, {node}, kLow, 0, /*preemptible=*/false);
  const JobId other = rig.Run(1000, {node}, kMid, 0);
  ExpectNothingDone(Preempt(rig, 2000, kHigh, {node}).result);
  EXPECT_EQ(Preempt(rig, 1000, kHigh, {node}).result.victims,
            (std::vector<PodId>{rig.Pod(other, 0)}));
}

TEST(DefaultPreemptionTest, PodsThatAreNotYetBoundMayGoToo) {
  PreemptionRig rig;
  const NodeId node = rig.AddNode(2000);
  const JobId starting = rig.Begin(1000, node, kLow);
  const JobId running = rig.Run(1000, {node}, kLow, 0);
  EXPECT_EQ(Preempt(rig, 2000, kHigh, {node}).result.victims,
            (std::vector<PodId>{rig.Pod(running, 0), rig.Pod(starting, 0)}));
  EXPECT_EQ(Preempt(rig, 1000, kHigh, {node}).result.victims.at(0), rig.Pod(starting, 0));
}

TEST(DefaultPreemptionTest, TheMostImportantAreSparedFirst) {
  PreemptionRig rig;
  const NodeId node = rig.AddNode(4000);
  const JobId five = rig.Run(1000, {node}, 5, 0);
  const JobId one = rig.Run(1000, {node}, 1, 0);
  const JobId eight = rig.Run(1000, {node}, 8, 0);
  const JobId three = rig.Run(1000, {node}, 3, 0);
  EXPECT_EQ(Preempt(rig, 2000, kHigh, {node}).result.victims,
            (std::vector<PodId>{rig.Pod(three, 0), rig.Pod(one, 0)}));
  EXPECT_EQ(Preempt(rig, 4000, kHigh, {node}).result.victims,
            (std::vector<PodId>{rig.Pod(eight, 0), rig.Pod(five, 0), rig.Pod(three, 0),
                                rig.Pod(one, 0)}));
}

// Sparing is greedy: a large pod goes although it is more important than a small one that stays.
TEST(DefaultPreemptionTest, ALargePodGoesAndASmallOneStays) {
  PreemptionRig rig;
  const NodeId node = rig.AddNode(4000);
  rig.Run(1000, {node}, kLow, 0);
  const JobId large = rig.Run(3000, {node}, kMid, 0);
  EXPECT_EQ(Preempt(rig, 2000, kHigh, {node}).result.victims,
            (std::vector<PodId>{rig.Pod(large, 0)}));
}

TEST(DefaultPreemptionTest, OfEqualPriorityTheEarlierStartIsMoreImportant) {
  PreemptionRig rig;
  const NodeId node = rig.AddNode(3000);
  rig.Run(1000, {node}, kLow, 20);
  const JobId latest = rig.Run(1000, {node}, kLow, 30);
  rig.Run(1000, {node}, kLow, 10);
  EXPECT_EQ(Preempt(rig, 1000, kHigh, {node}).result.victims,
            (std::vector<PodId>{rig.Pod(latest, 0)}));
}

// The last pod of the node takes the place of one that leaves, and so gets ahead of others.
TEST(DefaultPreemptionTest, EqualPodsGoInReverseOrderOfTheNodesPods) {
  PreemptionRig rig;
  const NodeId node = rig.AddNode(3000);
  const JobId first = rig.Run(1000, {node}, kLow, 7);
  const JobId second = rig.Run(1000, {node}, kLow, 7);
  rig.Run(1000, {node}, kLow, 7);
  rig.End(first, 8);
  EXPECT_EQ(Preempt(rig, 2000, kHigh, {node}).result.victims,
            (std::vector<PodId>{rig.Pod(second, 0)}));
}

TEST(DefaultPreemptionTest, NodesThatCannotBeHelpedAreNotChosen) {
  PreemptionRig rig;
  const NodeId small = rig.AddNode(1000);
  const NodeId held = rig.AddNode(4000);
  const NodeId idle = rig.AddNode(4000);
  const NodeId good = rig.AddNode(4000);
  rig.Run(500, {small}, kNegative, 0);
  rig.Run(3000, {held}, kHigh, 0);
  rig.Run(1000, {held}, kNegative, 0);
  rig.Run(1000, {idle}, kNegative, 0);
  const JobId victim = rig.Run(3000, {good}, kMid, 0);
  // `idle` would take the pod as it is: no victims, no candidate.
  const Outcome outcome = Preempt(rig, 3000, kHigh, {small, held, idle, good});
  EXPECT_EQ(outcome.result.nominated, good);
  EXPECT_EQ(outcome.result.victims, (std::vector<PodId>{rig.Pod(victim, 0)}));
  const PostFilterResult none = Preempt(rig, 3000, kHigh, {small, held, idle}).result;
  EXPECT_EQ(none.code, StepCode::kError);
  EXPECT_TRUE(none.keeps_nomination);
  EXPECT_EQ(none.message, "preemption: expected at least one victim pod on node \"node-2\"");
  EXPECT_TRUE(none.victims.empty());
}

// ---- Gangs ----

TEST(DefaultPreemptionTest, AGangGoesAsAWholeAndOnce) {
  PreemptionRig rig;
  const NodeId a = rig.AddNode(4000);
  const NodeId b = rig.AddNode(4000);
  const JobId gang = rig.Run(1000, {b, a, a, b}, kMid, 5);
  const JobId low = rig.Run(2000, {a}, kLow, 0);
  const std::vector<PodId> all = {rig.Pod(gang, 0), rig.Pod(gang, 1), rig.Pod(gang, 2),
                                  rig.Pod(gang, 3)};
  std::vector<PodId> all_and_low = all;
  all_and_low.push_back(rig.Pod(low, 0));
  EXPECT_EQ(Preempt(rig, 4000, kHigh, {a}).result.victims, all_and_low);
  EXPECT_EQ(Preempt(rig, 3000, kHigh, {b}).result.victims, all);
  // Sparing the gang spares all of it.
  EXPECT_EQ(Preempt(rig, 2000, kHigh, {a}).result.victims, (std::vector<PodId>{rig.Pod(low, 0)}));
}

TEST(DefaultPreemptionTest, EveryPodOfAGangCounts) {
  PreemptionRig rig;
  const NodeId a = rig.AddNode(1000);
  const NodeId b = rig.AddNode(1000);
  const NodeId c = rig.AddNode(1000);
  const JobId gang = rig.Run(1000, {a, b}, kMid, 5);
  const JobId single = rig.Run(1000, {c}, kMid, 1);
  // One pod is in the way on each; that of the gang costs twice as much.
  const PostFilterResult result = Preempt(rig, 1000, kHigh, {a, b, c}).result;
  EXPECT_EQ(result.nominated, c);
  EXPECT_EQ(result.victims, (std::vector<PodId>{rig.Pod(single, 0)}));
  const PostFilterResult forced = Preempt(rig, 1000, kHigh, {a, b}, /*draw=*/1).result;
  EXPECT_EQ(forced.nominated, b);
  EXPECT_EQ(forced.victims, (std::vector<PodId>{rig.Pod(gang, 0), rig.Pod(gang, 1)}));
}

// ---- Which nodes are tried ----

TEST(DefaultPreemptionTest, WithoutCandidatesNothingIsDrawn) {
  PreemptionRig rig;
  rig.Run(1000, {rig.AddNode(1000)}, kLow, 0);
  const Outcome outcome = Preempt(rig, 1000, kHigh, {});
  ExpectNothingDone(outcome.result);
  EXPECT_TRUE(outcome.ranges.empty());
}

TEST(DefaultPreemptionTest, StartsAtTheOffsetAndWrapsAround) {
  PreemptionRig rig;
  std::vector<NodeId> nodes;
  for (int i = 0; i < 5; ++i) {
    nodes.push_back(rig.AddNode(1000));
    rig.Run(1000, {nodes.back()}, kLow, 0);
  }
  const Outcome outcome = Preempt(rig, 1000, kHigh, nodes, /*draw=*/3);
  EXPECT_EQ(outcome.ranges, (std::vector<uint64_t>{5}));
  EXPECT_EQ(outcome.tried, (std::vector<NodeId>{nodes[3], nodes[4], nodes[0], nodes[1], nodes[2]}));
  // All are equal: the first in the order of the visit.
  EXPECT_EQ(outcome.result.nominated, nodes[3]);
}

TEST(DefaultPreemptionTest, StopsWhenThereAreEnoughCandidates) {
  PreemptionRig rig;
  std::vector<NodeId> nodes;
  for (int i = 0; i < 150; ++i) {
    nodes.push_back(rig.AddNode(1000));
    // Node 30 is best, then node 130; nodes 140 to 144 cannot be helped.
    const int32_t priority = i == 30 ? kNegative : i == 130 ? kLow : kMid;
    rig.Run(1000, {nodes.back()}, i >= 140 && i < 145 ? kHigh : priority, 0);
  }
  const auto nominated = [&rig, &nodes](uint64_t draw) {
    return Preempt(rig, 1000, kHigh, nodes, draw).result.nominated;
  };
  // From 120 on: 25 candidates up to the end, 75 more up to node 74.
  EXPECT_EQ(nominated(120), nodes[30]);
  const Outcome outcome = Preempt(rig, 1000, kHigh, nodes, 120);
  ASSERT_EQ(outcome.tried.size(), 100u);
  EXPECT_EQ(outcome.tried.front(), nodes[120]);
  EXPECT_EQ(outcome.tried.back(), nodes[74]);
  // From 31 on: nodes 31 to 130 are a hundred.
  EXPECT_EQ(nominated(31), nodes[130]);
  EXPECT_EQ(nominated(30), nodes[30]);
  // From 75 on: 70 up to the end, and 30 more up to node 29.
  EXPECT_EQ(nominated(75), nodes[130]);
  // One further, and node 30 is the hundredth.
  EXPECT_EQ(nominated(76), nodes[30]);
}

// ---- Pods for themselves, budgets, words ----

// Pods of one label, `app`, on one node with a CPU each, and a pod of high priority that waits.
class PodsRig {
 public:
  explicit PodsRig(int64_t cpus) : node_(builder_.AddNode(TestNode("n1", cpus * 1000, 0))) {}

  PodId AddPod(const std::string& name, int32_t priority, int64_t started,
               const std::string& app = "") {
    PodShape shape = TestShape(1000, 0);
    shape.identity.ns = "default";
    if (!app.empty()) shape.identity.labels = {{"app", app}};
    const ShapeId id = builder_.AddShape(shape);
    const PodId pod = cluster().AddPod(absl::StrCat("default/", name), id, priority, SimTime());
    cluster().Assume(pod, node_, DeviceSet());
    cluster().Bind(pod);
    cluster().SetPodStart(pod, SimTime(started));
    return pod;
  }
  void AddBudget(const std::string& app, int32_t allowed, std::vector<std::string> disrupted = {}) {
    DisruptionBudget budget;
    budget.ns = "default";
    budget.selector.given = true;
    if (!app.empty()) budget.selector.requirements = {{"app", SelectorOperator::kIn, {app}}};
    budget.disruptions_allowed = allowed;
    budget.disrupted_pods = std::move(disrupted);
    cluster().ChangeObjects().budgets.push_back(budget);
  }

  // A waiting pod that needs `cpus` CPUs.
  FakeHandle MakeHandle(int64_t cpus, int32_t priority) {
    PodShape shape = TestShape(cpus * 1000, 0);
    shape.constraints.never_preempts = never_preempts_;
    wanted_ = builder_.AddShape(shape);
    waiting_ = cluster().AddPod("default/p", wanted_, priority, SimTime());
    return FakeHandle(&cluster(), wanted_, {node_}, 0);
  }
  PostFilterResult Run(FakeHandle& handle, DefaultPreemptionArgs args = {}) {
    PodContext pod = builder_.Context(wanted_);
    pod.pod = waiting_;
    PostFilterResult result = DefaultPreemption(args).PostFilter(pod, handle);
    EXPECT_TRUE(handle.removed().empty());
    EXPECT_TRUE(cluster().CheckInvariants().ok());
    return result;
  }
  PostFilterResult Preempt(int64_t cpus, int32_t priority = kHigh) {
    FakeHandle handle = MakeHandle(cpus, priority);
    PostFilterResult result = Run(handle);
    report_ = handle.reported();
    return result;
  }

  void set_never_preempts() { never_preempts_ = true; }
  void SetShape(PodId pod, const PodShape& shape) {
    cluster().SetPodShape(pod, builder_.AddShape(shape));
  }
  ClusterState& cluster() { return builder_.cluster(); }
  NodeId node() const { return node_; }
  const PreemptionReport& report() const { return report_; }

 private:
  ClusterBuilder builder_;
  NodeId node_;
  ShapeId wanted_;
  PodId waiting_;
  bool never_preempts_ = false;
  PreemptionReport report_;
};

TEST(PodPreemptionTest, PodsThatAViolatedBudgetProtectsAreSparedFirst) {
  PodsRig rig(3);
  rig.AddBudget("db", 1);
  const PodId a = rig.AddPod("a", kLow, 1, "db");
  const PodId b = rig.AddPod("b", kLow, 2, "db");
  const PodId c = rig.AddPod("c", kMid, 3);
  // The budget lets go of the first; the second would violate it, and so it stays before `c`.
  EXPECT_EQ(rig.Preempt(2).victims, (std::vector<PodId>{c, a}));
  EXPECT_EQ(rig.report().candidates[0].budget_violations, 0);
  EXPECT_EQ(rig.Preempt(1).victims, (std::vector<PodId>{a}));
  // If a budget has to be violated, the victims are in order of importance again.
  EXPECT_EQ(rig.Preempt(3).victims, (std::vector<PodId>{c, a, b}));
  EXPECT_EQ(rig.report().candidates[0].budget_violations, 1);
}

TEST(PodPreemptionTest, BudgetsThatDoNotCount) {
  PodsRig rig(2);
  rig.AddBudget("", 0);           // selects all: none, in 1.34
  rig.AddBudget("web", 0);        // of others
  rig.AddBudget("db", 0, {"b"});  // already counted
  const PodId a = rig.AddPod("a", kLow, 1);
  const PodId b = rig.AddPod("b", kLow, 2, "db");
  EXPECT_EQ(rig.Preempt(2).victims, (std::vector<PodId>{a, b}));
  EXPECT_EQ(rig.report().candidates[0].budget_violations, 0);
}

TEST(PodPreemptionTest, EveryMatchingBudgetShrinks) {
  PodsRig rig(3);
  rig.AddBudget("db", 0);
  rig.AddBudget("db", 1);
  rig.AddPod("a", kLow, 1, "db");
  rig.AddPod("b", kLow, 2, "db");
  rig.AddPod("c", kLow, 3);
  rig.Preempt(3);
  EXPECT_EQ(rig.report().candidates[0].budget_violations, 2);
}

TEST(PodPreemptionTest, ViolatedBudgetsOutweighPriorities) {
  std::vector<Candidate> candidates(3);
  candidates[0] = {NodeId(0u), {{PodId(), kLow, SimTime(1)}}, 1};
  candidates[1] = {NodeId(1u), {{PodId(), kMid, SimTime(1)}}, 0};
  candidates[2] = {NodeId(2u), {{PodId(), kMid, SimTime(1)}}, 0};
  EXPECT_EQ(BestCandidates(candidates), (std::vector<size_t>{1, 2}));
}

// The answer of kube-scheduler 1.34.1: its sort is unstable above twelve elements.
TEST(PodPreemptionTest, EqualPodsStandAsGoLeavesThem) {
  PodsRig rig(20);
  const int64_t starts[] = {40, 38, 36, 39, 37};
  std::vector<PodId> pods;
  for (int i = 0; i < 20; ++i) {
    pods.push_back(rig.AddPod(absl::StrCat("e", i), i % 3, starts[i % 5]));
  }
  EXPECT_EQ(rig.Preempt(5).victims,
            (std::vector<PodId>{pods[6], pods[18], pods[3], pods[0], pods[15]}));
}

TEST(PodPreemptionTest, PodsWithoutAStartGoFirst) {
  PodsRig rig(2);
  const PodId a = rig.AddPod("a", kLow, std::numeric_limits<int64_t>::max());
  rig.AddPod("b", kLow, 5);
  EXPECT_EQ(rig.Preempt(1).victims, (std::vector<PodId>{a}));
}

TEST(PodPreemptionTest, SaysWhyItDoesNotHelp) {
  PodsRig rig(2);
  rig.AddPod("a", kHigh, 1);
  PostFilterResult result = rig.Preempt(2);
  EXPECT_EQ(result.code, StepCode::kReject);
  EXPECT_FALSE(result.keeps_nomination);
  EXPECT_EQ(result.message,
            "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.");
  ASSERT_EQ(rig.report().rejected.size(), 1u);
  EXPECT_EQ(rig.report().rejected[0].code, StepCode::kUnresolvable);
  rig.AddPod("b", kLow, 1);
  result = rig.Preempt(2);
  EXPECT_EQ(result.message, "preemption: 0/1 nodes are available: 1 Insufficient cpu.");
  EXPECT_EQ(rig.report().potential, (std::vector<NodeId>{rig.node()}));
}

TEST(PodPreemptionTest, PodsThatNeverPreempt) {
  PodsRig rig(1);
  rig.AddPod("a", kLow, 1);
  rig.set_never_preempts();
  const PostFilterResult result = rig.Preempt(1);
  EXPECT_EQ(result.code, StepCode::kReject);
  EXPECT_TRUE(result.keeps_nomination);
  EXPECT_EQ(result.message, "preemption: not eligible due to preemptionPolicy=Never.");
  EXPECT_FALSE(rig.report().eligible);
}

TEST(PodPreemptionTest, APodWaitsForVictimsOnItsNominatedNode) {
  PodsRig rig(2);
  const PodId leaving = rig.AddPod("a", kLow, 1);
  rig.AddPod("b", kLow, 2);
  const auto leave = [&](bool by_preemption) {
    PodShape shape = rig.cluster().pod_shape(leaving);
    shape.identity.terminating = true;
    shape.identity.preempted = by_preemption;
    rig.SetShape(leaving, shape);
  };
  const auto run = [&](bool unresolvable) {
    FakeHandle handle = rig.MakeHandle(2, kHigh);
    handle.SetNominated(rig.node(), unresolvable);
    return rig.Run(handle);
  };
  leave(false);
  EXPECT_EQ(run(false).code, StepCode::kSuccess);
  leave(true);
  const PostFilterResult result = run(false);
  EXPECT_EQ(result.code, StepCode::kReject);
  EXPECT_TRUE(result.keeps_nomination);
  EXPECT_EQ(result.message,
            "preemption: not eligible due to a terminating pod on the nominated node.");
  EXPECT_EQ(run(true).code, StepCode::kSuccess);
}

TEST(PodPreemptionTest, NomineesOfLowerPriorityLoseTheNode) {
  PodsRig rig(1);
  rig.AddPod("a", kLow, 1);
  FakeHandle handle = rig.MakeHandle(1, kHigh);
  const ShapeId shape = rig.cluster().pod_shape_id(PodId(0u));
  const PodId lower = rig.cluster().AddPod("default/l", shape, kMid, SimTime());
  const PodId equal = rig.cluster().AddPod("default/e", shape, kHigh, SimTime());
  handle.SetNominees({equal, lower});
  EXPECT_EQ(rig.Run(handle).cleared_nominations, (std::vector<PodId>{lower}));
}

TEST(CandidatesToFindTest, FollowsTheArguments) {
  DefaultPreemptionArgs args;
  args.min_candidate_nodes_percentage = 50;
  args.min_candidate_nodes_absolute = 3;
  EXPECT_EQ(CandidatesToFind(2, args), 2);
  EXPECT_EQ(CandidatesToFind(6, args), 3);
  EXPECT_EQ(CandidatesToFind(20, args), 10);
}

// ---- Against a naive program ----

struct OraclePod {
  PodId pod;
  int64_t cpu_milli;
  int32_t priority;
  int64_t started;
};
struct OracleNode {
  int64_t cpu_milli;
  std::vector<OraclePod> pods;
};

std::vector<OraclePod> OracleVictims(const OracleNode& node, int64_t wanted, int32_t priority) {
  int64_t idle = node.cpu_milli;
  std::vector<OraclePod> lower;
  for (const OraclePod& pod : node.pods) {
    if (pod.priority < priority) {
      lower.push_back(pod);
    } else {
      idle -= pod.cpu_milli;
    }
  }
  std::vector<OraclePod> victims;
  if (idle < wanted) return victims;
  while (!lower.empty()) {
    size_t top = 0;
    for (size_t i = 1; i < lower.size(); ++i) {
      const bool higher = lower[i].priority > lower[top].priority;
      const bool equal = lower[i].priority == lower[top].priority;
      if (higher || (equal && lower[i].started < lower[top].started)) top = i;
    }
    if (idle - lower[top].cpu_milli >= wanted) {
      idle -= lower[top].cpu_milli;
    } else {
      victims.push_back(lower[top]);
    }
    lower.erase(lower.begin() + static_cast<std::ptrdiff_t>(top));
  }
  return victims;
}

// Rule after rule, keeping what is equal to the best: smaller numbers are better.
size_t OracleChoice(const std::vector<std::vector<OraclePod>>& candidates) {
  std::vector<size_t> left;
  for (size_t i = 0; i < candidates.size(); ++i) left.push_back(i);
  for (int rule = 0; rule < 4; ++rule) {
    std::vector<int64_t> cost;
    for (const size_t i : left) {
      const std::vector<OraclePod>& victims = candidates[i];
      int32_t top = victims[0].priority;
      for (const OraclePod& v : victims) top = std::max(top, v.priority);
      int64_t sum = 0;
      int64_t earliest = std::numeric_limits<int64_t>::max();
      for (const OraclePod& v : victims) {
        sum += v.priority + 2147483648;
        if (v.priority == top) earliest = std::min(earliest, v.started);
      }
      const int64_t costs[] = {top, sum, static_cast<int64_t>(victims.size()), -earliest};
      cost.push_back(costs[rule]);
    }
    const int64_t best = *std::min_element(cost.begin(), cost.end());
    std::vector<size_t> kept;
    for (size_t i = 0; i < left.size(); ++i) {
      if (cost[i] == best) kept.push_back(left[i]);
    }
    left = kept;
  }
  return left[0];
}

// A random cluster of single pods in which some have left again; the oracle's copy goes to `plain`.
void FillBoth(Random& random, PreemptionRig& rig, std::vector<OracleNode>* plain) {
  for (int n = 0; n < 12; ++n) {
    OracleNode node{8000, {}};
    const NodeId id = rig.AddNode(node.cpu_milli);
    int64_t idle = node.cpu_milli;
    while (true) {
      const auto cpu_milli = static_cast<int64_t>(1 + random.Below(6)) * 500;
      if (cpu_milli > idle) break;
      const auto priority = static_cast<int32_t>(random.Below(5));
      const auto started = static_cast<int64_t>(random.Below(4));
      const JobId job = rig.Run(cpu_milli, {id}, priority, started);
      node.pods.push_back({rig.Pod(job, 0), cpu_milli, priority, started});
      idle -= cpu_milli;
      if (random.Below(4) != 0) continue;
      // One leaves; the last takes its place.
      const auto hole = static_cast<size_t>(random.Below(node.pods.size()));
      rig.End(rig.jobs().job_of(node.pods[hole].pod), 10);
      node.pods[hole] = node.pods.back();
      node.pods.pop_back();
    }
    plain->push_back(node);
  }
}

TEST(DefaultPreemptionTest, EqualsANaiveProgram) {
  size_t done = 0;
  size_t more_than_one_victim = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed, "preemption");
    PreemptionRig rig;
    std::vector<OracleNode> plain;
    FillBoth(random, rig, &plain);
    const auto wanted = static_cast<int64_t>(4 + random.Below(13)) * 500;
    const auto priority = static_cast<int32_t>(1 + random.Below(5));
    const uint64_t draw = random.Below(plain.size());
    std::vector<std::vector<OraclePod>> candidates;
    std::vector<NodeId> candidate_nodes;
    for (size_t i = 0; i < plain.size(); ++i) {
      const size_t n = (static_cast<size_t>(draw) + i) % plain.size();
      const std::vector<OraclePod> victims = OracleVictims(plain[n], wanted, priority);
      if (victims.empty()) continue;
      candidates.push_back(victims);
      candidate_nodes.push_back(NodeId(n));
    }
    const PostFilterResult result =
        Preempt(rig, wanted, priority, rig.builder().NodeIds(), draw).result;
    if (candidates.empty()) {
      EXPECT_NE(result.code, StepCode::kSuccess);
      EXPECT_TRUE(result.victims.empty());
      continue;
    }
    const size_t choice = OracleChoice(candidates);
    std::vector<PodId> victims;
    for (const OraclePod& v : candidates[choice]) victims.push_back(v.pod);
    ASSERT_EQ(result.code, StepCode::kSuccess) << "seed " << seed;
    ASSERT_EQ(result.nominated, candidate_nodes[choice]) << "seed " << seed;
    ASSERT_EQ(result.victims, victims) << "seed " << seed;
    ++done;
    if (victims.size() > 1) ++more_than_one_victim;
  }
  EXPECT_GT(done, 100u);
  EXPECT_GT(more_than_one_victim, 10u);
}

}  // namespace default_preemption_test
}  // namespace drasim
