// The ResourceSlices of a cluster, with the taints of DeviceTaintRules, and the searches over them:
// what joins the scheduler plugin to the allocator.
#ifndef DRASIM_POLICIES_DRA_SLICE_INVENTORY_H_
#define DRASIM_POLICIES_DRA_SLICE_INVENTORY_H_

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/device_columns.h"
#include "model/proto/resource.pb.h"
#include "policies/allocator/allocator_options.h"
#include "policies/allocator/device_catalog.h"
#include "policies/allocator/device_use.h"
#include "policies/allocator/node_pools.h"
#include "policies/allocator/selector_verdicts.h"
#include "policies/dra/counter_ledger.h"
#include "policies/dra/device_search.h"

namespace drasim {

// Evaluates selectors on the rows of a table, which outlives it.
using SelectorVerdictsMaker = std::function<std::shared_ptr<SelectorVerdicts>(
    DeviceColumns* columns, const DraFeatures& features)>;

class SliceInventory {
 public:
  SliceInventory(const AllocatorOptions& options, SelectorVerdictsMaker make_verdicts)
      : options_(options), make_verdicts_(std::move(make_verdicts)) {}

  void AddClass(proto::kube::DeviceClass device_class);
  // Rules count for the slices that are put later.
  void AddRule(proto::kube::DeviceTaintRule rule) { rules_.push_back(std::move(rule)); }
  // Adds the slice behind the others, or puts it in the place of the one with its name, which is
  // the result: whether there was one. O(slices).
  bool Put(const proto::kube::ResourceSlice& slice);
  // False if there is none.
  bool Remove(absl::string_view name);

  // A search over the slices as they are now. Catalog and verdicts are kept until a slice changes.
  // The inventory must outlive the search.
  // InvalidArgument for amounts that are no quantities. O(devices) after a change, else O(use).
  absl::StatusOr<std::unique_ptr<DeviceSearch>> NewSearch(const DeviceUse& use);

  // Tells which devices are held. Without strict_upstream the inventory asks before a slice
  // changes, and remembers what they took; without this function it knows the use of searches only.
  void set_holders(std::function<absl::StatusOr<DeviceUse>()> holders) {
    holders_ = std::move(holders);
  }

 private:
  // Views that follow from the slices alone.
  struct Views {
    std::vector<std::shared_ptr<const proto::kube::ResourceSlice>> slices;
    std::shared_ptr<DeviceCatalog> catalog;
    std::shared_ptr<NodePools> pools;
    std::shared_ptr<SelectorVerdicts> verdicts;
  };
  absl::StatusOr<std::shared_ptr<const Views>> CurrentViews();
  void BeforeChange();

  AllocatorOptions options_;
  SelectorVerdictsMaker make_verdicts_;
  std::vector<proto::kube::DeviceTaintRule> rules_;
  std::vector<std::shared_ptr<const proto::kube::DeviceClass>> classes_;
  std::vector<std::shared_ptr<const proto::kube::ResourceSlice>> slices_;
  std::shared_ptr<const Views> views_;  // null after a change; searches keep theirs
  // Without strict_upstream.
  std::function<absl::StatusOr<DeviceUse>()> holders_;
  CounterLedger ledger_;
  std::vector<CounterDrift> drift_;  // of views_
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_SLICE_INVENTORY_H_
