// The GPUs of a pod in annotations, for what extended resources cannot say: shares, acceptable
// models, and which GPUs of its node the pod holds. The names are those of the pods that Alibaba
// published with openb (alibaba/clusterdata, cluster-trace-gpu-v2023):
//
//   alibabacloud.com/gpu-count: "1"                        GPUs
//   alibabacloud.com/gpu-milli: "460"                      thousandths of each; without it 1000
//   alibabacloud.com/gpu-card-model: V100M16|V100M32       any of these models
//   alibabacloud.com/gpu-index: 0-3                        the GPUs 0 and 3 of its node
#ifndef DRASIM_MODEL_KUBE_GPU_ANNOTATIONS_H_
#define DRASIM_MODEL_KUBE_GPU_ANNOTATIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/device_set.h"
#include "model/kube/kube_problem.h"

namespace drasim {

namespace proto::kube {
class ObjectMeta;
}  // namespace proto::kube

struct GpuAnnotations {
  int32_t count = 0;   // 0: the containers' resources say it
  int32_t milli = 0;   // of each GPU, 1..1000; 0 exactly when count is 0
  std::string models;  // with | between them; empty: any
  DeviceSet devices;   // empty: not given
  bool operator==(const GpuAnnotations&) const = default;
};

// Problems are those of values; their paths begin with "annotations[". A value with a problem
// counts as absent.
GpuAnnotations ReadGpuAnnotations(const proto::kube::ObjectMeta& meta,
                                  std::vector<KubeProblem>* problems);

// Sets the annotations that have a value, and removes the others.
void SetGpuAnnotations(const GpuAnnotations& gpus, proto::kube::ObjectMeta* meta);
// The last of them alone.
void SetGpuIndex(DeviceSet devices, proto::kube::ObjectMeta* meta);

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_GPU_ANNOTATIONS_H_
