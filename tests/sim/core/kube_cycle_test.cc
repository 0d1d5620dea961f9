// The cycle with plugins that exist only here: what the search visits, who rejects, what is said;
// and decisions with the cache, without it and with details are the same.
#include "sim/core/kube_cycle.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "model/cluster_state.h"
#include "model/random.h"
#include "model/state_io.h"
#include "policies/framework/device_allocator.h"
#include "policies/framework/plugin.h"
#include "policies/framework/profile.h"
#include "policies/framework/profile_spec.h"
#include "policies/framework/registry.h"
#include "policies/plugins/default_preemption.h"
#include "sim/core/nominator.h"
#include "sim/core/verdict_cache.h"
#include "sim/core/work_counters.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {
namespace kube_cycle_test {

// ---- Plugins ----

// CPU. A node that is too small for the pod will always be.
class Room : public FilterPlugin {
 public:
  absl::string_view name() const override { return "Room"; }
  std::vector<Reason> reasons() const override {
    return {{ReasonKind::kOther, "Insufficient cpu"}};
  }
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override {
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (verdicts[i] == kFits &&
          cluster.node(nodes[i]).cpu_milli_idle < pod.shape->request.cpu_milli) {
        verdicts[i] = 1;
      }
    }
  }
  bool IsResolvable(const PodContext& pod, const ClusterState& cluster, NodeId node,
                    ReasonIndex) const override {
    return cluster.node_spec(node).cpu_milli >= pod.shape->request.cpu_milli;
  }
};

// nodeSelector.
class Zone : public PreFilterPlugin, public FilterPlugin {
 public:
  absl::string_view name() const override { return "Zone"; }
  std::vector<Reason> reasons() const override { return {{ReasonKind::kOther, "wrong zone"}}; }
  StepResult PreFilter(const PodContext& pod, const ClusterState&) override {
    StepResult result;
    if (pod.shape->constraints.node_selector.empty()) result.code = StepCode::kSkip;
    return result;
  }
  void Filter(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override {
    for (size_t i = 0; i < nodes.size(); ++i) {
      const auto& selector = pod.shape->constraints.node_selector;
      if (verdicts[i] == kFits && UnmetLabel(selector, cluster.node_spec(nodes[i])) != nullptr) {
        verdicts[i] = 1;
      }
    }
  }
  bool IsResolvable(const PodContext&, const ClusterState&, NodeId, ReasonIndex) const override {
    return false;
  }
};

// A node by its name; "-" conflicts.
class Names : public PreFilterPlugin, public RequeuePlugin {
 public:
  absl::string_view name() const override { return "Names"; }
  StepResult PreFilter(const PodContext& pod, const ClusterState& cluster) override {
    StepResult result;
    const std::string& wanted = pod.shape->constraints.node_name;
    if (wanted == "-" || wanted == "?") {
      result.code = wanted == "-" ? StepCode::kUnresolvable : StepCode::kReject;
      result.message = "no such name";
    } else if (!wanted.empty()) {
      result.names_nodes = true;
      const NodeId node = cluster.FindNode(wanted);
      if (node.valid()) result.nodes = {node};
    }
    return result;
  }
};

// No two pods of one app on a node or its twin (nodes 0 and 1, 2 and 3, ...).
class Apart : public PreFilterPlugin, public FilterPlugin {
 public:
  absl::string_view name() const override { return "Apart"; }
  std::vector<Reason> reasons() const override { return {{ReasonKind::kOther, "app is here"}}; }
  Reach filter_reach() const override { return Reach::kCluster; }
  StepResult PreFilter(const PodContext& pod, const ClusterState& cluster) override {
    StepResult result;
    count_.assign(cluster.node_count() + 1, 0);
    if (pod.shape->identity.labels.empty()) {
      result.code = StepCode::kSkip;
      return result;
    }
    for (size_t n = 0; n < cluster.node_count(); ++n) {
      for (const PodId other : cluster.pods_on(NodeId(n))) Count(pod, cluster, other, NodeId(n), 1);
    }
    return result;
  }
  void Filter(const PodContext&, const ClusterState&, absl::Span<const NodeId> nodes,
              absl::Span<ReasonIndex> verdicts) const override {
    for (size_t i = 0; i < nodes.size(); ++i) {
      const uint32_t node = nodes[i].value();
      if (verdicts[i] == kFits && count_[node] + count_[node ^ 1] > 0) verdicts[i] = 1;
    }
  }
  void BeginTrial() override { kept_.push_back(count_); }
  void EndTrial() override {
    count_ = kept_.back();
    kept_.pop_back();
  }
  void OnPodAdded(const PodContext& pod, const ClusterState& cluster, PodId other,
                  NodeId node) override {
    Count(pod, cluster, other, node, 1);
  }
  void OnPodRemoved(const PodContext& pod, const ClusterState& cluster, PodId other,
                    NodeId node) override {
    Count(pod, cluster, other, node, -1);
  }

 private:
  void Count(const PodContext& pod, const ClusterState& cluster, PodId other, NodeId node,
             int sign) {
    if (cluster.pod_shape(other).identity.labels == pod.shape->identity.labels) {
      count_[node.value()] += sign;
    }
  }

