// PodCounts: how many resident pods of each node meet a rule about their shape, in columns that the
// cluster's transitions keep. PodTopologySpread and InterPodAffinity read them instead of walking
// pods.
//
// A rule is about the shape alone, so it is judged once per shape. Adding a pod to a node or taking
// it away costs O(columns that count its shape).
#ifndef DRASIM_MODEL_POD_COUNTS_H_
#define DRASIM_MODEL_POD_COUNTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "model/ids.h"
#include "model/label_selector.h"
#include "model/pod_shape.h"
#include "model/pod_topology.h"

namespace drasim {

using PodCountId = uint32_t;

// Which pods a column counts.
struct PodCountRule {
  // The namespaces whose pods count (sorted); with `any_namespace`, all.
  std::vector<std::string> namespaces;
  bool any_namespace = false;
  // All of them must select the pod.
  std::vector<LabelSelector> selectors;
  bool counts_terminating = true;
  bool operator==(const PodCountRule&) const = default;
};

class PodCounts {
 public:
  size_t columns() const { return columns_.size(); }
  const PodCountRule& rule(PodCountId id) const { return columns_[id].rule; }
  int32_t on_node(PodCountId id, NodeId node) const;
  // By NodeId; shorter than the cluster where the last nodes have none.
  absl::Span<const int32_t> by_node(PodCountId id) const { return columns_[id].by_node; }
  int64_t total(PodCountId id) const { return columns_[id].total; }
  // Grows with every change of the column.
  uint64_t version(PodCountId id) const { return columns_[id].version; }

 private:
  struct Column {
    PodCountRule rule;
    std::vector<int32_t> by_node;
    int64_t total = 0;
    uint64_t version = 0;
  };
  std::vector<Column> columns_;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_POD_COUNTS_H_
