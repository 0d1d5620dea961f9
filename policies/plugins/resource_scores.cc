#include "policies/plugins/resource_scores.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/resource_request.h"
#include "model/scored_request.h"
#include "policies/framework/registry.h"

namespace drasim {
namespace {

constexpr absl::string_view kCpuName = "cpu";
constexpr absl::string_view kMemoryName = "memory";
constexpr absl::string_view kGpuName = "gpu";
constexpr absl::string_view kEphemeralStorageName = "ephemeral-storage";
constexpr absl::string_view kGpuVendorPrefix = "nvidia.com/";

// kube-scheduler's assumed requests for containers that state none.
constexpr int64_t kDefaultCpuMilli = 100;
constexpr int64_t kDefaultMemoryBytes = int64_t{200} << 20;

constexpr int64_t kMaxWeight = 100;
constexpr int64_t kMinWeight = 1;
constexpr int32_t kMaxUtilization = 100;
constexpr int32_t kMaxShapeScore = 10;

absl::Status Found(absl::string_view what, int64_t found, absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, ": found '", found, "', expected ", expected));
}

// part x 100 / whole, rounded down, for 0 <= part <= whole and whole > 0. Only amounts beyond any
// real machine need the wide product.
int64_t Percent(int64_t part, int64_t whole) {
  if (part <= std::numeric_limits<int64_t>::max() / 100) return part * 100 / whole;
  return static_cast<int64_t>(absl::Uint128Low64(absl::uint128(static_cast<uint64_t>(part)) * 100 /
                                                 static_cast<uint64_t>(whole)));
}

int64_t PercentFree(const ResourceUse& use) {
  if (use.requested > use.capacity) return 0;
  return Percent(use.capacity - use.requested, use.capacity);
}

int64_t PercentInUse(const ResourceUse& use) {
  return Percent(std::min(use.requested, use.capacity), use.capacity);
}

// 0 without resources.
template <typename ValueOf>
int64_t WeightedMean(absl::Span<const ResourceUse> uses, ValueOf value_of) {
  int64_t sum = 0;
  int64_t weights = 0;
  for (const ResourceUse& use : uses) {
    sum += value_of(use) * use.weight;
    weights += use.weight;
  }
  return weights == 0 ? 0 : sum / weights;
}

ScoredResources::List OnlyPieces(const ScoredResources::List& resources) {
  ScoredResources::List pieces;
  for (const auto& [name, weight] : resources) {
    if (name == kCpuName || name == kMemoryName || name == kEphemeralStorageName) continue;
    pieces.emplace_back(name, weight);
  }
  return pieces;
}

// The default resources of GPU policies: the cluster's GPU resources, or CPU and memory if it has
// none, and devices of the direct front end.
ScoredResources::List GpuResources(const PolicyContext& context) {
  if (!context.resource_scores.resources.empty()) return context.resource_scores.resources;
  ScoredResources::List resources;
  for (const std::string& name : context.extended_resources) {
    if (absl::StartsWith(name, kGpuVendorPrefix)) resources.emplace_back(name, 1);
  }
  if (resources.empty()) resources = CpuAndMemory();
  resources.emplace_back(kGpuName, 1);
  return resources;
}

}  // namespace

absl::Status CheckResourceScoreOptions(const ResourceScoreOptions& options) {
  std::set<std::string> names;
  for (const auto& [name, weight] : options.resources) {
    if (name.empty()) {
      return absl::InvalidArgumentError("scored resource: found '', expected a name");
    }
    if (!names.insert(name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("scored resource: found '", name, "' again, expected every name once"));
    }
    if (weight < kMinWeight || weight > kMaxWeight) {
      return Found(absl::StrCat("weight of scored resource '", name, "'"), weight, "1 to 100");
    }
  }
  int32_t before = -1;
  for (const auto& [utilization, score] : options.shape) {
    if (utilization < 0 || utilization > kMaxUtilization) {
      return Found("utilization in the score's shape", utilization, "0 to 100");
    }
    if (utilization <= before) {
      return Found("utilization in the score's shape", utilization,
                   absl::StrCat("more than ", before, ", the one before"));
    }
    if (score < 0 || score > kMaxShapeScore) {
      return Found("score in the score's shape", score, "0 to 10");
    }
    before = utilization;
  }
  return absl::OkStatus();
}

ScoredResources::List CpuAndMemory() {
  return {{std::string(kCpuName), 1}, {std::string(kMemoryName), 1}};
}

