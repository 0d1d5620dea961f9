#include "sim/scenario/kube_plugin_args.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/kube/field_check.h"
#include "model/kube/label_check.h"
#include "model/kube/selectors_of.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

constexpr char kVersion[] = "kubescheduler.config.k8s.io/v1";
constexpr int64_t kMaxUtilization = 100;
constexpr int64_t kMaxCustomScore = 10;
constexpr int64_t kMaxResourceWeight = 100;

void SetResourceDefaults(google::protobuf::RepeatedPtrField<kube::SchedulerResource>* resources) {
  if (resources->empty()) {
    for (const char* name : {"cpu", "memory"}) resources->Add()->set_name(name);
  }
  for (kube::SchedulerResource& resource : *resources) {
    if (resource.weight() == 0) resource.set_weight(1);
  }
}

WeightedResources ResourcesOf(
    const google::protobuf::RepeatedPtrField<kube::SchedulerResource>& resources) {
  WeightedResources weighted;
  for (const kube::SchedulerResource& resource : resources) {
    weighted.emplace_back(resource.name(), resource.weight());
  }
  return weighted;
}

void CheckShape(const std::string& path,
                const google::protobuf::RepeatedPtrField<kube::UtilizationShapePoint>& shape,
                ConfigProblems* problems) {
  if (shape.empty()) return problems->Required(path, "at least one point must be specified");
  for (int i = 1; i < shape.size(); ++i) {
    if (shape[i - 1].utilization() < shape[i].utilization()) continue;
    problems->Invalid(absl::StrCat(path, "[", i, "].utilization"), shape[i].utilization(),
                      "values must be sorted in increasing order");
    break;
  }
  for (int i = 0; i < shape.size(); ++i) {
    const std::string at = absl::StrCat(path, "[", i, "]");
    if (shape[i].utilization() < 0 || shape[i].utilization() > kMaxUtilization) {
      problems->Invalid(at + ".utilization", shape[i].utilization(),
                        absl::StrCat("not in valid range [0-", kMaxUtilization, "]"));
    }
    if (shape[i].score() < 0 || shape[i].score() > kMaxCustomScore) {
      problems->Invalid(at + ".score", shape[i].score(),
                        absl::StrCat("not in valid range [0-", kMaxCustomScore, "]"));
    }
  }
}

void CheckPreemptionArgs(const std::string& path, const kube::SchedulerPluginArgs& args,
                         ConfigProblems* problems) {
  const std::string percentage_path = KubeField(path, "minCandidateNodesPercentage");
  const std::string absolute_path = KubeField(path, "minCandidateNodesAbsolute");
  const int64_t percentage = args.min_candidate_nodes_percentage();
  const int64_t absolute = args.min_candidate_nodes_absolute();
  if (percentage < 0 || percentage > 100) {
    problems->Invalid(percentage_path, percentage, "not in valid range [0, 100]");
  }
  if (absolute < 0) problems->Invalid(absolute_path, absolute, "not in valid range [0, inf)");
  if (percentage == 0 && absolute == 0) {
    problems->Invalid(percentage_path, percentage,
                      "cannot be zero at the same time as minCandidateNodesAbsolute");
    problems->Invalid(absolute_path, absolute,
                      "cannot be zero at the same time as minCandidateNodesPercentage");
  }
}

void CheckBalancedArgs(const std::string& path, const kube::SchedulerPluginArgs& args,
                       ConfigProblems* problems) {
  std::set<std::string> seen;
  for (int i = 0; i < args.resources_size(); ++i) {
    const std::string at = KubeItem(path, "resources", i);
    const kube::SchedulerResource& resource = args.resources(i);
    if (!seen.insert(resource.name()).second) {
      problems->Duplicate(KubeField(at, "name"), Quoted(resource.name()));
    }
    if (resource.weight() != 1) {
      problems->Invalid(KubeField(at, "weight"), resource.weight(), "must be 1");
    }
  }
}

