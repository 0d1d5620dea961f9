// ProfileSpec: which plugins a profile runs at which point, in order, with their weights and
// arguments. From a KubeSchedulerConfiguration (sim/scenario/kube_config.h), or Kubernetes'
// defaults.
#ifndef DRASIM_POLICIES_FRAMEWORK_PROFILE_SPEC_H_
#define DRASIM_POLICIES_FRAMEWORK_PROFILE_SPEC_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "policies/framework/plugin_args.h"
#include "policies/framework/registry.h"

namespace drasim {

// The plugins of each point, in order. Names are those of the registry.
struct ProfileSpec {
  std::string scheduler_name = "default-scheduler";
  // percentageOfNodesToScore; 0: adaptive.
  int32_t percentage_of_nodes = 0;
  std::vector<std::string> pre_enqueue;
  std::string queue_sort = "PrioritySort";
  std::vector<std::string> pre_filter;
  std::vector<std::string> filter;
  std::vector<std::string> post_filter;
  std::vector<std::string> pre_score;
  std::vector<ScoreChoice> score;  // plugin and weight
  std::vector<std::string> reserve;
  std::vector<std::string> permit;
  std::vector<std::string> pre_bind;
  std::vector<std::string> bind;
  std::vector<std::string> post_bind;
  std::map<std::string, PluginArgs> args;  // by plugin; absent: its defaults
  bool operator==(const ProfileSpec&) const = default;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_FRAMEWORK_PROFILE_SPEC_H_
