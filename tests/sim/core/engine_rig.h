// An engine with everything that it works on, and a plugin that follows a script, for tests.
#ifndef DRASIM_TESTS_SIM_CORE_ENGINE_RIG_H_
#define DRASIM_TESTS_SIM_CORE_ENGINE_RIG_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "model/cluster_state.h"
#include "model/event_source.h"
#include "model/random.h"
#include "model/record.h"
#include "model/state_io.h"
#include "policies/builtins.h"
#include "policies/framework/plugin.h"
#include "policies/framework/profile.h"
#include "policies/framework/registry.h"
#include "policies/queues/estimates.h"
#include "sim/core/batch_dispatcher.h"
#include "sim/core/engine.h"
#include "sim/core/fill_dispatcher.h"
#include "sim/core/kubernetes_dispatcher.h"
#include "sim/core/placer.h"
#include "sim/core/scheduling_cycle.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {

using Lines = std::vector<std::string>;

inline constexpr int64_t kForever = -1;

struct PodRow {
  std::string name;
  size_t shape;  // index into EngineScenario::shapes
  int64_t at_ns;
  int64_t run_ns;
  int32_t priority;
};

struct EngineScenario {
  std::function<void(GpuModelTable&)> models;  // gives them tables of partitions; may be empty
  std::vector<NodeSpec> nodes;
  std::vector<PodShape> shapes;
  std::vector<PodRow> pods;
  std::string policy = "best-fit";
  std::vector<ScoreChoice> score;
  std::vector<std::string> plugins;  // further ones, such as DefaultPreemption
  bool identity_ranks = false;       // ties go to the node named first; else in a random order
  SimDuration bind_latency;
  bool use_cache = true;
  // Replay: the order of a queue policy ("fifo", "srtf", ...), or kube-scheduler's queue, without a
  // backoff unless one is given.
  std::string queue = "kubernetes";
  KubernetesQueueOptions kubernetes = {SimDuration(), SimDuration(), true,
                                       SimDuration::Seconds(300)};
  BatchOptions batch;
  Quotas quotas;
  std::vector<NodeTransition> node_changes;
  absl::flat_hash_map<std::string, std::vector<JobDeletion>> deletions;
  // In place of `pods`; shapes are indices into `shapes`.
  std::vector<JobArrival> jobs;
  EngineOptions options;
  const Registry* registry = &TestRegistry();
  // Adds to the profile, if set, when the cluster is there.
  std::function<void(ClusterState&, Profile&)> extend;
};

