// ClusterRules: verdicts of kube-scheduler's Filter plugins on the nodes of a dump, for one pod.
// The simulator's own plugins are asked (KubeWorld), all of them about every node, and their
// verdicts are put into facts for people: by how much, who is in the way, what would help.
#ifndef DRASIM_SIM_EXPLAIN_CLUSTER_VERDICTS_H_
#define DRASIM_SIM_EXPLAIN_CLUSTER_VERDICTS_H_

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/ids.h"
#include "model/node_spec.h"
#include "model/pod_shape.h"
#include "model/reason_kind.h"
#include "policies/framework/plugin.h"
#include "sim/explain/cluster_dump.h"
#include "sim/kube/kube_world.h"

namespace drasim {

// Why a node lacks a resource: it has none at all, is too small, or is full.
enum class NodeLack { kNone, kTooSmall, kFull };

struct LackedResource {
  std::string resource;     // "pods": a pod slot
  int64_t wanted = 0;       // more than free
  int64_t free = 0;         // below 0 on a node that is overcommitted
  int64_t allocatable = 0;  // of the node as a whole
  int64_t idle = 0;         // free, but for pods that are nominated to the node

  NodeLack kind() const {
    if (resource != "pods" && allocatable == 0) return NodeLack::kNone;
    return wanted > allocatable ? NodeLack::kTooSmall : NodeLack::kFull;
  }
  // wanted - free, cut to int64.
  int64_t shortfall() const {
    const int64_t most = std::numeric_limits<int64_t>::max();
    return free < 0 && wanted > most + free ? most : wanted - free;
  }
};

// Why one plugin rejects a node for the pod.
struct DumpRejection {
  // Behind the places of all filters of a profile.
  static constexpr int kLastPlace = 64;

  std::string plugin;                    // kube-scheduler's name: "NodeUnschedulable"
  ReasonKind kind = ReasonKind::kOther;  // of the plugin's reasons
  int place = 0;                         // plugins of smaller places are asked first
  std::vector<std::string> reasons;      // kube-scheduler's words, as it counts them
  // Further facts in words. Nodes of a group may differ in it; the example's is shown.
  std::string detail;
  // Rejections are alike when plugin, reasons and this are equal.
  std::string alike;
  // Distance from taking the pod; comparable among rejections that are alike.
  int64_t distance = 0;
  std::vector<LackedResource> lacked;      // NodeResourcesFit
  std::vector<const DumpPod*> in_the_way;  // all of them would have to leave
  // The change that would help: "the node were uncordoned". Empty if only pods that leave help, or,
  // with nothing lacked and nobody in the way, nothing does.
  std::string remedy;
  bool hopeless = false;    // no change to pods, node or taints can be counted upon to help
  bool lacks_pods = false;  // InterPodAffinity: the pods that it wants to be near are missing
  bool pinned = false;      // DynamicResources: an allocated claim is not available there
};

struct DumpVerdict {
  const DumpNode* node = nullptr;
  std::vector<DumpRejection> rejections;  // in kube-scheduler's order; empty: the node would do
};

// All plugins' words on one pod.
struct PodVerdicts {
  // Why PreFilter rejects the pod as a whole, in kube-scheduler's words; empty if it does not. No
  // node is judged then.
  std::string obstacle;
  std::string obstacle_plugin;     // may be unknown: ""
  std::vector<DumpVerdict> nodes;  // in the order of the dump
};

// The cluster of a dump under kube-scheduler's default configuration. Classic and structured claims
// are set aside (cluster_claims.h).
class ClusterRules {
 public:
  // The dump must outlive it. InvalidArgument for a node whose amounts cannot be counted.
  // O(nodes + pods).
  static absl::StatusOr<std::unique_ptr<ClusterRules>> Make(const ClusterDump& dump);

  // REQUIRES for the following: a pod that is neither bound nor finished.

  // O(nodes x plugins), and O(pods x terms) with anti-affinity.
  PodVerdicts Judge(const DumpPod& pod);
  // kube-scheduler's message when no node takes the pod now, else empty. The same words as those
  // that follow from Judge, at a fraction of its cost.
  std::string Message(const DumpPod& pod);
  // Pods of one number get the same answers from plugins.
  uint64_t KindOf(const DumpPod& pod) const;

  // Whether the dump has the objects that volumes are judged by. Without them,
  // PersistentVolumeClaims and ephemeral volumes of pods are set aside.
  bool judges_volumes() const { return judges_volumes_; }
  bool knows_volume_limits() const { return knows_volume_limits_; }
  // A sentence about namespaces whose labels the answer depends on, and which the dump lacks; empty
  // if there are none. O(pods) for pods with a namespaceSelector.
  std::string DoubtAbout(const DumpPod& pod) const;

 private:
  // The pods of one domain of a term of anti-affinity.
  struct Domain {
    size_t term = 0;  // of the pod's; kTheirs for those of others
    std::string key;
    std::string value;
    auto operator<=>(const Domain&) const = default;
  };
  static constexpr size_t kTheirs = std::numeric_limits<size_t>::max();
  using PodsByDomain = std::map<Domain, std::vector<const DumpPod*>>;

  explicit ClusterRules(const ClusterDump& dump) : dump_(dump) {}
  absl::Status Build();
  int PlaceOf(const Plugin* plugin) const;
  PodsByDomain ConflictsOf(const PodContext& pod) const;

  // These add what a plugin said of a node.
  void Add(const PodContext& pod, const PodsByDomain& conflicts, const NodeStatus& status,
           std::vector<DumpRejection>* rejections) const;
  DumpRejection Plain(const NodeStatus& status) const;
  static void AddTaints(const PodShape& shape, const NodeSpec& node, DumpRejection rejection,
                        std::vector<DumpRejection>* rejections);
  void AddPorts(const PodShape& shape, NodeId node, DumpRejection rejection,
                std::vector<DumpRejection>* rejections) const;
  void AddFit(const PodShape& shape, NodeId node, DumpRejection rejection,
              std::vector<DumpRejection>* rejections) const;
  static void AddSpread(const NodeStatus& status, const NodeSpec& node,
                        const DumpRejection& rejection, std::vector<DumpRejection>* rejections);
  static void AddAffinity(const PodShape& shape, const NodeStatus& status, const NodeSpec& node,
                          const PodsByDomain& conflicts, const DumpRejection& rejection,
                          std::vector<DumpRejection>* rejections);
  LackedResource AmountsOf(const PodShape& shape, NodeId node, const std::string& resource) const;

  const ClusterDump& dump_;
  bool judges_volumes_ = false;
  bool knows_volume_limits_ = false;
  std::unique_ptr<KubeWorld> world_;
  std::vector<const DumpPod*> pods_;  // by PodId
};

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_CLUSTER_VERDICTS_H_