  std::vector<int> count_;  // by node
  std::vector<std::vector<int>> kept_;
};

// Idle CPU, by the node alone.
class Idle : public ScorePlugin {
 public:
  absl::string_view name() const override { return "Idle"; }
  void Score(const PodContext&, const ClusterState& cluster, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override {
    for (size_t i = 0; i < nodes.size(); ++i) {
      scores[i] = std::min<int64_t>(cluster.node(nodes[i]).cpu_milli_idle / 100, kMaxNodeScore);
    }
  }
};

// Few pods, relative to the fullest feasible node. Skips for large pods; fails for a certain size.
class Calm : public ScorePlugin {
 public:
  absl::string_view name() const override { return "Calm"; }
  Normalize normalize(const ClusterState&) const override { return Normalize::kGeneral; }
  StepResult PreScore(const PodContext& pod, const ClusterState&,
                      absl::Span<const NodeId>) override {
    StepResult result;
    if (pod.shape->request.cpu_milli > 2000) result.code = StepCode::kSkip;
    if (pod.shape->request.cpu_milli == 777) {
      result.code = StepCode::kError;
      result.message = "too strange";
    }
    return result;
  }
  void Score(const PodContext&, const ClusterState& cluster, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override {
    for (size_t i = 0; i < nodes.size(); ++i) {
      scores[i] = static_cast<int64_t>(cluster.pods_on(nodes[i]).size());
    }
  }
  void NormalizeScore(absl::Span<const NodeId>, absl::Span<int64_t> scores) const override {
    const int64_t most = *std::max_element(scores.begin(), scores.end());
    for (int64_t& s : scores) s = most == 0 ? 100 : 100 - s * 100 / most;
  }
};

// By the twin's load: sees other nodes.
class Twin : public ScorePlugin {
 public:
  absl::string_view name() const override { return "Twin"; }
  Reach score_reach() const override { return Reach::kCluster; }
  void Score(const PodContext&, const ClusterState& cluster, absl::Span<const NodeId> nodes,
             absl::Span<int64_t> scores) override {
    for (size_t i = 0; i < nodes.size(); ++i) {
      const uint32_t twin = nodes[i].value() ^ 1;
      scores[i] = twin >= cluster.node_count()
                      ? 0
                      : static_cast<int64_t>(cluster.pods_on(NodeId(twin)).size() % 7);
    }
  }
};

class Sort : public QueueSortPlugin {
 public:
  absl::string_view name() const override { return "Sort"; }
  bool Less(const QueuedPod& a, const QueuedPod& b) const override {
    return a.sequence < b.sequence;
  }
};

template <typename T>
void Register(absl::string_view name, Registry* registry) {
  registry->AddPlugin(std::string(name),
                      [](const PolicyContext&) { return std::make_unique<T>(); });
}

class NoDevices : public DeviceAllocator {
 public:
  absl::string_view name() const override { return "best"; }
  void Propose(const ResourceRequest&, const ClusterState&, NodeId, DeviceProposals*) override {}
};

Registry MakeRegistry() {
  Registry registry;
  Register<Room>("Room", &registry);
  Register<Zone>("Zone", &registry);
  Register<Names>("Names", &registry);
  Register<Apart>("Apart", &registry);
  Register<Idle>("Idle", &registry);
  Register<Calm>("Calm", &registry);
  Register<Twin>("Twin", &registry);
  Register<Sort>("Sort", &registry);
  Register<DefaultPreemption>("DefaultPreemption", &registry);
  registry.AddAllocator("best", [](const PolicyContext&) { return std::make_unique<NoDevices>(); });
  return registry;
}

ProfileSpec FullSpec() {
  ProfileSpec spec;
  spec.queue_sort = "Sort";
  spec.pre_filter = {"Names", "Zone", "Apart"};
  spec.filter = {"Zone", "Apart", "Room"};
  spec.post_filter = {"DefaultPreemption"};
  spec.pre_score = {"Calm"};
  spec.score = {{"Idle", 2}, {"Calm", 1}, {"Twin", 3}};
  return spec;
}

class Rig {
 public:
  explicit Rig(ProfileSpec spec = FullSpec(), KubeCycleOptions options = {})
      : registry_(MakeRegistry()), profile_(MakeProfile(spec)), cycle_(MakeCycle(options)) {}

