#include "sim/core/domain_blocks.h"

#include <bit>
#include <utility>

namespace drasim {

const DomainBlocks::Topology& DomainBlocks::TopologyOf(const TopologyDomains& domains) {
  std::unique_ptr<Topology>& slot = topologies_[&domains];
  if (slot == nullptr) slot = std::make_unique<Topology>();
  Topology& topology = *slot;
  if (topology.fresh && topology.nodes_version == cluster_->nodes_version()) return topology;
  topology.fresh = true;
  topology.nodes_version = cluster_->nodes_version();
  topology.bits.clear();
  topology.begin.clear();
  topology.places.clear();
  const absl::Span<const NodeId> nodes = cluster_->node_order();
  const size_t n = domains.size();
  if (n <= kFewDomains) {
    topology.bits.resize((nodes.size() + kBlock - 1) / kBlock * n);
    for (size_t i = 0; i < nodes.size(); ++i) {
      topology.bits[i / kBlock * n + domains.of(nodes[i])] |= uint64_t{1} << (i % kBlock);
    }
    return topology;
  }
  // Counting sort.
  topology.begin.resize(n + 1);
  for (const NodeId node : nodes) ++topology.begin[domains.of(node) + 1];
  for (size_t d = 0; d < n; ++d) topology.begin[d + 1] += topology.begin[d];
  topology.places.resize(nodes.size());
  std::vector<uint32_t> next(topology.begin.begin(), topology.begin.end() - 1);
  for (size_t i = 0; i < nodes.size(); ++i) {
    topology.places[next[domains.of(nodes[i])]++] = static_cast<uint32_t>(i);
  }
  return topology;
}

const DomainBlocks::Occupied& DomainBlocks::OccupiedOf(const DomainCounts& counts,
                                                       const Topology& topology) {
  std::unique_ptr<Occupied>& slot = occupied_[&counts];
  if (slot == nullptr) slot = std::make_unique<Occupied>();
  Occupied& occupied = *slot;
  const auto set = [&](uint32_t domain) {
    const bool has_pods = domain != 0 && counts.sum(domain) > 0;
    for (uint32_t i = topology.begin[domain]; i < topology.begin[domain + 1]; ++i) {
      const uint64_t bit = uint64_t{1} << (topology.places[i] % kBlock);
      uint64_t& word = occupied.bits[topology.places[i] / kBlock];
      word = has_pods ? word | bit : word & ~bit;
    }
  };
  if (!occupied.fresh || occupied.nodes_version != topology.nodes_version ||
      occupied.cursor < counts.first_crossing()) {
    occupied.fresh = true;
    occupied.nodes_version = topology.nodes_version;
    occupied.bits.assign((topology.places.size() + kBlock - 1) / kBlock, 0);
    for (size_t d = 0; d + 1 < topology.begin.size(); ++d) set(static_cast<uint32_t>(d));
  } else {
    for (uint64_t k = occupied.cursor; k < counts.crossings(); ++k) set(counts.crossing(k));
  }
  occupied.cursor = counts.crossings();
  return occupied;
}

bool DomainBlocks::Add(const DomainLimit& limit) {
  const DomainCounts& counts = *limit.counts;
  const size_t domains = counts.topology().size();
  if (domains > kFewDomains) {
    if (limit.most != 0 || limit.needs_domain) return false;
    const Topology& topology = TopologyOf(counts.topology());
    limits_.push_back({OccupiedOf(counts, topology).bits.data(), 1, 1, /*keeps=*/false});
    return true;
  }
  const absl::Span<const int32_t> sums = counts.sums();
  uint64_t rejected = limit.needs_domain ? 1 : 0;
  for (size_t d = 1; d < domains; ++d) {
    if (sums[d] > limit.most) rejected |= uint64_t{1} << d;
  }
  if (rejected == 0) return true;
  const uint64_t* const words = TopologyOf(counts.topology()).bits.data();
  const uint64_t passing = ~rejected & ~uint64_t{0} >> (kFewDomains - domains);
  const bool keeps = std::popcount(passing) < std::popcount(rejected);
  limits_.push_back({words, domains, keeps ? passing : rejected, keeps});
  return true;
}

absl::Span<const uint64_t> DomainBlocks::WordsOf(const TopologyDomains& domains) {
  if (domains.size() > kFewDomains) return {};
  return TopologyOf(domains).bits;
}

uint64_t DomainBlocks::Passing(size_t block) const {
  uint64_t nodes = ~uint64_t{0};
  for (const Limit& limit : limits_) {
    const uint64_t* const words = limit.words + block * limit.per_block;
    uint64_t named = 0;
    for (uint64_t left = limit.domains; left != 0; left &= left - 1) {
      named |= words[std::countr_zero(left)];
    }
    nodes &= limit.keeps ? named : ~named;
  }
  return nodes;
}

}  // namespace drasim