// One engine with everything that it works on.
class EngineRig {
 public:
  // `adjust` may change the parts before the engine gets them.
  explicit EngineRig(const EngineScenario& s,
                     const std::function<void(EngineParts&)>& adjust = nullptr) {
    if (s.models) s.models(builder_.models());
    for (const NodeSpec& node : s.nodes) builder_.AddNode(node);
    std::vector<ShapeId> shapes;
    for (const PodShape& shape : s.shapes) shapes.push_back(builder_.AddShape(shape));
    std::vector<JobArrival> arrivals;
    for (const PodRow& row : s.pods) {
      JobArrival pod;
      pod.name = row.name;
      pod.shape = shapes[row.shape];
      pod.priority = row.priority;
      pod.time = SimTime(row.at_ns);
      pod.has_run_time = row.run_ns != kForever;
      if (pod.has_run_time) pod.run_time = SimDuration(row.run_ns);
      arrivals.push_back(pod);
    }
    for (JobArrival job : s.jobs) {
      job.shape = shapes[job.shape.value()];
      for (PodGroup& group : job.more_pods) group.shape = shapes[group.shape.value()];
      arrivals.push_back(std::move(job));
    }
    parts_ = std::make_unique<ProfileParts>(builder_.TypicalPods(), /*seed=*/3, s.bind_latency);
    profile_ = std::make_unique<Profile>(MakeProfile(s));
    if (s.extend) s.extend(builder_.cluster(), *profile_);
    Random random(4, "ranks");
    std::vector<uint32_t> ranks = RandomRanks(s.nodes.size(), random);
    if (s.identity_ranks) std::sort(ranks.begin(), ranks.end());
    cycle_ = std::make_unique<SchedulingCycle>(profile_.get(), &builder_.cluster(),
                                               std::move(ranks), s.use_cache);
    summaries_.SetReasons(profile_->reasons());
    source_ = std::make_unique<VectorSource>(std::move(arrivals));
    placer_ = std::make_unique<Placer>(profile_.get(), &builder_.cluster(), &jobs_, cycle_.get(),
                                       &summaries_, s.use_cache || s.queue != "kubernetes");
    quotas_ = s.quotas;
    EngineParts parts;
    parts.cluster = &builder_.cluster();
    parts.jobs = &jobs_;
    parts.placer = placer_.get();
    parts.quotas = &quotas_;
    parts.node_changes = s.node_changes;
    parts.deletions = s.deletions;
    parts.make_dispatcher = [this, &s](JobControl* control) { return MakeDispatcher(s, control); };
    parts.source = source_.get();
    parts.profile = profile_.get();
    parts.cycle = cycle_.get();
    parts.summaries = &summaries_;
    parts.sinks = {&log_};
    parts.save_extra = [this](StateWriter& out) { parts_->streams->Save(out); };
    parts.load_extra = [this](StateReader& in) { return parts_->streams->Load(in); };
    if (adjust) adjust(parts);
    engine_ = std::make_unique<Engine>(std::move(parts), s.options);
  }
  EngineRig(const EngineRig&) = delete;
  EngineRig& operator=(const EngineRig&) = delete;

  Engine& engine() { return *engine_; }
  ClusterState& cluster() { return builder_.cluster(); }
  ClusterBuilder& builder() { return builder_; }
  const JobTable& jobs() const { return jobs_; }
  const Profile& profile() const { return *profile_; }
  const std::vector<Record>& records() const { return log_.records(); }

  Lines RecordLines() const {
    Lines lines;
    for (const Record& record : records()) {
      lines.push_back(RecordText(record, builder_.cluster(), summaries_));
    }
    return lines;
  }
  std::string State() const {
    StateWriter out;
    engine_->Save(out);
    return out.Release();
  }

 private:
  Profile MakeProfile(const EngineScenario& s) const {
    ProfileOptions options;
    options.policy = s.policy;
    options.score = s.score;
    options.plugins = s.plugins;
    absl::StatusOr<Profile> made = Profile::Make(*s.registry, options, parts_->context);
    DRASIM_CHECK(made.ok());
    return *std::move(made);
  }

  std::unique_ptr<Dispatcher> MakeDispatcher(const EngineScenario& s, JobControl* control) {
    DispatchParts parts;
    parts.cluster = &builder_.cluster();
    parts.jobs = &jobs_;
    parts.placer = placer_.get();
    parts.cycle = cycle_.get();
    parts.profile = profile_.get();
    parts.summaries = &summaries_;
    parts.quotas = &quotas_;
    parts.control = control;
    if (s.options.mode == RunMode::kFill) return std::make_unique<FillDispatcher>(parts);
    if (s.queue == "kubernetes") {
      return std::make_unique<KubernetesDispatcher>(parts, s.kubernetes, /*seed=*/5);
    }
    BatchOptions options = s.batch;
    if (!options.estimate) {
      options.estimate = [model = EstimateModel(0, 0, false)](const JobTable& jobs, JobId job) {
        return model.Estimate(jobs, job);
      };
    }
    return std::make_unique<BatchDispatcher>(parts, *s.registry->MakeQueue(s.queue, {}), options);
  }

  ClusterBuilder builder_;
  JobTable jobs_;
  Quotas quotas_;
  std::unique_ptr<Placer> placer_;
  std::unique_ptr<ProfileParts> parts_;
  std::unique_ptr<Profile> profile_;
  std::unique_ptr<SchedulingCycle> cycle_;
  VerdictSummaryTable summaries_;
  std::unique_ptr<VectorSource> source_;
  RecordLog log_;
  std::unique_ptr<Engine> engine_;
};