void CheckSpreadArgs(const std::string& path, const kube::SchedulerPluginArgs& args,
                     ConfigProblems* problems) {
  const std::string type_path = KubeField(path, "defaultingType");
  const std::string& type = args.defaulting_type();
  if (type != "System" && type != "List") {
    problems->NotSupported(type_path, type, {"System", "List"});
  }
  if (type == "System" && args.default_constraints_size() > 0) {
    problems->Invalid(type_path, Quoted(type), "when .defaultConstraints are not empty");
  }
  std::set<std::pair<std::string, std::string>> seen;
  for (int i = 0; i < args.default_constraints_size(); ++i) {
    const kube::TopologySpreadConstraint& constraint = args.default_constraints(i);
    const std::string at = KubeItem(path, "defaultConstraints", i);
    if (constraint.max_skew() <= 0) {
      problems->Invalid(KubeField(at, "maxSkew"), constraint.max_skew(),
                        "not in valid range (0, inf)");
    }
    if (constraint.topology_key().empty()) {
      problems->Required(KubeField(at, "topologyKey"), "can not be empty");
    } else {
      problems->LabelName(KubeField(at, "topologyKey"), constraint.topology_key());
    }
    const std::string& action = constraint.when_unsatisfiable();
    if (action.empty()) {
      problems->Required(KubeField(at, "whenUnsatisfiable"), "can not be empty");
    } else if (action != "DoNotSchedule" && action != "ScheduleAnyway") {
      problems->NotSupported(KubeField(at, "whenUnsatisfiable"), action,
                             {"DoNotSchedule", "ScheduleAnyway"});
    }
    if (constraint.has_label_selector()) {
      problems->Forbidden(KubeField(at, "labelSelector"),
                          "constraint must not define a selector, as they deduced for each pod");
    }
    if (!seen.emplace(constraint.topology_key(), action).second) {
      problems->Duplicate(at,
                          Quoted(absl::StrCat("{", constraint.topology_key(), ", ", action, "}")));
    }
  }
}

void CheckAffinityArgs(const std::string& path, const kube::SchedulerPluginArgs& args,
                       ConfigProblems* problems) {
  const std::string below = KubeField(path, "addedAffinity");
  const auto check = [problems](const kube::NodeSelectorTerm& term, const std::string& at) {
    const NodeTerm read = NodeTermOf(term, at);
    if (!read.error.empty()) problems->Aggregate(at, read.error);
  };
  const kube::NodeSelector& required =
      args.added_affinity().required_during_scheduling_ignored_during_execution();
  for (int i = 0; i < required.node_selector_terms_size(); ++i) {
    check(required.node_selector_terms(i),
          KubeItem(KubeField(below, "requiredDuringSchedulingIgnoredDuringExecution"),
                   "nodeSelectorTerms", i));
  }
  const auto& preferred =
      args.added_affinity().preferred_during_scheduling_ignored_during_execution();
  for (int i = 0; i < preferred.size(); ++i) {
    check(preferred[i].preference(),
          KubeItem(below, "preferredDuringSchedulingIgnoredDuringExecution", i));
  }
}

NodeResourcesFitArgs FitArgsOf(const kube::SchedulerPluginArgs& args) {
  NodeResourcesFitArgs fit;
  const kube::ScoringStrategy& strategy = args.scoring_strategy();
  if (strategy.type() == "MostAllocated") {
    fit.strategy = NodeResourcesFitArgs::Strategy::kMostAllocated;
  } else if (strategy.type() == "RequestedToCapacityRatio") {
    fit.strategy = NodeResourcesFitArgs::Strategy::kRequestedToCapacityRatio;
  }
  fit.resources = ResourcesOf(strategy.resources());
  for (const kube::UtilizationShapePoint& point : strategy.requested_to_capacity_ratio().shape()) {
    fit.shape.emplace_back(point.utilization(), point.score());
  }
  fit.ignored_resources.assign(args.ignored_resources().begin(), args.ignored_resources().end());
  fit.ignored_resource_groups.assign(args.ignored_resource_groups().begin(),
                                     args.ignored_resource_groups().end());
  return fit;
}

