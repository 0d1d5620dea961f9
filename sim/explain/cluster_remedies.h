// The smallest changes to a cluster after which a node takes the pod.
#ifndef DRASIM_SIM_EXPLAIN_CLUSTER_REMEDIES_H_
#define DRASIM_SIM_EXPLAIN_CLUSTER_REMEDIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "sim/explain/cluster_dump.h"
#include "sim/explain/cluster_verdicts.h"

namespace drasim {

// The changes that make one node take the pod.
struct Remedy {
  const DumpNode* node = nullptr;
  std::vector<const DumpPod*> leave;    // that would have to go: few, one or two if these suffice
  std::vector<const DumpPod*> leaving;  // that are being deleted anyway and are counted upon
  std::vector<std::string> conditions;  // other changes: "the node were uncordoned"
  std::vector<LackedResource> lacked;   // there, now
  int64_t cost = 0;                     // pods and conditions
  int64_t given_up = 0;                 // amounts of the pods that go, in thousandths of the want
};

// The cheapest remedy for each combination of conditions, cheapest first. `lower_only`: only pods
// with a lower priority than the pod's may go, and nothing else may change. Pods of DaemonSets and
// static pods never go. O(nodes + pods^2 of a node).
std::vector<Remedy> FindRemedies(const DumpPod& pod, absl::Span<const DumpVerdict> verdicts,
                                 bool lower_only);

// The nodes that would take the pod under exactly these conditions, with no pod leaving.
std::vector<std::string> NodesWithRemedy(absl::Span<const DumpVerdict> verdicts,
                                         const std::vector<std::string>& conditions);

// "a100-03 would take the pod if ml/a left and if the node were uncordoned". `nodes`: from
// NodesWithRemedy; named instead of the one node if there are several.
std::string RemedyText(const Remedy& remedy, const std::vector<std::string>& nodes);

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_CLUSTER_REMEDIES_H_
