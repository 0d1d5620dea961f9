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

// The GPUs of nodes with what pods hold there.
class NodeFiller {
 public:
  // `profiles`: numbers of the map's, with those of shares and whole GPUs behind them.
  NodeFiller(const ClusterState& cluster, const MapSources& sources, const ProfileNumbers& numbers,
             size_t profiles)
      : cluster_(cluster),
        sources_(sources),
        numbers_(numbers),
        share_(static_cast<uint16_t>(profiles - 2)),
        whole_gpu_(static_cast<uint16_t>(profiles - 1)) {}

  // Hands each GPU of the node with its slots to `take`.
  void Fill(NodeId id, absl::FunctionRef<void(const MapGpu&, absl::Span<const MapSlot>)> take) {
    const NodeRow& row = cluster_.node(id);
    if (slots_.size() < row.gpu_count) slots_.resize(row.gpu_count);
    for (std::vector<MapSlot>& list : slots_) list.clear();
    heights_.assign(row.gpu_count, 0);
    whole_.assign(row.gpu_count, false);
    for (const PodId pod : cluster_.pods_on(id)) AddPod(id, pod);
    const double fragments =
        sources_.fragmentation == nullptr || row.gpu_milli_idle == 0
            ? 0
            : sources_.fragmentation->Amount(ViewOf(cluster_, id)) / row.gpu_milli_idle;
    for (size_t d = 0; d < row.gpu_count; ++d) {
      MapGpu gpu;
      const MigTable* const table = cluster_.any_mig() ? cluster_.mig_table(id, d) : nullptr;
      if (table != nullptr) gpu.slices = static_cast<uint16_t>(table->product().units);
      if (table != nullptr && !whole_[d]) AddInstances(id, d, *table, &gpu);
      gpu.fragmentation_milli = static_cast<int32_t>(
          std::clamp(fragments * cluster_.device_milli_idle(id)[d], 0.0, double{kDeviceMilli}));
      take(gpu, slots_[d]);
    }
  }

 private:
  void AddPod(NodeId id, PodId pod) {
    const MapPod shown = sources_.pod_of(pod);
    MapSlot slot;
    slot.pod = shown.number;
    slot.tenant = shown.tenant;
    slot.since = shown.since;
    const auto hold = [&](size_t device, int32_t milli) {
      slot.size = static_cast<uint16_t>(milli);
      slot.profile = milli == kDeviceMilli ? whole_gpu_ : share_;
      slot.start = std::min(heights_[device], static_cast<uint16_t>(kDeviceMilli - milli));
      heights_[device] = static_cast<uint16_t>(slot.start + milli);
      whole_[device] = true;
      slots_[device].push_back(slot);
    };
    const absl::Span<const DeviceGrant> grants = cluster_.pod_grants(pod);
    if (grants.empty()) {
      const auto milli = static_cast<int32_t>(cluster_.pod_shape(pod).request.gpu_milli);
      for (const size_t device : cluster_.pod_devices(pod)) hold(device, milli);
    }
    for (const DeviceGrant& grant : grants) {
      if (grant.placement == kNoPlacement) {
        hold(grant.device, grant.milli);
        continue;
      }
      // A pod that shares an instance with others shows all of it.
      Place(id, grant.device, *cluster_.mig_table(id, grant.device), grant.placement, &slot);
      slots_[grant.device].push_back(slot);
    }
  }

  void Place(NodeId id, size_t device, const MigTable& table, size_t place, MapSlot* slot) const {
    const MigPlacement& placement = table.placements()[place];
    slot->start = placement.start;
    slot->size = static_cast<uint16_t>(
        std::min(table.profiles()[placement.profile].size, table.product().units));
    slot->profile = numbers_[cluster_.gpu_model(id, device)][placement.profile];
  }

  // Adds a MIG GPU's units, stranded slices, idle instances of its layout, and the profiles that
  // fit.
  void AddInstances(NodeId id, size_t device, const MigTable& table, MapGpu* gpu) {
    const MigState state = cluster_.device_mig(id)[device];
    gpu->units = gpu->slices;
    const std::optional<uint64_t> layout = LayoutIn(sources_.layout_of, id, device);
    gpu->stranded = StrandedSlices(table, state, layout);
    const uint64_t open = OpenPlacements(table, state, layout);
    for (uint64_t idle = layout.value_or(0) & ~table.set(state); idle != 0; idle &= idle - 1) {
      const auto bit = static_cast<size_t>(std::countr_zero(idle));
      if (bit >= table.placements().size()) break;
      MapSlot slot;
      Place(id, device, table, bit, &slot);
      slot.held = false;
      slots_[device].push_back(slot);
    }
    for (size_t p = 0; cluster_.node(id).available && p < table.profiles().size(); ++p) {
      const MigProfile& profile = table.profiles()[p];
      if (!profile.is_plain() || (open & table.placements_of(p)) == 0) continue;
      const uint16_t number = numbers_[cluster_.gpu_model(id, device)][p];
      if (number < 32) gpu->fits |= uint32_t{1} << number;
    }
  }

  const ClusterState& cluster_;
  const MapSources& sources_;
  const ProfileNumbers& numbers_;
  const uint16_t share_;
  const uint16_t whole_gpu_;
  // By device of the node in turn; kept, so that a node costs no allocation.
  std::vector<std::vector<MapSlot>> slots_;
  std::vector<uint16_t> heights_;
  std::vector<bool> whole_;  // in use without instances
};

}  // namespace

ClusterMapData MapDataOf(const ClusterState& cluster, MapSources sources) {
  ClusterMapData data;
  const ProfileNumbers numbers = NumberProfiles(cluster, &data.profiles);
  data.profiles.push_back("share of a GPU");
  data.profiles.push_back("whole GPU");
  data.tenants = std::move(sources.tenants);
  data.states = {"held"};
  size_t gpus = 0;
  for (size_t n = 0; n < cluster.node_count(); ++n) gpus += cluster.node(NodeId(n)).gpu_count;
  data.nodes.reserve(cluster.node_count());
  data.gpus.reserve(gpus);
  data.slots.reserve(gpus);
  NodeFiller filler(cluster, sources, numbers, data.profiles.size());
  for (size_t n = 0; n < cluster.node_count(); ++n) {
    const NodeSpec& spec = cluster.node_spec(NodeId(n));
    MapNode node;
    node.name = spec.name;
    node.model = GpuModelText(spec);
    node.pool = PoolOf(spec);
    if (!sources.label.empty()) node.label = std::string(LabelOf(spec, sources.label));
    node.available = cluster.node(NodeId(n)).available;
    data.AddNode(std::move(node));
    filler.Fill(NodeId(n), [&](const MapGpu& gpu, absl::Span<const MapSlot> slots) {
      data.AddGpu(gpu, slots);
    });
  }
  data.SumUpNodes();
  return data;
}

void UpdateMapData(const ClusterState& cluster, const MapSources& sources,
                   absl::Span<const NodeId> nodes, ClusterMapData* data) {
  std::vector<std::string> profiles;
  const ProfileNumbers numbers = NumberProfiles(cluster, &profiles);
  NodeFiller filler(cluster, sources, numbers, data->profiles.size());
  for (const NodeId id : nodes) {
    MapNode& node = data->nodes[id.value()];
    node.available = cluster.node(id).available;
    uint32_t next = node.first_gpu;
    filler.Fill(id, [&](const MapGpu& gpu, absl::Span<const MapSlot> slots) {
      data->ReplaceGpu(next++, gpu, slots);
    });
    data->SumUpNode(static_cast<uint32_t>(id.value()));
  }
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
