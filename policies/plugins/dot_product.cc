#include "policies/plugins/dot_product.h"

#include <algorithm>
#include <memory>

#include "model/device_set.h"
#include "model/distributions.h"
#include "policies/framework/registry.h"
#include "policies/plugins/large_node.h"

namespace drasim {
namespace {

// tanh by the deterministic exponential, because a last bit may decide a placement.
double Tanh(double x) {
  const double e = DetExp(-2 * x);
  return (1 - e) / (1 + e);
}

}  // namespace

double DotProduct::Dot(const ResourceRequest& request, const ClusterState& cluster,
                       NodeId node) const {
  const NodeRow& row = cluster.node(node);
  const NodeSpec& spec = cluster.node_spec(node);
  const auto cpu_idle = static_cast<double>(row.cpu_milli_idle);
  const double gpu_idle = row.gpu_milli_idle;
  const auto cpu_wanted = static_cast<double>(request.cpu_milli);
  const auto gpu_wanted = static_cast<double>(request.total_gpu_milli());
  double cpu_unit = kLargeNodeCpuMilli;
  double gpu_unit = kLargeNodeGpuMilli;
  if (norm_ == Norm::kNode) {
    cpu_unit = std::max<double>(1, static_cast<double>(spec.cpu_milli));
    gpu_unit = std::max(1, spec.gpu_count * kDeviceMilli);
  } else if (norm_ == Norm::kPod) {
    cpu_unit = std::max(1.0, cpu_wanted);
    gpu_unit = std::max(1.0, gpu_wanted);
  }
  const auto dot2 = [&](double cpu, double gpu) {
    const double d =
        ((cpu / cpu_unit) * (cpu_wanted / cpu_unit) + (gpu / gpu_unit) * (gpu_wanted / gpu_unit)) /
        2;
    return norm_ == Norm::kPod ? Tanh(d / 10) : d;
  };
  if (dimensions_ == Dimensions::kMerge || request.gpu_count == 0) return dot2(cpu_idle, gpu_idle);
  const absl::Span<const int16_t> devices = cluster.device_milli_idle(node);
  if (dimensions_ == Dimensions::kExtend) {
    double sum = (cpu_idle / cpu_unit) * (cpu_wanted / cpu_unit);
    for (int16_t idle : devices) sum += (idle / gpu_unit) * (request.gpu_milli / gpu_unit);
    const double d = sum / static_cast<double>(1 + devices.size());
    return norm_ == Norm::kPod ? Tanh(d / 10) : d;
  }
  // The candidate with the smallest dot product counts, as the score prefers small products.
  double best = 2;
  double untouched = 0;
  const auto consider = [&](double milli) {
    const double cpu =
        dimensions_ == Dimensions::kDivide && gpu_idle > 0 ? cpu_idle * milli / gpu_idle : cpu_idle;
    best = std::min(best, dot2(cpu, milli));
  };
  const DeviceSet usable = cluster.UsableGpus(node, request.model_mask);
  for (size_t i = 0; i < devices.size(); ++i) {
    const int16_t idle = devices[i];
    if (!usable.Contains(i)) continue;
    if (idle == kDeviceMilli) {
      untouched += idle;
    } else if (request.is_share() && idle >= request.gpu_milli) {
      consider(idle);
    }
  }
  if (untouched >= gpu_wanted) consider(untouched);
  return best;
}

void DotProduct::Score(const PodContext& pod, const ClusterState& cluster,
                       absl::Span<const NodeId> nodes, absl::Span<int64_t> scores) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    scores[i] = std::max<int64_t>(
        0, static_cast<int64_t>(100 * (1 - Dot(pod.shape->request, cluster, nodes[i]))));
  }
}

void RegisterDotProduct(Registry& registry) {
  using D = DotProduct::Dimensions;
  using N = DotProduct::Norm;
  const auto add = [&registry](const char* name, D dimensions, N norm) {
    registry.AddPlugin(name, [name, dimensions, norm](const PolicyContext&) {
      return std::make_unique<DotProduct>(name, dimensions, norm);
    });
  };
  add("DotProduct", D::kMerge, N::kMax);
  add("DotProductMergeNode", D::kMerge, N::kNode);
  add("DotProductMergePod", D::kMerge, N::kPod);
  add("DotProductShareMax", D::kShare, N::kMax);
  add("DotProductDivideMax", D::kDivide, N::kMax);
  add("DotProductExtendMax", D::kExtend, N::kMax);
  registry.AddPolicy({"dotprod",
                      "smallest dot product of idle and wanted (Tetris inverted)",
                      {{"DotProduct", 1}},
                      "best"});
}

}  // namespace drasim
