#include "policies/builtins.h"

#include <memory>

#include "policies/devices/device_choosers.h"
#include "policies/plugins/best_fit.h"
#include "policies/plugins/default_binder.h"
#include "policies/plugins/dot_product.h"
#include "policies/plugins/fgd.h"
#include "policies/plugins/gpu_clustering.h"
#include "policies/plugins/gpu_packing.h"
#include "policies/plugins/gpu_share_fit.h"
#include "policies/plugins/node_affinity.h"
#include "policies/plugins/node_resources_fit.h"
#include "policies/plugins/node_unschedulable.h"
#include "policies/plugins/priority_sort.h"
#include "policies/plugins/random_score.h"
#include "policies/plugins/taint_toleration.h"

namespace drasim {
namespace {

template <typename T>
std::unique_ptr<Plugin> Make(const PolicyContext&) {
  return std::make_unique<T>();
}

template <DotProduct::Dimensions dimensions, DotProduct::Norm norm>
std::unique_ptr<Plugin> MakeDot(const PolicyContext&) {
  return std::make_unique<DotProduct>(dimensions, norm);
}

void RegisterDotProducts(Registry& r) {
  using D = DotProduct::Dimensions;
  using N = DotProduct::Norm;
  r.AddPlugin("DotProduct", MakeDot<D::kMerge, N::kMax>);
  r.AddPlugin("DotProductMergeNode", MakeDot<D::kMerge, N::kNode>);
  r.AddPlugin("DotProductMergePod", MakeDot<D::kMerge, N::kPod>);
  r.AddPlugin("DotProductShareMax", MakeDot<D::kShare, N::kMax>);
  r.AddPlugin("DotProductDivideMax", MakeDot<D::kDivide, N::kMax>);
  r.AddPlugin("DotProductExtendMax", MakeDot<D::kExtend, N::kMax>);
}

}  // namespace

void RegisterBuiltins(Registry& r) {
  // Filters, in the order in which a profile runs them.
  r.AddPlugin("NodeUnschedulable", Make<NodeUnschedulable>);
  r.AddPlugin("TaintToleration", Make<TaintToleration>);
  r.AddPlugin("NodeAffinity", Make<NodeAffinity>);
  r.AddPlugin("NodeResourcesFit", Make<NodeResourcesFit>);
  r.AddPlugin("GpuShareFit", Make<GpuShareFit>);
  // Queue and binding.
  r.AddPlugin("PrioritySort", Make<PrioritySort>);
  r.AddPlugin("DefaultBinder", [](const PolicyContext& c) {
    return std::make_unique<DefaultBinder>(c.bind_latency);
  });
  // Scores.
  r.AddPlugin("Random",
              [](const PolicyContext& c) { return std::make_unique<RandomScore>(c.streams); });
  RegisterDotProducts(r);
  r.AddPlugin("GpuClustering", Make<GpuClustering>);
  r.AddPlugin("GpuPacking", Make<GpuPacking>);
  r.AddPlugin("BestFit", Make<BestFit>);
  r.AddPlugin("FGD", [](const PolicyContext& c) { return std::make_unique<Fgd>(c.fragmentation); });
  // Device choosers.
  r.AddAllocator("best",
                 [](const PolicyContext&) { return std::make_unique<TightestDevice>(true); });
  r.AddAllocator("worst",
                 [](const PolicyContext&) { return std::make_unique<TightestDevice>(false); });
  r.AddAllocator("random",
                 [](const PolicyContext& c) { return std::make_unique<RandomDevice>(c.streams); });
  r.AddAllocator(
      "fgd", [](const PolicyContext& c) { return std::make_unique<FgdDevice>(c.fragmentation); });
  // Policies: name, description, score plugins with weights, device chooser.
  r.AddPolicy({"random", "a feasible node at random (baseline)", {{"Random", 1}}, "random"});
  r.AddPolicy({"dotprod",
               "smallest dot product of idle and wanted (Tetris inverted)",
               {{"DotProduct", 1}},
               "best"});
  r.AddPolicy(
      {"gpu-clustering", "pods of one kind of GPU use together", {{"GpuClustering", 1}}, "best"});
  r.AddPolicy(
      {"gpu-packing", "shared GPUs first, untouched nodes last", {{"GpuPacking", 1}}, "best"});
  r.AddPolicy({"best-fit", "least CPU and GPU left over", {{"BestFit", 1}}, "best"});
  r.AddPolicy({"fgd", "fragmentation gradient descent (USENIX ATC 2023)", {{"FGD", 1}}, "fgd"});
}

}  // namespace drasim
