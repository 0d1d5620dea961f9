// The whole of drasim with a policy of this project's own.

#include <cstdint>
#include <memory>
#include <vector>

#include "policies/framework/plugin.h"
#include "policies/framework/registry.h"
#include "sim/app/drasim_main.h"

namespace {

// The node that is named last.
class LastNode : public drasim::ScorePlugin {
 public:
  absl::string_view name() const override { return "LastNode"; }
  void Score(const drasim::PodContext&, const drasim::ClusterState&,
             absl::Span<const drasim::NodeId> nodes, absl::Span<int64_t> scores) override {
    for (size_t i = 0; i < nodes.size(); ++i) scores[i] = static_cast<int64_t>(nodes[i].value());
  }
};

void RegisterMine(drasim::Registry& registry) {
  registry.AddPlugin("LastNode",
                     [](const drasim::PolicyContext&) { return std::make_unique<LastNode>(); });
  registry.AddPolicy({"last-node", "the node that is named last", {{"LastNode", 1}}, "best"});
}

}  // namespace

int main(int argc, char** argv) { return drasim::Main(argc, argv, RegisterMine); }
