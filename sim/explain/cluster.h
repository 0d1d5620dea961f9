// drasim explain --cluster: why a pod of a real cluster does not run. Reads the objects that
// `kubectl get nodes,pods,... -o yaml` printed and applies kube-scheduler's rules (1.34) and those
// of classic (1.29) and structured DRA (1.37), without a simulation.
#ifndef DRASIM_SIM_EXPLAIN_CLUSTER_H_
#define DRASIM_SIM_EXPLAIN_CLUSTER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/record/data_table.h"

namespace drasim {

// Reads the files (YAML or JSON, plain or .gz; "-" is standard input), all of one cluster, and
// explains `pod`, which is "NAMESPACE/NAME", or "NAME" in the namespace default; empty: all pending
// pods, equal answers together (cluster_pending.h). Said are which rule rejects
// which nodes and by how much, what the pod waits for, who holds what it lacks, and what would
// help. Nodes with the same reason and similar shortfalls are one group. All forms end with a line
// break; CSV has the groups of nodes alone.
//
// The rules are those of the simulator's own plugins under kube-scheduler's default configuration,
// and of DynamicResources: with classic claims, and, if the dump has ResourceSlices, with
// structured ones. Volumes are judged if the dump has PersistentVolumeClaims, and PersistentVolumes
// or StorageClasses. A pod with claims or volumes that nothing judges is never said to be
// schedulable: the first line says that they were not looked at. The last lines list everything
// else that was not looked at. Odd input goes to `warnings`, "FILE:LINE...: ...", which may be
// null; unknown objects and fields are skipped.
//
// Errors, InvalidArgument: a file that cannot be opened, or is not YAML or JSON
// ("FILE:LINE:COLUMN: ..."); files without any node; a pod that is not in them, with a similar
// name. Cost: linear in the text; nodes times pods in the worst case, with affinities between pods.
absl::StatusOr<std::string> ExplainCluster(const std::vector<std::string>& paths,
                                           const std::string& pod, OutputFormat format,
                                           std::vector<std::string>* warnings);

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_CLUSTER_H_
