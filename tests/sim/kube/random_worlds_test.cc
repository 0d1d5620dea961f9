// Random clusters with all default plugins: with and without the cache, with and without details,
// the scheduler decides the same, and the counts of pods by domain equal a recount after every
// event.
//
// Two worlds get the same objects and events. One remembers verdicts and scores, and makes no
// details; the other forgets everything and explains itself half of the time.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "model/cluster_objects.h"
#include "model/cluster_state.h"
#include "model/gpu_model_table.h"
#include "model/random.h"
#include "model/shape_table.h"
#include "policies/framework/plugin.h"
#include "policies/framework/profile.h"
#include "sim/core/kube_cycle.h"
#include "sim/core/nominator.h"
#include "sim/scenario/kube_config.h"
#include "tests/testing/cluster_builder.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace {

constexpr const char* kHostname = "kubernetes.io/hostname";
constexpr const char* kZone = "topology.kubernetes.io/zone";
constexpr const char* kRegion = "topology.kubernetes.io/region";
constexpr size_t kClaims = 8;

// ---- Parts of random worlds ----

class RandomObjects {
 public:
  explicit RandomObjects(uint64_t seed) : random_(seed, "random worlds") {}

  bool OneIn(uint64_t n) { return random_.Below(n) == 0; }
  size_t Below(size_t n) { return static_cast<size_t>(random_.Below(n)); }
  template <size_t n>
  std::string Any(const std::array<const char*, n>& values) {
    return values[Below(n)];
  }

  NodeSpec Node(const std::string& name) {
    NodeSpec node;
    node.name = name;
    node.cpu_milli = static_cast<int64_t>(1 + Below(4)) * 1000;
    node.memory_bytes = static_cast<int64_t>(2 + Below(6)) * kTestGib;
    node.pods = OneIn(8) ? 2 : 110;
    node.labels = {{kHostname, name}};
    if (!OneIn(5)) node.labels.emplace_back(kRegion, Any(kRegions));
    if (!OneIn(8)) node.labels.emplace_back(kZone, Any(kZones));
    if (OneIn(3)) node.labels.emplace_back("tier", Any(kTiers));
    std::sort(node.labels.begin(), node.labels.end());
    if (OneIn(5)) node.taints = {{"dedicated", Any(kApps), Any(kEffects)}};
    if (OneIn(3)) node.images = {{{Any(kImages)}, static_cast<int64_t>(Below(900)) << 20}};
    if (OneIn(3)) node.extended = {{"example.com/fpga", static_cast<int64_t>(Below(4))}};
    node.unschedulable = OneIn(12);
    return node;
  }

  PodShape Pod() {
    PodShape pod;
    pod.request.cpu_milli = static_cast<int64_t>(Below(8)) * 250;
    pod.request.memory_bytes = static_cast<int64_t>(Below(5)) * (kTestGib / 2);
    if (OneIn(8)) pod.request.extended = {{"example.com/fpga", 1}};
    pod.scored.given = true;
    pod.scored.cpu_milli = std::max<int64_t>(pod.request.cpu_milli, 100);
    pod.scored.memory_bytes = std::max<int64_t>(pod.request.memory_bytes, 200 << 20);
    pod.scored.resident_cpu_milli = pod.scored.cpu_milli;
    pod.scored.resident_memory_bytes = pod.scored.memory_bytes;
    pod.scored.extended = pod.request.extended;
    pod.identity.ns = Any(kNamespaces);
    pod.identity.labels = {{"app", Any(kApps)}};
    if (OneIn(3)) pod.identity.labels.emplace_back("tier", Any(kTiers));
    if (OneIn(4)) {
      pod.identity.owner_kind = "ReplicaSet";
      pod.identity.owner_name = pod.identity.labels[0].second;
    }
    AddConstraints(&pod.constraints);
    AddTopology(pod.identity.ns, &pod.topology);
    if (OneIn(6)) {
      PodVolume volume;
      volume.has_claim = true;
      volume.claim = absl::StrCat("claim-", Below(kClaims));
      pod.volumes.volumes = {std::move(volume)};
    }
    return pod;
  }

  ClusterObjects Objects() {
    ClusterObjects objects;
    for (const char* ns : kNamespaces) objects.namespaces.push_back({ns, {{"team", Any(kTiers)}}});
    for (const char* app : kApps) {
      if (OneIn(2)) objects.groups.push_back({"ReplicaSet", "a", app, Apps(app)});
      if (OneIn(2)) objects.groups.push_back({"Service", "b", app, Apps(app)});
      if (!OneIn(2)) continue;
      objects.budgets.push_back(
          {Any(kNamespaces), app, Apps(app), static_cast<int32_t>(Below(2)), {}});
    }
    AddVolumes(&objects.volumes);
    return objects;
  }

