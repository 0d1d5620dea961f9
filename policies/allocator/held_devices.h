// HeldDevices: the devices that claims hold, kept from one scheduling cycle to the next.
//
//   HeldDevices held(pools);
//   RETURN_IF_ERROR(held.Add(use_of_claim));   // a claim is allocated
//   held.Remove(use_of_claim);                 // and deallocated
//
// It lives as long as the pools, which is until a slice changes.
#ifndef DRASIM_POLICIES_ALLOCATOR_HELD_DEVICES_H_
#define DRASIM_POLICIES_ALLOCATOR_HELD_DEVICES_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "model/status_macros.h"
#include "policies/allocator/device_use.h"
#include "policies/allocator/node_pools.h"
#include "policies/allocator/node_states.h"
#include "policies/allocator/use_index.h"

namespace drasim {

class HeldDevices {
 public:
  explicit HeldDevices(std::shared_ptr<NodePools> pools)
      : pools_(std::move(pools)),
        index_(pools_->shared_catalog()),
        states_(pools_.get(), &index_) {}
  HeldDevices(const HeldDevices&) = delete;
  HeldDevices& operator=(const HeldDevices&) = delete;

  // OutOfRange for consumed capacities beyond 10^24; nothing has changed then. O(use + nodes that
  // see the devices).
  absl::Status Add(const DeviceUse& use) {
    ASSIGN_OR_RETURN(const std::vector<uint32_t> pools, index_.Add(use));
    states_.PoolsChanged(pools);
    return absl::OkStatus();
  }
  // REQUIRES: was added before, be it together with others.
  void Remove(const DeviceUse& use) { states_.PoolsChanged(index_.Remove(use)); }

  NodePools& pools() const { return *pools_; }
  const UseIndex& index() const { return index_; }
  NodeStates& states() { return states_; }

 private:
  std::shared_ptr<NodePools> pools_;
  UseIndex index_;
  NodeStates states_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_HELD_DEVICES_H_
