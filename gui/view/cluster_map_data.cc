#include "gui/view/cluster_map_data.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "gui/view/held_devices.h"
#include "model/gpu_model_table.h"
#include "model/ids.h"
#include "model/mig_table.h"
#include "model/pod_shape.h"

namespace drasim::view {
namespace {

// Numbers of MIG profiles by name.
using ProfileNumbers = std::map<std::string, uint16_t>;

// Fills the list of profiles: by size, then compute slices, then name.
ProfileNumbers NumberProfiles(const ClusterState& cluster, std::vector<std::string>* names) {
  std::map<std::pair<std::pair<int32_t, int32_t>, std::string>, bool> sorted;
  for (size_t m = 0; m < cluster.models().size(); ++m) {
    const MigTable* const table = cluster.models().mig(ModelId(m));
    if (table == nullptr) continue;
    for (const MigProfile& profile : table->profiles()) {
      sorted[{{profile.size, profile.compute_slices}, profile.name}] = true;
    }
  }
  ProfileNumbers numbers;
  for (const auto& [key, unused] : sorted) {
    if (!numbers.try_emplace(key.second, static_cast<uint16_t>(names->size())).second) continue;
    names->push_back(key.second);
  }
  return numbers;
}

// Free slices that no legal instance covers.
uint32_t StrandedSlices(const MigTable& table, MigState state) {
  const auto units = static_cast<unsigned>(table.product().units);
  uint32_t open = 0;
  const uint64_t legal = table.legal(state);
  for (size_t p = 0; p < table.placements().size(); ++p) {
    if ((legal & PlacementBit(p)) != 0) open |= table.placements()[p].units;
  }
  const uint32_t all = (uint32_t{1} << units) - 1;
  return all & ~uint32_t{table.units_used(state)} & ~open;
}

}  // namespace

ClusterMapData MapDataOf(const ClusterState& cluster, const PodFold& pods) {
  ClusterMapData data;
  const ProfileNumbers numbers = NumberProfiles(cluster, &data.profiles);
  const auto share = static_cast<uint16_t>(data.profiles.size());
  data.profiles.push_back("share of a GPU");
  data.profiles.push_back("whole GPU");
  data.tenants = pods.tenants();
  data.states = {"held"};
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    const NodeId id(n);
    const NodeSpec& spec = cluster.node_spec(id);
    const NodeRow& row = cluster.node(id);
    MapNode node;
    node.name = spec.name;
    node.model = GpuModelText(spec);
    node.available = row.available;
    data.AddNode(std::move(node));
    std::vector<std::vector<MapSlot>> slots(row.gpu_count);
    std::vector<uint16_t> heights(row.gpu_count, 0);
    std::vector<bool> whole(row.gpu_count, false);  // in use without instances
    for (const PodId pod : cluster.pods_on(id)) {
      const PodRow& history = pods.rows()[pod.value()];
      for (const HeldPart& part : HeldPartsOf(cluster, pod)) {
        MapSlot slot;
        slot.pod = pod.value();
        slot.tenant = history.tenant;
        slot.since =
            history.phase == PodPhase::kBound ? history.running_since : history.waiting_since;
        slot.size = static_cast<uint16_t>(part.size);
        if (part.start >= 0) {
          slot.start = static_cast<uint16_t>(part.start);
          const MigTable& profiles = *cluster.mig_table(id, part.device);
          const std::string name = part.label.substr(0, part.label.find(','));
          const auto number = numbers.find(name);
          slot.profile = number == numbers.end() ? share : number->second;
          // A pod that shares an instance with others shows all of it.
          slot.size = std::min(slot.size, static_cast<uint16_t>(profiles.product().units));
        } else {
          slot.profile = part.size == kDeviceMilli ? static_cast<uint16_t>(share + 1) : share;
          slot.start =
              std::min(heights[part.device], static_cast<uint16_t>(kDeviceMilli - part.size));
          heights[part.device] = static_cast<uint16_t>(slot.start + part.size);
          whole[part.device] = true;
        }
        slots[part.device].push_back(slot);
      }
    }
    for (size_t d = 0; d < slots.size(); ++d) {
      MapGpu gpu;
      const MigTable* const table = cluster.any_mig() ? cluster.mig_table(id, d) : nullptr;
      if (table != nullptr) gpu.slices = static_cast<uint16_t>(table->product().units);
      if (table != nullptr && !whole[d]) {
        const MigState state = cluster.device_mig(id)[d];
        gpu.units = gpu.slices;
        gpu.stranded = StrandedSlices(*table, state);
        for (size_t p = 0; row.available && p < table->profiles().size(); ++p) {
          const MigProfile& profile = table->profiles()[p];
          if (!profile.is_plain() || (table->fitting(state) >> p & 1) == 0) continue;
          const uint16_t number = numbers.at(profile.name);
          if (number < 32) gpu.fits |= uint32_t{1} << number;
        }
      }
      data.AddGpu(gpu, slots[d]);
    }
  }
  return data;
}

}  // namespace drasim::view