 private:
  static constexpr std::array kRegions = {"r1", "r2"};
  static constexpr std::array kZones = {"a", "b", "c"};
  static constexpr std::array kTiers = {"front", "back"};
  static constexpr std::array kApps = {"web", "db", "job"};
  static constexpr std::array kEffects = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
  static constexpr std::array kImages = {"img/x:v1", "img/y:v1"};
  static constexpr std::array kNamespaces = {"a", "b"};
  static constexpr std::array kTopologyKeys = {kHostname, kZone, kRegion};

  static LabelSelector Apps(absl::string_view app) {
    LabelSelector selector;
    selector.given = true;
    selector.requirements = {{"app", SelectorOperator::kIn, {std::string(app)}}};
    return selector;
  }

  LabelSelector Selector() {
    if (OneIn(10)) {
      LabelSelector all;
      all.given = !OneIn(3);
      return all;
    }
    LabelSelector selector = Apps(Any(kApps));
    if (OneIn(4)) selector.requirements[0].op = SelectorOperator::kNotIn;
    if (OneIn(5)) selector.requirements.push_back({"tier", SelectorOperator::kExists, {}});
    return selector;
  }

  NodeTerm Term() {
    NodeTerm term;
    const auto op = static_cast<NodeOperator>(Below(4));
    const bool lists = op == NodeOperator::kIn || op == NodeOperator::kNotIn;
    if (OneIn(3)) {
      term.requirements = {{false, "tier", op, {}}};
      if (lists) term.requirements[0].values = {Any(kTiers)};
    } else {
      term.requirements = {{false, kZone, NodeOperator::kIn, {Any(kZones), Any(kZones)}}};
    }
    return term;
  }

  void AddConstraints(PodConstraints* constraints) {
    if (OneIn(10)) {
      constraints->node_selector = {{"tier", Any(kTiers)}};
      constraints->gives_node_selector = true;
    }
    if (OneIn(8)) {
      constraints->requires_node_terms = true;
      constraints->node_terms = {Term(), Term()};
    } else if (OneIn(20)) {
      constraints->requires_node_terms = true;
      NodeRequirement by_name;
      by_name.of_name = true;
      by_name.key = "metadata.name";
      by_name.values = {absl::StrCat("n", Below(8))};
      constraints->node_terms = {{{std::move(by_name)}}};
    }
    if (OneIn(4)) {
      constraints->prefers_nodes = true;
      constraints->preferred_nodes = {{static_cast<int32_t>(1 + Below(100)), Term()},
                                      {static_cast<int32_t>(1 + Below(100)), Term()}};
    }
    if (OneIn(4)) constraints->tolerations = {{"dedicated", Any(kApps), "", false}};
    if (OneIn(12)) constraints->tolerations = {{"", "", "", true}};
    if (OneIn(6)) {
      constraints->host_ports = {{"0.0.0.0", "TCP", static_cast<int32_t>(80 + Below(2))}};
    }
    if (OneIn(3)) constraints->images = {Any(kImages)};
    constraints->never_preempts = OneIn(8);
  }

  AffinityTerm Affinity(const std::string& ns) {
    AffinityTerm term;
    term.topology_key = Any(kTopologyKeys);
    term.selector = Selector();
    if (OneIn(3)) {
      term.namespace_selector.given = true;
      if (OneIn(2)) {
        term.namespace_selector.requirements = {{"team", SelectorOperator::kIn, {Any(kTiers)}}};
      }
    } else {
      term.namespaces = {ns};
    }
    return term;
  }

  void AddTopology(const std::string& ns, PodTopology* topology) {
    for (size_t n = OneIn(3) ? 1 + Below(2) : 0; n > 0; --n) {
      SpreadConstraint constraint;
      constraint.max_skew = static_cast<int32_t>(1 + Below(2));
      constraint.topology_key = kTopologyKeys[n];
      constraint.hard = OneIn(2);
      constraint.selector = Selector();
      if (constraint.hard && OneIn(4)) constraint.min_domains = 3;
      constraint.honor_affinity = !OneIn(3);
      constraint.honor_taints = OneIn(3);
      topology->spread.push_back(std::move(constraint));
    }
    const auto weight = [this] { return static_cast<int32_t>(1 + Below(100)); };
    if (OneIn(8)) topology->affinity = {Affinity(ns)};
    if (OneIn(6)) topology->anti_affinity = {Affinity(ns)};
    if (OneIn(6)) topology->preferred_affinity = {{weight(), Affinity(ns)}};
    if (OneIn(6)) topology->preferred_anti_affinity = {{weight(), Affinity(ns)}};
  }

