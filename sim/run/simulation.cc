#include "sim/run/simulation.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/key_error.h"
#include "model/number_text.h"
#include "model/random.h"
#include "model/status_macros.h"
#include "model/text/shown_text.h"
#include "policies/framework/plugin_args.h"
#include "policies/plugins/node_resources_fit.h"
#include "policies/queues/estimates.h"
#include "sim/core/batch_dispatcher.h"
#include "sim/core/decided_dispatcher.h"
#include "sim/core/extender_binder.h"
#include "sim/core/fill_dispatcher.h"
#include "sim/core/kubernetes_dispatcher.h"
#include "sim/core/loss_dispatcher.h"
#include "sim/extender/http_channel.h"
#include "sim/run/claim_deletions.h"
#include "sim/run/cluster_manifests.h"
#include "sim/run/input_files.h"
#include "sim/run/manifests.h"
#include "sim/run/node_events.h"
#include "sim/run/node_failures.h"
#include "sim/run/quota_table.h"
#include "sim/run/rule_filters.h"
#include "sim/scenario/kube_config.h"
#include "sim/scenario/name_pattern.h"
#include "traces/byte_source.h"
#include "traces/shaping.h"

namespace drasim {

namespace {

// Multiplies the nodes. Changes of a node in the trace apply to its copies, too.
absl::Status ScaleNodeInput(double scale, NodeInput* input) {
  std::vector<NodeSpec>& nodes = input->nodes;
  const size_t size = nodes.size();
  ASSIGN_OR_RETURN(nodes, MultiplyCluster(std::move(nodes), scale));
  if (input->changes.empty() || nodes.size() <= size) return absl::OkStatus();
  absl::flat_hash_map<std::string, std::vector<std::string>> copies;
  for (size_t i = size; i < nodes.size(); ++i) {
    copies[nodes[i % size].name].push_back(nodes[i].name);
  }
  std::vector<NodeChange> changes;
  for (const NodeChange& change : input->changes) {
    changes.push_back(change);
    const auto it = copies.find(change.node);
    if (it == copies.end()) continue;
    for (const std::string& copy : it->second) {
      changes.push_back(change);
      changes.back().node = copy;
    }
  }
  input->changes = std::move(changes);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Simulation>> Simulation::Build(RunSpec spec) {
  std::unique_ptr<Simulation> sim(new Simulation(std::move(spec)));
  if (sim->spec_.dra.has_value()) {
    sim->dra_ = std::make_unique<DraPlan>(&*sim->spec_.dra);
    sim->devices_.set_dra(sim->dra_.get());
    // Structured DRA names requests for extended resources by the pod's containers.
    if (sim->spec_.dra->structured.has_value()) sim->spec_.KeepObjects();
  }
  for (auto step :
       {&Simulation::ReadKubeScheduler, &Simulation::ReadCluster, &Simulation::ReadWorkload,
        &Simulation::LowerWorkload, &Simulation::BuildCluster, &Simulation::ArrangeWorkload,
        &Simulation::AddFailures, &Simulation::MakeProfile}) {
    RETURN_IF_ERROR(((*sim).*step)());
  }
  return sim;
}

absl::Status Simulation::ReadKubeScheduler() {
  SchedulerSpec& scheduler = spec_.scheduler;
  if (!scheduler.kube.has_value()) return absl::OkStatus();
  KubeConfig config = DefaultKubeConfig();
  if (const std::string& file = scheduler.kube->config; !file.empty()) {
    ASSIGN_OR_RETURN(config, ReadKubeConfigFile(file));
    scheduler.kubernetes.initial_backoff = config.initial_backoff;
    scheduler.kubernetes.max_backoff = config.max_backoff;
  }
  for (const ExtenderSpec& extender : config.extenders) {
    const absl::Status supported = CheckTls(extender);
    if (!supported.ok()) return KeyError("scheduler.kube_config", supported.message());
  }
  const bool any_scores = absl::c_any_of(config.extenders, [](const ExtenderSpec& extender) {
    return !extender.prioritize_verb.empty();
  });
  if (any_scores && scheduler.kube->ties == KubeCycleOptions::Ties::kHeapRoot) {
    return KeyError("scheduler.release",
                    "expected 1.34 with extenders that prioritize: later releases draw lots among "
                    "the nodes that have such scores");
  }
  if (!config.extenders.empty()) {
    if (!scheduler.kube->others.empty()) {
      return KeyError("scheduler.kube_config",
                      "found extenders, expected none beside scheduler.others");
    }
    extenders_ = std::make_unique<RunExtenders>(std::exchange(config.extenders, {}));
    spec_.KeepObjects();  // extenders get them
  }
  RETURN_IF_ERROR(KeepKubeConfig("scheduler.kube_config", 0, std::move(config)));
  for (const KubeSchedulerSpec::Other& given : scheduler.kube->others) {
    ASSIGN_OR_RETURN(config, ReadKubeConfigFile(given.config));
    auto other = std::make_unique<OtherScheduler>();
    other->queue = scheduler.kubernetes;
    other->queue.initial_backoff = config.initial_backoff;
    other->queue.max_backoff = config.max_backoff;
    other->latency = given.latency.value_or(spec_.engine.attempt_latency);
    const std::string key = absl::StrCat("scheduler.others.", others_.size(), ".kube_config");
    others_.push_back(std::move(other));
    RETURN_IF_ERROR(KeepKubeConfig(key, others_.size(), std::move(config)));
  }
  return absl::OkStatus();
}

// Takes the profiles of scheduler number `scheduler`.
absl::Status Simulation::KeepKubeConfig(const std::string& key, size_t scheduler,
                                        KubeConfig config) {
  if (!config.extenders.empty()) {
    return KeyError(key, "found extenders, expected none beside scheduler.others");
  }
  if (!config.without_effect.empty()) {
    warnings_.push_back(absl::StrCat(
        key, ": without effect in a simulation: ", absl::StrJoin(config.without_effect, ", ")));
  }
  for (ProfileSpec& profile : config.profiles) {
    for (const ProfileSpec& known : kube_profiles_) {
      if (known.scheduler_name != profile.scheduler_name) continue;
      return KeyError(key, absl::StrCat("found the profile '", profile.scheduler_name,
                                        "', which another scheduler has, expected names of its "
                                        "own: pods choose by them"));
    }
    if (spec_.scheduler.preemption != PreemptionMode::kPriority) profile.post_filter.clear();
    if (spec_.scheduler.kube->two_terms) {
      PluginArgs& args = profile.args["NodeResourcesBalancedAllocation"];
      auto balanced = ArgsOr<BalancedAllocationArgs>(args);
      balanced.two_terms = true;
      args = std::move(balanced);
    }
    kube_profiles_.push_back(std::move(profile));
    scheduler_of_profile_.push_back(scheduler);
  }
  return absl::OkStatus();
}

// The cycles, views and checks of the schedulers beside the first.
absl::Status Simulation::MakeOtherSchedulers(const PolicyContext& context) {
  if (others_.empty()) return absl::OkStatus();
  std::vector<std::unique_ptr<Plugin>> filters;
  std::vector<absl::string_view> names = {"NodeResourcesFit", "GpuShareFit", "NodePorts"};
  if (context.mig) names.push_back("MigFit");
  for (const absl::string_view name : names) {
    ASSIGN_OR_RETURN(std::unique_ptr<Plugin> plugin, BuiltinRegistry().MakePlugin(name, context));
    filters.push_back(std::move(plugin));
  }
  room_ = std::make_unique<RoomCheck>(std::move(filters));
  KubeCycleOptions options;
  options.ties = spec_.scheduler.kube->ties;
  options.use_cache = spec_.scheduler.cache;
  for (size_t i = 0; i < others_.size(); ++i) {
    Random seeds(spec_.seed, absl::StrCat("scheduler ", i + 1));
    others_[i]->cycle =
        std::make_unique<KubeCycle>(cluster_.get(), &others_[i]->nominator, options, seeds.U64());
  }
  return absl::OkStatus();
}

WorkCounters Simulation::work() const {
  WorkCounters work = cycle().work();
  if (kube_cycle_ != nullptr) work += kube_cycle_->work();
  for (const std::unique_ptr<OtherScheduler>& other : others_) work += other->cycle->work();
  return work;
}

// By profile.
std::vector<KubeCycle*> Simulation::KubeCycles() const {
  std::vector<KubeCycle*> cycles;
  for (const size_t scheduler : scheduler_of_profile_) {
    cycles.push_back(scheduler == 0 ? kube_cycle_.get() : others_[scheduler - 1]->cycle.get());
  }
  return cycles;
}

std::unique_ptr<Dispatcher> Simulation::ShareCluster(DispatchParts parts) {
  std::vector<std::unique_ptr<KubernetesDispatcher>> schedulers;
  parts.room = room_.get();
  parts.decision_latency = spec_.engine.attempt_latency;
  schedulers.push_back(
      std::make_unique<KubernetesDispatcher>(parts, spec_.scheduler.kubernetes, spec_.seed));
  for (const std::unique_ptr<OtherScheduler>& other : others_) {
    const auto first =
        std::find(scheduler_of_profile_.begin(), scheduler_of_profile_.end(), schedulers.size());
    parts.profile = &profiles_->at(static_cast<size_t>(first - scheduler_of_profile_.begin()));
    parts.nominator = &other->nominator;
    parts.decision_latency = other->latency;
    other->cycle->set_jobs(&jobs_, parts.control);
    schedulers.push_back(std::make_unique<KubernetesDispatcher>(parts, other->queue, spec_.seed));
  }
  auto shared = std::make_unique<SharedClusterDispatcher>(
      std::move(schedulers), scheduler_of_profile_, *profiles_, cluster_.get(), &jobs_);
  shared_ = shared.get();
  return shared;
}

// kube-scheduler knows nothing about devices of the direct front end, nor about reasons of drasim's
// own to keep a pod back.
absl::StatusOr<Profile> Simulation::MakeKubeProfile(const ProfileSpec& spec,
                                                    const PolicyContext& context) const {
  ASSIGN_OR_RETURN(Profile profile, Profile::MakeKube(BuiltinRegistry(), spec, context,
                                                      spec_.scheduler.profile.device_chooser));
  const bool counts_amounts =
      std::any_of(profile.filters().begin(), profile.filters().end(), [](const auto& filter) {
        return dynamic_cast<const NodeResourcesFit*>(filter.plugin) != nullptr;
      });
  if (!counts_amounts) {
    return KeyError("scheduler.kube_config",
                    absl::StrCat("found the profile '", profile.scheduler_name(),
                                 "' without the Filter of NodeResourcesFit, expected it enabled: "
                                 "a simulation overcommits no node"));
  }
  std::vector<absl::string_view> names = {"GpuShareFit", "GroupLimit"};
  if (context.mig) names.push_back("MigFit");
  if (context.holds) names.push_back("PodHold");
  for (const absl::string_view name : names) {
    ASSIGN_OR_RETURN(std::unique_ptr<Plugin> plugin, BuiltinRegistry().MakePlugin(name, context));
    profile.AddPlugin(std::move(plugin));
  }
  if (extenders_ != nullptr) {
    // A fill has no clock.
    const SimDuration latency =
        spec_.is_replay() ? spec_.scheduler.kube->extender_latency : SimDuration();
    profile.AddPlugin(std::make_unique<ExtenderBinder>(&extenders_->list(), latency),
                      /*first=*/true);
  }
  return profile;
}

absl::Status Simulation::ReadCluster() {
  ASSIGN_OR_RETURN(node_input_, ReadNodeInput(spec_.cluster.nodes));
  spec_.SetNodesSha256(node_input_.sha256);
  if (spec_.cluster.scale.has_value()) {
    RETURN_IF_ERROR(ScaleNodeInput(*spec_.cluster.scale, &node_input_));
  }
  std::vector<NodeSpec>& nodes = node_input_.nodes;
  RETURN_IF_ERROR(devices_.DescribeNodes(&nodes));
  if (spec_.order != JobOrder::kTrace) {
    std::sort(nodes.begin(), nodes.end(),
              [](const NodeSpec& a, const NodeSpec& b) { return a.name < b.name; });
  }
  // Shapes refer to models, so models are interned first. Nodes are added after the workload is
  // read, because it may determine their number.
  for (const NodeSpec& node : nodes) {
    if (node.gpu_count <= 0) continue;
    for (size_t gpu = 0; gpu < std::max(node.gpu_models.size(), size_t{1}); ++gpu) {
      if (auto model = models_.Intern(GpuModelOf(node, gpu)); !model.ok()) {
        return KeyError("cluster", model.status().message());
      }
    }
  }
  return devices_.AttachTables(&models_);
}

// A check after reading the inputs, because manifests have claims, too.
absl::Status Simulation::CheckClaims(const std::vector<JobArrival>& jobs) const {
  if (dra_ != nullptr) return absl::OkStatus();
  for (const JobArrival& job : jobs) {
    const PodShape& shape = shapes_->row(job.shape);
    if (shape.claims.empty()) continue;
    return KeyError("workload", absl::StrCat("the pods of '", job.name, "' claim resources ('",
                                             shape.claims[0].name,
                                             "'), which only front_end.kind: dra-classic or "
                                             "dra-structured serves; the device plugin "
                                             "knows amounts of extended resources alone"));
  }
  return absl::OkStatus();
}

absl::Status Simulation::LowerWorkload() {
  std::vector<JobArrival> jobs = workload_.TakeRows();
  RETURN_IF_ERROR(CheckClaims(jobs));
  if (dra_ != nullptr) standing_.PinToNodes(shapes_.get());
  standing_.AppendTo(&jobs);
  RETURN_IF_ERROR(devices_.LowerJobs(node_input_.nodes, shapes_.get(), &jobs));
  standing_.TakeFrom(&jobs);
  HoldPodsOfOtherSchedulers(&jobs);
  workload_ = Workload::FromJobs(std::move(jobs));
  WarnAboutUnknownModels();
  return absl::OkStatus();
}

// Nobody tries pods whose scheduler is not there.
void Simulation::HoldPodsOfOtherSchedulers(std::vector<JobArrival>* jobs) {
  if (spec_.decisions != nullptr) return;  // some scheduler has decided
  std::vector<std::string> names;
  if (!spec_.scheduler.kube.has_value()) names.emplace_back("default-scheduler");
  for (const ProfileSpec& profile : kube_profiles_) names.push_back(profile.scheduler_name);
  int64_t pods = 0;
  std::set<std::string> unknown;
  const auto hold = [&](ShapeId* id, int64_t count) {
    const PodShape& shape = shapes_->row(*id);
    const std::string& name = shape.identity.scheduler_name;
    if (name.empty() || FindProfile(names, name).has_value()) return;
    pods += count;
    unknown.insert(name);
    if (shape.constraints.hold != PodHold::kNone) return;
    PodShape held = shape;
    held.constraints.hold = PodHold::kScheduler;
    *id = shapes_->Intern(held);
  };
  for (JobArrival& job : *jobs) {
    hold(&job.shape, job.pods);
    for (PodGroup& group : job.more_pods) hold(&group.shape, group.pods);
  }
  if (pods == 0) return;
  warnings_.push_back(
      absl::StrCat(pods, " pod(s) name a scheduler that is not there, and are never tried: ",
                   ListText({unknown.begin(), unknown.end()}), "; there ",
                   names.size() == 1 ? "is " : "are ", ListText(names)));
}

absl::Status Simulation::BuildCluster() {
  std::vector<NodeSpec>& nodes = node_input_.nodes;
  if (spec_.workload.target_load_percent.has_value()) {
    const LoadEstimate load = MeanLoad(workload_.rows(), *shapes_);
    ASSIGN_OR_RETURN(nodes,
                     ScaleCluster(std::move(nodes), load, *spec_.workload.target_load_percent));
  }
  // The trace's own time has no meaning in a stream.
  for (NodeSpec& node : nodes) node.absent = node.absent && !spec_.is_stream();
  std::vector<std::string> configs;
  ASSIGN_OR_RETURN(std::vector<NodeTransition> transitions,
                   MakeNodeTransitions(spec_.cluster.events, &nodes, &configs));
  RETURN_IF_ERROR(devices_.LayOut(models_, *shapes_, workload_.rows(), configs, &nodes));
  node_transitions_ = std::move(transitions);
  CountWantedResources(&nodes);
  for (NodeSpec& node : nodes) {
    // A fill has no clock: all nodes exist from the start.
    if (!spec_.is_replay()) node.absent = false;
    absl::StatusOr<NodeId> added = cluster_->AddNode(node);
    if (!added.ok()) {
      return KeyError("cluster", added.status().message());
    }
  }
  AddTraceTransitions();
  AddClusterObjects();
  standing_.FindNodes(*cluster_);
  ASSIGN_OR_RETURN(quotas_, MakeQuotas(spec_.quotas, origin_ns_));
  return absl::OkStatus();
}

// Adds columns for requested resources that no node has, so failures can name them: the last node
// reports 0 of each. Columns of existing resources keep their positions.
void Simulation::CountWantedResources(std::vector<NodeSpec>* nodes) {
  std::set<std::string> reported;
  for (const NodeSpec& node : *nodes) {
    for (const auto& [name, amount] : node.extended) reported.insert(name);
  }
  std::vector<bool> in_use(shapes_->size());
  for (const JobArrival& job : workload_.rows()) {
    in_use[job.shape.value()] = true;
    for (const PodGroup& group : job.more_pods) in_use[group.shape.value()] = true;
  }
  std::set<std::string> unreported;
  for (const JobArrival& job : standing_.jobs()) in_use[job.shape.value()] = true;
  for (size_t s = 0; s < in_use.size(); ++s) {
    if (!in_use[s]) continue;
    for (const auto& [name, amount] : shapes_->row(ShapeId(s)).request.extended) {
      if (reported.count(name) == 0) unreported.insert(name);
    }
  }
  for (const std::string& name : unreported) {
    if (dra_ == nullptr || !dra_->Serves(name)) unreported_resources_.push_back(name);
  }
  if (nodes->empty()) return;
  size_t room = kMaxExtendedNames - std::min(kMaxExtendedNames, reported.size());
  std::vector<std::pair<std::string, int64_t>>& counted = nodes->back().extended;
  for (const std::string& name : unreported) {
    if (room-- == 0) break;
    counted.emplace_back(name, 0);
  }
  std::sort(counted.begin(), counted.end());
}

// Gives the plugins the objects beside nodes and pods.
void Simulation::AddClusterObjects() {
  std::vector<std::shared_ptr<const proto::kube::Object>> context;
  if (node_input_.snapshot != nullptr) context = node_input_.snapshot->context;
  context.insert(context.end(), context_.begin(), context_.end());
  if (!context.empty()) cluster_->SetObjects(ContextObjects(context));
}

// Adds the transitions of nodes in the trace's node list.
void Simulation::AddTraceTransitions() {
  if (!spec_.is_replay() || spec_.is_stream()) return;
  absl::flat_hash_map<std::string, NodeId> ids;
  for (size_t n = 0; n < cluster_->node_count(); ++n) {
    ids.emplace(cluster_->node_spec(NodeId(n)).name, NodeId(n));
  }
  for (const NodeChange& change : node_input_.changes) {
    const auto it = ids.find(change.node);
    if (it == ids.end()) continue;  // the cluster was cut
    const SimTime at(std::max<int64_t>(0, change.time.ns() - origin_ns_));
    node_transitions_.push_back(
        {at,
         it->second,
         change.added ? NodeTransition::Action::kAdd : NodeTransition::Action::kRemove,
         {}});
  }
  std::stable_sort(node_transitions_.begin(), node_transitions_.end(),
                   [](const NodeTransition& a, const NodeTransition& b) { return a.at < b.at; });
}

absl::Status Simulation::ReadWorkload() {
  const WorkloadSpec& spec = spec_.workload;
  ASSIGN_OR_RETURN(const WorkloadInput input,
                   OpenWorkloadInput(spec, spec_.seed, node_input_.nodes, shapes_.get()));
  if (spec.kind == WorkloadKind::kTrace) spec_.SetTraceSha256(input.sha256);
  const int64_t limit = spec.shaped ? 0 : spec.limit;
  ASSIGN_OR_RETURN(workload_, Workload::Read(*input.source, static_cast<uint64_t>(limit)));
  const size_t jobs_read = workload_.rows().size();
  if (spec.shaped && jobs_read > 0) {
    ShapingOptions options = spec.shaping;
    options.seed = spec_.seed;
    std::vector<JobArrival> jobs = workload_.TakeRows();
    RETURN_IF_ERROR(ShapeJobs(options, &jobs, &origin_ns_));
    workload_ = Workload::FromJobs(std::move(jobs));
  }
  if (spec_.scheduler.estimates == EstimateSource::kAtLeastTheRunTime) workload_.RaiseEstimates();
  RETURN_IF_ERROR(FindDeletions(input.manifests.get()));
  if (input.manifests != nullptr && dra_ != nullptr) dra_->AddObjects(input.manifests->objects);
  if (input.manifests != nullptr) {
    context_ = input.manifests->context;
    workload_objects_ = input.manifests->given;
  }
  if (const ClusterSnapshot* snapshot = node_input_.snapshot.get(); snapshot != nullptr) {
    warnings_.insert(warnings_.end(), snapshot->warnings.begin(), snapshot->warnings.end());
    ASSIGN_OR_RETURN(standing_, StandingPods::Make(*snapshot, workload_.rows(), shapes_.get()));
  }
  for (std::string& line : input.warnings()) warnings_.push_back(std::move(line));
  if (workload_.rows().empty() && standing_.size() == 0) {
    if (node_input_.snapshot == nullptr || jobs_read > 0) return NoPods(jobs_read);
    warnings_.push_back("the cluster has no pod that runs or waits, and the workload has none");
  }
  WarnAboutServices();
  return absl::OkStatus();
}

// Finds the jobs deleted by users. `manifests` may be null.
absl::Status Simulation::FindDeletions(const Manifests* manifests) {
  DeletableJobs jobs;
  jobs.jobs = workload_.rows();
  jobs.listed = manifests != nullptr ? manifests->jobs : spec_.workload.jobs;
  jobs.from_manifests = manifests != nullptr;
  jobs.stream = spec_.is_stream();
  ASSIGN_OR_RETURN(deletions_, MakeDeletions(spec_.workload.deletions, jobs));
  return absl::OkStatus();
}

absl::Status Simulation::NoPods(size_t jobs_read) const {
  return NoPodsError(jobs_read == 0 ? std::string()
                                    : absl::StrCat(": the keys under workload leave none of ",
                                                   jobs_read, " job(s)"),
                     warnings_);
}

// In a trace of finished jobs, a row without an end is probably incomplete.
void Simulation::WarnAboutServices() {
  const bool from_trace = spec_.workload.kind == WorkloadKind::kTrace;
  if (!from_trace || !spec_.is_replay() || spec_.is_stream()) return;
  const std::vector<JobArrival>& jobs = workload_.rows();
  const auto services = std::count_if(jobs.begin(), jobs.end(), [](const JobArrival& job) {
    return !job.has_run_time && !job.has_deletion;
  });
  if (services == 0) return;
  const double share = 100 * static_cast<double>(services) / static_cast<double>(jobs.size());
  warnings_.push_back(absl::StrCat(
      services, " of ", jobs.size(), " jobs (", FixedText(share, 1),
      " %) have no run time: they are services, which keep their places to the end of the run; "
      "--set workload.trace.needs=run_time leaves such rows out"));
}

void Simulation::WarnAboutUnknownModels() {
  int64_t pods = 0;
  for (const JobArrival& pod : workload_.rows())
    pods += shapes_->names_unknown_model(pod.shape) ? 1 : 0;
  if (pods == 0) return;
  warnings_.push_back(absl::StrCat(
      pods, " pod(s) accept a GPU model that no node has: ", ListText(shapes_->unknown_models())));
}

absl::Status Simulation::ArrangeWorkload() {
  const bool artifact = spec_.order == JobOrder::kArtifact;
  const bool trace_order = spec_.order == JobOrder::kTrace;
  if (!trace_order) workload_.SortByName();
  std::vector<int64_t> pods_by_shape = workload_.CountByShape(shapes_->size());
  for (const JobArrival& job : standing_.jobs()) ++pods_by_shape[job.shape.value()];
  fragmentation_ = std::make_unique<FragmentationModel>(
      BuildTypicalPods(*shapes_, pods_by_shape, spec_.scheduler.popularity_percent));
  streams_ = artifact ? MakeArtifactStreams(spec_.seed) : MakeSeededStreams(spec_.seed);
  if (!trace_order) workload_.Shuffle(*streams_);
  if (spec_.workload.tuning_ratio.has_value()) {
    const double ratio = *spec_.workload.tuning_ratio;
    const int64_t capacity = cluster_->totals().gpu_milli_capacity;
    RETURN_IF_ERROR(workload_.CheckTuning(ratio, capacity, *shapes_));
    workload_.Tune(ratio, capacity, *shapes_, *streams_);
  }
  const size_t nodes = cluster_->node_count();
  if (trace_order) {
    ranks_.resize(nodes);
    for (size_t i = 0; i < nodes; ++i) ranks_[i] = static_cast<uint32_t>(i);
  } else {
    ranks_ = streams_->NodeRanks(nodes);
  }
  return MakeSource();
}

// Adds random failures to the transitions from scenario and trace, after these within one instant.
absl::Status Simulation::AddFailures() {
  if (!spec_.cluster.failures.has_value()) return absl::OkStatus();
  const NodeFailureSpec& spec = *spec_.cluster.failures;
  if (spec.until.has_value()) {
    failures_until_ = SimTime() + *spec.until;
  } else if (spec_.is_stream()) {
    const auto jobs = static_cast<int64_t>(workload_.order().size());
    failures_until_ =
        SimTime(std::max<int64_t>(0, jobs - 1) * spec_.workload.stream_interval->ns());
  } else {
    failures_until_ = EndWithoutWaiting(workload_.rows());
  }
  ASSIGN_OR_RETURN(const std::vector<NodeTransition> failures,
                   MakeNodeFailures(spec, spec_.seed, *cluster_, failures_until_));
  node_transitions_.insert(node_transitions_.end(), failures.begin(), failures.end());
  std::stable_sort(node_transitions_.begin(), node_transitions_.end(),
                   [](const NodeTransition& a, const NodeTransition& b) { return a.at < b.at; });
  return absl::OkStatus();
}

// Waiting jobs may make a run longer than predicted.
void Simulation::WarnAboutEndOfFailures() {
  if (!spec_.cluster.failures.has_value() || spec_.cluster.failures->until.has_value()) {
    return;
  }
  int64_t later = 0;
  for (size_t j = 0; j < jobs_.size(); ++j) {
    const JobRow& row = jobs_.row(JobId(j));
    const bool ended = IsEnded(row.state) && row.state != JobState::kDropped;
    later += row.has_run_time && ended && row.ended > failures_until_ ? 1 : 0;
  }
  if (later == 0) return;
  warnings_.push_back(
      absl::StrCat("cluster.failures: no node failed after ",
                   absl::FormatDuration(absl::Nanoseconds(failures_until_.ns())), ", though ",
                   later, " job(s) ended later; cluster.failures.until says how long nodes fail"));
}

absl::Status Simulation::MakeSource() {
  if (!spec_.is_stream()) {
    source_ = std::make_unique<WorkloadSource>(&workload_, spec_.is_replay());
    return absl::OkStatus();
  }
  const SimDuration interval = *spec_.workload.stream_interval;
  if (static_cast<int64_t>(workload_.order().size()) > kMaxShapedNs / interval.ns()) {
    return KeyError(
        "workload.stream_interval",
        absl::StrCat("found '", spec_.workload.stream_interval_text, "', so that ",
                     workload_.order().size(), " jobs take longer than the clock can count"));
  }
  source_ = std::make_unique<WorkloadSource>(&workload_, interval);
  return absl::OkStatus();
}

absl::Status Simulation::MakeProfiles(const PolicyContext& context) {
  if (!spec_.scheduler.kube.has_value()) {
    ASSIGN_OR_RETURN(Profile profile,
                     Profile::Make(BuiltinRegistry(), spec_.scheduler.profile, context));
    profile_ = std::make_unique<Profile>(std::move(profile));
    profiles_.emplace(profile_.get());
    return absl::OkStatus();
  }
  std::vector<Profile*> all;
  for (const ProfileSpec& spec : kube_profiles_) {
    ASSIGN_OR_RETURN(Profile made, MakeKubeProfile(spec, context));
    auto profile = std::make_unique<Profile>(std::move(made));
    all.push_back(profile.get());
    if (profile_ == nullptr) {
      profile_ = std::move(profile);
    } else {
      more_profiles_.push_back(std::move(profile));
    }
  }
  absl::StatusOr<Profiles> profiles = Profiles::Make(std::move(all), shapes_.get());
  if (!profiles.ok()) return KeyError("scheduler.kube_config", profiles.status().message());
  profiles_.emplace(*std::move(profiles));
  return absl::OkStatus();
}

absl::Status Simulation::MakeProfile() {
  PolicyContext context;
  context.fragmentation = fragmentation_.get();
  context.streams = streams_.get();
  context.bind_latency = spec_.bind_latency;
  context.extended_resources = cluster_->extended_names();
  context.mig = models_.any_mig();
  context.holds = shapes_->any_held();
  context.mig_mix = devices_.MigMix(*shapes_, workload_.rows());
  context.resource_scores = spec_.scheduler.resource_scores;
  const std::optional<KubeSchedulerSpec>& kube = spec_.scheduler.kube;
  RETURN_IF_ERROR(MakeProfiles(context));
  if (spec_.decisions != nullptr && !kube.has_value()) {
    ASSIGN_OR_RETURN(decision_filters_, MakeRuleFilters(context));
  }
  if (dra_ != nullptr) {
    for (const JobArrival& job : workload_.rows()) {
      if (job.pods > 1 || !job.more_pods.empty()) dra_->NoteGang();
    }
    dra_->set_given(given_objects());
    dra_->SetEvents(spec_.cluster.events);
    RETURN_IF_ERROR(
        dra_->MakePlane(cluster_.get(), devices_.MigMix(*shapes_, workload_.rows()), spec_.seed));
    const absl::Status deletable =
        CheckClaimNames(spec_.workload.deletions, workload_.rows(), *shapes_, dra_->plane());
    if (!deletable.ok()) return deletable;
    for (const std::string& line : dra_->warnings()) warnings_.push_back(line);
    std::unique_ptr<SchedulerActor> plugin = dra_->plane()->TakePlugin();
    ScorePlugin* const score = plugin->scores() ? plugin.get() : nullptr;
    const int64_t weight = plugin->score_weight();
    profile_->AddPlugin(std::move(plugin), /*first=*/true);
    if (score != nullptr) profile_->AddScore(score, weight);
  }
  cycle_ = std::make_unique<SchedulingCycle>(profile_.get(), cluster_.get(), ranks_,
                                             spec_.scheduler.cache);
  placer_ = std::make_unique<Placer>(profile_.get(), cluster_.get(), &jobs_, cycle_.get(),
                                     &summaries_, RemembersFailures());
  if (kube.has_value()) {
    KubeCycleOptions options;
    options.ties = kube->ties;
    options.use_cache = spec_.scheduler.cache;
    kube_cycle_ = std::make_unique<KubeCycle>(cluster_.get(), &nominator_, options, spec_.seed);
    RETURN_IF_ERROR(MakeOtherSchedulers(context));
    placer_->set_kube(KubeCycles(), &*profiles_);
  }
  summaries_.SetReasons(profiles_->reasons(), profiles_->reason_kinds());
  fingerprint_ = std::make_unique<FingerprintSink>(&summaries_);
  metrics_ = std::make_unique<MetricsSink>(fragmentation_.get(), *cluster_);
  metrics_->AddObserver([this](const Sample& sample) { load_table_.Add(sample); });
  front_end_ = devices_.MakeFrontEnd(cluster_.get());
  placer_->set_amounts_may_grow(devices_.amounts_may_grow());
  // The key front_end suggests a comparison of front ends, so the direct one reports, too.
  const bool compares = spec_.front_end.given;
  if (front_end_ != nullptr || models_.any_mig() || compares) MakeDeviceReport();
  return absl::OkStatus();
}

LayoutLookup Simulation::Layouts() const {
  if (front_end_ == nullptr || !models_.any_mig()) return nullptr;
  return [this](NodeId node, size_t gpu) {
    const std::vector<PluginGpu>& gpus = front_end_->gpus(node);
    if (gpu >= gpus.size()) return StaticLayout();
    return StaticLayout{gpus[gpu].mig_enabled, gpus[gpu].layout};
  };
}

std::string Simulation::MessageNow(JobId job) {
  const JobRow& row = jobs_.row(job);
  for (uint32_t i = 0; i < row.pods; ++i) {
    const PodId pod(row.first_pod.value() + i);
    if (!cluster_->pod_shape(pod).claims.empty()) return "";
    for (const auto& [name, amount] : cluster_->pod_shape(pod).request.extended) {
      const auto column = absl::c_find(cluster_->extended_names(), name);
      const auto index = static_cast<size_t>(column - cluster_->extended_names().begin());
      if (cluster_->served_by_claims(index)) return "";  // by a claim that is not made yet
    }
  }
  return placer_->MessageNow(job, engine_->now());
}

std::vector<const GivenObjects*> Simulation::given_objects() const {
  std::vector<const GivenObjects*> given;
  if (node_input_.snapshot != nullptr) given.push_back(node_input_.snapshot->given.get());
  given.push_back(workload_objects_.get());
  std::erase(given, nullptr);
  return given;
}

void Simulation::MakeDeviceReport() {
  device_report_ = std::make_unique<DeviceReport>(
      *cluster_, TypicalRequests(*shapes_, workload_.rows(), spec_.scheduler.popularity_percent),
      Layouts());
}

// A batch queue decides by remembered failures what to try again, so there they are not a cache.
bool Simulation::RemembersFailures() const {
  const QueueKind queue = spec_.scheduler.queue;
  const bool batch = queue == QueueKind::kBatch || queue == QueueKind::kLoss;
  return spec_.scheduler.cache || batch;
}

std::unique_ptr<Dispatcher> Simulation::MakeDispatcher(JobControl* control) {
  DispatchParts parts;
  parts.cluster = cluster_.get();
  parts.jobs = &jobs_;
  parts.placer = placer_.get();
  parts.cycle = cycle_.get();
  parts.profile = profile_.get();
  parts.profiles = &*profiles_;
  parts.summaries = &summaries_;
  parts.quotas = &quotas_;
  parts.control = control;
  if (kube_cycle_ != nullptr) {
    kube_cycle_->set_jobs(&jobs_, control);
    parts.nominator = &nominator_;
    parts.extender_latency = spec_.scheduler.kube->extender_latency;
  }
  if (spec_.decisions != nullptr) {
    DecisionRules rules = kube_cycle_ != nullptr
                              ? DecisionRules(kube_cycle_.get(), *profiles_, cluster_.get())
                              : DecisionRules(std::move(decision_filters_), cluster_.get());
    auto decided = std::make_unique<DecidedDispatcher>(parts, spec_.decisions, std::move(rules),
                                                       !spec_.is_replay());
    decided_ = decided.get();
    return decided;
  }
  switch (spec_.scheduler.queue) {
    case QueueKind::kNone:
      return std::make_unique<FillDispatcher>(parts);
    case QueueKind::kKubernetes:
      if (!others_.empty()) return ShareCluster(parts);
      return std::make_unique<KubernetesDispatcher>(parts, spec_.scheduler.kubernetes, spec_.seed);
    case QueueKind::kLoss:
      return std::make_unique<LossDispatcher>(parts);
    case QueueKind::kBatch:
      break;
  }
  QueueContext context;
  context.streams = streams_.get();
  context.seed = spec_.seed;
  context.estimate_noise = spec_.scheduler.estimate_noise;
  context.exact_estimates = spec_.scheduler.estimates == EstimateSource::kExact;
  absl::StatusOr<std::unique_ptr<QueuePolicy>> policy =
      BuiltinRegistry().MakeQueue(spec_.scheduler.queue_name, context);
  DRASIM_CHECK(policy.ok());  // the name has been checked
  BatchOptions options = spec_.scheduler.batch;
  options.estimate =
      [model = EstimateModel(context.seed, context.estimate_noise, context.exact_estimates)](
          const JobTable& jobs, JobId job) { return model.Estimate(jobs, job); };
  return std::make_unique<BatchDispatcher>(parts, *std::move(policy), std::move(options));
}

// Adds the levels up to `to` to the time averages.
void Simulation::Integrate(SimTime to) {
  if (jobs_.size() == 0) return;
  integrals_->Begin(jobs_.row(JobId(size_t{0})).submitted);
  const ClusterTotals& t = cluster_->totals();
  Levels levels;
  levels.gpu_capacity_milli = t.gpu_milli_capacity;
  levels.gpu_allocated_milli = t.gpu_milli_allocated;
  levels.cpu_capacity_milli = t.cpu_milli_capacity;
  levels.cpu_allocated_milli = t.cpu_milli_allocated;
  levels.memory_capacity_bytes = t.memory_bytes_capacity;
  levels.memory_allocated_bytes = t.memory_bytes_allocated;
  levels.jobs_waiting = static_cast<int64_t>(jobs_.waiting_jobs());
  levels.jobs_running = static_cast<int64_t>(jobs_.running_jobs());
  levels.set_idle(IdleByReason(std::max<int64_t>(0, t.gpu_milli_capacity - t.gpu_milli_allocated),
                               jobs_.waiting_request().gpu_milli,
                               engine_->dispatcher().SmallestNeedMilli()));
  integrals_->Advance(to, levels);
}

JobReport Simulation::MakeJobReport() const {
  const ClusterTotals& t = cluster_->totals();
  JobReportOptions options;
  options.end = engine_->now();
  options.capacity = {t.cpu_milli_capacity, t.memory_bytes_capacity, t.gpu_milli_capacity};
  options.truncate_means = spec_.helios;
  options.utilisation = utilisation();
  return JobReport(jobs_, options);
}

absl::Status Simulation::Start(const std::string* checkpoint) {
  RETURN_IF_ERROR(MakeEngine());
  if (checkpoint == nullptr) return absl::OkStatus();
  StateReader in(*checkpoint);
  return engine_->Load(in);
}

absl::Status Simulation::StartBranch(const std::string& checkpoint) {
  RETURN_IF_ERROR(MakeEngine());
  StateReader in(checkpoint);
  return engine_->LoadBranch(in);
}

absl::Status Simulation::MakeEngine() {
  if (extenders_ != nullptr) {
    RETURN_IF_ERROR(extenders_->Begin(cluster_.get(), given_objects()));
    kube_cycle_->set_extenders(extenders_->list());
  }
  EngineParts parts;
  parts.cluster = cluster_.get();
  parts.jobs = &jobs_;
  parts.source = source_.get();
  if (standing_.size() > 0) {
    whole_source_ = standing_.InFrontOf(source_.get());
    parts.source = whole_source_.get();
    parts.standing_on = standing_.nodes();
    parts.standing_devices = standing_.devices();
  }
  parts.profile = profile_.get();
  parts.profiles = &*profiles_;
  parts.cycle = cycle_.get();
  parts.placer = placer_.get();
  parts.summaries = &summaries_;
  parts.quotas = &quotas_;
  parts.node_changes = node_transitions_;
  parts.deletions = deletions_.by_job;
  parts.last_deletion = deletions_.last;
  parts.make_dispatcher = [this](JobControl* control) { return MakeDispatcher(control); };
  parts.node_agent = front_end_.get();
  if (front_end_ != nullptr && spec_.front_end.kind == FrontEndKind::kDraStructured) {
    std::vector<bool> has_plugin;
    for (size_t n = 0; n < cluster_->node_count(); ++n) {
      const std::string& plugin_nodes = spec_.front_end.plugin_nodes;
      has_plugin.push_back(!plugin_nodes.empty() &&
                           MatchesPattern(plugin_nodes, cluster_->node_spec(NodeId(n)).name));
    }
    mixed_agent_ =
        std::make_unique<MixedAgent>(front_end_.get(), dra_->plane(), std::move(has_plugin));
    parts.node_agent = mixed_agent_.get();
  } else if (dra_ != nullptr) {
    parts.node_agent = dra_->plane();
  }
  parts.sinks = {fingerprint_.get(), metrics_.get()};
  if (device_report_ != nullptr) parts.sinks.push_back(device_report_.get());
  if (extenders_ != nullptr) parts.sinks.push_back(extenders_.get());
  for (RecordSink* sink : extra_sinks_) parts.sinks.push_back(sink);
  integrals_ = std::make_unique<TimeIntegrals>(spec_.windows.warm_up, spec_.windows.drain);
  parts.on_interval = [this](SimTime, SimTime to) { Integrate(to); };
  parts.on_checkpoint = on_checkpoint_;
  parts.on_progress = on_progress_;
  parts.stop = stop_;
  parts.save_extra = [this](StateWriter& out) {
    streams_->Save(out);
    if (kube_cycle_ != nullptr) kube_cycle_->Save(out);
    for (const auto& other : others_) other->cycle->Save(out);
    load_table_.Save(out);
    integrals_->Save(out);
    if (save_attached_) save_attached_(out);
  };
  parts.load_extra = [this](StateReader& in) {
    RETURN_IF_ERROR(streams_->Load(in));
    if (kube_cycle_ != nullptr) RETURN_IF_ERROR(kube_cycle_->Load(in));
    for (const auto& other : others_) RETURN_IF_ERROR(other->cycle->Load(in));
    RETURN_IF_ERROR(load_table_.Load(in));
    RETURN_IF_ERROR(integrals_->Load(in));
    return load_attached_ ? load_attached_(in) : absl::OkStatus();
  };
  EngineOptions options = spec_.engine;
  options.stop_after_events = stop_after_events_;
  // Each scheduler has its own.
  if (!others_.empty()) options.attempt_latency = SimDuration();
  engine_ = std::make_unique<Engine>(std::move(parts), std::move(options));
  return absl::OkStatus();
}

absl::Status Simulation::Run() {
  RETURN_IF_ERROR(engine_->Run());
  if (engine_->finished() && extenders_ != nullptr) RETURN_IF_ERROR(extenders_->Finish());
  if (engine_->finished()) WarnAboutEndOfFailures();
  if (engine_->finished() && engine_->never_fitting() > 0) {
    const JobId first = engine_->first_never_fitting();
    const std::string line = absl::StrCat(
        engine_->never_fitting(),
        " job(s) can never be placed on these nodes, or within their quota, "
        "and were dropped; the "
        "first is '",
        ShownText(cluster_->pod_name(jobs_.row(first).first_pod)), "' (", jobs_.row(first).pods,
        " pod(s), ", static_cast<double>(jobs_.row(first).request.gpu_milli) / 1000, " GPUs)");
    if (std::find(warnings_.begin(), warnings_.end(), line) == warnings_.end()) {
      warnings_.push_back(line);
    }
  }
  return absl::OkStatus();
}

}  // namespace drasim