NodeAffinityArgs AffinityArgsOf(const kube::SchedulerPluginArgs& args) {
  NodeAffinityArgs affinity;
  const kube::NodeAffinity& added = args.added_affinity();
  affinity.has_required = added.has_required_during_scheduling_ignored_during_execution();
  affinity.required =
      RequiredNodeTermsOf(added.required_during_scheduling_ignored_during_execution());
  affinity.preferred = PreferredNodeTermsOf(added);
  return affinity;
}

PodTopologySpreadArgs SpreadArgsOf(const kube::SchedulerPluginArgs& args) {
  PodTopologySpreadArgs spread;
  spread.system_defaults = args.defaulting_type() == "System";
  for (const kube::TopologySpreadConstraint& given : args.default_constraints()) {
    SpreadConstraint constraint;
    constraint.max_skew = given.max_skew();
    constraint.topology_key = given.topology_key();
    constraint.hard = given.when_unsatisfiable() == "DoNotSchedule";
    if (given.has_min_domains()) constraint.min_domains = given.min_domains();
    constraint.honor_affinity = given.node_affinity_policy() != "Ignore";
    constraint.honor_taints = given.node_taints_policy() == "Honor";
    spread.default_constraints.push_back(std::move(constraint));
  }
  return spread;
}

void CheckVolumeArgs(const std::string& path, const kube::SchedulerPluginArgs& args,
                     ConfigProblems* problems) {
  if (args.bind_timeout_seconds() < 0) {
    problems->Invalid(KubeField(path, "bindTimeoutSeconds"), args.bind_timeout_seconds(),
                      "invalid BindTimeoutSeconds, should not be a negative value");
  }
  if (args.shape_size() > 0) {
    problems->Forbidden(KubeField(path, "shape"),
                        "unexpected field `shape`, remember to turn on the feature gate "
                        "StorageCapacityScoring");
  }
}

// Rules for the arguments of one plugin. Null: nothing to do.
struct ArgRules {
  absl::string_view plugin;
  std::vector<std::string> fields;  // beside apiVersion and kind
  void (*set_defaults)(kube::SchedulerPluginArgs* args);
  void (*check)(const std::string& path, const kube::SchedulerPluginArgs& args,
                ConfigProblems* problems);
  PluginArgs (*convert)(const kube::SchedulerPluginArgs& args);
};

const std::vector<ArgRules>& AllArgRules() {
  static const auto* const kRules = new std::vector<ArgRules>{
      {"DefaultPreemption",
       {"minCandidateNodesPercentage", "minCandidateNodesAbsolute"},
       [](kube::SchedulerPluginArgs* args) {
         if (!args->has_min_candidate_nodes_percentage()) {
           args->set_min_candidate_nodes_percentage(10);
         }
         if (!args->has_min_candidate_nodes_absolute()) {
           args->set_min_candidate_nodes_absolute(100);
         }
       },
       CheckPreemptionArgs,
       [](const kube::SchedulerPluginArgs& args) -> PluginArgs {
         return DefaultPreemptionArgs{args.min_candidate_nodes_percentage(),
                                      args.min_candidate_nodes_absolute()};
       }},
      {"DynamicResources", {"filterTimeout"}, nullptr, nullptr, nullptr},
      {"InterPodAffinity",
       {"hardPodAffinityWeight", "ignorePreferredTermsOfExistingPods"},
       [](kube::SchedulerPluginArgs* args) {
         if (!args->has_hard_pod_affinity_weight()) args->set_hard_pod_affinity_weight(1);
       },
       [](const std::string& path, const kube::SchedulerPluginArgs& args,
          ConfigProblems* problems) {
         const int32_t weight = args.hard_pod_affinity_weight();
         if (weight >= 0 && weight <= 100) return;
         problems->Invalid(KubeField(path, "hardPodAffinityWeight"), weight,
                           "not in valid range [0, 100]");
       },
       [](const kube::SchedulerPluginArgs& args) -> PluginArgs {
         return InterPodAffinityArgs{args.hard_pod_affinity_weight(),
                                     args.ignore_preferred_terms_of_existing_pods()};
       }},
      {"NodeAffinity",
       {"addedAffinity"},
       nullptr,
       CheckAffinityArgs,
       [](const kube::SchedulerPluginArgs& args) -> PluginArgs { return AffinityArgsOf(args); }},
      {"NodeResourcesBalancedAllocation",
       {"resources"},
       [](kube::SchedulerPluginArgs* args) { SetResourceDefaults(args->mutable_resources()); },
       CheckBalancedArgs,
       [](const kube::SchedulerPluginArgs& args) -> PluginArgs {
         BalancedAllocationArgs balanced;
         balanced.resources = ResourcesOf(args.resources());
         return balanced;
       }},
      {"NodeResourcesFit",  // checked by CheckFitArgs
       {"ignoredResources", "ignoredResourceGroups", "scoringStrategy"},
       [](kube::SchedulerPluginArgs* args) {
         if (!args->has_scoring_strategy()) {
           args->mutable_scoring_strategy()->set_type("LeastAllocated");
         }
         SetResourceDefaults(args->mutable_scoring_strategy()->mutable_resources());
       },
       nullptr,
       [](const kube::SchedulerPluginArgs& args) -> PluginArgs { return FitArgsOf(args); }},
      {"PodTopologySpread",
       {"defaultConstraints", "defaultingType"},
       [](kube::SchedulerPluginArgs* args) {
         if (args->defaulting_type().empty()) args->set_defaulting_type("System");
       },
       CheckSpreadArgs,
       [](const kube::SchedulerPluginArgs& args) -> PluginArgs { return SpreadArgsOf(args); }},
      {"VolumeBinding",
       {"bindTimeoutSeconds", "shape"},
       [](kube::SchedulerPluginArgs* args) {
         if (!args->has_bind_timeout_seconds()) args->set_bind_timeout_seconds(600);
       },
       CheckVolumeArgs,
       [](const kube::SchedulerPluginArgs& args) -> PluginArgs {
         return VolumeBindingArgs{args.bind_timeout_seconds()};
       }}};
  return *kRules;
}