  void AddVolumes(VolumeObjects* objects) {
    StorageClassObject late;
    late.name = "late";
    late.provisioner = "disk.example.com";
    late.binding_mode = StorageClassObject::BindingMode::kWaitForFirstConsumer;
    late.allowed_topologies = {{{kZone, {"a", "b"}}}};
    objects->classes = {std::move(late)};
    objects->csi_drivers = {{"disk.example.com", false}};
    for (size_t n = 0; n < 8; ++n) {
      if (!OneIn(2)) continue;
      objects->csi_nodes.push_back({absl::StrCat("n", n), {{"disk.example.com", 1}}, {}});
    }
    for (const char* ns : kNamespaces) {
      for (size_t i = 0; i < kClaims; ++i) AddClaim(ns, absl::StrCat("claim-", i), objects);
    }
    objects->Sort();
  }

  void AddClaim(const std::string& ns, const std::string& name, VolumeObjects* objects) {
    if (OneIn(10)) return;
    VolumeClaimObject claim;
    claim.ns = ns;
    claim.name = name;
    claim.uid = absl::StrCat(ns, "/", name);
    claim.storage_class = "late";
    claim.request = kTestGib;
    claim.access_modes = {OneIn(2) ? AccessMode::kReadWriteOnce : AccessMode::kReadWriteOncePod};
    if (!OneIn(3)) {
      PersistentVolumeObject volume;
      volume.name = absl::StrCat("pv-", ns, "-", name);
      volume.capacity = kTestGib;
      volume.access_modes = claim.access_modes;
      volume.storage_class = "late";
      volume.source.kind = VolumeSource::Kind::kCsi;
      volume.source.driver = "disk.example.com";
      volume.source.id = volume.name;
      if (OneIn(2)) volume.labels = {{kZone, Any(kZones)}};
      if (OneIn(2)) {
        volume.has_node_terms = true;
        volume.node_terms = {{{{false, kZone, NodeOperator::kIn, {Any(kZones)}}}}};
      }
      if (OneIn(2)) {
        volume.claim = {ns, name, claim.uid};
        claim.volume_name = volume.name;
        claim.bind_completed = true;
      } else {
        volume.available = true;
      }
      objects->volumes.push_back(std::move(volume));
    }
    objects->claims.push_back(std::move(claim));
  }

  Random random_;
};

// ---- A world ----

class SchedulerWorld {
 public:
  SchedulerWorld(bool use_cache, int32_t percentage)
      : profile_(MakeProfile(percentage)),
        cycle_(&cluster_, &nominator_, Options(use_cache), /*seed=*/7) {}

  ClusterState& cluster() { return cluster_; }
  const Nominator& nominator() const { return nominator_; }
  const KubeCycle& cycle() const { return cycle_; }

  PodId AddPod(const PodShape& shape, int32_t priority) {
    return cluster_.AddPod(absl::StrCat("p", cluster_.pod_count()), shapes_.Intern(shape), priority,
                           SimTime());
  }
  void UpdatePod(PodId pod, const PodShape& shape) {
    cluster_.SetPodShape(pod, shapes_.Intern(shape));
  }

  // One attempt with everything that follows from it.
  AttemptResult Attempt(PodId pod, bool wants_message, AttemptDetail* detail) {
    const PodContext context = {cluster_.pod_shape_id(pod), &cluster_.pod_shape(pod), pod,
                                SimTime()};
    AttemptResult result = cycle_.Schedule(&profile_, context, wants_message, detail);
    if (result.outcome == AttemptResult::Outcome::kFound) {
      cluster_.Adopt(pod, result.node);
      cluster_.SetPodStart(pod, SimTime(static_cast<int64_t>(pod.value())));
      for (ReservePlugin* plugin : profile_.reserves()) {
        plugin->Reserve(context, cluster_, result.node);
      }
      nominator_.Clear(pod);
      return result;
    }
    const PostFilterResult& step = result.post_filter;
    if (step.code == StepCode::kSuccess && step.nominated.valid()) {
      for (const PodId victim : step.victims) Delete(victim);
      for (const PodId nominee : step.cleared_nominations) nominator_.Clear(nominee);
      nominator_.Nominate(pod, step.nominated);
    } else if (!step.keeps_nomination) {
      nominator_.Clear(pod);
    }
    return result;
  }

