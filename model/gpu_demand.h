// GpuDemand: the GPUs of a pod as the trace states them, before their lowering to a request.
#ifndef DRASIM_MODEL_GPU_DEMAND_H_
#define DRASIM_MODEL_GPU_DEMAND_H_

#include <cstdint>

namespace drasim {

// Statistics of a workload count demands, and reports compare a demand with its request, for
// example to find the GPU time that whole GPUs waste on shares. No filter reads a demand.
struct GpuDemand {
  int32_t gpus = 0;        // 0: the request equals the demand
  int32_t milli = 0;       // of each GPU
  int64_t memory_mib = 0;  // of all GPUs together; 0: unknown
  bool operator==(const GpuDemand&) const = default;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_GPU_DEMAND_H_
