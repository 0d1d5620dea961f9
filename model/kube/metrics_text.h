// KubeMetrics: allocations of a cluster as OpenMetrics text, in the names of Kubernetes' own
// exporters:
//
//   kube_pod_resource_request, kube_pod_resource_limit: kube-scheduler, /metrics/resources
//       (kubernetes/kubernetes pkg/scheduler/metrics/resources/resources.go);
//   kube_node_*, kube_pod_status_*, kube_pod_container_resource_*: kube-state-metrics 2.x
//       (internal/store/node.go, pod.go).
//
// Labels, units and resource names differ between the two as they do there: unit="cores" and
// resource="nvidia.com/gpu" in the scheduler's, unit="core" and resource="nvidia_com_gpu" in those
// of kube-state-metrics.
//
//   KubeMetrics metrics;
//   metrics.AddNode(node);
//   metrics.AddPod(pod);
//   file.Write(metrics.Text());
#ifndef DRASIM_MODEL_KUBE_METRICS_TEXT_H_
#define DRASIM_MODEL_KUBE_METRICS_TEXT_H_

#include <string>

#include "model/proto/kube.pb.h"

namespace drasim {

class KubeMetrics {
 public:
  void AddNode(const proto::kube::Node& node);
  // Absent fields of the specification have the API server's defaults.
  void AddPod(const proto::kube::Pod& pod);

  // All families, each with its samples in the order of addition, without timestamps; ends with
  // "# EOF". O(bytes).
  std::string Text() const;

 private:
  // Samples, by family.
  std::string node_unschedulable_;
  std::string node_taint_;
  std::string node_capacity_;
  std::string node_allocatable_;
  std::string pod_request_;
  std::string pod_limit_;
  std::string container_requests_;
  std::string container_limits_;
  std::string pod_phase_;
  std::string pod_scheduled_;
  std::string pod_unschedulable_;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_METRICS_TEXT_H_