  void Delete(PodId pod) {
    nominator_.Clear(pod);
    cluster_.Delete(pod);
  }

 private:
  static KubeCycleOptions Options(bool use_cache) {
    KubeCycleOptions options;
    options.use_cache = use_cache;
    options.ties = KubeCycleOptions::Ties::kRandom;
    return options;
  }
  static Profile MakeProfile(int32_t percentage) {
    ProfileSpec spec = DefaultProfileSpec();
    spec.percentage_of_nodes = percentage;
    absl::StatusOr<Profile> made = Profile::MakeKube(TestRegistry(), spec, PolicyContext());
    DRASIM_CHECK(made.ok());
    return *std::move(made);
  }

  GpuModelTable models_;
  ShapeTable shapes_{&models_};
  ClusterState cluster_{&models_, &shapes_};
  Nominator nominator_;
  Profile profile_;
  KubeCycle cycle_;
};

// ---- Two of them ----

class TwoWorlds {
 public:
  explicit TwoWorlds(uint64_t seed)
      : random_(seed),
        // Above 100 nodes, a search ends early, and begins where the last one ended.
        nodes_(seed % 20 == 0 ? 110 + random_.Below(60) : 3 + random_.Below(9)),
        cached_(true, seed % 40 == 0 ? 1 : 0),
        plain_(false, seed % 40 == 0 ? 1 : 0) {}

  void Build() {
    ClusterObjects objects = random_.Objects();
    Both([&](SchedulerWorld& world) { world.cluster().SetObjects(objects); });
    for (size_t i = 0; i < nodes_; ++i) AddNode();
    const size_t shapes = 4 + random_.Below(8);
    for (size_t i = 0; i < shapes; ++i) shapes_.push_back(random_.Pod());
    for (size_t i = 0; i < nodes_; ++i) AddBoundPod();
  }

  void Step() {
    switch (random_.Below(12)) {
      case 0:
        return ChangeNode();
      case 1:
        return AddBoundPod();
      case 2:
        return DeletePod();
      case 3:
        return ChangePod();
      case 4:
        return random_.OneIn(4) ? ChangeMembers() : ChangeObjects();
      default:
        return Attempt();
    }
  }

  void Check() {
    for (SchedulerWorld* world : {&cached_, &plain_}) {
      const absl::Status status = world->cluster().CheckInvariants();
      ASSERT_TRUE(status.ok()) << status;
    }
    ASSERT_EQ(cached_.cycle().start(), plain_.cycle().start());
  }

  int64_t found() const { return found_; }
  int64_t failed() const { return failed_; }
  int64_t preemptions() const { return preemptions_; }

 private:
  template <typename Action>
  void Both(const Action& action) {
    action(cached_);
    action(plain_);
  }

  NodeId RandomNode() { return NodeId(random_.Below(plain_.cluster().node_count())); }
  int32_t Priority() { return static_cast<int32_t>(random_.Below(4)) * 10; }

  void AddNode() {
    const NodeSpec node = random_.Node(absl::StrCat("n", plain_.cluster().node_count()));
    Both([&](SchedulerWorld& world) {
      const absl::StatusOr<NodeId> id = world.cluster().AddNode(node);
      DRASIM_CHECK(id.ok());
      if (node.unschedulable) world.cluster().SetSchedulable(*id, false);
    });
  }

  void AddBoundPod() {
    const NodeId node = RandomNode();
    if (!plain_.cluster().node(node).available) return;
    const PodShape shape = shapes_[random_.Below(shapes_.size())];
    const int32_t priority = Priority();
    Both([&](SchedulerWorld& world) {
      const PodId pod = world.AddPod(shape, priority);
      world.cluster().Adopt(pod, node);
      world.cluster().SetPodStart(pod, SimTime(static_cast<int64_t>(pod.value())));
    });
  }

  void ChangeNode() {
    const NodeId id = RandomNode();
    if (!plain_.cluster().node(id).available) return;
    const NodeSpec node = random_.Node(plain_.cluster().node_spec(id).name);
    Both([&](SchedulerWorld& world) { DRASIM_CHECK(world.cluster().UpdateNode(id, node).ok()); });
  }

