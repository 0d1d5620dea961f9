#include "policies/allocator/device_catalog.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "model/kube/device_facts_of.h"
#include "model/kube/rules.h"
#include "model/quantity.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

using proto::kube::Device;
using proto::kube::ResourceSlice;

// Appends the counters of one set, in order of their names.
absl::Status AddCounters(const google::protobuf::Map<std::string, proto::kube::Counter>& counters,
                         uint32_t set, const std::string& set_name, DeviceTexts* texts,
                         std::vector<CatalogCounter>* to) {
  std::map<std::string, std::string> sorted;
  for (const auto& [name, counter] : counters) sorted[name] = counter.value();
  for (const auto& [name, text] : sorted) {
    const absl::StatusOr<Quantity> amount = Quantity::Parse(text);
    const bool fits = amount.ok() && amount->Nanos().has_value();
    if (!fits) {
      return absl::InvalidArgumentError(
          absl::StrCat("counter set ", set_name, ": counters[", name, "]: found '", text,
                       amount.ok() ? "', expected an amount of at most 10^24"
                                   : "', expected a quantity such as 2 or 1.5Gi"));
    }
    to->push_back({set, texts->Intern(set_name), texts->Intern(name), *amount->Nanos()});
  }
  return absl::OkStatus();
}

std::string PoolKey(absl::string_view driver, absl::string_view pool) {
  return absl::StrCat(driver, absl::string_view("\0", 1), pool);
}

}  // namespace

std::string CatalogPool::Text() const { return absl::StrCat(driver, "/", name); }

absl::StatusOr<std::shared_ptr<DeviceCatalog>> DeviceCatalog::Make(
    absl::Span<const ResourceSlice* const> slices) {
  auto catalog = std::make_shared<DeviceCatalog>();
  for (const ResourceSlice* slice : slices) {
    const absl::Status added = catalog->Add(*slice);
    if (!added.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("ResourceSlice ", slice->metadata().name(), ": ", added.message()));
    }
  }
  return catalog;
}

uint32_t DeviceCatalog::PoolOf(const ResourceSlice& slice) {
  const std::string key = PoolKey(slice.spec().driver(), slice.spec().pool().name());
  const auto [at, added] = pool_index_.try_emplace(key, static_cast<uint32_t>(pools_.size()));
  if (added) pools_.push_back({slice.spec().driver(), slice.spec().pool().name(), {}});
  return at->second;
}

absl::Status DeviceCatalog::Add(const ResourceSlice& slice) {
  const uint32_t index = static_cast<uint32_t>(slices_.size());
  CatalogSlice row;
  row.slice = &slice;
  row.pool = PoolOf(slice);
  row.first_device = static_cast<uint32_t>(devices_.size());
  pools_[row.pool].slices.push_back(index);
  uint32_t set = 0;
  for (const proto::kube::CounterSet& counters : slice.spec().shared_counters()) {
    RETURN_IF_ERROR(
        AddCounters(counters.counters(), set++, counters.name(), &columns_.texts(), &row.counters));
  }
  for (const Device& device : slice.spec().devices()) {
    for (const auto& use : device.consumes_counters()) {
      row.has_groups = row.has_groups || !use.compatibility_groups().empty();
    }
  }
  slices_.push_back(std::move(row));
  for (const Device& device : slice.spec().devices()) {
    const absl::Status added = AddDevice(slice, device);
    if (!added.ok()) return added;
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
  std::map<std::string, std::string> sorted;
  for (const auto& [name, capacity] : device.capacity()) {
    sorted[name] = capacity.SerializeAsString();
  }
  std::string key;
  for (const auto& [name, text] : sorted) {
    absl::StrAppend(&key, name.size(), ":", name, text.size(), ":", text);
  }
  const auto [at, added] =
      capacity_index_.try_emplace(key, static_cast<uint32_t>(capacities_.size()));
  if (added) {
    ASSIGN_OR_RETURN(DeviceCapacities capacities, ReadDeviceCapacities(device));
    capacities_.push_back(std::move(capacities));
  }
  return at->second;
}

absl::StatusOr<DeviceRow> DeviceCatalog::RowOf(const std::string& driver, const Device& device) {
  ASSIGN_OR_RETURN(const DeviceFacts facts, DeviceFactsOf(driver, device));
  return columns_.Add(facts);
}

absl::Status DeviceCatalog::AddDevice(const ResourceSlice& slice, const Device& device) {
  CatalogDevice row;
  row.device = &device;
  row.name = names_.Intern(device.name());
  row.slice = static_cast<uint32_t>(slices_.size()) - 1;
  row.multiple = device.allow_multiple_allocations();
  row.gives_conditions = device.given_binding_conditions() || !device.binding_conditions().empty();
  DeviceKind kind;
  kind.device = &device;
  ASSIGN_OR_RETURN(kind.capacities, InternCapacities(device));
  ASSIGN_OR_RETURN(kind.row, RowOf(slice.spec().driver(), device));
  kind.consumes_counters = !device.consumes_counters().empty();
  kind.has_binding_conditions = !device.binding_conditions().empty();
  uint32_t set = 0;
  for (const auto& use : device.consumes_counters()) {
    RETURN_IF_ERROR(
        AddCounters(use.counters(), set++, use.counter_set(), &columns_.texts(), &row.counters));
  }
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
  devices_.push_back(std::move(row));
  return absl::OkStatus();
}

absl::Span<const uint32_t> DeviceCatalog::SlicesOfNode(absl::string_view node) const {
  const auto found = by_node_.find(node);
  if (found == by_node_.end()) return {};
  return found->second;
}

std::vector<uint32_t> DeviceCatalog::Find(const DeviceId& id) const {
  std::vector<uint32_t> found;
  const auto pool = pool_index_.find(PoolKey(id.driver, id.pool));
  if (pool == pool_index_.end()) return found;
  for (const uint32_t slice : pools_[pool->second].slices) {
    for (uint32_t i = slices_[slice].first_device; i < slices_[slice].end_device; ++i) {
      if (devices_[i].device->name() == id.device) found.push_back(i);
    }
  }
  return found;
}

}  // namespace drasim
