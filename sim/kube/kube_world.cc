#include "sim/kube/kube_world.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "model/cluster_objects.h"
#include "model/kube/shape_of_pod.h"
#include "model/kube/spec_of_node.h"
#include "model/label_selector.h"
#include "model/pod_topology.h"
#include "model/status_macros.h"
#include "policies/builtins.h"
#include "policies/framework/requeue_hints.h"
#include "sim/extender/http_channel.h"
#include "sim/kube/object_changes.h"

namespace drasim {
namespace {

SimTime StartOf(const proto::kube::Pod& pod) {
  absl::Time start;
  if (!absl::ParseTime(absl::RFC3339_full, pod.status().start_time(), &start, nullptr)) {
    return SimTime(std::numeric_limits<int64_t>::max());
  }
  return SimTime(absl::ToUnixNanos(start));
}

// Sums over thousands of nodes stay within 64 bits.
NodeSpec BoundedSpecOf(const proto::kube::Node& node) {
  constexpr int64_t kMost = int64_t{1} << 52;
  NodeSpec spec = SpecOfNode(node);
  spec.cpu_milli = std::min(spec.cpu_milli, kMost);
  spec.memory_bytes = std::min(spec.memory_bytes, kMost);
  return spec;
}

// The original's dry run covers every node in the cases.
KubeCycleOptions CaseOptions() {
  KubeCycleOptions options;
  options.tries_all = true;
  return options;
}

}  // namespace

std::string PodKey(const proto::kube::ObjectMeta& meta) {
  return absl::StrCat(meta.namespace_().empty() ? "default" : meta.namespace_(), "/", meta.name());
}

// The objects as extenders see them.
class KubeWorld::Objects : public ExtenderObjects {
 public:
  explicit Objects(const KubeWorld* world) : world_(*world) {}
  const proto::kube::Pod& PodObject(PodId pod) const override {
    return world_.pod_objects_.at(pod);
  }
  const proto::kube::Node& NodeObject(NodeId node) const override {
    return world_.nodes_.at(world_.node_name(node)).node;
  }

