// Arguments of scheduler plugins: one struct for each configuration type of
// kubescheduler.config.k8s.io/v1 (k8s.io/kube-scheduler/config/v1/types_pluginargs.go, 1.34), with
// Kubernetes' defaults. Limits are checked where a configuration is read.
#ifndef DRASIM_POLICIES_FRAMEWORK_PLUGIN_ARGS_H_
#define DRASIM_POLICIES_FRAMEWORK_PLUGIN_ARGS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "model/pod_constraints.h"
#include "model/pod_topology.h"

namespace drasim {

// Resource and weight.
using WeightedResources = std::vector<std::pair<std::string, int64_t>>;

struct NodeResourcesFitArgs {
  enum class Strategy : uint8_t { kLeastAllocated, kMostAllocated, kRequestedToCapacityRatio };
  Strategy strategy = Strategy::kLeastAllocated;
  WeightedResources resources = {{"cpu", 1}, {"memory", 1}};
  // For kRequestedToCapacityRatio: utilisation 0..100, score 0..10, increasing in utilisation.
  std::vector<std::pair<int32_t, int32_t>> shape;
  std::vector<std::string> ignored_resources;        // names of extended resources
  std::vector<std::string> ignored_resource_groups;  // "example.com" of "example.com/gpu"
  bool operator==(const NodeResourcesFitArgs&) const = default;
};

struct BalancedAllocationArgs {
  WeightedResources resources = {{"cpu", 1}, {"memory", 1}};
  // Two terms from release 1.36 on, one before.
  bool two_terms = false;
  bool operator==(const BalancedAllocationArgs&) const = default;
};

struct NodeAffinityArgs {  // addedAffinity
  bool has_required = false;
  std::vector<NodeTerm> required;
  std::vector<PreferredNodeTerm> preferred;
  bool operator==(const NodeAffinityArgs&) const = default;
};

struct InterPodAffinityArgs {
  int32_t hard_pod_affinity_weight = 1;  // 0..100
  bool ignore_preferred_terms_of_existing_pods = false;
  bool operator==(const InterPodAffinityArgs&) const = default;
};

struct PodTopologySpreadArgs {
  bool system_defaults = true;  // defaultingType: System
  // defaultConstraints of defaultingType List; they have no selectors.
  std::vector<SpreadConstraint> default_constraints;
  bool operator==(const PodTopologySpreadArgs&) const = default;
};

struct DefaultPreemptionArgs {
  int32_t min_candidate_nodes_percentage = 10;
  int32_t min_candidate_nodes_absolute = 100;
  bool operator==(const DefaultPreemptionArgs&) const = default;
};

struct VolumeBindingArgs {
  int64_t bind_timeout_seconds = 600;
  bool operator==(const VolumeBindingArgs&) const = default;
};

// monostate: the plugin's defaults.
using PluginArgs = std::variant<std::monostate, NodeResourcesFitArgs, BalancedAllocationArgs,
                                NodeAffinityArgs, InterPodAffinityArgs, PodTopologySpreadArgs,
                                DefaultPreemptionArgs, VolumeBindingArgs>;

// The arguments as T; the defaults where there are none.
template <typename T>
T ArgsOr(const PluginArgs& args) {
  const T* given = std::get_if<T>(&args);
  return given == nullptr ? T() : *given;
}

}  // namespace drasim

#endif  // DRASIM_POLICIES_FRAMEWORK_PLUGIN_ARGS_H_