ScoredResources::ScoredResources(const List& resources, Requests requests) : requests_(requests) {
  for (const auto& [name, weight] : resources) {
    DRASIM_CHECK(weight >= kMinWeight && weight <= kMaxWeight);
    Entry entry;
    entry.name = name;
    entry.weight = weight;
    if (name == kCpuName) entry.kind = Kind::kCpu;
    if (name == kMemoryName) entry.kind = Kind::kMemory;
    if (name == kGpuName) entry.kind = Kind::kGpu;
    entry.only_if_asked = name != kCpuName && name != kMemoryName && name != kEphemeralStorageName;
    entries_.push_back(std::move(entry));
  }
}

void ScoredResources::Resolve(const ClusterState& cluster) {
  const std::vector<std::string>& names = cluster.extended_names();
  if (names.size() == resolved_names_) return;
  resolved_names_ = names.size();
  for (Entry& entry : entries_) {
    if (entry.kind != Kind::kCounted) continue;
    const auto it = std::find(names.begin(), names.end(), entry.name);
    entry.known = it != names.end();
    entry.column = static_cast<size_t>(it - names.begin());
  }
}

int64_t ScoredResources::RequestOf(const Entry& entry, const PodShape& pod) const {
  const ResourceRequest& request = pod.request;
  const bool non_zero = requests_ == Requests::kNonZero;
  const bool scored = non_zero && pod.scored.given;
  switch (entry.kind) {
    case Kind::kCpu:
      if (scored) return pod.scored.cpu_milli;
      return non_zero && request.cpu_milli == 0 ? kDefaultCpuMilli : request.cpu_milli;
    case Kind::kMemory:
      if (scored) return pod.scored.memory_bytes;
      return non_zero && request.memory_bytes == 0 ? kDefaultMemoryBytes : request.memory_bytes;
    case Kind::kGpu:
      // For other requests it stands for extended resources or MIG instances.
      return request.gpu_count > 0 ? request.total_gpu_milli() : 0;
    case Kind::kCounted:
      break;
  }
  for (const auto& [name, amount] : scored ? pod.scored.extended : request.extended) {
    if (name == entry.name) return amount;
  }
  return 0;
}

bool ScoredResources::Asks(const PodShape& pod) const {
  return requests_ == Requests::kNonZero ||
         std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& entry) { return RequestOf(entry, pod) > 0; });
}

bool ScoredResources::Select(const PodShape& pod, const ClusterState& cluster) {
  Resolve(cluster);
  selected_.clear();
  bool asked = false;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const int64_t request = RequestOf(entries_[i], pod);
    asked = asked || request > 0;
    if (!entries_[i].known || (request == 0 && entries_[i].only_if_asked)) continue;
    selected_.push_back({i, request});
  }
  return asked || requests_ == Requests::kNonZero;
}

ResourceUse ScoredResources::UseAfter(const Selected& selected, const ClusterState& cluster,
                                      NodeId node) const {
  const Entry& entry = entries_[selected.entry];
  const NodeRow& row = cluster.node(node);
  const bool non_zero = requests_ == Requests::kNonZero;
  ResourceUse use;
  use.weight = entry.weight;
  int64_t in_use = 0;
  switch (entry.kind) {
    case Kind::kCpu:
      use.capacity = cluster.node_spec(node).cpu_milli;
      in_use = non_zero ? cluster.scored_cpu_milli(node) : use.capacity - row.cpu_milli_idle;
      break;
    case Kind::kMemory:
      use.capacity = cluster.node_spec(node).memory_bytes;
      in_use = non_zero ? cluster.scored_memory_bytes(node) : use.capacity - row.memory_bytes_idle;
      break;
    case Kind::kGpu:
      use.capacity = int64_t{row.gpu_count} * kDeviceMilli;
      in_use = use.capacity - row.gpu_milli_idle;
      use.device_milli = true;
      break;
    case Kind::kCounted:
      use.capacity = cluster.extended_capacity(node, entry.column);
      in_use = use.capacity - cluster.extended_idle(node, entry.column);
      if (cluster.IsServedByClaims(node, entry.column)) {
        const ServedDevices devices = cluster.served_devices(node, entry.column);
        use.capacity = devices.all;
        in_use = devices.held;
      }
      break;
  }
  use.requested = in_use + selected.request;
  use.added = selected.request;
  return use;
}

absl::Span<const ResourceUse> ScoredResources::UsesAfter(const ClusterState& cluster, NodeId node) {
  uses_.clear();
  for (const Selected& selected : selected_) {
    const ResourceUse use = UseAfter(selected, cluster, node);
    if (use.capacity > 0) uses_.push_back(use);
  }
  return uses_;
}

void ResourceScore::Score(const PodContext& pod, const ClusterState& cluster,
                          absl::Span<const NodeId> nodes, absl::Span<int64_t> scores) {
  const bool scored = resources_.Select(*pod.shape, cluster);
  for (size_t i = 0; i < nodes.size(); ++i) {
    scores[i] = scored ? ScoreOf(resources_.UsesAfter(cluster, nodes[i])) : 0;
  }
}

