#include "model/mig_slices.h"

#include <cstddef>

#include "absl/types/span.h"

namespace drasim {

void SliceCounts::Add(const SliceCounts& other, int64_t sign) {
  slices += sign * other.slices;
  held += sign * other.held;
  stranded += sign * other.stranded;
}

SliceCounts SlicesOfGpu(const MigTable& table, MigState state, bool in_use,
                        std::optional<uint64_t> layout) {
  SliceCounts counts;
  counts.slices = table.product().units;
  if (state == 0 && in_use) {
    counts.held = counts.slices;
    return counts;
  }
  const int64_t free = table.free_units(state);
  counts.held = counts.slices - free;
  if (layout.value_or(0) == 0) {
    counts.stranded = free - table.usable_units(state);
  } else if ((table.set(state) & ~*layout) == 0) {
    // Held instances lie within the layout, so no slice outside of it is held.
    const MigState all = table.Find(*layout);
    if (all != kNoMigState) counts.stranded = table.free_units(all);
  }
  return counts;
}

SliceCounts SlicesOf(const ClusterState& cluster, NodeId node, std::optional<LayoutOfGpu> layouts) {
  SliceCounts counts;
  if (!cluster.any_mig() || !cluster.has_mig(node)) return counts;
  const absl::Span<const int16_t> idle = cluster.device_milli_idle(node);
  const absl::Span<const MigState> states = cluster.device_mig(node);
  for (size_t d = 0; d < states.size(); ++d) {
    const MigTable* const table = cluster.mig_table(node, d);
    if (table == nullptr) continue;
    const std::optional<uint64_t> layout = layouts.has_value() ? (*layouts)(node, d) : std::nullopt;
    counts.Add(SlicesOfGpu(*table, states[d], idle[d] < kDeviceMilli, layout), +1);
  }
  return counts;
}

}  // namespace drasim
