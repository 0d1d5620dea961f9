// PodCounts: how many resident pods of each node, and of each topology domain, meet a rule about
// their shape, in columns that the cluster's transitions keep. PodTopologySpread and
// InterPodAffinity read them instead of walking pods.
//
// A rule is about the shape alone, so it is judged once per shape. A pod that comes to a node or
// leaves it costs O(columns that count its shape and their sums by domain), and nothing at all
// while there are no columns. Columns are made on demand (ClusterState::CountPods and its
// neighbours) and stay for the life of the cluster.
//
//   const PodCountId web = cluster.CountPods({.namespaces = {"default"}, .selectors = {selector}});
//   const DomainCountId by_zone = cluster.CountDomains(web, "topology.kubernetes.io/zone", {});
//   const DomainCounts& zones = cluster.pod_counts().domains(by_zone);
//   zones.sum(zones.domain_of(node));  // matching pods in the node's zone
#ifndef DRASIM_MODEL_POD_COUNTS_H_
#define DRASIM_MODEL_POD_COUNTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/ids.h"
#include "model/label_selector.h"
#include "model/node_spec.h"
#include "model/pod_constraints.h"
#include "model/pod_shape.h"
#include "model/pod_topology.h"
#include "model/shape_table.h"

namespace drasim {

using PodCountId = uint32_t;
using DomainCountId = uint32_t;

// Which pods a column counts.
struct PodCountRule {
  // The namespaces whose pods count (sorted); with `any_namespace`, all. Pods of traces have none,
  // and are never counted.
  std::vector<std::string> namespaces;
  bool any_namespace = false;
  // All of them must select the pod.
  std::vector<LabelSelector> selectors;
  bool counts_terminating = true;
  bool operator==(const PodCountRule&) const = default;
};
bool Counts(const PodCountRule& rule, const PodIdentity& pod);

// Which nodes take part in a sum by domain. Default: all that are available.
struct DomainNodes {
  std::vector<std::string> keys;  // labels that the node must have (sorted, unique)
  // nodeAffinityPolicy: Honor. The node selector and required node affinity of a pod.
  std::vector<std::pair<std::string, std::string>> node_selector;
  std::vector<NodeTerm> node_terms;
  bool requires_node_terms = false;
  // nodeTaintsPolicy: Honor. Nodes with a NoSchedule or NoExecute taint that a pod does not
  // tolerate stay out.
  bool honors_taints = false;
  std::vector<Toleration> tolerations;
  bool operator==(const DomainNodes&) const = default;
};
bool TakesPart(const NodeSpec& node, const DomainNodes& rule);

// The values of a label over all available nodes as small numbers. Domain 0 stands for its absence.
class TopologyDomains {
 public:
  // REQUIRES: a node of the cluster.
  uint32_t of(NodeId node) const { return domain_of_[node.value()]; }
  absl::Span<const uint32_t> by_node() const { return domain_of_; }
  size_t size() const { return values_.size(); }  // the absence included
  const std::string& value(uint32_t domain) const { return values_[domain]; }
  // The domain of that value; 0 if no node ever had it.
  uint32_t Find(absl::string_view value) const;

 private:
  friend class PodCounts;
  std::string key_;
  std::vector<uint32_t> domain_of_;  // by node
  std::vector<std::string> values_ = {""};
  absl::flat_hash_map<std::string, uint32_t> index_;
};

// The sums of a column by domain of a label. A node that takes part makes its domain known, even
// without pods.
class DomainCounts {
 public:
  const TopologyDomains& topology() const { return *topology_; }
  uint32_t domain_of(NodeId node) const { return topology_->of(node); }
  bool takes_part(NodeId node) const { return (*members_)[node.value()] != 0; }
  // The sum over the domain's nodes that take part; 0 for an unknown domain. sum(0) is over nodes
  // without the label.
  int32_t sum(uint32_t domain) const { return domain < sums_.size() ? sums_[domain] : 0; }
  bool known(uint32_t domain) const { return domain < nodes_.size() && nodes_[domain] > 0; }
  // By domain; as long as topology().size().
  absl::Span<const int32_t> sums() const { return sums_; }
  // Known domains other than 0, and the least sum among them (0 if there is none).
  uint32_t known_domains() const { return known_; }
  int32_t least() const { return known_ > 0 ? static_cast<int32_t>(least_) : 0; }
  // Over all domains but 0.
  int64_t total() const { return total_; }
  // A log for caches: how often a sum has become positive or ceased to be, over all domains. The
  // domain of each such crossing is kept from first_crossing() on.
  uint64_t crossings() const { return first_crossing_ + crossed_.size(); }
  uint64_t first_crossing() const { return first_crossing_; }
  uint32_t crossing(uint64_t k) const { return crossed_[k - first_crossing_]; }

 private:
  friend class PodCounts;
  void Add(uint32_t domain, int32_t pods);
  void Cross(uint32_t domain);
  void AddNode(uint32_t domain, int nodes);
  void Enter(int32_t sum);  // a known domain has that sum now
  void Leave(int32_t sum);