int64_t LeastAllocated::ScoreOf(absl::Span<const ResourceUse> uses) const {
  return WeightedMean(uses, PercentFree);
}

int64_t MostAllocated::ScoreOf(absl::Span<const ResourceUse> uses) const {
  return WeightedMean(uses, PercentInUse);
}

RequestedToCapacityRatio::RequestedToCapacityRatio(const ScoredResources::List& resources,
                                                   const Shape& shape)
    : ResourceScore(resources, ScoredResources::Requests::kNonZero) {
  DRASIM_CHECK(CheckResourceScoreOptions({{}, shape}).ok());
  for (const auto& [utilization, score] : shape) {
    points_.emplace_back(utilization, kMaxNodeScore / kMaxShapeScore * score);
  }
  if (points_.empty()) points_ = {{0, 0}, {kMaxUtilization, kMaxNodeScore}};
}

// The division truncates towards zero: a rising segment is rounded down, a falling one up.
int64_t RequestedToCapacityRatio::CurveAt(int64_t percent) const {
  if (percent <= points_.front().first) return points_.front().second;
  for (size_t i = 1; i < points_.size(); ++i) {
    const auto& [x0, y0] = points_[i - 1];
    const auto& [x1, y1] = points_[i];
    if (percent <= x1) return y0 + (y1 - y0) * (percent - x0) / (x1 - x0);
  }
  return points_.back().second;
}

int64_t RequestedToCapacityRatio::ScoreOf(absl::Span<const ResourceUse> uses) const {
  int64_t sum = 0;
  int64_t weights = 0;
  for (const ResourceUse& use : uses) {
    const int64_t score = CurveAt(PercentInUse(use));
    if (score == 0) continue;
    sum += score * use.weight;
    weights += use.weight;
  }
  // kube-scheduler rounds a quotient of doubles. With any realistic weights, such a quotient
  // reaches a half only where the exact one does.
  return weights == 0 ? 0 : (2 * sum + weights) / (2 * weights);
}

PackingExtender::PackingExtender(const ScoredResources::List& resources)
    : ResourceScore(OnlyPieces(resources), ScoredResources::Requests::kReal) {}

int64_t PackingExtender::ScoreOf(absl::Span<const ResourceUse> uses) const {
  absl::uint128 requested = 0;
  absl::uint128 capacity = 0;
  for (const ResourceUse& use : uses) {
    const auto unit = static_cast<uint64_t>(use.weight * (use.device_milli ? 1 : kDeviceMilli));
    requested += absl::uint128(static_cast<uint64_t>(use.requested)) * unit;
    capacity += absl::uint128(static_cast<uint64_t>(use.capacity)) * unit;
  }
  if (capacity == 0) return 0;
  return static_cast<int64_t>(absl::Uint128Low64(std::min(requested, capacity) * 100 / capacity));
}

void RegisterResourceScores(Registry& registry) {
  registry.AddPlugin("LeastAllocated", [](const PolicyContext& c) {
    const ScoredResources::List& chosen = c.resource_scores.resources;
    return std::make_unique<LeastAllocated>(chosen.empty() ? CpuAndMemory() : chosen);
  });
  registry.AddPlugin("MostAllocated", [](const PolicyContext& c) {
    return std::make_unique<MostAllocated>(GpuResources(c));
  });
  registry.AddPlugin("RequestedToCapacityRatio", [](const PolicyContext& c) {
    return std::make_unique<RequestedToCapacityRatio>(GpuResources(c), c.resource_scores.shape);
  });
  registry.AddPlugin("PackingExtender", [](const PolicyContext& c) {
    return std::make_unique<PackingExtender>(GpuResources(c));
  });
  registry.AddPolicy({"least-allocated",
                      "spreads: kube-scheduler's default resource scores",
                      {{"LeastAllocated", 1}, {"NodeResourcesBalancedAllocation", 1}},
                      "best",
                      PolicyEntry::Kind::kKubernetes});
  registry.AddPolicy({"most-allocated",
                      "packs: fullest nodes first, by GPU resources",
                      {{"MostAllocated", 1}},
                      "best",
                      PolicyEntry::Kind::kKubernetes});
  registry.AddPolicy({"requested-to-capacity-ratio",
                      "a curve over how full a node gets, by GPU resources; packs by default",
                      {{"RequestedToCapacityRatio", 1}},
                      "best",
                      PolicyEntry::Kind::kKubernetes});
  registry.AddPolicy({"packing-extender",
                      "packs as a scheduler extender does, by the wanted GPU resources alone",
                      {{"PackingExtender", 1}},
                      "best",
                      PolicyEntry::Kind::kKubernetes});
}

}  // namespace drasim
