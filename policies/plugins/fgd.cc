#include "policies/plugins/fgd.h"

#include <algorithm>
#include <array>
#include <memory>

#include "policies/framework/registry.h"

namespace drasim {
namespace {

// Entry k - 1 is the smallest double x with floor(100 * (1 / (1 + exp(-x)))) >= k, found by
// bisection over the doubles with a correctly rounded exp and binary64 arithmetic for the rest.
constexpr std::array<double, 100> kSigmoidThresholds = {
#include "policies/plugins/sigmoid_thresholds.inc"
};

// Where to begin to look: in steps of 10/256 from -5 on, how many thresholds lie more than a step
// below.
constexpr double kGuessSteps = 256;
constexpr double kGuessPerUnit = kGuessSteps / 10;
constexpr std::array<uint8_t, 257> kSigmoidGuesses = [] {
  std::array<uint8_t, 257> below{};
  uint8_t count = 0;
  for (size_t i = 0; i < below.size(); ++i) {
    const double bound = (static_cast<double>(i) - 1) / kGuessPerUnit - 5;
    while (count < kSigmoidThresholds.size() && kSigmoidThresholds[count] < bound) ++count;
    below[i] = count;
  }
  return below;
}();

using DeviceArray = std::array<int16_t, kMaxDevicesPerNode>;

}  // namespace

int64_t SigmoidScore(double x) {
  const double step = std::clamp((x + 5) * kGuessPerUnit, 0.0, kGuessSteps);
  size_t k = kSigmoidGuesses[static_cast<size_t>(step)];
  while (k < kSigmoidThresholds.size() && kSigmoidThresholds[k] <= x) ++k;
  return static_cast<int64_t>(k);
}

double FgdScorer::AmountBefore(const ClusterState& cluster, NodeId node, const GpuNodeView& view) {
  if (before_.size() < cluster.node_count()) before_.resize(cluster.node_count());
  Remembered& r = before_[node.value()];
  if (r.epoch != cluster.node_epoch(node)) {
    r.amount = memo_.Amount(view);
    r.epoch = cluster.node_epoch(node);
  }
  return r.amount;
}

FgdScorer::Best FgdScorer::BestShare(const ResourceRequest& request, const ClusterState& cluster,
                                     NodeId node) {
  GpuNodeView view = ViewOf(cluster, node);
  const double before = AmountBefore(cluster, node, view);
  DeviceArray after;
  std::copy(view.device_milli_idle.begin(), view.device_milli_idle.end(), after.begin());
  const size_t devices = view.device_milli_idle.size();
  view.cpu_milli_idle -= request.cpu_milli;
  view.device_milli_idle = absl::MakeConstSpan(after.data(), devices);
  Best best{0, -1};
  const bool mixed = !view.device_models.empty();
  const DeviceSet usable = cluster.UsableGpus(node, request.model_mask);
  for (size_t i = 0; i < devices; ++i) {
    const int16_t idle = after[i];
    if (idle < request.gpu_milli || (mixed && !usable.Contains(i))) continue;
    // A device with the same idle amount as an earlier one leads to the same state and cannot win
    // the tie, unless their models differ.
    if (!mixed && std::find(after.begin(), after.begin() + i, idle) != after.begin() + i) continue;
    after[i] = static_cast<int16_t>(idle - request.gpu_milli);
    const int64_t score = SigmoidScore((before - memo_.Amount(view)) / 1000);
    after[i] = idle;
    if (score > best.score) best = {i, score};
  }
  return best;
}

int64_t FgdScorer::ScoreNode(const ResourceRequest& request, const ClusterState& cluster,
                             NodeId node) {
  if (request.is_share()) return BestShare(request, cluster, node).score;
  GpuNodeView view = ViewOf(cluster, node);
  const double before = AmountBefore(cluster, node, view);
  DeviceArray after;
  std::copy(view.device_milli_idle.begin(), view.device_milli_idle.end(), after.begin());
  // Whole devices: the measure does not distinguish devices with equal idle amounts and models. Of
  // several acceptable models, those with the lower indices count: the chooser takes them, too.
  const bool mixed = !view.device_models.empty();
  const DeviceSet usable = cluster.UsableGpus(node, request.model_mask);
  int32_t missing = request.gpu_count;
  for (size_t i = 0; i < view.device_milli_idle.size() && missing > 0; ++i) {
    if (after[i] < request.gpu_milli || (mixed && !usable.Contains(i))) continue;
    after[i] = static_cast<int16_t>(after[i] - request.gpu_milli);
    --missing;
  }
  view.cpu_milli_idle -= request.cpu_milli;
  view.device_milli_idle = absl::MakeConstSpan(after.data(), view.device_milli_idle.size());
  return SigmoidScore((before - memo_.Amount(view)) / 1000);
}

DeviceSet FgdScorer::BestShareDevice(const ResourceRequest& request, const ClusterState& cluster,
                                     NodeId node) {
  return DeviceSet::Of(BestShare(request, cluster, node).device);
}

void Fgd::Score(const PodContext& pod, const ClusterState& cluster, absl::Span<const NodeId> nodes,
                absl::Span<int64_t> scores) {
  for (size_t i = 0; i < nodes.size(); ++i)
    scores[i] = scorer_.ScoreNode(pod.shape->request, cluster, nodes[i]);
}

void RegisterFgd(Registry& registry) {
  registry.AddPlugin("FGD",
                     [](const PolicyContext& c) { return std::make_unique<Fgd>(c.fragmentation); });
  registry.AddPolicy(
      {"fgd", "fragmentation gradient descent (USENIX ATC 2023)", {{"FGD", 1}}, "fgd"});
}

}  // namespace drasim
