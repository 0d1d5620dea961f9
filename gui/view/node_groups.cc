#include "gui/view/node_groups.h"

#include <cstddef>
#include <set>

#include "absl/strings/ascii.h"
#include "model/ids.h"

namespace drasim::view {
namespace {

constexpr absl::string_view kPoolLabels[] = {
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "alpha.eksctl.io/nodegroup-name",
    "kubernetes.azure.com/agentpool",
    "agentpool",
    "karpenter.sh/nodepool",
    "doks.digitalocean.com/node-pool",
    "node-pool",
    "nodepool",
    "pool",
};

bool IsDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }
bool IsSeparator(char c) { return c == '-' || c == '_'; }

size_t WithoutDigits(absl::string_view name) {
  size_t end = name.size();
  while (end > 0 && IsDigit(name[end - 1])) --end;
  return end;
}

// A number at the end goes in any case, those before it only behind a separator: the model in
// "gpu-a100-17" stays.
absl::string_view PrefixOf(absl::string_view name) {
  absl::string_view prefix = name.substr(0, name.find('.'));
  size_t end = WithoutDigits(prefix);
  if (end < prefix.size()) {
    while (end > 0 && IsSeparator(prefix[end - 1])) --end;
  }
  prefix = prefix.substr(0, end);
  while (true) {
    end = WithoutDigits(prefix);
    if (end == prefix.size() || end == 0 || !IsSeparator(prefix[end - 1])) break;
    prefix = prefix.substr(0, end - 1);
  }
  return prefix.empty() ? name : prefix;
}

}  // namespace

absl::string_view LabelOf(const NodeSpec& node, absl::string_view key) {
  for (const auto& [name, value] : node.labels) {
    if (name == key) return value;
  }
  return "";
}

std::string PoolOf(const NodeSpec& node) {
  for (const absl::string_view key : kPoolLabels) {
    if (node.labels.empty()) break;
    const absl::string_view pool = LabelOf(node, key);
    if (!pool.empty()) return std::string(pool);
  }
  return std::string(PrefixOf(node.name));
}

std::vector<std::string> LabelKeysOf(const ClusterState& cluster) {
  std::set<absl::string_view> keys;
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    for (const auto& [key, value] : cluster.node_spec(NodeId(n)).labels) keys.insert(key);
  }
  return {keys.begin(), keys.end()};
}

}  // namespace drasim::view
