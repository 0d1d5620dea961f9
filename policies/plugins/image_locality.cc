#include "policies/plugins/image_locality.h"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "model/node_spec.h"
#include "model/pod_constraints.h"
#include "policies/framework/registry.h"

namespace drasim {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;
constexpr int64_t kLeastBytes = 23 * kMebibyte;   // less is not worth a score
constexpr int64_t kMostBytes = 1000 * kMebibyte;  // of each container
// Bounds the memory: scores are remembered for at most that many shapes.
constexpr size_t kMostShapes = 256;

uint8_t ScoreOf(int64_t bytes, size_t containers) {
  const int64_t most = kMostBytes * static_cast<int64_t>(containers);
  const int64_t counted = std::clamp(bytes, kLeastBytes, most);
  return static_cast<uint8_t>(kMaxNodeScore * (counted - kLeastBytes) / (most - kLeastBytes));
}

}  // namespace

void ImageLocality::Refresh(const ClusterState& cluster) {
  if (fresh_ && version_ == cluster.nodes_version()) return;
  fresh_ = true;
  version_ = cluster.nodes_version();
  scores_.clear();
  images_.clear();
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    const NodeId node(n);
    if (!cluster.node(node).available) continue;
    for (const NodeImage& reported : cluster.node_spec(node).images) {
      for (const std::string& name : reported.names) {
        const auto [it, is_new] = images_.try_emplace(name);
        Image& image = it->second;
        if (is_new) image.bytes = reported.bytes;
        if (image.nodes.empty() || image.nodes.back() != node) image.nodes.push_back(node);
      }
    }
  }
}

std::vector<uint8_t> ImageLocality::ScoresOf(const PodConstraints& rules,
                                             const ClusterState& cluster) const {
  std::vector<int64_t> bytes(cluster.node_count());
  const auto count = [&](const std::string& name) {
    const auto it = images_.find(name);
    if (it == images_.end()) return;
    const Image& image = it->second;
    const double spread =
        static_cast<double>(image.nodes.size()) / static_cast<double>(cluster.available_nodes());
    const auto counted = static_cast<int64_t>(static_cast<double>(image.bytes) * spread);
    for (const NodeId node : image.nodes) bytes[node.value()] += counted;
  };
  for (const std::string& name : rules.images) count(name);
  for (const std::string& name : rules.volume_images) count(name);
  // As upstream, images of volumes count without raising what is the most.
  std::vector<uint8_t> scores(bytes.size());
  for (size_t n = 0; n < bytes.size(); ++n) scores[n] = ScoreOf(bytes[n], rules.images.size());
  return scores;
}

void ImageLocality::Score(const PodContext& pod, const ClusterState& cluster,
                          absl::Span<const NodeId> nodes, absl::Span<int64_t> scores) {
  Refresh(cluster);
  const PodConstraints& wanted = pod.shape->constraints;
  if (images_.empty() || wanted.images.empty()) {
    std::fill(scores.begin(), scores.end(), 0);
    return;
  }
  if (scores_.size() >= kMostShapes) scores_.clear();
  const auto [it, is_new] = scores_.try_emplace(pod.shape_id);
  if (is_new) it->second = ScoresOf(wanted, cluster);
  for (size_t i = 0; i < nodes.size(); ++i) scores[i] = it->second[nodes[i].value()];
}

bool ImageLocality::ScoresAlike(const PodContext& pod, const ClusterState& cluster) {
  Refresh(cluster);
  const PodConstraints& wanted = pod.shape->constraints;
  const auto is_known = [this](const std::string& name) { return images_.contains(name); };
  return std::none_of(wanted.images.begin(), wanted.images.end(), is_known) &&
         std::none_of(wanted.volume_images.begin(), wanted.volume_images.end(), is_known);
}

void RegisterImageLocality(Registry& registry) {
  registry.AddPlugin("ImageLocality",
                     [](const PolicyContext&) { return std::make_unique<ImageLocality>(); });
}

}  // namespace drasim
