// Questions of the allocator's search before it tries a branch: a port, so that the search does
// not know how branches are judged (BranchPruner).
#ifndef DRASIM_POLICIES_ALLOCATOR_SEARCH_PRUNER_H_
#define DRASIM_POLICIES_ALLOCATOR_SEARCH_PRUNER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "policies/allocator/node_pools.h"
#include "policies/allocator/search_pruning.h"

namespace drasim {

class AllocationSearch;

// A point of the search: the request that is served, and how far it is.
struct SearchPosition {
  uint32_t claim = 0;
  uint32_t group = 0;
  int32_t option = -1;  // of a prioritised group: none chosen yet
  int64_t number = 0;   // devices that the request has
  DevicePlace start;
};

class SearchPruner {
 public:
  virtual ~SearchPruner() = default;

  // Looks at the devices of the node. False: nothing can be pruned.
  virtual bool Prepare() = 0;

  // Whether no device in reach of the request is an error to look at.
  virtual bool IsSafe(uint32_t claim, uint32_t request) const = 0;
  // The same for all requests from this position on.
  virtual bool IsSafeFrom(const SearchPosition& at) const = 0;

  // Whether the branch at this position has neither a solution nor an error. `jointly`: also looks
  // at all requests together, which costs more.
  virtual bool CannotComplete(const SearchPosition& at, bool jointly) = 0;
  // The candidates that have the value, if there is but one, that constraints ask for by now.
  virtual const std::vector<DevicePlace>& CandidatesNow(uint32_t claim, uint32_t request) const = 0;
  // False if no solution begins a matchAttribute constraint of the claim with this device.
  virtual bool MayMatch(uint32_t claim, uint32_t request, uint32_t device) = 0;
  // Whether `wanted` of these candidates, from `next` on, are not in use.
  virtual bool HasFree(uint32_t claim, uint32_t request, const std::vector<DevicePlace>& candidates,
                       size_t next, int64_t wanted) const = 0;

  // Whether each set of devices of a request need be tried in one order only.
  virtual bool order_is_free() const = 0;

  // Devices of one class can be exchanged in any solution: when one of them has led to none, the
  // others need not be tried in its place. The class includes what has been taken of it.
  virtual TriedClasses::Key ClassOf(const DevicePlace& place) = 0;
  // Equal for devices that nothing but their counters, and what has been taken, tells apart.
  virtual uint32_t ClassBesideCounters(const DevicePlace& place) = 0;

  // State that the rest of the search depends on at the begin of a group, but for exchangeable
  // devices.
  virtual std::string StateAt(const SearchPosition& at) = 0;
  virtual bool HasFailed(const std::string& state) const = 0;
  virtual void SetFailed(std::string state) = 0;
};

// Makes the pruner of one node's search, which outlives it.
using SearchPrunerMaker = std::function<std::unique_ptr<SearchPruner>(AllocationSearch* search)>;

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_SEARCH_PRUNER_H_