  PodCountId column_ = 0;
  const TopologyDomains* topology_ = nullptr;
  const std::vector<uint8_t>* members_ = nullptr;
  std::vector<int32_t> sums_;       // by domain
  std::vector<int32_t> nodes_;      // by domain: nodes that take part
  std::vector<uint32_t> with_sum_;  // the number of known domains by sum
  size_t least_ = 0;
  uint32_t known_ = 0;
  int64_t total_ = 0;
  std::vector<uint32_t> crossed_;  // domains
  uint64_t first_crossing_ = 0;
};

// A pod affinity term of some shape, and the pods that carry it.
struct CarriedTerm {
  enum class Kind : uint8_t { kAffinity, kAntiAffinity, kPreferred, kPreferredAnti };
  Kind kind = Kind::kAffinity;
  int32_t weight = 0;  // of preferred terms
  AffinityTerm term;
  PodCountId column = 0;      // a pod that carries the term twice counts twice
  DomainCountId domains = 0;  // by the term's topology key
};

// CountedCluster: the cluster as PodCounts sees it. Nodes that are not available take no part.
class CountedCluster {
 public:
  virtual ~CountedCluster() = default;
  virtual const ShapeTable& shapes() const = 0;
  virtual size_t node_count() const = 0;
  virtual bool available(NodeId node) const = 0;
  virtual const NodeSpec& node_spec(NodeId node) const = 0;
  virtual absl::Span<const PodId> pods_on(NodeId node) const = 0;
  virtual ShapeId pod_shape_id(PodId pod) const = 0;
};

class PodCounts {
 public:
  explicit PodCounts(std::unique_ptr<const CountedCluster> cluster)
      : cluster_(std::move(cluster)) {}

  size_t columns() const { return columns_.size(); }
  int32_t on_node(PodCountId id, NodeId node) const {
    const std::vector<int32_t>& pods = columns_[id].by_node;
    return node.value() < pods.size() ? pods[node.value()] : 0;
  }
  // By NodeId; shorter than the cluster where the last nodes have none.
  absl::Span<const int32_t> by_node(PodCountId id) const { return columns_[id].by_node; }
  int64_t total(PodCountId id) const { return columns_[id].total; }
  // Valid as long as the cluster.
  const DomainCounts& domains(DomainCountId id) const { return *domains_[id]; }
  // The terms of all shapes, in order of first appearance. Empty unless CarryTerms was called.
  absl::Span<const CarriedTerm> carried() const { return carried_; }

  // --- for ClusterState ---
  PodCountId CountPods(const PodCountRule& rule);
  DomainCountId CountDomains(PodCountId column, absl::string_view key, const DomainNodes& nodes);
  void CarryTerms();
  // True when pods and shapes must be reported.
  bool active() const { return active_; }
  // Judges the shapes that were interned since the last call. Before their pods are charged.
  void ResolveShapes();
  // A pod of that shape came to the node (+1) or left it (-1).
  void Charge(ShapeId shape, NodeId node, int sign) {
    for (const Share& share : of_shape_[shape.value()]) {
      Add(share.column, node, sign * share.times);
    }
  }
  // The node was added, updated, became available or ceased to be.
  void SetNode(NodeId node);

  // Recounts everything from pods and nodes; the Internal error names the first difference.
  // O(columns x pods).
  absl::Status Check() const;

 private:
  struct Share {
    PodCountId column;
    int32_t times;
  };
  struct Column {
    PodCountRule rule;
    int64_t carried = -1;  // the column of that carried term, which has no rule
    std::vector<int32_t> by_node;
    int64_t total = 0;
    std::vector<DomainCountId> domains;
  };
  struct NodeGroup {
    DomainNodes rule;
    std::vector<uint8_t> members;  // by node
  };

  void Activate();
  void CarryTermsOf(ShapeId shape);
  void CarryTerm(ShapeId shape, CarriedTerm::Kind kind, int32_t weight, const AffinityTerm& term);
  int32_t TimesOf(const Column& column, const PodShape& shape) const;
  void Add(PodCountId column, NodeId node, int32_t pods);
  uint32_t FindTopology(absl::string_view key);
  uint32_t FindGroup(const DomainNodes& rule);
  uint32_t DomainOf(TopologyDomains& topology, NodeId node);

  std::unique_ptr<const CountedCluster> cluster_;
  bool active_ = false;
  bool carries_ = false;
  std::vector<Column> columns_;
  std::vector<std::vector<Share>> of_shape_;
  std::vector<std::unique_ptr<TopologyDomains>> topologies_;
  std::vector<std::unique_ptr<NodeGroup>> groups_;
  std::vector<std::unique_ptr<DomainCounts>> domains_;
  std::vector<CarriedTerm> carried_;
  absl::flat_hash_map<std::string, uint32_t> index_;  // of all of these, by what defines them
};

}  // namespace drasim

#endif  // DRASIM_MODEL_POD_COUNTS_H_
