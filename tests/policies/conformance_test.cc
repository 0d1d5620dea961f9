// The contract that every built-in plugin, device chooser and policy keeps, whatever it decides.
// Parameterised over the registry, so that a new registration is covered without a new test.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/random.h"
#include "model/state_io.h"
#include "policies/framework/device_allocator.h"
#include "policies/framework/plugin.h"
#include "policies/framework/profile.h"
#include "policies/framework/registry.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {
namespace conformance_test {

constexpr uint64_t kSamples = 12;
constexpr int64_t kUnwritten = -987654321;

// A random cluster with residents and random shapes, and a profile for its filters.
class Sample {
 public:
  explicit Sample(uint64_t seed) : random_(seed, "conformance") {
    FillRandomly(/*nodes=*/18, /*shapes=*/30, /*residents=*/70, random_, builder_);
    parts_ = std::make_unique<ProfileParts>(builder_.TypicalPods(), seed, SimDuration());
    profile_ = std::make_unique<Profile>(MakeTestProfile(TestRegistry(), "best-fit", {}, *parts_));
  }

  std::unique_ptr<Plugin> MakePlugin(const std::string& name) const {
    absl::StatusOr<std::unique_ptr<Plugin>> made = TestRegistry().MakePlugin(name, parts_->context);
    DRASIM_CHECK(made.ok());
    return *std::move(made);
  }
  std::unique_ptr<DeviceAllocator> MakeChooser(const std::string& name) const {
    absl::StatusOr<std::unique_ptr<DeviceAllocator>> made =
        TestRegistry().MakeAllocator(name, parts_->context);
    DRASIM_CHECK(made.ok());
    return *std::move(made);
  }

  // Nodes that every built-in filter lets pass.
  std::vector<NodeId> Feasible(ShapeId shape) const {
    const std::vector<NodeId> all = builder_.NodeIds();
    std::vector<NodeId> fitting;
    for (const NodeId node : all) {
      ReasonIndex verdict = kFits;
      for (const Profile::FilterEntry& filter : profile_->filters()) {
        filter.plugin->Filter(builder_.Context(shape), builder_.cluster(),
                              absl::MakeConstSpan(&node, 1), absl::MakeSpan(&verdict, 1));
        if (verdict != kFits) break;
      }
      if (verdict == kFits) fitting.push_back(node);
    }
    return fitting;
  }

  ClusterBuilder& builder() { return builder_; }
  const ClusterState& cluster() const { return builder_.cluster(); }
  const RunStreams& streams() const { return *parts_->streams; }
  Random& random() { return random_; }