  NodeId AddNode(int64_t cpu_milli, const std::string& zone = "") {
    NodeSpec spec = TestNode(absl::StrCat("n", cluster().node_count()), cpu_milli, 0);
    if (!zone.empty()) spec.labels = {{"zone", zone}};
    return builder_.AddNode(spec);
  }
  void AddNodes(size_t count, int64_t cpu_milli) {
    for (size_t i = 0; i < count; ++i) AddNode(cpu_milli);
  }
  PodShape MakeShape(int64_t cpu_milli, const std::string& app = "") {
    PodShape shape = TestShape(cpu_milli, 0);
    if (!app.empty()) shape.identity.labels = {{"app", app}};
    return shape;
  }
  PodId AddPod(const PodShape& shape, int32_t priority = 0) {
    return cluster().AddPod(absl::StrCat("p", cluster().pod_count()), builder_.AddShape(shape),
                            priority, SimTime());
  }
  PodId RunPod(const PodShape& shape, NodeId node, int32_t priority = 0, int64_t start = 0) {
    const PodId pod = AddPod(shape, priority);
    cluster().Adopt(pod, node);
    cluster().SetPodStart(pod, SimTime(start));
    return pod;
  }
  PodContext Context(PodId pod) {
    return {cluster().pod_shape_id(pod), &cluster().pod_shape(pod), pod, SimTime()};
  }
  AttemptResult Schedule(PodId pod) {
    AttemptResult result = cycle_->Schedule(&profile_, Context(pod), true, &detail_);
    EXPECT_TRUE(cluster().CheckInvariants().ok());
    return result;
  }
  AttemptResult Schedule(const PodShape& shape, int32_t priority = 0) {
    return Schedule(AddPod(shape, priority));
  }
  std::unique_ptr<KubeCycle> MakeCycle(const KubeCycleOptions& options) {
    return std::make_unique<KubeCycle>(&cluster(), &nominator_, options, 7);
  }
  Profile MakeProfile(const ProfileSpec& spec) const {
    absl::StatusOr<Profile> made = Profile::MakeKube(registry_, spec, PolicyContext());
    DRASIM_CHECK(made.ok());
    return *std::move(made);
  }
  std::vector<std::string> Rejectors(const AttemptResult& result) const {
    std::vector<std::string> names;
    for (size_t i = 0; i < profile_.requeues().size(); ++i) {
      if ((result.rejectors >> i & 1) != 0) names.emplace_back(profile_.requeues()[i]->name());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  ClusterState& cluster() { return builder_.cluster(); }
  Nominator& nominator() { return nominator_; }
  Profile& profile() { return profile_; }
  KubeCycle& cycle() { return *cycle_; }
  const AttemptDetail& detail() const { return detail_; }

 private:
  Registry registry_;
  ClusterBuilder builder_;
  Nominator nominator_;
  Profile profile_;
  std::unique_ptr<KubeCycle> cycle_;
  AttemptDetail detail_;
};

using Names_ = std::vector<std::string>;

// ---- The extent of the search ----

TEST(NodesToFindTest, FollowsThePercentage) {
  EXPECT_EQ(NodesToFind(0, 10), 10u);
  EXPECT_EQ(NodesToFind(40, 10), 10u);
  EXPECT_EQ(NodesToFind(0, 99), 99u);
  EXPECT_EQ(NodesToFind(0, 100), 100u);
  EXPECT_EQ(NodesToFind(0, 1000), 420u);
  EXPECT_EQ(NodesToFind(40, 1000), 400u);
  EXPECT_EQ(NodesToFind(0, 5000), 500u);
  EXPECT_EQ(NodesToFind(0, 6000), 300u);
  EXPECT_EQ(NodesToFind(40, 6000), 2400u);
  EXPECT_EQ(NodesToFind(0, 15000), 750u);
  EXPECT_EQ(NodesToFind(100, 250), 250u);
}

TEST(KubeCycleTest, EndsAtOneFeasibleNodeMoreThanEnough) {
  ProfileSpec spec = FullSpec();
  spec.percentage_of_nodes = 40;
  Rig rig(spec);
  for (int i = 0; i < 250; ++i) rig.AddNode(i >= 100 && i < 105 ? 500 : 4000);
  const PodShape shape = rig.MakeShape(1000);
  // The five small nodes after the hundredth were visited before the next feasible one.
  rig.Schedule(shape);
  EXPECT_EQ(rig.cycle().start(), 105u);
  EXPECT_EQ(rig.detail().feasible.size(), 100u);
  EXPECT_EQ(rig.detail().infeasible.size(), 5u);
  EXPECT_EQ(rig.detail().absent.size(), 145u);
  EXPECT_FALSE(rig.detail().visited_all);
  EXPECT_EQ(rig.detail().start, 0u);
  EXPECT_EQ(rig.detail().next_start, 105u);
  rig.Schedule(shape);
  EXPECT_EQ(rig.cycle().start(), 205u);
  // Around the end, over the small ones again.
  rig.Schedule(shape);
  EXPECT_EQ(rig.cycle().start(), 55u);
  rig.Schedule(shape);
  EXPECT_EQ(rig.cycle().start(), 160u);
}

TEST(KubeCycleTest, VisitsAllNodesOfASmallCluster) {
  Rig rig;
  rig.AddNodes(99, 1000);
  EXPECT_EQ(rig.Schedule(rig.MakeShape(500)).outcome, AttemptResult::Outcome::kFound);
  EXPECT_EQ(rig.detail().feasible.size(), 99u);
  EXPECT_TRUE(rig.detail().visited_all);
  EXPECT_EQ(rig.cycle().start(), 0u);
}

TEST(KubeCycleTest, WithoutScoresOneNodeIsEnough) {
  ProfileSpec spec = FullSpec();
  spec.score.clear();
  Rig rig(spec);
  rig.AddNodes(5, 1000);
  EXPECT_EQ(rig.Schedule(rig.MakeShape(500)).node, NodeId(0u));
  EXPECT_EQ(rig.Schedule(rig.MakeShape(500)).node, NodeId(1u));
  EXPECT_EQ(rig.cycle().start(), 2u);
}

TEST(KubeCycleTest, ASubsetMovesTheStartByItsSize) {
  Rig rig;
  rig.AddNodes(10, 1000);
  PodShape shape = rig.MakeShape(500);
  shape.constraints.node_name = "n7";
  EXPECT_EQ(rig.Schedule(shape).node, NodeId(7u));
  EXPECT_EQ(rig.cycle().start(), 1u);
  ASSERT_EQ(rig.detail().absent.size(), 9u);
  EXPECT_EQ(rig.detail().absent[0].reasons, (Names_{"node(s) didn't satisfy plugin(s) [Names]"}));
  shape.constraints.node_name = "missing";
  const AttemptResult result = rig.Schedule(shape);
  EXPECT_EQ(result.message,
            "0/10 nodes are available: 10 node(s) didn't satisfy plugin(s) [Names]. preemption: "
            "0/10 nodes are available: 10 Preemption is not helpful for scheduling.");
  EXPECT_EQ(rig.Rejectors(result), (Names_{"Names"}));
  EXPECT_EQ(rig.cycle().start(), 1u);
}

// ---- Rejecting plugins and messages ----

TEST(KubeCycleTest, TheFirstFilterInOrderRejects) {
  Rig rig;
  for (int i = 0; i < 4; ++i) rig.AddNode(2000, i < 2 ? "a" : "b");
  rig.RunPod(rig.MakeShape(1500, "web"), NodeId(0u));
  rig.RunPod(rig.MakeShape(1500, "web"), NodeId(3u));
  PodShape shape = rig.MakeShape(1000, "web");
  shape.constraints.node_selector = {{"zone", "a"}};
  const AttemptResult result = rig.Schedule(shape);
  EXPECT_EQ(result.outcome, AttemptResult::Outcome::kUnschedulable);
  ASSERT_EQ(rig.detail().infeasible.size(), 4u);
  // Node 0 has no room, either, but Apart comes before Room; and Zone before Apart.
  const char* const kPlugins[] = {"Apart", "Apart", "Zone", "Zone"};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(rig.detail().infeasible[i].plugin->name(), kPlugins[i]) << i;
    EXPECT_EQ(rig.detail().infeasible[i].node, NodeId(i));
  }
  EXPECT_EQ(rig.detail().infeasible[0].code, StepCode::kReject);
  EXPECT_EQ(rig.detail().infeasible[2].code, StepCode::kUnresolvable);
  EXPECT_EQ(rig.Rejectors(result), (Names_{"Apart", "Zone"}));
  EXPECT_EQ(result.message,
            "0/4 nodes are available: 2 app is here, 2 wrong zone. preemption: 0/4 nodes are "
            "available: 2 No preemption victims found for incoming pod, 2 Preemption is not "
            "helpful for scheduling.");
  EXPECT_EQ(result.post_filter.code, StepCode::kReject);
  EXPECT_FALSE(result.post_filter.keeps_nomination);
}

TEST(KubeCycleTest, CountsAreSortedAsTexts) {
  Rig rig;
  for (int i = 0; i < 12; ++i) rig.AddNode(100, i < 2 ? "a" : "b");
  PodShape shape = rig.MakeShape(1000);
  shape.constraints.node_selector = {{"zone", "a"}};
  const AttemptResult result = rig.Schedule(shape);
  EXPECT_EQ(result.message.substr(0, 64),
            "0/12 nodes are available: 10 wrong zone, 2 Insufficient cpu. pre");
}

TEST(KubeCycleTest, PreFilterRejectsForAllNodes) {
  Rig rig;
  rig.AddNodes(2, 1000);
  rig.RunPod(rig.MakeShape(1000), NodeId(0u));
  PodShape shape = rig.MakeShape(1000);
  shape.constraints.node_name = "-";
  AttemptResult result = rig.Schedule(shape, 5);
  EXPECT_EQ(result.message.substr(0, 40), "0/2 nodes are available: no such name. p");
  EXPECT_EQ(rig.Rejectors(result), (Names_{"Names"}));
  EXPECT_TRUE(rig.detail().potential.empty());
  EXPECT_EQ(rig.detail().pre_filter_message, "no such name");
  EXPECT_EQ(rig.detail().absent.size(), 2u);
  EXPECT_TRUE(rig.detail().skipped_filters.empty());
  // A rejection that departing pods could lift: other plugins are asked, and every node is a
  // candidate.
  shape.constraints.node_name = "?";
  result = rig.Schedule(shape, 5);
  EXPECT_EQ(rig.detail().skipped_filters.size(), 2u);
  EXPECT_EQ(rig.detail().potential.size(), 2u);
  EXPECT_EQ(result.post_filter.nominated, NodeId(0u));
}

TEST(KubeCycleTest, AnEmptyCluster) {
  Rig rig;
  const AttemptResult result = rig.Schedule(rig.MakeShape(1));
  EXPECT_EQ(result.outcome, AttemptResult::Outcome::kUnschedulable);
  EXPECT_EQ(result.message, "no nodes available to schedule pods");
  EXPECT_EQ(result.rejectors, 0u);
  EXPECT_FALSE(rig.detail().reached_filter);
  EXPECT_FALSE(rig.detail().ran_post_filter);
}

TEST(KubeCycleTest, AnErrorOfAScoreCountsOnlyWithTwoNodes) {
  Rig rig;
  rig.AddNode(1000);
  EXPECT_EQ(rig.Schedule(rig.MakeShape(777)).outcome, AttemptResult::Outcome::kFound);
  rig.AddNode(1000);
  const AttemptResult result = rig.Schedule(rig.MakeShape(777));
  EXPECT_EQ(result.outcome, AttemptResult::Outcome::kError);
  EXPECT_EQ(result.message, "running PreScore plugin \"Calm\": too strange");
  EXPECT_FALSE(result.node.valid());
  EXPECT_FALSE(result.post_filter.keeps_nomination);
}

TEST(KubeCycleTest, WithoutPostFiltersTheNominationStays) {
  ProfileSpec spec = FullSpec();
  spec.post_filter.clear();
  Rig rig(spec);
  rig.AddNode(1000);
  const AttemptResult result = rig.Schedule(rig.MakeShape(2000));
  EXPECT_TRUE(result.post_filter.keeps_nomination);
  EXPECT_EQ(result.message, "0/1 nodes are available: 1 Insufficient cpu.");
}

// ---- Scores ----

TEST(KubeCycleTest, AddsWeightedScores) {
  Rig rig;
  rig.AddNodes(3, 4000);
  rig.RunPod(rig.MakeShape(1000), NodeId(1u));
  rig.RunPod(rig.MakeShape(1000), NodeId(1u));
  const AttemptResult result = rig.Schedule(rig.MakeShape(500));
  ASSERT_EQ(rig.detail().scores.size(), 3u);
  EXPECT_EQ(rig.detail().scores[0].raw, (std::vector<int64_t>{40, 20, 40}));
  EXPECT_EQ(rig.detail().scores[0].weighted, (std::vector<int64_t>{80, 40, 80}));
  EXPECT_EQ(rig.detail().scores[1].raw, (std::vector<int64_t>{0, 2, 0}));
  EXPECT_EQ(rig.detail().scores[1].weighted, (std::vector<int64_t>{100, 0, 100}));
  EXPECT_EQ(rig.detail().scores[2].weighted, (std::vector<int64_t>{6, 0, 0}));
  EXPECT_EQ(rig.detail().totals, (std::vector<int64_t>{186, 40, 180}));
  EXPECT_EQ(rig.detail().best, (std::vector<NodeId>{NodeId(0u)}));
  EXPECT_EQ(result.node, NodeId(0u));
  // A plugin that skips adds nothing.
  rig.Schedule(rig.MakeShape(3000));
  EXPECT_EQ(rig.detail().totals, (std::vector<int64_t>{86, 80}));
  ASSERT_EQ(rig.detail().skipped_scores.size(), 1u);
  EXPECT_EQ(rig.detail().skipped_scores[0]->name(), "Calm");
}

TEST(KubeCycleTest, CountsItsWork) {
  Rig rig;
  rig.AddNodes(3, 4000);
  const auto decide = [&rig](PodId pod) {
    rig.cycle().Schedule(&rig.profile(), rig.Context(pod), false, nullptr);
  };
  const PodId pod = rig.AddPod(rig.MakeShape(500));
  EXPECT_EQ(rig.cycle().work(), WorkCounters());
  decide(pod);
  WorkCounters work;
  work.decisions = 1;
  work.nodes_filtered = 3;
  work.nodes_scored = 9;  // three plugins
  EXPECT_EQ(rig.cycle().work(), work);
  // Twin sees other nodes, too, and so is asked again.
  decide(pod);
  work.decisions = 2;
  work.nodes_scored = 12;
  work.cache_hits = 3;
  EXPECT_EQ(rig.cycle().work(), work);
  rig.RunPod(rig.MakeShape(500), NodeId(1u));
  decide(pod);
  EXPECT_EQ(rig.cycle().work().nodes_filtered, 4u);
  EXPECT_EQ(rig.cycle().work().cache_hits, 5u);
}

TEST(KubeCycleTest, TiesGoToTheFirstOrToAny) {
  KubeCycleOptions random;
  random.ties = KubeCycleOptions::Ties::kRandom;
  Rig first;
  Rig any(FullSpec(), random);
  first.AddNodes(4, 4000);
  any.AddNodes(4, 4000);
  std::vector<int> chosen(4);
  for (int i = 0; i < 400; ++i) {
    EXPECT_EQ(first.Schedule(first.MakeShape(1000)).node, NodeId(0u));
    ++chosen[any.Schedule(any.MakeShape(1000)).node.value()];
  }
  for (const int count : chosen) EXPECT_GT(count, 60);
}

// ---- Nominations and preemption ----

TEST(KubeCycleTest, TheNominatedNodeIsTriedFirst) {
  Rig rig;
  rig.AddNodes(3, 4000);
  rig.RunPod(rig.MakeShape(3000), NodeId(2u));
  const PodId pod = rig.AddPod(rig.MakeShape(1000));
  rig.nominator().Nominate(pod, NodeId(2u));
  EXPECT_EQ(rig.Schedule(pod).node, NodeId(2u));
  EXPECT_TRUE(rig.detail().via_nominated_node);
  EXPECT_EQ(rig.detail().feasible, (std::vector<NodeId>{NodeId(2u)}));
  EXPECT_TRUE(rig.detail().absent.empty());
  // Without room there, all nodes are searched.
  rig.RunPod(rig.MakeShape(1000), NodeId(2u));
  EXPECT_EQ(rig.Schedule(pod).node, NodeId(0u));
  EXPECT_FALSE(rig.detail().via_nominated_node);
  EXPECT_EQ(rig.detail().infeasible.size(), 1u);
}

TEST(KubeCycleTest, AFailedNominatedNodeMovesTheStartOutsideOfASubset) {
  Rig rig;
  rig.AddNodes(5, 4000);
  rig.RunPod(rig.MakeShape(4000), NodeId(4u));
  PodShape shape = rig.MakeShape(1000);
  shape.constraints.node_name = "n1";
  const PodId pod = rig.AddPod(shape);
  rig.nominator().Nominate(pod, NodeId(4u));
  EXPECT_EQ(rig.Schedule(pod).node, NodeId(1u));
  EXPECT_EQ(rig.cycle().start(), 2u);
}

TEST(KubeCycleTest, NominatedPodsHoldRoomAgainstLowerAndEqualOnes) {
  Rig rig;
  rig.AddNode(4000);
  const PodId nominee = rig.AddPod(rig.MakeShape(3000), 5);
  rig.nominator().Nominate(nominee, NodeId(0u));
  AttemptResult result = rig.Schedule(rig.MakeShape(2000), 5);
  EXPECT_EQ(result.outcome, AttemptResult::Outcome::kUnschedulable);
  EXPECT_EQ(result.message.substr(0, 45), "0/1 nodes are available: 1 Insufficient cpu. ");
  EXPECT_EQ(rig.Schedule(rig.MakeShape(1000), 5).node, NodeId(0u));
  EXPECT_EQ(rig.Schedule(rig.MakeShape(2000), 6).node, NodeId(0u));
  EXPECT_EQ(rig.Schedule(nominee).node, NodeId(0u));
  EXPECT_EQ(rig.cluster().pod_phase(nominee), PodPhase::kPending);
  // Also by what plugins count over the cluster.
  rig.AddNode(100);
  const PodId app = rig.AddPod(rig.MakeShape(10, "web"), 5);
  rig.nominator().Nominate(app, NodeId(0u));
  result = rig.Schedule(rig.MakeShape(1000, "web"), 0);
  EXPECT_EQ(rig.detail().infeasible[0].plugin->name(), "Apart");
  EXPECT_EQ(rig.detail().infeasible[1].plugin->name(), "Room");
}

TEST(KubeCycleTest, PreemptsWithNominatedPodsInMind) {
  Rig rig;
  rig.AddNodes(2, 4000);
  const PodId a = rig.RunPod(rig.MakeShape(4000), NodeId(0u), 1, 5);
  const PodId b = rig.RunPod(rig.MakeShape(4000), NodeId(1u), 2, 5);
  AttemptResult result = rig.Schedule(rig.MakeShape(4000), 10);
  EXPECT_EQ(result.post_filter.code, StepCode::kSuccess);
  EXPECT_EQ(result.post_filter.nominated, NodeId(0u));
  EXPECT_EQ(result.post_filter.victims, (std::vector<PodId>{a}));
  EXPECT_EQ(result.message, "0/2 nodes are available: 2 Insufficient cpu.");
  EXPECT_EQ(rig.detail().candidates.size(), 2u);
  EXPECT_EQ(rig.detail().best_candidates, (std::vector<NodeId>{NodeId(0u)}));
  // Node 0 is promised to an equal pod.
  const PodId nominee = rig.AddPod(rig.MakeShape(4000), 10);
  rig.nominator().Nominate(nominee, NodeId(0u));
  result = rig.Schedule(rig.MakeShape(4000), 10);
  EXPECT_EQ(result.post_filter.nominated, NodeId(1u));
  EXPECT_EQ(result.post_filter.victims, (std::vector<PodId>{b}));
  ASSERT_EQ(rig.detail().rejected.size(), 1u);
  EXPECT_EQ(rig.detail().rejected[0].plugin->name(), "Room");
  // A higher one takes it, and the nominee loses it.
  result = rig.Schedule(rig.MakeShape(4000), 11);
  EXPECT_EQ(result.post_filter.nominated, NodeId(0u));
  EXPECT_EQ(result.post_filter.cleared_nominations, (std::vector<PodId>{nominee}));
}

TEST(KubeCycleTest, VictimsCountForPluginsThatSeeTheCluster) {
  Rig rig;
  rig.AddNodes(2, 4000);
  const PodId web = rig.RunPod(rig.MakeShape(100, "web"), NodeId(0u), 1, 5);
  rig.RunPod(rig.MakeShape(100), NodeId(0u), 1, 6);
  rig.RunPod(rig.MakeShape(100), NodeId(1u), 1, 5);
  const AttemptResult result = rig.Schedule(rig.MakeShape(1000, "web"), 10);
  // No eviction opens the twin of node 0.
  EXPECT_EQ(result.post_filter.nominated, NodeId(0u));
  EXPECT_EQ(result.post_filter.victims, (std::vector<PodId>{web}));
  EXPECT_EQ(rig.detail().potential.size(), 2u);
  ASSERT_EQ(rig.detail().rejected.size(), 1u);
  EXPECT_EQ(rig.detail().rejected[0].node, NodeId(1u));
  EXPECT_EQ(rig.detail().rejected[0].reasons, (Names_{"app is here"}));
}

// ---- The cache ----

TEST(VerdictCacheTest, PodsThatDifferInLabelsShareAColumn) {
  Rig rig;
  rig.AddNodes(10, 1000);
  VerdictCache cache(&rig.profile(), &rig.cluster(), true, 1 << 20);
  for (int i = 0; i < 100; ++i) {
    cache.Find(rig.Context(rig.AddPod(rig.MakeShape(100, absl::StrCat("app-", i)))), 0);
  }
  EXPECT_EQ(cache.columns(), 1u);
  for (int i = 1; i < 4; ++i) cache.Find(rig.Context(rig.AddPod(rig.MakeShape(i))), 0);
  EXPECT_EQ(cache.columns(), 4u);
}

TEST(VerdictCacheTest, IsBounded) {
  Rig rig;
  rig.AddNodes(10, 1000);
  VerdictCache cache(&rig.profile(), &rig.cluster(), true, 1000);
  const PodId first = rig.AddPod(rig.MakeShape(1));
  const std::vector<NodeId> node = {NodeId(0u)};
  for (int i = 2; i < 40; ++i) {
    cache.Find(rig.Context(rig.AddPod(rig.MakeShape(i))), 0);
    // The first column is always the last but one that was used.
    VerdictCache::Column& column = cache.Find(rig.Context(first), 0);
    if (i > 2) {
      EXPECT_EQ(column.verdict[0], kFits);
    }
    cache.AskVerdicts(rig.Context(first), node, &column);
  }
  EXPECT_LE(cache.columns(), 4u);
}

TEST(VerdictCacheTest, ForgetsWhatChanged) {
  Rig rig;
  rig.AddNodes(3, 1000);
  VerdictCache cache(&rig.profile(), &rig.cluster(), true, 1 << 20);
  const PodContext pod = rig.Context(rig.AddPod(rig.MakeShape(800)));
  const std::vector<NodeId> nodes = {NodeId(0u), NodeId(1u), NodeId(2u)};
  VerdictCache::Column& column = cache.Find(pod, 0);
  cache.AskVerdicts(pod, nodes, &column);
  EXPECT_EQ(column.verdict[1], kFits);
  rig.cluster().Adopt(rig.AddPod(rig.MakeShape(800)), NodeId(1u));
  cache.Find(pod, 0);
  EXPECT_EQ(column.verdict[0], kFits);
  EXPECT_EQ(column.verdict[1], VerdictCache::kUnknown);
  cache.AskVerdicts(pod, nodes, &column);
  EXPECT_EQ(cache.filter_of()[column.verdict[1]], 2u);
}

bool SameResult(const AttemptResult& a, const AttemptResult& b) {
  return a.outcome == b.outcome && a.node == b.node && a.message == b.message &&
         a.rejectors == b.rejectors && a.post_filter.code == b.post_filter.code &&
         a.post_filter.nominated == b.post_filter.nominated &&
         a.post_filter.victims == b.post_filter.victims &&
         a.post_filter.keeps_nomination == b.post_filter.keeps_nomination &&
         a.post_filter.cleared_nominations == b.post_filter.cleared_nominations;
}

// Whether the node takes the pod, by the plugins' own rules.
bool NaiveFits(Rig& rig, PodId pod, NodeId node) {
  const PodShape& shape = rig.cluster().pod_shape(pod);
  if (UnmetLabel(shape.constraints.node_selector, rig.cluster().node_spec(node)) != nullptr) {
    return false;
  }
  for (const uint32_t n : {node.value(), node.value() ^ 1}) {
    if (shape.identity.labels.empty() || n >= rig.cluster().node_count()) continue;
    for (const PodId other : rig.cluster().pods_on(NodeId(n))) {
      if (rig.cluster().pod_shape(other).identity.labels == shape.identity.labels) return false;
    }
  }
  return rig.cluster().node(node).cpu_milli_idle >= shape.request.cpu_milli;
}

PodShape RandomPod(Rig& rig, Random& random) {
  PodShape shape = rig.MakeShape(static_cast<int64_t>(1 + random.Below(8)) * 500);
  if (random.Below(3) == 0) {
    shape.identity.labels = {{"app", absl::StrCat("app-", random.Below(4))}};
  }
  if (random.Below(4) == 0) shape.constraints.node_selector = {{"zone", "a"}};
  if (random.Below(12) == 0) shape.constraints.node_name = absl::StrCat("n", random.Below(30));
  return shape;
}

TEST(KubeCycleTest, TheCacheAndDetailsChangeNoDecision) {
  size_t found = 0;
  size_t preempted = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed, "kube cycle");
    ProfileSpec spec = FullSpec();
    spec.percentage_of_nodes = seed % 3 == 0 ? 10 : 0;
    const size_t nodes = seed % 3 == 0 ? 150 : 4 + static_cast<size_t>(random.Below(20));
    KubeCycleOptions options;
    if (seed % 5 == 0) options.ties = KubeCycleOptions::Ties::kRandom;
    Rig rig(spec, options);
    for (size_t i = 0; i < nodes; ++i) {
      const auto cpu_milli = static_cast<int64_t>(1 + random.Below(8)) * 1000;
      rig.AddNode(cpu_milli, random.Below(2) == 0 ? "a" : "b");
    }
    // The first follows the cache, the others do without it in one way or another.
    std::vector<std::unique_ptr<KubeCycle>> others;
    options.cache_bytes = 1;
    others.push_back(rig.MakeCycle(options));
    options.use_cache = false;
    others.push_back(rig.MakeCycle(options));
    others.push_back(rig.MakeCycle(options));
    Profile other_profile = rig.MakeProfile(spec);
    std::vector<PodId> running;
    for (int round = 0; round < 60; ++round) {
      const auto priority = static_cast<int32_t>(random.Below(4));
      const PodId pod = rig.AddPod(RandomPod(rig, random), priority);
      const bool any_nominated = !rig.nominator().empty();
      const AttemptResult result =
          rig.cycle().Schedule(&rig.profile(), rig.Context(pod), true, nullptr);
      AttemptDetail detail;
      for (size_t i = 0; i < others.size(); ++i) {
        Profile* profile = i == 0 ? &other_profile : &rig.profile();
        const AttemptResult other =
            others[i]->Schedule(profile, rig.Context(pod), true, i == 2 ? &detail : nullptr);
        ASSERT_TRUE(SameResult(result, other))
            << "seed " << seed << " round " << round << " cycle " << i << ": " << result.message
            << " | " << other.message << " | " << result.node.value() << " " << other.node.value();
        ASSERT_EQ(rig.cycle().start(), others[i]->start());
      }
      if (!any_nominated && detail.pre_filter_message.empty()) {
        for (const NodeId node : detail.feasible) ASSERT_TRUE(NaiveFits(rig, pod, node));
        for (const NodeStatus& status : detail.infeasible) {
          ASSERT_FALSE(NaiveFits(rig, pod, status.node));
        }
      }
      if (!detail.totals.empty()) {
        const int64_t best = *std::max_element(detail.totals.begin(), detail.totals.end());
        for (size_t i = 0; i < detail.totals.size(); ++i) {
          if (detail.feasible[i] == result.node) {
            ASSERT_EQ(detail.totals[i], best);
          }
        }
      }
      ASSERT_TRUE(rig.cluster().CheckInvariants().ok());
      if (result.outcome == AttemptResult::Outcome::kFound) {
        ++found;
        rig.nominator().Clear(pod);
        rig.cluster().Adopt(pod, result.node);
        rig.cluster().SetPodStart(pod, SimTime(round / 4));
        running.push_back(pod);
      } else if (result.post_filter.code == StepCode::kSuccess) {
        ++preempted;
        for (const PodId victim : result.post_filter.victims) {
          rig.cluster().Delete(victim);
          running.erase(std::find(running.begin(), running.end(), victim));
        }
        for (const PodId nominee : result.post_filter.cleared_nominations) {
          rig.nominator().Clear(nominee);
        }
        rig.nominator().Nominate(pod, result.post_filter.nominated);
      }
      if (!running.empty() && random.Below(4) == 0) {
        const auto i = static_cast<size_t>(random.Below(running.size()));
        rig.cluster().Finish(running[i]);
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }
  EXPECT_GT(found, 1000u);
  EXPECT_GT(preempted, 50u);
}

TEST(KubeCycleTest, ContinuesFromACheckpoint) {
  ProfileSpec spec = FullSpec();
  spec.percentage_of_nodes = 10;
  KubeCycleOptions options;
  options.ties = KubeCycleOptions::Ties::kRandom;
  Rig rig(spec, options);
  rig.AddNodes(150, 4000);
  const PodShape shape = rig.MakeShape(1000);
  for (int i = 0; i < 3; ++i) rig.Schedule(shape);
  StateWriter out;
  rig.cycle().Save(out);
  const std::unique_ptr<KubeCycle> copy = rig.MakeCycle(options);
  const std::string bytes = out.Release();
  StateReader in(bytes);
  ASSERT_TRUE(copy->Load(in).ok());
  EXPECT_EQ(copy->start(), rig.cycle().start());
  for (int i = 0; i < 20; ++i) {
    const PodId pod = rig.AddPod(shape);
    const AttemptResult other = copy->Schedule(&rig.profile(), rig.Context(pod), true, nullptr);
    ASSERT_TRUE(SameResult(rig.Schedule(pod), other));
  }
}

}  // namespace kube_cycle_test
}  // namespace drasim
