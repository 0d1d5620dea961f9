#include "policies/allocator/device_catalog.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "model/kube/slice_facts_of.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

using proto::kube::Device;
using proto::kube::ResourceSlice;

absl::Status InSlice(const ResourceSlice& slice, const absl::Status& status) {
  return absl::InvalidArgumentError(
      absl::StrCat("ResourceSlice ", slice.metadata().name(), ": ", status.message()));
}

}  // namespace

std::string CatalogPool::Text() const { return absl::StrCat(driver, "/", name); }

absl::StatusOr<std::shared_ptr<DeviceCatalog>> DeviceCatalog::Make(
    const DeviceInventory* inventory, DeviceColumns* columns,
    absl::Span<const CatalogSource> slices) {
  auto catalog = std::make_shared<DeviceCatalog>();
  catalog->inventory_ = inventory;
  catalog->columns_ = columns;
  for (const CatalogSource& source : slices) {
    const absl::Status added = catalog->Add(source);
    if (!added.ok()) return InSlice(*source.slice, added);
  }
  return catalog;
}

absl::StatusOr<std::shared_ptr<DeviceCatalog>> DeviceCatalog::Make(
    absl::Span<const ResourceSlice* const> slices) {
  auto inventory = std::make_unique<DeviceInventory>();
  std::vector<CatalogSource> sources;
  for (const ResourceSlice* slice : slices) {
    const absl::StatusOr<SliceFacts> facts = SliceFactsOf(*slice);
    if (!facts.ok()) return InSlice(*slice, facts.status());
    sources.push_back({inventory->AddSlice(), slice});
    inventory->SetSlice(sources.back().id,
                        std::make_shared<const InventorySlice>(inventory->InternSlice(*facts)));
  }
  ASSIGN_OR_RETURN(std::shared_ptr<DeviceCatalog> catalog,
                   Make(inventory.get(), &inventory->columns(), sources));
  catalog->own_inventory_ = std::move(inventory);
  return catalog;
}

uint32_t DeviceCatalog::PoolOf(const ResourceSlice& slice, PoolId pool) {
  const auto [at, added] = pool_index_.try_emplace(pool, static_cast<uint32_t>(pools_.size()));
  if (added) pools_.push_back({slice.spec().driver(), slice.spec().pool().name(), {}});
  return at->second;
}

absl::Status DeviceCatalog::Add(const CatalogSource& source) {
  const ResourceSlice& slice = *source.slice;
  const uint32_t index = static_cast<uint32_t>(slices_.size());
  CatalogSlice row;
  row.slice = &slice;
  row.rows = inventory_->slice(source.id);
  row.pool = PoolOf(slice, row.rows->pool);
  row.first_device = static_cast<uint32_t>(devices_.size());
  pools_[row.pool].slices.push_back(index);
  for (const Device& device : slice.spec().devices()) {
    for (const auto& use : device.consumes_counters()) {
      row.has_groups = row.has_groups || !use.compatibility_groups().empty();
    }
  }
  const InventorySlice& rows = *row.rows;
  slices_.push_back(std::move(row));
  for (size_t i = 0; i < rows.devices.size(); ++i) {
    RETURN_IF_ERROR(AddDevice(slice.spec().devices(static_cast<int>(i)), rows.devices[i]));
  }
  slices_[index].end_device = static_cast<uint32_t>(devices_.size());
  has_node_selectors_ = has_node_selectors_ || slice.spec().has_node_selector();
  if (slice.spec().node_name().empty()) {
    of_no_node_.push_back(index);
  } else {
    by_node_[slice.spec().node_name()].push_back(index);
  }
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> DeviceCatalog::InternCapacities(const Device& device) {
  absl::InlinedVector<std::pair<absl::string_view, const proto::kube::DeviceCapacity*>, 8> sorted;
  for (const auto& [name, capacity] : device.capacity()) sorted.emplace_back(name, &capacity);
  absl::c_sort(sorted, [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string key;
  for (const auto& [name, capacity] : sorted) {
    // Most are a value alone, without a policy.
    const bool plain = !capacity->has_request_policy();
    const std::string policy = plain ? "" : capacity->request_policy().SerializeAsString();
    absl::StrAppend(&key, name.size(), ":", name, capacity->value().size(), ":", capacity->value(),
                    plain ? "v" : "p", policy.size(), ":", policy);
  }
  const auto [at, added] =
      capacity_index_.try_emplace(key, static_cast<uint32_t>(capacities_.size()));
  if (added) {
    ASSIGN_OR_RETURN(DeviceCapacities capacities, ReadDeviceCapacities(device));
    capacities_.push_back(std::move(capacities));
  }
  return at->second;
}

absl::Status DeviceCatalog::AddDevice(const Device& device, const SliceDevice& of) {
  CatalogDevice row;
  row.device = &device;
  row.row = &of;
  row.slice = static_cast<uint32_t>(slices_.size()) - 1;
  row.multiple = device.allow_multiple_allocations();
  row.gives_conditions = device.given_binding_conditions() || !device.binding_conditions().empty();
  DeviceKind kind;
  kind.device = &device;
  ASSIGN_OR_RETURN(kind.capacities, InternCapacities(device));
  kind.row = of.content;
  kind.consumes_counters = !device.consumes_counters().empty();
  kind.has_binding_conditions = !device.binding_conditions().empty();
  std::string key =
      absl::StrCat(kind.row.value(), " ", kind.capacities, kind.consumes_counters ? "c" : "",
                   kind.has_binding_conditions ? "b" : "");
  for (const proto::kube::DeviceTaint& taint : device.taints()) {
    absl::StrAppend(&key, " ", taint.key().size(), ":", taint.key(), taint.value().size(), ":",
                    taint.value(), taint.effect());
  }
  const auto [at, added] = kind_index_.try_emplace(key, static_cast<uint32_t>(kinds_.size()));
  if (added) kinds_.push_back(kind);
  row.kind = at->second;
  has_node_selectors_ = has_node_selectors_ || device.has_node_selector();
  if (last_of_row_.size() <= of.row.value()) {
    last_of_row_.resize(inventory_->row_count(), CatalogDevice::kNoDevice);
  }
  row.next = std::exchange(last_of_row_[of.row.value()], static_cast<uint32_t>(devices_.size()));
  devices_.push_back(row);
  return absl::OkStatus();
}

absl::Span<const uint32_t> DeviceCatalog::SlicesOfNode(absl::string_view node) const {
  const auto found = by_node_.find(node);
  if (found == by_node_.end()) return {};
  return found->second;
}

std::vector<uint32_t> DeviceCatalog::Find(const DeviceId& id) const {
  std::vector<uint32_t> found;
  const InventoryRow row = inventory_->Find(id.driver, id.pool, id.device);
  if (row.value() >= last_of_row_.size()) return found;
  for (uint32_t device = last_of_row_[row.value()]; device != CatalogDevice::kNoDevice;
       device = devices_[device].next) {
    found.push_back(device);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace drasim
