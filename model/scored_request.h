// ScoredRequest: the amounts by which NodeResourcesFit's scores judge a pod, where they differ from
// those that are charged.
//
// Containers without a request for CPU (or memory) count as 100 milli (200 MiB) each, and a new
// pod's pod-level requests do not count (kubernetes/kubernetes
// pkg/scheduler/framework/plugins/noderesources/resource_allocation.go, 1.34).
#ifndef DRASIM_MODEL_SCORED_REQUEST_H_
#define DRASIM_MODEL_SCORED_REQUEST_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace drasim {

struct ScoredRequest {
  // False: a pod of a trace. Its amounts follow from its ResourceRequest, as one container.
  bool given = false;
  int64_t cpu_milli = 0;           // of the pod when it is placed
  int64_t memory_bytes = 0;        // likewise
  int64_t resident_cpu_milli = 0;  // of the pod when it is on a node
  int64_t resident_memory_bytes = 0;
  // Other resources as the scores of the pod count them, by name (sorted, unique).
  std::vector<std::pair<std::string, int64_t>> extended;
  bool operator==(const ScoredRequest&) const = default;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_SCORED_REQUEST_H_
