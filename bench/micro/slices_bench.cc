// Publication of slices: 500 nodes with 8 GPUs.

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "policies/drivers/slice_publishers.h"

namespace drasim {
namespace {

constexpr int64_t kNodes = 500;

void PublishCluster(benchmark::State& state, const char* mig) {
  proto::SliceDriver options;
  options.set_kind("gpu.nvidia.com");
  options.set_mig(mig);
  auto publisher = MakeSlicePublisher(options, {});
  DRASIM_CHECK(publisher.ok());
  std::vector<NodeHardware> nodes;
  for (int64_t i = 0; i < kNodes; ++i) {
    nodes.push_back(MadeHardware(absl::StrCat("node-", i), "A100-SXM4-40GB", 8));
  }
  int64_t devices = 0;
  for (auto unused : state) {
    for (const NodeHardware& node : nodes) {
      const auto slices = (*publisher)->Publish(node, 1);
      DRASIM_CHECK(slices.ok());
      for (const proto::kube::ResourceSlice& slice : *slices) {
        devices += slice.spec().devices_size();
      }
    }
  }
  state.SetItemsProcessed(devices);
}

void BM_PublishWholeGpus(benchmark::State& state) { PublishCluster(state, "none"); }
BENCHMARK(BM_PublishWholeGpus)->Unit(benchmark::kMillisecond);

void BM_PublishDynamicMig(benchmark::State& state) { PublishCluster(state, "dynamic"); }
BENCHMARK(BM_PublishDynamicMig)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace drasim
