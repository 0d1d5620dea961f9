// Scores two nodes with an installed policy and with one of this project's own.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "model/cluster_state.h"
#include "policies/builtins.h"

namespace {

class LargestNode : public drasim::ScorePlugin {
 public:
  absl::string_view name() const override { return "LargestNode"; }
  void Score(const drasim::PodContext&, const drasim::ClusterState& cluster,
             absl::Span<const drasim::NodeId> nodes, absl::Span<int64_t> scores) override {
    for (size_t i = 0; i < nodes.size(); ++i) {
      scores[i] = cluster.node(nodes[i]).cpu_milli_idle / 1000;
    }
  }
};

}  // namespace

int main() {
  drasim::Registry registry;
  drasim::RegisterBuiltins(registry);
  registry.AddPlugin("LargestNode",
                     [](const drasim::PolicyContext&) { return std::make_unique<LargestNode>(); });
  drasim::GpuModelTable models;
  drasim::ShapeTable shapes(&models);
  drasim::ClusterState cluster(&models, &shapes);
  std::vector<drasim::NodeId> nodes;
  for (int cores : {8, 64}) {
    drasim::NodeSpec spec;
    spec.name = std::to_string(cores);
    spec.cpu_milli = int64_t{cores} * 1000;
    nodes.push_back(*cluster.AddNode(spec));
  }
  drasim::PodShape shape;
  shape.request.cpu_milli = 1000;
  drasim::PodContext pod;
  pod.shape_id = shapes.Intern(shape);
  pod.shape = &shapes.row(pod.shape_id);
  std::vector<int64_t> scores(2);
  for (const char* name : {"BestFit", "LargestNode"}) {
    auto plugin = registry.MakePlugin(name, drasim::PolicyContext());
    if (!plugin.ok()) return 1;
    auto* const score = dynamic_cast<drasim::ScorePlugin*>(plugin->get());
    if (score == nullptr) return 1;
    score->Score(pod, cluster, nodes, absl::MakeSpan(scores));
    std::printf("%s %d %d\n", name, static_cast<int>(scores[0]), static_cast<int>(scores[1]));
  }
  return scores[0] == 8 && scores[1] == 64 ? 0 : 1;
}
