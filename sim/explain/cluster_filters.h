// The verdicts of kube-scheduler's Filter plugins on one pod of a dump and every node: all plugins
// up to InterPodAffinity except those for volumes.
#ifndef DRASIM_SIM_EXPLAIN_CLUSTER_FILTERS_H_
#define DRASIM_SIM_EXPLAIN_CLUSTER_FILTERS_H_

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/kube/rules.h"
#include "sim/explain/cluster_dump.h"
#include "sim/explain/kube_filter.h"

namespace drasim {

// Why a node lacks a resource: it has none at all, is too small, or is full.
enum class NodeLack { kNone, kTooSmall, kFull };

struct LackedResource {
  std::string resource;     // "pods": a pod slot
  int64_t wanted = 0;       // more than free
  int64_t free = 0;         // below 0 on a node that is overcommitted
  int64_t allocatable = 0;  // of the node as a whole

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
  KubeFilter filter = KubeFilter::kNodeUnschedulable;
  std::vector<std::string> reasons;  // kube-scheduler's words, as it counts them
  // Further facts in words. Nodes of a group may differ in it; the example's is shown.
  std::string detail;
  // Rejections are alike when filter, reasons and this are equal.
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

// Keeps references to the dump and the pod.
class DumpFilters {
 public:
  DumpFilters(const ClusterDump& dump, const DumpPod& pod);

  // Why PreFilter rejects the pod as a whole, in kube-scheduler's words; empty if it does not.
  const std::string& pre_filter_rejection() const { return pre_filter_rejection_; }

  // All plugins that reject the node, in kube-scheduler's order; the first is the one that counts
  // there. Empty: the node would do. O(pods of the node).
  std::vector<DumpRejection> Check(const DumpNode& node) const;

  // A sentence about objects that the answer depends on and the dump lacks; empty if there are
  // none.
  const std::string& doubt() const { return doubt_; }

 private:
  // Pods in a domain of a topology: (key, value).
  using Domain = std::pair<std::string, std::string>;
  using PodsByDomain = std::map<Domain, std::vector<const DumpPod*>>;

  struct Spread {
    const proto::kube::TopologySpreadConstraint* constraint = nullptr;
    proto::kube::LabelSelector selector;
    bool matches_self = false;
    std::map<std::string, int64_t> counts;  // matching pods by domain
    int64_t fewest = 0;
  };

  void PrepareNames();
  void PrepareSpread();
  void PrepareAffinity();
  void CountForSpread(const DumpNode& node);
  bool TermMatches(const proto::kube::PodAffinityTerm& term, const DumpPod& owner,
                   const DumpPod& other);

  void CheckNode(const DumpNode& node, std::vector<DumpRejection>* rejections) const;
  void CheckPorts(const DumpNode& node, std::vector<DumpRejection>* rejections) const;
  void CheckFit(const DumpNode& node, std::vector<DumpRejection>* rejections) const;
  void CheckSpread(const DumpNode& node, std::vector<DumpRejection>* rejections) const;
  void CheckAffinity(const DumpNode& node, std::vector<DumpRejection>* rejections) const;
  void CheckAntiAffinity(const DumpNode& node, std::vector<DumpRejection>* rejections) const;
  // Pods that are nominated for the node and have precedence over this one.
  std::vector<const DumpPod*> NominatedOn(const DumpNode& node) const;

  const ClusterDump& dump_;
  const DumpPod& pod_;
  std::string pre_filter_rejection_;
  std::string doubt_;
  bool named_only_ = false;
  std::set<std::string> names_;
  std::vector<KubeHostPort> ports_;
  std::vector<Spread> spreads_;
  PodsByDomain wanted_near_;    // match all terms of the pod's affinity
  PodsByDomain unwanted_near_;  // match a term of its anti-affinity
  PodsByDomain unwilling_;      // whose anti-affinity matches the pod
  bool matches_own_affinity_ = false;
};

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_CLUSTER_FILTERS_H_
