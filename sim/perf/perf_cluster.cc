#include "sim/perf/perf_cluster.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "model/device_set.h"
#include "model/event_source.h"
#include "model/kube/shape_of_pod.h"
#include "model/kube/spec_of_node.h"
#include "model/node_spec.h"
#include "model/status_macros.h"
#include "policies/builtins.h"
#include "policies/dra/claim_score.h"
#include "policies/framework/plugin_args.h"
#include "sim/core/engine_parts.h"
#include "sim/kube/object_changes.h"
#include "sim/perf/perf_claim_plugin.h"
#include "sim/scenario/kube_config.h"
#include "sim/scenario/name_pattern.h"

namespace drasim::perf {
namespace {

constexpr uint64_t kRecordsPerInstantAndPod = 1000;
constexpr char kDynamicResources[] = "DynamicResources";
constexpr char kWithClaims[] = "DynamicResourcesWithClaims";

// Puts the plugin for pods with claims in the place of the one without, and at the points where
// that has nothing to do.
void UseClaims(ProfileSpec* profile) {
  const std::vector<std::string>& filters = profile->filter;
  if (std::find(filters.begin(), filters.end(), kDynamicResources) == filters.end()) return;
  for (std::vector<std::string>* point :
       {&profile->pre_filter, &profile->filter, &profile->post_filter}) {
    std::replace(point->begin(), point->end(), std::string(kDynamicResources),
                 std::string(kWithClaims));
  }
  for (std::vector<std::string>* point :
       {&profile->pre_enqueue, &profile->reserve, &profile->pre_bind}) {
    point->emplace_back(kWithClaims);
  }
  profile->score.push_back({kWithClaims, kClaimScoreWeight});
}

std::string KeyOf(absl::string_view ns, absl::string_view name) {
  return absl::StrCat(ns, "/", name);
}

}  // namespace

// The control that dispatchers have over pods: as in a run of a scenario, but a victim is deleted
// for good.
class PerfCluster::Control : public JobControl {
 public:
  Control(PerfCluster* cluster, JobLifecycle* jobs) : cluster_(cluster), jobs_(jobs) {}

  SimTime now() const override { return jobs_->now(); }
  void StartPlaced(JobId job) override { jobs_->StartPlaced(job); }
  void AttemptWaited(SimDuration wait) override { jobs_->AttemptWaited(wait); }
  void RecordFailure(JobId job, const PlacementFailure& failure) override {
    jobs_->RecordFailure(job, failure);
  }
  void EndFailedAttempt(const PlacementFailure& failure, NodeId nominated) override {
    jobs_->EndFailedAttempt(failure, nominated);
  }
  void TurnAway(JobId job, absl::Span<const NodeId> nodes, AdmissionFailure failure) override {
    jobs_->TurnAway(job, nodes, failure);
  }
  void Drop(JobId job) override { jobs_->Drop(job); }
  void Evict(JobId job, EvictionCause, JobId) override {
    cluster_->DeletePod(job, /*preempted=*/true);
  }
  bool IsBeingEvicted(JobId job) const override { return cluster_->IsGone(job); }
  bool has_grace_period() const override { return true; }
  absl::Span<const JobId> running() const override { return jobs_->running(); }
  std::vector<JobId> starting() const override { return jobs_->starting(); }

 private:
  PerfCluster* cluster_;
  JobLifecycle* jobs_;
};

class PerfCluster::Watcher : public RecordSink {
 public:
  explicit Watcher(PerfCluster* cluster) : cluster_(cluster) {}
  void OnRecord(const Record& record, const ClusterState&) override { cluster_->OnRecord(record); }

