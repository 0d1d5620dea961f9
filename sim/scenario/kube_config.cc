#include "sim/scenario/kube_config.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/check.h"
#include "model/kube/field_check.h"
#include "model/kube/kube_problem.h"
#include "model/kube/reader.h"
#include "model/kube/rules.h"
#include "model/proto/kube_scheduler.pb.h"
#include "model/status_macros.h"
#include "policies/builtins.h"
#include "sim/scenario/duration_text.h"
#include "sim/scenario/kube_plugin_args.h"
#include "sim/scenario/kube_plugin_sets.h"
#include "traces/byte_source.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

constexpr char kFit[] = "NodeResourcesFit";
constexpr size_t kMaxKubeConfigBytes = size_t{16} << 20;
constexpr int64_t kLongestSeconds = kLongestNs / kSecondNs;

PluginSet SetOf(const kube::SchedulerPluginSet& given) {
  PluginSet set;
  for (const kube::SchedulerPlugin& plugin : given.enabled()) {
    set.enabled.push_back({plugin.name(), plugin.weight()});
  }
  for (const kube::SchedulerPlugin& plugin : given.disabled()) {
    set.disabled.push_back(plugin.name());
  }
  return set;
}

PluginSets SetsOf(const kube::SchedulerPlugins& given) {
  PluginSets sets;
  sets[PluginPoint::kPreFilter] = SetOf(given.pre_filter());
  sets[PluginPoint::kFilter] = SetOf(given.filter());
  sets[PluginPoint::kPostFilter] = SetOf(given.post_filter());
  sets[PluginPoint::kReserve] = SetOf(given.reserve());
  sets[PluginPoint::kPreScore] = SetOf(given.pre_score());
  sets[PluginPoint::kScore] = SetOf(given.score());
  sets[PluginPoint::kPreBind] = SetOf(given.pre_bind());
  sets[PluginPoint::kBind] = SetOf(given.bind());
  sets[PluginPoint::kPostBind] = SetOf(given.post_bind());
  sets[PluginPoint::kPermit] = SetOf(given.permit());
  sets[PluginPoint::kPreEnqueue] = SetOf(given.pre_enqueue());
  sets[PluginPoint::kQueueSort] = SetOf(given.queue_sort());
  sets.multi_point = SetOf(given.multi_point());
  return sets;
}

// A plugin set as Kubernetes' messages print it.
std::string JsonOf(const PluginSet& set) {
  std::vector<std::string> enabled;
  for (const ScoreChoice& choice : set.enabled) {
    enabled.push_back(
        absl::StrCat("{\"Name\":\"", choice.plugin, "\",\"Weight\":", choice.weight, "}"));
  }
  std::vector<std::string> disabled;
  for (const std::string& name : set.disabled) {
    disabled.push_back(absl::StrCat("{\"Name\":\"", name, "\",\"Weight\":0}"));
  }
  const auto list = [](const std::vector<std::string>& items) {
    return items.empty() ? "null" : absl::StrCat("[", absl::StrJoin(items, ","), "]");
  };
  return absl::StrCat("{\"Enabled\":", list(enabled), ",\"Disabled\":", list(disabled), "}");
}

bool WasRemoved(absl::string_view plugin) {
  constexpr absl::string_view kRemoved[] = {"AzureDiskLimits", "CinderLimits", "EBSLimits",
                                            "GCEPDLimits"};
  return absl::c_linear_search(kRemoved, plugin);
}

// As Go's time.ParseDuration, which has no days; nothing for a text that is no duration.
std::optional<SimDuration> ParseGoDuration(absl::string_view text) {
  if (absl::StrContains(text, 'd')) return std::nullopt;
  const absl::StatusOr<SimDuration> parsed = ParseDuration(text);
  return parsed.ok() ? std::optional(*parsed) : std::nullopt;
}

struct DraftProfile {
  std::string name;
  PluginSets sets;
  std::vector<kube::SchedulerPluginConfig> args;  // with defaults
};

// From the message to values, in the steps of kube-scheduler: decoding, defaults, validation,
// extenders, profiles. Each step needs the one before to be free of problems.
class ConfigBuilder {
 public:
  ConfigBuilder(const kube::KubeSchedulerConfiguration* given, KubeConfig* config)
      : given_(*given), config_(config) {}

