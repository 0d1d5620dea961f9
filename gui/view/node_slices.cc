#include "gui/view/node_slices.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "absl/types/span.h"
#include "model/device_set.h"
#include "model/mig_table.h"

namespace drasim::view {
namespace {

const MigTable* TableOf(const ClusterState& cluster, const GpuModelGroup& group) {
  return cluster.any_mig() ? cluster.models().mig(ModelId(uint32_t{group.model})) : nullptr;
}

// The parts of a request that devices must provide.
struct DeviceParts {
  int32_t gpus = 0;
  int32_t milli = kDeviceMilli;   // of each
  std::vector<size_t> instances;  // profiles, largest first
  bool impossible = false;        // the model lacks a profile
};

// On GPUs of one model.
DeviceParts PartsOf(const PodShape& shape, const MigTable* table) {
  DeviceParts parts;
  if (shape.request.gpu_count > 0) {
    parts.gpus = shape.request.gpu_count;
    parts.milli = shape.request.gpu_milli;
  }
  const auto want = [&](const std::string& profile, int32_t count) {
    const int index = table == nullptr ? -1 : table->FindProfile(profile);
    if (index < 0) {
      parts.impossible = true;
      return;
    }
    for (int32_t i = 0; i < count; ++i) parts.instances.push_back(static_cast<size_t>(index));
  };
  for (const auto& [profile, count] : shape.request.mig) want(profile, count);
  for (const ClaimEntry& claim : shape.claims) {
    if (claim.mig_profile.empty()) {
      parts.gpus += claim.gpus;
    } else {
      want(claim.mig_profile, std::max(1, claim.gpus));
    }
  }
  if (table != nullptr) {
    std::stable_sort(parts.instances.begin(), parts.instances.end(), [&](size_t a, size_t b) {
      return table->profiles()[a].size > table->profiles()[b].size;
    });
  }
  return parts;
}

struct MigGpu {
  MigState state = 0;
  std::optional<uint64_t> layout;
};

// Whether all instances find a place, the largest first, on the lowest GPU and placement.
bool PlacesAll(const MigTable& table, std::vector<MigGpu> gpus,
               const std::vector<size_t>& instances) {
  for (const size_t profile : instances) {
    bool placed = false;
    for (MigGpu& gpu : gpus) {
      const uint64_t legal =
          OpenPlacements(table, gpu.state, gpu.layout) & table.placements_of(profile);
      if (legal == 0) continue;
      gpu.state = table.Place(gpu.state, static_cast<size_t>(std::countr_zero(legal)));
      placed = true;
      break;
    }
    if (!placed) return false;
  }
  return true;
}

bool WantsDevices(const PodShape& shape) {
  return shape.request.gpu_count > 0 || !shape.request.mig.empty() ||
         std::any_of(shape.claims.begin(), shape.claims.end(), [](const ClaimEntry& claim) {
           return claim.gpus > 0 || !claim.mig_profile.empty();
         });
}

bool TakesPods(const NodeRow& row) { return row.available && row.schedulable; }

}  // namespace

std::optional<uint64_t> LayoutIn(const std::optional<LayoutOfGpu>& layouts, NodeId node,
                                 size_t gpu) {
  return layouts.has_value() ? (*layouts)(node, gpu) : std::nullopt;
}

uint64_t OpenPlacements(const MigTable& table, MigState state, std::optional<uint64_t> layout) {
  if (layout.value_or(0) == 0) return table.legal(state);
  const uint64_t held = table.set(state);
  return (held & ~*layout) == 0 ? *layout & ~held : 0;
}

std::vector<ProfileRoom> RoomByProfile(const ClusterState& cluster, NodeId node,
                                       std::optional<LayoutOfGpu> layouts) {
  std::vector<ProfileRoom> rooms;
  const bool takes = TakesPods(cluster.node(node));
  for (const GpuModelGroup& group : cluster.GroupsOfModels(node)) {
    const MigTable* const table = TableOf(cluster, group);
    if (table == nullptr) continue;
    for (size_t p = 0; p < table->profiles().size(); ++p) {
      if (!table->profiles()[p].is_plain()) continue;
      ProfileRoom room;
      room.profile = table->profiles()[p].name;
      if (takes) {
        for (const size_t device : cluster.mig_usable(node) & group.gpus) {
          const MigState state = cluster.device_mig(node)[device];
          const std::optional<uint64_t> layout = LayoutIn(layouts, node, device);
          const int more =
              layout.value_or(0) == 0
                  ? table->more(state, p)
                  : std::popcount(OpenPlacements(*table, state, layout) & table->placements_of(p));
          room.more += more;
          if (more > 0) ++room.gpus;
        }
      }
      rooms.push_back(std::move(room));
    }
  }
  return rooms;
}

PodRoom RoomFor(const ClusterState& cluster, ShapeId shape_id, NodeId node,
                std::optional<LayoutOfGpu> layouts) {
  PodRoom room;
  const NodeRow& row = cluster.node(node);
  const PodShape& shape = cluster.shapes().row(shape_id);
  if (!TakesPods(row) || shape.constraints.hold != PodHold::kNone) return room;
  // Instances come from GPUs of one model; whole GPUs and shares from those of accepted models.
  bool devices_fit = !WantsDevices(shape);
  for (const GpuModelGroup& group : cluster.GroupsOfModels(node)) {
    const MigTable* const table = TableOf(cluster, group);
    const DeviceParts parts = PartsOf(shape, table);
    const bool accepted =
        group.model < kMixedModels && (shape.request.model_mask >> group.model & 1) != 0;
    if (parts.impossible || !accepted) continue;
    if (!parts.instances.empty()) {
      const uint64_t largest = table->placements_of(parts.instances[0]);
      std::vector<MigGpu> gpus;
      for (const size_t device : cluster.mig_usable(node) & group.gpus) {
        const MigGpu gpu = {cluster.device_mig(node)[device], LayoutIn(layouts, node, device)};
        if ((OpenPlacements(*table, gpu.state, gpu.layout) & largest) != 0) ++room.gpus;
        gpus.push_back(gpu);
      }
      devices_fit |= PlacesAll(*table, std::move(gpus), parts.instances);
    } else if (parts.gpus > 0) {
      for (const size_t device : group.gpus) {
        if (LayoutIn(layouts, node, device).value_or(0) != 0) continue;
        if (cluster.device_milli_idle(node)[device] >= parts.milli) ++room.gpus;
      }
      devices_fit = room.gpus >= parts.gpus;
    }
  }
  room.fits = devices_fit && row.cpu_milli_idle >= shape.request.cpu_milli &&
              row.memory_bytes_idle >= shape.request.memory_bytes && row.pods_idle > 0 &&
              cluster.LackingExtended(shape_id, node) == 0 && cluster.GroupHasRoom(shape_id, node);
  return room;
}

}  // namespace drasim::view
