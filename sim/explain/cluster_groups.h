// From verdicts on single nodes to an answer: groups of nodes, kube-scheduler's message, and the
// holders of the lacking resources.
#ifndef DRASIM_SIM_EXPLAIN_CLUSTER_GROUPS_H_
#define DRASIM_SIM_EXPLAIN_CLUSTER_GROUPS_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "sim/explain/cluster_dump.h"
#include "sim/explain/cluster_report.h"
#include "sim/explain/cluster_verdicts.h"

namespace drasim {

// "0/5 nodes are available: 2 Insufficient cpu, 3 node(s) were unschedulable." `pre_filter`: the
// reason that rejects the pod as a whole and so takes the place of the others; may be empty.
// REQUIRES: with an empty `pre_filter`, every node is rejected.
std::string FitErrorText(absl::Span<const DumpVerdict> verdicts, const std::string& pre_filter);

// Nodes with like first rejections.
struct VerdictGroup {
  RejectedGroup shown;
  std::vector<const DumpVerdict*> nodes;  // nearest to fitting first
};
// Nodes that would do are in no group. The groups whose nodes pass the most filters come first.
std::vector<VerdictGroup> GroupVerdicts(absl::Span<const DumpVerdict> verdicts);

// The pods that hold what the node lacks for the pod, or are in its way there.
std::vector<HolderList> HoldersOfNode(const DumpVerdict& verdict);

// A sentence for each resource of which all nodes together have enough free, or of which no node
// has enough even when empty.
std::vector<std::string> ShortageNotes(absl::Span<const DumpVerdict> verdicts);

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_CLUSTER_GROUPS_H_
