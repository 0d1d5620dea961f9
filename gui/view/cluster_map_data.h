// The map of a cluster at one moment, from its state.
#ifndef DRASIM_GUI_VIEW_CLUSTER_MAP_DATA_H_
#define DRASIM_GUI_VIEW_CLUSTER_MAP_DATA_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gui/view/map_model.h"
#include "gui/view/node_slices.h"
#include "gui/view/pod_table.h"
#include "model/cluster_state.h"
#include "model/fragmentation.h"
#include "model/ids.h"
#include "model/time.h"

namespace drasim::view {

// A pod's data on the map, besides its place.
struct MapPod {
  uint32_t number = 0;  // in the order of arrival
  uint32_t tenant = 0;
  SimTime since;  // on its node
};

struct MapSources {
  std::vector<std::string> tenants;
  absl::FunctionRef<MapPod(PodId)> pod_of;              // for every resident pod
  const FragmentationModel* fragmentation = nullptr;    // null: not shown
  std::optional<LayoutOfGpu> layout_of = std::nullopt;  // absent: unknown
  absl::string_view label = {};                         // the key of MapNode::label
};

// Nodes, GPUs and slots as they are now; slots carry the number of their pod. Profiles are the MIG
// profiles of the cluster's models from small to large, behind them "share of a GPU" and "whole
// GPU". A GPU in use without instances shows its shares on top of each other: their heights mean
// something, their places do not. Instances of a static layout that no pod holds are slots that are
// not held, behind the others. A node's fragmentation is spread over its GPUs by their idle parts.
// Free slices outside of the
// instances of a static layout are stranded. O(pods + devices), with fragmentation O(nodes x
// typical pods) more.
ClusterMapData MapDataOf(const ClusterState& cluster, MapSources sources);
// Brings some nodes up to date in data that MapDataOf made of an earlier state of the same cluster
// and of the same sources. Tenants stay. O(pods + devices of the nodes).
void UpdateMapData(const ClusterState& cluster, const MapSources& sources,
                   absl::Span<const NodeId> nodes, ClusterMapData* data);
// `pods`: of the same moment, from record 0 on.
ClusterMapData MapDataOf(const ClusterState& cluster, const PodFold& pods,
                         std::optional<LayoutOfGpu> layout_of = std::nullopt);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_CLUSTER_MAP_DATA_H_
