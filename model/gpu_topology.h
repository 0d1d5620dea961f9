// Connections between the GPUs of one node, scored as NVIDIA's go-gpuallocator scores them.
//
// A pair's score is the sum over its links: 10 across CPU sockets, 20 within a socket, 30 under one
// host bridge, 40 through several PCIe switches, 50 under one PCIe switch, 60 on one board; and 100
// for each NVLink. Source: go-gpuallocator, gpuallocator/device.go and besteffort_policy.go.
#ifndef DRASIM_MODEL_GPU_TOPOLOGY_H_
#define DRASIM_MODEL_GPU_TOPOLOGY_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/device_spec.h"

namespace drasim {

// NVLink defaults of a product.
struct GpuProductLinks {
  int32_t nvlinks = 0;    // per GPU
  bool nvswitch = false;  // a switch connects every pair with all links of a GPU
  bool bridge = false;    // neighbours 0-1, 2-3, ... are bridged
};
// Looks up a product or model name ("A100-SXM4-80GB", "H100-80GB-SXM", "V100M32"). Unknown names
// have no NVLink.
GpuProductLinks LinksOfProduct(absl::string_view product);

// The pair scores of a node's GPUs: symmetric, 0 on the diagonal.
class GpuTopology {
 public:
  // `gpus`: in index order; at most kMaxDevicesPerNode.
  explicit GpuTopology(absl::Span<const DeviceSpec> gpus);
  size_t size() const { return size_; }
  int32_t pair_score(size_t a, size_t b) const { return score_[a * size_ + b]; }

 private:
  size_t size_ = 0;
  std::vector<int32_t> score_;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_GPU_TOPOLOGY_H_
