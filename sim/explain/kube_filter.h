// kube-scheduler's Filter plugins that explanations of a cluster's objects evaluate.
#ifndef DRASIM_SIM_EXPLAIN_KUBE_FILTER_H_
#define DRASIM_SIM_EXPLAIN_KUBE_FILTER_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace drasim {

// In the order in which kube-scheduler asks them: the smaller goes first.
enum class KubeFilter : uint8_t {
  kNodeUnschedulable,
  kTaintToleration,
  kNodeAffinity,
  kNodePorts,
  kNodeResourcesFit,
  kPodTopologySpread,
  kInterPodAffinity,
  kDynamicResources,
};

// kube-scheduler's name of the plugin: "NodeUnschedulable".
constexpr absl::string_view KubeFilterName(KubeFilter filter) {
  constexpr absl::string_view kNames[] = {
      "NodeUnschedulable", "TaintToleration",   "NodeAffinity",     "NodePorts",
      "NodeResourcesFit",  "PodTopologySpread", "InterPodAffinity", "DynamicResources"};
  return kNames[static_cast<size_t>(filter)];
}

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_KUBE_FILTER_H_
