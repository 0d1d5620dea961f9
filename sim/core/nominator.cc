#include "sim/core/nominator.h"

#include <algorithm>

#include "model/check.h"

namespace drasim {

void Nominator::Nominate(PodId pod, NodeId node) {
  DRASIM_CHECK(pod.valid() && node.valid());
  Clear(pod);
  node_of_[pod] = node;
  pods_[node].push_back(pod);
}

void Nominator::Clear(PodId pod) {
  const auto found = node_of_.find(pod);
  if (found == node_of_.end()) return;
  const auto list = pods_.find(found->second);
  std::vector<PodId>& pods = list->second;
  pods.erase(std::find(pods.begin(), pods.end(), pod));
  if (pods.empty()) pods_.erase(list);
  node_of_.erase(found);
}

NodeId Nominator::NodeOf(PodId pod) const {
  const auto found = node_of_.find(pod);
  return found == node_of_.end() ? NodeId() : found->second;
}

absl::Span<const PodId> Nominator::On(NodeId node) const {
  const auto found = pods_.find(node);
  if (found == pods_.end()) return {};
  return found->second;
}

}  // namespace drasim