// Null for a plugin without arguments.
const ArgRules* FindArgRules(absl::string_view plugin) {
  for (const ArgRules& rules : AllArgRules()) {
    if (rules.plugin == plugin) return &rules;
  }
  return nullptr;
}

}  // namespace

std::string Quoted(absl::string_view text) { return absl::StrCat("\"", text, "\""); }

void ConfigProblems::Add(const std::string& path, absl::string_view what) {
  const std::string place = place_.empty() ? path : KubeField(place_, path);
  problems_->push_back({place, absl::StrCat(context_, path, path.empty() ? "" : ": ", what)});
}

void ConfigProblems::Invalid(const std::string& path, absl::string_view value,
                             absl::string_view detail) {
  Add(path, absl::StrCat("Invalid value: ", value, ": ", detail));
}

void ConfigProblems::Invalid(const std::string& path, int64_t value, absl::string_view detail) {
  Invalid(path, absl::StrCat(value), detail);
}

void ConfigProblems::Required(const std::string& path, absl::string_view detail) {
  Add(path, absl::StrCat("Required value", detail.empty() ? "" : ": ", detail));
}

void ConfigProblems::Duplicate(const std::string& path, absl::string_view value) {
  Add(path, absl::StrCat("Duplicate value: ", value));
}

void ConfigProblems::NotSupported(const std::string& path, const std::string& value,
                                  const std::vector<std::string>& supported) {
  Add(path, absl::StrCat("Unsupported value: ", Quoted(value), ": supported values: \"",
                         absl::StrJoin(supported, "\", \""), "\""));
}

void ConfigProblems::Forbidden(const std::string& path, absl::string_view detail) {
  Add(path, absl::StrCat("Forbidden: ", detail));
}

void ConfigProblems::LabelName(const std::string& path, const std::string& value) {
  for (const std::string& problem : QualifiedNameProblems(value)) {
    Invalid(path, Quoted(value), problem);
  }
}

void ConfigProblems::Aggregate(const std::string& path, const std::string& text) {
  problems_->push_back({path, text});
}

void ConfigProblems::Percentage(const std::string& path, int64_t value) {
  if (value < 0 || value > 100) Invalid(path, value, "not in valid range [0-100]");
}

bool TakesArgs(absl::string_view plugin) { return FindArgRules(plugin) != nullptr; }

