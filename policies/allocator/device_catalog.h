// DeviceCatalog: the slices of an inventory (model/device_inventory.h) as a search goes through
// them, made once for a set of slices.
//
// Slices, devices and pools have dense numbers: slices and devices in the order in which they are
// given, pools in the order of their first slice. Devices that differ in their name or place alone
// share a kind, so that what is found out about one of them holds for all.
#ifndef DRASIM_POLICIES_ALLOCATOR_DEVICE_CATALOG_H_
#define DRASIM_POLICIES_ALLOCATOR_DEVICE_CATALOG_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/device_columns.h"
#include "model/device_inventory.h"
#include "model/ids.h"
#include "model/proto/resource.pb.h"
#include "policies/allocator/capacity_policy.h"
#include "policies/allocator/device_use.h"

namespace drasim {

// A slice of an inventory, and its object.
struct CatalogSource {
  SliceId id;
  const proto::kube::ResourceSlice* slice = nullptr;
};

struct CatalogSlice {
  const proto::kube::ResourceSlice* slice = nullptr;
  SliceRef rows;
  uint32_t pool = 0;
  uint32_t first_device = 0;
  uint32_t end_device = 0;
  bool has_groups = false;  // any device has compatibility groups

  absl::Span<const SliceCounter> counters() const { return rows->counters; }  // of sharedCounters
};

struct CatalogDevice {
  const proto::kube::Device* device = nullptr;
  const SliceDevice* row = nullptr;
  uint32_t slice = 0;
  uint32_t kind = 0;
  uint32_t next = kNoDevice;      // with the same row of the inventory
  bool multiple = false;          // allowMultipleAllocations
  bool gives_conditions = false;  // bindingConditions are written, be it none

  static constexpr uint32_t kNoDevice = ~uint32_t{0};
};

// All that a search asks about a device, but for its counters and its node.
struct DeviceKind {
  DeviceRow row;                                // attributes and capacities
  const proto::kube::Device* device = nullptr;  // one of the kind
  uint32_t capacities = 0;                      // for DeviceCatalog::capacities
  bool consumes_counters = false;
  bool has_binding_conditions = false;
};

struct CatalogPool {
  std::string driver;
  std::string name;
  std::vector<uint32_t> slices;
  std::string Text() const;  // "driver/pool"
};

class DeviceCatalog {
 public:
  // The slices, which the inventory has, in this order. The objects, the inventory and its columns
  // belong to the caller and outlive the catalog; the inventory may change meanwhile.
  // InvalidArgument for capacities that are no quantities, or exceed 10^24. O(content of the
  // slices).
  static absl::StatusOr<std::shared_ptr<DeviceCatalog>> Make(
      const DeviceInventory* inventory, DeviceColumns* columns,
      absl::Span<const CatalogSource> slices);
  // The same with an inventory of its own. InvalidArgument also for counters.
  static absl::StatusOr<std::shared_ptr<DeviceCatalog>> Make(
      absl::Span<const proto::kube::ResourceSlice* const> slices);

  absl::Span<const CatalogSlice> slices() const { return slices_; }
  absl::Span<const CatalogDevice> devices() const { return devices_; }
  absl::Span<const CatalogPool> pools() const { return pools_; }
  absl::Span<const DeviceKind> kinds() const { return kinds_; }
  const DeviceCapacities& capacities(uint32_t index) const { return capacities_[index]; }
  const DeviceInventory& inventory() const { return *inventory_; }
  DeviceColumns& columns() { return *columns_; }
  const DeviceColumns& columns() const { return *columns_; }

  // The slices of spec.nodeName `node`, and those without one.
  absl::Span<const uint32_t> SlicesOfNode(absl::string_view node) const;
  absl::Span<const uint32_t> SlicesOfNoNode() const { return of_no_node_; }
  // Whether any slice or device selects nodes by labels.
  bool has_node_selectors() const { return has_node_selectors_; }

  // The last device of a row of the inventory, whose others follow by CatalogDevice::next, or
  // kNoDevice.
  uint32_t LastOfRow(InventoryRow row) const {
    return row.value() < last_of_row_.size() ? last_of_row_[row.value()] : CatalogDevice::kNoDevice;
  }
  // All devices of that identity: several when slices of different generations have it.
  std::vector<uint32_t> Find(const DeviceId& id) const;

 private:
  absl::Status Add(const CatalogSource& source);
  absl::Status AddDevice(const proto::kube::Device& device, const SliceDevice& row);
  uint32_t PoolOf(const proto::kube::ResourceSlice& slice, PoolId pool);
  absl::StatusOr<uint32_t> InternCapacities(const proto::kube::Device& device);

  std::vector<CatalogSlice> slices_;
  std::vector<CatalogDevice> devices_;
  std::vector<CatalogPool> pools_;
  std::vector<DeviceKind> kinds_;
  std::vector<DeviceCapacities> capacities_;
  const DeviceInventory* inventory_ = nullptr;
  DeviceColumns* columns_ = nullptr;
  std::unique_ptr<DeviceInventory> own_inventory_;
  // The last device by row of the inventory, or kNoDevice; the others follow by `next`.
  std::vector<uint32_t> last_of_row_;
  bool has_node_selectors_ = false;
  absl::flat_hash_map<std::string, std::vector<uint32_t>> by_node_;
  std::vector<uint32_t> of_no_node_;
  absl::flat_hash_map<PoolId, uint32_t> pool_index_;
  absl::flat_hash_map<std::string, uint32_t> kind_index_;      // by content
  absl::flat_hash_map<std::string, uint32_t> capacity_index_;  // by content
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_DEVICE_CATALOG_H_
