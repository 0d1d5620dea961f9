// The whole of drasim with a policy of this project's own, as in docs/tour/write_a_policy.md.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "policies/framework/plugin.h"
#include "policies/framework/registry.h"
#include "sim/app/drasim_main.h"

namespace {

// Prefers nodes with few idle GPUs.
class FullNode : public drasim::ScorePlugin {
 public:
  absl::string_view name() const override { return "FullNode"; }
  void Score(const drasim::PodContext&, const drasim::ClusterState& cluster,
             absl::Span<const drasim::NodeId> nodes, absl::Span<int64_t> scores) override {
    for (size_t i = 0; i < nodes.size(); ++i) {
      const drasim::NodeRow& row = cluster.node(nodes[i]);
      scores[i] = row.gpu_count == 0 ? 100 : 100 - row.gpu_milli_idle / (10 * row.gpu_count);
    }
  }
};

void RegisterMine(drasim::Registry& registry) {
  registry.AddPlugin("FullNode",
                     [](const drasim::PolicyContext&) { return std::make_unique<FullNode>(); });
  registry.AddPolicy({"full-node", "nodes with few idle GPUs", {{"FullNode", 1}}, "best"});
}

}  // namespace

int main(int argc, char** argv) { return drasim::Main(argc, argv, RegisterMine); }
