// ResourceRequest: the amounts of a pod that are charged to its node.
//
// Most filters, scores and device choosers depend on this part of a PodShape alone, so they take a
// ResourceRequest rather than a PodShape.
#ifndef DRASIM_MODEL_RESOURCE_REQUEST_H_
#define DRASIM_MODEL_RESOURCE_REQUEST_H_

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace drasim {

inline constexpr int32_t kDeviceMilli = 1000;  // one whole GPU

// Amounts are integers in the unit that ends their name; zero requests none. The fields that are
// read once per node stand together at the beginning.
struct ResourceRequest {
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  int32_t gpu_count = 0;  // devices
  int32_t gpu_milli = 0;  // per device, 0..1000; 0 exactly when gpu_count is 0
  // GPU milli of the request apart from gpu_count: MIG instances, and extended resources for GPUs
  // or parts of them.
  int64_t nominal_milli = 0;
  // Derived from gpu_spec by ShapeTable::Intern: bit m is set when GPU model m is acceptable.
  uint64_t model_mask = ~uint64_t{0};
  // Counted resources, mainly extended ones, by name (sorted, unique); amounts above 0.
  std::vector<std::pair<std::string, int64_t>> extended;
  // MIG instances by profile (sorted, unique), in the direct front end; counts above 0. Excludes
  // gpu_count.
  std::vector<std::pair<std::string, int32_t>> mig;
  // Acceptable GPU models as written in the trace ("V100M16|V100M32"); empty = any.
  std::string gpu_spec;

  int64_t total_gpu_milli() const { return int64_t{gpu_count} * gpu_milli + nominal_milli; }
  bool is_share() const { return gpu_count > 0 && gpu_milli < kDeviceMilli; }
  // True when the node, not the scheduler, chooses the pod's devices.
  bool gets_devices_from_node() const { return gpu_count == 0 && mig.empty(); }

  // Ignores model_mask, because it is derived.
  bool operator==(const ResourceRequest& o) const {
    return std::tie(cpu_milli, memory_bytes, gpu_count, gpu_milli, nominal_milli, extended, mig,
                    gpu_spec) == std::tie(o.cpu_milli, o.memory_bytes, o.gpu_count, o.gpu_milli,
                                          o.nominal_milli, o.extended, o.mig, o.gpu_spec);
  }
};

}  // namespace drasim

#endif  // DRASIM_MODEL_RESOURCE_REQUEST_H_
