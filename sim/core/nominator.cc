#include "sim/core/nominator.h"

#include <algorithm>
#include <cstdint>

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

void Nominator::Save(StateWriter& out) const {
  out.Section("nominations");
  out.U64(node_of_.size());
  for (const auto& [node, pods] : pods_) {
    for (const PodId pod : pods) {
      out.U64(pod.value());
      out.U64(node.value());
    }
  }
}

absl::Status Nominator::Load(StateReader& in, size_t pods, size_t nodes) {
  in.Section("nominations");
  const size_t count = in.Count();
  for (size_t i = 0; i < count && in.status().ok(); ++i) {
    const uint64_t pod = in.U64();
    const uint64_t node = in.U64();
    if (pod >= pods || node >= nodes) in.Fail("a nominated pod or its node does not exist");
    if (in.status().ok()) {
      Nominate(PodId(static_cast<size_t>(pod)), NodeId(static_cast<size_t>(node)));
    }
  }
  return in.status();
}

}  // namespace drasim
