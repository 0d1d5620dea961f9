// VerdictCache: remembers the verdicts and scores of a profile's plugins of Reach::kNode.
//
// A column holds, for all pods that differ only in what such plugins do not see (topology,
// identity, volumes), each node's verdict and raw scores. An entry is dropped when its node
// changes, and computed again when a search comes to the node. Columns are few even where every pod
// has labels of its own, and bounded: the least recently used one goes first.
#ifndef DRASIM_SIM_CORE_VERDICT_CACHE_H_
#define DRASIM_SIM_CORE_VERDICT_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/shape_table.h"
#include "policies/framework/profile.h"

namespace drasim {

class VerdictCache {
 public:
  // A verdict, or a score, that has to be asked for.
  static constexpr ReasonIndex kUnknown = 255;
  static constexpr int64_t kNoScore = std::numeric_limits<int64_t>::min();
  static constexpr uint8_t kNoFilter = 64;

  struct Column {
    // By node: the reason of the first filter of Reach::kNode that rejects it, in the profile's
    // order.
    std::vector<ReasonIndex> verdict;
    // By node: weighted sum of the raw scores that are not normalised.
    std::vector<int64_t> sum;
    // By score plugin and node; empty for those in `sum`, and those that are not remembered.
    std::vector<std::vector<int64_t>> raw;
    // Plugins of `raw` that have given nodes different scores.
    uint64_t mixed_scores = 0;
    uint64_t known_scores = 0;       // plugins of `raw` that have been asked
    std::vector<int64_t> first_raw;  // by score plugin: the first answer

    // Copies of the above for searches by blocks of 64 places in ClusterState::node_order(); bit i
    // of a word is place i of the block. Only a cache that remembers has them. They change together
    // with the entries by node, and are rebuilt when ClusterState::nodes_version() has changed.
    static constexpr size_t kBlock = 64;
    struct Best {
      int64_t sum = kNoScore;
      NodeId node;
    };
    std::vector<uint64_t> fits;      // verdict is kFits
    std::vector<uint64_t> unknown;   // verdict is kUnknown
    std::vector<uint64_t> unscored;  // sum is kNoScore
    std::vector<Best> best;          // BestOf's answers; stale where the node is invalid
    uint64_t order = 0;              // number of the node order that the blocks follow

    uint64_t cursor = 0;  // change_count() up to which it is fresh
    uint64_t used = 0;    // number of the attempt that used it last
    uint64_t skipped_filters = 0;
    uint64_t skipped_scores = 0;
    uint64_t normalised_scores = 0;
  };

  // Both must outlive the cache. Without `remembers`, every look-up forgets the column's entries.
  // At most `most_bytes` are kept beside the column in use.
  VerdictCache(const Profile* profile, const ClusterState* cluster, bool remembers,
               size_t most_bytes);

  // The column of the pod's shape, in which all entries that are there hold. `skipped`: filters
  // (bits by place in the profile) that the attempt skips. Valid until the next call. O(changed
  // nodes); O(nodes) for a new column.
  Column& Find(const PodContext& pod, uint64_t skipped);
  // Asks for the verdicts of those of `nodes` that have none.
  void AskVerdicts(const PodContext& pod, absl::Span<const NodeId> nodes, Column* column);
  // To be called before scores are read: forgets them if other plugins skip than before, or others
  // normalise.
  void ExpectScores(uint64_t skipped, uint64_t normalised, Column* column);
  // Asks for the scores of nodes that fit.
  void AskScores(const PodContext& pod, absl::Span<const NodeId> nodes, Column* column);

  // The highest sum among the nodes of a block that fit, and the first node, in order of addition,
  // that has it. Nodes without scores come last. REQUIRES: some node of the block fits. O(1) unless
  // one changed.
  const Column::Best& BestOf(size_t block, Column* column) const;

  // Score plugins (bits by place in the profile) that are remembered.
  uint64_t remembered_scores() const { return remembered_scores_; }
  // Filters that are not.
  uint64_t cluster_filters() const { return cluster_filters_; }
  // By reason: the place of the filter that gives it; kNoFilter for kFits.
  const uint8_t* filter_of() const { return filter_of_.data(); }

  size_t columns() const { return live_.size(); }
  // Nodes that filters were asked about, and nodes that score plugins were, once for each.
  uint64_t nodes_filtered() const { return nodes_filtered_; }
  uint64_t nodes_scored() const { return nodes_scored_; }

 private:
  Column& Slot(ShapeId shape);
  static void Forget(Column* column);
  static void ForgetScores(Column* column);
  void FollowOrder();
  void FillBlocks(Column* column) const;
  void DropOldest();
  size_t ColumnBytes() const;

  const Profile* profile_;
  const ClusterState* cluster_;
  const bool remembers_;
  const size_t most_bytes_;
  uint64_t remembered_scores_ = 0;
  uint64_t cluster_filters_ = 0;
  std::vector<uint8_t> filter_of_;  // by reason

  ShapeTable locals_;                           // shapes as filters of Reach::kNode see them
  std::vector<ShapeId> local_of_;               // by ShapeId; invalid: not looked at yet
  std::vector<std::unique_ptr<Column>> slots_;  // by local shape
  std::vector<ShapeId> live_;                   // local shapes with a column
  uint64_t attempts_ = 0;
  uint64_t nodes_filtered_ = 0;
  uint64_t nodes_scored_ = 0;

  // Places in the node order.
  static constexpr uint32_t kNoPlace = ~uint32_t{0};
  std::vector<uint32_t> place_of_;  // by node
  uint64_t order_ = 0;              // counts the orders seen
  uint64_t nodes_version_ = 0;      // of the last one

  // Scratch.
  std::vector<NodeId> nodes_;
  std::vector<ReasonIndex> verdicts_;
  std::vector<ReasonIndex> own_verdicts_;
  std::vector<int64_t> scores_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_VERDICT_CACHE_H_
