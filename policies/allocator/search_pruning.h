// Bounds that keep the allocator's search from trying what cannot succeed.
//
// Pruning must not change the answer: a branch is left out only when it has no solution. Because
// devices may be errors to look at, the search prunes only where no such device is in reach.
#ifndef DRASIM_POLICIES_ALLOCATOR_SEARCH_PRUNING_H_
#define DRASIM_POLICIES_ALLOCATOR_SEARCH_PRUNING_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "policies/allocator/match_index.h"
#include "policies/allocator/node_pools.h"
#include "policies/allocator/pool_state.h"

namespace drasim {

class SearchPruning {
 public:
  explicit SearchPruning(size_t requests) : candidates_(requests) {}

  // Devices that may be taken for a request, in the order of the search.
  const std::vector<DevicePlace>& candidates(uint32_t request) const {
    return candidates_[request];
  }
  void SetCandidates(uint32_t request, std::vector<DevicePlace> candidates) {
    candidates_[request] = std::move(candidates);
  }

  // By constraint of a claim; null for those of distinctAttribute.
  const MatchIndex* match(uint32_t claim, size_t constraint) const {
    return matches_[claim][constraint].get();
  }
  void AddClaim(std::vector<std::unique_ptr<MatchIndex>> matches) {
    matches_.push_back(std::move(matches));
  }

  // Devices of one class can be exchanged in any solution: when one of them has led to none, the
  // others need not be tried in its place.
  bool has_class(uint32_t device) const { return classes_.contains(device); }
  uint32_t class_of(uint32_t device) const { return classes_.at(device); }
  void SetClass(uint32_t device, const std::string& content) {
    const auto [found, added] =
        class_ids_.try_emplace(content, static_cast<uint32_t>(class_ids_.size()));
    classes_[device] = found->second;
  }

 private:
  std::vector<std::vector<DevicePlace>> candidates_;               // by request plan
  std::vector<std::vector<std::unique_ptr<MatchIndex>>> matches_;  // by claim and constraint
  absl::flat_hash_map<uint32_t, uint32_t> classes_;
  absl::flat_hash_map<std::string, uint32_t> class_ids_;
};

// Classes of devices that were tried at one point of the search, with the claims that hold them.
class TriedClasses {
 public:
  // False if the class was there already.
  bool Add(uint32_t device_class, uint64_t claims) {
    return tried_.emplace(device_class, claims).second;
  }

 private:
  absl::flat_hash_set<std::pair<uint32_t, uint64_t>> tried_;
};

// The largest number of some devices that their counters can serve together.
class CounterBound {
 public:
  // `state` is the pool's, or null for a device that is not charged.
  void Add(const PoolView& pool, const PoolState* state, uint32_t device);
  int64_t most() const;

 private:
  // Devices that use the same counters of a pool: the first of them tells which.
  struct Group {
    const PoolState* state = nullptr;
    int64_t devices = 0;
    std::vector<CounterUse> least;  // of each counter that all of the devices use
  };
  int64_t uncharged_ = 0;
  std::map<std::pair<uint32_t, uint32_t>, Group> groups_;  // by pool and first counter
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_SEARCH_PRUNING_H_