  std::vector<KubeProblem> Build() {
    Decode();
    if (!problems_.empty()) return std::move(problems_);
    SetDefaults();
    Validate();
    if (!problems_.empty()) return std::move(problems_);
    config_->percentage_of_nodes = given_.percentage_of_nodes_to_score();
    config_->initial_backoff = SimDuration::Seconds(std::min(initial_backoff_, kLongestSeconds));
    config_->max_backoff = SimDuration::Seconds(std::min(max_backoff_, kLongestSeconds));
    BuildExtenders();
    if (problems_.empty()) BuildProfiles();
    NoteWithoutEffect();
    return std::move(problems_);
  }

 private:
  static std::string ProfilePath(size_t profile) { return absl::StrCat("profiles[", profile, "]"); }
  static std::string ArgsPath(size_t profile, size_t entry) {
    return absl::StrCat("profiles[", profile, "].pluginConfig[", entry, "]");
  }

  // --- Decoding ---

  std::optional<SimDuration> DurationAt(const std::string& path, const std::string& text) {
    const std::optional<SimDuration> duration = ParseGoDuration(text);
    if (!duration.has_value()) {
      problems_.push_back({path, absl::StrCat(path, ": found '", text,
                                              "', expected a duration of at least 0 as in 1m30s")});
    }
    return duration;
  }

  void Decode() {
    for (size_t i = 0; i < static_cast<size_t>(given_.profiles_size()); ++i) {
      const kube::KubeSchedulerProfile& profile = given_.profiles(static_cast<int>(i));
      for (int k = 0; k < profile.plugin_config_size(); ++k) {
        const kube::SchedulerPluginConfig& entry = profile.plugin_config(k);
        const std::string path = ArgsPath(i, static_cast<size_t>(k)) + ".args";
        // Arguments of plugins without a type for them are not decoded.
        if (!TakesArgs(entry.name())) continue;
        CheckPluginArgFields(path, entry.name(), entry.args(), &problems_);
        if (entry.args().has_filter_timeout()) {
          DurationAt(path + ".filterTimeout", entry.args().filter_timeout());
        }
      }
    }
    for (int i = 0; i < given_.extenders_size(); ++i) {
      const std::string path = KubeItem("", "extenders", i) + ".httpTimeout";
      timeouts_.push_back(
          DurationAt(path, given_.extenders(i).http_timeout()).value_or(SimDuration()));
    }
    const kube::LeaderElectionConfiguration& election = given_.leader_election();
    const auto lease = [this](const char* field, const std::string& text, int64_t seconds) {
      const std::optional<SimDuration> given = DurationAt(KubeField("leaderElection", field), text);
      const bool is_default = !given.has_value() || *given == SimDuration();
      return is_default ? SimDuration::Seconds(seconds) : *given;
    };
    lease_duration_ = lease("leaseDuration", election.lease_duration(), 15);
    renew_deadline_ = lease("renewDeadline", election.renew_deadline(), 10);
    retry_period_ = lease("retryPeriod", election.retry_period(), 2);
  }

  // --- Defaults ---

  void SetDefaults() {
    kube::KubeSchedulerConfiguration given = given_;
    if (given.profiles_size() == 0) given.add_profiles();
    if (given.profiles_size() == 1 && !given.profiles(0).has_scheduler_name()) {
      given.mutable_profiles(0)->set_scheduler_name("default-scheduler");
    }
    for (const kube::KubeSchedulerProfile& profile : given.profiles()) {
      DraftProfile draft;
      draft.name = profile.scheduler_name();
      draft.sets = MergePluginSets(SetsOf(profile.plugins()));
      std::set<std::string> configured;
      for (const kube::SchedulerPluginConfig& entry : profile.plugin_config()) {
        configured.insert(entry.name());
        draft.args.push_back(entry);
      }
      for (const std::string& plugin : draft.sets.Enabled()) {
        if (configured.contains(plugin) || !TakesArgs(plugin)) continue;
        draft.args.emplace_back();
        draft.args.back().set_name(plugin);
      }
      for (kube::SchedulerPluginConfig& entry : draft.args) {
        SetPluginArgDefaults(entry.name(), entry.mutable_args());
      }
      drafts_.push_back(std::move(draft));
    }
    parallelism_ = given.has_parallelism() ? given.parallelism() : 16;
    initial_backoff_ =
        given.has_pod_initial_backoff_seconds() ? given.pod_initial_backoff_seconds() : 1;
    max_backoff_ = given.has_pod_max_backoff_seconds() ? given.pod_max_backoff_seconds() : 10;
  }

  // --- Validation ---

