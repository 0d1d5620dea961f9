// An answer of drasim explain about a cluster, and how it is printed.
#ifndef DRASIM_SIM_EXPLAIN_CLUSTER_REPORT_H_
#define DRASIM_SIM_EXPLAIN_CLUSTER_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policies/allocator/device_story.h"
#include "sim/explain/cluster_verdicts.h"

namespace drasim {

// The shortfall of one resource on the nodes of a group.
struct LackInGroup {
  std::string reason;  // "Insufficient cpu"
  std::string resource;
  NodeLack kind = NodeLack::kFull;
  int64_t wanted = 0;
  int64_t most_free = 0;         // on one node
  int64_t most_allocatable = 0;  // of one node
};

// Nodes that one plugin rejects for the same reasons, with similar shortfalls.
struct RejectedGroup {
  std::string plugin;
  std::vector<std::string> reasons;
  std::string detail;       // of the first example
  bool lacks_pods = false;  // InterPodAffinity: the pods that it wants to be near are missing
  std::vector<LackInGroup> lacks;  // NodeResourcesFit: one for each reason
  size_t nodes = 0;
  std::vector<std::string> patterns;  // "a100-*"; the names themselves when they are few
  std::vector<std::string> examples;  // at most three, the one that is nearest to fitting first
};

// An act that the pod waits for: "driver gpu.example.com", "to allocate claim ml/a".
struct AwaitedAct {
  std::string who;
  std::string what;
};

// The holders of something that the pod wants.
struct HolderList {
  struct Holder {
    std::string name;    // "ml/train-0"
    std::string amount;  // "4"; empty: it cannot be counted
    std::string state;   // "Running, being deleted"
  };
  std::string subject;  // "nvidia.com/gpu on a100-03", "claim ml/shared"
  std::string summary;  // "7 of 8 held, 1 free"; may be empty
  std::vector<Holder> holders;
  size_t others = 0;  // that are not listed
};

struct ClusterExplanation {
  std::string pod;
  std::string phase;
  std::string node;     // its node if it is bound; else empty
  std::string verdict;  // a word: see cluster.cc and cluster_scheduled.h
  std::string summary;  // behind "POD (PHASE)": "no node takes it"
  std::string message;  // kube-scheduler's: "0/5 nodes are available: ..."; may be empty
  std::vector<RejectedGroup> groups;
  std::optional<DeviceStory> devices;  // of structured claims that are not allocated
  std::vector<HolderList> holders;
  std::vector<AwaitedAct> waits_for;
  std::vector<std::string> helps;  // smallest changes first
  std::vector<std::string> notes;
  std::vector<std::string> not_looked_at;
};

// For people, with a line break at the end.
std::string ClusterExplanationText(const ClusterExplanation& explanation);
// "drasim.explain-cluster/v1" with the keys pod, phase, node, verdict, summary, message, groups,
// waits_for, holders, would_help, notes, not_looked_at. Amounts are texts as Kubernetes prints
// them.
std::string ClusterExplanationJson(const ClusterExplanation& explanation);
// A line for each group of nodes: pod, verdict, plugin, reasons, detail, nodes, examples; without
// groups one line with the pod and the verdict.
std::string ClusterExplanationCsv(const ClusterExplanation& explanation);

// "12 nodes (a100-*, e.g. a100-03)"
std::string NodesText(const RejectedGroup& group);

// "ml/a", "ml/a and ml/b", "ml/a, ml/b and 3 more"
std::string ShortList(const std::vector<std::string>& names, size_t most = 3);

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_CLUSTER_REPORT_H_
