#include "sim/scenario/kube_plugin_sets.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "policies/framework/plugin.h"

namespace drasim {
namespace {

using PointSet = uint32_t;

constexpr PointSet Bit(PluginPoint point) { return 1u << static_cast<uint32_t>(point); }

constexpr PointSet kEnqueue = Bit(PluginPoint::kPreEnqueue);
constexpr PointSet kFilters = Bit(PluginPoint::kPreFilter) | Bit(PluginPoint::kFilter);
constexpr PointSet kScores = Bit(PluginPoint::kPreScore) | Bit(PluginPoint::kScore);

struct DefaultPlugin {
  absl::string_view name;
  int64_t weight;   // 0: none is given
  PointSet points;  // that it implements
  // The points at which it does nothing that a simulation would see. A configuration may name them;
  // the profile's lists leave them out.
  PointSet idle = 0;
};

// In the order of multiPoint.
constexpr DefaultPlugin kDefaultPlugins[] = {
    {"SchedulingGates", 0, kEnqueue},
    {"PrioritySort", 0, Bit(PluginPoint::kQueueSort)},
    {"NodeUnschedulable", 0, Bit(PluginPoint::kFilter)},
    {"NodeName", 0, Bit(PluginPoint::kFilter)},
    {"TaintToleration", 3, Bit(PluginPoint::kFilter) | kScores},
    {"NodeAffinity", 2, kFilters | kScores},
    {"NodePorts", 0, kFilters},
    {"NodeResourcesFit", 1, kFilters | kScores},
    {"VolumeRestrictions", 0, kFilters},
    {"NodeVolumeLimits", 0, kFilters},
    {"VolumeBinding", 0,
     kFilters | kScores | Bit(PluginPoint::kReserve) | Bit(PluginPoint::kPreBind),
     Bit(PluginPoint::kPreBind)},
    {"VolumeZone", 0, kFilters},
    {"PodTopologySpread", 2, kFilters | kScores},
    {"InterPodAffinity", 2, kFilters | kScores},
    // Pods with claims of resource.k8s.io/v1 are not scheduled: at these points there is nothing to
    // do for others.
    {"DynamicResources", 0,
     kEnqueue | kFilters | Bit(PluginPoint::kPostFilter) | Bit(PluginPoint::kReserve) |
         Bit(PluginPoint::kPreBind),
     kEnqueue | Bit(PluginPoint::kReserve) | Bit(PluginPoint::kPreBind)},
    // PreEnqueue holds a pod only while asynchronous preemption is under way.
    {"DefaultPreemption", 0, kEnqueue | Bit(PluginPoint::kPostFilter), kEnqueue},
    {"NodeResourcesBalancedAllocation", 1, kScores},
    {"ImageLocality", 1, Bit(PluginPoint::kScore)},
    {"DefaultBinder", 0, Bit(PluginPoint::kBind)},
};

const DefaultPlugin* FindDefault(absl::string_view name) {
  for (const DefaultPlugin& plugin : kDefaultPlugins) {
    if (plugin.name == name) return &plugin;
  }
  return nullptr;
}

// The points that a plugin of the registry implements; nothing for an unknown name.
std::optional<PointSet> PointsOf(const std::string& name, const Registry& registry) {
  if (const DefaultPlugin* plugin = FindDefault(name); plugin != nullptr) return plugin->points;
  const absl::StatusOr<std::unique_ptr<Plugin>> made = registry.MakePlugin(name, {});
  if (!made.ok()) return std::nullopt;
  const Plugin* plugin = made->get();
  PointSet points = 0;
  const auto add = [&points](bool implements, PointSet point) { points |= implements ? point : 0; };
  add(dynamic_cast<const PreEnqueuePlugin*>(plugin) != nullptr, kEnqueue);
  add(dynamic_cast<const QueueSortPlugin*>(plugin) != nullptr, Bit(PluginPoint::kQueueSort));
  add(dynamic_cast<const PreFilterPlugin*>(plugin) != nullptr, Bit(PluginPoint::kPreFilter));
  add(dynamic_cast<const FilterPlugin*>(plugin) != nullptr, Bit(PluginPoint::kFilter));
  add(dynamic_cast<const PostFilterPlugin*>(plugin) != nullptr, Bit(PluginPoint::kPostFilter));
  add(dynamic_cast<const ScorePlugin*>(plugin) != nullptr, kScores);
  add(dynamic_cast<const ReservePlugin*>(plugin) != nullptr, Bit(PluginPoint::kReserve));
  add(dynamic_cast<const PermitPlugin*>(plugin) != nullptr, Bit(PluginPoint::kPermit));
  add(dynamic_cast<const PreBindPlugin*>(plugin) != nullptr, Bit(PluginPoint::kPreBind));
  add(dynamic_cast<const BindPlugin*>(plugin) != nullptr, Bit(PluginPoint::kBind));
  add(dynamic_cast<const PostBindPlugin*>(plugin) != nullptr, Bit(PluginPoint::kPostBind));
  return points;
}

constexpr absl::string_view kMultiPoint = "multiPoint";
// As Profile takes it.
constexpr int64_t kMostScoreWeight = 1'000'000;

bool Contains(const std::vector<std::string>& names, absl::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A custom plugin that names a default one replaces it in place; the others follow.
PluginSet MergeSet(const PluginSet& defaults, const PluginSet& own) {
  PluginSet merged;
  merged.disabled = own.disabled;
  std::map<std::string, size_t> own_index;  // of several of one name the last one
  for (size_t i = 0; i < own.enabled.size(); ++i) own_index[own.enabled[i].plugin] = i;
  std::set<size_t> replacing;
  if (!Contains(own.disabled, "*")) {
    for (const ScoreChoice& plugin : defaults.enabled) {
      if (Contains(own.disabled, plugin.plugin)) continue;
      const auto replaced = own_index.find(plugin.plugin);
      if (replaced == own_index.end()) {
        merged.enabled.push_back(plugin);
      } else {
        replacing.insert(replaced->second);
        merged.enabled.push_back(own.enabled[replaced->second]);
      }
    }
  }
  for (size_t i = 0; i < own.enabled.size(); ++i) {
    if (!replacing.contains(i)) merged.enabled.push_back(own.enabled[i]);
  }
  return merged;
}

// Makes the lists of one profile.
class Expansion {
 public:
  Expansion(const PluginSets& sets, const Registry& registry) : sets_(sets), registry_(registry) {}

  // The first one.
  const std::optional<PluginSetProblem>& problem() const { return problem_; }

  // The plugins of a point, in order: those of both sets in the order of the point's own, the rest
  // of multiPoint, the rest of the point's own. Not valid after a problem.
  std::vector<std::string> List(PluginPoint point) {
    const std::string field(PluginPointField(point));
    const PluginSet& own = sets_[point];
    std::vector<std::string> named;
    for (const ScoreChoice& choice : own.enabled) {
      if ((Points(choice.plugin, point, field) & Bit(point)) == 0) {
        Fail(field, choice.plugin,
             absl::StrCat("plugin \"", choice.plugin, "\" does not extend ",
                          PluginPointInterface(point), " plugin"));
      }
      if (Contains(named, choice.plugin)) Twice(field, choice.plugin, point);
      named.push_back(choice.plugin);
    }
    if (Contains(own.disabled, "*")) return named;
    std::vector<std::string> overriding;
    std::vector<std::string> expanded;
    for (const ScoreChoice& choice : sets_.multi_point.enabled) {
      const PointSet points = Points(choice.plugin, point, kMultiPoint);
      if ((points & Bit(point)) == 0 || Contains(own.disabled, choice.plugin)) continue;
      if (Contains(named, choice.plugin)) {
        overriding.push_back(choice.plugin);
      } else if (Contains(expanded, choice.plugin)) {
        Twice(kMultiPoint, choice.plugin, point);
      } else {
        expanded.push_back(choice.plugin);
      }
    }
    std::vector<std::string> list;
    for (const std::string& name : named) {
      if (Contains(overriding, name)) list.push_back(name);
    }
    list.insert(list.end(), expanded.begin(), expanded.end());
    for (const std::string& name : named) {
      if (!Contains(overriding, name)) list.push_back(name);
    }
    return list;
  }

  // The weight at the point wins over that of multiPoint; without any it is 1.
  int64_t WeightOf(absl::string_view plugin) {
    for (const bool at_point : {true, false}) {
      const PluginSet& set = at_point ? sets_[PluginPoint::kScore] : sets_.multi_point;
      for (const ScoreChoice& choice : set.enabled) {
        if (choice.plugin != plugin) continue;
        if (choice.weight < 0 || choice.weight > kMostScoreWeight) {
          Fail(std::string(at_point ? PluginPointField(PluginPoint::kScore) : kMultiPoint),
               choice.plugin,
               absl::StrCat("the weight of plugin \"", choice.plugin, "\" is ", choice.weight,
                            ", expected 0 to ", kMostScoreWeight));
        }
        return choice.weight == 0 ? 1 : choice.weight;
      }
    }
    return 1;
  }

 private:
  void Fail(absl::string_view field, const std::string& plugin, std::string what) {
    if (!problem_.has_value()) problem_ = {std::move(what), std::string(field), plugin};
  }

  void Twice(absl::string_view field, const std::string& plugin, PluginPoint point) {
    Fail(field, plugin,
         absl::StrCat("plugin \"", plugin, "\" already registered as \"",
                      PluginPointInterface(point), "\""));
  }

  // The points of a plugin that `field` enables.
  PointSet Points(const std::string& plugin, PluginPoint point, absl::string_view field) {
    const auto [known, is_new] = points_.try_emplace(plugin);
    if (is_new) known->second = PointsOf(plugin, registry_);
    if (known->second.has_value()) return *known->second;
    Fail(field, plugin,
         absl::StrCat(PluginPointInterface(point), " \"", plugin, "\" does not exist"));
    return 0;
  }

  const PluginSets& sets_;
  const Registry& registry_;
  std::map<std::string, std::optional<PointSet>> points_;
  std::optional<PluginSetProblem> problem_;
};

}  // namespace

absl::string_view PluginPointField(PluginPoint point) {
  constexpr absl::string_view kFields[kPluginPoints] = {
      "preFilter", "filter", "postFilter", "reserve", "preScore",   "score",
      "preBind",   "bind",   "postBind",   "permit",  "preEnqueue", "queueSort"};
  return kFields[static_cast<size_t>(point)];
}

absl::string_view PluginPointInterface(PluginPoint point) {
  constexpr absl::string_view kInterfaces[kPluginPoints] = {
      "PreFilterPlugin", "FilterPlugin", "PostFilterPlugin", "ReservePlugin",
      "PreScorePlugin",  "ScorePlugin",  "PreBindPlugin",    "BindPlugin",
      "PostBindPlugin",  "PermitPlugin", "PreEnqueuePlugin", "QueueSortPlugin"};
  return kInterfaces[static_cast<size_t>(point)];
}

std::set<std::string> PluginSets::Enabled() const {
  std::set<std::string> names;
  for (const ScoreChoice& choice : multi_point.enabled) names.insert(choice.plugin);
  for (const PluginSet& set : points) {
    for (const ScoreChoice& choice : set.enabled) names.insert(choice.plugin);
  }
  return names;
}

PluginSets DefaultPluginSets() {
  PluginSets sets;
  for (const DefaultPlugin& plugin : kDefaultPlugins) {
    sets.multi_point.enabled.push_back({std::string(plugin.name), plugin.weight});
  }
  return sets;
}

PluginSets MergePluginSets(const PluginSets& own) {
  PluginSets merged = own;  // by default, the points have no plugins of their own
  merged.multi_point = MergeSet(DefaultPluginSets().multi_point, own.multi_point);
  return merged;
}

std::optional<PluginSetProblem> ExpandPluginSets(const PluginSets& sets, const Registry& registry,
                                                 ProfileSpec* spec) {
  Expansion expansion(sets, registry);
  std::array<std::vector<std::string>, kPluginPoints> lists;
  for (size_t i = 0; i < kPluginPoints; ++i) {
    lists[i] = expansion.List(static_cast<PluginPoint>(i));
    if (expansion.problem().has_value()) return expansion.problem();
  }
  const auto list = [&lists](PluginPoint point) -> std::vector<std::string>& {
    return lists[static_cast<size_t>(point)];
  };
  if (list(PluginPoint::kQueueSort).size() != 1) {
    return PluginSetProblem{
        absl::StrCat("only one queue sort plugin required for profile with scheduler name \"",
                     spec->scheduler_name, "\", but got ", list(PluginPoint::kQueueSort).size()),
        "", ""};
  }
  if (list(PluginPoint::kBind).empty()) {
    return PluginSetProblem{
        absl::StrCat("at least one bind plugin is needed for profile with scheduler name \"",
                     spec->scheduler_name, "\""),
        "", ""};
  }
  for (size_t i = 0; i < kPluginPoints; ++i) {
    std::erase_if(lists[i], [i](const std::string& name) {
      const DefaultPlugin* plugin = FindDefault(name);
      return plugin != nullptr && (plugin->idle & Bit(static_cast<PluginPoint>(i))) != 0;
    });
  }
  spec->pre_enqueue = list(PluginPoint::kPreEnqueue);
  spec->queue_sort = list(PluginPoint::kQueueSort)[0];
  spec->pre_filter = list(PluginPoint::kPreFilter);
  spec->filter = list(PluginPoint::kFilter);
  spec->post_filter = list(PluginPoint::kPostFilter);
  spec->pre_score = list(PluginPoint::kPreScore);
  spec->score.clear();
  for (const std::string& name : list(PluginPoint::kScore)) {
    spec->score.push_back({name, expansion.WeightOf(name)});
  }
  spec->reserve = list(PluginPoint::kReserve);
  spec->permit = list(PluginPoint::kPermit);
  spec->pre_bind = list(PluginPoint::kPreBind);
  spec->bind = list(PluginPoint::kBind);
  spec->post_bind = list(PluginPoint::kPostBind);
  return expansion.problem();
}

}  // namespace drasim