void CheckPluginArgFields(const std::string& path, const std::string& plugin,
                          const kube::SchedulerPluginArgs& args,
                          std::vector<KubeProblem>* problems) {
  const ArgRules* const rules = FindArgRules(plugin);
  std::vector<std::string> known;
  if (rules != nullptr) known = rules->fields;
  known.insert(known.end(), {"apiVersion", "kind"});
  std::vector<const google::protobuf::FieldDescriptor*> given;
  args.GetReflection()->ListFields(args, &given);
  for (const google::protobuf::FieldDescriptor* field : given) {
    if (std::find(known.begin(), known.end(), field->json_name()) != known.end()) continue;
    const std::string at = KubeField(path, field->json_name());
    problems->push_back(
        {at, absl::StrCat(at, ": unknown field, expected one of ", absl::StrJoin(known, ", "))});
  }
  if (!args.api_version().empty() && args.api_version() != kVersion) {
    const std::string at = KubeField(path, "apiVersion");
    problems->push_back(
        {at, absl::StrCat(at, ": found '", args.api_version(), "', expected ", kVersion)});
  }
  const std::string kind = plugin + "Args";
  if (!args.kind().empty() && args.kind() != kind) {
    problems->push_back(
        {KubeField(path, "kind"), absl::StrCat("args for plugin ", plugin, " were not of type ",
                                               kind, ".kubescheduler.config.k8s.io, got ",
                                               args.kind(), ".kubescheduler.config.k8s.io")});
  }
}

void SetPluginArgDefaults(const std::string& plugin, kube::SchedulerPluginArgs* args) {
  const ArgRules* const rules = FindArgRules(plugin);
  if (rules != nullptr && rules->set_defaults != nullptr) rules->set_defaults(args);
}

void CheckPluginArgs(const std::string& path, const std::string& plugin,
                     const kube::SchedulerPluginArgs& args, ConfigProblems* problems) {
  const ArgRules* const rules = FindArgRules(plugin);
  if (rules != nullptr && rules->check != nullptr) rules->check(path, args, problems);
}

void CheckFitArgs(const kube::SchedulerPluginArgs& args, ConfigProblems* problems) {
  for (int i = 0; i < args.ignored_resources_size(); ++i) {
    problems->LabelName(KubeItem("", "ignoredResources", i), args.ignored_resources(i));
  }
  for (int i = 0; i < args.ignored_resource_groups_size(); ++i) {
    const std::string at = KubeItem("", "ignoredResourceGroups", i);
    const std::string& group = args.ignored_resource_groups(i);
    if (absl::StrContains(group, '/')) {
      problems->Invalid(at, Quoted(group), "resource group name can't contain '/'");
    }
    problems->LabelName(at, group);
  }
  const kube::ScoringStrategy& strategy = args.scoring_strategy();
  const std::vector<std::string> types = {"LeastAllocated", "MostAllocated",
                                          "RequestedToCapacityRatio"};
  if (std::find(types.begin(), types.end(), strategy.type()) == types.end()) {
    problems->NotSupported("scoringStrategy.type", strategy.type(), types);
  }
  for (int i = 0; i < strategy.resources_size(); ++i) {
    const kube::SchedulerResource& resource = strategy.resources(i);
    if (resource.weight() > 0 && resource.weight() <= kMaxResourceWeight) continue;
    problems->Invalid(KubeItem("scoringStrategy", "resources", i) + ".weight", resource.weight(),
                      absl::StrCat("resource weight of ", resource.name(),
                                   " not in valid range (0, ", kMaxResourceWeight, "]"));
  }
  if (strategy.has_requested_to_capacity_ratio() || strategy.type() == types.back()) {
    CheckShape("scoringStrategy.shape", strategy.requested_to_capacity_ratio().shape(), problems);
  }
}

PluginArgs PluginArgsOf(const std::string& plugin, const kube::SchedulerPluginArgs& args) {
  const ArgRules* const rules = FindArgRules(plugin);
  if (rules == nullptr || rules->convert == nullptr) return std::monostate();
  return rules->convert(args);
}

}  // namespace drasim
