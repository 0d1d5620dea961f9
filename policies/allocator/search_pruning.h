// Bounds that keep the allocator's search from trying what cannot succeed (BranchPruner).
#ifndef DRASIM_POLICIES_ALLOCATOR_SEARCH_PRUNING_H_
#define DRASIM_POLICIES_ALLOCATOR_SEARCH_PRUNING_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "policies/allocator/node_pools.h"
#include "policies/allocator/pool_state.h"

namespace drasim {

// Classes of devices that were tried at one point of the search.
class TriedClasses {
 public:
  // Devices with equal keys can be exchanged.
  struct Key {
    uint32_t device_class = 0;
    uint32_t shares = 0;  // a number for what is taken of the device; 0: nothing
    uint64_t claims = 0;  // bits of the claims that hold it alone
    friend bool operator==(const Key&, const Key&) = default;
    template <typename H>
    friend H AbslHashValue(H hash, const Key& key) {
      return H::combine(std::move(hash), key.device_class, key.shares, key.claims);
    }
  };

  // False if the class was there already.
  bool Add(const Key& key) { return tried_.insert(key).second; }

 private:
  absl::flat_hash_set<Key> tried_;
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
