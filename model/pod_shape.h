// PodShape: everything that a pod asks for, composed of one part per reader.
//
// Pods of one shape are interchangeable to every Filter and Score plugin that reads only the shape
// and the node, so verdicts and scores are cached per shape (docs/architecture.md, "Caches"). A
// function that needs one part takes that part alone. ShapeTable interns shapes.
#ifndef DRASIM_MODEL_POD_SHAPE_H_
#define DRASIM_MODEL_POD_SHAPE_H_

#include <cstdint>
#include <vector>

#include "model/claim_entry.h"
#include "model/device_plugin_request.h"
#include "model/gpu_demand.h"
#include "model/pod_constraints.h"
#include "model/pod_identity.h"
#include "model/pod_topology.h"
#include "model/pod_volumes.h"
#include "model/resource_request.h"
#include "model/scored_request.h"

namespace drasim {

struct PodShape {
  ResourceRequest request;            // charged to the node
  ScoredRequest scored;               // by which scores judge it
  PodConstraints constraints;         // rules for its nodes
  PodTopology topology;               // relative to which other pods
  PodVolumes volumes;                 // and to which volumes
  PodIdentity identity;               // for the selectors of other objects
  DevicePluginRequest device_plugin;  // for the kubelet
  std::vector<ClaimEntry> claims;     // classic DRA; they exclude GPUs and MIG in the request
  GpuDemand demand;                   // of the trace, for statistics and reports
  // The smaller last pod of a job split over nodes; placement policies may treat it differently.
  bool gang_remainder = false;

  // The demand; exceeds the request only if no lowering could satisfy it in full.
  int64_t wanted_gpu_milli() const {
    return demand.gpus > 0 ? int64_t{demand.gpus} * demand.milli : request.total_gpu_milli();
  }
  int32_t wanted_gpus() const { return demand.gpus > 0 ? demand.gpus : request.gpu_count; }
  int32_t wanted_milli() const {  // of each GPU
    return demand.gpus > 0 ? demand.milli : request.gpu_milli;
  }

  bool operator==(const PodShape&) const = default;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_POD_SHAPE_H_