 private:
  const KubeWorld& world_;
};

// --- Building ---

KubeWorld::KubeWorld(const KubeConfig&)
    : cycle_(std::make_unique<KubeCycle>(&cluster_, &nominator_, CaseOptions(), /*seed=*/0)) {
  RegisterBuiltins(registry_);
}

KubeWorld::~KubeWorld() = default;

absl::StatusOr<std::unique_ptr<KubeWorld>> KubeWorld::Make(const KubeConfig& config,
                                                           ExtenderChannel* channel) {
  std::unique_ptr<KubeWorld> world(new KubeWorld(config));
  RETURN_IF_ERROR(world->BuildProfiles(config));
  if (!config.extenders.empty()) RETURN_IF_ERROR(world->BuildExtenders(config, channel));
  return world;
}

absl::Status KubeWorld::BuildExtenders(const KubeConfig& config, ExtenderChannel* channel) {
  if (channel == nullptr) {
    own_channel_ = std::make_unique<HttpChannel>();
    channel = own_channel_.get();
  }
  objects_ = std::make_unique<Objects>(this);
  ASSIGN_OR_RETURN(extenders_, MakeExtenders(config.extenders, &cluster_, objects_.get(), channel));
  std::vector<Extender*> extenders;
  for (const std::unique_ptr<HttpExtender>& extender : extenders_) {
    extenders.push_back(extender.get());
  }
  cycle_->set_extenders(std::move(extenders));
  return absl::OkStatus();
}

// With what the API server would have set.
void KubeWorld::KeepObject(PodId pod, const proto::kube::Pod& given) {
  if (extenders_.empty()) return;
  proto::kube::Pod& object = pod_objects_[pod];
  object = given;
  proto::kube::ObjectMeta& meta = *object.mutable_metadata();
  if (meta.namespace_().empty()) meta.set_namespace_("default");
  if (meta.uid().empty()) meta.set_uid(pods_[pod.value()].key);
}

absl::Status KubeWorld::BuildProfiles(const KubeConfig& config) {
  for (const ProfileSpec& spec : config.profiles) {
    ASSIGN_OR_RETURN(Profile profile, Profile::MakeKube(registry_, spec, PolicyContext()));
    profiles_.push_back(std::move(profile));
  }
  return absl::OkStatus();
}

absl::Status KubeWorld::AddNode(const proto::kube::Node& node) {
  NodeObject& object = nodes_[node.metadata().name()];
  object.node = node;
  if (object.id.valid()) {
    RETURN_IF_ERROR(cluster_.UpdateNode(object.id, BoundedSpecOf(node)));
    cluster_.SetAvailable(object.id, true);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(object.id, cluster_.AddNode(BoundedSpecOf(node)));
  return absl::OkStatus();
}

absl::StatusOr<PodId> KubeWorld::Add(const proto::kube::Pod& pod) {
  const std::string key = PodKey(pod.metadata());
  if (const PodId old = FindPod(key); old.valid()) Remove(old);
  const ShapeId shape = shapes_.Intern(ShapeOfPod(pod));
  const PodId id = cluster_.AddPod(key, shape, pod.spec().priority(), SimTime());
  pods_.resize(id.value() + 1);
  pods_[id.value()].key = key;
  pods_[id.value()].nominated_node = pod.status().nominated_node_name();
  pod_by_key_[key] = id;
  cluster_.SetPodStart(id, StartOf(pod));
  KeepObject(id, pod);
  return id;
}

absl::StatusOr<PodId> KubeWorld::AddPod(const proto::kube::Pod& pod) {
  if (pod.spec().node_name().empty()) return AddPending(pod);
  ASSIGN_OR_RETURN(const PodId id, Add(pod));
  // A pod on a node that is not there is known, and takes nothing.
  const NodeId node = cluster_.FindNode(pod.spec().node_name());
  if (node.valid()) {
    cluster_.Adopt(id, node);
  } else {
    pods_[id.value()].bound_elsewhere = true;
  }
  return id;
}

absl::StatusOr<PodId> KubeWorld::AddPending(const proto::kube::Pod& pod) {
  ASSIGN_OR_RETURN(const PodId id, Add(pod));
  pods_[id.value()].waits = true;
  return id;
}

// --- Look-ups ---

const Profile* KubeWorld::profile(absl::string_view scheduler_name) const {
  for (const Profile& profile : profiles_) {
    if (profile.scheduler_name() == scheduler_name) return &profile;
  }
  return nullptr;
}

Profile* KubeWorld::ProfileOf(PodId pod) {
  const std::string& name = cluster_.pod_shape(pod).identity.scheduler_name;
  for (Profile& profile : profiles_) {
    if (profile.scheduler_name() == name) return &profile;
  }
  return nullptr;
}

PodId KubeWorld::FindPod(absl::string_view key) const {
  const auto found = pod_by_key_.find(key);
  return found == pod_by_key_.end() ? PodId() : found->second;
}

PodContext KubeWorld::ContextOf(PodId pod) const {
  return {cluster_.pod_shape_id(pod), &cluster_.pod_shape(pod), pod, SimTime()};
}

bool KubeWorld::IsPending(PodId pod) const {
  if (!pods_[pod.value()].waits || !pods_[pod.value()].counts) return false;
  const auto sleeper = pool_.find(pod);
  return sleeper == pool_.end() || sleeper->second.gated_by == nullptr;
}

const Plugin* KubeWorld::HeldBy(Profile* profile, PodId pod, std::string* message) {
  for (PreEnqueuePlugin* plugin : profile->pre_enqueues()) {
    StepResult result = plugin->PreEnqueue(ContextOf(pod));
    if (result.code == StepCode::kSuccess) continue;
    *message = std::move(result.message);
    return plugin;
  }
  return nullptr;
}

// --- Attempts ---

bool KubeWorld::IsGated(PodId pod) {
  Profile* profile = ProfileOf(pod);
  std::string message;
  return profile != nullptr && HeldBy(profile, pod, &message) != nullptr;
}

void KubeWorld::NominateAsGiven(PodId pod) {
  std::string message;
  Profile* profile = ProfileOf(pod);
  if (profile == nullptr || HeldBy(profile, pod, &message) != nullptr) return;
  // A node that is not there cannot be tried, but the pod keeps its name.
  const NodeId node = cluster_.FindNode(pods_[pod.value()].nominated_node);
  if (!node.valid()) return;
  nominator_.Nominate(pod, node);
  pods_[pod.value()].nominated_node.clear();
}

KubeAttempt KubeWorld::Attempt(PodId pod, SimTime start) {
  KubeAttempt attempt;
  pool_.erase(pod);
  Profile* profile = ProfileOf(pod);
  if (profile == nullptr) {
    attempt.outcome = KubeAttempt::Outcome::kIgnored;
    pods_[pod.value()].counts = false;
    return attempt;
  }
  if (const Plugin* gate = HeldBy(profile, pod, &attempt.message); gate != nullptr) {
    attempt.outcome = KubeAttempt::Outcome::kGated;
    attempt.rejectors = {std::string(gate->name())};
    pool_[pod] = {profile, 0, gate};
    return attempt;
  }
  if (cluster_.pod_shape(pod).identity.terminating) {
    attempt.outcome = KubeAttempt::Outcome::kDeleting;
    pods_[pod.value()].counts = false;
    return attempt;
  }
  attempt.ran_cycle = true;
  AttemptResult result =
      cycle_->Schedule(profile, ContextOf(pod), /*wants_message=*/true, &attempt.detail);
  if (result.outcome == AttemptResult::Outcome::kFound) {
    Place(pod, result.node, start, profile, &attempt);
  } else {
    Fail(pod, profile, std::move(result), &attempt);
  }
  if (attempt.outcome == KubeAttempt::Outcome::kScheduled) return attempt;
  const NodeId nominated = nominator_.NodeOf(pod);
  attempt.nominated = nominated.valid() ? node_name(nominated) : pods_[pod.value()].nominated_node;
  return attempt;
}

AttemptResult KubeWorld::Try(PodId pod) {
  return cycle_->Schedule(&profiles_.front(), ContextOf(pod), /*wants_message=*/true, nullptr);
}

FilterSurvey KubeWorld::Survey(PodId pod, absl::FunctionRef<void(const NodeStatus&)> tell) {
  return cycle_->Survey(&profiles_.front(), ContextOf(pod), tell);
}

void KubeWorld::Place(PodId pod, NodeId node, SimTime start, Profile* profile,
                      KubeAttempt* attempt) {
  // An assumed pod is nominated no longer, whatever comes.
  nominator_.Clear(pod);
  pods_[pod.value()].nominated_node.clear();
  cluster_.Adopt(pod, node);
  const PodContext context = ContextOf(pod);
  const std::vector<ReservePlugin*>& reserves = profile->reserves();
  for (ReservePlugin* plugin : reserves) {
    StepResult result = plugin->Reserve(context, cluster_, node);
    if (result.code == StepCode::kSuccess) continue;
    TakeBack(pod, node, profile);
    attempt->outcome = KubeAttempt::Outcome::kReserveFailed;
    attempt->message = std::move(result.message);
    attempt->rejectors = {std::string(plugin->name())};
    pool_[pod] = {profile, uint64_t{1} << profile->RequeueIndex(plugin), nullptr};
    return;
  }
  int64_t waits = 0;
  const absl::StatusOr<bool> bound = BindByExtenders(cycle_->extenders(), pod, node, &waits);
  if (!bound.ok()) {
    TakeBack(pod, node, profile);
    attempt->outcome = KubeAttempt::Outcome::kError;
    attempt->message = std::string(bound.status().message());
    pool_[pod] = {profile, 0, nullptr};
    return;
  }
  if (!extenders_.empty()) pod_objects_[pod].mutable_spec()->set_node_name(node_name(node));
  cluster_.SetPodStart(pod, start);
  pods_[pod.value()].waits = false;
  attempt->outcome = KubeAttempt::Outcome::kScheduled;
  attempt->chosen = node;
}

void KubeWorld::TakeBack(PodId pod, NodeId node, Profile* profile) {
  const std::vector<ReservePlugin*>& reserves = profile->reserves();
  for (auto undone = reserves.rbegin(); undone != reserves.rend(); ++undone) {
    (*undone)->Unreserve(ContextOf(pod), cluster_, node);
  }
  cluster_.Evict(pod);
}

void KubeWorld::Fail(PodId pod, Profile* profile, AttemptResult&& result, KubeAttempt* attempt) {
  const bool failed = result.outcome == AttemptResult::Outcome::kError;
  attempt->outcome = failed ? KubeAttempt::Outcome::kError : KubeAttempt::Outcome::kUnschedulable;
  attempt->message = std::move(result.message);
  attempt->post_filter = std::move(result.post_filter);
  for (size_t i = 0; i < profile->requeues().size(); ++i) {
    if ((result.rejectors >> i & 1) != 0) {
      attempt->rejectors.emplace_back(profile->requeues()[i]->name());
    }
  }
  if (result.by_extender) attempt->rejectors.emplace_back(kExtenderRejector);
  std::sort(attempt->rejectors.begin(), attempt->rejectors.end());
  pool_[pod] = {profile, result.rejectors, nullptr, result.by_extender};
  if (attempt->post_filter.code == StepCode::kSuccess && attempt->post_filter.nominated.valid()) {
    RunPreemption(pod, attempt);
  } else if (failed || !attempt->post_filter.keeps_nomination) {
    nominator_.Clear(pod);
    pods_[pod.value()].nominated_node.clear();
  }
}

void KubeWorld::RunPreemption(PodId pod, KubeAttempt* attempt) {
  const NodeId node = attempt->post_filter.nominated;
  for (const PodId victim : attempt->post_filter.victims) Remove(victim);
  for (const PodId nominee : attempt->post_filter.cleared_nominations) nominator_.Clear(nominee);
  nominator_.Nominate(pod, node);
  pods_[pod.value()].nominated_node.clear();
}

void KubeWorld::Remove(PodId pod) {
  pool_.erase(pod);
  nominator_.Clear(pod);
  if (cluster_.pod_node(pod).valid() || cluster_.pod_phase(pod) == PodPhase::kPending) {
    cluster_.Delete(pod);
  }
  pods_[pod.value()].waits = false;
  pod_objects_.erase(pod);
  pod_by_key_.erase(pods_[pod.value()].key);
}

// --- Changes ---

bool KubeWorld::IsOfInterest(const ClusterChange& change) const {
  return std::any_of(profiles_.begin(), profiles_.end(), [&change](const Profile& profile) {
    return std::any_of(profile.requeues().begin(), profile.requeues().end(),
                       [&change](const RequeuePlugin* plugin) {
                         return (RegisteredEvents(*plugin) & change.event) != 0;
                       });
  });
}

// An added or changed bound pod, unless it shrank, is told only to pods that a plugin with
// HearsOfNamespace rejected and to pods with a required affinity term that selects it.
bool KubeWorld::IsTold(const ClusterChange& change, PodId pod, const Sleeper& sleeper) const {
  constexpr uint32_t kNarrow = kPodAdded | kPodLabels | kPodGates | kPodTolerations | kPodOther;
  if (change.is_waiting_pod || (change.event & kNarrow) == 0) return true;
  const PodIdentity& changed = change.pod->identity;
  const PodShape& shape = cluster_.pod_shape(pod);
  const std::vector<RequeuePlugin*>& plugins = sleeper.profile->requeues();
  for (size_t i = 0; i < plugins.size() && changed.ns == shape.identity.ns; ++i) {
    if ((sleeper.rejectors >> i & 1) != 0 && plugins[i]->HearsOfNamespace()) return true;
  }
  Labels of_namespace;
  for (const NamespaceObject& known : cluster_.objects().namespaces) {
    if (known.name == changed.ns) of_namespace = known.labels;
  }
  const std::vector<AffinityTerm>& terms = shape.topology.affinity;
  return std::any_of(terms.begin(), terms.end(), [&](const AffinityTerm& term) {
    const bool means =
        std::binary_search(term.namespaces.begin(), term.namespaces.end(), changed.ns) ||
        Selects(term.namespace_selector, of_namespace);
    return means && Selects(term.selector, changed.labels);
  });
}

bool KubeWorld::Helps(const ClusterChange& change, PodId pod, const Sleeper& sleeper) const {
  const auto asks = [&](const RequeuePlugin& plugin) {
    return Requeues(plugin, change, ContextOf(pod), cluster_);
  };
  if (sleeper.gated_by != nullptr) {
    const auto* plugin = dynamic_cast<const RequeuePlugin*>(sleeper.gated_by);
    return plugin != nullptr && asks(*plugin);
  }
  if (sleeper.by_extender) return true;
  // After an error, whatever concerns the pod itself or any plugin helps. Where there are
  // extenders, everything does.
  if (sleeper.rejectors == 0) {
    return change.is_waiting_pod || !extenders_.empty() || IsOfInterest(change);
  }
  const std::vector<RequeuePlugin*>& plugins = sleeper.profile->requeues();
  for (size_t i = 0; i < plugins.size(); ++i) {
    if ((sleeper.rejectors >> i & 1) != 0 && asks(*plugins[i])) return true;
  }
  return false;
}

std::vector<PodId> KubeWorld::Wake(const ClusterChange& change) {
  std::vector<PodId> woken;
  for (auto it = pool_.begin(); it != pool_.end();) {
    const PodId pod = it->first;
    // An update of a waiting pod concerns that pod alone.
    const bool asked =
        change.is_waiting_pod ? change.pod_id == pod : IsTold(change, pod, it->second);
    if (!asked || !Helps(change, pod, it->second)) {
      ++it;
      continue;
    }
    std::string message;
    if (const Plugin* gate = HeldBy(it->second.profile, pod, &message); gate != nullptr) {
      it->second.gated_by = gate;
      ++it;
      continue;
    }
    woken.push_back(pod);
    it = pool_.erase(it);
  }
  return woken;
}

std::vector<PodId> KubeWorld::WakeAll(const std::vector<ClusterChange>& changes) {
  std::vector<PodId> woken;
  for (ClusterChange change : changes) {
    change.detailed = true;
    const std::vector<PodId> more = Wake(change);
    woken.insert(woken.end(), more.begin(), more.end());
  }
  std::sort(woken.begin(), woken.end(),
            [this](PodId a, PodId b) { return pods_[a.value()].key < pods_[b.value()].key; });
  return woken;
}

std::vector<PodId> KubeWorld::OnNodeAdded(const proto::kube::Node& node) {
  if (!AddNode(node).ok()) return {};
  ClusterChange change;
  change.event = kNodeAdded;
  change.node = cluster_.FindNode(node.metadata().name());
  return WakeAll({change});
}

std::vector<PodId> KubeWorld::OnNodeUpdated(const proto::kube::Node& node) {
  const NodeId id = cluster_.FindNode(node.metadata().name());
  if (!id.valid()) return {};
  const NodeSpec old_spec = cluster_.node_spec(id);
  const proto::kube::Node old = std::exchange(nodes_[node.metadata().name()].node, node);
  if (!cluster_.UpdateNode(id, BoundedSpecOf(node)).ok()) return {};
  std::vector<ClusterChange> changes;
  for (const ClusterEvent event : ChangesOfNode(old, node)) {
    ClusterChange& change = changes.emplace_back();
    change.event = event;
    change.node = id;
    change.old_node = &old_spec;
  }
  return WakeAll(changes);
}

std::vector<PodId> KubeWorld::OnNodeDeleted(const std::string& name) {
  const NodeId id = cluster_.FindNode(name);
  if (!id.valid()) return {};
  const NodeSpec old_spec = cluster_.node_spec(id);
  const absl::Span<const PodId> residents = cluster_.pods_on(id);
  // The pods' own objects go later, each by an event of its own.
  for (const PodId pod : std::vector<PodId>(residents.begin(), residents.end())) {
    cluster_.Delete(pod);
    pods_[pod.value()].bound_elsewhere = true;
  }
  cluster_.SetAvailable(id, false);
  ClusterChange change;
  change.event = kNodeRemoved;
  change.node = id;
  change.old_node = &old_spec;
  return WakeAll({change});
}

std::vector<PodId> KubeWorld::OnPodAdded(const proto::kube::Pod& pod) {
  const absl::StatusOr<PodId> id = AddPod(pod);
  if (!id.ok()) return {};
  ClusterChange change;
  change.event = kPodAdded;
  change.node = cluster_.pod_node(*id);
  change.bound_elsewhere = pods_[id->value()].bound_elsewhere;
  change.pod = &cluster_.pod_shape(*id);
  change.pod_id = *id;
  return WakeAll({change});
}

std::vector<PodId> KubeWorld::OnPodUpdated(const proto::kube::Pod& pod) {
  const PodId id = FindPod(PodKey(pod.metadata()));
  if (!id.valid()) return OnPodAdded(pod);
  // Copies, because interning moves the rows of the shape table.
  const PodShape before = cluster_.pod_shape(id);
  const PodShape after = ShapeOfPod(pod);
  cluster_.SetPodShape(id, shapes_.Intern(after));
  KeepObject(id, pod);
  std::vector<ClusterChange> changes;
  for (const ClusterEvent event : ChangesOfPod(before, after)) {
    ClusterChange& change = changes.emplace_back();
    change.event = event;
    change.node = cluster_.pod_node(id);
    change.bound_elsewhere = pods_[id.value()].bound_elsewhere;
    change.pod = &after;
    change.old_pod = &before;
    change.pod_id = id;
    change.is_waiting_pod = pods_[id.value()].waits;
  }
  return WakeAll(changes);
}

std::vector<PodId> KubeWorld::OnPodDeleted(absl::string_view key) {
  const PodId id = FindPod(key);
  const PodShape shape = cluster_.pod_shape(id);
  ClusterChange change;
  change.event = kPodRemoved;
  change.node = cluster_.pod_node(id);
  change.bound_elsewhere = pods_[id.value()].bound_elsewhere;
  change.pod = &shape;
  change.pod_id = id;
  Remove(id);
  return WakeAll({change});
}

}  // namespace drasim