  void Validate() {
    ConfigProblems problems(&problems_);
    if (given_.client_connection().burst() < 0) {
      problems.Invalid("clientConnection.burst", given_.client_connection().burst(),
                       "must be non-negative");
    }
    ValidateLeaderElection(&problems);
    if (parallelism_ <= 0) {
      problems.Invalid("parallelism", parallelism_, "should be an integer value greater than zero");
    }
    std::map<std::string, size_t> names;
    for (size_t i = 0; i < drafts_.size(); ++i) {
      ValidateProfile(i, &problems);
      // Upstream prints "{}" in place of the name.
      const std::string path = ProfilePath(i) + ".schedulerName";
      if (!names.emplace(drafts_[i].name, i).second) {
        problems.Duplicate(path, Quoted(drafts_[i].name));
      }
    }
    ValidateQueueSort(&problems);
    problems.Percentage("percentageOfNodesToScore", given_.percentage_of_nodes_to_score());
    if (initial_backoff_ <= 0) {
      problems.Invalid("podInitialBackoffSeconds", initial_backoff_, "must be greater than 0");
    }
    if (max_backoff_ < initial_backoff_) {
      problems.Invalid("podMaxBackoffSeconds", max_backoff_,
                       "must be greater than or equal to PodInitialBackoffSeconds");
    }
    ValidateExtenders(&problems);
  }

  void ValidateLeaderElection(ConfigProblems* problems) {
    const kube::LeaderElectionConfiguration& election = given_.leader_election();
    if (election.has_leader_elect() && !election.leader_elect()) return;
    if (lease_duration_ <= renew_deadline_) {
      problems->Invalid("leaderElection.leaseDuration", Quoted(election.lease_duration()),
                        "LeaseDuration must be greater than RenewDeadline");
    }
    if (renew_deadline_ <= retry_period_) {
      problems->Invalid("leaderElection.renewDeadline", Quoted(election.renew_deadline()),
                        "RenewDeadline must be greater than RetryPeriod");
    }
    if (!election.resource_lock().empty() && election.resource_lock() != "leases") {
      problems->Invalid("leaderElection.resourceLock", Quoted(election.resource_lock()),
                        "resourceLock value must be \"leases\"");
    }
  }

  void RefuseRemoved(const std::string& path, const std::string& plugin, ConfigProblems* problems) {
    if (!WasRemoved(plugin)) return;
    constexpr char kVersion[] = "kubescheduler.config.k8s.io/v1";
    problems->Invalid(
        path, Quoted(plugin),
        absl::StrCat("was invalid in version \"", kVersion,
                     "\" (KubeSchedulerConfiguration is version \"", kVersion, "\")"));
  }

  void ValidateProfile(size_t index, ConfigProblems* problems) {
    const DraftProfile& draft = drafts_[index];
    const std::string path = ProfilePath(index);
    if (draft.name.empty()) problems->Required(path + ".schedulerName", "");
    if (index < static_cast<size_t>(given_.profiles_size())) {
      problems->Percentage(path + ".percentageOfNodesToScore",
                           given_.profiles(static_cast<int>(index)).percentage_of_nodes_to_score());
    }
    for (size_t p = 0; p < kPluginPoints; ++p) {
      const auto point = static_cast<PluginPoint>(p);
      const std::vector<ScoreChoice>& enabled = draft.sets[point].enabled;
      for (size_t i = 0; i < enabled.size(); ++i) {
        RefuseRemoved(absl::StrCat(path, ".plugins.", PluginPointField(point), ".enabled[", i, "]"),
                      enabled[i].plugin, problems);
      }
    }
    std::set<std::string> configured;
    for (size_t i = 0; i < draft.args.size(); ++i) {
      const std::string& plugin = draft.args[i].name();
      const std::string at = ArgsPath(index, i);
      if (!configured.insert(plugin).second) problems->Duplicate(at, Quoted(plugin));
      RefuseRemoved(at, plugin, problems);
      CheckPluginArgs(at + ".args", plugin, draft.args[i].args(), problems);
    }
  }

  // All profiles share one queue.
  void ValidateQueueSort(ConfigProblems* problems) {
    const PluginSet& first = drafts_[0].sets[PluginPoint::kQueueSort];
    if (first.enabled.size() > 1) {
      problems->Invalid("profiles[0].plugins.queueSort.Enabled",
                        static_cast<int64_t>(first.enabled.size()),
                        "only one queue sort plugin can be enabled");
    }
    for (size_t i = 1; i < drafts_.size(); ++i) {
      const PluginSet& other = drafts_[i].sets[PluginPoint::kQueueSort];
      if (other == first) continue;
      problems->Invalid(ProfilePath(i) + ".plugins.queueSort", JsonOf(other),
                        "must be the same for all profiles");
    }
  }

