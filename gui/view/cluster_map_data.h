// The map of a cluster at one moment, from its state.
#ifndef DRASIM_GUI_VIEW_CLUSTER_MAP_DATA_H_
#define DRASIM_GUI_VIEW_CLUSTER_MAP_DATA_H_

#include "gui/view/map_model.h"
#include "gui/view/pod_table.h"
#include "model/cluster_state.h"

namespace drasim::view {

// Nodes, GPUs and slots as they are now; slots carry the PodId of their pod. Profiles are the MIG
// profiles of the cluster's models from small to large, behind them "share of a GPU" and "whole
// GPU". A GPU in use without instances shows its shares on top of each other: their heights mean
// something, their places do not. Instances of a fixed layout that no pod holds are not in a
// ledger, and count as free. `pods`: of the same moment, for times and tenants. O(pods + devices).
ClusterMapData MapDataOf(const ClusterState& cluster, const PodFold& pods);

}  // namespace drasim::view

#endif  // DRASIM_GUI_VIEW_CLUSTER_MAP_DATA_H_
