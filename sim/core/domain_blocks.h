// DomainBlocks: which nodes pass limits on the pods of their topology domains, by blocks of 64
// places in ClusterState::node_order(); bit i of a word is place i of its block.
//
// A label with few values, such as a zone, has a word per block and value: a limit that rejects
// some of the values removes their words. For a label with many values, such as the host name, only
// the limit 0 can be expressed: by the places whose domain has pods.
//
// Cache contract: words of topologies are valid for one ClusterState::nodes_version(), which counts
// every change of a node's availability, labels or place in the order. Places whose domain has pods
// are also brought up to date by DomainCounts::crossing(). Limits are computed in each attempt.
#ifndef DRASIM_SIM_CORE_DOMAIN_BLOCKS_H_
#define DRASIM_SIM_CORE_DOMAIN_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/pod_counts.h"
#include "policies/framework/plugin.h"

namespace drasim {

class DomainBlocks {
 public:
  static constexpr size_t kBlock = 64;

  // `cluster` must outlive it.
  explicit DomainBlocks(const ClusterState* cluster) : cluster_(cluster) {}

  // Drops all limits. To be called at the start of each attempt.
  void Begin() { limits_.clear(); }
  // Adds a limit, evaluated with the present counts. False if blocks cannot express it. O(domains)
  // with few of them, else O(their changes since the last call); O(nodes) after nodes have changed.
  bool Add(const DomainLimit& limit);
  size_t limits() const { return limits_.size(); }
  // Drops those after the first `count`.
  void KeepFirst(size_t count) { limits_.resize(count); }
  // The nodes of a block that pass all limits. O(limits).
  uint64_t Passing(size_t block) const;

  // The nodes of each domain: domains.size() words for each block. Empty where domains are many.
  // Valid until nodes come, leave or change. O(1); O(nodes) after that.
  absl::Span<const uint64_t> WordsOf(const TopologyDomains& domains);

 private:
  static constexpr size_t kFewDomains = 64;

  // The places of each domain.
  struct Topology {
    bool fresh = false;
    uint64_t nodes_version = 0;
    std::vector<uint64_t> bits;   // few domains: by block, then by domain
    std::vector<uint32_t> begin;  // many: by domain, into `places`
    std::vector<uint32_t> places;
  };
  // The places whose domain has pods.
  struct Occupied {
    bool fresh = false;
    uint64_t nodes_version = 0;
    uint64_t cursor = 0;  // of DomainCounts::crossings()
    std::vector<uint64_t> bits;
  };
  // Words whose nodes are rejected, or, with `keeps`, the only ones that pass.
  struct Limit {
    const uint64_t* words;
    size_t per_block;
    uint64_t domains;  // bits: which of the words of a block
    bool keeps;
  };

  const Topology& TopologyOf(const TopologyDomains& domains);
  const Occupied& OccupiedOf(const DomainCounts& counts, const Topology& topology);

  const ClusterState* cluster_;
  absl::flat_hash_map<const TopologyDomains*, std::unique_ptr<Topology>> topologies_;
  absl::flat_hash_map<const DomainCounts*, std::unique_ptr<Occupied>> occupied_;
  std::vector<Limit> limits_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_CORE_DOMAIN_BLOCKS_H_
