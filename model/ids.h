// StrongId: dense 32-bit identifiers of distinct types, so a NodeId is never taken for a PodId.
//
// Ids index column tables directly, start at 0 and are never reused within a run.
#ifndef DRASIM_MODEL_IDS_H_
#define DRASIM_MODEL_IDS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace drasim {

template <typename Tag>
class StrongId {
 public:
  static constexpr uint32_t kInvalid = std::numeric_limits<uint32_t>::max();
  constexpr StrongId() = default;
  constexpr explicit StrongId(uint32_t value) : value_(value) {}
  constexpr explicit StrongId(size_t value) : value_(static_cast<uint32_t>(value)) {}
  constexpr uint32_t value() const { return value_; }
  constexpr bool valid() const { return value_ != kInvalid; }
  constexpr auto operator<=>(const StrongId&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const StrongId& id) {
    return H::combine(std::move(h), id.value_);
  }

 private:
  uint32_t value_ = kInvalid;
};

using NodeId = StrongId<struct NodeIdTag>;              // row of the node table
using PodId = StrongId<struct PodIdTag>;                // row of the pod table, in order of arrival
using ShapeId = StrongId<struct ShapeIdTag>;            // row of ShapeTable
using ModelId = StrongId<struct ModelIdTag>;            // row of GpuModelTable
using SummaryId = StrongId<struct SummaryIdTag>;        // row of VerdictSummaryTable
using JobId = StrongId<struct JobIdTag>;                // row of JobTable, in order of submission
using TenantId = StrongId<struct TenantIdTag>;          // row of JobTable::tenants()
using SliceId = StrongId<struct SliceIdTag>;            // a ResourceSlice, in order of publication
using InventoryRow = StrongId<struct InventoryRowTag>;  // a device of DeviceInventory

}  // namespace drasim

#endif  // DRASIM_MODEL_IDS_H_
