#include "gui/view/cluster_map_data.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "gui/view/node_groups.h"
#include "gui/view/node_slices.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/gpu_model_table.h"
#include "model/ids.h"
#include "model/mig_table.h"
#include "model/pod_shape.h"

namespace drasim::view {
namespace {

// The numbers of MIG profiles, by model and place in its table.
using ProfileNumbers = std::vector<std::vector<uint16_t>>;

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
  std::map<std::string, uint16_t> by_name;
  for (const auto& [key, unused] : sorted) {
    if (!by_name.try_emplace(key.second, static_cast<uint16_t>(names->size())).second) continue;
    names->push_back(key.second);
  }
  ProfileNumbers numbers(cluster.models().size());
  for (size_t m = 0; m < numbers.size(); ++m) {
    const MigTable* const table = cluster.models().mig(ModelId(m));
    if (table == nullptr) continue;
    for (const MigProfile& profile : table->profiles()) {
      numbers[m].push_back(by_name.at(profile.name));
    }
  }
  return numbers;
}

// Free slices that no further instance can cover.
uint32_t StrandedSlices(const MigTable& table, MigState state, std::optional<uint64_t> layout) {
  // While a pod holds an instance that the layout no longer has, only other things can block
  // slices (docs/device_metrics.md).
  if (layout.value_or(0) != 0 && (table.set(state) & ~*layout) != 0) return 0;
  const auto units = static_cast<unsigned>(table.product().units);
  uint32_t open = 0;
  for (uint64_t rest = OpenPlacements(table, state, layout); rest != 0; rest &= rest - 1) {
    const auto placement = static_cast<size_t>(std::countr_zero(rest));
    if (placement < table.placements().size()) open |= table.placements()[placement].units;
  }
  const uint32_t all = (uint32_t{1} << units) - 1;
  return all & ~uint32_t{table.units_used(state)} & ~open;
}

}  // namespace

