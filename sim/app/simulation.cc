#include "sim/app/simulation.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/check.h"
#include "model/text/did_you_mean.h"
#include "policies/builtins.h"
#include "sim/app/duration_text.h"
#include "sim/app/input_files.h"

namespace drasim {
namespace {

absl::Status CheckChoice(absl::string_view key, const std::string& value,
                         const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), value) != known.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(key, ": found '", value, "', expected one of ",
                                                 absl::StrJoin(known, ", "),
                                                 Suggest(value, known)));
}

template <typename Set>
void Default(const std::string& value, absl::string_view fallback, Set set) {
  if (value.empty()) set(std::string(fallback));
}

}  // namespace

const Registry& BuiltinRegistry() {
  static const Registry* const registry = [] {
    auto* r = new Registry;
    RegisterBuiltins(*r);
    return r;
  }();
  return *registry;
}

namespace {

void FillDefaults(proto::Scenario* s) {
  Default(s->mode(), "fill", [s](std::string v) { s->set_mode(std::move(v)); });
  Default(s->order(), s->mode() == "replay" ? "trace" : "seeded",
          [s](std::string v) { s->set_order(std::move(v)); });
  if (!s->has_seed()) s->set_seed(42);
  proto::Scheduler* scheduler = s->mutable_scheduler();
  Default(scheduler->policy(), "fgd", [=](std::string v) { scheduler->set_policy(std::move(v)); });
  Default(scheduler->queue(), "priority",
          [=](std::string v) { scheduler->set_queue(std::move(v)); });
  if (!scheduler->has_cache()) scheduler->set_cache(true);
  if (scheduler->typical().popularity_percent() == 0)
    scheduler->mutable_typical()->set_popularity_percent(95);
  if (!s->output().has_ledger()) s->mutable_output()->set_ledger(true);
  if (!s->output().has_checkpoint_every()) s->mutable_output()->set_checkpoint_every(100'000);
  if (s->workload().trace().path().empty()) {
    proto::Generated* g = s->mutable_workload()->mutable_generated();
    Default(g->table(), "openb-like", [g](std::string v) { g->set_table(std::move(v)); });
    Default(g->sampling(), "quota", [g](std::string v) { g->set_sampling(std::move(v)); });
  } else {
    proto::Trace* t = s->mutable_workload()->mutable_trace();
    Default(t->format(), "openb", [t](std::string v) { t->set_format(std::move(v)); });
  }
  if (!s->cluster().path().empty() && s->cluster().format().empty())
    s->mutable_cluster()->set_format("openb");
}

absl::Status CheckValues(const proto::Scenario& s) {
  if (absl::Status e = CheckChoice("mode", s.mode(), {"fill", "replay"}); !e.ok()) return e;
  if (absl::Status e = CheckChoice("order", s.order(), {"artifact", "seeded", "trace"}); !e.ok())
    return e;
  if (absl::Status e = CheckChoice("scheduler.queue", s.scheduler().queue(), {"priority"}); !e.ok())
    return e;
  if (s.mode() == "replay" && s.order() != "trace") {
    return absl::InvalidArgumentError(absl::StrCat(
        "order: found '", s.order(), "', expected 'trace': a replay keeps the arrival times"));
  }
  if (s.workload().tuning().has_ratio() && !(s.workload().tuning().ratio() > 0)) {
    return absl::InvalidArgumentError("workload.tuning.ratio: expected a number above 0");
  }
  if (s.workload().limit() < 0)
    return absl::InvalidArgumentError("workload.limit: expected 0 or more");
  if (absl::Status e = CheckGenerated(s); !e.ok()) return e;
  const double popularity = s.scheduler().typical().popularity_percent();
  if (!(popularity > 0 && popularity <= 100)) {
    return absl::InvalidArgumentError(
        "scheduler.typical.popularity_percent: expected a number above 0 up to 100");
  }
  if (s.output().checkpoint_every() < 0) {
    return absl::InvalidArgumentError("output.checkpoint_every: expected 0 or more");
  }
  return absl::OkStatus();
}

absl::Status CheckPlugins(const proto::Scheduler& scheduler) {
  // Names of plugins are checked by building a profile that is thrown away.
  FragmentationModel none({});
  const std::unique_ptr<RunStreams> streams = MakeSeededStreams(0);
  PolicyContext context;
  context.fragmentation = &none;
  context.streams = streams.get();
  ProfileOptions options;
  options.policy = scheduler.policy();
  options.device_chooser = scheduler.device_chooser();
  for (const proto::WeightedPlugin& p : scheduler.score())
    options.score.push_back({p.name(), p.weight()});
  const auto under = [](absl::string_view key, const absl::Status& status) {
    return absl::InvalidArgumentError(absl::StrCat(key, ": ", status.message()));
  };
  if (auto policy = BuiltinRegistry().FindPolicy(options.policy); !policy.ok()) {
    return under("scheduler.policy", policy.status());
  }
  if (!options.device_chooser.empty()) {
    auto chooser = BuiltinRegistry().MakeAllocator(options.device_chooser, context);
    if (!chooser.ok()) return under("scheduler.device_chooser", chooser.status());
  }
  absl::StatusOr<Profile> profile = Profile::Make(BuiltinRegistry(), options, context);
  if (!profile.ok()) return under("scheduler.score", profile.status());
  return absl::OkStatus();
}

absl::Status CheckTiming(const proto::Scenario& s) {
  for (const auto& [key, text] : {std::pair("timing.bind", s.timing().bind()),
                                  std::pair("timing.schedule", s.timing().schedule())}) {
    absl::StatusOr<SimDuration> d = ParseDuration(text);
    if (!d.ok()) return absl::InvalidArgumentError(absl::StrCat(key, ": ", d.status().message()));
    if (*d > SimDuration() && s.mode() == "fill") {
      return absl::InvalidArgumentError(
          absl::StrCat(key, ": found '", text, "', expected none: a fill has no clock"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ResolveScenario(proto::Scenario* s) {
  FillDefaults(s);
  if (absl::Status e = CheckValues(*s); !e.ok()) return e;
  if (absl::Status e = CheckPlugins(s->scheduler()); !e.ok()) return e;
  return CheckTiming(*s);
}

absl::StatusOr<std::unique_ptr<Simulation>> Simulation::Build(const proto::Scenario& scenario) {
  std::unique_ptr<Simulation> sim(new Simulation(scenario));
  for (auto step : {&Simulation::ReadCluster, &Simulation::ReadWorkload,
                    &Simulation::ArrangeWorkload, &Simulation::MakeProfile}) {
    if (absl::Status s = ((*sim).*step)(); !s.ok()) return s;
  }
  return sim;
}

absl::Status Simulation::ReadCluster() {
  absl::StatusOr<std::vector<NodeSpec>> nodes = ReadNodeInput(&scenario_);
  if (!nodes.ok()) return nodes.status();
  if (scenario_.order() != "trace") {
    std::sort(nodes->begin(), nodes->end(),
              [](const NodeSpec& a, const NodeSpec& b) { return a.name < b.name; });
  }
  for (const NodeSpec& node : *nodes) {
    absl::StatusOr<NodeId> added = cluster_->AddNode(node);
    if (!added.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("cluster: ", added.status().message()));
    }
  }
  return absl::OkStatus();
}

absl::Status Simulation::ReadWorkload() {
  absl::StatusOr<WorkloadInput> input = OpenWorkloadInput(&scenario_, shapes_.get());
  if (!input.ok()) return input.status();
  absl::StatusOr<Workload> workload =
      Workload::Read(*input->source, static_cast<uint64_t>(scenario_.workload().limit()));
  if (!workload.ok()) return workload.status();
  workload_ = *std::move(workload);
  for (std::string& line : input->warnings()) warnings_.push_back(std::move(line));
  if (workload_.rows().empty()) warnings_.push_back("the workload has no pods");
  WarnAboutUnknownModels();
  return absl::OkStatus();
}

void Simulation::WarnAboutUnknownModels() {
  if (shapes_->unknown_models().empty()) return;
  int64_t pods = 0;
  for (const PodArrival& pod : workload_.rows())
    pods += shapes_->names_unknown_model(pod.shape) ? 1 : 0;
  warnings_.push_back(absl::StrCat(pods, " pod(s) accept a GPU model that no node has: ",
                                   absl::StrJoin(shapes_->unknown_models(), ", ")));
}

absl::Status Simulation::ArrangeWorkload() {
  const bool artifact = scenario_.order() == "artifact";
  const bool trace_order = scenario_.order() == "trace";
  if (!trace_order) workload_.SortByName();
  fragmentation_ = std::make_unique<FragmentationModel>(
      BuildTypicalPods(*shapes_, workload_.CountByShape(shapes_->size()),
                       scenario_.scheduler().typical().popularity_percent()));
  streams_ = artifact ? MakeArtifactStreams(scenario_.seed()) : MakeSeededStreams(scenario_.seed());
  if (!trace_order) workload_.Shuffle(*streams_);
  if (scenario_.workload().tuning().has_ratio()) {
    workload_.Tune(scenario_.workload().tuning().ratio(), cluster_->totals().gpu_milli_capacity,
                   *shapes_, *streams_);
  }
  const size_t nodes = cluster_->node_count();
  if (trace_order) {
    ranks_.resize(nodes);
    for (size_t i = 0; i < nodes; ++i) ranks_[i] = static_cast<uint32_t>(i);
  } else {
    ranks_ = streams_->NodeRanks(nodes);
  }
  source_ = std::make_unique<WorkloadSource>(&workload_, scenario_.mode() == "replay");
  return absl::OkStatus();
}

absl::Status Simulation::MakeProfile() {
  PolicyContext context;
  context.fragmentation = fragmentation_.get();
  context.streams = streams_.get();
  context.bind_latency = *ParseDuration(scenario_.timing().bind());
  ProfileOptions options;
  options.policy = scenario_.scheduler().policy();
  options.device_chooser = scenario_.scheduler().device_chooser();
  for (const proto::WeightedPlugin& p : scenario_.scheduler().score())
    options.score.push_back({p.name(), p.weight()});
  absl::StatusOr<Profile> profile = Profile::Make(BuiltinRegistry(), options, context);
  if (!profile.ok()) return profile.status();
  profile_ = std::make_unique<Profile>(*std::move(profile));
  cycle_ = std::make_unique<SchedulingCycle>(profile_.get(), cluster_.get(), ranks_,
                                             scenario_.scheduler().cache());
  summaries_.SetReasons(profile_->reasons());
  fingerprint_ = std::make_unique<FingerprintSink>(&summaries_);
  metrics_ = std::make_unique<MetricsSink>(fragmentation_.get(), *cluster_);
  metrics_->AddObserver([this](const Sample& sample) { load_table_.Add(sample); });
  return absl::OkStatus();
}

absl::Status Simulation::Start(const std::string* checkpoint) {
  EngineParts parts;
  parts.cluster = cluster_.get();
  parts.source = source_.get();
  parts.profile = profile_.get();
  parts.cycle = cycle_.get();
  parts.summaries = &summaries_;
  parts.sinks = {fingerprint_.get(), metrics_.get()};
  for (RecordSink* sink : extra_sinks_) parts.sinks.push_back(sink);
  parts.on_checkpoint = on_checkpoint_;
  parts.on_progress = on_progress_;
  parts.stop = stop_;
  parts.save_extra = [this](StateWriter& out) {
    streams_->Save(out);
    load_table_.Save(out);
  };
  parts.load_extra = [this](StateReader& in) {
    if (absl::Status s = streams_->Load(in); !s.ok()) return s;
    return load_table_.Load(in);
  };
  EngineOptions options;
  options.mode = scenario_.mode() == "replay" ? RunMode::kReplay : RunMode::kFill;
  options.attempt_latency = *ParseDuration(scenario_.timing().schedule());
  options.check_invariants = scenario_.output().check_invariants();
  options.checkpoint_every = static_cast<uint64_t>(scenario_.output().checkpoint_every());
  options.stop_after_events = stop_after_events_;
  engine_ = std::make_unique<Engine>(std::move(parts), options);
  if (checkpoint == nullptr) return absl::OkStatus();
  StateReader in(*checkpoint);
  return engine_->Load(in);
}

}  // namespace drasim