 private:
  PerfCluster* cluster_;
};

// --- Building ---

PerfCluster::PerfCluster(const RunSpec& spec) : spec_(spec) { RegisterBuiltins(registry_); }

PerfCluster::~PerfCluster() = default;

absl::StatusOr<std::unique_ptr<PerfCluster>> PerfCluster::Make(const RunSpec& spec,
                                                               const SchedulerGates& gates) {
  std::unique_ptr<PerfCluster> cluster(new PerfCluster(spec));
  if (gates.dra.has_value()) RETURN_IF_ERROR(cluster->BuildClaims(spec, *gates.dra));
  RETURN_IF_ERROR(cluster->BuildProfiles(spec));
  cluster->BuildRoles(spec, gates);
  return cluster;
}

absl::Status PerfCluster::BuildClaims(const RunSpec& spec, const DraGates& gates) {
  ASSIGN_OR_RETURN(const PerfClaimOptions options, ClaimOptionsOf(gates, spec.seed));
  claims_ = std::make_unique<PerfClaims>(options, spec.seed, &cluster_);
  registry_.AddPlugin(kWithClaims, [this](const PolicyContext&) {
    return std::make_unique<PerfClaimPlugin>(claims_.get());
  });
  return absl::OkStatus();
}

absl::Status PerfCluster::BuildProfiles(const RunSpec& spec) {
  const SchedulerSpec& scheduler = spec.scheduler;
  if (!scheduler.kube.has_value() || !scheduler.kube->others.empty()) {
    return absl::InvalidArgumentError(
        "scheduler: expected policy kube-scheduler, without scheduler.others");
  }
  KubeConfig config = DefaultKubeConfig();
  if (!scheduler.kube->config.empty()) {
    ASSIGN_OR_RETURN(config, ReadKubeConfigFile(scheduler.kube->config));
    spec_.scheduler.kubernetes.initial_backoff = config.initial_backoff;
    spec_.scheduler.kubernetes.max_backoff = config.max_backoff;
  }
  if (!config.extenders.empty()) {
    return absl::InvalidArgumentError(
        "scheduler.kube_config: found extenders, expected none: the configurations say nothing "
        "about them");
  }
  PolicyContext context;
  context.bind_latency = spec.bind_latency;
  context.resource_scores = scheduler.resource_scores;
  std::vector<Profile*> all;
  for (ProfileSpec& wanted : config.profiles) {
    if (scheduler.preemption != PreemptionMode::kPriority) wanted.post_filter.clear();
    if (claims_ != nullptr) UseClaims(&wanted);
    if (scheduler.kube->two_terms) {
      PluginArgs& args = wanted.args["NodeResourcesBalancedAllocation"];
      auto balanced = ArgsOr<BalancedAllocationArgs>(args);
      balanced.two_terms = true;
      args = std::move(balanced);
    }
    ASSIGN_OR_RETURN(Profile profile, Profile::MakeKube(registry_, wanted, context));
    profiles_.push_back(std::make_unique<Profile>(std::move(profile)));
    all.push_back(profiles_.back().get());
  }
  ASSIGN_OR_RETURN(Profiles profiles, Profiles::Make(std::move(all), &shapes_));
  all_profiles_.emplace(std::move(profiles));
  return absl::OkStatus();
}

void PerfCluster::BuildRoles(const RunSpec& spec, const SchedulerGates& gates) {
  KubeCycleOptions options;
  options.ties = spec.scheduler.kube->ties;
  options.use_cache = spec.scheduler.cache;
  cycle_ = std::make_unique<KubeCycle>(&cluster_, &nominator_, options, spec.seed);
  Profile* const first = profiles_.front().get();
  counters_ = std::make_unique<SchedulingCycle>(first, &cluster_, std::vector<uint32_t>(),
                                                /*use_cache=*/false);
  placer_ = std::make_unique<Placer>(first, &cluster_, &jobs_, counters_.get(), &summaries_,
                                     /*remember=*/false);
  placer_->set_kube(std::vector<KubeCycle*>(profiles_.size(), cycle_.get()), &*all_profiles_);
  summaries_.SetReasons(all_profiles_->reasons(), all_profiles_->reason_kinds());
  fingerprint_ = std::make_unique<FingerprintSink>(&summaries_);
  StartReportOptions of_starts;
  of_starts.summaries = &summaries_;
  starts_ = std::make_unique<StartReport>(of_starts);
  watcher_ = std::make_unique<Watcher>(this);

  EngineParts parts;
  parts.cluster = &cluster_;
  parts.jobs = &jobs_;
  parts.profile = first;
  parts.profiles = &*all_profiles_;
  parts.placer = placer_.get();
  parts.summaries = &summaries_;
  parts.quotas = &quotas_;
  parts.sinks = {fingerprint_.get(), starts_.get(), watcher_.get()};
  EngineOptions engine = spec.engine;
  engine.mode = RunMode::kReplay;
  engine.interruption.grace_period = SimDuration();
  run_ = std::make_unique<RunContext>(std::move(parts), std::move(engine));
  scheduling_ = std::make_unique<SchedulingLoop>(run_.get());
  lifecycle_ = std::make_unique<JobLifecycle>(run_.get(), scheduling_.get());
  control_ = std::make_unique<Control>(this, lifecycle_.get());
  cycle_->set_jobs(&jobs_, control_.get());

  DispatchParts dispatch;
  dispatch.cluster = &cluster_;
  dispatch.jobs = &jobs_;
  dispatch.placer = placer_.get();
  dispatch.nominator = &nominator_;
  dispatch.profile = first;
  dispatch.profiles = &*all_profiles_;
  dispatch.summaries = &summaries_;
  dispatch.quotas = &quotas_;
  dispatch.control = control_.get();
  KubernetesQueueOptions queue = spec_.scheduler.kubernetes;
  queue.queueing_hints = gates.queueing_hints;
  auto dispatcher = std::make_unique<KubernetesDispatcher>(dispatch, queue, spec.seed);
  dispatcher_ = dispatcher.get();
  scheduling_->SetDispatcher(std::move(dispatcher));
  signals_ = std::make_unique<PodSignals>(run_.get(), scheduling_.get(), lifecycle_.get());
  if (claims_ != nullptr) claims_->Start(run_.get(), signals_.get(), gates.queueing_hints);
}

// --- Nodes ---

NodeSpec PerfCluster::SpecFor(const proto::kube::Node& node) const {
  NodeSpec spec = SpecOfNode(node);
  if (claims_ == nullptr) return spec;
  for (const std::string& resource : claims_->served()) {
    const bool reported = std::any_of(spec.extended.begin(), spec.extended.end(),
                                      [&](const auto& one) { return one.first == resource; });
    if (!reported) spec.extended.emplace_back(resource, 0);
  }
  return spec;
}

absl::Status PerfCluster::AddNode(std::shared_ptr<const proto::kube::Node> node) {
  NodeEntry& entry = nodes_[node->metadata().name()];
  if (entry.present) {
    return absl::AlreadyExistsError(
        absl::StrCat("there is a node '", node->metadata().name(), "' already"));
  }
  const NodeSpec spec = SpecFor(*node);
  for (const auto& [resource, amount] : spec.extended) extended_.insert(resource);
  if (extended_.size() > kMaxExtendedNames) {
    return absl::UnimplementedError(
        absl::StrCat("more than ", kMaxExtendedNames, " extended resources in a cluster"));
  }
  if (entry.id.valid()) {
    RETURN_IF_ERROR(cluster_.UpdateNode(entry.id, spec));
    cluster_.SetAvailable(entry.id, true);
  } else {
    ASSIGN_OR_RETURN(entry.id, cluster_.AddNode(spec));
  }
  entry.object = std::move(node);
  entry.present = true;
  if (claims_ != nullptr) {
    claims_->PutNode(entry.id, *entry.object);
    claims_->ServeResources();
  }
  run_->Emit(RecordKind::kNodeChanged, PodId(), entry.id, DeviceSet(),
             static_cast<uint32_t>(NodeChangeKind::kAvailable));
  scheduling_->Notify(ClusterChange{.event = kNodeAdded, .node = entry.id});
  scheduling_->Wake();
  return absl::OkStatus();
}

absl::Status PerfCluster::UpdateNode(std::shared_ptr<const proto::kube::Node> node) {
  const auto found = nodes_.find(node->metadata().name());
  if (found == nodes_.end() || !found->second.present) {
    return absl::NotFoundError(absl::StrCat("there is no node '", node->metadata().name(), "'"));
  }
  NodeEntry& entry = found->second;
  const NodeSpec before = cluster_.node_spec(entry.id);
  const std::shared_ptr<const proto::kube::Node> old = std::exchange(entry.object, std::move(node));
  RETURN_IF_ERROR(cluster_.UpdateNode(entry.id, SpecFor(*entry.object)));
  if (claims_ != nullptr) claims_->PutNode(entry.id, *entry.object);
  for (const ClusterEvent event : ChangesOfNode(*old, *entry.object)) {
    ClusterChange change;
    change.event = event;
    change.node = entry.id;
    change.old_node = &before;
    change.detailed = true;
    scheduling_->Notify(change);
  }
  scheduling_->Wake();
  return absl::OkStatus();
}

absl::Status PerfCluster::DeleteNode(absl::string_view name) {
  const auto found = nodes_.find(name);
  if (found == nodes_.end() || !found->second.present) {
    return absl::NotFoundError(absl::StrCat("there is no node '", name, "'"));
  }
  found->second.present = false;
  const NodeId node = found->second.id;
  const NodeSpec before = cluster_.node_spec(node);
  lifecycle_->EvictFrom(node, EvictionCause::kNodeLost);
  for (const JobId lost : std::exchange(newly_lost_, {})) ForgetPod(lost);
  cluster_.SetAvailable(node, false);
  run_->Emit(RecordKind::kNodeChanged, PodId(), node, DeviceSet(),
             static_cast<uint32_t>(NodeChangeKind::kUnavailable));
  scheduling_->dispatcher().OnNodeLost(node);
  ClusterChange change;
  change.event = kNodeRemoved;
  change.node = node;
  change.old_node = &before;
  change.detailed = true;
  scheduling_->Notify(change);
  scheduling_->Wake();
  return absl::OkStatus();
}

void PerfCluster::SetObjects(ClusterObjects objects, bool volumes) {
  cluster_.SetObjects(std::move(objects));
  if (!volumes) return;
  scheduling_->Notify(ClusterChange{.event = kVolumeChanged});
  scheduling_->Wake();
}

// --- Structured DRA ---

absl::Status PerfCluster::AddDraObject(const proto::kube::Object& object) {
  const size_t served = claims_->served().size();
  RETURN_IF_ERROR(claims_->Add(object));
  if (claims_->served().size() > served && !nodes_.empty()) {
    // One node with a column gives it to all.
    const NodeEntry& entry = nodes_.begin()->second;
    RETURN_IF_ERROR(cluster_.UpdateNode(entry.id, SpecFor(*entry.object)));
    claims_->ServeResources();
  }
  DeliverClaims();
  return absl::OkStatus();
}

void PerfCluster::AddDriver(const std::string& driver, const std::string& nodes, int64_t devices) {
  for (const auto& [name, entry] : nodes_) {
    if (!entry.present || !MatchesPattern(nodes, name)) continue;
    claims_->PublishDevices(driver, entry.id, devices);
  }
  DeliverClaims();
}

absl::Status PerfCluster::AllocateClaims(const std::string& ns) {
  RETURN_IF_ERROR(claims_->Allocate(ns));
  DeliverClaims();
  return absl::OkStatus();
}

bool PerfCluster::SetCondition(const std::string& ns, const std::string& type,
                               const std::string& status) {
  const bool set = claims_->SetCondition(ns, type, status);
  DeliverClaims();
  return set;
}

void PerfCluster::DeliverClaims() {
  if (claims_ != nullptr) claims_->Deliver();
}

void PerfCluster::ForgetPod(JobId job) {
  if (claims_ == nullptr) return;
  claims_->RemovePod(PodOf(job));
  claims_->Deliver();
}

// --- Pods ---

absl::StatusOr<JobId> PerfCluster::AddPod(const proto::kube::Pod& pod) {
  last_entry_ = PodEntry();
  // Kubernetes' default is 30 s.
  last_entry_.stays = !pod.spec().has_termination_grace_period_seconds() ||
                      pod.spec().termination_grace_period_seconds() > 0;
  last_entry_.finalized = pod.metadata().finalizers_size() > 0;
  last_shape_ = shapes_.Intern(ShapeOfPod(pod));
  last_priority_ = pod.spec().priority();
  if (claims_ != nullptr) last_pod_ = pod;
  return AddAnother(pod.metadata().namespace_(), pod.metadata().name());
}

absl::StatusOr<JobId> PerfCluster::AddAnother(absl::string_view ns, absl::string_view name) {
  JobArrival arrival;
  arrival.name = KeyOf(ns, name);
  arrival.shape = last_shape_;
  arrival.tenant = std::string(ns);
  arrival.priority = last_priority_;
  arrival.time = run_->now();
  arrival.recreated = false;
  const auto [known, is_new] = pod_by_name_.try_emplace(arrival.name, JobId());
  if (!is_new && !IsGone(known->second)) {
    return absl::AlreadyExistsError(absl::StrCat("there is a pod '", arrival.name, "' already"));
  }
  const PodId pod = cluster_.AddPod(arrival.name, last_shape_, last_priority_, run_->now());
  const JobId job = jobs_.Add(arrival, pod, shapes_);
  known->second = job;
  lifecycle_->AddJob(job);
  pods_.push_back(last_entry_);
  run_->Emit(RecordKind::kPodArrived, pod, NodeId(), DeviceSet(), last_shape_.value());
  if (claims_ != nullptr) {
    proto::kube::Pod object = last_pod_;
    object.mutable_metadata()->set_namespace_(std::string(ns));
    object.mutable_metadata()->set_name(std::string(name));
    RETURN_IF_ERROR(claims_->AddPod(pod, std::move(object)));
  }
  dispatcher_->Add(job);
  DeliverClaims();
  scheduling_->Wake();
  return job;
}

absl::Status PerfCluster::UpdatePod(const proto::kube::Pod& pod, bool only_requests) {
  const std::string key = KeyOf(pod.metadata().namespace_(), pod.metadata().name());
  const auto found = pod_by_name_.find(key);
  if (found == pod_by_name_.end() || IsGone(found->second)) {
    return absl::NotFoundError(absl::StrCat("there is no pod '", key, "'"));
  }
  const JobId job = found->second;
  // Copies, because interning moves the rows of the shape table.
  const PodShape before = ShapeOf(job);
  PodShape after = ShapeOfPod(pod);
  if (only_requests) {
    PodShape resized = before;
    resized.request = std::move(after.request);
    resized.scored = after.scored;
    after = std::move(resized);
  }
  cluster_.SetPodShape(PodOf(job), shapes_.Intern(after));
  NotifyOfPod(job, before, after);
  return absl::OkStatus();
}

void PerfCluster::NotifyOfPod(JobId job, const PodShape& before, const PodShape& after) {
  const bool waits = jobs_.row(job).state == JobState::kWaiting;
  std::vector<ClusterChange> changes;
  for (const ClusterEvent event : ChangesOfPod(before, after)) {
    ClusterChange& change = changes.emplace_back();
    change.event = event;
    change.node = cluster_.pod_node(PodOf(job));
    change.pod = &after;
    change.old_pod = &before;
    change.pod_id = PodOf(job);
    change.is_waiting_pod = waits;
    change.detailed = true;
  }
  if (waits) {
    dispatcher_->OnPodUpdate(job, changes);
  } else {
    for (const ClusterChange& change : changes) scheduling_->Notify(change);
  }
  scheduling_->Wake();
}

void PerfCluster::DeletePodNow(JobId job) {
  pods_[job.value()].stays = false;
  DeletePod(job);
}

void PerfCluster::DeletePod(JobId job, bool preempted) {
  PodEntry& entry = pods_[job.value()];
  if (entry.gone) return;
  entry.gone = true;
  Close(job);
  const JobState state = jobs_.row(job).state;
  const bool holds = state == JobState::kStarting || state == JobState::kRunning;
  if (!entry.finalized && !(entry.stays && holds)) {
    lifecycle_->DeleteOwner(job);
    ForgetPod(job);
    return scheduling_->Wake();
  }
  if (state == JobState::kWaiting) dispatcher_->Remove(job);
  PodShape shape = ShapeOf(job);
  shape.identity.terminating = true;
  shape.identity.preempted = preempted;
  cluster_.SetPodShape(PodOf(job), shapes_.Intern(shape));
}

const PodShape& PerfCluster::ShapeOf(JobId job) const { return cluster_.pod_shape(PodOf(job)); }

bool PerfCluster::IsAttempted(JobId job) const {
  const PodEntry& entry = pods_[job.value()];
  return entry.attempted || entry.bound || !ShapeOf(job).constraints.gates.empty();
}

std::string PerfCluster::MessageOf(JobId job) {
  if (!ShapeOf(job).constraints.gates.empty()) return "waits for its scheduling gates";
  if (jobs_.row(job).state == JobState::kStarting) return "has a node, and waits for its devices";
  if (claims_ == nullptr) return placer_->MessageNow(job, run_->now());
  claims_->set_only_asks(true);
  std::string message = placer_->MessageNow(job, run_->now());
  claims_->set_only_asks(false);
  return message;
}

// --- Waiting ---

bool PerfCluster::IsClosed(JobId job) const {
  return IsGone(job) || IsBound(job) || (waits_for_attempts_ && IsAttempted(job));
}

void PerfCluster::WaitFor(const std::vector<JobId>& pods, bool attempted) {
  for (const JobId job : waited_for_) pods_[job.value()].waited_for = false;
  waits_for_attempts_ = attempted;
  open_ = 0;
  waited_for_.clear();
  for (const JobId job : pods) {
    if (IsClosed(job)) continue;
    pods_[job.value()].waited_for = true;
    waited_for_.push_back(job);
    ++open_;
  }
}

std::vector<JobId> PerfCluster::OpenPods() const {
  std::vector<JobId> open;
  for (const JobId job : waited_for_) {
    if (pods_[job.value()].waited_for) open.push_back(job);
  }
  return open;
}

void PerfCluster::Close(JobId job) {
  PodEntry& entry = pods_[job.value()];
  if (!std::exchange(entry.waited_for, false)) return;
  --open_;
}

void PerfCluster::OnRecord(const Record& record) {
  if (!record.pod.valid()) return;
  const JobId job = jobs_.job_of(record.pod);
  // The record of its arrival comes before its entry is of use.
  PodEntry& entry = pods_[job.value()];
  switch (record.kind) {
    case RecordKind::kPodBound:
      entry.bound = true;
      entry.bound_at = record.time;
      ++bound_;
      newly_bound_.push_back(job);
      if (claims_ != nullptr) claims_->OnBound(record.pod);
      return Close(job);
    case RecordKind::kAttemptFailed:
      entry.attempted = true;
      if (waits_for_attempts_) Close(job);
      return;
    case RecordKind::kPodFailed:
      entry.gone = true;
      if (claims_ != nullptr) newly_lost_.push_back(job);
      return Close(job);
    default:
      return;
  }
}

// --- Time ---

std::optional<SimTime> PerfCluster::NextEvent() const {
  if (run_->events().empty()) return std::nullopt;
  return run_->events().Top().time;
}

void PerfCluster::AdvanceTo(SimTime time) {
  if (time > run_->now()) run_->BeginInstant(time);
}

absl::Status PerfCluster::HandleEvent() {
  const Event event = run_->events().Pop();
  const bool held_back = scheduling_->AttemptsSpent();
  AdvanceTo(event.time);
  switch (event.kind) {
    case EventKind::kTimer:
      if (event.b == kDispatcherTimer) {
        scheduling_->OnTimer();
      } else if (event.b == kNodeAgentTimer) {
        claims_->OnTimer(PodId(event.a), event.c);
      } else {
        lifecycle_->OnEvent(event);
      }
      scheduling_->Wake();
      break;
    case EventKind::kScheduleNext:
      scheduling_->OnAttempt();
      break;
    default:
      lifecycle_->OnEvent(event);
      break;
  }
  if (held_back) scheduling_->Wake();
  TellOfBoundPods();
  DeliverClaims();
  if (!run_->failure().ok()) return run_->failure();
  const uint64_t allowed = run_->options().max_records_per_instant;
  const uint64_t at_instant = run_->records_at_instant();
  if (at_instant > allowed && at_instant - allowed > kRecordsPerInstantAndPod * jobs_.size()) {
    return absl::AbortedError("time stands still: give attempts some, with timing.schedule");
  }
  return absl::OkStatus();
}

void PerfCluster::TellOfBoundPods() {
  if (newly_bound_.empty()) return;
  std::vector<JobId> bound;
  bound.swap(newly_bound_);
  for (const JobId job : bound) {
    ClusterChange change;
    change.event = kPodAdded;
    change.node = cluster_.pod_node(PodOf(job));
    if (!change.node.valid()) continue;  // it has left already
    change.pod = &ShapeOf(job);
    change.pod_id = PodOf(job);
    change.detailed = true;
    scheduling_->Notify(change);
  }
  scheduling_->Wake();
  bound.clear();
  if (newly_bound_.empty()) newly_bound_.swap(bound);  // for its memory
}

WorkSteps PerfCluster::work() const {
  WorkSteps steps;
  steps.search = counters_->work();
  steps.search += cycle_->work();
  steps.queue_operations = dispatcher_->queue_operations();
  AddProfileCalls(*all_profiles_, &steps);
  return steps;
}

void PerfCluster::Finish() { run_->Emit(RecordKind::kRunEnded, PodId(), NodeId(), DeviceSet(), 0); }

}  // namespace drasim::perf