  // A node comes, or one goes with its pods and comes back later.
  void ChangeMembers() {
    if (random_.OneIn(2)) return AddNode();
    const NodeId node = RandomNode();
    Both([&](SchedulerWorld& world) {
      ClusterState& cluster = world.cluster();
      const absl::Span<const PodId> residents = cluster.pods_on(node);
      for (const PodId pod : std::vector<PodId>(residents.begin(), residents.end())) {
        world.Delete(pod);
      }
      cluster.SetAvailable(node, !cluster.node(node).available);
    });
  }

  void ChangeObjects() {
    const ClusterObjects objects = random_.Objects();
    Both([&](SchedulerWorld& world) { world.cluster().SetObjects(objects); });
  }

  // Some pod that waits or runs; invalid: there is none.
  PodId SomePod(PodPhase phase) {
    std::vector<PodId> pods;
    for (size_t i = 0; i < plain_.cluster().pod_count(); ++i) {
      if (plain_.cluster().pod_phase(PodId(i)) == phase) pods.push_back(PodId(i));
    }
    return pods.empty() ? PodId() : pods[random_.Below(pods.size())];
  }

  void DeletePod() {
    const PodId pod = SomePod(random_.OneIn(4) ? PodPhase::kPending : PodPhase::kBound);
    if (pod.valid()) Both([&](SchedulerWorld& world) { world.Delete(pod); });
  }

  void ChangePod() {
    const PodId pod = SomePod(PodPhase::kBound);
    if (!pod.valid()) return;
    PodShape shape = plain_.cluster().pod_shape(pod);
    shape.identity = random_.Pod().identity;
    Both([&](SchedulerWorld& world) { world.UpdatePod(pod, shape); });
  }

  void Attempt() {
    PodId pod = random_.OneIn(3) ? SomePod(PodPhase::kPending) : PodId();
    if (!pod.valid()) {
      if (random_.OneIn(6)) shapes_[random_.Below(shapes_.size())] = random_.Pod();
      const PodShape shape = shapes_[random_.Below(shapes_.size())];
      const int32_t priority = Priority();
      Both([&](SchedulerWorld& world) { pod = world.AddPod(shape, priority); });
    }
    const bool says = random_.OneIn(2);
    AttemptDetail detail;
    const bool explains = random_.OneIn(2);
    const AttemptResult cached = cached_.Attempt(pod, says, nullptr);
    const AttemptResult plain = plain_.Attempt(pod, says, explains ? &detail : nullptr);
    ASSERT_EQ(cached.outcome, plain.outcome) << cached.message << " / " << plain.message;
    ASSERT_EQ(cached.node, plain.node);
    ASSERT_EQ(cached.message, plain.message);
    ASSERT_EQ(cached.rejectors, plain.rejectors);
    ASSERT_EQ(cached.post_filter.code, plain.post_filter.code);
    ASSERT_EQ(cached.post_filter.nominated, plain.post_filter.nominated);
    ASSERT_EQ(cached.post_filter.victims, plain.post_filter.victims);
    ASSERT_EQ(cached_.nominator().NodeOf(pod), plain_.nominator().NodeOf(pod));
    (cached.outcome == AttemptResult::Outcome::kFound ? found_ : failed_) += 1;
    if (!cached.post_filter.victims.empty()) ++preemptions_;
  }

  RandomObjects random_;
  size_t nodes_;
  SchedulerWorld cached_;
  SchedulerWorld plain_;
  std::vector<PodShape> shapes_;
  int64_t found_ = 0;
  int64_t failed_ = 0;
  int64_t preemptions_ = 0;
};

TEST(RandomWorldsTest, CacheAndDetailsChangeNoDecision) {
  int64_t found = 0;
  int64_t failed = 0;
  int64_t preemptions = 0;
  const uint64_t seeds = SoakSeeds(500);
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    TwoWorlds worlds(seed);
    worlds.Build();
    ASSERT_NO_FATAL_FAILURE(worlds.Check());
    for (int step = 0; step < 24; ++step) {
      SCOPED_TRACE(absl::StrCat("step ", step));
      ASSERT_NO_FATAL_FAILURE(worlds.Step());
      ASSERT_NO_FATAL_FAILURE(worlds.Check());
    }
    found += worlds.found();
    failed += worlds.failed();
    preemptions += worlds.preemptions();
  }
  // The worlds are neither empty nor full.
  EXPECT_GT(found, static_cast<int64_t>(seeds) * 3);
  EXPECT_GT(failed, static_cast<int64_t>(seeds) * 3);
  EXPECT_GT(preemptions, static_cast<int64_t>(seeds) / 4);
}

}  // namespace
}  // namespace drasim
