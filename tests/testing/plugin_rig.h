// Questions to single plugins of kube-scheduler about the nodes of a ClusterBuilder.
#ifndef DRASIM_TESTS_TESTING_PLUGIN_RIG_H_
#define DRASIM_TESTS_TESTING_PLUGIN_RIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "policies/framework/cluster_change.h"
#include "policies/framework/plugin.h"
#include "policies/framework/requeue_hints.h"
#include "tests/testing/cluster_builder.h"

namespace drasim {

// The verdict of every node, in order of creation.
inline std::vector<int> FilterVerdicts(const FilterPlugin& plugin, ClusterBuilder& builder,
                                       const PodShape& shape) {
  const ShapeId id = builder.AddShape(shape);
  const std::vector<NodeId> nodes = builder.NodeIds();
  std::vector<ReasonIndex> verdicts(nodes.size(), kFits);
  plugin.Filter(builder.Context(id), builder.cluster(), nodes, absl::MakeSpan(verdicts));
  return std::vector<int>(verdicts.begin(), verdicts.end());
}

// kube-scheduler's words for the rejection of one node; none if it fits.
inline std::vector<std::string> FilterTexts(const FilterPlugin& plugin, ClusterBuilder& builder,
                                            const PodShape& shape, NodeId node) {
  const auto verdict =
      static_cast<ReasonIndex>(FilterVerdicts(plugin, builder, shape)[node.value()]);
  if (verdict == kFits) return {};
  return plugin.ReasonTexts(builder.Context(builder.AddShape(shape)), builder.cluster(), node,
                            verdict);
}

inline StepResult PreFilterResult(PreFilterPlugin& plugin, ClusterBuilder& builder,
                                  const PodShape& shape) {
  return plugin.PreFilter(builder.Context(builder.AddShape(shape)), builder.cluster());
}

inline StepResult PreScoreResult(ScorePlugin& plugin, ClusterBuilder& builder,
                                 const PodShape& shape) {
  return plugin.PreScore(builder.Context(builder.AddShape(shape)), builder.cluster(),
                         builder.NodeIds());
}

// The scores of all nodes before NormalizeScore.
inline std::vector<int64_t> RawScores(ScorePlugin& plugin, ClusterBuilder& builder,
                                      const PodShape& shape) {
  const std::vector<NodeId> nodes = builder.NodeIds();
  std::vector<int64_t> scores(nodes.size(), -1);
  plugin.Score(builder.Context(builder.AddShape(shape)), builder.cluster(), nodes,
               absl::MakeSpan(scores));
  return scores;
}

// The scores of all nodes after NormalizeScore.
inline std::vector<int64_t> FinalScores(ScorePlugin& plugin, ClusterBuilder& builder,
                                        const PodShape& shape) {
  std::vector<int64_t> scores = RawScores(plugin, builder, shape);
  plugin.NormalizeScore(builder.NodeIds(), absl::MakeSpan(scores));
  return scores;
}

// Whether a change, with all its fields, wakes pods of the shape.
inline bool Wakes(const RequeuePlugin& plugin, ClusterBuilder& builder, const PodShape& shape,
                  ClusterChange change) {
  change.detailed = true;
  return Requeues(plugin, change, builder.Context(builder.AddShape(shape)), builder.cluster());
}

// An event about a node; `before` is null for a new one.
inline ClusterChange NodeChange(ClusterEvent event, NodeId node, const NodeSpec* before) {
  ClusterChange change;
  change.event = event;
  change.node = node;
  change.old_node = before;
  return change;
}

}  // namespace drasim

#endif  // DRASIM_TESTS_TESTING_PLUGIN_RIG_H_
