// How the GPUs of one node are connected, as NVIDIA's go-gpuallocator scores it.
//
// The score of a pair is the sum over its links: across CPU sockets 10, below one socket 20, one
// host bridge 30, several PCIe switches 40, one PCIe switch 50, one board 60; and 100 for each
// NVLink between the two. Source: go-gpuallocator, gpuallocator/device.go and besteffort_policy.go.
#ifndef DRASIM_MODEL_GPU_TOPOLOGY_H_
#define DRASIM_MODEL_GPU_TOPOLOGY_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/device_spec.h"

namespace drasim {

// What a product brings along.
struct GpuProductLinks {
  int32_t nvlinks = 0;    // per GPU
  bool nvswitch = false;  // every pair of a node talks over all of a GPU's links
  bool bridge = false;    // neighbours 0-1, 2-3, ... are bridged
};
// By product or model name ("A100-SXM4-80GB", "H100-80GB-SXM", "V100M32"); no NVLink for names that
// say nothing.
GpuProductLinks LinksOfProduct(absl::string_view product);

// Pair scores of the GPUs of a node; symmetric, 0 on the diagonal.
class GpuTopology {
 public:
  // `gpus`: in order of index; at most kMaxDevicesPerNode.
  explicit GpuTopology(absl::Span<const DeviceSpec> gpus);
  size_t size() const { return size_; }
  int32_t pair_score(size_t a, size_t b) const { return score_[a * size_ + b]; }

 private:
  size_t size_ = 0;
  std::vector<int32_t> score_;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_GPU_TOPOLOGY_H_