 private:
  Random random_;
  ClusterBuilder builder_;
  std::unique_ptr<ProfileParts> parts_;
  std::unique_ptr<Profile> profile_;
};

// The plugin at a point that it implements.
template <typename Point>
Point& At(Plugin& plugin) {
  auto* const point = dynamic_cast<Point*>(&plugin);
  DRASIM_CHECK(point != nullptr);
  return *point;
}
template <typename Point>
bool Has(const Plugin& plugin) {
  return dynamic_cast<const Point*>(&plugin) != nullptr;
}

bool ScoresByNode(const Plugin& plugin) {
  const auto* const score = dynamic_cast<const ScorePlugin*>(&plugin);
  return score != nullptr && score->score_reach() == Reach::kNode;
}

// After PreFilter, where the plugin has one.
std::vector<ReasonIndex> FilterAll(Plugin& plugin, const PodContext& pod,
                                   const ClusterState& cluster, const std::vector<NodeId>& nodes) {
  std::vector<ReasonIndex> verdicts(nodes.size(), kFits);
  if (Has<PreFilterPlugin>(plugin)) {
    const StepResult result = At<PreFilterPlugin>(plugin).PreFilter(pod, cluster);
    if (result.code != StepCode::kSuccess) {
      std::fill(verdicts.begin(), verdicts.end(), result.reason);
      return verdicts;
    }
  }
  At<FilterPlugin>(plugin).Filter(pod, cluster, nodes, absl::MakeSpan(verdicts));
  return verdicts;
}

// After PreScore; zeros if that skips the plugin.
std::vector<int64_t> ScoreAll(Plugin& plugin, const PodContext& pod, const ClusterState& cluster,
                              const std::vector<NodeId>& nodes) {
  auto& score = At<ScorePlugin>(plugin);
  const StepCode code = score.PreScore(pod, cluster, nodes).code;
  if (code == StepCode::kSkip) return std::vector<int64_t>(nodes.size());
  EXPECT_EQ(code, StepCode::kSuccess);
  std::vector<int64_t> scores(nodes.size(), kUnwritten);
  score.Score(pod, cluster, nodes, absl::MakeSpan(scores));
  return scores;
}

std::vector<int64_t> Normalized(Plugin& plugin, const std::vector<NodeId>& nodes,
                                std::vector<int64_t> scores) {
  At<ScorePlugin>(plugin).NormalizeScore(nodes, absl::MakeSpan(scores));
  return scores;
}

template <typename T>
std::string SavedBytes(const T& part) {
  StateWriter out;
  part.Save(out);
  return out.Release();
}

std::string ParamName(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// ---- Plugins ----

class PluginConformance : public testing::TestWithParam<std::string> {};

TEST_P(PluginConformance, IsNamedAfterItsRegistrationAndHasAPoint) {
  const Sample sample(1);
  const std::unique_ptr<Plugin> plugin = sample.MakePlugin(GetParam());
  // Variants of one plugin are registered under its name and a suffix.
  EXPECT_TRUE(absl::StartsWith(GetParam(), plugin->name())) << plugin->name();
  EXPECT_FALSE(plugin->name().empty());
  EXPECT_TRUE(Has<PreEnqueuePlugin>(*plugin) || Has<QueueSortPlugin>(*plugin) ||
              Has<PreFilterPlugin>(*plugin) || Has<FilterPlugin>(*plugin) ||
              Has<PostFilterPlugin>(*plugin) || Has<ScorePlugin>(*plugin) ||
              Has<ReservePlugin>(*plugin) || Has<PermitPlugin>(*plugin) ||
              Has<PreBindPlugin>(*plugin) || Has<BindPlugin>(*plugin) ||
              Has<PostBindPlugin>(*plugin));
}

TEST_P(PluginConformance, ReasonsAreDistinctTexts) {
  const Sample sample(1);
  const std::unique_ptr<Plugin> plugin = sample.MakePlugin(GetParam());
  const std::vector<Reason> reasons = plugin->reasons();
  // Later points may have reasons, too; a filter must, but for one that rejects no node.
  EXPECT_EQ(reasons.empty() && Has<FilterPlugin>(*plugin), GetParam() == "DynamicResources");
  std::set<std::string> distinct;
  for (const Reason& reason : reasons) {
    EXPECT_FALSE(reason.text.empty());
    distinct.insert(std::string(reason.text));
    // Explanations go by it.
    if (Has<FilterPlugin>(*plugin)) {
      EXPECT_NE(reason.kind, ReasonKind::kOther) << reason.text;
    }
  }
  EXPECT_EQ(distinct.size(), reasons.size());
}

TEST_P(PluginConformance, FilterGivesItsReasonsWhateverTheBatch) {
  for (uint64_t seed = 1; seed <= kSamples; ++seed) {
    Sample sample(seed);
    const std::unique_ptr<Plugin> plugin = sample.MakePlugin(GetParam());
    if (!Has<FilterPlugin>(*plugin)) return;
    const std::vector<NodeId> nodes = sample.builder().NodeIds();
    std::vector<NodeId> shuffled = nodes;
    sample.random().Shuffle(absl::MakeSpan(shuffled));
    for (const ShapeId shape : sample.builder().ShapeIds()) {
      const PodContext pod = sample.builder().Context(shape);
      const std::vector<ReasonIndex> together = FilterAll(*plugin, pod, sample.cluster(), nodes);
      EXPECT_EQ(FilterAll(*plugin, pod, sample.cluster(), nodes), together);
      for (const NodeId node : nodes) {
        const ReasonIndex verdict = together[node.value()];
        ASSERT_LE(size_t{verdict}, plugin->reasons().size());
        ASSERT_EQ(FilterAll(*plugin, pod, sample.cluster(), {node})[0], verdict);
      }
      const std::vector<ReasonIndex> mixed = FilterAll(*plugin, pod, sample.cluster(), shuffled);
      for (size_t i = 0; i < shuffled.size(); ++i) {
        ASSERT_EQ(mixed[i], together[shuffled[i].value()]) << "node " << shuffled[i].value();
      }
      EXPECT_TRUE(FilterAll(*plugin, pod, sample.cluster(), {}).empty());
    }
  }
}

TEST_P(PluginConformance, NormalizedScoresLieBetweenZeroAndAHundred) {
  for (uint64_t seed = 1; seed <= kSamples; ++seed) {
    Sample sample(seed);
    const std::unique_ptr<Plugin> plugin = sample.MakePlugin(GetParam());
    if (!Has<ScorePlugin>(*plugin)) return;
    const bool final_already =
        At<ScorePlugin>(*plugin).normalize(sample.cluster()) == Normalize::kNone;
    for (const ShapeId shape : sample.builder().ShapeIds()) {
      const std::vector<NodeId> nodes = sample.Feasible(shape);
      if (nodes.empty()) continue;
      const std::vector<int64_t> raw =
          ScoreAll(*plugin, sample.builder().Context(shape), sample.cluster(), nodes);
      const std::vector<int64_t> scores = Normalized(*plugin, nodes, raw);
      if (final_already) {
        EXPECT_EQ(scores, raw);
      }
      for (const int64_t score : scores) {
        ASSERT_GE(score, 0);
        ASSERT_LE(score, kMaxNodeScore);
      }
    }
  }
}

// Nodes with more than the 8 GPUs and 128 cores after which the published formulas are scaled.
TEST_P(PluginConformance, NormalizedScoresStayInRangeOnLargerNodes) {
  ClusterBuilder builder;
  for (const int32_t gpus : {8, 16, 32, 64}) {
    for (const int64_t cores : {64, 256, 512}) {
      builder.AddNode(TestNode(absl::StrCat("n-", gpus, "-", cores), cores * 1000, gpus));
    }
  }
  const std::vector<ShapeId> shapes = {
      builder.AddShape(TestShape(1000, 0)), builder.AddShape(TestShape(1000, 1, 300)),
      builder.AddShape(TestShape(8000, 1)), builder.AddShape(TestShape(60000, 8))};
  // Some of the nodes host something, which a policy may prefer or avoid.
  for (const NodeId node : builder.NodeIds()) {
    if (node.value() % 3 == 1) builder.Place(shapes[1], node, DeviceSet::Of(0));
    if (node.value() % 3 == 2) builder.Place(shapes[2], node, DeviceSet::Of(1));
  }
  const ProfileParts parts(builder.TypicalPods(), 1, SimDuration());
  absl::StatusOr<std::unique_ptr<Plugin>> plugin =
      TestRegistry().MakePlugin(GetParam(), parts.context);
  ASSERT_TRUE(plugin.ok());
  if (!Has<ScorePlugin>(**plugin)) return;
  // Every node takes the first three shapes; these four have eight free devices for the last.
  const std::vector<std::vector<NodeId>> feasible = {
      builder.NodeIds(),
      builder.NodeIds(),
      builder.NodeIds(),
      {NodeId(size_t{0}), NodeId(size_t{3}), NodeId(size_t{4}), NodeId(size_t{8})}};
  for (size_t s = 0; s < shapes.size(); ++s) {
    const std::vector<int64_t> scores =
        Normalized(**plugin, feasible[s],
                   ScoreAll(**plugin, builder.Context(shapes[s]), builder.cluster(), feasible[s]));
    for (size_t i = 0; i < scores.size(); ++i) {
      EXPECT_GE(scores[i], 0) << builder.cluster().node_spec(feasible[s][i]).name << " shape " << s;
      EXPECT_LE(scores[i], kMaxNodeScore)
          << builder.cluster().node_spec(feasible[s][i]).name << " shape " << s;
    }
  }
}

TEST_P(PluginConformance, CacheableScoresDependOnNothingButShapeAndNode) {
  for (uint64_t seed = 1; seed <= kSamples; ++seed) {
    Sample sample(seed);
    const std::unique_ptr<Plugin> plugin = sample.MakePlugin(GetParam());
    if (!ScoresByNode(*plugin)) return;
    for (const ShapeId shape : sample.builder().ShapeIds()) {
      const std::vector<NodeId> nodes = sample.Feasible(shape);
      PodContext pod = sample.builder().Context(shape);
      const std::vector<int64_t> scores = ScoreAll(*plugin, pod, sample.cluster(), nodes);
      EXPECT_EQ(std::count(scores.begin(), scores.end(), kUnwritten), 0);
      EXPECT_EQ(ScoreAll(*plugin, pod, sample.cluster(), nodes), scores);
      pod.now = SimTime(123456789);
      for (size_t i = nodes.size(); i-- > 0;) {
        ASSERT_EQ(ScoreAll(*plugin, pod, sample.cluster(), {nodes[i]})[0], scores[i]);
      }
      const std::unique_ptr<Plugin> other = sample.MakePlugin(GetParam());
      EXPECT_EQ(ScoreAll(*other, pod, sample.cluster(), nodes), scores);
    }
  }
}

TEST_P(PluginConformance, ScoreDrawsIfItSaysSo) {
  Sample sample(9);
  const std::unique_ptr<Plugin> plugin = sample.MakePlugin(GetParam());
  if (!Has<ScorePlugin>(*plugin)) return;
  const std::string before = SavedBytes(sample.streams());
  for (const ShapeId shape : sample.builder().ShapeIds()) {
    const std::vector<NodeId> nodes = sample.Feasible(shape);
    if (nodes.size() < 2) continue;
    ScoreAll(*plugin, sample.builder().Context(shape), sample.cluster(), nodes);
  }
  const bool draws = At<ScorePlugin>(*plugin).score_draws();
  EXPECT_EQ(SavedBytes(sample.streams()) != before, draws);
  // A score that draws must not be cached.
  EXPECT_FALSE(draws && ScoresByNode(*plugin));
}

TEST_P(PluginConformance, AKnownQueueOrderIsThatOfLess) {
  const Sample sample(1);
  const std::unique_ptr<Plugin> plugin = sample.MakePlugin(GetParam());
  const auto* const sort = dynamic_cast<const QueueSortPlugin*>(plugin.get());
  if (sort == nullptr || sort->queue_order() != QueueOrder::kByPriority) return;
  Random random(6, "queue order");
  std::vector<QueuedPod> pods;
  for (uint64_t i = 0; i < 60; ++i) {
    pods.push_back({PodId(i), static_cast<int32_t>(random.Below(3)),
                    SimTime(static_cast<int64_t>(random.Below(4))), i});
  }
  for (const QueuedPod& a : pods) {
    for (const QueuedPod& b : pods) {
      const bool by_key = std::make_tuple(-a.priority, a.queued_at, a.sequence) <
                          std::make_tuple(-b.priority, b.queued_at, b.sequence);
      ASSERT_EQ(sort->Less(a, b), by_key);
    }
  }
}

// A plugin's memory of a node must not outlive the node's state.
TEST_P(PluginConformance, AnOldPluginScoresAChangedClusterLikeANewOne) {
  Sample sample(77);
  const std::unique_ptr<Plugin> plugin = sample.MakePlugin(GetParam());
  if (!ScoresByNode(*plugin)) return;
  ClusterBuilder& builder = sample.builder();
  std::vector<PodId> placed;
  for (int step = 0; step < 120; ++step) {
    const ShapeId shape = OneOf(builder.ShapeIds(), sample.random());
    const std::vector<NodeId> nodes = sample.Feasible(shape);
    const PodContext pod = builder.Context(shape);
    const std::unique_ptr<Plugin> fresh = sample.MakePlugin(GetParam());
    ASSERT_EQ(ScoreAll(*plugin, pod, sample.cluster(), nodes),
              ScoreAll(*fresh, pod, sample.cluster(), nodes));
    if (!nodes.empty()) {
      const NodeId node = OneOf(nodes, sample.random());
      const DeviceSet devices =
          RandomDevices(*pod.shape, sample.cluster().device_milli_idle(node), sample.random());
      placed.push_back(builder.Place(shape, node, devices));
    }
    if (placed.size() > 10) {
      builder.cluster().Finish(placed.front());
      placed.erase(placed.begin());
    }
  }
}

TEST_P(PluginConformance, OrderPreservingNormalisationKeepsOrderAndTies) {
  Random random(5, "normalise");
  for (uint64_t seed = 1; seed <= kSamples; ++seed) {
    Sample sample(seed);
    const std::unique_ptr<Plugin> plugin = sample.MakePlugin(GetParam());
    if (!Has<ScorePlugin>(*plugin)) return;
    if (At<ScorePlugin>(*plugin).normalize(sample.cluster()) != Normalize::kOrderPreserving) return;
    std::vector<std::vector<int64_t>> raws;
    for (const ShapeId shape : sample.builder().ShapeIds()) {
      raws.push_back(ScoreAll(*plugin, sample.builder().Context(shape), sample.cluster(),
                              sample.Feasible(shape)));
    }
    // Any raw score between 0 and 100 counts as possible.
    for (const uint64_t range : {1u, 2u, 10u, 101u}) {
      raws.emplace_back();
      for (int i = 0; i < 40; ++i) raws.back().push_back(static_cast<int64_t>(random.Below(range)));
    }
    for (const std::vector<int64_t>& raw : raws) {
      const std::vector<int64_t> scores =
          Normalized(*plugin, std::vector<NodeId>(raw.size(), NodeId(size_t{0})), raw);
      for (size_t i = 0; i < raw.size(); ++i) {
        for (size_t j = 0; j < raw.size(); ++j) {
          ASSERT_EQ(raw[i] < raw[j], scores[i] < scores[j]) << raw[i] << " and " << raw[j];
        }
      }
    }
  }
}

TEST_P(PluginConformance, StateSurvivesSaveAndLoad) {
  Sample sample(3);
  const std::unique_ptr<Plugin> plugin = sample.MakePlugin(GetParam());
  const auto score_all = [&sample](Plugin& p) {
    std::vector<int64_t> all;
    for (const ShapeId shape : sample.builder().ShapeIds()) {
      const std::vector<NodeId> nodes = sample.Feasible(shape);
      if (nodes.empty()) continue;
      for (const int64_t score :
           ScoreAll(p, sample.builder().Context(shape), sample.cluster(), nodes)) {
        all.push_back(score);
      }
    }
    return all;
  };
  const bool comparable = ScoresByNode(*plugin);
  if (comparable) score_all(*plugin);
  const std::string bytes = SavedBytes(*plugin);
  const std::unique_ptr<Plugin> loaded = sample.MakePlugin(GetParam());
  StateReader in(bytes);
  ASSERT_TRUE(loaded->Load(in).ok());
  EXPECT_TRUE(in.AtEnd());
  EXPECT_EQ(SavedBytes(*loaded), bytes);
  if (comparable) {
    EXPECT_EQ(score_all(*loaded), score_all(*plugin));
  }
}

INSTANTIATE_TEST_SUITE_P(EveryPlugin, PluginConformance,
                         testing::ValuesIn(TestRegistry().plugin_names()), ParamName);

// The samples behind these tests leave no verdict of the usual filters untried.
TEST(FilterSamplesTest, HoldNodesForEveryVerdict) {
  for (const char* const name : {"NodeUnschedulable", "TaintToleration", "NodeAffinity",
                                 "NodeResourcesFit", "GpuShareFit"}) {
    std::set<int> given;
    size_t reasons = 0;
    for (uint64_t seed = 1; seed <= kSamples; ++seed) {
      Sample sample(seed);
      const std::unique_ptr<Plugin> plugin = sample.MakePlugin(name);
      reasons = plugin->reasons().size();
      for (const ShapeId shape : sample.builder().ShapeIds()) {
        for (const ReasonIndex verdict : FilterAll(*plugin, sample.builder().Context(shape),
                                                   sample.cluster(), sample.builder().NodeIds())) {
          given.insert(verdict);
        }
      }
    }
    // No sample asks for a resource without a column; scores_test looks at that reason.
    const size_t untried = std::string(name) == "NodeResourcesFit" ? 1 : 0;
    EXPECT_EQ(given.size() + untried, reasons + 1) << name;
  }
}

// ---- Device choosers ----

class ChooserConformance : public testing::TestWithParam<std::string> {};

TEST_P(ChooserConformance, ProposalsFitAndTheBestComesFirst) {
  size_t shares = 0;
  size_t wholes = 0;
  for (uint64_t seed = 1; seed <= kSamples; ++seed) {
    Sample sample(seed);
    const std::unique_ptr<DeviceAllocator> chooser = sample.MakeChooser(GetParam());
    EXPECT_EQ(chooser->name(), GetParam());
    for (const ShapeId id : sample.builder().ShapeIds()) {
      const PodShape& shape = sample.builder().shapes().row(id);
      if (shape.request.gpu_count == 0) continue;
      for (const NodeId node : sample.Feasible(id)) {
        (shape.request.is_share() ? shares : wholes) += 1;
        // Results of an earlier call must not remain.
        DeviceProposals proposals = {{DeviceSet::FirstN(8), 99}, {DeviceSet(), 98}};
        chooser->Propose(shape.request, sample.cluster(), node, &proposals);
        ASSERT_FALSE(proposals.empty());
        std::set<DeviceSet> distinct;
        for (size_t i = 0; i < proposals.size(); ++i) {
          const DeviceProposal& p = proposals[i];
          ASSERT_EQ(p.devices.size(), shape.request.gpu_count);
          ASSERT_TRUE(sample.cluster().CanPlace(id, node, p.devices)) << DevicesText(p.devices);
          ASSERT_TRUE(distinct.insert(p.devices).second) << DevicesText(p.devices);
          if (i > 0) {
            ASSERT_LE(p.score, proposals[i - 1].score);
          }
        }
      }
    }
  }
  EXPECT_GT(shares, 100u);
  EXPECT_GT(wholes, 100u);
}

TEST_P(ChooserConformance, DrawsIfItSaysSo) {
  Sample sample(9);
  const std::unique_ptr<DeviceAllocator> chooser = sample.MakeChooser(GetParam());
  const std::string before = SavedBytes(sample.streams());
  for (const ShapeId shape : sample.builder().ShapeIds()) {
    if (sample.builder().shapes().row(shape).request.gpu_count == 0) continue;
    for (const NodeId node : sample.Feasible(shape)) {
      DeviceProposals proposals;
      chooser->Propose(sample.builder().shapes().row(shape).request, sample.cluster(), node,
                       &proposals);
    }
  }
  EXPECT_EQ(SavedBytes(sample.streams()) != before, chooser->draws());
}

TEST_P(ChooserConformance, WholeDevicesAreTheFirstFreeOnes) {
  for (uint64_t seed = 1; seed <= kSamples; ++seed) {
    Sample sample(seed);
    const std::unique_ptr<DeviceAllocator> chooser = sample.MakeChooser(GetParam());
    for (const ShapeId id : sample.builder().ShapeIds()) {
      const PodShape& shape = sample.builder().shapes().row(id);
      if (shape.request.gpu_count == 0 || shape.request.is_share()) continue;
      for (const NodeId node : sample.Feasible(id)) {
        DeviceProposals proposals;
        chooser->Propose(shape.request, sample.cluster(), node, &proposals);
        DeviceSet wanted;
        int32_t missing = shape.request.gpu_count;
        size_t device = 0;
        for (const int16_t idle : sample.cluster().device_milli_idle(node)) {
          if (idle == kDeviceMilli && missing > 0) {
            wanted.Add(device);
            --missing;
          }
          ++device;
        }
        ASSERT_EQ(proposals.size(), 1u);
        ASSERT_EQ(proposals[0].devices, wanted);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryChooser, ChooserConformance,
                         testing::ValuesIn(TestRegistry().allocator_names()), ParamName);

// ---- Policies and profiles ----

std::vector<std::string> PolicyNames() {
  std::vector<std::string> names;
  for (const PolicyEntry& policy : TestRegistry().policies()) names.push_back(policy.name);
  return names;
}

class PolicyConformance : public testing::TestWithParam<std::string> {};

TEST_P(PolicyConformance, ResolvesToAProfile) {
  const absl::StatusOr<const PolicyEntry*> policy = TestRegistry().FindPolicy(GetParam());
  ASSERT_TRUE(policy.ok()) << policy.status();
  EXPECT_FALSE((*policy)->description.empty());
  const ProfileParts parts({}, 1, SimDuration());
  const Profile profile = MakeTestProfile(TestRegistry(), GetParam(), {}, parts);
  ASSERT_EQ(profile.scores().size(), (*policy)->score.size());
  for (size_t i = 0; i < profile.scores().size(); ++i) {
    EXPECT_EQ(profile.scores()[i].plugin->name(), (*policy)->score[i].plugin);
    EXPECT_EQ(profile.scores()[i].weight, (*policy)->score[i].weight);
  }
  if ((*policy)->allocator.empty()) {
    EXPECT_EQ(&profile.allocator(), profile.scores()[0].plugin->device_allocator());
  } else {
    EXPECT_EQ(profile.allocator().name(), (*policy)->allocator);
  }
  EXPECT_EQ(profile.queue_sorts().size(), 1u);
  EXPECT_EQ(profile.binds().size(), 1u);
  std::vector<std::string> filters;
  std::vector<std::string> reasons;
  std::vector<ReasonKind> kinds;
  for (const Profile::FilterEntry& filter : profile.filters()) {
    EXPECT_EQ(size_t{filter.reason_base}, reasons.size());
    filters.emplace_back(filter.plugin->name());
    EXPECT_EQ(size_t{filter.reason_count}, filter.plugin->reasons().size());
    for (const Reason& reason : filter.plugin->reasons()) {
      reasons.emplace_back(reason.text);
      kinds.push_back(reason.kind);
    }
  }
  std::vector<std::string> expected = {"NodeUnschedulable", "TaintToleration", "NodeAffinity",
                                       "NodeResourcesFit",  "GpuShareFit",     "GroupLimit"};
  // A score plugin may be a filter, too.
  for (const Profile::ScoreEntry& entry : profile.scores()) {
    if (Has<FilterPlugin>(*entry.plugin)) expected.emplace_back(entry.plugin->name());
  }
  EXPECT_EQ(filters, expected);
  EXPECT_EQ(profile.reasons(), reasons);
  EXPECT_EQ(profile.reason_kinds(), kinds);
  // A profile can be asked about its plugins without a run.
  ProfileOptions options;
  options.policy = GetParam();
  const absl::StatusOr<Profile> alone = Profile::Make(TestRegistry(), options, PolicyContext());
  ASSERT_TRUE(alone.ok()) << alone.status();
  EXPECT_EQ(alone->draws(), profile.draws());
  EXPECT_EQ(profile.draws(), GetParam() == "random");
}

TEST_P(PolicyConformance, ProfileSurvivesSaveAndLoad) {
  const ProfileParts parts({}, 1, SimDuration());
  const Profile saved = MakeTestProfile(TestRegistry(), GetParam(), {}, parts);
  Profile loaded = MakeTestProfile(TestRegistry(), GetParam(), {}, parts);
  const std::string bytes = SavedBytes(saved);
  StateReader in(bytes);
  ASSERT_TRUE(loaded.Load(in).ok()) << in.status();
  EXPECT_TRUE(in.AtEnd());
  EXPECT_EQ(SavedBytes(loaded), bytes);
  // Another policy's state is refused by the name of its plugin.
  const std::string other = GetParam() == "fgd" ? "best-fit" : "fgd";
  Profile wrong = MakeTestProfile(TestRegistry(), other, {}, parts);
  StateReader again(bytes);
  EXPECT_EQ(wrong.Load(again).code(), absl::StatusCode::kDataLoss);
}

INSTANTIATE_TEST_SUITE_P(EveryPolicy, PolicyConformance, testing::ValuesIn(PolicyNames()),
                         ParamName);

TEST(RegistryTest, HasTheSixPublishedPolicies) {
  const std::vector<std::string> names = PolicyNames();
  for (const char* const name :
       {"random", "dotprod", "gpu-clustering", "gpu-packing", "best-fit", "fgd"}) {
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
  }
}

TEST(RegistryTest, UnknownNamesAreAnsweredWithTheNearestKnownOne) {
  const ProfileParts parts({}, 1, SimDuration());
  const Registry& registry = TestRegistry();
  const absl::Status policy = registry.FindPolicy("gpu-packin").status();
  EXPECT_EQ(policy.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(policy.message(), "unknown policy 'gpu-packin' (did you mean 'gpu-packing'?)");
  const absl::Status plugin = registry.MakePlugin("GpuPakcing", parts.context).status();
  EXPECT_EQ(plugin.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(plugin.message(), "unknown plugin 'GpuPakcing' (did you mean 'GpuPacking'?)");
  const absl::Status chooser = registry.MakeAllocator("wrost", parts.context).status();
  EXPECT_EQ(chooser.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(chooser.message(), "unknown device chooser 'wrost' (did you mean 'worst'?)");
  EXPECT_EQ(registry.FindPolicy("quantum-annealing").status().message(),
            "unknown policy 'quantum-annealing'");
}

TEST(ProfileTest, ReportsWhatCannotBeResolved) {
  const ProfileParts parts({}, 1, SimDuration());
  const auto failure = [&parts](const std::string& policy, std::vector<ScoreChoice> score,
                                const std::string& chooser) {
    ProfileOptions options;
    options.policy = policy;
    options.score = std::move(score);
    options.device_chooser = chooser;
    return Profile::Make(TestRegistry(), options, parts.context).status();
  };
  EXPECT_EQ(failure("fdg", {}, "").message(), "unknown policy 'fdg' (did you mean 'fgd'?)");
  EXPECT_EQ(failure("fgd", {}, "bset").message(),
            "unknown device chooser 'bset' (did you mean 'best'?)");
  EXPECT_EQ(failure("fgd", {{"BestFti", 1}}, "").message(),
            "unknown plugin 'BestFti' (did you mean 'BestFit'?)");
  EXPECT_EQ(failure("fgd", {{"GpuShareFit", 1}}, "").message(),
            "plugin 'GpuShareFit' has no Score extension point");
  EXPECT_EQ(failure("fgd", {{"FGD", -1}}, "").message(),
            "plugin 'FGD': weight -1 is not a whole number from 0 to 1000000");
  EXPECT_EQ(failure("fgd", {{"FGD", 1000001}}, "").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(failure("fgd", {{"FGD", 1000000}}, "worst").ok());
}

TEST(ProfileTest, OptionsReplaceThePolicysPartsAndWeightZeroMeansOne) {
  const ProfileParts parts({}, 1, SimDuration());
  ProfileOptions options;
  options.policy = "fgd";
  options.score = {{"BestFit", 0}, {"GpuPacking", 7}};
  options.device_chooser = "worst";
  const absl::StatusOr<Profile> profile = Profile::Make(TestRegistry(), options, parts.context);
  ASSERT_TRUE(profile.ok());
  ASSERT_EQ(profile->scores().size(), 2u);
  EXPECT_EQ(profile->scores()[0].plugin->name(), "BestFit");
  EXPECT_EQ(profile->scores()[0].weight, 1);
  EXPECT_EQ(profile->scores()[1].plugin->name(), "GpuPacking");
  EXPECT_EQ(profile->scores()[1].weight, 7);
  EXPECT_EQ(profile->allocator().name(), "worst");
}

TEST(RegistryDeathTest, ANameIsRegisteredOnce) {
  Registry registry;
  RegisterBuiltins(registry);
  EXPECT_DEATH(RegisterBuiltins(registry), "CHECK failed");
}

}  // namespace conformance_test
}  // namespace drasim