ClusterMapData MapDataOf(const ClusterState& cluster, MapSources sources) {
  ClusterMapData data;
  const ProfileNumbers numbers = NumberProfiles(cluster, &data.profiles);
  const auto share = static_cast<uint16_t>(data.profiles.size());
  const auto whole_gpu = static_cast<uint16_t>(share + 1);
  data.profiles.push_back("share of a GPU");
  data.profiles.push_back("whole GPU");
  data.tenants = std::move(sources.tenants);
  data.states = {"held"};
  size_t gpus = 0;
  for (size_t n = 0; n < cluster.node_count(); ++n) gpus += cluster.node(NodeId(n)).gpu_count;
  data.nodes.reserve(cluster.node_count());
  data.gpus.reserve(gpus);
  data.slots.reserve(gpus);
  // By device of the node in turn; kept, so that a node costs no allocation.
  std::vector<std::vector<MapSlot>> slots;
  std::vector<uint16_t> heights;
  std::vector<bool> whole;  // in use without instances
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    const NodeId id(n);
    const NodeSpec& spec = cluster.node_spec(id);
    const NodeRow& row = cluster.node(id);
    MapNode node;
    node.name = spec.name;
    node.model = GpuModelText(spec);
    node.pool = PoolOf(spec);
    if (!sources.label.empty()) node.label = std::string(LabelOf(spec, sources.label));
    node.available = row.available;
    data.AddNode(std::move(node));
    if (slots.size() < row.gpu_count) slots.resize(row.gpu_count);
    for (std::vector<MapSlot>& list : slots) list.clear();
    heights.assign(row.gpu_count, 0);
    whole.assign(row.gpu_count, false);
    for (const PodId pod : cluster.pods_on(id)) {
      const MapPod shown = sources.pod_of(pod);
      MapSlot slot;
      slot.pod = shown.number;
      slot.tenant = shown.tenant;
      slot.since = shown.since;
      const auto hold = [&](size_t device, int32_t milli) {
        slot.size = static_cast<uint16_t>(milli);
        slot.profile = milli == kDeviceMilli ? whole_gpu : share;
        slot.start = std::min(heights[device], static_cast<uint16_t>(kDeviceMilli - milli));
        heights[device] = static_cast<uint16_t>(slot.start + milli);
        whole[device] = true;
        slots[device].push_back(slot);
      };
      const absl::Span<const DeviceGrant> grants = cluster.pod_grants(pod);
      if (grants.empty()) {
        const auto milli = static_cast<int32_t>(cluster.pod_shape(pod).request.gpu_milli);
        for (const size_t device : cluster.pod_devices(pod)) hold(device, milli);
      }
      for (const DeviceGrant& grant : grants) {
        if (grant.placement == kNoPlacement) {
          hold(grant.device, grant.milli);
          continue;
        }
        // A pod that shares an instance with others shows all of it.
        const MigTable& table = *cluster.mig_table(id, grant.device);
        const MigPlacement& placement = table.placements()[grant.placement];
        slot.start = placement.start;
        slot.size = static_cast<uint16_t>(
            std::min(table.profiles()[placement.profile].size, table.product().units));
        slot.profile = numbers[cluster.gpu_model(id, grant.device)][placement.profile];
        slots[grant.device].push_back(slot);
      }
    }
    const double fragments =
        sources.fragmentation == nullptr || row.gpu_milli_idle == 0
            ? 0
            : sources.fragmentation->Amount(ViewOf(cluster, id)) / row.gpu_milli_idle;
    for (size_t d = 0; d < row.gpu_count; ++d) {
      MapGpu gpu;
      const MigTable* const table = cluster.any_mig() ? cluster.mig_table(id, d) : nullptr;
      if (table != nullptr) gpu.slices = static_cast<uint16_t>(table->product().units);
      if (table != nullptr && !whole[d]) {
        const MigState state = cluster.device_mig(id)[d];
        gpu.units = gpu.slices;
        const std::optional<uint64_t> layout = LayoutIn(sources.layout_of, id, d);
        gpu.stranded = StrandedSlices(*table, state, layout);
        const uint64_t open = OpenPlacements(*table, state, layout);
        for (uint64_t idle = layout.value_or(0) & ~table->set(state); idle != 0; idle &= idle - 1) {
          const auto bit = static_cast<size_t>(std::countr_zero(idle));
          if (bit >= table->placements().size()) break;
          const MigPlacement& placement = table->placements()[bit];
          MapSlot slot;
          slot.start = placement.start;
          slot.size = static_cast<uint16_t>(
              std::min(table->profiles()[placement.profile].size, table->product().units));
          slot.profile = numbers[cluster.gpu_model(id, d)][placement.profile];
          slot.held = false;
          slots[d].push_back(slot);
        }
        for (size_t p = 0; row.available && p < table->profiles().size(); ++p) {
          const MigProfile& profile = table->profiles()[p];
          if (!profile.is_plain() || (open & table->placements_of(p)) == 0) continue;
          const uint16_t number = numbers[cluster.gpu_model(id, d)][p];
          if (number < 32) gpu.fits |= uint32_t{1} << number;
        }
      }
      gpu.fragmentation_milli = static_cast<int32_t>(
          std::clamp(fragments * cluster.device_milli_idle(id)[d], 0.0, double{kDeviceMilli}));
      data.AddGpu(gpu, slots[d]);
    }
  }
  data.SumUpNodes();
  return data;
}

ClusterMapData MapDataOf(const ClusterState& cluster, const PodFold& pods,
                         std::optional<LayoutOfGpu> layout_of) {
  const auto pod_of = [&](PodId pod) {
    const PodRow& row = pods.rows()[pod.value()];
    MapPod shown;
    shown.number = row.number;
    shown.tenant = row.tenant;
    shown.since = row.phase == PodPhase::kBound ? row.running_since : row.waiting_since;
    return shown;
  };
  return MapDataOf(cluster, {pods.tenants(), pod_of, nullptr, layout_of});
}

}  // namespace drasim::view
