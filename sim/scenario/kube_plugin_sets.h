// The plugins of a KubeSchedulerConfiguration's profile: the default set, its merge with the
// profile's own, and the expansion of multiPoint into a list per extension point.
//
// Source: kubernetes/kubernetes pkg/scheduler/apis/config/v1/default_plugins.go (mergePlugins),
// pkg/scheduler/framework/runtime/framework.go (NewFramework, expandMultiPointPlugins,
// getScoreWeights), release 1.34.
#ifndef DRASIM_SIM_SCENARIO_KUBE_PLUGIN_SETS_H_
#define DRASIM_SIM_SCENARIO_KUBE_PLUGIN_SETS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "policies/framework/profile_spec.h"
#include "policies/framework/registry.h"

namespace drasim {

// In the order in which kube-scheduler fills them, which decides the first error.
enum class PluginPoint : uint8_t {
  kPreFilter,
  kFilter,
  kPostFilter,
  kReserve,
  kPreScore,
  kScore,
  kPreBind,
  kBind,
  kPostBind,
  kPermit,
  kPreEnqueue,
  kQueueSort,
};
inline constexpr size_t kPluginPoints = 12;

// "preFilter": the field of a configuration; "PreFilterPlugin": the interface, for messages.
absl::string_view PluginPointField(PluginPoint point);
absl::string_view PluginPointInterface(PluginPoint point);

struct PluginSet {
  std::vector<ScoreChoice> enabled;  // weight 0: not given
  std::vector<std::string> disabled;
  bool operator==(const PluginSet&) const = default;
};

struct PluginSets {
  std::array<PluginSet, kPluginPoints> points;
  PluginSet multi_point;

  PluginSet& operator[](PluginPoint point) { return points[static_cast<size_t>(point)]; }
  const PluginSet& operator[](PluginPoint point) const {
    return points[static_cast<size_t>(point)];
  }
  // All that some set enables.
  std::set<std::string> Enabled() const;
};

// Kubernetes' default: everything by multiPoint.
PluginSets DefaultPluginSets();

// `own`, the sets that a profile gives, over the default ones.
PluginSets MergePluginSets(const PluginSets& own);

// A problem of the sets of a profile, in Kubernetes' words, and its place.
struct PluginSetProblem {
  std::string what;
  std::string field;   // of the profile's plugins: "score", "multiPoint"; empty: several
  std::string plugin;  // that `field` enables; empty: the field as a whole
};

// Fills the lists of a profile whose scheduler_name is set. Plugins are those of Kubernetes and of
// `registry`. A problem is a plugin that is unknown, lacks a point where it is enabled or is
// enabled twice, a weight of a score that is not from 0 (counted as 1) to 1,000,000, no bind
// plugin, or another number of queue sort plugins than one.
std::optional<PluginSetProblem> ExpandPluginSets(const PluginSets& sets, const Registry& registry,
                                                 ProfileSpec* spec);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_KUBE_PLUGIN_SETS_H_
