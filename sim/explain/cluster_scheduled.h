// The answer of drasim explain for pods that are past the scheduler: bound, ended or being deleted.
#ifndef DRASIM_SIM_EXPLAIN_CLUSTER_SCHEDULED_H_
#define DRASIM_SIM_EXPLAIN_CLUSTER_SCHEDULED_H_

#include "sim/explain/cluster_dump.h"
#include "sim/explain/cluster_report.h"

namespace drasim {

// Fills verdict (finished, failed, deleting, running, starting), summary, node, waits_for and
// notes. False if the pod still waits for a node.
bool ExplainPastScheduler(const ClusterDump& dump, const DumpPod& pod,
                          ClusterExplanation* explanation);

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_CLUSTER_SCHEDULED_H_