  void ValidateExtenders(ConfigProblems* problems) {
    int binders = 0;
    std::set<std::string> managed;
    for (int i = 0; i < given_.extenders_size(); ++i) {
      const kube::SchedulerExtender& extender = given_.extenders(i);
      const std::string path = KubeItem("", "extenders", i);
      if (!extender.prioritize_verb().empty() && extender.weight() <= 0) {
        problems->Invalid(path + ".weight", extender.weight(),
                          "must have a positive weight applied to it");
      }
      binders += extender.bind_verb().empty() ? 0 : 1;
      for (int k = 0; k < extender.managed_resources_size(); ++k) {
        const std::string& name = extender.managed_resources(k).name();
        const std::string at = KubeItem(path, "managedResources", k) + ".name";
        const size_t before = problems_.size();
        problems->LabelName(at, name);
        if (problems_.size() == before && !IsExtendedResource(name)) {
          problems->Invalid(at, Quoted(name), "is an invalid extended resource name");
        }
        if (!managed.insert(name).second) {
          problems->Invalid(at, Quoted(name), "duplicate extender managed resource name");
        }
      }
    }
    if (binders > 1) {
      problems->Invalid("extenders",
                        Quoted(absl::StrCat("found ", binders, " extenders implementing bind")),
                        "only one extender can implement bind");
    }
  }

  // --- Extenders and profiles ---

  static ExtenderSpec SpecOf(const kube::SchedulerExtender& given, SimDuration timeout) {
    ExtenderSpec spec;
    spec.url_prefix = given.url_prefix();
    spec.filter_verb = given.filter_verb();
    spec.prioritize_verb = given.prioritize_verb();
    spec.preempt_verb = given.preempt_verb();
    spec.bind_verb = given.bind_verb();
    spec.weight = given.weight();
    spec.enable_https = given.enable_https();
    spec.tls.insecure = given.tls_config().insecure();
    spec.tls.server_name = given.tls_config().server_name();
    spec.tls.cert_file = given.tls_config().cert_file();
    spec.tls.key_file = given.tls_config().key_file();
    spec.tls.ca_file = given.tls_config().ca_file();
    spec.tls.cert_data = given.tls_config().cert_data();
    spec.tls.key_data = given.tls_config().key_data();
    spec.tls.ca_data = given.tls_config().ca_data();
    if (timeout != SimDuration()) spec.http_timeout = timeout;
    spec.node_cache_capable = given.node_cache_capable();
    for (const kube::ExtenderManagedResource& resource : given.managed_resources()) {
      spec.managed_resources.push_back({resource.name(), resource.ignored_by_scheduler()});
    }
    spec.ignorable = given.ignorable();
    return spec;
  }

  void BuildExtenders() {
    std::vector<std::string> ignored;
    for (int i = 0; i < given_.extenders_size(); ++i) {
      config_->extenders.push_back(SpecOf(given_.extenders(i), timeouts_[static_cast<size_t>(i)]));
      for (const ExtenderSpec::ManagedResource& resource :
           config_->extenders.back().managed_resources) {
        if (resource.ignored_by_scheduler) ignored.push_back(resource.name);
      }
    }
    std::stable_partition(config_->extenders.begin(), config_->extenders.end(),
                          [](const ExtenderSpec& extender) { return !extender.ignorable; });
    if (ignored.empty()) return;
    for (DraftProfile& draft : drafts_) {
      const auto fit = std::find_if(draft.args.begin(), draft.args.end(),
                                    [](const auto& entry) { return entry.name() == kFit; });
      if (fit == draft.args.end()) {
        problems_.push_back({"extenders",
                             "couldn't build extenders: can't find NodeResourcesFitArgs in plugin "
                             "config"});
        return;
      }
      fit->mutable_args()->clear_ignored_resources();
      for (const std::string& name : ignored) fit->mutable_args()->add_ignored_resources(name);
    }
  }

