// The answers of drasim explain about all pending pods of a cluster, equal ones together.
#ifndef DRASIM_SIM_EXPLAIN_CLUSTER_PENDING_H_
#define DRASIM_SIM_EXPLAIN_CLUSTER_PENDING_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "sim/explain/cluster_dump.h"
#include "sim/explain/cluster_report.h"
#include "sim/explain/cluster_verdicts.h"
#include "sim/record/data_table.h"

namespace drasim {

// Pods with the same verdict and the same message of kube-scheduler, or without a message the same
// acts that they wait for.
struct PendingGroup {
  ClusterExplanation first;           // of the first pod, in full
  std::vector<std::string> examples;  // at most three, the first pod's first
  size_t pods = 0;
};

struct PendingReport {
  size_t pods = 0;  // of the dump
  size_t pending = 0;
  std::vector<PendingGroup> groups;  // most pods first
};

// All pods that are neither bound, finished nor being deleted. Each is judged for itself, against
// the cluster as it stands. `explain` is called for one pod of each group, and for pods with
// claims. O(pods, and nodes for each kind of pending pods).
PendingReport GroupPending(const ClusterDump& dump, ClusterRules* rules,
                           absl::FunctionRef<ClusterExplanation(const DumpPod&)> explain);

// Text for people; JSON ("drasim.explain-cluster-pending/v1": pods, pending, groups with verdict,
// summary, message, pods, examples, waits_for, would_help); or CSV with a line for each group:
// verdict, pods, examples, message, would_help. With a line break at the end.
std::string PendingText(const PendingReport& report, OutputFormat format);

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_CLUSTER_PENDING_H_