// A run that is saved after `events` events and goes on in a fresh engine, for `then` events at the
// most (0: to its end).
struct ResumedRun {
  ResumedRun(EngineScenario scenario, uint64_t events, uint64_t then = 0) {
    scenario.options.stop_after_events = events;
    rig = std::make_unique<EngineRig>(scenario);
    const absl::Status ran = rig->engine().Run();
    EXPECT_EQ(ran, absl::OkStatus());
    records = rig->records();
    saved = rig->State();
    was_over = !ran.ok() || rig->engine().finished();
    if (was_over) return;
    scenario.options.stop_after_events = then;
    rig = std::make_unique<EngineRig>(scenario);
    StateReader in(saved);
    EXPECT_EQ(rig->engine().Load(in), absl::OkStatus());
    EXPECT_TRUE(in.AtEnd());
    loaded = rig->State();
    EXPECT_EQ(rig->engine().Run(), absl::OkStatus());
    records.insert(records.end(), rig->records().begin(), rig->records().end());
  }

  bool was_over = false;  // or had failed before it was saved: nothing was resumed
  std::string saved;
  std::string loaded;           // the state of the fresh engine before it goes on
  std::vector<Record> records;  // of both parts
  std::unique_ptr<EngineRig> rig;
};

// ---- A plugin that follows a script ----

struct HookScript {
  Lines calls;
  std::function<StepResult(const std::string& step, const PodContext& pod)> react;
};

class HookPlugin : public ScorePlugin,
                   public ReservePlugin,
                   public PermitPlugin,
                   public PreBindPlugin,
                   public PostBindPlugin {
 public:
  HookPlugin(std::string name, HookScript* script) : name_(std::move(name)), script_(script) {}
  absl::string_view name() const override { return name_; }
  void Score(const PodContext&, const ClusterState&, absl::Span<const NodeId>,
             absl::Span<int64_t> scores) override {
    for (int64_t& score : scores) score = 0;
  }
  StepResult Reserve(const PodContext& pod, const ClusterState&, NodeId) override {
    return On("Reserve", pod);
  }
  void Unreserve(const PodContext& pod, const ClusterState&, NodeId) override {
    On("Unreserve", pod);
  }
  StepResult Permit(const PodContext& pod, const ClusterState&, NodeId) override {
    return On("Permit", pod);
  }
  StepResult PreBind(const PodContext& pod, const ClusterState&, NodeId) override {
    return On("PreBind", pod);
  }
  void PostBind(const PodContext& pod, const ClusterState&, NodeId) override {
    On("PostBind", pod);
  }

 private:
  StepResult On(absl::string_view point, const PodContext& pod) {
    const std::string step = absl::StrCat(name_, ".", point);
    script_->calls.push_back(absl::StrCat(pod.now.ns(), " ", step, " ", pod.pod.value()));
    return script_->react ? script_->react(step, pod) : StepResult();
  }

  std::string name_;
  HookScript* script_;
};

// The built-in plugins and two hooks, HookA and HookB, with one script.
inline Registry HookRegistry(HookScript* script) {
  Registry registry;
  RegisterBuiltins(registry);
  for (const char* const name : {"HookA", "HookB"}) {
    registry.AddPlugin(name, [name, script](const PolicyContext&) {
      return std::make_unique<HookPlugin>(name, script);
    });
  }
  return registry;
}

inline StepResult Waits(std::initializer_list<int64_t> latencies_ns) {
  StepResult result;
  for (const int64_t ns : latencies_ns) {
    const IntentKind kind = ns % 2 == 0 ? IntentKind::kWait : IntentKind::kApiWrite;
    result.intents.push_back({kind, SimDuration(ns)});
  }
  return result;
}

inline StepResult Fails(StepCode code) {
  StepResult result;
  result.code = code;
  return result;
}

}  // namespace drasim

#endif  // DRASIM_TESTS_SIM_CORE_ENGINE_RIG_H_
