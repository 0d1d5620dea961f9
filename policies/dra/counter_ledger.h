// CounterLedger: what held devices consumed of their pools' counters when they were allocated.
//
// Upstream reads that from the slices as they are now (kubernetes/kubernetes#140802): when a driver
// publishes a held device with other counters, or no longer, its share is lost. The ledger knows
// the difference, which the allocator takes into account without strict_upstream.
#ifndef DRASIM_POLICIES_DRA_COUNTER_LEDGER_H_
#define DRASIM_POLICIES_DRA_COUNTER_LEDGER_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "model/proto/resource.pb.h"
#include "policies/allocator/device_use.h"
#include "policies/allocator/node_pools.h"

namespace drasim {

class CounterLedger {
 public:
  using Slices = absl::Span<const std::shared_ptr<const proto::kube::ResourceSlice>>;

  // Writes down devices of `use` that are not in the ledger yet as the slices have them, and
  // strikes out those that nobody holds any more. To be called before a slice changes, and before a
  // search. O(devices of the slices) if any device is new, else O(use).
  void Update(Slices slices, const DeviceUse& use);

  // Consumption of held devices beyond what the slices say now, in the order of names. O(devices of
  // the slices) if the ledger has any device with counters.
  std::vector<CounterDrift> Drift(Slices slices) const;

  // For checkpoints (sim/dra/api/plane_archive.h).
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& s) {
    a(s.held_);
  }

 private:
  using Amounts = std::map<std::pair<std::string, std::string>, ExactAmount>;  // by set and counter

  // Counters in the newest generation that has the device; none if it is not there, or takes no
  // counters.
  static std::map<DeviceId, Amounts> AmountsOf(Slices slices);

  std::map<DeviceId, Amounts> held_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_COUNTER_LEDGER_H_