  void BuildProfiles() {
    Registry registry;
    RegisterBuiltins(registry);
    for (size_t i = 0; i < drafts_.size() && problems_.empty(); ++i) {
      const DraftProfile& draft = drafts_[i];
      const std::string context = absl::StrCat(
          "initializing profiles: creating profile for scheduler name ", draft.name, ": ");
      ProfileSpec spec;
      spec.scheduler_name = draft.name;
      spec.percentage_of_nodes = config_->percentage_of_nodes;
      if (given_.profiles_size() > 0) {
        const kube::KubeSchedulerProfile& profile = given_.profiles(static_cast<int>(i));
        if (profile.has_percentage_of_nodes_to_score()) {
          spec.percentage_of_nodes = profile.percentage_of_nodes_to_score();
        }
      }
      const std::set<std::string> needed = draft.sets.Enabled();
      for (size_t k = 0; k < draft.args.size(); ++k) {
        const kube::SchedulerPluginConfig& entry = draft.args[k];
        if (!needed.contains(entry.name())) continue;
        if (entry.name() == kFit) {
          ConfigProblems problems(&problems_, ArgsPath(i, k) + ".args",
                                  absl::StrCat(context, "initializing plugin \"", kFit, "\": "));
          CheckFitArgs(entry.args(), &problems);
        }
        if (!problems_.empty()) return;
        PluginArgs args = PluginArgsOf(entry.name(), entry.args());
        if (!std::holds_alternative<std::monostate>(args)) {
          spec.args.emplace(entry.name(), std::move(args));
        }
      }
      if (const auto problem = ExpandPluginSets(draft.sets, registry, &spec); problem.has_value()) {
        problems_.push_back({PluginPath(i, *problem), absl::StrCat(context, problem->what)});
      }
      config_->profiles.push_back(std::move(spec));
    }
  }

  // The path at which the given profile enables the plugin; the last one of several.
  std::string PluginPath(size_t profile, const PluginSetProblem& problem) const {
    std::string path = ProfilePath(profile);
    if (profile >= static_cast<size_t>(given_.profiles_size())) return path;
    const PluginSets sets = SetsOf(given_.profiles(static_cast<int>(profile)).plugins());
    const auto find = [&](absl::string_view field, const PluginSet& set) {
      if (problem.field != field) return;
      for (size_t i = 0; i < set.enabled.size(); ++i) {
        if (set.enabled[i].plugin != problem.plugin) continue;
        path = absl::StrCat(ProfilePath(profile), ".plugins.", field, ".enabled[", i, "]");
      }
    };
    find("multiPoint", sets.multi_point);
    for (size_t p = 0; p < kPluginPoints; ++p) {
      find(PluginPointField(static_cast<PluginPoint>(p)), sets.points[p]);
    }
    return path;
  }

  void NoteWithoutEffect() {
    const auto note = [this](bool is_given, const char* key) {
      if (is_given) config_->without_effect.emplace_back(key);
    };
    note(given_.has_parallelism(), "parallelism");
    note(given_.has_leader_election(), "leaderElection");
    note(given_.has_client_connection(), "clientConnection");
    note(given_.has_enable_profiling(), "enableProfiling");
    note(given_.has_enable_contention_profiling(), "enableContentionProfiling");
    note(given_.has_delay_cache_until_active(), "delayCacheUntilActive");
    bool bind_timeout = false;
    bool filter_timeout = false;
    for (const kube::KubeSchedulerProfile& profile : given_.profiles()) {
      for (const kube::SchedulerPluginConfig& entry : profile.plugin_config()) {
        bind_timeout |= entry.args().has_bind_timeout_seconds();
        filter_timeout |= entry.args().has_filter_timeout();
      }
    }
    note(bind_timeout, "bindTimeoutSeconds");
    note(filter_timeout, "filterTimeout");
  }

  const kube::KubeSchedulerConfiguration& given_;
  KubeConfig* config_;
  std::vector<KubeProblem> problems_;
  std::vector<SimDuration> timeouts_;  // of the extenders
  SimDuration lease_duration_;
  SimDuration renew_deadline_;
  SimDuration retry_period_;
  std::vector<DraftProfile> drafts_;
  int64_t parallelism_ = 0;
  int64_t initial_backoff_ = 0;
  int64_t max_backoff_ = 0;
};

}  // namespace

KubeConfig DefaultKubeConfig() {
  const absl::StatusOr<KubeConfig> config = ReadKubeConfig(
      "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration}", "default");
  DRASIM_CHECK(config.ok());
  return *config;
}

ProfileSpec DefaultProfileSpec() { return DefaultKubeConfig().profiles[0]; }

absl::StatusOr<KubeConfig> ReadKubeConfig(absl::string_view text, absl::string_view file) {
  kube::KubeSchedulerConfiguration message;
  KubeConfig config;
  ConfigBuilder builder(&message, &config);
  RETURN_IF_ERROR(ReadKubeMessage(text, file, &message, [&builder] { return builder.Build(); }));
  return config;
}

absl::StatusOr<KubeConfig> ReadKubeConfigFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(path));
  ASSIGN_OR_RETURN(const std::string text, ReadAll(*source, kMaxKubeConfigBytes));
  return ReadKubeConfig(text, source->name());
}

}  // namespace drasim
