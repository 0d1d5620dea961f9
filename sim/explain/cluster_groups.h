// From verdicts on single nodes to an answer: groups of nodes, kube-scheduler's message, who holds
// what is lacked, and the smallest changes that would help.
#ifndef DRASIM_SIM_EXPLAIN_CLUSTER_GROUPS_H_
#define DRASIM_SIM_EXPLAIN_CLUSTER_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "sim/explain/cluster_dump.h"
#include "sim/explain/cluster_filters.h"
#include "sim/explain/cluster_report.h"

namespace drasim {

struct NodeVerdict {
  const DumpNode* node = nullptr;
  std::vector<NodeRejection> rejections;  // empty: the node would do
};

// "0/5 nodes are available: 2 Insufficient cpu, 3 node(s) were unschedulable." `pre_filter`: what
// rejected the pod as a whole, and so takes the place of the reasons; may be empty.
std::string FitErrorText(absl::Span<const NodeVerdict> verdicts, const std::string& pre_filter);

// By the first rejection of each node; nodes that would do are in no group. Those that got the
// furthest come first. `nodes` of a group: its verdicts, the nearest first.
struct VerdictGroup {
  RejectedGroup shown;
  std::vector<const NodeVerdict*> nodes;
};
std::vector<VerdictGroup> GroupVerdicts(absl::Span<const NodeVerdict> verdicts);

// What it would take for one node to take the pod.
struct Remedy {
  const DumpNode* node = nullptr;
  std::vector<const DumpPod*> leave;    // that would have to go: few, one or two if that will do
  std::vector<const DumpPod*> leaving;  // that are being deleted anyway and are counted upon
  std::vector<std::string> conditions;  // what else would have to be otherwise
  std::vector<LackedResource> lacked;   // there, now
  int64_t cost = 0;                     // pods and conditions
  int64_t given_up = 0;                 // how much goes, in thousandths of what is wanted
};

// The cheapest remedy for each combination of conditions, cheapest first. `lower_only`: only pods
// of a lower priority than the pod's may go, and nothing else may change. DaemonSets' and static
// pods never go. O(nodes + pods^2 of a node).
std::vector<Remedy> FindRemedies(const DumpPod& pod, absl::Span<const NodeVerdict> verdicts,
                                 bool lower_only);
// The nodes that nothing but these conditions keeps from taking the pod.
std::vector<std::string> NodesWithRemedy(absl::Span<const NodeVerdict> verdicts,
                                         const std::vector<std::string>& conditions);
// "a100-03 would take the pod if ml/a left and the node were uncordoned"
std::string RemedyText(const Remedy& remedy, const std::vector<std::string>& nodes);

// Those that hold what the node lacks for the pod, or are in its way there.
std::vector<HolderList> HoldersOfNode(const NodeVerdict& verdict);

// Where the free amounts of all nodes together would be enough, or no node is large enough.
std::vector<std::string> ShortageNotes(absl::Span<const NodeVerdict> verdicts);

// "12 nodes (a100-*, e.g. a100-03)"
std::string NodesText(const RejectedGroup& group);

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_CLUSTER_GROUPS_H_
